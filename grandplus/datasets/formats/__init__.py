"""File formats, a module each: a card calls it by its name, ``csr-npz`` for ``csr_npz.py``.

To add a format, add a module with the functions of `Format`. Nothing else lists them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from grandplus.datasets.raw import RawGraph
    from grandplus.datasets.source import Reading, Source


class Format(Protocol):
    """What the module of a format has.

    A format that only our own cards use has no ``recognise``. A format that takes any files which no other format
    recognises has ``GENERAL = True``.
    """

    def read(self, folder: Path, files: list[str], source: Source, order: Path | None = None) -> RawGraph:
        """Read the files of a dataset.

        Parameters
        ----------
        folder : Path
        files : list of str
            Names of all its files in the folder, without lists of ids.
        source : Source
            What the card says of them.
        order : Path, optional
            A file with the order of nodes, if it is another one than that of the files.

        Returns
        -------
        RawGraph

        Raises
        ------
        GrandPlusError
            A file is missing or damaged, or disagrees with the others; with the file and the line or key.
        """

    def recognise(self, files: list[Path], asked: Reading) -> Reading | None:
        """Tell whether some files are of this format, and how to read them.

        Parameters
        ----------
        files : list of Path
            A user's files.
        asked : Reading
            What the user says of them; it is kept.

        Returns
        -------
        Reading or None
            None if they are of another format.

        Raises
        ------
        GrandPlusError
            They are of this format, but what they hold can't be told.
        """
