"""Results as files have them, checked for what is read of them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from grandplus.runtime.errors import GrandPlusError

FIX = "it is damaged, or made by other code: run dvc repro evaluate, or the experiment again"
_OF_PART = ("accuracy.mean", "ece.mean")
METRICS = ("rows.l1_error.mean", *(f"val.{key}" for key in _OF_PART))
METRICS_OF_TEST = ("test.macro_f1.mean", *(f"test.{key}" for key in _OF_PART))  # if any test node has a label
DETAILS = (
    *("run.dataset", "run.matrix", "run.seed", "run.trials", "changed", "graph.nodes", "graph.edges", "parts"),
    *("splits", "classes", "accuracy.val", "judged_by", "confusion", "losses.step", "losses.train", "losses.val"),
    *("reliability.before.ece", "reliability.after.ece", "by_degree", "by_l1_error"),
)


def metrics_of(text: str, where: object) -> dict[str, Any]:
    """The content of ``reports/metrics.json``.

    Raises
    ------
    GrandPlusError : it is no JSON, or lacks something.
    """
    found = parsed(text, METRICS, where)
    if "test" in found:
        _refuse_lacking(found, METRICS_OF_TEST, where)
    return found


def details_of(text: str, where: object) -> dict[str, Any]:
    """The content of ``reports/details.json``.

    Raises
    ------
    GrandPlusError : it is no JSON, lacks something, or has fewer trials than it says.
    """
    found = parsed(text, DETAILS, where)
    scores, trials = found["accuracy"].get(found["judged_by"]) or [], found["run"]["trials"]
    if len(scores) != trials or len(found["splits"]) != trials:
        counts = f"{len(scores)} accuracies and {len(found['splits'])} splits"
        raise GrandPlusError(f"has {counts} of {trials} trials", where=where, fix="run it again")
    return found


def parsed(text: str, wanted: Iterable[str], where: object) -> dict[str, Any]:
    """JSON that has all these keys.

    Raises
    ------
    GrandPlusError : it is none, or lacks one.
    """
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise GrandPlusError(f"is no JSON: {error}", where=where, fix=FIX) from None
    _refuse_lacking(found, wanted, where)
    return found


def at(content: Any, key: str) -> Any:
    """What stands under a key with dots; None where nothing does.

    >>> at({"val": {"accuracy": 0.9}}, "val.accuracy"), at({"val": 0.9}, "val.accuracy")
    (0.9, None)
    """
    for name in key.split("."):
        if not isinstance(content, dict):
            return None
        content = content.get(name)
    return content


def _refuse_lacking(content: Any, wanted: Iterable[str], where: object) -> None:
    for key in wanted:
        if at(content, key) is None:
            raise GrandPlusError(f"lacks {key}", where=where, fix=FIX)
