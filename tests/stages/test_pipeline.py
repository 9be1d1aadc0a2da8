"""The pipeline through DVC: what runs again after which change, and what bad settings get."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from browser import look_at
from project import commit, copy_project, set_params

from grandplus.cli.main import main
from grandplus.estimator import GrandPlusClassifier
from grandplus.methods.files import load_model
from grandplus.pipeline.settings import load_settings
from grandplus.prediction.calibration import Calibration

ALL = ["download", "preprocess", "gfpush", "baselines", "train", "infer", "evaluate"]
SMALL = {"dataset": "cora", "matrix": "ppr", "trials": 1, "train": {"max_epochs": 4}}


class Project:
    """A checkout in which DVC runs; its commands are those of a user."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder, self.environment = folder, environment

    def dvc(self, *arguments: str, code: int = 0) -> str:
        """What DVC prints."""
        command = [sys.executable, "-m", "dvc", *arguments]
        run = subprocess.run(
            command, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        output = run.stdout + run.stderr
        assert (run.returncode == 0) == (code == 0), output
        return output

    def ran(self, *arguments: str) -> list[str]:
        """The stages whose commands were run."""
        return re.findall(r"^> python -m stages\.(\w+)$", self.dvc(*arguments), re.MULTILINE)

    def grandplus(self, *arguments: str, code: int = 0) -> str:
        """What one of our own commands prints."""
        return self.python("grandplus", *arguments, code=code)

    def python(self, module: str, *arguments: str, code: int = 0) -> str:
        """What a module prints."""
        command = [sys.executable, "-m", module, *arguments]
        run = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, check=False
        )
        assert run.returncode == code, run.stderr
        return run.stdout + run.stderr

    def restore(self) -> None:
        """Back to the committed settings and code, with the results of the first run."""
        # Not a checkout, which restores what is staged: an experiment that fails leaves its settings staged.
        # Touched, since DVC can leave a file that git takes for unchanged, if its size and second are the same.
        (self.folder / "params.yaml").touch()
        subprocess.run(["git", "reset", "--quiet", "--hard"], cwd=self.folder, check=True)
        self.dvc("checkout", "--quiet", "--force")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, dataset_folder: Callable[..., Path]) -> Project:
    """Run once and committed. An installed grandplus that fails stands in its way: it must not be used."""
    folder = tmp_path_factory.mktemp("pipeline")
    decoy = folder / "site" / "grandplus"
    decoy.mkdir(parents=True)
    (decoy / "__init__.py").write_text("raise SystemExit('an installed grandplus was imported')\n")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DVC_", "GIT_"))}
    environment |= {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(folder / "site"),
        "GRANDPLUS_DEVICE": "cpu",
    }
    try:
        environment["GRANDPLUS_MIRROR"] = str(dataset_folder("cora"))
    except pytest.skip.Exception:
        environment.pop("GRANDPLUS_MIRROR", None)  # by pip
    copy_project(folder / "checkout", SMALL)
    project = Project(folder / "checkout", environment)
    assert project.ran("repro") == ALL
    commit(project.folder, "results")
    return project


@pytest.fixture(autouse=True)
def _as_committed(project: Project) -> None:
    project.restore()


def test_a_second_run_runs_nothing(project):
    output = project.dvc("repro")
    assert "Data and pipelines are up to date." in output
    assert "> python" not in output


@pytest.mark.parametrize(
    ("change", "first"),
    [
        ("train.lr=0.005", "train"),
        ("preprocess.unlabelled=100", "preprocess"),
        ("seed=1", "preprocess"),
    ],
)
def test_a_setting_reruns_from_the_stage_that_reads_it(project, change, first):
    ran = project.ran("exp", "run", "-S", change)
    expected = ALL[ALL.index(first) :]
    if first == "preprocess" and change == "seed=1":
        expected = ["preprocess", *ALL[ALL.index("train") :]]  # the public split is the same for every seed
    assert ran == expected


def test_switching_back_comes_from_the_cache(project):
    assert project.ran("exp", "run", "-S", "matrix=avg") == ["gfpush", "baselines", "train", "infer", "evaluate"]
    for matrix in ("ppr", "avg"):
        assert project.ran("exp", "run", "-S", f"matrix={matrix}") == []


def test_another_method_runs_from_the_rows_on(project):
    """It needs none of them, so the stage leaves an empty folder."""
    changes = ("model=sgc", "train.max_epochs=null", "train.epochs=3")
    assert project.ran("exp", "run", *(f"-S{change}" for change in changes)) == [
        "gfpush",
        "baselines",
        "train",
        "infer",
        "evaluate",
    ]
    assert [file.name for file in (project.folder / "data/rows").iterdir()] == ["SHA256SUMS"]
    assert load_model(project.folder / "data/model/trial-00000.safetensors").method == "sgc"
    assert "sgc" in project.grandplus("results")


@pytest.mark.parametrize(
    ("file", "first"),
    [
        ("grandplus/methods/grandplus/losses.py", ["train"]),
        ("grandplus/evaluation/plots.py", ["evaluate"]),
        ("grandplus/evaluation/baselines/linear.py", ["baselines"]),
        ("grandplus/datasets/formats/new.py", ["preprocess"]),  # which reads formats by their folder
        ("grandplus/methods/other/method.py", []),  # not the chosen one
        ("grandplus/report/page.py", []),
    ],
)
def test_edited_code_reruns_only_what_uses_it(project, file, first):
    source = project.folder / file
    source.parent.mkdir(exist_ok=True)
    source.write_text((source.read_text() if source.exists() else "") + "\n# edited\n")
    ran = project.ran("repro")
    source.unlink()  # git, which restores it otherwise, doesn't know a new one
    assert ran[:1] == first


def test_experiments_are_listed_and_compared(project):
    project.dvc("exp", "run", "-n", "slow", "-S", "train.lr=0.005")
    lines = {line.split()[0]: line for line in project.grandplus("experiments").splitlines()}
    metrics = json.loads((project.folder / "reports/metrics.json").read_text())
    assert re.search(r" cora +grandplus +ppr +1 +train.lr=0.005 train.max_epochs=4 ", lines["slow"])
    assert f"{100 * metrics['test']['accuracy']['mean']:.2f} %" in lines["slow"]
    assert f"{metrics['test']['ece']['calibrated']:.3f}" in lines["slow"]
    said = [line.partition(name)[2] for name, line in lines.items()]  # names are random words
    assert not re.search(r"[\[{]|\.py|sha|null", "".join(said))
    printed = project.grandplus("report", "slow", "HEAD")
    assert re.search(r"slow +cora +grandplus +ppr +1 +train.lr=0.005 train.max_epochs=4 ", printed)
    page = (project.folder / "reports/report.html").read_text()
    assert len(re.findall('<section class="run"', page)) == 2
    assert "One trial says nothing of differences: run slow, HEAD with more" in page
    [line] = project.grandplus("report", "nosuch", code=2).splitlines()
    assert line.startswith("error: nosuch: unknown Git revision 'nosuch'")
    set_params(project.folder, {"trials": 2})
    [line] = [line for line in project.grandplus("experiments").splitlines() if line.startswith("workspace")]
    settings = r"cora +grandplus +ppr +2 +train.\S+ train.max_epochs=4"
    assert re.fullmatch(rf"workspace +{settings} +not run to its end with these settings", line)


def test_the_page_of_dvc_plots_needs_no_network(project, tmp_path):
    project.dvc("plots", "show")
    drawn = "[...document.images].filter(image => image.complete && image.naturalWidth > 100).length"
    seen = look_at(project.folder / "dvc_plots/index.html", tmp_path, drawn)
    assert seen.values[drawn] == 4
    assert seen.console == []
    assert all(address.startswith("file:") for address in seen.requests)


def test_a_queued_experiment_runs_its_own_code(project):
    """The edited code of the workspace is part of the experiment, though it runs in another folder."""
    summary = project.folder / "grandplus/evaluation/summary.py"
    end = "    return content\n\n\ndef _compared("
    assert end in summary.read_text()
    summary.write_text(summary.read_text().replace(end, f'    content["mark"] = 7000\n{end}'))
    project.dvc("exp", "run", "--queue", "-n", "elsewhere", "-S", "gfpush.top_k=7")  # rows that no other test makes
    printed = project.grandplus("queue")
    assert "rows of 1 of 1 settings: elsewhere" in printed  # before the experiment, which finds them in the cache
    assert "1 of 1, elsewhere: Success" in printed
    ran = re.findall(r"Running stage '(\w+)'", project.dvc("queue", "logs", "elsewhere"))
    assert ran == ["train", "infer", "evaluate"]
    project.dvc("queue", "stop")
    [noted] = (project.folder / ".grandplus/resources").glob("*-elsewhere.json")
    assert list(json.loads(noted.read_text())) == ["gfpush", "baselines", "train", "infer", "evaluate"]
    project.restore()
    [line] = [line for line in project.dvc("exp", "show", "--csv").splitlines() if "elsewhere" in line]
    assert ",7000," in line  # the mark is among the metrics


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("+train.lrr=1", ["train.lrr = 1", "did you mean train.lr?"]),
        ("gfpush.top_k=0", ["gfpush.top_k is 0", "greater than or equal to 1"]),
        ("train.lr=abc", ["train.lr is 'abc'", "a valid number"]),
        ("matrix=foo", ["matrix is 'foo'", "ppr"]),
        ("model=foo", ["model is 'foo'", "grandplus"]),
        ("dataset=../x", ["data/x.yaml"]),
        ("dataset=nosuch", ["data/catalog/nosuch.yaml"]),
    ],
)
def test_a_bad_setting_is_refused_in_a_line(project, change, words):
    output = project.dvc("exp", "run", "-S", change, code=1)
    [line] = [line for line in output.splitlines() if all(word in line for word in words)]
    assert line.lower().startswith("error: ")
    assert "Traceback" not in output
    assert len(re.findall(r"^> python", output, re.MULTILINE)) <= 1  # the stage that refuses, if DVC does not


def test_every_stage_checks_all_settings_first(project):
    """A stage that is started by itself refuses what only a later one would use."""
    set_params(project.folder, {"train": {"lr": "abc"}})
    for stage in ALL:
        run = subprocess.run(
            [sys.executable, "-m", f"stages.{stage}"], cwd=project.folder, capture_output=True, text=True, check=False
        )
        assert run.returncode == 2
        assert run.stderr.startswith("error: params.yaml: train.lr is 'abc'")
        assert len(run.stderr.splitlines()) == 1


def test_predictions_and_metrics_agree(project):
    """The metrics, worked out anew from the predictions' columns."""
    table = pq.read_table(project.folder / "data/predictions/trial-00000.parquet").to_pydict()
    metrics = json.loads((project.folder / "reports/metrics.json").read_text())
    assert len(table["node"]) == 2708
    counts = {part: table["part"].count(part) for part in ("train", "val", "test", "other")}
    assert counts == {"train": 140, "val": 500, "test": 1000, "other": 1068}
    for part in ("val", "test"):
        right = [
            p == y for p, y, of in zip(table["predicted"], table["label"], table["part"], strict=True) if of == part
        ]
        assert metrics[part]["accuracy"]["mean"] == pytest.approx(sum(right) / len(right), abs=1e-6)
    for predicted, confidence, probabilities in zip(
        table["predicted"], table["confidence"], table["probabilities"], strict=True
    ):
        assert probabilities[predicted] == confidence == max(probabilities)
        assert sum(probabilities) == pytest.approx(1, abs=1e-5)


def test_what_speaks_against_the_result_is_said(project):
    """Four epochs are no training."""
    findings = json.loads((project.folder / "reports/diagnosis.json").read_text())["findings"]
    [ended] = [finding for finding in findings if finding["name"] == "ended_at_max_epochs"]
    assert ended["advice"] == "train.max_epochs=8 or train.lr=0.02"
    assert re.search(rf"^(diagnosis)? +{ended['observation']}\n +try", project.grandplus("results"), re.M)
    project.grandplus("report")
    assert ended["observation"][1:] in (project.folder / "reports/report.html").read_text()


def test_the_table_to_take_is_the_calibrated_trial(project):
    """With one trial there is nothing to average."""
    folder = project.folder / "data/predictions"
    trial, taken = (pq.read_table(folder / name) for name in ("trial-00000.parquet", "predictions.parquet"))
    assert taken["confidence"].equals(trial["calibrated"])
    assert taken["node"].equals(trial["node"])
    assert taken["part"].equals(trial["part"])
    classes = json.loads((project.folder / "data/graph/classes.json").read_text())
    assert taken["predicted"].to_pylist() == [classes[number] for number in trial["predicted"].to_pylist()]
    metrics = json.loads((project.folder / "reports/metrics.json").read_text())
    assert metrics["predictions"]["nodes"] == 1000
    assert metrics["predictions"]["accuracy"] == metrics["test"]["accuracy"]["mean"]
    assert metrics["predictions"]["ece"] == metrics["test"]["ece"]["calibrated"]


def test_the_classifier_gives_the_pipelines_bytes(project, raw_graph, monkeypatch):
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cpu")
    raw, settings = raw_graph("cora"), load_settings(project.folder)
    values = settings.flat()
    parameters = values["preprocess"] | values["gfpush"] | settings.train.model_dump()
    plain = {"matrix": values["matrix"], "random_state": values["seed"], "trials": values["trials"]}
    classifier = GrandPlusClassifier(**plain, **parameters)
    adjacency = sp.coo_array((np.ones(raw.edges.shape[1]), tuple(raw.edges)), shape=(raw.nodes, raw.nodes))
    classifier.fit(adjacency, raw.features, raw.labels, **raw.splits[0])
    taken = pq.read_table(project.folder / "data/predictions/predictions.parquet").to_pydict()
    assert classifier.predict_proba().tolist() == taken["probabilities"]
    assert classifier.confident().tolist() == taken["confident"]
    assert Calibration.load(project.folder / "data/predictions/calibration.json") == classifier.calibration_


@pytest.fixture
def command(project, monkeypatch, capsys):
    """``python -m grandplus`` in this process: its exit code and what it prints."""

    def run(*arguments: str, given: str = "") -> tuple[int, str, str]:
        monkeypatch.chdir(project.folder)
        monkeypatch.setattr(sys, "argv", ["grandplus", *arguments])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        return main(), *capsys.readouterr()

    return run


def test_single_nodes_are_predicted_and_explained(project, command):
    code, out, errors = command("predict", "--nodes", "-", "--dataset", "cora", given="7\n1700\n7\n")
    assert (code, errors) == (0, "")
    head, *lines = [line.split("\t") for line in out.splitlines()]
    classes = json.loads((project.folder / "data/graph/classes.json").read_text())
    assert head == ["node", "predicted", "confidence", "confident", "l1_error", *(f"P({name})" for name in classes)]
    assert [line[0] for line in lines] == ["7", "1700", "7"]
    taken = pq.read_table(project.folder / "data/predictions/predictions.parquet").to_pydict()
    for node, predicted, confidence, _, l1_error, *probabilities in lines:
        assert confidence == max(probabilities) == probabilities[classes.index(predicted)]
        assert float(l1_error) < 1e-4  # with r_max = 1e-7, what the row lacks is next to nothing
        np.testing.assert_allclose(np.array(probabilities, float), taken["probabilities"][int(node)], atol=1e-3)
    _, explained, _ = command("explain", "1700")
    itself = explained.splitlines()[1].split()
    assert [itself[0], *itself[3:]] == lines[1][:5]


def test_a_mistake_about_single_nodes_is_told_in_a_line(command):
    predict = ("predict", "--nodes")
    for arguments, message in {
        (*predict, "-"): "there is no node x7; expected an id that the data came with; the nearest is",
        (*predict, "-", "--dataset", "pubmed"): "dataset is pubmed; expected cora, which the models",
        (*predict, "absent.txt"): "absent.txt: can't be read: No such file or directory; expected a file with one",
        ("explain", "2708"): "there is no node 2708; expected an id that the data came with; the nearest are 2707",
    }.items():
        code, out, errors = command(*arguments, given="x7\n")
        assert (code, out) == (2, "")
        assert errors.startswith(f"error: {message}")
        assert len(errors.splitlines()) == 1


def test_the_python_of_the_pages_gives_what_the_pipeline_gave(project):
    """Each whole script: of the README, of arrays that it draws, and of docs/python.md, of the run's files."""
    printed = [
        subprocess.run(
            [sys.executable, "-c", block], cwd=project.folder, capture_output=True, text=True, check=True
        ).stdout
        for page in ("README.md", "docs/python.md")
        for block in re.findall(r"```python\n(.*?)```", (project.folder / page).read_text(), re.DOTALL)
        if block.startswith("import ")  # others go on from arrays of the reader's own
    ]
    of_arrays, of_run, of_model = printed
    assert float(of_arrays) > 0.95
    metrics = json.loads((project.folder / "reports/metrics.json").read_text())
    assert of_run.startswith(f"{metrics['test']['accuracy']['mean']:.4f} of test nodes are right")
    assert f"{metrics['rows']['l1_error']['mean']:.4f}" in of_run
    assert "'matrix': 'ppr'" in of_model
