"""Every key against its literal formula, in every form of each, with labels in time, late, and of several classes."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from numpy.testing import assert_allclose
from scipy import sparse

import lpsm
from lpsm import samplers
from lpsm.samplers import LastLabels, MulticlassSampler, kernels, sampler
from tests.lpsm.frozen import streams
from tests.lpsm.frozen.streams import NO_KERNEL, PARAMETERS, a_stream, assert_same, by_rounds, of
from tests.oracles.samplers import TIMES, Stored, chance, keeps, margin, means, play
from tests.tables import cases_of, each, near, words

D = 7
NORMALIZED = {  # by the papers, unless told otherwise
    "perceptron-ss", "sop-ss", "sop-fixed-bias", "modified-perceptron", "adaptive-sampler", "bbq", "bbq-i",
    "dkm", "dkm-perceptron", "cbgz-dkm", "random-perceptron", "random-dkm",
}  # fmt: skip
EVERY_ROUND = {"perceptron", "modified-perceptron", "sop", "ridge", "rls", "rls-all", "lasec", "shifting-perceptron",
               "arow", "arow-diagonal", "adagrad", "randomized-budget-perceptron"}  # fmt: skip
CASES = [*PARAMETERS.items(), streams.MORE[0], ("adaptive-sampler", {"lambda_": 1.0, "rho": 12.0, "bias": 0.2}),
         streams.MORE[2], ("fsoat", {"count_forced": True})]  # fmt: skip


@each("key, parameters", CASES)
def test_decisions_in_every_form_are_those_of_the_literal_formula(key, parameters, monkeypatch):
    monkeypatch.setattr(sampler, "SHORT", 0)  # every run skips the work that cannot change a decision
    monkeypatch.setattr(kernels, "FIRST_CAPACITY", 2)  # and stored instances outgrow their room
    for seed, rounds, d in ((0, 120, D), (11, 30, 3)):
        X, y = a_stream(seed, rounds, d)
        coins, twin = (default_rng(seed) for _ in range(2))

        def fresh(kernel=None, rng=seed, d=d):
            return samplers.make(key, n_features=d, rng=rng, kernel=kernel, **parameters)

        expected = play(key, X, y, twin, key in NORMALIZED, **parameters)
        asked = expected[2].mean()
        assert asked == 1.0 if key in EVERY_ROUND else 0.0 < asked < 1.0 or d < D  # the stream tries both answers
        for kernel in (None,) if key in NO_KERNEL else (None, "linear"):
            for table in (X, sparse.csr_matrix(X)):
                assert_same(by_rounds(fresh(kernel), table, y), expected)
                assert_same(of(fresh(kernel).run(table, y)), expected)
        if d == 3:
            kernel = None if key in NO_KERNEL else lambda x, z: float(x @ z)
            assert_same(of(fresh(kernel, coins).run(X, y)), expected)
            assert coins.random() == twin.random()  # one was drawn a round, or none


@each("key", words("perceptron-ss sop-ss lasec ssmd ssnci randomized-budget-perceptron"))
@cases_of("given form", """
{"kernel": "poly", "degree": 2, "coef0": 0.0}, lambda X: (X @ X.T) ** 2
{"kernel": "rbf", "gamma": 0.4}, lambda X: np.exp(-0.4 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
""")  # fmt: skip
def test_a_kernel_is_a_linear_sampler_on_its_features(key, given, form):
    X, y = a_stream(6, rounds=50, d=4)
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = y * np.sign(X[:, 1] + 0.1).astype(int)
    values, vectors = np.linalg.eigh(form(X))
    Z = vectors * np.sqrt(np.maximum(values, 0.0))  # features of these instances: a root of their Gram matrix
    own = {"randomized-budget-perceptron": {"B": 12}, "ssmd": {"K": 0.05}, "lasec": {"c": 9.0}}.get(key, {})
    expected = of(samplers.make(key, n_features=len(Z), rng=1, **own).run(Z, y))
    for rows in (X, sparse.csr_matrix(X)):
        dual = samplers.make(key, 4, rng=1, normalize=False, **given, **own)  # X is of unit norm
        assert_same(of(dual.run(rows, y)), expected, margin_tolerance=1e-7)


# -- labels that come late: any interleaving of decisions and labels
T = 30
WORLD = default_rng(5)
X = WORLD.normal(size=(T, 4))
Y = np.where(X @ WORLD.normal(size=4) + 0.5 * WORLD.normal(size=T) >= 0.0, 1, -1)

LATE = ["rls", "ridge", "sop", "perceptron", "shifting-perceptron", "lasec", "ss", "ssmd", "sop-label-efficient",
        "arow-ss", "arow-diagonal", "adagrad"]  # fmt: skip


@each("form", "dense sparse dual")
@each("key", LATE)
@given(order=st.lists(st.integers(-1, 6), min_size=T, max_size=2 * T), seed=st.integers(0, 9))
@settings(max_examples=6)
def test_any_interleaving_of_decisions_and_late_labels_equals_its_definition(key, form, order, seed):
    q, coins = PARAMETERS[key], default_rng(seed)
    kernel = "linear" if form == "dual" and key not in ("shifting-perceptron", *NO_KERNEL) else None
    sampler = samplers.make(key, 4, rng=default_rng(seed), kernel=kernel, **q)
    stored, owed, t = Stored(4), {}, 0
    for step in order:
        if step >= 0 and owed:  # a label comes: of any question that is open
            ticket = list(owed)[step % len(owed)]
            row, said = owed.pop(ticket)
            kept = keeps(key, Y[row], said)
            if key.startswith("a"):  # those that store small margins: in its round, and on the day its label comes
                kept = kept and Y[row] * margin(key, stored, X[row], q) < 1
            if kept:
                stored.add(X[row], int(Y[row]))
            assert sampler.learn(ticket, int(Y[row])) == kept
        elif t < T:
            x = X[t]
            decision = sampler.decide(sparse.csr_matrix(x[None]) if form == "sparse" else x)
            m = margin(key, stored, x, q)
            probability = chance(key, stored, x, q, m, t + 1, None)
            asks = coins.random() < probability if sampler.randomized else bool(probability)
            assert decision.margin == near(m, abs=1e-9)
            assert decision.query == asks
            assert decision.ticket == (t + 1 if asks else None)
            if asks:
                owed[decision.ticket] = (t, m)
            t += 1
        assert sampler.open_tickets == list(owed)
        assert sampler.stored == len(stored)


def test_a_modified_update_is_left_out_where_the_learner_has_come_right_since():
    sampler = samplers.make("modified-perceptron", 2)
    first = sampler.decide([1.0, 0.0])
    assert sampler.learn(first.ticket, -1)  # v = (-1, 0)
    x = [0.8, 0.6]
    early, again = sampler.decide(x), sampler.decide(x)
    assert early.prediction == again.prediction == -1
    assert sampler.learn(early.ticket, 1)
    assert sampler.margins([x])[0] > 0.0
    assert not sampler.learn(again.ticket, 1)  # a reflection would turn it wrong again
    assert sampler.margins([x])[0] > 0.0


# -- several classes
OF_CLASSES = {"ss", "ssmd", "ssnci", "sop-label-efficient", "sop-ss", "perceptron-ss", "bbq", "arow-ss",
    "arow-diagonal-ss", "iwal", "lasec-ss", "dkm-perceptron", "kept-rate", "nearest"}  # fmt: skip


def several(seed, rounds=200):
    rng = default_rng(seed)
    X = rng.normal(size=(rounds, 5)) + 0.01
    return X, (X @ rng.normal(size=(5, 4)) + 0.3 * rng.normal(size=(rounds, 4))).argmax(axis=1)


@each("form", "dense sparse rbf")
@each("key", sorted(OF_CLASSES))
def test_two_classes_are_the_binary_sampler(key, form):
    X, y = a_stream(3, rounds=50, d=4)
    options = PARAMETERS[key] | ({"kernel": "rbf"} if form == "rbf" and key not in NO_KERNEL else {})
    rows = sparse.csr_matrix(X) if form == "sparse" else X
    binary, model = samplers.make(key, 4, rng=1, **options), MulticlassSampler(key, 4, 2, rng=1, **options)
    margin, prediction, *expected = by_rounds(binary, rows, y)
    size, said, *found = by_rounds(model, rows, (y > 0).astype(int), by_ticket=True)
    np.testing.assert_array_equal(said, prediction > 0)
    assert_allclose((size, *found), (abs(margin), *expected), atol=1e-9)
    scores = model.scores(rows)
    assert_allclose((scores[:, 1] - scores[:, 0]) / 2, binary.margins(rows), atol=1e-9)


@each("form", "dense sparse rbf lately late")
def test_the_nearest_of_several_classes_is_its_definition(form):
    """What is stored has seen its own label lately; late labels count as of their rounds, at equal lengths."""
    X, y = several(2, rounds=60)
    X /= np.linalg.norm(X, axis=1)[:, None] ** (form == "late")
    rows, lately = sparse.csr_matrix(X) if form == "sparse" else X, form.startswith("late")
    options, size = {"kernel": "rbf", "gamma": 0.3} if form == "rbf" else {}, np.sqrt((X**2).sum(axis=1).cumsum())
    model = MulticlassSampler("nearest", 5 + 8 * lately, 4, rate=0.4, step=0.1, **options)
    model, known, kept, owed, s = LastLabels(model, TIMES) if lately else model, [], [], [], 0.0

    def seen(t, labels):
        each = [means({i: float(y[i] == c) for i in labels}, t) for c in range(4)]
        return np.append(X[t], lately * size[t] / np.sqrt(t + 1) * np.concatenate(each))

    def gap(t, i):
        d = np.linalg.norm(seen(t, known[t]) - seen(i, [*known[i], i]))
        return np.sqrt(2 - 2 * np.exp(-0.3 * d * d)) if form == "rbf" else d

    for t in range(len(y)):
        model = lpsm.from_state(model.state()) if t == 33 else model
        d = model.decide(rows[t])
        known.append(kept.copy())
        nearest = {c: min(gap(t, i) for i in kept if y[i] == c) for c in {y[i] for i in kept}}
        if len(nearest) > 1:
            first, second = sorted(nearest, key=nearest.get)[:2]
            assert d.prediction == first
            assert d.margin == near(np.log(nearest[second] / nearest[first]) / 2, abs=1e-9)
        else:  # nothing is known, or a single class, which is all that can be said
            assert d.margin < 1e-10
            assert d.prediction in (nearest or {3})
        assert d.query == (d.margin <= s)
        s += 0.1 * (0.4 - d.query)
        owed += [t] if d.query else []
        while owed and (form != "late" or t % 5 == 4):
            kept.append(owed.pop())
            assert model.learn(kept[-1] + 1 if form == "late" else rows[t], int(y[kept[-1]]))
    assert 50 / 150 < len(kept) / len(y) < 70 / 150


@cases_of("kernel", "None ; 'linear'")
def test_least_squares_for_every_class_is_its_definition(kernel):
    X, y = several(0, rounds=60)
    model, stored = MulticlassSampler("ss", 5, 4, K=0.3, kernel=kernel), [Stored(5) for _ in range(4)]
    for t, x in enumerate(X):
        d = model.decide(x)
        best = sorted(one.forward(x, 1.0) for one in stored)
        m, N = (best[-1] - best[-2]) / 2, len(stored[0])
        assert d.margin == near(m, abs=1e-9)
        assert d.query == (N == 0 or m * m <= x @ x * 0.3 * np.log(t + 1) / N)
        if d.query:
            for c, one in enumerate(stored):
                one.add(x, 1 if y[t] == c else -1)
            assert model.learn(d.ticket, int(y[t]))
    assert 10 < len(stored[0]) < len(y) - 10


def test_the_perceptron_moves_the_true_class_and_the_best_other():
    X, y = several(1)
    model, W = MulticlassSampler("perceptron", 5, 4), np.zeros((4, 5))
    for x, label in zip(X, y, strict=True):
        d = model.decide(x)
        scores = W @ x
        assert scores[d.prediction] == near(scores.max())
        if model.learn(d.ticket, int(label)):
            assert d.prediction != label
            others = np.where(np.arange(4) == label, -np.inf, scores)
            W[label] += x
            W[3 - int(others[::-1].argmax())] -= x
    assert_allclose(model.scores(X), X @ W.T, atol=1e-9)
