"""GCN: two graph convolutions over the whole graph."""
