"""The search keeps what a kill leaves, makes rows once, and writes the card that it found to be the best."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import optuna
import pytest
from processes import CHECKOUT, finished, python, wait_until
from ruamel.yaml import YAML

from experiments import cases
from experiments.cases import Case, prepare
from experiments.search import study
from experiments.search.__main__ import main, search
from grandplus import execution
from grandplus.errors import GrandPlusError
from grandplus.settings import load_settings, read_card

TRIALS = {"network": 10, "propagation": 9}
FEW, MANY = 120, 6


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings and a dataset of two tables: a ring of three topics, and short trainings."""
    rng = np.random.default_rng(0)
    topics = np.arange(FEW) * 3 // FEW
    words = rng.random((FEW, 9)) < np.where(np.arange(9) % 3 == topics[:, None], 0.5, 0.3)
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    lines = ["\t".join([f"p{i}", *map(str, words[i].astype(int)), f"t{topics[i]}"]) for i in range(FEW)]
    (mirror / "ring.content").write_text("\n".join([*lines, ""]))
    (mirror / "ring.cites").write_text("".join(f"p{i}\tp{(i + by) % FEW}\n" for i in range(FEW) for by in (1, 2)))
    content = YAML(typ="safe").load((CHECKOUT / "data/catalog/cora.yaml").read_text())
    content["source"] = {
        "format": "content-cites",
        "files": dict.fromkeys(["ring.content", "ring.cites"]),
        "places": [{"mirror": "GRANDPLUS_MIRROR"}],
    }
    content["expect"] = None
    content["preprocess"] |= {"split": "per-class", "train_per_class": 4, "val_per_class": 20, "unlabelled": "all"}
    for matrix in ("ppr", "avg", "single", "custom"):
        content[matrix]["train"] |= {"max_epochs": 30, "batch_labelled": 4, "batch_unlabelled": 20}
    catalog = tmp_path / "data/catalog"
    catalog.mkdir(parents=True)
    YAML().dump(content, catalog / "ring.yaml")
    shutil.copy(CHECKOUT / "params.yaml", tmp_path)
    monkeypatch.setenv("GRANDPLUS_MIRROR", str(mirror))
    monkeypatch.setenv("GRANDPLUS_CACHE", os.environ.get("GRANDPLUS_CACHE") or str(execution.cache_folder("").parent))
    monkeypatch.chdir(tmp_path)
    prepare.cache_clear()
    return tmp_path


def test_x(checkout, monkeypatch):
    @contextmanager
    def here(count):
        with ThreadPoolExecutor(1) as pool:
            yield pool
    monkeypatch.setattr(execution, "processes", here)
    search("ring", "avg", TRIALS)
    print((checkout/"experiments/search/ring-avg/table.md").read_text())
    print((checkout/"data/catalog/ring-avg-tuned.yaml").read_text())
