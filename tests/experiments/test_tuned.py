"""The column "after tune": the card that an import writes is tuned, and scored as a run would be."""

from __future__ import annotations

import functools

import pytest

from experiments.defaults import __main__ as defaults
from experiments.defaults import tuned
from experiments.defaults.graphs import Given
from experiments.defaults.made import Recipe, make
from grandplus.importing.files import Choices, chosen_preprocess
from grandplus.tuning import tuner

FAR = {"matrix": "single", "order": 4}
NOISY = Recipe(400, 3, degree=10, homophily=0.82, noise=1.5)
GIVEN = Given("noisy", 400, lambda _: make(NOISY, 0))


@pytest.fixture
def short(monkeypatch):
    """Few settings."""
    monkeypatch.setattr(tuner, "tune", functools.partial(tuner.tune, propagation=({}, FAR), training=()))
    monkeypatch.setenv("GRANDPLUS_WORKERS", "1")


def test_a_candidate_has_what_the_imported_card_has(tmp_path):
    imported = tuned.Imported(GIVEN, tmp_path, tmp_path)
    first = imported.candidate({})
    assert first.preprocess == chosen_preprocess(make(NOISY, 0), Choices())
    assert (first.matrix.name, first.gfpush.top_k) == ("avg", 128)
    other = imported.candidate({"features": "row-normalize", "layers": 1, "alpha": 0.5, "matrix": "ppr"})
    assert (other.preprocess.features, other.train.layers, other.matrix.alpha) == ("row-normalize", 1, 0.5)
    assert other.change["dropout_input"] == 0  # 32 columns are too few to do without some


def test_what_was_found_is_scored_in_each_trial(tmp_path, short, monkeypatch):
    monkeypatch.setattr(tuned, "FILE", tmp_path / "tuned.csv")
    monkeypatch.setattr(tuned, "SHOWN", [GIVEN])
    monkeypatch.setattr(tuned, "CHOOSING", [])
    tuned.make(tmp_path, [])
    text = (tmp_path / "tuned.csv").read_text()
    first, second = defaults.read_tuned(tmp_path / "tuned.csv")["noisy"]
    assert min(first, second) > 0.8
    assert text.splitlines()[1].startswith("noisy,0,matrix=single order=4,")
    tuned.make(tmp_path, [])
    assert (tmp_path / "tuned.csv").read_text() == text  # which was there already
    head, line, _ = text.splitlines()
    (tmp_path / "tuned.csv").write_text(f"{head}\n{line}\n")
    made = [{"graph": "noisy", "trial": trial, "test": 0.5} for trial in range(2)]
    monkeypatch.setattr(tuned, "rows_of", lambda *_, choosing: made)
    tuned.make(tmp_path, [])
    assert defaults.read_tuned(tmp_path / "tuned.csv") == {"noisy": [0.5, 0.5]}  # half of the trials are not all
