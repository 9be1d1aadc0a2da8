"""How rows of Π are pushed: the settings of Generalized Forward Push beside the matrix's own."""

from __future__ import annotations

from grandplus.runtime.validation import Count, Fraction, Section


class GFPush(Section):
    """What rows cost and how exact they are."""

    rmax: Fraction = 1e-5  # push threshold r_max; 0 pushes everything
    top_k: Count = 32  # k: entries kept in each row
