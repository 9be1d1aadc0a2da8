"""How fast are nodes answered that came later? A thousand of them with ten thousand edges, on a twin of MAG-Scholar-C.

The first answer is timed from the start of a process that loads graph and model, then nodes a second on one thread,
beside as many nodes of the stored graph in the same process. The model is untrained, which takes as long. Prints a JSON
line:

    python -m benchmarks.growth
    python -m benchmarks.growth --graph data/graph
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch

from benchmarks.lines import print_line
from grandplus.graph.graph import Graph
from grandplus.graph.grown import GrownGraph
from grandplus.methods.files import load_model
from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.grandplus.model import Model
from grandplus.methods.grandplus.settings import Settings
from grandplus.methods.protocol import RowModel
from grandplus.pipeline.cases import Case, graph_folder
from grandplus.prediction.calibration import Calibration
from grandplus.prediction.predictor import Predictor
from grandplus.propagation.rows import RowsInfo

DATASET, MATRIX = "twin-mag-scholar-c", "avg"
NODES, EDGES = 1000, 10_000
TIMED = 128  # nodes
REPEATS = 2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=0.01, help="of the twin's nodes and edges")
    parser.add_argument("--graph", type=Path, help="folder of the twin's graph at another scale, made by a run")
    parser.add_argument("--first", type=Path, help=argparse.SUPPRESS)  # the model of the process that is timed
    options = parser.parse_args()
    os.environ["GRANDPLUS_WORKERS"] = "1"
    torch.set_num_threads(1)
    case = Case(DATASET, MATRIX, (("synthetic.scale", options.scale),))
    folder = options.graph or graph_folder(case.settings(1))
    if options.first:
        predictor = on_grown(folder, case, options.first)[0]
        predictor.predict([predictor.graph.adjacency.nodes - 1])
        return 0
    with tempfile.TemporaryDirectory() as made:
        model = Path(made) / "model.safetensors"
        untrained(folder, case).save(model)
        measure(folder, case, model)
    return 0


def measure(folder: Path, case: Case, model: Path) -> None:
    child = [sys.executable, "-m", "benchmarks.growth", "--graph", str(folder), "--first", str(model)]
    subprocess.run(child, check=True)  # compiles
    start, used = time.perf_counter(), os.times().children_user
    subprocess.run(child, check=True)
    first, used = time.perf_counter() - start, os.times().children_user - used
    predictor, stored, seconds = on_grown(folder, case, model)
    grown = predictor.graph
    assert isinstance(grown, GrownGraph)
    old = np.random.default_rng(1).choice(grown.base.adjacency.nodes, TIMED, replace=False)
    later, before = (timed(one, nodes) for one, nodes in ((predictor, grown.new_nodes[:TIMED]), (stored, old)))
    growth = grown.adjacency.growth
    print_line(
        benchmark="growth", nodes=grown.base.adjacency.nodes, edges=len(grown.base.adjacency.indices) // 2,
        added_nodes=NODES, added_edges=grown.facts["edges"], first_answer_s=first, first_answer_cpu_s=used,
        grow_s=seconds, nodes_per_s=TIMED / later, stored_nodes_per_s=TIMED / before,
        overlay_kb=sum(array.nbytes for array in growth.arrays) / 1e3,
    )  # fmt: skip


def timed(predictor: Predictor, nodes: np.ndarray) -> float:
    """CPU seconds of the fastest of several predictions of some nodes, as other programs may run."""
    predictor.predict(nodes[:1])
    seconds = []
    for _ in range(REPEATS):
        start = time.process_time()
        predictor.predict(nodes)
        seconds.append(time.process_time() - start)
    return min(seconds)


def on_grown(folder: Path, case: Case, model: Path) -> tuple[Predictor, Predictor, float]:
    """A predictor on the graph with the new nodes, that of the stored graph, and the seconds of growing."""
    graph, settings, trained = Graph.load(folder), case.settings(1), load_model(model)
    assert isinstance(trained, RowModel)
    push, nodes = settings.gfpush, graph.adjacency.nodes
    info = RowsInfo(MATRIX, trained.weights, push.rmax, push.top_k, nodes, "")
    stored = Predictor(graph, [trained], info, Calibration((1.0,), None))
    rng = np.random.default_rng(0)
    ids = np.arange(nodes, nodes + NODES)
    edges = np.stack([rng.integers(nodes, nodes + NODES, EDGES), rng.integers(0, nodes + NODES, EDGES)])
    like = graph.features_of(np.sort(rng.choice(nodes, NODES, replace=False)))
    start = time.perf_counter()
    grown = graph.grown(ids, edges, sp.csr_array(like))
    return stored.on(grown), stored, time.perf_counter() - start


def untrained(folder: Path, case: Case) -> Model:
    """A model of the card's settings, but for its values."""
    graph, settings = Graph.load(folder), case.settings(1)
    assert isinstance(settings.train, Settings)
    torch.manual_seed(0)
    mlp = MLP(graph.features.shape[1], len(graph.classes), settings.train)
    weights = tuple(settings.matrix.weights().tolist())
    return Model(mlp=mlp, weights=weights, classes=graph.classes, settings=settings.train)


if __name__ == "__main__":
    sys.exit(main())
