"""The command as a whole: its verbs, how mistakes end, and where it may be run."""

from __future__ import annotations

import argparse
import subprocess
import sys

import pytest
from project import ROOT

import grandplus
from grandplus.cli import results
from grandplus.cli.main import VERBS, _parser, main
from grandplus.runtime.errors import ArtifactError, GrandPlusError

NEEDED = {  # arguments that a verb can't do without
    "import": ["name", "file"],
    "predict": ["--nodes", "ids.txt"],
    "explain": ["0"],
    "embed": ["--out", "embeddings.parquet"],
    "suggest": ["5"],
    "search": ["cora"],
    "tune": ["cora"],
}
SLOW = ("torch", "dvc", "optuna", "matplotlib", "sklearn", "jinja2", "distributed")


@pytest.fixture
def failing(monkeypatch):
    """A verb that ends with an error, at the top of this checkout."""
    monkeypatch.chdir(ROOT)

    def fail_with(error):
        def run(arguments):
            raise error

        monkeypatch.setattr(results, "run", run)

    return fail_with


def test_each_file_is_a_verb(capsys):
    files = {file.stem.rstrip("_") for file in (ROOT / "grandplus/cli").glob("[!_]*.py")} - {"main"}
    assert {verb.__name__.rpartition(".")[2].rstrip("_") for verb in VERBS} == files
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    described = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line.startswith("    ")}
    assert files <= described
    for verb in files:
        with pytest.raises(SystemExit) as ended:
            main([verb, "--help"])
        assert ended.value.code == 0


def test_help_says_what_each_thing_is(capsys):
    verbs = next(action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction))
    texts = [action.help for action in verbs._choices_actions]
    texts += [action.help for verb in verbs.choices.values() for action in verb._actions if action.dest != "help"]
    assert len(texts) > 30
    for text in texts:
        first = text.split()[0]
        assert first.isalpha(), text  # no value or list of values
        assert first not in ("default", "its", "ignore"), text
        assert len(text.split()) > 2, text
        assert not text.endswith("."), text


def test_the_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"grandplus {grandplus.__version__}\n"


def test_the_parser_imports_nothing_that_takes_long():
    script = f"import sys, grandplus.cli.main; print([name for name in {SLOW} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__.rpartition(".")[2])
def test_from_a_subfolder_a_verb_says_where_to_go(tmp_path, monkeypatch, capsys, verb):
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "data/raw").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "data/raw")
    name = verb.__name__.rpartition(".")[2].rstrip("_")
    assert main([name, *NEEDED.get(name, [])]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line == (
        f"error: {tmp_path}/data/raw: is not the top folder of the checkout {tmp_path}; run this first: cd ../.."
    )


def test_outside_of_a_checkout_a_verb_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["results"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line == (
        f"error: {tmp_path}: is in no checkout of GRAND+: there is no dvc.yaml here or above; "
        "change to the top folder of a checkout first"
    )


@pytest.mark.parametrize(("verb", "told"), [("import_", True), ("queue", True), ("results", False)])
def test_a_verb_before_an_experiment_says_how_to_set_gits_identity(monkeypatch, capsys, verb, told):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("grandplus.cli.main.identity_note", lambda: "note: git config")
    monkeypatch.setattr(f"grandplus.cli.{verb}.run", lambda _: None)
    name = verb.rstrip("_")
    assert main([name, *NEEDED.get(name, [])]) == 0
    assert capsys.readouterr().err == ("note: git config\n" if told else "")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (GrandPlusError("top_k is 0", expected="at least 1"), "error: top_k is 0; expected at least 1"),
        (ArtifactError("no such file", where=ROOT / "data/rows/x"), f"error: {ROOT}/data/rows/x: no such file; "
         "run dvc repro gfpush"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_a_line(failing, capsys, error, line):
    failing(error)
    assert main(["results"]) == 2
    assert capsys.readouterr().err == f"{line}\n"


@pytest.mark.parametrize(("verb", "words"), [("results", "finished work is kept"), ("queue", "see dvc queue status")])
def test_ctrl_c_says_what_is_kept(monkeypatch, capsys, verb, words):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(results, "run", interrupted)
    monkeypatch.setattr("grandplus.pipeline.queue.run_queue", interrupted)
    assert main([verb]) == 130
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("verb", [["settings"], ["datasets", "--format", "json"]])
def test_an_output_that_has_no_room_or_is_closed(verb):
    """Of the output there is nothing to see, and one line on stderr says why."""
    command = [sys.executable, "-m", "grandplus", *verb]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
    line = "error: standard output: No space left on device; let it go where there is room\n"
    assert (done.returncode, done.stderr) == (2, line)
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")
