"""What preprocessing fitted: kept exactly, and applied to new rows as to those that it was fitted to."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.fitted import ARRAYS, RAW_ROWS, FittedFeatures
from grandplus.graph.graph import Graph
from grandplus.runtime.errors import ArgumentError, ArtifactError

NODES = 40
IDS = np.array([f"paper {i}" for i in range(NODES)], object)
ADJACENCY = as_adjacency(sp.random_array((NODES, NODES), density=0.05, rng=np.random.default_rng(1)))


def raw_rows(kind: str):
    if kind in RAW_ROWS:
        return RAW_ROWS[kind](ADJACENCY)
    rng = np.random.default_rng(0)
    raw = (rng.random((NODES, 5)) * [1, 1e-6, 1e6, 3, 0] + [0, 0, 0, 1 / 3, 0.1]).astype(np.float32)
    return raw * (rng.random(raw.shape) < 0.8)[:, [0, 1, 2, 3, 3]]


def fitted(kind: str) -> FittedFeatures:
    return FittedFeatures.fit(kind, raw_rows(kind), node_ids=IDS)


def bytes_of(features) -> bytes:
    return (features.toarray() if sp.issparse(features) else features).tobytes()


@pytest.mark.parametrize("kind", ARRAYS)
def test_new_rows_are_transformed_as_the_fitted_ones_were(kind):
    """A row's features are the same alone as among all, to the byte."""
    transformation, raw = fitted(kind), raw_rows(kind)
    whole = transformation.transform(raw)
    for rows in (slice(3, 4), slice(10, 30), [7, 2]):
        assert bytes_of(transformation.transform(raw[rows])) == bytes_of(whole[rows])


@pytest.mark.parametrize("kind", ARRAYS)
def test_json_keeps_it_exactly(kind):
    transformation = fitted(kind)
    again = FittedFeatures.from_json(json.loads(json.dumps(transformation.to_json())))
    assert again.to_json() == transformation.to_json()
    assert bytes_of(again.transform(raw_rows(kind))) == bytes_of(transformation.transform(raw_rows(kind)))
    for key in ARRAYS[kind]:
        assert np.array_equal(getattr(again, key), getattr(transformation, key))


def test_what_is_kept():
    x = np.array([[1, 7, 0.1], [2, 7, 0.2], [6, 7, 0.4]], np.float32)
    standard = FittedFeatures.fit("standardize", x, names=["age", "year", "share"])
    wide = x.astype(np.float64)
    assert standard.names == ["age", "year", "share"]
    assert standard.means.dtype == standard.deviations.dtype == np.float64
    np.testing.assert_allclose(standard.means, wide.mean(axis=0), rtol=1e-15)
    np.testing.assert_allclose(standard.deviations, [*wide.std(axis=0)[:1], 0, *wide.std(axis=0)[2:]], rtol=1e-15)
    degrees = FittedFeatures.fit("onehot-degree", np.array([[3], [0], [3], [1]]))
    assert degrees.to_json() == {"kind": "onehot-degree", "degrees": [0, 1, 3]}
    assert fitted("adjacency").to_json() == {"kind": "adjacency", "node_ids": IDS.tolist()}
    for kind in ("row-normalize", "as-is", "degree"):
        assert fitted(kind).to_json() == {"kind": kind}


def test_new_degrees_have_the_columns_of_the_fitted_ones():
    degrees = FittedFeatures.fit("onehot-degree", np.array([[3], [0], [3], [1]]))
    assert degrees.transform(np.array([[1], [3]])).toarray().tolist() == [[0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("count", [2, 9])
def test_a_degree_that_no_node_had_is_refused(count):
    degrees = FittedFeatures.fit("onehot-degree", np.array([[3], [0], [3], [1]]))
    with pytest.raises(ArgumentError, match=f"row 1 has {count} neighbours, and no node had as many when"):
        degrees.transform(np.array([[3], [count]]))


@pytest.mark.parametrize(
    ("transformation", "raw", "message"),
    [
        (fitted("standardize"), np.ones((2, 4)), r"have shape \(2, 4\); expected rows of 5 columns"),
        (fitted("adjacency"), np.ones((1, 3)), "expected rows of 40 columns"),
        (fitted("degree"), np.ones((1, 2)), "expected rows of 1 columns"),
        (FittedFeatures("as-is"), np.ones(3), r"have shape \(3,\); expected rows of any number of columns"),
        (FittedFeatures("row-normalize", ["a", "b"]), np.ones((1, 3)), "expected rows of 2 columns"),
    ],
)
def test_other_columns_are_refused(transformation, raw, message):
    with pytest.raises(ArgumentError, match=message):
        transformation.transform(raw)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ArgumentError, match="no features of kind 'l2'; expected one of row-normalize, standardize"):
        FittedFeatures.fit("l2", np.ones((2, 2)))


@pytest.mark.parametrize("content", [[], {}, {"kind": "l2"}, {"kind": "standardize", "means": [0.0]}])
def test_what_was_not_written_by_to_json_is_refused(content):
    with pytest.raises(ArgumentError, match="expected what to_json has given"):
        FittedFeatures.from_json(content)


def test_a_graph_keeps_what_was_fitted(tmp_path: Path):
    raw = raw_rows("standardize")
    transformation = FittedFeatures.fit("standardize", raw)
    labels = np.arange(NODES) % 2
    Graph(ADJACENCY, transformation.transform(raw), labels, ["a", "b"], IDS, fitted=transformation).save(tmp_path)
    graph = Graph.load(tmp_path)
    assert bytes_of(graph.fitted.transform(raw)) == bytes_of(graph.features)
    (tmp_path / "features.json").write_text('{"kind": "standardize"}\n')
    with pytest.raises(ArtifactError, match=r"features\.json: .*expected what preprocessing fitted"):
        Graph.load(tmp_path)
