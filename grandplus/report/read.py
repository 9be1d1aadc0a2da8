"""The files of a run's results, checked for what is read of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from grandplus.evaluation.diagnosis.finding import Finding
from grandplus.evaluation.node_scores import NodeScores
from grandplus.runtime.errors import GrandPlusError

FIX = "it is damaged, or made by other code: run dvc repro evaluate, or the experiment again"
METRICS = ("val.accuracy.mean",)
DETAILS = (
    *("run.dataset", "run.model", "run.matrix", "run.seed", "run.trials", "changed", "graph.nodes", "graph.edges"),
    *("parts", "splits", "classes", "accuracy.val", "judged_by", "confusion", "losses.step", "losses.train"),
    *("losses.val", "reliability.before.ece", "reliability.after.ece", "by_degree"),
)


def metrics_of(text: str, where: object) -> dict[str, Any]:
    """Read ``reports/metrics.json``.

    Parameters
    ----------
    text : str
        Its content.
    where : object
        Its name, for errors.

    Raises
    ------
    GrandPlusError
        It is no JSON, or lacks what every run has.
    """
    metrics = _parsed(text, METRICS, where)
    if "test" in metrics:
        _check_keys(metrics, ("test.accuracy.mean",), where)
    return metrics


def details_of(text: str, where: object) -> dict[str, Any]:
    """Read ``reports/details.json``.

    Parameters
    ----------
    text : str
        Its content.
    where : object
        Its name, for errors.

    Raises
    ------
    GrandPlusError
        It is no JSON, lacks something, or has fewer trials than it says.
    """
    details = _parsed(text, DETAILS, where)
    scores, trials = details["accuracy"].get(details["judged_by"]) or [], details["run"]["trials"]
    if len(scores) != trials or len(details["splits"]) != trials:
        counts = f"{len(scores)} accuracies and {len(details['splits'])} splits"
        raise GrandPlusError(f"has {counts} of {trials} trials", where=where, fix="run it again")
    node_scores_of(details, where)
    return details


def node_scores_of(details: Mapping[str, Any], where: object = "") -> NodeScores | None:
    """Take of ``reports/details.json`` where each trial was right.

    Parameters
    ----------
    details : mapping
        Its content.
    where : object
        Its name, for errors.

    Returns
    -------
    NodeScores or None
        None in results of older code, which kept no such thing.

    Raises
    ------
    GrandPlusError
        They are damaged, or not of all trials.
    """
    if "node_scores" not in details:
        return None
    try:
        scores = NodeScores.from_json(details["node_scores"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise GrandPlusError(f"has node_scores that can't be read: {error}", where=where, fix=FIX) from None
    if len(scores.tested) != details["run"]["trials"]:
        counts = f"{len(scores.tested)} of {details['run']['trials']} trials"
        raise GrandPlusError(f"has node_scores of {counts}", where=where, fix=FIX)
    return scores


def changed_of(text: str, where: object) -> dict[str, list[Any]]:
    """Read of ``reports/details.json`` which settings differ from the card: [the card's value, the run's], by key.

    Parameters
    ----------
    text : str
        Its content.
    where : object
        Its name, for errors.

    Raises
    ------
    GrandPlusError
        It is no JSON, or lacks them.
    """
    changed: dict[str, list[Any]] = _parsed(text, ("changed",), where)["changed"]
    return changed


def edges_of(text: str, where: object) -> str:
    """Read of ``reports/details.json`` whether edges have weights and a direction; nothing of most graphs.

    Parameters
    ----------
    text : str
        Its content.
    where : object
        Its name, for errors.

    Raises
    ------
    GrandPlusError
        It is no JSON.

    Examples
    --------
    >>> edges_of('{"graph": {"edge_weights": "used", "direction": "out"}}', "details.json")
    'weights used, direction out'
    """
    graph = _parsed(text, (), where).get("graph", {})
    named = {"weights": graph.get("edge_weights"), "direction": graph.get("direction")}
    return ", ".join(f"{name} {held}" for name, held in named.items() if held)


def findings_of(text: str, where: object) -> list[Finding]:
    """Read ``reports/diagnosis.json``.

    Parameters
    ----------
    text : str
        Its content.
    where : object
        Its name, for errors.

    Raises
    ------
    GrandPlusError
        It is no JSON, or holds no findings.
    """
    content = _parsed(text, ("findings",), where)
    try:
        return [Finding(**finding) for finding in content["findings"]]
    except TypeError as error:
        raise GrandPlusError(f"holds no findings: {error}", where=where, fix=FIX) from None


def value_at(content: Any, key: str) -> Any:
    """Look up a key with dots in nested mappings.

    Parameters
    ----------
    content : mapping
    key : str

    Returns
    -------
    object
        None where nothing stands there.

    Examples
    --------
    >>> value_at({"val": {"accuracy": 0.9}}, "val.accuracy"), value_at({"val": 0.9}, "val.accuracy")
    (0.9, None)
    """
    for name in key.split("."):
        if not isinstance(content, Mapping):
            return None
        content = content.get(name)
    return content


def _parsed(text: str, keys: Iterable[str], where: object) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(text)
    except ValueError as error:
        raise GrandPlusError(f"is no JSON: {error}", where=where, fix=FIX) from None
    _check_keys(content, keys, where)
    return content


def _check_keys(content: Any, keys: Iterable[str], where: object) -> None:
    for key in keys:
        if value_at(content, key) is None:
            raise GrandPlusError(f"lacks {key}", where=where, fix=FIX)
