"""``grandplus results``: what the last run in this checkout came to."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from grandplus.pipeline import usage
from grandplus.pipeline.evaluated import REPORTS, SETTINGS
from grandplus.pipeline.yaml_files import read_yaml
from grandplus.report.table import table, value
from grandplus.report.workspace import notes_on_workspace
from grandplus.runtime.errors import ArtifactError


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    commands.add_parser("results", help="the results of the last run").set_defaults(run=run)


def run(_: argparse.Namespace) -> None:
    """Print a line for each metric, the findings, where the other results are, and cheap baselines.

    Raises
    ------
    ArtifactError
        There are no results, or they are damaged, or of several runs.
    """
    from grandplus.evaluation.diagnosis.finding import lines_of
    from grandplus.report.baselines import baseline_rows, difference_line
    from grandplus.report.read import changed_of, edges_of, findings_of, metrics_of  # as scikit-learn takes a second
    from grandplus.report.run import title_of
    from grandplus.report.scores import score_lines

    notes = notes_on_workspace()
    scores = REPORTS / "metrics.json"
    metrics, settings = metrics_of(_read(scores), scores), read_yaml(SETTINGS)
    diagnosis = REPORTS / "diagnosis.json"
    findings = findings_of(_read(diagnosis), diagnosis)
    trials = f"{settings['trials']} trial{'s' * (settings['trials'] > 1)}"
    title = title_of(settings)
    names = ("dataset", "model", "matrix")[: title.count(", ") + 1]
    details = REPORTS / "details.json"
    of_run = _read(details)
    lines = {
        "note": "\n".join(notes),
        ", ".join(names): f"{title}, {trials}",
        "edges": edges_of(of_run, details),
        "other than the card": _changed(changed_of(of_run, details)),
        **score_lines(metrics),
        "diagnosis": "\n".join(lines_of(findings)),
        "predictions": "" if notes else "data/predictions/predictions.parquet",
        "plots": "reports/plots/*.png",
        "settings, scores": "reports/settings.yaml, metrics.json, per_class.json, diagnosis.json",
        "seconds, as last run": "" if notes else _seconds(),  # some would be of the later run
    }
    lines = {name: text for name, text in lines.items() if text}
    width = max(map(len, lines))
    for name, text in lines.items():
        first, *more = text.splitlines()
        print(f"{name:<{width}}  {first}", *more, sep="\n" + " " * (width + 2))
    if rows := baseline_rows(metrics, settings["model"]):
        print(f"\n{table(rows)}")
    if line := difference_line(metrics, settings["model"]):
        print(line)


def _changed(settings: dict[str, list[Any]]) -> str:
    """What params.yaml or -S has set, and what the card has in its place."""
    return "\n".join(f"{key} = {value(used)}, in place of {value(card)}" for key, (card, used) in settings.items())


def _seconds() -> str:
    took = usage.read(usage.LAST)
    if not took:
        return "not measured here: the results came from the cache"
    return ", ".join(f"{stage} {took[stage]['seconds']:.1f}" for stage in usage.STAGES if stage in took)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ArtifactError("no such file", where=file) from None
    except ValueError as error:
        raise ArtifactError(f"is no text: {error}", where=file) from None
