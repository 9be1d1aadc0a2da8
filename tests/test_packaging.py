"""What ``pip install`` brings: the declared packages are those that are imported, and the library needs no extra."""

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import grandplus

ROOT = Path(grandplus.__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MODULE = {"ruamel.yaml": "ruamel", "ruamel.yaml.clib": "", "scikit-learn": "sklearn"}  # where it has another name
WITH_DVC = {"dvc_data", "fsspec", "scmrepo"}  # DVC's own packages, and that of its file systems
WITH_NUMBA = {"llvmlite"}
# Drawing needs an extra: what the library computes does not.
DRAWING = {"grandplus.evaluation.plots", "grandplus.evaluation.figures", "grandplus.evaluation.fonts"}
# And so do the methods that are made of PyTorch Geometric's layers.
OF_LAYERS = {f"grandplus.methods.{name}.method" for name in ("gcn", "gat", "appnp", "gcnii")}
EXTRAS = ("pipeline", "cluster", "search", "h5ad", "compared")
LIBRARY = ("runtime", "kernels", "graph", "datasets", "propagation", "methods", "evaluation", "prediction", "estimator")


def modules(*extras: str) -> set[str]:
    """What the core dependencies, or these extras, let the code import."""
    declared = [line for extra in extras for line in PROJECT["optional-dependencies"][extra]]
    names = [Requirement(line).name for line in declared or PROJECT["dependencies"]]
    return {MODULE.get(name, name) for name in names}


def imported(files: list[Path]) -> set[str]:
    """Top packages of all absolute imports, wherever in a file they stand."""
    packages = set()
    for node in (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))):
        if isinstance(node, ast.Import):
            packages |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            packages.add((node.module or "").partition(".")[0])
    return packages - set(sys.stdlib_module_names) - {"grandplus"}


def library_files() -> list[Path]:
    files = (ROOT / "grandplus").rglob("*.py")
    return [file for file in files if file.relative_to(ROOT / "grandplus").parts[0].removesuffix(".py") in LIBRARY]


def module_name(file: Path) -> str:
    return ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_every_package_that_is_imported_is_declared_and_none_besides():
    declared = modules() | modules(*EXTRAS) - {"", "grandplus"}
    assert imported(list((ROOT / "grandplus").rglob("*.py"))) - WITH_DVC - WITH_NUMBA == declared


def test_the_library_imports_core_packages_alone():
    files = [file for file in library_files() if module_name(file) not in DRAWING | OF_LAYERS]
    on_demand = {"distributed", "h5py"}  # for GRANDPLUS_SCHEDULER, and for files of AnnData
    assert imported(files) - WITH_NUMBA - on_demand <= modules()


def test_the_library_and_the_command_can_be_imported_without_extras():
    names = sorted({module_name(file) for file in library_files()} - DRAWING - OF_LAYERS)
    code = f"""
import importlib, sys
for package in {sorted(modules(*EXTRAS) - {"", "grandplus"})}:
    sys.modules[package] = None  # importing it then fails
for name in {[*names, "grandplus.cli.main", "grandplus.importing.python"]}:
    importlib.import_module(name)
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_the_version_is_stated_once_and_told(capsys):
    from grandplus.cli.main import main

    assert PROJECT["dynamic"] == ["version"]
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"grandplus {grandplus.__version__}\n"
