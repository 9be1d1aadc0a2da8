"""How labels are predicted from probabilities."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Section

Decision: TypeAlias = Literal["most-probable", "threshold"]


class Infer(Section):
    """What params.yaml says under ``infer``."""

    # The most probable class; or, of two classes, the second one from the threshold on that validation nodes chose.
    decision: Decision = "most-probable"


def check_decision(classes: int, val_labels: NDArray[np.int64] | None = None, *, where: object = "") -> None:
    """Check that a threshold can decide.

    Parameters
    ----------
    classes : int
        How many there are.
    val_labels : ndarray of int64, optional
        Class numbers of all validation nodes, as far as they are known.
    where : object
        What asks for a threshold, for errors.

    Raises
    ------
    GrandPlusError
        There are not two classes, or validation nodes are all of one.
    """
    fix = "set infer.decision to most-probable"
    if classes != 2:
        found = f"infer.decision is threshold, and there are {classes} classes"
        raise GrandPlusError(found, where=where, expected="two for a threshold", fix=fix)
    if val_labels is not None and len(np.unique(val_labels[val_labels >= 0])) < 2:
        found = "infer.decision is threshold, and all validation nodes are of one class"
        raise GrandPlusError(found, where=where, expected="nodes of both to choose it on", fix=f"label more, or {fix}")
