"""The table of baselines' accuracies, and what it comes to."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grandplus.evaluation.baselines.table import SCORES, BaselineScore, load_scores, save_scores, summarize_baselines
from grandplus.runtime.errors import ArtifactError

TABLE = [
    BaselineScore(0, "majority", 0.5, 0.25),
    BaselineScore(0, "label_propagation", 0.75, 0.5),
    BaselineScore(1, "majority", 0.25, 0.25),
    BaselineScore(1, "label_propagation", 0.75, 0.25),
]


def test_what_is_saved_is_loaded(tmp_path):
    table = [*TABLE, BaselineScore(2, "majority", 0.5, None)]
    save_scores(table, tmp_path)
    assert load_scores(tmp_path) == table


def test_a_file_that_is_no_such_table(tmp_path):
    with pytest.raises(ArtifactError, match="no such file"):
        load_scores(tmp_path)
    pq.write_table(pa.table({"trial": [0]}), tmp_path / SCORES)
    with pytest.raises(ArtifactError, match="has columns trial; expected trial, baseline, val_accuracy, test_accuracy"):
        load_scores(tmp_path)


def test_means_over_trials():
    content = summarize_baselines(TABLE)
    assert content["best"] == "label_propagation"
    assert content["majority"]["test"] == {"accuracy": {"mean": 0.25, "std": 0.0, "ci95": 0.0}}
    assert content["label_propagation"]["test"]["accuracy"]["mean"] == 0.375
    assert content["majority"]["val"]["accuracy"] == {"mean": 0.375, "std": 0.176777, "ci95": 1.588276}  # t = 12.706


def test_the_best_is_chosen_by_validation_whatever_the_test_says():
    table = [BaselineScore(0, "majority", 0.5, 0.9), BaselineScore(0, "label_propagation", 0.6, 0.1)]
    assert summarize_baselines(table)["best"] == "label_propagation"


def test_without_test_nodes_there_is_no_test():
    content = summarize_baselines([BaselineScore(0, "majority", 0.5, None)])
    assert content == {"majority": {"val": {"accuracy": {"mean": 0.5}}}, "best": "majority"}
