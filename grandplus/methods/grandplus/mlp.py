"""The MLP, its layers, and copies of its values."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any, Protocol, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from grandplus.kernels.dense import multiply_dense
from grandplus.methods.grandplus.settings import Settings

SMALLEST_NORM = 1e-12  # of rows, as in torch.nn.functional.normalize
BLOCK = 64  # columns of a sparse layer's W at a time, which stay in the cache while their rows are gathered


class Inputs(Protocol):
    """Inputs (b, d): a dense tensor, or a sparse matrix that knows its product with a dense one."""

    def __matmul__(self, dense: Tensor, /) -> Tensor: ...


class LayerInput(Protocol):
    """What ``layer_input`` does, or does for a training step."""

    def __call__(
        self, x: Tensor, norm: nn.BatchNorm1d | None, /, *, relu: bool, row_norm: bool, dropout: float
    ) -> Tensor: ...


class Noise:
    """Which values a training step drops, drawn by PyTorch; a test puts other masks in its place."""

    def dropnode(self, values: Tensor, share: float) -> Tensor:
        """The values with a share of them set to 0: z of Eq. 8."""
        return values * torch.bernoulli(torch.full_like(values, 1 - share))

    def dropout(self, values: Tensor, share: float) -> Tensor:
        """The values with a share of them set to 0, the others scaled by 1 / (1 - share)."""
        return F.dropout(values, share)


def layer_input(
    x: Tensor,
    norm: nn.BatchNorm1d | None,
    /,
    *,
    relu: bool,
    row_norm: bool,
    dropout: float,
    augmentations: int = 1,
    noise: Noise | None = None,
) -> Tensor:
    """ReLU (if on) → L2 norm of rows (if on) → BatchNorm (if there is one) → dropout.

    Parameters
    ----------
    x : float32 (M · b, d)
    norm : BatchNorm1d or None
    relu : bool
    row_norm : bool
    dropout : float
        Share of values that is dropped.
    augmentations : int
        M: BatchNorm's statistics are of each augmentation by itself.
    noise : Noise, optional
        Draws the dropout. Without it nothing is dropped, and BatchNorm uses its running statistics.

    Returns
    -------
    float32 (M · b, d)
    """
    if relu:
        x = F.relu(x)
    if row_norm:
        x = F.normalize(x, dim=1, eps=SMALLEST_NORM)
    if norm is not None:
        training = noise is not None
        statistics = norm.running_mean, norm.running_var, norm.weight, norm.bias, training, norm.momentum or 0.0
        parts = torch.chunk(x, augmentations) if training else [x]
        x = torch.cat([F.batch_norm(part, *statistics, eps=norm.eps) for part in parts])
    return noise.dropout(x, dropout) if noise is not None and dropout > 0 else x


class MLP(nn.Module):
    """A layer is: ``layer_input``, then linear.

    Parameters
    ----------
    features : int
        d.
    classes : int
        C.
    settings : Settings
        Of which it takes embed, layers, hidden, batchnorm, row_norm, dropout_input and dropout_hidden. With embed
        the layers come after an ``Embedding``, and take its (b, hidden).
    """

    def __init__(self, features: int, classes: int, settings: Settings) -> None:
        super().__init__()
        self.features = features
        self.embedding = Embedding(features, settings.hidden) if settings.embed else None
        widths = settings.widths(features, classes)
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for width in widths[:-1] if settings.batchnorm)
        self.row_norm = settings.row_norm
        self.dropouts = [settings.dropout_input] + [settings.dropout_hidden] * (settings.layers - 1)
        # Before a sparse product only dropout may stand, which keeps zeros zero.
        first = Linear if settings.embed or self.row_norm or self.norms else SparseLinear
        kinds = [first, *[Linear] * (settings.layers - 1)]
        self.linears = nn.ModuleList(kind(*ends) for kind, ends in zip(kinds, itertools.pairwise(widths), strict=True))

    @property
    def takes_sparse(self) -> bool:
        """Whether inputs may be sparse."""
        return self.embedding is not None or isinstance(self.linears[0], SparseLinear)

    def forward(self, inputs: Inputs, layer_input: LayerInput = layer_input) -> Tensor:
        """Logits.

        Parameters
        ----------
        inputs : float32 (b, d)
            With an embedding also its products (b, h). Sparse inputs come with their dropout already done.
        layer_input : callable
            That of training, or by default that of validation and inference.

        Returns
        -------
        float32 (b, C)
        """
        return self.after_first(self.first(inputs, layer_input), layer_input)

    def first(self, inputs: Inputs, layer_input: LayerInput = layer_input) -> Tensor:
        """What the first layer puts out (b, hidden), of inputs as ``forward`` takes them."""
        if self.embedding is not None and not is_dense(inputs):
            inputs = inputs @ self.embedding.weight
        if is_dense(inputs):
            inputs = self._input(0, cast(Tensor, inputs), layer_input)
        outputs: Tensor = self.linears[0](inputs)
        return outputs

    @torch.inference_mode()
    def evaluate(self, inputs: Inputs) -> Tensor:
        """Logits (b, C) with nothing dropped and BatchNorm's running statistics."""
        return self.forward(inputs)

    def after_first(self, hidden: Tensor, layer_input: LayerInput = layer_input) -> Tensor:
        """Logits (b, C) of what the first layer puts out: (b, hidden)."""
        if len(self.linears) == 1:
            return hidden
        logits: Tensor = self.linears[-1](self.before_last(hidden, layer_input))
        return logits

    def before_last(self, hidden: Tensor, layer_input: LayerInput = layer_input) -> Tensor:
        """What the last of several layers takes (b, hidden), of what the first one puts out."""
        for number in range(1, len(self.linears) - 1):
            hidden = self.linears[number](self._input(number, hidden, layer_input))
        return self._input(len(self.linears) - 1, hidden, layer_input)

    def _input(self, number: int, hidden: Tensor, layer_input: LayerInput) -> Tensor:
        norm = cast(nn.BatchNorm1d, self.norms[number]) if self.norms else None
        return layer_input(hidden, norm, relu=number > 0, row_norm=self.row_norm, dropout=self.dropouts[number])


class Linear(nn.Linear):
    """xWᵀ + b of dense inputs; without a gradient on the CPU it has the same bits on every processor."""

    def forward(self, inputs: Tensor) -> Tensor:
        """(b, out) of inputs (b, in)."""
        if _is_portable(inputs):
            return _product(inputs, self.weight.T, self.bias)
        return super().forward(inputs)


class SparseLinear(nn.Module):
    """xW + b with W of (in, out), of which a sparse x touches only the rows that it needs.

    W is kept in blocks of columns, each a parameter of its own. Initial values as in nn.Linear.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.outputs = outputs
        widths = [min(BLOCK, outputs - start) for start in range(0, outputs, BLOCK)]
        self.blocks = nn.ParameterList(_initial(inputs, inputs, width) for width in widths)
        self.bias = nn.Parameter(_initial(inputs, outputs))

    def forward(self, inputs: Inputs) -> Tensor:
        """(b, out) of inputs (b, in)."""
        multiply = _product if is_dense(inputs) and _is_portable(cast(Tensor, inputs)) else operator.matmul
        return torch.cat([multiply(inputs, block) for block in self.blocks], dim=1) + self.bias


class Embedding(nn.Module):
    """W⁰ of learnable representations H = XW⁰ of very wide sparse features (Eq. 9), before they are propagated.

    A step reads and changes only the rows of W⁰ that its batch's features name, whatever their number: the rest, and
    its moments in the optimizer, stay as they are, bit for bit.

    Attributes
    ----------
    weight : float32 (d, h)
        Initial values as in nn.Linear.
    columns : int64 (t,)
        Of the features, which the last training batch used.
    rows : float32 (t, h)
        Those of ``weight``, a copy, which gets the gradient.
    batch : int
        Number of the last training batch, from 1.
    """

    def __init__(self, features: int, width: int) -> None:
        super().__init__()
        bound = 1 / math.sqrt(features)
        values = np.empty((features, width), np.float32)  # numpy's memory comes in huge pages, PyTorch's does not
        self.weight: Tensor
        self.register_buffer("weight", torch.from_numpy(values).uniform_(-bound, bound))
        self.columns, self.rows = torch.empty(0, dtype=torch.int64), torch.empty(0, width)
        self.batch = 0
        self._last_batch: Tensor  # int32 (d,), the last batch that used a row
        self.register_buffer("_last_batch", torch.zeros(features, dtype=torch.int32), persistent=False)

    def use(self, columns: Tensor, rows: Tensor) -> Tensor:
        """Note what a training batch uses.

        Parameters
        ----------
        columns : int64 (t,)
            Each once.
        rows : float32 (t, h)
            A copy of ``weight[columns]``.

        Returns
        -------
        float32 (t, h)
            The rows, to be differentiated.
        """
        self.columns, self.rows = columns, rows.requires_grad_()
        self.batch += 1
        self._last_batch.index_fill_(0, columns, self.batch)
        return self.rows

    def forward(self, inputs: Tensor) -> Tensor:
        """Products of a training batch, in which only the rows that it uses get a gradient.

        Parameters
        ----------
        inputs : float32 (b, d)
            A coalesced sparse tensor.

        Returns
        -------
        float32 (b, h)
        """
        rows, columns = inputs.indices()
        used, numbers = torch.unique(columns, return_inverse=True)
        entries, shape = (torch.stack([rows, numbers]), inputs.values()), (len(inputs), len(used))
        narrow = torch.sparse_coo_tensor(*entries, shape, check_invariants=False)
        return narrow @ self.use(used, self.weight[used])

    def used_since(self, batch: int) -> Tensor:
        """Columns (t,) that batches after this one have used."""
        return torch.nonzero(self._last_batch > batch).flatten()


class Snapshot:
    """A copy of a model's values, kept up to date at the cost of what has changed."""

    def __init__(self) -> None:
        self.state: dict[str, Tensor] = {}
        self._batch = 0  # of the embedding, at the time of the copy

    def take(self, mlp: MLP) -> None:
        """Copy the values that the model has now."""
        for name, tensor in mlp.state_dict().items():
            if name in self.state and name == "embedding.weight" and mlp.embedding is not None:
                changed = mlp.embedding.used_since(self._batch)
                self.state[name][changed] = tensor[changed]
            else:
                self.state[name] = tensor.detach().clone()
        self._batch = mlp.embedding.batch if mlp.embedding is not None else 0


def sparse_tensor(matrix: Any) -> Tensor:
    """A scipy sparse matrix as a coalesced tensor."""
    matrix = matrix.tocoo()
    indices, values = torch.from_numpy(np.stack(matrix.coords)), torch.from_numpy(matrix.data)
    return torch.sparse_coo_tensor(indices, values, matrix.shape, check_invariants=False).coalesce()


def is_dense(inputs: Inputs) -> bool:
    """Whether inputs are a dense tensor."""
    return isinstance(inputs, Tensor) and inputs.layout is torch.strided


def _is_portable(inputs: Tensor) -> bool:
    """Whether `multiply_dense` takes the place of PyTorch's product, which rounds as the processor's kernels do."""
    return inputs.device.type == "cpu" and inputs.dtype is torch.float32 and not torch.is_grad_enabled()


def _product(x: Any, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """xW + b of dense inputs on the CPU, without a gradient."""
    out = np.empty((len(x), weight.shape[1]), np.float32)
    parts = x.numpy(), weight.detach().numpy(), out, None if bias is None else bias.detach().numpy()
    return torch.from_numpy(multiply_dense(*parts))


def _initial(inputs: int, *shape: int) -> Tensor:
    bound = 1 / math.sqrt(inputs)
    return torch.empty(*shape).uniform_(-bound, bound)
