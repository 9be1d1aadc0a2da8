"""Labels as programs write them: what is unknown, and what is the same class."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from grandplus.datasets.arrays.labels import labels_of
from grandplus.datasets.in_memory.labels import numbered_labels
from grandplus.datasets.source import Reading, Source
from grandplus.datasets.tables.class_names import UNKNOWN, class_names
from grandplus.datasets.tables.classes import class_numbers
from grandplus.runtime.errors import GrandPlusError

pandas_parsers = pytest.importorskip("pandas._libs.parsers")


def read(texts, na=None, **source):
    labels, classes = class_numbers(
        [pa.array(texts)], Source(format="tables", read=Reading(na=na), **source), "nodes.csv", str
    )
    return [classes[label] if label >= 0 else None for label in labels]


def test_all_that_pandas_reads_as_missing_is_unknown():
    assert set(pandas_parsers.STR_NA_VALUES) <= set(UNKNOWN)


@pytest.mark.parametrize("text", UNKNOWN)
def test_unknown_among_names_and_numbers_in_tables_and_python(text):
    assert read([text, "a", "b", f" {text} "]) == [None, "a", "b", None]
    assert read([text, "0", "1"]) == [None, "0", "1"]
    classes, numbers = numbered_labels([text, "b", "a"], 3)
    assert (classes.tolist(), numbers.tolist()) == (["a", "b"], [-1, 1, 0])


@pytest.mark.parametrize(
    ("texts", "classes"),
    [
        (["-1.0", "0.0", "1.0", "1", "10.000"], [None, "0", "1", "1", "10"]),
        (["-1.000000000000000000e+00", "1.200000000000000000e+01", "0.000000000000000000e+00"], [None, "12", "0"]),
        (["-1,0", "0,0", "1,0", "12,0"], [None, "0", "1", "12"]),  # LibreOffice with a decimal comma
        (["+1", "1", "2"], ["1", "1", "2"]),
        (["1.0", "1", "b"], ["1", "1", "b"]),
        (["01", "2", "1e5", "b"], ["01", "2", "1e5", "b"]),
        (["True", "true", "TRUE", "False"], ["True", "True", "True", "False"]),
        (["TRUE", "FALSE", "NA"], ["TRUE", "FALSE", None]),  # R's spelling stays, if it is the only one
        (["Dog", "doge"], ["Dog", "doge"]),
        ([" a", "a ", "b"], ["a", "a", "b"]),
    ],
)
def test_spellings_of_a_class(texts, classes):
    assert read(texts) == classes
    assert read(texts[::-1]) == classes[::-1]


@pytest.mark.parametrize("texts", [["Dog", "dog"], ["01", "1", "b"], ["1e3", "1000"], ["nA", "NA", "b"]])
def test_two_classes_in_spelling_alone_are_refused(texts):
    for given in (texts, texts[::-1]):
        with pytest.raises(GrandPlusError, match="one class, in two spellings"):
            read(given)


def test_na_replaces_the_list():
    assert read(["NA", "KE", "missing", ""], na=["missing"]) == ["NA", "KE", None, None]
    assert read(["-99.0", "-1.0", "1.0"], na=["-99"]) == [None, "-1", "1"]
    assert read(["-1", "1"], na=[""]) == ["-1", "1"]
    numbers, classes = labels_of(np.array([-99.0, 0, 1]), 3, Source(format="x", read=Reading(na=["-99", "x"])), "g.npz")
    assert (numbers.tolist(), classes) == ([-1, 0, 1], ["0", "1"])


def test_the_names_of_a_card_are_the_classes():
    assert read(["1.0", "0.0", "-1.0"], classes=["1", "0"]) == ["1", "0", None]
    with pytest.raises(GrandPlusError, match=r"nodes\.csv: 1 has class '2'; expected one of 1, 0, the known classes"):
        read(["1.0", "2.0"], classes=["1", "0"])


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8, object])
def test_numbers_in_python(kind):
    classes, numbers = numbered_labels(np.array([-1, 0, 1, 1], kind), 4)
    assert (classes.tolist(), numbers.tolist()) == ([0, 1], [-1, 0, 1, 1])


def test_spellings_in_python():
    """A class keeps the spelling that it was given, so that predictions are labels of y."""
    classes, numbers = numbered_labels(["1.0", "0.0", "-1.0"], 3)
    assert (classes.tolist(), numbers.tolist()) == (["0.0", "1.0"], [1, 0, -1])
    classes, numbers = numbered_labels(["1.0", "0", "1"], 3)
    assert (classes.tolist(), numbers.tolist()) == (["0", "1"], [1, 0, 1])


def test_the_class_of_a_text_depends_on_no_order():
    texts = ["TRUE", "1.0", "none", "true", "1", "-1"]
    assert class_names(texts) == {text: class_names(texts[::-1])[text] for text in texts}


def test_words_of_databases_javascript_and_excel_are_unknown():
    for text in ("(null)", "missing", "undefined", "#VALUE!", "#NUM!"):
        assert class_names([text, "a"]) == {text: None, "a": "a"}
        assert class_names([text, "a"], unknown=[""]) == {text: text, "a": "a"}
