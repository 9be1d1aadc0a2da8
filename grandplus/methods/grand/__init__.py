"""GRAND: an MLP on randomly propagated features of all nodes, whose predictions are to agree."""
