"""A user's own graph -> a card in data/catalog, with which the pipeline runs on it."""
