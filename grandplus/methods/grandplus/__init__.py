"""GRAND+: an MLP on random propagations of sparse rows of Π, with a consistency loss."""
