"""Laws that hold in every run: nothing is lost or made, time and energy add up, and a record tells the same."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import netsim
from traces.records import Message, Page

sizes = st.one_of(st.integers(1, 5_000), st.sampled_from([1460, 2920, 1461, 536, 14_600]), st.integers(1, 80_000))
pages = st.builds(
    lambda request, reply, objects, think, issue: Page("p", request, reply, tuple(objects), think, issue),
    st.integers(1, 4_000),
    sizes,
    st.lists(st.tuples(st.integers(1, 2_000), sizes), max_size=9),
    st.one_of(st.just(0.0), st.floats(0, 5)),
    st.one_of(st.none(), st.floats(0, 20)),
)
messages = st.lists(
    st.builds(Message, st.one_of(st.floats(0, 3), st.floats(0, 60)), st.one_of(st.integers(1, 2000), st.just(1460))),
    min_size=1,
    max_size=25,
).map(sorted)
traffic = st.one_of(
    st.tuples(st.lists(pages, min_size=1, max_size=4), st.just([])), st.tuples(st.lists(pages, max_size=2), messages)
).map(lambda both: ([page._replace(page=f"p{i}") for i, page in enumerate(both[0])], both[1]))
configs = st.builds(
    lambda rtt, mss, nagle, per_object, connections, delay, loss: netsim.SimulationConfig(
        link=netsim.LinkConfig(wired_delay_ms=rtt, loss_rate=loss),
        tcp=netsim.TcpConfig(mss_bytes=mss, nagle=nagle),
        server_delay=netsim.ServerDelay(mean_s=delay, kind="exponential"),
        connections="per-object" if per_object else "persistent",
        max_connections=connections,
    ),
    st.sampled_from([0.0, 20.0, 300.0]),
    st.sampled_from([1460, 536]),
    st.booleans(),
    st.booleans(),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.3, 2.0]),
    st.sampled_from([0.0, 0.0, 0.1]),
)
POLICIES = [
    "none", "psm:100", "psm:300", "psm:1500", "bsd:1", "bsd:0.3", "lpsm", "lpsm:log", "lpsm2:1.05", "lpsm3", "hold",
    "dynamic:100", "listen:3", "uapsd:200", "twt:130.5:7", "twt:2000:100", "bsd-phase:0.5", "bsd-phase:0.05",
]  # fmt: skip


class Tap(netsim.Recorder):
    """Notes the ends of connections too."""

    def __init__(self):
        super().__init__()
        self.connections = set()

    def put_up(self, run, frame, *what):
        self.connections.add(frame.to.connection)
        super().put_up(run, frame, *what)

    def put_down(self, run, frame, *what):
        self.connections.add(frame.to.connection)
        super().put_down(run, frame, *what)

    @property
    def taken(self):
        """Bytes that all ends have taken in order."""
        return sum(end.received for one in self.connections for end in (one.client, one.server))


def ns(seconds):
    return np.rint(np.asarray(seconds) * 1e9).astype(int)


@settings(max_examples=80, deadline=None)
@given(traffic, st.sampled_from(POLICIES), configs, st.integers(0, 5))
def test_time_energy_bytes_and_frames_are_conserved_and_recorded(given_traffic, policy, config, seed):
    workload, push = given_traffic
    tap = Tap()
    result = netsim.simulate(workload, policy, config=config, seed=seed, push=push, recorder=tap)
    time_and_energy_add_up(result, workload)
    exchanges = [((a, b), n, i) for n, page in enumerate(workload)
                 for i, (a, b) in enumerate([(page.request_bytes, page.reply_bytes), *page.objects], -1)]  # fmt: skip
    assert tap.taken == sum(a + b for (a, b), *_ in exchanges) + sum(message.size_bytes for message in push)
    messages_come_once_in_order(result, push, config.link)
    frames_make_up_the_air_time_one_after_another(tap, result)
    the_client_is_awake_for_all_frames_and_while_its_gate_is_open(tap, result)
    assert sorted(((e.request_bytes, e.reply_bytes), e.page, e.object_index) for e in tap.exchanges) == sorted(
        exchanges
    )
    issue, done = result._trip.loads[:, :2].T
    assert all(issue[e.page] <= e.asked_ns < e.answered_ns <= done[e.page] for e in tap.exchanges)
    beacons = [(one.at_ns, one.buffered_bytes) for one in tap.decisions if one.event == "beacon"]
    assert set(beacons) <= set(zip(ns(result.polls.time_s).tolist(), result.polls.buffered_bytes, strict=True))
    assert tap.decisions


def time_and_energy_add_up(result, workload):
    assert result.awake_s + result.asleep_s == pytest.approx(result.elapsed_s, abs=1e-9)
    radio, loads, energy = result.radio, result.pages, result.energy
    assert (radio.start_s.to_numpy()[1:] == radio.end_s.to_numpy()[:-1]).all()
    assert radio.end_s.iloc[-1] == result.elapsed_s if len(radio) else result.elapsed_s == 0
    awake = radio[radio.state == "awake"]
    assert (awake.end_s - awake.start_s).sum() == pytest.approx(result.awake_s, abs=1e-7)
    assert np.allclose(loads.awake_s + loads.asleep_s, loads.latency_s, atol=1e-9)
    assert (loads.awake_s >= 0).all()
    assert (loads.asleep_s >= -1e-12).all()
    thinks = ns([page.think_s for page in workload]).sum() / 1e9
    assert result.elapsed_s >= loads.latency_s.sum() + thinks - 1e-9
    assert energy.total_j == pytest.approx(energy.awake_j + energy.sleep_j + energy.listen_j)
    assert energy.total_j == pytest.approx(0.75 * result.awake_s + 0.05 * result.asleep_s + 0.0015 * result.beacons)
    each_j = energy.per_page_j
    assert each_j * len(workload) == pytest.approx(energy.total_j) if workload else np.isnan(each_j)
    assert loads.beacons.sum() <= result.beacons


def messages_come_once_in_order(result, push, link):
    found = result.messages
    assert list(found) == ["policy", "message", "written_s", "size_bytes", "delivered_s", "delay_s"]
    assert found.message.tolist() == list(range(len(push)))
    assert found.size_bytes.tolist() == [message.size_bytes for message in push]
    assert np.allclose(found.written_s, [message.at_s for message in push], atol=1e-9)
    assert found.delivered_s.is_monotonic_increasing
    soonest = (link.wired_delay_ms + link.wireless_delay_ms) / 1e3 + found.size_bytes * 8 / 1e6 / link.wireless_mbps
    assert (found.delay_s > soonest).all()
    assert (found.delivered_s <= result.elapsed_s + 1e-9).all()


def frames_make_up_the_air_time_one_after_another(tap, result):
    assert sum(frame.lost for frame in tap.transmissions) == result.frames_lost
    for down, air_s in ((False, result.uplink_air_s), (True, result.downlink_air_s)):
        frames = [frame for frame in tap.transmissions if frame.down == down]
        assert sum(frame.end_ns - frame.start_ns for frame in frames) == ns(air_s)
        assert sum(frame.size_bytes for frame in frames) * 1600 == ns(air_s)
        assert all(frame.reached_ns <= frame.start_ns < frame.end_ns for frame in frames)
        assert all(first.end_ns <= second.start_ns for first, second in pairwise(frames))


def the_client_is_awake_for_all_frames_and_while_its_gate_is_open(tap, result):
    """From the start of a frame on the air to its end, and down to its arrival, it is awake."""
    end, awake = ns(result.elapsed_s), result.radio[result.radio.state == "awake"]
    starts, ends = ns(awake.start_s), ns(awake.end_s)
    for frame in tap.transmissions:
        arrival = frame.end_ns + 100_000 * frame.down
        if arrival <= end:
            place = int(np.searchsorted(starts, frame.start_ns, side="right")) - 1
            assert starts[place] <= frame.start_ns
            assert arrival <= ends[place]
    instants, states = zip(*tap.gates, strict=True) if tap.gates else ((), ())
    assert list(instants) == sorted(instants)
    first = bool(states and states[0])
    assert list(states) == [place % 2 != first for place in range(len(states))]  # in turn
    spans = zip(tap.gates, [*instants[1:], end], strict=True) if tap.gates else ()
    assert sum((min(until, end) - min(at, end)) * is_open for (at, is_open), until in spans) <= ns(result.awake_s)
