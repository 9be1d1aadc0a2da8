"""GCNII: many graph convolutions over the whole graph, each with a share of the first layer's output."""
