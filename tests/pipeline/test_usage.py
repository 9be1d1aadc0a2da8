"""What stages took, for the last run and for experiments."""

import numpy as np
import pytest

from grandplus.pipeline import usage
from grandplus.runtime.errors import GrandPlusError


def test_stages_are_noted_side_by_side(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_EXP_NAME", raising=False)
    assert usage.read(usage.LAST) == {}
    usage.note("gfpush", 1.234)
    usage.note("train", 5)
    usage.note("gfpush", 2)
    found = usage.read(usage.LAST)
    assert {stage: taken["seconds"] for stage, taken in found.items()} == {"gfpush": 2, "train": 5}
    assert not (tmp_path / ".grandplus").exists()


def test_an_experiment_is_noted_in_the_main_checkout(tmp_path, monkeypatch):
    temporary, main = tmp_path / "temporary", tmp_path / "main"
    temporary.mkdir()
    monkeypatch.chdir(temporary)
    for name, value in {"DVC_ROOT": str(main), "DVC_EXP_NAME": "v1.0", "DVC_EXP_BASELINE_REV": "f" * 40}.items():
        monkeypatch.setenv(name, value)
    usage.note("train", 5)
    assert usage.read(main / usage.of_experiment("f" * 40, "v1.0")) == usage.read(usage.LAST)


def test_memory_is_what_a_process_had(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_EXP_NAME", raising=False)
    held = np.ones(2**25)  # 256 MiB
    usage.note("train", 1)
    taken = usage.read(usage.LAST)["train"]
    assert taken["memory"] >= 256 * held.mean()


@pytest.mark.parametrize("content", [b"no JSON", b"[]", b"\xff\xfe"])
def test_a_damaged_file_is_named(tmp_path, content):
    (tmp_path / "took.json").write_bytes(content)
    with pytest.raises(GrandPlusError, match=r"took\.json: is damaged; expected what stages took; delete it"):
        usage.read(tmp_path / "took.json")
