"""A classifier's parameters, checked by the settings' classes that they belong to."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import Field
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from grandplus.datasets.raw import RawGraph
from grandplus.evaluation.diagnosis.finding import Finding
from grandplus.graph.features import suited_scaling
from grandplus.graph.fitted import RAW_ROWS
from grandplus.graph.settings import Preprocess
from grandplus.methods.registry import settings_of
from grandplus.methods.settings import MethodSettings
from grandplus.prediction.settings import Infer
from grandplus.propagation.matrices import MATRICES, Matrix, parameters
from grandplus.propagation.settings import GFPush
from grandplus.runtime.errors import ArgumentError, GrandPlusError
from grandplus.runtime.validation import Section, validated

AnySection = TypeVar("AnySection", bound=Section)
# What to set for a method that takes no weights or direction of edges.
PLAIN_EDGES = {"to_ignore": 'set edge_weights="ignore"', "both_ways": 'set direction="both"'}
_VALUE = re.compile(r"\b(?:gfpush|train)\.([a-z_]+)=(True|False|[0-9.e+-]*[0-9])")  # as advice has it
_PREFIX = re.compile(r"\b(preprocess|gfpush|train|infer)\.(?=[a-z_]+\b)")


class Run(Infer):
    """What belongs to a fit as a whole."""

    trials: Annotated[int, Field(ge=1, le=100_000)] = 1
    random_state: Annotated[int, Field(ge=0, lt=2**63)] = 0
    verbose: bool = False


@dataclass(frozen=True)
class Pushing:
    """How rows of Π are pushed."""

    matrix: Matrix
    gfpush: GFPush


@dataclass(frozen=True)
class Sections:
    """The parameters by what they are for; but for preprocessing, whose defaults depend on the features."""

    run: Run
    pushing: Pushing | None  # if the method needs rows of Π
    method: MethodSettings


def given_parameters(classifier: BaseEstimator) -> dict[str, Any]:
    """The parameters that are not None, with Python's own values in place of numpy's.

    Parameters
    ----------
    classifier : BaseEstimator

    Returns
    -------
    dict
        By name. ``random_state`` is a number that was drawn, if a generator or None is to draw it.
    """
    given = {name: value for name, value in classifier.get_params(deep=False).items() if value is not None}
    state = given.get("random_state")
    if state is None or isinstance(state, np.random.RandomState):
        given["random_state"] = check_random_state(state).randint(2**31)
    return {name: plain(value) for name, value in given.items()}


def plain(value: Any) -> Any:
    """Python's own value in place of one of numpy's."""
    return value.tolist() if hasattr(value, "tolist") else value


def sections_of(given: dict[str, Any], method: str) -> Sections:
    """The parameters, checked.

    Parameters
    ----------
    given : dict
        What `given_parameters` gives; what it lacks has the default of its section's class.
    method : str
        By which it is trained.

    Returns
    -------
    Sections

    Raises
    ------
    GrandPlusError
        A value is impossible, lacks, or has no effect.
    """
    settings = settings_of(method)
    return Sections(
        run=_section(Run, given),
        pushing=_pushing(given) if settings.NEEDS_ROWS else None,
        method=_section(settings.Settings, given),
    )


def preprocessing_of(given: dict[str, Any], raw: RawGraph) -> Preprocess:
    """How a graph is preprocessed: its own splits are taken if it has some, and its features scaled as suits them.

    Parameters
    ----------
    given : dict
        What `given_parameters` gives.
    raw : RawGraph

    Returns
    -------
    Preprocess

    Raises
    ------
    GrandPlusError
        A value is impossible; there are no features, and none are to be made from the graph.
    """
    features = given.get("features")
    if features not in RAW_ROWS and (raw.features is None or not raw.features.shape[1]):
        expected = f"X, or features of the graph: {', '.join(RAW_ROWS)}"
        found = "there is no X" if raw.features is None else "X has no columns"
        raise ArgumentError(f"{found}, and features is {features}", expected=expected)
    suited = {"features": features or suited_scaling(raw.features)}
    return _section(Preprocess, given | suited | ({"split": "public"} if raw.splits else {}))


@contextmanager
def named_as_parameters() -> Iterator[None]:
    """In errors of this block, name a setting as the parameter that it is: ``lr``, not ``train.lr``.

    Raises
    ------
    GrandPlusError
    """
    try:
        yield
    except GrandPlusError as error:
        for part in ("found", "expected", "fix"):
            setattr(error, part, _PREFIX.sub("", getattr(error, part)))
        raise


def in_parameters(finding: Finding, parameters: Collection[str]) -> Finding:
    """A finding that names a setting as the parameter that it is, ``lr`` and not ``train.lr``; or among ``settings``.

    Parameters
    ----------
    finding : Finding
    parameters : collection of str
        The names of the classifier's own.

    Examples
    --------
    >>> advice = Finding("underfit", "47.5 % are right", "train.lr=0.1 or preprocess.features=adjacency")
    >>> in_parameters(advice, {"lr", "features"}).advice
    'lr=0.1 or features=adjacency'
    >>> in_parameters(advice, {"settings", "features"}).advice
    "settings={'lr': 0.1} or features=adjacency"
    """

    def named(match: re.Match[str]) -> str:
        return match[0] if match[1] in parameters else f"settings={{{match[1]!r}: {match[2]}}}"

    advice = _PREFIX.sub("", _VALUE.sub(named, finding.advice))
    return Finding(finding.name, _PREFIX.sub("", finding.observation), advice)


def _pushing(given: dict[str, Any]) -> Pushing:
    name = given.get("matrix")
    if not isinstance(name, str) or name not in MATRICES:
        raise ArgumentError(f"matrix is {name!r}", expected=f"one of {', '.join(MATRICES)}")
    family = MATRICES[name]
    own = parameters(family)
    for key in {key for other in MATRICES.values() for key in parameters(other)} - own.keys():
        if key in given:
            raise ArgumentError(f"{key} is {given[key]!r}", expected=f"None, as matrix is {name}")
    for key, required in own.items():
        if required and key not in given:
            raise ArgumentError(f"{key} is None", expected=f"a value, as matrix is {name}")
    return Pushing(_section(family, given, own), _section(GFPush, given))


def _section(model: type[AnySection], given: dict[str, Any], keys: Iterable[str] = ()) -> AnySection:
    return validated(model, {key: given[key] for key in keys or model.model_fields if key in given}, "")
