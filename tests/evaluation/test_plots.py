import csv

import matplotlib
import numpy as np
import pyarrow as pa
import pytest

from grandplus.errors import GrandPlusError
from grandplus.evaluation import plots

NAMES = ("losses", "accuracies", "confusion", "reliability")
CLASSES = ["a, b", "c$"]  # a comma to quote; a $, which matplotlib would take for mathematics
HISTORY = pa.table(
    {
        "trial": pa.array([0, 0, 0, 1, 1], pa.int64()),
        "step": pa.array([0, 10, 20, 0, 10], pa.int64()),
        "train_loss": [0.7, 0.4, 0.1, 0.5, 0.2],
        "train_accuracy": [0.5, 0.75, 1.0, 0.5, 1.0],
        "val_loss": [0.8, 0.7, 0.6, 0.6, 0.4],
        "val_accuracy": [0.25, 0.5, 0.75, 0.75, 0.5],
        "consistency_loss": [0.0, 0.1, 0.1, 0.0, 0.1],
    }
)


def trial(label, predicted, confidence):
    part = ["test"] * len(label)
    return pa.table(
        {
            "part": [*part, "val", "test"],
            "label": pa.array([*label, 0, -1], pa.int64()),
            "predicted": pa.array([*predicted, 1, 1], pa.int64()),
            "confidence": pa.array([*confidence, 0.5, 0.5], pa.float32()),
            "calibrated": pa.array([*np.subtract(confidence, 0.5), 0.5, 0.5], pa.float32()),
        }
    )


PREDICTIONS = [trial([0, 0, 1], [0, 1, 1], [0.875, 0.625, 1.0]), trial([1, 0], [1, 0], [0.875, 0.875])]


def write(folder, history=HISTORY, predictions=PREDICTIONS, classes=CLASSES, title="Pubmed, a$b$"):
    plots.write_plots(folder, title=title, history=history, predictions=predictions, classes=classes)
    return folder


def test_csv_contents(tmp_path):
    write(tmp_path)
    contents = {name: (tmp_path / f"{name}.csv").read_bytes().decode() for name in (*NAMES, "reliability_calibrated")}
    # Step 20 was reached by one trial only, so no mean is given for it.
    assert contents == {
        "losses": "step,train_loss,val_loss,generalisation_gap\n0,0.6,0.7,0.1\n10,0.3,0.55,0.25\n",
        "accuracies": "step,train_accuracy,val_accuracy\n0,0.5,0.5\n10,0.875,0.5\n",
        "confusion": 'actual,predicted\n"a, b","a, b"\n"a, b",c$\nc$,c$\nc$,c$\n"a, b","a, b"\n',
        "reliability": "confidence,accuracy,count\n0.625,0.0,1\n0.875,1.0,3\n1.0,1.0,1\n",
        "reliability_calibrated": "confidence,accuracy,count\n0.125,0.0,1\n0.375,1.0,3\n0.5,1.0,1\n",
    }


def test_pngs_are_reproducible_whatever_the_users_style(tmp_path):
    first = write(tmp_path / "first")
    with matplotlib.rc_context({"axes.facecolor": "black", "font.size": 30, "savefig.dpi": 30}):
        second = write(tmp_path / "second")
    for name in NAMES:
        content = (first / f"{name}.png").read_bytes()
        assert content.startswith(b"\x89PNG\r\n\x1a\n")
        assert b"Software" not in content
        assert content == (second / f"{name}.png").read_bytes()
    assert len(list(first.iterdir())) == 2 * len(NAMES) + 1


def test_global_state_is_left_alone(tmp_path):
    before = dict(matplotlib.rcParams)
    write(tmp_path)
    assert dict(matplotlib.rcParams) == before


@pytest.mark.filterwarnings("error")
def test_a_single_trial_with_a_single_validation(tmp_path):
    write(tmp_path, history=HISTORY.slice(0, 1), predictions=PREDICTIONS[:1])
    assert (tmp_path / "losses.csv").read_text() == "step,train_loss,val_loss,generalisation_gap\n0,0.7,0.8,0.1\n"


@pytest.mark.filterwarnings("error")
def test_many_classes_some_without_nodes(tmp_path):
    write(tmp_path, classes=[f"class {i}" for i in range(plots.ANNOTATED_CLASSES + 1)])
    assert (tmp_path / "confusion.csv").read_text().splitlines()[1] == "class 0,class 0"


def test_order_of_the_history_does_not_matter(tmp_path):
    write(tmp_path / "first")
    write(tmp_path / "second", history=HISTORY.take([4, 2, 0, 3, 1]))
    assert (tmp_path / "first/losses.csv").read_bytes() == (tmp_path / "second/losses.csv").read_bytes()


def test_confusion_csv_holds_whole_trials_up_to_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "CONFUSION_ROWS", 4)
    write(tmp_path)
    assert rows(tmp_path / "confusion.csv") == [["a, b", "a, b"], ["a, b", "c$"], ["c$", "c$"]]


def test_confusion_csv_of_one_large_trial_is_spread_over_its_nodes(tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "CONFUSION_ROWS", 3)
    label = np.repeat([0, 1], 50)
    write(tmp_path, predictions=[trial(label, np.zeros(100, int), np.full(100, 0.5))])
    assert rows(tmp_path / "confusion.csv") == [["a, b", "a, b"], ["a, b", "a, b"], ["c$", "a, b"]]


def rows(file):
    with file.open(newline="") as stream:
        return list(csv.reader(stream))[1:]


def test_without_labels_of_test_nodes_validation_is_drawn(tmp_path):
    write(tmp_path, predictions=[trial([-1, -1], [0, 1], [0.875, 0.625])])
    assert rows(tmp_path / "confusion.csv") == [["a, b", "c$"]]
    assert rows(tmp_path / "reliability.csv") == [["0.5", "0.0", "1"]]


def test_problems_are_named(tmp_path):
    with pytest.raises(GrandPlusError, match="class number 1"):
        write(tmp_path, classes=["only"])
