"""``python -m grandplus report``: a table for the terminal, and a page for everyone else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grandplus.errors import GrandPlusError
from grandplus.report.comparison import Comparison, compare
from grandplus.report.gather import Run, gather
from grandplus.report.page import page
from grandplus.report.table import percent, points, table, value, with_interval
from grandplus.scratch import finished_whole

PAGE = Path("reports/report.html")


def print_report(names: Sequence[str]) -> None:
    """Print what came out of some runs and whether they differ, and write the page.

    names : of experiments, or Git revisions; none: the workspace

    Raises
    ------
    GrandPlusError : there is no such run, or it has no results.
    """
    if not Path("dvc.yaml").is_file():
        raise GrandPlusError("no such file", where="dvc.yaml", fix="run from the top of the checkout")
    runs = gather(names)
    comparisons = compare([run.accuracy for run in runs], [run.pairs for run in runs])
    with finished_whole(PAGE, alone=True) as partial:
        partial.write_text(page(runs, comparisons), encoding="utf-8")
    print(table([_row(run) for run in runs]))
    if comparisons:
        print()
        print(table([_verdict(of, [run.name for run in runs]) for of in comparisons]))
    print(f"\n{PAGE} has the plots: open it in a browser")


def _row(run: Run) -> dict[str, str]:
    test, val = run.metrics.get("test"), run.metrics["val"]
    ece = (test or val)["ece"]
    return {
        "run": run.name,
        "dataset": run.details["run"]["dataset"],
        "matrix": run.details["run"]["matrix"],
        "trials": str(run.details["run"]["trials"]),
        "settings": " ".join(f"{key}={value(used)}" for key, (_, used) in run.details["changed"].items()),
        "test accuracy": with_interval(test["accuracy"]) if test else "",
        "validation": with_interval(val["accuracy"]),
        "macro-F1": percent(test["macro_f1"]["mean"]) if test else "",
        "ECE": f"{ece['mean']:.3f}",
        "calibrated": f"{ece['calibrated']:.3f}",
        "L1 error": f"{run.metrics['rows']['l1_error']['mean']:.4f}",
    }


def _verdict(of: Comparison, names: Sequence[str]) -> dict[str, str]:
    return {
        "runs": f"{names[of.first]} - {names[of.second]}",
        "points": points(of.test.difference),
        "95 % interval": f"{points(of.test.low)} to {points(of.test.high)}",
        "p": f"{of.test.p:.4f}",
        "corrected": f"{of.corrected:.4f}",
        "compared by": f"{of.trials} pairs of trials" if of.paired else "Welch",
        "so": of.verdict(names),
        "would take": of.would_take,
    }
