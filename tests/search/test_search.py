"""The search keeps what a kill leaves, makes rows once, and writes the card that it found to be the best."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

import numpy as np
import optuna
import pytest
from optuna.trial import TrialState
from processes import CHECKOUT, wait_for

from experiments import trials
from grandplus.cli.main import main
from grandplus.methods.settings import GraphSize
from grandplus.pipeline import cases, rows
from grandplus.pipeline.card import read_card
from grandplus.pipeline.cases import Case, prepare
from grandplus.pipeline.settings import load_settings
from grandplus.propagation import shards
from grandplus.runtime import pools
from grandplus.runtime.errors import GrandPlusError
from grandplus.search import space, study
from grandplus.search.run import search

TRIALS = {"network": 9, "propagation": 4}
DATABASE = ".grandplus/experiments/search-ring-avg.db"
CARD = "data/catalog/ring-avg-tuned.yaml"
OUTPUTS = ("experiments/search/ring-avg/table.md", "experiments/search/ring-avg/history.png")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings run in this process."""

    @contextmanager
    def processes(count: int) -> Iterator[ThreadPoolExecutor]:
        with ThreadPoolExecutor(1) as pool:
            yield pool

    monkeypatch.setattr(pools, "processes", processes)


def outcome(checkout: Path) -> list[bytes]:
    return [(checkout / name).read_bytes() for name in (*OUTPUTS, CARD)]


def studies(checkout: Path) -> dict[str, optuna.Study]:
    return studies_of(checkout, "ring-avg")


def studies_of(checkout: Path, name: str) -> dict[str, optuna.Study]:
    storage = f"sqlite:///{checkout / f'.grandplus/experiments/search-{name}.db'}"
    names = optuna.get_all_study_names(storage)
    return {name.partition("-")[0]: optuna.load_study(study_name=name, storage=storage) for name in names}


def count_finished(checkout: Path) -> int:
    """Complete trials of a search that runs, asked without Optuna, which would make the tables."""
    try:
        with closing(sqlite3.connect(f"file:{checkout / DATABASE}?mode=ro", uri=True)) as database:
            return int(database.execute("SELECT COUNT(*) FROM trials WHERE state = 'COMPLETE'").fetchone()[0])
    except sqlite3.OperationalError:  # not there yet
        return 0


def finished_trials(checkout: Path) -> list[tuple[int, dict[str, object], dict[int, float], datetime]]:
    trials = studies(checkout)["network"].get_trials(states=(TrialState.COMPLETE,))
    return [(trial.number, trial.params, trial.intermediate_values, trial.datetime_complete) for trial in trials]


def test_a_killed_search_keeps_its_trials_and_ends_as_an_undisturbed_one(checkout, here):
    search("ring", "avg", TRIALS)
    undisturbed = outcome(checkout)
    shutil.rmtree(checkout / ".grandplus")
    for file in (*OUTPUTS, CARD):
        (checkout / file).unlink()
    arguments = ("ring", *(f"--{stage}={count}" for stage, count in TRIALS.items()))
    with command(*arguments, workers=1) as process:
        wait_for(lambda: count_finished(checkout) >= 5, "five trials", process)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    kept = finished_trials(checkout)
    assert 5 <= len(kept) < TRIALS["network"]
    search("ring", "avg", TRIALS)
    assert finished_trials(checkout)[: len(kept)] == kept
    assert outcome(checkout) == undisturbed


@contextmanager
def command(*arguments: str, workers: int) -> Iterator[subprocess.Popen[str]]:
    """The search as a user starts it, at the head of a process group."""
    script = [sys.executable, "-m", "grandplus", "search", *arguments]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT), "GRANDPLUS_WORKERS": str(workers)}
    pipe = subprocess.PIPE
    process = subprocess.Popen(script, env=environment, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
    with process:
        try:
            yield process
        finally:
            process.kill()


def by_exact_inference(case: Case, seed: int) -> float:
    """Validation accuracy as the pipeline's metrics have it."""
    prepared = cases.prepare(case, 3)
    split = prepared.splits.of(seed)
    model = trials.train_blind(prepared, split, seed).model
    return float((model.predict_proba(prepared.graph).argmax(axis=1) == prepared.graph.labels)[split.val].mean())


def test_rows_are_made_once_for_each_propagation_and_the_best_is_by_validation(checkout, here, monkeypatch):
    made = []

    def write_shards(*arguments, **settings):
        made.append((settings["rmax"], settings["top_k"], len(settings["weights"])))
        return shards.write_shards(*arguments, **settings)

    monkeypatch.setattr(rows, "write_shards", write_shards)
    monkeypatch.setattr(trials, "score_trial", None)  # so no test node is looked at
    search("ring", "avg", TRIALS)
    found = studies(checkout)
    asked = [
        (t.params["gfpush.rmax"], t.params["gfpush.top_k"], t.params["gfpush.order"] + 1)
        for t in found["propagation"].trials
    ]
    card = load_settings(dataset="ring", matrix="avg").flat()["gfpush"]
    assert sorted(made) == sorted({*asked, (card["rmax"], card["top_k"], card["order"] + 1)})
    # Every seed's score is what a training of the pipeline gives, and the card holds the best mean.
    for trial in found["propagation"].trials[:2]:
        network = max(found["network"].get_trials(states=(TrialState.COMPLETE,)), key=lambda t: t.value)
        case = Case("ring", "avg", tuple((network.params | trial.params).items()))
        assert trial.intermediate_values == {seed: by_exact_inference(case, seed) for seed in range(3)}
    best = found["propagation"].best_trial
    assert best.value == max(
        np.mean(list(t.intermediate_values.values()))
        for t in found["propagation"].get_trials(states=(TrialState.COMPLETE,))
    )
    tuned = load_settings(dataset="ring-avg-tuned", matrix="avg")
    assert {key: space.own_values("propagation", tuned)[key] for key in best.params} == best.params
    before, after = read_card(Path("data/catalog/ring.yaml")), read_card(Path(CARD))
    for section in ("gfpush", "train"):
        kept, written = (
            {matrix: values for matrix, values in getattr(card, section).items() if matrix != "avg"}
            for card in (before, after)
        )
        assert written == kept
    assert (before.source, before.preprocess) == (after.source, after.preprocess)


def test_a_bad_start_is_pruned(checkout, here):
    """After a round, a trial whose first seed is below the median of that round's first seeds gets no second one."""
    search("ring", "avg", {"network": 11, "propagation": 1})
    trials = studies(checkout)["network"].trials
    median = np.median([trial.intermediate_values[0] for trial in trials[:8]])
    later = trials[8:]
    assert any(trial.state == TrialState.PRUNED for trial in later)
    for trial in later:
        if trial.intermediate_values[0] < median:
            assert (trial.state, len(trial.intermediate_values)) == (TrialState.PRUNED, 1)


def test_what_cannot_be_trained_is_noted_and_the_search_goes_on(checkout, here, monkeypatch):
    train = study.train_blind

    def train_slowly_only(prepared, split, trial):
        if prepared.settings.train.lr > 1e-3:
            raise GrandPlusError("the loss became nan at step 3", fix="lower train.lr")
        return train(prepared, split, trial)

    monkeypatch.setattr(study, "train_blind", train_slowly_only)
    search("ring", "avg", {"network": 3, "propagation": 1})
    text = (checkout / OUTPUTS[0]).read_text()
    assert "the loss became nan at step 3; lower train.lr" in text
    assert load_settings(dataset="ring-avg-tuned", matrix="avg").train.lr <= 1e-3
    with pytest.raises(GrandPlusError, match="none of 1 trials could be trained: the loss became nan"):
        search("ring", "single", {"network": 1, "propagation": 1})


def test_another_method_is_searched_without_a_propagation(checkout, here, capsys):
    search("ring", "avg", {"network": 4, "propagation": 4}, model="sgc")
    [best] = [trial for trial in studies_of(checkout, "ring-sgc")["network"].trials if trial.value is not None][:1]
    assert set(best.params) == {"train.lr", "train.weight_decay", "train.order"}
    card = read_card(checkout / "data/catalog/ring-sgc-tuned.yaml")
    before = read_card(checkout / "data/catalog/ring.yaml")
    assert (card.gfpush, {key: card.train[key] for key in before.train}) == (before.gfpush, before.train)
    winner = max(studies_of(checkout, "ring-sgc")["network"].trials, key=lambda trial: trial.value or 0)
    found = load_settings(dataset="ring-sgc-tuned", matrix="avg", model="sgc").flat()["train"]
    assert {key: found[key.removeprefix("train.")] for key in winner.params} == winner.params
    assert load_settings(dataset="ring-sgc-tuned", matrix="avg") == load_settings(
        dataset="ring", matrix="avg"
    ).model_copy(update={"dataset": "ring-sgc-tuned"})
    files = "data/catalog/ring.yaml data/catalog/ring-sgc-tuned.yaml experiments/search/ring-sgc"
    assert capsys.readouterr().out.splitlines()[-2:] == [
        f"to keep it: git add {files} && git commit -m 'Dataset ring-sgc-tuned' {files}",
        "to run it: dvc exp run -S dataset=ring-sgc-tuned -S model=sgc",
    ]


def test_a_worse_one_does_not_replace_a_card_of_the_same_graph(checkout, here, capsys):
    few = {"network": 2, "propagation": 1}
    search("ring", "avg", few, model="sgc")
    card, history = Path("data/catalog/ring-sgc-tuned.yaml"), Path("experiments/search/ring-sgc/table.md")
    lines = card.read_text().splitlines()
    lines[0] = "# By grandplus search ring --model sgc: 99.44 % of validation nodes are right, mean of 3 seeds."
    card.write_text("\n".join(lines) + "\n")
    history.write_text("of a longer search")
    before = card.read_bytes()
    capsys.readouterr()
    search("ring", "avg", few, model="sgc")
    assert (card.read_bytes(), history.read_text()) == (before, "of a longer search")
    told = capsys.readouterr().out.splitlines()
    assert re.match(r"best: \d\d\.\d\d % of validation nodes, mean of 3 seeds", told[0])
    assert told[2:] == [
        f"{card} stays, with its history: 99.44 % of validation nodes are right by it; remove it to have this search's",
        "to run it: dvc exp run -S dataset=ring-sgc-tuned -S model=sgc",
    ]
    other = Path("data/catalog/ring.yaml")
    other.write_text(other.read_text().replace("val_per_class: 20", "val_per_class: 21"))
    search("ring", "avg", few, model="sgc")  # is of other validation nodes, so the two are not compared
    assert "val_per_class: 21" in card.read_text()
    assert "99.44 %" not in card.read_text()


def test_widths_that_memory_has_no_room_for_are_left_out(checkout, here, monkeypatch, capsys):
    prepared = prepare(Case("ring", "avg"), 3)
    settings = Case("ring", "avg").settings(3)
    size = GraphSize.of(prepared.graph, prepared.splits.of(0))._replace(top_k=settings.gfpush.top_k)
    training = settings.train
    needed = training.training_memory(size)
    monkeypatch.setattr("grandplus.propagation.plan.BASE", 0)  # which needs less than training, but for this
    monkeypatch.setenv("GRANDPLUS_MEMORY", f"{needed + 2**16}B")
    search("ring", "avg", {"network": 6, "propagation": 1})
    [left_out] = [line for line in capsys.readouterr().out.splitlines() if line.startswith("left out")]
    assert left_out == "left out, as memory has no room for them: train.hidden=128,256,512,1024"
    found = studies(checkout)["network"].trials
    assert {trial.params.get("train.hidden", 32) for trial in found} <= {32, 64}
    assert all(trial.state != TrialState.FAIL for trial in found)


@pytest.mark.parametrize("value", ["1MB", "abc"])
def test_what_the_environment_lacks_ends_a_search_and_leaves_no_mark(checkout, here, monkeypatch, value):
    monkeypatch.setenv("GRANDPLUS_MEMORY", value)
    with pytest.raises(GrandPlusError, match=r"training would need|GRANDPLUS_MEMORY is 'abc'"):
        search("ring", "avg", {"network": 1, "propagation": 1})
    monkeypatch.delenv("GRANDPLUS_MEMORY")
    ran = study.validation

    def short_of_memory(seed, case):
        if seed == 1:
            raise GrandPlusError("inference would need more memory than there is")
        return ran(seed, case)

    monkeypatch.setattr(study, "validation", short_of_memory)
    with pytest.raises(GrandPlusError, match="inference would need"):
        search("ring", "avg", {"network": 1, "propagation": 1})
    monkeypatch.setattr(study, "validation", ran)
    search("ring", "avg", {"network": 1, "propagation": 1})
    [trial] = studies(checkout)["network"].trials
    assert trial.state == TrialState.COMPLETE


def test_memory_that_training_lacks_for_now_ends_a_search_and_leaves_no_mark(checkout, here, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("grandplus.propagation.plan.BASE", 2**60)
        with pytest.raises(GrandPlusError, match="power iteration would need"):
            search("ring", "avg", {"network": 1, "propagation": 1}, model="sgc")
    [trial] = studies_of(checkout, "ring-sgc")["network"].trials
    assert trial.state == TrialState.RUNNING


@pytest.mark.parametrize("start", [0, 4096])  # its head, which says what it is, or a table
def test_a_damaged_database_is_named_with_what_to_do(checkout, here, start):
    search("ring", "avg", {"network": 1, "propagation": 1})
    whole = (checkout / DATABASE).read_bytes()
    (checkout / DATABASE).write_bytes(whole[:start] + b"\xff" * 4096 + whole[start + 4096 :])
    words = (
        rf"{DATABASE}: can't be used: (file is not a database|database disk image is malformed); move it away; .*lost"
    )
    with pytest.raises(GrandPlusError, match=words):
        search("ring", "avg", {"network": 2, "propagation": 1})
    (checkout / DATABASE).rename(checkout / "away.db")
    search("ring", "avg", {"network": 1, "propagation": 1})


def test_a_database_that_the_system_refuses_is_not_called_damaged(checkout, here):
    (checkout / DATABASE).mkdir(parents=True)
    words = rf"{DATABASE}: can't be used: unable to open database file; make room, and the file and its folder writable"
    with pytest.raises(GrandPlusError, match=words):
        search("ring", "avg", {"network": 1, "propagation": 1})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "dataset is 'nowhere'"),
        (["ring", "--network=0"], "--network is 0; expected at least 1"),
        (["ring", "--model=SGC"], "--model is 'SGC'; expected one of appnp, "),
        (["ring", "--model=SGC"], "; did you mean sgc?"),
        (
            ["ring", "--model=sgc", "--propagation=4"],
            "--propagation 4 has no effect, as --model is sgc; leave it out, or choose --model grandplus",
        ),
        (["ring", "--model=sgc", "--matrix=avg"], "--matrix avg has no effect, as --model is sgc; leave it out"),
        (["ring", "--model=pprgo", "--matrix=ppr"], "--matrix ppr has no effect, as --model is pprgo; leave it out"),
        (
            ["ring", "--model=grand", "--matrix=ppr", "--propagation=2"],
            "--matrix ppr has no effect, as --model is grand",
        ),
    ],
)
def test_mistakes_are_told_in_a_line(checkout, monkeypatch, capsys, arguments, message):
    assert main(["search", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_gpu_that_is_asked_for_is_not_ignored(checkout, monkeypatch, capsys):
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cuda")
    assert main(["search", "ring"]) == 2
    assert "GRANDPLUS_DEVICE is 'cuda'; expected auto or cpu, where experiments train" in capsys.readouterr().err
    with pytest.raises(GrandPlusError, match="GRANDPLUS_DEVICE is 'cuda'"):
        trials.fill(checkout / "trials.csv", [Case("ring", "avg")], 1)
