"""The compared systems on large graphs: what wasn't done says so, and finished ones are not run again."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from experiments.compared import large
from experiments.compared.apart import Outcome
from experiments.compared.large_table import table
from experiments.notes import read_notes
from grandplus.runtime.errors import GrandPlusError

LIMITS = {"seconds": 900.0, "memory": 2**34}
DONE = {"preparation": 1.0, "training": 20.5, "inference": 3.25, "validation": 0.8, "test": 0.75, "steps": 100}


@pytest.fixture
def runs(monkeypatch):
    """What was run in place of long work; a system ends badly from a scale on."""
    made, fails = [], {"sgc": 0.1}

    def run_apart(work, case, **_):
        made.append((work.__name__, case.model, scale := dict(case.changes).get("synthetic.scale", 1.0)))
        ended = "not done after 900 seconds" if work is large.measure and scale >= fails.get(case.model, 9) else ""
        return Outcome({} if ended else DONE, 3 * 2**30, ended)

    monkeypatch.setattr(large, "run_apart", run_apart)
    return made


def test_after_a_small_graph_comes_the_full_one_and_then_smaller_ones_until_one_is_done(runs, tmp_path, capsys):
    file = tmp_path / "large.csv"
    large.make(file, ["sgc", "grandplus"], ["twin-mag-scholar-c"], None, **LIMITS)
    measured = [run[1:] for run in runs if run[0] == "measure"]
    scales = large.SCALES["twin-mag-scholar-c"]
    assert scales == (0.01, 1.0, 0.3, 0.1, 0.03)
    assert measured == [*(("sgc", scale) for scale in scales), ("grandplus", 0.01), ("grandplus", 1.0)]
    text = file.with_suffix(".md").read_text()
    assert "| twin-mag-scholar-c | 0.1 | SGC |  |  |  |  | 3.0 | |  |  | not done after 900 seconds |" in text
    assert "| twin-mag-scholar-c | 1 | SGC |  |  |  |  | 3.0 | | > 24 h |  | not done after 900 seconds |" in text
    assert "| twin-mag-scholar-c | 1 | GRAND+ | 1.0 | 20.5 | 3.25 | 25 | 3.0 | 75.0 | 483 | 77.8 |  |" in text
    assert "| twin-mag-scholar-c | 1 | GBP | | | | | | | > 24 h |  | not run |" in text
    assert len({line.count("|") for line in text.splitlines() if "|" in line}) == 1
    assert file.with_suffix(".png").stat().st_size > 1000


def test_the_paper_s_figures_stand_beside_the_size_that_they_are_of():
    row = dict.fromkeys((*large.KEY, *large.MEASURED), "1") | {"dataset": "twin-aminer-cs", "memory": "1024"}
    done, refused = (
        {"model": "graphsaint", "scale": "0.01", "ended": ""},
        {"model": "sgc", "scale": "0.01", "ended": "no"},
    )
    text = table([row | done, row | refused])
    assert "| twin-aminer-cs | 0.01 | GraphSAINT | 1 | 1 | 1 | 3 | 1.0 | 100.0 |  |  |  |" in text
    assert "| twin-aminer-cs | 1 | GraphSAINT | | | | | | | 39 | 51.8 | not run |" in text
    assert "| twin-aminer-cs | 0.01 | SGC | 1 | 1 | 1 |  | 1.0 | 100.0 | 9 | 50.2 | no |" in text
    assert "| twin-aminer-cs | 1 | SGC |" not in text


def test_what_was_measured_is_kept_as_long_as_the_limits_are_the_same(runs, tmp_path, capsys):
    file = tmp_path / "large.csv"
    large.make(file, ["sgc"], ["twin-aminer-cs"], [0.01], **LIMITS)
    before, count = file.read_bytes(), len(runs)
    large.make(file, ["sgc"], ["twin-aminer-cs"], [0.01], **LIMITS)
    assert (file.read_bytes(), len(runs)) == (before, count)
    large.make(file, ["sgc"], ["twin-aminer-cs"], [0.01], **(LIMITS | {"seconds": 60.0}))
    assert len(runs) == 2 * count
    [row] = read_notes(file)
    assert row["limit_seconds"] == "60"


def test_the_graph_of_what_is_refused_is_not_made(monkeypatch, tmp_path, capsys):
    asked = []

    def run_apart(work, case, **_):
        asked.append(work)
        return Outcome({}, 2**28, "refused: too large")

    monkeypatch.setattr(large, "run_apart", run_apart)
    large.make(tmp_path / "large.csv", ["sgc"], ["twin-amazon2m"], None, **LIMITS)
    assert asked == [large.check]
    assert "| refused: too large |" in (tmp_path / "large.md").read_text()


def test_what_tells_nothing_of_a_system_is_not_noted(monkeypatch, tmp_path):
    monkeypatch.setattr(large, "run_apart", Mock(side_effect=GrandPlusError("No space left on device")))
    with pytest.raises(GrandPlusError, match="No space left"):
        large.make(tmp_path / "large.csv", ["sgc"], ["twin-amazon2m"], None, **LIMITS)
    assert read_notes(tmp_path / "large.csv") == []


def test_a_table_without_rows_names_what_was_not_run():
    assert table([]).count("not run") == 18
