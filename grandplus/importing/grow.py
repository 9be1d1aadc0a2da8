"""Nodes and edges that came later -> a new version of an imported dataset: its card names their files, too."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from grandplus.datasets.growth.files import ReadGrowth, read_growth
from grandplus.datasets.raw import read
from grandplus.evaluation.homophily import homophily
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits
from grandplus.importing.gather import origins_of, places_of
from grandplus.importing.report import classes_text, homophily_text
from grandplus.pipeline.card import CATALOG, card_file, write_card
from grandplus.pipeline.files import get_files
from grandplus.pipeline.folders import DATA
from grandplus.pipeline.graphs import make_graph, merged_version
from grandplus.pipeline.preflight import check_resources
from grandplus.pipeline.settings import Settings, settings_of_card
from grandplus.pipeline.yaml_files import yaml_text
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.sums import sha256


def grow_dataset(name: str, nodes: Path, edges: Path, features: Path | None = None) -> str:
    """Write ``data/catalog/<name>.yaml`` anew, with the files of nodes and edges that came later.

    Every run then merges them with the files that the card had. Old nodes keep their rows, and new ones follow. The
    card keeps all its choices, and classes, the scaling of features and the parts of old nodes stay as they were. New
    nodes with a label are for test.

    Parameters
    ----------
    name : str
        Of a dataset with a card.
    nodes, edges, features : Path
        See `grandplus.datasets.growth.files.read_growth`.

    Returns
    -------
    str
        What was understood, in lines.

    Raises
    ------
    GrandPlusError
        There is no such card, the files of the dataset can't be had, or the later ones don't go with them; then nothing
        is written.
    """
    card = card_file(Path(), name, "--grow")
    section, text = _section(nodes, edges, features), yaml_text(card)
    before = settings_of_card(text, name)
    with tempfile.TemporaryDirectory() as raw:
        get_files(before, Path(raw), report=lambda _: None)
        base, splits = make_graph(read(Path(raw), before.source, CATALOG), before, Path(raw))
        found = read_growth(base, nodes, edges, features, before.source.read)
    facts = found.graph.facts
    if not facts["nodes"] and not facts["edges"]:
        raise GrandPlusError("add nothing", where=f"{nodes}, {edges}", expected="a new node or a new edge")
    graph, splits = merged_version(found.graph, splits, before)
    text = _grown_card(text, section, graph.facts)
    after = settings_of_card(text, name)
    check_resources(after, DATA)
    staged = write_card(card, text)
    in_git = "staged in git" if staged else "not staged in git: git add it"
    return "\n".join(
        [
            *_report(base, found, graph, splits, after),
            f"{'card':<9} {card}, {in_git}",
            f"{'next':<9} git add {card} && git commit -m 'Dataset {name} has grown' {card}",
            f"{'':<9} dvc exp run -S dataset={name}",
            f"{'or':<9} dvc exp run -S dataset={name} -S train.from=RUN, to start from the models of an earlier run",
        ]
    )


def _section(nodes: Path, edges: Path, features: Path | None) -> dict[str, Any]:
    """What the card says of the files."""
    roles = {"nodes": nodes, "edges": edges} | ({} if features is None else {"features": features})
    for role, file in roles.items():
        if not file.is_file():
            raise GrandPlusError("no such file", where=file, expected=f"a file of {role}")
    origins = origins_of(roles.values())
    return {
        **{role: file.name for role, file in roles.items()},
        "files": {file: sha256(origin) for file, origin in origins.items()},
        "places": places_of(origins, Path()),
    }


def _grown_card(text: str, section: dict[str, Any], facts: dict[str, int]) -> str:
    """The text of a card with a further section of what came later, and the counts of the merged graph.

    Comments stay: the loader for round trips makes nothing but mappings, lists, numbers and text.
    """
    yaml = YAML(typ="rt", pure=True)
    yaml.width, yaml.preserve_quotes = 1000, True
    card = yaml.load(text)
    source = card["source"]
    if "grown" not in source:
        keys = list(source)
        source.insert(keys.index("places") if "places" in keys else len(keys), "grown", [])
    source["grown"].append(section)
    for key, count in (card.get("expect") or {}).items():
        card["expect"][key] = None if count is None else facts[key]
    out = io.StringIO()
    yaml.dump(card, out)
    return out.getvalue()


def _report(base: Graph, found: ReadGrowth, graph: Graph, splits: Splits, settings: Settings) -> list[str]:
    facts, split, new = found.graph.facts, splits.of(0), found.graph.new_labels
    known = int((new >= 0).sum())
    lines = {
        "grown": f"from {base.facts['nodes']:,} nodes and {base.facts['edges']:,} edges",
        **found.account,
        "unknown": f"{facts['unknown_degrees']:,} nodes have a number of neighbours that no node had before"
        if facts["unknown_degrees"]
        else "",
        "nodes": f"{graph.facts['nodes']:,}; the old ones have the rows that they had, and the new ones follow",
        "edges": f"{graph.facts['edges']:,}",
        "homophily": homophily_text(homophily(graph), directed=not graph.adjacency.symmetric),
        "classes": classes_text(graph),
        "features": f"{graph.facts['features']:,}, {settings.preprocess.features} as it was fitted before",
        "split": f"old nodes stay in their parts; of the new ones {known:,} with a label are for test, and "
        f"{len(new) - known:,} have none: {len(split.train):,} nodes train, {len(split.val):,} validate, "
        f"{len(split.test):,} test",
    }
    return [f"{head:<9} {text}" for head, text in lines.items() if text]
