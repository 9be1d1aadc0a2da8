"""What is read of predictions, and which nodes count."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scored_tables import CLASSES, predictions_file, table

from grandplus.evaluation.scored import load_ensemble, load_predictions, load_rankings, select
from grandplus.runtime.errors import ArtifactError


def test_select_keeps_the_order_of_nodes():
    (scored,) = select([table([(2, 0), (0, 0), (1, 1)])], "test", CLASSES)
    assert scored.label.tolist() == [2, 0, 1]
    assert scored.correct.tolist() == [False, True, True]


def test_load_predictions(tmp_path):
    extra = [(-1, 1, "test"), (0, 1, "train"), (0, 1, "other")]
    pq.write_table(table([(1, 1)], extra=extra), tmp_path / "trial-00001.parquet")
    pq.write_table(table([(2, 0)]), tmp_path / "trial-00000.parquet")
    (tmp_path / "predictions.json").write_text("{}")
    loaded = load_predictions(tmp_path)
    assert [trial["part"].to_pylist() for trial in loaded] == [["val", "test"]] * 2
    assert [trial["label"].to_pylist() for trial in loaded] == [[0, 2], [0, 1]]
    assert "node" not in loaded[0].column_names


def test_load_nothing(tmp_path):
    with pytest.raises(ArtifactError, match="no predictions"):
        load_predictions(tmp_path / "absent")


@pytest.mark.parametrize("content", ["bytes", "columns"])
def test_load_something_else(tmp_path, content):
    file = tmp_path / "trial-00000.parquet"
    if content == "bytes":
        file.write_bytes(b"not Parquet at all")
    else:
        pq.write_table(pa.table({"node": [1]}), file)
    with pytest.raises(ArtifactError, match=r"trial-00000\.parquet: can't be read"):
        load_predictions(tmp_path)


def test_load_the_ensemble(tmp_path):
    parts, labels, predicted = ["test", "test", "val", "test"], ["a", "b", "a", None], ["a", "a", "a", "b"]
    file = predictions_file(tmp_path, parts, labels, predicted, [0.5, 0.75, 1, 1], [False, True, True, True])
    ensemble = load_ensemble(file)
    assert ensemble.label.tolist() == [0, 1]
    assert ensemble.correct.tolist() == [True, False]
    assert ensemble.confidence.tolist() == [0.5, 0.75]
    assert ensemble.confident.tolist() == [False, True]
    assert ensemble.by_threshold is None


def test_an_ensemble_without_names_of_classes_is_refused(tmp_path):
    file = predictions_file(tmp_path, ["test"], ["a"], ["a"], [0.5], [False])
    pq.write_table(pq.read_table(file).replace_schema_metadata(), file)
    with pytest.raises(ArtifactError, match="can't be read as predictions"):
        load_ensemble(file)


def test_load_rankings(tmp_path):
    shares = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.5, 0.5]], np.float32)
    columns = {"part": ["val", "test", "test", "test"], "label": [0, 0, 1, -1]}
    lists = pa.FixedSizeListArray.from_arrays(pa.array(shares.ravel()), 2)
    pq.write_table(pa.table(columns | {"probabilities": lists}), tmp_path / "trial-00000.parquet")
    rankings = load_rankings(tmp_path, ["test", "val"])
    assert rankings["test"][0].auroc.tolist() == [0, 0]
    assert rankings["test"][0].average_precision.tolist() == [0.5, 0.5]
    assert np.isnan(rankings["val"][0]).all()  # all of one class
