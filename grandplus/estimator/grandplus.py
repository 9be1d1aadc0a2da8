"""GRAND+ as a classifier of scikit-learn's kind."""

from __future__ import annotations

from typing import Any, ClassVar

from grandplus.estimator.base import GraphClassifier
from grandplus.estimator.parameters import Pushing
from grandplus.evaluation.suited import suited_values
from grandplus.graph.graph import Graph
from grandplus.graph.splits import Splits


class GrandPlusClassifier(GraphClassifier):
    """Classifies all nodes of a graph from the labels of some, by GRAND+.

    With the same values it gives the bytes of the pipeline's ``predictions.parquet``.

    Parameters
    ----------
    matrix : {"avg", "ppr", "single", "heat", "custom"}, default="avg"
        The family of the propagation matrix Π = Σ wₙPⁿ.
    order : int, optional
        N, the highest power of P; by default 10 for ppr and heat, and for avg and single what
        `grandplus.evaluation.orders.suited_order` finds: mostly 4 for avg, 2 for single.
    alpha : float, optional
        α, the teleport probability of ppr; by default 0.2.
    heat_time : float, optional
        t of heat, about how many steps the heat spreads; by default 2.
    weights : list of float, optional
        w_0..w_N of custom, at least 0 and summing to 1.
    rmax : float, default=1e-05
        r_max, the push threshold; 0 pushes everything.
    top_k : int, optional
        k, how many entries of a row of Π are kept for training; by default 128, or 32 where these cost
        much: from 100,000 nodes on, and if a row of X has more than 100 values (800 if X is dense).
    trials : int, default=1
        How many models are trained; the prediction is the mean of their calibrated probabilities.
    random_state : int, RandomState or None, default=0
        The same number gives the same bytes on CPU. None takes a new number from numpy's global state for each fit.
    edge_weights : {None, "ignore", "use"}, default=None
        Whether a graph with edge weights is refused, every edge counts once, or a walk follows edges by their share of
        weight.
    direction : {"both", "out", "in"}, default="both"
        Which edges of a node count, and so where a walk goes from it: all, in both directions; those that start at it;
        or those that end at it.
    verbose : bool, default=False
        Whether progress is shown: a bar on a terminal, elsewhere a line every half minute.
    features : str, optional
        How X is scaled: row-normalize, standardize or as-is. Or what is made from the graph in place of X: degree,
        onehot-degree, adjacency (rows sum to 1) or standardized-adjacency (columns). By default what suits X:
        standardize if at least a quarter of it is not 0, else row-normalize, or as-is if a value is negative.
    split : {"per-class", "uniform"}, default="per-class"
        How each trial draws its nodes, where ``fit`` is given none: so many of each class, or as many in all.
    train_per_class : int, default=20
        Labelled nodes of each class to train on, where ``fit`` is given no nodes.
    val_per_class : int, default=30
        Labelled nodes of each class to validate on, likewise.
    shortage : {"fail", "shrink"}, default="fail"
        Whether a class with fewer nodes than these is an error, or fewer are taken.
    unlabelled : {"all", "test"} or int, default="all"
        U', the nodes that consistency is trained on: all that are not trained on, those of test, or how many.
    lr : float, default=0.01
        Adam's learning rate.
    weight_decay : float, optional
        L2 penalty on all parameters; by default 0.07 / C for C classes if X is standardized, else the lesser of 0.001
        and 0.01 ‖x‖ / C, with the root mean square of ‖x‖ over the rows x of X.
    embed : bool, default=False
        Whether H = XW⁰ is learned and propagated in place of X (Eq. 9); X must be sparse.
    layers : int, default=2
        Layers of the MLP; 1 is a linear classifier.
    hidden : int, default=64
        Width of hidden layers.
    batchnorm : bool, default=False
        BatchNorm before each layer.
    row_norm : bool, default=False
        L2 normalisation of rows before each layer.
    dropout_input : float, optional
        Dropout before the first layer; by default 0.5, and 0 for fewer than 50 features.
    dropout_hidden : float, default=0.5
        Dropout before later layers.
    dropnode : float, optional
        δ, the share of neighbours that is dropped from a row (Eq. 8); by default 0.5, and 0 where N is 0.
    augmentations : int, default=2
        M, augmented copies of each node.
    batch_labelled : int, default=50
        Size of L_t: labelled nodes of a batch.
    batch_unlabelled : int, default=100
        Size of U_t: unlabelled nodes of a batch.
    temperature : float, default=0.1
        τ of the sharpening (Eq. 12).
    confidence : float or "auto", optional
        γ, from which on a node's prediction enters the consistency loss; auto is 2 / C. By default twice the share of
        the largest class among the training nodes, at most 1, which is auto where all classes have equally many.
    distance : {"l2", "kl"}, default="l2"
        Distance of the consistency loss.
    consistency_mean : {"confident", "batch"}, default="confident"
        Whether its mean is over the confident nodes of a batch, or over the batch (Eq. 13).
    lambda_max : float, default=1.0
        λ_max, weight of the consistency loss after warm-up.
    warmup : int, default=1000
        Steps until λ reaches λ_max.
    clip : float, default=0.0
        Largest norm of the gradient; 0: none.
    patience : int, default=50
        Validations, one every 10 steps, without improvement until training stops.
    max_epochs : int, default=5000
        Passes over the labelled nodes at most.
    renormalize : bool, default=True
        Whether an augmented row is divided by its sum; Eq. 8 has no such division, but trains far worse.
    class_weight : "balanced" or dict, optional
        How often a labelled node counts in the supervised loss and in early stopping: a weight above 0 by label, 1 for
        labels that are not named; or "balanced", n / (C · n_c) for n training nodes, n_c of them of its class, as
        elsewhere in scikit-learn. By default all count once. Where ``train_per_class`` draws as many of each class,
        "balanced" changes nothing.
    decision : {"most-probable", "threshold"}, default="most-probable"
        What `predict` predicts: the most probable label; or, of two classes, the second one from the probability on
        that has the highest balanced accuracy on validation nodes, which is ``calibration_.decision_threshold``.

    Attributes
    ----------
    classes_ : ndarray, shape (C,)
        The labels that occur, sorted.
    models_ : list of grandplus.methods.protocol.Model
        One for each trial.
    rows_ : Rows
        Rows of Π that were trained on, with their exact ``l1_error``.
    calibration_ : grandplus.prediction.calibration.Calibration
        The trials' temperatures, and the least confidence of a confident prediction.
    graph_facts_ : dict of str to int
        What was counted, merged and dropped: nodes, edges, merged_duplicates, dropped_self_loops, isolated_nodes,
        unlabelled_nodes, zero_feature_rows, ...
    baselines_ : list of grandplus.evaluation.baselines.table.BaselineScore
        What cheap classifiers come to on the same splits, with which the accuracy is to be compared: for each trial
        ``majority``, ``label_propagation``, ``logistic_regression`` on X and ``propagated_logistic_regression`` on ΠX.
    diagnosis_ : list of grandplus.evaluation.diagnosis.finding.Finding
        What speaks against the result, each with what was found and what to try; empty if nothing does. ``fit`` warns
        of each in the category ``gp.DiagnosisWarning``.
    seed_ : int
        The number that ``random_state`` gave.
    n_features_in_ : int
        Columns of X, if there is X.
    feature_names_in_ : ndarray of str, shape (d,)
        Their names, if X is a DataFrame whose columns are all named by text.

    Notes
    -----
    ``get_params``, ``set_params``, ``clone``, ``score(nodes, y[nodes])``, pickle and joblib work as for every
    classifier of scikit-learn. What cannot hold for a graph, whose nodes are not independent rows:

    - ``fit(graph, X, y)`` takes the graph first, and labels of all nodes, with unknown ones among them.
    - ``predict(nodes)`` and its like take row numbers or a mask of the X that ``fit`` was given. Another X comes with
      its graph: ``predict(graph, X)`` predicts all nodes of a graph that has grown since, without training.
    - Pipelines, cross-validation and grid searches of scikit-learn cut X into parts, and so can't be used: name the
      nodes by ``train`` and ``val`` instead.
    - There are no sample weights, and one label for each node.
    - Of ``sklearn.utils.estimator_checks``, all that call ``fit(X, y)`` can't pass.

    Where it runs is set by environment variables such as ``GRANDPLUS_DEVICE``; on CPU they never change a result.
    Fits in several threads of a process wait for each other.

    References
    ----------
    Wenzheng Feng et al. GRAND+: Scalable Graph Random Neural Networks. WWW 2022.

    Examples
    --------
    >>> import numpy as np
    >>> ring = np.array([range(80), [*range(1, 80), 0]])
    >>> X, y = np.repeat(np.eye(2), 40, axis=0), np.repeat(["left", "right"], 40).astype(object)
    >>> y[::4] = None
    >>> classifier = GrandPlusClassifier(train_per_class=10, val_per_class=20, max_epochs=40, warmup=0)
    >>> classifier.fit(ring, X, y).predict([0, 60]).tolist()
    ['left', 'right']
    >>> classifier.graph_facts_["unlabelled_nodes"]
    20
    """

    _method: ClassVar[str] = "grandplus"

    def __init__(
        self,
        *,
        matrix: str = "avg",
        order: int | None = None,
        alpha: float | None = None,
        heat_time: float | None = None,
        weights: list[float] | None = None,
        rmax: float = 1e-5,
        top_k: int | None = None,
        trials: int = 1,
        random_state: Any = 0,
        edge_weights: str | None = None,
        direction: str = "both",
        verbose: bool = False,
        features: str | None = None,
        split: str = "per-class",
        train_per_class: int = 20,
        val_per_class: int = 30,
        shortage: str = "fail",
        unlabelled: str | int = "all",
        lr: float = 0.01,
        weight_decay: float | None = None,
        embed: bool = False,
        layers: int = 2,
        hidden: int = 64,
        batchnorm: bool = False,
        row_norm: bool = False,
        dropout_input: float | None = None,
        dropout_hidden: float = 0.5,
        dropnode: float | None = None,
        augmentations: int = 2,
        batch_labelled: int = 50,
        batch_unlabelled: int = 100,
        temperature: float = 0.1,
        confidence: str | float | None = None,
        distance: str = "l2",
        consistency_mean: str = "confident",
        lambda_max: float = 1.0,
        warmup: int = 1000,
        clip: float = 0.0,
        patience: int = 50,
        max_epochs: int = 5000,
        renormalize: bool = True,
        class_weight: Any = None,
        decision: str = "most-probable",
    ) -> None:
        # Kept as given, and checked by fit, as scikit-learn wants it.
        self.matrix = matrix
        self.order = order
        self.alpha = alpha
        self.heat_time = heat_time
        self.weights = weights
        self.rmax = rmax
        self.top_k = top_k
        self.trials = trials
        self.random_state = random_state
        self.edge_weights = edge_weights
        self.direction = direction
        self.verbose = verbose
        self.features = features
        self.split = split
        self.train_per_class = train_per_class
        self.val_per_class = val_per_class
        self.shortage = shortage
        self.unlabelled = unlabelled
        self.lr = lr
        self.weight_decay = weight_decay
        self.embed = embed
        self.layers = layers
        self.hidden = hidden
        self.batchnorm = batchnorm
        self.row_norm = row_norm
        self.dropout_input = dropout_input
        self.dropout_hidden = dropout_hidden
        self.dropnode = dropnode
        self.augmentations = augmentations
        self.batch_labelled = batch_labelled
        self.batch_unlabelled = batch_unlabelled
        self.temperature = temperature
        self.confidence = confidence
        self.distance = distance
        self.consistency_mean = consistency_mean
        self.lambda_max = lambda_max
        self.warmup = warmup
        self.clip = clip
        self.patience = patience
        self.max_epochs = max_epochs
        self.renormalize = renormalize
        self.class_weight = class_weight
        self.decision = decision

    def suited(self, graph: Graph, splits: Splits, pushing: Pushing | None) -> dict[str, Any]:
        order = len(pushing.matrix.weights()) - 1 if pushing else 0
        suited = suited_values(graph, splits.of(0), order)
        return {name: value for name, value in suited.items() if getattr(self, name) is None}
