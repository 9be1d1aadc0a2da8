"""Look at a user's files, say what they hold, and write the card with which the pipeline runs on them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grandplus.datasets.raw import RawGraph, id_lists, read_files
from grandplus.datasets.source import Reading, Source
from grandplus.graph.features import suited_scaling
from grandplus.graph.settings import Preprocess
from grandplus.importing.card import LARGE, card_text
from grandplus.importing.recognise import check_files, recognise
from grandplus.importing.report import report
from grandplus.pipeline.card import CATALOG, write_card
from grandplus.pipeline.graphs import make_graph
from grandplus.pipeline.preflight import check_resources
from grandplus.pipeline.settings import settings_of_card
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Name, checked_as


@dataclass(frozen=True)
class Choices:
    """What the card's ``preprocess`` shall be; None: by what the files hold."""

    features: str | None = None
    split: str | None = None
    train_per_class: int | str | None = None
    val_per_class: int | str | None = None
    shortage: str | None = None


def import_files(
    name: str,
    files: list[Path],
    *,
    read: Reading | None = None,
    form: str | None = None,
    choices: Choices | None = None,
    replace: bool = False,
    root: Path | str = ".",
) -> str:
    """Write ``data/catalog/<name>.yaml`` below ``root``; what was understood, as lines of text.

    The files are read, checked and preprocessed as the pipeline does it, so that its next run works. They stay
    where they are: the card has their paths and checksums.

    Parameters
    ----------
    files : all files of the dataset, lists of ids included
    read : what to know of them, where it can't be told from them alone
    form : of the file format, likewise
    replace : whether a card of this name may be there

    Raises
    ------
    GrandPlusError : the files can't be understood, or no run on them could work; then nothing is written.
    """
    root, read, choices = Path(root), read or Reading(), choices or Choices()
    checked_as(Name, name, where="the dataset's name")
    card_file = root / CATALOG / f"{name}.yaml"
    if not card_file.parent.is_dir():
        raise GrandPlusError("no such folder", where=card_file.parent, fix="run from the top of the checkout")
    if card_file.exists() and not replace:
        raise GrandPlusError("is there already", where=card_file, fix="choose another name, or say --replace")
    files = sorted(set(files))
    check_files(files)
    lists = id_lists(read).values()
    form, read = recognise([file for file in files if file.name not in lists], read, form)
    with _together(files) as folder:
        source = {
            "format": form,
            "read": read.model_dump(exclude_defaults=True),
            "files": {file.name: _sha256(file) for file in files},
            "places": [{"local": {file.name: _path(file, root) for file in files}}, {"mirror": "GRANDPLUS_MIRROR"}],
        }
        raw = read_files(folder, form, [file.name for file in files], checked_as(Source, source, where=name))
        chosen = _preprocess(raw, choices)
        graph, splits = make_graph(raw, settings_of_card(card_text(name, source, chosen, raw), name))
        splits.check_tested()
        expect = {key: graph.facts[key] for key in ("nodes", "edges", "classes", "features")}
        if raw.features is None:
            expect["features"] = None  # there are as many as preprocess.features makes
        text = card_text(name, source, chosen, raw, expect)
        settings = settings_of_card(text, name)
        check_resources(settings, root / "data")
        lines = report(raw, graph, splits, settings)
    card = CATALOG / card_file.name
    known = "staged in git" if write_card(card_file, text) else "not staged in git: git add it"
    lines += [
        f"{'card':<9} {card}, {known}",
        f"{'next':<9} git commit -m 'Dataset {name}' {card}",
        f"{'':<9} dvc exp run -S dataset={name}",
    ]
    return "\n".join(lines)


def _preprocess(raw: RawGraph, choices: Choices) -> dict[str, Any]:
    wanted = {
        # Where there are none, preprocessing refuses that, and says what stands for them by choice.
        "features": choices.features or ("as-is" if raw.features is None else suited_scaling(raw.features)),
        "split": choices.split or ("public" if raw.splits else "per-class"),
        "train_per_class": choices.train_per_class or 20,
        "val_per_class": choices.val_per_class or 30,
        "shortage": choices.shortage or "fail",
        "unlabelled": "all" if raw.nodes < LARGE else 10_000,
    }
    return dict(checked_as(Preprocess, wanted, where="import").model_dump())


@contextlib.contextmanager
def _together(files: list[Path]) -> Iterator[Path]:
    """A folder with all the files: their own, or one of links to them."""
    folders = {file.parent for file in files}
    if len(folders) == 1:
        yield folders.pop()
        return
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            (Path(folder) / file.name).symlink_to(file.absolute())
        yield Path(folder)


def _path(file: Path, root: Path) -> str:
    """From the top of the checkout, where the file lies in it."""
    file = file.absolute()
    top = root.absolute()
    return os.path.relpath(file, top) if file.is_relative_to(top) else str(file)


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
