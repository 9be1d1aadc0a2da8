"""Dataset cards: data/catalog/<dataset>.yaml, read and checked."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from pydantic import Field

from grandplus.datasets.source import Expect, Place, Source
from grandplus.graph.settings import Preprocess
from grandplus.methods.registry import NAMES, settings_of
from grandplus.pipeline.yaml_files import read_yaml, stays_text
from grandplus.propagation.matrices import MATRICES, parameters
from grandplus.propagation.settings import GFPush
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import finished_whole
from grandplus.runtime.validation import Name, Section, check_known, checked_as, did_you_mean, validated

CATALOG = Path("data/catalog")
PARAMS = "params.yaml"
OWN_METHOD = "grandplus"  # whose values the cards hold by matrix
USUAL_MATRIX = "avg"  # of a run that chooses none
OTHERS = tuple(name for name in NAMES if name != OWN_METHOD)
ANY = "any"  # the key of values for every matrix

# Values by matrix and setting; those of a matrix go before those of any.
Overrides = dict[str, dict[str, Any]]


class Card(Section):
    """A dataset.

    ``gfpush`` and ``train`` hold GRAND+'s hyperparameters, where they differ from the defaults of their classes.
    Beside these, ``train`` may have values of other methods, by the method's name.
    """

    title: str
    citation: str
    licence: str | None = None  # of the data; null: not known
    expect: Expect | None = None  # null: not checked
    source: Source
    preprocess: Preprocess
    gfpush: Overrides = Field(default={})
    train: Overrides = Field(default={})

    def overrides(self, section: str, matrix: str) -> dict[str, Any]:
        """What the card has for a section of the settings and a matrix.

        Parameters
        ----------
        section : {"gfpush", "train"}
        matrix : str
        """
        by_matrix: Overrides = getattr(self, section)
        return by_matrix.get(ANY, {}) | by_matrix.get(matrix, {})

    def of_method(self, model: str) -> dict[str, Any]:
        """What the card has for another method than GRAND+."""
        return self.train.get(model, {})


def read_card(file: Path) -> Card:
    """Read and check one dataset card.

    Raises
    ------
    GrandPlusError
        The file is missing or no mapping, or a value in it is impossible.
    """
    return checked_card(read_yaml(file), file.name)


def checked_card(content: dict[str, Any], where: str) -> Card:
    """A card from what its file holds.

    Raises
    ------
    GrandPlusError
        A value is impossible; told as at ``where``.
    """
    card = validated(Card, content, where)
    source = card.source
    if (source.format == "synthetic") != (source.synthetic is not None):
        found = f"source.format is {source.format}, and source.synthetic is {'set' if source.synthetic else 'missing'}"
        raise GrandPlusError(found, where=where, expected="source.synthetic for format synthetic, and for no other")
    if source.synthetic is None and not (source.files and source.places):
        raise GrandPlusError("source has no files, or no places to get them from", where=where)
    for part in (source, *source.later):
        for place in part.places:
            expected = _place_fault(place, part)
            if expected:
                found = f"a place in source.places sets {place.model_dump(exclude_defaults=True)}"
                raise GrandPlusError(found, where=where, expected=expected)
    _check_hyperparameters(card, where)
    return card


def check_name(name: object) -> None:
    """Refuse a name that no new dataset may have.

    Parameters
    ----------
    name : object

    Raises
    ------
    GrandPlusError
        It can't be a part of a path, or params.yaml would hold a number, a date or the like in its place.
    """
    where = "the dataset's name"
    text: str = checked_as(Name, name, where=where)
    if not stays_text(text) or _is_number(text):
        expected = "one that params.yaml and dvc exp run -S read as text"
        raise GrandPlusError(f"is {text!r}", where=where, expected=expected, fix=f"choose another, like graph-{text}")


def card_file(root: Path, name: object, where: str = PARAMS) -> Path:
    """The path of a dataset's card below ``root``.

    Parameters
    ----------
    root : Path
    name : str
    where : str
        What names it, for errors.

    Raises
    ------
    GrandPlusError
        There is no such card; with the names of those that there are.
    """
    cards = sorted(file.stem for file in (root / CATALOG).glob("*.yaml"))
    if not isinstance(name, str) or name not in cards or not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", name):
        expected = f"one of {', '.join(cards)} (the cards in {CATALOG})"
        raise GrandPlusError(f"dataset is {name!r}", where=where, expected=expected, fix=did_you_mean(name, cards))
    return CATALOG / f"{name}.yaml"


def write_card(file: Path, text: str) -> bool:
    """Write a card, whole or not at all, and stage it in git: queued experiments run in a copy of what git knows.

    Parameters
    ----------
    file : Path
    text : str

    Returns
    -------
    bool
        Whether it is staged; there may be no git or no repository.

    Raises
    ------
    OSError
        It can't be written; then the old one is still there.
    """
    with finished_whole(file, alone=True) as partial:
        partial.write_text(text, encoding="utf-8")
    if (git := shutil.which("git")) is None:
        return False
    return subprocess.run([git, "add", "--", file.name], cwd=file.parent, capture_output=True).returncode == 0


def _is_number(text: str) -> bool:
    """As for DVC's options, where nan and inf are numbers too."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _check_hyperparameters(card: Card, where: str) -> None:
    for section in ("gfpush", "train"):
        by_matrix: Overrides = getattr(card, section)
        methods = set(OTHERS) if section == "train" else set[str]()
        check_known(by_matrix, {ANY, *MATRICES, *methods}, where, f"{section}.")
        for matrix, values in by_matrix.items():
            prefix = f"{section}.{matrix}."
            if section == "train":
                train = settings_of(matrix if matrix in methods else OWN_METHOD).Settings
                check_known(values, set(train.model_fields), where, prefix)
                validated(train, values, where, prefix)
                continue
            own = parameters(MATRICES[matrix]) if matrix != ANY else {}
            check_known(values, {*GFPush.model_fields, *own}, where, prefix)
            validated(GFPush, {key: values[key] for key in values if key not in own}, where, prefix)
            if matrix != ANY:
                validated(MATRICES[matrix], {key: values[key] for key in values if key in own}, where, prefix)


def _place_fault(place: Place, source: Source) -> str:
    """What a place should have been instead; nothing if it is right."""
    address = place.drive or place.url
    if sum(kind is not None for kind in (place.local, place.mirror, address, place.wheel)) != 1:
        return "exactly one of local, mirror, url, drive and wheel"
    if place.local is not None and set(place.local) != set(place.files or source.files):
        return f"a path for each of {', '.join(place.files or source.files)}"
    if place.archive and not address:
        return "archive only beside url or drive"
    if place.drive and not place.archive and len(place.files or source.files) != 1:
        return "an archive, as one file on Google Drive can't be several"
    return ""
