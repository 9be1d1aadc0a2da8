"""How a command ends where a package is missing."""

import pytest

from grandplus.pipeline.ending import ending


def needs(package):
    raise ModuleNotFoundError(f"No module named '{package}'", name=package)


@pytest.mark.parametrize(
    ("package", "extra"),
    [("dvc.repo", "pipeline"), ("jinja2", "pipeline"), ("matplotlib", "pipeline"), ("optuna", "search")],
)
def test_a_package_of_an_extra_is_named_with_its_extra(capsys, package, extra):
    assert ending(lambda: needs(package)) == 2
    name = package.partition(".")[0]
    assert capsys.readouterr().err == f"error: {name} is not installed; run pip install '.[{extra}]'\n"


def test_another_missing_module_is_a_mistake_of_the_code():
    with pytest.raises(ModuleNotFoundError, match="nothing"):
        ending(lambda: needs("nothing"))
