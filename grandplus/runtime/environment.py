"""Where work runs, by environment variables: on CPU none of them changes a result.

======================= =============================================== ===========================
variable                what it sets                                    where it is unset
======================= =============================================== ===========================
``GRANDPLUS_WORKERS``   threads or processes that compute               the cores of this process
``GRANDPLUS_MEMORY``    memory for large arrays, like 8GiB              what is free
``GRANDPLUS_DEVICE``    where models train: auto, cpu or cuda           auto: a GPU if there is one
``GRANDPLUS_SCHEDULER`` address of a Dask cluster for the tasks         this machine
``GRANDPLUS_CACHE``     downloads and compiled kernels of all checkouts the user's cache folder
``GRANDPLUS_SCRATCH``   folder of unfinished work and finished trials   .grandplus/scratch
``GRANDPLUS_STORE``     disk that finished trials may take, like 5GiB   20GiB
``GRANDPLUS_MIRROR``    folder of dataset files, tried first            no mirror
``GRANDPLUS_ROOT``      folder that relative paths start from           the current one
======================= =============================================== ===========================

A dataset card may name another variable than ``GRANDPLUS_MIRROR`` for its mirror.
"""

from __future__ import annotations

import ctypes
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.free_memory import free_memory

STORE_LIMIT = "20GiB"
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?([KMGT]?)(i)?B?", re.IGNORECASE)
_ADDRESS = re.compile(r"(tcp|tls)://[^\s/]+:\d+")


def workers() -> int:
    """Number of threads or processes to compute with.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    GrandPlusError
        ``GRANDPLUS_WORKERS`` is no such number.
    """
    value = _value("GRANDPLUS_WORKERS")
    if not value:
        affinity = getattr(os, "sched_getaffinity", None)  # not on macOS
        return len(affinity(0)) if affinity else os.cpu_count() or 1
    if not value.isdecimal() or int(value) < 1:
        raise GrandPlusError(f"GRANDPLUS_WORKERS is {value!r}", expected="a whole number of at least 1")
    return int(value)


def memory() -> int:
    """Bytes that the large arrays of a piece of work may take together.

    Returns
    -------
    int
        ``GRANDPLUS_MEMORY``; where that is unset, the memory that is free.

    Raises
    ------
    GrandPlusError
        ``GRANDPLUS_MEMORY`` is no size.
    """
    limit = memory_limit()
    return free_memory() if limit is None else limit


def memory_limit() -> int | None:
    """``GRANDPLUS_MEMORY`` in bytes; None where it is unset.

    Raises
    ------
    GrandPlusError
        It is no size.
    """
    value = _value("GRANDPLUS_MEMORY")
    return _bytes("GRANDPLUS_MEMORY", value) if value else None


def store_limit() -> int:
    """``GRANDPLUS_STORE`` in bytes: the disk that finished trials may take.

    Raises
    ------
    GrandPlusError
        It is no size.
    """
    return _bytes("GRANDPLUS_STORE", _value("GRANDPLUS_STORE") or STORE_LIMIT)


def device() -> str:
    """The device to train and predict on.

    Returns
    -------
    {"cpu", "cuda"}

    Raises
    ------
    GrandPlusError
        ``GRANDPLUS_DEVICE`` is no device, or is cuda and there is no usable GPU.
    """
    value = requested_device()
    if value == "cpu" or (value == "auto" and not _has_gpu_driver()):
        return "cpu"  # torch, whose import takes a second, isn't asked
    import torch

    if torch.cuda.is_available():
        return "cuda"
    if value == "cuda":
        raise GrandPlusError(
            "GRANDPLUS_DEVICE is cuda, but torch finds no usable GPU", fix="unset it, or install a CUDA build of torch"
        )
    return "cpu"


def requested_device() -> str:
    """``GRANDPLUS_DEVICE``: what is wanted, whatever this machine has.

    Returns
    -------
    {"auto", "cpu", "cuda"}

    Raises
    ------
    GrandPlusError
        It is none of these.
    """
    value = _value("GRANDPLUS_DEVICE") or "auto"
    if value not in ("auto", "cpu", "cuda"):
        raise GrandPlusError(f"GRANDPLUS_DEVICE is {value!r}", expected="auto, cpu or cuda")
    return value


def _has_gpu_driver() -> bool:
    """Whether the system has a driver that PyTorch's device cuda needs: NVIDIA's, or AMD's for builds with ROCm."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return Path("/dev/kfd").exists()
    return True


def scheduler() -> str | None:
    """Address of the Dask cluster that tasks go to; None where they stay on this machine.

    Raises
    ------
    GrandPlusError
        ``GRANDPLUS_SCHEDULER`` is no address.
    """
    value = _value("GRANDPLUS_SCHEDULER")
    if value and not _ADDRESS.fullmatch(value):
        raise GrandPlusError(f"GRANDPLUS_SCHEDULER is {value!r}", expected="an address like tcp://192.168.0.1:8786")
    return value or None


def cache_folder(name: str) -> Path:
    """A folder that all checkouts of this user share; it is made if need be.

    Parameters
    ----------
    name : str
        What it is for, like ``"kernels"``.

    Raises
    ------
    GrandPlusError
        It can't be made.
    """
    return _made(_cache_root() / name, "GRANDPLUS_CACHE")


def scratch_folder() -> Path:
    """The folder of unfinished work; it is made if need be.

    Raises
    ------
    GrandPlusError
        It can't be made.
    """
    return _made(_scratch_root(), "GRANDPLUS_SCRATCH")


def existing_scratch_folder() -> Path | None:
    """The folder of unfinished work; None where there is none, as outside a project."""
    folder = _scratch_root()
    return folder if folder.is_dir() else None


def mirror_folder(variable: str = "GRANDPLUS_MIRROR") -> Path | None:
    """The folder of dataset files that a variable names; None where it is unset.

    Raises
    ------
    GrandPlusError
        There is no such folder.
    """
    value = _value(variable)
    if not value:
        return None
    folder = from_root(value, variable)
    if not folder.is_dir():
        raise GrandPlusError(f"{variable} is {value!r}", expected="an existing folder", fix="correct or unset it")
    return folder


def from_root(path: str, named_by: str = "") -> Path:
    """A path of a user; a relative one starts from ``GRANDPLUS_ROOT``, wherever this process works.

    Parameters
    ----------
    path : str
        It may begin with ``~``, or with ``~name``.
    named_by : str
        The variable or the setting that it is of, for errors.

    Raises
    ------
    GrandPlusError
        There is no such home folder.

    Examples
    --------
    >>> from_root("/data/cora.csv").as_posix()
    '/data/cora.csv'
    """
    return Path(_value("GRANDPLUS_ROOT"), _expanded(path, named_by))


def variable_of(path: Path | str) -> str:
    """The variable that puts a file's folder elsewhere.

    Parameters
    ----------
    path : path

    Returns
    -------
    str
        Empty where there is none, as for the folders of a checkout.

    Examples
    --------
    >>> variable_of("data/rows/SHA256SUMS")
    ''
    """
    folders: dict[str, Callable[[], Path | str]] = {
        "NUMBA_CACHE_DIR": lambda: _value("NUMBA_CACHE_DIR"),
        "MPLCONFIGDIR": lambda: _value("MPLCONFIGDIR"),
        "GRANDPLUS_MIRROR": lambda: _value("GRANDPLUS_MIRROR") and from_root(_value("GRANDPLUS_MIRROR")),
        "GRANDPLUS_SCRATCH": _scratch_root,
        "GRANDPLUS_CACHE": _cache_root,
        "TMPDIR": lambda: tempfile.tempdir or _value("TMPDIR") or "/tmp",
    }
    file, here, inside = Path(path).absolute(), Path.cwd(), {}
    for variable, named in folders.items():
        try:
            value = named()
        except GrandPlusError:  # no file is in a folder that can't be
            continue
        folder = Path(value).absolute()
        if value and file.is_relative_to(folder) and not (file.is_relative_to(here) and here.is_relative_to(folder)):
            inside[variable] = len(folder.parts)
    return max(inside, key=lambda variable: inside[variable], default="")


def _cache_root() -> Path:
    root = _value("GRANDPLUS_CACHE")
    if not root:
        root = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "grandplus")
    return _expanded(root, "GRANDPLUS_CACHE").absolute()


def _scratch_root() -> Path:
    return from_root(_value("GRANDPLUS_SCRATCH") or ".grandplus/scratch", "GRANDPLUS_SCRATCH").absolute()


def _expanded(path: str, named_by: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError:  # the system knows no such user, or not the home folder of this one
        found = f"{path} begins with a home folder that the system doesn't know"
        raise GrandPlusError(found, where=named_by, fix="write the whole path") from None


def _value(variable: str) -> str:
    return os.environ.get(variable, "").strip()


def _bytes(variable: str, value: str) -> int:
    match = _SIZE.fullmatch(value)
    if not match:
        raise GrandPlusError(f"{variable} is {value!r}", expected="a size like 8GiB or 500MB")
    base = 1024 if match[3] else 1000
    return int(float(match[1]) * int(base ** " KMGT".index(match[2].upper() or " ")))


def _made(folder: Path, variable: str) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GrandPlusError(f"can't be made: {error.strerror}", where=folder, fix=f"set {variable}") from None
    return folder
