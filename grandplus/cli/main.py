"""The way in for your own graph, what the last run came to, and its predictions for single nodes."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from grandplus.cli.import_ import add_import
from grandplus.pipeline import usage
from grandplus.runtime.errors import GrandPlusError

REPORTS = Path("reports")
STAGES = ("download", "preprocess", "gfpush", "train", "infer", "evaluate")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m grandplus", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    commands.add_parser("results", help="print the last run's results").set_defaults(run=_print_results)
    add_import(commands)
    predict = commands.add_parser("predict", help="predict a few nodes, with the exact L1 error of each one's row")
    predict.add_argument("--nodes", required=True, metavar="FILE", help="ids, one a line; - is standard input")
    predict.add_argument("--dataset", help="refuse models of another one")
    predict.set_defaults(run=_predict)
    explain = commands.add_parser("explain", help="print the neighbours that a node's prediction comes from")
    explain.add_argument("node", help="its id")
    explain.set_defaults(run=_explain)
    report = commands.add_parser("report", help="compare runs: a table, and a page with plots in reports/report.html")
    report.add_argument("runs", nargs="*", metavar="RUN", help="an experiment's name or a Git revision; none: this one")
    report.set_defaults(run=_report)
    experiments = commands.add_parser("experiments", help="print all experiments: what differs and what came out")
    experiments.set_defaults(run=_print_experiments)
    arguments = parser.parse_args()
    try:
        arguments.run(arguments)
        sys.stdout.flush()
    except GrandPlusError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # as by | head: what reads has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _predict(arguments: argparse.Namespace) -> None:
    from grandplus.cli.predict import print_predictions  # here, as torch takes a second

    print_predictions(arguments.nodes, arguments.dataset)


def _explain(arguments: argparse.Namespace) -> None:
    from grandplus.cli.explain import print_explanation

    print_explanation(arguments.node)


def _report(arguments: argparse.Namespace) -> None:
    from grandplus.cli.report import print_report  # here, as DVC takes a second

    print_report(arguments.runs)


def _print_experiments(_: argparse.Namespace) -> None:
    from grandplus.cli.experiments import print_experiments

    print_experiments()


def _print_results(_: argparse.Namespace) -> None:
    from grandplus.report.read import parsed
    from grandplus.runtime.yaml_files import read_yaml

    scores, file = REPORTS / "metrics.json", REPORTS / "settings.yaml"
    metrics = parsed(_read(scores), ["val.accuracy.mean", "rows.l1_error.max"], scores)
    if not file.exists():  # metrics are in git, so they are there before anything is run
        raise GrandPlusError("no such file", where=file, fix="run dvc repro first")
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
        raise GrandPlusError("no such file", where=file, fix="run dvc repro first") from None
    except ValueError as error:
        raise GrandPlusError(f"is no text: {error}", where=file, fix="run dvc repro evaluate") from None


if __name__ == "__main__":
    sys.exit(main())
