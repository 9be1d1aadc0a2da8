"""Which nodes to label next: representatives of the graph, where predictions are unsure."""
