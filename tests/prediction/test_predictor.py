"""Predictions of a few nodes from pushed rows, against full inference and its exact bound; which runs are refused."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from grandplus.graph.adjacency import build_adjacency
from grandplus.graph.fitted import FittedFeatures
from grandplus.graph.graph import Graph
from grandplus.methods.grandplus.model import MLP, Model
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import load_settings
from grandplus.prediction.calibration import Calibration
from grandplus.prediction.predictor import Predictor
from grandplus.propagation.gfpush import gfpush
from grandplus.propagation.matrices import propagation_weights
from grandplus.propagation.power import propagate
from grandplus.propagation.rows import RowsInfo
from grandplus.runtime.errors import ArgumentError, ArtifactError, GrandPlusError
from grandplus.runtime.sums import sha256, write_sums

SETTINGS = load_settings(dataset="cora", matrix="ppr", trials=2)
TEMPERATURES = (0.5, 1.5)


@pytest.fixture(scope="module")
def cora(raw_graph):
    return make_graph(raw_graph("cora"), SETTINGS)[0]


def predictor_of(graph, rmax=SETTINGS.gfpush.rmax, **train):
    """With untrained models, which bounds and formulas hold for as well."""
    w = propagation_weights("ppr", order=8, alpha=0.2)
    settings = SETTINGS.train.model_copy(update=train)
    models = []
    for seed in range(len(TEMPERATURES)):
        torch.manual_seed(seed)
        mlp = MLP(graph.features.shape[1], len(graph.classes), settings)
        common = {"classes": graph.classes, "settings": settings, "info": {"dataset": "cora"}}
        common["preprocessing"] = graph.fitted.to_json()
        models.append(Model(mlp=mlp, weights=tuple(w.tolist()), **common))
    info = RowsInfo("ppr", tuple(w.tolist()), rmax, 3, graph.adjacency.nodes, "")
    return Predictor(graph, models, info, Calibration(TEMPERATURES, 0.9))


def first_layer_inputs(predictor, nodes):
    """Dense (b, d), and the L1 errors (b,)."""
    rows = predictor.push(nodes)
    inputs = predictor.models[0].inputs_of_rows(predictor.graph, rows)
    return np.asarray(inputs if isinstance(inputs, torch.Tensor) else inputs.to_dense()), rows.l1_error


NODES = np.sort(np.random.default_rng(0).choice(2708, 200, replace=False))


@pytest.mark.parametrize("batchnorm", [False, True])  # sparse inputs, or dense
@pytest.mark.parametrize(("rmax", "kept"), [(1e-7, 2), (1e-7, 32), (1e-3, 2**14)])
def test_first_layer_inputs_of_200_nodes_are_within_their_rows_error(cora, monkeypatch, batchnorm, rmax, kept):
    monkeypatch.setattr("grandplus.prediction.predictor.ROW_ENTRIES", kept)
    predictor = predictor_of(cora, rmax=rmax, batchnorm=batchnorm)
    inputs, l1_error = first_layer_inputs(predictor, NODES)
    full = propagate(cora, cora.features, weights=predictor.info.weights)[NODES]
    surviving, largest, rounding = 1 - l1_error[:, None], cora.features.max(), 1e-6
    assert len(inputs) == 200
    # Undone, the renormalisation leaves a sum that lacks l1_error of the row's mass.
    assert (np.abs(surviving * inputs - full) <= l1_error[:, None] * largest + rounding).all()
    # With it, what the kept neighbours have too much is what the others have too little; features are not negative.
    assert (np.abs(inputs - full) <= l1_error[:, None] * largest + rounding).all()
    assert np.abs(inputs - full).max() > 10 * rounding


def test_with_features_of_both_signs_the_bound_is_their_range(cora, monkeypatch):
    monkeypatch.setattr("grandplus.prediction.predictor.ROW_ENTRIES", 3)
    features = np.random.default_rng(0).normal(size=(2708, 6)).astype(np.float32)
    graph = Graph(cora.adjacency, features, cora.labels, cora.classes, cora.node_ids)
    predictor = predictor_of(graph)
    inputs, l1_error = first_layer_inputs(predictor, NODES)
    full = propagate(graph, features, weights=predictor.info.weights)[NODES]
    assert (np.abs(inputs - full) <= l1_error[:, None] * np.ptp(features, axis=0) + 1e-6).all()
    surviving = 1 - l1_error[:, None]
    assert (np.abs(surviving * inputs - full) <= l1_error[:, None] * np.abs(features).max() + 1e-6).all()


@pytest.mark.parametrize(
    "changes", [{}, {"renormalize": False}, {"embed": True}, {"batchnorm": True, "row_norm": True}]
)
def test_whole_rows_give_what_full_inference_gives(cora, changes):
    predictor = predictor_of(cora, rmax=0, **changes)
    predictions = predictor.predict(NODES[::-20])
    assert predictions.node.tolist() == NODES[::-20][::-1].tolist()
    expected = predictor.calibration.combine(model.predict_proba(cora) for model in predictor.models)[predictions.node]
    np.testing.assert_allclose(predictions.probabilities, expected, atol=2e-5)
    assert predictions.l1_error.max() < 1e-6
    assert predictions.predicted.tolist() == predictions.probabilities.argmax(axis=1).tolist()
    assert predictions.confident.tolist() == (predictions.probabilities.max(axis=1) >= 0.9).tolist()


def test_a_row_keeps_more_entries_than_those_trained_on(cora):
    predictor = predictor_of(cora)
    rows = gfpush(cora, NODES, weights=predictor.info.weights, rmax=predictor.info.rmax, top_k=2708)
    predictions = predictor.predict(NODES)
    assert predictions.node.tolist() == NODES.tolist()
    assert predictions.l1_error.max() < 1e-4
    pushed = predictor.push(NODES)
    assert pushed.node.tolist() == NODES.tolist()
    assert pushed.l1_error.tobytes() == predictions.l1_error.tobytes()
    for row, kept in enumerate((pushed.neighbors >= 0).sum(axis=1)):
        assert pushed.neighbors[row, :kept].tolist() == rows.neighbors[row, :kept].tolist()
        assert pushed.values[row, :kept].tolist() == rows.values[row, :kept].tolist()
        left_out = rows.values[row, kept:].sum(dtype=np.float64)  # of what the row adds up to, a tenth of its error
        assert left_out <= 0.1 * rows.l1_error[row] < left_out + rows.values[row, kept - 1]
        assert pushed.l1_error[row] == np.float32(rows.l1_error[row] + left_out)


def test_threads_and_kept_memory_change_nothing(cora, monkeypatch):
    predictor = predictor_of(cora)
    monkeypatch.setenv("GRANDPLUS_WORKERS", "1")
    expected = predictor.predict(NODES)
    monkeypatch.setenv("GRANDPLUS_WORKERS", "3")
    for _ in range(2):
        predictions = predictor.predict(NODES)
        assert predictions.probabilities.tobytes() == expected.probabilities.tobytes()
        assert predictions.l1_error.tobytes() == expected.l1_error.tobytes()


def test_a_node_alone_is_predicted_as_among_others(cora):
    predictor = predictor_of(cora)
    together = predictor.predict(NODES[:70])
    alone = np.concatenate([predictor.predict([node]).probabilities for node in NODES[:70]])
    np.testing.assert_allclose(alone, together.probabilities, atol=1e-6)


@pytest.fixture
def data(tmp_path):
    """What the stages leave of a small run of two trials."""
    adjacency, _ = build_adjacency(np.array([[0, 1, 2], [1, 2, 3]]), 5)
    graph = Graph(adjacency, sp.csr_array(np.eye(5, dtype=np.float32)), np.zeros(5, int), ["a", "b"], np.arange(5))
    predictor = predictor_of(graph)
    for folder in ("graph", "rows", "model", "predictions"):
        (tmp_path / folder).mkdir()
    graph.save(tmp_path / "graph")
    gfpush(graph, [0, 2], weights=predictor.info.weights, rmax=1e-4, top_k=3).save(tmp_path / "rows")
    for trial, model in enumerate(predictor.models):
        model.save(tmp_path / "model" / f"trial-{trial:05d}.safetensors")
    predictor.calibration.save(tmp_path / "predictions" / "calibration.json")
    return tmp_path


def test_a_finished_run_is_loaded(data):
    predictor = Predictor.load(data, dataset="cora")
    assert (predictor.info.rmax, predictor.info.top_k, len(predictor.models)) == (1e-4, 3, 2)
    assert predictor.calibration == Calibration(TEMPERATURES, 0.9)
    assert predictor.push(np.array([4])).neighbors.tolist() == [[4]]
    assert predictor.predict([4, 2, 4]).node.tolist() == [2, 4]


def test_another_dataset_is_refused(data):
    with pytest.raises(GrandPlusError, match=r"dataset is pubmed; expected cora, which the models in .*model are of"):
        Predictor.load(data, dataset="pubmed")


def test_too_little_memory_is_refused(data, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_MEMORY", "1kB")
    with pytest.raises(
        GrandPlusError, match=r"the 2 models take 6\.61 KiB of memory, and may use 1,000 bytes; set GRANDPLUS_MEM"
    ):
        Predictor.load(data)


def test_results_of_different_runs_are_refused(data):
    (data / "model" / "trial-00001.safetensors").unlink()
    with pytest.raises(
        GrandPlusError, match="the graph, the rows, the models and the predictions are of different runs"
    ):
        Predictor.load(data)


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        ("model", "model: holds no model"),
        ("rows", "rows: holds no rows"),
        ("predictions", "calibration.json: no such file"),
    ],
)
def test_a_stage_that_has_not_run_is_named(data, gone, words):
    for file in (data / gone).iterdir():
        file.unlink()
    with pytest.raises(GrandPlusError, match=words):
        Predictor.load(data)


def test_a_shard_that_is_none_is_refused(data):
    shard = next((data / "rows").iterdir())
    shard.write_bytes(b"not Parquet")
    with pytest.raises(GrandPlusError, match=f"{shard.name}: can't be read"):
        Predictor.load(data)


def test_features_that_a_later_run_has_scaled_in_another_way_are_refused(data):
    graph = Graph.load(data / "graph")
    scaled = FittedFeatures("row-normalize")
    Graph(graph.adjacency, graph.features, graph.labels, graph.classes, graph.node_ids, fitted=scaled).save(
        data / "graph"
    )
    with pytest.raises(GrandPlusError, match="the rows, the models and the predictions are of different runs"):
        Predictor.load(data)


def test_the_models_of_a_later_run_are_refused_where_the_calibration_notes_its_own(data):
    """As a run leaves them that was killed before its inference: as many models, of the same classes."""
    file, folder = data / "predictions" / "calibration.json", data / "model"
    write_sums(folder, {"trial-00000.safetensors": "0" * 64})
    noted = Calibration(TEMPERATURES, 0.9, models=sha256(folder / "SHA256SUMS"))
    noted.save(file)
    assert Predictor.load(data).calibration.models == noted.models
    write_sums(folder, {"trial-00000.safetensors": "1" * 64})
    with pytest.raises(ArtifactError, match="the models and the predictions are of different runs"):
        Predictor.load(data)
    (folder / "SHA256SUMS").unlink()  # models that no run has made
    with pytest.raises(ArtifactError, match="the models and the predictions are of different runs"):
        Predictor.load(data)
    Calibration(TEMPERATURES, 0.9).save(file)  # one's own, which notes none
    assert Predictor.load(data).calibration.models is None


def test_the_graph_of_a_later_run_is_refused(data):
    """As an interrupted run of another dataset leaves it, whose nodes, features and classes look alike."""
    graph = Graph.load(data / "graph")
    adjacency = build_adjacency(np.array([[0, 1], [3, 4]]), 5)[0]
    Graph(adjacency, graph.features, graph.labels, graph.classes, graph.node_ids).save(data / "graph")
    with pytest.raises(GrandPlusError, match="the rows, the models and the predictions are of different runs"):
        Predictor.load(data)


# --- Nodes and edges that came later -------------------------------------------------------------


def later(cora, sparse=True, kind="row-normalize"):
    """The first 2600 nodes of Cora, to which the others came later; and the predictor and the merged graph."""
    old, nodes = 2600, 2708
    sources = np.repeat(np.arange(nodes), np.diff(cora.adjacency.indptr))
    edges = np.stack([sources, cora.adjacency.indices])
    among_old = (edges < old).all(axis=0)
    between = among_old & (np.arange(edges.shape[1]) % 50 == 0)  # edges of old nodes that came later
    raw = (cora.features > 0).astype(np.float32)
    raw = raw if sparse else np.asarray(raw[:, :40].toarray() * np.arange(1, 41), np.float32)
    fitted = FittedFeatures.fit(kind, raw[:old])
    ids = np.array([f"paper {node}" for node in range(nodes)], object)
    first = edges[:, among_old & ~between]
    adjacency, features = build_adjacency(first, old)[0], fitted.transform(raw[:old])
    base = Graph(adjacency, features, cora.labels[:old], cora.classes, ids[:old], fitted=fitted)
    grown = base.grown(ids[old:], ids[edges[:, ~among_old | between]], raw[old:])
    whole = build_adjacency(np.concatenate([first, edges[:, ~among_old | between]], axis=1), nodes)[0]
    return grown, Graph(whole, fitted.transform(raw), cora.labels, cora.classes, ids)


@pytest.mark.parametrize(("sparse", "kind"), [(True, "row-normalize"), (False, "standardize")])
def test_on_a_grown_graph_all_is_as_on_the_merged_one(cora, sparse, kind):
    grown, merged = later(cora, sparse, kind)
    nodes = np.append(np.arange(0, 2600, 40), grown.new_nodes)
    on_merged = predictor_of(merged)
    found = predictor_of(grown.base).on(grown)
    expected, predicted = on_merged.predict(nodes), found.predict(nodes)
    assert predicted.l1_error.tobytes() == expected.l1_error.tobytes()
    assert predicted.probabilities.tobytes() == expected.probabilities.tobytes()
    assert predicted.confident.tolist() == expected.confident.tolist()


@pytest.mark.parametrize("kept", [8, 2**14])
def test_inputs_on_a_grown_graph_are_within_the_rows_error_of_full_inference(cora, monkeypatch, kept):
    monkeypatch.setattr("grandplus.prediction.predictor.ROW_ENTRIES", kept)
    grown, merged = later(cora)
    predictor = predictor_of(grown.base, batchnorm=True).on(grown)
    inputs, l1_error = first_layer_inputs(predictor, grown.new_nodes)
    full = propagate(merged, merged.features, weights=predictor.info.weights)[grown.new_nodes]
    assert (np.abs(inputs - full) <= l1_error[:, None] * merged.features.max() + 1e-6).all()
    if kept > 8:  # rows that lack nearly nothing give the probabilities of full inference
        of_all = predictor.calibration.combine(model.predict_proba(merged) for model in predictor.models)
        found = predictor.predict(grown.new_nodes).probabilities
        assert np.abs(found - of_all[grown.new_nodes]).max() < 1e-3


def test_a_graph_that_has_grown_from_another_one_is_refused(cora):
    grown, merged = later(cora)
    with pytest.raises(ArgumentError, match="the grown graph comes from another graph than the predictor's"):
        predictor_of(merged).on(grown)
    predictor = predictor_of(grown.base).on(grown)
    assert predictor.on(grown).stored_graph is grown.base
