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

from grandplus.errors import GrandPlusError
from grandplus.graph import Features
from grandplus.scratch import finished_whole
from grandplus.settings import Train
from grandplus.training.layer_input import layer_input
from grandplus.training.random_propagation import Batch, Factors
from grandplus.training.sparse_linear import SparseLinear

FORMAT_VERSION = 2
INFO = "grandplus"  # the one key of the header: several would be written in random order
ROWS_AT_ONCE = 8192


class MLP(nn.Module):
    """A layer is: L2 norm of rows (if on) → BatchNorm (if on) → dropout → linear; ReLU between.

    Parameters
    ----------
    features, classes : d and C
    settings : layers, hidden, batchnorm, row_norm, dropout_input, dropout_hidden
    """

    def __init__(self, features: int, classes: int, settings: Train) -> None:
        super().__init__()
        self.features = features
        widths = [features, *[settings.hidden] * (settings.layers - 1), classes]
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in widths[:-1] if settings.batchnorm)
        self.row_norm = settings.row_norm
        self.dropouts = [settings.dropout_input] + [settings.dropout_hidden] * (settings.layers - 1)
        kinds = [SparseLinear if self.takes_sparse else nn.Linear, *[nn.Linear] * (settings.layers - 1)]
        self.linears = nn.ModuleList(kind(*ends) for kind, ends in zip(kinds, itertools.pairwise(widths), strict=True))

    @property
    def takes_sparse(self) -> bool:
        """Whether nothing stands before the first product but dropout, which keeps zeros zero."""
        return not self.row_norm and not self.norms

    def forward(self, inputs: Tensor | Factors, rng: np.random.Generator | None = None, copies: int = 1) -> Tensor:
        """Logits (b, C) of inputs (b, d). Sparse inputs come with their dropout already done.

        rng : draws the dropout while training
        copies : equal parts of the batch, of which BatchNorm sees each by itself
        """
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
    train: Train
    info: dict[str, Any]

    @property
    def multiplies_first(self) -> bool:
        """Whether the first product can come before propagation, and leaves fewer columns to propagate."""
        first = self.mlp.linears[0]
        return isinstance(first, SparseLinear) and first.outputs < self.mlp.features

    def first_product(self, features: Features) -> NDArray[np.float32]:
        """X W of the first layer, without its bias: float32 (n, h) from (n, d)."""
        weight = torch.cat(list(cast(SparseLinear, self.mlp.linears[0]).blocks), dim=1)
        return np.asarray(features @ weight.detach().cpu().numpy())

    def predict_proba(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Class probabilities: float32 (b, C) from the inputs (b, d) of b nodes."""
        return self._probabilities(self.mlp, inputs)

    def predict_proba_of_products(self, products: NDArray[np.float32]) -> NDArray[np.float32]:
        """The same from the inputs' products with W of the first layer: (b, h)."""
        bias = cast(Tensor, self.mlp.linears[0].bias)
        return self._probabilities(lambda part: self.mlp.after_first(part + bias), products)

    @torch.inference_mode()
    def _probabilities(self, logits: Callable[[Tensor], Tensor], inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        self.mlp.eval()
        device = next(self.mlp.parameters()).device
        parts = torch.split(torch.from_numpy(inputs), ROWS_AT_ONCE)
        return torch.cat([logits(part.to(device)).softmax(dim=-1).cpu() for part in parts]).numpy()

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
        train = Train.model_validate(header["train"])
        mlp = MLP(header["features"], len(header["classes"]), train)
        mlp.load_state_dict(tensors)
        return cls(mlp.to(device), tuple(header["weights"]), header["classes"], train, header["info"])
