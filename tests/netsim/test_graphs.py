"""Pages that are graphs: by hand, under the laws of every world, and by both ways of running alike."""

import os
from collections import Counter
from itertools import pairwise

import pytest

import netsim
import traces
from netsim import LinkConfig, SimulationConfig, TcpConfig
from tests.netsim import laws
from tests.netsim.frozen import cell, wide_cell, wide_world, world
from tests.netsim.graph_worlds import graph_world, today_world
from tests.tables import cases_of, near, value_error
from traces.records import Cause, Page

MADE = (world, wide_world, cell, wide_cell)
SMALL = [(made, number) for made in MADE for number in range(50_000, 50_003)]
SMALL.append((wide_world, 5_207_000_058))  # requests that were lost go again in packets that are cut anew
SEED = int(os.environ.get("LAWS_SEED", "1"))
LARGE = [(made, SEED * 1_000_000 + first) for made in MADE
    for first in range(0, 500, 100)]  # fmt: skip
FAST = SimulationConfig(
    link=LinkConfig(wireless_mbps=1e6, wired_mbps=1e6, wireless_delay_ms=0.0, wired_delay_ms=10.0),
    tcp=TcpConfig(initial_window=1000, window=1000, min_rto_s=0.2, initial_rto_s=1.0),
)  # nothing but propagation: a round trip is 20 ms
TRIP_S = 0.02


def name(part):
    return getattr(part, "__name__", part)


def browse(causes, sizes=None, waits_s=(), servers=None, config=FAST, policy="none", think_s=0.0, n=1):
    """Browse a page of these causes `n` times; return result and record."""
    (first, *rest), recorder = sizes or [(100, 100)] * len(causes), netsim.Recorder()
    servers = tuple(servers or [0] * len(causes))
    page = Page("a", *first, tuple(rest), think_s, waits_s=tuple(waits_s), servers=servers, causes=tuple(causes))
    return netsim.simulate([page] * n, policy, config=config, recorder=recorder), recorder


def spans(recorder):
    """Return when each exchange of the first page was asked for, and complete, by its place; seconds."""
    return {one.object_index + 1: (round(one.asked_ns / 1e9, 4), round(one.answered_ns / 1e9, 4))
        for one in recorder.exchanges if one.page == 0}  # fmt: skip


def test_a_request_waits_for_what_names_it_and_its_pause_and_the_server_takes_its_time():
    causes = Cause(0), Cause(1, 0.1), Cause(1, 0.05), Cause(3, 0.3)
    result, recorder = browse(causes, waits_s=(0.2, 0.0, 0.01, 0.0))
    html = TRIP_S, 2 * TRIP_S + 0.2  # the handshake before it
    script = html[1] + 0.1, html[1] + 0.1 + TRIP_S
    data = script[1] + 0.05, script[1] + 0.05 + TRIP_S + 0.01
    image = html[1] + 0.3, html[1] + 0.3 + TRIP_S
    assert spans(recorder) == {
        place: near(span, abs=1e-4) for place, span in enumerate((html, script, data, image))}  # fmt: skip
    assert result.latency_s[0] == near(image[1], abs=1e-4)


@cases_of("host_aware", "True ; False")
def test_a_browser_tells_its_host_how_many_objects_a_page_still_lacks(host_aware):
    told = []

    class Asked:
        spec = "asked"

        def plan(self, view):
            told.append((view.now_ns, view.missing))
            return netsim.Plan(view.now_ns, (view.now_ns // 100_000_000 + 1) * 100_000_000)

    policy = Asked()
    policy.host_aware = host_aware
    causes = Cause(0), Cause(1, 0.1), Cause(1, 0.05), Cause(3, 0.3)
    _, recorder = browse(causes, waits_s=(0.2, 0.0, 0.01, 0.0), policy=policy, think_s=2.0, n=2)
    pages = [[one.answered_ns for one in recorder.exchanges if one.page == page] for page in range(2)]
    issued_ns = 0, max(pages[0]) + 2_000_000_000
    for now_ns, missing in told[1:]:  # it is asked before anything is issued
        lacking = [sum(at > now_ns for at in page) for page in pages]
        expected = lacking[0] or (now_ns >= issued_ns[1]) * lacking[1]
        assert missing == (expected if host_aware else None)
    assert {one for _, one in told} == ({*range(5)} if host_aware else {None})


def test_streams_share_one_connection_and_a_host_of_its_own_has_its_own_handshake():
    causes = Cause(0), Cause(1), Cause(2), Cause(3)
    _, recorder = browse(causes, servers=(7, 7, 7, 3))
    assert [one.connection for one in sorted(recorder.exchanges, key=lambda one: one.object_index)] == [0, 0, 0, 1]
    assert spans(recorder)[3] == (near(3 * TRIP_S, abs=1e-4), near(4 * TRIP_S, abs=1e-4))


@cases_of("is_stream connections", "True, 1 ; False, 3")
def test_http_1_1_asks_for_one_object_at_a_time_on_each_of_a_few_connections(is_stream, connections):
    config = SimulationConfig(link=FAST.link, tcp=FAST.tcp, max_connections=3)
    causes = [Cause(place, 0.0, True, is_stream) for place in range(9)]
    _, recorder = browse(causes, waits_s=[0.1] * 9, config=config)
    assert len({one.connection for one in recorder.exchanges}) == connections
    under_way = Counter()
    for one in recorder.exchanges:
        under_way.update(range(one.asked_ns // 1_000_000, one.answered_ns // 1_000_000))
    assert max(under_way.values()) == (8 if is_stream else 3)


def test_the_server_writes_replies_in_turns_and_a_late_one_soon_has_its_turn():
    link = LinkConfig(wireless_mbps=8.0, wired_mbps=100.0, wireless_delay_ms=0.0, wired_delay_ms=10.0)
    config = SimulationConfig(link=link, tcp=TcpConfig(initial_window=10, window=40))
    sizes = [(100, 100), (100, 400_000), (100, 400_000), (100, 2_000)]
    _, recorder = browse([Cause(place, 0.05 * (place == 3)) for place in range(4)], sizes, config=config)
    (_, first), (_, second), (asked, late) = (spans(recorder)[place] for place in (1, 2, 3))
    assert abs(first - second) < 0.05  # a frame of 16 kB takes 16 ms: they end one after the other
    assert min(first, second) > 0.8
    assert late - asked < TRIP_S + 0.15  # what is in flight, and what was written ahead
    alone, _ = browse([Cause(0)], [(100, 802_100)], config=config)
    assert max(first, second) == near(alone.latency_s[0], abs=0.06)


def test_nobody_waits_for_what_is_not_awaited_but_the_next_page_does():
    causes = Cause(0), Cause(1, 0.0, False), Cause(2)
    result, recorder = browse(causes, waits_s=(0.0, 3.0, 0.0), think_s=1.0, n=2)
    assert result.latency_s[0] == near(3 * TRIP_S, abs=1e-4)
    assert result.pages.issue_s[1] == near(3 * TRIP_S + 3.0, abs=1e-3)
    quick, _ = browse(causes, waits_s=(0.0, 0.5, 0.0), think_s=1.0, n=2)
    assert quick.pages.issue_s[1] == near(3 * TRIP_S + 1.0, abs=1e-3)
    assert len(recorder.exchanges) == 6


def test_a_policy_hears_of_each_stream_once_by_its_own_number():
    sent, complete = Counter(), []

    class Listener:
        spec, host_aware = "listener", True

        def plan(self, view):
            return netsim.Plan(view.now_ns + 10**9, (view.now_ns // 10**8 + 20) * 10**8, True)

        def observe(self, frame):
            if frame.sent and frame.host.payload_bytes:
                sent[frame.host.connection, frame.host.server] += 1
            if frame.host.completes:
                complete.append((frame.host.connection, frame.host.server))

    browse([Cause(place) for place in range(12)], policy=Listener(), servers=[4, *[5] * 11], config=SimulationConfig())
    assert Counter(complete) == sent
    assert set(sent.values()) == {1}
    assert [server for _, server in complete] == [4, *[5] * 11]


@pytest.mark.parametrize("of", [graph_world, today_world], ids=name)
@pytest.mark.parametrize(("made", "number"), SMALL, ids=name)
def test_laws_hold_of_graphs(made, number, of):
    assert laws.held(of(made, number))


@pytest.mark.parametrize("of", [graph_world, today_world], ids=name)
def test_both_ways_of_running_answer_alike_and_leave_nothing_unread(of):
    compared = 0
    for made in MADE:
        for number in range(51_002, 51_006):
            one = of(made, number)
            if all(isinstance(policy, str) for _, policy in one.clients):
                compared += alike(one)
    assert compared > 6


def alike(one):
    """Hold both ways of running to equal answers; return 1."""
    for interpreted, compiled in zip(one.run("packet"), one.run("express"), strict=True):
        assert interpreted.pages.equals(compiled.pages)
        assert interpreted.polls.equals(compiled.polls)
        assert interpreted.radio.equals(compiled.radio)
        assert interpreted.energy == compiled.energy
    return 1


@pytest.mark.long
@pytest.mark.parametrize("of", [graph_world, today_world], ids=name)
@pytest.mark.parametrize(("made", "first"), LARGE, ids=name)
def test_laws_hold_of_many_graphs_and_both_ways_of_running_answer_alike(made, first, of):
    said = Counter()
    for number in range(first, first + 100):
        one = of(made, number)
        said.update(laws.held(one))
        if all(isinstance(policy, str) for _, policy in one.clients):
            alike(one)
    law = "exchanges_of_a_graph_wait_for_what_names_them_and_a_page_for_those_that_it_waits_for"
    assert said[law] > (50 if made in (world, wide_world) else 5)  # of one client alone


class Listening:
    """Never sleeps, and notes the streams that asked for something and those that are complete."""

    spec, host_aware = "listening", True
    asked, complete = set(), set()  # of the class: a run copies its policy

    def plan(self, view):
        return netsim.Plan(netsim.policies.FOREVER_NS, netsim.policies.FOREVER_NS)

    def observe(self, frame):
        if frame.sent and frame.host.wanted and frame.host.payload_bytes:
            self.asked.add(frame.host.connection)
        elif frame.host.completes:
            self.complete.add(frame.host.connection)


def test_a_host_hears_of_each_request_that_a_packet_carries_and_of_nothing_else_as_one():
    pages = traces.generate(2, 5)
    netsim.simulate(pages, Listening(), config=SimulationConfig(tcp=TcpConfig.today(), max_connections=6))
    assert Listening.complete == Listening.asked
    assert len(Listening.asked) == sum(1 + len(page.objects) for page in pages)


def test_pages_of_today_are_browsed_to_their_last_byte_and_power_saving_makes_none_quicker():
    pages = traces.generate(3, 5, web="2025")
    base, *others = (netsim.simulate(pages, spec).latency_s for spec in ("none", "psm", "lpsm3", "poll"))
    for latency_s in others:
        assert ((latency_s >= base) & (latency_s < 1.5 * base)).all()


@cases_of("changed said", r"""
{"causes": (Cause(0), Cause(2))} -> an exchange must wait for one before it on its page
{"causes": (Cause(0), Cause(0))} -> an exchange must wait for one before it on its page
{"causes": (Cause(1), Cause(1))} -> an exchange must wait for one before it on its page
{"causes": (Cause(0), Cause(1, -1.0))} -> pause_s must lie in \[0
{"causes": (Cause(0), Cause(1, np.nan))} -> pause_s must lie in \[0
{"causes": (Cause(0, 0.0, False), Cause(1))} -> is_awaited must be true or false, and true of the HTML
{"causes": (Cause(0), Cause(1, 0.0, True, 2))} -> is_stream must be true or false
{"reply_bytes": 0} -> a reply must have at least 1 byte where exchanges wait
{"timings": (traces.Timing(0, 0, 0.0), traces.Timing(0, 1, 0.0))} -> causes or timings, got both
""", globals())  # fmt: skip
def test_a_graph_that_breaks_a_rule_is_named(changed, said):
    page = Page("a", 9, 9, ((9, 9),), causes=(Cause(0), Cause(1)))._replace(**changed)
    with value_error(said):
        netsim.simulate([page], "psm")


def test_what_is_written_ahead_is_at_most_a_frame():
    link = LinkConfig(wireless_mbps=2.0, wired_mbps=100.0, wireless_delay_ms=0.0, wired_delay_ms=10.0)
    config = SimulationConfig(link=link, tcp=TcpConfig(initial_window=2, window=8))
    _, recorder = browse([Cause(0), Cause(1)], [(100, 100), (100, 200_000)], config=config)
    down = [one for one in recorder.transmissions if one.down and one.length]
    partial = [one for one in down if one.length < config.tcp.mss_bytes]
    assert len(partial) <= 4  # full segments but at the end of what there is
    assert all(first.seq + first.length == second.seq for first, second in pairwise(down[1:]))
