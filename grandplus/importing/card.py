"""An imported dataset's card, with hyperparameters that suit its size."""

from __future__ import annotations

from io import StringIO
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from scipy.sparse import issparse

from grandplus.evaluation.orders import usual_order
from grandplus.evaluation.suited import suited_top_k, suited_values
from grandplus.graph.graph import Graph
from grandplus.graph.settings import Preprocess
from grandplus.graph.splits import Split
from grandplus.methods.grandplus.settings import Settings
from grandplus.propagation.settings import MIN_NODES_OF_LARGE_GRAPH, GFPush

MIN_FEATURES_FOR_EMBEDDING = 100_000  # from here on, sparse features are embedded (Eq. 9)

_UNTUNED = "None of it was tuned on this graph: compare by validation accuracy, never by test accuracy."


_ORDERS = (
    "The order N is the one whose ΠX tells logistic regression most about the validation nodes of the first trial."
)

_CONFIDENCE = "Pseudo-labels need a confidence of twice the share of the largest class among the training nodes."


class _Hyperparameters(NamedTuple):
    """What differs from the defaults of training, and why."""

    why: str
    train: dict[str, Any]


_FOR_SMALL_GRAPHS = "Chosen by rules that were found on other graphs, by validation accuracy (experiments/defaults)."
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
    {"weight_decay": 0, "embed": True, "layers": 1, "hidden": 32, "dropout_input": 0.2, "patience": 20},
)


def card_text(
    name: str,
    source: dict[str, Any],
    preprocess: Preprocess,
    graph: Graph,
    split: Split,
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
    graph : Graph
        Preprocessed; its size and its features decide on hyperparameters.
    split : Split
        Of the first trial; the shares of classes among its training nodes decide on one more.
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
    why, train = _hyperparameters(graph, split)
    propagation = _propagation(orders, graph)
    text.write(f"\n# {why}\n# {_UNTUNED}\n")
    if set(propagation) - {"any"}:
        text.write(f"# {_ORDERS}\n")
    if "confidence" in train:
        text.write(f"# {_CONFIDENCE}\n")
    own_features = {matrix: {"dropnode": 0} for matrix, order in orders.items() if order == 0}
    yaml.dump({"gfpush": propagation, "train": ({"any": train} if train else {}) | own_features}, text)
    return text.getvalue()


def _hyperparameters(graph: Graph, split: Split) -> _Hyperparameters:
    """Those that suit a graph of this size, these features and these training nodes."""
    suited = suited_values(graph, split, order=1)
    if graph.features.shape[1] >= MIN_FEATURES_FOR_EMBEDDING and issparse(graph.features):
        return _FOR_MANY_FEATURES
    if graph.adjacency.nodes >= MIN_NODES_OF_LARGE_GRAPH:
        return _FOR_LARGE_GRAPHS
    usual = Settings().model_dump()
    return _Hyperparameters(_FOR_SMALL_GRAPHS, {key: value for key, value in suited.items() if value != usual[key]})


def _propagation(orders: dict[str, int], graph: Graph) -> dict[str, dict[str, int]]:
    """The card's section on Π: what differs from the defaults."""
    top_k, usual = suited_top_k(graph), GFPush().top_k
    unusual = {matrix: {"order": order} for matrix, order in orders.items() if order != usual_order(matrix)}
    return ({"any": {"top_k": top_k}} if top_k != usual else {}) | unusual
