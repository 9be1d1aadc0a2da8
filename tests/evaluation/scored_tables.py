"""Predictions for tests of what scores them."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

CLASSES = ["a", "b", "c"]


def table(test, val=((0, 0),), confidence=0.75, extra=(), calibrated=0.5):
    """Predictions from (label, predicted) pairs by part."""
    lines = [(*pair, "val") for pair in val] + [(*pair, "test") for pair in test] + list(extra)
    label, predicted, part = zip(*lines, strict=True)
    return pa.table(
        {
            "node": pa.array(range(len(lines)), pa.int64()),
            "part": pa.array(part, pa.string()),
            "label": pa.array(label, pa.int64()),
            "predicted": pa.array(predicted, pa.int64()),
            "confidence": pa.array([confidence] * len(lines), pa.float32()),
            "calibrated": pa.array([calibrated] * len(lines), pa.float32()),
        }
    )


def predictions_file(folder, parts, labels, predicted, confidence, confident, classes=CLASSES):
    """A ``predictions.parquet``, with what is left of 1 shared among the classes that are not predicted."""
    rest = [(1 - share) / (len(classes) - 1) for share in confidence]
    probabilities = np.repeat(np.array(rest, np.float32)[:, None], len(classes), axis=1)
    probabilities[np.arange(len(parts)), [classes.index(name) for name in predicted]] = confidence
    columns = {
        "part": parts,
        "label": pa.array(labels, pa.string()),
        "predicted": predicted,
        "confidence": pa.array(confidence, pa.float32()),
        "confident": pa.array(confident, pa.bool_()),
        "probabilities": pa.FixedSizeListArray.from_arrays(pa.array(probabilities.ravel()), len(classes)),
    }
    pq.write_table(pa.table(columns, metadata={"classes": json.dumps(classes)}), folder / "predictions.parquet")
    return folder / "predictions.parquet"
