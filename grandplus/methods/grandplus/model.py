"""The MLP, and a finished model that can be saved, loaded and asked."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from grandplus.methods.grandplus.embedding import Embedding
from grandplus.methods.grandplus.layer_input import layer_input
from grandplus.methods.grandplus.random_propagation import Batch, Factors
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.grandplus.sparse_linear import SparseLinear
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import finished_whole

FORMAT_VERSION = 2
INFO = "grandplus"  # the one key of the header: several would be written in random order
ROWS_AT_ONCE = 8192


class MLP(nn.Module):
    """A layer is: L2 norm of rows (if on) → BatchNorm (if on) → dropout → linear; ReLU between.

    Parameters
    ----------
    features, classes : d and C
    settings : embed, layers, hidden, batchnorm, row_norm, dropout_input, dropout_hidden. With embed the
        layers come after an ``Embedding``, and take its (b, hidden)
    """

    def __init__(self, features: int, classes: int, settings: Settings) -> None:
        super().__init__()
        self.features = features
        self.embedding = Embedding(features, settings.hidden) if settings.embed else None
        widths = [settings.hidden if settings.embed else features, *[settings.hidden] * (settings.layers - 1), classes]
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in widths[:-1] if settings.batchnorm)
        self.row_norm = settings.row_norm
        self.dropouts = [settings.dropout_input] + [settings.dropout_hidden] * (settings.layers - 1)
        # Before a sparse product only dropout may stand, which keeps zeros zero.
        first = nn.Linear if settings.embed or self.row_norm or self.norms else SparseLinear
        kinds = [first, *[nn.Linear] * (settings.layers - 1)]
        self.linears = nn.ModuleList(kind(*ends) for kind, ends in zip(kinds, itertools.pairwise(widths), strict=True))

    @property
    def takes_sparse(self) -> bool:
        """Whether inputs may be the factors of a sparse matrix."""
        return self.embedding is not None or isinstance(self.linears[0], SparseLinear)

    def forward(self, inputs: Tensor | Factors, rng: np.random.Generator | None = None, copies: int = 1) -> Tensor:
        """Logits (b, C) of inputs (b, d). Sparse inputs come with their dropout already done.

        rng : draws the dropout while training
        copies : equal parts of the batch, of which BatchNorm sees each by itself
        """
        if self.embedding is not None and isinstance(inputs, tuple):
            inputs = self.embedding(inputs)
        hidden = self.linears[0](inputs if isinstance(inputs, tuple) else self._into(0, inputs, rng, copies))
        return self.after_first(hidden, rng, copies)

    def after_first(self, hidden: Tensor, rng: np.random.Generator | None = None, copies: int = 1) -> Tensor:
        """Logits (b, C) of what the first layer puts out."""
        for number in range(1, len(self.linears)):
            hidden = self.linears[number](self._into(number, hidden, rng, copies))
        logits: Tensor = hidden
        return logits

    @torch.inference_mode()
    def evaluate(self, inputs: Tensor | Factors) -> Tensor:
        """Logits without dropout and with BatchNorm's running statistics; training goes on as before."""
        training = self.training
        self.eval()
        logits: Tensor = self(inputs)
        self.train(training)
        return logits

    def _into(self, number: int, hidden: Tensor, rng: np.random.Generator | None, copies: int) -> Tensor:
        return layer_input(
            hidden,
            cast(nn.BatchNorm1d, self.norms[number]) if self.norms else None,
            relu=number > 0,
            row_norm=self.row_norm,
            dropout=self.dropouts[number],
            training=self.training,
            copies=copies,
            rng=rng,
        )


class Snapshot:
    """A copy of a model's values, kept up to date at the cost of what has changed."""

    def __init__(self) -> None:
        self.state: dict[str, Tensor] = {}
        self._batches = -1  # of the embedding, at the time of the copy

    def take(self, model: MLP) -> None:
        embedding = model.embedding
        for name, tensor in model.state_dict().items():
            if embedding is not None and tensor is embedding.weight and name in self.state:
                newer = torch.from_numpy(np.flatnonzero(embedding.changed > self._batches)).to(tensor.device)
                self.state[name][newer] = tensor[newer]
            else:
                self.state[name] = tensor.detach().clone()
        self._batches = embedding.batches if embedding is not None else 0


def as_input(batch: Batch, device: str) -> Tensor | Factors:
    """A batch as ``MLP`` takes it on the device; sparse ones stay as they are."""
    return batch if isinstance(batch, tuple) else torch.from_numpy(batch).to(device)


@dataclass(frozen=True, eq=False)
class Model:
    """A trained MLP with all that is needed to use it.

    weights : w_0..w_N of the propagation matrix that it was trained on
    classes : names
    info : its settings and how its training went
    """

    mlp: MLP
    weights: tuple[float, ...]
    classes: list[str]
    train: Settings
    info: dict[str, Any]

    @property
    def multiplies_first(self) -> bool:
        """Whether the first product comes before propagation: always so if it is learned, else if that is narrower."""
        first = self.mlp.linears[0]
        narrower = isinstance(first, SparseLinear) and first.outputs < self.mlp.features
        return narrower or self.mlp.embedding is not None

    @property
    def first_weight(self) -> NDArray[np.float32]:
        """W⁰ of the embedding, or else W of the first layer: float32 (d, h)."""
        if self.mlp.embedding is not None:
            weight = self.mlp.embedding.weight
        else:
            weight = torch.cat(list(cast(SparseLinear, self.mlp.linears[0]).blocks), dim=1)
        return np.asarray(weight.detach().cpu().numpy())

    def predict_proba(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Class probabilities: float32 (b, C) from the inputs (b, d) of b nodes."""
        return self._probabilities(self.mlp, inputs)

    def predict_proba_of_products(self, products: NDArray[np.float32]) -> NDArray[np.float32]:
        """The same from propagated products with the first weight: (b, h)."""
        if self.mlp.embedding is not None:
            return self._probabilities(self.mlp, products)
        bias = cast(Tensor, self.mlp.linears[0].bias)
        return self._probabilities(lambda part: self.mlp.after_first(part + bias), products)

    @torch.inference_mode()
    def _probabilities(self, logits: Callable[[Tensor], Tensor], inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        self.mlp.eval()
        device = next(self.mlp.parameters()).device
        out = np.empty((len(inputs), len(self.classes)), np.float32)
        for start in range(0, len(inputs), ROWS_AT_ONCE):
            part = torch.from_numpy(inputs[start : start + ROWS_AT_ONCE])
            out[start : start + ROWS_AT_ONCE] = logits(part.to(device)).softmax(dim=-1).cpu().numpy()
        return out

    def save(self, file: Path | str) -> None:
        """Write a ``safetensors`` file; the settings stand in its header."""
        header = {
            "format_version": FORMAT_VERSION,
            "weights": self.weights,
            "features": self.mlp.features,
            "classes": self.classes,
            "train": self.train.model_dump(),
            "info": self.info,
        }
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in self.mlp.state_dict().items()}
        content = save(tensors, metadata={INFO: json.dumps(header, sort_keys=True)})
        with finished_whole(Path(file)) as partial:
            partial.write_bytes(content)

    @classmethod
    def load(cls, file: Path | str, device: str = "cpu") -> Model:
        """Read a model back.

        Raises
        ------
        GrandPlusError : the file is missing, damaged or no model of this format.
        """
        try:
            with safe_open(str(file), framework="pt") as content:
                header = json.loads((content.metadata() or {})[INFO])
                tensors = {name: content.get_tensor(name) for name in content.keys()}  # noqa: SIM118
        except (OSError, SafetensorError, KeyError, ValueError) as error:
            raise GrandPlusError(f"is no readable model: {error}", where=file, fix="run dvc repro train") from None
        if header["format_version"] != FORMAT_VERSION:
            raise GrandPlusError(
                f"format version is {header['format_version']}", where=file, expected=str(FORMAT_VERSION)
            )
        train = Settings.model_validate(header["train"])
        mlp = MLP(header["features"], len(header["classes"]), train)
        mlp.load_state_dict(tensors)
        return cls(mlp.to(device), tuple(header["weights"]), header["classes"], train, header["info"])
