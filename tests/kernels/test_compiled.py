"""Kernels are compiled once for all checkouts, and again where the cache is damaged."""

import importlib.util
import inspect
import os
import pkgutil
import shutil
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import numba
import numpy as np
import pytest
from processes import finished, python

import grandplus
from grandplus.kernels import compiled as module
from grandplus.kernels.compiled import FLOAT32, FLOAT64, IDS, INT64, Kernel, kernel, matrix, writable

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


def kernel_of(file: Path) -> Kernel:
    """The kernel, checked to compute what it should."""
    running_sum = kernel(FLOAT64, writable(FLOAT64))(function_of(file))
    out = np.zeros(4)
    running_sum(np.array([1.0, 2.0, 3.5, -1.0]), out)
    assert out.tolist() == [1, 3, 6.5, 5.5]
    return running_sum


def compilations(kernel: Kernel, *dtypes) -> tuple[int, int]:
    """How often it came from the cache, and how often from the compiler."""
    stats = kernel.compiled(*dtypes).stats
    return sum(stats.cache_hits.values()), sum(stats.cache_misses.values())


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
    copy = kernel(FLOAT64, writable(FLOAT64))(function_of(first))
    out = np.zeros(2)
    copy(np.array([1.0, 2.0]), out)
    assert out.tolist() == [1, 2]


def test_each_set_of_types_is_compiled_once(source):
    function = function_of(source("checkout"))
    for _ in range(2):
        running_sum = kernel(INT64, writable(FLOAT64))(function)
        out = np.zeros(2)
        running_sum(np.array([1, 2]), out)
        assert out.tolist() == [1, 3]
    assert compilations(running_sum) == (1, 0)
    assert compilations(kernel_of(source("checkout"))) == (0, 1)


def test_nothing_is_compiled_before_the_first_call(source, cache):
    running_sum = kernel(IDS, writable(FLOAT64))(function_of(source("checkout")))
    assert not cache.exists()
    running_sum(np.array([1], np.int32), np.zeros(1))
    assert len(list(cache.glob("sums-*/*.nbc"))) == 1  # for the type of ids that it met


def test_importing_the_package_compiles_nothing(tmp_path, cache):
    script = tmp_path / "imports.py"
    script.write_text(
        "import importlib, pkgutil, grandplus\n"
        "for module in pkgutil.walk_packages(grandplus.__path__, 'grandplus.'):\n"
        "    if not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)\n"
    )
    with python(script) as process:
        finished(process)
    assert not cache.exists()


def test_the_kernels_of_the_package_are_cached_too(cache):
    from grandplus.propagation import power

    for expected in ((0, 1), (1, 0)):
        step = Kernel(power._step.function, power._step.signature)
        assert compilations(step, np.dtype(np.uint32)) == expected
    assert [folder.name.split("-")[0] for folder in cache.iterdir() if folder.is_dir()] == ["power"]


def test_numba_is_left_as_it_was(source):
    before = numba.config.CACHE_LOCATOR_CLASSES
    kernel_of(source("checkout"))
    assert before == numba.config.CACHE_LOCATOR_CLASSES
    with pytest.raises(numba.core.errors.TypingError):
        kernel_of(source("broken", SOURCE.replace("0.0", "values.nothing")))
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
    running_sum = kernel_of(source("checkout"))
    read_only = np.array([1.0, 2.0])
    read_only.flags.writeable = False
    out = np.zeros(2)
    running_sum(read_only, out)
    assert out.tolist() == [1, 3]
    with pytest.raises(TypeError, match="No matching definition"):
        running_sum(out, read_only)
    with pytest.raises(TypeError, match="No matching definition"):
        running_sum(np.zeros(4)[::2], out)


def test_the_dtype_of_an_argument_chooses_among_the_types(source):
    function = function_of(source("checkout"))
    running_sum = kernel((*IDS, FLOAT32), writable((FLOAT64, INT64)))(function)
    chosen = []
    for values in (np.int32, np.int64, np.float32, np.int32):
        for sums in (np.float64, np.int64):
            out = np.zeros(3, sums)
            running_sum(np.array([1, 2, 3.5], values), out)
            assert out.tolist() == np.cumsum(np.array([1, 2, 3.5], values), dtype=np.float64).astype(sums).tolist()
            chosen.append(running_sum.compiled(np.dtype(values), np.dtype(sums)))
    assert len(set(map(id, chosen))) == 6
    with pytest.raises(TypeError, match="No matching definition: an array of int16"):
        running_sum(np.array([1], np.int16), np.zeros(1))


def test_threads_that_call_a_kernel_at_once_compile_it_once(source):
    running_sum = kernel(FLOAT64, writable(FLOAT64))(function_of(source("checkout")))
    together, results = threading.Barrier(4), []

    def call() -> None:
        out = np.zeros(2)
        together.wait()
        running_sum(np.array([1.0, 2.0]), out)
        results.append(out.tolist())

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [[1, 3]] * 4
    assert compilations(running_sum) == (0, 1)


def test_types_of_arrays():
    assert [kind.ndim for kind in matrix(IDS)] == [2, 2]
    assert matrix(FLOAT32, ndim=3).ndim == 3
    assert matrix(FLOAT32).mutable is False
    assert [kind.mutable for kind in writable(matrix(IDS))] == [True, True]
    assert str(writable(matrix(FLOAT32)).dtype) == "float32"


def test_kernels_run_without_the_gil_and_without_fastmath(source):
    options = kernel_of(source("checkout")).compiled().targetoptions
    assert options["nogil"] is True
    assert not options.get("fastmath")
    assert not options.get("parallel")


def test_a_division_by_zero_is_as_ieee_754_has_it(source):
    divided = kernel(FLOAT64, writable(FLOAT64))(
        function_of(source("checkout", SOURCE.replace("out[i] = total", "out[i] = values[i] / total")))
    )
    out = np.zeros(1)
    divided(np.array([0.0]), out)
    assert np.isnan(out[0])


# --- What a kernel may call ------------------------------------------------------------------


def test_kernels_of_the_package_call_only_functions_whose_source_names_their_cache():
    checked = set()
    for name, code in kernels_of_the_package():
        allowed = (code.__module__, "grandplus.kernels.")
        for called in called_functions(code):
            assert called.__module__.startswith(allowed), f"{name} calls {called.__module__}.{called.__name__}"
            checked.add(called.__name__)
    assert {"mix", "uniform", "_add"} <= checked


def kernels_of_the_package():
    for module_info in pkgutil.walk_packages(grandplus.__path__, "grandplus."):
        if not module_info.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module_info.name)).items():
                for held in value.values() if isinstance(value, dict) else [value]:
                    if isinstance(held, Kernel):
                        yield f"{module_info.name}.{name}", held.function


def called_functions(function):
    """The package's functions that a kernel names, and those that these name."""
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if inspect.isfunction(value) and value.__module__.startswith("grandplus."):
            yield value
            yield from called_functions(value)


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
    for part in module._cache_folder(function_of(damaged)).glob("*.nbc"):
        part.write_bytes(b"")
    assert compilations(kernel_of(damaged)) == (0, 1)
    assert compilations(kernel_of(other)) == (1, 0)


# --- Several processes -----------------------------------------------------------------------

PROCESS = """
import sys
import numpy as np
import sums
from grandplus.kernels.compiled import FLOAT64, kernel, writable

running_sum = kernel(FLOAT64, writable(FLOAT64))(sums.running_sum)
out = np.zeros(1000)
running_sum(np.ones(1000), out)
print(*out[[0, 1, 999]], sum(running_sum.compiled().stats.cache_hits.values()))
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
        "running_sum(np.ones", "print('compiling', flush=True)\nrunning_sum(np.ones"
    ))  # fmt: skip
    with python(script) as process:
        assert process.stdout.readline() == "compiling\n"
        process.kill()
        process.wait()
    assert sum(compilations(kernel_of(file))) == 1
