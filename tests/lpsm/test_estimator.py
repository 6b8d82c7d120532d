"""The scikit-learn classifier: its own checks, the sampler underneath, sealed labels, and probabilities by hand."""

import warnings

import numpy as np
import pytest
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from lpsm import samplers
from lpsm import synthetic_streams as streams
from lpsm.samplers import SelectiveClassifier, calibration
from lpsm.samplers.calibration import leads, probabilities
from tests.lpsm.frozen.streams import a_stream
from tests.tables import cases_of, each, unequal, value_error, words

SOME = words("ss arow-diagonal-ss filter")
CHECKED = [pytest.param(key, marks=[] if key in SOME else pytest.mark.long) for key in tuple(samplers.keys())]


def example(n=300, d=4, seed=0):
    stream = streams.separable(n, d, 0.1, default_rng(seed))
    return stream.X, np.where(stream.y > 0, "yes", "no")


@each("key", CHECKED)
def test_every_check_of_scikit_learn_passes(key):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its checks provoke warnings of their own
        results = check_estimator(SelectiveClassifier(key), on_skip=None, on_fail=None)
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []
    assert sum(r["status"] == "passed" for r in results) > 50


def test_parameters_of_a_key_are_given_by_name_or_together():
    own = {"key", "params", "kernel", "normalize", "fit_intercept", "intercept_scaling", "max_queries", "random_state"}
    assert set(SelectiveClassifier().get_params()) == own | {"oracle"}
    by_name, together = SelectiveClassifier("ssmd", K=0.3, a=2.0), SelectiveClassifier("ssmd", {"K": 0.3, "a": 2.0})
    assert by_name.get_params() == together.get_params()
    assert by_name.get_params()["K"] == 0.3
    assert "K" not in by_name.get_params(deep=False)
    assert clone(by_name).set_params(K=0.1).params == {"K": 0.1, "a": 2.0}
    assert clone(by_name).set_params(key="sop-ss").params == {"a": 2.0}  # what it has no use for goes
    assert clone(by_name).set_params(key="sop-ss", b=0.2).params == {"a": 2.0, "b": 0.2}


def test_no_answer_is_learned_if_one_ticket_is_not_open():
    X, y = example(20)
    model = SelectiveClassifier("ss").partial_fit(X, classes=["no", "yes"])
    ticket = int(model.tickets_[model.tickets_ > 0][0])
    with pytest.raises(RuntimeError, match="ticket must be of an open question, got 999; open are"):
        model.answer([ticket, 999], y[:2])
    with value_error("tickets must be different ones"):
        model.answer([ticket, ticket], y[:2])
    assert model.sampler_.stored == 0
    assert ticket in model.sampler_.open_tickets
    unknown = SelectiveClassifier("rls").partial_fit(np.eye(3), [1, np.nan, 0], classes=[0, 1])
    assert unknown.tickets_.tolist() == [0, 2, 0]  # a label that is not a number is not known yet


@cases_of("several", "False ; True")
def test_rows_of_zeros_are_no_rounds_where_rows_are_normalised(several):
    X, y = example(30)
    y = np.argmax(X[:, :3], axis=1) if several else y
    padded, labels = np.insert(X, 10, 0.0, axis=0), np.insert(y, 10, y[0])
    with_zero, without = (SelectiveClassifier("ss" if several else "dkm", normalize=True) for _ in range(2))
    with_zero.fit(padded, labels)
    without.fit(X, y)
    assert not with_zero.queried_[10]
    assert with_zero.predicted_[10] == (2 if several else "yes")  # SGN(0) = +1
    assert np.array_equal(np.delete(with_zero.predicted_, 10), without.predicted_)
    assert np.array_equal(np.delete(with_zero.queried_, 10), without.queried_)
    assert with_zero.n_rounds_ == 30
    assert not with_zero.decision_function(np.zeros((1, 4))).any()
    np.testing.assert_array_equal(with_zero.decision_function(padded)[0], without.decision_function(X)[0])


def test_a_single_class_is_predicted_for_everything_and_without_labels_each_of_two_is_as_probable():
    X, y = example(40)
    model = SelectiveClassifier("sop").fit(X, np.full(40, "only"))
    assert set(model.predict(X)) == {"only"}
    assert model.classes_.tolist() == ["only"]
    assert model.predict_proba(X).tolist() == 40 * [[1.0]]
    assert (SelectiveClassifier("ss", max_queries=0).fit(X, y).predict_proba(X) == 0.5).all()


@cases_of("key several poor", """
"ss", True, False ; "dkm-perceptron", True, True ; "ffole", False, False ; "dkm", False, False
"modified-perceptron", False, True ; "nonsense", True, False
""")  # fmt: skip
def test_tags_say_what_a_key_can_do(key, several, poor):
    tags = SelectiveClassifier(key).__sklearn_tags__()
    assert (tags.classifier_tags.multi_class, tags.classifier_tags.poor_score) == (several, poor)
    assert tags.input_tags.sparse


@each("make_rows", [np.asarray, sparse.csr_matrix])
def test_the_constant_of_an_intercept_is_the_root_mean_square_of_the_values_other_than_0(make_rows):
    X = np.array([[0.0, 3.0], [4.0, 0.0], [0.0, -5.0]])
    y, labels = np.array(["no", "yes", "no"]), [-1, 1, -1]
    for scaling, rows, constant in ((None, X, np.sqrt(50 / 3)), (2.5, X, 2.5), (None, 0 * X, 1.0)):
        model = SelectiveClassifier("rls", fit_intercept=True, intercept_scaling=scaling).fit(make_rows(rows), y)
        model.partial_fit(make_rows(2 * rows), y)  # the constant stays
        wide = np.column_stack([np.vstack([rows, 2 * rows]), np.full(6, constant)])
        sampler = samplers.make("rls", 3)
        sampler.run(wide, labels * 2)
        assert_allclose(model.sampler_.weights, sampler.weights)
        expected = sampler.margins(np.column_stack([X, np.full(3, constant)]))
        assert_allclose(model.decision_function(make_rows(X)), expected)


def test_coins_come_of_a_seed_a_generator_or_numpys_older_one():
    X, y = example(40)
    signs = np.where(y == "yes", 1, -1)
    old = np.random.RandomState(5)
    seed = old.randint(2**32 - 1, dtype=np.uint32)
    for given, meant in ((3, 3), (default_rng(4), 4), (np.random.RandomState(5), seed)):
        model = SelectiveClassifier("sop-fixed-bias", rate=0.5, random_state=given).fit(X, y)
        log = samplers.make("sop-fixed-bias", 4, rng=default_rng(meant)).run(X, signs)
        assert np.array_equal(model.queried_, log.queried)


# -- probabilities, from the labels that were bought
X, Y = a_stream(31, rounds=90, d=3)


def scale_of(scores, labels):
    """The definition: softened targets, log loss, and its least over beta >= 0, by another minimiser."""
    n, k = scores.shape

    def loss(beta):
        chances = np.exp(beta * scores) / np.exp(beta * scores).sum(axis=1, keepdims=True)
        targets = np.where(np.arange(k) == np.array(labels)[:, None], (n + 1) / (n + k), 1 / (n + k))
        return -(targets * np.log(chances)).sum()

    return max(minimize_scalar(loss).x, 0.0)


# three of three right: the target is 4/5, and sigmoid(2 beta/2) is that at beta = ln 4; of `SEVERAL` 3/5 for the right
# one: e^(2 beta) = 3, in any units
MARGINS, SEVERAL = np.array([0.5, -0.5, 0.5]), np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0]])
SCALES = """
round(fitted_scale(leads(MARGINS), np.array([1, 0, 1])), 4) -> round(log(4), 4)
probabilities(leads(MARGINS), log(4))[:, 1] -> [0.8, 0.2, 0.8]
fitted_scale(leads(MARGINS), np.array([0, 1, 0])) / LEAST -> 2  # all wrong
fitted_scale(leads(np.zeros(4)), np.array([0, 1, 1, 1])) / LEAST -> 1  # their size is not known
fitted_scale(np.zeros((0, 2)), np.zeros(0, np.int64)) -> 0
round(fitted_scale(SEVERAL, np.array([0, 1])), 4) -> round(log(3) / 2, 4)
probabilities(SEVERAL, 0.5)[0] -> np.array([exp(1), 1, 1]) / (exp(1) + 2)
round(fitted_scale(1e-6 * SEVERAL, np.array([0, 1])) / 1e6, 3) -> round(log(3) / 2, 3)
round(fitted_scale(1e6 * SEVERAL, np.array([0, 1])) * 1e6, 3) -> round(log(3) / 2, 3)
"""


def test_the_scale_by_hand():
    assert not unequal(SCALES, vars(calibration) | globals())


@cases_of("several", "False ; True")
@cases_of("way", "'a run' ; 'a short run' ; 'by an oracle' ; 'late'")
def test_a_classifier_enters_the_scores_of_the_rounds_and_the_labels_bought(way, several):
    rounds = 30 if way == "a short run" else 90
    codes = (X @ default_rng(2).normal(size=(3, 4))).argmax(axis=1) if several else (Y > 0).astype(int)
    names = np.array(words("a b c d") if several else ["no", "yes"])
    key, own = ("ss", {"K": 0.2}) if several else ("sop-label-efficient", {"C": 0.3})
    model = SelectiveClassifier(key, random_state=1, **own)
    asked = []

    def oracle(i, x):
        assert np.array_equal(x, X[i])
        asked.append(i)
        return names[codes[i]]

    if way == "by an oracle":
        model.set_params(oracle=oracle).fit(X, classes=names)
    elif way == "late":  # every second label when its part of the stream is over, the last one first
        for start in (0, 30, 60):
            part = names[codes[start : start + 30]]
            model.partial_fit(X[start : start + 30], np.where(np.arange(30) % 2, None, part), classes=names)
            model.predict_proba(X)  # which changes nothing
            rows = np.flatnonzero(model.tickets_)[::-1]
            assert model.tickets_[rows].tolist() == model.sampler_.open_tickets[::-1]
            model.answer(model.tickets_[rows], part[rows])
    else:
        model.fit(X[:rounds], names[codes[:rounds]])
    rng = default_rng(1)
    twin = samplers.MulticlassSampler(key, 3, 4, rng=rng, **own) if several else samplers.make(key, 3, rng=rng, **own)
    scores, labels, owed, said = [], [], [], []
    for t in range(rounds):
        decision = twin.decide(X[t])
        said.append(decision.prediction if several else int(decision.prediction > 0))
        if decision.query:
            scores.append(twin.last_scores if several else leads(np.array([decision.margin]))[0])
            labels.append(int(codes[t]))
            owed.append((decision.ticket, int(codes[t]) if several else int(Y[t])))
            if way != "late" or t % 2 == 0:
                twin.learn(*owed.pop())
        while t % 30 == 29 and owed:
            twin.learn(*owed.pop())
    now = twin.scores(X[:5]) if several else leads(twin.margins(X[:5]))
    expected = probabilities(now, scale_of(np.array(scores), labels))
    assert_allclose(model.predict_proba(X[:5]), expected, rtol=2e-3)
    assert not np.allclose(expected, 1.0 / len(names))
    assert asked == (np.flatnonzero(model.queried_).tolist() if way == "by an oracle" else [])
    assert model.n_queries_ == len(labels) < rounds
    assert model.predicted_.tolist() == names[said][-len(model.predicted_) :].tolist()
    predicted = twin.predict(X) if several else (twin.margins(X) >= 0).astype(int)
    assert model.classes_[predicted].tolist() == model.predict(X).tolist()
