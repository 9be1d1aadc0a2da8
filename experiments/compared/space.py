"""What is searched for each system on a graph without published settings: as many of each, from a space as small.

The values that a system has by default are always among those of the space.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from experiments.compared.measured import own_case
from grandplus.pipeline.cases import Case

BUDGET = 10  # settings of each system on a graph, its own among them
LR_FACTORS = (0.3, 3.0)  # times what the system has by default
WEIGHT_DECAYS = (1e-5, 1e-4, 1e-3, 1e-2)
_WIDTHS, _DROPOUTS = (16, 64, 128), (0.2, 0.5, 0.8)
_MLP = {"train.hidden": _WIDTHS, "train.dropout": _DROPOUTS}
# Beside learning rate and weight decay: width, dropout, and what is the system's own.
VALUES: dict[str, dict[str, tuple[Any, ...]]] = {
    "gcn": _MLP,
    "gat": {"train.hidden": (8, 16), "train.dropout": (0.2, 0.4, 0.6), "train.heads": (4, 8)},
    "appnp": _MLP | {"train.alpha": (0.05, 0.1, 0.2)},
    "gcnii": _MLP | {"train.layers": (8, 16, 32)},
    "grand": {"train.hidden": _WIDTHS, "train.dropout_hidden": _DROPOUTS, "train.order": (2, 4, 8)},
    "fastgcn": {"train.hidden": _WIDTHS, "train.samples": (100, 400)},
    "graphsaint": _MLP | {"train.depth": (2, 4)},
    "sgc": {"train.order": (1, 2, 4, 8)},
    "gbp": _MLP | {"train.alpha": (0.05, 0.1, 0.2)},
    "pprgo": _MLP | {"gfpush.alpha": (0.1, 0.25, 0.5), "gfpush.top_k": (32, 128)},
    "grandplus": {"train.hidden": _WIDTHS, "train.dropout_hidden": _DROPOUTS, "gfpush.order": (2, 4, 8)},
}


def candidates(dataset: str, model: str, budget: int = BUDGET) -> list[Case]:
    """The settings that are compared: the system's own, and others that are drawn, always the same ones.

    Parameters
    ----------
    dataset, model : str
    budget : int
        How many there are; fewer are the first ones of more.

    Returns
    -------
    list of Case
        The own one first.
    """
    own = own_case(dataset, model)
    sections = own.settings(1).flat()
    space = {"train.lr": LR_FACTORS, "train.weight_decay": WEIGHT_DECAYS} | VALUES[model]
    before = {key: sections[section][name] for key, (section, name) in ((key, key.split(".")) for key in space)}
    space["train.lr"] = tuple(float(f"{factor * before['train.lr']:.3g}") for factor in LR_FACTORS)
    values = {key: sorted({*space[key], before[key]}) for key in space}
    rng, found = np.random.default_rng([0, *model.encode()]), {own: None}
    while len(found) < budget:
        drawn = {key: values[key][rng.integers(len(values[key]))] for key in values}
        changes = tuple((key, value) for key, value in drawn.items() if value != before[key])
        found[replace(own, changes=changes)] = None
    return list(found)
