"""The card that an import writes: whole, short, and without what the defaults say already."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from own import edges_csv, nodes_csv
from ruamel.yaml import YAML
from scipy import sparse

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.fitted import FittedFeatures
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.graph.splits import Split
from grandplus.importing.card import card_text
from grandplus.importing.files import Choices, import_files
from grandplus.importing.recognise import importable_formats
from grandplus.methods.registry import settings_of
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.settings import load_settings

DOCS = Path(__file__).resolve().parents[2] / "docs" / "own-graph.md"


def test_a_card_states_what_differs_from_the_defaults(tmp_path, checkout):
    (tmp_path / "edges.csv").write_bytes(edges_csv())
    (tmp_path / "nodes.csv").write_bytes(nodes_csv())
    files = [tmp_path / "edges.csv", tmp_path / "nodes.csv"]
    choices = Choices(train_per_class=20, val_per_class=2, shortage="shrink")
    said = import_files("mine", files, root=checkout, choices=choices)
    assert said.endswith("\n          dvc exp run -S dataset=mine")
    params = (checkout / "params.yaml").read_text()
    (checkout / "params.yaml").write_text(params.replace("model: grandplus", "model: gcn"))
    said = import_files("mine", files, root=checkout, choices=choices, replace=True)
    assert said.endswith("\n          dvc exp run -S dataset=mine -S model=grandplus")
    text = (checkout / CATALOG / "mine.yaml").read_text()
    assert len(text.splitlines()) < 45
    card = YAML(typ="safe").load(text)
    assert card["preprocess"] == {
        "features": "standardize", "split": "per-class", "val_per_class": 2, "shortage": "shrink"
    }  # fmt: skip
    assert card["gfpush"] == {"any": {"top_k": 128}}
    assert card["train"] == {"any": {"dropout_input": 0, "weight_decay": 0.04}}  # of two classes and features
    assert load_settings(checkout, dataset="mine").preprocess.train_per_class == 20


def preprocessed(nodes, features, kind, classes=3):
    adjacency = as_adjacency(sparse.coo_array((nodes, nodes)))
    labels, names = np.arange(nodes) % classes, [str(label) for label in range(classes)]
    return Graph(adjacency, features, labels, names, np.arange(nodes), fitted=FittedFeatures(kind))


def words(nodes, width, of_each):
    """Rows that sum to 1."""
    columns = np.arange(nodes * of_each) % width
    data = np.full(nodes * of_each, 1 / of_each, np.float32)
    return sparse.csr_array((data, columns, np.arange(0, nodes * of_each + 1, of_each)), (nodes, width))


@pytest.mark.parametrize(
    ("nodes", "features", "kind", "train"),
    [
        (12, words(12, 100, 5), "row-normalize", {}),
        (12, words(12, 100, 5)[:, :40], "row-normalize", {"dropout_input": 0}),
        (12, words(12, 3000, 1000), "row-normalize", {"weight_decay": 0.0001}),
        (12, np.ones((12, 3), np.float32), "standardize", {"dropout_input": 0, "weight_decay": 0.02}),
        (12, np.ones((12, 60), np.float32), "standardized-adjacency", {"weight_decay": 0.02}),
    ],
)
def test_features_decide_on_dropout_and_weight_decay(nodes, features, kind, train):
    assert card_of(preprocessed(nodes, features, kind))["train"].get("any", {}) == train


def test_many_classes_get_less_weight_decay():
    graph = preprocessed(60, words(60, 100, 25), "row-normalize", classes=30)
    assert card_of(graph)["train"] == {"any": {"weight_decay": 7e-05}}


@pytest.mark.parametrize(("nodes", "width"), [(200_000, 100), (12, 100_000)])
def test_hyperparameters_of_a_large_graph_differ_from_the_defaults(nodes, width):
    card = card_of(preprocessed(nodes, words(nodes, width, 1), "row-normalize"))
    train, usual = card["train"]["any"], settings_of("grandplus").Settings().model_dump()
    assert len(train) > 4
    assert all(usual[key] != value for key, value in train.items())
    assert card["gfpush"] == ({} if nodes > 12 else {"any": {"top_k": 128}})


def card_of(graph):
    return YAML(typ="safe").load(text_of(graph))


def text_of(graph, orders=None, train=None):
    """The card, by default of as many training nodes of each class."""
    nodes = np.arange(len(graph.classes)) if train is None else np.array(train)
    split = Split(train=nodes, val=nodes, test=nodes, unlabelled=nodes)
    preprocess = Preprocess(features="as-is", split="per-class")
    return card_text("mine", {}, preprocess, graph, split, {}, orders or {"avg": 4})


@pytest.mark.parametrize(
    ("classes", "train", "confidence"),
    [
        (3, [0, 1, 2, 3, 4, 5], None),  # two of each class: 2 / C, as usual
        (3, [0, 1, 3, 4, 5, 7, 8], 0.86),  # three of seven
        (3, [0, 1, 2, 3, 6], 0.99),  # three of five: no guess is to be twice as sure as that
        (2, [0, 2, 4, 6, 1], None),  # 2 / C is 1, so that no guess is confident anyway
    ],
)
def test_pseudo_labels_need_twice_the_share_of_the_largest_class(classes, train, confidence):
    text = text_of(preprocessed(12, words(12, 100, 5), "row-normalize", classes), train=train)
    assert YAML(typ="safe").load(text)["train"].get("any", {}).get("confidence") == confidence
    assert ("twice the share of the largest class" in text) == (confidence is not None)


def test_features_of_many_values_keep_the_usual_k():
    for features, top_k in ((words(12, 3000, 1000), 32), (words(12, 3000, 90), 128), (np.ones((12, 900)), 32)):
        section = card_of(preprocessed(12, features, "row-normalize"))["gfpush"]
        assert section == ({} if top_k == 32 else {"any": {"top_k": top_k}})


def test_an_unusual_order_is_stated():
    graph = preprocessed(12, words(12, 100, 5), "row-normalize")
    text = text_of(graph, {"avg": 0, "single": 2})
    card = YAML(typ="safe").load(text)
    assert card["gfpush"] == {"any": {"top_k": 128}, "avg": {"order": 0}}
    assert card["train"] == {"avg": {"dropnode": 0}}
    assert "The order N is the one whose" in text


def test_the_docs_name_every_format():
    """A format is a file: what it takes is told in one table."""
    table = DOCS.read_text().partition("## Formats")[2].partition("\n\n## ")[0]
    first_cells = re.findall(r"^\| (`.*?) \|", table, re.M)
    named = [name for cell in first_cells for name in re.findall(r"`([\w-]+)`", cell) if name != "format"]
    assert sorted(named) == sorted(importable_formats())
