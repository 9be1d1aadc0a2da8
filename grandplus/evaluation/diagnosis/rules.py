"""The registry of rules, and what they say of a run.

A rule is one function from facts to a remark or None, in `RULES`. Its docstring is its line in ``docs/results.md``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TypeAlias

from grandplus.evaluation.diagnosis import evidence, of_comparison, of_graph, of_training
from grandplus.evaluation.diagnosis.facts import Facts, GraphFacts
from grandplus.evaluation.diagnosis.finding import Finding, Remark

Rule: TypeAlias = Callable[[Facts], Remark | None]
GraphRule: TypeAlias = Callable[[GraphFacts], Remark | None]

GRAPH_RULES: tuple[GraphRule, ...] = (of_graph.constant_features, of_graph.unlike_edges, of_graph.small_classes)
RULES: tuple[Rule, ...] = (  # what speaks most against a result comes first
    of_training.collapse,
    of_training.one_class,
    of_comparison.below_baseline,
    of_training.underfit,
    of_training.overfit,
    of_training.unsteady_trials,
    of_training.ended_at_max_epochs,
    of_comparison.uninformative_features,
    *GRAPH_RULES,
    of_comparison.large_l1_error,
)
OF_THE_BEGINNING: tuple[Rule, ...] = (  # what can be told of a training that has only begun
    of_training.ended_at_max_epochs,
    of_comparison.uninformative_features,
    *GRAPH_RULES,
    of_comparison.large_l1_error,
)


def diagnose(facts: Facts) -> list[Finding]:
    """Apply all rules to a run.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    list of Finding
        In the order of `RULES`; empty where nothing is to be remarked. Where the nodes to train on are of one class, or
        training has only begun, findings that merely follow from that are left out.
    """
    rules: tuple[Rule, ...] = OF_THE_BEGINNING if of_training.is_too_short(facts) else RULES
    if of_graph.trains_one_class(facts):
        rules = (of_graph.small_classes,)
    return [Finding(rule.__name__, *remark) for rule in rules if (remark := rule(facts))]


def diagnose_graph(facts: GraphFacts) -> list[Finding]:
    """Apply the rules that need no training.

    Parameters
    ----------
    facts : GraphFacts
    """
    rules = (of_graph.small_classes,) if of_graph.trains_one_class(facts) else GRAPH_RULES
    return [Finding(rule.__name__, *remark) for rule in rules if (remark := rule(facts))]


def listed() -> str:
    """The list of all rules in ``docs/results.md``, a Markdown table.

    Examples
    --------
    >>> listed().splitlines()[0]
    '| finding | it is found where |'
    """
    return "\n".join(["| finding | it is found where |", "|---|---|", *map(_line, RULES)]) + "\n"


def _line(rule: Callable[..., object]) -> str:
    """A rule's docstring, with the values of the constants that it names."""
    values = vars(evidence) | vars(inspect.getmodule(rule))
    stated = inspect.cleandoc(rule.__doc__ or "").partition("\n\nReferences\n")[0]
    text = " ".join(stated.split())
    text = re.sub(r"`([A-Z][A-Z0-9_]+)`", lambda match: f"{values[match[1]]:g}", text)
    return f"| `{rule.__name__}` | {text} |"
