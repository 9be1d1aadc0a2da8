"""The cards of a checkout as a list: how large each graph is, where it comes from, and the best committed result."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from grandplus.datasets.fetch.fetch import is_at_hand
from grandplus.datasets.source import Expect, Place, Source
from grandplus.evaluation.statistics import Sample
from grandplus.pipeline.card import CATALOG, read_card
from grandplus.pipeline.evaluated import SETTINGS, is_of_reports
from grandplus.pipeline.folders import GRAPH
from grandplus.pipeline.yaml_files import read_yaml
from grandplus.runtime.errors import GrandPlusError

EXPERIMENTS = Path("experiments")
OF_TRIALS = {"dataset", "trial", "validation", "test"}  # columns of a file with results of datasets of the catalog
OF_GRAPHS = {"dataset", "homophily"}
SCALE = "synthetic.scale="


@dataclass(frozen=True)
class Best:
    """Committed trials of the settings with the highest mean accuracy on validation nodes.

    Attributes
    ----------
    test : Sample
        Accuracy on test nodes, as a share.
    settings : str
        The matrix, and what differs from the card.
    file : str
        Where the trials stand.
    """

    test: Sample
    settings: str
    file: str


@dataclass(frozen=True)
class Listed:
    """A card.

    Attributes
    ----------
    dataset, title : str
    nodes, edges, classes, features : int or None
        None where the card does not know.
    homophily : float or None
        Of edges; of a synthetic graph what it is made with.
    here : bool
        Whether its files can be had without a download.
    source : str
        Where they come from.
    licence : str
        Empty where it is not known.
    best : Best or None
    """

    dataset: str
    title: str
    nodes: int | None
    edges: int | None
    classes: int | None
    features: int | None
    homophily: float | None
    here: bool
    source: str
    licence: str
    best: Best | None


def list_cards(root: Path = Path()) -> list[Listed]:
    """All cards of a checkout, by name.

    Parameters
    ----------
    root : Path
        Its top.

    Raises
    ------
    GrandPlusError
        A card is wrong.
    """
    results, shares = best_results(root), _committed_homophily(root) | _of_last_run(root)
    cards = []
    for file in sorted((root / CATALOG).glob("*.yaml")):
        card = read_card(file)
        recipe, size = card.source.synthetic, card.expect or _made(card.source)
        cards.append(
            Listed(
                dataset=file.stem,
                title=card.title,
                nodes=size.nodes if size else None,
                edges=size.edges if size else None,
                classes=size.classes if size else None,
                features=size.features if size else None,
                homophily=recipe.homophily if recipe else shares.get(file.stem),
                here=is_at_hand(card.source),
                source=_origin(card.source),
                licence=card.licence or "",
                best=results.get(file.stem),
            )
        )
    return cards


def best_results(root: Path = Path()) -> dict[str, Best]:
    """The best committed result of each dataset, as the CSV files of experiments have it.

    Which settings are best is told by validation nodes. Compared are those that have the most trials.

    Parameters
    ----------
    root : Path
        The top of the checkout.
    """
    trials: dict[str, dict[tuple[str, str], list[tuple[float, float]]]] = defaultdict(lambda: defaultdict(list))
    for file, row in _rows(root, OF_TRIALS):
        settings = " ".join(row[key] for key in ("matrix", "change") if row.get(key))
        if float(row.get("scale") or 1) == 1 and SCALE not in settings:  # else it is of a smaller graph of its kind
            trials[row["dataset"]][settings, file].append((float(row["validation"]), float(row["test"])))
    best = {}
    for dataset, groups in trials.items():
        most = max(map(len, groups.values()))
        compared = {key: scores for key, scores in groups.items() if len(scores) == most}
        settings, file = max(compared, key=lambda key: _mean_validation(compared[key]))
        test = Sample.of([score for _, score in compared[settings, file]])
        best[dataset] = Best(test, settings, file)
    return best


def _mean_validation(scores: list[tuple[float, float]]) -> float:
    return math.fsum(validation for validation, _ in scores) / len(scores)


def _committed_homophily(root: Path) -> dict[str, float]:
    return {row["dataset"]: float(row["homophily"]) for _, row in _rows(root, OF_GRAPHS)}


def _of_last_run(root: Path) -> dict[str, float]:
    """That of the graph in data/graph, if it is that of the run that the reports are of: their settings name it."""
    from grandplus.evaluation.homophily import homophily
    from grandplus.graph.graph import Graph  # here, as it takes a moment

    if not is_of_reports(GRAPH, root):
        return {}
    try:
        dataset, share = read_yaml(root / SETTINGS)["dataset"], homophily(Graph.load(root / GRAPH)).share
    except (GrandPlusError, KeyError):
        return {}
    return {} if math.isnan(share) else {dataset: share}


def _rows(root: Path, columns: set[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of all CSV files of experiments that have these columns, each with its file."""
    for file in sorted((root / EXPERIMENTS).rglob("*.csv")):
        with file.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            if columns <= set(reader.fieldnames or ()):
                for row in reader:
                    if all(row[column] for column in columns):  # a line that a kill has cut short has not
                        yield file.relative_to(root).as_posix(), row


def _made(source: Source) -> Expect | None:
    """How large a synthetic graph is."""
    recipe = source.synthetic
    if recipe is None:
        return None
    return Expect(nodes=recipe.nodes, edges=recipe.edges, classes=recipe.classes, features=recipe.features)


def _origin(source: Source) -> str:
    """Where files come from, the first public place of several."""
    if source.synthetic:
        return "made"
    return next((name for place in source.places if (name := _public_name(place))), "own files")


def _public_name(place: Place) -> str:
    if place.drive:
        return "Google Drive"
    if place.url:
        return urlsplit(place.url).hostname or place.url
    return f"wheel {place.wheel}" if place.wheel else ""
