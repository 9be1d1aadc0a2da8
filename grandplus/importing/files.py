"""Look at a user's files, say what they hold, and write the card with which the pipeline runs on them."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from pathlib import Path
from typing import Any, NamedTuple

from grandplus.datasets.account import NO_DATA, NOT_READ
from grandplus.datasets.preprocess import graph_of, preprocess
from grandplus.datasets.raw import RawGraph, id_lists, read_files
from grandplus.datasets.source import Reading, Source
from grandplus.evaluation.orders import FAMILIES, suited_order
from grandplus.evaluation.suited import suited_top_k
from grandplus.graph.features import suited_scaling
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.importing.card import card_text
from grandplus.importing.constant import with_constant_columns
from grandplus.importing.gather import Gathered, gathered, places_of
from grandplus.importing.leaks import check_no_class_among_features
from grandplus.importing.recognise import check_files, recognise
from grandplus.importing.reconciliation import left_out
from grandplus.importing.report import report
from grandplus.importing.shortage import shortage_names_label
from grandplus.importing.side_files import files_not_asked_for, side_files
from grandplus.pipeline.card import CATALOG, check_name, write_card
from grandplus.pipeline.commands import run_command
from grandplus.pipeline.preflight import check_resources
from grandplus.pipeline.settings import settings_of_card
from grandplus.propagation.settings import MIN_NODES_OF_LARGE_GRAPH, GFPush
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import replaced
from grandplus.runtime.sums import sha256
from grandplus.runtime.validation import checked_as

UNLABELLED_OF_LARGE_GRAPH = 10_000  # size of U', as in the paper


@dataclass(frozen=True)
class Choices:
    """What a user chooses of the card's ``preprocess``; what is None follows from the files.

    Attributes
    ----------
    features, direction, split, shortage : str or None
    train_per_class, val_per_class : int, str or None
        A str is a number as a command line has it.
    """

    features: str | None = None
    direction: str | None = None
    split: str | None = None
    train_per_class: int | str | None = None
    val_per_class: int | str | None = None
    shortage: str | None = None


def import_files(
    name: str,
    files: list[Path],
    *,
    read: Reading | None = None,
    file_format: str | None = None,
    choices: Choices | None = None,
    replace: bool = False,
    strict: bool = False,
    root: Path | str = ".",
    into: Path | None = None,
) -> str:
    """Write ``data/catalog/<name>.yaml``, the card of a user's own files.

    The files are read, checked and preprocessed as the pipeline does it, so that its next run works. They stay
    where they are: the card holds their paths and checksums.

    Parameters
    ----------
    name : str
        Of the dataset.
    files : list of Path
        All files of the dataset, with the lists of ids; or folders and zip archives that hold them.
    read : Reading, optional
        How to read them, where the files alone don't tell.
    file_format : str, optional
        Name of the file format, if several could be meant.
    choices : Choices, optional
    replace : bool
        Whether a card of this name is overwritten.
    strict : bool
        Whether it is refused to drop, merge or leave out anything that ``read`` doesn't name.
    root : path
        The top of the checkout.
    into : Path, optional
        A folder on the same file system that a single file is moved to, once all is checked.

    Returns
    -------
    str
        What was understood, in lines.

    Raises
    ------
    GrandPlusError
        The files can't be understood, or no run on them could work; then nothing is written.
    """
    root, read = Path(root), read or Reading()
    card_file = _card_file(name, root, replace=replace)
    with gathered(files) as found:
        asked = read
        raw, read, source = _read(found, set(files), asked, file_format, name=name, root=root, into=into)
        check_no_class_among_features(raw)
        chosen = chosen_preprocess(raw, choices or Choices())
        with shortage_names_label(read, raw.classes):
            graph, splits = preprocess(raw, chosen, seed=0, trials=1, name=name)
        splits.check_tested()
        known = name, source, chosen, graph, splits.of(0), _counts(raw, graph.facts)
        check_resources(settings_of_card(card_text(*known, orders={}), name), root / "data")
        push = GFPush(top_k=suited_top_k(graph))
        orders = {matrix: suited_order(graph, splits.of(0), matrix, push) for matrix in FAMILIES}
        text = card_text(*known, orders)
        settings = settings_of_card(text, name)
        if strict:
            _check_nothing_left_out(left_out(raw, graph, asked))
        lines = report(with_constant_columns(raw, graph), graph, splits, settings, orders)
        command = run_command(name, root=root)
    with replaced(into / files[0].name, files[0]) if into else contextlib.nullcontext():
        staged = write_card(card_file, text)
    return "\n".join([*lines, *_next_steps(name, CATALOG / card_file.name, command, staged=staged)])


def graph_of_files(
    files: list[Path],
    *,
    read: Reading | None = None,
    file_format: str | None = None,
    features: str | None = None,
    direction: str | None = None,
) -> tuple[Graph, tuple[str, ...]]:
    """The graph of a user's files as an import sees it; no label is needed, and nothing is written.

    Parameters
    ----------
    files : list of Path
    read : Reading, optional
    file_format : str, optional
        As of `import_files`.
    features : str, optional
        Scaling of the features, or what is made from the graph; by default what suits them.
    direction : {"both", "out", "in"}, optional
        Which edges of a node count; by default both.

    Returns
    -------
    graph : Graph
    unused : tuple of str
        Files and columns that are not used.

    Raises
    ------
    GrandPlusError
        The files can't be understood.
    """
    name = "the graph"
    with gathered(files) as found:
        raw = _read(found, set(files), read or Reading(), file_format, name=name).raw
        chosen = chosen_preprocess(raw, Choices(features=features, direction=direction))
        return graph_of(raw, chosen.features, direction=chosen.direction, name=name), tuple(raw.account.unused)


class _Read(NamedTuple):
    """What files hold, how they are read, and the card's section on that."""

    raw: RawGraph
    read: Reading
    source: dict[str, Any]


def _read(
    found: Gathered,
    given: set[Path],
    asked: Reading,
    file_format: str | None,
    *,
    name: str,
    root: Path = Path(),
    into: Path | None = None,
) -> _Read:
    """Check files, find out how they are to be read, and read them."""
    found, files_left = _files_to_read(found, given, asked)
    check_files([found.folder / file for file in found.origins])
    data = [found.folder / file for file in found.origins if file not in id_lists(asked).values()]
    file_format, read = recognise(data, asked, file_format)
    source = _source(file_format, read, found, root, into)
    raw = read_files(found.folder, file_format, list(found.origins), checked_as(Source, source, where=name))
    unused = (*raw.account.unused, *files_left)
    return _Read(replace_fields(raw, account=replace_fields(raw.account, unused=unused)), read, source)


def _files_to_read(found: Gathered, given: set[Path], read: Reading) -> tuple[Gathered, list[str]]:
    """Without those that are no data, or that the user's words leave out; and what an account calls these."""
    lists = id_lists(read).values()
    side = side_files(found.folder, found.origins, given, {*lists, read.edges or "", read.nodes or ""})
    more = files_not_asked_for(set(found.origins) - side, read, lists)
    kept = {name: path for name, path in found.origins.items() if name not in side | more}
    left = [f"{file}{NO_DATA if file in side else NOT_READ}" for file in sorted(side | more)]
    return replace_fields(found, origins=kept), left


def _check_nothing_left_out(left: list[str]) -> None:
    if left:
        expected = "nothing to be left out or merged, as --strict says"
        columns = ", or name the columns that may be left out with --ignore or --weights ignore"
        named = columns if any(text.startswith("column ") for text in left) else ""
        fix = f"edit the files, or import without --strict{named}"
        raise GrandPlusError(f"left out or merged: {', '.join(left)}", expected=expected, fix=fix)


def _card_file(name: str, root: Path, *, replace: bool) -> Path:
    """Where the card is to be written, which is possible."""
    check_name(name)
    card_file = root / CATALOG / f"{name}.yaml"
    if not card_file.parent.is_dir():
        raise GrandPlusError("no such folder", where=card_file.parent, fix="run from the top of the checkout")
    if card_file.exists() and not replace:
        raise GrandPlusError("is there already", where=card_file, fix="choose another name, or say --replace")
    return card_file


def _source(file_format: str, read: Reading, found: Gathered, root: Path, into: Path | None) -> dict[str, Any]:
    """The card's section on where the files are, or will be, and how they are read."""
    how = read.model_dump(exclude_defaults=True)
    return {
        "format": file_format,
        **({"read": how} if how else {}),
        "files": {name: sha256(found.folder / name) for name in found.origins},
        "places": places_of({name: into / name if into else path for name, path in found.origins.items()}, root),
    }


def chosen_preprocess(raw: RawGraph, choices: Choices) -> Preprocess:
    """What the user has chosen, else what suits the graph, else the defaults.

    Parameters
    ----------
    raw : RawGraph
    choices : Choices

    Returns
    -------
    Preprocess

    Raises
    ------
    GrandPlusError
        A choice is impossible.
    """
    suited: dict[str, Any] = {
        # Without features, preprocessing refuses as-is, and says what may be chosen instead.
        "features": "as-is" if raw.features is None else suited_scaling(raw.features),
        "split": "public" if raw.splits else "per-class",
    }
    if raw.nodes >= MIN_NODES_OF_LARGE_GRAPH:
        suited["unlabelled"] = UNLABELLED_OF_LARGE_GRAPH
    chosen = {key: value for key, value in vars(choices).items() if value is not None}
    section: Preprocess = checked_as(Preprocess, suited | chosen, where="import")
    return section


def _counts(raw: RawGraph, facts: dict[str, Any]) -> dict[str, int | None]:
    """What every later run on these files must find."""
    counts: dict[str, int | None] = {key: facts[key] for key in ("nodes", "edges", "classes", "features")}
    if raw.features is None:
        counts["features"] = None  # their number depends on preprocess.features
    return counts


def _next_steps(name: str, card: Path, command: str, *, staged: bool) -> list[str]:
    in_git = "staged in git" if staged else "not staged in git: git add it"
    return [
        f"{'card':<9} {card}, {in_git}",
        f"{'next':<9} grandplus tune {name}",
        f"{'or':<9} git add {card} && git commit -m 'Dataset {name}' {card}",
        f"{'':<9} {command}",
    ]
