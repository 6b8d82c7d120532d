"""Power saving as a Gymnasium environment: an agent decides where a policy would.

``gymnasium.make("lpsm/PowerSave-v0")``, once this module is imported.  A step is one decision: the client could sleep,
or listens to a beacon.  The agent sees what a client can know, and says how long to stay awake and which beacon to
listen to next.  The reward is minus the energy since the last decision, minus the price of a second of waiting times
the seconds that pages have been loading: over an episode it adds up to -(energy + price x sum of latencies).

The packet model runs as a coroutine (a greenlet) that waits wherever its policy would be asked.  An episode is one run
of it over the given traffic; the energies and latencies of `info` at its end are those of `netsim.simulate`.  Left out:
plans that repeat without asking (every beacon that is listened to is a decision), and agreed wake-up times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from greenlet import getcurrent, greenlet
from gymnasium import spaces
from numpy.typing import NDArray

import traces
from netsim.access_point import AccessPoint
from netsim.browser import Browser, Connection
from netsim.policies.protocol import FOREVER_NS, Plan, View
from netsim.recorder import Recorder
from netsim.result import SimulationResult
from netsim.simulation import SimulationConfig, simulate
from netsim.station import Station
from traces.records import Message, Page

__all__ = ["AWAKE_MS", "BEACONS", "FIELDS", "PowerSave"]

AWAKE_MS = (0, 10, 20, 50, 100, 200, 500, 1000)
"""How long an agent can stay awake after a decision, milliseconds; the first part of an action counts into this."""
BEACONS = (1, 2, 3, 5, 8, 12, 20, 50)
"""Which beacon it can listen to next, counted from falling asleep; the second part of an action counts into this."""
FIELDS = (
    "at_beacon", "since_beacon_s", "since_sent_s", "since_received_s", "slept_s", "buffered_bytes", "outstanding",
)  # fmt: skip
"""What the numbers of an observation are; times end at 60 s, which also stands for never."""
_HIGH = np.array([1, 60, 60, 60, 60, 1e9, 64], dtype=np.float32)
_LONGEST_S = 60.0
_S = 1e-9

Observation = NDArray[np.float32]
Traffic = Sequence[Page] | Callable[[np.random.Generator], Sequence[Page]]


class _Decision(NamedTuple):
    """Where the run waits: what is seen, and the joules and the seconds of loading pages so far."""

    observation: Observation
    joules: float
    loading_s: float


class PowerSave(gymnasium.Env[Observation, NDArray[np.int64]]):
    """The environment.

    Parameters
    ----------
    pages : sequence of Page, callable or None
        What is browsed: pages, or what draws them from a generator at each reset; by default 20 of the Web model.
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
        if not 0.0 <= price_w < float("inf"):
            raise ValueError(f"price_w must be at least 0 and finite, got {price_w}")
        self.observation_space = spaces.Box(np.zeros(len(FIELDS), np.float32), _HIGH)
        self.action_space = spaces.MultiDiscrete([len(AWAKE_MS), len(BEACONS)])
        self._traffic: Traffic = _web if pages is None else pages
        self.pages: Sequence[Page] = ()
        self._push = tuple(push)
        self._config = _default() if config is None else config
        self._price_w = price_w
        self._run: _Run | None = None
        self._last = _Decision(np.zeros(len(FIELDS), np.float32), 0.0, 0.0)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin another episode; `seed` draws the pages (if they are drawn), server delays and losses."""
        super().reset(seed=seed)
        self.close()
        self.pages = self._traffic(self.np_random) if callable(self._traffic) else self._traffic
        self._run = _Run(self.pages, self._push, self._config, int(self.np_random.integers(2**31)))
        found = self._run.next()
        assert isinstance(found, _Decision)  # the station asks at time 0
        self._last = found
        return found.observation, {}

    def step(self, action: NDArray[np.int64]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Answer the decision that waits, and go on to the next.

        Returns
        -------
        observation, reward, terminated, truncated, info
            At the end of the run `terminated` is True and `info` has `energy_j`, `latency_s` (mean), `pages`,
            `elapsed_s` and `beacons`.
        """
        if self._run is None:
            raise ValueError("an episode must be begun with reset before a step")
        awake, beacons = (int(part) for part in action)
        found = self._run.next((AWAKE_MS[awake], BEACONS[beacons]))
        if isinstance(found, _Decision):
            reward = self._reward(found.joules, found.loading_s)
            self._last = found
            return found.observation, reward, False, False, {}
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
    return list(traces.generate(20, rng))


def _default() -> SimulationConfig:
    from netsim.server import ServerDelay

    return SimulationConfig(server_delay=ServerDelay(mean_s=0.2))


class _Agent:
    """Stands where a policy would; the station asks the environment instead."""

    spec = "agent"
    host_aware = True

    def plan(self, view: View) -> Plan:
        raise AssertionError("the station asks the environment")


class _Run(Recorder):
    """One run as a coroutine that waits wherever its policy would be asked."""

    def __init__(self, pages: Sequence[Page], push: Sequence[Message], config: SimulationConfig, seed: int) -> None:
        super().__init__()
        self.config = config
        self._loads: Sequence[int] = ()
        self._loaded_ns = 0  # of the pages before the one issued last
        self._pages = 0
        self._issued_ns = FOREVER_NS
        self._run = greenlet(lambda: simulate(pages, _Agent(), config=config, seed=seed, push=push, recorder=self))

    def parts(self) -> tuple[type[AccessPoint], type[Station], type[Browser]]:
        """Return the classes of a run whose station asks the environment."""
        run = self

        class _Station(Station):
            def _ask(self, event: str, now_ns: int, waiting: int) -> Plan:
                return run.ask(self, event, now_ns, waiting)

        class _Browser(Browser):
            def _fetch(self, connection: Connection, index: int) -> None:
                if index < 0:
                    run.issued(self.env.now, self.loads)
                super()._fetch(connection, index)

        return AccessPoint, _Station, _Browser

    def issued(self, now_ns: int, loads: Sequence[int]) -> None:
        """Note that a page is issued; `loads` are those of the browser, complete but for this page."""
        if len(loads):
            self._loaded_ns += loads[-3] - loads[-4]
        self._issued_ns, self._loads, self._pages = now_ns, loads, len(loads) // 4

    def ask(self, station: Any, event: str, now_ns: int, waiting: int) -> Plan:
        """Hand over what a client can know, and wait for the answer (in the coroutine of the run)."""
        view, interval = station._view, self.config.beacon_interval_ns

        def since(at_ns: int | None) -> float:
            return _LONGEST_S if at_ns is None else min(_LONGEST_S, (now_ns - at_ns) * _S)

        slept = since(station._slept_from_ns) if event == "beacon" else 0.0
        observation = np.array(
            [
                event == "beacon", now_ns % interval * _S, since(view.last_sent_ns), since(view.last_received_ns),
                slept, min(waiting, 1e9), min(station.outstanding, 64),
            ],
            dtype=np.float32,
        )  # fmt: skip
        awake_ns = station.awake_ns(now_ns)
        joules = self.config.radio.total_j(awake_ns, now_ns - awake_ns, station.beacons, len(station.intervals) // 2)
        decision = _Decision(observation, float(joules), self._loading_s(now_ns))
        awake_ms, beacons = getcurrent().parent.switch(decision)
        until = now_ns + awake_ms * 1_000_000
        return Plan(until, (until // interval + beacons) * interval, True)

    def _loading_s(self, now_ns: int) -> float:
        """Return how long pages have been loading up to now."""
        if self._issued_ns == FOREVER_NS:
            return 0.0
        if len(self._loads) // 4 > self._pages:  # the page has come, its think time runs
            return (self._loaded_ns + self._loads[-3] - self._loads[-4]) * _S
        return (self._loaded_ns + now_ns - self._issued_ns) * _S

    def next(self, answer: tuple[int, int] | None = None) -> _Decision | SimulationResult:
        """Answer what was asked, if anything, and return the next decision, or the result at the end."""
        self._run.parent = getcurrent()
        found: _Decision | SimulationResult = self._run.switch() if answer is None else self._run.switch(answer)
        return found

    def abandon(self) -> None:
        """End the run where it waits."""
        self._run.throw()


gymnasium.register(id="lpsm/PowerSave-v0", entry_point="netsim.environment:PowerSave")
