"""Tables, LINQS and geom-gcn with their lines in any order give the same bytes; what else the readers understand."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from own import EDGES, FEW, LABELS, NODES, edges_csv, nodes_csv, npz, run_import
from scipy import sparse

from grandplus.datasets.raw import RawGraph, read_files
from grandplus.datasets.source import Reading, Source
from grandplus.importing.files import Choices, import_files
from grandplus.importing.recognise import recognise
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import load_settings

LISTS = [[i % 4, 5] for i in range(NODES)]  # features that a node has, by number
FEATURES = np.array([[float(column in row) for column in range(6)] for row in LISTS])


def raw(folder: Path, *files: str, **asked: object) -> RawGraph:
    """Recognise and read files of a folder."""
    form, read = recognise([folder / name for name in files], Reading(**asked))
    return read_files(folder, form, sorted(files), Source(format=form, read=read))


def check(graph: RawGraph, ids: list[object]) -> None:
    """It is the ring."""
    assert graph.node_ids.tolist() == ids
    assert sorted(map(sorted, graph.edges.T.tolist())) == sorted(map(sorted, EDGES))
    assert [graph.classes[label] for label in graph.labels] == LABELS
    found = graph.features.toarray() if sparse.issparse(graph.features) else graph.features
    np.testing.assert_array_equal(found, FEATURES)


def name(i: int) -> str:
    """Ids that are no numbers, and sort as the numbers do."""
    return f"node-{i:02d}"


TWO = Choices(train_per_class=2, val_per_class=2)
SHUFFLED = np.random.default_rng(0).permutation(NODES).tolist()
ORDERS = [list(range(NODES)), SHUFFLED]
TEXT = {"edges.csv": ",", "edges.tsv": "\t", "edges.txt": "  ", "graph.edgelist": " ", "links.txt": ";"}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("edges", TEXT)
def test_text(tmp_path, edges, header, order):
    mark = TEXT[edges]
    lines = [f"{name(EDGES[i][0])}{mark}{name(EDGES[i][1])}" for i in order]
    top = ["# a comment", f"from{mark}to"] if header else ["% a comment"]
    (tmp_path / edges).write_text("\r\n".join([*top, *lines, ""]))
    nodes = [f"{name(i)},{LABELS[i]}," + ",".join(map(str, FEATURES[i])) for i in order]
    (tmp_path / "nodes.csv").write_text("\n".join([*(["id,label,a,b,c,d,e,f"] if header else []), *nodes]))
    graph = raw(tmp_path, edges, "nodes.csv", **({} if header else {"label": 2}))
    check(graph, [name(i) for i in range(NODES)])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ["npy", "npz", "json", "json vectors", "parquet", "parquet vectors", "in the table"])
def test_features_beside(tmp_path, kind, order):
    """Numbers as ids, with gaps; rows of .npy and .npz in the order of the node table, others by id."""
    ids = [10 * i + 7 for i in range(NODES)]
    edges = [(ids[u], ids[v]) for u, v in EDGES]
    (tmp_path / "edges.csv").write_bytes(edges_csv(edges=edges))
    rows, lists = FEATURES[order].astype(np.float32), [LISTS[i] for i in SHUFFLED]
    shuffled = [ids[i] for i in SHUFFLED]
    files = ["edges.csv", "nodes.csv", f"features.{kind.partition(' ')[0]}"]
    if kind == "npy":
        np.save(tmp_path / "features.npy", rows)
    elif kind == "npz":
        sparse.save_npz(tmp_path / "features.npz", sparse.csr_matrix(rows))
    elif kind.startswith("json"):
        found = FEATURES[SHUFFLED].tolist() if "vectors" in kind else lists
        (tmp_path / "features.json").write_text(json.dumps(dict(zip(map(str, shuffled), found, strict=True))))
    else:
        found = FEATURES[SHUFFLED].tolist() if "vectors" in kind else lists
        pq.write_table(pa.table({"id": shuffled, "x": found}), tmp_path / "features.parquet")
    if kind == "in the table":
        files = ["edges.csv", "nodes.parquet"]
        table = {"id": shuffled, "label": [LABELS[i] for i in SHUFFLED], "x": lists}
        pq.write_table(pa.table(table), tmp_path / "nodes.parquet")
    (tmp_path / "nodes.csv").write_text("id,label\n" + "".join(f"{ids[i]},{LABELS[i]}\n" for i in order))
    check(raw(tmp_path, *files), ids)


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_nodes_that_only_features_name_have_no_label(tmp_path, kind):
    """The last two nodes are in no line of the node table, and the last is in no edge."""
    ids = [f"n{i}" for i in range(NODES)]
    (tmp_path / "edges.csv").write_bytes(edges_csv(edges=[(ids[u], ids[v]) for u, v in EDGES[:-2]]))
    (tmp_path / "nodes.csv").write_text("id,label\n" + "".join(f"{ids[i]},{LABELS[i]}\n" for i in range(NODES - 2)))
    if kind == "json":
        (tmp_path / "f.json").write_text(json.dumps(dict(zip(ids, LISTS, strict=True))))
    else:
        pq.write_table(pa.table({"id": ids, "x": LISTS}), tmp_path / "f.parquet")
    graph = raw(tmp_path, "edges.csv", "nodes.csv", f"f.{kind}")
    assert sorted(graph.node_ids) == sorted(ids)
    row = {name: position for position, name in enumerate(graph.node_ids)}
    order = [row[name] for name in ids]
    np.testing.assert_array_equal(graph.features.toarray()[order], FEATURES)
    assert [graph.classes[label] if label >= 0 else None for label in graph.labels[order]] == [*LABELS[:-2], None, None]
    assert {file.file: file.read for file in graph.account.files} == {
        "edges.csv": NODES - 2, "nodes.csv": NODES - 2, f"f.{kind}": NODES,
    }  # fmt: skip
    assert (graph.account.ids.only_nodes, graph.account.ids.both) == (1, NODES - 1)


@pytest.mark.parametrize("order", ORDERS)
def test_parquet(tmp_path, order):
    start, end = np.array([EDGES[i] for i in order]).T
    pq.write_table(pa.table({"source": start, "target": end}), tmp_path / "edges.parquet")
    columns = {"id": order, "label": pa.array([LABELS[i] for i in order]).dictionary_encode()}
    columns |= {str(column): FEATURES[order][:, column] for column in range(6)}
    pq.write_table(pa.table(columns), tmp_path / "nodes.parquet")
    check(raw(tmp_path, "edges.parquet", "nodes.parquet"), list(range(NODES)))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("vectors", [True, False])
def test_geom_gcn(tmp_path, vectors, order):
    edges = ["node_id\tnode_id", *(f"{EDGES[i][0]}\t{EDGES[i][1]}" for i in order)]
    lists = [",".join(str(int(x)) for x in FEATURES[i]) if vectors else ",".join(map(str, LISTS[i])) for i in order]
    nodes = [f"{i}\t{text}\t{LABELS[i]}" for i, text in zip(order, lists, strict=True)]
    (tmp_path / "out1_graph_edges.txt").write_text("\n".join([*edges, ""]))
    feature = "feature" if vectors else "feature(feature_amount:6)"
    (tmp_path / "out1_node_feature_label.txt").write_text("\n".join([f"node_id\t{feature}\tlabel", *nodes, ""]))
    for number in (1, 0):
        masks = {f"{part}_mask": np.arange(NODES) % 3 == place for place, part in enumerate(("train", "val", "test"))}
        masks |= {"train_mask": np.arange(NODES) == 3 * number}
        (tmp_path / f"x_split_{number}.npz").write_bytes(npz(**masks))
    names = ["out1_graph_edges.txt", "out1_node_feature_label.txt", "x_split_1.npz", "x_split_0.npz"]
    graph = raw(tmp_path, *names)
    check(graph, list(range(NODES)))
    assert [split["train"].tolist() for split in graph.splits] == [[0], [3]]
    assert graph.splits[0]["test"].tolist() == [2, 5, 8, 11]


@pytest.mark.parametrize("order", ORDERS)
def test_content_cites(tmp_path, order):
    content = [f"{i}\t" + "\t".join(str(int(x)) for x in FEATURES[i]) + f"\t{LABELS[i]}" for i in order]
    (tmp_path / "x.content").write_text("\n".join([*content, ""]))
    (tmp_path / "x.cites").write_text("".join(f"{EDGES[i][0]}\t{EDGES[i][1]}\n" for i in order))
    check(raw(tmp_path, "x.content", "x.cites"), list(range(NODES)))


def test_shuffled_lines_give_the_same_bytes(tmp_path, monkeypatch, checkout):
    """Of all that preprocessing writes; the card differs in checksums alone."""
    made = []
    for number, order in enumerate(ORDERS):
        files = tmp_path / str(number)
        files.mkdir()
        (files / "edges.csv").write_bytes(edges_csv(edges=[EDGES[i][:: 1 - 2 * number] for i in order]))
        header, *lines = nodes_csv({4: "4,,2.0,1"}).decode().split()
        (files / "nodes.csv").write_text("\n".join([header, *(lines[i] for i in order)]))
        assert run_import(monkeypatch, checkout, f"g{number}", files / "edges.csv", files / "nodes.csv", *FEW) == 0
        settings = load_settings(checkout, dataset=f"g{number}", trials=3)
        graph, splits = make_graph(read_files(files, "tables", ["edges.csv", "nodes.csv"], settings.source), settings)
        out = tmp_path / f"out{number}"
        out.mkdir()
        graph.save(out)
        splits.save(out)
        made.append({file.name: file.read_bytes() for file in out.iterdir()})
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("ids", "sorted_ids"),
    [
        (["10", "9", "-3"], [-3, 9, 10]),
        (["10", "9", "007"], ["007", "10", "9"]),  # not the number 7
        (["10", "9", "1.0"], ["1.0", "10", "9"]),
        (["é", "z", "a"], ["a", "z", "é"]),
        (["9223372036854775808", "9", "10"], ["10", "9", "9223372036854775808"]),
    ],
)
def test_ids(tmp_path, ids, sorted_ids):
    (tmp_path / "edges.txt").write_text(f"{ids[0]} {ids[1]}\n{ids[1]} {ids[2]}\n", encoding="utf-8")
    graph = raw(tmp_path, "edges.txt")
    assert graph.node_ids.tolist() == sorted_ids
    assert graph.labels.tolist() == [-1, -1, -1]


def test_an_id_that_is_text_in_a_later_piece(tmp_path, monkeypatch):
    monkeypatch.setattr("grandplus.datasets.tables.table.BLOCK", 64)
    lines = [f"{i} {i + 1}" for i in range(100)]
    (tmp_path / "edges.txt").write_text("\n".join([*lines, "x 5"]))
    graph = raw(tmp_path, "edges.txt")
    assert graph.node_ids.tolist() == sorted([*map(str, range(101)), "x"])
    ends = np.array([line.split() for line in [*lines, "x 5"]])
    assert graph.node_ids[graph.edges].T.tolist() == ends.tolist()


def test_the_column_of_ids_is_the_one_with_the_edges_ends(tmp_path):
    """As in MUSAE's tables, where another column is called id."""
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    lines = [f"{1000 + i},{LABELS[i]},{i}" for i in range(NODES)]
    (tmp_path / "target.csv").write_text("\n".join(["id,label,new_id", *lines]))
    _, read = recognise([tmp_path / "edges.csv", tmp_path / "target.csv"], Reading())
    assert (read.id, read.label, read.ignore) == ("new_id", "label", ["id"])


@pytest.mark.parametrize("header", ["a,b", "p3,p4", ""])
def test_a_header_is_a_line_that_names_no_node(tmp_path, header):
    """Over ids that are text themselves."""
    edges = [header, *(f"p{u},p{v}" for u, v in EDGES)] if header else [f"p{u},p{v}" for u, v in EDGES]
    (tmp_path / "edges.csv").write_text("\n".join(edges))
    (tmp_path / "nodes.csv").write_text("\n".join(["id,kind", *(f"p{i},{LABELS[i]}" for i in range(NODES))]))
    _, read = recognise([tmp_path / "edges.csv", tmp_path / "nodes.csv"], Reading())
    assert read.ends == (("a", "b") if header == "a,b" else (1, 2))
    assert raw(tmp_path, "edges.csv", "nodes.csv").edges.shape == (2, NODES + (header == "p3,p4"))


@pytest.mark.parametrize("columns", ["id,kind,x,y", "id,x,y,kind"])
def test_the_column_of_labels_is_the_one_of_text(tmp_path, columns):
    """Whose header says nothing of it, while another's might."""
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    value = {"id": "{0}", "kind": "{1}", "x": "{0}.5", "y": "{0}.25"}
    line = ",".join(value[column] for column in columns.split(","))
    (tmp_path / "target.csv").write_text("\n".join([columns, *(line.format(i, LABELS[i]) for i in range(NODES))]))
    _, read = recognise([tmp_path / "edges.csv", tmp_path / "target.csv"], Reading())
    assert (read.id, read.label, read.ignore) == ("id", "kind", [])


def test_what_is_asked_for_wins(tmp_path):
    for file in ("a.csv", "b.csv"):
        (tmp_path / file).write_bytes(nodes_csv())
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    _, read = recognise(files, Reading(edges="b.csv", ends=(1, 2), label="width", id="height", ignore=["label"]))
    assert (read.edges, read.nodes, read.id, read.label) == ("b.csv", "a.csv", "height", "width")
    assert read.ignore == ["id", "label"]
    assert read.ends == ("id", "label")
    _, read = recognise(files, Reading(edges="b.csv", label="label", ends=(4, "label")))
    assert read.ends == ("width", "label")


def test_files_of_several_folders(tmp_path, checkout):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "edges.csv").write_bytes(edges_csv())
    (checkout / "y").mkdir()
    (checkout / "y" / "nodes.csv").write_bytes(nodes_csv())
    files = [tmp_path / "x" / "edges.csv", checkout / "y" / "nodes.csv"]
    text = import_files("mine", files, root=checkout, choices=TWO)
    assert "12, from 0 to 11" in text
    card = load_settings(checkout, dataset="mine").source
    assert card.places[0].local == {"edges.csv": str(files[0]), "nodes.csv": "y/nodes.csv"}


def test_the_card_has_no_more_than_the_files_say(tmp_path, checkout):
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    (tmp_path / "nodes.csv").write_bytes(nodes_csv())
    import_files("mine", [tmp_path / "edges.csv", tmp_path / "nodes.csv"], root=checkout, choices=TWO)
    first = (checkout / CATALOG / "mine.yaml").read_bytes()
    settings = load_settings(checkout, dataset="mine")
    assert settings.expect.model_dump() == {"nodes": 12, "edges": 12, "classes": 2, "features": 2}
    assert settings.preprocess.features == "standardize"
    for matrix in ("ppr", "avg", "single"):
        assert load_settings(checkout, dataset="mine", matrix=matrix).train.lr == 0.01
    import_files("mine", [tmp_path / "nodes.csv", tmp_path / "edges.csv"], root=checkout, choices=TWO, replace=True)
    assert (checkout / CATALOG / "mine.yaml").read_bytes() == first


@pytest.mark.parametrize("repository", [True, False])
def test_the_card_is_staged_where_there_is_a_repository(tmp_path, checkout, repository):
    """Queued experiments run in a copy of what git knows."""
    if repository:
        subprocess.run(["git", "init", "-q"], cwd=checkout, check=True)
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    (tmp_path / "nodes.csv").write_bytes(nodes_csv())
    said = import_files("mine", [tmp_path / "edges.csv", tmp_path / "nodes.csv"], root=checkout, choices=TWO)
    known = "staged in git" if repository else "not staged in git: git add it"
    assert f"card      data/catalog/mine.yaml, {known}\n" in said
    if repository:
        listed = ["git", "diff", "--cached", "--name-only"]
        staged = subprocess.run(listed, cwd=checkout, capture_output=True, text=True, check=True).stdout
        assert staged.splitlines() == ["data/catalog/mine.yaml"]


def test_the_names_of_feature_columns_are_kept(tmp_path):
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    (tmp_path / "nodes.csv").write_bytes(nodes_csv())
    assert raw(tmp_path, "edges.csv", "nodes.csv").feature_names == ["height", "width"]
    (tmp_path / "nodes.csv").write_bytes(nodes_csv().partition(b"\n")[2])
    assert raw(tmp_path, "edges.csv", "nodes.csv", id=1, label=2).feature_names is None


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("moved", [True, False])
def test_rows_of_features_beside_ids_in_another_order_are_refused(
    tmp_path, monkeypatch, capsys, checkout, first, moved
):
    order = [*range(2, NODES), 0, 1] if moved else list(range(NODES))
    nodes = "id,label\n" + "".join(f"{node + first},{LABELS[node]}\n" for node in order)
    edges = edges_csv(edges=[(u + first, v + first) for u, v in EDGES])
    np.save(tmp_path / "features.npy", np.random.default_rng(0).normal(size=(NODES, 3)))
    for name, content in {"e.csv": edges, "n.csv": nodes.encode()}.items():
        (tmp_path / name).write_bytes(content)
    files = [tmp_path / name for name in ("e.csv", "n.csv", "features.npy")]
    code = run_import(monkeypatch, checkout, "mine", *files, *FEW)
    out, err = capsys.readouterr()
    assert code == (2 if moved else 0), err
    if moved:
        assert f"row 0 may be of node {2 + first}, as the node table has it there, or of node {first}" in err
    else:
        assert "features  3, dense" in out


@pytest.mark.parametrize(
    ("kind", "found"), [("S", ""), (object, "node_labels is an array of Python objects"), ("latin1", "is not UTF-8")]
)
def test_labels_of_bytes_are_text_and_objects_are_refused(tmp_path, monkeypatch, capsys, checkout, kind, found):
    labels = np.array([b"a", "é".encode("latin1" if kind == "latin1" else "utf-8")] * (NODES // 2))
    labels = labels.astype(object) if kind is object else labels
    features = np.random.default_rng(0).normal(size=(NODES, 3))
    np.savez(tmp_path / "g.npz", edges=np.array(EDGES), node_labels=labels, node_features=features)
    code = run_import(monkeypatch, checkout, "mine", tmp_path / "g.npz", *FEW)
    out, err = capsys.readouterr()
    assert code == (2 if found else 0), err
    assert (found in err and "save it as" in err and ".astype(str)" in err) if found else "2: a (6), é (6)" in out


def test_a_struct_beside_numbers_is_left_out(tmp_path, monkeypatch, capsys, checkout):
    columns = {"id": range(NODES), "label": LABELS, "h": np.arange(NODES) / 3, "w": np.arange(NODES) % 5}
    structs = pa.array([{"a": node, "b": "x"} for node in range(NODES)])
    pq.write_table(pa.table({**columns, "place": structs}), tmp_path / "n.parquet")
    (tmp_path / "e.csv").write_bytes(edges_csv())
    code = run_import(monkeypatch, checkout, "mine", tmp_path / "e.csv", tmp_path / "n.parquet", *FEW)
    out, err = capsys.readouterr()
    assert code == 0, err
    assert "features  2, dense" in out
    assert "unused    n.parquet: place" in out


def test_labels_and_features_in_two_tables_are_to_be_joined(tmp_path, monkeypatch, capsys, checkout):
    for name, nodes in {"labels.csv": [0, 1], "features.csv": [0, 2, 3]}.items():
        rows = [line.split(",") for line in nodes_csv().decode().split()]
        (tmp_path / name).write_text("\n".join(",".join(row[place] for place in nodes) for row in rows))
    (tmp_path / "e.csv").write_bytes(edges_csv())
    files = [tmp_path / name for name in ("e.csv", "labels.csv", "features.csv")]
    assert run_import(monkeypatch, checkout, "mine", *files, *FEW) == 2
    err = capsys.readouterr().err
    assert "features.csv and labels.csv may be the node table" in err
    assert "join them by their ids first (pandas.merge), or name one with --nodes" in err
