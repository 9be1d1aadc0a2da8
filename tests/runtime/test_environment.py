"""Environment variables: what each may be, and what stands for it where it is unset."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest
from processes import CHECKOUT

from grandplus.runtime import environment
from grandplus.runtime.environment import (
    cache_folder,
    device,
    existing_scratch_folder,
    from_root,
    memory,
    memory_limit,
    mirror_folder,
    store_limit,
    variable_of,
    workers,
)
from grandplus.runtime.errors import GrandPlusError

# What DVC, git and the operating system say is read where they are used.
READERS = {
    "grandplus/pipeline/git_identity.py",
    "grandplus/runtime/library_kernels.py",
    "grandplus/runtime/environment.py",
    "grandplus/runtime/supervision.py",
    "grandplus/pipeline/queue.py",
    "grandplus/pipeline/stage.py",
    "grandplus/pipeline/usage.py",
}


def test_all_variables_are_read_in_one_module_and_stand_in_its_table():
    files = {str(file.relative_to(CHECKOUT)): file.read_text() for file in (CHECKOUT / "grandplus").rglob("*.py")}
    assert {name for name, text in files.items() if re.search(r"os\.(environ|getenv)", text)} <= READERS
    named = {variable for text in files.values() for variable in re.findall(r"GRANDPLUS_[A-Z]+", text)}
    table = set(re.findall(r"^``(GRANDPLUS_[A-Z]+)`` ", environment.__doc__ or "", re.MULTILINE))
    assert named == table


@pytest.mark.parametrize(("value", "expected"), [("1", 1), ("7", 7), (" 12\n", 12), ("007", 7)])
def test_workers_are_as_many_as_wanted(monkeypatch, value, expected):
    monkeypatch.setenv("GRANDPLUS_WORKERS", value)
    assert workers() == expected


@pytest.mark.parametrize("value", [None, "", "  "])
def test_workers_are_by_default_the_cores_that_may_be_used(monkeypatch, value):
    monkeypatch.delenv("GRANDPLUS_WORKERS", raising=False)
    if value is not None:
        monkeypatch.setenv("GRANDPLUS_WORKERS", value)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {1, 4, 5}, raising=False)
    assert workers() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert workers() == 6


@pytest.mark.parametrize("value", ["0", "-1", "2.5", "1e1", "two", "1,2", "²", "+2", "0x2"])
def test_workers_that_are_no_number(monkeypatch, value):
    monkeypatch.setenv("GRANDPLUS_WORKERS", value)
    with pytest.raises(GrandPlusError, match="expected a whole number of at least 1") as refused:
        workers()
    assert f"GRANDPLUS_WORKERS is {value!r}" in str(refused.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("8GiB", 8 * 2**30), ("500MB", 500_000_000), (" 1.5 kib\n", 1536), ("123", 123), ("2T", 2 * 10**12), ("7B", 7)],
)
def test_memory_is_what_is_allowed(monkeypatch, value, expected):
    monkeypatch.setenv("GRANDPLUS_MEMORY", value)
    assert memory() == expected


@pytest.mark.parametrize("value", ["", "  ", None])
def test_memory_is_by_default_what_is_free(monkeypatch, value):
    monkeypatch.delenv("GRANDPLUS_MEMORY", raising=False)
    if value is not None:
        monkeypatch.setenv("GRANDPLUS_MEMORY", value)
    assert 2**20 < memory() <= psutil.virtual_memory().total


@pytest.mark.parametrize("value", ["-1GiB", "much", "8 GiB or so", "0x10", "1e9", "GiB", "5PB"])
def test_memory_that_is_no_size(monkeypatch, value):
    monkeypatch.setenv("GRANDPLUS_MEMORY", value)
    with pytest.raises(GrandPlusError, match="expected a size like 8GiB or 500MB") as refused:
        memory()
    assert f"GRANDPLUS_MEMORY is {value!r}" in str(refused.value)


@pytest.mark.parametrize(("value", "expected"), [("5GiB", 5 * 2**30), ("0", 0), ("", 20 * 2**30), (None, 20 * 2**30)])
def test_the_disk_that_finished_trials_may_take(monkeypatch, value, expected):
    monkeypatch.delenv("GRANDPLUS_STORE", raising=False)
    if value is not None:
        monkeypatch.setenv("GRANDPLUS_STORE", value)
    assert store_limit() == expected


def test_a_disk_that_is_no_size(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_STORE", "all")
    with pytest.raises(GrandPlusError, match="GRANDPLUS_STORE is 'all'; expected a size like 8GiB or 500MB"):
        store_limit()


@pytest.mark.parametrize(
    ("value", "has_gpu", "expected"),
    [
        ("cpu", True, "cpu"),
        ("cpu", False, "cpu"),
        ("auto", True, "cuda"),
        ("auto", False, "cpu"),
        ("", False, "cpu"),
        (" cuda ", True, "cuda"),
        (None, True, "cuda"),
        (None, False, "cpu"),
    ],
)
def test_device(monkeypatch, value, has_gpu, expected):
    monkeypatch.delenv("GRANDPLUS_DEVICE", raising=False)
    if value is not None:
        monkeypatch.setenv("GRANDPLUS_DEVICE", value)
    monkeypatch.setattr(environment, "_has_gpu_driver", lambda: True)
    monkeypatch.setattr("torch.cuda.is_available", lambda: has_gpu)
    assert device() == expected


def test_torch_is_not_imported_where_no_driver_is():
    program = """
        import sys
        from grandplus.runtime import environment
        environment._has_gpu_driver = lambda: False
        print(environment.device(), "torch" in sys.modules)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, env=os.environ | {"GRANDPLUS_DEVICE": "auto"}, capture_output=True, text=True)
    assert done.stdout.split() == ["cpu", "False"]


@pytest.mark.parametrize("value", ["gpu", "CPU", "cuda:0", "cpu,cuda"])
def test_a_device_that_does_not_exist(monkeypatch, value):
    monkeypatch.setenv("GRANDPLUS_DEVICE", value)
    with pytest.raises(GrandPlusError, match=f"GRANDPLUS_DEVICE is '{value}'; expected auto, cpu or cuda"):
        device()


def test_a_gpu_that_is_wanted_but_not_there(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cuda")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(GrandPlusError, match="torch finds no usable GPU; unset it, or install a CUDA build"):
        device()


def test_the_cache_folder_is_shared_by_all_checkouts(tmp_path, monkeypatch):
    monkeypatch.delenv("GRANDPLUS_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder("kernels") == tmp_path / "home/.cache/grandplus/kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder("kernels") == tmp_path / "xdg/grandplus/kernels"
    monkeypatch.setenv("GRANDPLUS_CACHE", "~/mine")
    assert cache_folder("downloads") == tmp_path / "home/mine/downloads"
    assert cache_folder("downloads").is_dir()


def test_a_cache_folder_that_can_not_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "file"))
    with pytest.raises(GrandPlusError, match="can't be made: Not a directory; set GRANDPLUS_CACHE") as refused:
        cache_folder("kernels")
    assert str(refused.value).startswith(f"{tmp_path / 'file' / 'kernels'}: ")


def test_a_limit_of_memory_is_known_where_it_is_set(monkeypatch):
    monkeypatch.setenv("GRANDPLUS_MEMORY", "1KiB")
    assert memory_limit() == 1024
    monkeypatch.delenv("GRANDPLUS_MEMORY")
    assert memory_limit() is None


@pytest.mark.parametrize("top", ["main", ""])
def test_relative_paths_start_from_the_root(tmp_path, monkeypatch, top):
    """An experiment runs in a folder of its own, and its user's paths are those of the checkout it was started from."""
    here = tmp_path / "here"
    for folder in (here, tmp_path / "main", here / "data", tmp_path / "main/data"):
        folder.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("GRANDPLUS_ROOT", top and str(tmp_path / top))
    monkeypatch.setenv("GRANDPLUS_MIRROR", "data")
    assert from_root("x.csv").absolute() == tmp_path / (top or "here") / "x.csv"
    assert from_root("/x.csv") == Path("/x.csv")
    assert mirror_folder().absolute() == tmp_path / (top or "here") / "data"


@pytest.mark.parametrize("value", [None, "", " "])
def test_there_may_be_no_mirror(monkeypatch, value):
    monkeypatch.delenv("GRANDPLUS_MIRROR", raising=False)
    if value is not None:
        monkeypatch.setenv("GRANDPLUS_MIRROR", value)
    assert mirror_folder() is None


@pytest.mark.parametrize(
    ("variable", "folder"),
    [
        ("GRANDPLUS_MIRROR", mirror_folder),
        ("GRANDPLUS_SCRATCH", existing_scratch_folder),
        ("GRANDPLUS_CACHE", lambda: cache_folder("x")),
    ],
)
def test_a_home_folder_that_is_not_known_is_refused(monkeypatch, variable, folder):
    monkeypatch.setenv(variable, "~nosuchuser/x")
    with pytest.raises(GrandPlusError) as error:
        folder()
    assert str(error.value) == (
        f"{variable}: ~nosuchuser/x begins with a home folder that the system doesn't know; write the whole path"
    )
    assert variable_of("/nowhere/x") == ""  # an error about another file is still told


def test_a_mirror_that_is_no_folder(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("OWN_MIRROR", str(tmp_path / "file"))
    with pytest.raises(GrandPlusError, match=r"OWN_MIRROR is .*; expected an existing folder; correct or unset it"):
        mirror_folder("OWN_MIRROR")
