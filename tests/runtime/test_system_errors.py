"""What the operating system refuses, by the errors that Python and libraries raise, and by real limits."""

from __future__ import annotations

import errno
import os
import resource
import tempfile
from copy import copy
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grandplus.runtime.errors import (
    ArtifactError,
    GrandPlusError,
    MemoryShortageError,
    ShortageError,
    path_in_errors,
)
from grandplus.runtime.storage import finished_whole
from grandplus.runtime.system_errors import artifact_errors, system_error

FULL = "free some, or set GRANDPLUS_SCRATCH to a folder with more room; finished work is kept"
MEMORY = (
    "set GRANDPLUS_WORKERS or GRANDPLUS_MEMORY lower, or raise the limit (ulimit -v shows it); finished work is kept"
)


def refused(number: int, *path: str) -> OSError:
    return OSError(number, os.strerror(number), *path)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (refused(errno.ENOSPC, "data/x"), f"data/x: No space left on device; {FULL}"),
        (refused(errno.EFBIG, "data/x"), f"data/x: File too large; {FULL}"),
        (refused(errno.EROFS, "data/x"), "data/x: Read-only file system; make the file and its folder readable and "
         "writable"),
        (refused(errno.ENOENT, "data/x"), "data/x: No such file or directory"),
        (refused(errno.EACCES), "Permission denied"),
        (refused(errno.EACCES, "a", None, "b"), "b: Permission denied; make the file and its folder readable and "
         "writable"),
        (OSError(), "OSError"),
        (refused(errno.ENOMEM, "x.npy"), f"x.npy: memory is used up: [Errno 12] Cannot allocate memory: 'x.npy'; "
         f"{MEMORY}"),
        (MemoryError(), f"memory is used up; {MEMORY}"),
        (pa.ArrowMemoryError("malloc of size 64 failed"), f"memory is used up: malloc of size 64 failed; {MEMORY}"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 8 bytes"),
         f"memory is used up: DefaultCPUAllocator: can't allocate memory: 8 bytes; {MEMORY}"),
        (ImportError("libtorch_cpu.so: failed to map segment from shared object"),
         f"memory is used up: libtorch_cpu.so: failed to map segment from shared object; {MEMORY}"),
        (RuntimeError("can't start new thread"), f"memory is used up: can't start new thread; {MEMORY}"),
    ],
)  # fmt: skip
def test_an_error_of_the_system_is_one_line(error, line):
    assert str(system_error(error)) == line


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MemoryError(), MemoryShortageError),
        (refused(errno.ENOSPC, "data/x"), ShortageError),
        (OSError("4096 requested and 512 written"), ShortageError),
        (refused(errno.EACCES, "data/x"), GrandPlusError),
    ],
)
def test_a_shortage_is_a_kind_of_its_own_also_from_another_process(error, kind):
    assert type(copy(system_error(error))) is kind  # by what pickle calls


@pytest.mark.parametrize("error", [ValueError("x"), RuntimeError("of ours"), ImportError("no name y in x")])
def test_other_errors_are_none_of_the_system(error):
    assert system_error(error) is None


@pytest.mark.parametrize(
    "variable", ["GRANDPLUS_CACHE", "GRANDPLUS_SCRATCH", "GRANDPLUS_MIRROR", "NUMBA_CACHE_DIR", "MPLCONFIGDIR"]
)
def test_the_variable_that_moves_a_folder_is_named(tmp_path, monkeypatch, variable):
    monkeypatch.setenv(variable, str(tmp_path / "own"))
    told = str(system_error(refused(errno.EACCES, str(tmp_path / "own/kernels/x"))))
    assert told == f"{tmp_path}/own/kernels/x: Permission denied; set {variable} to a folder that you may write to"
    assert f"or set {variable} to a folder with more" in str(system_error(refused(errno.ENOSPC, f"{tmp_path}/own/x")))


def test_of_two_files_it_is_the_one_that_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(tmp_path / "scratch"))
    error = refused(errno.ENOSPC, str(tmp_path / "cache/x"), None, str(tmp_path / "scratch/x"))
    assert str(system_error(error)) == f"{tmp_path}/scratch/x: No space left on device; {FULL}"


def test_the_variable_of_temporary_files(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert "set TMPDIR to a folder that" in str(system_error(refused(errno.EACCES, str(tmp_path / "x"))))
    none = FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")
    assert str(system_error(none)).endswith("; set TMPDIR to a folder that you may write to")
    monkeypatch.chdir(tmp_path)  # a checkout in the folder of temporary files is not one of them
    assert "TMPDIR" not in str(system_error(refused(errno.EACCES, str(tmp_path / "x"))))


@pytest.fixture
def full_disk(tmp_path):
    """No file may have more than a few bytes: what a full disk does, without filling one."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, limits[1]))
    yield tmp_path
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize(
    "write",
    [
        lambda file: file.write_bytes(bytes(10**6)),
        lambda file: np.save(file.open("wb"), np.zeros(10**6)),
        lambda file: pq.write_table(pa.table({"a": np.arange(10**6)}), file),
    ],
    ids=["python", "numpy", "pyarrow"],
)
def test_whoever_writes_to_a_full_disk_the_file_is_named_and_the_old_one_is_there(full_disk, write):
    file = full_disk / "result"
    file.write_text("old")
    with pytest.raises(OSError) as error, finished_whole(file) as partial:  # noqa: PT011
        write(partial)
    assert str(system_error(error.value)).startswith(f"{file}: ")
    assert str(system_error(error.value)).endswith("to a folder with more room; finished work is kept")
    assert [path.name for path in full_disk.iterdir()] == ["result"]
    assert file.read_text() == "old"


def test_an_error_that_names_a_file_or_is_of_a_connection_stays_as_it_is():
    for error in (refused(errno.ENOSPC, "a"), ConnectionResetError(errno.ECONNRESET, "reset")):
        before = str(error)
        with pytest.raises(type(error)) as raised, path_in_errors("b"):
            raise error
        assert str(raised.value) == before


def test_a_file_that_may_not_be_read_is_not_damaged():
    with (
        pytest.raises(GrandPlusError, match="x: Permission denied; make") as told,
        artifact_errors(Path("x"), "is bad"),
    ):
        raise refused(errno.EACCES)
    assert not isinstance(told.value, ArtifactError)
    with pytest.raises(GrandPlusError, match="x: memory is used up") as told, artifact_errors(Path("x"), "is bad"):
        raise MemoryError
    assert not isinstance(told.value, ArtifactError)
    with pytest.raises(ArtifactError, match="x: is bad: of no use"), artifact_errors(Path("x"), "is bad", ValueError):
        raise ValueError("of no use")
    with pytest.raises(KeyError), artifact_errors(Path("x"), "is bad", ValueError):
        raise KeyError
