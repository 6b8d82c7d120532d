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
from tests.tables import each


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


def separable(rounds=60):
    """Unit instances that a vector u parts with a margin of 1, signs, and u."""
    rng = np.random.default_rng(4)
    X, u = rng.normal(size=(4 * rounds, 3)), np.array([6.0, -4.0, 2.0])
    X /= np.linalg.norm(X, axis=1)[:, None]
    X = X[abs(X @ u) >= 1.0][:rounds]
    return X, np.sign(X @ u), u


def coin(delta, rho, u):
    return np.where(rho > 0, u < delta / np.where(rho > 0, delta + rho, 1.0), True)


@each("C", [np.inf, 0.3])
def test_paa_is_its_dual_and_makes_no_more_mistakes_than_its_theorem_allows(C):
    X, y, u = separable()
    mistakes = []
    for seed in range(200):
        uniforms, steps = np.random.default_rng(seed).random(len(y)), np.zeros(len(y))
        p, asked = shares.paa(X, y, uniforms, 1.0, C=C)
        for t in np.flatnonzero(asked):
            steps[t] = np.clip(1 - y[t] * ((steps * y) @ (X @ X[t])), 0, C)
        np.testing.assert_allclose(p, [(steps * y)[:t] @ (X[:t] @ X[t]) for t in range(len(y))], atol=1e-12)
        np.testing.assert_array_equal(asked, coin(1.0, abs(p), uniforms))
        mistakes.append((p * y <= 0).sum())
    if C > 1.0:  # (delta + 2 + 1/delta)/4 |u|^2 at delta = 1
        assert 2.0 < np.mean(mistakes) < u @ u
    # the same before the mean, in every run, of the last: alpha = 1
    left = 2 * steps * np.where(p * y <= 0, 1 + abs(p), 1 - abs(p)) - steps**2
    assert left.sum() <= u @ u


def test_soal_learns_by_the_inverse_of_what_it_bought_and_keeps_to_its_inequality_in_every_run():
    X, y, u = separable()
    y[::7] *= -1
    delta, eta, gamma = 0.4, 0.8, 0.6
    uniforms, precision, m = np.random.default_rng(1).random(len(y)), np.eye(3), np.zeros(3)
    p, asked = shares.soal(X, y, uniforms, delta, eta=eta, gamma=gamma)
    paid = (delta * u) @ (delta * u) / (2 * eta)
    for t, x in enumerate(X):
        after = np.linalg.inv(precision + np.outer(x, x) / gamma)
        cost = eta / 2 * (x @ after @ x)
        assert p[t] == pytest.approx(m @ x, abs=1e-12)
        assert asked[t] == coin(delta, abs(p[t]) - cost, uniforms[t])
        if asked[t] and y[t] * p[t] < 1:
            precision, m = precision + np.outer(x, x) / gamma, m + eta * y[t] * (after @ x)
            paid += delta * (1 - y[t] * (u @ x)) + (p[t] - delta * (u @ x)) ** 2 / (2 * eta * gamma)
            paid -= delta - y[t] * p[t] - cost
    assert paid == pytest.approx((m - delta * u) @ precision @ (m - delta * u) / (2 * eta))  # never below 0
    narrow = [np.hstack([x * np.eye(3)[t % 3], np.zeros(shares.DENSE)]) for t, x in enumerate(X)]
    for rows in (np.array(narrow), sparse.csr_matrix(narrow)):  # of one feature each: the matrix is diagonal
        found = shares.soal(rows, y, uniforms, delta, eta=eta, gamma=gamma)
        np.testing.assert_allclose(
            found, shares.soal(np.array(narrow)[:, :3], y, uniforms, delta, eta=eta, gamma=gamma)
        )


def test_a_rival_is_given_as_many_labels_as_it_may_have_and_repeats_the_last_where_x_stays():
    X, y, _ = separable()
    play = lambda far: shares.jumps(X, np.sign(y).astype(int), 1 / far)  # noqa: E731
    right, asked = shares.at_share(play, 0.3, 1e-3, 1e3)
    assert asked.sum() == 18
    last = np.maximum.accumulate(np.where(asked, np.arange(len(y)), 0))[:-1]
    np.testing.assert_array_equal(right[1:], y[last] == y[1:])
    moved = np.linalg.norm(X[1:] - X[last], axis=1)
    assert moved[asked[1:]].min() > moved[~asked[1:]].max()
