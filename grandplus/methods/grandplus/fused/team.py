"""The threads of one training. What they compute does not depend on their number."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import torch

from grandplus.methods.grandplus.fused.memory import Memory

Item = TypeVar("Item")
Result = TypeVar("Result")


class Team:
    """Threads that work at the same time while they are in kernels.

    Parameters
    ----------
    threads : int
        The one that calls is among them.
    """

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads - 1, initializer=_begin) if threads > 1 else None
        self._memories = [Memory() for _ in range(threads)]

    @property
    def alone(self) -> bool:
        """Whether there is no other thread."""
        return self._pool is None

    def start(self, work: Callable[[], Result]) -> Callable[[], Result]:
        """Have a piece of work done meanwhile; what is returned waits for its result, or does it if nobody else can."""
        return work if self._pool is None else self._pool.submit(work).result

    def each(self, work: Callable[[Item, Memory], None], items: Iterable[Item]) -> None:
        """Do a piece of work for each item, with the memory of the thread that does it.

        Parameters
        ----------
        work : callable
        items : iterable
            What is done for one of them may not depend on the others.
        """
        items = list(items)
        left = iter(items)  # each thread takes the next one when it is free

        def share(memory: Memory) -> None:
            for item in left:
                work(item, memory)

        helpers: list[Future[None]] = []
        if self._pool is not None:
            helpers = [self._pool.submit(share, memory) for memory in self._memories[1 : len(items)]]
        share(self._memories[0])
        for helper in helpers:
            if not helper.cancel():  # else it waits behind something that was started before
                helper.result()


def _begin() -> None:
    """Round as the thread that calls, see `grandplus.methods.training.seeded`: a new one has PyTorch's defaults."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
