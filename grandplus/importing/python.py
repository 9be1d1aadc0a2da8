"""A graph that a notebook holds -> a dataset of the pipeline."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from grandplus.datasets.arrays.npz import CSR_PARTS
from grandplus.datasets.formats.edges_npz import EDGES, FEATURE_NAMES, FEATURES, LABELS, NODE_IDS, WEIGHTS
from grandplus.datasets.in_memory.arrays import as_matrix
from grandplus.datasets.in_memory.inputs import MASKS, Inputs, inputs_of
from grandplus.datasets.in_memory.labels import numbered_labels
from grandplus.datasets.source import Reading
from grandplus.graph.entries import directed_edges
from grandplus.importing.files import Choices, import_files
from grandplus.pipeline.card import CATALOG, check_name
from grandplus.runtime.errors import ArgumentError, GrandPlusError, path_in_errors

OWN = Path("data/own")


def save_dataset(
    name: str,
    graph: Any,
    X: Any = None,
    y: Any = None,
    *,
    masks: dict[str, Any] | None = None,
    edge_weights: str | None = None,
    replace: bool = False,
    root: Path | str = ".",
    **choices: Any,
) -> str:
    """Save a graph as ``data/own/<name>.npz`` and import it; what was understood, as lines of text.

    Parameters
    ----------
    name : str
        Of the dataset.
    graph : object
        A scipy sparse matrix, an array, an ``edge_index``, a graph of networkx or igraph, a DataFrame of edges, or a
        ``Data`` object of PyTorch Geometric, see `grandplus.datasets.in_memory.inputs.inputs_of`.
    X : array_like, tensor, scipy sparse matrix, DataFrame or list of str, shape (n, d), optional
        Features; by default the graph's ``x``, or its attributes of nodes, or none. The index of a DataFrame, or a
        column that is called id, has the nodes' ids.
    y : array_like, shape (n,) or one-hot (n, C), or str, optional
        Classes, unknown where they are -1, None, NaN, "" or text such as "NA", or the name of the column or attribute
        that has them; by default the graph's ``y``, or the column or attribute with a usual name.
    masks : dict of str to array_like, optional
        "train_mask", "val_mask" and "test_mask", each (n,) or, for s splits, (n, s); by default the graph's own.
    edge_weights : {None, "ignore", "use"}
        Whether a graph with edge weights is refused, every edge counts once, or they are saved and used.
    replace : bool
        Whether a dataset of this name may be there.
    root : path
        Top of the checkout.
    **choices
        features, direction, split, train_per_class, val_per_class and shortage, as in the card's ``preprocess``.

    Returns
    -------
    str

    Raises
    ------
    ArgumentError
        An argument is not what it should be.
    GrandPlusError
        No run on the dataset could work; then nothing is written, and what was there is as before.
    """
    root = Path(root)
    check_name(name)
    if (root / CATALOG / f"{name}.yaml").exists() and not replace:
        raise ArgumentError("is there already", where=root / CATALOG / f"{name}.yaml", fix="say replace=True")
    known = Choices.__dataclass_fields__
    for choice in choices:
        if choice not in known:
            raise ArgumentError(f"save_dataset knows no {choice}", expected=f"one of {', '.join(known)}")
    inputs = inputs_of(graph, X, y, edge_weights=edge_weights)
    directed_edges(inputs.edges, None, inputs.undirected, choices.get("direction") or "both")  # which checks it
    arrays = _arrays(inputs, inputs.masks if masks is None else masks)
    folder = root / OWN / f".{name}.partial"  # the dataset that is replaced stays as it is until all is checked
    shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed
    folder.mkdir(parents=True)
    try:
        file = folder / f"{name}.npz"
        with path_in_errors(file):
            np.savez(file, **arrays)  # type: ignore[arg-type] # none is called allow_pickle
        read = Reading(weights="use" if inputs.weights is not None else None)
        return import_files(
            name, [file], read=read, choices=Choices(**choices), replace=replace, root=root, into=root / OWN
        )
    except GrandPlusError as error:
        error.where = str(error.where).replace(f"{folder}/", "")  # which is gone by now
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _arrays(inputs: Inputs, masks: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """What the format ``edges-npz`` has."""
    arrays = {EDGES: np.ascontiguousarray(inputs.edges.T, np.int64), LABELS: _labels(inputs)}
    if inputs.weights is not None:
        arrays[WEIGHTS] = inputs.weights
    if inputs.node_ids is not None:
        arrays[NODE_IDS] = inputs.node_ids
    if inputs.feature_names is not None:
        arrays[FEATURE_NAMES] = np.array(inputs.feature_names, str)
    if sparse.issparse(inputs.features):
        arrays |= {f"{FEATURES}_{part}": np.array(getattr(inputs.features, part)) for part in CSR_PARTS}
    elif inputs.features is not None:
        arrays[FEATURES] = inputs.features
    for part, mask in masks.items():
        if part not in MASKS:
            raise ArgumentError(f"masks has {part!r}", expected=f"{', '.join(MASKS)}")
        arrays[f"{part}s"] = np.atleast_2d(as_matrix(mask, part).T)
    return arrays


def _labels(inputs: Inputs) -> NDArray[Any]:
    """Whole numbers, -1 where unknown, or text, "" where unknown; or one-hot rows, as they were given."""
    if inputs.labels is not None:
        given = as_matrix(inputs.labels, "y")
        if given.ndim == 2 and given.shape[1] > 1:
            return np.asarray(given)
    classes, numbers = numbered_labels(inputs.labels, inputs.nodes)
    if classes.dtype.kind in "iu":
        return np.append(classes, -1)[numbers]
    return np.append(classes.astype(str), "")[numbers]
