"""What the settings of every method have in common."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

from pydantic import field_validator

from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Section

if TYPE_CHECKING:
    from grandplus.graph.graph import Graph
    from grandplus.graph.splits import Split

ClassWeight: TypeAlias = Literal["balanced"] | dict[str, float] | None

LIGHTEST, HEAVIEST = 1e-9, 1e9  # of classes: float32 can still compute with the square of a weighted loss
ROWS_AT_ONCE = 8192  # of nodes that are predicted, through all layers
BASE = 300 * 2**20  # bytes of a process with PyTorch
COPIES_OF_PARAMETERS = 5  # a value, its gradient, both of Adam's moments and the best so far
COPIES_OF_ACTIVATIONS = 4  # a layer's input, its output and their gradients
BASE_OF_LAYERS = 600 * 2**20  # bytes of a process with PyTorch Geometric, too
COPIES_OF_LAYERS = 8  # of its layers' outputs: with dropout, propagated, activated, their gradients, and gaps between


class GraphSize(NamedTuple):
    """How large a graph is."""

    nodes: int
    edges: int
    features: int
    classes: int
    stored: int  # values of the features that are in memory: of dense ones all, of sparse ones those other than 0
    watched: int = 0  # nodes that are trained on or validated; 0 as long as that isn't known
    top_k: int = 0  # entries of a row of Π; 0 likewise
    unlabelled: int = 0  # nodes that a method may train on without a label; 0 likewise

    @classmethod
    def of(cls, graph: Graph, split: Split | None = None) -> Self:
        """The size of this one, with the split of a trial if that matters."""
        (nodes, features), edges = graph.features.shape, len(graph.adjacency.indices) // 2
        watched, unlabelled = (len(split.train) + len(split.val), len(split.unlabelled)) if split else (0, 0)
        size = cls(int(nodes), edges, int(features), len(graph.classes), int(graph.features.size))
        return size._replace(watched=watched, unlabelled=unlabelled)

    @property
    def sparse(self) -> bool:
        """Whether the features are sparse."""
        return self.stored < self.nodes * self.features

    @property
    def neighbourhood(self) -> float:
        """How many nodes a node and its neighbours are, on average."""
        return 1 + 2 * self.edges / max(self.nodes, 1)

    def input_memory(self, nodes: float, values: float) -> float:
        """Bytes of features of some nodes with some stored values each, as the first layer takes them."""
        return nodes * values * (8 + 32 if self.sparse else 4)  # sparse ones as they are, with columns, and transposed


class MethodSettings(Section, ABC):
    """The settings of a method: every value has a default."""

    # What its authors use for rows of Π: the matrix and values of gfpush, in place of the card's; None: any matrix.
    # A method that has it may have values of gfpush in ``PUBLISHED``, too.
    own_rows: ClassVar[dict[str, Any] | None] = None
    # Whether it trains on unlabelled nodes (U').
    uses_unlabelled: ClassVar[bool] = False
    # Whether it takes weights of edges, and edges that count in one direction only.
    takes_weights: ClassVar[bool] = False
    takes_direction: ClassVar[bool] = False
    # The package that its layers are from, if that is one of the extra "compared".
    layers_from: ClassVar[str | None] = None

    # How much a labelled node counts in the supervised loss, see `grandplus.methods.class_weights`.
    class_weight: ClassWeight = None

    @field_validator("class_weight", mode="before")
    @classmethod
    def _weights_by_name(cls, value: object) -> object:
        if value is None or value == "balanced":
            return value
        if not isinstance(value, Mapping):
            raise GrandPlusError(f"class_weight is {value!r}", expected="null, balanced, or weights by name of class")
        return {str(name): _weight(name, weight) for name, weight in value.items()}

    @abstractmethod
    def parameters(self, features: int, classes: int) -> int:
        """How many values the trained model has, for features of this width."""

    @abstractmethod
    def training_memory(self, size: GraphSize) -> int:
        """Bytes that training one model takes at most; files that are memory-mapped are not counted."""

    def most_steps(self, labelled: int) -> int:
        """After how many steps training ends at the latest: by default ``epochs``, of which a step is one.

        Parameters
        ----------
        labelled : int
            The number of training nodes.
        """
        return int(self.epochs)  # type: ignore[attr-defined]

    def patience_steps(self) -> int | None:
        """After how many steps without a gain on validation nodes training ends; None if none are counted."""
        return None

    def to_save_memory(self, *, sparse: bool) -> list[str]:
        """What a user can change for training to take less memory, each like "lower train.hidden".

        Parameters
        ----------
        sparse : bool
            Whether the features are sparse.
        """
        return []


def _weight(name: object, value: Any) -> float:
    try:
        weight = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        weight = math.nan
    if not LIGHTEST <= weight <= HEAVIEST:
        expected = f"a number from {LIGHTEST:g} to {HEAVIEST:g}"
        raise GrandPlusError(f"class_weight of {name} is {value!r}", expected=expected)
    return weight


def full_batch_memory(size: GraphSize, parameters: int, widths: int, *, held: int = 12, making: int = 28) -> int:
    """Bytes that training takes at most if each step is a pass over the whole graph.

    Parameters
    ----------
    size : GraphSize
    parameters : int
        How many values are trained.
    widths : int
        Of all layers' outputs together: so many values a node are kept for the gradient.
    held, making : int
        Bytes of an entry of Â: as it is kept, and at most while it is made.
    """
    entries = 2 * size.edges + size.nodes  # of Â
    features = size.input_memory(size.nodes, size.stored / size.nodes) + 4 * size.stored  # as they are; after dropout
    values = COPIES_OF_PARAMETERS * parameters + COPIES_OF_LAYERS * size.nodes * widths
    return BASE_OF_LAYERS + int(features) + max(making * entries, held * entries + 4 * values)
