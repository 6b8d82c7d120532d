"""Captures simulated at their own times, held against their packets, which `tests.oracles.packets` counts apart."""

import numpy as np
import pytest

import netsim
import traces
from netsim import AirConfig, ServerDelay, SimulationConfig
from netsim.running.recorder import Recorder
from tests.oracles.packets import Account, Packet, accounts
from tests.real_data import DATA
from tests.tables import each, near
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


def account_of(name, address, workload):
    """Return the account of a client in the part of a capture that its workload is of."""
    known = accounts(DATA / "captures" / name, address)
    return min(known, key=lambda account: abs(account.lasts_s - workload.captured_s))


@needs_data
@each("name", CAPTURES)
def test_time_and_time_awake_are_those_of_the_packets(name):
    sums = np.zeros((3, 2))  # of all clients, simulated and counted: time, and time awake with each hold
    for address, workload in clients(name):
        own = account_of(name, address, workload)
        assert workload.captured_s == near(own.lasts_s, abs=2e-6)
        sums[0] += netsim.simulate(workload, config=WORLD).elapsed_s, own.lasts_s
        for place, hold_s, tolerance in ((1, 0.5, 0.05), (2, 0.05, 0.1)):
            run = netsim.simulate(workload, f"dynamic:{1000 * hold_s:g}", config=WORLD)
            late_s = max(run.latency_s.sum(), 0.0) + BEACON_S
            assert own.lasts_s - 1e-6 <= run.elapsed_s <= own.lasts_s + late_s
            awake = run.radio[run.radio["state"] == "awake"]  # until the last packet, as it is counted
            ends_s = awake["end_s"].clip(upper=own.lasts_s)
            sums[place] += (ends_s - awake["start_s"]).clip(0.0).sum(), own.awake_s(hold_s)
            if len(own.packets) >= 30:  # of fewer, what comes after the last one counts
                counted = own.awake_s(hold_s), own.awake_asleep_between_s(hold_s, BEACON_S)
                assert [run.awake_s] * 2 == near(counted, rel=tolerance)
    for (simulated, counted_s), tolerance in zip(sums, (0.01, 0.05, 0.13), strict=True):
        assert simulated == near(counted_s, rel=tolerance)


@needs_data
@each("name", "googledns_android10.pcap quic-mvfst-22.pcap whatsapp_login_chat.pcap youtube_quic.pcap")
def test_frames_of_one_that_never_sleeps_count_as_those_of_the_capture(name):
    for address, workload in clients(name):
        own, recorder = account_of(name, address, workload), Recorder()
        netsim.simulate(workload, "none", config=WORLD, recorder=recorder)
        simulated = own._replace(packets=[Packet(f.start_ns / 1e9, True, ()) for f in recorder.transmissions])
        for hold_s in (0.5, 0.05):
            assert simulated.awake_s(hold_s) == near(own.awake_s(hold_s), rel=0.03)


def test_what_comes_down_to_one_asleep_waits_and_what_follows_it_comes_later():
    packets = [Packet(at_s, up, flow) for at_s, up, flow in (
        (0.11, False, "a"),  # waits until 0.2
        (0.13, True, "a"), (0.14, False, "a"),  # 0.22, and 0.23: what answers an answer is as late
        (0.31, False, "b"), (0.33, True, "c"),  # fetched at 0.33
        (1.45, False, "a"),  # waits until 1.5; more than a second later: it answers nothing
    )]  # fmt: skip
    account = Account(2.0, packets)
    assert account.awake_s(0.05) == near(0.05 + 0.02 + 0.01 + 0.02 + 0.05 + 0.05 - 0.05 + 0.05, abs=1e-9)
    assert account.awake_asleep_between_s(0.05, 0.1) == near(0.08 + 0.05 + 0.05, abs=1e-9)


@each("before, last", [(1, 1), (1460, 1), (1461, 2), (5_000, 4), (7_300, 5)])
def test_a_reply_pauses_behind_the_segment_with_the_last_byte_before_its_pause(before, last):
    page = Page("a", 300, 6 * 1460, timings=(Timing(0, 0, 0.0, 0.0, 0.06, 0.45, 0.4, before),))
    recorder = Recorder()
    netsim.simulate([page], "none", config=WORLD, recorder=recorder)
    starts_s = np.array([one.start_ns / 1e9 for one in recorder.transmissions if one.down and one.length])
    assert np.diff(starts_s) == near([0.01 + 0.4 * (last == place) for place in range(1, 6)], abs=2e-3)


@each("reply_s, pause_s, before", [(0.3, 0.31, 5), (0.3, 0.1, 0), (0.3, 0.1, 500)])
def test_a_pause_that_is_not_within_its_reply_is_an_error(reply_s, pause_s, before):
    page = Page("a", 300, 500, timings=(Timing(0, 0, 0.0, 0.0, 0.06, reply_s, pause_s, before),))
    with pytest.raises(ValueError, match=f"between two of its bytes, got {pause_s:g} s after {before} bytes"):
        netsim.simulate([page], config=WORLD)


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
