"""Scratch folders: work survives a kill, results appear whole or not at all, one process at a time."""

import errno
import os
import shutil
import signal
from contextlib import suppress
from pathlib import Path

import pytest
from processes import finished, python

from grandplus.runtime import storage
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.storage import digest_of_code, finished_whole, key_of, locked, replaced, scratch


class Killed(BaseException):
    """Stands for whatever ends a block early."""


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv("GRANDPLUS_ROOT", raising=False)
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(tmp_path / "scratch"))
    return tmp_path / "scratch"


def contents(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): file.read_text() for file in sorted(folder.rglob("*")) if file.is_file()}


def run(target: Path, pieces: dict[str, str], *, name="stage", key="key", killed=False) -> dict[str, str]:
    """A run that adds some pieces; returns those that it met."""
    before = contents(target)
    with suppress(Killed), scratch(name, key, target) as folder:
        met = contents(folder)
        for piece, text in pieces.items():
            (folder / piece).write_text(text)
        assert contents(target) == before
        if killed:
            raise Killed
    return met


# --- Interrupted and resumed -----------------------------------------------------------------


def test_an_interrupted_block_keeps_its_pieces_for_the_next(root, tmp_path):
    target = tmp_path / "data" / "rows"
    assert run(target, {"one": "1"}, killed=True) == {}
    assert not target.exists()
    assert run(target, {"two": "2"}, killed=True) == {"one": "1"}
    assert not target.exists()
    assert run(target, {"three": "3"}) == {"one": "1", "two": "2"}
    assert contents(target) == {"one": "1", "two": "2", "three": "3"}
    assert [file.name for file in root.iterdir()] == ["stage-key.lock"]


def test_after_it_is_done_the_next_run_starts_anew(root, tmp_path):
    assert run(tmp_path / "out", {"old": "1"}) == {}
    assert run(tmp_path / "out", {"new": "2"}) == {}
    assert contents(tmp_path / "out") == {"new": "2"}


def test_an_old_result_stays_until_the_new_one_is_whole(root, tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "old").write_text("old")
    run(target, {"new": "new"}, killed=True)
    assert contents(target) == {"old": "old"}
    run(target, {})
    assert contents(target) == {"new": "new"}


def test_other_inputs_and_stages_have_other_folders(root, tmp_path):
    for name, key in (("gfpush", "a"), ("gfpush", "b"), ("train", "a")):
        assert run(tmp_path / "out", {"piece": name + key}, name=name, key=key, killed=True) == {}
    assert run(tmp_path / "out", {}, name="gfpush", key="b") == {"piece": "gfpushb"}
    assert contents(tmp_path / "out") == {"piece": "gfpushb"}


def test_half_written_files_are_removed(root, tmp_path):
    run(tmp_path / "out", {"rows.parquet.0123abcd.partial": "hal", "rows.parquet": "whole"}, killed=True)
    assert run(tmp_path / "out", {}) == {"rows.parquet": "whole"}


KILLED = """
import os, signal, sys
from pathlib import Path
from grandplus.runtime.storage import finished_whole, scratch

with scratch("stage", "key", Path(sys.argv[1])) as folder:
    with finished_whole(folder / "first") as partial:
        partial.write_text("1")
    with finished_whole(folder / "second") as partial:
        partial.write_text("hal")
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_what_it_had_finished(root, tmp_path):
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    with python(script, tmp_path / "out") as process:
        assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    assert len(list((root / "stage-key").glob("second.*.partial"))) == 1
    with scratch("stage", "key", tmp_path / "out") as folder:
        assert contents(folder) == {"first": "1"}


# --- Published -------------------------------------------------------------------------------


def test_a_result_reaches_another_file_system(root, tmp_path, monkeypatch):
    rename, target = os.rename, tmp_path / "out"

    def across(old, new):
        if Path(old).parent != Path(new).parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        assert contents(Path(old)) == {"piece": "1", "sub/other": "2"}  # whole before it has its name
        rename(old, new)

    monkeypatch.setattr(os, "rename", across)
    (tmp_path / "out.partial").mkdir()  # left by a run that was killed while it copied
    (tmp_path / "out.partial" / "stale").write_text("0")
    with scratch("stage", "key", target) as folder:
        (folder / "piece").write_text("1")
        (folder / "sub").mkdir()
        (folder / "sub" / "other").write_text("2")
    assert contents(target) == {"piece": "1", "sub/other": "2"}
    assert not folder.exists()
    assert not (tmp_path / "out.partial").exists()


def test_a_result_that_can_not_be_moved_is_kept(root, tmp_path, monkeypatch):
    def fails(old, new):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "rename", fails)
    with pytest.raises(PermissionError), scratch("stage", "key", tmp_path / "out") as folder:
        (folder / "piece").write_text("1")
    monkeypatch.undo()
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(root))
    with scratch("stage", "key", tmp_path / "out"):
        pass
    assert contents(tmp_path / "out") == {"piece": "1"}


# --- Where it lies ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("top", "own", "expected"),
    [
        (None, None, "here/.grandplus/scratch"),
        (None, "  ", "here/.grandplus/scratch"),
        (None, "mine", "here/mine"),
        ("main", None, "main/.grandplus/scratch"),  # a temporary checkout resumes in the main one
        ("main", "mine", "main/mine"),
        ("main", "/absolute", "/absolute"),
    ],
)
def test_the_folder_is_that_of_the_main_checkout(tmp_path, monkeypatch, top, own, expected):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name, value in (("GRANDPLUS_ROOT", top and str(tmp_path / top)), ("GRANDPLUS_SCRATCH", own)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value.replace("/absolute", str(tmp_path / "absolute")))
    with scratch("stage", "key", tmp_path / "out") as folder:
        assert folder == tmp_path / expected.lstrip("/") / "stage-key"


# --- The key ---------------------------------------------------------------------------------


def test_the_key_changes_with_every_input_but_not_with_their_order():
    inputs = {"matrix": "avg", "push": {"rmax": 1e-5, "weights": None}, "nodes": [1, 2, 3]}
    key = key_of(inputs, "code")
    assert key == key_of(dict(reversed(inputs.items())), "code")
    assert len(key) == 16
    others = [
        inputs | {"matrix": "ppr"},
        inputs | {"push": {"rmax": 1e-6, "weights": None}},
        inputs | {"push": {"rmax": 1e-5, "weights": [1.0]}},
        inputs | {"nodes": [1, 2]},
        inputs | {"nodes": [2, 1, 3]},
        inputs | {"more": None},
        {"matrix": "avg"},
        {},
    ]
    keys = {key, key_of(inputs, "other code"), *(key_of(other, "code") for other in others)}
    assert len(keys) == 2 + len(others)


def test_the_digest_of_code_changes_with_each_file_and_its_name(tmp_path):
    package, script = tmp_path / "package", tmp_path / "script.py"
    (package / "sub").mkdir(parents=True)
    script.write_text("x = 1")
    digests = [digest_of_code([package, script])]
    for file, text in ((package / "a.py", "x = 1"), (package / "sub/b.py", "y"), (script, "x = 2")):
        file.write_text(text)
        digests.append(digest_of_code([package, script]))
    (package / "sub/b.py").rename(package / "b.py")
    digests.append(digest_of_code([package, script]))
    assert len(set(digests)) == len(digests)
    (package / "notes.txt").write_text("not code")
    assert digest_of_code([script, package]) == digests[-1]  # in any order
    copied = shutil.copytree(package, tmp_path / "elsewhere" / "package")
    assert digest_of_code([package]) == digest_of_code([copied])
    assert digest_of_code([package]) != digests[-1]


# --- finished_whole --------------------------------------------------------------------------


def test_a_file_appears_whole(tmp_path):
    file = tmp_path / "result"
    with finished_whole(file) as partial:
        partial.write_text("half")
        assert not file.exists()
        assert partial.parent == tmp_path
        assert partial.name.endswith(".partial")  # so that scratch removes it after a kill
    assert contents(tmp_path) == {"result": "half"}


def test_a_file_that_is_not_finished_leaves_the_old_one(tmp_path):
    file = tmp_path / "result"
    file.write_text("old")
    with suppress(Killed), finished_whole(file) as partial:
        partial.write_text("new")
        raise Killed
    assert contents(tmp_path) == {"result": "old"}


def test_two_writers_of_one_file_do_not_share_a_name(tmp_path):
    with finished_whole(tmp_path / "result") as one, finished_whole(tmp_path / "result") as other:
        assert one != other
        one.write_text("one")
        other.write_text("other")
    assert contents(tmp_path) == {"result": "one"}  # left last


# --- replaced --------------------------------------------------------------------------------


def made(path: Path, content: str, kind: str) -> Path:
    if kind == "folder":
        path.mkdir()
    (path / "file" if kind == "folder" else path).write_text(content)
    return path


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_replacement_is_undone_by_an_error(tmp_path, kind):
    target = made(tmp_path / "target", "old", kind)
    with suppress(Killed), replaced(target, made(tmp_path / "new", "new", kind)):
        assert "new" in contents(tmp_path).values()
        raise Killed
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["new", "target"]
    assert next(content for name, content in contents(tmp_path).items() if name.startswith("target")) == "old"
    with replaced(target, tmp_path / "new"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["target"]
    assert list(contents(tmp_path).values()) == ["new"]


def test_a_link_is_replaced_and_what_it_leads_to_stays(tmp_path):
    made(tmp_path / "elsewhere", "old", "folder")
    (tmp_path / "target").symlink_to(tmp_path / "elsewhere")
    with replaced(tmp_path / "target", made(tmp_path / "new", "new", "folder")):
        pass
    assert not (tmp_path / "target").is_symlink()
    assert contents(tmp_path) == {"elsewhere/file": "old", "target/file": "new"}


@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("killed_at", range(5))
def test_a_replacement_that_a_kill_cuts_short_leaves_the_old_or_the_new_whole(tmp_path, monkeypatch, kind, killed_at):
    """After each rename, and while the old one is removed; the next replacement begins with what is whole."""
    target, calls = made(tmp_path / "target", "old", kind), 0
    rename, remove = os.rename, storage.remove

    def counted(do):
        def call(*arguments):
            nonlocal calls
            if calls == killed_at:
                raise Killed
            do(*arguments)
            calls += 1

        return call

    with monkeypatch.context() as patch:  # the process is gone: nothing is undone
        patch.setattr(os, "rename", counted(rename))
        patch.setattr(storage, "remove", counted(remove))
        with suppress(Killed), replaced(target, made(tmp_path / "new", "new", kind)):
            pass
    storage._restore(target)
    assert next(content for name, content in contents(tmp_path).items() if name.startswith("target")) in ("old", "new")
    with replaced(target, made(tmp_path / "newer", "newer", kind)):
        pass
    assert "newer" in [content for name, content in contents(tmp_path).items() if name.startswith("target")]
    assert {path.name for path in tmp_path.iterdir()} <= {"target", "new"}


# --- The lock --------------------------------------------------------------------------------

HOLDER = """
import sys, time
from pathlib import Path
from grandplus.runtime.storage import scratch

with scratch("stage", "key", Path(sys.argv[1])) as folder:
    print("inside", flush=True)
    (folder / sys.argv[2]).write_text("1")
    time.sleep({"briefly": 0, "forever": 600}[sys.argv[3]])
"""


@pytest.fixture
def holder(tmp_path, root):
    script = tmp_path / "holder.py"
    script.write_text(HOLDER)

    def start(name: str, how_long: str):
        return python(script, tmp_path / "out", name, how_long)

    return start


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_a_second_process_waits_until_the_holder_is_gone(holder, tmp_path, sent):
    with holder("first", "forever") as first:
        assert first.stdout.readline() == "inside\n"
        with holder("second", "briefly") as second:
            assert second.stderr.readline().startswith("waiting for another process that holds ")
            assert second.poll() is None
            assert sorted(file.name for file in (tmp_path / "scratch" / "stage-key").iterdir()) == ["first"]
            first.send_signal(sent)
            assert finished(second) == "inside\n"  # which was not printed before
    # The second one went on from what the first had finished.
    assert contents(tmp_path / "out") == {"first": "1", "second": "1"}


def test_a_second_process_gets_in_when_the_first_has_ended(holder, tmp_path):
    with holder("first", "briefly") as first:
        assert finished(first) == "inside\n"
    with holder("second", "briefly") as second:
        assert finished(second) == "inside\n"
    assert contents(tmp_path / "out") == {"second": "1"}


def test_other_keys_do_not_wait(holder, tmp_path):
    with holder("first", "forever") as first:
        assert first.stdout.readline() == "inside\n"
        with scratch("stage", "other", tmp_path / "elsewhere"):
            pass
    assert (tmp_path / "elsewhere").is_dir()


def test_a_lock_is_given_up_after_an_error(tmp_path, capfd):
    for _ in range(2):
        with pytest.raises(Killed), locked(tmp_path / "lock"):
            raise Killed
    assert capfd.readouterr().err == ""


CHILD = """
import multiprocessing, os, sys, time
from pathlib import Path
from grandplus.runtime.storage import locked

if __name__ == "__main__":
    with locked(Path(sys.argv[1])):
        child = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(600,))
        child.start()
        print(child.pid, flush=True)
        time.sleep(600)
"""


def test_a_child_that_outlives_the_holder_does_not_hold_the_lock(tmp_path, capfd):
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    with python(script, tmp_path / "lock") as process:
        child = int(process.stdout.readline())
        process.kill()
        process.wait()
        try:
            with locked(tmp_path / "lock"):
                pass
        finally:
            os.kill(child, signal.SIGKILL)
    assert capfd.readouterr().err == ""


def test_a_scratch_folder_that_cannot_be_made_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(tmp_path / "file" / "scratch"))
    with (
        pytest.raises(GrandPlusError, match=r"file/scratch: can't be made: Not a directory; set GRANDPLUS_SCRATCH"),
        scratch("stage", "key", tmp_path / "out"),
    ):
        pass
