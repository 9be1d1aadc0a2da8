"""What a notebook has in memory -> the arrays of a graph, its labels and its splits."""
