"""Labels bought on streams: shares that are kept, and nobody sees a label it did not buy."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from bench import shares
from experiments.papers.claims import NOTHING
from experiments.papers.kit import Setup
from experiments.papers.ours import labels
from experiments.papers.registry import all_experiments
from tests.tables import each, near


def drawn(rounds=400):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(rounds, 4))
    return X, np.where(X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * rng.normal(size=rounds) > 0, 1, -1)


@each("play", [
    lambda X, y: labels._sgd(0.2, (X, y), loss="log_loss", alpha=1e-4),
    lambda X, y: labels._sgd(0.2, (sparse.csr_matrix(X), y), loss="hinge", alpha=1e-4),
    lambda X, y: labels._ours("kept-rate", 0.2, (X, y), lately=True, c=100.0),
])  # fmt: skip
def test_a_label_that_was_not_asked_for_changes_nothing(play):
    X, y = drawn()
    right, asked = play(X, y)
    other, again = play(X, np.where(asked, y, -y))
    assert np.array_equal(asked, again)
    assert np.array_equal(right[asked], other[asked])
    assert (right != other)[~asked].all()
    assert 0.01 < asked.mean() <= 0.2 + 1 / 400
    assert right[200:].mean() > 0.7


def test_points_over_another_are_those_of_the_same_windows_and_the_rate_is_over_that_wanted():
    levels = {"ours": (0.9, 0.8), "a coin": (0.7, 0.75)}
    rows = [{"key": key, "wanted": 0.1, "window": i, "accuracy": level}
            for key, own in levels.items() for i, level in enumerate(own)]  # fmt: skip
    found = labels._over(pd.DataFrame(rows), ["a coin"])
    assert list(found) == ["at 10 %"]
    np.testing.assert_allclose(found["at 10 %"].sample, [20.0, 5.0])
    assert found["at 10 %"].note == "(85.00 against 72.50 % of a coin)"
    totals = pd.DataFrame([{"key": "ours", "wanted": 0.1, "rate": 0.098}])
    assert labels._kept(totals)["at 10 %"] == pytest.approx([0.98])


@each("name", "labelling-elec2 labelling-classes lpsm3-browsing")
def test_a_small_run_gives_verdicts_and_pictures(name):
    experiment = all_experiments()[f"ours/{name}"]
    tasks = experiment.sweep(experiment.setup(Setup(size="smoke", stand_in=experiment.data is not None)))
    record = {}
    for task in tasks.values():
        for table, rows in experiment.run(task).items():
            record[table] = pd.concat([record.get(table, pd.DataFrame()), pd.DataFrame(rows)])
    assert all(verdict.ours != NOTHING for _, verdict in experiment.verdicts(record))
    assert len(experiment.figures(record)) == 1


def separable():
    """Unit instances that a vector u parts with a margin of 1, signs, uniforms, and u."""
    rng = np.random.default_rng(4)
    X, u = rng.normal(size=(90, 3)), np.array([6.0, -4.0, 2.0])
    X /= np.linalg.norm(X, axis=1)[:, None]
    X = X[abs(X @ u) >= 1.0]
    return X, np.sign(X @ u), rng.random((200, len(X))), u


@each("C", [np.inf, 0.3])
def test_paa_is_its_dual_and_makes_no_more_mistakes_than_its_theorem_allows(C):
    X, y, coins, u = separable()
    runs = [shares.paa(X, y, each, 1.0, C=C) for each in coins]
    for (p, asked), u_t in zip(runs[:9], coins, strict=False):
        steps = np.zeros(len(y))
        for t in range(len(y)):
            assert p[t] == near((steps * y) @ (X @ X[t]), abs=1e-12)
            assert asked[t] == (u_t[t] < 1 / (1 + abs(p[t])))
            steps[t] = asked[t] * np.clip(1 - y[t] * p[t], 0, C)
        wrong = p * y <= 0
        assert (2 * steps * np.where(wrong, 1 + abs(p), 1 - abs(p)) - steps**2).sum() <= u @ u  # lemma 1 at alpha = 1
    assert C < 1 or 2 < np.mean([(p * y <= 0).sum() for p, _ in runs]) < u @ u  # (delta + 2 + 1/delta) |u|^2/4


@each("wide", [False, True])
def test_soal_learns_by_the_inverse_of_what_it_bought_and_what_its_bound_leaves_is_the_distance_to_the_end(wide):
    X, y, (u_t, *_), u = separable()
    X *= np.eye(3)[np.arange(len(X)) % 3] if wide else 1.0  # a feature a row, so that the matrix is its diagonal
    y[::7] *= -1
    (delta, eta, gamma), P, m, left = (0.4, 0.8, 0.6), np.eye(3), np.zeros(3), 0.0
    rows = sparse.csr_matrix(np.pad(X, ((0, 0), (0, shares.DENSE)))) if wide else X
    p, asked = shares.soal(rows, y, u_t, delta, eta, gamma)
    for t, x in enumerate(X):
        after = P + np.outer(x, x) / gamma
        c, said = eta / 2 * (x @ np.linalg.inv(after) @ x), u @ x
        assert p[t] == near(m @ x, abs=1e-12)
        assert asked[t] == (u_t[t] * max(delta + abs(p[t]) - c, delta) < delta)
        if asked[t] and y[t] * p[t] < 1:
            P, m = after, m + eta * y[t] * (np.linalg.inv(after) @ x)
            left += (p[t] - delta * said) ** 2 / (2 * eta * gamma) + y[t] * (p[t] - delta * said) + c
    d = m - delta * u
    assert d @ P @ d / 2 / eta == near(left + delta**2 * (u @ u) / 2 / eta)


def test_repeating_the_last_label_where_x_stays_is_given_as_many_labels_as_it_may_have():
    X, y, *_ = separable()
    right, asked = shares.at_share(lambda close: shares.jumps(X, y, 1 / close), 0.3, 1e-3, 1e3)
    assert asked.sum() == int(0.3 * len(y))
    last = np.maximum.accumulate(asked * np.arange(len(y)))[:-1]
    assert right[1:].tolist() == (y[last] == y[1:]).tolist()
    moved = np.linalg.norm(X[1:] - X[last], axis=1)
    assert moved[asked[1:]].min() > moved[~asked[1:]].max()
