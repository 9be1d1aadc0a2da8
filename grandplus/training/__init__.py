"""Training: an MLP on random propagations, with a supervised and a consistency loss."""
