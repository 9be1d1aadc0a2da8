"""The card that an import writes: whole, short, and without what the defaults say already."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from own import edges_csv, nodes_csv
from ruamel.yaml import YAML
from scipy import sparse

from grandplus.datasets.raw import RawGraph
from grandplus.graph.settings import Preprocess
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
    text = (checkout / CATALOG / "mine.yaml").read_text()
    assert len(text.splitlines()) < 45
    card = YAML(typ="safe").load(text)
    assert card["preprocess"] == {
        "features": "standardize", "split": "per-class", "val_per_class": 2, "shortage": "shrink"
    }  # fmt: skip
    assert card["gfpush"] == {}
    assert card["train"] == {"any": {"dropout_input": 0}}  # as there are two features
    assert load_settings(checkout, dataset="mine").preprocess.train_per_class == 20


@pytest.mark.parametrize(
    ("nodes", "features", "kind"),
    [
        (12, None, "adjacency"),
        (12, sparse.csr_matrix((12, 100)), "row-normalize"),
        (200_000, sparse.csr_matrix((200_000, 100)), "row-normalize"),
        (12, sparse.csr_matrix((12, 100_000)), "row-normalize"),
        (12, np.ones((12, 3), np.float32), "standardize"),
    ],
)
def test_hyperparameters_of_any_size_differ_from_the_defaults(nodes, features, kind):
    raw = RawGraph(np.zeros((2, 0), np.int64), nodes, features, np.zeros(nodes, int), ["a"], np.arange(nodes), [])
    chosen = Preprocess(features=kind, split="per-class")
    card = YAML(typ="safe").load(card_text("mine", {}, chosen, raw, {}, {"avg": 4}))
    assert card["preprocess"] == {"features": kind, "split": "per-class"}
    assert card["gfpush"] == {}
    train = card["train"].get("any", {})
    usual = settings_of("grandplus").Settings().model_dump()
    assert all(usual[key] != value for key, value in train.items())
    assert bool(train) == (nodes > 12 or kind != "row-normalize" or features.shape[1] > 100)


def test_the_docs_name_every_format():
    """A format is a file: what it takes is told in one table."""
    table = DOCS.read_text().partition("## Formats")[2].partition("\n\n## ")[0]
    first_cells = re.findall(r"^\| (`.*?) \|", table, re.M)
    named = [name for cell in first_cells for name in re.findall(r"`([\w-]+)`", cell) if name != "format"]
    assert sorted(named) == sorted(importable_formats())
