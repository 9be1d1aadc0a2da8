"""The propagation matrix Π = Σ wₙPⁿ: its weights, sparse rows of it, and exact products with it."""
