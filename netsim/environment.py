"""Power saving as a Gymnasium environment: an agent decides where a policy would.

``gymnasium.make("netsim.environment:netsim/PowerSave-v1")``.  A step is one decision: the client could sleep, or
listens to a beacon.  The agent sees what a client can know, and says how long to stay awake, and then which beacon to
listen to next, or after how long to poll.
The reward is minus the energy since the last decision, minus the price of a second of waiting times the seconds that
pages have been loading: over an episode it adds up to -(energy + price x sum of latencies).

The interpreted model runs as a coroutine (a greenlet) that waits wherever its policy would be asked.  An episode is
one run of it over the given traffic; the energies and latencies of `info` at its end are those of `netsim.simulate`.
Left out: plans that repeat without asking (every beacon that is listened to is a decision), and agreed wake-up times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import gymnasium
import numpy as np
from greenlet import getcurrent, greenlet
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

import traces
from lpsm.checks import non_negative, shown
from netsim.config import SimulationConfig
from netsim.model.entities import Client, States
from netsim.model.medium import time_awake, write_states
from netsim.policies.guarded import guarded
from netsim.policies.protocol import Plan, View
from netsim.radio import StateRadioConfig, StateTimes
from netsim.result import SimulationResult
from netsim.running.recorder import AirRecorder, Recorder
from netsim.server_delay import ServerDelay
from netsim.simulation import simulate
from traces.records import Message, Page

AWAKE_MS = (0, 10, 20, 50, 100, 200, 500, 1000)
"""How long an agent can stay awake after a decision, milliseconds; the first part of an action counts into this."""
BEACONS = (1, 2, 3, 5, 8, 12, 20, 50)
"""Which beacon it can listen to next, counted from falling asleep; the second part of an action counts into this,"""
POLLS_MS = (3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6)
"""and from its end on into this: after how long it polls, milliseconds from falling asleep."""
FIELDS = (
    "at_beacon", "since_beacon_s", "since_sent_s", "since_received_s", "slept_s", "buffered_bytes", "outstanding",
)  # fmt: skip
"""What the numbers of an observation are (`scaled`)."""
_UNITS = np.array([1.0, 1e-3, 1e-3, 1e-3, 1e-3, 1.0, 1.0])
_MOST = np.array([1.0, 60.0, 60.0, 60.0, 60.0, 1e9, 64.0])
_LONGEST_S = 60.0
_S = 1e-9

Observation = NDArray[np.float32]
Traffic = Sequence[Page] | Callable[[np.random.Generator], Sequence[Page]]


def scaled(values: ArrayLike) -> Observation:
    """Return the values of `FIELDS`, seconds, bytes and requests, as an observation: logarithms of 1 + x, in [0, 1].

    Times count in milliseconds and end at 60 s, which also stands for never; bytes end at 1e9, requests at 64.
    """
    parts = np.minimum(np.asarray(values, dtype=float), _MOST) / _UNITS
    found: Observation = (np.log1p(parts) / np.log1p(_MOST / _UNITS)).astype(np.float32)
    return found


def unscaled(observation: ArrayLike) -> NDArray[np.float64]:
    """Return the values that `scaled` made an observation of."""
    whole = np.log1p(_MOST / _UNITS)
    found: NDArray[np.float64] = np.expm1(np.asarray(observation, dtype=float) * whole) * _UNITS
    return found


class _Decision(NamedTuple):
    """Where the run waits: what is seen, and the joules and the seconds of loading pages so far."""

    observation: Observation
    joules: float
    loading_s: float
    elapsed_s: float = 0.0


class PowerSave(gymnasium.Env[Observation, NDArray[np.int64]]):
    """The environment.

    Parameters
    ----------
    pages : sequence of Page, callable or None
        What is browsed: pages or a workload, or what draws them from a generator at each reset; by default 20 pages of
        the Web model.
    push : sequence of Message
        Pushed beside the pages.
    config : SimulationConfig, optional
        The world; a server that answers after 0.2 s by default.
    price_w : float
        The price of a second of waiting for a page, joules.

    Attributes
    ----------
    pages : sequence of Page
        Those of the current episode.
    """

    metadata = {"render_modes": []}  # noqa: RUF012 (Gymnasium's own form)

    def __init__(
        self,
        *,
        pages: Traffic | None = None,
        push: Sequence[Message] = (),
        config: SimulationConfig | None = None,
        price_w: float = 0.5,
    ) -> None:
        non_negative(price_w=price_w)
        self.observation_space = spaces.Box(0.0, 1.0, (len(FIELDS),), np.float32)
        self.action_space = spaces.MultiDiscrete([len(AWAKE_MS), len(BEACONS) + len(POLLS_MS)])
        self._traffic: Traffic = _web if pages is None else pages
        self.pages: Sequence[Page] = ()
        self._push = tuple(push)
        self._config = SimulationConfig(server_delay=ServerDelay(0.2)) if config is None else config
        self._price_w = price_w
        self._run: _Run | None = None
        self._last = _Decision(np.zeros(len(FIELDS), np.float32), 0.0, 0.0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, object] | None = None
    ) -> tuple[Observation, dict[str, object]]:
        """Begin another episode; `seed` draws the pages (if they are drawn), server delays and losses."""
        super().reset(seed=seed)
        self.close()
        self.pages = self._traffic(self.np_random) if callable(self._traffic) else self._traffic
        self._run = _Run(self.pages, self._push, self._config, int(self.np_random.integers(2**31)))
        found = self._run.next()
        assert isinstance(found, _Decision)  # the station asks at time 0
        self._last = found
        return found.observation, {"elapsed_s": found.elapsed_s}

    def step(self, action: NDArray[np.int64]) -> tuple[Observation, float, bool, bool, dict[str, float]]:
        """Answer the decision that waits, and go on to the next.

        Returns
        -------
        observation, reward, terminated, truncated, info
            `info` has `elapsed_s`, the instant of the decision, by which an agent can discount; at the end of the run
            `terminated` is True and `info` has `energy_j`, `latency_s` (mean), `pages` and `beacons`, too.

        Raises
        ------
        ValueError
            If no episode is going on, or the action is none of the action space.
        """
        if self._run is None:
            raise ValueError("an episode must be begun with reset before a step")
        chosen = np.asarray(action)
        if not self.action_space.contains(chosen):
            counts = f"[0, {len(AWAKE_MS) - 1}] and [0, {len(BEACONS) + len(POLLS_MS) - 1}]"
            raise ValueError(f"an action must be two whole numbers of {counts}, got {shown(action)}")
        found = self._run.next((int(chosen[0]), int(chosen[1])))
        if isinstance(found, _Decision):
            reward = self._reward(found.joules, found.loading_s)
            self._last = found
            return found.observation, reward, False, False, {"elapsed_s": found.elapsed_s}
        self._run = None
        latency_s = found.latency_s
        reward = self._reward(found.energy.total_j, float(latency_s.sum()))
        info = {
            "energy_j": found.energy.total_j, "latency_s": float(latency_s.mean()) if len(latency_s) else 0.0,
            "pages": len(latency_s), "elapsed_s": found.elapsed_s, "beacons": found.beacons,
        }  # fmt: skip
        return self._last.observation, reward, True, False, info

    def close(self) -> None:
        """Leave the episode, if one is going on."""
        if self._run is not None:
            self._run.abandon()
            self._run = None

    def _reward(self, joules: float, loading_s: float) -> float:
        last = self._last
        return -(joules - last.joules) - self._price_w * (loading_s - last.loading_s)


def _web(rng: np.random.Generator) -> Sequence[Page]:
    return list(traces.generate(20, rng, web="1996"))


def observed(view: View, interval_ns: int) -> Observation:
    """Return what an agent sees where a host-aware policy sees a view; the time between beacons is in nanoseconds."""
    now, at_beacon = view.now_ns, view.event == "beacon"

    def since(at_ns: int | None) -> float:
        return _LONGEST_S if at_ns is None else (now - at_ns) * _S

    return scaled([
        at_beacon, now % interval_ns * _S, since(view.last_sent_ns), since(view.last_received_ns),
        view.slept_ns * _S if at_beacon else 0.0, view.buffered_bytes, view.outstanding or 0,
    ])  # fmt: skip


def planned(now_ns: int, interval_ns: int, awake: int, then: int) -> Plan:
    """Return what the two parts of an action say at an instant, nanoseconds: what a policy of the same does, too."""
    until = now_ns + AWAKE_MS[awake] * 1_000_000
    if then < len(BEACONS):
        return Plan(until, (until // interval_ns + BEACONS[then]) * interval_ns, True)
    return Plan(until, until + round(1e6 * POLLS_MS[then - len(BEACONS)]), True, poll=True)


class _Run:
    """One run as a coroutine that waits wherever its policy would be asked: it stands where that would."""

    spec = "agent"
    host_aware = polls = True

    def __init__(self, pages: Sequence[Page], push: Sequence[Message], config: SimulationConfig, seed: int) -> None:
        self.config = config
        self._recorder = recorder = Recorder() if config.medium is None else AirRecorder()
        self._run = greenlet(lambda: simulate(pages, self, config=config, seed=seed, push=push, recorder=recorder))

    def __deepcopy__(self, memo: dict[int, object]) -> _Run:
        return self

    def plan(self, view: View) -> Plan:
        """Hand over what a client can know, and wait for the answer (in the coroutine of the run)."""
        now, interval, client = view.now_ns, self.config.beacon_interval_ns, self._recorder.run.clients[0]

        observation = observed(view, interval)
        decision = _Decision(observation, self._joules(client, now), self._loading_s(client, now), now * _S)
        with guarded.lifted():
            awake, then = getcurrent().parent.switch(decision)
        return planned(now, interval, awake, then)

    def _joules(self, client: Client, now: int) -> float:
        run, radio = self._recorder.run, self.config.radio
        if self.config.medium is not None and isinstance(radio, StateRadioConfig):
            states = States()
            write_states(run, client, now, 0, states)
            return StateTimes.read(states).energy(radio, 1).total_j
        awake = time_awake(run, client, now)
        wakeups = len(run.machine.intervals[0]) // 2
        return float(radio.total_j(awake, now - awake, client.beacons, wakeups))

    def _loading_s(self, client: Client, now: int) -> float:
        """Return how long pages have been loading up to now."""
        return (client.loaded + client.loading * now) * _S

    def next(self, answer: tuple[int, int] | None = None) -> _Decision | SimulationResult:
        """Answer what was asked, if anything, and return the next decision, or the result at the end."""
        self._run.parent = getcurrent()
        found: _Decision | SimulationResult = self._run.switch() if answer is None else self._run.switch(answer)
        return found

    def abandon(self) -> None:
        """End the run where it waits."""
        self._run.throw()


gymnasium.register(id="netsim/PowerSave-v1", entry_point="netsim.environment:PowerSave")
