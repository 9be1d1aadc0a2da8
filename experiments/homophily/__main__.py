"""From which adjusted homophily on do edges help? The threshold of import, chosen on half of the graphs.

    python -m experiments.homophily --files FOLDER

On each graph of experiments/defaults that has features of its own, logistic regression on ΠX (avg, N = 4) is compared
with logistic regression on X, which looks at no edge. Each has five trials on splits of 20 and 30 nodes a class. Of the
choosing half, the threshold lies in the gap that tells best where edges help; the other half shows whether it does so
there. Resumable: graphs that are done are kept in graphs.csv. Writes table.md and homophily.png.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

from experiments.defaults.graphs import CHOOSING, MADE, SHOWN, UNLIKE_NEIGHBOURS, WORDS_OF_NODES, Given
from experiments.notes import note, read_notes, write_page
from grandplus.datasets.preprocess import preprocess
from grandplus.evaluation.baselines.scores import score_baselines
from grandplus.evaluation.diagnosis.of_graph import LOW_HOMOPHILY
from grandplus.evaluation.figures import save
from grandplus.evaluation.formats import points_interval
from grandplus.evaluation.homophily import homophily
from grandplus.evaluation.statistics import Interval, paired
from grandplus.pipeline.ending import ending
from grandplus.propagation.matrices import Average

FOLDER = Path(__file__).parent
TRIALS = 5
WITHOUT, WITH = BOTH = "logistic_regression", "propagated_logistic_regression"
Row = dict[str, Any]


def graphs() -> list[tuple[str, Given]]:
    """The graphs with features of their own, each with its half."""
    own = [*WORDS_OF_NODES, *UNLIKE_NEIGHBOURS, *MADE]
    own = [given for given in own if dict(given.say).get("features") is None]
    return [("choosing" if given in CHOOSING else "shown", given) for given in own if given in [*CHOOSING, *SHOWN]]


def measured(half: str, given: Given, files: Path) -> Row:
    """The homophily of a graph, and what edges gain on it."""
    raw, settings = given.load(files)
    few = settings.model_copy(update={"shortage": "shrink"})
    graph, splits = preprocess(raw, few, seed=0, trials=TRIALS, name=given.name)
    each = [splits.of(trial) for trial in range(TRIALS)]
    scores = score_baselines(graph, each, weights=Average(order=4).weights(), rmax=1e-5, top_k=256)
    accuracy = {name: [float(score.test_accuracy or 0) for score in scores if score.baseline == name] for name in BOTH}
    gain, found = paired(accuracy[WITH], accuracy[WITHOUT]), homophily(graph)
    return {
        "graph": given.name,
        "half": half,
        "edges": found.edges,
        "homophily": f"{found.share:.4f}",
        "adjusted": f"{found.adjusted:.4f}",
        "without": f"{np.mean(accuracy[WITHOUT]):.4f}",
        "with": f"{np.mean(accuracy[WITH]):.4f}",
        "low": f"{gain.low:.4f}",
        "high": f"{gain.high:.4f}",
    }


def threshold(rows: list[Row]) -> tuple[float, float]:
    """The gap of the choosing half that tells best where edges help; the lower of equals."""
    chosen = sorted((float(row["adjusted"]), helped(row)) for row in rows if row["half"] == "choosing")
    ends = [-1.0, *(adjusted for adjusted, _ in chosen), 1.0]
    right = [sum(helps == (adjusted >= high) for adjusted, helps in chosen) for high in ends[1:]]
    best = int(np.argmax(right))
    return ends[best], ends[best + 1]


def helped(row: Row) -> bool:
    """Whether edges gain something beyond the 95 % interval of five trials."""
    return float(row["low"]) > 0


def table(rows: list[Row]) -> str:
    """Markdown: the graphs of each half by their adjusted homophily, and how often the threshold is right."""
    low, high = threshold(rows)
    lines = []
    for half in ("choosing", "shown"):
        own = sorted((row for row in rows if row["half"] == half), key=lambda row: float(row["adjusted"]))
        right = sum(helped(row) == (float(row["adjusted"]) >= LOW_HOMOPHILY) for row in own)
        lines += [f"The {half} half, {right} of {len(own)} as the threshold of {LOW_HOMOPHILY:g} says:", ""]
        lines += ["| graph | edge homophily | adjusted | on X | on ΠX | points that edges gain, 95 % CI |"]
        lines += ["|---|---|---|---|---|---|"]
        lines += [_line(row) for row in own] + [""]
    lines.append(f"On the choosing half every threshold above {low:.2f} and up to {high:.2f} is right most often.")
    return "\n".join(lines) + "\n"


def _line(row: Row) -> str:
    without, with_edges = float(row["without"]), float(row["with"])
    interval = points_interval(Interval(float(row["low"]), float(row["high"])))
    cells = [row["graph"], f"{float(row['homophily']):.2f}", f"{float(row['adjusted']):.2f}"]
    cells += [f"{100 * without:.1f} %", f"{100 * with_edges:.1f} %", f"{100 * (with_edges - without):+.1f}, {interval}"]
    return f"| {' | '.join(cells)} |"


def plot(rows: list[Row], file: Path) -> None:
    """What edges gain, over the adjusted homophily."""
    figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
    for half, marker in (("choosing", "o"), ("shown", "s")):
        own = [row for row in rows if row["half"] == half]
        gains = [100 * (float(row["with"]) - float(row["without"])) for row in own]
        limits = [[100 * float(row[name]) for row in own] for name in ("low", "high")]
        errors = np.abs(np.array(limits) - gains)
        axis.errorbar([float(row["adjusted"]) for row in own], gains, yerr=errors, fmt=marker, capsize=2, label=half)
    axis.axhline(0, color="gray", lw=0.8)
    axis.axvline(LOW_HOMOPHILY, color="gray", ls="--", lw=0.8)
    axis.set(xlabel="adjusted homophily", ylabel="points that edges gain, with 95 % intervals")
    axis.legend(frameon=False)
    axis.grid(alpha=0.3)
    save(figure, file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=Path, required=True, help="folder with cases/NAME/ and graphdata/NAME.npz")
    files = parser.parse_args().files
    return ending(lambda: make(files))


def make(files: Path) -> None:
    """Complete the graphs, and write the table and the picture."""
    kept = FOLDER / "graphs.csv"
    for half, given in graphs():
        if given.name not in {row["graph"] for row in read_notes(kept)} and given.present(files):
            note(kept, measured(half, given, files), ("graph",))
    rows = read_notes(kept)
    write_page(FOLDER / "table.md", table(rows))
    plot(rows, FOLDER / "homophily.png")
    print(table(rows))


if __name__ == "__main__":
    sys.exit(main())
