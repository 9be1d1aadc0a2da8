"""The report as tables of text."""

from __future__ import annotations

from collections.abc import Sequence

from grandplus.evaluation.formats import points, points_interval
from grandplus.report.comparison import Comparison
from grandplus.report.run import Run
from grandplus.report.scores import score_columns
from grandplus.report.table import table, value


def report_text(runs: Sequence[Run], comparisons: Sequence[Comparison], notes: Sequence[str]) -> str:
    """Write a table of runs, one of their differences, and notes.

    Parameters
    ----------
    runs : sequence of Run
    comparisons : sequence of Comparison
        Of these runs; without any there is no second table.
    notes : sequence of str
        In words, what could not be compared.
    """
    names = [run.name for run in runs]
    tables = [table([_run_row(run) for run in runs])]
    if comparisons:
        tables.append(table([_comparison_row(pair, names) for pair in comparisons]))
    return "\n\n".join([*tables, *notes])


def _run_row(run: Run) -> dict[str, str]:
    return {
        "run": run.name,
        "dataset": run.details["run"]["dataset"],
        "model": run.details["run"]["model"],
        "matrix": run.matrix,
        "trials": str(run.details["run"]["trials"]),
        "settings": " ".join(f"{key}={value(used)}" for key, used in run.settings.items()),
        **score_columns(run.metrics, intervals=True),
    }


def _comparison_row(pair: Comparison, names: Sequence[str]) -> dict[str, str]:
    return {
        "runs": f"{names[pair.first]} - {names[pair.second]}",
        "points": points(pair.test.difference),
        "95 % CI, trials": points_interval(pair.test.interval),
        "p": f"{pair.test.p:.4f}",
        "corrected p": f"{pair.corrected:.4f}",
        "95 % CI, nodes and trials": points_interval(pair.beyond.interval) if pair.beyond else "",
        "corrected p, nodes and trials": f"{pair.corrected_beyond:.4f}" if pair.beyond else "",
        "compared by": pair.by,
        "result": pair.verdict(names),
        "trials needed": pair.would_take,
    }
