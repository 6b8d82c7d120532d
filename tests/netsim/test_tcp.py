"""TCP against hand arithmetic: what a loss costs, what recovery saves, what Nagle holds back."""

import numpy as np
import pytest

import netsim
from netsim.server import Server
from netsim.tcp import TcpConfig
from tests.netsim.worlds import World
from traces.records import Page

BASE_S = 0.082768  # request 300 B, reply 500 B: measured by ns-2
SHORT = Page("short", 300, 500)


def test_a_lost_syn_costs_the_initial_time_out():
    assert World(lost=[0]).load(SHORT) == [pytest.approx(BASE_S + 3.0, abs=1e-12)]


def test_each_further_loss_of_the_syn_doubles_the_time_out():
    assert World(lost=[0, 1]).load(SHORT) == [pytest.approx(BASE_S + 3.0 + 6.0, abs=1e-12)]


def test_a_lost_syn_ack_is_sent_again_and_the_late_duplicate_does_no_harm():
    assert World(lost=[1]).load(SHORT) == [pytest.approx(BASE_S + 3.0, abs=1e-12)]


def test_a_lost_request_costs_one_second_less_the_air_time_of_the_ack_before_it():
    assert World(lost=[3]).load(SHORT) == [pytest.approx(BASE_S + 1.0 - 40 * 1600e-9, abs=1e-12)]


def test_a_lost_handshake_ack_costs_nothing_but_is_made_good_by_the_request():
    assert World(lost=[2]).load(SHORT) == [pytest.approx(BASE_S, abs=1e-12)]


def test_a_lost_reply_costs_the_least_time_out():
    assert World(lost=[4]).load(SHORT) == [pytest.approx(BASE_S + 1.0, abs=1e-12)]
    quick = TcpConfig(min_rto_s=0.3)
    assert World(lost=[4], tcp=quick).load(SHORT) == [pytest.approx(BASE_S + 0.3, abs=1e-12)]


def test_a_loss_inside_a_long_reply_is_recovered_without_a_time_out():
    long = Page("long", 300, 60 * 1460)
    [base], [recovered] = World().load(long), World(lost=[40]).load(long)
    assert base < recovered < base + 0.3


def test_a_fast_retransmit_leaves_half_of_what_was_in_flight_as_the_threshold(monkeypatch):
    senders = []
    monkeypatch.setattr(Server, "answer", lambda _, end, n, delay: (senders.append(end), end.write(n)))
    World(lost=[60]).load(Page("long", 300, 100 * 1460))
    [sender] = senders
    assert 2.0 <= sender._ssthresh <= 10.0
    assert sender._recover > 0
    assert not sender._recovering


def test_nagle_holds_the_last_partial_segment_until_all_before_it_is_acknowledged():
    page = Page("nagle", 300, 1460 + 500)
    [plain] = World().load(page)
    [held] = World(tcp=TcpConfig(nagle=True)).load(page)
    # ms: the first segment down, its ACK up, the second down; without Nagle the second follows the first
    first, ack, second = 1.2 + 20 + 2.4 + 0.1, 0.064 + 0.1 + 0.032 + 20, 0.432 + 20 + 0.864 + 0.1
    behind = 1.2 + 20 + 2.4 + 0.864 + 0.1
    assert held - plain == pytest.approx((first + ack + second - behind) * 1e-3, abs=1e-12)


def test_a_large_request_is_sent_in_segments_that_the_server_acknowledges():
    [small], [large] = World().load(SHORT), World().load(Page("upload", 100_000, 500))
    air = (100_000 - 300) * 8 / 5e6
    assert large > small + air
    assert large < small + air + 0.5


def test_a_window_of_one_segment_takes_one_round_trip_a_segment():
    tcp = TcpConfig(initial_window=1, window=1)
    [one] = World(tcp=tcp).load(Page("one", 300, 1460))
    [four] = World(tcp=tcp).load(Page("four", 300, 4 * 1460))
    round_trip = (1.2 + 20 + 2.4 + 0.1) + (0.064 + 0.1 + 0.032 + 20)
    assert four - one == pytest.approx(3 * round_trip * 1e-3, abs=1e-12)


@pytest.mark.parametrize("policy", ["none", "psm:100", "psm:1000", "bsd:0.5"])
@pytest.mark.parametrize("loss_rate", [0.05, 0.3])
def test_every_page_is_completed_however_many_frames_are_lost(policy, loss_rate):
    rng = np.random.default_rng(3)
    pages = [
        Page(f"p{i}", 300, int(rng.integers(1, 60_000)), ((300, int(rng.integers(1, 30_000))),) * 5, 2.0)
        for i in range(12)
    ]
    config = netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=loss_rate))
    result = netsim.simulate(pages, policy, config=config, seed=1)
    clean = netsim.simulate(pages, policy)
    assert len(result.pages) == 12
    assert result.frames_lost > 0
    assert result.pages.latency_s.sum() > clean.pages.latency_s.sum()


def test_sleeping_longer_than_the_time_out_makes_the_server_send_again_and_all_still_arrives():
    # the SYN-ACK just catches the beacon at 2 s, so that the server measures a short round trip; the reply then waits
    page = Page("p", 300, 40_000, ((300, 20_000),), issue_s=1.95)
    patient = netsim.simulate([page], "psm:2000", config=netsim.SimulationConfig(tcp=TcpConfig(min_rto_s=10.0)))
    hasty = netsim.simulate([page], "psm:2000")
    assert hasty.downlink_air_s > patient.downlink_air_s
    assert len(hasty.pages) == len(patient.pages) == 1
