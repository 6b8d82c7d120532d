"""Contention: hand-computed exchanges, saturation against ns-3.44 and Bianchi's model, and laws of any cell."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim import AirConfig, AirRecorder, BeaconConfig, Phy
from netsim.model.air import exchange_times
from netsim.model.air.channel import advance_beacons
from tests.netsim.air.cells import US, Air, S, add_up

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


def saturated(spec, n, mpdu_bytes=1536, *, beacon_ns=0, attempts=10**9, eifs=False, rts_bytes=None):
    """A cell of stations that always have a frame of this size; beacons as long as asked for, or none."""
    phy = Phy.parse(spec)
    world = Air(
        air=AirConfig(phy=phy, neighbours=n, rts_bytes=rts_bytes), interval_ns=102_400_000 if beacon_ns else 10**15
    )
    run = world.run
    run.beacon_air, run.attempts = beacon_ns, attempts
    run.after_collision = phy.eifs_ns if eifs else run.after_collision
    for station in run.contenders[1:]:
        station.alike.exchange = run.exchanges[mpdu_bytes]
    return world


def throughput_mbps(world, payload_bytes, seconds, warm_up_s=0.5):
    world.until(round(warm_up_s * S))
    before = total(world, "delivered")
    world.until(round((warm_up_s + seconds) * S))
    add_up(world.run)
    return (total(world, "delivered") - before) * payload_bytes * 8 / seconds / 1e6


def total(world, name):
    return sum(getattr(station, name) for station in world.contenders[1:])


@pytest.mark.parametrize(("spec", "n"), NS3)
def test_saturation_throughput_is_within_1_5_percent_of_ns_3_at_every_number_of_stations(spec, n):
    cell = saturated(spec, n, 1064, beacon_ns=NS3_BEACON_NS, attempts=7)
    assert throughput_mbps(cell, 1000, 20 if spec == "11b" else 8) == pytest.approx(NS3[spec, n], rel=0.015)


@pytest.mark.parametrize("n", NS3_RTS)
def test_saturation_throughput_with_rts_and_cts_is_within_2_percent_of_ns_3(n):
    cell = saturated("11b", n, 1064, beacon_ns=NS3_BEACON_NS, attempts=7, rts_bytes=0)
    assert throughput_mbps(cell, 1000, 20) == pytest.approx(NS3_RTS[n], rel=0.02)


@pytest.mark.long
@pytest.mark.parametrize(("spec", "n"), BIANCHI)
def test_saturation_is_within_2_percent_of_bianchi_and_between_its_forms(spec, n):
    after_difs, after_eifs = BIANCHI[spec, n]
    seconds = 5 if spec == "11a:54" else 25
    ours, waiting = (
        throughput_mbps(saturated(spec, n, eifs=eifs), 1500, seconds, warm_up_s=seconds / 5) for eifs in (False, True)
    )
    assert ours == pytest.approx(after_difs, rel=0.02)
    assert after_eifs * 0.99 <= ours <= after_difs * 1.01
    assert after_eifs * 0.97 <= waiting < ours


@pytest.mark.parametrize("n", [2, 5, 20])
def test_the_share_of_frames_that_collide_is_that_of_bianchis_fixed_point(n):
    cell = saturated("11a:54", n)
    throughput_mbps(cell, 1500, 6)
    window, stages = 16, 6
    low, high = 0.0, 1.0  # p is found where the two equations of the model meet
    for _ in range(60):
        p = (low + high) / 2
        tau = 2 / (1 + window + p * window * sum((2 * p) ** i for i in range(stages)))
        low, high = (p, high) if 1 - (1 - tau) ** (n - 1) > p else (low, p)
    share = 1 / window  # of successes is followed at once, in the slot that is the winner's alone
    p /= 1 + (1 - p) * share / (1 - share)
    assert total(cell, "collided") / total(cell, "attempts") == pytest.approx(p, abs=0.015)


# -- by hand: frames of 1028 bytes of IP are 1064 on the air, 186 us at 54 Mb/s, with ACKs of 34 us


def alone(spec="11g:54", *, cw_min=0, cw_max=1023, clients=1, **options):
    phy = Phy.parse(spec)
    phy = Phy(kind=phy.kind, rate_mbps=phy.rate_mbps, cw_min=cw_min, cw_max=cw_max)
    return Air(*["none"] * clients, air=AirConfig(phy=phy, **options))


@pytest.mark.parametrize(("spec", "distance_us"), [("11b:11", 1274), ("11g:54", 258)])
def test_with_a_window_of_zero_frames_follow_each_other_at_the_distances_of_captures(spec, distance_us):
    world = alone(spec)
    for _ in range(4):
        world.up(0, 0, 1028)
    world.finish(10**8 - 1)
    assert np.diff(world.arrived_us()).tolist() == [distance_us] * 3


def test_a_frame_that_finds_the_channel_idle_for_difs_is_sent_at_once_and_one_that_finds_it_busy_backs_off():
    world = alone(cw_min=15, clients=2)
    world.up(0, 500 * US, 1028)
    world.up(1, 510 * US, 1028)
    world.finish(50_000 * US)
    first, second = world.arrived_us()
    assert first == 500 + 186
    backoff, rest = divmod(second - (500 + 186 + 10 + 34 + 28 + 186), 9)
    assert rest == 0
    assert 0 <= backoff <= 15


def test_two_whose_backoff_ends_in_the_same_slot_lose_both_frames_and_give_up_after_seven_attempts():
    world = alone(cw_max=0, clients=2)
    world.up(0, 0, 64)  # keeps the channel busy
    for who in (0, 1):
        world.up(who, 0, 1028)
    world.finish(99_000 * US)
    _, one, two = world.contenders
    assert world.arrived_us() == [20 + 4 * 4 + 6]  # 822 bits, 216 a symbol
    assert (one.collided, two.collided, one.dropped, two.dropped) == (7, 7, 1, 1)
    assert [client.lost for client in world.clients] == [1, 1]
    assert world.run.collided == 7 * 186 * US
    assert world.run.busy == (42 + 10 + 34) * US


def test_rts_and_cts_go_before_frames_that_are_long_enough_and_only_the_rts_collides():
    times = exchange_times.data_table(Phy.parse("11b:11"), 500, 1500)
    first, _, in_all, sent, received, data, *_ = (times[1064] // US).tolist()
    assert times[499][0] == Phy.parse("11b:11").data_ns(499)
    assert (first, in_all) == (352, 352 + 10 + 304 + 10 + 966 + 10 + 248)
    assert (sent, received, data) == (352 + 966, 304 + 248, 966)


def test_a_beacon_goes_first_at_its_time_and_after_what_is_on_the_air_and_is_late_then():
    recorder = AirRecorder()
    world = Air("none", recorder=recorder)
    for _ in range(2):
        world.up(0, 199_990 * US, 1028)
    world.finish(310_000 * US)
    late = 199_990 + 186 + 10 + 34 + 19  # after the exchange, PIFS
    beacons = [(frame.start_ns / US, frame.end_ns / US) for frame in recorder.frames if frame.kind == "beacon"]
    assert beacons == [(at, at + 294) for at in (100_000, late, 300_000)]
    assert world.arrived_us()[1] >= late + 294 + 28 + 186  # the second frame waits for the beacon
    assert world.run.late == [2, (late - 200_000) * US]


def test_beacons_that_nobody_waits_for_take_no_event_and_use_the_channel_all_the_same():
    world = Air(air=AirConfig(beacons=BeaconConfig(size_bytes=100)), interval_ns=102_400 * US)
    advance_beacons(world.run, 3600 * S)
    assert world.run.next_beacon == 35157
    assert world.run.busy == 35156 * world.run.beacon_air > 0
    assert not world.run.late
    assert world.clock.peek() == float("inf")


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(["11b:1", "11b", "11g", "11a:6", "11n"]),
    st.lists(st.tuples(st.integers(0, 60_000), st.integers(41, 1500)), min_size=1, max_size=60),
    st.integers(1, 8),
    st.sampled_from([0.0, 0.1, 0.6]),
    st.sampled_from([None, 0, 800]),
    st.booleans(),
    st.integers(0, 10**6),
)
def test_in_any_cell_time_and_frames_add_up(spec, frames, n, loss, rts_bytes, eifs, seed):
    recorder, phy = AirRecorder(), Phy.parse(spec)
    air = AirConfig(phy=phy, rts_bytes=rts_bytes, beacons=BeaconConfig(size_bytes=60))
    world = Air(*["none"] * n, air=air, loss=loss, seed=seed, interval_ns=10_000 * US, recorder=recorder)
    world.run.after_collision = phy.eifs_ns if eifs else phy.difs_ns
    for i, (at_us, size) in enumerate(frames):
        world.up(i % n, max(world.clock.now + 1, at_us * US), size)
    world.finish(world.clock.now + 60 * S)
    dropped = add_up(world.run)
    stations = world.contenders[1:]
    assert not any(station.queue.count for station in stations)
    assert sum(station.delivered for station in stations) == len(world.arrived_us()) == len(frames) - dropped
    for earlier, later in pairwise(recorder.frames):  # nobody begins while a frame is on the air, but who collides
        assert later.start_ns >= earlier.end_ns + phy.sifs_ns or later.start_ns == earlier.start_ns
    assert world.run.next_beacon - 1 == world.clock.now // world.run.interval
