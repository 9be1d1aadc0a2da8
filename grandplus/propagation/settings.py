"""How rows of Π are pushed: the settings of Generalized Forward Push beside the matrix's own."""

from __future__ import annotations

from grandplus.runtime.validation import Count, Fraction, Section

MIN_NODES_OF_LARGE_GRAPH = 100_000  # from here on, settings like those of the paper's large graphs


class GFPush(Section):
    """What rows cost and how exact they are."""

    rmax: Fraction = 1e-5  # push threshold r_max; 0 pushes everything
    top_k: Count = 32  # k: entries kept in each row
