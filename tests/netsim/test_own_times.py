"""Captures simulated at their own times, held against their packets, which `tests.oracles.packets` counts apart."""

import numpy as np
import pytest

import netsim
import traces
from netsim import AirConfig, ServerDelay, SimulationConfig
from netsim.model.entities import Line
from netsim.running import setup
from tests.oracles.packets import accounts
from tests.real_data import DATA
from tests.tables import cases_of, each, near
from traces.records import Datagram, Message, Page, Timing

CAPTURES = ("alexa-app.pcapng", "coap_mqtt.pcap", "googledns_android10.pcap", "instagram.pcap", "mqtt.pcap",
    "nest_log_sink.pcap", "netflix.pcap", "quic-mvfst-22.pcap", "telegram.pcap", "webex.pcap", "wechat.pcap",
    "whatsapp_login_chat.pcap", "wireguard.pcap", "youtube_quic.pcap")  # fmt: skip
WORLD = SimulationConfig(server_delay=ServerDelay(kind="recorded"))
BEACON_S = 0.1
needs_data = pytest.mark.skipif(not (DATA / "captures").is_dir(), reason="no real data here: set LPSM_DATA")


def clients(name):
    """Yield address and workload of every client of a capture, session after session."""
    report = traces.Report()
    for session in list(traces.sessions(DATA / "captures" / name, report=report)):
        yield session.name.split(" ")[0], traces.workload_of(session.requests, report=report)


@needs_data
@each("name", CAPTURES)
def test_time_and_time_awake_are_those_of_the_packets(name):
    sums = np.zeros((3, 2))  # simulated and counted: time, and time awake with each hold
    for address, workload in clients(name):
        known = accounts(DATA / "captures" / name, address)
        own = min(known, key=lambda account: abs(account.lasts_s - workload.captured_s))
        assert workload.captured_s == near(own.lasts_s, abs=2e-6)
        sums[0] += netsim.simulate(workload, config=WORLD, engine="packet").elapsed_s, own.lasts_s
        for place, hold_s in ((1, 0.5), (2, 0.05)):
            run = netsim.simulate(workload, f"dynamic:{1000 * hold_s:g}", config=WORLD, engine="packet")
            sums[place] += run.awake_s, own.awake_s(hold_s)
            late_s = max(run.latency_s.sum(), 0.0) + BEACON_S
            assert own.lasts_s - 1e-6 <= run.elapsed_s <= own.lasts_s + late_s
    for (simulated, counted), tolerance in zip(sums, (0.01, 0.05, 0.13), strict=True):
        assert simulated == near(counted, rel=tolerance)


def test_a_delay_moves_what_waited_for_it_and_nothing_else():
    def exchange(after, at_s, connection):
        return Timing(connection, after, at_s, 0.0, 0.06, 0.0)

    pages = [Page("a", 300, 500, ((300, 500),), timings=(exchange(0, 1.05, 0), exchange(1, 0.2, 0))),
        Page("b", 300, 500, timings=(exchange(0, 5.0, 1),))]  # fmt: skip
    workload = traces.Workload.of(pages, captured_s=9.0)
    base, late = (netsim.simulate(workload, policy, config=WORLD, engine="packet") for policy in ("none", "psm:1000"))
    assert base.pages.issue_s.tolist() == late.pages.issue_s.tolist() == [1.05, 5.0]
    assert base.latency_s == near([0.32, 0.06], abs=1e-3)
    assert late.latency_s == near([3.0 - 1.05, 1.0], abs=1e-2)  # replies wait for 2.0, 3.0 and 6.0 s
    assert base.elapsed_s == late.elapsed_s == 9.0


@each("medium", [None, AirConfig()])
def test_a_datagram_is_late_by_what_it_waited_at_the_access_point(medium):
    sent = [Datagram(0.31, 100, False), Datagram(0.35, 200, True), Datagram(0.79, 4000, False), Datagram(0.9, 0, True)]
    workload = traces.Workload.of([], [Message(0.5, 70)], datagrams=sent, captured_s=2.0)
    config = SimulationConfig(medium=medium)
    none, psm = (netsim.simulate(workload, policy, config=config, engine="packet") for policy in ("none", "psm"))
    assert (none.datagram_delay_s < 0.005).all()
    assert psm.datagrams.arrived.all()
    down = psm.datagrams[~psm.datagrams.up]
    assert len(down) == 4  # 4,000 bytes go in three
    wired_s = 0.02
    assert down.delay_s.to_numpy() == near([0.4 - 0.31 - wired_s, *[0.9 - 0.79 - wired_s] * 3], abs=0.005)
    totals = psm.datagram_totals
    assert (totals["datagrams"], totals["datagrams_lost"]) == (6, 0)
    assert dict(zip(psm.datagrams.size_bytes, psm.datagrams.sent_s, strict=True)) == {
        100: 0.31, 200: 0.35, 1460: 0.79, 1080: 0.79, 0: 0.9}  # fmt: skip
    assert totals["datagram_delay_max_s"] == down.delay_s.max()
    assert psm.elapsed_s == 2.0


@needs_data
@each("medium", [None, AirConfig()])
@each("name", "mqtt.pcap telegram.pcap youtube_quic.pcap")
def test_compiled_and_interpreted_runs_of_a_capture_are_equal(name, medium):
    config = SimulationConfig(server_delay="recorded", medium=medium)
    for _, workload in clients(name):
        for policy in ("none", "psm", "dynamic:50", "lpsm"):
            runs = [netsim.simulate(workload, policy, config=config, engine=form) for form in ("packet", "express")]
            one, other = runs
            assert (one.energy, one.elapsed_s) == (other.energy, other.elapsed_s)
            for frame in ("pages", "messages", "datagrams", "polls", "radio"):
                assert getattr(one, frame).equals(getattr(other, frame)), frame


@cases_of("soonest_s delay_ms size lasts_s mbps", """
0.03, 14.9, 100_000, 0.02, 80.0 ; 0.5, 20.0, 40_000, 0.5, 1.28 ; 1e-4, 0.0, 40_000, 1e-6, 1000.0
0.5, 20.0, 40_000, 6.4e-4, 1000.0 ; 0.5, 20.0, 39_996, 6.4e-4, 999.9
""")  # fmt: skip
def test_links_and_windows_have_room_for_twice_the_fastest_that_was_recorded(soonest_s, delay_ms, size, lasts_s, mbps):
    first, second = Timing(0, 0, 1.0, 0.0, soonest_s, lasts_s), Timing(0, 1, 0.1, 0.0, 0.9, 0.0)
    pages = [Page("a", 300, size, timings=(first,)), Page("b", 300, 500, timings=(second,))]
    members = [(traces.Workload.of(pages, captured_s=9.0), netsim.policies.make("psm"))]
    run = setup.World(members, [np.zeros(2, dtype=np.int64)], [[]], WORLD, 0).run
    assert (run.wire_up.delay, run.air_up.delay) == (round(delay_ms * 1e6), 100_000)
    assert run.window == max(20, round(max(mbps, 5.0) * 1e6 * 2 * (delay_ms + 0.1) / 1e3 / 8 / 1460))
    for line, least_mbps in ((run.wire_up, 10.0), (run.wire_down, 10.0), (run.air_up, 5.0), (run.air_down, 5.0)):
        assert line.numerator / line.denominator == near(8000 / max(mbps, least_mbps))
    [client] = run.clients
    assert (client.n_pages, client.n_messages, client.next_number, client.never_sleeps) == (2, 0, 1, 0)


def test_what_takes_long_is_written_in_pieces_of_a_segment_or_less_that_are_at_most_80_ms_apart():
    line = Line()
    line.numerator, line.denominator, line.delay = 100, 1, 1_000_000  # ns a byte
    sizes, lasts_ns = np.array([100_000, 14_600, 500, 3000]), np.array([20_000_000, 1_000_000, 0, 400_000_000])
    found = setup._written(sizes, lasts_ns, 1460, 40, line, line)
    assert np.array(found).T.tolist() == [  # piece, from one to the next, the first on its way, and how much longer
        [1460, 20_000_000 // 68, 2_300_000, 0], [1460, 1_000_000 // 9, 2_300_000, 350_000], [500, 0, 2_108_000, 0],
        [500, 80_000_000, 2_108_000, 0],
    ]  # fmt: skip
