"""What a notebook sees: ``import grandplus`` is free, and every promised name is there."""

import subprocess
import sys

import pytest

import grandplus as gp


def test_importing_it_imports_nothing_heavy():
    code = "import sys, grandplus; print(sorted({'torch', 'numba', 'scipy', 'pyarrow', 'pydantic'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_first_stages_need_no_torch():
    code = (
        "import sys, stages.download, stages.preprocess, stages.gfpush, grandplus.propagation.gfpush;"
        "print('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


@pytest.mark.parametrize("name", gp.__all__)
def test_every_name_is_there(name):
    assert getattr(gp, name).__name__ == name
    assert getattr(gp, name).__doc__


def test_another_name_is_not():
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        gp.nothing  # noqa: B018
