"""``grandplus results``: what the last run came to."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from grandplus.pipeline import usage
from grandplus.runtime.errors import ArtifactError
from grandplus.runtime.yaml_files import read_yaml

REPORTS = Path("reports")
STAGES = ("download", "preprocess", "gfpush", "train", "infer", "evaluate")


def add(commands: Any) -> None:
    """Add the verb to the parser's commands."""
    commands.add_parser("results", help="the results of the last run").set_defaults(run=run)


def run(_: argparse.Namespace) -> None:
    """Print the scores of the last run, and where its files are.

    Raises
    ------
    ArtifactError
        There are no results, or they are damaged.
    """
    from grandplus.report.read import parsed

    scores, file = REPORTS / "metrics.json", REPORTS / "settings.yaml"
    metrics = parsed(_read(scores), ["val.accuracy.mean", "rows.l1_error.max"], scores)
    if not file.exists():  # metrics are in git, so they are there before anything is run
        raise ArtifactError("no such file", where=file)
    settings = read_yaml(file)
    test, val, error = metrics.get("test"), metrics["val"], metrics["rows"]["l1_error"]
    trials = f"{settings['trials']} trial{'s' * (settings['trials'] > 1)}"
    lines = {"dataset, matrix": f"{settings['dataset']}, {settings['matrix']}, {trials}"}
    if test:
        lines["test accuracy"] = _accuracy(test["accuracy"])
    lines["validation accuracy"] = _accuracy(val["accuracy"])
    if test:
        lines["test macro-F1"] = f"{100 * test['macro_f1']['mean']:.2f} %"
    lines |= {
        "row L1 error": f"mean {error['mean']:.4f}, max {error['max']:.4f}",
        "predictions": "data/predictions/predictions.parquet",
        "plots": "reports/plots/*.png",
        "settings, scores": "reports/settings.yaml, metrics.json, per_class.json",
        "seconds, as last run": _seconds(),
    }
    width = max(map(len, lines))
    for name, value in lines.items():
        print(f"{name:<{width}}  {value}")


def _accuracy(scores: dict[str, float]) -> str:
    mean = f"{100 * scores['mean']:.2f} %"
    if "std" not in scores:
        return mean
    return f"{mean} ± {100 * scores['std']:.2f} (95 % interval of the mean: ± {100 * scores['ci95']:.2f})"


def _seconds() -> str:
    took = usage.read(usage.LAST)
    if not took:
        return "not measured here: the results came from the cache"
    return ", ".join(f"{stage} {took[stage]['seconds']:.1f}" for stage in STAGES if stage in took)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ArtifactError("no such file", where=file) from None
    except ValueError as error:
        raise ArtifactError(f"is no text: {error}", where=file) from None
