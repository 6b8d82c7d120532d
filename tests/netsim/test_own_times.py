"""Captures simulated at their own times, held against their packets, which `tests.oracles.packets` counts apart."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import netsim
import traces
from netsim import AirConfig, ServerDelay, SimulationConfig
from netsim.running import fill
from tests.oracles.packets import accounts
from tests.real_data import DATA
from traces.records import Datagram, Message, Page, Timing

CAPTURES = (
    "alexa-app.pcapng", "coap_mqtt.pcap", "googledns_android10.pcap", "instagram.pcap", "mqtt.pcap",
    "nest_log_sink.pcap", "netflix.pcap", "quic-mvfst-22.pcap", "telegram.pcap", "webex.pcap", "wechat.pcap",
    "whatsapp_login_chat.pcap", "wireguard.pcap", "youtube_quic.pcap",
)  # fmt: skip
WORLD = SimulationConfig(server_delay=ServerDelay(kind="recorded"))
BEACON_S = 0.1
needs_data = pytest.mark.skipif(not (DATA / "captures").is_dir(), reason="no real data here: set LPSM_DATA")


def clients(path):
    """Yield address and workload of every client of a capture, session after session."""
    report = traces.Report()
    sessions = list(traces.sessions(path, report=report))
    for session in sessions:
        yield session.name.split(" ")[0], traces.workload_of(session.requests, report=report)


@needs_data
@pytest.mark.parametrize("name", CAPTURES)
def test_time_and_time_awake_are_those_of_the_packets(name):
    path = DATA / "captures" / name
    captured_s = simulated_s = 0.0
    awake = {0.5: np.zeros(2), 0.05: np.zeros(2)}
    for address, workload in clients(path):
        own = min(accounts(path, address), key=lambda account: abs(account.lasts_s - workload.captured_s))
        assert workload.captured_s == pytest.approx(own.lasts_s, abs=2e-6)
        captured_s += own.lasts_s
        simulated_s += netsim.simulate(workload, config=WORLD, engine="packet").elapsed_s
        for hold_s, sums in awake.items():
            run = netsim.simulate(workload, f"dynamic:{1000 * hold_s:g}", config=WORLD, engine="packet")
            sums += run.awake_s, own.awake_s(hold_s)
            late_s = max(run.latency_s.sum(), 0.0) + BEACON_S
            assert own.lasts_s - 1e-6 <= run.elapsed_s <= own.lasts_s + late_s
    assert simulated_s == pytest.approx(captured_s, rel=0.01)
    for hold_s, tolerance in ((0.5, 0.1), (0.05, 0.2)):
        simulated, counted = awake[hold_s]
        assert simulated == pytest.approx(counted, rel=tolerance), hold_s


def test_a_delay_moves_what_waited_for_it_and_nothing_else():
    def exchange(after, at_s, connection):
        return Timing(connection, after, at_s, 0.0, 0.06, 0.0)

    pages = [
        Page("a", 300, 500, ((300, 500),), timings=(exchange(0, 1.05, 0), exchange(1, 0.2, 0))),
        Page("b", 300, 500, timings=(exchange(0, 5.0, 1),)),
    ]
    workload = traces.Workload.of(pages, captured_s=9.0)
    base, late = (netsim.simulate(workload, policy, config=WORLD, engine="packet") for policy in ("none", "psm:1000"))
    assert base.pages.issue_s.tolist() == late.pages.issue_s.tolist() == [1.05, 5.0]
    assert base.latency_s == pytest.approx([0.32, 0.06], abs=1e-3)
    assert late.latency_s == pytest.approx([3.0 - 1.05, 1.0], abs=1e-2)  # replies wait for 2.0, 3.0 and 6.0 s
    assert base.elapsed_s == late.elapsed_s == 9.0


@pytest.mark.parametrize("medium", [None, AirConfig()])
def test_a_datagram_is_late_by_what_it_waited_at_the_access_point(medium):
    sent = [Datagram(0.31, 100, False), Datagram(0.35, 200, True), Datagram(0.79, 4000, False)]
    workload = traces.Workload.of([], [Message(0.5, 70)], datagrams=sent, captured_s=2.0)
    config = SimulationConfig(medium=medium)
    none, psm = (netsim.simulate(workload, policy, config=config, engine="packet") for policy in ("none", "psm"))
    assert (none.datagram_delay_s < 0.005).all()
    assert psm.datagrams.arrived.all()
    down = psm.datagrams[~psm.datagrams.up]
    assert len(down) == 4  # 4,000 bytes go in three
    wired_s = 0.02
    assert down.delay_s.to_numpy() == pytest.approx([0.4 - 0.31 - wired_s, *[0.9 - 0.79 - wired_s] * 3], abs=0.005)
    totals = psm.datagram_totals
    assert totals["datagrams"] == 5
    assert totals["datagrams_lost"] == 0
    assert totals["datagram_delay_max_s"] == down.delay_s.max()
    assert psm.elapsed_s == 2.0


@needs_data
@pytest.mark.parametrize("medium", [None, AirConfig()])
@pytest.mark.parametrize("name", ["mqtt.pcap", "telegram.pcap", "youtube_quic.pcap"])
def test_compiled_and_interpreted_runs_of_a_capture_are_equal(name, medium):
    config = SimulationConfig(server_delay=ServerDelay(kind="recorded"), medium=medium)
    for _, workload in clients(DATA / "captures" / name):
        for policy in ("none", "psm", "dynamic:50", "lpsm"):
            one, other = (
                netsim.simulate(workload, policy, config=config, engine=engine) for engine in ("packet", "express")
            )
            assert (one.energy, one.elapsed_s) == (other.energy, other.elapsed_s)
            for frame in ("pages", "messages", "datagrams", "polls", "radio"):
                assert getattr(one, frame).equals(getattr(other, frame)), frame


@pytest.mark.parametrize(("soonest_s", "delay_ms"), [(0.03, 14.9), (0.5, 20.0), (1e-4, 0.0)])
def test_links_and_windows_have_room_for_what_was_recorded(soonest_s, delay_ms):
    first, second = Timing(0, 0, 1.0, 0.0, soonest_s, 0.02), Timing(0, 1, 0.1, 0.0, 0.9, 0.0)
    pages = [Page("a", 300, 100_000, timings=(first,)), Page("b", 300, 500, timings=(second,))]
    members = [(traces.Workload.of(pages, captured_s=9.0), netsim.policies.make("psm"))]
    world = fill.World(members, [np.zeros(2, dtype=np.int64)], [[]], WORLD, 0)
    run, mbps = world.run, 2 * 0.8 / 0.02  # twice 100 kB in 20 ms
    assert (run.wire_up.delay, run.air_up.delay) == (round(delay_ms * 1e6), 100_000)
    for line in (run.wire_up, run.wire_down, run.air_up, run.air_down):
        assert line.numerator / line.denominator == pytest.approx(8000 / mbps)
    assert run.window == max(20, round(mbps * 1e6 * 2 * (delay_ms + 0.1) / 1e3 / 8 / 1460))
    [client] = run.clients
    assert (client.n_pages, client.n_messages, client.next_number, client.never_sleeps) == (2, 0, 1, 0)


@pytest.mark.parametrize(("lasts_s", "mbps"), [(0.5, 1.28), (1e-6, 1000.0), (0.0, 0.0)])
def test_links_have_twice_the_rate_of_the_fastest_transfer_of_some_size_that_was_recorded(lasts_s, mbps):
    timings = np.array([[0.0, 0.0, 0.0, 1e-3, 0.05, lasts_s]])
    recorded = SimpleNamespace(timings=timings, sizes=np.array([[300, 40_000]]))
    assert fill._recorded_mbps(recorded) == pytest.approx(mbps)
