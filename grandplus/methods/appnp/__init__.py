"""APPNP: predictions of an MLP, propagated by personalized PageRank over the whole graph."""
