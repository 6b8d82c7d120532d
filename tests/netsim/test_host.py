"""The rules that know what the host waits for and learn nothing."""

from netsim.policies import make
from netsim.policies.host import HoldThenBeacons, HostBoundedSlowdown
from netsim.policies.protocol import View
from tests.netsim.clients import MS, Client

BEACON = 100 * MS


def test_bounded_slowdown_of_the_host_keeps_the_bound_while_it_waits_and_naps_otherwise():
    ours, phase = HostBoundedSlowdown("0.2"), make("bsd-phase:0.2")
    client = Client(ours)
    assert client.idle(20) == (20 * MS, 5000 * MS, True, 5000 * MS, False)
    client.sent(60, "a")
    view = View("idle", 61 * MS, 60 * MS, None, 0, 0, (), None)
    assert ours.plan(view) == phase.plan(view)
    view = View("beacon", 400 * MS, 60 * MS, None, 100 * MS, 0, (), None)
    assert ours.plan(view) == phase.plan(view)
    client.received(470, "a", size=1500)
    view = View("idle", 470 * MS, 60 * MS, 470 * MS, 0, 0, (), None)
    assert ours.plan(view) == phase.plan(view)  # the reply is not complete
    client.received(480, "a", size=200, completes=True)
    assert client.idle(480) == (480 * MS, 5400 * MS, True, 5000 * MS, False)


def test_hold_stays_awake_then_listens_to_each_beacon_while_waiting():
    rule = HoldThenBeacons(50)
    client = Client(rule)
    assert client.idle(0).wake_ns == 5000 * MS
    client.sent(120, "a")
    plan = rule.plan(View("idle", 121 * MS, 120 * MS, None, 0, 0, (), None))
    assert plan == (170 * MS, 200 * MS, True, BEACON, False)
    for now_ms, received_ms, until_ms in ((161, 160, 210), (300, 160, 300)):
        plan = rule.plan(View("idle", now_ms * MS, 120 * MS, received_ms * MS, 0, 0, (), None))
        assert plan == (until_ms * MS, (until_ms // 100 + 1) * BEACON, True, BEACON, False)
    client.received(640, "a", completes=True)
    assert client.idle(640).wake_ns == 5600 * MS
