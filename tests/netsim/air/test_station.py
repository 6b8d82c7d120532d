"""Power saving on the air: currents when idle, delays without load, what contention does, and laws of any cell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netsim
from netsim.air.air_times import Phy
from netsim.air.beacons import BeaconConfig
from netsim.air.cell import AirConfig
from netsim.air.retrieval import RETRIEVALS
from tests.netsim.air.cells import MS, US, Air, S, Sink
from tests.netsim.test_radio import LIGHT_SLEEP_MA
from traces.records import Page

BEACON_NS = 102_400_000


def idle_ma(name, dtim, seconds=3600):
    """Mean current of an associated, idle client that listens to every DTIM for an hour, mA at 3.3 V."""
    kind = "11a" if "5ghz" in name else "11g"
    world = Air(AirConfig(phy=Phy(kind=kind), beacons=BeaconConfig(dtim_period=dtim)), interval_ns=BEACON_NS)
    client = world.client(f"listen:{dtim}", name)
    world.finish(seconds * S)
    return client.state_times(seconds * S).energy(netsim.Radio.named(name), 1).total_j / seconds * 1e3 / 3.3


def test_an_idle_hour_gives_back_the_currents_of_the_fit_and_dtim_3_within_5_percent_for_seven_of_nine_radios():
    errors = {}
    for name, (dtim_1, dtim_3, dtim_10) in LIGHT_SLEEP_MA.items():
        assert idle_ma(name, 1) == pytest.approx(dtim_1, rel=2e-3)
        assert idle_ma(name, 10) == pytest.approx(dtim_10, rel=2e-3)
        errors[name] = idle_ma(name, 3) / dtim_3 - 1
    within = [name for name, error in errors.items() if abs(error) <= 0.05]
    # the ninth published set, of the ESP32-S2, contradicts itself and is no profile
    assert len(within) == 7, errors
    assert errors["esp32-states"] == pytest.approx(0.068, abs=0.002)


def test_the_cyw43012_stays_within_a_quarter_of_its_four_publications():
    for dtim, printed in ((1, (0.3175, 0.476, 0.451, 0.4725)), (3, (0.1126, 0.131, 0.162, 0.2125))):
        assert idle_ma("cyw43012", dtim) == pytest.approx(np.mean(printed), rel=0.25)


@pytest.mark.parametrize(("policy", "listen"), [("listen:1", 1), ("listen:3", 3)])
def test_without_load_the_delay_that_power_saving_adds_is_uniform_on_the_listen_interval(policy, listen):
    world = Air(interval_ns=BEACON_NS)
    asleep, awake = world.client(policy), world.client("none")
    delayed, prompt = Sink(world.clock), Sink(world.clock)
    rng = np.random.default_rng(3)
    at, instants = 0, []
    for _ in range(2000):
        at += 500 * MS + round(rng.exponential(1e9))
        instants.append(at)
        world.down(asleep, at, delayed)
        world.down(awake, at + 250 * MS, prompt)
    world.finish(at + 2 * S)
    prompt_ns = (np.array(prompt.times_ns) - instants).min() - 250 * MS
    fetching_ns = 294_000 + 28_000 + 34_000 + 10_000  # beacon, DIFS, PS-Poll, SIFS; a backoff may come on top
    added_ms = (np.array(delayed.times_ns) - instants - prompt_ns - fetching_ns) / 1e6
    longest = 102.4 * listen
    assert np.mean(added_ms) == pytest.approx(longest / 2, rel=0.05)
    assert np.median(added_ms) == pytest.approx(longest / 2, rel=0.08)
    assert -0.001 < added_ms.min() < 0.02 * longest
    assert 0.97 * longest < added_ms.max() < longest + 0.5


def sparse(neighbours, policy="psm:102.4", seconds=20):
    """Mean current and time awake of a client that loads a small page every second, among saturated neighbours."""
    world = Air(AirConfig(phy=Phy(kind="11g"), neighbours=neighbours), interval_ns=BEACON_NS, wired_ms=10.0)
    client = world.client(policy, "cc3235sf-states")
    pages = [Page(f"p{i}", 300, 1200, (), 1.0) for i in range(seconds)]
    world.clock.run(until=world.browse(client, pages))
    world.finish()
    now = world.clock.now
    mean_mw = client.state_times(now).energy(netsim.Radio.named("cc3235sf-states"), 1).total_j / now * 1e12
    return mean_mw, client.awake_ns(now) / now


def test_loaded_neighbours_raise_the_current_and_the_time_awake_of_a_client_with_sparse_traffic():
    alone, some, many = sparse(0), sparse(5), sparse(20)
    for quantity in (0, 1):
        assert alone[quantity] < some[quantity] < many[quantity]
    # published for ns-3 with sparse TCP and 20 contenders: up to +108 % current, +254 % time awake
    assert 1.2 < many[0] / alone[0] < 5
    assert 2 < many[1] / alone[1] < 20


def test_a_policy_of_seldom_beacons_loses_the_group_frames_of_the_dtims_that_it_skips():
    config = AirConfig(beacons=BeaconConfig(dtim_period=3, broadcast_per_s=10.0))
    world = Air(config, interval_ns=BEACON_NS)
    all_dtims, few, awake = world.client("listen:3"), world.client("listen:9"), world.client("none")
    world.finish(200 * S)
    sent = world.cell.beacons.groups_sent
    assert sent == pytest.approx(2000, rel=0.1)
    assert (all_dtims.groups_lost, awake.groups_lost) == (0, 0)
    assert few.groups_lost == pytest.approx(sent * 2 / 3, rel=0.05)


def test_group_frames_are_sent_at_once_while_nobody_sleeps():
    world = Air(AirConfig(beacons=BeaconConfig(dtim_period=10)))
    world.client("none")
    world.clock.run(until=30 * MS)
    world.cell.beacons.add_group(world.cell.medium.group(236))
    world.finish(40 * MS)
    assert world.cell.access_point.contender.delivered == 1


PAGE = st.builds(
    lambda request, reply, objects, think: Page("p", request, reply, tuple(objects), think),
    st.integers(1, 2_000), st.integers(1, 20_000),
    st.lists(st.tuples(st.integers(1, 1_000), st.integers(1, 8_000)), max_size=4), st.floats(0, 2),
)  # fmt: skip
POLICIES = ["none", "psm:100", "psm:300", "listen:2", "dynamic:30", "uapsd:100", "twt:130.5:7", "twt:500:40", "bsd:1",
            "bsd:0.3", "bsd-phase:0.5", "hold:20", "lpsm", "lpsm2"]  # fmt: skip
RADIOS = ["thesis", "esp32-c2", "cc3235sf-states", netsim.StateRadioConfig(
    doze_mw=1, waking_mw=20, listening_mw=100, receiving_mw=110, transmitting_mw=300, wakeup_ms=23.0, settle_ms=5.0,
    listen_advance_ms=1.5, drift_ppm=100.0,
)]  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["11b:1", "11b", "11g", "11n"]),
    st.lists(
        st.tuples(st.sampled_from(POLICIES), st.sampled_from(RADIOS), st.lists(PAGE, min_size=1, max_size=3)),
        min_size=1, max_size=4,
    ),
    st.sampled_from(RETRIEVALS),
    st.sampled_from([0.0, 0.0, 0.1]),
    st.sampled_from([(0, 0.0), (2, 0.0), (3, 0.5)]),
    st.sampled_from([(1, 0.0), (3, 5.0)]),
    st.integers(0, 1000),
)  # fmt: skip
def test_in_any_cell_of_clients_pages_arrive_and_time_and_frames_add_up(
    spec, clients, retrieval, loss, neighbours, groups, seed
):
    config = AirConfig(
        phy=Phy.parse(spec), retrieval=retrieval, neighbours=neighbours[0], neighbour_mbps=neighbours[1],
        beacons=BeaconConfig(dtim_period=groups[0], broadcast_per_s=groups[1]),
    )  # fmt: skip
    world = Air(config, loss=loss, seed=seed, wired_ms=10.0)
    visits = []
    for policy, radio, pages in clients:
        visits.append(world.browse(world.client(policy, radio), pages))
    world.clock.run(until=world.clock.all_of(visits))
    world.finish()
    now, cell = world.clock.now, world.cell
    medium = cell.medium
    assert 0 <= medium.busy_ns + medium.collided_ns <= max(now, medium.free_ns)
    contenders = [*(client.contender for client in cell.clients), *cell.neighbours, cell.access_point.contender]
    for one in contenders:
        on_air = one.attempts - one.delivered - one.lost - one.collided
        assert on_air in (0, 1)  # the one that the end of the run found on the air
    for client, browser in zip(cell.clients, world.browsers, strict=True):
        assert len(browser.loads) % 4 == 0
        times = client.state_times(now)
        assert times.total_ns == now
        slack = 2 * US * 1000  # an exchange under way at the end of the run
        for name in ("doze_ns", "waking_ns", "listening_ns", "receiving_ns", "transmitting_ns"):
            assert getattr(times, name) >= -slack, name
        intervals = np.array(client.intervals)
        assert (np.diff(intervals) >= 0).all()
        assert client.awake_ns(now) == pytest.approx(np.diff(intervals.reshape(-1, 2)).sum(), abs=slack)
        assert 0 <= client.groups_lost <= cell.beacons.groups_sent


def test_the_same_seed_gives_the_same_cell_and_another_seed_another():
    def run(seed):
        world = Air(AirConfig(neighbours=3), seed=seed, wired_ms=10.0)
        pages = [Page("p", 300, 9000, ((300, 4000),), 0.1)] * 3
        visits = [world.browse(world.client(policy), pages) for policy in ("psm:100", "dynamic:100")]
        world.clock.run(until=world.clock.all_of(visits))
        return [list(browser.loads) for browser in world.browsers]

    assert run(1) == run(1) != run(2)
