"""LPSM2: learn from exact losses when to be awake while an answer is awaited.

The client's time is cut into episodes (`netsim.sleep_planning.schedules`).  Each belongs to a context, by what
is outstanding, and each context has a Learn-alpha of its own over sleep schedules:

* S: a connection is being opened; T: a reply is coming in;
* W1 .. W4: so many requests are waiting and no reply is coming in (4: or more);
* I: nothing is outstanding.

When an episode is over, every schedule is charged what it would have cost: energy, and the delay it would have caused,
times a price lambda, over the number of requests waiting.  The price is found by dual ascent, so that what the user
states is a slowdown.  The schedule of largest weight is followed.  In W the schedules' time runs from the oldest
request that is waiting, so that a frame for something else does not make a long wait look young.

A frame that waited came between two instants that a device knows; it is taken to have come when it is expected to,
given how long episodes of that context last (`netsim.sleep_planning.hazards`).

`lpsm2` knows from the host what is outstanding; `lpsm2-link` infers it (`outstanding`).

With `Lpsm2Config(record=True)` a policy keeps one `Round` an episode; they are in `result.final_policy.record` then.

The learner is Monteleoni 2006, section 2.2.3; the rest is ours.
"""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpsm.arrays import Floats, Ints
from lpsm.checks import non_negative, positive
from lpsm.experts import LearnAlpha, alpha_grid
from lpsm.experts.tracking import MIXTURE
from lpsm.native.entries import INTS, Signature, entry_of
from netsim.policies import lpsm2_rule as rule
from netsim.policies import outstanding
from netsim.policies.compiled import CompiledForm, joined, put_back
from netsim.policies.entry import NS_PER_MS, Entry, name_with_target, with_targets
from netsim.policies.protocol import Frame, Plan, View
from netsim.radio import Radio, RadioConfig
from netsim.sleep_planning.schedules import N_FOUND, NEVER_NS, Schedule, standard_schedules, table, typical_costs

__all__ = ["CONTEXTS", "ENTRIES", "Lpsm2", "Lpsm2Config", "Round"]

CONTEXTS = ("S", "T", "W1", "W2", "W3", "W4", "I")
_PRIOR_EVENTS, _SHAPES = 0.1, (0.5,) * 6 + (1.0,)  # of how long episodes last, by context (`hazards`)
_PREPARE = entry_of(rule.prepare, Signature(None, (INTS,)))
_REFERENCE_SLOWDOWN = 0.05
_REFERENCE_PUSH_DELAY_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Lpsm2Config:
    """Every constant of LPSM2."""

    max_slowdown: float = 1.05  #: what the user asks for: mean latency over that without power saving, above 1
    #: if given, I has a price of its own, by which what comes unasked is delayed so much on average
    max_push_delay_s: float | None = None
    schedules: tuple[Schedule, ...] = field(default_factory=standard_schedules)  #: the experts
    rate_per_j: float = 1.0  #: nats a joule: how much faster than its excess cost an expert's logarithmic weight falls
    horizon: int = 1000  #: rounds for which the grid of switching rates is made
    #: Lambda at first, and its range, for a slowdown of 1.05: watts, joules for a second of delay.  For others they are
    #: in inverse proportion to the slowdown allowed.
    price_w: float = 6.0
    least_price_w: float = 2.0
    most_price_w: float = 60.0
    price_step: float = 3.0  #: by how much ln lambda moves for a second too much or too little
    #: Lambda in I, where it has a price of its own: at first, for a delay of 100 ms (for others in inverse proportion
    #: to its square, as what arrives without memory wants it), and its range
    push_price_w: float = 6.0
    least_push_price_w: float = 0.001
    most_push_price_w: float = 60.0
    #: by how much ln lambda moves there for every `max_push_delay_s` too much or too little, and how many of these a
    #: delay counts for at most
    push_step: float = 0.1
    most_push_delays: float = 6.0
    longest_response_s: float = 10.0  #: a longer wait allows no more delay than this one
    shortest_s: float = 1e-6  #: shorter episodes are no rounds: the share steps of many would wash out the weights
    #: every context but I starts with one round: the mean cost over waits so long, at 10 phases of the beacon
    prior_ms: tuple[float, ...] = (25.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1600.0)
    #: I starts with one round of such silence, or, where it has a price of its own, of a wait so long
    idle_prior_s: float = 10.0
    push_prior_s: float = 30.0
    silence_s: float = 10.0  #: after so long without a frame, `lpsm2-link` takes nothing to be outstanding
    #: if given, the schedule followed in every context, by number in the order of the contexts; nothing is learned
    fixed: tuple[int, ...] | None = None
    record: bool = False  #: whether to keep every round

    def __post_init__(self) -> None:
        if not 1.0 < self.max_slowdown < math.inf:
            raise ValueError(f"max_slowdown must be a number above 1, got {self.max_slowdown}")
        names = ("rate_per_j", "price_step", "longest_response_s", "silence_s", "least_price_w", "push_step",
                 "least_push_price_w", "most_push_delays", "idle_prior_s", "push_prior_s")  # fmt: skip
        positive(**{name: getattr(self, name) for name in names})
        if self.max_push_delay_s is not None:
            positive(max_push_delay_s=self.max_push_delay_s)
        non_negative(shortest_s=self.shortest_s)
        for kind in ("price_w", "push_price_w"):
            least, price, most = (getattr(self, name) for name in (f"least_{kind}", kind, f"most_{kind}"))
            if not least <= price <= most < math.inf:
                raise ValueError(f"least_{kind} <= {kind} <= most_{kind} must hold, got {least}, {price}, {most}")
        if self.fixed is not None and not set(self.fixed) <= set(range(len(self.schedules))):
            raise ValueError(f"fixed must name schedules from 0 to {len(self.schedules) - 1}, got {self.fixed}")
        if not self.prior_ms or min(self.prior_ms) <= 0.0:
            raise ValueError(f"prior_ms must name waits above 0, got {self.prior_ms}")


class Round(NamedTuple):
    """An episode that was learned from."""

    context: str  #: its context
    #: the episode
    start_ns: int
    end_ns: int
    arrived: bool  #: whether a frame ended it
    waiting: int  #: what its delay was divided by
    price_w: float  #: Lambda, watts
    chosen: int  #: the schedule followed
    costs: Floats  #: shape (n,): what every schedule would have cost, joules
    #: shape (n,): what they are made of
    awake_ns: Ints
    beacons: Ints
    wakeups: Ints
    delay_ns: Ints


class Lpsm2:
    """The policies `lpsm2` (host-aware) and `lpsm2-link`.

    Parameters
    ----------
    config : Lpsm2Config, optional
        Constants.
    host_aware : bool
        Whether the host tells what is outstanding; otherwise it is inferred.
    radio : Radio, optional
        What being awake and beacons cost.
    beacon_interval_ns : int
        Time between beacons.
    spec : str, optional
        The name that results carry, if other than the kind and the slowdown.

    Attributes
    ----------
    record : list of Round
        Empty unless the configuration says to keep it.
    """

    def __init__(
        self,
        config: Lpsm2Config | None = None,
        *,
        host_aware: bool = True,
        radio: Radio | None = None,
        beacon_interval_ns: int = 100 * NS_PER_MS,
        spec: str | None = None,
    ) -> None:
        self.config = config = Lpsm2Config() if config is None else config
        self.host_aware = host_aware
        kind = "lpsm2" if host_aware else "lpsm2-link"
        self.spec = spec or name_with_target(kind, config.max_slowdown, config.max_push_delay_s)
        self.record: list[Round] = []
        radio = RadioConfig() if radio is None else radio
        watts = (radio.awake_mw - radio.asleep_mw, radio.beacon_mj, radio.wakeup_j)
        self._learners = deepcopy(_fresh_learners(config, beacon_interval_ns, watts))
        self._rule = _fresh(config, host_aware, watts, beacon_interval_ns, self._learners)

    # -- what the station calls

    def observe(self, frame: Frame) -> None:
        """Enter a frame into the account, and end the episode if it is one that came."""
        self._rule.observe(frame)
        self._keep_round()

    def plan(self, view: View) -> Plan:
        """Begin an episode when it could sleep, go on with its schedule at a beacon that brings nothing."""
        plan = self._rule.plan(view)
        self._keep_round()
        return plan

    @property
    def compiled(self) -> CompiledForm | None:
        """The rule with its state; None where rounds are recorded, for which the rule must be watched."""
        return None if self.config.record else self._rule

    # -- what it has come to

    @property
    def memory(self) -> NDArray[np.void]:
        """What it knows beside the learners, live: an array of `netsim.policies.lpsm2_rule.STATE` of shape (1,)."""
        return self._rule.ints[: rule.SIZE].view(rule.STATE)

    @property
    def prices_w(self) -> list[float]:
        """Lambda, outside I and in I; watts."""
        return [float(self.memory[0][name]) for name in ("price_w", "push_price_w")]

    @property
    def learners(self) -> list[LearnAlpha]:
        """The learners as they are now, one a context."""
        numbers = self._rule.floats[3 * len(self.config.schedules) :]
        put_back(numbers, [part for learner in self._learners for part in learner.arrays()])
        return self._learners

    def _keep_round(self) -> None:
        """Keep the round that the rule has played, if it has played one and rounds are kept."""
        s, n = self.memory[0], len(self.config.schedules)
        if not self.config.record or s["rounds"] == len(self.record):
            return
        start, end, waiting, chosen = (int(s[f"last_{name}"]) for name in ("start_ns", "end_ns", "waiting", "chosen"))
        episode = (CONTEXTS[s["last_context"]], start, end, bool(s["last_arrived"]), waiting, float(s["last_price_w"]))
        costs, found = self._rule.floats[:n].copy(), self._rule.ints[-n * N_FOUND :].reshape(n, -1)
        self.record.append(Round(*episode, chosen, costs, *found.T.copy()))


def _prices(config: Lpsm2Config) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return lambda at first, outside I and in I, and its range outside I; watts."""
    scale = _REFERENCE_SLOWDOWN / (config.max_slowdown - 1.0)
    push_price_w = config.push_price_w
    if config.max_push_delay_s is not None:
        ratio = _REFERENCE_PUSH_DELAY_S / config.max_push_delay_s
        push_price_w *= ratio * ratio  # not a power, which overflows into an error
    push_price_w = min(max(push_price_w, config.least_push_price_w), config.most_push_price_w)
    return (config.price_w * scale, push_price_w), (config.least_price_w * scale, config.most_price_w * scale)


def _fresh(
    config: Lpsm2Config,
    host_aware: bool,
    watts: tuple[float, float, float],
    interval_ns: int,
    learners: list[LearnAlpha],
) -> CompiledForm:
    """Make the rule of a policy that has seen nothing but the first rounds."""
    rows = table(config.schedules, interval_ns)
    n = len(rows)
    weights, _, slow, *_ = learners[0].arrays()
    best = [_best(learner, n) for learner in learners] if config.fixed is None else config.fixed
    (price_w, push_price_w), (least_price_w, most_price_w) = _prices(config)
    constants: dict[str, object] = {
        "n_schedules": n, "n_rates": weights.shape[1], "n_slow": len(slow), "interval_ns": interval_ns,
        "shortest_ns": round(config.shortest_s * 1e9), "prices_push": config.max_push_delay_s is not None,
        "is_fixed": config.fixed is not None,
        "awake_mw": watts[0], "beacon_mj": watts[1], "wakeup_j": watts[2], "allowed": config.max_slowdown - 1.0,
        "least_price_w": least_price_w, "most_price_w": most_price_w, "push_delay_s": config.max_push_delay_s or 0.0,
        "price_w": price_w, "push_price_w": push_price_w, "context": rule.IDLE, "waiting": 1, "sent_ns": NEVER_NS,
        "best": best, "prior_events": _PRIOR_EVENTS, "shapes": _SHAPES,
    }  # fmt: skip
    state = np.zeros(1, dtype=rule.STATE)
    outstanding.fill(state, config, constants, host_aware=host_aware, silence_s=config.silence_s)
    ints = np.concatenate([state.view(np.int64), rows.ravel(), np.zeros(n * N_FOUND, dtype=np.int64)])
    _PREPARE(ints)
    floats = np.concatenate([np.zeros(3 * n), *(joined(learner.arrays()) for learner in learners)])
    return CompiledForm(rule.follow_schedule, rule.observe_frame, ints=ints, floats=floats)


@lru_cache(maxsize=64)
def _fresh_learners(config: Lpsm2Config, interval_ns: int, watts: tuple[float, float, float]) -> list[LearnAlpha]:
    """Return one learner a context, taught by the first round.

    They are found once for a world, which with frequent beacons takes longer than a short run; copy them.
    """
    rows = table(config.schedules, interval_ns)
    learners = [LearnAlpha(len(rows), alpha_grid(horizon=config.horizon)) for _ in CONTEXTS]
    waiting, idle = _typical_losses(config, rows, interval_ns, watts, _prices(config)[0])
    for learner, context in zip(learners, CONTEXTS, strict=True):
        learner.run((idle if context == "I" else waiting)[None])
    return learners


def _best(learner: LearnAlpha, n: int) -> int:
    MIXTURE(*learner.arrays()[:4], mixture := np.empty(n))
    return int(mixture.argmax())


def _typical_losses(
    config: Lpsm2Config, rows: Ints, interval_ns: int, watts: tuple[float, float, float], prices_w: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Losses in the waits to be expected before anything was seen, outside I and in I; nats."""
    pushed = config.max_push_delay_s is not None
    idle_ms = (config.push_prior_s if pushed else config.idle_prior_s) * 1e3
    losses = [
        typical_costs(rows, interval_ns, waits_ms, *watts, price_w, arrived=arrived)
        for waits_ms, price_w, arrived in ((config.prior_ms, prices_w[0], True), ((idle_ms,), prices_w[1], pushed))
    ]
    waiting, idle = ((costs - costs.min()) * config.rate_per_j for costs in losses)
    return waiting, idle


_HOST, _LINK = "lpsm2[:TARGET[:PUSH_MS]]", "lpsm2-link[:TARGET[:PUSH_MS]]"
_SOURCE = "ours, on Learn-alpha (Monteleoni 2006, section 2.2.3)"
ENTRIES = (
    Entry(_HOST, "host-aware: schedules learned from exact losses; slowdown TARGET (default 1.05)", _SOURCE,
        "lpsm2:1.05:100", partial(with_targets, Lpsm2, Lpsm2Config, _HOST), host_aware=True),
    Entry(_LINK, "link-only: the same, inferring from frame sizes what is outstanding", _SOURCE, "lpsm2-link:1.05",
        partial(with_targets, Lpsm2, Lpsm2Config, _LINK)),
)  # fmt: skip
