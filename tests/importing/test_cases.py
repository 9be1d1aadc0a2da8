"""Graphs as they are published, in the mess that they are published in: each imports and runs, or is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from own import run_import
from scipy import sparse

from grandplus.datasets.fetch.fetch import fetch
from grandplus.datasets.raw import read
from grandplus.methods.grandplus.method import fit
from grandplus.methods.protocol import Task
from grandplus.pipeline.card import CATALOG
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.settings import load_settings
from grandplus.propagation.gfpush import gfpush

CASES = Path(__file__).resolve().parents[3] / "shared" / "datasets" / "cases"
if not CASES.is_dir():
    pytest.skip(f"{CASES} is not there", allow_module_level=True)

# folder: (what to say of it, why it is refused)
SAID: dict[str, tuple[list[str], str]] = {
    "acm": ([], ""),
    "airports_usa": (["--features", "onehot-degree"], ""),
    "amazon_photo": ([], ""),
    "bad_lfs_pointer": ([], "email-Eu-core.txt: is a Git LFS pointer, not the file that it points to"),
    "citeseer_cites/citeseer.cites": (["--features", "degree"], "no node has a label; expected labels to learn from"),
    "citeseer_cites/citeseer_old.cites": (["--features", "degree"], "no node has a label"),
    "geomgcn_film": ([], ""),
    "geomgcn_texas": ([], ""),
    "gml_polbooks": (["--features", "adjacency", "--shortage", "shrink"], ""),
    "hetero_minesweeper": ([], ""),
    "hetero_texas_4_classes": ([], ""),
    "karate_club": (["--features", "adjacency", "--shortage", "shrink"], ""),
    "nettack_polblogs": (["--features", "adjacency", "--weights", "ignore"], ""),
    "twitch_PTBR": ([], ""),
    "uai": (["--shortage", "shrink"], ""),
}
# What is refused until the user has chosen.
UNCHOSEN = {
    "airports_usa": "the data has no features",
    "gml_polbooks": "the data has no features",
    "karate_club": "the data has no features",
    "nettack_polblogs": "polblogs.npz, adj: has an edge of weight 2; expected edges without weights",
}


def files_of(case: str) -> list[Path]:
    path = CASES / case
    return [path] if path.is_file() else sorted(file for file in path.iterdir() if file.name != "README")


def counts_of(case: str) -> dict[str, int]:
    """What the README beside the files says of them."""
    text = (CASES / case / "README").read_text()
    found = {"nodes": r"(\d+) nodes", "edges": r"(\d+) undirected edges", "classes": r"(\d+) classes",
             "features": r"(\d+) feats", "isolated_nodes": r"isolated (\d+)"}  # fmt: skip
    matches = {key: re.search(pattern, text) for key, pattern in found.items()}
    return {key: int(match[1]) for key, match in matches.items() if match}


def test_all_files_are_here():
    assert {case.partition("/")[0] for case in SAID} <= {folder.name for folder in CASES.iterdir()}


def imported(checkout, raw):
    """Settings of the card, the graph, the rows of Π, and the first trial's split."""
    settings = load_settings(checkout, dataset="mine", trials=1)
    raw.mkdir()
    fetch(settings.source, raw, catalog=checkout / CATALOG, report=lambda _: None)
    graph, splits = make_graph(read(raw, settings.source, checkout / CATALOG), settings)
    push = settings.gfpush
    w = settings.matrix.weights()
    rows = gfpush(graph, splits.needing_rows(), weights=w, rmax=push.rmax, top_k=push.top_k)
    return settings, graph, rows, splits.of(0)


@pytest.mark.parametrize("case", SAID)
def test_it_runs_or_is_refused(case, tmp_path, monkeypatch, capsys, checkout):
    arguments, refusal = SAID[case]
    code = run_import(monkeypatch, checkout, "mine", *files_of(case), *arguments)
    if refusal:
        assert code == 2
        assert refusal in capsys.readouterr().err
        assert not list((checkout / CATALOG).iterdir())
        return
    assert code == 0
    settings, graph, rows, split = imported(checkout, tmp_path / "raw")
    assert graph.facts | counts_of(case) == graph.facts
    options = settings.train.model_copy(update={"max_epochs": 3, "warmup": 1})
    trained = fit(Task(graph, split, rows, seed=[0, 0]), options)
    probabilities = trained.model.predict_proba(graph)
    # Every node is predicted, isolated ones too, and nothing is NaN.
    assert probabilities.shape == (graph.facts["nodes"], graph.facts["classes"])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    if case == "karate_club":  # k is larger than a row's support: all of it is kept
        w, rmax = rows.info.weights, settings.gfpush.rmax
        all_kept = gfpush(graph, rows.node, weights=w, rmax=rmax, top_k=34)
        larger = gfpush(graph, rows.node, weights=w, rmax=rmax, top_k=1000)
        assert (larger.to_csr() != all_kept.to_csr()).nnz == 0
        np.testing.assert_array_equal(larger.l1_error, all_kept.l1_error)


def test_the_card_learns_what_is_there_to_learn(tmp_path, monkeypatch, checkout):
    """Of features that a third of the nodes have, which say nothing as rows that sum to 1."""
    assert run_import(monkeypatch, checkout, "mine", *files_of("amazon_photo")) == 0
    settings, graph, rows, split = imported(checkout, tmp_path / "raw")
    options = settings.train.model_copy(update={"max_epochs": 250})
    trained = fit(Task(graph, split, rows, seed=[0, 0]), options)
    right = trained.model.predict_proba(graph).argmax(axis=1) == graph.labels
    assert right[split.test].mean() > 0.88


@pytest.mark.parametrize("direction", ["both", "out", "in"])
def test_weights_and_directions_are_those_of_the_file(direction, tmp_path, monkeypatch, checkout):
    said = ["--features", "adjacency", "--weights", "use", "--direction", direction]
    assert run_import(monkeypatch, checkout, "mine", *files_of("nettack_polblogs"), *said) == 0
    settings, graph, rows, split = imported(checkout, tmp_path / "raw")
    with np.load(CASES / "nettack_polblogs" / "polblogs.npz") as held:
        links = sparse.csr_array((held["adj_data"], held["adj_indices"], held["adj_indptr"]), shape=held["adj_shape"])
    links = links.toarray().astype(float)  # from the one that links to the one that is linked to
    weights = {"both": np.maximum(links, links.T), "out": links, "in": links.T}[direction]
    weights[np.diag_indices_from(weights)] += np.diag(weights) == 0
    walk = weights / weights.sum(axis=1, keepdims=True)
    pi = sum(w * np.linalg.matrix_power(walk, n) for n, w in enumerate(rows.info.weights))
    missing = np.abs(pi[rows.node] - rows.to_csr().toarray()).sum(axis=1)
    np.testing.assert_allclose(rows.l1_error, missing, atol=1e-5)
    options = settings.train.model_copy(update={"max_epochs": 3, "warmup": 1})
    probabilities = fit(Task(graph, split, rows, seed=[0, 0]), options).model.predict_proba(graph)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("case", UNCHOSEN)
def test_a_choice_is_the_users(case, monkeypatch, capsys, checkout):
    assert run_import(monkeypatch, checkout, "mine", *files_of(case)) == 2
    assert UNCHOSEN[case] in capsys.readouterr().err


def test_splits_of_the_files_are_used(tmp_path, monkeypatch, capsys, checkout):
    """geom-gcn's one split, and the ten of the heterophilous graphs, of which trial i has the i-th."""
    for name, case in (("geom", "geomgcn_texas"), ("hetero", "hetero_texas_4_classes")):
        assert run_import(monkeypatch, checkout, name, *files_of(case)) == 0
        settings = load_settings(checkout, dataset=name, trials=12)
        (tmp_path / name).mkdir()
        fetch(settings.source, tmp_path / name, catalog=checkout / CATALOG, report=lambda _: None)
        splits = make_graph(read(tmp_path / name, settings.source, checkout / CATALOG), settings)[1]
        sizes = [tuple(map(len, (splits.of(i).train, splits.of(i).val, splits.of(i).test))) for i in range(12)]
        file = next(file for file in files_of(case) if file.suffix == ".npz")
        with np.load(file) as held:
            if name == "geom":
                assert sizes == [(87, 59, 37)] * 12
                np.testing.assert_array_equal(splits.of(5).train, np.flatnonzero(held["train_mask"]))
            else:
                np.testing.assert_array_equal(splits.of(3).train, np.flatnonzero(held["train_masks"][3]))
                np.testing.assert_array_equal(splits.of(11).test, np.flatnonzero(held["test_masks"][1]))
