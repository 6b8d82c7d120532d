"""The power-saving client in scenarios computed by hand, and what can never happen."""

from dataclasses import astuple
from types import SimpleNamespace

import netsim
from netsim.model import codes
from netsim.model.air.station import is_quiet
from netsim.model.codes import AT_ACCESS_POINT
from netsim.model.medium import advance, finish, send_up, time_awake
from netsim.model.primitives import schedule
from netsim.model.wires import begin_on_wires
from netsim.policies.protocol import Plan
from netsim.policies.static import StaticPsm
from tests.netsim.worlds import MS, Alone
from tests.tables import cases_of, each, rows
from traces.records import Page

BEACON = 100 * MS
SENT = 1000 * 1600  # ns to send 1000 B over the air
AIR = SENT + 100_000  # propagation included


class Station(Alone):
    """A station that follows its policy; nobody hears the packets it gets and sends, of 1000 bytes."""

    def __init__(self, policy, *, arrive=(), send=()):
        super().__init__(policy)
        self.connection.client.closed = self.connection.server.closed = 1
        begin_on_wires(self.run, self.client)
        for at in arrive:
            schedule(self.run, at, AT_ACCESS_POINT, self.packet(self.connection.client, length=960))
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


AT = 100 * MS  # of the first beacon
# policy | when frames arrive | and are sent | until, ms | time awake | arrivals at the client | beacons | intervals
PATIENT = StaticPsm(100, inactivity_timeout_ms=100)
SCENARIOS = """
# a frame waits for the next listened beacon
"psm:200" | [50 * MS] | [] | 1000 | AIR | [2 * AT + AIR] | 5 | None
# one that arrives at a beacon waits for the next
"psm:100" | [3 * AT] | [] | 1000 | AIR | [4 * AT + AIR] | 10 | None
# with the gate open it comes at once, behind what is on the air
"psm:100" | [50 * MS, AT + AIR // 2] | [] | 1000 | None | [AT + AIR, AT + 2 * AIR - 100_000] | None | None
# at the instant of falling asleep it keeps the client awake
"psm:100" | [50 * MS, AT + AIR] | [] | 1000 | 2 * AIR | [AT + AIR, AT + 2 * AIR] | None | None
# and a nanosecond later not
"psm:100" | [50 * MS, AT + AIR + 1] | [] | 1000 | 2 * AIR | [AT + AIR, 2 * AT + AIR] | None | None
# waking up to send opens no gate
"psm:500" | [10 * MS] | [120 * MS] | 450 | SENT | [] | 0 | None
# what is sent as the last frame ends is no second passage
"psm:500" | [] | [120 * MS, 120 * MS + SENT] | 450 | 2 * SENT | [] | 0 | [120 * MS, 120 * MS + 2 * SENT]
# a beacon that passes while it sends costs nothing
"psm:100" | [50 * MS] | [AT - 1000] | 150 | None | [AT + AIR] | 0 | None
# a beacon at the instant of waking counts
"psm:100" | [] | [AT] | 150 | None | [] | 1 | None
# a beacon at the instant of falling asleep is free
"psm:100" | [] | [AT - SENT] | 150 | None | [] | 0 | None
# one just after it is not
"psm:100" | [] | [AT - SENT - 1] | 150 | None | [] | 1 | None
# under bsd sending opens the gate and cancels the beacon
"bsd:1" | [1050 * MS] | [1060 * MS] | 1150 | 90 * MS | [1060 * MS + AIR] | 1 | None
# an inactivity timeout keeps the gate open after the last frame
PATIENT | [50 * MS, AT + AIR + 90 * MS] | [] | 1000 | 190 * MS + 2 * AIR | [AT + AIR, 190 * MS + 2 * AIR] | None | None
"""


@each("scenario", [row for row in SCENARIOS.strip().splitlines() if row[0] != "#"])
def test_a_station_does_what_was_worked_out_by_hand(scenario):
    values = (eval(part, globals()) for part in scenario.split(" | "))
    policy, arrive, send, until_ms, awake, delivered, beacons, intervals = values
    station = Station(policy, arrive=arrive, send=send)
    found = station.until(until_ms * MS)
    assert station.delivered == delivered
    assert awake in (None, found)
    assert beacons in (None, station.client.beacons)
    assert intervals in (None, station.run.machine.intervals[0].tolist())


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
    station.client.outstanding, station.client.deadline, station.run.oracle_stamps = 3, 7 * MS, 1
    station.until(350 * MS)
    left = 100 * MS + 2 * (AIR - 100_000) + 100_000
    assert station.client.policy.policy.told == rows("""
"idle", 0, None, None, 0, 0, (), 0, None, 0
"beacon", 100 * MS, None, None, 100 * MS, 2000, (50 * MS, 70 * MS), 3, 7 * MS, 0
"idle", left, None, left, 0, 0, (), 3, 7 * MS, 0
"beacon", 200 * MS, None, left, 200 * MS - left, 0, (), 3, 7 * MS, 0
"beacon", 300 * MS, 250 * MS, left, 100 * MS, 0, (), 3, 7 * MS, 0
""", {"MS": MS, "left": left})  # fmt: skip


@cases_of("host_aware", "True ; False")
def test_the_host_tells_the_deadline_of_the_page_issued_last_and_the_link_knows_of_none(host_aware):
    pages = [Page("a", 300, 5000, (), 1.0, 1.0), Page("b", 300, 500, (), 1.0, 5.0, (), 7.25), Page("c", 300, 500)]
    told = netsim.simulate(pages, asking("asking", host_aware=host_aware)).final_policy.told
    deadlines = [view[8] for view in told]
    assert {at for at, view in zip(deadlines, told, strict=True) if view[1] < 5000 * MS} == {None}
    assert {*deadlines} == ({None, 7250 * MS} if host_aware else {None})
    assert deadlines[-1] is None  # of the last page


def test_reasons_for_which_a_run_stops_are_bits_of_their_own():
    reasons = codes.DRAWS, codes.NOTES, codes.OVER, codes.NO_ROOM, codes.BAD_PLAN, codes.OVERLOADED
    assert sum(reasons) == 2 ** len(reasons) - 1
    assert len({*reasons}) == len(reasons)


@cases_of(
    "busy",
    """
{} ; {'due_down': 1} ; {'fetches': 1} ; {'closing': 1} ; {'pending': 1} ; {'queue': 1}""",
)
def test_a_station_on_the_air_is_quiet_only_if_nothing_is_on_its_way_pending_or_queued(busy):
    lines = {name: SimpleNamespace(count=busy.get(name, 0)) for name in ("pending", "queue")}
    flags = {name: busy.get(name, 0) for name in ("due_down", "fetches", "closing")}
    client = SimpleNamespace(**flags, pending=lines["pending"], contender=SimpleNamespace(queue=lines["queue"]))
    assert is_quiet(client) == (not busy)
