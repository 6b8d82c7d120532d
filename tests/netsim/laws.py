"""Laws of every world, which share nothing with the model: what a result and a record say, held against each other.

Each law takes a `Case`, fails where it does not hold, and returns on how much it was held: 0, it said nothing.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pytest

import netsim
from netsim.simulation import _simulate
from traces.columns import Workload

MS = 1_000_000


def ns(seconds):
    """Return seconds in whole nanoseconds."""
    return np.rint(np.asarray(seconds, dtype=float) * 1e9).astype(np.int64)


@dataclass
class Case:
    """A client of a world, its result, and what was recorded of the run."""

    world: object
    number: int
    result: object
    recorder: object

    @cached_property
    def workload(self):
        return Workload.of(self.world.clients[self.number][0])

    @property
    def config(self):
        return self.world.config

    @property
    def air(self):
        return self.config.medium

    @cached_property
    def is_agreed(self):
        policy = self.world.clients[self.number][1]
        return (policy if isinstance(policy, str) else policy.spec).startswith(("twt", "own-agreed", "lpsm4-driver"))

    @cached_property
    def end(self):
        return int(ns(self.result.elapsed_s))

    @cached_property
    def awake(self):
        """When the radio was awake: begins and ends."""
        radio = self.result.radio
        of = radio[radio.state == "awake"]
        return ns(of.start_s), ns(of.end_s)

    @cached_property
    def pages(self):
        """Issue, last byte, time awake and beacons of each page."""
        found = self.result.page_columns
        issue, latency, awake = (ns(found[name]) for name in ("issue_s", "latency_s", "awake_s"))
        return issue, issue + latency, awake, np.asarray(found["beacons"])

    @cached_property
    def beacons(self):
        """The instants of the beacons that it listened to, and how long it had slept."""
        polls = self.result.polls
        return ns(polls.time_s), np.rint(polls.slept_ms.to_numpy() * MS).astype(np.int64)

    @property
    def name(self):
        return f"client {self.number}"

    def is_awake_within(self, begins, ends):
        """Whether each span lies in an interval awake."""
        starts, stops = _joined(*self.awake)
        place = np.searchsorted(starts, begins, side="right") - 1
        return (place >= 0) & (np.asarray(ends) <= stops[place]) if len(starts) else np.zeros(len(begins), bool)


def _joined(starts, ends):
    """Return intervals of which none begins where another ends."""
    apart = starts[1:] != ends[:-1]
    return starts[np.append(True, apart)[: len(starts)]], ends[np.append(apart, True)[: len(ends)]]


def overlap(case, begin, end):
    """Return how long the radio was awake from one instant to another."""
    starts, ends = case.awake
    return int(np.maximum(np.minimum(ends, end) - np.maximum(starts, begin), 0).sum())


# -- time and energy
def intervals_of_the_radio_make_up_the_run(case):
    radio, (starts, ends) = case.result.radio, case.awake
    assert (ns(radio.start_s)[1:] == ns(radio.end_s)[:-1]).all()
    assert ns(radio.end_s).tolist()[-1:] in ([case.end], [])
    assert (starts < ends).all()
    assert (ends - starts).sum() == ns(case.result.awake_s)
    assert ns(case.result.awake_s) + ns(case.result.asleep_s) == case.end
    return len(starts)


def a_page_is_awake_as_long_as_the_radio_is(case):
    issue, done, awake, _ = case.pages
    assert awake.tolist() == [overlap(case, *span) for span in zip(issue, done, strict=True)]
    return len(issue)


def a_page_issued_while_the_radio_wakes_up_for_a_beacon_is_not_charged_from_before(case):
    issue, done, awake, _ = case.pages
    starts, _ = case.awake
    if case.air is None or not case.config.radio.wakeup_ms:
        return 0
    before = issue - starts[np.maximum(np.searchsorted(starts, issue, side="right") - 1, 0)] if len(starts) else issue
    waking = (before > 0) & (before < ns(case.config.radio.wakeup_ms / 1e3) + 10 * MS)
    assert (awake <= done - issue).all()
    return int(waking.sum())


def latency_is_time_awake_and_time_asleep(case):
    found = case.result.page_columns
    awake, asleep, latency = (ns(found[name]) for name in ("awake_s", "asleep_s", "latency_s"))
    assert (awake + asleep == latency).all()
    assert (awake >= 0).all()
    assert (asleep >= 0).all()
    assert (latency > 0).all()
    return int((asleep > 0).sum())


def energy_is_that_of_the_intervals(case):
    """Of a radio of two states, or of any on wires: what intervals, beacons and passages take."""
    radio, energy = case.config.radio, case.result.energy
    parts_j = energy.awake_j + energy.sleep_j + energy.listen_j + energy.wakeup_j
    assert energy.total_j == pytest.approx(parts_j)
    n = len(case.workload)
    assert np.isnan(energy.per_page_j) if not n else energy.per_page_j * n == pytest.approx(energy.total_j)
    if case.air is not None and isinstance(radio, netsim.StateRadioConfig):
        return 0
    starts, ends = case.awake
    passages, awake = starts[starts > 0], int((ends - starts).sum())

    def joules(awake, asleep, beacons, wakeups):
        return 1e-12 * (radio.awake_mw * awake + radio.asleep_mw * asleep) + (
            1e-3 * radio.beacon_mj * beacons + radio.wakeup_j * wakeups)  # fmt: skip

    assert case.result.wakeups == len(passages)
    assert energy.total_j == pytest.approx(joules(awake, case.end - awake, case.result.beacons, len(passages)))
    for issue, done, beacons, energy_j in zip(*case.pages[:2], case.pages[3], case.result.page_columns["energy_j"],
        strict=True):  # fmt: skip
        spent, wakeups = overlap(case, issue, done), ((passages >= issue) & (passages < done)).sum()
        assert energy_j == pytest.approx(joules(spent, done - issue - spent, beacons, wakeups))
    return int(energy.total_j > 0)


# -- what comes and goes
def pages_follow_one_another_or_begin_and_end_with_their_exchanges(case):
    workload, (issue, done, *_) = case.workload, case.pages
    if len(workload.timings):
        begun, ended = case.result._trip.exchanges.T
        last = np.cumsum(1 + workload.objects)
        first = last - 1 - workload.objects
        spans = zip(first, last, strict=True)
        assert [(begun[i:j].min(), ended[i:j].max()) for i, j in spans] == list(zip(issue, done, strict=True))
        return len(issue)
    free, is_graph = 0, len(workload.causes) > 0
    for page, at, end in zip(workload, issue, done, strict=True):
        due = max(free, ns(page.issue_s or 0.0))
        assert at >= due if is_graph else at == due  # a graph may have more to come that nobody waits for
        free = end + ns(page.think_s)
    assert case.end >= free
    return len(issue)


def exchanges_wait_for_their_instants_for_others_and_for_their_connections(case):
    begun, ended = case.result._trip.exchanges.T
    latest = {}
    for place, (connection, after, at_s, *_) in enumerate(case.workload.timings):
        earlier = latest.get(connection, -1)
        waits_for = ended[place - int(after)] if after else ns(at_s)
        assert begun[place] >= max(waits_for, ended[earlier] if earlier >= 0 else 0)
        latest[connection] = place
    assert (ended > begun).all()
    assert (ended <= case.end).all()
    return len(begun)


def messages_are_delivered_once_in_their_order_and_not_before_they_can_be(case):
    found, push = case.result.messages, case.world.push[case.number]
    sizes = [message.size_bytes for message in push]
    assert found.size_bytes.tolist() == sizes
    assert ns(found.written_s).tolist() == ns([message.at_s for message in push]).tolist()
    assert (np.diff(ns(found.delivered_s)) >= 0).all()
    assert (ns(found.delivered_s) <= case.end).all()
    if not any(len(Workload.of(pages).timings) for pages, _ in case.world.clients):  # which may make links faster
        assert (found.delay_s > 8e-6 * found.size_bytes / case.config.link.wired_mbps).all()
    assert (found.delay_s > 0).all()
    starts, ends = case.awake
    delivered = ns(found.delivered_s)
    assert all(((starts <= at) & (at <= ends)).any() for at in delivered)
    return len(push)


def datagrams_are_cut_into_segments_that_arrive_once_or_are_lost(case):
    found, mss = case.result.datagrams, case.config.tcp.mss_bytes
    sent = [(int(ns(one.at_s)), one.up, one.size_bytes) for one in case.workload.datagrams]
    bytes_of = Counter()
    for at, up, size in zip(ns(found.sent_s).tolist(), found.up, found.size_bytes, strict=True):
        bytes_of[at, bool(up)] += int(size)
    wanted = Counter()
    for at, up, size in sent:
        wanted[at, up] += size
    assert +bytes_of == +wanted
    assert len(found) == sum(max(1, -(-size // mss)) for *_, size in sent)
    assert (found.size_bytes <= mss).all()
    assert ((found.delay_s >= 0) | ~found.arrived | found.up).all()
    totals = case.result.datagram_totals
    assert totals["datagrams"] == found.arrived.sum() + totals["datagrams_lost"]
    if not case.config.link.loss_rate and (case.air is None or case.air.neighbours + len(case.world.clients) == 1):
        assert found.arrived.all()
    return len(found)


def beacons_are_heard_once_and_counted_where_it_slept(case):
    at, _ = case.beacons
    assert (np.diff(at) > 0).all()
    if case.is_agreed:
        return int(case.result.beacons == 0 and len(at))
    assert (at % case.config.beacon_interval_ns == 0).all()
    starts, ends = case.awake
    if case.air is None:
        asleep = np.array([not ((starts < one) & (one <= ends)).any() for one in at], dtype=bool)
        assert asleep.sum() == case.result.beacons
        issue, done, _, beacons = case.pages
        assert beacons.tolist() == [(asleep & (at > begin) & (at <= end)).sum()
            for begin, end in zip(issue, done, strict=True)]  # fmt: skip
    else:
        alone = np.array([not ((starts <= one) & (one <= ends)).any() for one in at], dtype=bool)
        assert alone.sum() <= case.result.beacons <= len(at) + case.result.beacons_lost
    return len(at)


# -- what was recorded
def bytes_that_were_asked_for_and_no_others_have_come(case):
    recorder, workload = case.recorder, case.workload
    ends = [end for end in recorder.ends if end.client.number == case.number and end.connection.number != 0]
    timed = len(workload.timings)
    wanted = [(int(page), *size) for page, size in zip(
        np.repeat(np.arange(len(workload)), 1 + workload.objects), workload.sizes.tolist(), strict=True
    )]  # fmt: skip
    if len(case.world.clients) == 1:
        told = [(one.page, one.request_bytes, one.reply_bytes) for one in recorder.exchanges]
        if timed:  # several pages at once
            told, wanted = ([one[1:] for one in of] for of in (told, wanted))
        assert sorted(told) == sorted(wanted)
    got = {True: 0, False: 0}
    for end in ends:
        got[bool(end.is_client)] += end.received
    asked, replied = workload.sizes.sum(axis=0)
    if len(workload.causes):  # frames of HTTP/2 have 9 bytes of their own
        replied += 9 * (-(-workload.sizes[:, 1] // 16_384) * (workload.causes[:, 3] > 0)).sum()
    tcp = case.config.tcp
    if tcp.stream_window_bytes or tcp.tls:  # which add bytes of their own
        assert got[False] >= asked
        assert got[True] >= replied
    else:
        assert (got[False], got[True]) == (asked, replied) or not len(workload)
    return len(ends)


def exchanges_of_a_graph_wait_for_what_names_them_and_a_page_for_those_that_it_waits_for(case):
    workload, (issue, done, *_) = case.workload, case.pages
    if not len(workload.causes) or len(case.world.clients) > 1:
        return 0
    told = {(one.page, one.object_index + 1): one for one in case.recorder.exchanges}
    ends = dict.fromkeys(range(len(workload)), 0)
    for number, page in enumerate(workload):
        for place, cause in enumerate(page.causes):
            one, earlier = told[number, place], told.get((number, place - cause.after))
            begun = case.config.tcp.named_after_bytes > 0  # its first bytes may name what is asked for
            since = (earlier.asked_ns if begun else earlier.answered_ns) if cause.after else issue[number]
            assert one.asked_ns >= since + ns(cause.pause_s)
            assert one.answered_ns > one.asked_ns
            if cause.is_awaited:
                ends[number] = max(ends[number], one.answered_ns)
            elif number + 1 < len(workload):
                assert one.answered_ns <= issue[number + 1]
            assert place or one.asked_ns >= issue[number]
    assert list(ends.values()) == list(done)
    return len(told)


def acknowledgements_wait_no_longer_than_they_may_and_no_more_is_on_its_way_than_the_window(case):
    tcp, link, of = case.config.tcp, case.config.link, {}
    if case.air is not None or len(case.world.clients) > 1 or tcp.control == "ns-2":
        return 0
    for frame in case.recorder.transmissions:
        of.setdefault(frame.connection, []).append(frame)
    delay, most, held = round(1e6 * link.wireless_delay_ms), round(1e9 * tcp.ack_delay_s), 0
    for frames in of.values():
        up = [(frame.reached_ns, frame.ack) for frame in frames if not frame.down]
        came = [(frame.end_ns + delay, frame) for frame in frames if frame.down and not frame.lost]
        for at, frame in came if not link.loss_rate and not link.queue_packets else ():
            told = [sent for sent, ack in up if frame.length and ack >= frame.seq + frame.length]
            held += bool(told)
            assert not told or told[0] <= at + most
        for frame in frames:
            acked = max((one.ack for at, one in came if at <= frame.reached_ns), default=0)
            assert frame.down or frame.seq + frame.length <= acked + case.recorder.run.window * tcp.mss_bytes
    return held


def frames_on_wires_make_up_the_air_time_and_the_client_is_awake_for_them(case):
    if case.air is not None or len(case.world.clients) > 1:
        return 0
    recorder, link = case.recorder, case.config.link
    frames = recorder.transmissions
    polls_lost = sum(lost for _, _, lost, _ in recorder.polled_ns)
    assert sum(frame.lost for frame in frames) + polls_lost == case.result.frames_lost
    rates = set()
    for down, air_s in ((False, case.result.uplink_air_s), (True, case.result.downlink_air_s)):
        own = [frame for frame in frames if frame.down == down]
        polled = sum(end - begin for begin, end, _, is_down in recorder.polled_ns if is_down == down)
        assert sum(frame.end_ns - frame.start_ns for frame in own) + polled == ns(air_s)
        assert all(first.end_ns <= second.start_ns for first, second in pairwise(own))
        assert all(frame.reached_ns <= frame.start_ns for frame in own)
        rates |= {round(8e3 * one.size_bytes / (one.end_ns - one.start_ns), 3) for one in own if one.size_bytes > 500}
    timed = len(case.workload.timings)
    assert timed or all(rate == pytest.approx(link.wireless_mbps, rel=1e-3) for rate in rates)
    arrival = np.array([f.end_ns + round(1e6 * link.wireless_delay_ms) * f.down for f in frames])
    start = np.array([frame.start_ns for frame in frames])
    inside = arrival <= case.end
    assert case.is_awake_within(start[inside], arrival[inside]).all() if len(frames) else True
    return int(inside.sum()) if len(frames) else 0


def the_client_is_awake_for_its_frames_on_the_air(case):
    if case.air is None:
        return 0
    own = [one for one in case.recorder.frames if case.name in (one.sender, one.receiver) and one.end_ns <= case.end]
    if not own:
        return 0
    own = [one for one in own if one.sender == case.name or one.received]
    begins, ends = np.array([(one.start_ns, one.end_ns) for one in own]).reshape(-1, 2).T
    assert case.is_awake_within(begins, ends).all()
    if isinstance(case.config.radio, netsim.StateRadioConfig) and not case.air.beacons.broadcast_per_s:
        starts, _ = _joined(*case.awake)
        begun = starts[np.searchsorted(starts, begins, side="right") - 1]
        assert ((begun == 0) | (begins - begun >= round(case.config.radio.wakeup_ms * MS))).all()
    return len(own)


def the_radio_transmits_and_receives_its_frames_and_is_in_its_states_all_the_time(case):
    states, air, radio = case.result.states_s, case.air, case.config.radio
    if air is None:
        assert states is None
        return 0
    assert sum(map(ns, states.values())) == case.end
    slack = _under_way_ns(case.recorder, case.end)
    sent, received = _frames_of(case)
    assert abs(int(ns(states["transmitting"])) - sent) <= slack
    alone, guard, heard = 0, 0, 0
    if not case.is_agreed:
        sent_at = {one.number: one.start_ns for one in case.recorder.frames if one.kind == "beacon"}
        starts, ends = case.awake
        beacon = case.recorder.run.beacon_air
        for at, slept in zip(*case.beacons, strict=True):
            late = sent_at[at // case.config.beacon_interval_ns] - at
            if not ((starts <= at + late + beacon) & (at <= ends)).any():
                alone += 1
                heard += beacon
                guard += late
                if isinstance(radio, netsim.StateRadioConfig):
                    guard += round(radio.listen_advance_ms * MS) + round(int(slept) * radio.drift_ppm * 1e-6)
    if air.beacons.broadcast_per_s or case.result.beacons_lost:
        return 0
    up = back = 0
    if isinstance(radio, netsim.StateRadioConfig):
        up, back = round(radio.wakeup_ms * MS), round(radio.settle_ms * MS)
    slack += up + back
    wakeups, awake = case.result.wakeups, int(ns(case.result.awake_s))
    for name, wanted in (("waking", (wakeups + alone) * (up + back)), ("receiving", received + heard),
        ("listening", awake - wakeups * up - sent - received + guard)):  # fmt: skip
        assert abs(int(ns(states[name])) - wanted) <= slack, (name, int(ns(states[name])) - wanted, slack)
    if isinstance(radio, netsim.StateRadioConfig):
        powers = {"doze": radio.doze_mw} | {name: getattr(radio, f"{name}_mw") + radio.base_mw
            for name in list(states)[1:]}  # fmt: skip
        total_j = 1e-3 * sum(powers[name] * seconds for name, seconds in states.items())
        assert case.result.energy.total_j == pytest.approx(total_j)
    return len(case.awake[0])


def _frames_of(case):
    """Return the times of the frames that a client sent, and of those that it received, of exchanges up to the end."""
    frames, sent, received = case.recorder.frames, 0, 0
    arrived = {one.aggregate for one in frames if one.aggregate >= 0 and one.received}
    for one in frames:
        if one.start_ns < case.end:
            sent += (one.end_ns - one.start_ns) * (one.sender == case.name)
            if one.receiver == case.name and (one.received or one.aggregate in arrived):
                received += one.end_ns - one.start_ns
    return sent, received


def _under_way_ns(recorder, end):
    """Return how long the exchange takes that is on the air at an instant, with an answer that may be missed."""
    phy, frames = recorder.air.phy, recorder.frames
    apart = [n for n in range(1, len(frames)) if frames[n].start_ns > frames[n - 1].end_ns + phy.sifs_ns]
    spans = [(frames[i].start_ns, frames[j - 1].end_ns) for i, j in pairwise([0, *apart, len(frames)])]
    return phy.control_ns(56 if phy.kind.startswith("11ax") else 32) + max(
        (stop - start for start, stop in spans if start <= end <= stop + phy.sifs_ns), default=0)  # fmt: skip


def nobody_begins_to_send_while_a_frame_is_on_the_air(case):
    if case.air is None or case.air.max_ampdu_bytes or case.number:
        return 0
    frames = case.recorder.frames
    for first, second in pairwise(frames):
        assert second.start_ns == first.start_ns or second.start_ns >= first.end_ns + case.air.phy.sifs_ns
    return len(frames)


LAWS = [intervals_of_the_radio_make_up_the_run, a_page_is_awake_as_long_as_the_radio_is,
    a_page_issued_while_the_radio_wakes_up_for_a_beacon_is_not_charged_from_before,
    latency_is_time_awake_and_time_asleep, energy_is_that_of_the_intervals,
    pages_follow_one_another_or_begin_and_end_with_their_exchanges,
    exchanges_wait_for_their_instants_for_others_and_for_their_connections,
    messages_are_delivered_once_in_their_order_and_not_before_they_can_be,
    datagrams_are_cut_into_segments_that_arrive_once_or_are_lost, beacons_are_heard_once_and_counted_where_it_slept,
    bytes_that_were_asked_for_and_no_others_have_come,
    exchanges_of_a_graph_wait_for_what_names_them_and_a_page_for_those_that_it_waits_for,
    acknowledgements_wait_no_longer_than_they_may_and_no_more_is_on_its_way_than_the_window,
    frames_on_wires_make_up_the_air_time_and_the_client_is_awake_for_them,
    the_client_is_awake_for_its_frames_on_the_air,
    the_radio_transmits_and_receives_its_frames_and_is_in_its_states_all_the_time,
    nobody_begins_to_send_while_a_frame_is_on_the_air]  # fmt: skip


class Ends:
    """What notes the ends of connections, beside a recorder."""

    def __init__(self):
        super().__init__()
        self.ends = set()

    def _transmitted(self, frame, *what):
        self.ends |= {frame.to, frame.to.peer}
        super()._transmitted(frame, *what)


class Tap(Ends, netsim.Recorder):
    """Notes the ends of connections too."""


class AirTap(Ends, netsim.AirRecorder):
    """The same, on the air."""


def run(world):
    """Run a world interpreted; return the results of its clients, and the record."""
    recorder = Tap() if world.config.medium is None else AirTap()
    args = (world.clients, world.push, world.config, world.seed, "packet", world.server_delays, recorder)
    return _simulate(*args), recorder


def held(world):
    """Run a world, hold it to all laws, and return the names of those that said something of it."""
    results, recorder = run(world)
    found = Counter()
    for number, result in enumerate(results):
        case = Case(world, number, result, recorder)
        for law in LAWS:
            found[law.__name__] += int(law(case)) > 0
    return {name for name, n in found.items() if n}
