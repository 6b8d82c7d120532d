"""When to ask, compiled: the probability of the question, what it entitles to, what the answer changes.

What it models: every rule of the five papers as one number, the probability with which
the round's coin u asks (0 or 1 for deterministic rules), as a function of p and r.
That number never decreases in r: the margin p/(1+r) shrinks towards zero, bbq's
r/(1+r) grows.  Since 0 <= r <= k(x,x) (1/b + k/c), two evaluations often settle the
question without r, that is without touching the matrix.
What it leaves out: ranges of parameters (`rules`), the margins (`rounds`).
Sources: Cesa-Bianchi et al. 2004 (W) figures 1, 2; Cavallanti et al. 2010 (A) figures
1, 2, 12, sections 3.1, 3.2, 6.3; Moroshko and Crammer 2014 (D) section 5; Monteleoni
2006 (T) figures 3-4, 4-3.
"""

from __future__ import annotations

from math import inf, isinf, log, sqrt
from typing import Any

from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.samplers.layout import (
    ADAPTIVE_COIN,
    ADAPTIVE_SAMPLER,
    ALWAYS,
    APPLE_TASTING,
    ASKED,
    COIN,
    DUE,
    FALSE_POSITIVES,
    FILTER,
    FIXED_COIN,
    HALVING,
    LABEL_EFFICIENT_FILTER,
    LARGEST_SQUARE,
    MODIFIED,
    NEXT_LABEL,
    READY,
    ROUND,
    SCHEDULED,
    SECOND_ORDER_COIN,
    SMALL_MARGIN,
    STORED,
    STREAK,
    THRESHOLD,
    VARIANCE,
    Plan,
)

__all__ = ["examine", "grant", "margin", "prediction", "probability", "settle"]

Array = NDArray[Any]

NO, YES, OPEN = range(3)
SLACK = 1.0 + 1e-9  # above the rounding of r, so that the upper end of its range is safe


@compiled
def margin(plan: Plan, p: float, r: float) -> float:
    """p/(1+r) where the learner counts the current instance, p elsewhere."""
    return p / (1.0 + r) if plan.includes_instance else p


@compiled
def coin(parameter: float, q: float) -> float:
    """parameter/(parameter + q), 1 at an infinite parameter."""
    return 1.0 if isinf(parameter) else parameter / (parameter + q)


@compiled
def squared_width(plan: Plan, counts: Array) -> float:
    """K ln t / N, or 128 ln t / (lambda N) of A figure 12; infinite as long as nothing is stored."""
    stored = counts[STORED]
    if stored == 0 or isinf(plan.theta):
        return inf
    log_t = log(float(counts[ROUND]))
    if plan.rule == ADAPTIVE_SAMPLER:
        return float(128.0 * log_t / (plan.theta * stored))
    return float(plan.theta * log_t / stored)


@compiled
def probability(plan: Plan, counts: Array, scalars: Array, p: float, r: float, norm2: float, bias: float) -> float:
    """Probability that the coin of this round asks; `bias` is that of the adaptive sampler's coin."""
    rule = plan.rule
    m = margin(plan, p, r)
    if rule == ALWAYS:
        return 1.0
    if rule == FIXED_COIN:
        return plan.theta
    if rule in (COIN, SECOND_ORDER_COIN):
        parameter = plan.theta
        if plan.adaptive:  # W's journal version: b_t = beta X_t^2 sqrt(1 + K_t)
            parameter *= max(norm2, scalars[LARGEST_SQUARE]) * sqrt(1.0 + counts[STORED])
            if parameter == 0.0:
                return 1.0  # only zero instances so far: the margin is 0 as well
        if rule == COIN:
            return coin(parameter, abs(m))
        # |m| + m^2 (1 + r)/2 with m = p/(1+r)
        return coin(parameter, (abs(p) + 0.5 * p * p) / (1.0 + r))
    if rule in (SMALL_MARGIN, NEXT_LABEL):
        width = squared_width(plan, counts)
        return 1.0 if isinf(width) or m * m <= norm2 * width else 0.0
    if rule == ADAPTIVE_SAMPLER:
        return 1.0 if m * m <= squared_width(plan, counts) else 0.0
    if rule == ADAPTIVE_COIN:
        return bias
    if rule == VARIANCE:  # x'(A + x x')^-1 x > t^-kappa
        return 1.0 if r / (1.0 + r) > float(counts[ROUND]) ** -plan.theta else 0.0
    if rule == HALVING:
        return 1.0 if abs(m) <= scalars[THRESHOLD] else 0.0
    if rule == FILTER:
        width = squared_width(plan, counts)
        return 1.0 if isinf(width) or m + sqrt(norm2) * sqrt(width) >= 0.0 else 0.0
    if p >= 0.0:  # the filters that forward whatever looks positive
        return 1.0
    if rule == APPLE_TASTING:
        return min(1.0, sqrt((1.0 + counts[FALSE_POSITIVES]) / counts[ROUND]))
    return coin(plan.theta, abs(m))  # LABEL_EFFICIENT_FILTER


@compiled
def examine(
    plan: Plan, counts: Array, scalars: Array, p: float, norm2: float, u: float, bias: float, lazy: bool
) -> tuple[int, float]:
    """Say from p alone whether the coin asks: NO, YES, or OPEN if that, or an exact margin, needs r.

    Also returns the probability; if `lazy`, a bound on the same side of u as the true one.
    """
    if plan.learner == MODIFIED and counts[READY] == 0:
        return YES, 1.0  # v = 0 would never move: the first example is bought
    chance = probability(plan, counts, scalars, p, 0.0, norm2, bias)
    asks = YES if u < chance else NO
    if not plan.includes_instance:
        return asks, chance
    if not lazy:
        return OPEN, chance
    if asks == YES:
        return YES, chance
    bound = norm2 * (plan.ridge + counts[STORED] * plan.drift) * SLACK
    chance = probability(plan, counts, scalars, p, bound, norm2, bias)
    return (NO if u >= chance else OPEN), chance


@compiled
def grant(plan: Plan, counts: Array, chance: float, signal: bool, floor: float) -> tuple[bool, float]:
    """Turn the coin of this round into a question now or about the next label.

    `floor` is rho_t of the adaptive sampler.  Returns whether this label is asked for
    and with which probability it was going to be.
    """
    if plan.rule == NEXT_LABEL:
        query = counts[SCHEDULED] == 1
        counts[SCHEDULED] = 1 if signal else 0
        chance = 1.0 if query else 0.0
    elif plan.rule == ADAPTIVE_SAMPLER or plan.rule == ADAPTIVE_COIN:
        transient = counts[STORED] <= floor  # N is tested before it is incremented
        due = transient or counts[SCHEDULED] == 1
        signal = signal and not transient
        counts[DUE] = (1 if due else 0) + (2 if signal else 0)
        counts[SCHEDULED] = 1 if signal and not plan.mistake_driven else 0
        query = due or (signal and plan.mistake_driven)
        if due or not plan.mistake_driven:
            chance = 1.0 if due else 0.0
        elif transient:
            chance = 0.0
    else:
        query = signal
    if query:
        counts[ASKED] += 1
    return query, chance


@compiled
def prediction(plan: Plan, p: float, query: bool) -> int:
    """SGN of the margin, SGN(0) = +1; a filter predicts +1 on what it forwards and -1 on the rest."""
    if plan.rule == FILTER or plan.rule == APPLE_TASTING or plan.rule == LABEL_EFFICIENT_FILTER:
        return 1 if query else -1
    return 1 if p >= 0.0 else -1


@compiled
def settle(plan: Plan, counts: Array, scalars: Array, p: float, y: float) -> bool:
    """Take the label that was asked for into the rule's counters; return whether the example is stored."""
    wrong = (p >= 0.0) != (y > 0.0)
    if plan.learner == MODIFIED and counts[READY] == 0:
        return True  # the example that initialises v; no prediction of v is judged by it
    if plan.rule == HALVING:
        counts[STREAK] = 0 if wrong else counts[STREAK] + 1
        # Deviation: T figure 3-4, read literally, halves at every correct label past the R-th; 4-3 resets
        if counts[STREAK] >= plan.theta:
            scalars[THRESHOLD] *= 0.5
            counts[STREAK] = 0
    elif plan.rule == APPLE_TASTING:
        if y < 0.0:
            counts[FALSE_POSITIVES] += 1
    elif plan.rule == ADAPTIVE_SAMPLER or plan.rule == ADAPTIVE_COIN:
        if plan.mistake_driven and counts[DUE] >= 2 and wrong:
            counts[SCHEDULED] = 1
        return bool(counts[DUE] % 2 == 1)
    return plan.stores_all or wrong
