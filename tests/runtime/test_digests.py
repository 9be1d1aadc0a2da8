"""Digests of large files: computed once while nothing changes, and again after any change."""

import os
import time

import pytest

from grandplus.runtime import digests
from grandplus.runtime.digests import remembered, state_of


class Digest:
    """Gives the content of a file, and counts how often it was read."""

    def __init__(self, file):
        self.file, self.times = file, 0

    def __call__(self):
        self.times += 1
        return self.file.read_text()


@pytest.fixture
def large(tmp_path, monkeypatch):
    """A file that counts as large and that was written long ago."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(scratch))
    monkeypatch.setattr(digests, "LARGE", 3)
    monkeypatch.setattr(digests, "SETTLED", -1.0)
    file = tmp_path / "file"
    file.write_text("first")
    return file


def test_an_unchanged_file_is_read_once(large):
    digest = Digest(large)
    assert [remembered("text", [large], digest) for _ in range(3)] == ["first"] * 3
    assert digest.times == 1
    assert remembered("other digest", [large], lambda: "5 letters") == "5 letters"


def change_in_place(file):
    with file.open("r+") as content:
        content.write("other")


def replace_by_one_of_the_same_time_and_size(file):
    before, new = file.stat(), file.with_name("new")
    new.write_text("other")
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(new, file)


def change_and_set_the_time_back(file):
    before = file.stat()
    time.sleep(0.02)  # longer than a tick of the file system's clock
    change_in_place(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    "change", [change_in_place, replace_by_one_of_the_same_time_and_size, change_and_set_the_time_back]
)
def test_a_changed_file_is_read_again(large, change):
    assert remembered("text", [large], Digest(large)) == "first"
    time.sleep(0.02)
    change(large)
    assert remembered("text", [large], Digest(large)) == "other"


def test_a_file_that_was_just_written_may_change_again_at_the_same_time(large, monkeypatch):
    monkeypatch.setattr(digests, "SETTLED", 60.0)
    digest = Digest(large)
    assert [remembered("text", [large], digest) for _ in range(2)] == ["first"] * 2
    assert digest.times == 2


def test_after_an_hour_a_file_is_read_again(large, monkeypatch):
    digest, now = Digest(large), time.time()
    for later in (0, 3590, 3610):
        monkeypatch.setattr(digests.time, "time", lambda later=later: now + later)
        assert remembered("text", [large], digest) == "first"
    assert digest.times == 2


def test_what_was_opened_before_a_change_is_not_taken_for_the_file_of_now(large):
    opened, content = state_of([large]), large.read_text()
    replace_by_one_of_the_same_time_and_size(large)
    assert remembered("text", [large], lambda: content, opened) == "first"
    assert remembered("text", [large], Digest(large)) == "other"


@pytest.mark.parametrize("note", [b"", b"{}", b"[1, 2]", b"\xff", b'{"state": 1, "time": 2, "digest": "x"}'])
def test_a_damaged_note_counts_as_none(large, note):
    remembered("text", [large], Digest(large))
    (kept,) = (large.parent / "scratch/digests").iterdir()
    kept.write_bytes(note)
    assert remembered("text", [large], Digest(large)) == "first"


def test_no_folder_is_made_outside_a_project(large, monkeypatch):
    nowhere = large.parent / "nowhere"
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(nowhere))
    assert remembered("text", [large], Digest(large)) == "first"
    assert not nowhere.exists()
