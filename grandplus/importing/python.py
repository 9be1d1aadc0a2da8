"""A graph that a notebook holds -> a dataset of the pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.arrays.checks import described, edges_of
from grandplus.datasets.arrays.npz import CSR_PARTS
from grandplus.datasets.formats.edges_npz import EDGES, FEATURES, LABELS
from grandplus.datasets.source import Reading, Source
from grandplus.importing.files import Choices, import_files
from grandplus.pipeline.card import CATALOG
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import finished_whole
from grandplus.runtime.validation import Name, checked_as

OWN = Path("data/own")
_MASKS = ("train_mask", "val_mask", "test_mask")


def save_dataset(
    name: str,
    graph: Any,
    X: Any = None,
    y: Any = None,
    *,
    masks: dict[str, Any] | None = None,
    weights: str | None = None,
    replace: bool = False,
    root: Path | str = ".",
    **choices: Any,
) -> str:
    """Save a graph as ``data/own/<name>.npz`` and import it; what was understood, as lines of text.

    Parameters
    ----------
    graph : a ``Data`` of PyTorch Geometric, or what has its ``edge_index``, ``x`` and ``y``; or a scipy sparse
        adjacency, (n, n)
    X : (n, d) features, an array or scipy sparse; None: ``graph.x``, or none
    y : (n,) classes, -1 or NaN where unknown, or text, "" where unknown; None: ``graph.y``
    masks : "train_mask", "val_mask" and "test_mask", (n,) or, for several splits, (n, splits); None: the graph's own
    weights : "ignore" to leave out the edges' weights, which are refused otherwise
    replace : whether a dataset of this name may be there
    root : top of the checkout
    choices : features, split, train_per_class, val_per_class and shortage, as in the card's ``preprocess``

    Raises
    ------
    GrandPlusError : it can't be understood, or no run on it could work; then there is no card.
    """
    root = Path(root)
    checked_as(Name, name, where="the dataset's name")
    if (root / CATALOG / f"{name}.yaml").exists() and not replace:
        raise GrandPlusError("is there already", where=root / CATALOG / f"{name}.yaml", fix="say replace=True")
    read = checked_as(Reading, {"weights": weights}, where="save_dataset")
    known = Choices.__dataclass_fields__
    for choice in choices:
        if choice not in known:
            raise GrandPlusError(f"save_dataset knows no {choice}", expected=f"one of {', '.join(known)}")
    arrays = _arrays(graph, X, y, masks, read)
    file = root / OWN / f"{name}.npz"
    file.parent.mkdir(parents=True, exist_ok=True)
    with finished_whole(file) as partial, partial.open("wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type] # none is called allow_pickle
    return import_files(name, [file], choices=Choices(**choices), replace=replace, root=root)


def _arrays(graph: Any, X: Any, y: Any, masks: dict[str, Any] | None, read: Reading) -> dict[str, NDArray[Any]]:
    """What ``edges_npz`` reads."""
    X = getattr(graph, "x", None) if X is None else X
    y = getattr(graph, "y", None) if y is None else y
    if y is None:
        raise GrandPlusError("there are no labels", expected="y, (n,) classes, -1 where unknown")
    labels = _array(y, "y")
    found = {EDGES: _edges(graph, read), LABELS: labels}
    if X is not None and not sparse.issparse(X):
        found[FEATURES] = _array(X, "X")
    elif X is not None:
        matrix = sparse.csr_matrix(X)
        found |= {f"{FEATURES}_{part}": np.array(getattr(matrix, part)) for part in CSR_PARTS}
    if masks is None:
        masks = {part: getattr(graph, part) for part in _MASKS if getattr(graph, part, None) is not None}
    for part, mask in masks.items():
        if part not in _MASKS:
            raise GrandPlusError(f"masks has {part!r}", expected=f"{', '.join(_MASKS)}")
        found[f"{part}s"] = np.atleast_2d(_array(mask, part).T)
    return found


def _edges(graph: Any, read: Reading) -> NDArray[np.int64]:
    """(E, 2)"""
    if sparse.issparse(graph):
        source = Source(format="edges-npz", read=read)
        return np.ascontiguousarray(edges_of(sparse.csr_matrix(graph), source, "adjacency").T, np.int64)
    if getattr(graph, "edge_index", None) is None:
        expected = "a scipy sparse matrix, or something with edge_index, as PyTorch Geometric's Data"
        raise GrandPlusError(f"graph is a {type(graph).__name__}", expected=expected)
    if read.weights is None and any(getattr(graph, name, None) is not None for name in ("edge_weight", "edge_attr")):
        fix = 'say weights="ignore" to count every edge once'
        raise GrandPlusError("the graph has edge_weight or edge_attr", expected="edges without weights", fix=fix)
    edges = _array(graph.edge_index, "edge_index")
    if edges.ndim != 2 or len(edges) != 2:
        raise GrandPlusError(f"edge_index is {described(edges)}", expected="(2, E)")
    return np.ascontiguousarray(edges.T)


def _array(value: Any, name: str) -> NDArray[Any]:
    """From an array, a list or a tensor, on whichever device."""
    if getattr(value, "is_sparse", False):
        raise GrandPlusError(f"{name} is a sparse tensor", expected="a dense one, or a scipy sparse matrix as X")
    value = value.detach().cpu() if hasattr(value, "detach") else value
    try:
        found = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise GrandPlusError(f"{name} is no array: {error}") from None
    if found.dtype.kind == "O":
        found = np.array(["" if item is None else item for item in found.ravel()]).reshape(found.shape)
    if found.dtype.kind not in "biufU":
        raise GrandPlusError(f"{name} is {described(found)}", expected="numbers, or classes as text")
    return found
