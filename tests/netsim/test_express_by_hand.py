"""Small parts of the express engine on made-up arrays: what is quiet, which reply is next, how long packets take."""

import numpy as np
import pytest

import netsim
from netsim import policies
from netsim.express import browsing, engine, links, transport
from netsim.express import layout as slot
from traces.columns import Workload
from traces.records import Page

NOW = 1_000


def plain(kernel):
    """Return a kernel that calls no other as plain Python, which takes an array in place of its address."""
    return getattr(kernel, "py_func", kernel)


is_quiet, fills_more_than = plain(browsing.is_quiet), plain(browsing.fills_more_than)
next_reply, sample = plain(transport.next_reply), plain(transport.sample)


def world(**values):
    """Make an array in which nothing is on its way, with a wire of 20 and an air of 10 ns of delay, and one message."""
    w = slot.new_world(8, 3)
    w[slot.PUSH + slot.S_DEADLINE] = slot.NEVER
    w[slot.N_MESSAGES], w[slot.WIRE_DELAY], w[slot.AIR_DELAY] = 1, 20, 10
    for name, value in values.items():
        w[getattr(slot, name)] = value
    return w


@pytest.mark.parametrize(
    ("changes", "quiet"),
    [
        ({}, True),
        ({"WIRE_DOWN": NOW - 21, "AIR_DOWN": NOW - 11}, True),
        ({"WIRE_DOWN": NOW - 20}, False),  # the last packet is at the access point just now
        ({"AIR_DOWN": NOW - 10}, False),
        ({"WAITING": 1}, False),
        ({"UP_TAIL": 1}, False),
        ({"UP_HEAD": 1, "UP_TAIL": 1, "PARTIAL_HEAD": 2, "PARTIAL_TAIL": 2}, True),
        ({"PARTIAL_TAIL": 1}, False),
        ({"WAITING": 1, "N_MESSAGES": 0}, True),  # pages alone leave nothing behind
    ],
)
def test_all_is_quiet_once_nothing_is_on_its_way_or_waits(changes, quiet):
    w = world(**changes)
    assert is_quiet(w, NOW) == quiet
    w[slot.N_MESSAGES] = max(w[slot.N_MESSAGES], 1)
    w[slot.PUSH + slot.S_END] = 1
    assert not is_quiet(w, NOW)
    w[slot.PUSH + slot.S_UNACKED], w[slot.PUSH + slot.S_DEADLINE] = 1, NOW
    assert not is_quiet(w, NOW)


@pytest.mark.parametrize(
    ("due", "since", "found"),
    [
        ([None, 7, None], [0, 0, 0], 1),
        ([9, 7, 8], [1, 2, 3], 1),
        ([7, 7, 8], [1, 2, 3], 0),
        ([7, 7, 7], [3, 2, 1], 2),
        ([7, 8, 7], [2, 1, 2], -2),  # only the order of events could say
        ([7, 7, 6], [2, 2, 2], -2),
    ],
)
def test_the_next_reply_is_the_first_that_is_due_and_of_two_the_one_asked_for_first(due, since, found):
    w = world(TAKEN=2)
    places = [w[slot.CONNECTIONS] + i * slot.N_CONNECTION for i in range(3)]
    for place, at, asked in zip(places, due, since, strict=True):
        w[place + slot.REPLY_AT], w[place + slot.REPLY_SINCE] = slot.NEVER if at is None else at, asked
    assert next_reply(w) == (found if found < 0 else places[found])


@pytest.mark.parametrize("kernel", [links.air, links.wire])
def test_a_packet_takes_its_bytes_at_the_rate_of_its_link_rounded_down(kernel):
    name = kernel.__name__.upper()
    w = world(**{f"{name}_NUM": 400, f"{name}_DEN": 3, f"{name}_FULL": 77, f"{name}_BARE": 5}, MSS=100, HEADER=40)
    assert [plain(kernel)(w, length) for length in (0, 1, 99, 100)] == [5, 41 * 400 // 3, 139 * 400 // 3, 77]
    w[getattr(slot, f"{name}_DEN")] = 1
    assert plain(kernel)(w, 1) == 41 * 400


def test_the_time_out_follows_measured_round_trips_by_rfc_6298_in_whole_nanoseconds():
    w, found = world(MIN_RTO=350), []
    at = w[slot.CONNECTIONS]
    w[at + slot.SRTT] = -1
    for rtt in (200, 300, 1_000, 7, 60_000_000_000):
        sample(w, at, rtt)
        found.append((w[at + slot.SRTT], w[at + slot.RTTVAR], w[at + slot.RTO]))
    assert found[:4] == [(200, 100, 600), (212, 100, 612), (310, 272, 1_398), (272, 279, 1_388)]
    assert found[4][2] == 60_000_000_000  # at most
    w[at + slot.SRTT] = -1
    sample(w, at, 100)
    assert w[at + slot.RTO] == 350  # at least


def test_room_is_short_when_so_many_times_the_polls_or_intervals_would_not_fit():
    w = world(POLLS_ROOM=60, INTERVALS_ROOM=20, N_POLLS=5, N_INTERVALS=5)
    assert [fills_more_than(w, parts) for parts in (1, 2, 3)] == [False, False, True]
    w[slot.N_POLLS] = 6
    assert fills_more_than(w, 2)
    w[slot.N_POLLS], w[slot.N_INTERVALS] = 5, 6
    assert fills_more_than(w, 2)


@pytest.mark.parametrize("pages", [1, 2, 3, 4])
@pytest.mark.parametrize("policy", ["bsd-host:1", "psm"])
def test_a_policy_that_the_host_informs_knows_the_deadline_of_the_page_issued_last(policy, pages):
    workload = Workload.of([Page(f"p{i}", 300, 500, (), 0.1, None, (), (1.0, None, 2.5, 3.0)[i]) for i in range(pages)])
    run = engine.Run(workload, [], np.zeros(pages, np.int64), policies.make(policy), netsim.SimulationConfig())
    assert run.express(0) == pages + 1
    last = (10**9, slot.NEVER, 2_500_000_000, 3 * 10**9)[pages - 1]
    assert run.world[slot.PAGE_DEADLINE] == (last if policy != "psm" else slot.NEVER)
