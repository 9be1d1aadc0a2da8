"""Whether training fits into the memory, which is known before it starts."""

from __future__ import annotations

from grandplus.graph.graph import Graph
from grandplus.graph.splits import Split
from grandplus.methods.settings import GraphSize, MethodSettings
from grandplus.runtime import environment
from grandplus.runtime.errors import MemoryShortageError
from grandplus.runtime.sizes import size_text


def training_memory(graph: Graph, split: Split, settings: MethodSettings, top_k: int = 0) -> int:
    """Bytes that training one model takes at most, if there are as many.

    Parameters
    ----------
    graph : Graph
    split : Split
        Of a trial.
    settings : MethodSettings
    top_k : int
        Entries of a row of Π, for a method that needs rows.

    Raises
    ------
    MemoryShortageError
        They are more than ``GRANDPLUS_MEMORY`` allows.
    """
    size = GraphSize.of(graph, split)._replace(top_k=top_k)
    needed, budget = settings.training_memory(size), environment.memory()
    if needed > budget:
        found = f"training would need {size_text(needed)} of memory, and may use {size_text(budget)}"
        ways = [*settings.to_save_memory(sparse=size.sparse), "set GRANDPLUS_MEMORY higher if the machine has more"]
        raise MemoryShortageError(found, fix=", or ".join(ways))
    return needed
