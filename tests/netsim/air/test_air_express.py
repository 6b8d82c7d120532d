"""The compiled air equals the packet model to the nanosecond, in random cells; and what it does not cover it says."""

from collections import Counter

import numpy as np
import pytest

import netsim
from netsim import NotCoveredError, policies
from netsim.air.express import draws, engine, memory
from netsim.air.express import layout as slot
from netsim.air.recording import AirRecorder
from traces.columns import Workload
from traces.records import Message, Page

POLICIES = [
    "none",
    "psm",
    "listen:3",
    "dynamic:100",
    "dynamic:12",
    "uapsd",
    "twt:200:10",
    "twt:1000:8",
    "bsd:1",
    "bsd:0.5",
]
POLICIES += ["lpsm", "lpsm:log", "lpsm2", "lpsm2-link", "lpsm3", "lpsm3-link", "hold:50", "bsd-phase:1", "bsd-host:1"]
PHYS = ["11g:54", "11g:6", "11b:11", "11b:1", "11b-short", "11a:24", "11n"]
RADIOS = ["thesis", "esp32-c6", "cc3235sf-states"]
SLOW_RADIO = netsim.StateRadioConfig(
    doze_mw=1, waking_mw=20, listening_mw=100, receiving_mw=110, transmitting_mw=300, wakeup_ms=23.0, settle_ms=5.0,
    listen_advance_ms=1.5, drift_ppm=20_000.0,
)  # fmt: skip
SIZES = [0, 100, 1460, 5_000, 12_000]
SMALL_ROOMS = ((engine, "_LOG", 80), (engine, "_LATE", 17), (engine, "DRAWN_AHEAD", 192), (draws, "DRAWN_AHEAD", 192))


def random_cell(seed, policy):
    """Return clients, world and messages: half of all cells lose frames, and some nearly all of them."""
    rng = np.random.default_rng(seed)

    def one_of(values):
        return values[rng.integers(len(values))]

    phy = netsim.Phy.parse(one_of(PHYS))
    if rng.random() < 0.2:
        phy = netsim.Phy(kind=phy.kind, rate_mbps=phy.rate_mbps, cw_min=one_of([1, 3, 7]), cw_max=one_of([7, 63]))
    beacons = netsim.BeaconConfig(
        dtim_period=one_of([1, 2, 3]), broadcast_per_s=one_of([0.0, 0.0, 3.0, 10.0]), broadcast_bytes=one_of([40, 300])
    )
    air = netsim.AirConfig(
        phy=phy, beacons=beacons, retrieval=one_of(["auto", "auto", "ps-poll", "null", "uapsd", "twt"]),
        rts_bytes=one_of([None, None, 0, 500]), neighbours=one_of([0, 0, 1, 3]), neighbour_mbps=one_of([0.0, 0.3, 2.0]),
    )  # fmt: skip
    config = netsim.SimulationConfig(
        medium=air,
        link=netsim.LinkConfig(
            loss_rate=one_of([0.0, 0.0, 0.1, 0.6]),
            wired_delay_ms=one_of([0.0, 5.0, 20.0]),
            wired_mbps=one_of([1.0, 100.0]),
        ),
        tcp=netsim.TcpConfig(
            nagle=bool(rng.random() < 0.2), min_rto_s=one_of([0.2, 0.5]), initial_rto_s=one_of([0.5, 1.0]),
            window=one_of([4, 20]), mss_bytes=one_of([536, 1460]),
        ),
        radio=netsim.Radio.named(one_of(RADIOS)),
        server_delay=netsim.ServerDelay.parse(one_of(["0", "0.05", "exponential:0.1"])),
        connections=one_of(["persistent", "per-object"]),
        max_connections=one_of([1, 4]),
        beacon_interval_ns=one_of([100_000_000, 102_400_000]),
    )  # fmt: skip
    clients, push = [], []
    for _ in range(one_of([1, 1, 2, 4])):
        pages = [
            Page(
                f"p{n}", int(rng.integers(1, 2000)), one_of(SIZES),
                tuple((int(rng.integers(1, 900)), one_of(SIZES)) for _ in range(rng.integers(0, 5))),
                one_of([0.0, 0.05, 0.4, 1.2]), one_of([None, None, 0.7]), deadline_s=one_of([None, 2.0]),
            )
            for n in range(rng.integers(1, 3))
        ]  # fmt: skip
        written = np.sort(rng.uniform(0, 2, rng.integers(0, 5))).tolist() if rng.random() < 0.3 else []
        push.append([Message(at, one_of([1, 160, 1460, 5_000])) for at in written])
        clients.append(([] if written and rng.random() < 0.5 else pages, policy))
    return clients, config, push


def differences(ours, theirs):
    """Name what two records of one client do not have in common; everything is compared."""
    mine, reference = ours._trip, theirs._trip
    found = [name for name in mine._fields if not _equal(name, getattr(mine, name), getattr(reference, name))]
    if not np.array_equal(ours._messages, theirs._messages):
        found.append("messages")
    learned, expected = ours.final_policy.compiled, theirs.final_policy.compiled
    if not (np.array_equal(learned.ints, expected.ints) and np.array_equal(learned.floats, expected.floats)):
        found.append("policy")
    if repr(ours.energy) != repr(theirs.energy):  # joules a page are no number without pages
        found.append("energy")
    return found


def _equal(name, ours, theirs):
    if name == "page_states":  # made only where energies are told from them
        return not ours or list(ours) == list(theirs)
    return np.array_equal(ours, theirs) if isinstance(ours, np.ndarray) else ours == theirs


def compare(seed):
    """Compare the engines in a cell; return whether the compiled one covers it, and how many frames were given up."""
    policy = POLICIES[seed % len(POLICIES)]
    clients, config, push = random_cell(seed, policy)
    try:
        ours = netsim.simulate_cell(clients, config=config, seed=seed, push=push, engine="express")
    except NotCoveredError:  # an access point that is given more than it can send
        return False, 0
    packet = netsim.simulate_cell(clients, config=config, seed=seed, push=push, engine="packet")
    for client, pair in enumerate(zip(ours, packet, strict=True)):
        assert not differences(*pair), (seed, client, policy, differences(*pair))
    return True, sum(result.frames_lost for result in packet)


def adds_up(seed):
    """Check in a compiled cell that time and frames add up; return whether it was covered."""
    clients, config, push = random_cell(seed, POLICIES[seed % len(POLICIES)])
    interval_ns, radio = config.beacon_interval_ns, config.radio
    members = [
        (Workload.of(pages), policies.make(policy, beacon_interval_ns=interval_ns, radio=radio))
        for pages, policy in clients
    ]
    delays = [np.zeros(len(workload.sizes), dtype=np.int64) for workload, _ in members]
    run = engine._Run(members, delays, push, config, seed)
    try:
        run.go()
    except NotCoveredError:
        return False
    w, first = run.w, run.places["contenders"]
    stations = w[first : first + slot.CONTENDER_SIZE * run._contenders].reshape(-1, slot.CONTENDER_SIZE)
    ended = stations[:, [slot.CONTENDER_DELIVERED, slot.CONTENDER_LOST, slot.CONTENDER_COLLIDED]].sum(axis=1)
    on_air = stations[:, slot.CONTENDER_ATTEMPTS] - ended
    assert on_air.min() >= 0
    assert on_air.sum() <= 1  # frames sent = delivered + lost + collided, but for one that is on the air
    assert (stations[:, slot.CONTENDER_DROPPED] <= ended).all()
    used = int(w[slot.BUSY] + w[slot.COLLIDED])  # what is left of the time of the channel is idle
    assert stations[:, [slot.CONTENDER_SENT]].sum() > 0
    assert used <= max(w[slot.NOW], w[slot.FREE])
    for number, (workload, _) in enumerate(members):
        trip, messages = run.result(number)
        assert trip.states.total_ns == trip.end_ns
        assert min(getattr(trip.states, name) for name in trip.states.__slots__) >= 0
        assert (np.diff(trip.intervals) >= 0).all()  # who dozes may be woken in the same instant
        assert len(trip.loads) == len(workload)
        assert (trip.loads[:, 1] > trip.loads[:, 0]).all()
        assert (messages[:, 2] > messages[:, 0]).all()
    return True


@pytest.mark.parametrize("seed", range(4 * len(POLICIES)))
def test_both_engines_agree_exactly_in_a_random_cell_in_which_time_and_frames_add_up(seed, monkeypatch):
    if seed % 2:  # with room for so little that numbers are drawn and the log emptied over and over
        for module, name, room in SMALL_ROOMS:
            monkeypatch.setattr(module, name, room)
    assert compare(seed)[0]
    assert adds_up(seed)


@pytest.mark.parametrize("clients", range(1, 5))
@pytest.mark.parametrize("policy", ["psm", "dynamic:12", "uapsd", "twt:200:10", "bsd-host:1", "none"])
def test_both_engines_agree_on_small_pages_and_messages_one_after_another(clients, policy):
    pages = [Page(f"p{i}", 300 + i, 700 * i, ((200, 100 * i),) * (2 - i), 0.01 * i, 0.3 * i) for i in range(3)]
    push = [[Message(0.05 * i + 0.001, 300 + i), Message(0.25, 20)] if i != 1 else [] for i in range(clients)]
    air = netsim.AirConfig(beacons=netsim.BeaconConfig(dtim_period=2, broadcast_per_s=20.0), rts_bytes=600)
    radio = (SLOW_RADIO, SLOW_RADIO, *map(netsim.Radio.named, RADIOS[:2]))[clients - 1]
    config = netsim.SimulationConfig(medium=air, link=netsim.LinkConfig(loss_rate=0.1), radio=radio)
    given = [(pages[i % 2 :], policy) for i in range(clients)]
    ours, packet = (
        netsim.simulate_cell(given, config=config, push=push, engine=name) for name in ("express", "packet")
    )
    for pair in zip(ours, packet, strict=True):
        assert not differences(*pair)


def test_frames_are_given_up_after_seven_attempts_so_that_tcp_repeats_and_packets_come_out_of_order():
    assert sum(compare(seed)[1] for seed in (43, 61)) > 30


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_time_of_channel_and_radios_and_frames_add_up_in_ten_thousand_random_cells(part):
    assert sum(map(adds_up, range(300_000 + 1_000 * part, 301_000 + 1_000 * part))) >= 900


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_both_engines_agree_exactly_in_ten_thousand_random_cells(part):
    covered = Counter()
    for seed in range(100_000 + 1_000 * part, 101_000 + 1_000 * part):
        covered[POLICIES[seed % len(POLICIES)]] += compare(seed)[0]
    assert all(covered[policy] >= 0.8 * (1_000 // len(POLICIES)) for policy in POLICIES), covered


def test_they_agree_where_beacons_crowd_the_channel_and_more_of_them_are_late_than_there_was_room_for(monkeypatch):
    monkeypatch.setattr(engine, "_LATE", 40)
    config = netsim.SimulationConfig(
        medium=netsim.AirConfig(phy=netsim.Phy.parse("11b:1"), neighbours=2), beacon_interval_ns=4_000_000
    )
    pages = [Page("p", 300, 500, (), 0.4)]
    ours, packet = (netsim.simulate(pages, "psm:20", config=config, engine=name) for name in ("express", "packet"))
    assert not differences(ours, packet)


def test_what_is_not_covered_is_refused_when_asked_for_and_else_left_to_the_packet_model(monkeypatch):
    pages, air = [Page("p", 300, 9_000)], netsim.SimulationConfig(medium=netsim.AirConfig())

    class Mine:
        spec, host_aware = "mine", False

        def plan(self, view):
            return netsim.Plan(view.now_ns, (view.now_ns // 100_000_000 + 1) * 100_000_000)

    with pytest.raises(NotCoveredError, match="policy mine has no compiled form"):
        netsim.simulate(pages, Mine(), config=air, engine="express")
    with pytest.raises(NotCoveredError, match="it is recorded"):
        netsim.simulate(pages, "psm", config=air, engine="express", recorder=AirRecorder())
    for options in ({"beacon_loss": True}, {"twt_announced": True}):
        config = netsim.SimulationConfig(medium=netsim.AirConfig(**options), link=netsim.LinkConfig(loss_rate=0.1))
        with pytest.raises(NotCoveredError, match="beacons are lost or service periods announced"):
            netsim.simulate([Page("p", 300, 1000)], "psm", config=config, engine="express")
    with pytest.raises(NotCoveredError, match="a cell on wires"):
        netsim.simulate_cell([(pages, "psm")], engine="express")
    packet = netsim.simulate(pages, "lpsm", config=air, engine="packet")
    monkeypatch.setattr(memory, "_FRAMES", -160)
    monkeypatch.setattr(memory, "_SPARE_FRAMES", 4)
    with pytest.raises(NotCoveredError, match="too much is under way at once"):
        netsim.simulate(pages, "lpsm", config=air, engine="express")
    assert not differences(netsim.simulate(pages, "lpsm", config=air), packet)
