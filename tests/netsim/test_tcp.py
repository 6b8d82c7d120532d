"""TCP against hand arithmetic: what a loss costs, what recovery saves, what Nagle holds back."""

import pytest

import netsim
from netsim import TcpConfig
from tests.netsim.worlds import load
from traces.records import Message, Page

BASE_S = 0.082768  # request 300 B, reply 500 B: measured by ns-2
SHORT = Page("short", 300, 500)


@pytest.mark.parametrize(
    ("lost", "costs_s"),
    [
        ([0], 3.0),  # the SYN: the initial time-out
        ([0, 1], 3.0 + 6.0),  # which doubles
        ([1], 3.0),  # the SYN-ACK; the late duplicate does no harm
        ([2], 0.0),  # the handshake's ACK is made good by the request
        ([3], 1.0 - 40 * 1600e-9),  # the request: the least time-out, less the air time of the ACK before it
        ([4], 1.0),  # the reply
    ],
)
def test_a_lost_frame_of_a_short_page_costs_its_time_out_or_nothing(lost, costs_s):
    assert load(SHORT, lost=lost) == [pytest.approx(BASE_S + costs_s, abs=1e-12)]


def test_nagle_holds_the_last_partial_segment_until_all_before_it_is_acknowledged():
    page = Page("nagle", 300, 1460 + 500)
    [plain], [held] = load(page), load(page, tcp=TcpConfig(nagle=True))
    # ms: the first segment down, its ACK up, the second down; without Nagle the second follows the first
    first, ack, second = 1.2 + 20 + 2.4 + 0.1, 0.064 + 0.1 + 0.032 + 20, 0.432 + 20 + 0.864 + 0.1
    behind = 1.2 + 20 + 2.4 + 0.864 + 0.1
    assert held - plain == pytest.approx((first + ack + second - behind) * 1e-3, abs=1e-12)


@pytest.mark.parametrize("beacons", [40, 100])
def test_copies_of_a_syn_and_of_its_answer_wait_for_one_beacon_and_are_answered_one_by_one(beacons):
    # a header takes 1 ms on either link; sent at 0.5 s, the SYN is sent again after 3 s, and once more after 6 s
    config = netsim.SimulationConfig(
        link=netsim.LinkConfig(wireless_mbps=8.0, wired_mbps=8.0, wireless_delay_ms=0.0, wired_delay_ms=0.0),
        tcp=TcpConfig(mss_bytes=1000, header_bytes=1000),
    )
    result = netsim.simulate([Page("p", 1000, 500, (), 0.0, 0.5)], f"listen:{beacons}", config=config)
    waited = result.polls.buffered_bytes
    found = waited[waited > 0].tolist(), result.elapsed_s, result.uplink_air_s, result.downlink_air_s
    # a beacon at 4 s: two answers; the reply is sent at 4.006 s and, the server's timer not having been timed, again
    # after 3 s; the beacon at 8 s lets out both.  Up: two SYNs, two ACKs, and the request in 2 ms
    # a beacon at 10 s: four answers, one of them the server's own after 6 s, whose last three are acknowledged as
    # copies: the reply is sent at 10.006 s, at the third of these ACKs, and when the server's timer runs out 6 s later
    assert (
        found
        == {
            40: ([2000, 3000], 8.0015, pytest.approx(0.006), pytest.approx(0.005)),
            100: ([4000, 4500], 20.0015, pytest.approx(0.009), pytest.approx(0.0085)),
        }[beacons]
    )


def test_a_time_out_is_a_minute_at_most_and_what_comes_at_a_beacon_waits_for_the_next():
    # a thousand bytes and a header of a thousand take 2 ms on the wire; sent again after one and two minutes exactly
    config = netsim.SimulationConfig(
        link=netsim.LinkConfig(wireless_mbps=8.0, wired_mbps=8.0, wireless_delay_ms=0.0, wired_delay_ms=0.0),
        tcp=TcpConfig(mss_bytes=1000, header_bytes=1000, initial_rto_s=60.0), beacon_interval_ns=10_000_000_000,
    )  # fmt: skip
    for at_s, found in ((9.998, 4_000), (9.997999999, 6_000)):
        result = netsim.simulate([], "listen:13", config=config, push=[Message(at_s, 1000)])
        assert result.polls.buffered_bytes.tolist() == [found]
        assert result.elapsed_s == 130.002
