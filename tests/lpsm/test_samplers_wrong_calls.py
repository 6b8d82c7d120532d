"""What samplers, their grids and the estimator do not take is named, with the rule and the value."""

import warnings
from math import inf, nan

import numpy as np
import pytest
from scipy import sparse

import lpsm
from lpsm import samplers
from lpsm.samplers import LastLabels, MulticlassSampler, SelectiveClassifier, TunedSampler  # noqa: F401
from tests.lpsm.frozen.streams import a_stream
from tests.tables import each, value_error
from tests.wrong_calls import refused, table

D = 7
X, Y = a_stream(21)
ONE, TWO = np.eye(2)[:1], np.array([[0.0, 1.0], [1.0, 0.0]])
NAMES = np.where(Y[:30] > 0, "yes", "no")
ROWS = X[:30]


def make(key, n_features=D, **options):
    return samplers.make(key, n_features, **options)


def sampler(learner, rule, **options):
    return samplers.Sampler(learner, rule, n_features=2, **options)


def fitted(key="ssmd", **options):
    return SelectiveClassifier(key, **options).fit(ROWS, NAMES)


def series():
    return LastLabels(make("ss", 5), (2.0, 9.0))


def kept(entry):
    return lpsm.from_state('{"format": "lpsm-state", "version": 1, "arrays": {"kind": ' + entry + "}}")


def without(part):
    state = make("sop").state()
    del state[part]
    return samplers.Sampler.from_state(state)


@table(r"""
make("sop", a=0.0) -> a must be positive and finite, got 0.0
make("perceptron-ss-adaptive", beta=0.0) -> beta must be positive, got 0.0
make("lasec-ss", a=-2.0) -> a must be positive, got -2.0
make("lasec", b=2.0, c=2.0) -> c must be larger than b = 2.0, got 2.0
make("ss", K=0.0) -> K must be positive, got 0.0
make("ssnl", K=nan) -> K must be positive, got nan
make("filter", K=-1.0) -> K must be positive, got -1.0
make("bbq", kappa=-0.1) -> kappa must be positive and finite, got -0.1
make("sop-fixed-bias", rate=1.5) -> rate must lie in \[0, 1\], got 1.5
make("modified-perceptron", factor=2.5) -> factor must lie in \[0, 2\], got 2.5
make("shifting-perceptron", lambda_=-1.0) -> lambda must be non-negative and finite, got -1.0
make("adaptive-sampler", lambda_=0.0) -> lambda must be positive and finite, got 0.0
make("adaptive-sampler", bias=2.0) -> bias must lie in \[0, 1\], got 2.0
make("randomized-budget-perceptron", B=0) -> B must be an integer of at least 1, got 0
make("dkm", R=2.5) -> R must be an integer of at least 1, got 2.5
make("dkm", s_1=0.0) -> s_1 must be positive and finite, got 0.0
make("perceptron", eta=0.0) -> eta must be positive and finite, got 0.0
make("iwal", c_0=0.0) -> c_0 must be positive and finite, got 0.0
make("iwal", floor=0.0) -> floor must lie in \(0, 1\], got 0
make("perceptron", b=1.0) -> 'perceptron' takes the parameters \['eta'\], got \['b'\]
make("sop", gamma=1.0) -> got \['gamma'\]
make("sop", kernel="cosine") -> kernel must be one of
make("sop", kernel=3) -> kernel must be a name or a function
make("sop", kernel="rbf", degree=2) -> kernel 'rbf' does not take
make("sop", kernel="rbf", gamma=0.0) -> gamma must be positive and finite, got 0.0
make("sop", kernel="poly", degree=0) -> degree must be an integer of at least 1, got 0
make("sop", kernel="poly", coef0=-0.5) -> coef0 must be non-negative and finite, got -0.5
make("sop", kernel=samplers.Radial(), gamma=2.0) -> parameters of a kernel need its name, got \['gamma'\]
make("arow-diagonal", kernel="linear") -> kernel must be None for a learner that keeps a number a feature
make("sop", n_features=0) -> n_features must be an integer of at least 1, got 0
make("sop", 10**18) -> n_features must be at most 2147483647, got 1000000000000000000
make("sop", dtype="int64") -> dtype must be float64 or float32, got int64
make("sop", rng=-1) -> ^rng must be of the type Generator, or a seed from 0, got -1$
make("sop", max_queries=-1) -> max_queries must be an integer of at least 0, got -1
make("ffole", max_queries=3) -> max_queries must be None for a filter
make("no-such-key") -> key must be one of .*; got 'no-such-key'
make("sopp") -> ^key must be one of lpsm.samplers.keys\(\); got 'sopp', did you mean sop\?$
samplers.AdaptiveSampler(rho=-(10**400)) -> rho must be non-negative, got an integer of 1329 bits
sampler(samplers.Perceptron(), samplers.Always(), stores="all") -> stores must be
sampler(samplers.Perceptron(), samplers.Variance()) -> Variance reads r, and needs a second-order learner
sampler(samplers.Perceptron(), samplers.ImportanceWeighted()) -> ImportanceWeighted needs AdaGrad
sampler(samplers.LeastSquares(includes_instance=False), samplers.SecondOrderCoin()) -> reads r, and needs .* includes
make("perceptron").inverse -> inverse belongs to second-order
make("sop").run(X, [1, -1, 1]) -> y must have shape \(400,\), got \(3,\)
make("sop").run(X[:, :-1], Y) -> shape \(.*7\), got
make("sop").decide(X[0, :-1]) -> shape \(.*7.*\), got
make("sop").decide(sparse.csr_matrix(X[:1, :-1])) -> shape \(.*7.*\), got
make("sop").decide([0.0, 1.0, nan, 0.0, 0.0, 0.0, 0.0]) -> x must be finite, got nan in feature 2
make("adaptive-sampler", rho=lambda t: 2.0).state() -> function cannot be saved
make("sop", kernel=lambda x, z: float(x @ z)).state() -> function cannot be saved
without("state_matrix") -> state_matrix
samplers.Sampler.from_state({**make("sop").state(), "version": np.array(99)}) -> version
make("sop").decide((np.ones(2), np.array([0, 1, 2]))) -> x must have a column for each of 2 values, got 3
make("sop").decide((np.ones(2), np.array([0, 99], np.int32))) -> X must have columns below
make("sop").decide((np.ones(2), np.array([-1, 0], np.int32))) -> X must have columns below
make("sop").decide((np.array([1.0, np.nan]), np.array([0, 1], np.int32))) -> must be finite, got nan
make("sop").decide((np.ones(2), np.array([0.5, 1.0]))) -> x must have whole numbers for columns, got float64
MulticlassSampler("ss", 2, 1) -> n_classes must be an integer of at least 2, got 1
MulticlassSampler("ffole", 2, 3) -> key must be a sampler that has a form for several classes
MulticlassSampler("ss", 2, 3).run(ONE, [3]) -> y must hold numbers of classes from 0 to 2
MulticlassSampler("ss", 2, 3).run(ONE, [0, 1]) -> y must have shape \(1,\), got \(2,\)
MulticlassSampler("ss", 2, 4).learn(1, 7) -> y must be a class from 0 to 3, got 7
samplers.make("adaptive-sampler", 2, mistake_driven="maybe") -> mistake_driven must be True or False, got 'maybe'
SelectiveClassifier(oracle=3).fit(TWO, classes=[0, 1]) -> oracle must be a function, got 3
TunedSampler("perceptron-ss", 2, "b", []) -> grid must have shape \(m,\) with m >= 1, got \(0,\)
TunedSampler("perceptron-ss", 2, "b", [0.1, -1.0]) -> b must be positive.* got -1
TunedSampler("perceptron-ss", 2, "K", [0.1]) -> takes the parameters .* got \['K'\]
TunedSampler("filter", 2, "K", [0.1]) -> key must be a sampler, neither a filter nor .* got 'filter'
TunedSampler("iwal", 2, "c_0", [0.1]) -> neither a filter nor one that weighs labels
TunedSampler("ssmd", 3, "K", 0.1) -> grid must have shape \(m,\)
LastLabels(make("ss", 2), (1.0, 2.0)) -> more than 2 features
LastLabels(make("ss", 5), (1.0, 0.0)) -> times must be positive
LastLabels(MulticlassSampler("ss", 5, 3), (2.0, 9.0)) -> sampler must be a Sampler
series().decide(X[0]) -> x must have shape \(3,\), got \(7,\)
series().run(sparse.csr_matrix(X[:, :3]), Y) -> X must be dense
LastLabels.from_state({**series().state(), "sums": np.zeros((2, 7))}) -> sums
LastLabels.from_state({**series().state(), "version": np.array(7)}) -> version must be 1
TunedSampler("ssmd", 2, "K", [0.1], mixture="none") -> mixture must be .* got 'none'
TunedSampler("ssmd", 2, "K", [0.1], label_price=-1.0) -> label_price must be .* got -1.0
TunedSampler("ssmd", 2, "K", [0.1], exploration=1.5) -> exploration must lie in \[0, 1\], got 1.5
TunedSampler("ssmd", 2, "K", [0.1]).run([[1.0, nan]], [1]) -> X must be finite
TunedSampler("ssmd", 2, "K", [0.1]).run(ONE, [0]) -> y must hold only -1 and
fitted(params=3) -> params must be a mapping of symbols to values, got 3
SelectiveClassifier("dkm").fit(ROWS, np.arange(30) % 3) -> Only binary classification is
SelectiveClassifier().partial_fit(ROWS) -> classes must be given with an oracle, or without labels
SelectiveClassifier().fit(ROWS, NAMES, classes=["no", "maybe"]) -> y must hold only the classes
SelectiveClassifier().fit([[10**400]], [0]) -> X must hold numbers that fit a float
SelectiveClassifier("sop").fit(TWO, [0, 1], classes=[]) -> ^classes must be names, shape \(k,\), got
fitted().answer([1, 2], ["maybe", "never"]) -> hold only .* got .*maybe
fitted().answer([1, 2], ["no"]) -> a label for each of 2 tickets, got 1
fitted().answer([999], ["no"]) -> ticket must be of an open question, got 999
fitted().partial_fit(ROWS, NAMES, classes=["a", "b"]) -> classes must stay those of the first call
lpsm.from_state({"kind": np.array("Nobody")}) -> a state must be of one of StaticExpert, .*, got 'Nobody'
lpsm.from_state("{") -> a state in JSON must be what to_json writes
lpsm.from_state('{"format": "lpsm-state", "version": 9, "arrays": {}}') -> format must be lpsm-state, version 1
lpsm.from_state("[" * 200_000) -> state|format
kept("[" * 200_000) -> state|format|values|type
kept('{"type": "<U4", "shape": [], "values": ["' + "x" * 50_000_000 + '"]}') -> state|format|values|type
kept('{"type": "<i8", "shape": [], "values": [99999999999999999999999]}') -> state|format|values|type
kept('{"type": "<f8", "shape": [], "values": ["infinite"]}') -> state|format|values|type
kept('{"type": "<f8", "shape": [99999999999], "values": []}') -> state|format|values|type
kept('{"type": "O", "shape": [], "values": ["x"]}') -> state|format|values|type
kept('{"type": "<f8", "shape": [], "values": [[[[1]]]]}') -> state|format|values|type
kept('{"type": "<q99999999", "shape": [], "values": [1]}') -> state|format|values|type
lpsm.from_state({"kind": np.array("MulticlassSampler")}) -> version of a sampler's state must be 4, got none
lpsm.from_state({"kind": np.array("TunedSampler")}) -> version of a TunedSampler's state must be 3, got none
lpsm.from_state({"kind": np.array("TunedSampler"), "version": np.array(3)}) -> a TunedSampler's state must hold
""")
def test_a_wrong_call_is_answered_with_the_argument_the_rule_and_the_value(call, message):
    refused(call, message, globals())


@each("make_rows", [np.asarray, sparse.csr_matrix])
@each("dtype, value", [("float64", nan), ("float64", inf), ("float64", 1e155), ("float64", -1e308), ("float32", 1e20)])
def test_values_that_are_not_finite_or_whose_squares_are_not_are_named_with_their_place(make_rows, dtype, value):
    model, broken = make("perceptron", dtype=dtype), X.copy()
    broken[17, 3] = value
    short = not abs(value) < inf
    few = f"finite, got {value}" if short else "lengths that are finite, got a feature of .*"
    one = f"finite, got {value}" if short else "squared lengths? that (is|are) finite, got a feature of 1e"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with value_error(f"{few} in row 17"):
            model.run(make_rows(broken), Y)
        for x in (sparse.csr_matrix(broken[17]), broken[17], list(broken[17])):
            with value_error(one):
                model.decide(x)
    assert model.rounds == 0


@each("bad", [0, 2, nan, -1.5])
def test_labels_other_than_minus_and_plus_one_are_refused_before_anything_is_learned(bad):
    model, labels = make("rls"), Y.astype(float)
    labels[5] = bad
    with value_error(f"y must hold only -1 and \\+1, got {float(bad)} in round 5"):
        model.run(X, labels)
    assert (model.rounds, model.stored) == (0, 0)
    model.decide(X[0])
    with value_error(r"y must be -1 or \+1"):
        model.learn(X[0], bad)
    assert model.learn(X[0], 1)


@each("make_rows", [np.asarray, sparse.csr_matrix])
def test_a_zero_vector_is_an_error_only_where_it_would_be_divided_by_its_norm(make_rows):
    holes = X[:20].copy()
    holes[3] *= 1e-170  # so short that its squared length is rounded to zero
    with value_error("no zero row where instances are normalised, row 3 is"):
        make("perceptron-ss").run(make_rows(holes), Y[:20])
    with value_error("x must not be zero where instances are normalised"):
        make("dkm").decide(holes[3])
    holes[[0, 3]] = 0.0
    for key in samplers.keys():  # noqa: SIM118
        log = make(key, normalize=False).run(make_rows(holes), Y[:20])
        assert (log.margin[[0, 3]] == 0.0).all() or key == "nearest"  # whose margin is one of distances
        assert np.isfinite(log.margin).all()


@each("part, value, message", [
    ("indices", 10**6, rf"X must have columns below {D}, got .* to 1000000"),
    ("indices", -5, rf"X must have columns below {D}, got -5 to"),
    ("indptr", 10**6, "X must have row pointers that rise from 0 to"),
])  # fmt: skip
def test_sparse_rows_whose_columns_lie_outside_are_refused_before_a_round_goes_there(part, value, message):
    for key in ("sop", "ssmd"):
        rows = sparse.csr_matrix(X[:8])
        getattr(rows, part)[3] = value
        with value_error(message):
            make(key).run(rows, Y[:8])


@each("x", [np.ma.masked_array(np.ones(D)), np.ones(D, complex), np.full(D, None), ["a"] * D, [10**400] * D])
def test_instances_that_are_no_real_numbers_are_refused_by_name(x):
    with pytest.raises(TypeError, match=r"^x must be an array of numbers, got"):
        make("sop").decide(x)
    with pytest.raises(TypeError, match=r"^X must be an array of numbers, got"):
        make("sop").run([x] if isinstance(x, list) else x[None], [1])
