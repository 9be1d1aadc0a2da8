"""Columns of a node table that hold a split are the split, and no features."""

from __future__ import annotations

import numpy as np
import pytest
from own import FEW, LABELS, NODES, edges_csv, run_import

from grandplus.datasets.fetch.fetch import fetch
from grandplus.datasets.raw import RawGraph, read
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.settings import load_settings

PARTS = ["train"] * 4 + ["val"] * 4 + ["test"] * 4


def nodes(header: str, line) -> bytes:
    return "\n".join([f"id,label,{header}", *(f"{i},{LABELS[i]},{line(i)}" for i in range(NODES)), ""]).encode()


def masks(i: int, yes: object = 1, no: object = 0) -> str:
    return ",".join(str(yes if PARTS[i] == part else no) for part in ("train", "val", "test"))


def run(tmp_path, monkeypatch, capsys, checkout, table: bytes, *arguments: str) -> tuple[int, str, str]:
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    (tmp_path / "nodes.csv").write_bytes(table)
    files = (tmp_path / "edges.csv", tmp_path / "nodes.csv")
    return run_import(monkeypatch, checkout, "mine", *files, *arguments), *capsys.readouterr()


def read_back(tmp_path, checkout) -> tuple[RawGraph, str]:
    settings = load_settings(checkout, dataset="mine", trials=1)
    (tmp_path / "raw").mkdir()
    fetch(settings.source, tmp_path / "raw", catalog=checkout / CATALOG, report=lambda _: None)
    return read(tmp_path / "raw", settings.source, checkout / CATALOG), settings.preprocess.split


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("h,train,val,test", lambda i: f"{i / 2},{masks(i)}"),
        ("train_mask,val_mask,test_mask,h", lambda i: f"{masks(i, True, False)},{i / 2}"),
        ("h,is_train,is_valid,is_test", lambda i: f"{i / 2},{masks(i, '1.0', '0.0')}"),
        ("h,split", lambda i: f"{i / 2},{PARTS[i]}"),
        ("h,usage", lambda i: f"{i / 2},{ ({'val': 'Validation'}.get(PARTS[i], PARTS[i].title())) }"),
    ],
)
def test_they_are_the_split(tmp_path, monkeypatch, capsys, checkout, header, line):
    code, out, err = run(tmp_path, monkeypatch, capsys, checkout, nodes(header, line), "--strict")
    assert code == 0, err
    named = ", ".join(name for name in header.split(",") if name != "h")
    assert f"split     the data's own, of {named}: 4 nodes train, 4 validate, 4 test\n" in out
    assert "features  1, dense" in out
    raw, split = read_back(tmp_path, checkout)
    ids = {part: sorted(map(int, raw.node_ids[rows])) for part, rows in raw.splits[0].items()}
    assert ids == {"train": [0, 1, 2, 3], "val": [4, 5, 6, 7], "test": [8, 9, 10, 11]}
    assert split == "public"
    assert raw.feature_names == ["h"]
    assert np.array_equal(raw.features[:, 0], [int(name) / 2 for name in raw.node_ids])


@pytest.mark.parametrize(
    ("header", "line", "words"),
    [
        ("train,val,test", lambda i: "1,1,0" if i == 5 else masks(i), "line 7 is of both train and val; expected"),
        ("train,val,test", lambda i: "1,0" if i > 5 else masks(i), "fields"),
        ("h,train_mask,test_mask", lambda i: f"{i},{i % 2},{1 - i % 2}", "a split without nodes to validate on"),
        ("h,split", lambda i: f"{i},{('train', 'test')[i % 2]}", "a split without nodes to validate on"),
        ("train,train_mask,val", lambda i: masks(i), "has several splits; expected one"),
        ("train_mask_0,train_mask_1,val_mask_0", lambda i: masks(i), "has several splits; expected one"),
        ("h,fold", lambda i: f"{i / 2},{i % 3}", "column fold: counts parts of a split by numbers"),
    ],
)  # fmt: skip
def test_what_is_no_split_is_refused(tmp_path, monkeypatch, capsys, checkout, header, line, words):
    code, _, err = run(tmp_path, monkeypatch, capsys, checkout, nodes(header, line), *FEW)
    assert (code, words in err) == (2, True), err
    assert list((checkout / CATALOG).iterdir()) == []


def test_a_value_far_below_is_named(tmp_path, monkeypatch, capsys, checkout):
    """Columns are recognised by the first 200 lines, and read as a whole."""
    lines = [f"{i},{'ab'[i % 2]},{('1,0', '0,1')[i % 3 == 0]}" for i in range(300)]
    lines[250] = "250,a,2,0"
    table = "\n".join(["id,label,train,val", *lines, ""]).encode()
    code, _, err = run(tmp_path, monkeypatch, capsys, checkout, table, "--features", "degree")
    assert code == 2
    assert "column train: line 252 is '2'; expected 0 or 1, as it holds a split; leave it out with --ignore" in err


def test_a_split_of_ones_own_replaces_them(tmp_path, monkeypatch, capsys, checkout):
    table = nodes("h,train,val,test", lambda i: f"{i / 2},{masks(i)}")
    code, out, _ = run(tmp_path, monkeypatch, capsys, checkout, table, "--split", "per-class", *FEW)
    assert code == 0
    assert "split     per-class" in out
    raw, split = read_back(tmp_path, checkout)
    assert (raw.feature_names, split) == (["h"], "per-class")


def test_numbers_that_are_no_masks_stay_features(tmp_path, monkeypatch, capsys, checkout):
    table = nodes("test,val", lambda i: f"{i % 3},{i / 4}")
    assert run(tmp_path, monkeypatch, capsys, checkout, table, *FEW)[0] == 0
    raw, _ = read_back(tmp_path, checkout)
    assert (raw.feature_names, raw.splits) == (["test", "val"], [])
