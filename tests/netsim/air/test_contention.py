"""Contention and frames that go together: saturation against ns-3.44 and Bianchi's model, exchanges by hand, order."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim import AirConfig, BeaconConfig, Phy, SimulationConfig, simulate_cell
from tests.netsim.air.cells import MS, US, Air, S, add_up
from tests.tables import cases_of, each, near
from traces.records import Page

# UDP from n saturated stations, Mb/s, by (PHY, n, bytes of payload, RTS, BE_MaxAmpduSize): own runs of ns-3.44 (wheel
# `ns3` 3.44.post0) of 5 to 20 s, aggregates without explicit block-ACK requests; its access point sends a beacon every
# 102.4 ms at 1 Mb/s with the long preamble, of 80 bytes, or of 152 on 11n; the last is the mean of six, 41.5 to 45.5
NS3 = """
11b 1 1000 None 0 5.0157; 11b 5 1000 None 0 5.3483; 11b 10 1000 None 0 5.1723; 11b 20 1000 None 0 4.8928;
11g 1 1000 None 0 24.376; 11g 5 1000 None 0 24.223; 11g 10 1000 None 0 23.071; 11g 20 1000 None 0 21.788;
11b 5 1000 0 0 3.7808; 11b 20 1000 0 0 3.7224; 11n:65 1 1472 None 8000 51.007; 11n:65 1 1472 None 65535 58.995;
11n:65 5 1472 None 8000 45.625; 11n:65 5 1472 None 65535 50.675; 11n:65 20 1472 None 8000 38.532;
11n:65 20 1472 None 65535 42.97
"""
# Bianchi's model for 1500 bytes and unlimited attempts, (after DIFS, after EIFS) in Mb/s, as ns-3.48's own test
# (src/wifi/examples/wifi-bianchi.cc) holds it
BIANCHI = """
11a:54 5 29.8324 29.2861; 11a:54 20 26.2925 25.3325; 11a:54 50 23.5618 22.4162; 11a:6 5 4.7087 4.6899;
11a:6 20 3.9899 3.9589; 11a:6 50 3.5071 3.4711; 11b:11 5 6.4734 6.3821; 11b:11 20 5.7819 5.5765;
11b:11 50 5.1745 4.9103
"""


def saturated(spec, n, payload_bytes, seconds, *, beacon_bytes=0, attempts=10**9, eifs=False, warm_up_s=0.5, **air):
    """Throughput in Mb/s of stations that always have a frame, their share of collisions, and their cell."""
    phy = Phy.parse(spec)
    world = Air(air=AirConfig(phy=phy, neighbours=n, **air), interval_ns=102_400_000 if beacon_bytes else 10**15)
    run, stations = world.run, world.contenders[1:]
    run.beacon_air, run.attempts = beacon_bytes and (192 + 8 * beacon_bytes) * US, attempts
    run.after_collision = phy.eifs_ns if eifs else run.after_collision
    for station in stations if phy.kind != "11n" else ():
        station.template.exchange = run.exchanges[
            payload_bytes + (36 if payload_bytes == 1500 else 64)
        ]  # of IP, or of UDP
    world.until(round(warm_up_s * S))
    before = sum(station.delivered for station in stations)
    world.until(round((warm_up_s + seconds) * S))
    add_up(run)
    delivered, collided, sent = (sum(getattr(one, name) for one in stations)
                                 for name in ("delivered", "collided", "attempts"))  # fmt: skip
    return (delivered - before) * payload_bytes * 8 / seconds / 1e6, collided / sent


@cases_of("engine per_s", "'express', 60.0 ; 'packet', 1000.0")
def test_more_group_frames_than_the_channel_carries_are_an_error_and_as_many_as_it_does_are_none(engine, per_s):
    def run(spec, broadcast_per_s):
        beacons = BeaconConfig(broadcast_per_s=broadcast_per_s, broadcast_bytes=300)
        config = SimulationConfig(medium=AirConfig(phy=Phy.parse(spec), beacons=beacons, neighbours=3))
        return simulate_cell([([Page("a", 300, 20_000)], "none")] * 2, config=config, engine=engine)

    with pytest.raises(ValueError,
        match=rf"broadcast_per_s must leave time.* 11b:1 beside 3 neighbours, got {per_s:g}"):  # fmt: skip
        run("11b:1", per_s)
    assert all(len(result.latency_s) == 1 for result in run("11g:54", 60.0))


@each("row", [pytest.param(row, marks=pytest.mark.long) if place % 3 else row
    for place, row in enumerate(NS3.strip().split(";"))])  # fmt: skip
def test_saturation_throughput_is_that_of_ns_3(row):
    spec, *rest = row.split()
    n, payload_bytes, rts_bytes, max_ampdu_bytes, expected = map(ast.literal_eval, rest)
    seconds = 8 if spec == "11g" else 5 if (spec, n) == ("11n:65", 1) else 20
    found, _ = saturated(spec, n, payload_bytes, seconds, beacon_bytes=152 if max_ampdu_bytes else 80, attempts=7,
                         rts_bytes=rts_bytes, max_ampdu_bytes=max_ampdu_bytes)  # fmt: skip
    assert found == near(expected, rel=0.015 if rts_bytes is None else 0.02)


def test_nothing_that_goes_together_is_given_up_and_eight_failures_in_a_row_make_the_window_the_least_again():
    air = AirConfig(phy=Phy.parse("11n:65"), neighbours=1, max_ampdu_bytes=8000, block_ack_requests=True)
    world, windows = Air(air=air, loss=0.5), []
    world.run.loss_rate, station = 1.0, world.contenders[1]
    for step in range(12_000):
        before = station.failures, station.cw
        world.until(step * 50 * US)
        windows += [station.cw] * ((station.failures, station.cw) != before)
    assert windows[:18] == [31, 63, 127, 255, 511, 1023, 1023, 15] * 2 + [31, 63]
    assert (station.delivered, station.dropped, station.queue.count) == (0, 0, 64)


@pytest.mark.long
@each("row", BIANCHI.strip().split(";"))
def test_saturation_is_within_2_percent_of_bianchi_and_between_its_forms(row):
    spec, *rest = row.split()
    n, after_difs, after_eifs = map(ast.literal_eval, rest)
    seconds = 5 if spec == "11a:54" else 25
    (ours, _), (waiting, _) = (saturated(spec, n, 1500, seconds, eifs=eifs, warm_up_s=seconds / 5)
                               for eifs in (False, True))  # fmt: skip
    assert ours == near(after_difs, rel=0.02)
    assert after_eifs * 0.99 <= ours <= after_difs * 1.01
    assert after_eifs * 0.97 <= waiting < ours


@each("n", [5, *(pytest.param(n, marks=pytest.mark.long) for n in (2, 20))])
def test_the_share_of_frames_that_collide_is_that_of_bianchis_fixed_point(n):
    window, stages = 16, 6
    low, high = 0.0, 1.0  # p is found where the two equations of the model meet
    for _ in range(60):
        p = (low + high) / 2
        tau = 2 / (1 + window + p * window * sum((2 * p) ** i for i in range(stages)))
        low, high = (p, high) if 1 - (1 - tau) ** (n - 1) > p else (low, p)
    share = 1 / window  # of successes is followed at once, in the slot that is the winner's alone
    p /= 1 + (1 - p) * share / (1 - share)
    assert saturated("11a:54", n, 1500, 6)[1] == near(p, abs=0.015)


# -- by hand: frames of 1028 bytes of IP are 1064 on the air, 186 us at 54 Mb/s, with ACKs of 34 us
def test_a_frame_that_finds_the_channel_idle_for_difs_is_sent_at_once_and_one_that_finds_it_busy_backs_off():
    world = Air("none", "none", air=AirConfig(phy=Phy(kind="11g", cw_min=15)))
    world.up(0, 500 * US, 1028)
    world.up(1, 510 * US, 1028)
    world.finish(50_000 * US)
    first, second = world.arrived_us()
    assert first == 500 + 186
    backoff, rest = divmod(second - (500 + 186 + 10 + 34 + 28 + 186), 9)
    assert rest == 0
    assert 0 <= backoff <= 15


def test_two_whose_backoff_ends_in_the_same_slot_lose_both_frames_and_give_up_after_seven_attempts():
    world = Air("none", "none", air=AirConfig(phy=Phy(kind="11g", cw_min=0, cw_max=0)))
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


# -- frames that go together on 11n at 65 Mb/s
@cases_of("sizes max_ampdu_bytes together", """
[1538] * 60, 65_535, 28  # 29 would last more than 5.484 ms: as in captures of ns-3.44
[1538] * 20, 8_000, 5
[79] * 100, 65_535, 64  # as many as the map of a block ACK has bits
[3000, 4096, 3000], 65_535, 1  # a delimiter tells of 4095 bytes at most
[1538] * 5, 1_000, 1
""")  # fmt: skip
def test_as_many_frames_go_together_as_fit(sizes, max_ampdu_bytes, together):
    world = Air("none", air=AirConfig(phy=Phy(kind="11n", cw_min=0, cw_max=0), max_ampdu_bytes=max_ampdu_bytes))
    for size in (1538, *sizes):
        world.up(0, 0, size - 38)
    world.finish(99 * MS)
    instants = world.arrived_us()
    assert instants.count(instants[1]) == together
    assert len(instants) == 1 + len(sizes)


@settings(max_examples=30)
@given(st.lists(st.sampled_from(["none", "psm:100", "dynamic:30", "uapsd:100", "twt:130.5:7"]), min_size=1, max_size=3),
    st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 2), st.booleans(), st.integers(41, 1500)), max_size=80),
    st.sampled_from([3_000, 20_000, 65_535]), st.sampled_from([0.0, 0.1, 0.6]), st.sampled_from([None, 500]),
    st.sampled_from([0, 2]), st.integers(0, 1000))  # fmt: skip
def test_in_any_cell_nothing_is_doubled_or_out_of_order_or_lost_unless_given_up(
    policies, packets, max_ampdu_bytes, loss, rts_bytes, neighbours, seed
):
    air = AirConfig(phy=Phy.parse("11n"), max_ampdu_bytes=max_ampdu_bytes, rts_bytes=rts_bytes, neighbours=neighbours,
        neighbour_mbps=5.0, beacons=BeaconConfig(broadcast_per_s=5.0))  # fmt: skip
    world = Air(*policies, air=air, loss=loss, seed=seed)
    offered = {(who, down): [] for who in range(len(policies)) for down in (False, True)}
    for number, (at, who, down, size) in enumerate(sorted(packets)):
        who %= len(policies)
        (world.down if down else world.up)(who, at * 100 * US, size, number)
        offered[who, down].append(number)
    world.finish(world.clock.now + 800 * MS)
    lost = 0
    for (who, down), numbers in offered.items():
        arrived = world.numbers(who, down=down)
        assert arrived == [number for number in numbers if number in set(arrived)]
        lost += len(numbers) - len(arrived)
    dropped = add_up(world.run)
    assert lost <= dropped
    assert loss or dropped < 3  # to collide seven times is rare


def test_a_neighbour_with_more_than_the_channel_carries_has_a_full_queue_and_sends_as_one_that_is_never_idle():
    delivered = []
    for mbps in (0.0, 500.0):
        phy = Phy.parse("11n:65")
        air = AirConfig(phy=phy, neighbours=1, neighbour_mbps=mbps, max_ampdu_bytes=65_535)
        world = Air(air=air, interval_ns=10**15)
        world.finish(300 * MS)
        station = world.contenders[1]
        delivered.append(station.delivered)
    assert 900 < station.queue.count <= 1000
    assert delivered[1] == near(delivered[0], rel=0.1)
