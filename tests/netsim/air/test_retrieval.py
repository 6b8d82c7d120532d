"""What a client sends to fetch what waits, to the microsecond: one client, and a window of zero slots."""

import numpy as np
import pytest

import netsim
from netsim.air.air_times import Phy
from netsim.air.beacons import BeaconConfig, Reception
from netsim.air.cell import AirConfig
from tests.netsim.air.cells import MS, US, Air, Sink

SLOTLESS = Phy(kind="11g", cw_min=0, cw_max=0)
BEACON, POLL, ACK, NULL, SIFS, DIFS, PIFS = 294, 34, 34, 38, 10, 28, 19  # 11g: control frames at 24 Mb/s
DATA = 254  # 1500 bytes of IP are 1536 on the air


def air(retrieval="auto", **options):
    return Air(AirConfig(phy=SLOTLESS, retrieval=retrieval, **options))


def us(times):
    return [at / 1000 for at in times]


def test_control_frames_have_the_lengths_that_the_tables_below_use():
    for size, length in ((20, POLL), (14, ACK), (28, NULL)):
        assert SLOTLESS.control_ns(size) == length * US
    assert SLOTLESS.data_ns(1536) == DATA * US
    assert SLOTLESS.lowest_ns(196) == BEACON * US


def test_ps_poll_fetches_frame_by_frame_and_sleeps_after_the_last_ack():
    world = air()
    client, sink = world.client("psm:100"), Sink(world.clock)
    for _ in range(2):
        world.down(client, 30 * MS, sink)
    world.finish(200 * MS)
    first = 100_000 + BEACON + DIFS + POLL + SIFS + DATA
    second = first + SIFS + ACK + DIFS + POLL + SIFS + DATA
    assert us(sink.times_ns) == [first, second]
    assert us(client.intervals) == [100_000, second + SIFS + ACK]  # the beacon is part of the time awake
    assert client.beacons == 1
    times = client.state_times(200 * MS)
    assert times.transmitting_ns == 2 * (POLL + ACK) * US
    assert times.receiving_ns == 2 * DATA * US


@pytest.mark.parametrize("retrieval", ["ps-poll", "null"])
def test_the_air_time_of_data_is_that_of_the_data_frames_alone_however_they_are_fetched(retrieval):
    world = air(retrieval, rts_bytes=0)
    client, sink = world.client("psm:100"), Sink(world.clock)
    world.up(client, 10 * MS, sink)
    for _ in range(2):
        world.down(client, 30 * MS, sink)
    world.finish(200 * MS)
    assert len(sink.times_ns) == 3
    assert (client.air_up_ns, client.air_down_ns) == (DATA * US, 2 * DATA * US)


def test_null_frames_open_and_close_the_gate():
    world = air("null")
    client, sink = world.client("psm:100"), Sink(world.clock)
    for _ in range(2):
        world.down(client, 30 * MS, sink)
    world.finish(200 * MS)
    opened = 100_000 + BEACON + DIFS + NULL
    first = opened + SIFS + ACK + DIFS + DATA
    second = first + SIFS + ACK + DIFS + DATA
    closed = second + SIFS + ACK + DIFS + NULL + SIFS + ACK
    assert us(sink.times_ns) == [first, second]
    assert us(client.intervals) == [100_000, closed]


def test_a_data_frame_opens_the_gate_of_a_policy_that_stays_awake_and_a_null_frame_closes_it_after_its_timeout():
    world = air()
    client, sink = world.client("dynamic:20"), Sink(world.clock)
    world.up(client, 30 * MS, sink)
    world.down(client, 40 * MS, sink)
    world.finish(95 * MS)
    assert client.retrieval == "null"
    assert us(sink.times_ns) == [30_000 + DATA, 40_000 + DATA]
    # the time-out runs from the last frame received; the gate closes with a null frame
    assert us(client.intervals) == [30_000, 40_000 + DATA + 20_000 + NULL + SIFS + ACK]


def test_a_trigger_lets_out_what_waits_and_a_null_frame_ends_the_service_period_if_nothing_does():
    world = air()
    client, sink = world.client("uapsd:100"), Sink(world.clock)
    qos, null = SLOTLESS.data_ns(1538) / 1000, SLOTLESS.control_ns(30) / 1000  # with QoS control, two bytes more
    world.down(client, 20 * MS, sink)
    world.up(client, 30 * MS, sink)
    world.up(client, 60 * MS, sink)
    world.finish(95 * MS)
    assert client.retrieval == "uapsd"
    fetched = 30_000 + qos + SIFS + ACK + DIFS + qos
    assert us(sink.times_ns) == [30_000 + qos, fetched, 60_000 + qos]
    ended = 60_000 + qos + SIFS + ACK + DIFS + null + SIFS + ACK
    assert us(client.intervals) == [30_000, fetched + SIFS + ACK, 60_000, ended]


def test_service_periods_agreed_on_need_no_beacon_and_no_frame_of_their_own():
    world = air()
    client, sink = world.client("twt:50:5"), Sink(world.clock)
    world.down(client, 20 * MS, sink)
    world.down(client, 102 * MS, sink)
    world.finish(140 * MS)
    assert client.retrieval == "twt"
    assert us(sink.times_ns) == [50_000 + DATA, 102_000 + DATA]
    assert us(client.intervals) == [0, 5_000, 50_000, 55_000, 100_000, 105_000]
    assert client.beacons == 0


def test_a_client_wakes_up_before_its_beacon_and_a_send_from_doze_waits_for_the_radio():
    radio = netsim.StateRadioConfig(
        doze_mw=1, waking_mw=50, listening_mw=100, receiving_mw=110, transmitting_mw=300,
        wakeup_ms=2.0, settle_ms=0.5, listen_advance_ms=0.25,
    )  # fmt: skip
    world = air()
    client, sink = world.client("psm:100", radio), Sink(world.clock)
    world.up(client, 30 * MS, sink)
    world.finish(499 * MS)
    assert us(sink.times_ns) == [32_000 + DATA]
    assert us(client.intervals) == [30_000, 32_000 + DATA + SIFS + ACK]
    times = client.state_times(499 * MS)
    assert times.waking_ns == 5 * 2_500 * US  # a send and four beacons
    assert times.beacon_listening_ns == 4 * 250 * US
    assert times.beacon_receiving_ns == 4 * BEACON * US
    assert times.listening_ns == (4 * 250 + SIFS) * US
    assert times.doze_ns == 499 * MS - times.waking_ns - times.listening_ns - 4 * BEACON * US - (DATA + ACK) * US
    energy = times.energy(radio, 1)
    assert energy.listen_j == pytest.approx(4 * (250 * 100 + BEACON * 110) * 1e-9)
    assert energy.wakeup_j == pytest.approx(5 * 2_500 * 50 * 1e-9)


def test_a_frame_for_a_sleeping_client_sent_while_its_late_beacon_is_awaited_is_told_by_that_beacon():
    world = air()
    client, sink = world.client("psm:100"), Sink(world.clock)
    noted = Sink(world.clock)
    busy = world.client("none")
    world.up(busy, 99_900 * US, noted)  # on the air when the beacon is due
    world.down(client, 100_050 * US, sink)
    world.finish(150 * MS)
    start = 99_900 + DATA + SIFS + ACK + PIFS
    assert world.cell.beacons.late_ns == {1: (start - 100_000) * US}
    assert us(sink.times_ns) == [start + BEACON + DIFS + POLL + SIFS + DATA]


def test_group_frames_follow_the_dtim_and_are_lost_to_those_who_skip_it():
    world = air(beacons=BeaconConfig(dtim_period=2))
    every, third = world.client("psm:100"), world.client("listen:3")
    exchange = world.cell.medium.group(236)
    world.clock.run(until=10 * MS)
    for _ in range(3):
        world.cell.beacons.add_group(exchange)
    world.finish(299 * MS)
    frame = exchange.first_ns // US
    assert frame == 20 + 4 * 80 + 6  # 1910 bits at 24 a symbol
    assert world.cell.beacons.groups_sent == 3
    assert (every.groups_lost, third.groups_lost) == (0, 3)
    times = every.state_times(299 * MS)
    assert times.receiving_ns == (2 * BEACON + 3 * frame) * US
    assert times.listening_ns == 3 * DIFS * US
    assert third.state_times(299 * MS).receiving_ns == 0
    assert every.intervals.tolist() == []


def test_the_access_point_gives_clients_service_periods_that_do_not_overlap():
    world = air()
    first, second = world.client("twt:50:5"), world.client("twt:50:10")
    third, sink = world.client("twt:50:5"), Sink(world.clock)
    world.down(second, 20 * MS, sink)
    world.finish(120 * MS)
    assert us(first.intervals) == [0, 5_000, 50_000, 55_000, 100_000, 105_000]
    assert us(second.intervals) == [5_000, 15_000, 55_000, 65_000, 105_000, 115_000]
    assert us(third.intervals) == [15_000, 20_000, 65_000, 70_000, 115_000, 120_000]
    assert us(sink.times_ns) == [55_000 + DATA]


def test_an_announced_service_period_begins_with_a_frame_of_the_client_and_nothing_comes_before():
    world = air(twt_announced=True)
    client, sink = world.client("twt:50:5"), Sink(world.clock)
    world.down(client, 20 * MS, sink)
    world.down(client, 102 * MS, sink)
    world.finish(140 * MS)
    assert us(sink.times_ns) == [50_000 + NULL + SIFS + ACK + DIFS + DATA, 102_000 + DATA]
    assert us(client.intervals) == [0, 5_000, 50_000, 55_000, 100_000, 105_000]
    assert client.state_times(140 * MS).transmitting_ns == (3 * NULL + 2 * ACK) * US  # at 0, 50 and 100 ms


def test_a_client_that_cannot_announce_itself_gets_nothing_and_sleeps_at_the_end_of_its_period():
    world = air(twt_announced=True)
    client, sink = world.client("twt:50:5"), Sink(world.clock)
    world.down(client, 20 * MS, sink)
    world.until(49 * MS)
    world.cell.medium._occupy(49 * MS, 58 * MS)  # the channel is in use beyond the end of the period at 50 ms
    world.finish(99 * MS)
    reached = 58_000 + DIFS + NULL
    assert us(sink.times_ns) == [reached + SIFS + ACK + DIFS + DATA]
    assert us(client.intervals) == [0, 5_000, 50_000, sink.times_ns[0] / 1000 + SIFS + ACK]


def reception(*lost):
    """A client's reception that loses these beacons and no other."""
    found = Reception(0.5, np.random.default_rng(0))
    found._drawn, found._lost = 10**6, list(lost)
    return found


def test_after_a_beacon_that_is_lost_the_client_listens_to_the_next_and_fetches_what_that_announces():
    world = air()
    client, sink = world.client("listen:3"), Sink(world.clock)
    client._reception = reception(3, 6, 7)
    world.down(client, 30 * MS, sink)
    world.finish(1250 * MS)
    assert us(sink.times_ns) == [400_000 + BEACON + DIFS + POLL + SIFS + DATA]
    assert client.beacons_lost == 3
    assert client.beacons == 7  # numbers 3, 4, 6, 7, 8, 9, 12: back in step with every third
    listened = client.state_times(1250 * MS).beacon_receiving_ns
    assert listened == 6 * BEACON * US  # a lost one costs what another does; after number 4 it stays awake


def test_group_frames_after_a_beacon_that_is_lost_are_lost_too():
    beacons = BeaconConfig(dtim_period=3, broadcast_per_s=1.0)
    for lost, missed in (((), 0), ((3,), 1), ((6,), 0)):
        world = air(beacons=beacons)
        client = world.client("listen:3")
        client._reception = reception(*lost)
        world.until(10 * MS)
        world.cell.beacons.add_group(world.cell.medium.group(236))
        before = world.cell.beacons.groups_sent
        world.finish(390 * MS)
        assert client.groups_lost >= missed
        assert (client.groups_lost == world.cell.beacons.groups_sent - before) == bool(missed)


def test_beacons_are_lost_at_the_rate_of_frames_independently_and_by_number_alone():
    rate, drawn = 0.1, Reception(0.1, np.random.default_rng(3))
    lost = {number for number in range(1, 20_001) if drawn.next_lost(number, 1, number) == number}
    assert abs(len(lost) - 20_000 * rate) < 4 * (20_000 * rate * (1 - rate)) ** 0.5
    again = Reception(0.1, np.random.default_rng(3))  # asked in another order, for every third only
    number, found = 3, set()
    while number <= 20_000:
        number = again.next_lost(number, 3, 20_000)
        found |= {number} if number <= 20_000 else set()
        number += 3
    assert found == {number for number in lost if number % 3 == 0}
    assert Reception(0.0, np.random.default_rng(3)).next_lost(1, 1, 10**9) == 10**9 + 1
