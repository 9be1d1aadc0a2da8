"""Benchmarks find the errors that they look for, and run against today's product."""

import dataclasses
import json

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import answers, early_stopping, gfpush, gpu, one_trial, power, training
from benchmarks.graphs import degree_corrected
from grandplus.pipeline.cases import Case


@pytest.fixture
def one_thread(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_WORKERS", "1")


def small(matrix: str) -> gfpush.Case:
    return gfpush.Case(500, 2000, matrix, 3, 1e-4, 16, rows=64, reference_rows=8)


@pytest.mark.parametrize("matrix", ["avg", "single"])
def test_rows_that_are_right_and_rows_that_are_not(one_thread, monkeypatch, matrix):
    case = small(matrix)
    graph = degree_corrected(case.nodes, case.edges, seed=1)
    assert gfpush.measure("small", case, graph, threads=1, repeats=1)[0]["right"]
    push = gfpush.gfpush

    def slightly_off(*arguments, **options):
        rows = push(*arguments, **options)
        rows.values[:, 0] += 3 * case.rmax
        return rows

    monkeypatch.setattr(gfpush, "gfpush", slightly_off)
    assert not gfpush.measure("small", case, graph, threads=1, repeats=1)[0]["right"]


def test_products_that_are_right_and_products_that_are_not(one_thread, monkeypatch, capsys):
    size = ["--nodes", "300", "--edges", "1500", "--features", "20"]
    monkeypatch.setattr("sys.argv", ["power", "--repeats", "1", "--threads", "1", *size])
    assert power.main() == 0
    assert json.loads(capsys.readouterr().out)["right"]
    exact = power.propagate
    monkeypatch.setattr(power, "propagate", lambda *arguments, **options: 1.0001 * exact(*arguments, **options))
    assert power.main() == 1


def test_training_beside_plain_training(prepared, monkeypatch):
    def sparse(case, trials):
        dense = prepared(case, trials)
        graph = dataclasses.replace(dense.graph, features=sp.csr_array(dense.graph.features))
        return dataclasses.replace(dense, graph=graph)

    monkeypatch.setattr(training, "prepare", sparse)
    line = training.compare("cora", 120, 120)
    assert line["times_faster"] == line["plain_ms"]["mean"] / line["ms_a_step_and_core"]["mean"] > 0


def test_answers_that_are_right_and_answers_that_are_not(prepared, monkeypatch):
    case = Case("cora", "ppr")
    graph, settings = prepared(case, 1).graph, prepared(case, 1).settings
    monkeypatch.setattr(answers, "graph_folder", lambda _: None)
    monkeypatch.setattr(answers.Graph, "load", lambda _: graph)
    monkeypatch.setattr(answers.Case, "settings", lambda *_: settings)
    assert answers.measure("cora", calls=3, bulk=8)["right"]
    exact = answers.plain
    monkeypatch.setattr(answers, "plain", lambda *arguments: exact(*arguments) + 1e-4)
    assert not answers.measure("cora", calls=3, bulk=8)["right"]


def test_a_trial_beside_a_plain_one(prepared, monkeypatch):
    monkeypatch.setattr(one_trial, "prepare", prepared)
    monkeypatch.setattr(training, "prepare", prepared)
    line = one_trial.measure(Case("cora", "ppr"), plain_steps=120)
    assert line["right"]
    assert line["to_plain_trial"] == sum(line["plain"].values()) / line["whole"]
    monkeypatch.setattr(one_trial, "mixed", lambda product, x, w: power.mixed(product, 2 * x, w))
    assert not one_trial.measure(Case("cora", "ppr"), plain_steps=120)["right"]


def test_a_device_is_compared_with_the_cpu(prepared, monkeypatch):
    """With itself, as a test has no GPU."""
    monkeypatch.setattr(gpu, "prepare", prepared)
    line = gpu.compare_training(Case("cora", "ppr"), 3, "cpu")
    assert line["right"]
    assert line["difference"] == 0
    assert line["accuracy"] == line["cpu_accuracy"] > 100 / 3
    assert gpu.compare_inference(Case("cora", "ppr"), "cpu")["right"]
    answers_of_two = iter([np.full((60, 3), 1 / 3), np.full((60, 3), 1 / 2)])
    monkeypatch.setattr(gpu, "_inferred", lambda *_: (next(answers_of_two), 0.0))
    assert not gpu.compare_inference(Case("cora", "ppr"), "cpu")["right"]


def test_without_a_gpu_one_line_says_so(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["gpu"])
    monkeypatch.setattr(gpu.torch.cuda, "is_available", lambda: False)
    assert gpu.main() == 1
    assert capsys.readouterr().err.startswith("error: torch finds no usable GPU; install")


def test_a_kept_model_is_judged_by_nodes_that_did_not_choose_it(prepared, monkeypatch):
    """Half of the nodes turn right at the second validation, when the loss of all is highest."""
    right = np.zeros((4, 100), bool)
    right[1, :50] = True
    losses = np.tile(np.array([[3], [4], [2], [1]], np.float32), 100)
    monkeypatch.setattr(early_stopping, "record", lambda *_: (right, losses, 8))
    scores = dict(zip(early_stopping.RULES, early_stopping.watch(Case("cora", "ppr"), 1, 0), strict=True))
    assert scores["ours"] == (pytest.approx(0.5), 30)
    assert scores["by loss"] == (0, 30)
    assert scores["ours, a quarter of the patience"] == (pytest.approx(0.5), 30)  # falling losses reset it


def test_the_released_rule():
    rule = early_stopping.Released(2, best=early_stopping.NoSnapshot())
    accuracy, loss = np.array([0.5, 0.6, 0.6, 0.4, 0.7, 0.5]), np.array([1.0, 0.9, 1.1, 0.9, 1.0, 1.0])
    assert early_stopping.stop(rule, accuracy, loss) == (1, 5)  # 0.7 isn't kept, as its loss is higher; two were lower


def test_all_validation_nodes_are_recorded(prepared, monkeypatch):
    monkeypatch.setattr(early_stopping, "prepare", prepared)
    case = Case("cora", "ppr")
    right, losses, patience = early_stopping.record(case, 1, 0)
    expected = prepared(case, 1)
    assert right.shape == losses.shape
    assert right.shape[1] == len(expected.splits.of(0).val)
    assert patience == expected.settings.train.patience
