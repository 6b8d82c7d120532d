"""Losses of experts with properties known exactly, for checking what theorems say of learners.

What it models: five worlds over T rounds and n experts.  `iid` never changes, `piecewise` changes a given number of
times, `fast_switching` at a given rate, `drifting` a little in every round, and `adversarial` answers the learner
itself.  The property is built in, not estimated, and comes with the losses.
What it leaves out: losses that depend on earlier losses in other ways, heavy tails, and labelled streams (see
`lpsm.synthetic_streams`).
Source: ours; the adversary is the usual one of lower bounds (Herbster and Warmuth 1998 argue against the same kind of
learner).
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from lpsm.arrays import Floats, Ints, Mask
from lpsm.checks import between, checked, frozen, whole
from lpsm.experts.learner import Learner

__all__ = ["PROCESSES", "LossProcess", "adversarial", "drifting", "fast_switching", "iid", "piecewise"]
__dir__ = __all__.copy

PROCESSES = ("iid", "piecewise", "fast-switching", "drifting", "adversarial")


@frozen
class LossProcess:
    """Losses (T, n), nats, with what is known of them.

    `means` (T, n) are the expected losses, `best` (T,) the expert of least mean in each round
    (the first of several); an adversary's losses are their own means.
    """

    losses: Floats
    means: Floats
    best: Ints


@checked
def iid(rng: Generator, rounds: int, n_experts: int, *, scale: float = 1.0) -> LossProcess:
    """Exponential losses, independent, each expert with one mean: `scale` times a uniform number of (0, 1]."""
    _check(rounds, n_experts)
    means = scale * (1.0 - rng.random(n_experts))
    return _exponential(rng, np.tile(means, (rounds, 1)))


@checked
def piecewise(
    rng: Generator, rounds: int, n_experts: int, *, segments: int, scale: float = 1.0, quality: float = 0.1
) -> LossProcess:
    """Exactly `segments` segments, neighbours with different best experts (of mean `quality * scale`, else `scale`).

    Raises
    ------
    ValueError
        If `segments` lies outside [1, rounds], or exceeds 1 with a single expert.
    """
    _check(rounds, n_experts)
    between(1, rounds if n_experts > 1 else 1, segments=segments)
    switches = np.zeros(rounds, bool)
    switches[1 + rng.permutation(rounds - 1)[: segments - 1]] = True
    return _switching(rng, switches, n_experts, scale, quality)


@checked
def fast_switching(
    rng: Generator, rounds: int, n_experts: int, *, rate: float = 0.5, scale: float = 1.0, quality: float = 0.1
) -> LossProcess:
    """The best expert is a Markov chain that moves to another expert with probability `rate` after every round."""
    _check(rounds, n_experts)
    switches = rng.random(rounds) < rate
    switches[0] = False
    return _switching(rng, switches & (n_experts > 1), n_experts, scale, quality)


@checked
def drifting(rng: Generator, rounds: int, n_experts: int, *, step: float = 0.05, scale: float = 1.0) -> LossProcess:
    """Each mean walks in [0, scale] by exactly `step * scale` a round, up or down, reflected at both ends.

    Losses are uniform between 0 and twice the mean, so they stay within [0, 2 scale].
    """
    _check(rounds, n_experts)
    moves = step * rng.choice([-1.0, 1.0], size=(rounds, n_experts))
    moves[0] = rng.random(n_experts)
    unfolded = np.mod(np.cumsum(moves, axis=0), 2.0)  # a reflected walk is a folded one on a circle twice as long
    means = scale * np.minimum(unfolded, 2.0 - unfolded)
    return _process(2.0 * means * rng.random(means.shape), means)


@checked
def adversarial(learner: Learner, rounds: int, *, scale: float = 1.0) -> LossProcess:
    """In every round the expert the learner trusts most loses `scale`, the others nothing.

    The best expert loses at most rounds * scale / n (the losses are shared out among n), the
    learner at least -ln(1 - (1 - exp(-scale)) / n) a round.  `learner` has played all rounds afterwards.
    """
    n_experts = learner.weights.size
    _check(rounds, n_experts)
    losses = np.zeros((rounds, n_experts))
    for row in losses:
        row[learner.weights.argmax()] = scale
        learner.update(row)
    return _process(losses, losses)


def _switching(rng: Generator, switches: Mask, n_experts: int, scale: float, quality: float) -> LossProcess:
    """Exponential losses whose best expert moves to a uniformly drawn other one where `switches`."""
    steps = np.where(switches, rng.integers(1, max(n_experts, 2), switches.size), 0)
    best = (rng.integers(n_experts) + np.cumsum(steps)) % n_experts
    means = np.full((switches.size, n_experts), scale)
    means[np.arange(switches.size), best] = quality * scale
    return _exponential(rng, means)


def _exponential(rng: Generator, means: Floats) -> LossProcess:
    return _process(means * rng.exponential(size=means.shape), means)


def _process(losses: Floats, means: Floats) -> LossProcess:
    return LossProcess(losses=losses, means=means, best=means.argmin(axis=1))


def _check(rounds: int, n_experts: int) -> None:
    whole(1, None, rounds=rounds, n_experts=n_experts)
