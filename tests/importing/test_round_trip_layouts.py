"""A random graph in the layout of a collection is read as that graph with its split, or refused; never as another."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from layouts import BY_ID, BY_POSITION, PARTS, WITH_NUMBERS, numbered, part_of
from random_graphs import RandomGraph, random_graphs, same_graph

from grandplus.datasets.arrays import hdf5
from grandplus.datasets.raw import RawGraph, read_files
from grandplus.datasets.source import Reading, Source
from grandplus.importing.gather import gathered
from grandplus.importing.recognise import check_files, recognise
from grandplus.runtime.errors import GrandPlusError


@pytest.fixture(autouse=True)
def _sound_files(monkeypatch):
    """No other process reads an .h5ad first: these are sound."""
    monkeypatch.setattr(hdf5, "_check_ends", lambda *_: None)


def read(folder: Path, **asked: object) -> RawGraph:
    with gathered([folder]) as found:
        files = [found.folder / name for name in found.origins]
        check_files(files)
        form, how = recognise(files, Reading(**asked))
        return read_files(found.folder, form, list(found.origins), Source(format=form, read=how))


def with_ones(graph: RandomGraph) -> RandomGraph:
    """Features as 0 and 1, each of which a node has."""
    features = np.ones((len(graph.ids), 2)) if graph.features is None else (graph.features > 0).astype(float)
    features[0] = 1
    return replace(graph, features=features)


def expected(graph: RandomGraph, layout: str) -> RandomGraph:
    """What a layout can hold of a graph."""
    graph = numbered(graph) if layout in WITH_NUMBERS else graph
    if layout in ("geom-gcn", "dgl reddit") and graph.features is None:
        return replace(graph, features=np.zeros((len(graph.ids), 1)))
    return with_ones(graph) if layout == "geom-gcn, words" else graph


def check_split(graph: RandomGraph, raw: RawGraph, names: list[str]) -> None:
    part = {name: PARTS[number] for name, number in zip(graph.ids, part_of(graph), strict=True)}
    for split in raw.splits:
        assert {names[node]: key for key, nodes in split.items() for node in nodes} == part


@pytest.mark.parametrize("layout", BY_POSITION)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=random_graphs(["positions"]))
def test_by_position(layout, graph):
    wanted = expected(replace(graph, ids=[str(row) for row in range(len(graph.ids))]), layout)
    with tempfile.TemporaryDirectory() as folder:
        BY_POSITION[layout](wanted, Path(folder))
        raw = read(Path(folder))
    assert len(raw.splits) == ("without" not in layout)
    check_split(wanted, raw, wanted.ids)
    same_graph(wanted, raw, ids=False)
    assert raw.account.files[0].read in (len(graph.edges), len(set(graph.edges)))


@pytest.mark.parametrize("layout", BY_ID)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=random_graphs())
def test_by_id(layout, graph):
    wanted = expected(graph, layout)
    with tempfile.TemporaryDirectory() as folder:
        BY_ID[layout](wanted, Path(folder))
        try:
            raw = read(Path(folder))
        except GrandPlusError as error:
            event(f"refused: {error.found[:60]}")
            return
    event("read")
    same_graph(wanted, raw)
    names = [str(name) for name in raw.node_ids]
    if layout == "dgl csv":
        check_split(wanted, raw, names)
    elif layout.startswith("geom-gcn"):  # masks are in the order of ids
        assert len(raw.splits) == 3
        part = part_of(wanted)
        for number, split in enumerate(raw.splits):
            assert split["train"].tolist() == np.flatnonzero(np.roll(part, number) == 0).tolist()


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graph=random_graphs(["positions"], unknown=False), data=st.data())
def test_ogb_with_numbers_from_1_is_refused(graph, data):
    """Of which the last names no node."""
    nodes = len(graph.ids)
    shifted = [(u + 1, v + 1) for u, v in [*graph.edges, (nodes - 1, 0)]]
    with tempfile.TemporaryDirectory() as folder:
        layout = data.draw(st.sampled_from([name for name in BY_POSITION if name.startswith("ogb")]))
        BY_POSITION[layout](replace(numbered(graph), edges=shifted), Path(folder))
        with pytest.raises(GrandPlusError, match=rf"names node {nodes}; expected 0 to {nodes - 1}"):
            read(Path(folder))
