"""Predictions for tests of what scores them."""

import pyarrow as pa

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
