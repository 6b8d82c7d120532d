"""What learners and query rules are: records of parameters, and functions that the loop over rounds calls by address.

What it models: a learner is a named tuple of arrays and numbers, whose methods `score`, `variance`, `overlap` and
`update` play a round.  A query rule is the functions `chance`, `grants` and `answers`.  Each is compiled by itself, so
that the loop is compiled once, whatever the learner and the rule; what it gives them is a `Round`, or plain numbers.
What it leaves out: the learners (`perceptrons`, `least_squares`, `hinge`, `kernels`), the rules (`rules`), the loop
(`round`), and how compiled code calls by address (`native_calls`).
Source: the protocol of Cesa-Bianchi et al. 2004, section 2, and Cavallanti et al. 2010, section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any, NamedTuple, TypeAlias, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import DTypeLike

from lpsm.arrays import Array, Floats, Ints
from lpsm.checks import shown
from lpsm.native import compiled, is_plain
from lpsm.native.entries import FLOATS, INTS, Signature, entry_of
from lpsm.samplers.linear_algebra import Row

Line = Floats  # one axis, two, whole numbers, and those of instances: `round.example` knows these names
Square = Floats
Whole = Ints
Wholes = Ints
Values = Array
T = TypeVar("T")
Checks = Mapping[str, Callable[..., object]]
Code: TypeAlias = Any  # the address of machine code or of a record; in plain Python the function or the records
RuleFunction = Callable[[Floats, Ints, Floats, float, float, float, float, float], float]
"""Of the parameters, `counts`, `scalars` and five numbers, as `Rule` has them."""
RULE_FUNCTION = Signature(float, (FLOATS, INTS, FLOATS, *5 * (float,)))

# `counts`: rounds, examples stored, instances in memory, labels right in a row, false positives, whether the next label
# is wanted, whether an example has initialised the learner, what a question was due to, evictions, labels asked for,
# updates of the inverse that wait.
ROUND, STORED, SIZE, STREAK, FALSE_POSITIVES, SCHEDULED, READY, DUE, EVICTED, ASKED, PENDING = range(11)
N_COUNTS = 11
# `scalars`: a rule's threshold, the largest squared norm at an update, k(x, x) under a kernel given by a function, the
# weight of the label in question, and room for more.
THRESHOLD, LARGEST_SQUARE, SELF_SIMILARITY, WEIGHT = range(4)
N_SCALARS = 8

SMALLEST = float(np.finfo(np.float64).tiny)


class Round(NamedTuple):
    """What a method of a learner, or of an ensemble, is given of the round."""

    counts: Whole  # (N_COUNTS,)
    scalars: Line  # (N_SCALARS,)
    row: Row  # the instance x
    scores: Square  # w_c.x of each class c; for an ensemble the outcomes of its copies, and a row for its own
    s: int  # the row of the scores; for `overlap` the number of the update
    label: int  # the true class; 0 for two classes
    other: int  # the class of the largest score beside it
    square: float  # |x|^2
    norm2: float  # k(x, x), which is |x|^2 without a kernel
    p: float  # w.x
    r: float  # x'A^-1 x
    y: float  # -1 or +1; +1 of several classes; 0 for an ensemble that bought no label
    eviction: float  # uniform


@dataclass_transform(frozen_default=True, kw_only_default=True)
def parameters(kind: type[T]) -> type[T]:
    """Make a class a record of parameters: frozen and by keyword, each checked by the rule that `ranges` has for it."""
    for name, function in vars(kind).items():
        if isinstance(function, staticmethod):  # by this name its machine code is kept
            function.__func__.__qualname__ = f"{kind.__name__}.{name}"
    return dataclass(frozen=True, slots=True, kw_only=True)(kind)


def rule_function(function: RuleFunction) -> Any:
    """Make a function of a rule one of its record."""
    return staticmethod(function)


def checked_by(**checks: Callable[..., object]) -> Checks:
    """Say by which function of `lpsm.checks` each parameter is checked when a record is made."""
    return checks


def _check(record: Learner | Rule) -> None:
    for one in fields(record):  # type: ignore[arg-type]
        if isinstance(one.default, bool) and not isinstance(value := getattr(record, one.name), bool | np.bool_):
            raise ValueError(f"{one.name} must be True or False, got {shown(value)}")
    for name, check in record.ranges.items():
        check(**{getattr(record, "symbol", name.rstrip("_")): getattr(record, name)})


class Learner:
    """What learners are made of: a record of parameters, which knows its arrays before the first round.

    The arrays are a named tuple whose methods take one `Round`: `score` writes w_c.x of every class into the scores;
    `variance` returns r, with what `update` needs of it left in the arrays; `overlap` returns how much an update takes
    off the bound on r, or -1 if it is not remembered; `update` learns the example.
    """

    __slots__ = ()
    ranges = checked_by()
    takes_classes = False  # whether it has a form for several classes
    takes_kernels = True
    takes_weights = False  # whether a label may count more than another
    by_instances = False  # whether its only form is that over stored instances
    includes_instance = False  # whether the current instance is part of an inverse
    B: int = 0  # examples it stores at most, 0 for no limit
    recursion: Any = None  # of least squares 1/a, drift, and whether the current instance is in the inverse
    __post_init__ = _check

    def arrays(self, n_features: int, k: int, dtype: DTypeLike) -> NamedTuple:
        """Return the arrays that the loop works on, before the first round, for k classes."""
        raise NotImplementedError


_NOTHING: Any = None  # in the place of a function


class Rule:
    """What rules are made of: a record of parameters, and functions of numbers alone.

    Each takes the parameters in the order of the fields, `counts`, `scalars` and five numbers; None does nothing:
    `chance` of (p, r, margin, |x|^2, bias) is the probability of asking; `grants` of (chance, signal, floor, 0, 0) the
    probability after all; `answers` of (p, y, wrong, 0, 0) says 1 to store, 0 not to, and -1 as usual.
    """

    __slots__ = ()
    ranges = checked_by()
    randomized: Any = False  # whether it tosses a coin each round
    filters = False  # whether asking is predicting +1
    needs_variance = False  # whether the chance is not to be known without r
    chance = grants = answers = _NOTHING
    __post_init__ = _check

    def begin(self, counts: Ints, scalars: Floats) -> None:
        """Write down what it remembers before the first round."""

    def suits(self, learner: Learner) -> None:
        """Raise ValueError if it makes no sense with a learner."""

    def numbers(self) -> Floats:
        """Return its parameters in the order of its fields, NaN for what is no number."""
        values = (getattr(self, one.name) for one in fields(self))  # type: ignore[arg-type]
        return np.array([float(v) if isinstance(v, Real) else np.nan for v in values] or [0.0])


# -- compiled by themselves, called by address ----------------------------------------------------------------


def call(
    function: Code, rule: Floats, counts: Ints, scalars: Floats, a: float, b: float, c: float, d: float, e: float
) -> float:
    """Call a function of a rule."""
    return float(function(rule, counts, scalars, a, b, c, d, e))


def invoke(entry: Code, at: Code, j: int, now: Round) -> float:
    """Call a method of copy j of a learner, or of an ensemble, by its entry."""
    return float(entry(at[j], now) or 0.0)


def code_of(function: RuleFunction | None) -> Code:
    """Where the machine code of a function of a rule is, 0 for none; in plain Python the function itself."""
    return (function or 0) if function is None or is_plain() else entry_of(function, RULE_FUNCTION).address


class Similarity(NamedTuple):
    """A kernel in compiled code."""

    numbers: Line  # its parameters
    function: int  # of (x.z, |x|^2, |z|^2), as functions of rules are; 0 for x.z itself
    given: bool  # whether its values are written from outside


NO_KERNEL = Similarity(np.zeros(1), 0, False)


@compiled
def self_similarity(kernel: Similarity, counts: Ints, scalars: Floats, square: float) -> float:
    """k(x, x): the squared norm of the instance where the learner lives."""
    if kernel.given:
        return float(scalars[SELF_SIMILARITY])
    if kernel.function == 0:
        return square
    return float(call(kernel.function, kernel.numbers, counts, scalars, square, square, square, 0.0, 0.0))
