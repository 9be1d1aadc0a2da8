"""scikit-learn's conventions: those that hold, and that the others fail for the reason that the docstring gives."""

import inspect
import pickle

import joblib
import numpy as np
import pytest
import torch
from communities import problem, small
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from grandplus import GrandPlusClassifier
from grandplus.graph.settings import Preprocess
from grandplus.methods.grandplus.settings import Settings as Train
from grandplus.pipeline.settings import Settings
from grandplus.prediction.settings import Infer
from grandplus.propagation.matrices import MATRICES, parameters
from grandplus.propagation.settings import GFPush
from grandplus.runtime.errors import ArgumentError

SIGNATURE = inspect.signature(GrandPlusClassifier).parameters
OWN = {"matrix", "trials", "random_state", "edge_weights", "verbose"}
OF_MATRICES = {key for family in MATRICES.values() for key in parameters(family)}


def test_parameters_are_those_of_params_yaml():
    sections = {*GFPush.model_fields, *Preprocess.model_fields, *Train.model_fields, *Infer.model_fields}
    assert set(SIGNATURE) == OWN | OF_MATRICES | sections
    assert {"matrix", "seed", "trials", "gfpush", "preprocess", "train", "infer"} <= set(Settings.model_fields)


def test_defaults_are_those_of_the_settings_classes():
    fields = GFPush.model_fields | Preprocess.model_fields | Train.model_fields | Infer.model_fields
    suited = {"features", "dropout_input", "dropnode", "weight_decay", "confidence", "top_k"}  # to the graph
    for name, parameter in SIGNATURE.items():
        if name in OF_MATRICES | suited:
            assert parameter.default is None, name
        elif name == "split":  # where fit is given no nodes
            assert parameter.default == "per-class"
        elif name not in OWN:
            assert parameter.default == fields[name].default, name
    assert [SIGNATURE[name].default for name in sorted(OWN)] == [None, "avg", 0, 1, False]


def test_each_parameter_is_described_with_its_default():
    text = inspect.getdoc(GrandPlusClassifier)
    described = text[text.index("Parameters") : text.index("Attributes")]
    lines = [line.split(" : ") for line in described.splitlines() if " : " in line and not line.startswith(" ")]
    assert [name for name, _ in lines] == list(SIGNATURE)
    for name, kind in lines:
        default = SIGNATURE[name].default
        said = kind.rpartition("default=")[2].strip('"') if "default=" in kind else "optional"
        assert said == ("optional" if default is None and name != "edge_weights" else str(default)), name
        assert kind.endswith(said) or kind.endswith(f'"{said}"')


def test_it_can_be_copied_and_changed():
    classifier = GrandPlusClassifier(lr=0.5, matrix="ppr")
    assert clone(classifier).get_params() == classifier.get_params()
    assert classifier.set_params(hidden=3).hidden == 3
    assert repr(classifier) == "GrandPlusClassifier(hidden=3, lr=0.5, matrix='ppr')"
    assert is_classifier(classifier)
    weights = np.array([0.5, 0.5])
    assert GrandPlusClassifier(weights=weights).get_params()["weights"] is weights


def test_before_fit_it_says_so():
    for method in ("predict", "predict_proba", "confident"):
        with pytest.raises(NotFittedError):
            getattr(GrandPlusClassifier(), method)()
    with pytest.raises(NotFittedError):
        check_is_fitted(GrandPlusClassifier())
    assert check_is_fitted(small(max_epochs=1).fit(*problem())) is None


def test_a_failed_fit_leaves_an_earlier_one_as_it_was():
    classifier = small(max_epochs=3).fit(*problem())
    before = classifier.predict_proba().tobytes()
    with pytest.raises(ValueError, match="y has shape"):
        classifier.fit(problem()[0], problem()[1], [0, 1])
    assert classifier.predict_proba().tobytes() == before


def test_what_it_returns_may_be_changed():
    classifier = small(max_epochs=3).fit(*problem())
    for nodes in (None, [1, 2]):
        before = classifier.predict_proba(nodes).tobytes()
        classifier.predict_proba(nodes)[:] = 0
        classifier.predict(nodes)[:] = 0
        assert classifier.predict_proba(nodes).tobytes() == before
    assert classifier.classes_.tolist() == [0, 1, 2]


def test_score_is_the_accuracy_of_nodes():
    adjacency, X, y = problem()
    classifier = small().fit(adjacency, X, y)
    others = np.arange(40, 60)
    assert classifier.score(others, (y[others] + (others == 47)) % 3) == 0.95


@pytest.mark.parametrize("kind", ["pickle", "joblib"])
def test_a_stored_one_predicts_the_same(kind, tmp_path):
    classifier = small(trials=2, max_epochs=3).fit(*problem())
    if kind == "pickle":
        again = pickle.loads(pickle.dumps(classifier))  # noqa: S301
    else:
        joblib.dump(classifier, tmp_path / "classifier.joblib")
        again = joblib.load(tmp_path / "classifier.joblib")
    assert again.predict_proba().tobytes() == classifier.predict_proba().tobytes()
    assert again.confident().tolist() == classifier.confident().tolist()
    assert again.get_params() == classifier.get_params()
    assert again.rows_.l1_error.tobytes() == classifier.rows_.l1_error.tobytes()
    # With what the models need to predict again.
    for model, other in zip(classifier.models_, again.models_, strict=True):
        assert all(torch.equal(tensor, other.tensors()[name]) for name, tensor in model.tensors().items())
    refitted = again.fit(*problem())
    assert refitted.predict_proba().tobytes() == classifier.predict_proba().tobytes()


def test_fits_side_by_side_give_the_same_bytes():
    alone = [small(random_state=seed, max_epochs=5).fit(*problem()).predict_proba() for seed in range(3)]
    fit = joblib.delayed(lambda seed: small(random_state=seed, max_epochs=5).fit(*problem()).predict_proba())
    together = joblib.Parallel(n_jobs=3, backend="threading")(fit(seed) for seed in range(3))
    assert [found.tobytes() for found in together] == [found.tobytes() for found in alone]


def test_random_state_is_as_scikit_learn_has_it():
    adjacency, X, y = problem()

    def seed(random_state):
        return small(random_state=random_state, max_epochs=1).fit(adjacency, X, y).seed_

    assert (seed(7), seed(np.int64(7))) == (7, 7)
    np.random.seed(3)
    drawn = [seed(None), seed(None)]
    state = np.random.RandomState(3)
    assert [seed(state), seed(state)] == drawn
    assert len(set(drawn)) == 2


def test_values_of_numpy_are_taken():
    adjacency, X, y = problem()
    weights, lr = np.array([0.5, 0.5]), np.float32(0.5)
    one = small(matrix="custom", weights=weights, order=None, hidden=np.int64(8), lr=lr, max_epochs=2)
    two = small(matrix="custom", weights=[0.5, 0.5], order=None, hidden=8, lr=0.5, max_epochs=2)
    assert one.fit(adjacency, X, y).predict_proba().tobytes() == two.fit(adjacency, X, y).predict_proba().tobytes()


def test_columns_are_counted_and_named_by_the_latest_fit():
    pandas = pytest.importorskip("pandas")
    adjacency, X, y = problem()
    frame = pandas.DataFrame(X, columns=["height", "width", "age"])
    classifier = small(max_epochs=1).fit(adjacency, frame, y)
    assert classifier.n_features_in_ == 3
    assert classifier.feature_names_in_.tolist() == ["height", "width", "age"]
    assert classifier.models_[0].preprocessing["names"] == ["height", "width", "age"]
    assert not hasattr(classifier.fit(adjacency, X[:, :2], y), "feature_names_in_")
    assert classifier.n_features_in_ == 2
    assert not hasattr(classifier.fit(adjacency, pandas.DataFrame(X), y), "feature_names_in_")


def test_no_other_columns_can_be_given_later():
    """As predictions are of nodes, or of another graph with its table, a table in their place is refused."""
    classifier = small(max_epochs=1).fit(*problem())
    assert list(inspect.signature(classifier.predict).parameters) == ["nodes", "X"]
    with pytest.raises(ArgumentError, match=r"nodes has shape \(90, 3\)"):
        classifier.predict(problem()[1])


NEEDING_NO_TABLE = {
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
}


def test_what_fails_of_scikit_learns_checks_fails_as_fit_takes_a_graph():
    results = check_estimator(GrandPlusClassifier(), on_fail=None, on_skip=None)
    assert {result["check_name"] for result in results if result["status"] == "passed"} >= NEEDING_NO_TABLE
    for result in results:
        if result["status"] == "failed":
            assert any(isinstance(error, ArgumentError) for error in chain(result["exception"])), result


def chain(error):
    """An exception, and those that it was raised from or after."""
    while error:
        yield error
        error = error.__cause__ or error.__context__
