"""How the commands in this folder end."""

from __future__ import annotations

import sys
from collections.abc import Callable

from grandplus.runtime.errors import GrandPlusError

KEPT = "finished trials are kept, so running it again goes on from there"


def ending(work: Callable[[], int | None], interrupted: str = KEPT) -> int:
    """The exit code of what ``work`` does: its own, 2 where the user has to act, 130 after Ctrl-C; never a traceback.

    interrupted : what is to be known after Ctrl-C
    """
    try:
        return work() or 0
    except GrandPlusError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"interrupted; {interrupted}", file=sys.stderr)
        return 130
