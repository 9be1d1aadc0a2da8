"""A download that follows redirects, resumes after a cut connection, and answers the confirm page of Google Drive."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from urllib.request import url2pathname

import requests

from grandplus.runtime.errors import GrandPlusError, path_in_errors
from grandplus.runtime.progress import Progress

TIMEOUT = (5, 60)  # seconds to connect, and between two pieces of an answer
TRIES = 8  # connections for one file
PAUSE = 1.0  # seconds before the second try; each further pause is twice as long
PIECE = 2**16  # bytes; an unfinished piece is lost if the connection is cut
PAGE = 2**20  # bytes of a confirm page that are read
RANGE_NOT_SATISFIABLE = 416  # HTTP status
_CUT = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError)


@dataclass(frozen=True)
class _Request:
    address: str
    method: str = "GET"
    inputs: dict[str, str] = field(default_factory=dict)  # of a form


class UnavailableError(Exception):
    """A place can't deliver, for this reason; the next one is tried."""


def download(
    address: str, target: Path, *, confirm: bool = False, announce: Callable[[int], None] = lambda size: None
) -> None:
    """Save a file from an address of http, https or file.

    Parameters
    ----------
    address : str
    target : Path
    confirm : bool
        If an HTML page comes instead of the file, whether its form is submitted, once.
    announce : callable
        Is given the size in bytes before the first byte, if the server tells it.

    Raises
    ------
    UnavailableError
        The server can't be reached, or there is no such file.
    GrandPlusError
        The connection is cut too often, a page comes instead of the file, or the disk is full.
    """
    try:
        with path_in_errors(target):
            if address.startswith("file:"):
                _copy(Path(url2pathname(urlsplit(address).path)), target, announce)
                return
            with requests.Session() as session:
                session.headers["Accept-Encoding"] = "identity"  # or a Range would count compressed bytes
                request = _Request(address)
                if confirm:
                    request = _confirmed(session, request, target.name)
                _resuming(session, request, target, announce, page_is_error=confirm)
    except requests.RequestException as error:
        raise UnavailableError(_short(error, target.name)) from None


def _copy(source: Path, target: Path, announce: Callable[[int], None]) -> None:
    if not source.is_file():
        raise UnavailableError(f"has no file {source}")
    announce(source.stat().st_size)
    shutil.copyfile(source, target)


def _short(error: requests.RequestException, name: str) -> str:
    if error.response is not None:
        return f"answers {name} with HTTP status {error.response.status_code}"
    return f"can't be reached ({type(error).__name__})"


def _resuming(
    session: requests.Session,
    request: _Request,
    target: Path,
    announce: Callable[[int], None],
    *,
    page_is_error: bool,
) -> None:
    """Save the file over as many connections as it takes, TRIES at most; another process can resume it after a kill."""
    note = version_note(target)
    version = note.read_text() if note.is_file() else ""
    size, have = None, target.stat().st_size if version and target.is_file() else 0
    for number in range(TRIES):
        headers = {"Range": f"bytes={have}-", "If-Range": version} if have else {}
        try:
            with _send(session, request, {key: value for key, value in headers.items() if value}) as answer:
                if page_is_error and _is_page(answer):
                    raise _page_error(answer, target.name)
                if answer.status_code == 206:
                    size = _checked_size(answer, have, size)
                else:  # the whole file: the first try, a server that knows no Range, or one that has a new version
                    version, size, have = _version(answer), _size(answer), 0
                    note.unlink(missing_ok=True)  # it must never name another version than the file's
                    target.open("wb").close()
                    note.write_text(version)
                if size is not None and number == 0:
                    announce(size - have)
                _save(answer, target, have, size)
            have = target.stat().st_size
            if size is None or have == size:
                note.unlink(missing_ok=True)
                return
        except requests.HTTPError as error:
            if not have or error.response is None or error.response.status_code != RANGE_NOT_SATISFIABLE:
                raise
            have, version = 0, ""  # the file has become shorter
        except _CUT:
            if not target.exists():
                raise  # the server can't be reached: the next place is quicker than more tries
            have = target.stat().st_size
        if number < TRIES - 1:
            time.sleep(PAUSE * 2**number)
    found = f"is truncated: the connection ended after {have:,} bytes, at the last of {TRIES} tries"
    raise GrandPlusError(found, where=f"{target.name} from {request.address}", fix="run it again")


def version_note(file: Path) -> Path:
    """The file beside an unfinished download that says which version it is of, as If-Range takes it.

    It is empty if the server doesn't tell the version.

    Parameters
    ----------
    file : Path

    Returns
    -------
    Path
    """
    return file.with_name(f"{file.name}.version")


def _send(session: requests.Session, request: _Request, headers: dict[str, str]) -> requests.Response:
    """Ask for a file; the body of the answer is then read piece by piece."""
    inputs: dict[str, Any] = {"data" if request.method == "POST" else "params": request.inputs}
    answer = session.request(request.method, request.address, headers=headers, stream=True, timeout=TIMEOUT, **inputs)
    answer.raise_for_status()
    return answer


def _size(answer: requests.Response) -> int | None:
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        return None  # the header tells the length of the compressed content
    text = answer.headers.get("Content-Length", "")
    return int(text) if text.isdecimal() else None


def _version(answer: requests.Response) -> str:
    """The version of a file, as If-Range takes it, so that pieces of two versions are never joined."""
    tag = answer.headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else answer.headers.get("Last-Modified", "")


def _checked_size(answer: requests.Response, have: int, size: int | None) -> int | None:
    """The size of the whole file, told by an answer that holds the rest of it."""
    content_range = answer.headers.get("Content-Range", "")
    total = r"(\d+|\*)" if size is None else rf"({size}|\*)"
    match = re.fullmatch(rf"bytes {have}-\d+/{total}", content_range)
    if not have or not match:
        expected = f"bytes {have:,} to the end of {'the file' if size is None else f'{size:,}'}"
        raise GrandPlusError(f"answers with Content-Range {content_range!r}", where=answer.url, expected=expected)
    return size if match[1] == "*" else int(match[1])


def _save(answer: requests.Response, target: Path, have: int, size: int | None) -> None:
    with (
        target.open("ab" if have else "wb") as writer,
        Progress(target.name, size, "B", done=have, scaled=True) as progress,
    ):
        for piece in answer.iter_content(PIECE):
            progress.update(writer.write(piece))


# For a large file, Google Drive sends a page with a form, which says that it can't scan the file for viruses.


def _is_page(answer: requests.Response) -> bool:
    return answer.headers.get("Content-Type", "").lower().startswith("text/html")


def _confirmed(session: requests.Session, request: _Request, name: str) -> _Request:
    """The request that gets the file: the given one, or the form on the page that it gets."""
    with _send(session, request, {}) as answer:
        if not _is_page(answer):
            return request
        form = _Form()
        form.feed(_text(answer))
        if form.action is None:
            raise _page_error(answer, name)
        return _Request(urljoin(answer.url, form.action), form.method, form.inputs)


def _text(answer: requests.Response) -> str:
    return next(answer.iter_content(PAGE), b"").decode("utf-8", errors="replace")


def _page_error(answer: requests.Response, name: str) -> GrandPlusError:
    title = re.search(r"<title[^>]*>(.*?)</title>", _text(answer), re.IGNORECASE | re.DOTALL)
    says = f", titled {' '.join(title[1].split())[:100]!r}" if title else ""
    fix = f"open {answer.url} in a browser, and set GRANDPLUS_MIRROR to a folder with what it holds, unzipped"
    return GrandPlusError(f"answers with an HTML page instead of the file{says}", where=name, fix=fix)


class _Form(HTMLParser):
    """Action, method and named inputs of a page's first form."""

    def __init__(self) -> None:
        super().__init__()
        self.action: str | None = None
        self.method = "GET"
        self.inputs: dict[str, str] = {}
        self._open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {key: value or "" for key, value in attrs}
        if tag == "form" and self.action is None:
            self.action, self.method, self._open = values.get("action", ""), values.get("method", "GET").upper(), True
        elif tag == "input" and self._open and values.get("name"):
            self.inputs[values["name"]] = values.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag != "form"
