"""Methods as scikit-learn's classifiers are used: the pipeline's own functions, on a graph in memory."""

from grandplus.estimator.grandplus import GrandPlusClassifier

__all__ = ["GrandPlusClassifier"]
