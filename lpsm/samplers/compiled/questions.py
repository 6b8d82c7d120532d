"""When to ask, compiled: the probability of the question, what it entitles to, what the answer changes.

What it models: every rule as one number, the probability with which the round's coin u asks (0 or 1
for deterministic rules), as a function of p and r; each rule's own formula stands beside its record in
`algorithms`.  That number never decreases in r: the margin p/(1+r) shrinks towards zero, bbq's r/(1+r)
grows.  Since 0 <= r <= k(x,x) (1/b + k/c), two evaluations often settle the question without r, that is
without touching the matrix.
What it leaves out: ranges of parameters (`algorithms`), the products p and r (`rounds`).
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.samplers.algorithms.adaptive import adaptive_probability
from lpsm.samplers.algorithms.coins import coin_probability
from lpsm.samplers.algorithms.filters import filter_probability
from lpsm.samplers.algorithms.hinge import importance_probability
from lpsm.samplers.algorithms.thresholds import halving_probability, small_margin_probability, variance_probability
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
    IMPORTANCE,
    LABEL_EFFICIENT_FILTER,
    MODIFIED,
    NEXT_LABEL,
    READY,
    SCHEDULED,
    SECOND_ORDER_COIN,
    SMALL_MARGIN,
    STORED,
    STREAK,
    THRESHOLD,
    VARIANCE,
    WEIGHT,
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
def probability(plan: Plan, counts: Array, scalars: Array, p: float, r: float, norm2: float, bias: float) -> float:
    """Probability that the coin of this round asks; `bias` is that of the adaptive sampler's coin."""
    rule = plan.rule
    m = margin(plan, p, r)
    if rule == ALWAYS:
        return 1.0
    if rule == FIXED_COIN:
        return plan.theta
    if rule in (COIN, SECOND_ORDER_COIN):
        return coin_probability(plan, counts, scalars, p, r, m, norm2)
    if rule in (SMALL_MARGIN, NEXT_LABEL):
        return small_margin_probability(plan, counts, m, norm2)
    if rule == ADAPTIVE_SAMPLER:
        return adaptive_probability(plan, counts, m)
    if rule == ADAPTIVE_COIN:
        return bias
    if rule == VARIANCE:
        return variance_probability(plan, counts, r)
    if rule == HALVING:
        return halving_probability(scalars, m)
    if rule == IMPORTANCE:
        return importance_probability(plan, counts, p, r)
    return filter_probability(plan, counts, p, m, norm2)


@compiled
def examine(
    plan: Plan, counts: Array, scalars: Array, p: float, norm2: float, u: float, bias: float, lazy: bool
) -> tuple[int, float]:
    """Say from p alone whether the coin asks: NO, YES, or OPEN if that, or an exact margin, needs r.

    Also returns the probability; if `lazy`, a bound on the same side of u as the true one.
    """
    if plan.learner == MODIFIED and counts[READY] == 0:
        return YES, 1.0  # v = 0 would never move: the first example is bought
    if plan.rule == IMPORTANCE:  # it needs to know how far a label would move the margin
        return OPEN, 0.0
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
def grant(plan: Plan, counts: Array, scalars: Array, chance: float, signal: bool, floor: float) -> tuple[bool, float]:
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
        if plan.rule == IMPORTANCE:
            scalars[WEIGHT] = 1.0 / chance
    if counts[ASKED] >= plan.most:  # the budget is spent
        return False, 0.0
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
        if y < 0.0 and (p >= 0.0 or plan.theta > 0.0):  # theta: whether forced false positives count, too
            counts[FALSE_POSITIVES] += 1
    elif plan.rule == ADAPTIVE_SAMPLER or plan.rule == ADAPTIVE_COIN:
        if plan.mistake_driven and counts[DUE] >= 2 and wrong:
            counts[SCHEDULED] = 1
        return bool(counts[DUE] % 2 == 1)
    if plan.hinge:
        return y * p < 1.0
    return plan.stores_all or wrong
