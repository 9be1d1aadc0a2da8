"""What all earlier stages but download have left -> reports: metrics, plots and the settings behind them."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from ruamel.yaml import YAML

from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.pipeline.evaluated import REPORTS, list_reports
from grandplus.pipeline.folders import BASELINES, GRAPH, MODEL, PREDICTIONS, ROWS, output
from grandplus.pipeline.settings import PLAIN, Settings, resolve
from grandplus.pipeline.stage import run
from grandplus.propagation.rows import Rows
from grandplus.runtime.storage import finished_whole


def work(settings: Settings) -> None:
    from grandplus.evaluation.baselines.table import load_scores
    from grandplus.evaluation.details import details, overlap_of
    from grandplus.evaluation.diagnosis.facts import facts_of_run
    from grandplus.evaluation.diagnosis.finding import lines_of, to_json
    from grandplus.evaluation.diagnosis.rules import diagnose
    from grandplus.evaluation.per_class import per_class
    from grandplus.evaluation.plots import write_plots
    from grandplus.evaluation.scored import judged_by, load_ensemble, load_predictions, load_rankings
    from grandplus.evaluation.summary import summarize
    from grandplus.methods.files import info_of
    from grandplus.prediction.calibration import CALIBRATION, Calibration

    with output("evaluate", settings, sums=False) as plots:
        predictions = load_predictions(PREDICTIONS)
        graph, rows = Graph.load(GRAPH), Rows.load(ROWS) if settings.needs_rows else None
        classes = graph.classes
        history = pa.concat_tables(pq.read_table(file) for file in sorted(MODEL.glob("history-*.parquet")))
        title = f"{settings.dataset}, {settings.matrix.name if settings.needs_rows else settings.model}"
        write_plots(plots, title=title, history=history, predictions=predictions, classes=classes)
    _write(REPORTS / "settings.yaml", _yaml(settings.flat()))
    rankings = load_rankings(PREDICTIONS, list(dict.fromkeys([judged_by(predictions), "val"])))
    _write(REPORTS / "per_class.json", _json(per_class(predictions, classes, rankings)))
    run = {key: value for key, value in settings.flat().items() if key in PLAIN}
    of_run = {"splits": Splits.load(GRAPH), "rows": rows, "history": history, "predictions": predictions}
    content = details(run, resolve().changed, graph=graph, **of_run)
    _write(REPORTS / "details.json", _compact(content))
    baselines = load_scores(BASELINES)
    best_steps = [info_of(file)["best_step"] for file in sorted(MODEL.glob("trial-*.safetensors"))]
    facts = facts_of_run(run, graph=graph, settings=settings.train, best_steps=best_steps, **of_run)
    findings = diagnose(facts.with_baselines(baselines))
    _write(REPORTS / "diagnosis.json", _json(to_json(findings)))
    decision = Calibration.load(PREDICTIONS / CALIBRATION).decision_threshold
    ensemble = load_ensemble(PREDICTIONS / "predictions.parquet", decision)
    l1_error = None if rows is None else rows.l1_error
    of_run = {"l1_error": l1_error, "ensemble": ensemble, "baselines": baselines, "rankings": rankings}
    metrics = summarize(predictions, classes, overlap=overlap_of(content), **of_run)
    _write(REPORTS / "metrics.json", _json(metrics))
    list_reports()
    print("diagnosis:", *lines_of(findings), sep="\n  ")


def _write(file: Path, text: str) -> None:
    with finished_whole(file, alone=True) as partial:
        partial.write_text(text, encoding="utf-8")


def _json(content: Any) -> str:
    return json.dumps(content, indent=2) + "\n"


def _compact(content: dict[str, Any]) -> str:
    """A line for each key: the lists in it are for programs."""
    return "{\n" + ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()) + "\n}\n"


def _yaml(content: Any) -> str:
    text = StringIO()
    YAML(typ="safe", pure=True).dump(content, text)
    return text.getvalue()


if __name__ == "__main__":
    run("evaluate", work)
