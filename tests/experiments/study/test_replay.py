import json
import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from experiments.study import replay as study
from experiments.study.replay import ReplayConfig, arrivals, details, rounds, totals
from lpsm import LearnAlpha, alpha_grid
from netsim.policies.polling import PollingLearner
from tests.tables import named, near, value_error
from traces import Request

SMALL = ReplayConfig(horizon=100)


def request(start_ms, end_ms, size):
    return Request("c", "s", start_ms * 1000, end_ms * 1000, 300, size)


BROWSING = [request(0, 900, 9000), request(2000, 2400, 50_000), request(2100, 6000, 700), request(9000, 9010, 1)]
requests_lists = st.lists(
    st.tuples(st.integers(0, 20_000), st.integers(0, 3_000), st.integers(1, 100_000)), min_size=1, max_size=8
).map(lambda rows: [request(start, start + length, size) for start, length, size in sorted(rows)])


def naive_polls(requests, config):
    """Go through the 10 ms bins one by one; return (time, slept, bytes) of every poll, ms."""
    bins, sizes = arrivals(requests, config)
    waiting = dict(zip(bins.tolist(), sizes.tolist(), strict=True))
    learner = PollingLearner(config.polling())
    left, found, now_ms, polls = sum(waiting.values()), 0, 0, []
    next_ms = slept_ms = max(1, math.floor(learner.mean_ms / config.rounding_ms + 0.5)) * config.rounding_ms
    while left:
        found += waiting.get(now_ms // 10, 0)
        now_ms += 10
        if now_ms == next_ms:
            polls.append((now_ms, slept_ms, found))
            left -= found
            mean_ms = learner.poll(slept_ms, found)
            found = 0
            slept_ms = max(1, math.floor(mean_ms / config.rounding_ms + 0.5)) * config.rounding_ms
            next_ms += slept_ms
    return polls


@settings(max_examples=40)
@given(
    requests_lists,
    st.sampled_from([SMALL, ReplayConfig(horizon=100, rounding_ms=50, times_ms=(120.0, 700.0), energy="1/log T")]),
)
def test_polls_are_those_of_a_walk_through_the_bins(requests, config):
    run = rounds(requests, config)
    found = [(round(1000 * time), int(slept), int(size)) for time, slept, size in zip(*run[:3], strict=True)]
    assert found == naive_polls(requests, config)
    assert run.buffered_bytes.sum() == sum(one.reply_bytes for one in requests)
    slept_ms, times_ms, bytes_found = run.slept_ms, np.array(config.times_ms), run.buffered_bytes
    cost = (lambda ms: 1 / np.log(ms)) if config.energy == "1/log T" else (lambda ms: 1 / ms)
    of_polling = 1e-7 * slept_ms * bytes_found / 2 + cost(slept_ms)  # (2.34)
    of_experts = 1e-7 * np.outer(bytes_found / slept_ms, times_ms**2) / 2 + cost(times_ms)  # (2.35)
    assert run.polling_loss == near(of_polling, rel=1e-12)
    assert run.expert_losses == near(of_experts, rel=1e-12)
    assert (run.mixture_loss >= run.expert_losses.min(axis=1) - 1e-12).all()


def test_the_mixture_loss_is_that_of_the_polling_learner_and_of_learn_alpha():
    run = rounds(BROWSING, SMALL)
    learner = PollingLearner(SMALL.polling())
    for slept, found, loss in zip(run.slept_ms, run.buffered_bytes, run.mixture_loss, strict=True):
        learner.poll(slept, found)
        assert learner.loss == near(loss, rel=1e-9)
    assert run.polling_loss == near(0.5e-7 * run.slept_ms * run.buffered_bytes + 1 / run.slept_ms)
    again = LearnAlpha(10, alpha_grid(horizon=100)).run(run.expert_losses)
    assert again.loss == near(run.mixture_loss, rel=1e-12)
    thesis = ReplayConfig()
    assert (thesis.times_ms, thesis.gamma) == (tuple(range(100, 1001, 100)), 1e-7)
    assert PollingLearner(thesis.polling()).alphas.size == 259


def test_totals_by_hand():
    losses = np.array([[1, 2], [4, 3], [2, 5], [3, 4], [9, 7]])
    slept, own = np.array([100, 300, 200, 50, 50]), np.array([0.25, 0.5, 1, 1, 1])
    run = study.Rounds(np.arange(5), slept, np.full(5, 3.0), losses, np.full(5, 0.5), own, None, None)
    assert totals(run, ReplayConfig(times_ms=(100.0, 700.0))) == near(named("""
polls = 5 ; duration_s = 0.7 ; bytes = 15 ; mean_sleep_ms = 140.0 ; mixture_loss = 2.5
polling_loss = 3.75 ; best_expert_ms = 100.0 ; best_expert_loss = 19.0 ; best_per_poll_loss = 16.0
switches = 3 ; mixture_regret = (2.5 - 19) / 5 ; polling_regret = (3.75 - 19) / 5"""))  # fmt: skip


def test_long_pauses_are_shortened_and_short_ones_kept():
    config = ReplayConfig(max_idle_s=5.0)
    bins, sizes = arrivals([request(0, 10, 7), request(1000, 1010, 8), request(90_000, 90_010, 9)], config)
    assert bins.tolist() == [0, 100, 600]
    assert sizes.tolist() == [7, 8, 9]


def test_nothing_that_arrives_is_no_replay():
    assert totals(rounds([], SMALL), SMALL) == {}
    with value_error("at least one byte"):
        details([], SMALL)


def test_details_are_those_of_the_rounds():
    run, found = rounds(BROWSING, SMALL, recorded=10**6), details(BROWSING, SMALL)
    losses, alphas = run.expert_losses, alpha_grid(horizon=100)
    assert found.polls["best_expert_ms"].tolist() == [SMALL.times_ms[i] for i in losses.argmin(axis=1)]
    assert_array_equal(found.polls.filter(regex="loss_"), losses)
    assert_array_equal(found.polls.filter(regex="weight_"), run.weights)
    assert_array_equal(found.polls.iloc[:, :5], np.transpose([*run[:3], *run[4:6]]))
    assert_allclose(found.regrets["best_per_poll_loss"], np.cumsum(losses.min(axis=1)))
    assert_allclose(found.regrets["best_expert_loss"], np.cumsum(losses[:, losses.sum(axis=0).argmin()]))
    assert_array_equal(found.posterior, np.column_stack([alphas, run.alpha_weights[-1]]))
    assert_allclose(found.alphas["mean"], run.alpha_weights @ alphas)
    assert_array_equal(found.alphas["time_s"], run.time_s)
    assert found.partitions["loss"].iloc[0] == near(losses.sum(axis=0).min())
    assert found.partitions["loss"].iloc[-1] == near(losses.min(axis=1).sum())
    assert found.partitions["k"].iloc[-1] == np.count_nonzero(np.diff(losses.argmin(axis=1))) + 1
    assert found.bounds["holds"].all()
    assert len(details(BROWSING, SMALL, max_polls=4).polls) == 4
    for level in (0.05, 0.5, 0.95):  # the least rate up to which so much of the posterior lies
        expected = [alphas[next(i for i in range(len(alphas)) if row[: i + 1].sum() >= level)]
            for row in run.alpha_weights]  # fmt: skip
        assert found.alphas[f"quantile_{level:g}"].tolist() == expected


def test_the_curve_over_k_goes_as_far_as_there_is_time(monkeypatch):
    size = rounds(BROWSING, SMALL).expert_losses.size
    for work, k_max, most in ((99 * size, 2, 2), (3 * size, 99, 3), (3 * size - 1, 99, 2), (1, 99, 1)):
        monkeypatch.setattr(study, "EXACT_WORK", work)
        assert details(BROWSING, SMALL, k_max=k_max).partitions["k"].tolist() == list(range(1, most + 1))


def test_bad_parameters_are_errors():
    for wrong in ({"rounding_ms": 15}, {"gamma": -1.0}, {"times_ms": ()}):
        with value_error(f"{next(iter(wrong))} must"):
            ReplayConfig(**wrong)


def test_a_session_is_a_row_and_the_one_asked_for_is_shown(lpsm, tmp_path, undrawn):
    for user, start in ((1, 790000000), (1, 790000500), (2, 790000000)):
        lines = [f'cs20 {start + 7 * k} {9000 * user} "http://a.b/{k}.html" {4000 * user} 0.8\n' for k in range(9)]
        (tmp_path / f"con{user}.cs20.{start}").write_text("".join(lines))
    words = ["--times", "100,700", "--member", "*.cs20.*", "--show", "con2.cs20.790000000", "--json"]
    data = json.loads(lpsm("replay", tmp_path, *words, "--out", tmp_path / "out").stdout)
    assert [row["requests"] for row in data["replays"]] == [9, 9, 9]
    assert {row["best_expert_ms"] for row in data["replays"]} <= {100.0, 700.0}
    assert data["shown"] == "con2.cs20.790000000"
    assert all(row["holds"] for row in data["bounds"])
