"""``grandplus tune``: a card with what was found, which a run can use, and lines that say what to do next."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from grandplus.cli.main import main
from grandplus.pipeline.card import read_card
from grandplus.pipeline.cases import Case, prepare, train_blind
from grandplus.pipeline.settings import load_settings
from grandplus.search import portfolio
from grandplus.search.cards import save_card
from grandplus.tuning import tuner

PROPAGATION = ({}, {"matrix": "single", "order": 4, "top_k": 64}, {"matrix": "avg", "order": 0, "dropnode": 0.0})
TRAINING = ({"layers": 1}, {"features": "standardize"})
SMALL = functools.partial(tuner.tune, propagation=PROPAGATION, training=TRAINING)


@pytest.fixture
def tuned(checkout, monkeypatch, capsys) -> str:
    """What tuning of the ring has printed."""
    monkeypatch.setattr(tuner, "tune", SMALL)
    monkeypatch.setenv("GRANDPLUS_WORKERS", "1")
    assert main(["tune", "ring"]) == 0
    return str(capsys.readouterr().out)


@pytest.mark.parametrize("change", [{}, *tuner.PROPAGATION[1:8:3], *TRAINING, {"matrix": "ppr", "alpha": 0.5}], ids=str)
def test_a_card_has_what_a_change_came_to(checkout, change):
    """All else is as it was; values of other matrices too."""
    case = portfolio.case_of(Case("ring", "avg"), change)
    save_card("ring-tuned", case, "By hand.")
    settings = load_settings(dataset="ring-tuned", matrix=case.matrix, seed=0, trials=1)
    assert settings.flat() == case.settings(1).flat() | {"dataset": "ring-tuned"}
    before, after = (read_card(Path(f"data/catalog/{name}.yaml")) for name in ("ring", "ring-tuned"))
    assert before.source == after.source
    for section in ("gfpush", "train"):
        kept = [
            {matrix: values for matrix, values in getattr(card, section).items() if matrix != case.matrix}
            for card in (before, after)
        ]
        assert kept[0] == kept[1]


def test_what_was_found_stands_in_the_card_and_in_the_line_that_runs_it(tuned):
    (found,) = re.findall(r"^found +(.*): [\d.]+% of validation nodes", tuned, re.MULTILINE)
    change = {} if found == "as it is" else dict(pair.split("=") for pair in found.split())
    matrix = change.pop("matrix", "avg")
    last = tuned.splitlines()[-1].split()
    assert last == f"dvc exp run -S dataset=ring-tuned -S model=grandplus -S matrix={matrix}".split()
    sections = load_settings(dataset="ring-tuned", matrix=matrix).flat()
    values = sections["preprocess"] | sections["gfpush"] | sections["train"]
    assert {key: str(values[key]) for key in change} == change
    assert Path("data/catalog/ring-tuned.yaml").read_text().startswith(f"# By grandplus tune ring: {found}: ")


def test_a_run_of_the_card_has_the_accuracy_that_was_told(tuned):
    """The trainings of this card are shorter than tuning's limit, so they are those of the pipeline."""
    told = float(re.findall(r"^found .*?: ([\d.]+)% of validation nodes", tuned, re.MULTILINE)[0])
    prepared = prepare(Case("ring-tuned", tuned.rpartition("=")[2].strip()), 2)
    accuracies = []
    for trial in range(2):
        split = prepared.splits.of(trial)
        model = train_blind(prepared, split, trial).model
        right = model.predict_proba(prepared.graph).argmax(axis=1) == prepared.graph.labels
        accuracies.append(right[split.val].mean())
    assert told == pytest.approx(100 * sum(accuracies) / 2, abs=0.05)


def test_it_is_found_and_written_again_the_same(tuned, capsys):
    card = Path("data/catalog/ring-tuned.yaml")
    first = card.read_bytes()
    assert main(["tune", "ring"]) == 0
    table = [text[text.index("\nsettings ") : text.index("took ")] for text in (tuned, capsys.readouterr().out)]
    assert table[0] == table[1]
    assert card.read_bytes() == first


def test_the_line_that_runs_it_names_the_method_if_another_one_ran_before(checkout, monkeypatch, capsys):
    params = Path("params.yaml")
    params.write_text(params.read_text().replace("model: grandplus", "model: gcn"))
    monkeypatch.setattr(tuner, "tune", SMALL)
    assert main(["tune", "ring"]) == 0
    assert "  dvc exp run -S dataset=ring-tuned -S model=grandplus -S matrix=" in capsys.readouterr().out


def test_scores_are_of_the_code_of_all_that_leads_to_them(checkout, monkeypatch):
    folders, changed = [], [""]
    monkeypatch.setattr(tuner, "tune", lambda _, folder, **__: folders.append(folder))
    monkeypatch.setattr(portfolio, "code_of", lambda stage, _: "new" if stage == changed[0] else stage)
    for changed[0] in ("", "download", "preprocess", "gfpush", "train", "infer"):
        portfolio.compared(Case("ring", "avg"))
    assert len(set(folders)) == len(folders)


def test_a_card_that_is_not_there(checkout, capsys):
    assert main(["tune", "rung"]) == 2
    assert "dataset is 'rung'; expected one of ring" in capsys.readouterr().err
