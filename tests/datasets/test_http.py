"""One download: the right bytes however the connection behaves, and one line where they can't be had."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from web import Answer, Server

from grandplus.datasets.fetch import http
from grandplus.datasets.fetch.http import UnavailableError, download
from grandplus.runtime.errors import GrandPlusError

BODY = os.urandom(200_000)
TAG = {"ETag": '"one"'}
HTML = {"Content-Type": "text/html; charset=utf-8"}
PAGE = b"""<!DOCTYPE html><html><head><title>Google Drive - Virus scan warning</title></head><body>
<form id="download-form" action="/download" method="%s"><input type="submit" value="Download anyway"/>
<input type="hidden" name="id" value="a&amp;b"><input type="hidden" name="confirm" value="t"></form>
<input name="outside" value="1"></body></html>"""
FORM = "download?id=a%26b&confirm=t"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "PAUSE", 0)


def test_the_bytes_and_the_size_before_them(server: Server, tmp_path: Path) -> None:
    server.answers["file"] = Answer(BODY)
    sizes: list[int] = []
    download(server.url + "file", tmp_path / "file", announce=sizes.append)
    assert (tmp_path / "file").read_bytes() == BODY
    assert sizes == [len(BODY)]


def test_a_redirect_is_followed(server: Server, tmp_path: Path) -> None:
    server.answers = {"old": Answer(status=302, headers={"Location": "/new"}), "new": Answer(BODY)}
    download(server.url + "old", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == BODY


def test_status_404(server: Server, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="answers file with HTTP status 404"):
        download(server.url + "none", tmp_path / "file")
    assert server.asked == ["none"]
    assert not (tmp_path / "file").exists()


def test_nobody_there(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"can't be reached \(ConnectionError\)"):
        download("http://127.0.0.1:1/file", tmp_path / "file")


def test_a_file_address(tmp_path: Path) -> None:
    source, sizes = tmp_path / "with space", []
    source.write_bytes(BODY)
    download(source.as_uri(), tmp_path / "file", announce=sizes.append)
    assert (tmp_path / "file").read_bytes() == BODY
    assert sizes == [len(BODY)]
    with pytest.raises(UnavailableError, match="has no file /none"):
        download("file:///none", tmp_path / "file")


# A cut connection.


@pytest.mark.parametrize("headers", [TAG, {}, {"ETag": 'W/"weak"'}])
def test_a_cut_connection_is_resumed(server: Server, tmp_path: Path, headers: dict[str, str]) -> None:
    server.answers["file"] = Answer(BODY, headers=headers, cuts=[140_000, 66_000])
    sizes: list[int] = []
    download(server.url + "file", tmp_path / "file", announce=sizes.append)
    assert (tmp_path / "file").read_bytes() == BODY
    assert server.ranges == [None, "bytes=131072-", "bytes=196608-"]
    assert sizes == [len(BODY)]


def test_a_server_that_ignores_range_starts_anew(server: Server, tmp_path: Path) -> None:
    server.answers["file"] = Answer(BODY, headers=TAG, ranges=False, cuts=[140_000])
    download(server.url + "file", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == BODY
    assert server.ranges == [None, "bytes=131072-"]


def test_a_file_that_changes_meanwhile_is_had_anew(server: Server, tmp_path: Path) -> None:
    answer = server.answers["file"] = Answer(BODY, headers=dict(TAG), cuts=[140_000])

    def change(size: int) -> None:  # the first answer is under way
        answer.body, answer.headers = BODY[::-1], {"ETag": '"two"'}

    download(server.url + "file", tmp_path / "file", announce=change)
    assert (tmp_path / "file").read_bytes() == BODY[::-1]


@pytest.mark.parametrize("found", ["bytes 0-199999/200000", "bytes 131072-199999/300000", "nonsense"])
def test_another_range_than_asked_for(server: Server, tmp_path: Path, found: str) -> None:
    server.answers["file"] = Answer(BODY, headers={"Content-Range": found}, cuts=[140_000])
    with pytest.raises(GrandPlusError, match=f"Content-Range '{found}'; expected bytes 131,072 to the end of 200,000"):
        download(server.url + "file", tmp_path / "file")


@pytest.mark.parametrize("ranges", [True, False])
def test_a_connection_that_is_cut_for_ever(server: Server, tmp_path: Path, ranges: bool) -> None:
    server.answers["file"] = Answer(BODY, ranges=ranges, cuts=[1000] * 100)
    with pytest.raises(GrandPlusError, match=r"file from http.*: is truncated: the connection ended after"):
        download(server.url + "file", tmp_path / "file")
    assert len(server.asked) == http.TRIES


@pytest.fixture
def left_unfinished(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Answer:
    """The answer whose first 131,072 bytes an earlier process has had."""
    answer = server.answers["file"] = Answer(BODY, headers=dict(TAG), cuts=[140_000])
    with monkeypatch.context() as patch:
        patch.setattr(http, "TRIES", 1)
        with pytest.raises(GrandPlusError, match="is truncated"):
            download(server.url + "file", tmp_path / "file")
    server.ranges.clear()
    return answer


def test_a_later_process_goes_on(server: Server, tmp_path: Path, left_unfinished: Answer) -> None:
    sizes: list[int] = []
    download(server.url + "file", tmp_path / "file", announce=sizes.append)
    assert (tmp_path / "file").read_bytes() == BODY
    assert server.ranges == ["bytes=131072-"]
    assert sizes == [len(BODY) - 131_072]
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("body", [BODY[::-1], BODY[:1000], b""])
def test_a_later_process_finds_another_version(
    server: Server, tmp_path: Path, left_unfinished: Answer, body: bytes
) -> None:
    left_unfinished.body, left_unfinished.headers = body, {"ETag": '"two"'}
    download(server.url + "file", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == body


def test_a_later_process_finds_the_file_shorter(server: Server, tmp_path: Path, left_unfinished: Answer) -> None:
    left_unfinished.body = BODY[:131_072]  # under the same tag, which is wrong of the server
    download(server.url + "file", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == BODY[:131_072]


def test_without_a_version_a_later_process_starts_anew(server: Server, tmp_path: Path, left_unfinished: Answer) -> None:
    http.version_note(tmp_path / "file").write_text("")
    download(server.url + "file", tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == BODY
    assert server.ranges == [None]


# Google Drive's page.


def test_an_answer_without_a_page_is_the_file(server: Server, tmp_path: Path) -> None:
    server.answers["uc?id=1"] = Answer(BODY)
    download(server.url + "uc?id=1", tmp_path / "file", confirm=True)
    assert (tmp_path / "file").read_bytes() == BODY


@pytest.mark.parametrize("method", [b"get", b"post"])
def test_the_form_of_a_page_is_submitted(server: Server, tmp_path: Path, method: bytes) -> None:
    server.answers["uc?id=1"] = Answer(PAGE % method, headers=HTML)
    server.answers[FORM] = Answer(BODY, cuts=[140_000])
    download(server.url + "uc?id=1", tmp_path / "file", confirm=True)
    assert (tmp_path / "file").read_bytes() == BODY
    assert server.asked == ["uc?id=1", FORM, FORM]


def test_a_page_that_leads_to_a_page(server: Server, tmp_path: Path) -> None:
    server.answers = {"uc?id=1": Answer(PAGE % b"get", headers=HTML)}
    server.answers[FORM] = Answer(b"<html><title>Quota exceeded</title></html>", headers=HTML)
    message = (
        "file: answers with an HTML page instead of the file, titled 'Quota exceeded'; open http.*GRANDPLUS_MIRROR"
    )
    with pytest.raises(GrandPlusError, match=message):
        download(server.url + "uc?id=1", tmp_path / "file", confirm=True)
    assert server.asked == ["uc?id=1", FORM]
    assert not (tmp_path / "file").exists()


def test_a_page_without_a_form(server: Server, tmp_path: Path) -> None:
    server.answers["uc?id=1"] = Answer(b"<html>Sign in</html>", headers=HTML)
    with pytest.raises(GrandPlusError, match="answers with an HTML page instead of the file; open"):
        download(server.url + "uc?id=1", tmp_path / "file", confirm=True)
    assert server.asked == ["uc?id=1"]


def test_a_disk_that_is_full(server: Server, tmp_path: Path) -> None:
    server.answers["file"] = Answer(BODY)
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    (tmp_path / "file").symlink_to("/dev/full")
    with pytest.raises(OSError, match=r"No space left on device: '.*/file'"):
        download(server.url + "file", tmp_path / "file")
