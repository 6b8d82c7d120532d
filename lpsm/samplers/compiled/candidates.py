"""A stream before many copies of one sampler that differ in one parameter, compiled: the rounds of `TunedSampler.run`.

What it models: the two halves of every copy's round (`stream`), their vote under the weights of a mixture, one coin for
all, and the cost that is handed to the mixture; `vote` and `charge` are also those of single rounds.
What it leaves out: copies that store instances, whose arrays grow (kernel forms, the budget Perceptron); labels that
come late.  Source: `lpsm.samplers.tuned`.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.experts.arithmetic import dot
from lpsm.experts.share import learn_alpha_round, mixture
from lpsm.samplers.compiled.stream import Outcome, Stream, close_round, open_round
from lpsm.samplers.layout import Plan, State, Work

__all__ = ["Trial", "charge", "run_candidates", "stacked", "vote"]

Array = NDArray[Any]

FIELDS = ("step", "ridge", "drift", "theta", "floor", "gamma", "offset", "degree")
"""Fields of a plan that may differ between copies, in the order of the columns of `numbers`."""


class Trial(NamedTuple):
    """What the copies share, beside their stream."""

    numbers: Array  # (m, len(FIELDS)) the parameters of each copy
    floors: Array  # (m, T) rho_t of the adaptive sampler, or (m, 0)
    biases: Array  # (m, T) or (m, 0)
    randomized: bool
    price: float  # of a label, in mistakes
    exploration: float  # least probability of asking


def stacked(parts: Any) -> Any:
    """Return named tuples of arrays, of equal shapes, as one whose arrays have a first axis more."""
    return type(parts[0])(*(np.stack(arrays) for arrays in zip(*parts, strict=True)))


@compiled
def vote(weights: Array, predictions: Array, chances: Array, exploration: float) -> tuple[float, float]:
    """The weighted vote, in [-1, 1], and the probability of asking."""
    margin = min(max(dot(weights, predictions, weights.size), -1.0), 1.0)
    wanted = min(max(dot(weights, chances, weights.size), chances.min()), chances.max())
    return margin, (1.0 - exploration) * wanted + exploration


@compiled
def charge(weights: Array, costs: Array, squares: float) -> float:
    """Turn a round's costs into losses, in place, at the present rate; return the weighted squares so far."""
    rate = min(1.0, sqrt(log(costs.size) / (1.0 + squares)))
    lowest = costs.min()
    for j in range(costs.size):
        squares += weights[j] * (costs[j] - lowest) ** 2
        costs[j] *= rate
    return squares


@compiled
def copy_plan(plan: Plan, numbers: Array) -> Plan:
    """The plan of a copy."""
    return Plan(
        plan.learner, plan.rule, plan.form, plan.includes_instance, plan.stores_all, plan.hinge, plan.normalize,
        plan.mistake_driven, plan.adaptive, numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5],
        numbers[6], numbers[7], plan.most,
    )  # fmt: skip


@compiled
def copy_state(states: State, j: int) -> State:
    """The state of a copy."""
    return State(
        states.counts[j], states.scalars[j], states.weights[j], states.matrix[j], states.waiting[j], states.anchors[j],
        states.target[j], states.rows[j], states.columns[j], states.lengths[j], states.squares[j], states.labels[j],
    )  # fmt: skip


@compiled
def run_candidates(
    plan: Plan, states: State, works: Work, world: Stream, sparse: bool, trial: Trial, weights: Array, columns: Array,
    slow: Array, head: Array, work: Array, squares: float, out: Outcome,
) -> float:  # fmt: skip
    """Run all rounds; from `weights` to `work` are the mixture's arrays.  Return the weighted squares so far."""
    m = trial.numbers.shape[0]
    share, predictions, chances, costs = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    products, asks = np.empty((m, 4)), np.empty(m, dtype=np.bool_)
    scheduled, floor, bias = trial.floors.shape[1] > 0, 0.0, 0.0
    begin, n, at = 0, world.dense.shape[1], world.columns
    for t in range(len(world.labels)):
        if sparse:
            begin = world.starts[t]
            n = world.starts[t + 1] - begin
            values, at = world.values[begin : begin + n], world.columns[begin : begin + n]
        else:
            values = world.dense[t]
        u = world.uniforms[t]
        first = 0.0
        for j in range(m):
            if scheduled:
                floor, bias = trial.floors[j, t], trial.biases[j, t]
            square, norm2, p, r, margin, predictions[j], asks[j], chances[j] = open_round(
                copy_plan(plan, trial.numbers[j]), copy_state(states, j), copy_work(works, j), values, at, sparse,
                u if trial.randomized else 0.0, floor, bias,
            )  # fmt: skip
            products[j, 0], products[j, 1], products[j, 2], products[j, 3] = square, norm2, p, r
            first = margin if j == 0 else first
        mixture(weights, columns, slow, head, share)
        margin, chance = vote(share, predictions, chances, trial.exploration)
        margin = first if m == 1 else margin
        query = u < chance
        y = world.labels[t]
        for j in range(m):
            costs[j] = trial.price * chances[j]
        if query:
            for j in range(m):
                costs[j] += (1.0 if predictions[j] != y else 0.0) / chance
                if asks[j] and close_round(
                    copy_plan(plan, trial.numbers[j]), copy_state(states, j), copy_work(works, j), n, sparse,
                    products[j, 0], products[j, 1], products[j, 2], products[j, 3], products[j, 2], y, 0.0,
                ):  # fmt: skip
                    out.stored[t] = True
        if m > 1:
            squares = charge(share, costs, squares)
            learn_alpha_round(costs, weights, columns, slow, head, work)
        out.margin[t], out.prediction[t], out.queried[t] = margin, (1 if margin >= 0.0 else -1), query
    return squares


@compiled
def copy_work(works: Work, j: int) -> Work:
    """The work space of a copy."""
    return Work(works.x[j], works.columns[j], works.g[j], works.similarities[j], works.scatter[j])
