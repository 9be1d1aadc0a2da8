"""Families of the propagation matrix Π = Σ wₙPⁿ (the paper's Eq. 5): one class for each, with its parameters.

A further family is one more class in ``Family``: settings, cards and the command line follow from it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Discriminator, Field, Tag, model_validator
from scipy import special

from grandplus.runtime.errors import ArgumentError, GrandPlusError
from grandplus.runtime.validation import NonNegative, Section, check_known, validated

TOLERANCE = 1e-6  # of a sum of weights
Order = Annotated[int, Field(ge=0, le=1000)]


class Matrix(Section, ABC):
    """A family of Π. A subclass has its name, its parameters with their limits and defaults, and ``weights``."""

    name: str

    @abstractmethod
    def weights(self) -> NDArray[np.float64]:
        """w_0..w_N, non-negative and summing to 1: float64 (N + 1,)."""


class PPR(Matrix):
    """Truncated personalised PageRank: wₙ ∝ α(1 - α)ⁿ."""

    name: Literal["ppr"] = "ppr"
    order: Order = 10  # N
    alpha: Annotated[float, Field(gt=0, le=1)] = 0.2  # teleport probability

    def weights(self) -> NDArray[np.float64]:
        return _normalized(self.alpha * (1 - self.alpha) ** np.arange(self.order + 1))


class Average(Matrix):
    """Average pooling: the mean of P⁰ to Pᴺ."""

    name: Literal["avg"] = "avg"
    order: Order = 4  # N

    def weights(self) -> NDArray[np.float64]:
        return np.full(self.order + 1, 1 / (self.order + 1))


class Single(Matrix):
    """The N-th power of P alone."""

    name: Literal["single"] = "single"
    order: Order = 2  # N

    def weights(self) -> NDArray[np.float64]:
        return np.asarray(np.eye(self.order + 1)[self.order])


class Heat(Matrix):
    """The heat kernel, truncated: wₙ ∝ tⁿ/n!.

    Source: R. I. Kondor, J. Lafferty. Diffusion kernels on graphs and other discrete input spaces. ICML 2002.
    """

    name: Literal["heat"] = "heat"
    order: Order = 10  # N
    heat_time: Annotated[float, Field(gt=0, le=100)] = 2.0  # t: about how many steps it spreads (experiments/heat)

    def weights(self) -> NDArray[np.float64]:
        n = np.arange(self.order + 1)
        # In logarithms, as tⁿ and n! overflow; relative to the largest, where nothing underflows to 0 / 0.
        logarithms = n * np.log(self.heat_time) - special.gammaln(n + 1)
        return _normalized(np.exp(logarithms - logarithms.max()))


class Custom(Matrix):
    """Weights of one's own."""

    name: Literal["custom"] = "custom"
    order: Order | None = None  # N, if it is given: one less than there are weights
    given: list[NonNegative] = Field(alias="weights")  # w_0..w_N, summing to 1

    @model_validator(mode="after")
    def _check(self) -> Custom:
        total = sum(self.given)
        if not self.given or abs(total - 1) > TOLERANCE:
            raise GrandPlusError(f"weights = {self.given} sum to {total:g}", expected="a sum of 1")
        if self.order not in (None, len(self.given) - 1):
            found = f"order is {self.order} with {len(self.given)} weights"
            raise GrandPlusError(found, expected=f"{len(self.given) - 1} or null")
        return self

    def weights(self) -> NDArray[np.float64]:
        return _normalized(np.array(self.given))


def _name_of(value: Any) -> Any:
    return value.get("name") if isinstance(value, dict) else getattr(value, "name", None)


Family = Annotated[
    Annotated[PPR, Tag("ppr")]
    | Annotated[Average, Tag("avg")]
    | Annotated[Single, Tag("single")]
    | Annotated[Heat, Tag("heat")]
    | Annotated[Custom, Tag("custom")],
    Discriminator(_name_of),
]
MATRICES: dict[str, type[Matrix]] = {
    tag.tag: family for family, tag in (get_args(branch) for branch in get_args(get_args(Family)[0]))
}


def parameters(family: type[Matrix]) -> dict[str, bool]:
    """The parameters of a family by the names that a user has for them, and whether each must be given.

    >>> parameters(PPR)
    {'order': False, 'alpha': False}
    >>> parameters(Custom)
    {'order': False, 'weights': True}
    """
    fields = family.model_fields.items()
    return {field.alias or key: field.is_required() for key, field in fields if key != "name"}


def propagation_weights(matrix: str, **given: Any) -> NDArray[np.float64]:
    """The weights w_0..w_N of a propagation matrix, non-negative and summing to 1.

    Parameters
    ----------
    matrix : str
        The family: ``ppr``, ``avg``, ``single``, ``heat`` or ``custom``.
    **given
        Its parameters: ``order`` (N) for all families, ``alpha`` for ppr, ``heat_time`` for heat, ``weights`` for
        custom. One that is None or left out has the default of the family's class.

    Returns
    -------
    ndarray of float64, shape (N + 1,)

    Raises
    ------
    ArgumentError
        There is no such family or parameter, or a value is impossible.

    Examples
    --------
    >>> propagation_weights("avg", order=3).tolist()
    [0.25, 0.25, 0.25, 0.25]
    >>> propagation_weights("ppr", order=2, alpha=0.5).round(4).tolist()
    [0.5714, 0.2857, 0.1429]
    >>> propagation_weights("heat", order=2, heat_time=1).tolist()  # 1, 1, 1/2
    [0.4, 0.4, 0.2]
    """
    if not isinstance(matrix, str) or matrix not in MATRICES:
        raise ArgumentError(f"matrix is {matrix!r}", expected=f"one of {', '.join(MATRICES)}")
    family = MATRICES[matrix]
    chosen = {key: value for key, value in given.items() if value is not None}
    try:
        check_known(chosen, set(parameters(family)), "")
        return validated(family, chosen, "").weights()
    except GrandPlusError as error:
        raise ArgumentError(error.found, where=f"matrix {matrix}", expected=error.expected, fix=error.fix) from None


def checked_weights(values: ArrayLike) -> NDArray[np.float64]:
    """w_0..w_N as a float64 array, if that is what they are.

    Parameters
    ----------
    values : array_like, shape (N + 1,)

    Raises
    ------
    ArgumentError
        They are no numbers, a weight is negative or NaN, or their sum is not 1.
    """
    expected = "w_0..w_N, at least 0 and summing to 1"
    try:
        w = np.asarray(values, np.float64, order="C")
    except (TypeError, ValueError):
        raise ArgumentError(f"weights is {values!r}", expected=expected) from None
    if w.ndim != 1 or not len(w) or not np.all(w >= 0) or abs(w.sum() - 1) > TOLERANCE:
        raise ArgumentError(f"the weights {w.tolist()} sum to {w.sum():g}", expected=expected)
    return w


def _normalized(w: NDArray[Any]) -> NDArray[np.float64]:
    return np.asarray(w / w.sum())
