"""The record of a run in seconds and joules, from a run that is made up: every column is worked out by hand."""

from functools import partial

import numpy as np
import pytest

import netsim
from netsim import policies
from netsim.radio import StateTimes
from netsim.result import RunRecord, result_of
from tests.tables import differing, named, near, unequal, value_error
from traces.columns import Workload
from traces.records import Page

S, MS = 1_000_000_000, 1_000_000
PAGES = [Page("a", 300, 500), Page("b", 300, 500)]
RADIO = netsim.RadioConfig(awake_mw=750.0, asleep_mw=50.0, beacon_mj=1.5, wakeup_mj=2.0)
STATES = netsim.StateRadioConfig(doze_mw=1.0, waking_mw=20.0, listening_mw=100.0, receiving_mw=110.0,
    transmitting_mw=300.0, base_mw=5.0)  # fmt: skip
NAMES = {"near": partial(pytest.approx, rel=1e-12)}


def rows(*values):
    return np.array(values, dtype=np.int64)


def made(pages=PAGES, radio=RADIO, **changes):
    """Make the record of two pages, of two entries of polls, one for three beacons, and of one message."""
    trip = RunRecord(end_ns=10 * S, awake_ns=2 * S, beacons=30, air_up_ns=40 * MS, air_down_ns=50 * MS, frames_lost=7,
        loads=rows((S, 3 * S, 1_500 * MS, 4), (5 * S, 5_500 * MS, 250 * MS, 0))[: len(pages)].reshape(-1, 4),
        polls=rows((100 * MS, 50 * MS, 0, 200 * MS, 2, 200 * MS), (900 * MS, 400 * MS, 1_500, 300 * MS, 0, 0)),
        intervals=rows(0, 500 * MS, 1_200 * MS, 2 * S, 5 * S, 5 * S, 5_250 * MS, 10 * S))  # fmt: skip
    workload = Workload.of(pages)
    return result_of(workload, policies.make("psm"), radio, trip._replace(**changes), rows((S, 700, 1_250 * MS)))


def test_totals_are_in_seconds_and_their_energy_is_that_of_states_beacons_and_wake_ups():
    assert not differing(made(), """
policy = "psm:100" ; frames_lost = 7 ; beacons = 30 ; elapsed_s = 10.0 ; awake_s = 2.0 ; asleep_s = 8.0
uplink_air_s = 0.04 ; downlink_air_s = 0.05 ; states_s = None ; group_frames_lost = 0
wakeups = 3  # awake from the first instant on is no passage
energy.awake_j = near(2 * 0.75) ; energy.sleep_j = near(8 * 0.05) ; energy.listen_j = near(30 * 0.0015)
energy.wakeup_j = near(3 * 0.002) ; energy.total_j = near(1.951) ; energy.per_page_j = near(1.951 / 2)
""", NAMES)  # fmt: skip
    assert np.isnan(made([]).energy.per_page_j)


def test_a_page_has_what_lies_between_its_issue_and_its_last_byte():
    assert not unequal("""
found["policy"] -> "psm:100" ; list(found["page"]) -> ["a", "b"] ; list(found["issue_s"]) -> [1.0, 5.0]
list(found["latency_s"]) -> [2.0, 0.5] ; list(found["awake_s"]) -> [1.5, 0.25] ; list(latency_s) -> [2.0, 0.5]
list(found["asleep_s"]) -> [0.5, 0.25] ; list(found["beacons"]) -> [4, 0]
# woken up at 1.2 s; at 5 s, its issue, and 5.25
list(found["energy_j"]) -> [1.5 * 0.75 + 0.5 * 0.05 + 4 * 0.0015 + 0.002, 0.25 * 0.8 + 2 * 0.002]
""", {"found": made().page_columns, "latency_s": made().latency_s})  # fmt: skip


def test_polls_intervals_and_messages_follow_each_other_in_seconds():
    result = made()
    assert {name: list(values) for name, values in result.polls.items()} == {  # an entry stands for many
        "time_s": near([0.1, 0.3, 0.5, 0.9], rel=1e-15), "slept_ms": [50.0, 200.0, 200.0, 400.0],
        "buffered_bytes": [0, 0, 0, 1_500], "next_sleep_ms": [200.0, 200.0, 200.0, 300.0],
    }  # fmt: skip
    assert {name: list(values) for name, values in result.radio.items()} == {  # none is empty
        "start_s": [0.0, 0.5, 1.2, 2.0, 5.0, 5.25], "end_s": [0.5, 1.2, 2.0, 5.0, 5.25, 10.0],
        "state": ["awake", "asleep", "awake", "asleep", "asleep", "awake"],
    }  # fmt: skip
    assert result.messages.to_dict("list") == named("""
policy = ['psm:100'] ; message = [0] ; written_s = [1.0] ; size_bytes = [700] ; delivered_s = [1.25]
delay_s = [0.25]""")  # fmt: skip


def test_a_radio_of_five_states_is_charged_for_each_of_them_and_a_page_for_its_part_of_each():
    times = StateTimes(doze_ns=S, waking_ns=2 * S, listening_ns=3 * S, receiving_ns=4 * S, transmitting_ns=5 * S,
        beacon_listening_ns=S, beacon_receiving_ns=2 * S)  # fmt: skip
    later = StateTimes(**{name: 2 * getattr(times, name) for name in StateTimes.__slots__})
    parts = rows([getattr(times, name) for name in StateTimes.__slots__], [0] * 7)
    result = made(radio=STATES, states=later, page_states=parts, groups_lost=9)
    assert not differing(result, """
group_frames_lost = 9 ; states_s = {"doze": 2, "waking": 4, "listening": 6, "receiving": 8, "transmitting": 10}
energy.sleep_j = near(2 * 0.001) ; energy.wakeup_j = near(4 * 0.025) ; energy.listen_j = near(2 * 0.105 + 4 * 0.115)
energy.awake_j = near(4 * 0.105 + 4 * 0.115 + 10 * 0.305)
""", NAMES)  # fmt: skip
    energy = result.energy
    total = energy.awake_j + energy.sleep_j + energy.listen_j + energy.wakeup_j
    assert (energy.total_j, energy.per_page_j) == near((total, total / 2), rel=1e-12)
    assert result.page_columns["energy_j"] == near([total / 2, 0.0], rel=1e-12)
    two = made(states=later, page_states=parts, pages=PAGES)
    assert two.energy == made().energy  # a radio of two states is charged as on wires
    assert two.page_columns["energy_j"].tolist() == made().page_columns["energy_j"].tolist()


def test_a_run_against_another_is_energy_in_percent_and_means_of_the_pages_own_ratios():
    base = made(loads=rows((S, 2 * S, 0, 0), (5 * S, 5_400 * MS, 0, 0)), awake_ns=10 * S, beacons=0, intervals=rows())
    own = made()  # latencies 2 s and 0.5 s against 1 s and 0.4 s: ratios 2 and 1.25, of the means it would be 1.786
    found = own.against(base)
    assert found.slowdowns.tolist() == [2.0, 1.25]
    assert found.slowdown == own.slowdown(base) == 1.625
    assert own.energy.total_j < base.energy.total_j
    assert found.energy_percent == near(100 * (own.energy.total_j / base.energy.total_j - 1))
    assert base.against(own).energy_percent > 0
    assert (found.added_delay_s.tolist(), found.delay_s) == ([0.0], 0.0)
    assert own.against(own).energy_percent == 0.0


def test_a_run_is_held_against_one_of_the_same_workload_only():
    with value_error(r"same workload, its latency_s must have 2 values, got 1"):
        made().against(made(PAGES[:1]))
    with pytest.raises(TypeError, match="base"):
        made().against("none")
    assert np.isnan(made([]).against(made([])).slowdown)
