"""What a search leaves: its history as a table and a picture, and the winner as a card."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from matplotlib import pyplot as plt
from optuna.trial import FrozenTrial, TrialState

from grandplus.evaluation.figures import save
from grandplus.pipeline.card import CATALOG, OWN_METHOD
from grandplus.pipeline.cases import Case
from grandplus.pipeline.yaml_files import yaml_text
from grandplus.search.cards import save_card
from grandplus.search.study import FAILED, SEEDS

RIGHT = " % of validation nodes are right"  # in a card's first line, behind the share
Outcome = dict[str, tuple[optuna.Study, FrozenTrial]]  # by stage, with the best trial


def table(outcome: Outcome) -> str:
    """All trials in their order, each with its mean validation accuracy over the seeds that it had, as Markdown.

    Parameters
    ----------
    outcome : Outcome
    """
    lines = ["| stage | trial | values | seeds | validation accuracy | |", "|---|---|---|---|---|---|"]
    for stage, (study, best) in outcome.items():
        for trial in study.trials:
            values = " ".join(f"{key}={value}" for key, value in trial.params.items())
            mean = f"{100 * _mean(trial):.2f}" if trial.intermediate_values else ""
            remark = trial.user_attrs.get(FAILED, "pruned" if trial.state == TrialState.PRUNED else "")
            lines.append(
                f"| {stage} | {trial.number} | `{values}` | {len(trial.intermediate_values)} "
                f"| {mean} | {'best' if trial.number == best.number else remark} |"
            )
    return "\n".join(lines) + "\n"


def summary(outcome: Outcome, case: Case) -> str:
    """How good the winner is beside the card's own values, and what it is: two lines.

    Parameters
    ----------
    outcome : Outcome
    case : Case
        With the winner's values.
    """
    first, _ = next(iter(outcome.values()))
    own = f"{100 * _mean(first.trials[0]):.2f} %" if first.trials[0].value else "can't be trained"
    best = f"{100 * _best(outcome):.2f} % of validation nodes, mean of {SEEDS} seeds"
    return f"best: {best}; the card as it is: {own}\n{case.change}"


def plot(outcome: Outcome, title: str, file: Path) -> None:
    """Draw each trial's mean validation accuracy and the best so far, a panel for each stage.

    Parameters
    ----------
    outcome : Outcome
    title : str
    file : Path
        A PNG.
    """
    panels: dict[str, Any] = {"figsize": (9, 3.2), "sharey": True, "squeeze": False, "layout": "constrained"}
    figure, [axes] = plt.subplots(1, len(outcome), **panels)
    for axis, (stage, (study, _)) in zip(axes, outcome.items(), strict=True):
        for state, label, color in (
            (TrialState.COMPLETE, f"{SEEDS} seeds", "C0"),
            (TrialState.PRUNED, "pruned", "0.6"),
        ):
            trials = study.get_trials(states=(state,))
            axis.plot([t.number for t in trials], [100 * _mean(t) for t in trials], "o", color=color, label=label)
        whole = study.get_trials(states=(TrialState.COMPLETE,))
        numbers, means = [t.number for t in whole], [100 * _mean(t) for t in whole]
        axis.step(numbers, np.maximum.accumulate(means), where="post", color="C1", label="best so far")
        axis.set_title(stage)
        axis.set_xlabel("trial; 0 is the card")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("validation accuracy, %")
    axes[-1].legend(frameon=False)
    figure.suptitle(title, fontsize="medium")
    save(figure, file)


def save_winner(case: Case, outcome: Outcome) -> None:
    """Write a card with the winner's values for the case's matrix or method, beside that of its dataset.

    Parameters
    ----------
    case : Case
        With the winner's values.
    outcome : Outcome
    """
    result = f"{100 * _best(outcome):.2f}{RIGHT}, mean of {SEEDS} seeds"
    option = f"--matrix {case.matrix}" if case.model == OWN_METHOD else f"--model {case.model}"
    save_card(card_name(case), case, f"By grandplus search {case.dataset} {option}: {result}.")


def better_before(case: Case, outcome: Outcome) -> str:
    """A line that says so, if the card of an earlier search has more of the same validation nodes right.

    Parameters
    ----------
    case : Case
        With the winner's values.
    outcome : Outcome

    Returns
    -------
    str
        Empty if there is no such card, or it is of other files or splits.
    """
    name = card_name(case)
    card = CATALOG / f"{name}.yaml"
    told = re.match(rf"# By grandplus search .* ([\d.]+){RIGHT}", yaml_text(card)) if card.is_file() else None
    if told is None or float(told[1]) <= round(100 * _best(outcome), 2):
        return ""
    before, now = Case(name, case.matrix, model=case.model).settings(1), case.settings(1)
    if (before.source, before.preprocess) != (now.source, now.preprocess):
        return ""
    return f"{card} stays, with its history: {told[1]}{RIGHT} by it; remove it to have this search's"


def card_name(case: Case) -> str:
    """The name of the card that a search of the case writes.

    Parameters
    ----------
    case : Case
    """
    return tuned(case.dataset, case.matrix if case.model == OWN_METHOD else case.model)


def tuned(dataset: str, matrix: str) -> str:
    """The name of a card that is tuned for a matrix or a method; a card that was tuned already says so once.

    Parameters
    ----------
    dataset : str
    matrix : str
        Or a method.

    Examples
    --------
    >>> tuned("photo", "avg"), tuned("photo-avg-tuned", "avg"), tuned("photo-avg-tuned-2", "avg")
    ('photo-avg-tuned', 'photo-avg-tuned-2', 'photo-avg-tuned-3')
    >>> tuned("photo-avg-tuned", "ppr")
    'photo-avg-ppr-tuned'
    """
    before = re.fullmatch(r"(.+)-tuned(?:-(\d+))?", dataset)
    if before and before[1].endswith(f"-{matrix}"):
        return f"{before[1]}-tuned-{int(before[2] or 1) + 1}"
    return f"{before[1] if before else dataset}-{matrix}-tuned"


def _best(outcome: Outcome) -> float:
    """Mean validation accuracy of the winner: the best of the last stage."""
    _, winner = list(outcome.values())[-1]
    return _mean(winner)


def _mean(trial: FrozenTrial) -> float:
    return float(np.mean(list(trial.intermediate_values.values())))
