"""Tasks of seconds or more, on this machine or on a Dask cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from grandplus.runtime.environment import scheduler
from grandplus.runtime.pools import Result, map_processes


def map_tasks(
    function: Callable[..., Result], *arguments: Iterable[Any], at_most: int | None = None
) -> Iterator[Result]:
    """The same on the cluster at ``GRANDPLUS_SCHEDULER``, or else over at most so many processes here.

    For tasks of seconds or more, whose large inputs are named by absolute paths.
    """
    address = scheduler()
    if address is None:
        return map_processes(function, *arguments, at_most=at_most)
    from grandplus.runtime.cluster import map_on  # here, as Dask is wanted by few

    return map_on(address, function, zip(*arguments, strict=False))
