"""SGC: a linear classifier on features that are propagated once, before training."""
