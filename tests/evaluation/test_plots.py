import matplotlib
import numpy as np
import pyarrow as pa
import pytest

from grandplus.evaluation import plots
from grandplus.runtime.errors import GrandPlusError

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


def test_pngs_are_reproducible_whatever_the_users_style(tmp_path):
    first = write(tmp_path / "first")
    with matplotlib.rc_context({"axes.facecolor": "black", "font.size": 30, "savefig.dpi": 30}):
        second = write(tmp_path / "second")
    for name in NAMES:
        content = (first / f"{name}.png").read_bytes()
        assert content.startswith(b"\x89PNG\r\n\x1a\n")
        assert b"Software" not in content
        assert content == (second / f"{name}.png").read_bytes()
    assert len(list(first.iterdir())) == len(NAMES)


def test_global_state_is_left_alone(tmp_path):
    before = dict(matplotlib.rcParams)
    write(tmp_path)
    assert dict(matplotlib.rcParams) == before


@pytest.mark.filterwarnings("error")
def test_a_single_trial_with_a_single_validation(tmp_path):
    write(tmp_path, history=HISTORY.slice(0, 1), predictions=PREDICTIONS[:1])


@pytest.mark.filterwarnings("error")
def test_many_classes_some_without_nodes(tmp_path):
    write(tmp_path, classes=[f"class {i}" for i in range(plots.ANNOTATED_CLASSES + 1)])


def test_order_of_the_history_does_not_matter(tmp_path):
    write(tmp_path / "first")
    write(tmp_path / "second", history=HISTORY.take([4, 2, 0, 3, 1]))
    assert (tmp_path / "first/losses.png").read_bytes() == (tmp_path / "second/losses.png").read_bytes()


def test_without_labels_of_test_nodes_validation_is_drawn(tmp_path):
    write(tmp_path / "none", predictions=[trial([-1, -1], [0, 1], [0.875, 0.625])])
    write(tmp_path / "some", predictions=PREDICTIONS)
    confusion = [(tmp_path / folder / "confusion.png").read_bytes() for folder in ("none", "some")]
    assert confusion[0] != confusion[1]


def test_problems_are_named(tmp_path):
    with pytest.raises(GrandPlusError, match="class number 1"):
        write(tmp_path, classes=["only"])


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are written, by the name of their file."""
    figures = {}
    monkeypatch.setattr(plots.Figure, "savefig", lambda figure, file, **_: figures.update({file.stem: figure}))
    return figures


@pytest.mark.parametrize(
    ("lowest", "labels"),
    [
        (0.9, ["88%", "90%", "92%", "94%", "96%", "98%", "100%"]),
        (0.99, ["97.0%", "97.5%", "98.0%", "98.5%", "99.0%", "99.5%", "100.0%"]),
    ],
)
def test_ticks_of_accuracy_have_the_decimals_that_they_need_and_end_at_one(tmp_path, drawn, lowest, labels):
    column = pa.array([lowest, 0.99, 1.0, 0.99, 1.0])
    history = HISTORY.drop(["train_accuracy", "val_accuracy"])
    write(tmp_path, history=history.append_column("train_accuracy", column).append_column("val_accuracy", column))
    axes = drawn["accuracies"].axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == labels
    assert axes.get_ylim()[1] == 1.01


def test_numbers_can_be_read_on_their_cells(tmp_path, drawn):
    label = np.repeat([0, 1], 50)
    for wrong in (0, 5, 15, 20, 25, 30):
        predicted = np.where(np.arange(100) % 50 < wrong, 1 - label, label)
        write(tmp_path, predictions=[trial(label.tolist(), predicted.tolist(), [0.75] * 100)])
        axes = drawn["confusion"].axes[0]
        cells = plots._luminance(axes.images[0].to_rgba(axes.images[0].get_array())).ravel()
        texts = [{"white": 1.0, "black": 0.0}[text.get_color()] for text in axes.texts]
        for cell, text in zip(cells, texts, strict=True):
            low, high = sorted((cell, text))
            assert (high + 0.05) / (low + 0.05) >= 4.5


def test_long_names_of_classes_are_shortened_on_both_axes(tmp_path, drawn):
    write(tmp_path, classes=["x" * 60, "b"])
    axes = drawn["confusion"].axes[0]
    for labels in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert [label.get_text() for label in labels] == ["x" * 14 + "…" + "x" * 7, "b"]
