"""What is read of predictions, and which nodes count."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scored_tables import CLASSES, table

from grandplus.evaluation.scored import load_ensemble, load_predictions, select
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
    columns = {
        "part": ["test", "test", "val", "test"],
        "label": ["a", "b", "a", None],
        "predicted": ["a", "a", "a", "b"],
    }
    confidence = {"confidence": pa.array([0.5, 0.75, 1, 1], pa.float32()), "confident": [False, True, True, True]}
    pq.write_table(pa.table(columns | confidence), tmp_path / "predictions.parquet")
    ensemble = load_ensemble(tmp_path / "predictions.parquet")
    assert [column.tolist() for column in ensemble] == [[True, False], [0.5, 0.75], [False, True]]
