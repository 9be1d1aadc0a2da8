"""PPRGo: an MLP whose logits are summed by rows of personalised PageRank."""
