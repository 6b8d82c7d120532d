"""The power-saving client in scenarios computed by hand, and what can never happen."""

from dataclasses import astuple

import pytest

import netsim
from netsim.policies.protocol import Plan
from netsim.tcp import Packet
from tests.netsim.worlds import MS, World
from traces.records import Page


class Sink:
    """An endpoint that notes when packets come."""

    def __init__(self, clock):
        self.clock, self.times = clock, []

    def receive(self, packet):
        self.times.append(self.clock.now)


def push(world, at_ns, size_bytes=1000):
    """Let a frame reach the access point at `at_ns`; return where it will be noted."""
    sink = Sink(world.clock)
    packet = Packet(sink, 0, 0, size_bytes - 40, 0, size_bytes)
    world.clock.process(_arrive(world, at_ns, packet))
    return sink


def _arrive(world, at_ns, packet):
    yield world.clock.timeout(at_ns)

    class Event:
        _value = packet

    world.station._at_access_point(Event)


def finish(world, at_ns):
    world.clock.run(until=at_ns)
    world.station.finish(at_ns)
    return world.station


AIR = 1000 * 1600 + 100_000  # ns to send 1000 B over the air, propagation included


def test_a_frame_that_reaches_the_access_point_between_beacons_waits_for_the_next_listened_one():
    world = World("psm:200")
    sink = push(world, 50 * MS)
    station = finish(world, 1000 * MS)
    assert sink.times == [200 * MS + AIR]
    assert station.awake_ns(1000 * MS) == AIR
    assert station.beacons == 5  # 200 .. 1000 ms


def test_a_frame_that_arrives_exactly_at_a_beacon_waits_for_the_next_one():
    world = World("psm:100")
    assert push(world, 300 * MS).times == []
    world = World("psm:100")
    sink = push(world, 300 * MS)
    finish(world, 1000 * MS)
    assert sink.times == [400 * MS + AIR]


def test_while_the_gate_is_open_a_frame_is_delivered_at_once():
    world = World("psm:100")
    first, second = push(world, 50 * MS), push(world, 100 * MS + AIR // 2)
    finish(world, 1000 * MS)
    assert first.times == [100 * MS + AIR]
    assert second.times == [100 * MS + 2 * AIR - 100_000]  # the air is busy until the first has left


def test_a_frame_that_arrives_at_the_instant_of_falling_asleep_keeps_the_client_awake():
    world = World("psm:100")
    push(world, 50 * MS)
    late = push(world, 100 * MS + AIR)
    finish(world, 1000 * MS)
    assert late.times == [100 * MS + 2 * AIR]
    world = World("psm:100")
    push(world, 50 * MS)
    later = push(world, 100 * MS + AIR + 1)
    finish(world, 1000 * MS)
    assert later.times == [200 * MS + AIR]


def send(world, at_ns, size_bytes=1000):
    def process():
        yield world.clock.timeout(at_ns)
        world.station.send(Packet(Sink(world.clock), 0, 0, size_bytes - 40, 0, size_bytes))

    world.clock.process(process())


def test_waking_up_to_send_costs_the_air_time_and_opens_no_gate():
    world = World("psm:500")
    sink = push(world, 10 * MS)
    send(world, 120 * MS)
    station = finish(world, 450 * MS)
    assert sink.times == []
    assert station.awake_ns(450 * MS) == 1000 * 1600
    assert station.beacons == 0


def test_a_beacon_that_passes_while_the_client_sends_is_a_poll_that_costs_nothing():
    world = World("psm:100")
    sink = push(world, 50 * MS)
    send(world, 100 * MS - 1000)
    station = finish(world, 150 * MS)
    assert station.beacons == 0
    assert sink.times == [100 * MS + AIR]
    assert list(station.polls[:3]) == [100 * MS, 100 * MS, 1000]


@pytest.mark.parametrize(("sent_at", "counted"), [(100 * MS, 1), (100 * MS - 1_600_000, 0), (100 * MS - 1_600_001, 1)])
def test_a_beacon_is_free_from_just_after_waking_until_the_instant_of_falling_asleep(sent_at, counted):
    world = World("psm:100")
    send(world, sent_at)
    assert finish(world, 150 * MS).beacons == counted


def test_a_policy_is_told_when_it_slept_what_waits_and_when_frames_went_and_came():
    class Noting:
        spec, host_aware, told = "noting", True, []

        def plan(self, view):
            self.told.append(astuple(view))
            return Plan(view.now_ns, (view.now_ns // (100 * MS) + 1) * 100 * MS)

    world = World(Noting())
    world.station.outstanding, world.station.deadline_ns = 3, 7 * MS
    for at in (50, 70):
        push(world, at * MS)
    send(world, 250 * MS)
    finish(world, 350 * MS)
    left = 100 * MS + 2 * (AIR - 100_000) + 100_000
    assert Noting.told == [
        ("idle", 0, None, None, 0, 0, (), 0, None),
        ("beacon", 100 * MS, None, None, 100 * MS, 2000, (50 * MS, 70 * MS), 3, 7 * MS),
        ("idle", left, None, left, 0, 0, (), 3, 7 * MS),
        ("beacon", 200 * MS, None, left, 200 * MS - left, 0, (), 3, 7 * MS),
        ("beacon", 300 * MS, 250 * MS, left, 100 * MS, 0, (), 3, 7 * MS),
    ]


def test_under_bsd_sending_opens_the_gate_and_cancels_the_scheduled_beacon():
    world = World("bsd:1")
    sink = push(world, 1_050 * MS)
    send(world, 1_060 * MS)
    station = finish(world, 1_150 * MS)
    assert sink.times == [1_060 * MS + AIR]
    assert station.beacons == 1  # 900 ms, the longest sleep before anything was sent
    assert station.awake_ns(1_150 * MS) == 90 * MS


def test_an_inactivity_timeout_keeps_the_gate_open_after_the_last_frame():
    from netsim.policies.static import StaticPsm

    world = World(StaticPsm(100, inactivity_timeout_ms=100))
    push(world, 50 * MS)
    inside = push(world, 100 * MS + AIR + 90 * MS)
    station = finish(world, 1000 * MS)
    assert inside.times == [190 * MS + 2 * AIR]
    assert station.awake_ns(1000 * MS) == 190 * MS + 2 * AIR


def test_skipping_idle_beacons_counts_as_asking_at_each_does():
    class Asked:
        spec, host_aware = "asked", False

        def plan(self, view):
            return Plan(view.now_ns, (view.now_ns // (100 * MS) + 1) * 100 * MS)

    pages = [Page(f"p{i}", 300, 3000 + 777 * i, ((300, 4000),) * (i % 5), 3.21) for i in range(20)]
    asked, skipped = netsim.simulate(pages, Asked()), netsim.simulate(pages, "psm:100")
    assert asked.beacons == skipped.beacons
    assert asked.polls.equals(skipped.polls)
    assert asked.radio.equals(skipped.radio)
    assert asked.pages.drop(columns="policy").equals(skipped.pages.drop(columns="policy"))


def test_a_plan_that_wakes_between_beacons_is_refused_by_name():
    class Off:
        spec, host_aware = "off", False

        def plan(self, view):
            return Plan(view.now_ns, view.now_ns + 123)

    with pytest.raises(ValueError, match="policy off: wake_ns must be a multiple of 100000000 ns"):
        netsim.simulate([Page("p", 300, 500)], Off())


def policy_that_returns(answer):
    class Odd:
        spec, host_aware = "odd", False

        def plan(self, view):
            return answer

    return Odd()


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (policy_that_returns(None), "policy odd: plan must return a Plan, got None"),
        (policy_that_returns(Plan(0, 1e8)), "policy odd: a plan must be in whole nanoseconds"),
        (object(), "policy must be a name or an object with a method plan"),
        (type(policy_that_returns(None)), "policy must be a name or an object with a method plan"),
        (None, "policy must be a name or an object with a method plan, got None"),
        (
            type("NoName", (), {"plan": print, "host_aware": False})(),
            "must have the attribute spec, which NoName has not",
        ),
    ],
)
def test_what_is_no_policy_is_refused_in_words(policy, message):
    with pytest.raises(TypeError, match=message):
        netsim.simulate([Page("p", 300, 500)], policy)


@pytest.mark.parametrize("host_aware", [True, False])
def test_the_host_tells_the_deadline_of_the_page_issued_last_and_the_link_knows_of_none(host_aware):
    class Asking:
        spec = "asking"

        def __init__(self):
            self.host_aware, self.told = host_aware, []

        def plan(self, view):
            self.told.append((view.now_ns, view.deadline_ns))
            return Plan(view.now_ns, (view.now_ns // (100 * MS) + 1) * 100 * MS)

    pages = [Page("a", 300, 5000, (), 1.0, 1.0), Page("b", 300, 500, (), 1.0, 5.0, (), 7.25), Page("c", 300, 500)]
    told = netsim.simulate(pages, Asking()).final_policy.told
    assert {deadline for at, deadline in told if at < 5000 * MS} == {None}
    assert {deadline for _, deadline in told} == ({None, 7250 * MS} if host_aware else {None})
    assert told[-1][1] is None  # of the last page


def test_a_policy_object_is_left_as_it_was_and_may_count_what_it_sees():
    class Counting:
        spec, host_aware = "counting", True
        asked = 0

        def plan(self, view):
            self.asked += 1
            assert view.outstanding is not None
            assert view.outstanding >= 0
            return Plan(view.now_ns, (view.now_ns // (100 * MS) + 1) * 100 * MS)

    policy = Counting()
    result = netsim.simulate([Page("p", 300, 5000, ((300, 700),), 1.0)], policy)
    assert policy.asked == 0
    assert result.final_policy.asked >= 10
