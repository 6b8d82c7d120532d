"""What learners and rules are, and the one loop that plays every round.

What it models: a learner is a named tuple of arrays and numbers, and its methods are the verbs of a round: `look`,
`spread`, `overlap`, `store`.  A query rule is the functions `chance`, `grants` and `answers`.  Both are compiled by
themselves and called by address, so that the loop is compiled once, whatever the learner and the rule.  `play` serves
single rounds and streams, late labels, margins that are only read, several classes (rows of weights over one memory)
and many copies of a sampler (`Company`).

Work that cannot change a decision is left out where `LAZY` says so: the sign of the margin is that of p = w.x; the
probability of asking never falls as r = x'A^-1 x grows, and r has bounds that cost less than itself.

What it leaves out: the learners (`perceptrons`, `least_squares`, `hinge`, `kernels`), the rules (`rules`), checks.
Source: the protocol of Cesa-Bianchi et al. 2004, section 2, and Cavallanti et al. 2010, section 2.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib import import_module
from numbers import Real
from typing import Any, NamedTuple, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.samplers.rows import Row, Table, dot, row_of, scaled

__all__ = [
    "ALONE", "ENTRIES", "Company", "Desk", "Learned", "Learner", "Notes", "Now", "Question", "Rule", "Tally",
    "best_two", "call", "checked_by", "code_of", "desk_at", "invoke", "lead", "learned_of", "memory_of", "parameters",
    "pinned", "play", "prepare",
]  # fmt: skip

Array = NDArray[Any]
T = TypeVar("T")

# `counts`: rounds, examples stored, instances in memory, labels right in a row, false positives, whether the next label
# is wanted, whether an example has initialised the learner, what a question was due to, evictions, labels asked for,
# updates of the inverse that wait.
ROUND, STORED, SIZE, STREAK, FALSE_POSITIVES, SCHEDULED, READY, DUE, EVICTED, ASKED, PENDING = range(11)
N_COUNTS = 11
# `scalars`: a rule's threshold, the largest squared norm at an update, k(x, x) under a kernel given by a function, the
# weight of the label in question, and room for what other rules remember.
THRESHOLD, LARGEST_SQUARE, SELF_SIMILARITY, WEIGHT, OWN = range(5)
N_SCALARS = 8

UNLIMITED = 2**62  # labels
SLACK = 1.0 + 1e-9  # above the rounding of r, so that the upper end of its range is safe
SMALLEST = float(np.finfo(np.float64).tiny)


class Tally(NamedTuple):
    """What is counted of m copies of a sampler: (m, N_COUNTS) and (m, N_SCALARS)."""

    counts: Array
    scalars: Array


class Question(NamedTuple):
    """When a label is asked for, and what is then stored."""

    rule: Array  # (m, n) the rule's parameters, in the order of its fields
    chance: Any  # (rule, counts, scalars, p, r, margin, norm2, bias) -> probability; 0: always
    grants: Any  # (rule, counts, scalars, chance, signal, floor, 0, 0) -> probability after all; 0: the same
    answers: Any  # (rule, counts, scalars, p, y, wrong, 0, 0) -> 1 to store, 0 not to, -1 as usual; 0: as usual
    needs_spread: bool  # whether the chance is not to be known without r
    filters: bool  # whether asking is predicting +1
    stores_all: bool  # every queried example, not only the queried mistakes
    hinge: bool  # the queried examples with y p < 1
    normalize: bool
    most: int  # labels asked for at most


class Notes(NamedTuple):
    """What a round is given and what it answers: a column each."""

    label: Array  # (T,) -1 or +1, or the number of a class
    coin: Array  # (T,) uniform, 0 for deterministic rules
    evictions: Array  # uniforms consumed one an eviction
    schedules: Array  # (2 m, T) floors, then biases, of each copy; or (0, 0)
    said: Array  # (T, 9), columns named below
    scores: Array  # (T, k), or (1, k) if only those of the last round are of use
    told: Array  # (m + 1, 9), for what the copies say, and the company; the same columns


MARGIN, PREDICTION, QUERY, KEPT, CHANCE, SAID, NORM2, SPREAD, SQUARE = range(9)


# What is done with the rows (`Desk.orders`): rounds begin, and labels are asked for; labels that were asked for are
# learned; work that cannot change a decision is left out; but margins of rounds that ask are exact; the products of a
# round whose label comes are still there.  Then whether rows are sparse, the first round, and the evictions before it.
DECIDES, LEARNS, LAZY, CAREFUL, FRESH, SPARSE, FIRST, GONE = range(8)


class Now(NamedTuple):
    """What a verb is given of the round."""

    counts: Array  # (N_COUNTS,)
    scalars: Array  # (N_SCALARS,)
    row: Row  # the instance x
    scores: Array  # w_c.x of each class c; for a company what the copies say, and a row for itself
    s: int  # the row of the scores; for `overlap` the number of the update
    label: int  # the true class; 0 for two classes
    other: int  # the class of the largest score beside it
    square: float  # |x|^2
    norm2: float  # k(x, x), which is |x|^2 without a kernel
    p: float  # w.x
    r: float  # x'A^-1 x
    y: float  # -1 or +1; +1 of several classes
    eviction: float  # uniform


@dataclass_transform(frozen_default=True, kw_only_default=True)
def parameters(kind: type[T]) -> type[T]:
    """Make a class a record of parameters: frozen and by keyword, each checked by the rule that `ranges` has for it."""
    return dataclass(frozen=True, slots=True, kw_only=True)(kind)


def checked_by(**checks: Callable[..., object]) -> Mapping[str, Callable[..., object]]:
    """Say by which function of `lpsm.checks` each parameter is checked when a record is made."""
    return checks


def _check(record: Any) -> None:
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
    __post_init__ = _check

    def arrays(self, n_features: int, k: int, dtype: Any) -> Any:
        """Return the arrays that the loop works on, before the first round, for k classes."""
        raise NotImplementedError


class Rule:
    """What rules are made of: a record of parameters, and the functions that `Question` names."""

    __slots__ = ()
    ranges = checked_by()
    randomized: Any = False  # whether it tosses a coin each round
    filters = False  # whether asking is predicting +1
    needs_spread = False  # whether the chance is not to be known without r
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


def _plain() -> bool:
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


@cache
def code_of(function: Callable[..., float] | None) -> Any:
    """Where the machine code of a function of a rule is, 0 for none; in plain Python the function itself."""
    if function is None or _plain():
        return function or 0
    from numba import cfunc, types

    numbers, counts = types.CPointer(types.float64), types.CPointer(types.int64)  # type: ignore[no-untyped-call]
    made = cfunc(types.float64(numbers, counts, numbers, *5 * (types.float64,)), error_model="numpy")(function)
    _KEPT.append(made)
    return made.address


_KEPT: list[Any] = []  # machine code is freed with its function

ENTRIES = ("look", "spread", "overlap", "store", "consult", "settle_up")  # verbs; the last two are a company's

WORDS = 256  # of eight bytes, for a record


def pinned(*records: Any) -> tuple[Any, list[Any]]:
    """Return the place of copies of a record, valid as long as their arrays live, and its entries, 0 for none.

    A record is a learner, a company or a desk.
    """
    if _plain():
        return records, [getattr(type(records[0]), name, 0) for name in ENTRIES]
    place, entries = np.zeros(len(records) * WORDS, dtype=np.int64), np.zeros(len(ENTRIES), dtype=np.int64)
    for j, record in enumerate(records):
        import_module("lpsm.samplers.entries").pin(record, place[j * WORDS : (j + 1) * WORDS], entries)
    return place, entries.tolist()


@cache
def prepare() -> None:
    """Tell numba of calls by address, before the loop is compiled."""
    if not _plain():
        import_module("lpsm.samplers.entries").register()


# -- the loop --------------------------------------------------------------------------------------


@compiled
def best_two(scores: Array, s: int) -> tuple[int, int]:
    """The classes of the largest score, the last of several, and of the largest of the others."""
    first = 0
    for c in range(1, scores.shape[1]):
        if scores[s, c] >= scores[s, first]:
            first = c
    return first, best_other(scores, s, first)


@compiled
def best_other(scores: Array, s: int, label: int) -> int:
    """The class of the largest score beside that of `label`, the last of several."""
    other = 0 if label != 0 else 1
    for c in range(scores.shape[1]):
        if c != label and scores[s, c] >= scores[s, other]:
            other = c
    return other


@compiled
def lead(scores: Array, s: int, label: int, predicted: int) -> float:
    """Half the lead of the true class over the best other one; negative wherever another was predicted."""
    half: float = 0.5 * (scores[s, label] - scores[s, best_other(scores, s, label)])
    return half if predicted == label else min(half, -SMALLEST)


class Learned(NamedTuple):
    """A learner as the loop sees it: where it is, how its verbs are done, and what is known of it without looking."""

    at: Any
    look: Any
    spread: Any
    overlap: Any
    store: Any
    inside: bool  # whether the margin is p/(1+r): the current instance is part of the inverse
    buys_first: bool  # whether v = 0 would never move, so that the first example is bought and stored
    by_length: bool  # whether `look` needs the squared length
    limits: Array  # (m, 2) r is at most |x|^2 times the first plus N times the second
    kernel: Array  # parameters of the kernel
    similarity: Any  # its function, 0 for x.z
    given: bool  # whether k(x, x) is written from outside
    width: int  # values of an instance that there is room for
    capacity: int  # instances that there is room for


class Company(NamedTuple):
    """Copies of one sampler that decide together: where they are, and how; alone where `consult` is 0."""

    size: int
    at: Any
    consult: Any
    settle_up: Any


ALONE = Company(1, np.zeros(1, dtype=np.int64), 0, 0)


def memory_of(record: Any) -> Any:
    """Return the stored instances of a learner, None if it stores none."""
    if hasattr(record, "held"):
        return record.held.memory
    memory = getattr(record, "memory", None)
    return memory if memory is not None and len(memory.labels) else None


def learned_of(*copies: Any) -> Learned:
    """Return copies of a learner for the loop; where they are stored, there is one."""
    first, (at, entries) = copies[0], pinned(*copies)
    held, memory = getattr(first, "held", None), memory_of(first)
    look, spread, overlap, store = entries[:4]
    return Learned(
        at=at, look=look, spread=spread, overlap=overlap, store=store, inside=bool(getattr(first, "inside", False)),
        buys_first=bool(getattr(first, "buys_first", False)), by_length=held is not None,
        limits=np.array([[getattr(one, "ridge", 0.0), getattr(one, "drift", 0.0)] for one in copies]),
        kernel=np.zeros(1) if held is None else held.kernel, similarity=0 if held is None else held.similarity,
        given=held is not None and held.given, width=UNLIMITED if memory is None else memory.rows.shape[1],
        capacity=UNLIMITED if memory is None or getattr(first, "bounded", True) else len(memory.labels),
    )  # fmt: skip


class Desk(NamedTuple):
    """All that rounds need but the instances."""

    company: Company
    learned: Learned
    tally: Tally
    question: Question
    notes: Notes
    scratch: Array  # (d,) for an instance divided by its norm
    orders: Array  # (8,)


def desk_at(place: Any, values: Array) -> Desk:
    """Return the desk that was `pinned`, for instances with values of this type."""
    desk: Desk = place[0]
    return desk


@compiled
def self_similarity(learned: Learned, counts: Array, scalars: Array, square: float) -> float:
    """k(x, x): the squared norm of the instance where the learner lives."""
    if learned.given:
        return float(scalars[SELF_SIMILARITY])
    if learned.similarity == 0:
        return square
    return call(learned.similarity, learned.kernel, counts, scalars, square, square, square, 0.0, 0.0)


@compiled
def spread_of(learned: Learned, j: int, now: Now) -> float:
    """r, with what `store` needs of it left in the learner; 0 where there is none."""
    return invoke(learned.spread, learned.at, j, now) if learned.spread != 0 else 0.0


@compiled
def decision(
    learned: Learned, j: int, question: Question, rule: Array, now: Now, u: float, floor: float, bias: float, lazy: bool
) -> tuple[float, bool, float]:
    """The probability of asking, whether it asks, and r, -1 if it was not needed."""
    counts, scalars, p, norm2 = now.counts, now.scalars, now.p, now.norm2
    r, chance, inside, tells = -1.0, 1.0, learned.inside, question.chance != 0
    exact = inside and not lazy
    if learned.buys_first and counts[READY] == 0:
        exact = tells = False
    elif tells and not exact:
        exact = question.needs_spread
        if not exact:
            chance = call(question.chance, rule, counts, scalars, p, 0.0, p, norm2, bias)
            if inside and u >= chance:  # it never falls in r: the upper ends of the range of r may settle it
                bound = norm2 * (learned.limits[j, 0] + counts[STORED] * learned.limits[j, 1])
                slack = bound * (SLACK - 1.0)
                exact, k = True, 0
                while exact:
                    r = max(bound, 0.0) + slack
                    chance = call(question.chance, rule, counts, scalars, p, r, p / (1.0 + r), norm2, bias)
                    exact = u < chance
                    if not exact or learned.overlap == 0:
                        break
                    of_update = Now(counts, scalars, now.row, now.scores, k, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
                    less = invoke(learned.overlap, learned.at, j, of_update)
                    if less < 0.0:
                        break
                    bound -= less
                    k += 1
                r = -1.0
    if exact:
        r = spread_of(learned, j, now)
        if tells:
            m = p / (1.0 + r) if inside else p
            chance = call(question.chance, rule, counts, scalars, p, r, m, norm2, bias)
    if question.grants != 0:
        chance = call(question.grants, rule, counts, scalars, chance, 1.0 if u < chance else 0.0, floor, 0.0, 0.0)
    if counts[ASKED] >= question.most:  # the budget is spent
        return 0.0, False, r
    query = u < chance
    if query:
        counts[ASKED] += 1
    return chance, query, r


@compiled
def learn(learned: Learned, j: int, question: Question, rule: Array, now: Now, said: float, late: bool) -> bool:
    """Take the label that was asked for; return whether the example is stored.

    `said` is the p of the round's own time, by which the prediction is judged, and `now.p` that of today; of the other
    products of the instance, those that are negative are not known yet.
    """
    counts, scalars, row, scores = now.counts, now.scalars, now.row, now.scores
    p, y, square, norm2, r = now.p, now.y, now.square, now.norm2, now.r
    wrong = (said >= 0.0) != (y > 0.0)
    keeps = True  # the example that initialises v; no prediction of v is judged by it
    if not (learned.buys_first and counts[READY] == 0):
        told = -1.0
        if question.answers != 0:
            told = call(question.answers, rule, counts, scalars, said, y, 1.0 if wrong else 0.0, 0.0, 0.0)
        keeps = y * said < 1.0 if question.hinge else question.stores_all or wrong
        if told >= 0.0:
            keeps = told > 0.0
        if late and learned.buys_first and (p >= 0.0) == (y > 0.0):
            keeps = False  # v has come right since, and a modified update would turn it wrong
        if late and question.hinge and y * p >= 1.0:
            keeps = False  # the margin has become large enough since
    if not keeps:
        return False
    if square < 0.0:
        square = dot(row.x, row.x, row.n)
    if norm2 < 0.0:
        norm2 = self_similarity(learned, counts, scalars, square)
    other = best_other(scores, now.s, now.label) if scores.shape[1] > 1 else 0
    known = Now(counts, scalars, row, scores, now.s, now.label, other, square, norm2, p, r, y, now.eviction)
    if r < 0.0:
        r = spread_of(learned, j, known)
        known = Now(counts, scalars, row, scores, now.s, now.label, other, square, norm2, p, r, y, now.eviction)
    invoke(learned.store, learned.at, j, known)
    counts[STORED] += 1
    if norm2 > 0.0:  # a zero vector initialises nothing
        counts[READY] = 1
    scalars[LARGEST_SQUARE] = max(scalars[LARGEST_SQUARE], norm2)
    return True


@compiled
def play(place: Any, values: Array, columns: Array, starts: Array) -> int:
    """Play rounds from the first on; return where it stopped: T, or the round that found no room.

    `place` is that of a `Desk`, the others are the arrays of a `Table`.
    """
    desk = desk_at(place, values)
    company, learned, tally, question, notes, orders = (
        desk.company, desk.learned, desk.tally, desk.question, desk.notes, desk.orders,
    )  # fmt: skip
    table = Table(values, columns, starts, orders[SPARSE] != 0, desk.scratch)
    decides, learns, lazy = orders[DECIDES] != 0, orders[LEARNS] != 0, orders[LAZY] != 0
    careful, fresh = orders[CAREFUL] != 0, orders[FRESH] != 0
    m, said, scores, k, alone = company.size, notes.said, notes.scores, notes.scores.shape[1], company.consult == 0
    told = said if alone else notes.told
    last, at, inside = len(notes.label), learned.at, learned.inside
    counts, scalars, rule = tally.counts[0], tally.scalars[0], question.rule[0]
    measures = question.chance != 0 or not lazy or learned.by_length
    floor, bias = 0.0, 0.0
    for t in range(orders[FIRST], last):
        row = row_of(table, t)
        if row.n > learned.width or counts[SIZE] >= learned.capacity:
            return int(t)
        square = dot(row.x, row.x, row.n) if measures or question.normalize else -1.0
        if question.normalize:
            row, square = scaled(row, square, table.scratch), 1.0
        u, y, s = notes.coin[t], notes.label[t], min(t, scores.shape[0] - 1)
        predicted, here = 0, t if alone else 0  # the row of `told` of the first copy
        if decides or not fresh:
            for j in range(m):
                if m > 1:
                    counts, scalars, rule = tally.counts[j], tally.scalars[j], question.rule[j]
                seen = Now(counts, scalars, row, scores, s, 0, 0, square, 0.0, 0.0, 0.0, 0.0, 0.0)
                invoke(learned.look, at, j, seen)
                p = scores[s, 0]
                if k > 1:
                    predicted, second = best_two(scores, s)
                    p = 0.5 * (scores[s, predicted] - scores[s, second])
                norm2 = self_similarity(learned, counts, scalars, square) if measures else -1.0
                now = Now(counts, scalars, row, scores, s, 0, 0, square, norm2, p, 0.0, 0.0, 0.0)
                r, chance, query = -1.0, 0.0, False
                if decides:
                    counts[ROUND] += 1
                    if notes.schedules.shape[0] > 0:
                        floor, bias = notes.schedules[j, t], notes.schedules[m + j, t]
                    chance, query, r = decision(learned, j, question, rule, now, u, floor, bias, lazy)
                if r < 0.0 and inside and (not decides or (query and careful)):
                    r = spread_of(learned, j, now)
                i = here + j
                told[i, MARGIN] = p / (1.0 + max(r, 0.0)) if inside else p
                told[i, NORM2], told[i, SPREAD] = norm2, r
                told[i, QUERY], told[i, CHANCE] = 1.0 if query else 0.0, chance
                told[i, PREDICTION] = predicted if k > 1 else 1 if (query if question.filters else p >= 0.0) else -1
                if decides or not learns:
                    told[i, SAID] = p
        together = Now(counts, scalars, row, told, s, 0, 0, 0.0, 0.0, 0.0, 0.0, y, 0.0)
        if not alone:
            invoke(company.consult, company.at, 0, together)
            told[m, QUERY] = 1.0 if u < told[m, CHANCE] else 0.0
            for c in range(CHANCE + 1):
                said[t, c] = told[m, c]
            said[t, PREDICTION] = 1.0 if told[m, MARGIN] >= 0.0 else -1.0
        if learns and (said[t, QUERY] > 0.0 or not decides):
            for j in range(m):
                i = here + j
                if decides and told[i, QUERY] == 0.0:
                    continue
                if m > 1:
                    counts, scalars, rule = tally.counts[j], tally.scalars[j], question.rule[j]
                then, label, sign = told[i, SAID], 0, y
                p = then if decides or fresh else scores[s, 0]  # today's, if the label comes late
                if k > 1:
                    label, sign = int(y), 1.0
                    p = 0.5 * (scores[s, label] - scores[s, best_other(scores, s, label)])
                    if decides:
                        then = lead(scores, s, label, predicted)
                eviction = notes.evictions[counts[EVICTED] - orders[GONE]] if len(notes.evictions) > 0 else 0.0
                norm2, r = told[i, NORM2], told[i, SPREAD]
                now = Now(counts, scalars, row, scores, s, label, 0, square, norm2, p, r, sign, eviction)
                if learn(learned, j, question, rule, now, then, not (decides or fresh)):
                    said[t, KEPT] = 1.0
        if not alone:
            invoke(company.settle_up, company.at, 0, together)
    return int(last)
