"""The report as one HTML file: no script, no font and no picture from elsewhere, so it opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from grandplus.report import charts, overlays
from grandplus.report.comparison import Comparison
from grandplus.report.gather import Run
from grandplus.report.table import percent, points, value, with_interval

STAGES = ("download", "preprocess", "gfpush", "train", "infer", "evaluate")
FACTS = {"merged_duplicates": "duplicate edges merged", "unlabelled_nodes": "nodes without a label"}


def page(runs: Sequence[Run], comparisons: Sequence[Comparison], missing: Sequence[str] = ()) -> str:
    """The same runs give the same bytes.

    missing : in words, what could not be compared
    """
    templates = Environment(
        loader=PackageLoader("grandplus.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {"percent": percent, "points": points, "value": value, "with_interval": with_interval}
    return templates.get_template("page.html.jinja").render(
        runs=runs,
        names=[run.name for run in runs],
        comparisons=comparisons,
        missing=missing,
        charts=charts,
        overlays=overlays,
        facts_of=_facts,
        took=_took,
    )


def _facts(run: Run) -> dict[str, str]:
    """Of its graph, as words and numbers."""
    graph = run.details["graph"] | {f"nodes to {what}": count for what, count in _parts(run).items()}
    named = {FACTS.get(key, key.replace("_", " ")): count for key, count in graph.items()}
    return {key: f"{count:,}" if isinstance(count, int | float) else str(count) for key, count in named.items()}


def _parts(run: Run) -> dict[str, int]:
    names = {"train": "train on", "val": "validate on", "test": "test on", "unlabelled": "learn from unlabelled (U′)"}
    return {names[part]: count for part, count in run.details["parts"].items()}


def _took(run: Run) -> list[dict[str, Any]]:
    """What each stage took, with its share of the most that any did; nothing of a stage that came from the cache."""
    known = [run.resources[stage] for stage in STAGES if stage in run.resources]
    seconds = max((taken["seconds"] for taken in known), default=0) or 1
    memory = max((taken["memory"] for taken in known), default=0) or 1
    shares = {
        stage: {"share_seconds": 100 * taken["seconds"] / seconds, "share_memory": 100 * taken["memory"] / memory}
        for stage, taken in run.resources.items()
    }
    return [{"stage": stage, "taken": run.resources.get(stage), **shares.get(stage, {})} for stage in STAGES]
