"""What queued experiments share runs once for equal settings; that DVC then finds it, the pipeline's tests show."""

from __future__ import annotations

import subprocess
import sys

import pytest
from project import commit
from ruamel.yaml import YAML

from grandplus.pipeline import queue, usage
from grandplus.runtime.errors import GrandPlusError

SETTINGS = {"dataset": "cora", "matrix": "ppr", "gfpush": {"top_k": 8}, "train": {"lr": 0.1}}


@pytest.fixture
def queued(tmp_path, monkeypatch):
    """Experiments named a, b, ... of so many changes of the settings, each a commit."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "--quiet"], check=True)

    def make(*changes):
        found = []
        for name, change in zip("abcdef", changes, strict=False):
            YAML().dump(SETTINGS | change, tmp_path / "params.yaml")
            commit(tmp_path, "queued")
            head = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
            revision = head.stdout.strip()
            found.append(queue.Queued(name, revision, queue.read_settings(revision), tmp_path / f"{name}.json"))
        return found

    return make


def test_stages_run_once_for_settings_that_lead_to_the_same_rows(queued, monkeypatch):
    ran = []

    def run_stages(revision, cache, *stages):
        if len(ran) < 2:  # the third finds all in the cache
            usage.add(queue.CLONE / usage.LAST, stages[0], {"seconds": len(ran), "memory": 1})
        settings = subprocess.run(["git", "show", f"{revision}:params.yaml"], cwd=queue.CLONE, capture_output=True)
        ran.append((stages, settings.returncode, revision if revision == "HEAD" else b"top_k: 9" in settings.stdout))
        return True

    monkeypatch.setattr(queue, "_run_stages", run_stages)
    found = queued({}, {"train": {"lr": 0.2}}, {"gfpush": {"top_k": 9}}, {"train": {"lr": 0.3}})
    (queue.CLONE / "left by a kill").mkdir(parents=True)
    assert queue.run_shared_stages(found, "cache") == 2
    shared = ("gfpush", "baselines")
    assert ran == [(("preprocess",), 0, "HEAD"), (shared, 0, False), (shared, 0, True)]
    assert not queue.CLONE.exists()
    once = {"gfpush": {"seconds": 1, "memory": 1}}
    assert [usage.read(experiment.taken) for experiment in found] == [once, once, {}, once]


def test_a_bad_experiment_is_no_reason_to_keep_others_from_theirs(queued, monkeypatch, capsys):
    """DVC tells why it failed when its turn comes."""
    found = queued({"gfpush": {"top_k": 0}}, {"gfpush": {"top_k": 9}})
    ran = []

    def run_stages(revision, cache, *stages):
        ran.append(revision)
        return revision != found[0].revision

    monkeypatch.setattr(queue, "_run_stages", run_stages)
    queue.run_shared_stages(found, "cache")
    assert ran == ["HEAD", found[0].revision, found[1].revision]
    said = capsys.readouterr().out.splitlines()
    assert said[1] == "a: no rows can be made, so it will fail; the others go on"
    assert len(said) == 3


class Scripted:
    """DVC's queue as it looks from poll to poll; the last look stays."""

    def __init__(self, *looks, workers=1):
        self.looks, self.workers = list(looks), workers

    def status(self):
        look = self.looks.pop(0) if len(self.looks) > 1 else self.looks[0]
        return [{"rev": revision, "status": status} for revision, status in look.items()]

    def worker_status(self):
        return {"worker": []} if self.workers else {}


def test_how_each_ends_is_told(monkeypatch, capsys):
    monkeypatch.setattr(queue, "POLL_SECONDS", 0)
    looks = [{"1": "Running", "2": "Queued"}, {"1": "Failed", "2": "Running"}, {"1": "Failed", "2": "Success"}]
    assert queue.wait_for({"1": "a", "2": "b"}, Scripted(*looks))
    said = ["1 of 2, a: Failed", "why: dvc queue logs a", "2 of 2, b: Success"]
    assert capsys.readouterr().out.splitlines() == said
    assert not queue.wait_for({"2": "b"}, Scripted(looks[-1]))


@pytest.mark.parametrize(
    ("last", "workers", "words"),
    [
        ({"1": "Success", "2": "Queued"}, 0, "b won't be run: .*; run grandplus queue again"),
        ({"1": "Success", "2": "Running"}, 0, "b won't be run: .*; run grandplus queue again"),
        ({"1": "Success"}, 1, "b won't be run: no longer queued.*; queue them again"),
    ],
    ids=["stopped", "worker killed", "removed"],
)
def test_what_will_never_end_is_not_waited_for(monkeypatch, last, workers, words):
    monkeypatch.setattr(queue, "POLL_SECONDS", 0)
    with pytest.raises(GrandPlusError, match=words):
        queue.wait_for({"1": "a", "2": "b"}, Scripted({"1": "Running", "2": "Queued"}, last, workers=workers))


@pytest.mark.parametrize(
    ("jobs", "message"), [(1, "not inside of a DVC repository.*; run from the top of the checkout"), (0, "--jobs is 0")]
)
def test_mistakes_are_told_in_a_line(tmp_path, monkeypatch, jobs, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GrandPlusError, match=message):
        queue.run_queue(jobs)


def test_a_card_that_git_does_not_know_is_named(queued, tmp_path):
    (tmp_path / "data/catalog").mkdir(parents=True)
    (tmp_path / "data/catalog/known.yaml").touch()
    [known, nowhere] = queued({"dataset": "known"}, {"dataset": "nowhere"})
    queue.check_cards_in_git([known, nowhere])  # of the latter DVC tells, when its turn comes
    [first, second] = queued({"dataset": "unknown"}, {"dataset": "unknown", "seed": 1})
    (tmp_path / "data/catalog/unknown.yaml").touch()
    words = r"unknown.yaml: is not in git, so a, b would lack it; .*, dvc queue remove a b,"
    with pytest.raises(GrandPlusError, match=words):
        queue.check_cards_in_git([first, known, second])


def test_an_empty_queue_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "--quiet"], check=True)
    subprocess.run([sys.executable, "-m", "dvc", "init", "--quiet"], check=True)
    with pytest.raises(GrandPlusError, match="nothing is queued; queue experiments with dvc exp run --queue"):
        queue.run_queue(1)
