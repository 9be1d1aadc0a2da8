"""Settings that no machine can compute with are refused by name, before anything is built."""

from __future__ import annotations

import json
from typing import get_args

import pytest

import grandplus as gp
from grandplus.methods.registry import NAMES, settings_of
from grandplus.runtime.errors import GrandPlusError, MemoryShortageError
from grandplus.runtime.validation import validated
from tests.methods.small_graph import small_graph, trained_shortly

NUMBERS = [
    (name, key, kind)
    for name in NAMES
    for key, field in settings_of(name).Settings.model_fields.items()
    if (kind := field.annotation) in (int, float) or {int, float} & set(get_args(kind))
]


@pytest.mark.parametrize(("name", "key", "kind"), NUMBERS)
def test_a_number_beyond_all_sense_is_refused(name, key, kind):
    value = 10**30 if kind is int else 1e38
    with pytest.raises(GrandPlusError) as refused:
        validated(settings_of(name).Settings, {key: value}, "params.yaml", "train.")
    assert str(refused.value).startswith(f"params.yaml: train.{key} is {value}; expected less than ")


@pytest.mark.parametrize("name", NAMES)
def test_a_default_is_of_the_type_that_its_setting_has(name):
    defaults = settings_of(name).Settings().model_dump()
    given = settings_of(name).Settings.model_validate(defaults).model_dump()
    assert json.dumps(given) == json.dumps(defaults)


@pytest.mark.parametrize("key", ["hidden", "heads", "augmentations"])
def test_a_model_that_cannot_fit_is_refused_in_python_too(key):
    graph = small_graph()
    for name in (name for name in NAMES if key in settings_of(name).Settings.model_fields):
        classifier = gp.NodeClassifier(name, {key: 2**31 - 1}, train_per_class=3, val_per_class=3)
        with pytest.raises(MemoryShortageError):
            classifier.fit(graph.adjacency.matrix(), graph.features, graph.labels)


@pytest.mark.filterwarnings("ignore::grandplus.DiagnosisWarning")  # of two epochs nothing is expected
@pytest.mark.parametrize("name", NAMES)
def test_a_graph_without_nodes_has_no_predictions(name):
    graph = small_graph()
    none = graph.adjacency.matrix()[:0, :0]
    assert trained_shortly(name).predict_proba(none, graph.features[:0]).shape == (0, len(graph.classes))
