"""Sleep schedules: what each would have cost, against a client that lives through the episode beacon by beacon."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.sleep_planning.schedules import (
    BEACONS,
    N_FOUND,
    NEVER_NS,
    Schedule,
    charge,
    standard_schedules,
    step,
    table,
    typical_costs,
    walk,
)  # fmt: skip
from tests.oracles.schedules import lived

MS = 1_000_000
INTERVAL = 100 * MS
STANDARD = standard_schedules()

times_ms = st.one_of(st.sampled_from([0.0, 50.0, 100.0, 250.0, 800.0]), st.floats(0.0, 4000.0))
any_schedule = st.one_of(st.sampled_from(STANDARD), st.builds(
    Schedule, **dict.fromkeys(("hold_from_ms", "hold_to_ms", "duty_from_ms", "duty_to_ms", "dense_ms"), times_ms),
    duty=st.sampled_from([0.0, 0.1, 0.5, 0.99]), stride=st.integers(0, 7), longest=st.integers(1, 60),
))  # fmt: skip
interval = st.sampled_from([INTERVAL, 102_400_000, 7 * MS])
length = st.one_of(st.integers(1, 40).map(lambda k: k * 50 * MS), st.integers(1, 8_000 * MS), st.integers(1, 40))


def found(schedules, origin, start, end, *, arrived=True, sent=NEVER_NS, interval=INTERVAL):
    out = np.full((len(schedules), N_FOUND), -1, dtype=np.int64)
    walk(table(schedules, interval), interval, origin, start, end, arrived, sent, out)
    return out


@settings(max_examples=150)
@given(st.lists(any_schedule, min_size=1, max_size=3), interval,
    st.one_of(st.sampled_from([0, 5 * INTERVAL]), st.integers(0, 500 * MS)),
    st.one_of(st.just(0), st.integers(0, 3000 * MS)), length, st.booleans(),
    st.one_of(st.sampled_from([None, 100 * MS]), st.integers(0, 300 * MS)))  # fmt: skip
def test_every_schedule_is_charged_what_living_through_the_episode_would_have_cost(
    schedules, interval, origin, waited, lasted, arrived, sent_after
):
    start = origin + waited
    end = start + lasted
    sent = NEVER_NS if sent_after is None or not arrived else end + sent_after
    ours = found(schedules, origin, start, end, arrived=arrived, sent=sent, interval=interval)
    for schedule, row in zip(schedules, ours.tolist(), strict=True):
        assert tuple(row) == lived(schedule, interval, origin, start, end, arrived, sent)


def test_long_silences_are_counted_at_once_and_exactly():
    hour = 3600 * 1000 * MS
    every, doubling = found([Schedule(stride=1), Schedule()], 0, 0, hour + 1, arrived=False)
    assert every[BEACONS] == 36_000
    assert doubling[BEACONS] == 6 + (36_000 - 63) // 50


def test_typical_costs_are_means_over_waits_and_phases_of_joules_of_time_beacons_wakeups_and_delay():
    costs, radio = np.empty(49), (700.0, 1.5, 0.01, 6.0)
    mean = np.zeros(49)
    for response in (25, 900):
        for start in range(0, INTERVAL, 25 * MS):
            what = found(STANDARD, start, start, start + response * MS)
            assert charge(what, *radio, costs) == costs.min()
            assert costs == pytest.approx(what @ [0.7e-9, 1.5e-3, 0.01, 6e-9], rel=1e-14)
            mean += costs / 8
    ours = typical_costs(table(STANDARD, INTERVAL), INTERVAL, (25.0, 900.0), *radio, phases=4)
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
