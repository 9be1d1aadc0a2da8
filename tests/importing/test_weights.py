"""``import --weights use`` and ``--direction``: what the graph's files hold, what is said, and what comes later."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from own import EDGES, FEW, NODES, nodes_csv, run_import

from grandplus.cli.main import main
from grandplus.datasets.raw import read
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.files import get_files
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import load_settings

WEIGHTS = [0.5 + i % 3 for i in range(NODES)]
AS_IS = ["--features", "as-is", *FEW, "--label", "label"]


def edges_csv(weights: list[float], further: str = "") -> str:
    lines = (f"{u},{v},{weight}\n" for (u, v), weight in zip(EDGES, weights, strict=True))
    return "".join(["source,target,weight\n", *lines, further])


@pytest.fixture
def own(checkout: Path, monkeypatch, tmp_path):
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "cache"))
    (checkout / "nodes.csv").write_bytes(nodes_csv())

    def imported(name: str, edges: str, *said: str, nodes: str = "nodes.csv") -> int:
        (checkout / f"{name}.csv").write_text(edges)
        return run_import(monkeypatch, checkout, name, f"{name}.csv", nodes, *AS_IS, *said)

    return imported


def made(tmp_path: Path, name: str, **changes: str):
    """What the first two stages make of a card."""
    settings = load_settings(".", dataset=name, trials=2, **changes)
    folder = tmp_path / f"raw-{name}-{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    get_files(settings, folder, report=lambda _: None)
    return make_graph(read(folder, settings.source, CATALOG), settings, folder)[0]


def saved(graph, folder: Path) -> dict[str, bytes]:
    folder.mkdir()
    graph.save(folder)
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_weights_of_1_give_the_bytes_of_the_graph_without(own, tmp_path):
    loops_and_repetitions = "3,3,1\n1,0,1\n"
    assert own("ones", edges_csv([1] * NODES, loops_and_repetitions), "--weights", "use") == 0
    assert own("plain", edges_csv(WEIGHTS, loops_and_repetitions), "--weights", "ignore") == 0
    ones, plain = (saved(made(tmp_path, name), tmp_path / name) for name in ("ones", "plain"))
    assert ones == plain
    assert "weights.npy" not in ones


@pytest.mark.parametrize("direction", ["both", "out", "in"])
def test_later_edges_are_merged_with_their_weights_and_direction(own, tmp_path, direction):
    said = ["--weights", "use", "--direction", direction]
    later = "12,0,4\n13,12,0.25\n3,9,2\n12,12,6\n"
    assert own("mine", edges_csv(WEIGHTS), *said) == 0
    Path("later.csv").write_text(f"source,target,weight\n{later}")
    Path("new.csv").write_text("id,label,height,width\n12,a,3,1\n13,,0,2\n")
    assert main(["import", "mine", "--grow", "new.csv", "later.csv"]) == 0
    Path("all.csv").write_bytes(nodes_csv() + b"12,a,3,1\n13,,0,2\n")
    assert own("whole", edges_csv(WEIGHTS, later), *said, nodes="all.csv") == 0
    grown, whole = made(tmp_path, "mine"), made(tmp_path, "whole")
    assert grown.adjacency.fingerprint == whole.adjacency.fingerprint
    assert grown.adjacency.direction == direction
    assert grown.facts["edges"] == whole.facts["edges"] == NODES + 3
    assert np.array_equal(grown.adjacency.strengths, whole.adjacency.strengths)


def test_the_lines_say_what_becomes_of_weights(own, capsys):
    further = "0,1,3\n4,4,2\n5,9,0\n"
    assert own("mine", edges_csv(WEIGHTS, further), "--weights", "use", "--direction", "out") == 0
    out = capsys.readouterr().out
    assert "12 found in one direction only, and followed from their first end to their second" in out
    line = next(line for line in out.splitlines() if line.startswith("weights "))
    for part in (
        "from 0.5 to 3 (weight); a walk follows edges by their share of weight",
        "1 entry of weight 0 is no edge",
        "1 edge has several weights, of which the largest counts",
        "1 self-loop has a weight, others have 1",
    ):
        assert part in line
    card = (CATALOG / "mine.yaml").read_text()
    assert "weights: use" in card
    assert "direction: out" in card


def test_a_run_can_choose_another_direction(own, tmp_path):
    assert own("mine", edges_csv(WEIGHTS), "--weights", "use", "--direction", "out") == 0
    settings = load_settings(".", dataset="mine", trials=2)
    assert settings.preprocess.direction == "out"
    assert made(tmp_path, "mine").facts["edges"] == NODES  # whatever the direction: as the card expects
    assert run_with_direction(tmp_path, "in").adjacency.direction == "in"


def run_with_direction(tmp_path: Path, direction: str):
    text = Path("params.yaml").read_text().replace("direction: null", f"direction: {direction}")
    Path("params.yaml").write_text(text)
    return made(tmp_path, "mine")


def test_a_negative_weight_is_refused_with_its_line(own, capsys):
    assert own("mine", edges_csv([-1, *WEIGHTS[1:]]), "--weights", "use") == 2
    assert "mine.csv, column weight: line 2 is '-1'; expected a number of at least 0" in capsys.readouterr().err
    assert own("mine", edges_csv(WEIGHTS), "--weights", "sum") == 2
    assert "--weights" in capsys.readouterr().err
