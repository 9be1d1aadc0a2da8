"""Methods are found by their folders, and each has what the pipeline asks for."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_graph import small_graph, small_split

from grandplus import methods
from grandplus.graph.splits import PARTS
from grandplus.methods import protocol, registry
from grandplus.methods.fitting import fit
from grandplus.methods.protocol import Task
from grandplus.methods.registry import NAMES, method_of, name_of, settings_of
from grandplus.methods.settings import GraphSize, MethodSettings
from grandplus.pipeline.settings import load_settings
from grandplus.runtime.errors import ArgumentError, GrandPlusError

DATASETS = ("cora", "citeseer", "pubmed")


def test_methods_are_the_folders_beside_the_registry():
    folders = {file.parent.name for file in Path(methods.__file__).parent.glob("*/method.py")}
    assert set(NAMES) == folders
    assert {"grandplus", "sgc"} <= folders


@pytest.mark.parametrize("find", [settings_of, method_of])
def test_a_name_that_is_no_method_is_refused(find):
    with pytest.raises(ArgumentError, match=r"model is 'sgcn'; expected one of .*grandplus, .*sgc"):
        find("sgcn")


@pytest.mark.parametrize("name", NAMES)
def test_settings_say_which_method_trains(name, monkeypatch):
    settings, called = settings_of(name).Settings(), []
    assert name_of(settings) == name
    monkeypatch.setattr(method_of(name), "fit", lambda *arguments, **options: called.append((arguments, options)))
    task = Task(small_graph(), small_split(), None, seed=[0, 1])
    fit(task, settings, info={})
    [((given, of_method), options)] = called
    assert (given.graph, given.seed, of_method, options) == (task.graph, [0, 1], settings, {"info": {}})
    assert all(np.array_equal(getattr(given.split, part), getattr(task.split, part)) for part in PARTS)


def test_settings_of_no_method_are_refused():
    with pytest.raises(ArgumentError, match=r"^settings is a dict; expected the settings of a method$"):
        fit(None, {})


@pytest.mark.parametrize("name", NAMES)
def test_a_method_has_what_the_protocol_says(name):
    method = method_of(name)
    assert issubclass(method.Model, protocol.Model)
    assert method.Model.method == name
    assert not inspect.isabstract(method.Model)
    assert list(inspect.signature(method.fit).parameters)[:4] == ["task", "settings", "info", "watch"]


@pytest.mark.parametrize("name", NAMES)
def test_settings_have_defaults_and_published_values_are_settings(name):
    settings = settings_of(name)
    assert issubclass(settings.Settings, MethodSettings)
    default = settings.Settings()
    for values in settings.PUBLISHED.values():
        of_rows = {key: values[key] for key in values if key not in settings.Settings.model_fields}
        own_rows = settings.Settings.own_rows or {}
        assert all(key in own_rows and own_rows[key] != value for key, value in of_rows.items())
        changed = settings.Settings(**{key: values[key] for key in values if key not in of_rows})
        assert {key for key in values if key not in of_rows and getattr(changed, key) == getattr(default, key)} == set()


@pytest.mark.parametrize("name", NAMES)
def test_more_features_and_nodes_never_need_less_memory(name):
    settings = settings_of(name).Settings()
    small, wide, many = ((100, 50), (100, 5000), (10_000, 50))
    for density in (0.01, 1):
        needed = {
            (nodes, width): settings.training_memory(GraphSize(nodes, nodes, width, 7, int(nodes * width * density)))
            for nodes, width in (small, wide, many)
        }
        assert needed[small] <= needed[many]
        assert needed[small] < needed[wide]
    assert settings.parameters(5000, 7) > settings.parameters(50, 7)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dataset", DATASETS)
def test_every_dataset_gives_every_method_settings(dataset, name):
    settings = load_settings(dataset=dataset, model=name, matrix="ppr")
    assert type(settings.train) is settings_of(name).Settings
    assert settings.needs_rows == settings_of(name).NEEDS_ROWS


def test_settings_import_no_torch():
    program = "import sys; from grandplus.methods.registry import NAMES, settings_of; "
    program += "[settings_of(name) for name in NAMES]; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize("name", [name for name in NAMES if settings_of(name).Settings.layers_from])
def test_without_its_extra_a_method_of_layers_says_what_to_install(name, monkeypatch):
    for module in [module for module in sys.modules if module.partition(".")[0] == "torch_geometric"]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "torch_geometric", None)  # importing it then fails
    monkeypatch.delitem(sys.modules, f"grandplus.methods.{name}.method", raising=False)
    assert settings_of(name).Settings()
    with pytest.raises(GrandPlusError) as error:
        method_of(name)
    expected = f"{name} needs torch_geometric, which is not installed; pip install 'grandplus[compared]'"
    assert str(error.value) == expected


@pytest.mark.parametrize("name", NAMES)
def test_a_method_says_which_package_its_layers_are_from(name):
    code = "\n".join(file.read_text() for file in (Path(methods.__file__).parent / name).glob("*.py"))
    assert ("torch_geometric" in re.findall(r"^(?:from|import) (\w+)", code, re.MULTILINE)) == (
        settings_of(name).Settings.layers_from == "torch_geometric"
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (None, "can't be imported: No module named 'grandplus.methods.broken.settings'"),
        ("def f(:", "can't be imported: invalid syntax"),
        ("import no_such_module", "can't be imported: No module named 'no_such_module'"),
        ("NEEDS_ROWS = False", "has no Settings"),
    ],
)
def test_a_method_that_cannot_be_read_is_named(tmp_path, monkeypatch, code, message):
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "__init__.py").touch()
    if code is not None:
        (folder / "settings.py").write_text(code)
    monkeypatch.setattr(methods, "__path__", [*methods.__path__, str(tmp_path)])
    monkeypatch.setattr(registry, "NAMES", (*NAMES, "broken"))
    for name in [name for name in sys.modules if name.startswith("grandplus.methods.broken")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(GrandPlusError) as error:
        settings_of("broken")
    assert str(error.value).startswith(f"grandplus.methods.broken.settings: {message}")
