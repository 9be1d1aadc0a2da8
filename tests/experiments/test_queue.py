"""What queued experiments share runs once for equal settings; that DVC then finds it, the pipeline's tests show."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest
from project import commit
from ruamel.yaml import YAML

from experiments import queue
from grandplus import resources
from grandplus.errors import GrandPlusError

SETTINGS = {"dataset": "cora", "matrix": "ppr", "gfpush": {"top_k": 8}, "train": {"lr": 0.1}}


def test_stages_run_once_for_settings_that_lead_to_the_same_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "--quiet"], check=True)
    revisions = []
    for change in ({}, {"train": {"lr": 0.2}}, {"gfpush": {"top_k": 9}}, {"train": {"lr": 0.3}}):
        YAML().dump(SETTINGS | change, tmp_path / "params.yaml")
        commit(tmp_path, "queued")
        head = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout
        revisions.append(head.strip())
    ran = []

    def run_stage(stage, revision, cache):
        if len(ran) < 2:  # the third finds all in the cache
            resources.add(queue.CLONE / resources.LAST, stage, {"seconds": len(ran), "memory": 1})
        settings = subprocess.run(["git", "show", f"{revision}:params.yaml"], cwd=queue.CLONE, capture_output=True)
        ran.append((stage, settings.returncode, revision if revision == "HEAD" else b"top_k: 9" in settings.stdout))

    monkeypatch.setattr(queue, "_run_stage", run_stage)
    repo = SimpleNamespace(cache=SimpleNamespace(local_cache_dir="cache"))
    (queue.CLONE / "left by a kill").mkdir(parents=True)
    noted = {of: tmp_path / f"{number}.json" for number, of in enumerate(revisions)}
    assert queue.run_shared_stages(repo, {of: queue.read_settings(of) for of in revisions}, noted) == 2
    assert ran == [("preprocess", 0, "HEAD"), ("gfpush", 0, False), ("gfpush", 0, True)]
    assert not queue.CLONE.exists()
    once = {"gfpush": {"seconds": 1, "memory": 1}}
    assert [resources.read(file) for file in noted.values()] == [once, once, {}, once]


@pytest.mark.parametrize(("arguments", "message"), [([], "is no DVC project"), (["--jobs=0"], "--jobs is 0")])
def test_mistakes_are_told_in_a_line(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["queue", *arguments])
    assert queue.main() == 2
    assert message in capsys.readouterr().err


def test_a_card_that_git_does_not_know_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/catalog").mkdir(parents=True)
    (tmp_path / "data/catalog/known.yaml").touch()
    subprocess.run(["git", "init", "--quiet"], check=True)
    for name in ("known", "unknown"):
        (tmp_path / "params.yaml").write_text(f"dataset: {name}\n")
        commit(tmp_path, name)
    queue.refuse_unknown_cards({"HEAD~1": queue.read_settings("HEAD~1")})
    with pytest.raises(
        GrandPlusError, match=r"data/catalog/unknown.yaml: is not in git, so .*; git add data/catalog/unk"
    ):
        queue.refuse_unknown_cards({"HEAD": queue.read_settings("HEAD")})


def test_an_empty_queue_is_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "--quiet"], check=True)
    subprocess.run([sys.executable, "-m", "dvc", "init", "--quiet"], check=True)
    monkeypatch.setattr(sys, "argv", ["queue"])
    assert queue.main() == 2
    assert "nothing is queued; queue experiments with dvc exp run --queue" in capsys.readouterr().err
