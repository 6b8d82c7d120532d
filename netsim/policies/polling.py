"""LPSM: learn how long a wireless client should sleep, one decision a poll.

What it models: experts that each propose a polling time T_i; after sleeping T_t ms and
finding I_t bytes buffered, expert i is charged

    gamma * I_t * T_i**2 / (2 T_t) + energy(T_i),

the waiting of the bytes had it slept T_i, and the cost of waking so often; Learn-alpha mixes the experts, and the next
polling time is the mean of theirs.  What it leaves out: beacons, apart from the rounding to them, and everything about
radios and queues.
Source: Monteleoni 2006, section 2.5.3, equations (2.32)-(2.35) and figure 2-4.  Deviation: figure 2-4 prints T_t**2 in
the loss of expert i; (2.35) has T_i**2, which is meant.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lpsm.arrays import Floats
from lpsm.checks import array, between, checked, known, non_negative, number, positive, shown
from lpsm.experts import share
from lpsm.experts.grids import alpha_grid
from lpsm.experts.tracking import LearnAlpha
from lpsm.native import block, compiled
from netsim.policies import outstanding
from netsim.policies.compiled import CompiledForm, FlatFrame, FlatView, Ints, joined
from netsim.policies.host import nap
from netsim.policies.lpsm2_rule import learner_at, room_of_learner
from netsim.policies.protocol import ASK, Plan

Loss = Callable[[float, float, Floats], ArrayLike]

BEACON_MS = 100.0
HORIZON = 27_000  # 45 minutes of 100 ms polls, netsim.md's choice for the thesis' grid
ENERGY_TERMS: dict[str, Callable[[float], float]] = {
    "1/T": lambda time_ms: 1.0 / time_ms,
    "1/log T": lambda time_ms: 1.0 / math.log(time_ms),
}
GAMMAS = {"1/T": 1.0 / 1.2e5, "1/log T": 1.0 / 1.2e3}  # thesis, section 2.5.4

LATENCY, ENERGY, TIME, LOSS = range(4)  # rows of `experts`
INTERVAL, BEACONS, N_EXPERTS, N_RATES, N_SLOW = range(5)  # of the integers of the compiled rule
SLEEP_NS, FOUND, DUE, ACCOUNT = 1, 5, 6, 7  # of that which polls; the account is behind


@dataclass(frozen=True, slots=True, kw_only=True)
class PollingConfig:
    """Parameters of LPSM; the defaults are those of thesis section 2.5.4."""

    #: polling times of the experts, ms, each above 1
    times_ms: tuple[float, ...] = tuple(100.0 * k for k in range(1, 13))
    #: energy term of the loss: "1/T", "1/log T", or a function of T in ms
    energy: str | Callable[[float], float] = "1/T"
    #: price of a byte's waiting, per byte and ms; by default 1/(1.2e5) for "1/T" and 1/(1.2e3) for "1/log T"
    gamma: float | None = None
    #: switching rates; by default the grid for a horizon of 27,000 polls (259 values)
    alphas: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not self.times_ms:
            raise ValueError("times_ms must name at least one polling time, got none")
        for time_ms in self.times_ms:
            if not 1.0 < number("times_ms", time_ms) < math.inf:
                raise ValueError(f"times_ms must be finite and above 1 ms, got {shown(time_ms)}")
        if isinstance(self.energy, str):
            known("energy", self.energy, ENERGY_TERMS)
        elif self.gamma is None:
            raise ValueError("gamma must be given when energy is a function, got None")
        if self.gamma is not None:
            non_negative(gamma=self.gamma)
        if self.alphas is not None:
            if not self.alphas:
                raise ValueError("alphas must name at least one switching rate, got none")
            for alpha in self.alphas:
                between(0.0, 1.0, alphas=alpha)
        for time_ms, cost in zip(self.times_ms, self.energy_costs(), strict=True):
            if not 0.0 <= cost < math.inf:
                raise ValueError(f"energy must be finite and not negative, got {cost} at {time_ms} ms")

    @classmethod
    def thesis(cls, energy: str = "1/T") -> PollingConfig:
        """Return the parameters of thesis section 2.5.4 for one of its two energy terms."""
        return cls(energy=energy)

    def energy_costs(self) -> tuple[float, ...]:
        """Energy term of every expert."""
        term = ENERGY_TERMS[self.energy] if isinstance(self.energy, str) else self.energy
        return tuple(float(term(time_ms)) for time_ms in self.times_ms)

    def price(self) -> float:
        """The gamma in force."""
        if self.gamma is None:
            assert isinstance(self.energy, str)
            return GAMMAS[self.energy]
        return self.gamma


class PollingLearner:
    """Learn-alpha over polling times.

    >>> learner = PollingLearner()
    >>> learner.mean_ms, beacons(learner.mean_ms)
    (650.0, 7)
    >>> learner.poll(slept_ms=700.0, buffered_bytes=20_000) < 650.0
    True
    """

    __slots__ = ("_arrays", "_experts", "_head", "_learner", "config", "loss_of", "mean_ms")

    def __init__(self, config: PollingConfig | None = None, loss: Loss | None = None) -> None:
        """Begin; `loss`, instead of (2.35), is ``loss(slept_s, bytes, times_s)``, of (n,) times (n,) numbers >= 0."""
        if not isinstance(config, PollingConfig | None):
            raise TypeError(f"config must be a PollingConfig, got {shown(config)}")
        self.config = PollingConfig() if config is None else config
        if loss is not None and not callable(loss):
            raise TypeError(f"loss must be a function of slept_s, bytes and times_s, got {shown(loss)}")
        if loss is not None and (self.config.gamma is not None or self.config.energy != "1/T"):
            raise ValueError("energy and gamma must be left out beside a loss of one's own, which has none of them")
        self.loss_of = loss
        times = np.array(self.config.times_ms)
        alphas = self.config.alphas
        self._learner = LearnAlpha(times.size, alpha_grid(horizon=HORIZON) if alphas is None else alphas)
        self._experts = np.zeros((4, times.size))
        self._experts[LATENCY] = 0.5 * self.config.price() * times**2
        self._experts[ENERGY] = self.config.energy_costs()
        self._experts[TIME] = times
        self._arrays = (*self._learner.arrays(), self._experts)
        self._head = self._arrays[3]
        self.mean_ms = float(times.mean())

    def poll(self, slept_ms: float, buffered_bytes: float) -> float:
        """Learn from one poll and return the next mean polling time, ms: equations (2.35), (2.2)-(2.8), (2.32).

        `slept_ms` is the nominal time slept before it, positive, `buffered_bytes` what was found waiting, not negative.

        Raises
        ------
        ValueError
            If an argument is outside its range; the learner is unchanged then.
        """
        if type(slept_ms) is not float or type(buffered_bytes) is not float:
            slept_ms, buffered_bytes = number("slept_ms", slept_ms), number("buffered_bytes", buffered_bytes)
        if self.loss_of is not None and slept_ms > 0.0 and 0.0 <= buffered_bytes < math.inf:
            mean_ms = self._own_round(self.loss_of, slept_ms, buffered_bytes)
        else:
            mean_ms = polling_round(slept_ms, buffered_bytes, *self._arrays)
        if not mean_ms > 0.0:
            raise ValueError(
                "slept_ms must be positive and buffered_bytes not negative, both finite, "
                f"got {slept_ms} and {buffered_bytes}"
            )
        self.mean_ms = mean_ms
        return mean_ms

    def _own_round(self, loss_of: Loss, slept_ms: float, buffered_bytes: float) -> float:
        times_ms = self._experts[TIME]
        losses = array("loss", loss_of(1e-3 * slept_ms, buffered_bytes, 1e-3 * times_ms))
        if losses.shape != times_ms.shape or not ((losses >= 0.0) & (losses < np.inf)).all():
            rule = f"loss must return {times_ms.size} finite numbers of at least 0, one for each time"
            raise ValueError(f"{rule}, got {shown(losses)}")
        self._experts[LOSS] = losses
        return float(share.learn_alpha_mean_round(times_ms, self._experts[LOSS], *self._learner.arrays()))

    @property
    def loss(self) -> float:
        """Mixture loss (2.8) of the last poll, nats; 0 before any."""
        return float(self._head[share.LOSS])

    @property
    def losses(self) -> Floats:
        """Losses of the experts in the last poll, equation (2.35), shape (n,)."""
        return np.array(self._experts[LOSS])

    @property
    def weights(self) -> Floats:
        """Weights over the polling times for the next sleep, shape (n,)."""
        return self._learner.weights

    @property
    def alphas(self) -> Floats:
        """The switching rates, shape (m,)."""
        return self._learner.alphas

    @property
    def alpha_weights(self) -> Floats:
        """Weights of the switching rates, shape (m,)."""
        return self._learner.alpha_weights

    def arrays(self) -> tuple[Floats, ...]:
        """The live state, in the order `polling_round` takes it after its two scalars."""
        return self._arrays


@checked
def beacons(time_ms: float, interval_ms: float = BEACON_MS) -> int:
    """Nearest whole number of beacon intervals, halves up, at least one."""
    non_negative(time_ms=time_ms)
    positive(interval_ms=interval_ms)
    return max(1, math.floor(time_ms / interval_ms + (0.5 + 1e-9)))


@compiled
def polling_round(
    slept_ms: float, buffered_bytes: float, weights: Floats, columns: Floats, slow: Floats, head: Floats, work: Floats,
    experts: Floats,
) -> float:  # fmt: skip
    """One poll on the arrays of `share` and `experts` (4, n): latency price, energy term, time, loss.

    Returns the mean polling time for the next sleep, ms; the mixture loss is left in
    ``head[share.LOSS]``.  Illegal arguments give NaN and change nothing.
    """
    if not (slept_ms > 0.0 and slept_ms < np.inf and buffered_bytes >= 0.0 and buffered_bytes < np.inf):
        return np.nan
    pressure = buffered_bytes / slept_ms
    losses = experts[LOSS]
    for i in range(losses.size):
        losses[i] = experts[LATENCY, i] * pressure + experts[ENERGY, i]
    return share.learn_alpha_mean_round(experts[TIME], losses, weights, columns, slow, head, work)


@compiled
def learn_at_beacons(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """The rule of LPSM: learn at a beacon; sleep for the beacons last decided.

    The integers are the time between beacons, the beacons of the next sleep, and the shape of the learner's arrays; the
    numbers the mean polling time, milliseconds, and the arrays that `polling_round` takes, one behind another.
    """
    interval = ints[INTERVAL]
    if view.at_beacon:
        n, m, s = ints[N_EXPERTS], ints[N_RATES], ints[N_SLOW]
        learner, experts = learner_at(floats, 1, n, m, s), block(floats, 1 + room_of_learner(n, m, s), (4, n))
        interval_ms = interval / 1e6
        # T_t is the nominal sleep, also when it was cut short by a send
        floats[0] = polling_round(ints[BEACONS] * interval_ms, float(view.buffered_bytes), *learner, experts)
        ints[BEACONS] = max(1, int(floats[0] / interval_ms + (0.5 + 1e-9)))  # the nearest number, halves up
    return Plan(view.now_ns, (view.now_ns // interval + ints[BEACONS]) * interval, False, 0, False)


@compiled
def learn_at_polls(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """The same where it may really poll: learn at a poll from what it brought; while waiting ask again as decided.

    The numbers are those of `learn_at_beacons`.  Bytes are those that came in since the client fell asleep.
    """
    now, account = view.now_ns, ints[ACCOUNT:].view(outstanding.ACCOUNT)[0]
    if 0 <= ints[DUE] <= now:
        n, m, s = ints[N_EXPERTS], ints[N_RATES], ints[N_SLOW]
        learner, experts = learner_at(floats, 1, n, m, s), block(floats, 1 + room_of_learner(n, m, s), (4, n))
        floats[0] = polling_round(1e-6 * ints[SLEEP_NS], 1.0 * ints[FOUND], *learner, experts)
        ints[SLEEP_NS], ints[DUE] = int(1e6 * floats[0]), -1
    ints[FOUND] = 0
    if not account.n:
        ints[DUE] = -1
        return nap(now, ints[INTERVAL])
    if ints[DUE] < 0:
        ints[DUE] = now + ints[SLEEP_NS]
    return Plan(now, ints[DUE], True, ASK + 0 * now, False)


@compiled
def note_bytes(frame: FlatFrame, ints: Ints, floats: Floats) -> None:
    """Enter a frame into the account, and count what comes in."""
    outstanding.observe(ints[ACCOUNT:].view(outstanding.ACCOUNT)[0], frame, False)
    if not frame.sent:
        ints[FOUND] += frame.size_bytes


def form_with_polls(learner: PollingLearner, beacon_interval_ns: int) -> CompiledForm:
    """Return the rule of a learner of polling times in place of sleeps between beacons, with what it knows."""
    weights, _, slow, *_ = learner.arrays()
    account = np.zeros(1, dtype=outstanding.ACCOUNT)
    outstanding.open_account(account, host_aware=True)
    head = beacon_interval_ns, round(1e6 * learner.mean_ms), *weights.shape, len(slow), 0, -1
    ints, floats = np.concatenate([head, account.view(np.int64)]), [learner.mean_ms, *joined(learner.arrays())]
    return CompiledForm(learn_at_polls, note_bytes, ints=ints, floats=floats)
