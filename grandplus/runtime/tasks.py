"""Tasks of seconds or more, on this machine or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from grandplus.runtime.environment import scheduler
from grandplus.runtime.pools import Result, map_processes


def map_tasks(
    function: Callable[..., Result], *arguments: Iterable[Any], at_most: int | None = None
) -> Iterator[Result]:
    """Call a function for each task, on the cluster of ``GRANDPLUS_SCHEDULER`` or in processes of this machine.

    Parameters
    ----------
    function : callable
        It and its arguments are pickled, so it is a function of a module. It takes seconds or more, and gets large
        inputs by absolute paths.
    *arguments : iterables
        One for each parameter, as `map` takes them.
    at_most : int, optional
        Processes of this machine, where its memory allows no more.

    Yields
    ------
    The results, in the order of the tasks.

    Raises
    ------
    GrandPlusError
        The cluster can't be used, or a worker was killed.
    """
    address = scheduler()
    if address is None:
        return map_processes(function, *arguments, at_most=at_most)
    from grandplus.runtime.cluster import map_on  # here, as few use Dask

    return map_on(address, function, zip(*arguments, strict=False))
