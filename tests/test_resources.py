"""What stages took, for the last run and for experiments."""

import numpy as np

from grandplus import resources


def test_stages_are_noted_side_by_side(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_EXP_NAME", raising=False)
    assert resources.read(resources.LAST) == {}
    resources.note("gfpush", 1.234)
    resources.note("train", 5)
    resources.note("gfpush", 2)
    found = resources.read(resources.LAST)
    assert {stage: taken["seconds"] for stage, taken in found.items()} == {"gfpush": 2, "train": 5}
    assert not (tmp_path / ".grandplus").exists()


def test_an_experiment_is_noted_in_the_main_checkout(tmp_path, monkeypatch):
    temporary, main = tmp_path / "temporary", tmp_path / "main"
    temporary.mkdir()
    monkeypatch.chdir(temporary)
    for name, value in {"DVC_ROOT": str(main), "DVC_EXP_NAME": "v1.0", "DVC_EXP_BASELINE_REV": "f" * 40}.items():
        monkeypatch.setenv(name, value)
    resources.note("train", 5)
    assert resources.read(main / resources.of_experiment("f" * 40, "v1.0")) == resources.read(resources.LAST)


def test_memory_is_what_a_process_had(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DVC_EXP_NAME", raising=False)
    held = np.ones(2**25)  # 256 MiB
    resources.note("train", 1)
    taken = resources.read(resources.LAST)["train"]
    assert taken["memory"] >= 256 * held.mean()
