"""Lines in a log file, and a bar on a terminal."""

import io

import pytest
from processes import wait_for

from grandplus.runtime import progress
from grandplus.runtime.progress import Progress


@pytest.fixture(autouse=True)
def _often(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LOOKS", 0.01)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_log_gets_whole_lines_while_a_unit_takes_long(monkeypatch):
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    with Progress("train", 4, "trial", done=1, note=lambda: "step 10") as bar:
        wait_for(lambda: log.getvalue().count("\n") >= 2, "two lines of a unit that goes on")
        assert "\r" not in log.getvalue()
        first = log.getvalue().splitlines()[0]
        assert first.startswith("train: 1 of 4 trials after 00:0")
        assert first.endswith("; step 10")
        bar.update()
        wait_for(lambda: "train: 2 of 4 trials" in log.getvalue(), "a line with the finished unit")
        assert " left; step 10" in log.getvalue()


@pytest.mark.parametrize("terminal", [True, False])
def test_a_note_that_knows_better_tells_what_is_left(monkeypatch, terminal):
    out = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr("sys.stderr", out)
    with Progress("train", 4, "trial", note=lambda: "about 01:00 left", remaining=False) as bar:
        bar.update()
        wait_for(lambda: "1/4" in out.getvalue() or "train: 1 of 4 trials" in out.getvalue(), "the finished unit")
        wait_for(lambda: "about 01:00 left" in out.getvalue(), "the note")
    assert all(line.count("left") <= 1 for line in out.getvalue().splitlines())
    assert "<" not in out.getvalue()  # of tqdm: elapsed<remaining


def test_what_ends_soon_leaves_no_line(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 30.0)
    log = io.StringIO()
    monkeypatch.setattr("sys.stderr", log)
    assert list(progress.progress("abc", "push", 3, "shard")) == ["a", "b", "c"]
    assert log.getvalue() == ""


def test_a_terminal_gets_a_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with Progress("push", 4, "shard", note=lambda: "so far so good") as bar:
        bar.update(2)
        wait_for(lambda: "so far so good" in terminal.getvalue(), "the note behind the bar")
    assert "push:  50%" in terminal.getvalue()
    assert "shard/s" in terminal.getvalue()
