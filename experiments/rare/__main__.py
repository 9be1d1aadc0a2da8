"""Class weights and a decision threshold, where one class is fifty times rarer than the rest.

    python -m experiments.rare --files FOLDER

In Pubmed and Amazon Photo all but a few nodes of the largest class are removed, so that there is 1 for 50 others, with
two classes or all. Each trial draws 510 nodes to train on and 510 to validate from all nodes alike, and trains GRAND+
by ``GrandPlusClassifier``'s defaults, without weights and with ``class_weight="balanced"``. Of two classes, the
threshold that validation nodes chose is scored beside the more probable class. Resumable: finished trials are kept in
trials.csv. Writes table.md and rare.png.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, precision_score, recall_score, roc_auc_score

from experiments.notes import note, read_notes, write_page
from experiments.rare.problems import WATCHED, Problem, problems
from grandplus import DiagnosisWarning, GrandPlusClassifier
from grandplus.evaluation.figures import save
from grandplus.evaluation.formats import points_interval
from grandplus.evaluation.scored import both_rules
from grandplus.evaluation.statistics import Difference, Sample, overlap_of_splits, paired
from grandplus.pipeline.ending import ending

FOLDER = Path(__file__).parent
WEIGHTS = ("null", "balanced")
PLAIN, THRESHOLD = "most probable", "threshold"
SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "recall": "recall of the rare class",
    "precision": "its precision",
    "average_precision": "its average precision",
    "auroc": "its AUROC, times 100",
}
SHOWN = ("accuracy", "balanced_accuracy", "recall", "precision", "average_precision")
KEY = ("problem", "class_weight", "rule", "trial")
Row = dict[str, Any]


def trial_rows(name: str, problem: Problem, weight: str, trial: int) -> list[Row]:
    """Train a trial, and score each rule on its test nodes."""
    train, val, test = problem.split(trial)
    known = problem.y.astype(object)
    known[test] = None
    classifier = GrandPlusClassifier(class_weight=None if weight == "null" else weight, random_state=trial)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DiagnosisWarning)
        classifier.fit(problem.edges, problem.X, known, train=train, val=val)
    probabilities, classes = classifier.predict_proba(test), classifier.classes_.tolist()
    rules = {PLAIN: probabilities.argmax(axis=1)}
    if classifier.calibration_.decision_threshold is not None:
        rules[THRESHOLD] = both_rules(probabilities, classifier.calibration_.decision_threshold)[1]
    rare = probabilities[:, classes.index(problem.rare)]
    row = {"problem": name, "class_weight": weight, "trial": trial, "test": len(test)}
    named = np.array(classes)
    return [
        row | {"rule": rule} | scores_of(problem.y[test], named[predicted], rare, problem.rare)
        for rule, predicted in rules.items()
    ]


def scores_of(y: NDArray[Any], predicted: NDArray[Any], shares: NDArray[np.float32], rare: str) -> dict[str, float]:
    """The scores of some nodes; shares are the probabilities of the rare class."""
    of_it = y == rare
    scores = {
        "accuracy": (y == predicted).mean(),
        "balanced_accuracy": recall_score(y, predicted, labels=np.unique(y), average="macro", zero_division=0),
        "recall": (predicted == rare)[of_it].mean(),
        "precision": precision_score(of_it, predicted == rare, zero_division=0),
        "average_precision": average_precision_score(of_it, shares),
        "auroc": roc_auc_score(of_it, shares),
    }
    return {name: round(float(score), 4) for name, score in scores.items()}


def table(rows: list[Row]) -> str:
    """Markdown: the means of each choice, and its differences from no weights and the most probable class."""
    lines = []
    for name in dict.fromkeys(row["problem"] for row in rows):
        own = [row for row in rows if row["problem"] == name]
        choices = sorted({(row["class_weight"], row["rule"]) for row in own}, key=lambda choice: choice[::-1])
        choices.sort(key=lambda choice: (choice[1] != PLAIN, choice[0] != "null"))
        trials = len({row["trial"] for row in own})
        lines += [f"{name}, {trials} trials, {float(own[0]['test']):,.0f} test nodes:", ""]
        lines += [
            "| class_weight | predicted | " + " | ".join(SCORES.values()) + " |",
            "|---" * (2 + len(SCORES)) + "|",
        ]
        for weight, rule in choices:
            cells = [cell(own, (weight, rule), score) for score in SCORES]
            lines.append(f"| {weight} | {rule} | " + " | ".join(cells) + " |")
        lines.append("")
    lines.append(
        "Below a mean: points more than without weights, with a paired 95 % interval, widened as splits share nodes."
    )
    return "\n".join(lines) + "\n"


def cell(rows: list[Row], choice: tuple[str, str], score: str) -> str:
    """A mean, and its difference from that of no weights and the most probable class."""
    sample = Sample.of(values(rows, choice, score))
    text = f"{100 * sample.mean:.1f} ± {100 * sample.std:.1f}"
    if choice == ("null", PLAIN):
        return text
    gain = difference(rows, choice, score)
    return f"{text}<br>{100 * gain.difference:+.1f}, {points_interval(gain.interval)}"


def difference(rows: list[Row], choice: tuple[str, str], score: str) -> Difference:
    """Trial by trial, with the variance of splits that share nodes."""
    overlap = overlap_of_splits(train=WATCHED, test=int(rows[0]["test"]))
    return paired(values(rows, choice, score), values(rows, ("null", PLAIN), score), overlap=overlap)


def values(rows: list[Row], choice: tuple[str, str], score: str) -> list[float]:
    """A score of each trial, in their order."""
    own = [row for row in rows if (row["class_weight"], row["rule"]) == choice]
    return [float(row[score]) for row in sorted(own, key=lambda row: int(row["trial"]))]


def plot(rows: list[Row], file: Path) -> None:
    """What each choice gains, a panel for each problem."""
    names = list(dict.fromkeys(row["problem"] for row in rows))
    figure, axes = plt.subplots(1, len(names), figsize=(4.2 * len(names), 4.2), layout="constrained", sharey=True)
    for axis, name in zip(np.atleast_1d(axes), names, strict=True):
        own = [row for row in rows if row["problem"] == name]
        choices = {(row["class_weight"], row["rule"]) for row in own} - {("null", PLAIN)}
        for number, choice in enumerate(sorted(choices)):
            gains = [difference(own, choice, score) for score in SHOWN]
            means = [100 * gain.difference for gain in gains]
            halves = [100 * (gain.high - gain.low) / 2 for gain in gains]
            places = np.arange(len(SHOWN)) + 0.2 * (number - (len(choices) - 1) / 2)
            axis.errorbar(places, means, yerr=halves, fmt="o", capsize=3, label=f"{choice[0]}, {choice[1]}")
        axis.axhline(0, color="gray", lw=0.8)
        axis.set_xticks(range(len(SHOWN)), [SCORES[score] for score in SHOWN], rotation=35, ha="right")
        axis.set(title=name)
        axis.grid(axis="y", alpha=0.3)
        axis.legend(frameon=False, fontsize=8)
    np.atleast_1d(axes)[0].set_ylabel("points more than without")
    save(figure, file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=10, help="at least 2")
    parser.add_argument("--files", type=Path, required=True, help="folder with graphdata/amazon_photo.npz")
    chosen = parser.parse_args()
    return ending(lambda: make(max(chosen.trials, 2), chosen.files))


def make(trials: int, files: Path) -> None:
    """Complete the trials, and write the table and the picture."""
    kept = FOLDER / "trials.csv"
    for name, load in problems(files).items():
        rows = read_notes(kept)
        done = {(row["problem"], row["class_weight"], int(row["trial"])) for row in rows if row["rule"] == PLAIN}
        missing = [(w, trial) for trial in range(trials) for w in WEIGHTS if (name, w, trial) not in done]
        problem = load() if missing else None
        for weight, trial in missing:
            assert problem is not None
            for row in reversed(trial_rows(name, problem, weight, trial)):  # the plain one marks the end
                note(kept, {column: str(row[column]) for column in (*KEY, "test", *SCORES)}, KEY)
    rows = sorted(read_notes(kept), key=lambda row: list(problems(files)).index(row["problem"]))
    write_page(FOLDER / "table.md", table(rows))
    plot(rows, FOLDER / "rare.png")
    print(table(rows))


if __name__ == "__main__":
    sys.exit(main())
