"""Pages that the express engine hands over to the compiled loop of events, and when it refuses to."""

import numpy as np
import pytest

import netsim
from netsim import NotCoveredError, policies
from netsim.air.express import memory
from netsim.express import engine, handover
from tests.netsim.test_express import assert_equal
from traces.columns import Workload
from traces.records import Message, Page


def test_a_page_whose_timer_runs_out_is_handed_over_and_the_others_are_not():
    # the SYN-ACK just catches the beacon at 2 s, so that the server measures a short round trip; the reply then waits
    late = Page("late", 300, 40_000, ((300, 20_000),), 5.0, issue_s=1.95)
    pages = [late, *(Page(f"p{i}", 300, 9_000, (), 7.123) for i in range(6))]
    ours = netsim.simulate(pages, "psm:2000", engine="express")
    assert 1 <= ours.pages_handed_over < len(pages)
    assert_equal(ours, netsim.simulate(pages, "psm:2000", engine="packet"))


@pytest.mark.parametrize("name", ["express", "packet"])
def test_copies_of_a_syn_and_of_its_answer_wait_for_one_beacon_and_are_answered_one_by_one(name):
    # a header takes 1 ms on either link; sent at 0.5 s, the SYN is sent again after 3 s, and once more after 6 s
    config = netsim.SimulationConfig(
        link=netsim.LinkConfig(wireless_mbps=8.0, wired_mbps=8.0, wireless_delay_ms=0.0, wired_delay_ms=0.0),
        tcp=netsim.TcpConfig(mss_bytes=1000, header_bytes=1000),
    )
    found = {}
    for beacons in (40, 100):
        result = netsim.simulate([Page("p", 1000, 500, (), 0.0, 0.5)], f"listen:{beacons}", config=config, engine=name)
        waited = result.polls.buffered_bytes
        found[beacons] = waited[waited > 0].tolist(), result.elapsed_s, result.uplink_air_s, result.downlink_air_s
    # a beacon at 4 s: two answers; the reply is sent at 4.006 s and, the server's timer not having been timed, again
    # after 3 s; the beacon at 8 s lets out both.  Up: two SYNs, two ACKs, and the request in 2 ms
    assert found[40] == ([2000, 3000], 8.0015, pytest.approx(0.006), pytest.approx(0.005))
    # a beacon at 10 s: four answers, one of them the server's own after 6 s, whose last three are acknowledged as
    # copies: the reply is sent at 10.006 s, at the third of these ACKs, and when the server's timer runs out 6 s later
    assert found[100] == ([4000, 4500], 20.0015, pytest.approx(0.009), pytest.approx(0.0085))


def test_a_small_workload_takes_the_packet_model_where_the_loop_of_events_is_not_compiled(monkeypatch):
    pages = [Page("a", 300, 9_000, (), 5.0), Page("late", 300, 9_000, (), 5.0, issue_s=5.15)]
    config = netsim.SimulationConfig(tcp=netsim.TcpConfig(min_rto_s=0.06, initial_rto_s=0.2))
    monkeypatch.setattr(netsim.simulation, "_is_ready", lambda members, config: True)
    assert netsim.simulate(pages, "lpsm", config=config, engine="express").pages_handed_over >= 1
    monkeypatch.setattr(handover.run_cell, "ready", lambda: False)
    ours = netsim.simulate(pages, "lpsm", config=config)
    assert ours.pages_handed_over == 0
    assert_equal(ours, netsim.simulate(pages, "lpsm", config=config, engine="packet"))


def test_what_the_loop_of_events_has_no_room_for_is_refused_or_left_to_the_packet_model(
    monkeypatch,
):
    pages = [Page("a", 300, 9_000, (), 5.0), Page("late", 300, 9_000, (), 5.0, issue_s=5.15)]
    config = netsim.SimulationConfig(tcp=netsim.TcpConfig(min_rto_s=0.06, initial_rto_s=0.2))
    monkeypatch.setattr(netsim.simulation, "_is_ready", lambda members, config: True)
    monkeypatch.setattr(memory, "_FRAMES", -160)
    monkeypatch.setattr(memory, "_SPARE_FRAMES", 4)
    with pytest.raises(NotCoveredError, match="too much is under way at once"):
        netsim.simulate(pages, "lpsm", config=config, engine="express")
    assert_equal(
        netsim.simulate(pages, "lpsm", config=config), netsim.simulate(pages, "lpsm", config=config, engine="packet")
    )


def test_a_wake_up_that_is_no_beacon_is_refused_by_either_loop_and_named_by_the_packet_model(monkeypatch):
    # LPSM first sleeps for seven beacons of its own, which is one of this world
    pages, policy = [Page("p", 300, 9_000)], policies.make("lpsm")
    config = netsim.SimulationConfig(beacon_interval_ns=700_000_000)
    with pytest.raises(NotCoveredError, match="the policy plans a wake-up that is no beacon"):
        netsim.simulate(pages, policy, config=config, engine="express")
    monkeypatch.setattr(netsim.simulation, "_is_ready", lambda members, config: True)
    with pytest.raises(ValueError, match="policy lpsm: wake_ns must be a multiple of 700000000 ns"):
        netsim.simulate(pages, policy, config=config)
    run = engine.Run(Workload.of(pages), [], np.zeros(1, np.int64), policies.make(policy), config)
    with pytest.raises(NotCoveredError, match="or the policy plans a wake-up that is no beacon"):
        handover.Handover(run).browse(0)


def test_messages_go_on_where_a_page_was_handed_over_and_are_sent_again_while_the_client_sleeps():
    late = Page("late", 300, 40_000, ((300, 20_000),), 5.0, issue_s=1.95)
    pages = [late, *(Page(f"p{i}", 300, 9_000, (), 7.123) for i in range(6))]
    push = [Message(0.3 + 1.37 * k, 700 * (1 + k % 5)) for k in range(30)]
    ours, packet = (netsim.simulate(pages, "psm:2000", push=push, engine=name) for name in ("express", "packet"))
    assert 1 <= ours.pages_handed_over < len(pages)
    assert_equal(ours, packet)
    assert packet.downlink_air_s > sum(size + 40 for _, size in push) * 8 / 5e6 + netsim.simulate(pages).downlink_air_s
    alone = [netsim.simulate([], "psm:2000", push=push, engine=engine) for engine in ("express", "packet")]
    assert_equal(*alone)


def test_a_page_that_is_handed_over_needs_more_room_than_there_was_and_loses_nothing(monkeypatch):
    monkeypatch.setattr(engine, "_FEWEST_ROWS", 1 - 3 * 16)
    config = netsim.SimulationConfig(tcp=netsim.TcpConfig(min_rto_s=0.06, initial_rto_s=0.2))
    pages = [Page("late", 300, 90_000, ((300, 9_000),), 5.0, issue_s=9.15)]
    push = [Message(0.2, 9_000), Message(3.0, 100)]
    ours, packet = (netsim.simulate(pages, "lpsm", config=config, push=push, engine=e) for e in ("express", "packet"))
    assert ours.pages_handed_over == 1
    assert_equal(ours, packet)
