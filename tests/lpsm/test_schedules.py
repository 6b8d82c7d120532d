"""Sleep schedules: what each would have cost, against a client that lives through the episode beacon by beacon."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpsm import LearnAlpha, alpha_grid, hindsight
from lpsm.schedules import (
    AWAKE,
    BEACONS,
    DELAY,
    N_FOUND,
    NEVER_NS,
    WAKEUPS,
    Schedule,
    charge,
    standard_schedules,
    step,
    table,
    typical_costs,
    walk,
)
from tests.oracles.schedules import lived

MS = 1_000_000
INTERVAL = 100 * MS
STANDARD = standard_schedules()

times_ms = st.one_of(st.just(0.0), st.sampled_from([50.0, 100.0, 250.0, 800.0]), st.floats(0.0, 4000.0))
any_schedule = st.one_of(
    st.sampled_from(STANDARD),
    st.builds(
        Schedule,
        hold_from_ms=times_ms,
        hold_to_ms=times_ms,
        duty_from_ms=times_ms,
        duty_to_ms=times_ms,
        duty=st.sampled_from([0.0, 0.1, 0.5, 0.99]),
        dense_ms=times_ms,
        stride=st.integers(0, 7),
        longest=st.integers(1, 60),
    ),
)
interval = st.sampled_from([INTERVAL, 102_400_000, 7 * MS])
length = st.one_of(st.integers(1, 40).map(lambda k: k * 50 * MS), st.integers(1, 8_000 * MS), st.integers(1, 40))


def found(schedules, origin, start, end, *, arrived=True, sent=NEVER_NS, interval=INTERVAL):
    out = np.full((len(schedules), N_FOUND), -1, dtype=np.int64)
    walk(table(schedules, interval), interval, origin, start, end, arrived, sent, out)
    return out


@settings(max_examples=300, deadline=None)
@given(
    st.lists(any_schedule, min_size=1, max_size=3),
    interval,
    st.one_of(st.just(0), st.just(5 * INTERVAL), st.integers(0, 500 * MS)),
    st.one_of(st.just(0), st.integers(0, 3000 * MS)),
    length,
    st.booleans(),
    st.one_of(st.none(), st.integers(0, 300 * MS), st.just(100 * MS)),
)
def test_every_schedule_is_charged_what_living_through_the_episode_would_have_cost(
    schedules, interval, origin, waited, lasted, arrived, sent_after
):
    start = origin + waited
    end = start + lasted
    sent = NEVER_NS if sent_after is None or not arrived else end + sent_after
    ours = found(schedules, origin, start, end, arrived=arrived, sent=sent, interval=interval)
    for schedule, row in zip(schedules, ours.tolist(), strict=True):
        assert tuple(row) == lived(schedule, interval, origin, start, end, arrived, sent)


@settings(max_examples=60, deadline=None)
@given(any_schedule, interval, st.integers(0, 500 * MS), length, st.booleans())
def test_an_episode_holds_no_more_than_there_is_in_it(schedule, interval, origin, lasted, arrived):
    [row] = found([schedule], origin, origin, origin + lasted, arrived=arrived, interval=interval)
    assert 0 <= row[AWAKE] <= lasted
    assert 0 <= row[BEACONS] <= lasted // interval + 2
    assert row[WAKEUPS] <= row[BEACONS] + (not arrived)
    longest = max(schedule.stride, schedule.longest if not schedule.stride else 0)
    assert 0 <= row[DELAY] <= longest * interval
    assert arrived or row[DELAY] == 0


def test_holding_for_ever_costs_the_time_and_nothing_else():
    assert found([Schedule(hold_to_ms=1e9)], 0, 3, 77 * INTERVAL).tolist() == [[77 * INTERVAL - 3, 0, 0, 0]]


def test_by_hand():
    # origin 30 ms after a beacon, arrival 385 ms later, at 415 ms
    origin, end = 30 * MS, 415 * MS
    schedules = [
        Schedule(stride=1),  # beacons 100 .. 500
        Schedule(hold_to_ms=200, dense_ms=3200),  # awake to 230, beacons 300, 400, 500
        Schedule(),  # beacons 1, 3 and 7 after the origin
        Schedule(hold_from_ms=100, hold_to_ms=200, dense_ms=3200),  # awake from the beacon at 200 to 230
        Schedule(duty_from_ms=100, duty_to_ms=400, duty=0.25, dense_ms=3200),  # 200-225, 300-325, 400-415
        Schedule(stride=9),
    ]
    assert found(schedules, origin, origin, end).tolist() == [
        [0, 5, 1, 85 * MS],
        [200 * MS, 3, 1, 85 * MS],
        [0, 3, 1, 285 * MS],
        [30 * MS, 5, 2, 85 * MS],
        [65 * MS, 4, 3, 0],
        [0, 1, 1, 485 * MS],
    ]


def test_an_arrival_exactly_at_a_beacon_waits_for_the_next_unless_the_client_is_awake():
    asleep, on_duty = Schedule(stride=1), Schedule(duty_to_ms=400, duty=0.25, dense_ms=3200)
    assert found([asleep, on_duty], 0, 30 * MS, 200 * MS).tolist() == [[0, 3, 1, INTERVAL], [25 * MS, 2, 2, 0]]


def test_an_arrival_at_the_end_of_holding_is_still_in_time():
    schedule = Schedule(hold_to_ms=50, dense_ms=3200)
    assert found([schedule], 0, 0, 50 * MS)[0].tolist() == [50 * MS, 0, 0, 0]
    assert found([schedule], 0, 0, 50 * MS + 1)[0].tolist() == [50 * MS, 1, 1, 50 * MS - 1]


def test_sending_lets_out_what_waits():
    assert found([Schedule(stride=9)], 0, 0, 100 * MS, sent=340 * MS)[0].tolist() == [0, 0, 1, 240 * MS]


def test_long_silences_are_counted_at_once_and_exactly():
    hour = 3600 * 1000 * MS
    every, doubling = found([Schedule(stride=1), Schedule()], 0, 0, hour + 1, arrived=False)
    assert every[BEACONS] == 36_000
    assert doubling[BEACONS] == 6 + (36_000 - 63) // 50


def test_costs_are_joules_of_time_beacons_wakeups_and_delay():
    out = np.array([[100 * MS, 2, 3, 40 * MS], [0, 0, 0, 0]], dtype=np.int64)
    costs = np.empty(2)
    assert charge(out, 700.0, 1.5, 0.01, 6.0, costs) == 0.0
    assert costs.tolist() == pytest.approx([0.07 + 0.003 + 0.03 + 0.24, 0.0], rel=1e-14)


def test_typical_costs_are_means_over_waits_and_phases():
    rows, costs = table(STANDARD, INTERVAL), np.empty(49)
    mean = np.zeros(49)
    for response in (25, 900):
        for phase in range(4):
            start = phase * 25 * MS
            charge(found(STANDARD, start, start, start + response * MS), 700.0, 1.5, 0.0, 6.0, costs)
            mean += costs / 8
    ours = typical_costs(rows, INTERVAL, (25.0, 900.0), 700.0, 1.5, 0.0, 6.0, phases=4)
    np.testing.assert_allclose(ours, mean, rtol=1e-13)


def test_the_standard_schedules_are_49_that_differ_in_some_episode():
    behaviours = np.hstack([found(STANDARD, 0, 0, end) for end in range(7 * MS, 20_000 * MS, 61 * MS)])
    assert len(np.unique(behaviours, axis=0)) == len(STANDARD) == 49


def test_a_step_continues_where_the_last_one_ended():
    [row] = table([Schedule(hold_to_ms=230, dense_ms=500)], INTERVAL)
    origin = 50 * MS
    assert step(row, INTERVAL, origin, origin) == (280 * MS, 300 * MS, 0)
    wakes, now = [], 300 * MS
    for _ in range(12):
        until, wake, spacing = step(row, INTERVAL, origin, now)
        assert until == now
        wakes.append((wake - now) // INTERVAL)
        now = wake
    assert wakes == [1, 1, 1, 2, 4, 8, 16, 32, 50, 50, 50, 50]
    assert spacing == 50 * INTERVAL


def test_learning_over_episodes_keeps_the_guarantee_of_learn_alpha():
    """Waits that change their kind: the regret against the best switching sequence obeys the bound of Learn-alpha."""
    rng = np.random.default_rng(3)
    waits = np.concatenate([rng.lognormal(mean, 0.3, 60) for mean in (3.5, 6.5, 3.5, 7.5)])
    costs = np.empty((len(waits), 49))
    for t, wait in enumerate(waits):
        start = int(rng.integers(0, INTERVAL))
        charge(found(STANDARD, start, start, start + int(wait * MS)), 700.0, 1.5, 0.0, 6.0, costs[t])
    losses = costs - costs.min(axis=1, keepdims=True)
    run = LearnAlpha(49, alpha_grid(horizon=len(losses))).run(losses)
    parts = hindsight.best_partition(losses, 4)
    n_rounds, switches = len(losses), 3
    alpha = switches / (n_rounds - 1)
    sharing = np.log(49) + switches * np.log(48 / alpha) - (n_rounds - 1 - switches) * np.log1p(-alpha)
    over_alphas = np.log(alpha_grid(horizon=n_rounds).size) + 0.5
    assert run.total_loss <= parts.loss + sharing + over_alphas
    assert parts.loss < losses.sum(axis=0).min()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hold_to_ms": -1.0}, r"hold_to_ms must lie in \[0, 1e\+09\], got -1.0"),
        ({"dense_ms": float("nan")}, "dense_ms must lie in"),
        ({"duty": 1.0}, r"duty must lie in \[0, 1\), got 1.0"),
        ({"longest": 0}, "longest must be an integer of at least 1, got 0"),
        ({"stride": -1}, "stride must be an integer of at least 0, got -1"),
    ],
)
def test_a_schedule_that_cannot_be_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Schedule(**settings)


def test_no_schedules_are_refused():
    with pytest.raises(ValueError, match="must name at least one, got none"):
        table([], INTERVAL)
