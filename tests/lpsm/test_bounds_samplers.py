"""Samplers against their theorems: bounds hold on drawn streams, are nearly least, and void ones are said to be so."""

import numpy as np
import pytest
from numpy.random import default_rng
from scipy import sparse

from lpsm import bounds, samplers
from lpsm import synthetic_streams as streams
from lpsm.bounds import sampler_report
from tests.oracles import bound_trials as trials
from tests.tables import cases_of, each, near, value_error


@each("seeds", [range(10), pytest.param(range(10, 1000), marks=pytest.mark.long)])
@each("key", [*trials.PARAMETERS, "a moving lasec", "a moving lasec-ss"])
def test_no_run_and_no_mean_violates_a_bound_and_most_bounds_say_something(key, seeds):
    moves = key.removeprefix("a moving ")
    rows = trials.table(trials.reported(key) if moves == key else trials.moving(moves), seeds)
    violated = rows[~rows["holds"]]  # by chance, where the means of few runs are compared
    assert len(violated) <= len(seeds) // 300, violated.to_string()
    assert violated["statement"].str.contains("in the mean").all()
    assert not rows["verdict"].str.startswith("void").any()
    for _, own in rows.groupby("statement"):
        assert own["verdict"].str.startswith("holds").mean() >= (0.9 if moves == key else 0.4)
        assert own["ratio"].median() < (2.0 if moves == key else 5.0)


@pytest.mark.long
@each("key", [key for key in trials.PARAMETERS if key not in ("perceptron", "sop", "lasec")])
def test_the_mean_over_a_hundred_runs_is_below_its_bound(key):
    rows = trials.table(trials.reported(key, runs=200), range(2))
    means = rows[rows["statement"].str.contains("in the mean of 100 runs")]
    assert len(means) == 2
    assert means["holds"].all(), means.to_string()


def a_stream(noise, n=100, d=3):
    stream = streams.separable(n, d, 0.3, default_rng(int(10 * noise)))
    return stream.X, np.where(default_rng(1).random(n) < noise, -stream.y, stream.y)


def reported(key, X, y, runs=6, **parameters):
    return bounds.report_sampler(samplers.make(key, X.shape[1], **parameters), X, y, runs=runs)


@cases_of("key parameters", """
"perceptron", {} ; "perceptron-ss", {"b": 0.4} ; "sop-label-efficient", {"C": 0.2, "a": 2.0}
""")  # fmt: skip
def test_a_run_that_counts_what_the_sampler_counts(key, parameters):
    X, y = a_stream(0.05)
    X *= np.linspace(0.5, 3.0, len(y))[:, None]
    table = reported(key, X, y, **parameters)
    coins = default_rng(0).spawn(6)
    logs = [samplers.make(key, 3, rng=coin, **parameters).run(X, y) for coin in coins]
    counted = logs[3:] if len(table) > 2 else logs[:1]
    assert table["measured"].iloc[0] == near(np.mean([(log.prediction != y).sum() for log in counted]))
    assert table["measured"].iloc[-1] == logs[0].queried.sum()
    same = reported(key, sparse.csr_matrix(X), y, **parameters)
    assert same["bound"].tolist() == near(table["bound"].tolist(), rel=1e-3)
    if samplers.make(key, 3, **parameters).normalize:
        unit = reported(key, X / np.linalg.norm(X, axis=1, keepdims=True), y, **parameters)
        assert unit["bound"].tolist() == near(table["bound"].tolist(), rel=1e-6)


def test_an_update_costs_what_its_theorem_says():
    margins, r = np.array([2.0]), np.array([3.0])
    for key, parameters, cost in (("perceptron-ss", {"eta": 0.5}, 4.0), ("sop-ss", {}, 2 + 4 * (1 + 3) / 2),
                                  ("sop-label-efficient", {"C": 1.0}, 2.0)):  # fmt: skip
        assert sampler_report.theorem_of(samplers.make(key, 3, **parameters)).cost(margins, r).tolist() == [cost]


def test_no_comparator_near_the_one_that_is_sought_has_a_smaller_objective():
    X, y = a_stream(0.05)
    theorem, rng = sampler_report.theorem_of(samplers.make("sop-ss", 3, b=0.3)), default_rng(0)
    often = rng.random(len(y)) * (rng.random(len(y)) < 0.5)
    (slope, ridge, square), (found,) = theorem.trades[0], sampler_report.comparators(theorem, X, y, often)
    energy = ridge * np.eye(3) + square * (X.T * often) @ X

    def value(w):
        return slope * often @ np.maximum(0, 1 - y * (X @ w)) + w @ energy @ w

    for step in rng.normal(size=(300, 3)) * np.logspace(-3, 0.5, 300)[:, None]:  # enough, since it is convex
        assert value(found) <= 1.01 * value(found + step)


# what a comparator is charged for: hinge, its own norm, its products with the instances
@cases_of("key parameters trades", """
"perceptron", {}, [(trade + 0.5, trade, 0.0) for trade in sampler_report.TRADES]
"sop", {"a": 0.7}, [(1.0, 0.7 * trade, trade) for trade in sampler_report.TRADES]
"perceptron-ss", {"b": 0.5, "eta": 0.5}, [(1.5, 1.5 * 3.0 / 4.0, 0.0)] ; "sop-ss", {"b": 0.5}, [(1.0, 0.25, 0.25)]
"sole", {"C": 0.5, "a": 2.0}, [(1.0, 0.5, 0.25)] ; "lasec-ss", {"a": 0.5, "b": 4.0, "c": 9.0}, [(1.0, 1.0, 0.25)]
""", globals())  # fmt: skip
def test_a_comparator_is_sought_at_the_trade_of_its_bound(key, parameters, trades):
    found = sampler_report.theorem_of(samplers.make(key, 3, **parameters)).trades
    assert [tuple(trade) for trade in found] == [near(trade) for trade in trades]


@cases_of("d", "2 ; 9")  # fewer features than instances, and more
@cases_of("c", "np.inf ; 4.0")
def test_the_quadratic_forms_are_those_of_the_matrices(d, c):
    X, b = default_rng(d).normal(size=(6, d)), 0.7
    for rows in (X, sparse.csr_matrix(X)):
        r = sampler_report.quadratic_forms(rows, b, c)
        np.testing.assert_allclose(r / (1 + r), trials.quadratic_forms(X, b, c), rtol=1e-9)


@cases_of("sampler why", """
samplers.make("ss", 3) -> void: no theorem here speaks of ss
samplers.make("perceptron-ss", 3, normalize=False) -> of at most 1, that of round 4 has 2
samplers.make("sop-ss", 3, a=2.0) -> void: W theorem 2 is about a = 1, got 2
samplers.make("sop-label-efficient", 3, C=np.inf) -> void: the coin's parameter is infinite
samplers.make("sop", 3, kernel="rbf", gamma=1.0) -> void: the comparators of a kernel are not at hand
samplers.make("sop", 3, max_queries=5) -> void: the budget ended the questions
samplers.Sampler(samplers.Perceptron(), samplers.Always(), n_features=3) -> speaks of this sampler
""", globals())  # fmt: skip
def test_a_hypothesis_that_fails_is_said_and_nothing_is_violated(sampler, why):
    X, y = a_stream(0.0, n=30)
    X = X * np.where(np.arange(30) == 3, 2.0, 1.0)[:, None]
    table = bounds.report_sampler(sampler, X, y, runs=2)
    assert table["holds"].all()
    assert all(why in verdict for verdict in table["verdict"])


def test_more_than_is_proved_is_a_violation_and_a_bound_above_all_rounds_is_vacuous(monkeypatch):
    table = reported("perceptron", np.eye(3), [-1, -1, -1])  # a mistake in every round, and the bound is tight
    assert table["measured"].iloc[0] == 3
    assert table["bound"].iloc[0] == near(3.0, abs=1e-3)
    assert table["verdict"].iloc[0] == "vacuous: it is at most 3 anyway"
    X, y = a_stream(0.5)
    begun = samplers.make("sop", 3)
    begun.run(X, y)
    assert "has had rounds before" in bounds.report_sampler(begun, X, y)["verdict"][0]
    monkeypatch.setattr(sampler_report.Theorem, "bound", lambda *_: 1.0)
    for key in ("perceptron", "perceptron-ss"):
        table = reported(key, X, y, runs=20)
        assert table["verdict"].iloc[0] == "violated"
        assert not table["holds"].iloc[0]
    for runs, half in ((5, 3 * (1 - 1e-4**0.2)), (1, 3 * (1 - 1e-4))):  # runs that all say the same
        row = sampler_report._mean("s", np.full(runs, 3.0), np.full(runs, 2.9), 100.0)
        assert (row.measured, row.slack, row.verdict) == (
            3.0,
            near(-0.1),
            f"holds: the mean is known to +- {half:.3g} only",
        )
    row = sampler_report._mean("s", np.array([1.0, 3.0]), np.array([0.5, 2.5]), 9.0)  # alike beside their bounds
    assert row.verdict == f"holds: the mean is known to +- {2 * (1 - 1e-4**0.5):.3g} only"
    measured, limits = np.array([1.0, 3.0]), np.array([0.5, 0.5])  # t of .99995 at one degree of freedom is 6366.2
    assert sampler_report._mean("s", measured, limits, 9.0).verdict == "holds: the mean is known to +- 6.37e+03 only"
    for asked, verdict in ((90.0, "violated"), (60.0, "holds")):
        assert sampler_report._labels(asked, np.full(100, 0.5)).verdict == verdict
    with value_error("runs must be at least 2, since a mean is checked, got 1"):
        reported("sop", X, y, runs=1)
