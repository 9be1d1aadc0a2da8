"""data/predictions, data/model, data/rows, data/graph -> reports: metrics, plots and the settings behind them."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from ruamel.yaml import YAML

from grandplus.graph import Graph
from grandplus.propagation.rows import Rows
from grandplus.scratch import finished_whole, key_of, scratch
from grandplus.settings import CATALOG, Settings, read_card
from grandplus.splits import Splits
from stages.common import run
from stages.folders import checked

GRAPH, ROWS, MODEL, PREDICTIONS = (Path("data") / name for name in ("graph", "rows", "model", "predictions"))
REPORTS = Path("reports")


def work(settings: Settings) -> None:
    from grandplus.evaluation.details import details
    from grandplus.evaluation.metrics import load_predictions, per_class, score_predictions, summarize
    from grandplus.evaluation.plots import write_plots

    of = [checked(GRAPH), checked(ROWS), checked(MODEL), checked(PREDICTIONS)]
    predictions = load_predictions(PREDICTIONS)
    graph, rows = Graph.load(GRAPH), Rows.load(ROWS)
    classes = graph.classes
    history = pa.concat_tables(pq.read_table(file) for file in sorted(MODEL.glob("history-*.parquet")))
    title = f"{settings.dataset}, {settings.matrix}"
    with scratch("evaluate", key_of(title=title, of=of), REPORTS / "plots") as folder:
        write_plots(folder, title=title, history=history, predictions=predictions, classes=classes)
    _write(REPORTS / "settings.yaml", _yaml(settings.model_dump(exclude={"source", "expect"})))
    _write(REPORTS / "per_class.json", _json(per_class(predictions, classes)))
    card, splits = read_card(CATALOG / f"{settings.dataset}.yaml"), Splits.load(GRAPH)
    found = details(settings, card, graph=graph, splits=splits, rows=rows, history=history, predictions=predictions)
    _write(REPORTS / "details.json", _compact(found))
    metrics = summarize(predictions, rows.l1_error, classes)
    answers = {"predictions": score_predictions(PREDICTIONS / "predictions.parquet")}
    _write(REPORTS / "metrics.json", _json(metrics | answers))


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
