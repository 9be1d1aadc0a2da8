"""Runs that can't finish are refused before they start, by what their cards say."""

from __future__ import annotations

import shutil
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from grandplus.datasets.source import Expect, Reading
from grandplus.methods.registry import NAMES
from grandplus.methods.settings import BASE, GraphSize
from grandplus.pipeline.preflight import check_resources
from grandplus.pipeline.settings import Settings, load_settings
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.sizes import size_text

ROOT = Path(__file__).resolve().parents[2]
Usage = namedtuple("Usage", "total used free")


def cora(**changes: object) -> Settings:
    """1e6 nodes, 1e7 edges, 1,000 features, 10 classes; 64 hidden units, two trials."""
    expect = Expect(nodes=10**6, edges=10**7, classes=10, features=1000)
    settings = load_settings(ROOT, dataset="cora", matrix="avg", trials=2)
    return settings.model_copy(update={"expect": expect, **changes})


@pytest.mark.parametrize(
    ("changes", "needed", "what"),
    [
        ({"edges": 10**8}, 8 * 10**8, "edges in both directions"),
        ({"preprocess": "standardize"}, 4 * 10**9, "standardized features"),
        ({"preprocess": "standardized-adjacency", "features": None}, 4 * 10**12, "standardized features"),
        (  # a process, five copies of the parameters, four of a batch's layers
            {"hidden": 10_000},
            BASE + 4 * (5 * (1001 * 10_000 + 10_001 * 10) + 4 * 2 * 150 * (10_000 + 10)),
            "training of one grandplus",
        ),
        ({"classes": 1000}, 4 * 10**9, "one trial's probabilities"),
    ],
)
def test_memory(monkeypatch, tmp_path, changes, needed, what):
    settings = cora()
    if "preprocess" in changes:
        chosen = settings.preprocess.model_copy(update={"features": changes["preprocess"]})
        settings = settings.model_copy(update={"preprocess": chosen})
    if "hidden" in changes:
        settings = settings.model_copy(update={"train": settings.train.model_copy(update=changes)})
    counts = {key: value for key, value in changes.items() if key in ("classes", "features", "edges")}
    settings = settings.model_copy(update={"expect": settings.expect.model_copy(update=counts)})
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**15, 0, 10**15))
    monkeypatch.setenv("GRANDPLUS_MEMORY", str(needed))
    check_resources(settings, tmp_path)
    monkeypatch.setenv("GRANDPLUS_MEMORY", str(needed - 1))
    with pytest.raises(GrandPlusError, match=rf"the {what} on cora would take {size_text(needed)}; expected at most"):
        check_resources(settings, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_what_no_training_of_the_method_fits_in_is_refused_before_the_run(monkeypatch, tmp_path, name):
    settings = load_settings(ROOT, dataset="cora", model=name, matrix="avg")
    expect = settings.expect
    size = GraphSize(expect.nodes, expect.edges, expect.features, expect.classes, 0)
    needed = settings.train.training_memory(size)
    monkeypatch.setenv("GRANDPLUS_MEMORY", str(needed))
    check_resources(settings, tmp_path)
    monkeypatch.setenv("GRANDPLUS_MEMORY", str(needed - 1))
    with pytest.raises(GrandPlusError, match=f"the training of one {name} on cora would take {size_text(needed)}"):
        check_resources(settings, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_a_method_whose_package_is_missing_is_refused_before_the_run(monkeypatch, tmp_path, name):
    monkeypatch.setitem(sys.modules, "torch_geometric", None)  # as if it was not installed
    settings = load_settings(ROOT, dataset="cora", model=name, matrix="avg")
    if settings.train.layers_from is None:
        check_resources(settings, tmp_path)
        return
    with pytest.raises(GrandPlusError, match=f"^{name} needs torch_geometric, which is not installed; pip install"):
        check_resources(settings, tmp_path)


def test_disk(monkeypatch, tmp_path):
    monkeypatch.setenv("GRANDPLUS_MEMORY", "1TB")
    needed = 8 * 10**7 + 2 * 4 * 10**6 * 10  # int32 of both directions, and two trials' float32 probabilities
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(needed, 0, needed))
    check_resources(cora(), tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(needed, 0, needed - 100))
    with pytest.raises(GrandPlusError, match=r"the graph and the predictions of 2 trials take 152\.59 MiB of disk"):
        check_resources(cora(), tmp_path)
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "indices.npy").write_bytes(bytes(100))  # written already
    check_resources(cora(), tmp_path)


def test_a_synthetic_graph_is_known_by_its_recipe(monkeypatch, tmp_path):
    monkeypatch.setenv("GRANDPLUS_MEMORY", str(BASE + 10**7))
    twin = load_settings(ROOT, dataset="twin-reddit", synthetic={"scale": 0.001})
    check_resources(twin.model_copy(update={"train": twin.train.model_copy(update={"hidden": 8})}), tmp_path)
    with pytest.raises(GrandPlusError, match="on twin-reddit would take"):
        check_resources(load_settings(ROOT, dataset="twin-reddit"), tmp_path)


def test_an_unknown_size_is_not_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("GRANDPLUS_MEMORY", "1")
    check_resources(cora(expect=None), tmp_path)


@pytest.mark.parametrize(
    ("section", "change", "words"),
    [
        (
            "preprocess",
            {"direction": "out"},
            "gat takes no edges that count in one direction only; set preprocess.direction to both, or choose the ",
        ),
        (
            "source",
            {"read": Reading(weights="use")},
            "gat takes no weights of edges; set source.read.weights to ignore in data/catalog/cora.yaml, "
            "or import it with --weights ignore --replace, or choose the method ",
        ),
    ],
)
def test_edges_that_the_method_does_not_take_are_refused_before_the_run(tmp_path, section, change, words):
    settings = load_settings(ROOT, dataset="cora", model="gat", matrix="avg")
    changed = settings.model_copy(update={section: getattr(settings, section).model_copy(update=change)})
    with pytest.raises(GrandPlusError, match=words):
        check_resources(changed, tmp_path)
