"""``grandplus import NAME --grow``: the card of a dataset with what came later, and the graph that runs make of it."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path

import networkx
import numpy as np
import pytest
from own import EDGES, FEW, LABELS, NODES, edges_csv, nodes_csv, npz, run_import

from grandplus.cli.main import main
from grandplus.datasets.fetch.fetch import is_at_hand
from grandplus.datasets.raw import read
from grandplus.graph.graph import Graph
from grandplus.pipeline.card import CATALOG, read_card
from grandplus.pipeline.cases import graph_folder
from grandplus.pipeline.files import get_files
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import load_settings
from grandplus.pipeline.yaml_files import read_yaml

CARD = CATALOG / "mine.yaml"
MORE_NODES = "id,label,height,width\n12,a,3,1\n13,,0,2\n"
MORE_EDGES = "source,target\n12,0\n13,12\n3,9\n0,1\n"
ROWS = {12: "12,a,3,1", 13: "13,,0,2"}


@pytest.fixture
def own(checkout, monkeypatch, tmp_path, capsys) -> Path:
    """The checkout, with an imported ring of twelve nodes, and tables of two more nodes and three more edges."""
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "cache"))
    (checkout / "edges.csv").write_bytes(edges_csv())
    (checkout / "nodes.csv").write_bytes(nodes_csv())
    assert run_import(monkeypatch, checkout, "mine", "edges.csv", "nodes.csv", *FEW, "--label", "label") == 0
    write(checkout, nodes=MORE_NODES, edges=MORE_EDGES)
    capsys.readouterr()
    return checkout


def write(checkout: Path, folder: str = "later", **tables: str) -> None:
    (checkout / folder).mkdir(exist_ok=True)
    for name, content in tables.items():
        (checkout / folder / f"{name}.csv").write_text(content)


def grow(*arguments: str, name: str = "mine", code: int = 0) -> None:
    assert main(["import", name, "--grow", *(arguments or ("later/nodes.csv", "later/edges.csv"))]) == code


def test_options_may_stand_before_between_and_behind_the_files(own):
    for arguments in (["--grow", "mine", "later/nodes.csv", "later/edges.csv"],
                      ["mine", "later/nodes.csv", "later/edges.csv", "--grow"]):  # fmt: skip
        text = CARD.read_text()
        assert main(["import", *arguments]) == 0
        CARD.write_text(text)
    assert (
        main(["import", "other", "--features", "standardize", "edges.csv", "nodes.csv", *FEW, "--label", "label"]) == 0
    )


def made(tmp_path: Path, name: str = "mine", trials: int = 2):
    """What the first two stages make of a card."""
    settings = load_settings(".", dataset=name, trials=trials)
    folder = tmp_path / f"raw-{name}-{len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    get_files(settings, folder, report=lambda _: None)
    return make_graph(read(folder, settings.source, CATALOG), settings, folder)


def test_the_graph_is_that_of_files_merged_by_hand(own, tmp_path, monkeypatch):
    base, before = made(tmp_path)
    grow()
    graph, splits = made(tmp_path)
    (own / "all").mkdir()
    (own / "all/edges.csv").write_bytes(edges_csv(MORE_EDGES.partition("\n")[2]))
    (own / "all/nodes.csv").write_bytes(nodes_csv() + "".join(f"{row}\n" for row in ROWS.values()).encode())
    assert run_import(monkeypatch, own, "whole", "all/edges.csv", "all/nodes.csv", *FEW, "--label", "label") == 0
    whole, _ = made(tmp_path, "whole")
    assert graph.adjacency.fingerprint == whole.adjacency.fingerprint
    assert graph.node_ids.tolist() == whole.node_ids.tolist() == list(range(14))
    assert graph.labels.tolist() == whole.labels.tolist()
    assert graph.classes == whole.classes == base.classes
    assert graph.facts == whole.facts
    assert graph.fitted.to_json() == base.fitted.to_json() != whole.fitted.to_json()
    raw = np.array([[i / 2, i % 3] for i in range(NODES)] + [[3, 1], [0, 2]], np.float32)
    assert graph.features.tobytes() == base.fitted.transform(raw).tobytes()
    assert graph.features[:NODES].tobytes() == base.features.tobytes()
    for trial in range(2):
        old, new = before.of(trial), splits.of(trial)
        assert (new.train.tolist(), new.val.tolist()) == (old.train.tolist(), old.val.tolist())
        assert new.test.tolist() == [*old.test.tolist(), 12]


WEIGHTS = [2, 0.5, 3, 1.5, 2, 1, 4, 0.25, 1, 2, 3, 5]


@pytest.mark.parametrize("direction", ["both", "out", "in"])
def test_weights_and_direction_of_edges_are_those_of_files_merged_by_hand(
    checkout, monkeypatch, tmp_path, capsys, direction
):
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "cache"))
    old = [f"{u},{v},{weight}\n" for (u, v), weight in zip(EDGES, WEIGHTS, strict=True)]
    new = ["12,0,0.75\n", "13,12,6\n", "3,9,1.25\n"]
    head, options = "source,target,weight\n", [*FEW, "--label", "label", "--weights", "use", "--direction", direction]
    (checkout / "nodes.csv").write_bytes(nodes_csv())
    write(checkout, nodes=MORE_NODES, edges=head + "".join(new))
    rows = "".join(f"{row}\n" for row in ROWS.values())
    write(checkout, "all", nodes=nodes_csv().decode() + rows, edges=head + "".join(old + new))
    (checkout / "edges.csv").write_text(head + "".join(old))
    assert run_import(monkeypatch, checkout, "mine", "edges.csv", "nodes.csv", *options) == 0
    assert run_import(monkeypatch, checkout, "whole", "all/edges.csv", "all/nodes.csv", *options) == 0
    grow()
    graph, whole = made(tmp_path)[0], made(tmp_path, "whole")[0]
    assert graph.adjacency.fingerprint == whole.adjacency.fingerprint
    assert graph.adjacency.strengths.tolist() == whole.adjacency.strengths.tolist()
    assert graph.adjacency.direction == direction
    assert graph.facts == whole.facts


def test_experiments_and_tuning_see_the_same_graph(own, tmp_path, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(tmp_path / "scratch"))
    old = Graph.load(graph_folder(load_settings(".", dataset="mine"))).adjacency.fingerprint
    grow()
    settings = load_settings(".", dataset="mine")
    assert Graph.load(graph_folder(settings)).adjacency.fingerprint == made(tmp_path)[0].adjacency.fingerprint != old


def test_the_card_has_the_later_files_and_keeps_its_choices(own, capsys):
    text, before = CARD.read_text(), read_yaml(CARD)
    grow()
    out = capsys.readouterr().out
    after = read_yaml(CARD)
    (grown,) = after["source"].pop("grown")
    assert after.pop("expect") == {"nodes": 14, "edges": 15, "classes": 2, "features": 2}
    assert before.pop("expect") == {"nodes": 12, "edges": 12, "classes": 2, "features": 2}
    assert after == before
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        line for line in CARD.read_text().splitlines() if line.startswith("#")
    ]
    assert (grown["nodes"], grown["edges"]) == ("nodes.csv", "edges.csv")
    assert grown["places"][0]["local"] == {"edges.csv": "later/edges.csv", "nodes.csv": "later/nodes.csv"}
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in grown["files"].values())
    assert re.search(r"^grown +from 12 nodes and 12 edges$", out, re.M)
    assert re.search(r"^added +2 nodes and 3 edges; 1 repeated$", out, re.M)
    assert re.search(
        r"^split +old nodes stay in their parts; of the new ones 1 with a label are for test, and 1", out, re.M
    )
    assert is_at_hand(read_card(CARD).source)
    (own / "later/nodes.csv").unlink()
    assert not is_at_hand(read_card(CARD).source)


def test_a_dataset_grows_again_and_again(own, tmp_path):
    grow()
    write(own, "again", nodes="id,height,width\n14,1,1\n", edges="source,target\n14,13\n")
    grow("again/nodes.csv", "again/edges.csv")
    write(own, "edges", nodes="id,height,width\n", edges="source,target\n14,2\n")  # no node comes, an edge does
    grow("edges/nodes.csv", "edges/edges.csv")
    graph, splits = made(tmp_path)
    assert graph.node_ids.tolist() == list(range(15))
    assert graph.labels.tolist() == [*(LABELS.index(label) for label in LABELS), 0, -1, -1]
    assert graph.facts["edges"] == len(EDGES) + 3 + 1 + 1
    assert splits.of(0).unlabelled[-3:].tolist() == [12, 13, 14]
    assert len(read_yaml(CARD)["source"]["grown"]) == 3


def test_the_later_nodes_may_be_in_any_format_of_a_graph(own, tmp_path):
    graph = networkx.Graph([("12", "0"), ("13", "12"), ("3", "9")])
    graph.nodes["12"].update(label="a", height=3.0, width=1)
    graph.nodes["13"].update(height=0.0, width=2)
    networkx.write_graphml(graph, own / "more.graphml")
    grow("more.graphml", "more.graphml")
    by_file, _ = made(tmp_path)
    assert list(read_yaml(CARD)["source"]["grown"][0]["files"]) == ["more.graphml"]
    assert by_file.facts["edges"] == 15
    assert by_file.labels[12:].tolist() == [0, -1]
    raw = np.array([[3, 1], [0, 2]], np.float32)
    assert by_file.features[12:].tobytes() == by_file.fitted.transform(raw).tobytes()


def test_features_may_be_in_a_file_beside(checkout, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "cache"))
    (checkout / "edges.csv").write_bytes(edges_csv())
    (checkout / "nodes.csv").write_text("id,label\n" + "".join(f"{i},{label}\n" for i, label in enumerate(LABELS)))
    words = {str(node): [node % 6, 6 + node % 4] for node in range(NODES)}
    (checkout / "words.json").write_text(json.dumps(words))
    assert run_import(monkeypatch, checkout, "mine", "edges.csv", "nodes.csv", "words.json", *FEW) == 0
    write(checkout, nodes="id\n12\n13\n", edges=MORE_EDGES)
    (checkout / "later/words.json").write_text(json.dumps({"12": [0, 9], "13": [2, 10]}))
    grow("later/nodes.csv", "later/edges.csv", "--features", "later/words.json")
    assert "ignored   1: 10; the graph has no such features" in capsys.readouterr().out
    graph, _ = made(tmp_path)
    expected = np.zeros((2, 10))
    expected[0, [0, 9]], expected[1, 2] = 0.5, 1
    assert graph.features.toarray()[12:].tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["degree", "onehot-degree", "adjacency", "standardized-adjacency"])
def test_features_of_the_graph_are_made_of_the_merged_one(checkout, monkeypatch, tmp_path, kind):
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "cache"))
    edges = np.array([*EDGES, (0, 5), (2, 7)])
    (checkout / "mine.npz").write_bytes(npz(edges=edges, node_labels=np.arange(NODES) % 2))
    assert run_import(monkeypatch, checkout, "mine", "mine.npz", *FEW, "--features", kind) == 0
    base, _ = made(tmp_path)
    write(checkout, nodes="id\n12\n", edges="source,target\n12,0\n12,4\n")
    write(checkout, "again", nodes="id\n13\n", edges="source,target\n12,13\n13,1\n")
    grow()
    grow("again/nodes.csv", "again/edges.csv")
    graph, _ = made(tmp_path)
    assert graph.features.shape == (14, base.features.shape[1])
    assert graph.fitted.to_json() == base.fitted.to_json()
    if kind == "degree":
        assert graph.features[:, 0].tolist() == np.log1p(graph.adjacency.degrees - 1).astype(np.float32).tolist()
    graph.save(tmp_path)
    assert Graph.load(tmp_path).grown([99], [[99], [13]]).features_of(np.array([13, 14])).shape[0] == 2


REFUSED = {
    "a node that is there": ({"nodes": "id,height,width\n3,1,1\n"}, "later/nodes.csv: new node 3 is there already"),
    "an edge to nowhere": ({"edges": "source,target\n12,99\n"}, "later/edges.csv: edge 1, 12 - 99, names node 99"),
    "a label that is new": ({"nodes": "id,label,height,width\n12,z,1,1\n"}, "'z'"),
    "a feature that is missing": ({"nodes": "id,height\n12,1\n13,2\n"}, "lacks 1 of 2 features, such as 'width'"),
    "a value that is no number": ({"nodes": "id,height,width\n12,tall,1\n13,1,1\n"}, "tall"),
    "nothing new": (
        {"nodes": "id,height,width\n", "edges": "source,target\n0,1\n"},
        "later/nodes.csv, later/edges.csv: add nothing; expected a new node or a new edge",
    ),
}


@pytest.mark.parametrize(("tables", "message"), REFUSED.values(), ids=REFUSED)
def test_what_does_not_go_with_the_dataset_is_told_and_nothing_is_written(own, capsys, tables, message):
    write(own, **tables)
    before = CARD.read_bytes()
    grow(code=2)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: ")
    assert message in line
    assert CARD.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["mine", "--grow", "later/nodes.csv", "later/no.csv"], "later/no.csv: no such file; expected a file of edges"),
        (["mine", "--grow", "later", "later/edges.csv"], "later: no such file; expected a file of nodes"),
        (["min", "--grow", "later/nodes.csv", "later/edges.csv"], "--grow: dataset is 'min'; expected one of mine "
         "(the cards in data/catalog); did you mean mine?"),
        (["mine", "--grow", "later/nodes.csv", "later/edges.csv", "--split", "public"], "--split is given with --grow; "
         "expected --features alone beside it, as the card keeps its choices"),
        (["mine", "--grow", "nodes.csv", "later/nodes.csv", "later/edges.csv"], "3 files are given with --grow; "
         "expected two, of nodes and of edges, in this order"),
        (["mine", "--grow", "later/nodes.csv"], "1 file is given with --grow; "
         "expected two, of nodes and of edges, in this order"),
        (["mine", "--grow", "later/nodes.csv", "nodes.csv"], "nodes.csv: is called like later/nodes.csv; "
         "give it another name"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_a_line(own, capsys, arguments, line):
    assert main(["import", *arguments]) == 2
    assert capsys.readouterr().err.splitlines() == [f"error: {line}"]


def test_a_dataset_whose_files_are_gone_or_were_changed_does_not_grow(own, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "empty"))
    with (own / "nodes.csv").open("a") as file:
        file.write("12,a,1,1\n")
    grow(code=2)
    assert "nodes.csv from where it was imported from" in capsys.readouterr().err
    (own / "nodes.csv").unlink()
    grow(code=2)
    assert "no place delivers the files" in capsys.readouterr().err


def test_a_later_file_that_was_changed_is_refused_by_a_run(own, tmp_path):
    grow()
    (own / "later/edges.csv").write_text("source,target\n12,0\n")
    with pytest.raises(Exception, match=r"edges\.csv from where it was imported from .* has sha256"):
        made(tmp_path)


def test_a_kill_leaves_the_old_card_or_the_new_one(own, capsys):
    old = CARD.read_bytes()
    grow()  # kernels are compiled
    CARD.write_bytes(old)
    seconds = time.perf_counter()
    grow()
    new, seconds = CARD.read_bytes(), time.perf_counter() - seconds
    files = {file for file in own.rglob("*") if file.is_file()}
    for moment in range(10):
        CARD.write_bytes(old)
        child = os.fork()
        if not child:
            main(["import", "mine", "--grow", "later/nodes.csv", "later/edges.csv"])
            os._exit(0)
        time.sleep(seconds * (moment + 1) / 9)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        assert CARD.read_bytes() in (old, new)
        read_card(CARD)
    CARD.write_bytes(old)
    grow()
    assert CARD.read_bytes() == new
    assert {file for file in own.rglob("*") if file.is_file()} == files
