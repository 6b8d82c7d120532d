"""Laws of every world: nothing is lost or made, time and energy add up, and a record tells the same.

The worlds are random ones of `tests.netsim.frozen`, with numbers of which no answer is kept.
"""

from itertools import chain, pairwise

import numpy as np
import pytest

import netsim
from netsim.simulation import _simulate
from tests.netsim.air.cells import MS, add_up
from tests.netsim.frozen import cell, world


class Tap(netsim.Recorder):
    """Notes the ends of connections too."""

    def __init__(self):
        super().__init__()
        self.connections = set()

    def _transmitted(self, frame, *what):
        self.connections.add(frame.to.connection)
        super()._transmitted(frame, *what)


def ns(seconds):
    return np.rint(np.asarray(seconds) * 1e9).astype(int)


@pytest.mark.parametrize("number", range(40_000, 40_100))
def test_on_wires_time_energy_bytes_and_frames_are_conserved_and_recorded(number):
    made, tap = world(number), Tap()
    (workload, policy), push, config = made.clients[0], made.push[0], made.config
    result = netsim.simulate(workload, policy, config=config, seed=number, push=push, recorder=tap)
    time_and_energy_add_up(result, workload, config.radio)
    messages_come_once_in_order(result, push, config.link)
    frames_make_up_the_air_time_one_after_another(tap, result)
    the_client_is_awake_for_all_frames_and_while_its_gate_is_open(tap, result)
    wanted = exchanges_of([workload])
    assert sorted(map(told, tap.exchanges)) == wanted
    ends = chain.from_iterable((one.client, one.server) for one in tap.connections)
    assert sum(end.received for end in ends) == sum(chain.from_iterable(size for *_, size in wanted)) + sum(
        message.size_bytes for message in push
    )
    issue, done = result._trip.loads[:, :2].T
    assert all(issue[one.page] <= one.asked_ns < one.answered_ns <= done[one.page] for one in tap.exchanges)
    beacons = {(one.at_ns, one.buffered_bytes) for one in tap.decisions if one.event == "beacon"}
    assert beacons <= set(zip(ns(result.polls.time_s).tolist(), result.polls.buffered_bytes, strict=True))
    assert tap.decisions


def exchanges_of(workloads):
    """Return page, place and sizes of all requests, the HTML's place being -1."""
    return sorted((n, i, tuple(size)) for pages in workloads for n, page in enumerate(pages)
                  for i, size in enumerate([(page.request_bytes, page.reply_bytes), *page.objects], -1))  # fmt: skip


def told(exchange):
    return exchange.page, exchange.object_index, (exchange.request_bytes, exchange.reply_bytes)


def time_and_energy_add_up(result, workload, config):
    radio, loads, energy = result.radio, result.pages, result.energy
    assert result.awake_s + result.asleep_s == pytest.approx(result.elapsed_s, abs=1e-9)
    assert (radio.start_s.to_numpy()[1:] == radio.end_s.to_numpy()[:-1]).all()
    assert radio.end_s.iloc[-1] == result.elapsed_s if len(radio) else result.elapsed_s == 0
    awake = radio[radio.state == "awake"]
    assert (awake.end_s - awake.start_s).sum() == pytest.approx(result.awake_s, abs=1e-7)
    assert np.allclose(loads.awake_s + loads.asleep_s, loads.latency_s, atol=1e-9)
    assert (loads.awake_s >= 0).all()
    assert (loads.asleep_s >= -1e-12).all()
    assert loads.beacons.sum() <= result.beacons
    assert result.elapsed_s >= loads.latency_s.sum() + sum(page.think_s for page in workload) - 1e-9
    milliwatts = config.awake_mw * result.awake_s + config.asleep_mw * result.asleep_s
    total_j = 1e-3 * (milliwatts + config.beacon_mj * result.beacons) + config.wakeup_j * result.wakeups
    assert energy.total_j == pytest.approx(total_j)
    assert energy.total_j >= config.least_j(result.elapsed_s, max(result.uplink_air_s, result.downlink_air_s)) - 1e-9
    each_j = energy.per_page_j
    assert each_j * len(workload) == pytest.approx(total_j) if workload else np.isnan(each_j)


def messages_come_once_in_order(result, push, link):
    found = result.messages
    assert list(zip(found.message, found.size_bytes, strict=True)) == [
        (n, one.size_bytes) for n, one in enumerate(push)
    ]
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
        for frame in frames:
            assert frame.reached_ns <= frame.start_ns
            assert abs(frame.end_ns - frame.start_ns - 8e3 * frame.size_bytes / tap.config.link.wireless_mbps) <= 1
        assert all(first.end_ns <= second.start_ns for first, second in pairwise(frames))


def the_client_is_awake_for_all_frames_and_while_its_gate_is_open(tap, result):
    """From the start of a frame on the air to its end, and down to its arrival, it is awake."""
    end, awake = ns(result.elapsed_s), result.radio[result.radio.state == "awake"]
    starts, ends = ns(awake.start_s), ns(awake.end_s)
    for frame in tap.transmissions:
        arrival = frame.end_ns + round(1e6 * tap.config.link.wireless_delay_ms) * frame.down
        if arrival <= end:
            place = int(np.searchsorted(starts, frame.start_ns, side="right")) - 1
            assert starts[place] <= frame.start_ns
            assert arrival <= ends[place]
    instants, states = zip(*tap.gates, strict=True) if tap.gates else ((), ())
    assert list(instants) == sorted(instants)
    assert all(before != after for before, after in pairwise(states))
    spans = zip(tap.gates, [*instants[1:], end], strict=True) if tap.gates else ()
    assert sum((min(until, end) - min(at, end)) * is_open for (at, is_open), until in spans) <= ns(result.awake_s)


@pytest.mark.parametrize("number", range(40_000, 40_080))
def test_on_the_air_pages_arrive_time_and_frames_add_up_and_nobody_begins_while_a_frame_is_sent(number):
    made, recorder = cell(number), netsim.AirRecorder()
    air = made.config.medium
    results = _simulate(made.clients, made.push, made.config, number, "packet", None, recorder)
    add_up(recorder.run)
    assert sorted(map(told, recorder.exchanges)) == exchanges_of(pages for pages, _ in made.clients)
    slack = 2 * MS  # an exchange under way when a client leaves
    for result, push in zip(results, made.push, strict=True):
        trip = result._trip
        assert (trip.loads[:, 1] > trip.loads[:, 0]).all()
        assert trip.states.total_ns == trip.end_ns
        assert min(getattr(trip.states, name) for name in trip.states.__slots__) >= -slack
        assert (np.diff(trip.intervals) >= 0).all()  # who dozes may be woken in the same instant
        assert trip.awake_ns == pytest.approx(np.diff(trip.intervals.reshape(-1, 2)).sum(), abs=slack)
        assert result.messages.size_bytes.tolist() == [message.size_bytes for message in push]
        assert result.messages.delivered_s.is_monotonic_increasing
    carried = {(frame.start_ns, frame.end_ns) for frame in recorder.transmissions if not frame.lost}
    assert carried <= {(one.start_ns, one.end_ns) for one in recorder.frames if one.kind == "data" and one.received}
    assert all(frame.reached_ns <= frame.start_ns for frame in recorder.transmissions)
    if not air.max_ampdu_bytes:
        for first, second in pairwise(recorder.frames):  # nobody begins while a frame is on the air, but who collides
            assert second.start_ns == first.start_ns or second.start_ns >= first.end_ns + air.phy.sifs_ns
