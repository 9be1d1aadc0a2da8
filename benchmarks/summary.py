"""The ratios of a run of all benchmarks beside those of the last release, so that a slower commit is seen."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent
SLOWER = 1.2  # times; repeats on a shared host differ by less, mostly
Measure = tuple[str, str, str]  # benchmark, case, name of the ratio


class Ratio(NamedTuple):
    what: str
    more_is_better: bool


RATIOS = {
    "to_hash_map": Ratio("rows a second, to a push with hash maps", True),
    "to_floor": Ratio("time of a row, to that of its pushes alone", False),
    "to_scipy": Ratio("speed of exact products, to scipy", True),
    "to_torch": Ratio("speed of exact products, to PyTorch", True),
    "times_faster": Ratio("speed of a training step, to plain PyTorch", True),
    "speed_up": Ratio("speed of a training on two cores, to one", True),
    "to_plain": Ratio("speed of one prediction, to rows and models step by step", True),
    "to_plain_trial": Ratio("speed of a whole trial, to hash maps, plain PyTorch and scipy", True),
    "to_reference": Ratio("time of a step with 2.78 million features, to 28,000", False),
}


def add_run(lines: Iterable[dict[str, Any]], version: str, folder: Path = FOLDER) -> str:
    """Note a run's ratios in ``summary.csv``, in place of this version's earlier ones, and write ``summary.md``.

    Parameters
    ----------
    lines : iterable of dict
        What the benchmarks printed. Of the repeats of a case the median counts.
    version : str
        Of GRAND+.
    folder : Path
        That has both files, or will have them.

    Returns
    -------
    str
        The table, as Markdown.
    """
    file = folder / "summary.csv"
    versions = _read(file) if file.exists() else {}
    versions[version] = versions.pop(version, {}) | _medians(lines)
    with file.open("w", newline="", encoding="utf-8") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(("version", "benchmark", "case", "ratio", "value"))
        for name, ratios in versions.items():
            table.writerows((name, *measure, f"{value:.3g}") for measure, value in ratios.items())
    text = _markdown(versions)
    (folder / "summary.md").write_text(text, encoding="utf-8")
    return text


def _medians(lines: Iterable[dict[str, Any]]) -> dict[Measure, float]:
    measured: dict[Measure, list[float]] = {}
    for line in lines:
        case = line.get("case") or line.get("dataset") or ""
        for ratio in RATIOS:
            if isinstance(line.get(ratio), float):
                measured.setdefault((line["benchmark"], case, ratio), []).append(line[ratio])
    return {measure: median(values) for measure, values in measured.items()}


def _read(file: Path) -> dict[str, dict[Measure, float]]:
    """The ratios of each version, the latest one last."""
    versions: dict[str, dict[Measure, float]] = {}
    with file.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            measure = (row["benchmark"], row["case"], row["ratio"])
            versions.setdefault(row["version"], {})[measure] = float(row["value"])
    return versions


def _markdown(versions: dict[str, dict[Measure, float]]) -> str:
    """The last version's ratios, and those of the one before it."""
    *earlier, today = versions
    released = earlier[-1] if earlier else "none"
    lines = [f"| | case | today ({today}) | last release ({released}) | |", "|---|---|---|---|---|"]
    for measure, value in versions[today].items():
        _, case, name = measure
        then = versions.get(released, {}).get(measure)
        then_text, mark = ("", "") if then is None else (f"{then:.3g}", _mark(RATIOS[name], value, then))
        lines.append(f"| {RATIOS[name].what} | {case} | {value:.3g} | {then_text} | {mark} |")
    return "\n".join(lines) + "\n"


def _mark(ratio: Ratio, value: float, then: float) -> str:
    slowdown = then / value if ratio.more_is_better else value / then
    return "slower" if slowdown > SLOWER else "faster" if slowdown < 1 / SLOWER else ""
