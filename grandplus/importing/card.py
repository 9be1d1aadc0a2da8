"""An imported dataset's card, with hyperparameters that its size suggests."""

from __future__ import annotations

import shutil
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from grandplus.datasets.raw import RawGraph
from grandplus.errors import GrandPlusError
from grandplus.features import FEW
from grandplus.scratch import finished_whole

LARGE = 100_000  # nodes: from here on, settings like those of the paper's large graphs
WIDE = 100_000  # features: from here on, they are embedded

_METHODS = """
# {why}
# None of it was tuned on this graph: compare by validation accuracy, never by test accuracy.
avg:
  gfpush: {{order: 4, rmax: 1.0e-5, top_k: 32}}
  train: &train
    lr: {lr}
    weight_decay: {weight_decay}
    embed: {embed}
    layers: 2
    hidden: {hidden}
    batchnorm: {batchnorm}
    row_norm: false
    dropout_input: {dropout_input}
    dropout_hidden: {dropout_hidden}
    dropnode: 0.5
    augmentations: 2
    batch_labelled: 50
    batch_unlabelled: 100
    temperature: 0.1
    confidence: auto          # 2 / classes
    distance: l2
    consistency_mean: confident
    lambda_max: 1.0
    warmup: 1000
    clip: 0                   # decay isn't clipped: beside a small norm it would win
    patience: {patience}
    max_epochs: 5000
    renormalize: true

ppr:
  gfpush: {{order: 10, alpha: 0.2, rmax: 1.0e-5, top_k: 32}}
  train: *train

single:
  gfpush: {{order: 2, rmax: 1.0e-5, top_k: 32}}
  train: *train

custom:                       # gfpush.weights in params.yaml
  gfpush: {{rmax: 1.0e-5, top_k: 32}}
  train: *train
"""
_SMALL = {
    "why": "As the paper's small citation graphs have it (Cora, Citeseer, Pubmed), where their values agree.",
    "lr": "1.0e-2", "weight_decay": "1.0e-3", "embed": "false", "hidden": 64, "batchnorm": "false",
    "dropout_input": 0.5, "dropout_hidden": 0.5, "patience": 50,
}  # fmt: skip
_LARGE = _SMALL | {
    "why": "Between the paper's settings for its large graphs (Reddit, Amazon2M), as this one has so many nodes.",
    "lr": "1.0e-3", "weight_decay": "1.0e-5", "hidden": 512, "batchnorm": "true",
    "dropout_input": 0, "dropout_hidden": 0, "patience": 30,
}  # fmt: skip
_WIDE = _SMALL | {
    "why": "As the paper's MAG-Scholar-C has it: features are so many that they are embedded (Eq. 9).",
    "weight_decay": 0, "embed": "true", "hidden": 32, "dropout_input": 0, "dropout_hidden": 0.2, "patience": 20,
}  # fmt: skip


def card_text(
    name: str,
    source: dict[str, Any],
    preprocess: dict[str, Any],
    raw: RawGraph,
    expect: dict[str, int | None] | None = None,
) -> str:
    """The whole card.

    Parameters
    ----------
    source, preprocess : these sections
    expect : counts, where they are known
    """
    head = {
        "title": f"{name}, imported",
        "citation": "The user's own data.",
        "expect": expect,
        "source": source,
        "preprocess": preprocess,
    }
    text = StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = 110
    for key, value in head.items():
        yaml.dump({key: value}, text)
        text.write("\n" if key in ("citation", "expect", "source") else "")
    return text.getvalue() + _METHODS.format(**_values(preprocess["features"], raw))


def _values(features: str, raw: RawGraph) -> dict[str, Any]:
    own = 0 if raw.features is None else int(raw.features.shape[1])
    width = {"degree": 1, "onehot-degree": FEW, "adjacency": raw.nodes}.get(features, own)
    sparse = features == "adjacency" or (features not in ("degree", "standardize") and hasattr(raw.features, "indptr"))
    if width >= WIDE and sparse:
        return _WIDE
    values = _LARGE if raw.nodes >= LARGE else _SMALL
    return values | ({"dropout_input": 0} if width < FEW else {})


def write_card(file: Path, text: str) -> bool:
    """Write a card whole and stage it in git; False where that isn't done, as there is no git or no repository.

    Raises
    ------
    GrandPlusError : it can't be written.
    """
    try:
        with finished_whole(file, alone=True) as partial:
            partial.write_text(text, encoding="utf-8")
    except OSError as error:
        raise GrandPlusError(f"can't be written: {error.strerror}", where=file) from None
    # Queued experiments run in a copy of what git knows.
    if (git := shutil.which("git")) is None:
        return False
    return subprocess.run([git, "add", "--", file.name], cwd=file.parent, capture_output=True).returncode == 0
