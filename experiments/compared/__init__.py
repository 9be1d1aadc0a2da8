"""The ten systems that the paper compares GRAND+ with, beside it: on its small graphs, on others, and on large ones."""
