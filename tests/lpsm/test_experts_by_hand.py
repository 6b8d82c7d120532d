"""Few rounds of few experts, against Bayes' rule written with dense matrices; every layout of the kernels is met."""

import numpy as np
import pytest

from lpsm import LearnAlpha
from lpsm.experts import share
from tests.oracles.experts import share_matrix

RATES = [0.2, 0.05, 0.6, 1e-12, 0.9, 0.0, 1.0, 0.4, 0.3, 1e-30]
LAYOUTS = [(1, 1), (1, 3), (2, 1), (2, 2), (3, 1), (3, 3), (5, 10), (6, 5), (7, 2), (8, 9), (9, 4), (10, 1)]


def world(n, m, rounds=18):
    """Losses with a common part, zeros, an excluded expert; rates; priors that are not even."""
    rng = np.random.default_rng([n, m])
    losses = rng.exponential(2.0, (rounds, n)) + rng.exponential(1.0, (rounds, 1))
    losses[2] = 0.0
    losses[4, 0] = 40.0
    if n > 1:
        losses[6, 1] = np.inf
    alpha_prior, prior = rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(n))
    return losses, np.array(RATES[:m]), alpha_prior, prior


def bayes(losses, rates, alpha_prior, prior):
    """Mixture losses; before each round and after the last, weights of experts and of alphas."""
    n = losses.shape[1]
    columns, top = np.tile(prior, (len(rates), 1)), np.array(alpha_prior)
    loss, weights, alphas = [], [top @ columns], [top]
    for row in losses:
        likely = columns * np.exp(-row)
        of_alpha = likely.sum(axis=1)
        loss.append(-np.log(top @ of_alpha))
        top = top * of_alpha / (top @ of_alpha)
        columns = np.array([one / one.sum() @ share_matrix(n, rate) for one, rate in zip(likely, rates, strict=True)])
        weights.append(top @ columns)
        alphas.append(top)
    return np.array(loss), np.array(weights), np.array(alphas)


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize(("n", "m"), LAYOUTS)
def test_updates_and_runs_of_learn_alpha_are_bayes_rule(n, m):
    losses, rates, alpha_prior, prior = world(n, m)
    loss, weights, alphas = bayes(losses, rates, alpha_prior, prior)
    learner = LearnAlpha(n, rates, prior=prior, alpha_prior=alpha_prior)
    other = learner.copy()
    assert learner.untouched
    for t, row in enumerate(losses):
        close(learner.weights, weights[t])
        close(learner.alpha_weights, alphas[t])
        close(learner.update(row), loss[t])
        assert not learner.untouched
    close(learner.weights, weights[-1])
    parts = [other.run(losses[:5], alpha_weights=True), other.run(losses[5:], alpha_weights=True)]
    close(np.concatenate([part.loss for part in parts]), loss)
    close(np.concatenate([part.weights for part in parts]), weights[:-1])
    close(np.concatenate([part.alpha_weights for part in parts]), alphas[:-1])
    close(other.alpha_weights, alphas[-1])


@pytest.mark.parametrize(("n", "m"), LAYOUTS)
def test_the_round_that_also_finds_the_mean_of_values_is_bayes_rule(n, m):
    losses, rates, alpha_prior, prior = world(n, m)
    loss, weights, _ = bayes(losses, rates, alpha_prior, prior)
    learner, values = LearnAlpha(n, rates, prior=prior, alpha_prior=alpha_prior), 1.0 + np.arange(n) ** 2
    arrays = learner.arrays()
    for t, row in enumerate(losses):
        assert share.learn_alpha_mean_round(values, row, *arrays) == pytest.approx(values @ weights[t + 1], rel=1e-9)
        assert arrays[3][share.LOSS] == pytest.approx(loss[t], rel=1e-9, abs=1e-13)
    nothing = share.learn_alpha_mean_round(values, np.full(n, np.inf), *arrays)  # teaches nothing
    assert arrays[3][share.LOSS] == np.inf
    assert nothing == pytest.approx(values @ weights[-1], rel=1e-9)


@pytest.mark.parametrize("size", range(20))
def test_sums_of_vectors_are_those_of_whole_numbers(size):
    a, b = np.arange(1.0, size + 1), np.arange(3.0, size + 3)
    expected, everybody = sum(i * (i + 2) for i in range(1, size + 1)), np.ones(size, dtype=bool)
    assert share.dot(a, b, size) == expected
    assert share.dots(a, 2.0 * a, b, size) == (expected, 2 * expected)
    for place in range(size):
        moved = np.roll(a, place)
        assert share.lowest_loss(moved, everybody, 1.0) == 1.0
        assert np.isnan(share.lowest_loss(moved, everybody, 1.5))
        moved[place] = np.nan
        assert np.isnan(share.lowest_loss(moved, everybody, 0.0))
        assert share.lowest_loss(moved, np.arange(size) != place, -np.inf) == min([*np.delete(moved, place), np.inf])


def test_weights_as_logarithms_reach_beyond_floats_and_share_by_adding():
    assert [share.power_of_two(k) for k in (-1023.0, -1022.0, -1.0, 0.0, 3.0)] == [0.0, 2.0**-1022, 0.5, 1.0, 8.0]
    logs = np.log([4.0, 2.0, 3.0]) - 5000.0
    with np.errstate(divide="ignore"):
        stay, leave = np.log([0.75, 0.0, 1.0]), np.log([0.25, 1.0, 0.0])
    share.share_logs(logs, stay, leave, np.empty((2, 3)))  # each gets a half from the first, one from the second
    close(np.exp(logs + 5000.0), [4.0, 0.5, 4.5])
    others = np.empty(2)
    assert share.log_others(np.array([0.0, -4000.0]), others) == 0.0
    assert others.tolist() == [-4000.0, 0.0]
    assert share.log_others(np.full(2, -np.inf), others) == -np.inf


def test_a_column_of_logarithms_keeps_its_total_and_its_sleepers():
    logs, losses = np.log([0.5, 0.25, 0.375]), np.array([0.0, 3000.0, 9.0])
    awake, asleep = np.array([True, True, False]), np.zeros(3, dtype=bool)
    assert np.exp(share.bring_evidence(logs, losses, 0.0, awake)) == pytest.approx(2 / 3)  # of 3/4 is left 1/2
    close(np.exp(logs), [0.75, 0.0, 0.375])
    assert logs[1] < -2990
    assert share.bring_evidence(logs, losses, 7.0, asleep) == 7.0
    assert share.bring_evidence(np.zeros(1), np.full(1, np.inf), 0.0, np.ones(1, dtype=bool)) == -np.inf


@pytest.mark.parametrize("rates", [[0.0, 1.0], [0.0, 1e-300, 0.01, 0.4, 1.0], [0.2, 0.4]])
def test_where_sleepers_and_infinite_losses_meet_learn_alpha_is_bayes_rule(rates):
    """Columns with all weight that is awake excluded die; those with none awake go on."""
    rng = np.random.default_rng(5)
    for _ in range(30):
        losses = np.where(rng.random((25, 3)) < 0.5, np.inf, rng.exponential(size=(25, 3)))
        awake = rng.random((25, 3)) < 0.6
        learner, columns, top = (
            LearnAlpha(3, rates),
            np.full((len(rates), 3), 1 / 3),
            np.full(len(rates), 1 / len(rates)),
        )
        for row, mask in zip(losses, awake, strict=True):
            there = (columns * mask).sum(axis=1)
            likely = columns * np.where(mask, np.exp(-row), 0.0)
            of_alpha = np.where(there > 0.0, likely.sum(axis=1) / np.where(there > 0.0, there, 1.0), 1.0)
            loss = learner.update(row, mask)
            if top @ of_alpha == 0.0:
                assert loss == np.inf
                continue
            assert loss == pytest.approx(-np.log(top @ of_alpha), rel=1e-9, abs=1e-12)
            top = top * of_alpha / (top @ of_alpha)
            ratio = np.where(of_alpha > 0.0, of_alpha, 1.0)[:, None]
            columns = np.where(there[:, None] > 0.0, np.where(mask, likely / ratio, columns), columns)
            columns = np.array([one @ share_matrix(3, rate) for one, rate in zip(columns, rates, strict=True)])
            close(learner.alpha_weights, top)
            close(learner.weights, top @ columns)


def test_a_round_that_all_columns_exclude_costs_infinity_and_changes_none():
    learner = LearnAlpha(2, [0.0, 0.0, 0.0])  # without switching the second expert is lost for good
    assert learner.update([0.0, np.inf]) == pytest.approx(np.log(2.0))
    before = learner.state()
    assert learner.update([np.inf, 0.0]) == np.inf
    assert all((learner.state()[name] == array).all() for name, array in before.items())
    assert learner.update([2.0, 0.0]) == pytest.approx(2.0)
