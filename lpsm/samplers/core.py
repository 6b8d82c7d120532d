"""What learners and rules are, and the one loop that plays every round.

What it models: a learner is a named tuple of arrays and numbers, and its methods are the verbs of a round: `look`,
`spread`, `overlap`, `store`.  A query rule is the functions `chance`, `grants` and `answers`.  Both are compiled by
themselves and called by address, so that the loop is compiled once, whatever the learner and the rule.  `play` serves
single rounds and streams, late labels, margins that are only read, several classes (rows of weights over one memory)
and companies: copies of one sampler that decide together.

Work that cannot change a decision is left out where `LAZY` says so: the sign of the margin is that of p = w.x; the
probability of asking never falls as r = x'A^-1 x grows, and r has bounds that cost less than itself.

What it leaves out: the learners (`perceptrons`, `least_squares`, `hinge`, `kernels`), the rules (`rules`), checks.
Source: the protocol of Cesa-Bianchi et al. 2004, section 2, and Cavallanti et al. 2010, section 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from numbers import Real
from typing import Any, NamedTuple, TypeVar, dataclass_transform

import numpy as np

from lpsm.arithmetic import dot
from lpsm.arrays import Array
from lpsm.checks import shown
from lpsm.native import compiled, is_plain
from lpsm.samplers.linear_algebra import Row, row_of, scaled

Line = Array  # one axis, two, whole numbers, and those of instances: `example` knows these names
Square = Array
Whole = Array
Wholes = Array
Values = Array
T = TypeVar("T")

# `counts`: rounds, examples stored, instances in memory, labels right in a row, false positives, whether the next label
# is wanted, whether an example has initialised the learner, what a question was due to, evictions, labels asked for,
# updates of the inverse that wait.
ROUND, STORED, SIZE, STREAK, FALSE_POSITIVES, SCHEDULED, READY, DUE, EVICTED, ASKED, PENDING = range(11)
N_COUNTS = 11
# `scalars`: a rule's threshold, the largest squared norm at an update, k(x, x) under a kernel given by a function, the
# weight of the label in question, and room for more.
THRESHOLD, LARGEST_SQUARE, SELF_SIMILARITY, WEIGHT = range(4)
N_SCALARS = 8
# `limits`: r is at most |x|^2 times the first plus N times the second; values of an instance, and instances, that there
# is room for; labels asked for at most.
RIDGE, DRIFT, WIDTH, CAPACITY, MOST = range(5)
# `told`: what a round came to.  `SAID` is p, and `CAUSE` and `IMPORTANCE` are `DUE` and `WEIGHT` as they were in the
# round of a question.
MARGIN, PREDICTION, QUERY, KEPT, CHANCE, SAID, NORM2, SPREAD, CAUSE, IMPORTANCE = range(10)
N_SAID = 10
# `log`: the margin; 4 (prediction + 1), 2 if asked and 1 if stored; where the margin is p/(1+r), p and r; and where no
# work is left out, the probability of asking.
LOG_MARGIN, LOG_FLAGS, LOG_SAID, LOG_SPREAD, LOG_CHANCE, N_LOG = range(6)
# `orders`: rounds begin, and labels are asked for; labels that were asked for are learned; work that cannot change a
# decision is left out; but margins of rounds that ask are exact; the products of a round whose label comes are still
# there; rows are sparse; the first round, and the one before which to stop.
DECIDES, LEARNS, LAZY, CAREFUL, FRESH, SPARSE, FIRST, LAST = range(8)

UNLIMITED = 2**62  # labels, values and instances
SLACK = 1.0 + 1e-9  # above the rounding of r, so that the upper end of its range is safe
SMALLEST = float(np.finfo(np.float64).tiny)


class Now(NamedTuple):
    """What a verb is given of the round."""

    counts: Whole  # (N_COUNTS,)
    scalars: Line  # (N_SCALARS,)
    row: Row  # the instance x
    scores: Square  # w_c.x of each class c; for a company what the copies say, and a row for itself
    s: int  # the row of the scores; for `overlap` the number of the update
    label: int  # the true class; 0 for two classes
    other: int  # the class of the largest score beside it
    square: float  # |x|^2
    norm2: float  # k(x, x), which is |x|^2 without a kernel
    p: float  # w.x
    r: float  # x'A^-1 x
    y: float  # -1 or +1; +1 of several classes; 0 for a company that bought no label
    eviction: float  # uniform


class Desk(NamedTuple):
    """All that rounds need but the instances, of m copies of a sampler; a row a copy, and then one of the company."""

    size: int  # m
    at: Whole  # where the learners' records are, the entries of their verbs, and what is known of them all
    look: int
    spread: int
    overlap: int
    store: int
    inside: bool  # whether the margin is p/(1+r): the current instance is part of the inverse
    buys_first: bool  # whether v = 0 would never move, so that the first example is bought and stored
    by_length: bool  # whether `look` needs the squared length
    kernel: Line  # parameters of the kernel
    similarity: int  # its function, 0 for x.z
    given: bool  # whether k(x, x) is written from outside
    company: Whole  # where its record is, and the entries of its verbs; without a company `consult` is 0
    consult: int
    settle: int
    counts: Wholes
    scalars: Square
    limits: Square
    rule: Square  # (m, n) its parameters, in the order of its fields
    chance: int  # (rule, counts, scalars, p, r, margin, norm2, bias) -> probability; 0: always
    grants: int  # (rule, counts, scalars, chance, signal, floor, 0, 0) -> probability after all; 0: the same
    answers: int  # (rule, counts, scalars, p, y, wrong, 0, 0) -> 1 to store, 0 not to, -1 as usual; 0: as usual
    needs_spread: bool  # whether the chance is not to be known without r
    filters: bool  # whether asking is predicting +1
    stores_all: bool  # every queried example, not only the queried mistakes
    hinge: bool  # the queried examples with y p < 1
    normalize: bool
    label: Line  # (T,) -1 or +1, or the number of a class
    coin: Line  # (T,) uniform, 0 for deterministic rules
    evictions: Square  # (m, T) uniforms consumed one an eviction, or (0, 0)
    gone: Whole  # (m,) evictions before the first round
    schedules: Square  # (2 m, T) floors, then biases, of each copy; or (0, 0)
    log: Square  # (N_LOG, T), or (N_LOG, 0) if nothing is to be written
    scores: Square  # (T, k), or (1, k) if only those of the last round are of use
    told: Square  # (m, N_SAID) for what copies say in a round; a row more for a company, which speaks last
    orders: Whole  # (8,)
    scratch: Values  # (d,) for an instance divided by its norm


_LINE = np.zeros(1)
_EXAMPLES: dict[str, Any] = {
    "Whole": np.zeros(1, dtype=np.int64), "Wholes": np.zeros((1, 1), dtype=np.int64), "Line": _LINE,
    "Square": _LINE[None], "int": 0, "float": 0.0, "bool": True,
}  # fmt: skip


def example(kind: Any, **more: Any) -> Any:
    """Return a record of the types that its fields have in compiled code."""
    return kind(*({**_EXAMPLES, **more}[name.__forward_arg__] for name in kind.__annotations__.values()))


@dataclass_transform(frozen_default=True, kw_only_default=True)
def parameters(kind: type[T]) -> type[T]:
    """Make a class a record of parameters: frozen and by keyword, each checked by the rule that `ranges` has for it."""
    return dataclass(frozen=True, slots=True, kw_only=True)(kind)


def checked_by(**checks: Callable[..., object]) -> Any:
    """Say by which function of `lpsm.checks` each parameter is checked when a record is made."""
    return checks


def _check(record: Any) -> None:
    for one in fields(record):
        if isinstance(one.default, bool) and not isinstance(value := getattr(record, one.name), bool | np.bool_):
            raise ValueError(f"{one.name} must be True or False, got {shown(value)}")
    for name, check in record.ranges.items():
        check(**{getattr(record, "symbol", name.rstrip("_")): getattr(record, name)})


class Learner:
    """What learners are made of: a record of parameters, which knows its arrays before the first round.

    The arrays are a named tuple with the verbs as methods, each of one `Now`: `look` writes w_c.x of every class into
    the scores; `spread` returns r, with what `store` needs of it left in the arrays; `overlap` returns how much an
    update takes off the bound on r, or -1 if it is not remembered; `store` learns the example.
    """

    __slots__ = ()
    ranges = checked_by()
    takes_classes = False  # whether it has a form for several classes
    takes_kernels = True
    takes_weights = False  # whether a label may count more than another
    by_instances = False  # whether its only form is that over stored instances
    __post_init__ = _check

    def arrays(self, n_features: int, k: int, dtype: Any) -> Any:
        """Return the arrays that the loop works on, before the first round, for k classes."""
        raise NotImplementedError


class Rule:
    """What rules are made of: a record of parameters, and the functions that `Desk` names."""

    __slots__ = ()
    ranges = checked_by()
    randomized: Any = False  # whether it tosses a coin each round
    filters = False
    needs_spread = False
    chance: Any = None
    grants: Any = None
    answers: Any = None
    __post_init__ = _check

    def begin(self, counts: Array, scalars: Array) -> None:
        """Write down what it remembers before the first round."""

    def suits(self, learner: Any) -> None:
        """Raise ValueError if it makes no sense with a learner."""

    def numbers(self) -> Array:
        """Return its parameters in the order of its fields, NaN for what is no number."""
        values = (getattr(self, one.name) for one in fields(self))  # type: ignore[arg-type]
        return np.array([float(v) if isinstance(v, Real) else np.nan for v in values] or [0.0])


# -- compiled by themselves, called by address ----------------------------------------------------------------


def call(
    function: Any, rule: Array, counts: Array, scalars: Array, a: float, b: float, c: float, d: float, e: float
) -> float:
    """Call a function of a rule."""
    return float(function(rule, counts, scalars, a, b, c, d, e))


def invoke(entry: Any, at: Any, j: int, now: Now) -> float:
    """Call a verb of copy j of a learner, or of a company, by its entry."""
    return float(entry(at[j], now) or 0.0)


def desk_at(place: Any, values: Array) -> Desk:
    """Return the desk that was `pinned`, for instances with values of this type."""
    desk: Desk = place[0]
    return desk


@cache
def code_of(function: Callable[..., float] | None) -> Any:
    """Where the machine code of a function of a rule is, 0 for none; in plain Python the function itself."""
    if function is None or is_plain():
        return function or 0
    from numba import cfunc, types

    numbers, counts = types.CPointer(types.float64), types.CPointer(types.int64)  # type: ignore[no-untyped-call]
    made = cfunc(types.float64(numbers, counts, numbers, *5 * (types.float64,)), error_model="numpy")(function)
    _KEPT.append(made)
    return made.address


_KEPT: list[Any] = []  # machine code is freed with its function

ENTRIES = ("look", "spread", "overlap", "store", "consult", "settle")  # verbs; the last two are a company's
WORDS = 256  # of eight bytes, for a record


def pinned(*records: Any) -> tuple[Any, list[Any]]:
    """Return the place of copies of a record, valid as long as their arrays live, and its entries, 0 for none.

    A record is a learner, a company or a desk.
    """
    if is_plain():
        return records, [getattr(type(records[0]), name, 0) for name in ENTRIES]
    place, entries = np.zeros((len(records), WORDS), dtype=np.int64), np.zeros(len(ENTRIES), dtype=np.int64)
    for record, own in zip(records, place, strict=True):
        import_module("lpsm.samplers.native_calls").pin(record, own, entries)
    return place.ravel(), entries.tolist()


# -- the loop --------------------------------------------------------------------------------------


@compiled
def best_other(scores, s, label):
    """The class of the largest score beside that of `label` (-1: of all), the last of several."""
    other = 0 if label != 0 else 1
    for c in range(scores.shape[1]):
        if c != label and scores[s, c] >= scores[s, other]:
            other = c
    return other


@compiled
def lead(scores, s, label, predicted):
    """Half the lead of the true class over the best other one; negative wherever another was predicted."""
    half: float = 0.5 * (scores[s, label] - scores[s, best_other(scores, s, label)])
    return half if predicted == label else min(half, -SMALLEST)


@compiled
def self_similarity(desk, counts, scalars, square):
    """k(x, x): the squared norm of the instance where the learner lives."""
    if desk.given:
        return float(scalars[SELF_SIMILARITY])
    if desk.similarity == 0:
        return square
    return call(desk.similarity, desk.kernel, counts, scalars, square, square, square, 0.0, 0.0)


@compiled
def spread_of(desk, j, now):
    """r, with what `store` needs of it left in the learner; 0 where there is none."""
    return invoke(desk.spread, desk.at, j, now) if desk.spread != 0 else 0.0


@compiled
def chance_at(desk, j, now, r, bias):
    """The probability of asking if x'A^-1 x were r."""
    margin = now.p / (1.0 + r) if desk.inside else now.p
    return call(desk.chance, desk.rule[j], now.counts, now.scalars, now.p, r, margin, now.norm2, bias)


@compiled
def decision(desk, j, now, u, floor, bias, lazy):
    """The probability of asking, whether it asks, and r, -1 if it was not needed."""
    counts, scalars = now.counts, now.scalars
    r, chance, inside, tells = -1.0, 1.0, desk.inside, desk.chance != 0
    exact = inside and not lazy
    if desk.buys_first and counts[READY] == 0:
        exact = tells = False
    elif tells and not exact:
        exact = desk.needs_spread
        if not exact:
            chance = chance_at(desk, j, now, 0.0, bias)
            if inside and u >= chance:  # it never falls in r: the upper ends of the range of r may settle it
                bound = now.norm2 * (desk.limits[j, RIDGE] + counts[STORED] * desk.limits[j, DRIFT])
                slack = bound * (SLACK - 1.0)
                exact, k = True, 0
                while exact:
                    chance = chance_at(desk, j, now, max(bound, 0.0) + slack, bias)
                    exact = u < chance
                    if not exact or desk.overlap == 0:
                        break
                    of_update = Now(counts, scalars, now.row, now.scores, k, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
                    less = invoke(desk.overlap, desk.at, j, of_update)
                    if less < 0.0:
                        break
                    bound -= less
                    k += 1
    if exact:
        r = spread_of(desk, j, now)
        if tells:
            chance = chance_at(desk, j, now, r, bias)
    if desk.grants != 0:
        signal = 1.0 if u < chance else 0.0
        chance = call(desk.grants, desk.rule[j], counts, scalars, chance, signal, floor, 0.0, 0.0)
    if counts[ASKED] >= desk.limits[j, MOST]:  # the budget is spent
        return 0.0, False, r
    query = u < chance
    if query:
        counts[ASKED] += 1
    return chance, query, r


@compiled
def keeps(desk, j, counts, scalars, said, p, y, late):
    """Whether an example is stored, given its label.

    `said` is the p of the round's own time, by which the prediction is judged, and `p` that of today.
    """
    if desk.buys_first and counts[READY] == 0:  # no prediction of v is judged by what initialises it
        return True
    wrong, told = (said >= 0.0) != (y > 0.0), -1.0
    stores = y * said < 1.0 if desk.hinge else desk.stores_all or wrong
    if desk.answers != 0:
        told = call(desk.answers, desk.rule[j], counts, scalars, said, y, 1.0 if wrong else 0.0, 0.0, 0.0)
    if told >= 0.0:
        stores = told > 0.0
    if late:  # v may have come right since, so that a modified update would turn it wrong; or the margin large
        return stores and not (desk.buys_first and (p >= 0.0) == (y > 0.0)) and not (desk.hinge and y * p >= 1.0)
    return stores


@compiled
def play(place, values, columns, starts):
    """Play rounds from the first on; return where it stopped: the last, or the round that found no room.

    `place` is that of a `Desk`, the others are those of `rows.table_of`.
    """
    desk = desk_at(place, values)
    orders, m, told, log, scores, k = desk.orders, desk.size, desk.told, desk.log, desk.scores, desk.scores.shape[1]
    decides, learns, lazy = orders[DECIDES] != 0, orders[LEARNS] != 0, orders[LAZY] != 0
    careful, fresh, last = orders[CAREFUL] != 0, orders[FRESH] != 0, orders[LAST]
    speaks, looks, alone = decides or not learns, decides or not fresh, desk.consult == 0
    counts, scalars, inside, speaker = desk.counts[0], desk.scalars[0], desk.inside, told[told.shape[0] - 1]
    measures = desk.chance != 0 or not lazy or desk.by_length
    floor, bias = 0.0, 0.0
    for t in range(orders[FIRST], last):
        row = row_of(values, columns, starts, orders[SPARSE] != 0, t)
        for j in range(m):
            if row.n > desk.limits[j, WIDTH] or desk.counts[j, SIZE] >= desk.limits[j, CAPACITY]:
                return int(t)
        square = dot(row.x, row.x, row.n) if measures or desk.normalize else -1.0
        if desk.normalize:
            row, square = scaled(row, square, desk.scratch), 1.0
        u, y, s = desk.coin[t], desk.label[t], min(t, scores.shape[0] - 1)
        predicted = 0
        for j in range(m if looks else 0):
            if m > 1:
                counts, scalars = desk.counts[j], desk.scalars[j]
            seen = Now(counts, scalars, row, scores, s, 0, 0, square, 0.0, 0.0, 0.0, 0.0, 0.0)
            invoke(desk.look, desk.at, j, seen)
            p = scores[s, 0]
            if k > 1:
                predicted = best_other(scores, s, -1)
                p = 0.5 * (scores[s, predicted] - scores[s, best_other(scores, s, predicted)])
            norm2 = self_similarity(desk, counts, scalars, square) if measures else -1.0
            now = Now(counts, scalars, row, scores, s, 0, 0, square, norm2, p, 0.0, 0.0, 0.0)
            r, chance, query = -1.0, 0.0, False
            if decides:
                counts[ROUND] += 1
                if desk.schedules.shape[0] > 0:
                    floor, bias = desk.schedules[j, t], desk.schedules[m + j, t]
                chance, query, r = decision(desk, j, now, u, floor, bias, lazy)
            if r < 0.0 and inside and (not decides or (query and careful)):
                r = spread_of(desk, j, now)
            own = told[j]
            own[NORM2], own[SPREAD] = norm2, r
            if speaks:
                own[MARGIN] = p / (1.0 + max(r, 0.0)) if inside else p
                own[SAID], own[QUERY], own[CHANCE] = p, 1.0 if query else 0.0, chance
                own[PREDICTION] = predicted if k > 1 else 1 if (query if desk.filters else p >= 0.0) else -1
                own[CAUSE], own[IMPORTANCE] = counts[DUE], scalars[WEIGHT]
            else:
                own[MARGIN] = p
        if not alone and speaks:
            consult(desk, row, s, u, decides)
        asked, kept = speaker[QUERY] > 0.0 or not decides, 0.0
        for j in range(m if learns and asked and (alone or y != 0.0) else 0):
            own = told[j]
            if own[QUERY] == 0.0:
                continue
            if m > 1:
                counts, scalars = desk.counts[j], desk.scalars[j]
            counts[DUE], scalars[WEIGHT] = int(own[CAUSE]), own[IMPORTANCE]
            then, label, sign = own[SAID], 0, y
            p = then if speaks or fresh else own[MARGIN]  # today's, if the label comes late
            if k > 1:
                label, sign = int(y), 1.0
                p = 0.5 * (scores[s, label] - scores[s, best_other(scores, s, label)])
                if decides:
                    then = lead(scores, s, label, predicted)
            if not keeps(desk, j, counts, scalars, then, p, sign, not (decides or fresh)):
                continue
            kept = 1.0
            if square < 0.0:
                square = dot(row.x, row.x, row.n)
            norm2, r, other = own[NORM2], own[SPREAD], best_other(scores, s, label) if k > 1 else 0
            if norm2 < 0.0:
                norm2 = self_similarity(desk, counts, scalars, square)
            eviction = desk.evictions[j, counts[EVICTED] - desk.gone[j]] if desk.evictions.size > 0 else 0.0
            if r < 0.0:
                now = Now(counts, scalars, row, scores, s, label, other, square, norm2, p, r, sign, eviction)
                r = spread_of(desk, j, now)
            now = Now(counts, scalars, row, scores, s, label, other, square, norm2, p, r, sign, eviction)
            invoke(desk.store, desk.at, j, now)
            counts[STORED] += 1
            if norm2 > 0.0:  # a zero vector initialises nothing
                counts[READY] = 1
            scalars[LARGEST_SQUARE] = max(scalars[LARGEST_SQUARE], norm2)
        if learns:
            speaker[KEPT] = kept
        if not alone and (learns or (decides and not asked)):
            settle(desk, row, s, y if asked else 0.0, kept > 0.0)
        if log.shape[1] > 0:
            log[LOG_MARGIN, t] = speaker[MARGIN]
            log[LOG_FLAGS, t] = 4.0 * (speaker[PREDICTION] + 1.0) + 2.0 * speaker[QUERY] + kept
            if inside:
                log[LOG_SAID, t], log[LOG_SPREAD, t] = speaker[SAID], speaker[SPREAD]
            if not lazy:
                log[LOG_CHANCE, t] = speaker[CHANCE]
    return int(last)


@compiled
def consult(desk, row, s, u, decides):
    """Let the company speak, in its own row, and ask."""
    m = desk.size
    counts, own = desk.counts[m], desk.told[m]
    invoke(desk.consult, desk.company, 0, _together(desk, row, s, 0.0))
    own[PREDICTION] = 1.0 if own[MARGIN] >= 0.0 else -1.0
    if not decides:
        return
    counts[ROUND] += 1
    if counts[ASKED] >= desk.limits[m, MOST]:
        own[CHANCE] = 0.0
    own[QUERY] = 1.0 if u < own[CHANCE] else 0.0
    counts[ASKED] += int(own[QUERY])


@compiled
def settle(desk, row, s, y, kept):
    """Let the company end a round."""
    invoke(desk.settle, desk.company, 0, _together(desk, row, s, y))
    desk.counts[desk.size, STORED] += 1 if kept else 0


@compiled
def _together(desk, row, s, y):
    m = desk.size
    return Now(desk.counts[m], desk.scalars[m], row, desk.told, s, 0, 0, 0.0, 0.0, 0.0, 0.0, y, 0.0)


def flags_of(log: Array) -> tuple[Array, Array, Array]:
    """Return predictions, questions, and whether examples were stored, of a log."""
    flags = log[LOG_FLAGS].astype(np.int32)
    return (flags >> 2) - 1, (flags & 2) > 0, (flags & 1) > 0
