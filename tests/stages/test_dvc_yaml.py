"""dvc.yaml names what a stage reads, no more and no less: its code, its settings, its files."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from grandplus.pipeline import settings

ROOT = Path(__file__).resolve().parents[2]
STAGES = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]
# They can't change a result: what is printed or refused, where work runs and what it takes. Packages hold a docstring
# or lazy names.
_NAMES = ("cluster", "errors", "execution", "progress", "resources", "room", "training/live")
EXEMPT = {f"grandplus/{name}.py" for name in _NAMES}


def module_file(module: str) -> str | None:
    file = module.replace(".", "/") + ".py"
    return file if (ROOT / file).exists() else None


def modules_of(package: str) -> set[str]:
    return {f"{package}.{file.stem}" for file in (ROOT / package.replace(".", "/")).glob("[!_]*.py")}


def imports(file: str) -> set[str]:
    """Our modules that a file imports, inside of functions too, or names in a string, as registries do; or all of a
    package that is so named."""
    found: set[str] = set()
    for node in ast.walk(ast.parse((ROOT / file).read_text())):
        if isinstance(node, ast.ImportFrom):
            found |= {str(node.module)} | {f"{node.module}.{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.Constant) and re.fullmatch(r"grandplus(\.\w+)+", str(node.value)):
            found |= {str(node.value)} | modules_of(str(node.value))
    return {module_file(module) for module in found if module.startswith(("grandplus", "stages"))} - {None}


def code_of(stage: str) -> set[str]:
    found, waiting = set(), {f"stages/{stage}.py"}
    while waiting:
        file = waiting.pop()
        found.add(file)
        waiting |= imports(file) - found
    return found - EXEMPT


@pytest.mark.parametrize("stage", STAGES)
def test_code_dependencies_are_the_imports(stage):
    named = {dep for dep in STAGES[stage]["deps"] if dep.endswith(".py")}
    assert named == code_of(stage)


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


def test_every_setting_reaches_the_stage_that_uses_it():
    params = YAML(typ="safe").load((ROOT / "params.yaml").read_text())
    used = {name for stage in STAGES.values() for name in stage.get("params", []) if isinstance(name, str)}
    assert used == set(params)


def test_params_yaml_holds_every_setting_and_no_other():
    params = YAML(typ="safe").load((ROOT / "params.yaml").read_text())
    for section, model in {
        "preprocess": settings.Preprocess,
        "gfpush": settings.GFPush,
        "train": settings.Train,
    }.items():
        assert set(params[section]) == set(model.model_fields)


def test_stages_import_no_torch_before_training():
    for stage in ("download", "preprocess", "gfpush"):
        for file in code_of(stage):
            top = [node for node in ast.parse((ROOT / file).read_text()).body if isinstance(node, ast.Import)]
            assert not any(name.name.startswith("torch") for node in top for name in node.names), file
