"""A run before it begins: every figure of its records by hand, from pages, world and policies."""

import numpy as np
import pytest

import netsim
from netsim import AirConfig, BeaconConfig, LinkConfig, SimulationConfig, StateRadioConfig, TcpConfig
from netsim.model import codes
from netsim.model.air.air_times import Phy
from netsim.running import setup
from netsim.running.on_simpy import run_interpreted
from tests.tables import cases_of, differing, value_error
from traces.columns import Workload
from traces.records import Cause, Datagram, Message, Page, Timing

PAGES = [Page("a", 300, 5_000, ((310, 0), (320, 900)), 1.5, servers=(4, -1, 2)),
    Page("b", 400, 700, (), 0.0, 7.25, deadline_s=9.0)]  # fmt: skip


def made(config, clients=(("psm", PAGES),), pushed=None, room=64, captured_s=None, datagrams=()):
    """Set up a run of clients, whose servers take 1, 2, 3, ... ns."""
    members = [(Workload.of(pages, datagrams=datagrams, captured_s=captured_s), netsim.simulation._made(spec, config))
        for spec, pages in clients]  # fmt: skip
    delays = [np.arange(1, 1 + len(workload.sizes)) for workload, _ in members]
    return setup.World(members, delays, pushed or [[] for _ in members], config, 5, room)


def world(*given, **options):
    return made(*given, **options).run


def columns(rows, kind, *names):
    return setup._columns(rows, kind, names).tolist()


def test_transport_links_and_beacons_are_those_of_the_configuration():
    link = LinkConfig(wireless_mbps=4.0, wired_mbps=12.0, wireless_delay_ms=0.25, wired_delay_ms=7.5, loss_rate=0.1)
    tcp = TcpConfig(mss_bytes=960, header_bytes=40, initial_window=3, window=11, min_rto_s=0.25, initial_rto_s=1.5,
        nagle=True)  # fmt: skip
    given = {"connections": "per-object", "max_connections": 3, "beacon_interval_ns": 102_400_000}
    run = world(SimulationConfig(link=link, tcp=tcp, **given))
    assert not differing(
        run,
        """
mss = 960 ; header = 40 ; full = 1000 ; first_window = 3 ; window = 11 ; min_rto = 250_000_000 ; loss_rate = 0.1
first_rto = 1_500_000_000 ; nagle = 1 ; persistent = 0 ; max_connections = 3 ; interval = 102_400_000 ; on_wires = 1
losses.stop = 1
""",
    )
    for ns_a_kilobyte, delay, *lines in ((2_000_000, 250_000, run.air_up, run.air_down),
                                         (666_666, 7_500_000, run.wire_up, run.wire_down)):  # fmt: skip
        for line in lines:
            assert (line.full, line.bare, line.delay) == (ns_a_kilobyte, ns_a_kilobyte * 40 // 1000, delay)
            assert 1000 * line.numerator // line.denominator == ns_a_kilobyte
    assert not differing(world(SimulationConfig()), "losses.stop = 0 ; persistent = 1")


def test_pages_objects_and_messages_lie_in_rows():
    run = world(SimulationConfig(), pushed=[[Message(0.5, 70), Message(2.0, 30)]])
    [client] = run.clients
    assert run.n_clients == 1
    assert not differing(client, """
number = 0 ; n_pages = 2 ; n_messages = 2 ; next_number = 1 ; until = 0 ; n_steps = 0 ; n_datagrams = 0 ; n_hosts = 0
last_sent = setup.NOT_YET_NS ; last_received = setup.NOT_YET_NS ; deadline = codes.NEVER
""", globals())  # fmt: skip
    assert columns(client.pages, "Page", "objects", "issue", "think", "deadline") == [
        [2, -1, 1_500_000_000, codes.NEVER], [0, 7_250_000_000, -1, 9_000_000_000]]  # fmt: skip
    assert columns(client.objects, "Object", "request", "reply", "delay", "asked_of") == [[300, 5_000, 1, 4],
        [310, 0, 2, -1], [320, 900, 3, 2], [400, 700, 4, -1]]  # fmt: skip
    assert columns(client.messages, "Message", "at", "bytes", "end") == [[500_000_000, 70, 70],
        [2_000_000_000, 30, 100]]  # fmt: skip
    assert client.loads.shape[0] == 2


@cases_of("specs never aware observes", """
("none",), [1], [0], [0] ; ("none", "lpsm3"), [0, 0], [0, 1], [0, 1] ; ("bsd-host",), [0], [1], [1]
""")  # fmt: skip
def test_a_client_is_what_its_policy_says(specs, never, aware, observes):
    run = world(SimulationConfig(), [(spec, PAGES) for spec in specs])
    found = np.array([[client.never_sleeps, client.host_aware, client.observes] for client in run.clients])
    assert found.T.tolist() == [never, aware, observes]  # on wires with others the gate is looked at


def test_graphs_lie_beside_the_objects():
    causes = Cause(0), Cause(1, 0.25), Cause(2, 0.5, False, False), Cause(1)
    pages = [Page("a", 1, 1, ((1, 1),) * 3, servers=(9, 2, 9, -1), causes=causes), Page("b", 1, 1, causes=(Cause(0),))]
    [client] = world(SimulationConfig(), [("psm", pages)]).clients
    assert client.n_hosts == len(client.hosts) == 3
    found = columns(client.objects, "Object", "host", "first", "sibling", "pause", "is_awaited", "is_stream")
    assert found == [[2, 1, -1, 0, 1, 1], [1, -1, 2, 250_000_000, 1, 1], [2, 3, -1, 500_000_000, 0, 0],
        [0, -1, -1, 0, 1, 1], [0, -1, -1, 0, 1, 1]]  # fmt: skip


def test_datagrams_are_cut_into_segments_and_the_captured_time_is_kept():
    given = [Datagram(0.5, 2_500, True), Datagram(1.0, 0, False)]
    [client] = world(SimulationConfig(tcp=TcpConfig(mss_bytes=1000)), datagrams=given, captured_s=3.5).clients
    assert (client.n_datagrams, client.until) == (4, 3_500_000_000)
    assert columns(client.datagrams, "Datagram", "at", "bytes",
        "up") == [*([500_000_000, size, 1] for size in (1000, 1000, 500)), [1_000_000_000, 0, 0]]  # fmt: skip


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
    radio = StateRadioConfig(doze_mw=1, waking_mw=2, listening_mw=3, receiving_mw=4, transmitting_mw=5, wakeup_ms=1.25,
        settle_ms=0.5, listen_advance_ms=0.75, drift_ppm=20.0)  # fmt: skip
    beacons = BeaconConfig(dtim_period=3, broadcast_per_s=4.0, size_bytes=250)
    air = AirConfig(phy=Phy.parse("11n"), neighbours=2, neighbour_mbps=1.5, beacons=beacons, edca=True,
        twt_announced=True, max_ampdu_bytes=8_000, beacon_loss=True, retrieval="ps-poll")  # fmt: skip
    config = SimulationConfig(medium=air, radio=radio, link=LinkConfig(loss_rate=0.2))
    run = world(config, [("psm", PAGES), ("uapsd", PAGES)], room=10)
    assert not differing(run, """
wakeup = 1_250_000 ; settle = 500_000 ; guard = 750_000 ; drift = 20.0 ; slot = phy.slot_ns ; difs = phy.difs_ns
pifs = phy.pifs_ns ; timeout = phy.timeout_ns ; after_collision = phy.difs_ns ; cw_min = 15 ; cw_max = 1023
attempts = 7 ; beacon_air = phy.lowest_ns(250) ; dtim = 3 ; next_beacon = 1 ; next_target = run.interval
wanted = codes.NEVER ; turn = codes.NEVER ; beacon_turn = codes.NEVER ; edca = 1 ; beacons_lossy = 1 ; on_wires = 0
offered = 1 ; n_neighbours = 2 ; group_gaps.stop = 1
batches_room = 4096 ; listeners_room = 10 * 3  # of every client, and of group frames
""", {"phy": air.phy, "run": run, "codes": codes})  # fmt: skip
    assert [(one.place, one.cw, one.gaps.stop, bool(one.template)) for one in run.contenders] == [(0, 15, 0, False),
        (1, 15, 1, True), (2, 15, 1, True), (3, 15, 0, False), (4, 15, 0, False)]  # fmt: skip
    templates = {(one.template.code, one.template.exchange) for one in run.contenders[1:3]}
    assert templates == {(codes.OFFERED, 1500 + 36 + 2)}
    for client, contender in zip(run.clients, run.contenders[3:], strict=True):
        assert client.contender is contender
        assert contender.client is client.turn.client is client
        assert not differing(client, """
announces = 1 ; expected = -1 ; missed = -1 ; retrieval = codes.PS_POLL ; close = codes.NEVER ; timer = codes.NEVER
wake = codes.NEVER ; reception.stop = 1
""", globals())  # fmt: skip


def test_what_is_not_asked_for_is_not_on_the_air():
    run = world(SimulationConfig(medium=AirConfig(neighbours=1)), [("uapsd", PAGES), ("psm", PAGES)])
    assert not differing(
        run,
        """
wakeup = 0 ; settle = 0 ; guard = 0 ; drift = 0.0 ; edca = 0 ; beacons_lossy = 0 ; offered = 0 ; most_bytes = 0
group_gaps.stop = 0 ; listeners_room = 64 * 3
""",
    )
    assert not differing(run.contenders[1], "template.code = codes.SATURATED ; gaps.stop = 0", globals())
    assert [(client.retrieval, client.reception.stop) for client in run.clients] == [(codes.UAPSD, 0), (codes.AUTO, 0)]


def test_there_are_as_many_stations_as_an_event_can_tell_apart():
    config = SimulationConfig(medium=AirConfig(neighbours=1000))
    clients = [("psm", PAGES[1:])] * ((1 << codes.ORDER_BITS) - 1001)
    assert len(world(config, clients).contenders) == 1 << codes.ORDER_BITS
    with value_error(r"clients and neighbours must be less than 4096, got 4096"):
        world(config, [*clients, clients[0]])


@cases_of("size lasts_ns piece every_ns more", """
2_500, 0, 1000, 0, 2 ; 1_000, 0, 1000, 0, 0 ; 2_500, 150_000_000, 1000, 75_000_000, 2
100, 200_000_000, 34, 100_000_000, 2  # three of 34 bytes, no further apart than 80 ms would allow
100, 159_999_998, 50, 159_999_998, 1 ; 2, 10**9, 1, 10**9, 1 ; 0, 50, 1, 50, 0 ; 1_001, -7, 1000, 0, 1
""")  # fmt: skip
def test_what_took_so_long_is_written_in_pieces(size, lasts_ns, piece, every_ns, more):
    run = world(SimulationConfig(link=LinkConfig(wireless_mbps=4.0, wired_mbps=8.0, wired_delay_ms=3.0)))
    found = setup._written(np.array([size]), np.array([lasts_ns]), 1000, 40, run.wire_up, run.air_up)
    first_ns, slowest_ns = (piece + 40) * 3_000 + 3_100_000, (piece + 40) * 2_000
    assert [int(one[0]) for one in found] == [piece, every_ns, first_ns, max(more * slowest_ns - lasts_ns, 0)]


@cases_of("status error said", """
codes.NO_ROOM, MemoryError -> room for 64 beacons that clients wait for at once is too little
codes.OVERLOADED, ValueError -> broadcast_per_s must leave time for others on 11g
""", globals())  # fmt: skip
def test_an_interpreted_run_that_cannot_go_on_stops_and_says_why(status, error, said):
    world = made(SimulationConfig(medium=AirConfig(phy=Phy.parse("11g"))))
    world.run.status = status
    with pytest.raises(error, match=said):
        run_interpreted(world)
    assert (world.run.now, world.run.status) == (0, status)


def test_a_beacon_too_many_is_told_interpreted():
    with pytest.raises(MemoryError, match="room for 0 beacons"):
        run_interpreted(made(SimulationConfig(medium=AirConfig()), room=0))
