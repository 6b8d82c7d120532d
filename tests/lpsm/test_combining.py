"""Combining forecasts: the literal recursion, its regret bound under every loss, invariants, and extremes."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import lpsm
from lpsm import Combiner, hindsight
from lpsm.combining import best_convex, best_linear
from lpsm.experts.combine import LOSSES, RATES, concave_rate, losses_of
from tests.oracles.combining import combined
from tests.tables import cases_of, each, unequal, value_error

ALPHAS = [0.01, 0.1, 0.5]


@cases_of("loss forecast slope", """
"absolute", 1.0, 0.0 ; "pinball", 1.0, 0.0 ; "logistic", 800.0, 0.0 ; "logistic", -800.0, -1.0
""")  # fmt: skip
def test_a_slope_where_there_is_a_corner_and_far_out(loss, forecast, slope):
    assert losses_of(loss, 0.3, np.array([forecast]), np.ones(1), True) == pytest.approx([slope])


def test_the_logistic_loss_far_out_is_the_margin_or_nothing():
    assert losses_of("logistic", 0.3, np.array([800.0, -800.0]), np.ones(1)) == pytest.approx([0.0, 800.0])


def world(loss, seed, rounds=40, n=3, sleep=0.0, size=1.0):
    rng = np.random.default_rng(seed)
    if loss in ("log", "logistic"):
        y = (rng.random(rounds) < 0.6).astype(float)
        forecasts = rng.uniform(0.02, 0.98, size=(rounds, n))
        forecasts[:, 0] = np.clip(np.where(y > 0, 0.8, 0.2) + 0.1 * rng.normal(size=rounds), 0.05, 0.95)
        if loss == "logistic":
            forecasts = np.log(forecasts / (1 - forecasts))
    else:
        y = size * np.cumsum(rng.normal(size=rounds))
        forecasts = y[:, None] + size * rng.normal(size=(rounds, n)) * np.arange(1, n + 1) / 2
    asleep = rng.random(forecasts.shape) < sleep
    asleep[:, -1] = False
    return np.where(asleep, np.nan, forecasts), y


@cases_of("sleep", "0.0 ; 0.3")
@cases_of("rate", "'learn' ; 0.7")
@each("loss", LOSSES)
def test_combinations_are_those_of_the_literal_recursion(loss, rate, sleep):
    for seed in (0, 1):
        forecasts, y = world(loss, seed, sleep=sleep)
        combiner = Combiner(3, loss, rate, quantile=0.3 if loss == "pinball" else None, alphas=ALPHAS)
        rates, scale = (RATES, None) if rate == "learn" else ([rate], 1.0)
        if loss == "log" and rate == "learn":
            rates, scale = [1.0], 1.0
        expected = combined(forecasts, y, loss, rates, scale, 0.3, False, ALPHAS)
        predictions, weights = combiner.run(forecasts, y)
        assert_allclose(predictions, expected, rtol=1e-9, atol=1e-9)
        assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
        assert not weights[np.isnan(forecasts)].any()
        assert_allclose(np.nansum(weights * forecasts, axis=1), predictions, rtol=1e-9, atol=1e-12)


@each("loss", "square logistic")
def test_combinations_that_learn_from_slopes_are_those_of_the_literal_recursion(loss):
    forecasts, y = world(loss, 3)
    predictions, _ = Combiner(3, loss, gradient=True, alphas=ALPHAS).run(forecasts, y)
    expected = combined(forecasts, y, loss, RATES, None, 0.5, True, ALPHAS)
    assert_allclose(predictions, expected, rtol=1e-5, atol=1e-6)  # its slopes are differences


@cases_of("loss deviation", "'square', 0.3 ; 'square', 4.0 ; 'log', 1.0 ; 'logistic', 0.7 ; 'absolute', 1.0")
def test_up_to_the_concave_rate_a_mean_of_forecasts_is_charged_no_more_than_the_mix(loss, deviation):
    rate = concave_rate(LOSSES[loss], deviation)
    forecasts = np.linspace(0.01, 0.99, 41) if loss == "log" else np.linspace(-deviation, deviation, 41)
    y = np.ones(1) if loss in ("log", "logistic") else np.zeros(1)

    def second(rate):  # differences of exp(-rate loss) of forecasts at equal distances
        return np.diff(np.exp(-rate * losses_of(loss, 0.5, forecasts, y)), 2)

    assert (second(rate) <= 1e-12).all()
    assert loss == "absolute" or (second(1.3 * rate) > 1e-9).any()


@each("loss", LOSSES)
def test_slopes_of_losses_are_their_differences(loss):
    forecasts = np.array([0.07, 0.31, 0.52, 0.93])
    for y in (0.0, 1.0) if loss == "log" else (-1.0, 1.0):
        at = np.array([y])
        above, below = (losses_of(loss, 0.3, forecasts + step, at) for step in (1e-6, -1e-6))
        assert_allclose(losses_of(loss, 0.3, forecasts, at, slopes=True), (above - below) / 2e-6, rtol=1e-8)


def test_those_awake_count_the_same_where_all_the_weight_sleeps():
    forecasts = np.array([[0.0, 1e4, -1e4, 2e4], [np.nan, 3.0, 5.0, np.nan]])
    predictions, weights = Combiner(4, rate=1.0, alphas=[0.0]).run(forecasts, np.zeros(2))
    assert (predictions[1], *weights[1]) == (4.0, 0.0, 0.5, 0.5, 0.0)


@each("loss", LOSSES)
@given(seed=st.integers(0, 10_000), rounds=st.integers(1, 60), n=st.integers(1, 5),
    size=st.sampled_from([1e-6, 1.0, 1e5]), rate=st.sampled_from(["learn", 0.02, 0.5]),
    shift=st.booleans())  # fmt: skip
@settings(max_examples=40)
def test_the_regret_against_the_best_segments_is_below_its_bound(loss, seed, rounds, n, size, rate, shift):
    forecasts, y = world(loss, seed, rounds, n, size=size)
    if shift:
        forecasts = np.where(np.arange(rounds)[:, None] < rounds // 2, forecasts, forecasts[:, ::-1])
    result = lpsm.combine(forecasts, y, loss, rate, quantile=0.2 if loss == "pinball" else None)
    total = result.loss.sum()
    assert_allclose(result.regret[-1], total - result.losses.sum(axis=0), rtol=1e-9, atol=1e-9 * (1.0 + abs(total)))
    for k in {1, min(2, rounds), min(5, rounds)}:
        best, bound = hindsight.best_partition(result.losses, k).loss, result.regret_bound(k)
        assert total - best <= bound * (1 + 1e-9) + 1e-9 * abs(total)
        assert bound >= 0.0


@each("loss", "square absolute pinball logistic")
@given(seed=st.integers(0, 1000), rounds=st.integers(2, 60), rate=st.sampled_from(["learn", 0.1]))
@settings(max_examples=20)
def test_learning_from_slopes_competes_with_the_best_fixed_mean(loss, seed, rounds, rate):
    forecasts, y = world(loss, seed, rounds)
    result = lpsm.combine(forecasts, y, loss, rate, quantile=0.8 if loss == "pinball" else None, gradient=True)
    best = losses_of(loss, 0.8, forecasts @ best_convex(loss, 0.8, forecasts, y), y).sum()
    assert result.loss.sum() - best <= result.regret_bound() * (1 + 1e-9) + 1e-9


@each("loss", LOSSES)
def test_the_best_combinations_in_hindsight_are_not_beaten_by_any_other(loss):
    forecasts, y = world(loss, 11, rounds=60)
    if loss == "logistic":
        y[::4] = 1.0 - y[::4]  # otherwise a coefficient may grow without end
    rng = np.random.default_rng(0)
    convex, linear = (kind(loss, 0.3, forecasts, y) for kind in (best_convex, best_linear))
    assert convex.min() >= 0.0
    assert convex.sum() == pytest.approx(1.0)
    best = losses_of(loss, 0.3, forecasts @ convex, y).sum()
    for near in (1.0, 1e-2, 1e-4):
        for w in rng.dirichlet(np.ones(3), 100):
            other = (1 - near) * convex + near * w
            assert best <= losses_of(loss, 0.3, forecasts @ other, y).sum() * (1 + 1e-6)
    if loss == "log":
        assert linear is None
        return
    least = losses_of(loss, 0.3, forecasts @ linear, y).sum()
    assert least <= best * (1 + 1e-6)
    for step in rng.normal(size=(200, 3)) * np.logspace(-3, -1, 200)[:, None]:
        assert least <= losses_of(loss, 0.3, forecasts @ (linear + step), y).sum() * (1 + 1e-6)


def test_tables_of_pandas_come_back_as_such_and_the_summary_tells_of_hindsight():
    forecasts, y = world("square", 1, rounds=200)
    index = pd.date_range("2024-01-01", periods=200, freq="h")
    frame, series = pd.DataFrame(forecasts, index, columns=["good", "fair", "poor"]), pd.Series(y, index)
    result = lpsm.combine(frame, series)
    plain = lpsm.combine(forecasts, y)
    assert result.predictions.index.equals(index)
    assert list(result.weights.columns) == list(result.losses.columns) == ["good", "fair", "poor"]
    np.testing.assert_array_equal(result.predictions, plain.predictions)
    summary = result.summary(segments=4)
    assert not unequal("""
summary.loc["combination", "mean_loss"] -> ((result.predictions - series) ** 2).mean()
summary.loc["combination", "rmse"] ** 2 -> summary.loc["combination", "mean_loss"]
summary.loc["good", "regret"] -> result.regret["good"].iloc[-1]
""", globals() | locals())  # fmt: skip
    order = summary["mean_loss"].to_dict()
    assert order["best linear combination"] <= order["best fixed mean"] <= order["good"]
    assert order["best partition, 4 segments"] <= order["good"]
    assert summary["mean_loss"].is_monotonic_increasing
    before = result.combiner.rounds
    result.update([1.0, 2.0, 3.0], 1.5)
    assert result.combiner.rounds == before + 1
    assert "200 rounds, 3 forecasts" in repr(result)


def test_sleepers_are_compared_over_the_rounds_in_which_they_were_awake():
    forecasts, y = world("absolute", 6, sleep=0.4)
    result = lpsm.combine(forecasts, y, "absolute")
    summary = result.summary()
    assert "best fixed mean" not in summary.index
    there = ~np.isnan(forecasts[:, 0])
    assert summary.loc[0, "rounds"] == there.sum()
    own = np.abs(result.predictions - y)
    assert summary.loc[0, "regret"] == pytest.approx((own - np.abs(forecasts[:, 0] - y))[there].sum())
    with value_error("never sleep"):
        result.best_partition(2)


def test_exponentially_weighted_averages_fall_as_exp_of_the_summed_losses():
    forecasts, y = world("square", 5)
    predictions, weights = Combiner(3, rate=0.7, alphas=0.0).run(forecasts, y)
    summed = np.vstack([np.zeros(3), np.cumsum((forecasts - y[:, None]) ** 2, axis=0)[:-1]])
    expected = np.exp(-0.7 * (summed - summed.min(axis=1, keepdims=True)))
    expected /= expected.sum(axis=1, keepdims=True)
    assert_allclose(weights, expected, atol=1e-12)
    assert_allclose(predictions, (expected * forecasts).sum(axis=1), rtol=1e-10)


def test_each_further_segment_costs_the_bound_the_same():
    combiner = Combiner(3, rate=0.5, alphas=[0.25])
    combiner.run(np.random.default_rng(0).random((9, 3)), np.zeros(9))
    bounds = [combiner.regret_bound(segments) for segments in range(1, 10)]
    assert_allclose(np.diff(bounds), bounds[1] - bounds[0], rtol=1e-12)
    assert bounds[1] > bounds[0]


@each("loss", ["square", "absolute", "pinball"])
def test_the_bound_is_the_same_wherever_zero_is(loss):
    y = np.random.default_rng(0).random(9)
    forecasts, bounds = y[:, None] + np.random.default_rng(1).normal(size=(9, 3)), []
    for shift in (0.0, 1000.0):
        combiner = Combiner(3, loss=loss, rate=0.05)
        combiner.run(forecasts + shift, y + shift)
        bounds.append(combiner.regret_bound(2))
    assert bounds[1] == pytest.approx(bounds[0], rel=1e-9)


def test_after_a_round_in_which_a_forecast_slept_there_is_no_regret_bound():
    combiner = Combiner(2)
    for y in range(20):
        combiner.update([0.0, 1.0], y % 2)
    assert combiner.regret_bound() > 0.0
    combiner.update([np.nan, 1.0], np.nan)  # nothing is learned from it
    assert combiner.regret_bound() > 0.0
    combiner.update([np.nan, 1.0], 5.0)
    with value_error("no forecast may have slept for a regret bound, got 1 rounds with NaN"):
        combiner.regret_bound()


@each("loss", "square absolute pinball")
@cases_of("gradient", "False ; True")
@cases_of("size", "1e150 ; 1e-150 ; 1e-160")
def test_combinations_and_bounds_stay_numbers_whatever_finite_numbers_are_combined(loss, gradient, size):
    combiner = Combiner(2, loss, gradient=gradient)
    for y in (1.0, -1.0, 0.0, 1.0):
        assert np.isfinite(combiner.update([size, -size], y * size))
    assert np.isfinite(combiner.weights).all()
    assert combiner.regret_bound() >= 0.0  # infinite where the sum of squares is no number
    with value_error(r"must lie in \[-2e\+150, 2e\+150\] or be NaN, got 1e\+155 in round 0"):
        combiner.update([1e155, 0.0], 0.0)
    assert np.isfinite(combiner.weights).all()
