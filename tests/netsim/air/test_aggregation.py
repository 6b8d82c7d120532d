"""Frames that go together: exchanges by hand, saturation against ns-3.44 and a formula, order, and what adds up."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim import AirConfig, BeaconConfig, Phy
from netsim.config import MAX_AMPDU_BYTES
from netsim.model.air.aggregation import with_delimiter
from netsim.model.air.exchanges import hold_line
from netsim.model.codes import RECEIVED
from tests.netsim.air.cells import MS, US, Air, S, add_up

# 802.11n at 65 Mb/s and 2.4 GHz with a window of zero slots, whose exchanges `test_on_air` has by hand
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


def arrived_us(*sizes, max_ampdu_bytes):
    """When frames of these sizes arrive that a station without backoff sends."""
    world = Air("none", air=AirConfig(phy=SLOTLESS, max_ampdu_bytes=max_ampdu_bytes))
    for size in sizes:
        world.up(0, 0, size - 38)
    world.finish(99 * MS)
    return world.arrived_us()


def test_the_size_of_frames_together_counts_delimiters_and_padding_but_none_after_the_last():
    assert with_delimiter(0, 1538) == 1542
    assert with_delimiter(1542, 100) == 1542 + 2 + 4 + 100
    assert together_us(1538, 100) * US == SLOTLESS.data_ns(1648)


@pytest.mark.parametrize(
    ("sizes", "max_ampdu_bytes", "together"),
    [
        ([1538] * 60, 65_535, 28),  # 29 would last more than 5.484 ms: as in captures of ns-3.44
        ([1538] * 20, 8_000, 5),
        ([79] * 100, 65_535, 64),  # as many as the map of a block ACK has bits
        ([3000, 4096, 3000], 65_535, 1),  # a delimiter tells of 4095 bytes at most
        ([1538] * 5, 1_000, 1),
    ],
)
def test_as_many_frames_go_together_as_fit(sizes, max_ampdu_bytes, together):
    instants = arrived_us(1538, *sizes, max_ampdu_bytes=max_ampdu_bytes)
    assert instants.count(instants[1]) == together
    assert len(instants) == 1 + len(sizes)


def saturated(n, max_ampdu_bytes, seconds, *, beacon_ns=0):
    """Throughput of n saturated stations whose packets have 1472 bytes of payload, and their cell."""
    air = AirConfig(phy=Phy.parse("11n:65"), max_ampdu_bytes=max_ampdu_bytes, neighbours=n)
    world = Air(air=air, interval_ns=102_400_000 if beacon_ns else 10**15)
    world.run.beacon_air = beacon_ns
    world.until(500 * MS)
    before = sum(station.delivered for station in world.contenders)
    world.until(500 * MS + round(seconds * S))
    return 8e-6 * 1472 * (sum(station.delivered for station in world.contenders) - before) / seconds, world


@pytest.mark.parametrize(("n", "max_ampdu_bytes"), NS3)
def test_saturation_throughput_is_within_1_5_percent_of_ns_3(n, max_ampdu_bytes):
    throughput, world = saturated(n, max_ampdu_bytes, 20 if n > 1 else 5, beacon_ns=NS3_BEACON_NS)
    assert throughput == pytest.approx(NS3[n, max_ampdu_bytes], rel=0.015)
    add_up(world.run)


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.sampled_from(["none", "psm:100", "dynamic:30", "uapsd:100", "twt:130.5:7", "listen:2"]),
        min_size=1, max_size=3,
    ),
    st.lists(st.tuples(st.integers(0, 3_000), st.integers(0, 2), st.booleans(), st.integers(41, 1500)), max_size=80),
    st.sampled_from([3_000, 20_000, 65_535]),
    st.sampled_from([0.0, 0.1, 0.6]),
    st.sampled_from([None, 500]),
    st.sampled_from([0, 2]),
    st.integers(0, 1000),
)  # fmt: skip
def test_in_any_cell_nothing_is_doubled_or_out_of_order_or_lost_unless_given_up(
    policies, packets, max_ampdu_bytes, loss, rts_bytes, neighbours, seed
):
    air = AirConfig(
        phy=Phy.parse("11n"), max_ampdu_bytes=max_ampdu_bytes, rts_bytes=rts_bytes, neighbours=neighbours,
        neighbour_mbps=5.0, beacons=BeaconConfig(broadcast_per_s=5.0),
    )  # fmt: skip
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
    for who in range(len(policies)):
        times = world.states(who)
        assert times.total_ns == world.clock.now
        assert min(times.doze_ns, times.waking_ns, times.receiving_ns, times.transmitting_ns) >= 0
    dropped = add_up(world.run)
    assert lost <= dropped
    assert loss or dropped < 3  # to collide seven times is rare


def test_frames_of_a_client_that_go_together_are_a_trigger():
    world = Air("uapsd", "none", air=AirConfig(phy=SLOTLESS, max_ampdu_bytes=MAX_AMPDU_BYTES))
    world.down(0, 20 * MS, number=7)
    world.down(1, 30 * MS, number=8)  # keeps the channel busy
    for number in range(2):
        world.up(0, 30 * MS + 1, number=number)
    world.finish(95 * MS)
    assert world.numbers(0, down=False) == [0, 1]
    assert world.clients[0].contender.attempts == 2
    assert world.numbers(0, down=True) == [7]


def test_a_client_that_goes_to_sleep_waits_no_longer_for_a_frame_that_was_lost():
    world = Air("none", air=AirConfig(phy=Phy.parse("11n"), max_ampdu_bytes=65_535))
    for number in range(3):
        world.down(0, 10 * MS, 100, number)
    access_point, client = world.contenders[0], world.clients[0]
    while access_point.queue.count < 3:  # the first is on the air
        world.clock.step()
    access_point.queue.head.link.outcome = RECEIVED  # as if all three had gone together, and only this one come
    hold_line(world.run, client)
    assert world.numbers(0, down=True) == [1]
    held = client.buffer
    assert [held.count, held.head.seq, held.head.link.seq] == [2, 0, 2]
