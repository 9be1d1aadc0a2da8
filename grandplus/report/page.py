"""The report as one HTML file: no script, no font and no picture from elsewhere, so it opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from grandplus.evaluation.formats import points, points_interval
from grandplus.evaluation.metrics import METRICS
from grandplus.pipeline.usage import STAGES
from grandplus.report import charts, overlays
from grandplus.report.baselines import baseline_rows, difference_line
from grandplus.report.comparison import Comparison
from grandplus.report.run import Run
from grandplus.report.scores import score_columns
from grandplus.report.table import value

FACTS = {  # in their order; what is not here follows
    "nodes": "nodes",
    "edges": "edges",
    "mean_degree": "mean degree",
    "classes": "classes",
    "features": "features",
    "merged_duplicates": "duplicate edges merged",
    "dropped_self_loops": "self-loops dropped",
    "zero_weights": "entries of weight 0, which are no edges",
    "differing_weights": "edges with several weights, of which the largest counts",
    "weighted_self_loops": "self-loops with a weight",
    "isolated_nodes": "nodes without an edge",
    "unlabelled_nodes": "nodes without a label",
    "zero_feature_rows": "nodes without a feature",
}


def page(runs: Sequence[Run], comparisons: Sequence[Comparison], notes: Sequence[str] = ()) -> str:
    """Write the report as HTML; the same runs give the same bytes.

    Parameters
    ----------
    runs : sequence of Run
    comparisons : sequence of Comparison
        Of these runs.
    notes : sequence of str
        In words, what could not be compared.
    """
    templates = Environment(
        loader=PackageLoader("grandplus.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"points": points, "points_interval": points_interval, "value": value}
    return templates.get_template("page.html.jinja").render(
        runs=runs,
        names=[run.name for run in runs],
        comparisons=comparisons,
        notes=notes,
        charts=charts,
        overlays=overlays,
        facts_of=_facts,
        meanings={metric.name(part): metric.meaning for metric in METRICS for part in metric.in_tables},
        scores=[score_columns(run.metrics, intervals=True) for run in runs],
        stages=_stages,
        baseline_rows=baseline_rows,
        difference_line=difference_line,
    )


def _facts(run: Run) -> dict[str, str]:
    """Facts of its graph, as words and numbers."""
    graph = run.details["graph"] | {f"nodes to {what}": count for what, count in _parts(run).items()}
    ordered = [*(key for key in FACTS if key in graph), *(key for key in graph if key not in FACTS)]
    named = {FACTS.get(key, key.replace("_", " ")): graph[key] for key in ordered}
    return {key: f"{count:,}" if isinstance(count, int | float) else str(count) for key, count in named.items()}


def _parts(run: Run) -> dict[str, int]:
    names = {"train": "train on", "val": "validate on", "test": "test on"}
    if run.matrix:  # else the method uses no unlabelled nodes
        names["unlabelled"] = "learn from unlabelled (U′)"
    return {name: run.details["parts"][part] for part, name in names.items()}


def _stages(run: Run) -> list[dict[str, Any]]:
    """What each stage took, and its share of the most that any took; a stage from the cache took nothing."""
    known = [run.resources[stage] for stage in STAGES if stage in run.resources]
    seconds = max((taken["seconds"] for taken in known), default=0) or 1
    memory = max((taken["memory"] for taken in known), default=0) or 1
    shares = {
        stage: {"share_seconds": 100 * taken["seconds"] / seconds, "share_memory": 100 * taken["memory"] / memory}
        for stage, taken in run.resources.items()
    }
    return [{"stage": stage, "taken": run.resources.get(stage), **shares.get(stage, {})} for stage in STAGES]
