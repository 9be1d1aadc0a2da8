"""The machine that work runs on, by environment variables: none of them changes a result on CPU.

``GRANDPLUS_WORKERS`` (default: the cores that this process may use), ``GRANDPLUS_MEMORY`` (default: what is free),
``GRANDPLUS_DEVICE`` (auto, cpu or cuda), ``GRANDPLUS_SCHEDULER`` (a Dask cluster in place of this machine) and
``GRANDPLUS_CACHE`` (downloads and compiled kernels, shared by all checkouts; default: the user's cache folder).
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.supervision import proc_file

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]?)(i?)B?", re.IGNORECASE)


_ADDRESS = re.compile(r"(tcp|tls)://[^\s/]+:\d+")


def workers() -> int:
    """Number of threads or processes to compute with, at least 1."""
    value = os.environ.get("GRANDPLUS_WORKERS", "").strip()
    if not value:
        affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if not value.isdecimal() or int(value) < 1:
        raise GrandPlusError(f"GRANDPLUS_WORKERS is {value!r}", expected="a whole number of at least 1")
    return int(value)


def memory() -> int:
    """Bytes that a stage's large arrays may take together: ``GRANDPLUS_MEMORY``, like 8GiB or 500MB."""
    value = os.environ.get("GRANDPLUS_MEMORY", "").strip()
    if not value:
        return _free_memory()
    match = _SIZE.fullmatch(value)
    if not match:
        raise GrandPlusError(f"GRANDPLUS_MEMORY is {value!r}", expected="a size like 8GiB or 500MB")
    base = 1024 if match[3] else 1000
    return int(float(match[1]) * int(base ** " KMGT".index(match[2].upper() or " ")))


def _free_memory() -> int:
    """What the system could give, and this process's control groups would allow."""
    own = proc_file(os.getpid(), "cgroup").splitlines()
    return max(0, min([int(psutil.virtual_memory().available), *_left_by_groups(own, Path("/sys/fs/cgroup"))]))


def _left_by_groups(own: list[str], mounted: Path) -> Iterator[int]:
    """Bytes that the limits of a container or a batch system leave; what is cached of files can be had back.

    own : lines of /proc/self/cgroup
    mounted : where control groups are, of version 1 or 2
    """
    for line in own:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, limit, used, cached = mounted, "memory.max", "memory.current", "file "
        elif "memory" in controllers.split(","):
            root, cached = mounted / "memory", "total_cache "
            limit, used = "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        group = root / path.lstrip("/")
        for folder in (group, *group.parents[: len(group.parts) - len(root.parts)]):  # a limit holds for groups within
            with contextlib.suppress(OSError, ValueError, StopIteration):  # not here, or no limit ("max")
                stat = (folder / "memory.stat").read_text().splitlines()
                cache = next(int(entry.removeprefix(cached)) for entry in stat if entry.startswith(cached))
                yield int((folder / limit).read_text()) - int((folder / used).read_text()) + cache


def device() -> str:
    """``"cpu"`` or ``"cuda"``, as torch calls them."""
    value = os.environ.get("GRANDPLUS_DEVICE", "").strip() or "auto"
    if value not in ("auto", "cpu", "cuda"):
        raise GrandPlusError(f"GRANDPLUS_DEVICE is {value!r}", expected="auto, cpu or cuda")
    if value == "cpu":
        return value
    import torch  # here, as most stages need none

    if torch.cuda.is_available():
        return "cuda"
    if value == "cuda":
        raise GrandPlusError(
            "GRANDPLUS_DEVICE is cuda, but torch finds no usable GPU", fix="unset it, or install a CUDA build of torch"
        )
    return "cpu"


def scheduler() -> str | None:
    """Address of the Dask cluster that tasks go to, if they do."""
    value = os.environ.get("GRANDPLUS_SCHEDULER", "").strip()
    if value and not _ADDRESS.fullmatch(value):
        raise GrandPlusError(f"GRANDPLUS_SCHEDULER is {value!r}", expected="an address like tcp://192.168.0.1:8786")
    return value or None


def cache_folder(name: str) -> Path:
    """A folder that all checkouts of this user share, made if need be."""
    root = os.environ.get("GRANDPLUS_CACHE", "").strip()
    if not root:
        root = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "grandplus")
    folder = Path(root).expanduser().absolute() / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GrandPlusError(f"can't be made: {error.strerror}", where=folder, fix="set GRANDPLUS_CACHE") from None
    return folder
