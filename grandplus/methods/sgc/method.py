"""SGC: a linear classifier on propagated features.

Source: F. Wu, T. Zhang, A. H. de Souza Jr., C. Fifty, T. Yu, K. Q. Weinberger. Simplifying Graph Convolutional
Networks. ICML 2019. The probabilities are softmax(ÂᴷXW + b), with Â = D̃^-½(A + I)D̃^-½ (its Eq. 8).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from grandplus.graph.features import blocks_of
from grandplus.graph.graph import Graph
from grandplus.methods import protocol
from grandplus.methods.protocol import Scores, Task, Trained
from grandplus.methods.scores import part_scores
from grandplus.methods.sgc.settings import Settings
from grandplus.propagation.columns import propagate_columns
from grandplus.propagation.matrices import Single
from grandplus.propagation.plan import Plan, plan
from grandplus.propagation.power import propagate
from grandplus.runtime.errors import GrandPlusError


def fit(
    task: Task,
    settings: Settings,
    *,
    info: dict[str, Any] | None = None,
    watch: Callable[[Scores], None] | None = None,
) -> Trained:
    """Train one model by Adam on all labelled nodes at once; the last parameters are kept.

    Parameters
    ----------
    task : Task
        Its rows and unlabelled nodes are not used.
    settings : Settings
    info : dict, optional
        What to note in the model.
    watch : callable, optional
        Is given the scores of each step: step, train_loss, train_accuracy, train_top_share,
        and the same of val.

    Raises
    ------
    GrandPlusError
        The loss is no longer finite; memory is too small.
    """
    graph, split, device = task.graph, task.split, task.device
    width, classes = int(graph.features.shape[1]), len(graph.classes)
    parameters = 4 * settings.parameters(width, classes)
    # Here, not on a cluster: this is a task of one already.
    propagated = smooth(graph, settings.order, plan(graph, width, parameters), propagate)
    inputs, labels = (
        {
            part: torch.from_numpy(values[nodes]).to(device)
            for part, nodes in (("train", split.train), ("val", split.val))
        }
        for values in (propagated, np.asarray(graph.labels))
    )
    history: dict[str, list[float]] = {}
    with torch.random.fork_rng(devices=[0] if device == "cuda" else []):
        torch.manual_seed(int(np.random.default_rng(task.seed).integers(2**63)))
        linear = nn.Linear(width, classes).to(device)
    adam = torch.optim.Adam(linear.parameters(), lr=settings.lr, weight_decay=settings.weight_decay)
    for step in range(settings.epochs):
        loss = F.cross_entropy(linear(inputs["train"]), labels["train"])
        if not math.isfinite(loss.item()):
            raise GrandPlusError(f"the loss became {loss.item()} at step {step}", fix="lower train.lr")
        adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        adam.step()
        scores = {"step": float(step)}
        for part in inputs:
            with torch.inference_mode():
                scores |= part_scores(part, linear(inputs[part]), labels[part])
        for name, value in scores.items():
            history.setdefault(name, []).append(value)
        if watch:
            watch(scores)
    outcome = {"steps": settings.epochs, "best_step": step, "val_accuracy": scores["val_accuracy"]}
    model = Model(
        classes=graph.classes,
        settings=settings,
        preprocessing=graph.fitted.to_json(),
        info={**(info or {}), **outcome},
        linear=linear,
    )
    return Trained(model, history)


def smooth(graph: Graph, order: int, plan: Plan, propagate: Callable[..., Any]) -> NDArray[np.float32]:
    """ÂᴷX, as D̃^½PᴷD̃^-½X with P = D̃⁻¹(A + I): float32 (n, d).

    Parameters
    ----------
    graph : Graph
    order : int
        K.
    plan : Plan
        Of width d.
    propagate : callable
        ``propagate``, or ``propagate_columns`` to use a cluster if there is one.
    """
    out = plan.array(graph.adjacency.nodes)
    root = np.sqrt(graph.adjacency.degrees)[:, None].astype(np.float32)
    for rows in blocks_of(len(out)):
        part = graph.features[rows]
        out[rows] = (part.toarray() if sp.issparse(part) else part) / root[rows]
    weights = tuple(Single(order=order).weights().tolist())
    propagate(graph, out, weights=weights, columns=plan.columns, out=out)
    for rows in blocks_of(len(out)):
        out[rows] *= root[rows]
    return out


@dataclass(frozen=True, eq=False, kw_only=True)
class Model(protocol.Model):
    """A trained linear classifier.

    Attributes
    ----------
    linear : torch.nn.Linear
        Of weight (C, d) and bias (C,).
    """

    method: ClassVar[str] = "sgc"

    linear: nn.Linear

    @torch.inference_mode()
    def predict_proba(self, graph: Graph, shared: NDArray[np.float32] | None = None) -> NDArray[np.float32]:
        """Class probabilities of every node: float32 (n, C).

        Parameters
        ----------
        graph : Graph
        shared : float32 (n, d), optional
            What ``shared_inputs(graph)`` of a model of the same settings has given.

        Raises
        ------
        GrandPlusError
            It needs more memory than ``GRANDPLUS_MEMORY`` allows, or more disk than there is.
        """
        inputs = self.shared_inputs(graph) if shared is None else shared
        out = np.empty((len(inputs), len(self.classes)), np.float32)
        for rows in blocks_of(len(out)):
            logits = self.linear(torch.from_numpy(inputs[rows]).to(self.linear.weight.device))
            out[rows] = logits.softmax(dim=-1).cpu().numpy()
        return out

    def shared_inputs(self, graph: Graph) -> NDArray[np.float32]:
        """The propagated features ÂᴷX: float32 (n, d)."""
        return smooth(graph, self.settings.order, self.plan(graph), propagate_columns)

    def plan(self, graph: Graph) -> Plan:
        """How ``shared_inputs`` keeps within ``GRANDPLUS_MEMORY``."""
        return plan(graph, self.linear.in_features, sum(tensor.nbytes for tensor in self.tensors().values()))

    def tensors(self) -> dict[str, Tensor]:
        """Weight and bias."""
        return dict(self.linear.state_dict())

    def header(self) -> dict[str, Any]:
        """Nothing: the tensors say how large they are."""
        return {}

    @classmethod
    def restored(cls, header: dict[str, Any], tensors: dict[str, Tensor], device: str, **common: Any) -> Self:
        """The model again, from what ``header`` and ``tensors`` gave."""
        classes, width = tensors["weight"].shape
        linear = nn.Linear(width, classes)
        linear.load_state_dict(tensors)
        return cls(linear=linear.to(device), **common)
