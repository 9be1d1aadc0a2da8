"""How much memory a process may still take: of the machine, and of the limits of a container, batch system or shell."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from grandplus.runtime.supervision import proc_file

_LIMITS = {"VmSize": resource.RLIMIT_AS, "VmData": resource.RLIMIT_DATA}  # of what /proc/self/status counts


def free_memory() -> int:
    """Bytes that the system could give, and that control groups and ``ulimit`` allow this process.

    Returns
    -------
    int
        At least 0.
    """
    groups = proc_file(os.getpid(), "cgroup").splitlines()
    left = left_by_control_groups(groups, Path("/sys/fs/cgroup"))
    status = proc_file(os.getpid(), "status").splitlines()
    return max(0, min([int(psutil.virtual_memory().available), *left, *left_by_resource_limits(status)]))


def left_by_resource_limits(status: list[str]) -> Iterator[int]:
    """Bytes that the limits of this process leave, as ``ulimit -v`` and ``ulimit -d`` set them.

    Parameters
    ----------
    status : list of str
        Lines of /proc/self/status; where the system has none, such limits have no effect.

    Yields
    ------
    int
        One for each limit.
    """
    sizes = {
        name: int(size.split()[0]) * 1024
        for name, _, size in (line.partition(":") for line in status)
        if name in _LIMITS
    }
    for name, size in sizes.items():
        limit, _ = resource.getrlimit(_LIMITS[name])
        if limit != resource.RLIM_INFINITY:
            yield limit - size


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
