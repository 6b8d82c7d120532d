"""What a client sends to fetch what waits, where `test_on_air` does not tell of it: radios, collisions, losses."""

import pytest

import netsim
from netsim import AirConfig, BeaconConfig, Phy
from netsim.model.air.beacons import next_lost
from netsim.model.air.channel import occupy
from tests.netsim.air.cells import MS, US, Air

SLOTLESS = Phy(kind="11g", cw_min=0, cw_max=0)
BEACON, POLL, ACK, NULL, SIFS, DIFS = 294, 34, 34, 38, 10, 28  # 11g: control frames at 24 Mb/s
DATA = 254  # 1500 bytes of IP are 1536 on the air
GROUP = 20 + 4 * 80 + 6  # 236 bytes are 1910 bits, 24 a symbol


def air(*clients, retrieval="auto", radio="thesis", beacons_lost=None, **options):
    config = AirConfig(phy=SLOTLESS, retrieval=retrieval, **options)
    return Air(*clients, air=config, radio=radio, beacons_lost=beacons_lost)


def two_wait(world):
    """Have two packets wait for client 0 from 30 ms on."""
    for _ in range(2):
        world.down(0, 30 * MS)
    return world


def test_a_client_wakes_up_before_its_beacon_and_a_send_from_doze_waits_for_the_radio():
    radio = netsim.StateRadioConfig(
        doze_mw=1, waking_mw=50, listening_mw=100, receiving_mw=110, transmitting_mw=300,
        wakeup_ms=2.0, settle_ms=0.5, listen_advance_ms=0.25,
    )  # fmt: skip
    world = air("psm:100", radio=radio)
    world.up(0, 30 * MS)
    world.finish(499 * MS)
    assert world.arrived_us() == [32_000 + DIFS + DATA]  # awake, it hears the channel first
    assert world.intervals_us() == [30_000, 32_000 + DIFS + DATA + SIFS + ACK]
    times = world.states()
    assert times.waking_ns == 5 * 2_500 * US  # a send and four beacons
    assert times.beacon_listening_ns == 4 * 250 * US
    assert times.beacon_receiving_ns == 4 * BEACON * US
    assert times.listening_ns == (4 * 250 + DIFS + SIFS) * US
    assert times.doze_ns == 499 * MS - times.waking_ns - times.listening_ns - 4 * BEACON * US - (DATA + ACK) * US
    energy = times.energy(radio, 1)
    assert energy.listen_j == pytest.approx(4 * (250 * 100 + BEACON * 110) * 1e-9)
    assert energy.wakeup_j == pytest.approx(5 * 2_500 * 50 * 1e-9)


def test_a_client_that_cannot_announce_itself_gets_nothing_and_sleeps_at_the_end_of_its_period():
    world = air("twt:50:5", twt_announced=True)
    world.down(0, 20 * MS)
    world.until(49 * MS)
    occupy(world.run, 49 * MS, 58 * MS)  # the channel is in use beyond the end of the period at 50 ms
    world.finish(99 * MS)
    arrived = 58_000 + DIFS + NULL + SIFS + ACK + DIFS + DATA
    assert world.arrived_us() == [arrived]
    assert world.intervals_us() == [0, 5_000, 50_000, arrived + SIFS + ACK]


def test_a_group_frame_that_collides_is_lost_to_all_who_listen_and_after_the_last_they_listen_to_the_next_beacon():
    config = AirConfig(phy=Phy(kind="11g", cw_min=0, cw_max=15), beacons=BeaconConfig(dtim_period=3))
    world = Air("psm:300", "listen:3", "none", air=config)
    world.contenders[3].backoffs.next = lambda: 0.9  # a slot, once its window is 1
    world.group(10 * MS)
    world.group(10 * MS)
    world.up(2, 300 * MS)  # its data frame and the group frame follow the beacon at once, and collide
    world.finish(700 * MS)
    assert [client.groups_lost for client in world.clients] == [1, 1, 1]
    assert world.contenders[0].collided == 1
    longest = max(DATA, GROUP)
    second = 300_000 + BEACON + DIFS + longest + DIFS + GROUP  # no answer is waited for
    assert world.states(0).receiving_ns == (2 * BEACON + GROUP) * US
    assert world.intervals_us(0) == []
    assert world.states(0).listening_ns == (second - 300_000 - BEACON - GROUP) * US


def test_a_backoff_of_no_slots_is_kept_for_the_next_frame():
    world = Air("psm:100", air=AirConfig(phy=Phy(kind="11g")))
    drawn = iter([0.5, 0.0, 0.9, 0.9])  # no slot after the first frame
    world.contenders[1].backoffs.next = lambda: next(drawn)
    two_wait(world).finish(150 * MS)
    first, second = world.arrived_us()
    assert second - first == SIFS + ACK + DIFS + POLL + SIFS + DATA


def test_beacons_are_lost_at_the_rate_of_frames_independently_and_by_number_alone():
    rate = 0.1

    def client(loss=rate):
        world = Air("none", air=AirConfig(beacon_loss=True), loss=loss, seed=3)
        return world.run, world.clients[0]

    one, again = client(), client()
    lost = {number for number in range(1, 20_001) if next_lost(*one, number, 1, number) == number}
    assert abs(len(lost) - 20_000 * rate) < 4 * (20_000 * rate * (1 - rate)) ** 0.5
    number, found = 3, set()  # asked in another order, for every third only
    while number <= 20_000:
        number = next_lost(*again, number, 3, 20_000)
        found |= {number} if number <= 20_000 else set()
        number += 3
    assert found == {number for number in lost if number % 3 == 0}
    assert next_lost(*client(loss=0.0), 1, 1, 10**9) == 10**9 + 1
