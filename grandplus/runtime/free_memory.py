"""How much memory a process may still take: of the machine, and of the limits of a container or a batch system."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from grandplus.runtime.supervision import proc_file


def free_memory() -> int:
    """Bytes that the system could give and the control groups of this process allow.

    Returns
    -------
    int
        At least 0.
    """
    groups = proc_file(os.getpid(), "cgroup").splitlines()
    left = left_by_control_groups(groups, Path("/sys/fs/cgroup"))
    return max(0, min([int(psutil.virtual_memory().available), *left]))


def left_by_control_groups(groups: list[str], mounted: Path) -> Iterator[int]:
    """Bytes that the limits of control groups leave; memory that caches files counts as free.

    Parameters
    ----------
    groups : list of str
        Lines of /proc/self/cgroup.
    mounted : Path
        Where control groups are mounted, of version 1 or 2.

    Yields
    ------
    int
        One for each group that has a limit, parents included: their limits hold for the groups in them.
    """
    for line in groups:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, limit, used, cached = mounted, "memory.max", "memory.current", "file "
        elif "memory" in controllers.split(","):
            root, cached = mounted / "memory", "total_cache "
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        group = root / path.lstrip("/")
        for folder in (group, *group.parents[: len(group.parts) - len(root.parts)]):
            with contextlib.suppress(OSError, ValueError, StopIteration):  # not here, or no limit ("max")
                stat = (folder / "memory.stat").read_text().splitlines()
                cache = next(int(entry.removeprefix(cached)) for entry in stat if entry.startswith(cached))
                yield int((folder / limit).read_text()) - int((folder / used).read_text()) + cache
