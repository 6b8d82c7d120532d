"""What a compiled round reads and writes: codes, counters, and the three records of arrays.

What it models: a sampler is a `Plan` (what it is, never changes), a `State` (what it
has learned) and a `Work` space (the round in progress: nothing in it outlives the
round).  All three are named tuples of plain arrays and numbers, so that the same
kernels serve one instance at a time and whole streams.  What it leaves out: the
algorithms, which are in `algorithms` and `compiled`.
Source: the notation of Cesa-Bianchi 2007, section 2, and of Moroshko and Crammer
2014, figure 1: A the regularised correlation matrix of the stored instances, w the
least-squares weights, v a Perceptron's.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

__all__ = ["Part", "Plan", "State", "Work"]

# Learners.  All but the fifth are first-order: one vector; the last two keep a number a feature beside it.
PERCEPTRON, MODIFIED, SHIFTING, BUDGET, SECOND_ORDER, DIAGONAL, ADAGRAD = range(7)

# Query rules.
ALWAYS, COIN, SECOND_ORDER_COIN, FIXED_COIN, SMALL_MARGIN, NEXT_LABEL = range(6)
ADAPTIVE_SAMPLER, ADAPTIVE_COIN, VARIANCE, HALVING, FILTER, APPLE_TASTING, LABEL_EFFICIENT_FILTER = range(6, 13)
IMPORTANCE = 13

RANDOMIZED = frozenset(
    (COIN, SECOND_ORDER_COIN, FIXED_COIN, ADAPTIVE_COIN, APPLE_TASTING, LABEL_EFFICIENT_FILTER, IMPORTANCE)
)  # rules that toss a coin each round

UNLIMITED = 2**62  # labels

# Forms: weights over features, or coefficients over stored instances under a kernel.
PRIMAL, LINEAR, RBF, POLYNOMIAL, GIVEN = range(5)

# Counters, `State.counts` (int64).
ROUND, STORED, SIZE, STREAK, FALSE_POSITIVES, SCHEDULED, READY, DUE, EVICTED, ASKED, PENDING = range(11)
N_COUNTS = 11

# Rank-one updates of a primal inverse that are applied in one pass over it, once there have been d/2.
BLOCK = 8
# Updates remembered for good, to bound r without the matrix.
ANCHORS = 32

# `State.scalars` (float64): the threshold s of the halving rule, the largest squared norm at an update,
# for a kernel given by a callable k(x, x) of the round in progress, and the weight of its label.
THRESHOLD, LARGEST_SQUARE, SELF_SIMILARITY, WEIGHT = range(4)
N_SCALARS = 4


class Part(Protocol):
    """A learner, a query rule or a kernel: a record of parameters that knows its fields of the plan."""

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""


class Plan(NamedTuple):
    """What the sampler is: codes and parameters; the meaning of `step` and `theta` goes with the code."""

    learner: int
    rule: int
    form: int
    includes_instance: bool  # margin p/(1+r) instead of p
    stores_all: bool  # every queried example, not only the queried mistakes
    hinge: bool  # the queried examples with y p < 1
    normalize: bool
    mistake_driven: bool  # adaptive sampler only: step 4' instead of 4
    adaptive: bool  # the coin's parameter is beta X^2 sqrt(1+K)
    step: float  # eta, the modified update's factor, the shifting Perceptron's lambda, or AROW's r
    ridge: float  # 1/a, 1/b for lasec
    drift: float  # 1/c, 0 without drift
    theta: float  # the rule's own parameter: b, C, rate, K, beta, kappa, lambda, R, c_0
    floor: float  # least probability of asking where labels are weighted
    gamma: float  # kernel: exp(-gamma |x-z|^2), (gamma x.z + offset)^degree
    offset: float
    degree: float
    most: int  # labels asked for at most


class State(NamedTuple):
    """What the sampler has learned; unused arrays are empty."""

    counts: NDArray[Any]  # (N_COUNTS,)
    scalars: NDArray[Any]  # (N_SCALARS,)
    weights: NDArray[Any]  # (d,) v or w; dual: (capacity,) coefficient of each stored instance
    matrix: NDArray[Any]  # primal: (d, d) A^-1 or M, (1, d) a number a feature; dual: (capacity,) twice: U, U'U = I + K
    waiting: NDArray[Any]  # primal: (about d/2, d) the h of the updates A^-1 -= h h' not yet applied to the matrix
    anchors: NDArray[Any]  # primal: (ANCHORS, d) the h of the first updates
    target: NDArray[Any]  # dual: (capacity,) U'^-1 y
    rows: NDArray[Any]  # stored instances: (capacity, d), or (capacity, width) values when sparse
    columns: NDArray[Any]  # (capacity, width) their columns when sparse
    lengths: NDArray[Any]  # (capacity,) their number of values
    squares: NDArray[Any]  # (capacity,) their squared norms
    labels: NDArray[Any]  # (capacity,) their labels


class Work(NamedTuple):
    """The round in progress."""

    x: NDArray[Any]  # (d,) the instance, or its values when sparse
    columns: NDArray[Any]  # (d,) the columns of the values when sparse
    g: NDArray[Any]  # primal: A^-1 x; dual: U'^-1 k
    similarities: NDArray[Any]  # dual: k(x_i, x)
    scatter: NDArray[Any]  # (d,) zeros between rounds
