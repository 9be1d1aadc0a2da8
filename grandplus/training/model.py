"""The MLP, and a finished model that can be saved, loaded and asked."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from grandplus.errors import GrandPlusError
from grandplus.scratch import finished_whole
from grandplus.settings import Train
from grandplus.training.random_propagation import Batch, SparseBatch
from grandplus.training.sparse_linear import sparse_linear

FORMAT_VERSION = 1
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
        widths = [features, *[settings.hidden] * (settings.layers - 1), classes]
        self.linears = nn.ModuleList(itertools.starmap(Linear, itertools.pairwise(widths)))
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in widths[:-1] if settings.batchnorm)
        self.row_norm = settings.row_norm
        self.dropouts = [settings.dropout_input] + [settings.dropout_hidden] * (settings.layers - 1)

    @property
    def takes_sparse(self) -> bool:
        """Whether nothing stands before the first product but dropout, which keeps zeros zero."""
        return not self.row_norm and not self.norms

    def forward(self, inputs: Tensor | SparseBatch, rng: np.random.Generator | None = None) -> Tensor:
        """Logits (b, C) of inputs (b, d). Sparse inputs come with their dropout already done.

        rng : draws the dropout while training
        """
        if isinstance(inputs, SparseBatch):
            hidden = sparse_linear(inputs, *self.linears[0].parameters())
        else:
            hidden = self._layer(0, inputs, rng)
        for number in range(1, len(self.linears)):
            hidden = self._layer(number, F.relu(hidden), rng)
        return hidden

    def _layer(self, number: int, inputs: Tensor, rng: np.random.Generator | None) -> Tensor:
        if self.row_norm:
            inputs = F.normalize(inputs, dim=1)
        if self.norms:
            inputs = self.norms[number](inputs)
        if self.training:
            inputs = _dropout(inputs, self.dropouts[number], rng)
        outputs: Tensor = self.linears[number](inputs)
        return outputs


def _dropout(inputs: Tensor, share: float, rng: np.random.Generator | None) -> Tensor:
    """Dropout by numpy's generator, which on CPU takes a fraction of the time of PyTorch's."""
    if share == 0:
        return inputs
    if rng is None or inputs.device.type != "cpu":
        return F.dropout(inputs, share)
    scale = np.float32(1 / (1 - share))
    return inputs * torch.from_numpy((rng.random(inputs.shape, np.float32) >= share) * scale)


class Linear(nn.Module):
    """x W + b with W of (in, out), so that a sparse x meets whole rows of it. PyTorch's initial range."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(inputs)
        self.weight = nn.Parameter(torch.empty(inputs, outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(outputs).uniform_(-bound, bound))

    def forward(self, inputs: Tensor) -> Tensor:
        return torch.addmm(self.bias, inputs, self.weight)


def as_input(batch: Batch, device: str) -> Tensor | SparseBatch:
    """A batch as ``MLP`` takes it on the device; sparse ones stay as they are."""
    return batch if isinstance(batch, SparseBatch) else torch.from_numpy(batch).to(device)


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

    @torch.inference_mode()
    def predict_proba(self, inputs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Class probabilities: float32 (b, C) from the inputs (b, d) of b nodes."""
        self.mlp.eval()
        device = next(self.mlp.parameters()).device
        parts = torch.split(torch.from_numpy(inputs), ROWS_AT_ONCE)
        return torch.cat([self.mlp(part.to(device)).softmax(dim=-1).cpu() for part in parts]).numpy()

    def save(self, file: Path | str) -> None:
        """Write a ``safetensors`` file; the settings stand in its header."""
        header = {
            "format_version": FORMAT_VERSION,
            "weights": self.weights,
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
        mlp = MLP(len(tensors["linears.0.weight"]), len(header["classes"]), train)
        mlp.load_state_dict(tensors)
        return cls(mlp.to(device), tuple(header["weights"]), header["classes"], train, header["info"])
