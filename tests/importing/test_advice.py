"""What a refusal advises, where a user most probably meant something else than the first reading of the files."""

from __future__ import annotations

import io

import pandas as pd
import pytest
from own import FEW, LABELS, NODES, edges_csv, imported, nodes_csv, run_import

from grandplus.importing.python import save_dataset

ROWS = range(NODES)
HEIGHTS = [node * 5 % 12 / 2 for node in ROWS]
DATES = [f"2021-{node % 2 + 1:02d}-03" for node in ROWS]
BLANKS = [None if node // 2 % 3 == 2 else node % 2 for node in ROWS]  # pandas writes 0.0, 1.0 and nothing
CLASS = "if it is the class, say --label segment; else correct it"


def nodes_of(**columns: list[object]) -> bytes:
    return pd.DataFrame({"id": ROWS, **columns}).to_csv(index=False).encode()


@pytest.fixture
def import_(tmp_path, monkeypatch, capsys, checkout):
    """Import edges and nodes; the exit code and what is printed."""

    def run(edges, nodes, *arguments):
        return imported(tmp_path, monkeypatch, capsys, checkout, edges, nodes, *arguments)

    return run


@pytest.mark.parametrize("kind", [float, "Int64", str], ids=["floats", "whole", "NA"])
def test_numbers_beside_empty_cells_may_be_the_class(import_, kind):
    segment = pd.Series(BLANKS, dtype=float).astype(kind if kind is not str else "Int64")
    frame = pd.DataFrame({"id": ROWS, "segment": segment, "city": LABELS, "height": HEIGHTS})
    nodes = frame.to_csv(index=False, na_rep="NA" if kind is str else "").encode()
    code, out = import_(edges_csv(), nodes)
    assert code == 2
    assert CLASS in out
    code, out = import_(edges_csv(), nodes, "--label", "segment")
    assert code == 0, out
    assert "classes   2: 0 (4), 1 (4)" in out


def test_numbers_beside_null_in_parquet_may_be_the_class(import_):
    out = io.BytesIO()
    pd.DataFrame({"id": ROWS, "segment": BLANKS, "city": LABELS, "height": HEIGHTS}).to_parquet(out)
    assert CLASS in import_(edges_csv(), out.getvalue())[1]


@pytest.mark.parametrize(
    "columns",
    [
        {"segment": BLANKS, "label": LABELS},  # the class has its name
        {"segment": [None, *ROWS[1:]], "city": LABELS},  # each value once
        {"segment": [None, *(node % 2 + 0.5 for node in ROWS[1:])], "city": LABELS},  # a quantity
        {"segment": ["x?", *(node % 2 + 0.5 for node in ROWS[1:])], "city": LABELS},
    ],
    ids=["named", "unique", "fractions", "text"],
)
def test_other_cells_that_are_no_numbers_are_no_class(import_, columns):
    code, out = import_(edges_csv(), nodes_of(**columns))
    assert code == 2
    assert "column segment: line 2, node 0, is" in out or "column segment: line 6, node 4, is" in out
    assert "if it is the class" not in out


@pytest.mark.parametrize("written", ["%Y-%m-%d", "%d.%m.%Y", "%d/%m/%Y %H:%M", "%Y-%m-%dT%H:%M:%SZ"])
def test_dates_are_no_class(import_, written):
    joined = [pd.Timestamp(date).strftime(written) for date in DATES[1:]]
    code, out = import_(edges_csv(), nodes_of(city=LABELS, height=HEIGHTS, joined=[None, *joined]))
    assert code == 0, out
    assert "label: city, ignore: [joined]" in out
    assert "unused    nodes.csv: joined (dates)" in out


def test_timestamps_of_parquet_are_dates(import_):
    out = io.BytesIO()
    frame = pd.DataFrame({"id": ROWS, "city": LABELS, "height": HEIGHTS, "joined": pd.to_datetime(DATES)})
    frame.to_parquet(out)
    code, text = import_(edges_csv(), out.getvalue())
    assert code == 0, text
    assert "label: city" in text
    assert "joined (dates)" in text


def test_dates_alone_are_refused_and_texts_are_named(import_):
    _, out = import_(edges_csv(), nodes_of(joined=DATES, height=HEIGHTS))
    assert "has columns joined, height, none is called label, and none of them are of text" in out
    _, out = import_(edges_csv(), nodes_of(joined=DATES, city=LABELS, street=LABELS, height=HEIGHTS))
    assert "and 2 of them are of text: city, street; name the column with --label" in out


def test_strict_takes_dates_that_are_ignored(import_):
    nodes = nodes_of(city=LABELS, height=HEIGHTS, joined=DATES)
    assert import_(edges_csv(), nodes, "--strict")[0] == 2
    assert import_(edges_csv(), nodes, "--strict", "--ignore", "joined")[0] == 0


def of_forty(values: list[str]) -> tuple[bytes, bytes]:
    """A ring of 80 nodes, of which each two have the same of 40 values."""
    frame = pd.DataFrame(
        {"id": range(80), "city": ["a", "b"] * 40, "x": [i / 2 for i in range(80)], "age": [*values, *values]}
    )
    return edges_csv(edges=[(i, (i + 1) % 80) for i in range(80)]), frame.to_csv(index=False).encode()


@pytest.mark.parametrize(
    ("values", "described"),
    [
        ([str(20 + i) for i in range(40)], "40 classes (whole numbers from 20 to 59), and class 20 has 2 nodes"),
        ([f"2024-01-{1 + i % 20:02d}" for i in range(40)], "20 classes (dates like 2024-01-01), and class 2024-01-01"),
    ],
    ids=["quantity", "dates"],
)
def test_a_quantity_or_dates_as_labels_are_asked_for(import_, values, described):
    code, out = import_(*of_forty(values), "--label", "age", "--train-per-class", "4")
    assert code == 2
    assert f"label column age: {described}" in out
    assert "if it is not the class, choose another with --label; if it is, lower --train-per-class" in out


def test_few_nodes_of_other_classes_are_not_doubted(import_):
    code, out = import_(edges_csv(), nodes_of(label=LABELS, height=HEIGHTS), "--train-per-class", "9")
    assert code == 2
    assert "label column label: 2 classes (a, b), and class a has 6 nodes; expected at least 9 to train" in out
    assert "; lower --train-per-class" in out
    code, out = import_(*of_forty([f"k{i}" for i in range(40)]), "--label", "age", "--train-per-class", "4")
    assert "label column age: 40 classes (k0, k1, k10, …), and class k0 has 2 nodes" in out
    assert "if it is not the class" not in out


def test_a_column_of_edges_is_not_ignored_by_its_name(import_):
    edges = edges_csv().replace(b"\n", b",2\n").replace(b"target,2", b"target,weight")
    nodes = nodes_of(label=LABELS, height=HEIGHTS)
    code, out = import_(edges, nodes, "--ignore", "weight")
    assert code == 2
    assert "--ignore names weight, which is a column of edges.txt; expected columns of nodes.csv; say --weights" in out
    assert import_(edges, nodes, "--weights", "ignore")[0] == 0


def test_ids_that_match_nowhere_are_shown(import_):
    frame = pd.DataFrame({"user": [f"user-{i}" for i in ROWS], "label": LABELS, "height": HEIGHTS})
    code, out = import_(edges_csv(), frame.to_csv(index=False).encode())
    assert code == 2
    assert "has no column that holds ids of the edges: edges.txt names nodes like '0' and '1'" in out
    assert "the columns are user (like 'user-0' and 'user-1'), label (like 'a' and 'b'), height" in out
    assert "write the same ids in both, or name their column with --id" in out


@pytest.mark.parametrize(("of_edges", "of_nodes"), [("Ab{}", "ab{}"), ("a {}", "a{}"), ("a0{}", "A 0{}")])
def test_ids_in_another_spelling_are_shown(import_, of_edges, of_nodes):
    edges = edges_csv(edges=[(of_edges.format(i), of_edges.format((i + 1) % NODES)) for i in ROWS])
    frame = pd.DataFrame({"user": [of_nodes.format(i) for i in ROWS], "label": LABELS, "height": HEIGHTS})
    code, out = import_(edges, frame.to_csv(index=False).encode())
    assert code == 2
    first = [name.format(0) for name in (of_nodes, of_edges)]
    assert f"has ids of the edges in another spelling in column user, as '{first[0]}' and" in out
    assert f"and edges.txt names nodes like '{first[1]}' and" in out


@pytest.mark.parametrize("name", ["nodes.csv", "people.csv"])
def test_a_table_of_nodes_alone_lacks_edges(tmp_path, monkeypatch, capsys, checkout, name):
    (tmp_path / name).write_bytes(nodes_of(city=LABELS, height=HEIGHTS, width=HEIGHTS))
    assert run_import(monkeypatch, checkout, "mine", tmp_path / name) == 2
    out = capsys.readouterr().err
    assert f"{name}: looks like a table of nodes, with the columns id, city, height, width, and no table" in out


@pytest.mark.parametrize("folder", [False, True])
def test_the_path_of_a_file_stands_for_its_name(tmp_path, monkeypatch, capsys, checkout, folder):
    held = tmp_path / "held"
    held.mkdir()
    files = {held / "one.csv": edges_csv(), held / "two.csv": nodes_csv()}
    for file, content in files.items():
        file.write_bytes(content)
    one, two = (f"{tmp_path}/checkout/../held/{name}.csv" for name in ("one", "two"))
    given = [held] if folder else list(files)
    assert run_import(monkeypatch, checkout, "mine", *given, *FEW, "--edges", one, "--nodes", two) == 0
    assert "edges: one.csv, nodes: two.csv" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("option", "meant"),
    [
        (["--label", "Lable"], "label"),
        (["--id", "idd"], "id"),
        (["--ignore", "hight"], "height"),
        (["--ends", "sorce", "target"], "source"),
        (["--nodes", "node.csv"], "nodes.csv"),
        (["--edges", "edge.txt"], "edges.txt"),
    ],
)
def test_a_mistyped_name_is_corrected(import_, option, meant):
    code, out = import_(edges_csv(), nodes_of(label=LABELS, height=HEIGHTS), *option)
    assert code == 2
    assert f"; did you mean {meant}?" in out


def test_a_mistyped_attribute_is_corrected(tmp_path, monkeypatch, capsys, checkout):
    nodes = "".join(f'node [ id {i} club "{label}" ]\n' for i, label in enumerate(LABELS))
    file = tmp_path / "g.gml"
    file.write_text(f"graph [\n{nodes}edge [ source 0 target 1 ]\n]\n")
    assert run_import(monkeypatch, checkout, "mine", file, "--label", "clubb") == 2
    assert "did you mean club?" in capsys.readouterr().err


def test_further_columns_of_edges_are_not_all_weights(import_):
    edges = edges_csv().replace(b"\n", b",2020-01-31\n").replace(b"target,2020-01-31", b"target,since")
    code, out = import_(edges, nodes_of(label=LABELS, height=HEIGHTS))
    assert code == 2
    assert "edges.txt: has further columns: since; expected the two ends of an edge only" in out
    assert "import it with --weights use, or with --weights ignore to count every edge once" in out


def test_strict_says_what_to_do_with_repeats(import_):
    edges, nodes = edges_csv("0,1\n3,3\n"), nodes_of(label=LABELS, height=HEIGHTS)
    code, out = import_(edges, nodes, "--strict")
    assert code == 2
    assert out.endswith("as --strict says; edit the files, or import without --strict\n")
    _, out = import_(edges, nodes_of(label=LABELS, height=HEIGHTS, note=["n"] * NODES), "--strict")
    assert "or name the columns that may be left out with --ignore or --weights ignore" in out


def test_what_is_read_is_quoted_as_it_is_in_the_file(import_):
    """A column without a name, and ids in an index of pandas."""
    frame = pd.DataFrame({"id": ROWS, "label": LABELS, "height": HEIGHTS})
    _, out = import_(edges_csv(), frame.to_csv().encode())
    assert "nodes.csv: 12 nodes, beside header ',id,label,height' (1 line)" in out
    held = io.BytesIO()
    frame.set_index("id").rename_axis(None).set_index(pd.Index([f"n{i}" for i in ROWS])).to_parquet(held)
    edges = edges_csv(edges=[(f"n{i}", f"n{(i + 1) % NODES}") for i in ROWS])
    code, out = import_(edges, held.getvalue(), "--replace")
    assert code == 0, out
    assert "id: the index" in out
    assert "__index_level_0__" not in out.splitlines()[0]


@pytest.mark.parametrize("ids", [[7 * node % NODES + 5 for node in ROWS], [f"n{5 * node % NODES:02}" for node in ROWS]])
def test_saved_nodes_are_named_from_the_smallest_to_the_largest(checkout, ids):
    edges = pd.DataFrame({"source": ids, "target": [*ids[1:], ids[0]]})
    features = pd.DataFrame({"height": HEIGHTS}, index=ids[::-1])
    text = save_dataset("mine", edges, features, LABELS, root=checkout, train_per_class=2, val_per_class=2)
    assert f"nodes     12, from {min(ids)} to {max(ids)}" in text
