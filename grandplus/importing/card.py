"""An imported dataset's card, with hyperparameters that its size suggests."""

from __future__ import annotations

from io import StringIO
from typing import Any

from ruamel.yaml import YAML

from grandplus.datasets.raw import RawGraph
from grandplus.graph.features import MIN_FEATURES_FOR_DROPOUT

LARGE = 100_000  # nodes: from here on, settings like those of the paper's large graphs
WIDE = 100_000  # features: from here on, they are embedded

_UNTUNED = "None of it was tuned on this graph: compare by validation accuracy, never by test accuracy."
_SMALL: dict[str, Any] = {}
_LARGE = {
    "lr": 1e-3, "weight_decay": 1e-5, "hidden": 512, "batchnorm": True,
    "dropout_input": 0, "dropout_hidden": 0, "patience": 30,
}  # fmt: skip
_WIDE = {
    "weight_decay": 0, "embed": True, "hidden": 32, "dropout_input": 0, "dropout_hidden": 0.2, "patience": 20,
}  # fmt: skip
_WHY = {
    "small": "The defaults, on which the paper's small citation graphs agree (Cora, Citeseer, Pubmed).",
    "large": "Between the paper's settings for its large graphs (Reddit, Amazon2M), as this one has so many nodes.",
    "wide": "As the paper's MAG-Scholar-C has it: features are so many that they are embedded (Eq. 9).",
}


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
    why, train = _hyperparameters(preprocess["features"], raw)
    text.write(f"\n# {why}\n# {_UNTUNED}\n")
    yaml.dump({"gfpush": {}, "train": {"any": train} if train else {}}, text)
    return text.getvalue()


def _hyperparameters(features: str, raw: RawGraph) -> tuple[str, dict[str, Any]]:
    """Why these, and what differs from the defaults of training."""
    own = 0 if raw.features is None else int(raw.features.shape[1])
    width = {"degree": 1, "onehot-degree": MIN_FEATURES_FOR_DROPOUT, "adjacency": raw.nodes}.get(features, own)
    sparse = features == "adjacency" or (features not in ("degree", "standardize") and hasattr(raw.features, "indptr"))
    if width >= WIDE and sparse:
        return _WHY["wide"], _WIDE
    why, values = (_WHY["large"], _LARGE) if raw.nodes >= LARGE else (_WHY["small"], _SMALL)
    return why, values | ({"dropout_input": 0} if width < MIN_FEATURES_FOR_DROPOUT else {})
