"""The graph: adjacency, features, labels, ids and splits."""
