"""Contention: hand-computed exchanges, saturation against ns-3.44 and Bianchi's model, and laws of any cell."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.air.access import Contender, Medium
from netsim.air.air_times import Phy
from netsim.air.beacons import BeaconConfig, Beacons
from netsim.air.cell import saturate
from netsim.air.exchanges import Transmission
from netsim.clock import Clock

US = 1000
# UDP of 1000 bytes from n saturated stations, Mb/s: own runs of ns-3.44 (wheel `ns3` 3.44.post0), whose access point
# sends a beacon every 102.4 ms; both of its layers send it at 1 Mb/s with the long preamble.
NS3 = {
    ("11b", 1): 5.0157, ("11b", 5): 5.3483, ("11b", 10): 5.1723, ("11b", 20): 4.8928,
    ("11g", 1): 24.376, ("11g", 5): 24.223, ("11g", 10): 23.071, ("11g", 20): 21.788,
}  # fmt: skip
NS3_RTS = {5: 3.7808, 20: 3.7224}
NS3_BEACON_NS = 832 * US  # 80 bytes
# Bianchi's model for 1500 bytes and unlimited attempts, (after DIFS, after EIFS) in Mb/s, as ns-3.48's own test
# (src/wifi/examples/wifi-bianchi.cc) holds it
BIANCHI = {
    ("11a:54", 5): (29.8324, 29.2861), ("11a:54", 20): (26.2925, 25.3325), ("11a:54", 50): (23.5618, 22.4162),
    ("11a:6", 5): (4.7087, 4.6899), ("11a:6", 20): (3.9899, 3.9589), ("11a:6", 50): (3.5071, 3.4711),
    ("11b:11", 5): (6.4734, 6.3821), ("11b:11", 20): (5.7819, 5.5765), ("11b:11", 50): (5.1745, 4.9103),
}  # fmt: skip


class Saturated:
    """A cell of stations that always have a frame."""

    def __init__(self, spec, n, mpdu_bytes, *, seed=0, beacon_ns=0, **options):
        self.env = Clock()
        self.medium = Medium(self.env, Phy.parse(spec), **options)
        if beacon_ns:
            Beacons(self.medium, 102_400_000, BeaconConfig(), beacon_ns)
        exchange = self.medium.data(mpdu_bytes)
        self.stations = []
        for i in range(n):
            rng = np.random.default_rng([seed, i])
            station = Contender(self.medium, rng)
            self.stations.append(station)
            saturate(station, exchange)

    def throughput_mbps(self, payload_bytes, seconds, warm_up_s=0.5):
        self.env.run(until=round(warm_up_s * 1e9))
        before = self.total("delivered")
        self.env.run(until=round((warm_up_s + seconds) * 1e9))
        return (self.total("delivered") - before) * payload_bytes * 8 / seconds / 1e6

    def total(self, name):
        return sum(getattr(station, name) for station in self.stations)


@pytest.mark.parametrize(("spec", "n"), NS3)
def test_saturation_throughput_is_within_1_5_percent_of_ns_3_at_every_number_of_stations(spec, n):
    seconds = 20 if spec == "11b" else 8
    ours = Saturated(spec, n, 1064, beacon_ns=NS3_BEACON_NS).throughput_mbps(1000, seconds)
    assert ours == pytest.approx(NS3[spec, n], rel=0.015)


@pytest.mark.parametrize("n", NS3_RTS)
def test_saturation_throughput_with_rts_and_cts_is_within_2_percent_of_ns_3(n):
    ours = Saturated("11b", n, 1064, beacon_ns=NS3_BEACON_NS, rts_bytes=0).throughput_mbps(1000, 20)
    assert ours == pytest.approx(NS3_RTS[n], rel=0.02)


@pytest.mark.parametrize(("spec", "n"), BIANCHI)
def test_saturation_is_within_2_percent_of_bianchi_and_between_its_forms(spec, n):
    difs, eifs = BIANCHI[spec, n]
    seconds = 5 if spec == "11a:54" else 25
    cell = Saturated(spec, n, 1536, attempts=10**9)
    ours = cell.throughput_mbps(1500, seconds, warm_up_s=seconds / 5)
    assert ours == pytest.approx(difs, rel=0.02)
    assert eifs * 0.99 <= ours <= difs * 1.01
    waiting = Saturated(spec, n, 1536, attempts=10**9, eifs_after_collision=True)
    assert eifs * 0.97 <= waiting.throughput_mbps(1500, seconds, warm_up_s=seconds / 5) < ours


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_share_of_frames_that_collide_is_that_of_bianchis_fixed_point(n):
    cell = Saturated("11a:54", n, 1536, attempts=10**9)
    cell.throughput_mbps(1500, 6)
    window, stages = 16, 6
    low, high = 0.0, 1.0  # p is found where the two equations of the model meet
    for _ in range(60):
        p = (low + high) / 2
        tau = 2 / (1 + window + p * window * sum((2 * p) ** i for i in range(stages)))
        low, high = (p, high) if 1 - (1 - tau) ** (n - 1) > p else (low, p)
    share = 1 / window  # of successes is followed at once, in the slot that is the winner's alone
    p /= 1 + (1 - p) * share / (1 - share)
    assert cell.total("collided") / cell.total("attempts") == pytest.approx(p, abs=0.015)


def alone(spec="11g:54", cw_min=0, **options):
    env = Clock()
    phy = Phy.parse(spec)
    medium = Medium(env, Phy(kind=phy.kind, rate_mbps=phy.rate_mbps, cw_min=cw_min), **options)
    return env, medium, Contender(medium, np.random.default_rng(0))


def test_with_a_window_of_zero_frames_follow_each_other_at_the_distances_of_captures():
    for spec, distance_us in (("11b:11", 1274), ("11g:54", 258)):
        env, medium, station = alone(spec)
        received = []
        for _ in range(4):
            station.send(Transmission(medium.data(1064), lambda _, env=env, seen=received: seen.append(env.now)))
        env.run(until=10**8)
        assert np.diff(received).tolist() == [distance_us * US] * 3


def test_a_poll_is_answered_by_data_after_sifs_and_that_by_an_ack():
    env, medium, station = alone()
    at = []
    env.run(until=1000 * US)
    station.send(Transmission(medium.polled(1536), lambda _: at.append((env.now, medium.free_ns))))
    env.run(until=10_000 * US)
    poll, data, ack = 34, 254, 34  # 182 bits at 96 a symbol are 2 symbols: 20 + 8 + 6; as computed by hand
    assert at == [((1000 + poll + 10 + data) * US, (1000 + poll + 10 + data + 10 + ack) * US)]
    assert (station.sent_ns, station.received_ns) == ((poll + ack) * US, data * US)


def test_a_frame_that_finds_the_channel_idle_for_difs_is_sent_at_once_and_one_that_finds_it_busy_backs_off():
    env, medium, first = alone(cw_min=15)
    second = Contender(medium, np.random.default_rng(1))
    seen = []
    env.run(until=500 * US)
    first.send(Transmission(medium.data(1064), lambda _: seen.append(env.now)))
    env.run(until=510 * US)
    second.send(Transmission(medium.data(1064), lambda _: seen.append(env.now)))
    env.run(until=50_000 * US)
    assert seen[0] == (500 + 186) * US
    backoff, rest = divmod(seen[1] - (500 + 186 + 10 + 34 + 28 + 186) * US, 9 * US)
    assert rest == 0
    assert 0 <= backoff <= 15


def test_two_whose_backoff_ends_in_the_same_slot_lose_both_frames_and_give_up_after_seven_attempts():
    env, medium, one = alone(cw_min=0)
    medium.phy = Phy(cw_min=0, cw_max=0)
    two = Contender(medium, np.random.default_rng(1))
    ends = []
    one.send(Transmission(medium.data(100), lambda _: ends.append("sent")))  # keeps the channel busy
    for station in (one, two):
        station.send(Transmission(medium.data(1064), lambda _: ends.append("sent"), ends.append))
    env.run(until=10**9)
    assert ends == ["sent", False, False]
    assert (one.collided, two.collided, one.dropped, two.dropped) == (7, 7, 1, 1)
    assert medium.collided_ns == 7 * 186 * US
    assert medium.busy_ns == medium.data(100).total_ns


def test_rts_and_cts_go_before_frames_that_are_long_enough_and_only_the_rts_collides():
    _, medium, _ = alone("11b:11", rts_bytes=500)
    assert medium.data(499).first_ns == medium.phy.data_ns(499)
    exchange = medium.data(1064)
    assert exchange.first_ns == 352 * US
    assert exchange.total_ns == (352 + 10 + 304 + 10 + 966 + 10 + 248) * US


def test_a_beacon_goes_first_at_its_time_and_after_what_is_on_the_air_and_is_late_then():
    env, medium, station = alone(cw_min=15)
    beacons = Beacons(medium, 100_000 * US, BeaconConfig())
    heard, seen = [], []
    for n in (1, 2, 3):
        beacons.listen(n, lambda start, end: heard.append((start, end)))
    env.run(until=199_990 * US)
    station.send(Transmission(medium.data(1064), lambda _: seen.append(env.now)))
    station.send(Transmission(medium.data(1064), lambda _: seen.append(env.now)))
    env.run(until=400_000 * US)
    late = 199_990 + 186 + 10 + 34 + 19  # after the exchange, PIFS
    assert heard == [(100_000 * US, 100_294 * US), (late * US, (late + 294) * US), (300_000 * US, 300_294 * US)]
    assert seen[1] >= (late + 294 + 28 + 186) * US  # the second frame waits for the beacon
    assert beacons.late_ns == {2: (late - 200_000) * US}


def test_beacons_that_nobody_waits_for_take_no_event_and_use_the_channel_all_the_same():
    _, medium, _ = alone()
    beacons = Beacons(medium, 102_400 * US, BeaconConfig(size_bytes=100))
    medium.advance(3_600_000_000 * US)
    assert beacons.next_n == 35157
    assert medium.busy_ns == 35156 * beacons.air_ns
    assert not beacons.late_ns


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["11b:1", "11b", "11g", "11a:6", "11n"]),
    st.lists(st.tuples(st.integers(0, 60_000), st.integers(40, 1536)), min_size=1, max_size=60),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.1, 0.6]),
    st.sampled_from([None, 0, 800]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_in_any_cell_time_and_frames_add_up(spec, frames, n, loss, rts_bytes, eifs, seed):
    env = Clock()
    medium = Medium(
        env, Phy.parse(spec), loss=np.random.default_rng(seed), loss_rate=loss, rts_bytes=rts_bytes,
        eifs_after_collision=eifs,
    )  # fmt: skip
    beacons = Beacons(medium, 10_000 * US, BeaconConfig(size_bytes=60))
    stations = [Contender(medium, np.random.default_rng([seed, i])) for i in range(n)]
    on_air, ended = [], []
    transmit = medium._transmit

    def noting(senders):
        on_air.append((env.now, senders[0].queue[0].exchange.first_ns))
        transmit(senders)

    medium._transmit = noting
    for i, (at_us, size) in enumerate(frames):
        env.run(until=max(env.now + 1, at_us * US))
        stations[i % n].send(Transmission(medium.data(size), lambda _: None, ended.append))
    env.run(until=env.now + 60 * 10**9)
    medium.advance(env.now)
    for station in stations:
        assert station.attempts == station.delivered + station.lost + station.collided
        assert not station.queue
    assert sum(station.delivered for station in stations) == sum(ended)
    assert sum(station.dropped for station in stations) == len(frames) - sum(ended)
    assert 0 <= medium.busy_ns + medium.collided_ns <= max(env.now, medium.free_ns)
    for (start, length), (following, _) in pairwise(on_air):
        assert following >= start + length + medium.phy.sifs_ns  # nobody begins while a frame is on the air
    assert beacons.next_n - 1 == env.now // beacons.interval_ns
