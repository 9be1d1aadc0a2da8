"""Finished work is found again whole, or not at all, and the least recently used gives way."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from grandplus.runtime import store as store_module
from grandplus.runtime.store import Store

CONTENT = {"history": b"one", "model": b"two and three"}  # 16 bytes
ENTRY = 16 + sum(64 + 2 + len(name) + 1 for name in CONTENT)  # with its SHA256SUMS


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "store", 2**20)


def add(store: Store, key: str, content: dict[str, bytes] = CONTENT) -> dict[str, Path]:
    made = store.folder.parent / "made" / key
    made.mkdir(parents=True, exist_ok=True)
    for name, data in content.items():
        (made / name).write_bytes(data)
    store.add(key, {name: made / name for name in content})
    return {name: made / name for name in content}


def taken(store: Store, key: str) -> dict[str, bytes] | None:
    """What `take` gives; None if it gives nothing."""
    out = store.folder.parent / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    found = store.take(key, out)
    content = {file.name: file.read_bytes() for file in out.iterdir()}
    assert found or not content
    return content if found else None


def keys(store: Store) -> set[str]:
    return {file.name for file in store.folder.iterdir() if file.is_dir()}


def test_what_was_added_is_found_under_its_key_alone(store):
    assert taken(store, "a") is None
    add(store, "a")
    assert taken(store, "a") == CONTENT
    assert taken(store, "b") is None


def test_files_take_their_room_once(store, tmp_path):
    made = add(store, "a")
    store.take("a", tmp_path)
    for name, file in made.items():
        assert (tmp_path / name).samefile(file)


def test_a_file_that_is_replaced_leaves_the_stored_one(store):
    made = add(store, "a")
    (made["model"].parent / "new").write_bytes(b"other")
    os.replace(made["model"].parent / "new", made["model"])
    assert taken(store, "a") == CONTENT


def test_without_hard_links_files_are_copied(store, monkeypatch):
    def link(*_):
        raise PermissionError

    monkeypatch.setattr(os, "link", link)
    made = add(store, "a")
    made["model"].write_bytes(b"changed in place")
    assert taken(store, "a") == CONTENT


def test_files_appear_in_the_order_in_which_they_were_added(store, tmp_path, monkeypatch):
    add(store, "a", {"z": b"1", "b": b"2", "m": b"3"})
    seen, replace = [], os.replace
    monkeypatch.setattr(os, "replace", lambda source, target: (seen.append(Path(target).name), replace(source, target)))
    store.take("a", tmp_path)
    assert seen == ["z", "b", "m"]


@pytest.mark.parametrize("name", ["history", "model", "SHA256SUMS"])
@pytest.mark.parametrize("damage", [lambda data: data[:-2], lambda data: b"x" + data[1:], lambda data: b"", None])
def test_damaged_work_counts_as_missing_and_makes_room_for_new(store, name, damage):
    add(store, "a")
    add(store, "b")
    file = store.folder / "a" / name
    if damage:
        file.write_bytes(damage(file.read_bytes()))
    else:
        file.unlink()
    assert taken(store, "a") is None
    assert keys(store) == {"b"}
    add(store, "a")
    assert taken(store, "a") == CONTENT


def test_the_least_recently_used_goes_first(tmp_path):
    store = Store(tmp_path / "store", 2 * ENTRY)
    for number, key in enumerate("abc"):
        add(store, key)
        os.utime(store.folder / key, (number, number))
    taken(store, "a")
    store.trim()
    assert keys(store) == {"a", "c"}
    Store(store.folder, ENTRY - 1).trim()
    assert keys(store) == set()


@pytest.mark.parametrize(("free", "left"), [(4 * ENTRY, 4), (2 * ENTRY, 3), (ENTRY, 2), (0, 2)])
def test_the_other_half_of_the_disk_stays_free(store, monkeypatch, free, left):
    for key in "abcd":
        add(store, key)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    store.trim()
    assert len(keys(store)) == left


def test_what_is_within_the_limit_stays(tmp_path):
    store = Store(tmp_path / "store", 2 * ENTRY)
    add(store, "a")
    add(store, "b")
    store.trim()
    assert keys(store) == {"a", "b"}


def test_the_first_of_two_equal_ones_stays(store):
    add(store, "a")
    first = (store.folder / "a/model").stat().st_ino
    add(store, "a")
    assert (store.folder / "a/model").stat().st_ino == first


def test_many_at_once_see_whole_entries_or_none(tmp_path):
    store = Store(tmp_path / "store", 3 * ENTRY)

    def use(number: int) -> None:
        random, out = np.random.default_rng(number), tmp_path / f"out-{number}"
        out.mkdir()
        files = {name: tmp_path / f"{name}-{number}" for name in CONTENT}
        for name, file in files.items():
            file.write_bytes(CONTENT[name])
        for key in map(str, random.integers(0, 5, 40)):
            if store.take(key, out):
                assert {file.name: file.read_bytes() for file in out.iterdir()} == CONTENT
            else:
                store.add(key, files)
            store.trim()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(4)))
    assert 0 < len(keys(store)) <= 3
    assert all(taken(store, key) == CONTENT for key in keys(store))


class Killed(BaseException):
    pass


def _use(store: Store) -> None:
    add(store, "new")
    store.take("old", store.folder.parent)
    Store(store.folder, 0).trim()


@pytest.mark.parametrize("after", range(8))
def test_a_kill_leaves_all_of_an_entry_or_none(store, monkeypatch, after):
    """At each operation on the disk that `add`, `take` and `trim` do."""
    add(store, "old")
    left = after

    def killed_in(function):
        def until(*arguments, **options):
            nonlocal left
            left -= 1
            if left < 0:
                raise Killed
            return function(*arguments, **options)

        return until

    with monkeypatch.context() as patch:
        for name in ("link", "rename", "utime", "replace"):
            patch.setattr(store_module.os, name, killed_in(getattr(os, name)))
        patch.setattr(store_module, "write_sums", killed_in(store_module.write_sums))
        with pytest.raises(Killed):
            _use(store)
    for key in ("old", "new"):
        assert taken(store, key) in (None, CONTENT)
    add(store, "new")
    assert taken(store, "new") == CONTENT
    store.trim()
    assert not list(store.folder.glob("*.partial"))


@pytest.mark.parametrize("name", ["", "SHA256SUMS", "model"])
def test_a_file_in_place_of_a_folder_or_the_reverse_counts_as_damage(store, name):
    add(store, "a")
    path = store.folder / "a" / name
    if name:
        path.unlink()
        path.mkdir()
    else:
        shutil.rmtree(path)
        path.write_text("x")
    assert taken(store, "a") is None
    add(store, "a")
    assert taken(store, "a") == CONTENT
