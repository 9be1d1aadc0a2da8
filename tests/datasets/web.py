"""A web server of a test's own, which can cut connections and know or ignore Range."""

from __future__ import annotations

import http.server
import re
from dataclasses import dataclass, field


@dataclass
class Answer:
    """What one address answers."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    length: int | None = None  # declared, where it isn't the body's
    ranges: bool = True  # whether a Range is heeded
    cuts: list[int] = field(default_factory=list)  # bytes after which the first connections are cut


class Server(http.server.ThreadingHTTPServer):
    """Answers what ``answers`` holds for a path and query, else 404; lists what it is asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Answer] = {}
        self.asked: list[str] = []
        self.ranges: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        name = self.path[1:]
        self.server.asked.append(name)
        self.server.ranges.append(self.headers["Range"])
        missing = Answer(b"<html>no such page</html>", 404, {"Content-Type": "text/html"})
        answer = self.server.answers.get(name, missing)
        status, body, headers = answer.status, answer.body, dict(answer.headers)
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers["Range"] or "")
        if wanted and answer.ranges and self.headers["If-Range"] in (None, headers.get("ETag")):
            if int(wanted[1]) >= len(body):
                return self.send_error(416)
            status, body = 206, body[int(wanted[1]) :]
            headers = {"Content-Range": f"bytes {wanted[1]}-{len(answer.body) - 1}/{len(answer.body)}"} | headers
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if answer.length is None else answer.length))
        for header, value in headers.items():
            self.send_header(header, value)
        self.end_headers()
        self.wfile.write(body[: answer.cuts.pop(0)] if answer.cuts else body)

    def do_POST(self) -> None:
        self.path += "?" + self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.do_GET()

    def log_message(self, *_: object) -> None:
        pass
