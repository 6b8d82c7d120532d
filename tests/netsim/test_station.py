"""The power-saving client in scenarios computed by hand, and what can never happen."""

from dataclasses import astuple

import pytest

import netsim
from netsim.model.codes import AT_ACCESS_POINT
from netsim.model.medium import advance, finish, send_up, time_awake
from netsim.model.seam import happen
from netsim.model.wires import begin_on_wires
from netsim.policies.protocol import Plan
from netsim.policies.static import StaticPsm
from tests.netsim.worlds import MS, Alone
from traces.records import Page

BEACON = 100 * MS
AIR = 1000 * 1600 + 100_000  # ns to send 1000 B over the air, propagation included


class Station(Alone):
    """A station that follows its policy; nobody hears the packets it gets and sends, of 1000 bytes."""

    def __init__(self, policy, *, arrive=(), send=()):
        super().__init__(policy)
        self.connection.client.closed = self.connection.server.closed = 1
        begin_on_wires(self.run, self.client)
        for at in arrive:
            happen(self.run, at, AT_ACCESS_POINT, self.packet(self.connection.client, length=960))
        for at in send:
            self.later(at, lambda: send_up(self.run, self.client, self.packet(self.connection.server, length=960)))

    def until(self, at_ns):
        """Go on to the end of the run; return the time awake."""
        self.at(at_ns)
        advance(self.run, self.client, at_ns)
        finish(self.run, self.client, at_ns)
        return time_awake(self.run, self.client, at_ns)

    @property
    def delivered(self):
        """When each of the packets had arrived."""
        return [one.end_ns + 100_000 for one in self.recorder.transmissions if one.down]


def test_a_frame_that_reaches_the_access_point_between_beacons_waits_for_the_next_listened_one():
    station = Station("psm:200", arrive=[50 * MS])
    assert station.until(1000 * MS) == AIR
    assert station.delivered == [200 * MS + AIR]
    assert station.client.beacons == 5  # 200 .. 1000 ms


@pytest.mark.parametrize(
    ("arrive", "delivered"),
    [
        ([300 * MS], [400 * MS + AIR]),  # exactly at a beacon: it waits for the next one
        # while the gate is open it is delivered at once; the air is busy until the one before has left
        ([50 * MS, 100 * MS + AIR // 2], [100 * MS + AIR, 100 * MS + 2 * AIR - 100_000]),
        # at the instant of falling asleep it keeps the client awake, and later it does not
        ([50 * MS, 100 * MS + AIR], [100 * MS + AIR, 100 * MS + 2 * AIR]),
        ([50 * MS, 100 * MS + AIR + 1], [100 * MS + AIR, 200 * MS + AIR]),
    ],
)
def test_a_frame_is_delivered_at_once_while_the_gate_is_open_and_waits_for_a_later_beacon_while_not(arrive, delivered):
    station = Station("psm:100", arrive=arrive)
    station.until(1000 * MS)
    assert station.delivered == delivered


def test_waking_up_to_send_costs_the_air_time_and_opens_no_gate():
    station = Station("psm:500", arrive=[10 * MS], send=[120 * MS])
    assert station.until(450 * MS) == 1000 * 1600
    assert station.delivered == []
    assert station.client.beacons == 0


def test_what_is_sent_at_the_instant_at_which_the_last_frame_ends_is_no_second_passage_to_awake():
    station = Station("psm:500", send=[120 * MS, 120 * MS + 1_600_000])
    assert station.until(450 * MS) == 2 * 1_600_000
    assert station.run.machine.intervals[0].tolist() == [120 * MS, 120 * MS + 2 * 1_600_000]


def test_a_beacon_that_passes_while_the_client_sends_is_a_poll_that_costs_nothing():
    station = Station("psm:100", arrive=[50 * MS], send=[100 * MS - 1000])
    station.until(150 * MS)
    assert station.client.beacons == 0
    assert station.delivered == [100 * MS + AIR]
    assert station.run.machine.polls[0][:3].tolist() == [100 * MS, 100 * MS, 1000]


@pytest.mark.parametrize(("sent_at", "counted"), [(100 * MS, 1), (100 * MS - 1_600_000, 0), (100 * MS - 1_600_001, 1)])
def test_a_beacon_is_free_from_just_after_waking_until_the_instant_of_falling_asleep(sent_at, counted):
    station = Station("psm:100", send=[sent_at])
    station.until(150 * MS)
    assert station.client.beacons == counted


def asking(spec, plan=None, *, host_aware=False):
    """Make a policy that keeps what it sees; it listens to every beacon or answers what a function of its view does."""

    class Asking:
        def __init__(self):
            self.spec, self.host_aware, self.told = spec, host_aware, []

        def plan(self, view):
            self.told.append(astuple(view))
            return Plan(view.now_ns, (view.now_ns // BEACON + 1) * BEACON) if plan is None else plan(view)

    return Asking()


def test_a_policy_is_told_when_it_slept_what_waits_and_when_frames_went_and_came():
    station = Station(asking("noting", host_aware=True), arrive=[50 * MS, 70 * MS], send=[250 * MS])
    station.client.outstanding, station.client.deadline = 3, 7 * MS
    station.until(350 * MS)
    left = 100 * MS + 2 * (AIR - 100_000) + 100_000
    assert station.client.policy.policy.told == [
        ("idle", 0, None, None, 0, 0, (), 0, None),
        ("beacon", 100 * MS, None, None, 100 * MS, 2000, (50 * MS, 70 * MS), 3, 7 * MS),
        ("idle", left, None, left, 0, 0, (), 3, 7 * MS),
        ("beacon", 200 * MS, None, left, 200 * MS - left, 0, (), 3, 7 * MS),
        ("beacon", 300 * MS, 250 * MS, left, 100 * MS, 0, (), 3, 7 * MS),
    ]


def test_under_bsd_sending_opens_the_gate_and_cancels_the_scheduled_beacon():
    station = Station("bsd:1", arrive=[1_050 * MS], send=[1_060 * MS])
    assert station.until(1_150 * MS) == 90 * MS
    assert station.delivered == [1_060 * MS + AIR]
    assert station.client.beacons == 1  # 900 ms, the longest sleep before anything was sent


def test_an_inactivity_timeout_keeps_the_gate_open_after_the_last_frame():
    station = Station(StaticPsm(100, inactivity_timeout_ms=100), arrive=[50 * MS, 100 * MS + AIR + 90 * MS])
    assert station.until(1000 * MS) == 190 * MS + 2 * AIR
    assert station.delivered[1] == 190 * MS + 2 * AIR


@pytest.mark.parametrize("host_aware", [True, False])
def test_the_host_tells_the_deadline_of_the_page_issued_last_and_the_link_knows_of_none(host_aware):
    pages = [Page("a", 300, 5000, (), 1.0, 1.0), Page("b", 300, 500, (), 1.0, 5.0, (), 7.25), Page("c", 300, 500)]
    told = netsim.simulate(pages, asking("asking", host_aware=host_aware)).final_policy.told
    assert {view[-1] for view in told if view[1] < 5000 * MS} == {None}
    assert {view[-1] for view in told} == ({None, 7250 * MS} if host_aware else {None})
    assert told[-1][-1] is None  # of the last page
