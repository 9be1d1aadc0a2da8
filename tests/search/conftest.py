"""A checkout with a dataset that is learned in a moment."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from processes import CHECKOUT
from ruamel.yaml import YAML

from grandplus.pipeline.cases import prepare
from grandplus.runtime import environment

NODES = 120


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings and a dataset of two tables: a ring of three topics, and short trainings."""
    rng = np.random.default_rng(0)
    topics = np.arange(NODES) * 3 // NODES
    words = rng.random((NODES, 9)) < np.where(np.arange(9) % 3 == topics[:, None], 0.5, 0.3)
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    lines = ["\t".join([f"p{i}", *map(str, words[i].astype(int)), f"t{topics[i]}"]) for i in range(NODES)]
    (mirror / "ring.content").write_text("\n".join([*lines, ""]))
    (mirror / "ring.cites").write_text("".join(f"p{i}\tp{(i + by) % NODES}\n" for i in range(NODES) for by in (1, 2)))
    content = YAML(typ="safe").load((CHECKOUT / "data/catalog/cora.yaml").read_text())
    content["source"] = {
        "format": "content-cites",
        "files": dict.fromkeys(["ring.content", "ring.cites"]),
        "places": [{"mirror": "GRANDPLUS_MIRROR"}],
    }
    content["expect"] = None
    content["preprocess"] |= {"split": "per-class", "train_per_class": 4, "val_per_class": 20, "unlabelled": "all"}
    content["train"]["any"] |= {"max_epochs": 8, "batch_labelled": 4, "batch_unlabelled": 20}
    catalog = tmp_path / "data/catalog"
    catalog.mkdir(parents=True)
    YAML().dump(content, catalog / "ring.yaml")
    for file in ("params.yaml", "dvc.yaml"):
        shutil.copy(CHECKOUT / file, tmp_path)
    monkeypatch.setenv("GRANDPLUS_MIRROR", str(mirror))
    monkeypatch.setenv("GRANDPLUS_CACHE", os.environ.get("GRANDPLUS_CACHE") or str(environment.cache_folder("").parent))
    monkeypatch.chdir(tmp_path)
    prepare.cache_clear()
    return tmp_path
