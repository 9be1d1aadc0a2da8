"""Digests of large files that were read within the last hour: one that is the same since then isn't read again.

Every stage of a run checks what earlier stages wrote, and a graph may have many gigabytes. As in Git's index, a file
counts as the same if its inode, size and times are. A bit that flips on the disk changes none of these; a later run
reads the file again and finds it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from grandplus.runtime.environment import existing_scratch_folder
from grandplus.runtime.storage import finished_whole, key_of

LARGE = 2**24  # bytes in all; less is read in a hundredth of a second
VALID = 3600.0  # seconds
SETTLED = 2.0  # seconds; a file that was changed later than that may change once more at the same time


State = list[list[int]]


def remembered(what: str, files: Sequence[Path], compute: Callable[[], str], opened: State | None = None) -> str:
    """A digest that was computed before from the same files, or else computed now and kept.

    It is kept in the folder of unfinished work (``GRANDPLUS_SCRATCH``), if there is one; so a library that is used
    outside a project leaves no files.

    Parameters
    ----------
    what : str
        Which digest of these files.
    files : sequence of Path
        All that it depends on.
    compute : callable
        Gives the digest.
    opened : list, optional
        The `state_of` the files when what ``compute`` reads was opened; by default, it opens them itself.

    Returns
    -------
    str

    Raises
    ------
    OSError
        A file is missing or can't be read.
    """
    scratch = existing_scratch_folder()
    state = state_of(files)
    if scratch is None or sum(size for _, size, *_ in state) < LARGE or opened not in (None, state):
        return compute()
    key = key_of({"what": what, "files": [str(file.absolute()) for file in files]}, code="")
    note = scratch / "digests" / f"{key}.json"
    kept = _read(note)
    if kept and kept["state"] == state and 0 <= time.time() - kept["time"] < VALID:
        return str(kept["digest"])
    read = time.time()
    settled = 1e9 * read - max(changed for *_, changed in state) > SETTLED * 1e9
    digest = compute()
    if settled and state_of(files) == state:
        note.parent.mkdir(exist_ok=True)
        with finished_whole(note) as partial:
            partial.write_text(json.dumps({"state": state, "time": read, "digest": digest}), encoding="utf-8")
    return digest


def state_of(files: Sequence[Path]) -> State:
    """Inode, size, and times of modification and change, in nanoseconds, of each file."""
    stats = [file.stat() for file in files]
    return [[stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns] for stat in stats]


def _read(note: Path) -> dict[str, Any] | None:
    """What was kept; None if there is no such note, or no readable one."""
    try:
        kept = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return kept if isinstance(kept, dict) and kept.keys() == {"state", "time", "digest"} else None
