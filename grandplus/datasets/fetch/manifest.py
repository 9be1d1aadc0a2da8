"""``files.json``: which files a dataset's folder holds, in which format."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from grandplus.datasets.source import Place, Source
from grandplus.runtime.errors import ArtifactError

FILE = "files.json"


@dataclass(frozen=True)
class Manifest:
    """What a place has delivered. The place is not named, so equal files have equal manifests.

    Attributes
    ----------
    format : str
        Name of the file format, as in ``raw.READERS``.
    files : dict of str
        The checksum of each file, by its name.
    order : str or None
        The file in the catalog that holds the order of nodes, if that of the format is another one.
    """

    format: str
    files: dict[str, str]
    order: str | None = None

    @classmethod
    def of(cls, source: Source, place: Place, checksums: dict[str, str]) -> Manifest:
        """What a place of a source has delivered.

        Parameters
        ----------
        source : Source
        place : Place
        checksums : dict of str
            Of each file.
        """
        return cls(place.format or source.format, checksums, place.order)

    def save(self, folder: Path) -> None:
        """Write ``files.json`` into an existing folder."""
        text = json.dumps(asdict(self), indent=2, sort_keys=True) + "\n"
        (folder / FILE).write_bytes(text.encode())

    @classmethod
    def load(cls, folder: Path) -> Manifest:
        """Read what ``save`` has written.

        Raises
        ------
        ArtifactError
            There is no such file, or it holds something else.
        """
        file = folder / FILE
        try:
            manifest = cls(**json.loads(file.read_bytes()))
        except FileNotFoundError:
            raise ArtifactError("no such file", where=file) from None
        except (OSError, ValueError, TypeError) as error:
            raise ArtifactError(f"can't be read: {error}", where=file) from None
        if not isinstance(manifest.files, dict):
            raise ArtifactError(f"files is {manifest.files!r}", where=file, expected="a mapping")
        return manifest
