"""How much a labelled node counts in the supervised loss: the weight of its class."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from grandplus.methods.settings import ClassWeight
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import did_you_mean

BALANCED = "balanced"


def class_weights(setting: ClassWeight, classes: Sequence[str], train_labels: ArrayLike) -> NDArray[np.float64] | None:
    """The weight of each class, as scikit-learn's ``class_weight`` has it.

    Parameters
    ----------
    setting : {"balanced"}, dict or None
        balanced: n / (C · n_c) for n training nodes, n_c of them of class c, and C classes that have some. So all
        classes weigh the same together, and a node has a weight of 1 in the mean. A dict has weights by the name of
        the class. A class that has neither weighs 1.
    classes : sequence of str
        Names, by class number.
    train_labels : array_like of int, shape (l,)
        Class numbers of the training nodes.

    Returns
    -------
    ndarray of float64, shape (classes,), or None
        None if no node is to be weighted.

    Raises
    ------
    GrandPlusError
        There is no class of that name.

    Examples
    --------
    >>> class_weights("balanced", ["common", "rare"], [0, 0, 0, 1]).round(3).tolist()
    [0.667, 2.0]
    >>> class_weights({"rare": 5.0}, ["common", "rare"], [0, 0, 0, 1]).tolist()
    [1.0, 5.0]
    """
    if not setting:
        return None
    weights = np.ones(len(classes))
    if setting == BALANCED:
        counts = np.bincount(train_labels, minlength=len(classes))
        occurring = counts > 0
        weights[occurring] = counts.sum() / (occurring.sum() * counts[occurring])
        return weights
    assert isinstance(setting, dict)
    for name, weight in setting.items():
        if name not in classes:
            found = f"train.class_weight has {weight:g} for {name!r}, which is no class"
            expected = f"names among {', '.join(classes)}"
            raise GrandPlusError(found, expected=expected, fix=did_you_mean(name, classes))
        weights[classes.index(name)] = weight
    return weights
