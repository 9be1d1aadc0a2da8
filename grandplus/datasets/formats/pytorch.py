"""A file of PyTorch, ``.pt``, with a plain dictionary of tensors under the names of PyTorch Geometric.

Names: ``edge_index`` (2, E); ``y`` (n,); if there are features ``x`` (n, d); and ``train_mask``, ``val_mask`` and
``test_mask``, (n,) or, for s splits, (n, s). The file is read by PyTorch's loader of weights, which makes tensors and
plain containers, and runs no other code. So a ``Data`` object, which is a pickled class, is refused.
"""

from __future__ import annotations

import pickle
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grandplus.datasets.account import Account, FileAccount
from grandplus.datasets.arrays.features import features_of
from grandplus.datasets.arrays.files import pick
from grandplus.datasets.arrays.labels import labels_of
from grandplus.datasets.arrays.masks import splits_of
from grandplus.datasets.arrays.matrices import described
from grandplus.datasets.arrays.memory import check_declared
from grandplus.datasets.edge_weights import raise_several, raise_weighted, weights_read
from grandplus.datasets.raw import RawGraph
from grandplus.datasets.source import Reading, Source
from grandplus.graph.adjacency import INT32_IDS
from grandplus.runtime import environment
from grandplus.runtime.errors import GrandPlusError

SUFFIXES = (".pt", ".pth")
EDGES, FEATURES, LABELS, NODES = "edge_index", "x", "y", "num_nodes"
WEIGHTS = ("edge_weight", "edge_attr")
MASKS = {"train": "train_mask", "val": "val_mask", "test": "test_mask"}
ADVICE = "load it where it was made, and call grandplus.save_dataset(NAME, data), which imports it"
_GLOBAL = re.compile(r"GLOBAL ([\w.]{1,100})")  # in an error of torch.load
# What a damaged file, or one that asks for more than tensors, can raise.
_DAMAGE = (
    pickle.UnpicklingError, ArithmeticError, AssertionError, AttributeError, EOFError, ImportError, LookupError,
    MemoryError, OSError, RuntimeError, TypeError, ValueError, struct.error,
)  # fmt: skip


def read(folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
    """Read the file; nodes are numbered as in it.

    See `grandplus.datasets.formats.Format`.
    """
    file = pick(folder, files, next((suffix for suffix in SUFFIXES if files[0].endswith(suffix)), SUFFIXES[0]))
    held = _load(file)
    features = None if held.get(FEATURES) is None else _array(held[FEATURES], f"{file}, {FEATURES}")
    stored_labels = None if held.get(LABELS) is None else _array(held[LABELS], f"{file}, {LABELS}")
    pairs = _array(held.get(EDGES), f"{file}, {EDGES}")
    nodes = _count(held, pairs, features, stored_labels, file)
    labels, classes = np.full(nodes, -1), list[str]()
    if stored_labels is not None:
        labels, classes = labels_of(stored_labels, nodes, source, f"{file}, {LABELS}")
    masks = {part: _array(held[key], f"{file}, {key}") for part, key in MASKS.items() if held.get(key) is not None}
    used = {EDGES, FEATURES, LABELS, NODES, *MASKS.values()}
    weights = _weights(held, pairs, source.read, file)
    if weights is not None:
        used |= set(WEIGHTS)
    return RawGraph(
        edges=_edges(pairs, nodes, f"{file}, {EDGES}"),
        nodes=nodes,
        features=None if features is None else features_of(features, nodes, f"{file}, {FEATURES}"),
        labels=labels,
        classes=classes,
        node_ids=np.arange(nodes, dtype=np.int64),
        splits=splits_of({part: mask.T for part, mask in masks.items()}, nodes, file),
        weights=weights,
        account=Account(
            (FileAccount(file.name, pairs.shape[1], "edges"),),
            unused=tuple(f"{file.name}, {key}" for key in held if key not in used),
        ),
    )


def recognise(files: list[Path], asked: Reading) -> Reading | None:
    """One file whose name ends with .pt or .pth.

    See `grandplus.datasets.formats.Format`.
    """
    return asked if len(files) == 1 and files[0].suffix in SUFFIXES else None


def _weights(held: dict[str, Any], pairs: NDArray[Any], how: Reading, file: Path) -> NDArray[np.float32] | None:
    names = [name for name in WEIGHTS if held.get(name) is not None]
    if how.weight is not None:
        if str(how.weight) not in names:
            raise GrandPlusError(f"has no {how.weight}", where=file, expected=f"one of {', '.join(names) or 'nothing'}")
        names = [str(how.weight)]
    if not names or how.weights == "ignore":
        return None
    if how.weights is None:
        raise_weighted(f"has {' and '.join(names)}", file)
    if len(names) > 1:
        raise_several(names, file)
    where = f"{file}, {names[0]}"
    values = _array(held[names[0]], where)
    if values.shape not in ((pairs.shape[1],), (pairs.shape[1], 1)):
        raise GrandPlusError(f"is {described(values)}", where=where, expected=f"{pairs.shape[1]} numbers, one an edge")
    return weights_read(values, how, where)


def _load(file: Path) -> dict[str, Any]:
    """What the file holds: a dictionary with text as keys."""
    _check_size(file)
    import torch  # here, as it takes long to import

    try:
        held = torch.load(file, map_location="cpu", weights_only=True)
    except _DAMAGE as error:
        asked = _GLOBAL.search(str(error))
        found = f"asks for {asked[1]}" if asked else "holds something else, or is damaged"
        raise GrandPlusError(found, where=file, expected="a dictionary of tensors alone", fix=ADVICE) from None
    if not isinstance(held, dict) or not all(isinstance(key, str) for key in held):
        raise GrandPlusError(
            f"holds a {type(held).__name__}", where=file, expected="a dictionary of tensors", fix=ADVICE
        )
    if EDGES not in held:
        found = f"lacks {EDGES}, and holds {', '.join(held) or 'nothing'}"
        raise GrandPlusError(found, where=file, expected="the names of PyTorch Geometric", fix=ADVICE)
    return held


def _check_size(file: Path) -> None:
    """Check that it is a zip archive, as PyTorch has written since version 1.6, and fits into memory."""
    try:
        with zipfile.ZipFile(file) as archive:
            declared = sum(info.file_size for info in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, LookupError, RuntimeError) as error:
        found = f"is no file of PyTorch 1.6 or later: {error}"
        raise GrandPlusError(found, where=file, expected="a dictionary of tensors", fix=ADVICE) from None
    check_declared(declared, file)


def _array(tensor: Any, where: str) -> NDArray[Any]:
    import torch

    if not isinstance(tensor, torch.Tensor) or tensor.layout != torch.strided or tensor.device.type != "cpu":
        raise GrandPlusError(f"holds a {type(tensor).__name__}", where=where, expected="a dense tensor", fix=ADVICE)
    if tensor.is_quantized or tensor.dtype.is_complex:
        raise GrandPlusError(f"holds {tensor.dtype}", where=where, expected="numbers", fix=ADVICE)
    if tensor.numel() * tensor.element_size() > environment.memory():  # it may repeat what is stored once
        shape = " x ".join(map(str, tensor.shape))
        expected = f"at most {environment.memory():,} bytes, the memory at hand"
        raise GrandPlusError(f"is {tensor.dtype} {shape}", where=where, expected=expected)
    plain = tensor.detach()
    plain = plain.float() if plain.dtype == torch.bfloat16 else plain  # which numpy doesn't know
    return np.asarray(plain.contiguous().numpy())


def _count(
    held: dict[str, Any], pairs: NDArray[Any], features: NDArray[Any] | None, labels: NDArray[Any] | None, file: Path
) -> int:
    """The number of nodes: that of features, labels or what num_nodes says."""
    counts = {
        key: len(array) for key, array in ((FEATURES, features), (LABELS, labels)) if array is not None and array.ndim
    }
    if type(held.get(NODES)) is int:
        counts[NODES] = held[NODES]
    if not counts:
        raise GrandPlusError(f"has neither {FEATURES}, {LABELS} nor {NODES}", where=file, fix=ADVICE)
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{count:,} nodes by {key}" for key, count in counts.items())
        raise GrandPlusError(f"has {found}", where=file, expected="the same number")
    return next(iter(counts.values()))


def _edges(pairs: NDArray[Any], nodes: int, where: str) -> NDArray[Any]:
    if pairs.ndim != 2 or len(pairs) != 2 or pairs.dtype.kind not in "iu":
        raise GrandPlusError(f"is {described(pairs)}", where=where, expected="node numbers in two rows")
    wrong = np.flatnonzero(((pairs < 0) | (pairs >= nodes)).any(axis=0))
    if len(wrong):
        found = f"column {wrong[0]} is {pairs[:, wrong[0]].tolist()}"
        raise GrandPlusError(found, where=where, expected=f"nodes from 0 to {nodes - 1}")
    return np.ascontiguousarray(pairs, np.int32 if nodes <= INT32_IDS else np.int64)
