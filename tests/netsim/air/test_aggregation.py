"""Frames that go together: exchanges by hand, saturation against ns-3.44 and a formula, order, and what adds up."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netsim
from netsim.air.access import Contender, Medium
from netsim.air.aggregation import MAX_AMPDU_BYTES, with_delimiter
from netsim.air.air_times import Phy
from netsim.air.beacons import BeaconConfig, Beacons
from netsim.air.cell import AirConfig, saturate
from netsim.air.exchanges import Transmission
from netsim.air.recording import AirRecorder
from netsim.clock import Clock
from tests.netsim.air.cells import MS, US, Air
from traces.records import Page

# 802.11n at 65 Mb/s and 2.4 GHz, answers at 24 Mb/s, with a window of zero slots; microseconds
SIFS, DIFS, ACK, BLOCK_ACK, TIMEOUT = 10, 28, 34, 38, 10 + 9 + 36
SLOTLESS = Phy(kind="11n", cw_min=0, cw_max=0)
# UDP of 1472 bytes from n saturated stations, Mb/s: own runs of ns-3.44 (wheel `ns3` 3.44.post0) over 5 to 20 s, by
# (n, BE_MaxAmpduSize), without explicit block-ACK requests; its access point sends a beacon of 152 bytes at 1 Mb/s
NS3 = {
    (1, 8000): 51.007, (1, 65535): 58.995, (5, 8000): 45.625, (5, 65535): 50.675, (20, 8000): 38.532,
    (20, 65535): 42.246,
}  # fmt: skip
NS3_BEACON_NS = (192 + 8 * 152) * US


def together_us(*sizes):
    """Air time of frames of these sizes that go together, by hand: 260 bits a symbol of 4, 16 and 6 bits more."""
    size = sum(4 + n + -n % 4 for n in sizes[:-1]) + 4 + sizes[-1]
    return 36 + 4 * -(-(16 + 8 * size + 6) // 260) + 6


class ScriptedLosses:
    """Loses the frames whose places (0, 1, 2, ... in the order of transmission) are given."""

    def __init__(self, lost):
        self._lost, self._n = set(lost), 0

    def random(self, n=None):
        self._n += n or 1
        found = np.array([0.0 if place in self._lost else 1.0 for place in range(self._n - (n or 1), self._n)])
        return found[0] if n is None else found


class Alone:
    """A station without backoff that notes when its frames are handed over, and what becomes of them."""

    def __init__(self, *, lost=(), max_ampdu_bytes=MAX_AMPDU_BYTES, **options):
        self.env = Clock()
        self.medium = Medium(
            self.env, SLOTLESS, loss=ScriptedLosses(lost), loss_rate=0.5, max_ampdu_bytes=max_ampdu_bytes, **options
        )
        self.station = Contender(self.medium, np.random.default_rng(0))
        self.handed_over, self.ends, self.air_us = [], [], []

    def send(self, *sizes):
        for number, size in enumerate(sizes):
            self.station.send(Transmission(self.medium.data(size), self.note(number), self.ends.append))
        self.env.run(until=10**10)
        return self.handed_over

    def note(self, number):
        def delivered(frame):
            self.handed_over.append((number, self.env.now / US))
            self.air_us.append(frame.air_ns / US)

        return delivered


def test_the_size_of_frames_together_counts_delimiters_and_padding_but_none_after_the_last():
    assert with_delimiter(0, 1538) == 1542
    assert with_delimiter(1542, 100) == 1542 + 2 + 4 + 100
    assert together_us(1538, 100) * US == SLOTLESS.data_ns(1648)


def test_the_first_frame_finds_the_channel_idle_and_goes_alone_and_what_came_meanwhile_goes_together():
    first = SLOTLESS.data_ns(1538) / US
    both = first + SIFS + ACK + DIFS + together_us(1538, 100)
    world = Alone()
    assert world.send(1538, 1538, 100) == [(0, first), (1, both), (2, both)]
    assert world.ends == [True] * 3
    assert world.station.sent_ns == (first + together_us(1538, 100)) * US
    assert world.station.received_ns == (ACK + BLOCK_ACK) * US
    assert world.medium.busy_ns == (both - DIFS + SIFS + BLOCK_ACK) * US
    assert sum(world.air_us) == first + together_us(1538, 100)  # the frames share the air time of their PPDU


@pytest.mark.parametrize(
    ("sizes", "max_ampdu_bytes", "together"),
    [
        ([1538] * 60, 65_535, 28),  # 29 would last more than 5.484 ms: as in captures of ns-3.44
        ([1538] * 20, 8_000, 5),
        ([60] * 100, 65_535, 64),  # as many as the map of a block ACK has bits
        ([3000, 4096, 3000], 65_535, 1),  # a delimiter tells of 4095 bytes at most
        ([1538] * 5, 1_000, 1),
    ],
)
def test_as_many_frames_go_together_as_fit(sizes, max_ampdu_bytes, together):
    handed_over = Alone(max_ampdu_bytes=max_ampdu_bytes).send(1538, *sizes)
    second = handed_over[1][1]
    assert sum(at == second for _, at in handed_over) == together
    assert len(handed_over) == 1 + len(sizes)


def test_least_distance_of_full_aggregates_is_that_of_captures_of_ns_3():
    instants = sorted({at for _, at in Alone().send(*[1538] * 85)})
    assert np.diff(instants)[1:].tolist() == [BLOCK_ACK + SIFS + DIFS + 5366] * 2  # 28 frames each


def test_a_lost_frame_alone_is_sent_again_and_those_behind_it_are_handed_over_after_it():
    world = Alone(lost=[2])  # the second of four that go together
    first = SLOTLESS.data_ns(100) / US
    second = first + SIFS + ACK + DIFS + together_us(100, 100, 100, 100)
    third = second + SIFS + BLOCK_ACK + DIFS + first
    assert world.send(*[100] * 5) == [(0, first), (1, second), (2, third), (3, third), (4, third)]
    assert (world.station.attempts, world.station.delivered, world.station.lost) == (6, 5, 1)


def test_if_every_frame_is_lost_nothing_is_answered_and_all_are_sent_again():
    world = Alone(lost=[1, 2])
    first, both = SLOTLESS.data_ns(100) / US, together_us(100, 100)
    ended = first + SIFS + ACK + DIFS + both
    again = ended + DIFS + 9 * -(-TIMEOUT // 9)  # DIFS after the time-out, at the end of a slot
    assert world.send(100, 100, 100) == [(0, first), (1, again + both), (2, again + both)]
    assert world.station.received_ns == (ACK + BLOCK_ACK) * US


def test_a_frame_is_given_up_after_seven_attempts_of_its_own_and_those_behind_it_are_handed_over():
    world = Alone(lost=[1, 3, 4, 5, 6, 7, 8])  # the second frame goes with the third once, then six times alone
    assert [number for number, _ in world.send(100, 100, 100)] == [0, 2]
    assert world.ends == [True, False, True]
    assert (world.station.attempts, world.station.lost, world.station.dropped) == (9, 7, 1)


def test_rts_and_cts_go_before_frames_that_are_long_together():
    world = Alone(rts_bytes=1000)
    first = SLOTLESS.data_ns(600) / US
    assert world.send(600, 600, 600)[1][1] == first + SIFS + ACK + DIFS + 58 + SIFS + 50 + SIFS + together_us(600, 600)


def saturated(n, max_ampdu_bytes, seconds, *, beacon_ns=0):
    """Throughput of n saturated stations whose packets have 1472 bytes of payload, and their cell."""
    env = Clock()
    medium = Medium(env, Phy.parse("11n:65"), max_ampdu_bytes=max_ampdu_bytes)
    if beacon_ns:
        Beacons(medium, 102_400_000, BeaconConfig(), beacon_ns)
    stations = [Contender(medium, np.random.default_rng([5, place])) for place in range(n)]
    for station in stations:
        saturate(station, medium.data(1538))
    env.run(until=500 * MS)
    before = sum(station.delivered for station in stations)
    env.run(until=500 * MS + round(seconds * 1e9))
    delivered = sum(station.delivered for station in stations)
    return 8e-6 * 1472 * (delivered - before) / seconds, medium, stations


@pytest.mark.parametrize(("max_ampdu_bytes", "frames"), [(8_000, 5), (20_000, 12), (65_535, 28)])
def test_saturation_of_one_station_is_that_of_the_formula(max_ampdu_bytes, frames):
    cycle_us = DIFS + 15 / 2 * 9 + together_us(*[1538] * frames) + SIFS + BLOCK_ACK
    throughput, _, _ = saturated(1, max_ampdu_bytes, 10)
    assert throughput == pytest.approx(8 * 1472 * frames / cycle_us, rel=0.003)


@pytest.mark.parametrize(("n", "max_ampdu_bytes"), NS3)
def test_saturation_throughput_is_within_1_5_percent_of_ns_3(n, max_ampdu_bytes):
    throughput, medium, stations = saturated(n, max_ampdu_bytes, 20 if n > 1 else 5, beacon_ns=NS3_BEACON_NS)
    assert throughput == pytest.approx(NS3[n, max_ampdu_bytes], rel=0.015)
    assert 0 < medium.busy_ns + medium.collided_ns <= medium.free_ns
    for station in stations:
        on_air = station.attempts - station.delivered - station.lost - station.collided
        assert on_air in (0, station.queue[0].n_frames)  # what the end of the run found on the air


class Numbered:
    """An endpoint that notes the numbers of the packets that come."""

    def __init__(self):
        self.seen, self.peer = [], self

    def receive(self, packet):
        self.seen.append(packet.seq)

    def foresee(self, packet):
        return True, False


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.sampled_from(["none", "psm:100", "dynamic:30", "uapsd:100", "twt:130.5:7", "listen:2"]),
        min_size=1, max_size=3,
    ),
    st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 2), st.booleans(), st.integers(40, 1500)), max_size=80),
    st.sampled_from([3_000, 20_000, 65_535]),
    st.sampled_from([0.0, 0.1, 0.6]),
    st.sampled_from([None, 500]),
    st.sampled_from([0, 2]),
    st.integers(0, 1000),
)  # fmt: skip
def test_in_any_cell_nothing_is_doubled_or_out_of_order_or_lost_unless_given_up(
    policies, packets, max_ampdu_bytes, loss, rts_bytes, neighbours, seed
):
    config = AirConfig(
        phy=Phy.parse("11n"), max_ampdu_bytes=max_ampdu_bytes, rts_bytes=rts_bytes, neighbours=neighbours,
        neighbour_mbps=5.0, beacons=BeaconConfig(broadcast_per_s=5.0),
    )  # fmt: skip
    world = Air(config, loss=loss, seed=seed)
    clients = [(world.client(policy), Numbered(), Numbered()) for policy in policies]
    sent = [[[], []] for _ in clients]
    for number, (at_us, who, down, size) in enumerate(sorted(packets)):
        place = who % len(clients)
        station, *ends = clients[place]
        world.until(at_us * 100 * US)
        packet = netsim.tcp.Packet(ends[down], 0, number, size - 40, 0, size)
        sent[place][down].append(number)
        (station.send_down if down else station.send)(packet)
    world.finish(world.clock.now + 800 * MS)
    cell = world.cell
    lost = 0
    for (station, *ends), numbers in zip(clients, sent, strict=True):
        for end, offered in zip(ends, numbers, strict=True):
            assert end.seen == [number for number in offered if number in set(end.seen)]
            lost += len(offered) - len(end.seen)
        times = station.state_times(world.clock.now)
        assert times.total_ns == world.clock.now
        assert min(times.doze_ns, times.waking_ns, times.receiving_ns, times.transmitting_ns) >= 0
    dropped = sum(one.dropped for one in (cell.access_point.contender, *(client.contender for client in cell.clients)))
    assert lost <= dropped
    assert loss or dropped < 3  # to collide seven times is rare
    for one in (cell.access_point.contender, *cell.neighbours, *(client.contender for client in cell.clients)):
        on_air = one.attempts - one.delivered - one.lost - one.collided
        assert on_air in (0, one.queue[0].n_frames if one.queue else 0)
    assert 0 <= cell.medium.busy_ns + cell.medium.collided_ns <= max(world.clock.now, cell.medium.free_ns)


def test_in_a_service_period_what_waits_goes_together_and_several_frames_of_the_client_are_one_trigger():
    world = Air(AirConfig(phy=SLOTLESS, max_ampdu_bytes=65_535))
    client, up, down = world.client("uapsd:100"), Numbered(), Numbered()
    for number in range(3):
        world.clock.run(until=(20 + number) * MS)
        client.send_down(netsim.tcp.Packet(down, 0, number, 1460, 0, 1500))
    world.clock.run(until=30 * MS)
    for number in range(3):
        client.send(netsim.tcp.Packet(up, 0, number, 60, 0, 100))
    world.finish(95 * MS)
    first, others = SLOTLESS.data_ns(138) // US, together_us(138, 138)
    served, ended = together_us(1538, 1538, 1538), SLOTLESS.control_ns(30) // US
    assert (up.seen, down.seen) == ([0, 1, 2], [0, 1, 2])
    # the first frame triggers, with a window of zero slots the access point and the client collide, and then again
    # the client's two together find nothing waiting, which one null frame says
    access_point = world.cell.access_point.contender
    assert (access_point.delivered, client.contender.delivered) == (4, 3)
    assert access_point.attempts - access_point.collided == 4
    sent = first + others + ACK + BLOCK_ACK
    assert client.state_times(95 * MS).receiving_ns >= (served + ended + ACK + BLOCK_ACK) * US
    assert client.state_times(95 * MS).transmitting_ns >= sent * US


def test_a_client_that_goes_to_sleep_waits_no_longer_for_a_frame_that_was_lost():
    world = Air(AirConfig(phy=Phy.parse("11n"), max_ampdu_bytes=65_535))
    client, end = world.client("none"), Numbered()
    world.clock.run(until=10 * MS)
    for number in range(3):
        client.send_down(netsim.tcp.Packet(end, 0, number, 60, 0, 100))
    access_point = world.cell.access_point.contender
    while len(access_point.queue) < 3:  # the first is on the air
        world.clock.step()
    first, second, third = access_point.queue.popleft().frames[0], *access_point.queue
    access_point.queue.extendleft([first])
    second.outcome = True  # as if all three had gone together, and only this one had been received
    client._gate_closes(first)
    assert end.seen == [1]
    assert [packet.seq for packet, _ in client._buffer.frames] == [0, 2]
    assert third.outcome is None


PAGES = [Page(f"p{i}", 300, 60_000, ((300, 30_000),), 0.3) for i in range(3)]
FAST = netsim.LinkConfig(wired_mbps=1000.0)


@pytest.mark.parametrize("policy", ["none", "psm", "dynamic:50", "uapsd", "twt:200:20", "lpsm2"])
def test_frames_of_aggregates_follow_one_another_and_one_block_ack_follows_after_sifs(policy):
    medium = AirConfig(phy=Phy.parse("11n"), max_ampdu_bytes=65_535, neighbours=1)
    config = netsim.SimulationConfig(medium=medium, link=FAST)
    recorder = AirRecorder()
    result = netsim.simulate(PAGES, policy, config=config, recorder=recorder)
    assert result.pages.equals(netsim.simulate(PAGES, policy, config=config).pages)  # notes change nothing
    assert sum(result.states_s.values()) == pytest.approx(result.elapsed_s)
    frames = recorder.frames
    polled = any(frame.kind == "poll" for frame in frames)
    downlink = [frame for frame in frames if frame.sender == "access point" and frame.aggregate >= 0]
    assert polled == (policy == "psm")
    assert ("data" in {frame.kind for frame in downlink}) != polled  # a PS-Poll is answered by one frame
    for earlier, later in pairwise(frames):
        if earlier.kind == later.kind == "data" and earlier.aggregate == later.aggregate >= 0:
            assert later.start_ns == earlier.end_ns or not earlier.received  # those of others that collide are between
        elif earlier.received or later.received:
            assert later.start_ns >= earlier.end_ns + SIFS * US
        if later.kind in ("ack", "block-ack"):
            assert later.start_ns == earlier.end_ns + SIFS * US
            assert (later.kind == "block-ack") == (earlier.aggregate >= 0)
    carried = [frame for frame in recorder.transmissions if not frame.lost]
    assert sum(frame.length for frame in carried if frame.down) == sum(page.reply_bytes + 30_000 for page in PAGES)


def test_aggregates_make_pages_faster_and_the_channel_less_busy():
    slow, fast = (
        netsim.simulate(
            PAGES, "none", engine="packet",
            config=netsim.SimulationConfig(
                medium=AirConfig(phy=Phy.parse("11n"), max_ampdu_bytes=size), link=FAST,
            ),
        )
        for size in (0, 8_000)
    )  # fmt: skip
    assert fast.downlink_air_s < slow.downlink_air_s
    assert fast.latency_s.mean() < slow.latency_s.mean()


def test_aggregates_are_refused_where_the_layer_has_none_and_by_the_compiled_engine():
    with pytest.raises(ValueError, match="max_ampdu_bytes must be 0 on 11g, only 11n can aggregate frames, got 8000"):
        AirConfig(phy=Phy.parse("11g"), max_ampdu_bytes=8000)
    with pytest.raises(ValueError, match=r"max_ampdu_bytes must lie in \[0, 65535\], got 65536"):
        AirConfig(phy=Phy.parse("11n"), max_ampdu_bytes=65_536)
    config = netsim.SimulationConfig(medium=AirConfig(phy=Phy.parse("11n"), max_ampdu_bytes=8000))
    with pytest.raises(netsim.express.NotCoveredError, match="frames go together"):
        netsim.simulate(PAGES, "psm", config=config, engine="express")
