"""The model in real time, under a clock that the test turns: packets land where and when a simulation has them."""

import gc

import pytest

import netsim
from netsim.config import SimulationConfig
from netsim.running.real_time import MOST_WAITING, Distribution, RealTime
from tests.tables import each, near
from traces.captures.waiting import READ_BYTES
from traces.columns import Workload
from traces.records import Datagram

SYN, SYN_ACK, DATA, ACK = 0x02, 0x12, 0x18, 0x10
AIR = SimulationConfig(medium=netsim.AirConfig())


def tcp(up, flags, payload=0, sequence=1):
    ends = (bytes((10, 9, 0, 1)), bytes((10, 9, 0, 2)))[:: 1 if up else -1]
    ports = ((40000).to_bytes(2, "big"), (443).to_bytes(2, "big"))[:: 1 if up else -1]
    size = 40 + payload
    head = bytes((0x45, 0)) + size.to_bytes(2, "big") + bytes((0, 0, 0, 0, 64, 6, 0, 0)) + b"".join(ends)
    return head + b"".join(ports) + sequence.to_bytes(4, "big") + bytes((0, 0, 0, 0, 0x50, flags)) + bytes(6 + payload)


class Turned:
    """A link whose clock goes on to where something happens."""

    def __init__(self, policy, config=None, **more):
        self.now, self.landed = 0, []
        self.link = RealTime(policy, config, deliver=self.deliver, clock=lambda: self.now, **more)

    def deliver(self, packet, up):
        self.landed.append((self.now, up, len(packet)))

    def until(self, at):
        while (wait := self.link.step()) and self.now + wait <= at:
            self.now += wait
        self.now = at
        self.link.step()

    def send(self, at, packet, up):
        self.until(at)
        return self.link.send(packet, up)


@each("config", [None, AIR])
@each("policy", ["none", "psm:200", "dynamic:50", "lpsm", "bsd:1", "hold:50", "lpsm3", "lpsm2"])
def test_packets_land_when_the_datagrams_of_a_simulation_do(policy, config):
    work, turned = [], Turned(policy, config)
    for n in range(60):  # three requests and their answers, and then a pause in which a wait ends
        at_s, size, up = 0.013 + 0.0371 * n + n // 6 / 2, 100 + 7 * n % 900, n % 6 < 3
        packet = tcp(up, SYN if n == 0 else DATA, size, 1 + 1000 * n)
        work.append(Datagram(at_s, size, up, packet[:READ_BYTES]))
        turned.send(round(at_s * 1e9), packet, up)
    known = netsim.simulate(Workload.of([], datagrams=work), policy, config=config)
    turned.until(round(known.elapsed_s * 1e9))
    found = turned.link.end()
    assert len(turned.landed) == len(work)
    assert found.result.awake_s == near(known.awake_s, rel=1e-12)
    assert found.result.beacons == known.beacons
    assert found.result.energy.total_j == near(known.energy.total_j, rel=1e-12)
    if policy == "none":
        assert found.added.max < (1 if config is None else 1e6)


def test_nothing_is_kept_of_packets_that_have_landed():
    turned = Turned("psm")
    for n in range(3000):
        turned.send(n * 1_000_000, tcp(n % 2 == 0, ACK), n % 2 == 0)
    turned.until(4_000_000_000)
    assert not turned.link._under_way
    assert not turned.link._client.datagrams
    gc.collect()
    assert len(turned.link.run.machine.frames) < 300
    assert len(turned.landed) == 3000


def test_a_flood_is_dropped_behind_a_full_queue_and_counted():
    turned = Turned("none")
    taken = [turned.link.send(bytes((0x45,)) + bytes(1499), True) for _ in range(MOST_WAITING + 10)]
    assert taken == [True] * MOST_WAITING + [False] * 10
    assert turned.link.dropped == 10
    assert not turned.link.send(bytes(1501), True)


def test_a_host_aware_policy_stays_awake_from_a_request_until_silence_ends_its_reply():
    turned = Turned("hold:50")
    turned.until(1_000_000_000)
    asleep = turned.link.run.clients[0]
    assert asleep.wake - asleep.slept_from == 5_000_000_000  # nothing is waited for
    turned.send(1_010_000_000, tcp(True, DATA, 300), True)
    turned.send(1_400_000_000, tcp(False, DATA, 1000), False)  # the next beacon brings it
    turned.until(1_540_000_000)
    assert turned.landed[-1][0] < 1_510_000_000
    turned.until(9_000_000_000)
    assert turned.link.end().result.beacons == 6 + 2  # every one until 100 ms after the reply's last, then naps


def test_a_distribution_has_the_quantiles_of_its_values_to_three_digits():
    found, values = Distribution(), [n**3 for n in range(1, 1001)]
    for value in values:
        found.add(value)
    told = found.ms()
    assert told["mean"] == near(sum(values) / 1e9, rel=1e-5)
    assert told["max"] == 1000.0
    for name, place in (("median", 499), ("p95", 949), ("p99", 989)):
        assert told[name] == near(values[place] / 1e6, rel=2e-3)
    for value in range(10**6, 2 * 10**6, 50):
        found.add(value)
    assert len(found.counts) < 2000
    assert Distribution().ms()["median"] is None


def test_a_run_is_trusted_while_one_packet_in_a_hundred_is_in_time():
    for late_ns, trusted in ((4_900_000, True), (5_100_000, False)):
        turned = Turned("none")
        turned.link.late.add(late_ns)
        assert turned.link.end().trusted is trusted


def test_an_error_of_a_policy_is_said():
    class Wrong:
        spec, host_aware = "wrong", False

        def plan(self, view):
            raise KeyError("it")

    with pytest.raises(ValueError, match="policy wrong"):
        Turned(Wrong())
