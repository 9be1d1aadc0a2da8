"""The registry of rules: their order, their list in the pages, and how findings are written."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from made_facts import LABELS, TRAIN_NODES, VAL_NODES, facts, graph, history, predictions

from grandplus.evaluation.diagnosis.facts import Labelled, facts_of_run
from grandplus.evaluation.diagnosis.finding import to_json
from grandplus.evaluation.diagnosis.rules import RULES, diagnose, diagnose_graph, listed
from grandplus.graph.splits import Splits
from grandplus.methods.grandplus.settings import Settings

ROOT = Path(__file__).resolve().parents[3]


def test_a_good_result_earns_nothing():
    assert diagnose(facts()) == []


def test_what_speaks_most_against_a_result_comes_first():
    """A model that predicts one class for all, and was trained to the end."""
    given = facts(
        predicted=np.full(100, 1),
        history=history(train_accuracy=[0.25] * 5, val_accuracy=[0.25] * 5),
        settings=Settings(max_epochs=50),
        baselines={"majority": [0.25] * 2, "label_propagation": [0.9] * 2},
    )
    names = [finding.name for finding in diagnose(given)]
    assert names == ["one_class", "below_baseline", "underfit", "ended_at_max_epochs"]
    assert json.loads(json.dumps(to_json(diagnose(given))))["findings"][2] == {
        "name": "underfit",
        "observation": "the model underfits: it predicts 25.00 % of its training nodes right at best",
        "advice": "train.weight_decay=0.0001, train.hidden=128 or preprocess.features=standardize",
    }


def test_a_training_that_has_only_begun_earns_no_other_finding_on_training():
    few = {name: scores[:4] for name, scores in history(train_accuracy=[0.25] * 5, val_accuracy=[0.25] * 5).items()}
    given = facts(
        predicted=np.full(100, 1),
        history=few,
        settings=Settings(max_epochs=40),
        baselines={"majority": [0.25] * 2, "label_propagation": [0.9] * 2},
    )
    assert [finding.name for finding in diagnose(given)] == ["ended_at_max_epochs"]


def test_training_nodes_of_one_class_are_the_only_finding():
    """Whatever else there is follows from it."""
    given = facts(
        predicted=np.full(100, 1),
        labelled=Labelled(train=TRAIN_NODES[LABELS[TRAIN_NODES] == 1], val=VAL_NODES),
        baselines={"majority": [0.25] * 2, "logistic_regression": [0.25] * 2, "label_propagation": [0.9] * 2},
    )
    [finding] = diagnose(given)
    assert finding.observation == "each of classes a, c, d has no node to train on"
    assert diagnose_graph(given) == [finding]


def test_the_page_has_every_rule():
    """The list as ``grandplus.evaluation.diagnosis.rules.listed()`` gives it."""
    assert listed() in (ROOT / "docs/results.md").read_text(encoding="utf-8"), listed()
    assert "`" not in listed().replace("| `", "").replace("` |", "").replace("`train.max_epochs`", "").replace(
        "`train.epochs`", ""
    )


@pytest.mark.parametrize("rule", RULES)
def test_the_name_of_a_rule_is_its_function(rule):
    assert rule.__doc__
    assert f"| `{rule.__name__}` |" in listed()


def test_facts_of_the_files_of_a_run():
    """Two trials; a node without a label is left out."""
    labels = LABELS.copy()
    labels[VAL_NODES[3]] = -1
    made = graph(labels=labels)
    nodes = np.concatenate([TRAIN_NODES, VAL_NODES])
    part = np.repeat(["train", "val"], [len(TRAIN_NODES), len(VAL_NODES)])
    splits = Splits(
        len(labels),
        2,
        pa.table(
            {"trial": pa.array([-1] * len(nodes), pa.int32()), "node": nodes, "part": part.tolist()},
        ),
        frozenset({"test", "unlabelled"}),
    )
    tables = [
        pa.table(
            {
                "part": part[len(TRAIN_NODES) :].tolist(),
                "label": labels[VAL_NODES],
                "predicted": predictions(right),
                "confidence": np.ones(100, np.float32),
                "calibrated": np.ones(100, np.float32),
            }
        )
        for right in (90, 60)
    ]
    scores = [{"trial": np.full(5, trial)} | history(val_loss=[trial] * 5) for trial in (0, 1)]
    both = pa.concat_tables(map(pa.table, scores[::-1]))
    of_run = {
        "splits": splits,
        "predictions": tables,
        "history": both,
        "best_steps": [30, 40],
        "settings": Settings(),
        "rows": None,
    }
    given = facts_of_run({"dataset": "mine", "model": "grandplus", "matrix": "avg"}, graph=made, **of_run)
    assert given.search == "grandplus tune mine"
    other = facts_of_run({"dataset": "mine", "model": "sgc", "matrix": "avg"}, graph=made, **of_run)
    assert other.search == "grandplus search mine --model sgc"
    assert given.accuracy.tolist() == [89 / 99, 59 / 99]
    assert [trial.history["val_loss"].tolist() for trial in given.trials] == [[0] * 5, [1] * 5]
    assert [trial.kept for trial in given.trials] == [3, 4]
    assert given.labelled[1].val.tolist() == np.delete(VAL_NODES, 3).tolist()
