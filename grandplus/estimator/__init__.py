"""Methods as scikit-learn's classifiers are used: the pipeline's own functions, on a graph in memory."""

from grandplus.estimator.grandplus import GrandPlusClassifier
from grandplus.estimator.node import NodeClassifier
from grandplus.estimator.tuned import tune

__all__ = ["GrandPlusClassifier", "NodeClassifier", "tune"]
