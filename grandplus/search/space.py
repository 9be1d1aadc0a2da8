"""What is searched: the values of the paper's appendix, in its two stages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import psutil  # type: ignore[import-untyped]
from optuna.trial import BaseTrial

from grandplus.methods.settings import GraphSize
from grandplus.pipeline.cases import Case
from grandplus.pipeline.settings import Settings
from grandplus.runtime import environment
from grandplus.runtime.errors import ArgumentError

Space = dict[str, tuple[Any, ...]]
# The network first; then the propagation, with the network that was found.
STAGES: dict[str, Space] = {
    "network": {
        "train.lr": (1e-2, 1e-3, 1e-4),
        "train.weight_decay": (0.0, 1e-5, 1e-3, 1e-2),
        "train.layers": (1, 2),
        "train.hidden": (32, 64, 128, 256, 512, 1024),
        # Of other methods, as far as they have these:
        "train.dropout": (0.1, 0.3, 0.5, 0.8),
        "train.alpha": (0.05, 0.1, 0.2, 0.4),
        "train.order": (1, 2, 4, 8),
    },
    "propagation": {
        "gfpush.rmax": (1e-5, 1e-6, 1e-7),
        "gfpush.top_k": (16, 32, 64, 128),
        "gfpush.order": (2, 4, 6, 8, 10, 20),
        "train.lambda_max": (0.5, 0.8, 1.0, 1.2, 1.5),
    },
}


def own_values(stage: str, settings: Settings) -> dict[str, Any]:
    """A dataset's own values of what a stage searches; a setting that its method does not have is left out.

    Parameters
    ----------
    stage : str
        A key of ``STAGES``.
    settings : Settings

    Returns
    -------
    dict
        By keys like ``train.lr``.
    """
    sections = settings.flat()
    if not settings.needs_rows or settings.train.own_rows:
        sections["gfpush"] = {}  # it has no effect, or is the authors'
    pairs = {key: key.split(".") for key in STAGES[stage]}
    return {key: sections[section][name] for key, (section, name) in pairs.items() if name in sections[section]}


def check_effect(options: dict[str, Any], case: Case) -> None:
    """Refuse an option of which the search of a method makes no use.

    Parameters
    ----------
    options : dict
        Those that are given: ``matrix``, and how many trials a stage is to have, by its name.
    case : Case

    Raises
    ------
    ArgumentError
        The method has no choice of a matrix, or none of what the stage searches.
    """
    settings = case.settings(1)
    of_any_matrix = settings.needs_rows and not settings.train.own_rows
    used = {"matrix"} if of_any_matrix else set()
    used |= {stage for stage in STAGES if own_values(stage, settings)}
    for option in sorted(options.keys() - used):
        found = f"--{option} {options[option]} has no effect, as --model is {case.model}"
        raise ArgumentError(found, fix="leave it out, or choose --model grandplus")


def space_of(stage: str, settings: Settings) -> Space:
    """A stage's values, with the dataset's own among them.

    Parameters
    ----------
    stage : str
    settings : Settings
    """
    return {key: tuple(sorted({*STAGES[stage][key], value})) for key, value in own_values(stage, settings).items()}


def without_too_wide(space: Space, size: GraphSize, settings: Settings) -> Space:
    """Leave out widths that ``GRANDPLUS_MEMORY``, or all of this machine's, is too small for, and print which.

    Parameters
    ----------
    space : Space
    size : GraphSize
    settings : Settings
    """
    if "train.hidden" not in space:
        return space
    budget = environment.memory_limit() or int(psutil.virtual_memory().total)

    def fits(width: int) -> bool:
        wide = settings.train.model_copy(update={"layers": 2, "hidden": width})
        needed = wide.training_memory(size)
        return bool(needed <= budget)

    fitting, wider = ([width for width in space["train.hidden"] if fits(width) == wanted] for wanted in (True, False))
    if wider:
        print(f"left out, as memory has no room for them: train.hidden={','.join(map(str, wider))}")
    return space | {"train.hidden": tuple(fitting)}


def suggest(trial: BaseTrial, space: Space, settings: Settings) -> dict[str, Any]:
    """Choose a trial's values; a width only if a layer has it.

    Parameters
    ----------
    trial : BaseTrial
    space : Space
    settings : Settings

    Returns
    -------
    dict
        By keys like ``train.lr``.
    """
    embeds = settings.train.model_dump().get("embed", False)
    chosen: dict[str, Any] = {}
    for key, values in space.items():
        if key != "train.hidden" or chosen.get("train.layers", 2) > 1 or embeds:
            chosen[key] = trial.suggest_categorical(key, values)
    return chosen


def changed(case: Case, values: dict[str, Any]) -> Case:
    """The case with other values.

    Parameters
    ----------
    case : Case
    values : dict
        By keys like ``train.lr``.

    Examples
    --------
    >>> changed(Case("cora", "ppr", (("train.lr", 0.1),)), {"train.layers": 1}).change
    'train.lr=0.1 train.layers=1'
    """
    return replace(case, changes=tuple((dict(case.changes) | values).items()))
