"""What radios, losses and collisions do to a client that sleeps, where `test_on_air` does not tell of it."""

import netsim
import traces
from netsim import AirConfig, BeaconConfig, Phy
from netsim.model.air.beacons import next_lost
from tests.netsim.air.cells import MS, US, Air, S
from tests.tables import cases_of, each, near

BEACON, POLL, ACK, SIFS, DIFS = 294, 34, 34, 10, 28  # 11g: control frames at 24 Mb/s
DATA = 254  # 1500 bytes of IP are 1536 on the air
GROUP = 20 + 4 * 80 + 6  # 236 bytes are 1910 bits, 24 a symbol
IDLE_MA = {  # at DTIM 1, 3 and 10, published by the makers: in light sleep, and in modem sleep, which no fit has seen
    "esp32-states": ((3.34, 2.33, 2.19),), "esp32-c2": ((1.6, 0.71, 0.39), (13.6, 13.0, 12.9)),
    "esp32-c3-states": ((1.4, 0.62, 0.31), (21.47, 20.82, 20.67)), "bl616": ((0.81, 0.319, 0.154),),
    "esp32-c5": ((1.342, 0.651, 0.398), (32.394, 31.618, 31.281)),
    "esp32-c5-5ghz": ((1.514, 0.764, 0.451), (32.329, 32.088, 32.011)),
    "esp32-c6": ((0.919, 0.368, 0.172), (27.48, 27.08, 26.85)), "esp32-s3": ((2.45, 1.33, 0.93), (40.1, 38.7, 38.2)),
}  # fmt: skip


def idle_ma(name, dtim, seconds=3600):
    """Mean current of an associated, idle client that listens to every DTIM for an hour, mA at 3.3 V."""
    air = AirConfig.shipped("11a" if "5ghz" in name else "11g", {"dtim_period": dtim})
    world = Air(f"listen:{dtim}", air=air, radio=name, interval_ns=102_400_000)
    world.finish(seconds * S)
    return world.states().energy(netsim.Radio.named(name), 1).total_j / seconds * 1e3 / 3.3


@each("name", IDLE_MA)
def test_an_idle_hour_at_dtim_3_draws_what_the_maker_publishes_within_3_percent(name):
    found = [idle_ma(name, dtim) for dtim in (1, 3, 10)]
    light, *modem = IDLE_MA[name]
    assert found == near(light, rel=0.05)
    assert found[1] == near(light[1], rel=0.03)
    for _, at_dtim_3, at_dtim_10 in modem:  # another floor, the same beacons
        assert at_dtim_10 + found[1] - found[2] == near(at_dtim_3, rel=0.03)


def test_a_client_wakes_up_before_its_beacon_and_a_send_from_doze_waits_for_the_radio():
    radio = netsim.StateRadioConfig(doze_mw=1, waking_mw=50, listening_mw=100, receiving_mw=110, transmitting_mw=300,
        wakeup_ms=2.0, settle_ms=0.5, listen_advance_ms=0.25)  # fmt: skip
    world = Air("psm:100", air=AirConfig(phy=Phy(kind="11g", cw_min=0, cw_max=0)), radio=radio)
    world.up(0, 30 * MS)
    world.finish(499 * MS)
    assert world.arrived_us() == [32_000 + DIFS + DATA]  # awake, it hears the channel first
    assert world.intervals_us() == [30_000, 32_000 + DIFS + DATA + SIFS + ACK]
    assert world.run.busy == (4 * BEACON + DATA + SIFS + ACK) * US
    times = world.states()
    assert times.waking_ns == 5 * 2_500 * US  # a send and four beacons
    assert times.beacon_listening_ns == 4 * 250 * US
    assert times.beacon_receiving_ns == 4 * BEACON * US
    assert times.listening_ns == (4 * 250 + DIFS + SIFS) * US
    assert times.doze_ns == 499 * MS - times.waking_ns - times.listening_ns - 4 * BEACON * US - (DATA + ACK) * US
    energy = times.energy(radio, 1)
    assert energy.listen_j == near(4 * (250 * 100 + BEACON * 110) * 1e-9)
    assert energy.wakeup_j == near(5 * 2_500 * 50 * 1e-9)


def test_a_run_that_ends_while_the_radio_wakes_up_counts_what_has_passed_of_it():
    radio = netsim.StateRadioConfig(doze_mw=1, waking_mw=50, listening_mw=100, receiving_mw=100, transmitting_mw=100,
        wakeup_ms=10.0)  # fmt: skip
    world = Air("psm:100", radio=radio)
    world.up(0, 30 * MS)
    world.finish(34 * MS)
    assert (world.states().doze_ns, world.states().waking_ns) == (30 * MS, 4 * MS)


@each("engine", "packet express")
@cases_of("issue_s waking_ms", "0.3001, 0.0 ; 0.2981, 1.9 ; 0.2881, 10.0")
def test_a_page_issued_while_the_radio_wakes_up_for_a_beacon_is_charged_from_its_issue_on(issue_s, waking_ms, engine):
    radio = netsim.StateRadioConfig(doze_mw=1, waking_mw=50, listening_mw=100, receiving_mw=100, transmitting_mw=100,
        wakeup_ms=10.0)  # fmt: skip
    config = netsim.SimulationConfig(medium=AirConfig(phy=Phy(kind="11g")), radio=radio)
    pages = [traces.Page("a", 300, 5_000, issue_s=issue_s)]
    result = netsim.simulate(pages, "dynamic:200", config=config, engine=engine)
    [page] = result.pages.itertuples()
    begin_s = min(issue_s, 0.29)  # it wakes up from then on, for the beacon at 0.3 s if it is not issued before
    assert result.radio.end_s.iloc[0] == near(begin_s, abs=1e-9)
    assert (page.awake_s, page.asleep_s) == (page.latency_s, 0.0)
    assert page.energy_j == near(1e-3 * (100 * page.latency_s - 50 * waking_ms / 1e3), rel=1e-6)


def test_a_client_that_sends_while_it_wakes_up_for_a_service_period_is_awake_for_it_and_sends_then():
    radio = netsim.StateRadioConfig(doze_mw=1, waking_mw=50, listening_mw=100, receiving_mw=100, transmitting_mw=100,
        wakeup_ms=10.0)  # fmt: skip
    world = Air("twt:50:5", air=AirConfig(phy=Phy(kind="11g", cw_min=0, cw_max=0)), radio=radio)
    world.down(0, 30 * MS)
    world.up(0, 45 * MS)
    world.finish(89 * MS)
    received = 50_000 + DATA
    assert world.arrived_us() == [received, received + SIFS + ACK + DIFS + DATA]
    assert world.intervals_us() == [0, 5_000, 40_000, 55_000]


def test_a_client_whose_frame_takes_longer_than_a_service_period_dozes_when_it_is_acknowledged():
    world = Air("twt:50:5", air=AirConfig(phy=Phy(kind="11b", rate_mbps=1.0, cw_min=0, cw_max=0)))
    world.up(0, 45 * MS)
    world.finish(89 * MS)
    difs, data, ack = 50, 192 + 8 * 1536, 192 + 8 * 14
    assert world.intervals_us() == [0, 5_000, 45_000, 45_000 + difs + data + SIFS + ack]


class Nothing:
    """Has agreed on instants 50 ms apart, and lets every other period pass."""

    spec, host_aware = "nothing", False

    def plan(self, view):
        at = view.now_ns
        return netsim.policies.Plan(at + at % (100 * MS) // 10, at // (50 * MS) * 50 * MS + 50 * MS, agreed=True)


def test_a_period_of_no_length_is_no_wake_up_of_a_radio_that_needs_no_time_for_it():
    radio = netsim.StateRadioConfig(doze_mw=1, waking_mw=50, listening_mw=100, receiving_mw=100, transmitting_mw=100,
        settle_ms=3.0)  # fmt: skip
    world = Air(Nothing(), air=AirConfig(phy=Phy(kind="11g")), radio=radio)
    world.finish(240 * MS)
    assert world.intervals_us() == [50_000, 55_000, 150_000, 155_000]
    times = world.states()
    assert (times.waking_ns, times.listening_ns, times.doze_ns) == (6 * MS, 10 * MS, 224 * MS)


def test_who_dozes_but_for_group_frames_listens_until_the_last_and_receives_their_air_time():
    world = Air("listen:1", air=AirConfig(phy=Phy(kind="11g", cw_min=0, cw_max=0)))
    for _ in range(2):
        world.group(10 * MS)
    world.finish(199 * MS)
    times, group = world.states(), 346
    assert times.receiving_ns == (BEACON + 2 * group) * US
    assert times.listening_ns == 2 * DIFS * US
    assert times.doze_ns == (199_000 - BEACON - 2 * (DIFS + group)) * US


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
    second = 300_000 + BEACON + DIFS + max(DATA, GROUP) + DIFS + GROUP  # no answer is waited for
    assert world.states(0).receiving_ns == (2 * BEACON + GROUP) * US
    assert world.intervals_us(0) == []
    assert world.states(0).listening_ns == (second - 300_000 - BEACON - GROUP) * US


def test_a_backoff_of_no_slots_is_kept_for_the_next_frame():
    world = Air("psm:100", air=AirConfig(phy=Phy(kind="11g")))
    drawn = iter([0.5, 0.0, 0.9, 0.9])  # no slot after the first frame
    world.contenders[1].backoffs.next = lambda: next(drawn)
    for _ in range(2):
        world.down(0, 30 * MS)
    world.finish(150 * MS)
    first, second = world.arrived_us()
    assert second - first == SIFS + ACK + DIFS + POLL + SIFS + DATA


def lost(step, last, **given):
    """Return those of every so many beacons, up to the last, that a client does not hear."""
    world = Air("none", air=AirConfig(beacon_loss=True), seed=3, **given)
    found, number = set(), step
    while (number := next_lost(world.run, world.clients[0], number, step, last)) <= last:
        found.add(number)
        number += step
    return found


def test_beacons_are_lost_at_the_rate_of_frames_and_by_number_alone_however_they_are_asked_for():
    every = lost(1, 20_000, loss=0.1)
    assert abs(len(every) - 2000) < 4 * 1800**0.5
    assert lost(3, 20_000, loss=0.1) == {number for number in every if number % 3 == 0}
    assert not lost(1, 10**9)


def test_a_beacon_is_drawn_once_whatever_is_asked_for_next():
    world, asked = (Air("none", beacons_lost=(3, 5, 6)),
        [(1, 1, 9), (1, 1, 1), (4, 1, 9), (4, 1, 4), (2, 2, 9), (2, 2, 3)])  # fmt: skip
    assert [next_lost(world.run, world.clients[0], *one) for one in asked] == [3, 2, 5, 5, 6, 4]
