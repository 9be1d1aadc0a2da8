"""FastGCN: two graph convolutions, trained on batches whose neighbours are sampled by importance."""
