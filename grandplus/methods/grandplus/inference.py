"""Predictions for all nodes from finished models (the paper's Eq. 15)."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from grandplus.graph.features import Features
from grandplus.graph.graph import Graph
from grandplus.methods.grandplus.csr import CSR
from grandplus.methods.grandplus.model import ROWS_AT_ONCE, Model
from grandplus.propagation.columns import propagate_columns
from grandplus.propagation.power import BUFFERS, LINE
from grandplus.runtime import environment, pools
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import reserve, scratch_root

GIB = 2**30
BASE = 400 * 2**20  # of the process itself, with PyTorch


def infer(graph: Graph, model: Model, *, inputs: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
    """Class probabilities of every node: float32 (n, C).

    Propagates the narrower side of the first layer where that is exact: (ΠX)W = Π(XW).

    inputs : ``model_inputs(graph, model)`` if it is there already, from a model of the same settings

    Raises
    ------
    GrandPlusError : it needs more memory than ``GRANDPLUS_MEMORY`` allows, or more disk than there is.
    """
    if not model.multiplies_first:
        return model.predict_proba(model_inputs(graph, model) if inputs is None else inputs)
    way = plan(graph, model)
    products = _multiply(graph.features, model.first_weight, way.array(graph.adjacency.nodes))
    propagate_columns(graph, products, weights=model.weights, columns=way.columns, out=products)
    return model.predict_proba_of_products(_scaled(products, model))


def model_inputs(graph: Graph, model: Model) -> NDArray[np.float32]:
    """What the MLP takes, by power iteration: ΠX, or (1 - δ)ΠX if the model doesn't renormalise.

    float32 (n, d); models of the same settings share it.
    """
    way = plan(graph, model)
    out = way.array(graph.adjacency.nodes)
    propagate_columns(graph, graph.features, weights=model.weights, columns=way.columns, out=out)
    return _scaled(out, model)


@dataclass(frozen=True)
class Plan:
    """How inference keeps within a budget of memory.

    width : columns in all
    columns : to propagate at a time
    in_memory : whether the array of all columns is, or else lies in a file that is memory-mapped
    peak : bytes, predicted; files that are memory-mapped are not counted but for the adjacency
    """

    width: int
    columns: int
    in_memory: bool
    peak: int

    def __str__(self) -> str:
        where = "" if self.in_memory else ", kept in a file"
        return f"{self.peak / GIB:.2f} GiB of memory at most, {self.columns} of {self.width} columns at a time{where}"

    def array(self, nodes: int) -> NDArray[np.float32]:
        """Of shape (nodes, width), where the plan says."""
        if self.in_memory:
            return np.empty((nodes, self.width), np.float32)
        size = 4 * nodes * self.width
        # Without a name, so that nothing is left however this process ends.
        with tempfile.TemporaryFile(dir=scratch_root()) as file:
            try:
                reserve(file.fileno(), size)
                file.truncate(size)
            except OSError as error:
                found = f"inference can't keep {size / GIB:.2f} GiB in a file: {error.strerror}"
                fix = "set GRANDPLUS_SCRATCH to a folder with more room, or GRANDPLUS_MEMORY higher"
                raise GrandPlusError(found, where=scratch_root(), fix=fix) from None
            return np.memmap(file, np.float32, "r+", shape=(nodes, self.width))


def plan(graph: Graph, model: Model) -> Plan:
    """As many columns at a time as ``GRANDPLUS_MEMORY`` allows; the same bytes come out for any."""
    nodes, budget = graph.adjacency.nodes, environment.memory()
    width = model.first_weight.shape[1] if model.multiplies_first else int(graph.features.shape[1])
    parameters = sum(tensor.nbytes for tensor in model.mlp.state_dict().values())
    adjacency = graph.adjacency.indptr.nbytes + graph.adjacency.indices.nbytes
    fixed = BASE + parameters + adjacency + 4 * nodes * len(graph.classes)
    a_column = 4 * BUFFERS * nodes
    least = min(width, LINE)
    for in_memory in (True, False):
        held = 4 * nodes * width if in_memory else 0
        columns = min(width, (budget - fixed - held) // max(a_column, 1))
        if columns >= least:
            return Plan(width, columns, in_memory, fixed + held + columns * a_column)
    needed = (fixed + least * a_column) / GIB
    raise GrandPlusError(
        f"inference would need {needed:.2f} GiB of memory, and may use {budget / GIB:.2f}",
        fix="set GRANDPLUS_MEMORY higher if the machine has more, or use one that has",
    )


def _multiply(features: Features, weight: NDArray[np.float32], out: NDArray[np.float32]) -> NDArray[np.float32]:
    """X W by blocks of rows, each summed by one thread."""
    dense = torch.from_numpy(weight)

    def multiply(start: int) -> None:
        end = min(start + ROWS_AT_ONCE, len(out))
        if not sp.issparse(features):
            out[start:end] = (torch.tensor(features[start:end]) @ dense).numpy()
            return
        first, last = int(features.indptr[start]), int(features.indptr[end])
        indptr = (features.indptr[start : end + 1] - first).astype(np.int32)
        # Copies, as PyTorch warns of arrays that can't be written to.
        indices, data = features.indices[first:last].copy(), features.data[first:last].copy()
        part = CSR(indptr, indices, data, len(weight))
        out[start:end] = part.multiply(dense).numpy()

    for _ in pools.map_threads(multiply, range(0, len(out), ROWS_AT_ONCE)):
        pass
    return out


def _scaled(values: NDArray[np.float32], model: Model) -> NDArray[np.float32]:
    if not model.train.renormalize:
        values *= np.float32(1 - model.train.dropnode)
    return values
