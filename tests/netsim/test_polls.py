"""Polls at any instant: on wires and on the air by hand, what they cost, and what the policies that send them do."""

from dataclasses import replace

import numpy as np
import pytest

import netsim
import traces
from netsim import AirConfig, AirRecorder, LinkConfig, Phy, SimulationConfig, StateRadioConfig
from netsim.policies import make
from netsim.policies.protocol import PolicyError
from tests.netsim import laws
from tests.netsim.frozen import wide_cell, wide_world
from tests.netsim.frozen.worlds import World
from tests.netsim.test_graphs import alike
from tests.tables import cases_of, each, near, value_error
from traces.records import Message, Page

MS = 1_000_000
WIRES = SimulationConfig(link=LinkConfig(wireless_mbps=8.0, wired_mbps=8.0, wireless_delay_ms=0.0, wired_delay_ms=1.0))
RADIO = StateRadioConfig(doze_mw=1.0, waking_mw=100.0, listening_mw=100.0, receiving_mw=100.0, transmitting_mw=100.0,
    wakeup_ms=2.0)  # fmt: skip


def polling(*instants_ms):
    """Return a policy that sleeps at once, polls at these instants and sleeps on; and when it is asked."""
    events = []

    class Polls:
        spec, polls, host_aware = "own", True, False

        def plan(self, view):
            events.append((view.event, view.now_ns))
            for at in instants_ms:
                if at * MS > view.now_ns:
                    return netsim.Plan(view.now_ns, at * MS, poll=True)
            return netsim.Plan(view.now_ns, (view.now_ns // (100 * MS) + 600) * 100 * MS)

    return Polls(), events


def pushed(policy, instants_s, config=WIRES, recorder=None):
    """Let a server push messages of one segment."""
    messages = [Message(at_s, 960) for at_s in instants_s]
    return netsim.simulate([], policy, config=config, push=messages, recorder=recorder)


def test_on_wires_a_poll_takes_a_packet_up_and_what_waits_or_a_packet_down():
    policy, events = polling(40, 60, 75)
    recorder = netsim.Recorder()
    result = pushed(policy, [0.05], recorder=recorder)  # at the access point after 1 ms + 1 ms
    packet_ns = 40 * 1000  # 40 bytes at 8 Mb/s
    first, second = 40 * MS, 60 * MS
    assert recorder.polled_ns[:2] == [(first, first + packet_ns, False, False),
        (first + packet_ns, first + 2 * packet_ns, False, True)]  # fmt: skip
    assert recorder.polled_ns[2][:2] == (second, second + packet_ns)
    [data] = [one for one in recorder.transmissions if one.down]
    assert (data.reached_ns, data.start_ns, data.end_ns) == (52 * MS, second + packet_ns, second + packet_ns + MS)
    assert [event for event, _ in events] == ["idle"] * 2  # at the beginning, and when a poll had found nothing
    assert events[1][1] == first + 2 * packet_ns
    assert result.messages.delay_s.tolist() == near([(second + packet_ns + MS) / 1e9 - 0.05])
    awake = result.radio[result.radio.state == "awake"]
    assert np.rint(awake.start_s * 1e9).tolist() == [first, second]
    assert np.rint(awake.end_s * 1e9).tolist()[0] == first + 2 * packet_ns


def test_a_poll_that_is_lost_finds_nothing_and_lets_nothing_out():
    config = SimulationConfig(link=LinkConfig(wired_delay_ms=1.0, loss_rate=0.6))
    found = 0
    for seed in range(20):
        policy, _ = polling(*range(60, 2000, 20))
        recorder = netsim.Recorder()
        netsim.simulate([], policy, config=config, push=[Message(0.05, 500)], recorder=recorder, seed=seed)
        up = [one for one in recorder.polled_ns if not one[3]]
        heard = next(begin for begin, _, lost, _ in up if not lost)
        sent = [one.start_ns for one in recorder.transmissions if one.down]
        assert min(sent) >= heard
        found += up[0][2]
    assert 5 < found < 19


def test_on_the_air_a_client_wakes_up_contends_and_has_what_waits():
    air = AirConfig(phy=Phy.parse("11g"), retrieval="uapsd")
    recorder = AirRecorder()
    policy, events = polling(40, 80)
    result = pushed(policy, [0.05], SimulationConfig(medium=air, radio=RADIO), recorder)
    kinds = [(one.kind, one.sender) for one in recorder.frames if one.kind != "beacon"]
    assert kinds[:4] == [("null", "client 0"), ("ack", "access point"), ("null", "access point"), ("ack", "client 0")]
    assert kinds[4:8] == [("null", "client 0"), ("ack", "access point"), ("data", "access point"), ("ack", "client 0")]
    first = next(one for one in recorder.frames if one.kind == "null")
    ready = 42 * MS + air.phy.difs_ns  # two milliseconds to wake up, then it hears the channel for DIFS
    assert first.start_ns >= ready
    assert (first.start_ns - ready) % air.phy.slot_ns == 0
    assert result.radio[result.radio.state == "awake"].start_s.iloc[0] == near(0.04)
    assert {event for event, _ in events} == {"idle"}
    assert result.messages.delay_s[0] == near(0.0325, abs=0.0005)  # at 80 ms it begins to wake up
    assert len(result.polls) == 0  # no beacon was listened to


@each("retrieval", "ps-poll null uapsd auto")
def test_any_retrieval_carries_a_poll_out_and_closes_the_gate_again(retrieval):
    config = SimulationConfig(medium=AirConfig(phy=Phy.parse("11n"), retrieval=retrieval), radio=RADIO)
    policy, _ = polling(*range(40, 400, 20))
    result = pushed(policy, [0.05, 0.11, 0.171], config)
    assert (result.messages.delay_s < 0.045).all()  # 20 ms of wire, 20 up to a poll
    assert result.asleep_s > 0.5 * result.elapsed_s


@each("air", [None, AirConfig(phy=Phy.parse("11n"), neighbours=2, neighbour_mbps=3.0)])
def test_named_policies_that_poll_keep_the_laws_and_run_alike_both_ways(air):
    pages, config = traces.generate(3, 3, "1996"), SimulationConfig(medium=air, link=LinkConfig(loss_rate=0.02))
    clients = [(pages, "poll:12.8"), (pages[::-1], "poll-link:40"), (pages[:2], "lpsm3")]
    one = World(clients=clients, push=[[]] * 3, config=config, seed=4, together=True)
    assert alike(one)
    assert laws.held(one)


@cases_of("number", "70_001 ; 70_144")  # of the second a poll is lost while something else is sent
@each("made", [wide_world, wide_cell])
def test_laws_hold_where_sends_open_nothing_and_every_sleep_ends_with_a_poll(made, number):
    class Every:
        spec, polls, host_aware = "every", True, False

        def plan(self, view):
            return netsim.Plan(view.now_ns, view.now_ns + 7_000_001, poll=True)

    one = made(number)
    assert laws.held(replace(one, clients=[(pages, Every()) for pages, _ in one.clients]))


def test_a_client_that_polls_answers_within_its_interval_and_naps_else():
    pages = traces.generate(40, 8, "1996")
    config = SimulationConfig(server_delay="exponential:0.3", radio=netsim.Radio.profile("esp32-c6"))
    base, psm = (netsim.simulate(pages, spec, config=config) for spec in ("none", "psm"))
    late_s = {}
    for every_ms in (5, 20, 80):
        run = netsim.simulate(pages, f"poll:{every_ms}", config=config)
        waits = np.array([len(page.objects) + 3 for page in pages])  # handshakes and answers one after another
        late_s[every_ms] = run.latency_s - base.latency_s
        assert (late_s[every_ms] <= waits * 1.1 * (every_ms / 1000 + 0.02)).all()
        assert run.energy.total_j < 0.6 * psm.energy.total_j
    assert late_s[5].mean() < late_s[20].mean() < late_s[80].mean()


def test_link_and_host_agree_where_sizes_tell():
    pages = [Page(f"p{at}", 300, 700, ((300, 600),), 2.0) for at in range(20)]
    config = SimulationConfig(server_delay=0.2)
    host, link = (netsim.simulate(pages, spec, config=config) for spec in ("poll:30", "poll-link:30"))
    assert host.latency_s.tolist() == link.latency_s.tolist()
    assert host.energy.total_j == near(link.energy.total_j, rel=0.15)


@cases_of("plan said", """
lambda now: netsim.Plan(now, now, True, poll=True) -> wake_ns must be a multiple
lambda now: netsim.Plan(now, now + 5, True, 0, True, True) -> no agreed instant
lambda now: netsim.Plan(now, now + 5, True, -2) -> wake_ns must be a multiple
""", globals())  # fmt: skip
def test_a_poll_that_cannot_be_followed_is_refused(plan, said):
    policy, _ = polling()
    policy.plan = lambda view: plan(view.now_ns)
    with pytest.raises(PolicyError, match=said):
        netsim.simulate(traces.generate(1, 0, "1996"), policy)


def test_a_policy_that_does_not_say_that_it_polls_may_not():
    class Silent:
        spec, host_aware = "silent", False

        def plan(self, view):
            return netsim.Plan(view.now_ns, view.now_ns + 7, poll=True)

    with pytest.raises(PolicyError, match="an attribute polls that is true"):
        netsim.simulate(traces.generate(1, 0, "1996"), Silent())


def test_a_plan_says_whether_it_polls():
    assert netsim.Plan(1, 2, poll=True).poll
    assert netsim.Plan(1, 2, True, -1).poll
    assert not netsim.Plan(1, 2, True, 5).poll
    assert netsim.Plan(1, 2, poll=True) == netsim.Plan(1, 2, False, -1, False)


@each("spec", "poll:0 poll:-1 poll:20000 poll:x poll-link:1e-7")
def test_an_interval_that_makes_no_sense_is_refused(spec):
    with value_error("poll"):
        make(spec)
