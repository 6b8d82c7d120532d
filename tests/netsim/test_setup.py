"""A run before it begins: every figure of its records by hand, from pages, world and policies."""

import numpy as np
import pytest

import netsim
from netsim import AirConfig, BeaconConfig, LinkConfig, SimulationConfig, StateRadioConfig, TcpConfig
from netsim.model import codes
from netsim.model.air.air_times import Phy
from netsim.running import setup
from netsim.running.on_simpy import run_interpreted
from tests.tables import cases_of
from traces.columns import Workload
from traces.records import Cause, Datagram, Message, Page, Timing

PAGES = [
    Page("a", 300, 5_000, ((310, 0), (320, 900)), 1.5, servers=(4, -1, 2)),
    Page("b", 400, 700, (), 0.0, 7.25, deadline_s=9.0),
]


def world(config, clients=(("psm", PAGES),), pushed=None, room=64, captured_s=None, datagrams=()):
    """Set up a run of clients, whose servers take 1, 2, 3, ... ns."""
    members = [
        (Workload.of(pages, datagrams=datagrams, captured_s=captured_s), netsim.simulation._made(spec, config))
        for spec, pages in clients
    ]
    delays = [np.arange(1, 1 + len(workload.sizes)) for workload, _ in members]
    return setup.World(members, delays, pushed or [[] for _ in members], config, 5, room).run


def columns(rows, kind, *names):
    return setup._columns(rows, kind, names).tolist()


def test_transport_links_and_beacons_are_those_of_the_configuration():
    link = LinkConfig(wireless_mbps=4.0, wired_mbps=12.0, wireless_delay_ms=0.25, wired_delay_ms=7.5, loss_rate=0.1)
    tcp = TcpConfig(
        mss_bytes=960, header_bytes=40, initial_window=3, window=11, min_rto_s=0.25, initial_rto_s=1.5, nagle=True
    )
    run = world(
        SimulationConfig(
            link=link, tcp=tcp, connections="per-object", max_connections=3, beacon_interval_ns=102_400_000
        )
    )
    assert (run.mss, run.header, run.full, run.first_window, run.window) == (960, 40, 1000, 3, 11)
    assert (run.min_rto, run.first_rto, run.nagle) == (250_000_000, 1_500_000_000, 1)
    assert (run.persistent, run.max_connections, run.interval, run.on_wires) == (0, 3, 102_400_000, 1)
    for line, ns_a_kilobyte, delay in (
        (run.air_up, 2_000_000, 250_000),
        (run.air_down, 2_000_000, 250_000),
        (run.wire_up, 666_666, 7_500_000),
        (run.wire_down, 666_666, 7_500_000),
    ):
        assert (line.full, line.bare, line.delay) == (ns_a_kilobyte, ns_a_kilobyte * 40 // 1000, delay)
        assert 1000 * line.numerator // line.denominator == ns_a_kilobyte
    assert (run.loss_rate, run.losses.stop) == (0.1, 1)
    assert world(SimulationConfig()).losses.stop == 0
    assert world(SimulationConfig()).persistent == 1


def test_pages_objects_and_messages_lie_in_rows():
    run = world(SimulationConfig(), pushed=[[Message(0.5, 70), Message(2.0, 30)]])
    [client] = run.clients
    assert (run.n_clients, client.number, client.n_pages, client.n_messages) == (1, 0, 2, 2)
    assert (client.next_number, client.until, client.n_steps, client.n_datagrams, client.n_hosts) == (1, 0, 0, 0, 0)
    assert client.last_sent == client.last_received == setup.NOT_YET_NS
    assert client.deadline == codes.NEVER
    assert columns(client.pages, "Page", "objects", "issue", "think", "deadline") == [
        [2, -1, 1_500_000_000, codes.NEVER], [0, 7_250_000_000, -1, 9_000_000_000],
    ]  # fmt: skip
    assert columns(client.objects, "Object", "request", "reply", "delay", "asked_of") == [
        [300, 5_000, 1, 4], [310, 0, 2, -1], [320, 900, 3, 2], [400, 700, 4, -1],
    ]  # fmt: skip
    assert columns(client.messages, "Message", "at", "bytes", "end") == [
        [500_000_000, 70, 70],
        [2_000_000_000, 30, 100],
    ]
    assert client.loads.shape[0] == 2


@cases_of("specs never aware observes", """
("none",), [1], [0], [0] ; ("none", "lpsm3"), [0, 0], [0, 1], [0, 1] ; ("bsd-host",), [0], [1], [1]
""")  # fmt: skip
def test_a_client_is_what_its_policy_says(specs, never, aware, observes):
    run = world(SimulationConfig(), [(spec, PAGES) for spec in specs])
    assert [client.never_sleeps for client in run.clients] == never  # on wires with others the gate is looked at
    assert [client.host_aware for client in run.clients] == aware
    assert [client.observes for client in run.clients] == observes


def test_graphs_lie_beside_the_objects():
    causes = Cause(0), Cause(1, 0.25), Cause(2, 0.5, False, False), Cause(1)
    pages = [Page("a", 1, 1, ((1, 1),) * 3, servers=(9, 2, 9, -1), causes=causes), Page("b", 1, 1, causes=(Cause(0),))]
    [client] = world(SimulationConfig(), [("psm", pages)]).clients
    assert client.n_hosts == len(client.hosts) == 3
    found = columns(client.objects, "Object", "host", "first", "sibling", "pause", "is_awaited", "is_stream")
    assert found == [
        [2, 1, -1, 0, 1, 1], [1, -1, 2, 250_000_000, 1, 1], [2, 3, -1, 500_000_000, 0, 0], [0, -1, -1, 0, 1, 1],
        [0, -1, -1, 0, 1, 1],
    ]  # fmt: skip


def test_datagrams_are_cut_into_segments_and_the_captured_time_is_kept():
    given = [Datagram(0.5, 2_500, True), Datagram(1.0, 0, False)]
    [client] = world(SimulationConfig(tcp=TcpConfig(mss_bytes=1000)), datagrams=given, captured_s=3.5).clients
    assert (client.n_datagrams, client.until) == (4, 3_500_000_000)
    assert columns(client.datagrams, "Datagram", "at", "bytes", "up") == [
        *([500_000_000, size, 1] for size in (1000, 1000, 500)), [1_000_000_000, 0, 0],
    ]  # fmt: skip


@cases_of("size lasts_s mbps", """
20_000, 0.001, 5.0  # too small to tell a rate
20_001, 0.01, 2 * 8 * 20_001e-6 / 0.01 ; 100_000, 1e-6, 1000.0 ; 100_000, 10.0, 5.0 ; 100_000, 0.0, 5.0
""")  # fmt: skip
def test_links_are_twice_as_fast_as_the_fastest_transfer_that_was_recorded_if_that_can_tell(size, lasts_s, mbps):
    pages = [Page("a", 300, size, timings=(Timing(0, 0, 0.0, 0.0, 0.05, lasts_s),))]
    run = world(SimulationConfig(), [("psm", pages), ("psm", PAGES)])
    assert 8_000 / (run.air_down.numerator / run.air_down.denominator) == pytest.approx(mbps, rel=1e-6)
    trip_s = 2 * (0.02 + 0.0001)
    assert run.window == max(20, round(1e6 * (mbps if mbps > 5 else 0) * trip_s / 8 / 1460))


def test_the_way_to_recorded_servers_is_no_longer_than_the_soonest_answer():
    config = SimulationConfig(server_delay="recorded")
    pages = [Page("a", 300, 500, timings=(Timing(0, 0, 0.0, 0.0, 0.01, 0.0),))]
    assert world(config, [("psm", pages)]).wire_up.delay == 4_900_000  # 5 ms each way, of which the air has .1
    assert world(SimulationConfig(server_delay=0.1), [("psm", pages)]).wire_up.delay == 20_000_000


def test_the_air_is_that_of_the_configuration_with_room_for_beacons():
    radio = StateRadioConfig(
        doze_mw=1, waking_mw=2, listening_mw=3, receiving_mw=4, transmitting_mw=5,
        wakeup_ms=1.25, settle_ms=0.5, listen_advance_ms=0.75, drift_ppm=20.0,
    )  # fmt: skip
    beacons = BeaconConfig(dtim_period=3, broadcast_per_s=4.0, size_bytes=250)
    air = AirConfig(
        phy=Phy.parse("11n"), neighbours=2, neighbour_mbps=1.5, beacons=beacons, edca=True, twt_announced=True,
        max_ampdu_bytes=8_000, beacon_loss=True, retrieval="ps-poll",
    )  # fmt: skip
    config = SimulationConfig(medium=air, radio=radio, link=LinkConfig(loss_rate=0.2))
    run = world(config, [("psm", PAGES), ("uapsd", PAGES)], room=10)
    assert (run.wakeup, run.settle, run.guard, run.drift) == (1_250_000, 500_000, 750_000, 20.0)
    assert (run.slot, run.difs, run.pifs, run.timeout) == (
        air.phy.slot_ns,
        air.phy.difs_ns,
        air.phy.pifs_ns,
        air.phy.timeout_ns,
    )
    assert (run.after_collision, run.cw_min, run.cw_max, run.attempts) == (air.phy.difs_ns, 15, 1023, 7)
    assert (run.beacon_air, run.dtim, run.next_beacon, run.next_target) == (air.phy.lowest_ns(250), 3, 1, run.interval)
    assert run.wanted == run.turn == run.beacon_turn == codes.NEVER
    assert (run.edca, run.beacons_lossy, run.on_wires, run.offered, run.n_neighbours) == (1, 1, 0, 1, 2)
    assert (run.batches_room, run.listeners_room) == (4096, 10 * 3)  # of every client, and of group frames
    assert [one.place for one in run.contenders] == [0, 1, 2, 3, 4]
    assert [one.cw for one in run.contenders] == [15] * 5
    assert [one.gaps.stop for one in run.contenders] == [0, 1, 1, 0, 0]
    assert [bool(one.template) for one in run.contenders] == [False, True, True, False, False]
    assert {one.template.code for one in run.contenders[1:3]} == {codes.OFFERED}
    assert {one.template.exchange for one in run.contenders[1:3]} == {1500 + 36 + 2}
    assert run.group_gaps.stop == 1
    for client, contender in zip(run.clients, run.contenders[3:], strict=True):
        assert client.contender is contender
        assert contender.client is client.turn.client is client
        assert (client.announces, client.expected, client.missed, client.retrieval) == (1, -1, -1, codes.PS_POLL)
        assert client.close == client.timer == client.wake == codes.NEVER
        assert client.reception.stop == 1


def test_what_is_not_asked_for_is_not_on_the_air():
    run = world(SimulationConfig(medium=AirConfig(neighbours=1)), [("uapsd", PAGES), ("psm", PAGES)])
    assert (run.wakeup, run.settle, run.guard, run.drift) == (0, 0, 0, 0.0)
    assert (run.edca, run.beacons_lossy, run.offered, run.most_bytes, run.group_gaps.stop) == (0, 0, 0, 0, 0)
    assert run.contenders[1].template.code == codes.SATURATED
    assert run.contenders[1].gaps.stop == 0
    assert [client.retrieval for client in run.clients] == [codes.UAPSD, codes.AUTO]
    assert [client.reception.stop for client in run.clients] == [0, 0]
    assert run.listeners_room == 64 * 3


def test_there_are_as_many_stations_as_an_event_can_tell_apart():
    config = SimulationConfig(medium=AirConfig(neighbours=1000))
    clients = [("psm", PAGES[1:])] * ((1 << codes.ORDER_BITS) - 1001)
    assert len(world(config, clients).contenders) == 1 << codes.ORDER_BITS
    with pytest.raises(ValueError, match=r"clients and neighbours must be less than 4096, got 4096"):
        world(config, [*clients, clients[0]])


@cases_of("size lasts_ns piece every_ns more", """
2_500, 0, 1000, 0, 2 ; 1_000, 0, 1000, 0, 0 ; 2_500, 150_000_000, 1000, 75_000_000, 2
100, 200_000_000, 34, 100_000_000, 2  # three of 34 bytes, no further apart than 80 ms would allow
2, 10**9, 1, 10**9, 1 ; 0, 50, 1, 50, 0 ; 1_001, -7, 1000, 0, 1
""")  # fmt: skip
def test_what_took_so_long_is_written_in_pieces(size, lasts_ns, piece, every_ns, more):
    run = world(SimulationConfig(link=LinkConfig(wireless_mbps=4.0, wired_mbps=8.0, wired_delay_ms=3.0)))
    found = setup._written(np.array([size]), np.array([lasts_ns]), 1000, 40, run.wire_up, run.air_up)
    first_ns, slowest_ns = (piece + 40) * 3_000 + 3_100_000, (piece + 40) * 2_000
    assert [int(one[0]) for one in found] == [piece, every_ns, first_ns, max(more * slowest_ns - lasts_ns, 0)]


@pytest.mark.parametrize(("status", "error", "said"), [
    (codes.NO_ROOM, MemoryError, "room for 64 beacons that clients wait for at once is too little"),
    (codes.OVERLOADED, ValueError, "broadcast_per_s must leave time for others on 11g"),
])  # fmt: skip
def test_an_interpreted_run_that_cannot_go_on_stops_and_says_why(status, error, said):
    config = SimulationConfig(medium=AirConfig(phy=Phy.parse("11g")))
    made = setup.World(
        [(Workload.of(PAGES), netsim.simulation._made("psm", config))], [np.zeros(4, np.int64)], [[]], config, 5
    )
    made.run.status = status
    with pytest.raises(error, match=said):
        run_interpreted(made)
    assert made.run.now == 0
    assert made.run.status == status


def test_a_beacon_too_many_is_told_interpreted():
    config = SimulationConfig(medium=AirConfig())
    members = [(Workload.of(PAGES), netsim.simulation._made("psm", config))]
    with pytest.raises(MemoryError, match="room for 0 beacons"):
        run_interpreted(setup.World(members, [np.zeros(4, np.int64)], [[]], config, 5, 0))
