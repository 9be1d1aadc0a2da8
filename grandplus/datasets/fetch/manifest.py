"""``files.json``: which files a dataset's folder holds, in which format."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from grandplus.datasets.source import Place, Source
from grandplus.runtime.errors import GrandPlusError

FILE = "files.json"


@dataclass(frozen=True)
class Manifest:
    """What a place delivers. It doesn't name the place, so equal files have equal manifests.

    Parameters
    ----------
    format : name of the file format, as in ``raw.READERS``.
    files : {name: sha256}, each as found.
    order : file in the catalog that holds the nodes' order, where the format has another one.
    """

    format: str
    files: dict[str, str]
    order: str | None = None

    @classmethod
    def of(cls, source: Source, place: Place, checksums: dict[str, str]) -> Manifest:
        """What ``place`` has delivered, given the checksum of each file."""
        return cls(place.format or source.format, checksums, place.order)

    def save(self, folder: Path) -> None:
        text = json.dumps(asdict(self), indent=2, sort_keys=True) + "\n"
        (folder / FILE).write_bytes(text.encode())

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """Read ``folder/files.json``.

        Raises
        ------
        GrandPlusError : there is none, or it isn't what ``save`` writes.
        """
        file = folder / FILE
        fix = "run the download stage again"
        try:
            found = cls(**json.loads(file.read_bytes()))
        except FileNotFoundError:
            raise GrandPlusError("no such file", where=file, fix=fix) from None
        except (OSError, ValueError, TypeError) as error:
            raise GrandPlusError(f"can't be read: {error}", where=file, fix=fix) from None
        if not isinstance(found.files, dict):
            raise GrandPlusError(f"files is {found.files!r}", where=file, expected="a mapping", fix=fix)
        return found
