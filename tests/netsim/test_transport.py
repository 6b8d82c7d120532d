"""The transport of today by hand: acknowledgements, windows, losses, HTTP/2's credit, TLS."""

from itertools import pairwise

import netsim
from netsim import LinkConfig, SimulationConfig, TcpConfig
from netsim.model import congestion, sender
from netsim.model.codes import CUBIC, NEVER, RECOVERY, RENO
from netsim.model.entities import Endpoint, Frame, Run
from netsim.model.queues import append
from tests.netsim.test_graphs import FAST, TRIP_S, browse
from tests.tables import cases_of, near, value_error
from traces.records import Cause

MS = 1_000_000
MSS = 1448


def world(link=FAST.link, **changed):
    """Return a world of today without HTTP/2's windows and TLS, but for what is changed."""
    return SimulationConfig(link=link, tcp=TcpConfig.today(**{"stream_window_bytes": 0, "tls": "", **changed}))


def one_reply(size, config):
    """Return the latency of one reply in round trips, and the packets down and up."""
    result, recorder = browse([Cause(0)], [(100, size)], config=config)
    sent = recorder.transmissions
    return result.latency_s[0] / TRIP_S, [one for one in sent if one.down], [one for one in sent if not one.down]


def end_of(control=CUBIC, **fields):
    """Return a run and the sending end of a connection, by hand."""
    run, end = Run(), Endpoint()
    run.control, run.mss, run.window, run.first_window, run.min_rto, run.now = control, MSS, 4000, 10, 200 * MS, 10**9
    end.srtt = end.min_rtt = end.least_rtt = 40 * MS
    end.deadline = end.timer = end.ack_by = NEVER
    for field, value in fields.items():
        setattr(end, field, value)
    return run, end


# -- acknowledgements
def test_at_first_every_packet_is_acknowledged_and_then_every_second_but_ends_of_what_was_handed_down_at_once():
    _, _, up = one_reply(100 * MSS, world(initial_window=100))
    told = [after.ack - before.ack for before, after in pairwise(up[1:])]
    assert told[1:23] == [MSS] * 22  # 16, and the 6 with which the window grows
    assert told[23:63] == [2 * MSS, 2 * MSS, MSS, 2 * MSS, 2 * MSS] * 8  # 9 segments at once: a millisecond's


def test_an_acknowledgement_waits_for_40_ms_where_data_goes_both_ways():
    _, recorder = browse([Cause(0), Cause(1, 0.3)], waits_s=(0.0, 0.3), config=world())
    asked = next(one for one in recorder.exchanges if one.object_index == 0).asked_ns
    bare = [one for one in recorder.transmissions if one.down and not one.length and one.start_ns > asked]
    assert [round((one.start_ns - asked) / MS) for one in bare] == [10 + 40 + 10]


# -- windows
@cases_of("size trips", """
(0, 9 * MSS) -> 2
(0, 10 * MSS - 9) -> 2
(0, 10 * MSS) -> 3
(0, 30 * MSS - 27) -> 3
(0, 30 * MSS) -> 4
(65_535, 60_000) -> 2
(65_535, 100_000) -> 3
(65_535, 200_000) -> 5
""", globals())  # fmt: skip
def test_the_window_doubles_each_round_trip_and_that_of_http_2_lets_64_kb_through(size, trips):
    window, n_bytes = size
    tcp = {"initial_window": 1000} if window else {}
    assert one_reply(n_bytes, world(stream_window_bytes=window, **tcp))[0] == near(int(trips), abs=0.05)


def test_after_an_idle_time_the_window_is_the_first_one():
    causes, sizes = [Cause(0), Cause(1, 2.0)], [(100, 100 * MSS)] * 2
    _, recorder = browse(causes, sizes, config=world())
    second = [one.start_ns for one in recorder.transmissions if one.down and one.length and one.seq > 100 * MSS]
    assert sum(at < second[0] + MS for at in second) == 10


def test_cubic_is_back_where_it_was_after_the_time_that_its_function_says_and_reno_grows_by_one_a_round_trip():
    run, end = end_of(cwnd=140.0, last_max=0.0, ssthresh=1.0, limited=1, least_rtt=0)
    end.cwnd = end.ssthresh = congestion.reduced_window(run, end)
    assert end.cwnd == int(140 * 0.7)
    k_s = ((140 - 98) / 0.4) ** (1 / 3)
    for _ in range(round(k_s / 0.4)):
        congestion.raise_window(run, end, int(end.cwnd))
        run.now += 400 * MS  # so long that Reno would be slower
    assert end.cwnd == near(140, abs=1.5)
    run, end = end_of(RENO, cwnd=20.0, ssthresh=1.0, limited=1)
    congestion.raise_window(run, end, 20)
    assert end.cwnd == 21.0
    assert congestion.reduced_window(run, end) == 10.0


@cases_of("rtts threshold", """
[40] * 20 -> 1e9
[44] * 20 -> 1e9
[46] * 8 -> 1e9
[46] * 9 -> 40.0
[46] * 5 + [44] * 10 -> 1e9
""", globals())  # fmt: skip
def test_slow_start_ends_with_the_ninth_sample_of_a_round_that_is_longer_by_an_eighth(rtts, threshold):
    run, end = end_of(cwnd=40.0, ssthresh=1e9, unacked=1, next=10**6)
    for rtt in rtts:
        run.now += 3 * MS  # further apart than those of a train
        congestion.look_for_end(run, end, rtt * MS)
    assert end.ssthresh == float(threshold)


def test_slow_start_ends_with_a_train_of_acknowledgements_of_half_a_round_trip():
    run, end = end_of(cwnd=40.0, ssthresh=1e9, unacked=1, next=10**6)
    for _ in range(21):
        congestion.look_for_end(run, end, 40 * MS)
        assert end.ssthresh == 1e9
        run.now += MS
    congestion.look_for_end(run, end, 40 * MS)
    assert end.ssthresh == 40.0


def test_the_round_trip_of_the_handshake_does_not_count_for_the_end_of_slow_start():
    run, end = end_of(srtt=-1, min_rtt=NEVER, least_rtt=NEVER)
    for rtt in (10, 40, 50):
        sender.measure(run, end, rtt * MS, rtt * MS)
    assert (end.min_rtt, end.least_rtt) == (10 * MS, 40 * MS)


# -- losses
def sent_once(end, n, at):
    for place in range(n):
        segment = Frame()
        segment.seq, segment.ack, segment.reached = place * MSS, (place + 1) * MSS, at + place
        append(end.sent, segment)
    end.next = end.written = n * MSS


@cases_of("came lost_at_ms", """
{1} -> 51
{1, 2} -> 51
{1, 2, 3} -> 41
{3} -> 51
""", globals())  # fmt: skip
def test_what_was_sent_before_what_has_come_is_lost_at_once_after_three_or_a_quarter_round_trip_later(came, lost_at_ms):
    run, end = end_of(cwnd=10.0, ssthresh=1e9)
    sent_once(end, 6, run.now)
    began = run.now
    for run.now in range(began + 41 * MS, began + 60 * MS, MS):
        segment = end.sent.head
        for place in range(end.sent.count):
            segment.air = 1 if place in came else 0
            segment = segment.link
        sender.note_arrived(run, end, 1)
        sender.find_lost(run, end)
        if end.lost:
            break
    assert (run.now - began) // MS == int(lost_at_ms)
    assert end.sent.head.lost


def test_in_recovery_one_is_sent_for_two_that_come_until_the_window_is_half():
    run, end = end_of(RENO, cwnd=20.0, recovering=0)
    sent_once(end, 20, run.now)
    sender.hold_lost(end, end.sent.head)
    sender.begin_recovery(run, end)
    assert (end.recovering, end.ssthresh) == (RECOVERY, 10.0)
    rooms = []
    for _ in range(19):
        end.sacked += 1
        sender.reduce(end, 1, 0, 0)
        rooms.append(int(end.cwnd) - sender.in_flight(end))
        if rooms[-1] > 0:  # as much is sent
            end.reduced_sent += rooms[-1]
            end.again += rooms[-1]
    assert rooms[:9] == [1, 0, 1, 0, 1, 0, 1, 0, 1]
    assert sender.in_flight(end) == 10


def test_a_full_queue_drops_what_comes_and_it_is_sent_again_without_a_time_out():
    link = LinkConfig(wireless_mbps=1e6, wired_mbps=12.0, wireless_delay_ms=0.0, wired_delay_ms=10.0, queue_packets=5)
    trips, down, _ = one_reply(14 * MSS, world(link, initial_window=10))
    assert [one.seq // MSS for one in down if one.length][:6] == [0, 1, 2, 3, 4, 10]  # behind an acknowledgement
    assert sum(one.length for one in down) >= 14 * MSS
    assert trips < 9  # a time-out takes ten


def test_two_round_trips_without_news_send_the_last_segment_again_which_tells_what_else_is_lost():
    link = LinkConfig(wireless_mbps=1e6, wired_mbps=12.0, wireless_delay_ms=0.0, wired_delay_ms=10.0, queue_packets=1)
    _, down, _ = one_reply(3 * MSS - 9, world(link))
    (first, _), (probe, _), (repaired, _) = data = [(one.reached_ns / MS, one.seq // MSS) for one in down if one.length]
    assert [place for _, place in data] == [0, 2, 1]
    assert probe - first == near(10 + 2 * 20.2 + 2 + 11, abs=0.2)  # ACK, two round trips and 2 ms, packet
    assert repaired - probe == near(10 + 11, abs=0.2)


# -- handshakes
@cases_of("changed trips", """
{} -> 2
{"tls": "517:3000:80"} -> 3
{"tls": "517:99:523:1371:74"} -> 4
{"tls": "517:3000:80", "http3": True} -> 2
{"tls": "517:99:523:1371:74", "resumption": 1.0} -> 3
{"tls": "517:3000:80", "stream_window_bytes": 65_535} -> 3
""", globals())  # fmt: skip
def test_a_handshake_of_tls_is_a_round_trip_more_and_http_3_needs_none_of_tcp(changed, trips):
    assert one_reply(100, world(**changed))[0] == near(int(trips), abs=0.01)


@cases_of("changed said", r"""
{"tls": "517"} -> tls must be three sizes
{"tls": "517:0:80"} -> tls must be three sizes
{"tls": "1:2:3:4"} -> tls must be three sizes
{"control": "vegas"} -> control must be one of ns-2
{"control": "ns-2"} -> control must be "reno" or "cubic" with
{"http3": True, "tls": ""} -> http3 must be false without tls
{"resumption": 1.5} -> resumption must lie in \[0, 1\]
""", globals())  # fmt: skip
def test_a_transport_that_breaks_a_rule_is_named(changed, said):
    with value_error(said):
        TcpConfig.today(**changed)


def test_pages_of_today_come_over_its_transport():
    from traces import generate

    pages = generate(2, 5, web="2025")
    worlds = [SimulationConfig(tcp=TcpConfig.today(named_after_bytes=at)) for at in (0, 1)]
    results = [netsim.simulate(pages, config=config, engine="packet") for config in worlds]
    assert (results[0].latency_s >= results[1].latency_s).all()
