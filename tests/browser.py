"""A page as a real browser shows it: headless Chromium, spoken to over a pipe in the DevTools protocol."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from processes import LIMIT_SECONDS

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run")
_START = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.dup2(int(sys.argv[2]), 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


@dataclass
class Seen:
    """What a page did while it was loaded.

    console : messages of errors and warnings, and of exceptions that no one caught
    requests : addresses that it asked for, its own aside
    values : of the expressions that were asked for
    """

    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)


def look_at(page: Path, profile: Path, *expressions: str, width: int = 800, dark: bool = False) -> Seen:
    """Load a page and evaluate JavaScript expressions in it; skips without a browser.

    profile : empty folder for the browser
    width : of the window, in pixels
    dark : whether the user prefers a dark page
    """
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        if os.environ.get("GRANDPLUS_BROWSER") == "required":
            pytest.fail("GRANDPLUS_BROWSER is required, and there is no Chromium")
        pytest.skip("there is no Chromium to look at the page with (Debian: apt-get install chromium)")
    seen, address = Seen(), page.absolute().as_uri()
    with _Browser(found, profile) as browser:
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        browser.session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            browser.ask(f"{domain}.enable")
        size = {"width": width, "height": 600, "deviceScaleFactor": 1, "mobile": False}
        browser.ask("Emulation.setDeviceMetricsOverride", **size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        browser.ask("Emulation.setEmulatedMedia", features=[scheme])
        browser.ask("Page.navigate", url=address)
        browser.wait_for("Page.loadEventFired")
        for expression in expressions:
            answer = browser.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
            seen.values[expression] = answer["result"].get("value")
        for event in browser.events:
            seen.console += _complaints(event["method"], event.get("params", {}))
            if event["method"] == "Network.requestWillBeSent":
                seen.requests.append(event["params"]["request"]["url"])
    seen.requests = [url for url in seen.requests if url != address and not url.startswith("data:")]
    return seen


def _complaints(method: str, params: dict[str, Any]) -> Iterator[str]:
    if method == "Runtime.exceptionThrown":
        yield params["exceptionDetails"].get("text", "") or str(params)
    elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
        yield str([argument.get("value") for argument in params["args"]])
    elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
        yield params["entry"]["text"]


class _Browser:
    """Messages are JSON, each ended by a zero byte; the browser reads them from file 3 and writes to file 4."""

    def __init__(self, program: str, profile: Path) -> None:
        self._command = [program, *OPTIONS, f"--user-data-dir={profile}", "--remote-debugging-pipe"]
        self._last, self._rest = 0, b""
        self.session = ""
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> _Browser:
        (its_input, self._out), (self._in, its_output) = os.pipe(), os.pipe()
        given = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (its_input, its_output)]  # out of the way of 3 and 4
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        start = [sys.executable, "-c", _START, *map(str, given), *self._command]
        self._process = subprocess.Popen(start, pass_fds=given, **quiet)
        for end in (its_input, its_output, *given):
            os.close(end)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result

    def wait_for(self, event: str) -> None:
        while all(seen["method"] != event for seen in self.events):
            self._next()

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], LIMIT_SECONDS)
            piece = os.read(self._in, 2**16) if ready else b""
            assert piece, "the browser has ended, or says nothing any more"
            self._rest += piece
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        if "method" in found:
            self.events.append(found)
        return found
