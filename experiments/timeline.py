"""What happened under a policy in a stretch of time, as plain rows that pictures and files are made of.

A `Timeline` is one run seen through a window: when the client was awake, which beacons it listened to and which it
slept through, the frames, what waited at the access point, the requests outstanding and the policy's decisions.
Times are seconds since the start of the window, so that policies under which the same page is asked for at different
times can stand under one another.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import netsim
from netsim.policies import AnyPolicy
from netsim.running.recorder import AirRecorder, Recorder, Transmission
from traces.columns import Workload

_S = 1e-9
AFTER_S = 0.15  # shown of the time after a page, as a share of its load at least


class Run(NamedTuple):
    """A recorded run: its record, the notes, the beacon interval, and how long its radio takes to wake up."""

    result: netsim.SimulationResult
    recorder: Recorder
    beacon_interval_ns: int
    wakeup_s: float


class Beacon(NamedTuple):
    """A beacon: when, and whether the client listened ("listened"), was awake anyway ("awake") or slept ("slept")."""

    time_s: float
    heard: str


class Step(NamedTuple):
    """A stretch of time: from, to, and what holds in it (bytes or requests, or a name)."""

    start_s: float
    end_s: float
    value: float


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """A run in a window; its times, but those of `frames`, are relative to the start of the window, seconds."""

    policy: str  #: canonical name
    start_s: float  #: where the window begins in the time of the run
    length_s: float
    #: when the client is awake, when what reaches the access point is delivered at once, and the ramps up to being
    #: awake or to a beacon listened to, which a radio that takes time is charged for; nothing waits for them
    awake: list[tuple[float, float]]
    gate: list[tuple[float, float]]
    waking: list[tuple[float, float]]
    beacons: list[Beacon]
    frames: list[Transmission]  #: on the air in the window; their instants are in the time of the run, nanoseconds
    waiting: list[Step]  #: bytes at the access point that wait for the client
    outstanding: list[Step]  #: requests without a complete reply
    decisions: list[tuple[float, str]]  #: what the policy decided, and when
    loads: list[tuple[float, float]]  #: when a page loads

    @property
    def title(self) -> str:
        """How long the page took if there is one: what stands beside the name of the policy."""
        inside = [(start, end) for start, end in self.loads if end < self.length_s]
        whole = [end - start for start, end in inside if start > 0.0 or self.start_s == 0.0]
        count = f"{len(self.loads)} page{'s' * (len(self.loads) != 1)}"
        return f"page in {1000 * whole[0]:.0f} ms" if len(whole) == 1 else count

    def frame_span(self, frame: Transmission) -> tuple[float, float]:
        """Return when a frame is on the air, relative to the window."""
        return frame.start_ns * _S - self.start_s, frame.end_ns * _S - self.start_s


def record(workload: Workload, policy: AnyPolicy, config: netsim.SimulationConfig, *, seed: int = 0) -> Run:
    """Browse under a policy and keep what happens."""
    recorder = Recorder() if config.medium is None else AirRecorder()
    result = netsim.simulate(workload, policy, config=config, seed=seed, recorder=recorder)
    return Run(result, recorder, config.beacon_interval_ns, config.radio.wakeup_ms / 1000)


def window_of_page(run: Run, page: int) -> tuple[float, float]:
    """Return start and length, seconds, of a window on one page (from 0): from just before its issue to just after."""
    columns = run.result.page_columns
    if not 0 <= page < len(columns["issue_s"]):
        raise ValueError(f"page must lie in [1, {len(columns['issue_s'])}], got {page + 1}")
    issue, latency = float(columns["issue_s"][page]), float(columns["latency_s"][page])
    before = min(issue, 2 * run.beacon_interval_ns * _S)
    return issue - before, before + latency + max(5 * run.beacon_interval_ns * _S, AFTER_S * latency)


def timeline(run: Run, start_s: float, length_s: float) -> Timeline:
    """Return the run in a window, which must begin inside the run and have a length."""
    result, recorder = run.result, run.recorder
    if not 0.0 <= start_s < max(result.elapsed_s, 1e-9):
        raise ValueError(f"the window must begin in [0, {result.elapsed_s:g}) s, got {start_s:g}")
    if not length_s > 0.0:
        raise ValueError(f"the window must be longer than 0 s, got {length_s:g}")
    end_s = min(start_s + length_s, result.elapsed_s)

    def clipped(spans: Iterable[Sequence[float]]) -> list[tuple[float, float]]:
        inside = [(max(low, start_s), min(high, end_s)) for low, high in spans if high > start_s and low < end_s]
        return [(float(low - start_s), float(high - start_s)) for low, high in inside]

    rows = result.radio.loc[result.radio["state"] == "awake", ["start_s", "end_s"]].to_numpy()
    beacons, awake = _beacons(run, rows, start_s, end_s), clipped(rows)
    listened = [beacon.time_s for beacon in beacons if beacon.heard == "listened"]
    ready = sorted({*listened, *(start for start, _ in awake)} if run.wakeup_s else ())
    pages, sent = result.page_columns, recorder.transmissions
    gates = pairwise([(0, True), *recorder.gates, (round(result.elapsed_s / _S), False)])
    # of the frames down, of each that was sent again on the air, the last attempt
    last = {(one.reached_ns, one.connection, one.flag, one.seq, one.ack): one for one in sent if one.down}
    waited = [(frame.reached_ns, frame.start_ns, frame.size_bytes) for frame in last.values()]
    decided = [(one.at_ns * _S, _words(one.at_ns, one.plan)) for one in recorder.decisions]
    return Timeline(
        policy=result.policy, start_s=start_s, length_s=length_s, beacons=beacons, awake=awake,
        gate=clipped((at * _S, until * _S) for (at, is_open), (until, _) in gates if is_open and until > at),
        waking=[(max(0.0, at - run.wakeup_s), at) for at in ready if at > 0.0],
        frames=[one for one in sent if one.end_ns >= start_s / _S and one.start_ns <= end_s / _S],
        waiting=_steps(waited, start_s, end_s),
        outstanding=_steps([(one.asked_ns, one.answered_ns, 1) for one in recorder.exchanges], start_s, end_s),
        decisions=[(at_s - start_s, words) for at_s, words in decided if start_s <= at_s <= end_s],
        loads=clipped(zip(pages["issue_s"], pages["issue_s"] + pages["latency_s"], strict=True)),
    )  # fmt: skip


def _beacons(run: Run, awake: NDArray[np.float64], start_s: float, end_s: float) -> list[Beacon]:
    """Return the beacons of a window; one is listened to if a poll is at it, and free if the client is awake anyway."""
    interval = run.beacon_interval_ns
    at_ns = np.arange(-(-round(start_s / _S) // interval), round(end_s / _S) // interval + 1) * interval
    at_s = at_ns * _S
    polled = np.isin(at_ns, np.rint(run.result.polls["time_s"].to_numpy() / _S).astype(np.int64))
    place = np.searchsorted(awake[:, 0], at_s - 0.5 * _S) - 1  # awake since before the beacon
    free = (place >= 0) & (np.append(awake[:, 1], -1.0)[place] >= at_s - 0.5 * _S)
    return [
        Beacon(float(at) - start_s, "awake" if is_free else "listened" if was_polled else "slept")
        for at, is_free, was_polled in zip(at_s, free, polled, strict=True)
    ]


def _steps(spans: Sequence[tuple[int, int, int]], start_s: float, end_s: float) -> list[Step]:
    """Return how much of several things, each there from an instant to another (ns), there is at every time."""
    changes = sorted([(at, size) for at, _, size in spans] + [(until, -size) for _, until, size in spans])
    at_s = np.clip([0.0, *(at * _S for at, _ in changes), np.inf], start_s, end_s) - start_s
    levels = np.cumsum([0, *(change for _, change in changes)]).tolist()
    steps = zip(pairwise(at_s.tolist()), levels, strict=True)
    return [Step(since, until, level) for (since, until), level in steps if until > since]


def _words(at_ns: int, plan: netsim.Plan) -> str:
    """Return a plan in words: how long awake, when to listen next, whether sending lets out what waits."""
    awake_ms = (plan.awake_until_ns - at_ns) / 1e6
    if awake_ms > 1e12:
        return "stay awake"
    wake_ms = (plan.wake_ns - at_ns) / 1e6
    text = f"awake {awake_ms:.4g} ms, " if awake_ms > 0 else "sleep, "
    text += f"wake up in {wake_ms:.4g} ms" if plan.agreed else f"listen in {wake_ms:.4g} ms"
    if plan.repeat_ns:
        text += f", then every {plan.repeat_ns / 1e6:.4g} ms"
    return text
