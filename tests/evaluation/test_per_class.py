"""Scores of each class."""

from scored_tables import CLASSES, table

from grandplus.evaluation.per_class import per_class


def test_per_class_by_hand():
    first = table([(0, 0), (0, 0), (1, 0), (1, 1)])
    second = table([(0, 0), (0, 0), (1, 1), (1, 1), (1, 1), (1, 1)])
    assert per_class([first, second], CLASSES) == {
        "a": {"precision": round(5 / 6, 6), "recall": 1, "f1": 0.9, "support": 2},
        "b": {"precision": 1, "recall": 0.75, "f1": round(5 / 6, 6), "support": 3},
        "c": {"precision": 0, "recall": 0, "f1": 0, "support": 0},
    }
