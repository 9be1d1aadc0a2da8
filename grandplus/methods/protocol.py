"""What a method is: how it is trained, and what a trained model can do.

``methods/<name>/method.py`` has ``fit`` and ``Model``, see `Method`.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from grandplus.graph.graph import Graph
from grandplus.graph.grown import GrownGraph
from grandplus.graph.splits import Split
from grandplus.propagation.rows import Rows
from grandplus.runtime.errors import ArgumentError
from grandplus.runtime.paths import as_path
from grandplus.runtime.storage import finished_whole

if TYPE_CHECKING:
    from torch import Tensor, nn

FORMAT_VERSION = 4
HEADER = "grandplus"  # the one key of a model file's metadata: several would be written in random order

Scores = dict[str, float]  # of one validation: step, and what `grandplus.methods.scores.part_scores` gives, …


@dataclass(frozen=True, eq=False)
class Task:
    """What one model learns from.

    Attributes
    ----------
    graph : Graph
        Only the labels of ``split.train`` and ``split.val`` may be looked at.
    split : Split
    rows : Rows or None
        Rows of Π of the split's train, val and unlabelled nodes; None if the method needs none.
    seed : int or list of int
        Of initial weights, batches and augmentations: the same seed gives the same bytes on CPU.
    device : {"cpu", "cuda"}
    threads : int
        Cores that this training may use. The bytes do not depend on it.
    start : path or None
        File of a model of the same method, whose weights training starts from; None: from random ones.
    """

    graph: Graph
    split: Split
    rows: Rows | None
    seed: int | list[int] = 0
    device: str = "cpu"
    threads: int = 1
    start: Path | str | None = None


@dataclass(frozen=True, eq=False)
class Model(ABC):
    """A trained model, with all that is needed to use it.

    Attributes
    ----------
    classes : list of str
        Names, by class number.
    settings : MethodSettings
        What it was trained with.
    preprocessing : dict
        What preprocessing fitted to the features, see `grandplus.graph.fitted.FittedFeatures`.
    info : dict
        What it was trained on, and how its training went: ``steps``, ``best_step`` (of the parameters that it has) and
        ``val_accuracy`` (at that step).
    """

    method: ClassVar[str]  # the name of its method

    classes: list[str]
    settings: Any
    preprocessing: dict[str, Any] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)

    @abstractmethod
    def predict_proba(self, graph: Graph, shared: Any = None) -> NDArray[np.float32]:
        """Class probabilities of every node: float32 (n, C).

        Parameters
        ----------
        graph : Graph
        shared : optional
            What ``shared_inputs(graph)`` of this model, or of another one with the same settings, has given.
        """

    def shared_inputs(self, graph: Graph) -> Any:
        """What models of the same settings would each compute alike for a graph; None if there is nothing."""
        return None

    @property
    def last_layer(self) -> nn.Module | None:
        """The layer that takes the hidden layer; None if that has seen no neighbour, as where logits are propagated."""
        return None

    def embed(self, graph: Graph, shared: Any = None) -> NDArray[np.float32]:
        """The hidden layer of every node, with nothing dropped: what the last layer takes.

        Parameters
        ----------
        graph : Graph
        shared : optional
            As for ``predict_proba``.

        Returns
        -------
        float32 (n, h)
            Of a model with one layer, the propagated features, (n, d).

        Raises
        ------
        ArgumentError
            The method has no hidden layer that sees a node's neighbours.
        """
        if self.last_layer is None:
            found = f"the hidden layer of {self.method} sees a node's own features alone, as logits are propagated"
            raise ArgumentError(found, expected="a model of another method, such as grandplus or gcn")
        from torch import cat  # here, as it takes a second to import

        seen: list[Tensor] = []
        hook = self.last_layer.register_forward_pre_hook(lambda _, taken: seen.append(taken[0].cpu()))
        try:
            self.predict_proba(graph, shared)
        finally:
            hook.remove()
        return np.asarray(cat(seen).numpy())

    def plan(self, graph: Graph) -> Any:
        """How ``predict_proba`` keeps within ``GRANDPLUS_MEMORY``, as text to print; None if it needs no plan."""
        return None

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """The trained values by name, as a model file keeps them."""

    @abstractmethod
    def header(self) -> dict[str, Any]:
        """What else ``restored`` needs; numbers, text, lists and mappings of them."""

    @classmethod
    @abstractmethod
    def restored(cls, header: dict[str, Any], tensors: dict[str, Tensor], device: str, **common: Any) -> Self:
        """The model again, from what ``header`` and ``tensors`` gave.

        Parameters
        ----------
        **common
            The attributes that all models have.
        """

    def save(self, file: Path | str) -> None:
        """Write a ``safetensors`` file, whole or not at all; all but the tensors stands in its header as JSON."""
        from safetensors.torch import save  # here, as torch takes a second to import

        header = {
            "format_version": FORMAT_VERSION,
            "model": self.method,
            "classes": self.classes,
            "settings": self.settings.model_dump(),
            "preprocessing": self.preprocessing,
            "info": self.info,
            **self.header(),
        }
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in self.tensors().items()}
        header["digest"] = digest_of_model(header, tensors)
        content = save(tensors, metadata={HEADER: json.dumps(header, sort_keys=True)})
        with finished_whole(as_path(file, "file")) as partial:
            partial.write_bytes(content)


def digest_of_model(header: dict[str, Any], tensors: dict[str, Tensor]) -> str:
    """The SHA-256 of all that a model file holds but for the digest itself, in 64 hexadecimal digits.

    Parameters
    ----------
    header : dict
        What JSON can hold.
    tensors : dict of {str: Tensor}
        Contiguous, on the CPU.
    """
    import torch  # here, as it takes a second to import

    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


class RowModel(Model):
    """A model that can predict single nodes from their rows of Π, without a pass over the graph.

    Attributes
    ----------
    weights : tuple of float
        w_0..w_N of the propagation matrix.
    """

    weights: tuple[float, ...]

    @property
    def inference_weights(self) -> tuple[float, ...]:
        """w_0..w_N of the matrix that ``predict_proba`` multiplies by: by default that of training."""
        return self.weights

    @abstractmethod
    def inputs_of_rows(self, graph: Graph | GrownGraph, rows: Rows) -> Any:
        """What models of the same settings compute alike from rows of b nodes.

        Parameters
        ----------
        graph : Graph or GrownGraph
        rows : Rows
            Of the matrix with the weights ``inference_weights``, for the predictions that ``predict_proba`` gives; they
            may be longer than those that the model was trained on.
        """

    @abstractmethod
    def predict_proba_of_rows(self, inputs: Any) -> NDArray[np.float32]:
        """Class probabilities of the nodes of rows: float32 (b, C).

        Parameters
        ----------
        inputs
            What ``inputs_of_rows`` of this model, or of another one with the same settings, has given.
        """


@dataclass(frozen=True, eq=False)
class Trained:
    """What training leaves.

    Attributes
    ----------
    model : Model
    history : dict of list of float
        The scores of each validation, by name.
    """

    model: Model
    history: dict[str, list[float]]


class Method(Protocol):
    """What ``methods/<name>/method.py`` has."""

    Model: type[Model]

    def fit(
        self,
        task: Task,
        settings: Any,
        *,
        info: dict[str, Any] | None = None,
        watch: Callable[[Scores], None] | None = None,
    ) -> Trained:
        """Train one model.

        Parameters
        ----------
        task : Task
        settings : MethodSettings
            Of the method's own class.
        info : dict, optional
            What to note in the model.
        watch : callable, optional
            Is given the scores of each validation, as they stand in the history.
        """
