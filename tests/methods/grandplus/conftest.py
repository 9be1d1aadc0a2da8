import pytest

from grandplus.methods.grandplus.settings import Settings as Train

PLAIN = {
    "lr": 0.01,
    "weight_decay": 0.001,
    "layers": 2,
    "hidden": 8,
    "batchnorm": False,
    "row_norm": False,
    "dropout_input": 0.0,
    "dropout_hidden": 0.0,
    "dropnode": 0.5,
    "augmentations": 2,
    "batch_labelled": 4,
    "batch_unlabelled": 6,
    "temperature": 0.1,
    "confidence": "auto",
    "distance": "l2",
    "consistency_mean": "batch",
    "lambda_max": 1.0,
    "warmup": 10,
    "clip": 0.0,
    "patience": 20,
    "max_epochs": 200,
    "renormalize": True,
}


@pytest.fixture
def train_settings():
    """Training settings with all regularisation off, changed by keyword."""
    return lambda **changes: Train.model_validate(PLAIN | changes)
