"""Folders and zip archives of files: their names, the card's paths, and a run from them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from own import edges_csv, nodes_csv

from grandplus.datasets.fetch.fetch import fetch
from grandplus.importing.files import Choices, import_files
from grandplus.importing.gather import gathered, origins_of
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import GrandPlusError

TWO = Choices(train_per_class=2, val_per_class=2)
INSIDE = {"graph/edges.csv": edges_csv(), "graph/nodes.csv": nodes_csv()}
CLUTTER = {"graph/.hidden": b"x", "__MACOSX/graph/._edges.csv": b"x", ".git/HEAD": b"x"}


def written(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def zipped(file: Path, files: dict[str, bytes]) -> Path:
    file.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file


def test_names(tmp_path):
    folder = written(tmp_path / "f", {"top/raw/a.csv": b"1", "top/split/x/a.csv": b"2", **CLUTTER})
    assert list(origins_of([folder])) == ["raw/a.csv", "split/x/a.csv"]
    archive = zipped(tmp_path / "f.zip", {"top/raw/a.csv": b"1", "top/split/x/a.csv": b"2", **CLUTTER})
    assert list(origins_of([archive])) == ["raw/a.csv", "split/x/a.csv"]
    list_of_ids = written(folder, {"top/train.txt": b"3"}) / "top" / "train.txt"
    names = ["raw/a.csv", "split/x/a.csv", "train.txt"]
    assert list(origins_of([folder, list_of_ids])) == list(origins_of([folder])) == names
    other = written(tmp_path / "other", {"a.csv": b"3"})
    with pytest.raises(GrandPlusError, match=r"other/a\.csv: is called like .*f/top/split/x/a\.csv; give it another"):
        origins_of([folder / "top" / "split", other])


def test_a_folder_is_used_as_it_is(tmp_path):
    folder = written(tmp_path / "f", {"top/raw/a.csv": b"1", "top/split/x/a.csv": b"2"})
    with gathered([folder]) as found:
        assert found.folder == folder / "top"


def test_files_of_several_places_are_gathered(tmp_path):
    folder = written(tmp_path / "f", {"raw/a.csv": b"1", "split/a.csv": b"2"})
    archive = zipped(tmp_path / "z.zip", {"b.csv": b"3"})
    with gathered([folder, archive]) as found:
        assert {name: (found.folder / name).read_bytes() for name in found.origins} == {
            "raw/a.csv": b"1",
            "split/a.csv": b"2",
            "b.csv": b"3",
        }
        made = found.folder
    assert not made.exists()


def test_errors_do_not_name_the_temporary_folder(tmp_path):
    archive = zipped(tmp_path / "z.zip", {"b.csv": b"3"})

    def read() -> None:
        with gathered([archive]) as found:
            file = found.folder / "b.csv"
            raise GrandPlusError("is wrong", where=file, expected=f"like {file}")

    with pytest.raises(GrandPlusError, match=r"^b\.csv: is wrong; expected like b\.csv$"):
        read()


@pytest.mark.parametrize("kind", ["folder", "zip", "zips of a file each"])
def test_a_run_finds_the_files_again(tmp_path, monkeypatch, checkout, kind):
    """In a folder beside the checkout, or in an archive within it; a file that changed is refused."""
    monkeypatch.setenv("GRANDPLUS_ROOT", str(checkout))
    if kind == "folder":
        given = [written(tmp_path / "f", {**INSIDE, **CLUTTER})]
        local = {name: str(given[0] / "graph" / name) for name in ("edges.csv", "nodes.csv")}
    elif kind == "zip":
        given = [zipped(checkout / "in" / "g.zip", {**INSIDE, **CLUTTER})]
        local = {name: f"in/g.zip/graph/{name}" for name in ("edges.csv", "nodes.csv")}
    else:
        given = [
            zipped(checkout / "in" / f"{Path(name).name}.zip", {name: content}) for name, content in INSIDE.items()
        ]
        local = {name: f"in/{name}.zip/graph/{name}" for name in ("edges.csv", "nodes.csv")}
    assert "nodes     12, from 0 to 11" in import_files("mine", given, root=checkout, choices=TWO)
    source = load_settings(checkout, dataset="mine").source
    assert source.places[0].local == local
    for number in ("first", "second"):  # the second time from the cache
        (tmp_path / number).mkdir()
        fetch(source, tmp_path / number, catalog=checkout, report=lambda _: None)
        assert (tmp_path / number / "nodes.csv").read_bytes() == nodes_csv()
    changed = {name: content.replace(b"b", b"a") for name, content in INSIDE.items()}
    written(given[0], changed) if kind == "folder" else [zipped(file, changed) for file in given]
    monkeypatch.setenv("GRANDPLUS_CACHE", str(tmp_path / "another cache"))
    (tmp_path / "third").mkdir()
    with pytest.raises(GrandPlusError, match=r"nodes\.csv from where it was imported from .*has sha256|no file"):
        fetch(source, tmp_path / "third", catalog=checkout, report=lambda _: None)
