"""GraphSAINT: a graph neural network that is trained on subgraphs, which random walks draw."""
