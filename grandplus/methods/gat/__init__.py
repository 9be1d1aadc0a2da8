"""GAT: a node's neighbours are weighted by attention, over the whole graph."""
