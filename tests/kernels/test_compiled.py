"""Kernels are compiled once for all checkouts, and again where the cache is damaged."""

import importlib.util
import os
import shutil
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import numba
import numpy as np
import pytest
from processes import finished, python

from grandplus.kernels import compiled as module
from grandplus.kernels.compiled import FLOAT64, INT64, compiled, writable

SOURCE = """
def running_sum(values, out):
    total = 0.0
    for i in range(len(values)):
        total += values[i]
        out[i] = total
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(sys.modules, "sums", None)  # put back at the end
    return tmp_path / "cache" / "kernels"


@pytest.fixture
def source(tmp_path):
    """``source("checkout")``: a module with a small kernel in a folder of that name."""

    def write(folder: str, text: str = SOURCE) -> Path:
        file = tmp_path / folder / "sums.py"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return file

    return write


def function_of(file: Path):
    spec = importlib.util.spec_from_file_location("sums", file)
    loaded = sys.modules["sums"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded.running_sum


def kernel_of(file: Path):
    """The kernel, checked to compute what it should."""
    kernel = compiled(function_of(file), FLOAT64, writable(FLOAT64))
    out = np.zeros(4)
    kernel(np.array([1.0, 2.0, 3.5, -1.0]), out)
    assert out.tolist() == [1, 3, 6.5, 5.5]
    return kernel


def compilations(kernel) -> tuple[int, int]:
    """How often it came from the cache, and how often from the compiler."""
    return sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values())


# --- One place for all checkouts -------------------------------------------------------------


def test_a_second_use_takes_the_compiled_code(source, cache):
    file = source("checkout")
    assert compilations(kernel_of(file)) == (0, 1)
    assert compilations(kernel_of(file)) == (1, 0)
    assert not (file.parent / "__pycache__").exists() or not list((file.parent / "__pycache__").glob("*.nb*"))
    assert [folder.name.split("-")[0] for folder in cache.iterdir() if folder.is_dir()] == ["sums"]


def test_a_copy_elsewhere_takes_the_compiled_code(source):
    kernel_of(source("checkout"))
    copy = source("another-checkout")
    os.utime(copy, (1, 1))  # written at another time
    assert compilations(kernel_of(copy)) == (1, 0)


def test_other_source_is_compiled_anew_and_the_old_code_stays(source):
    first = source("checkout")
    kernel_of(first)
    other = source("another-checkout", SOURCE + "\n# a comment\n")
    assert compilations(kernel_of(other)) == (0, 1)
    assert compilations(kernel_of(first)) == (1, 0)
    first.write_text(SOURCE.replace("total += values[i]", "total = values[i]"))
    kernel = compiled(function_of(first), FLOAT64, writable(FLOAT64))
    out = np.zeros(2)
    kernel(np.array([1.0, 2.0]), out)
    assert out.tolist() == [1, 2]


def test_each_set_of_types_is_compiled_once(source):
    function = function_of(source("checkout"))
    for _ in range(2):
        kernel = compiled(function, INT64, writable(FLOAT64))
        out = np.zeros(2)
        kernel(np.array([1, 2]), out)
        assert out.tolist() == [1, 3]
    assert compilations(kernel) == (1, 0)
    assert compilations(kernel_of(source("checkout"))) == (0, 1)


def test_the_kernels_of_the_product_are_cached_too(monkeypatch, cache):
    from grandplus.propagation import power

    monkeypatch.setattr(power, "_kernel", power._kernel.__wrapped__)
    assert compilations(power._kernel("int32")) == (0, 1)
    assert compilations(power._kernel("int32")) == (1, 0)
    assert [folder.name.split("-")[0] for folder in cache.iterdir() if folder.is_dir()] == ["power"]


def test_numba_is_left_as_it_was(source):
    before = numba.config.CACHE_LOCATOR_CLASSES
    kernel_of(source("checkout"))
    assert before == numba.config.CACHE_LOCATOR_CLASSES
    with pytest.raises(numba.core.errors.TypingError):
        compiled(function_of(source("broken", SOURCE.replace("0.0", "values.nothing"))), FLOAT64, writable(FLOAT64))
    assert before == numba.config.CACHE_LOCATOR_CLASSES


def test_threads_that_compile_at_once_leave_numba_as_it_was(source, monkeypatch):
    before = numba.config.CACHE_LOCATOR_CLASSES
    both, njit = threading.Barrier(2), numba.njit

    def meeting_njit(*arguments, **options):
        try:
            both.wait(timeout=0.5)  # holds the first thread until the second gets here, if it may
        except threading.BrokenBarrierError:
            pass
        else:
            monkeypatch.setattr(numba, "njit", njit)
        return njit(*arguments, **options)

    monkeypatch.setattr(numba, "njit", meeting_njit)
    files = [source("one"), source("other", SOURCE + "\n")]
    threads = [threading.Thread(target=kernel_of, args=(file,)) for file in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert before == numba.config.CACHE_LOCATOR_CLASSES
    assert [compilations(kernel_of(file)) for file in files] == [(1, 0), (1, 0)]


# --- What a kernel accepts -------------------------------------------------------------------


def test_read_only_arrays_are_read_but_not_written(source):
    kernel = kernel_of(source("checkout"))
    read_only = np.array([1.0, 2.0])
    read_only.flags.writeable = False
    out = np.zeros(2)
    kernel(read_only, out)
    assert out.tolist() == [1, 3]
    with pytest.raises(TypeError, match="No matching definition"):
        kernel(out, read_only)
    with pytest.raises(TypeError, match="No matching definition"):
        kernel(np.zeros(4)[::2], out)


def test_kernels_run_without_the_gil_and_without_fastmath(source):
    options = kernel_of(source("checkout")).targetoptions
    assert options["nogil"] is True
    assert not options.get("fastmath")
    assert not options.get("parallel")


# --- A damaged cache -------------------------------------------------------------------------

DAMAGE = {
    "empty": lambda whole: b"",
    "one byte": lambda whole: whole[:1],
    "truncated early": lambda whole: whole[:20],
    "cut in half": lambda whole: whole[: len(whole) // 2],
    "without its last byte": lambda whole: whole[:-1],
    "zeros": lambda whole: bytes(len(whole)),
    "zeros from half on": lambda whole: whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2),
    "something else": lambda whole: b"<!DOCTYPE html>\n<html></html>\n",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc", "*.nb?"], ids=["index", "code", "both"])
def test_a_damaged_cache_is_made_anew(source, cache, pattern, damage):
    file = source("checkout")
    kernel_of(file)
    files = list(cache.glob(f"sums-*/{pattern}"))
    assert len(files) == 1 + (pattern == "*.nb?")
    for part in files:
        part.write_bytes(damage(part.read_bytes()))
    assert compilations(kernel_of(file)) == (0, 1)
    assert compilations(kernel_of(file)) == (1, 0)  # and is whole again


@pytest.mark.parametrize("pattern", ["*.nbi", "*.nbc"])
def test_a_missing_file_of_the_cache_is_made_anew(source, cache, pattern):
    file = source("checkout")
    kernel_of(file)
    for part in cache.glob(f"sums-*/{pattern}"):
        part.unlink()
    assert compilations(kernel_of(file)) == (0, 1)
    assert compilations(kernel_of(file)) == (1, 0)


def test_a_cache_that_was_removed_is_made_anew(source, cache):
    file = source("checkout")
    kernel_of(file)
    shutil.rmtree(cache)
    assert compilations(kernel_of(file)) == (0, 1)


def test_damage_to_one_kernel_leaves_the_others(source, cache):
    damaged, other = source("one"), source("other", SOURCE + "\n")
    kernel_of(other)
    kernel_of(damaged)
    for part in module._folder_of(function_of(damaged)).glob("*.nbc"):
        part.write_bytes(b"")
    assert compilations(kernel_of(damaged)) == (0, 1)
    assert compilations(kernel_of(other)) == (1, 0)


# --- Several processes -----------------------------------------------------------------------

PROCESS = """
import sys
import numpy as np
import sums
from grandplus.compiled import FLOAT64, compiled, writable

kernel = compiled(sums.running_sum, FLOAT64, writable(FLOAT64))
out = np.zeros(1000)
kernel(np.ones(1000), out)
print(*out[[0, 1, 999]], sum(kernel.stats.cache_hits.values()))
"""


def test_processes_that_start_at_once_compile_once(source, tmp_path):
    # As worker processes do on a fresh machine, and checkouts beside each other.
    with ExitStack() as running:
        processes = []
        for number in range(3):
            script = source(f"checkout-{number % 2}").with_name("process.py")
            script.write_text(PROCESS)
            processes.append(running.enter_context(python(script)))
        printed = [finished(process).split() for process in processes]
    assert [line[:3] for line in printed] == [["1.0", "2.0", "1000.0"]] * 3
    assert sorted(line[3] for line in printed) == ["0", "1", "1"]


def test_a_process_killed_while_it_compiles_does_no_harm(source, tmp_path, cache):
    file = source("checkout")
    script = file.with_name("process.py")
    script.write_text(PROCESS.replace("import sums\n", "import sums, numba\n").replace(
        "kernel = compiled", "print('compiling', flush=True)\nkernel = compiled"
    ))  # fmt: skip
    with python(script) as process:
        assert process.stdout.readline() == "compiling\n"
        process.kill()
        process.wait()
    assert sum(compilations(kernel_of(file))) == 1
