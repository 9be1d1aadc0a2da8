"""An imported dataset's card, with hyperparameters that suit its size."""

from __future__ import annotations

from io import StringIO
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from grandplus.datasets.raw import RawGraph
from grandplus.evaluation.orders import usual_order
from grandplus.graph.features import MIN_FEATURES_FOR_DROPOUT
from grandplus.graph.settings import Preprocess

MIN_NODES_OF_LARGE_GRAPH = 100_000  # from here on, settings like those of the paper's large graphs
MIN_FEATURES_FOR_EMBEDDING = 100_000  # from here on, sparse features are embedded (Eq. 9)

_UNTUNED = "None of it was tuned on this graph: compare by validation accuracy, never by test accuracy."


_ORDERS = (
    "The order N is the one whose ΠX tells logistic regression most about the validation nodes of the first trial."
)


class _Hyperparameters(NamedTuple):
    """What differs from the defaults of training, and why."""

    why: str
    train: dict[str, Any]


_FOR_SMALL_GRAPHS = _Hyperparameters(
    "The defaults, on which the paper's small citation graphs agree (Cora, Citeseer, Pubmed).",
    {},
)
_FOR_LARGE_GRAPHS = _Hyperparameters(
    "Between the paper's settings for its large graphs (Reddit, Amazon2M), as this one has so many nodes.",
    {
        "lr": 1e-3,
        "weight_decay": 1e-5,
        "hidden": 512,
        "batchnorm": True,
        "dropout_input": 0,
        "dropout_hidden": 0,
        "patience": 30,
    },
)
_FOR_MANY_FEATURES = _Hyperparameters(
    "As for the paper's MAG-Scholar-C: features are so many that they are embedded (Eq. 9).",
    {"weight_decay": 0, "embed": True, "hidden": 32, "dropout_input": 0, "dropout_hidden": 0.2, "patience": 20},
)


def card_text(
    name: str,
    source: dict[str, Any],
    preprocess: Preprocess,
    raw: RawGraph,
    expect: dict[str, int | None],
    orders: dict[str, int],
) -> str:
    """The whole card, which states only what differs from the defaults.

    Parameters
    ----------
    name : str
        Of the dataset.
    source : dict
        This section of the card.
    preprocess : Preprocess
    raw : RawGraph
        By whose size hyperparameters are chosen.
    expect : dict
        Counts that every run must find; None where they are not checked.
    orders : dict of int
        N by matrix, see `grandplus.evaluation.orders.suited_order`.

    Returns
    -------
    str
        YAML.
    """
    sections = {
        "title": f"{name}, imported",
        "citation": "The user's own data.",
        "expect": expect,
        "source": source,
        "preprocess": preprocess.model_dump(exclude_defaults=True),
    }
    text = StringIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.width = 110
    for key, value in sections.items():
        yaml.dump({key: value}, text)
        text.write("\n" if key in ("citation", "expect", "source") else "")
    why, train = _hyperparameters(preprocess.features, raw)
    text.write(f"\n# {why}\n# {_UNTUNED}\n")
    unusual = {matrix: {"order": order} for matrix, order in orders.items() if order != usual_order(matrix)}
    if unusual:
        text.write(f"# {_ORDERS}\n")
    yaml.dump({"gfpush": unusual, "train": {"any": train} if train else {}}, text)
    return text.getvalue()


def _hyperparameters(features: str, raw: RawGraph) -> _Hyperparameters:
    """Those that suit a graph of this size.

    Parameters
    ----------
    features : str
        As ``preprocess.features``.
    """
    of_data = 0 if raw.features is None else int(raw.features.shape[1])
    width = {"degree": 1, "onehot-degree": MIN_FEATURES_FOR_DROPOUT, "adjacency": raw.nodes}.get(features, of_data)
    sparse = features == "adjacency" or (features not in ("degree", "standardize") and hasattr(raw.features, "indptr"))
    if width >= MIN_FEATURES_FOR_EMBEDDING and sparse:
        return _FOR_MANY_FEATURES
    why, train = _FOR_LARGE_GRAPHS if raw.nodes >= MIN_NODES_OF_LARGE_GRAPH else _FOR_SMALL_GRAPHS
    return _Hyperparameters(why, train | ({"dropout_input": 0} if width < MIN_FEATURES_FOR_DROPOUT else {}))
