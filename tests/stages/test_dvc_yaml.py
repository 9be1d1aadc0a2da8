"""dvc.yaml names what a stage reads, no more and no less: its code, its settings, its files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from grandplus.graph.settings import Preprocess
from grandplus.methods.registry import NAMES, settings_of
from grandplus.pipeline import folders
from grandplus.pipeline.dependencies import maker_of, read_stage
from grandplus.pipeline.settings import START, Settings, load_settings
from grandplus.propagation.matrices import MATRICES, parameters
from grandplus.propagation.settings import GFPush

ROOT = Path(__file__).resolve().parents[2]
STAGES = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]
PARAMS = YAML(typ="safe").load((ROOT / "params.yaml").read_text())
# They can't change a result: where and how work runs, what is printed, refused or found again, what it took.
EXEMPT = {
    *(str(file.relative_to(ROOT)) for file in (ROOT / "grandplus/runtime").glob("*.py")),
    *(f"grandplus/pipeline/{name}.py" for name in ("dependencies", "ending", "finished", "git_identity", "live")),
    *(f"grandplus/pipeline/{name}.py" for name in ("preflight", "remedies", "stage", "usage")),
    "grandplus/methods/remaining.py",
} - {"grandplus/runtime/validation.py"}  # which checks settings
# Settings are read as a whole, but only those that a stage names in its params can change what it does.
READERS = {"grandplus/pipeline/settings.py", "grandplus/pipeline/card.py"}
SECTIONS = {
    "grandplus/datasets/source.py": "source",
    "grandplus/graph/settings.py": "preprocess",
    "grandplus/propagation/matrices.py": "matrix",
    "grandplus/propagation/settings.py": "gfpush",
    "grandplus/methods/registry.py": "train",
    "grandplus/methods/settings.py": "train",
    "grandplus/prediction/settings.py": "infer",
}


def settings(model: str) -> Settings:
    return load_settings(ROOT, model=model, train={})


def module_file(module: str) -> str | None:
    file = module.replace(".", "/") + ".py"
    return file if (ROOT / file).exists() else None


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only mypy looks at."""
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
            yield node
            yield from _run(node)


@cache
def imports(file: str) -> frozenset[str]:
    """Files of ours that a file imports, inside of functions too; or names in a string, as the lazy ones do, or all of
    a package that is so named."""
    named: set[str] = set()
    for node in _run(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.ImportFrom):
            named |= {str(node.module)} | {f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            named |= {name.name for name in node.names}
        elif isinstance(node, ast.Constant) and re.fullmatch(r"grandplus(\.\w+)+", str(node.value)):
            package = ROOT / str(node.value).replace(".", "/")
            named |= {str(node.value)} | {f"{node.value}.{module.stem}" for module in package.glob("[!_]*.py")}
    return frozenset({module_file(module) for module in named if module.startswith(("grandplus.", "stages."))} - {None})


def code_of(stage: str, model: str) -> set[str]:
    """The files whose code can change what a stage makes."""
    read = read_stage(stage, settings(model)).settings
    others = {file for file, section in SECTIONS.items() if section not in read}
    needed, waiting = set(), {f"stages/{stage}.py"}
    if stage in ("gfpush", "baselines"):  # whichever method is chosen, or one that there isn't would be DVC's error
        needed |= {f"grandplus/methods/{name}/settings.py" for name in NAMES if settings_of(name).Settings.own_rows}
    while waiting:
        file = waiting.pop()
        if file in needed | EXEMPT:
            continue
        needed.add(file)
        waiting |= imports(file) - (others if file in READERS else set())
        if file == "grandplus/methods/registry.py" and stage in ("train", "infer"):  # finds the method by its name
            waiting |= {f"grandplus/methods/{model}/{part}.py" for part in ("settings", "method")}
    return needed


def files_in(path: Path) -> set[str]:
    """A file, or the modules of a folder; packages hold a docstring or lazy names."""
    files = (ROOT / path).rglob("[!_]*.py") if (ROOT / path).is_dir() else [ROOT / path]
    return {str(file.relative_to(ROOT)) for file in files}


def code_named(stage: str, model: str) -> set[str]:
    code = read_stage(stage, settings(model)).code
    return {file for path in code for file in files_in(path) if file.endswith(".py")}


@pytest.mark.parametrize("model", NAMES)
@pytest.mark.parametrize("stage", STAGES)
def test_code_that_a_stage_imports_is_named(stage, model):
    assert code_of(stage, model) - code_named(stage, model) == set()


@pytest.mark.parametrize("stage", STAGES)
def test_code_that_no_method_needs_in_a_stage_is_not_named(stage):
    needed = {file for model in NAMES for file in code_of(stage, model)}
    named = {file for model in NAMES for file in code_named(stage, model)}
    assert named - EXEMPT - needed == set()


@pytest.mark.parametrize("stage", ["train", "infer"])
def test_of_the_methods_a_stage_depends_on_the_chosen_one(stage):
    for model in NAMES:
        below = [Path(file).parts[2:] for file in code_named(stage, model) if file.startswith("grandplus/methods/")]
        assert {folder for folder, *files in below if files} == {model}


@pytest.mark.parametrize("stage", ["gfpush", "baselines"])
def test_what_is_made_by_a_matrix_depends_on_the_method_as_it_may_have_its_own(stage):
    assert settings("pprgo").matrix != settings("gcn").matrix
    assert "model" in read_stage(stage, settings("gcn")).settings


@pytest.mark.parametrize("stage", STAGES)
def test_a_dependency_is_named_once(stage):
    code = read_stage(stage, settings("grandplus")).code
    files = [file for path in code for file in files_in(path)]
    assert len(set(files)) == len(files)
    assert all((ROOT / path).exists() for path in code)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_runs_the_code_of_its_own_checkout(stage):
    assert STAGES[stage]["cmd"] == f"python -m stages.{stage}"


def test_each_input_is_an_earlier_stages_output():
    made: set[str] = set()
    for stage in STAGES.values():
        for dep in stage["deps"]:
            if dep.startswith("data/") and not dep.startswith("data/catalog/"):
                assert any(dep == out or dep.startswith(f"{out}/") for out in made), dep
        made |= {out for out in stage["outs"] if isinstance(out, str)}


def test_the_folders_between_stages_are_those_that_the_code_reads(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {"download": "RAW", "preprocess": "GRAPH", "gfpush": "ROWS", "baselines": "BASELINES", "train": "MODEL"}
    names["infer"] = "PREDICTIONS"
    for stage, name in names.items():
        assert [str(getattr(folders, name))] == STAGES[stage]["outs"]
        assert maker_of(getattr(folders, name) / "file") == stage
    assert maker_of(Path("reports/metrics.json")) == "evaluate"
    assert maker_of(Path("data/catalog/cora.yaml")) is None


def test_every_setting_reaches_the_stage_that_uses_it():
    used = {name for stage in STAGES.values() for name in stage.get("params", []) if isinstance(name, str)}
    assert used == set(PARAMS)


@pytest.mark.parametrize("stage", STAGES)
def test_what_a_stage_reads_of_params_yaml_or_a_card_is_a_setting(stage):
    assert set(read_stage(stage, settings("grandplus")).settings) <= set(Settings.model_fields)


def test_params_yaml_holds_every_setting_and_no_other():
    matrices = {key for family in MATRICES.values() for key in parameters(family)}
    methods = {key for name in NAMES for key in settings_of(name).Settings.model_fields}
    assert set(PARAMS["preprocess"]) == set(Preprocess.model_fields)
    assert set(PARAMS["gfpush"]) == {*GFPush.model_fields, *matrices}
    assert set(PARAMS["train"]) == methods | {START}


def test_the_model_is_an_artifact_of_the_project():
    artifacts = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["artifacts"]
    assert {artifact["path"]: artifact["type"] for artifact in artifacts.values()} == {str(folders.MODEL): "model"}


def test_a_card_has_the_keys_that_stages_name():
    """DVC refuses a card that lacks one."""
    wanted = {key for stage in STAGES.values() for entry in stage.get("params", []) if isinstance(entry, dict)
              for keys in entry.values() for key in keys}  # fmt: skip
    cards = sorted((ROOT / "data/catalog").glob("*.yaml"))
    assert len(cards) >= 11
    for card in cards:
        assert wanted <= YAML(typ="safe").load(card.read_text()).keys(), card.name


def test_stages_import_no_torch_before_training():
    for stage in ("download", "preprocess", "gfpush", "baselines"):
        for file in code_of(stage, "grandplus"):
            top = [node for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.Import)]
            assert not any(name.name.startswith("torch") for node in top for name in node.names), file
