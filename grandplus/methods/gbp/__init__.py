"""GBP: an MLP on features that are propagated once, by pushes that leave out what is too small."""
