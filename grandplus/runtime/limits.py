"""A limit of memory that the libraries themselves don't fit in: told before they are imported.

Under such a limit they raise anything, are ended by the system, or wait for ever. So this module imports none of them.
"""

from __future__ import annotations

import resource
import sys

from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.sizes import size_text

LEAST_ADDRESS_SPACE = 768 * 2**20  # bytes that Python takes with numpy, numba and pyarrow, before any work


def end_without_memory() -> None:
    """End this process with code 2 and one line if ``ulimit -v`` leaves too little to start."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESS_SPACE:
        found, least = f"this process may take {size_text(limit)} of memory", size_text(LEAST_ADDRESS_SPACE)
        expected = f"at least {least}, which libraries take before any work"
        print(f"error: {GrandPlusError(found, expected=expected, fix='raise the limit (ulimit -v)')}", file=sys.stderr)
        sys.exit(2)
