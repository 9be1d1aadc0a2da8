"""A feature that is the class under another name is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from own import FEW, LABELS, NODES, edges_csv, run_import
from scipy import sparse

from grandplus.datasets.account import Account
from grandplus.datasets.raw import RawGraph
from grandplus.importing.leaks import check_no_class_among_features
from grandplus.pipeline.card import CATALOG
from grandplus.runtime.errors import GrandPlusError


def run(tmp_path, monkeypatch, capsys, checkout, name, code_of, *arguments, nodes=NODES) -> tuple[int, str, str]:
    lines = [f"{i},{'ab'[i % 2]},{code_of(i)},{i / 2}" for i in range(nodes)]
    (tmp_path / "nodes.csv").write_text("\n".join([f"id,label,{name},h", *lines, ""]))
    (tmp_path / "edges.csv").write_bytes(edges_csv(edges=[(i, (i + 1) % nodes) for i in range(nodes)]))
    files = (tmp_path / "edges.csv", tmp_path / "nodes.csv")
    return run_import(monkeypatch, checkout, "mine", *files, *FEW, *arguments), *capsys.readouterr()


@pytest.mark.parametrize(("name", "nodes"), [("label_id", NODES), ("classCode", NODES), ("x", 24)])
def test_it_is_refused(tmp_path, monkeypatch, capsys, checkout, name, nodes):
    given = (tmp_path, monkeypatch, capsys, checkout, name, lambda i: 7 - i % 2)
    code, _, err = run(*given, nodes=nodes)
    found = f"error: {name} has one value in each class, another in every class: it may be the class itself"
    assert (code, err.startswith(found)) == (2, True), err
    assert f"import with --ignore {name}\n" in err
    assert list((checkout / CATALOG).iterdir()) == []
    code, out, _ = run(*given, "--ignore", name, nodes=nodes)
    assert (code, f"unused    nodes.csv: {name}" in out, "features  1, dense" in out) == (0, True, True)


@pytest.mark.parametrize(
    ("name", "code_of", "nodes"),
    [
        ("x", lambda i: i % 2, NODES),  # by chance, among few nodes
        ("label_id", lambda i: i % 3, NODES),
        ("x", lambda i: i % 2 if i != 23 else 0, 24),  # not in all nodes
        ("x", lambda i: i % 4, 24),  # tells the class, and more
    ],
)
def test_what_differs_from_the_class_is_a_feature(tmp_path, monkeypatch, capsys, checkout, name, code_of, nodes):
    code, out, err = run(tmp_path, monkeypatch, capsys, checkout, name, code_of, nodes=nodes)
    assert (code, "features  2, dense" in out) == (0, True), err


def test_nodes_without_a_label_may_have_any_value(tmp_path, monkeypatch, capsys, checkout):
    lines = [f"{i},{LABELS[i % 12]},{i % 2},{i}" for i in range(24)] + [f"{i},,{i},{i}" for i in range(24, 30)]
    (tmp_path / "nodes.csv").write_text("\n".join(["id,label,x,h", *lines, ""]))
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    code = run_import(monkeypatch, checkout, "mine", tmp_path / "edges.csv", tmp_path / "nodes.csv", *FEW)
    assert (code, "error: x has one value" in capsys.readouterr().err) == (2, True)


CLASSES = "abc"


def of_three(names: str, columns_of) -> str:
    """Six nodes of each of three classes, and six without a label."""
    lines = [f"{i},{CLASSES[i % 3] if i < 18 + 6 else ''},{columns_of(i)},{i * 7 % 11 / 2}" for i in range(30)]
    return "\n".join([f"id,label,{names},h", *lines, ""])


def import_of_three(tmp_path, monkeypatch, capsys, checkout, *table) -> tuple[int, str]:
    (tmp_path / "nodes.csv").write_text(of_three(*table))
    (tmp_path / "edges.csv").write_bytes(edges_csv(edges=[(i, (i + 1) % 30) for i in range(30)]))
    code = run_import(monkeypatch, checkout, "mine", tmp_path / "edges.csv", tmp_path / "nodes.csv", *FEW)
    return code, "".join(capsys.readouterr())


@pytest.mark.parametrize("words", [("0", "1"), ("False", "True"), ("1", "0"), ("0", "2.5")])
@pytest.mark.parametrize("names", ["label_a,label_b,label_c", "x1,x2,x3", "x1,x2"])
def test_one_hot_classes_are_refused(tmp_path, monkeypatch, capsys, checkout, names, words):
    count = len(names.split(","))
    table = names, lambda i: ",".join(words[k == i % 3] for k in range(count))
    code, out = import_of_three(tmp_path, monkeypatch, capsys, checkout, *table)
    assert code == 2
    assert f"error: each of {names.replace(',', ', ')} marks all nodes of one class and no others" in out
    assert f"import with --ignore {names.replace(',', ' --ignore ')}\n" in out


@pytest.mark.parametrize(
    ("name", "code_of"),
    [
        ("train_label", lambda i: i % 3 if i % 2 else -1),
        ("x", lambda i: 9 - i % 3 if i not in (3, 7) else -1),
        ("x", lambda i: i % 3 + 1 if i not in (3, 7) else 0),
    ],
)
def test_a_class_beside_a_mark_for_unknown_is_refused(tmp_path, monkeypatch, capsys, checkout, name, code_of):
    code, out = import_of_three(tmp_path, monkeypatch, capsys, checkout, name, code_of)
    assert (code, f"error: {name} has one value in each class, another in every class" in out) == (2, True), out


@pytest.mark.parametrize(
    ("names", "columns_of"),
    [
        ("x1,x2", lambda i: f"{int(i % 3 == 0)},{i % 2}"),  # one class of three
        ("x1,x2", lambda i: f"{int(i % 3 == 0 and i)},{int(i % 3 == 1 and i != 1)}"),  # but for one node
        ("x", lambda i: i % 3 if i < 4 else -1),  # on few nodes
        ("x", lambda i: (i % 3 if i != 5 else 0) if i % 2 else -1),
    ],
)
def test_columns_that_may_be_features_are_kept(tmp_path, monkeypatch, capsys, checkout, names, columns_of):
    code, out = import_of_three(tmp_path, monkeypatch, capsys, checkout, names, columns_of)
    assert (code, f"features  {names.count(',') + 2}, dense" in out) == (0, True), out


@pytest.mark.parametrize("dense", [True, False])
def test_sparse_columns_are_looked_at_and_words_may_agree_by_chance(dense):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 12)
    words = (rng.random((24, 5000)) < 0.2).astype(np.float32)
    for column in (7, 4000):
        words[:, column] = labels == (column == 7)
    raw = RawGraph(
        edges=np.zeros((2, 0), np.int64), nodes=24, features=words if dense else sparse.csr_matrix(words),
        labels=labels, classes=["a", "b"], node_ids=np.arange(24), splits=[], account=Account(()),
    )  # fmt: skip
    with pytest.raises(GrandPlusError, match="each of feature 8, feature 4001 "):
        check_no_class_among_features(raw)
    words[:, [7, 4000]] = 0
    check_no_class_among_features(replace(raw, features=words if dense else sparse.csr_matrix(words)))
