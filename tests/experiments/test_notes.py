"""Files of rows: a kill and another process cost no row but the one that was being made."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from experiments.notes import note, note_all, read_notes
from experiments.parameters import studies
from experiments.twins import __main__ as twins
from grandplus.pipeline.cases import Case

KEY, COLUMNS = ("graph", "trial"), ("graph", "trial", "test")
KEY_OF_SECONDS = studies.COLUMNS[:3]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Locks lie in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


def test_rows_are_replaced_in_their_places_and_others_stay(tmp_path):
    file = tmp_path / "rows.csv"
    note_all(file, [{"graph": name, "trial": 0, "test": 0.5} for name in ("b", "a")], KEY, COLUMNS)
    note_all(file, [{"graph": "c", "trial": 0}, {"graph": "b", "trial": 0, "test": 0.7}], KEY, COLUMNS)
    assert file.read_text() == "graph,trial,test\nb,0,0.7\na,0,0.5\nc,0,\n"
    note(file, {"graph": "a", "trial": 1, "test": 0.25}, KEY)
    assert file.read_text() == "graph,trial,test\na,0,0.5\na,1,0.25\nb,0,0.7\nc,0,\n"


def test_a_line_that_a_kill_has_cut_short_is_left_out(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("graph,trial,test\na,0,0.5\nb,0,0.")
    assert read_notes(file) == [{"graph": "a", "trial": "0", "test": "0.5"}]
    note_all(file, [{"graph": "b", "trial": 1, "test": 0.7}], KEY, COLUMNS)
    assert file.read_text() == "graph,trial,test\na,0,0.5\nb,1,0.7\n"
    assert read_notes(tmp_path / "none.csv") == []


def test_writers_at_once_lose_no_row(tmp_path):
    file, tasks = tmp_path / "rows.csv", [(name, trial) for name in "abcd" for trial in range(9)]

    def add(task):
        note_all(file, [dict(zip(KEY, task, strict=True)) | {"test": 0.5}], KEY, COLUMNS)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, tasks))
    assert sorted((row["graph"], int(row["trial"])) for row in read_notes(file)) == tasks


def test_what_another_process_adds_meanwhile_stays(tmp_path, monkeypatch):
    """It is there when the file is written, though not when it was first read."""
    file = tmp_path / "seconds.csv"
    monkeypatch.setattr(studies, "SECONDS", file)
    monkeypatch.setattr(studies, "prepare", lambda *_: None)

    def measured(_):
        note_all(
            file, [dict(zip(studies.COLUMNS, ("other", "avg", "", 1, 2), strict=True))], KEY_OF_SECONDS, studies.COLUMNS
        )
        return 0.5, 2.0

    monkeypatch.setattr(studies, "_measure", measured)
    case = Case("pubmed", "avg")
    assert studies.measure([case], 1) == studies.measure([case], 1) == {case: (0.5, 2.0)}
    assert [row["dataset"] for row in read_notes(file)] == ["other", "pubmed"]


def test_the_twins_trials_are_made_once_and_stand_in_order(tmp_path, monkeypatch):
    for name in ("TRIALS", "TABLE"):
        monkeypatch.setattr(twins, name, tmp_path / name)
    monkeypatch.setattr(twins, "prepare", lambda *_: SimpleNamespace(inputs="digest"))
    made = []

    def score(_, trial):
        made.append(trial)
        return dict.fromkeys(twins.SCORES, 0.5) | {"steps": 10}

    monkeypatch.setattr(twins, "score", score)
    wanted = [("twin-reddit", 0.01, "avg", 1), ("twin-reddit", 0.01, "ppr", 0), ("twin-aminer-cs", 1, "ppr", 0)]
    for _ in range(2):
        twins.make(wanted)
    assert made == [1, 0, 0]
    found = [tuple(row[name] for name in twins.KEY) for row in read_notes(tmp_path / "TRIALS")]
    assert found == [
        ("twin-aminer-cs", "1", "ppr", "0"),
        ("twin-reddit", "0.01", "ppr", "0"),
        ("twin-reddit", "0.01", "avg", "1"),
    ]
