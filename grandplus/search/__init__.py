"""The search for hyperparameters on validation nodes, as in the paper's appendix."""
