"""Every constant of LPSM2, and switches that take its parts away; `netsim.policies.lpsm2` says what they are for."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from netsim.sleep_planning.schedules import Schedule, standard_schedules

__all__ = ["Lpsm2Config"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lpsm2Config:
    """Every constant of LPSM2, and switches that take its parts away.

    Attributes
    ----------
    max_slowdown : float
        What the user asks for: mean latency over that without power saving, above 1.
    max_push_delay_s : float or None
        If given, I has a price of its own, by which what comes unasked is delayed so much on average.
    schedules : tuple of Schedule
        The experts.
    rate_per_j : float
        Nats a joule: how much faster than its excess cost an expert's logarithmic weight falls.
    horizon : int
        Rounds for which the grid of switching rates is made.
    price_w, least_price_w, most_price_w : float
        Lambda at first, and its range, for a slowdown of 1.05: watts, joules for a second of delay.  For others they
        are in inverse proportion to the slowdown allowed.
    price_step : float
        By how much ln lambda moves for a second too much or too little.
    push_price_w, least_push_price_w, most_push_price_w : float
        Lambda in I, where it has a price of its own: at first, for a delay of 100 ms (for others in inverse proportion
        to its square, as what arrives without memory wants it), and its range.
    push_step, most_push_delays : float
        By how much ln lambda moves there for every `max_push_delay_s` too much or too little, and how many of these a
        delay counts for at most.
    longest_response_s : float
        A longer wait allows no more delay than this one.
    shortest_s : float
        Shorter episodes are no rounds: the share steps of many would wash out the weights.
    prior_ms : tuple of float
        Every context but I starts with one round: the mean cost over waits so long, at 10 phases of the beacon.
    idle_prior_s, push_prior_s : float
        I starts with one round of such silence, or, where it has a price of its own, of a wait so long.
    silence_s : float
        After so long without a frame, `lpsm2-link` takes nothing to be outstanding.
    contexts, clock, share_delay, prior, dual, learn_alpha : bool
        The parts: one learner a context, or a single one; the clock of W; delay over the requests waiting; the first
        rounds; dual ascent, or lambda as it is at first; Learn-alpha, or Static-expert.
    fixed : tuple of int or None
        If given, the schedule followed in every context, by number in the order of the contexts; nothing is learned.
    sample_seed : int or None
        If given, the schedule is drawn by weight at the start of every episode, in place of the largest.
    record : bool
        Whether to keep every round.
    """

    max_slowdown: float = 1.05
    max_push_delay_s: float | None = None
    schedules: tuple[Schedule, ...] = field(default_factory=standard_schedules)
    rate_per_j: float = 1.0
    horizon: int = 1000
    price_w: float = 6.0
    least_price_w: float = 2.0
    most_price_w: float = 60.0
    price_step: float = 3.0
    push_price_w: float = 6.0
    least_push_price_w: float = 0.001
    most_push_price_w: float = 60.0
    push_step: float = 0.1
    most_push_delays: float = 6.0
    longest_response_s: float = 10.0
    shortest_s: float = 1e-6
    prior_ms: tuple[float, ...] = (25.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1600.0)
    idle_prior_s: float = 10.0
    push_prior_s: float = 30.0
    silence_s: float = 10.0
    contexts: bool = True
    clock: bool = True
    share_delay: bool = True
    prior: bool = True
    dual: bool = True
    learn_alpha: bool = True
    fixed: tuple[int, ...] | None = None
    sample_seed: int | None = None
    record: bool = False

    def __post_init__(self) -> None:
        if not 1.0 < self.max_slowdown < math.inf:
            raise ValueError(f"max_slowdown must be a number above 1, got {self.max_slowdown}")
        positive = ["rate_per_j", "price_step", "longest_response_s", "silence_s", "least_price_w"]
        positive += ["push_step", "least_push_price_w", "most_push_delays", "idle_prior_s", "push_prior_s"]
        if self.max_push_delay_s is not None:
            positive.append("max_push_delay_s")
        for name in positive:
            if not 0.0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be above 0 and finite, got {getattr(self, name)}")
        if not 0.0 <= self.shortest_s < math.inf:
            raise ValueError(f"shortest_s must be at least 0 and finite, got {self.shortest_s}")
        for kind in ("price_w", "push_price_w"):
            least, price, most = (getattr(self, name) for name in (f"least_{kind}", kind, f"most_{kind}"))
            if not least <= price <= most < math.inf:
                raise ValueError(f"least_{kind} <= {kind} <= most_{kind} must hold, got {least}, {price}, {most}")
        if self.fixed is not None and not set(self.fixed) <= set(range(len(self.schedules))):
            raise ValueError(f"fixed must name schedules from 0 to {len(self.schedules) - 1}, got {self.fixed}")
        if not self.prior_ms or min(self.prior_ms) <= 0.0:
            raise ValueError(f"prior_ms must name waits above 0, got {self.prior_ms}")
