"""Verbs of learners and rules, and the one loop that plays every round.

What it models: a learner is a named tuple of arrays and numbers; the verbs that say what it does (`look`, `spread`,
`store`, ...) are chosen by its type when the loop is compiled, and by its type in plain Python.  A query rule is the
functions `chance`, `grants` and `answers`, compiled by themselves and called by address, so that the loop is compiled
once a learner, whatever the rule.  `play` serves single rounds and streams, late labels, margins that are only read,
several classes (rows of weights over one memory) and many copies of a sampler (`Company`).

Work that cannot change a decision is left out if `Way.lazy`: the sign of the margin is that of p = w.x; the probability
of asking never falls as r = x'A^-1 x grows, and r has bounds that cost less than itself.

What it leaves out: the learners (`perceptrons`, `least_squares`, `hinge`, `kernels`), the rules (`rules`), checks.
Source: the protocol of Cesa-Bianchi et al. 2004, section 2, and Cavallanti et al. 2010, section 2.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from functools import cache, update_wrapper
from importlib import import_module
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.samplers.rows import Row, Table, dot, row_of, scaled

__all__ = [
    "ALONE", "ENTRIES", "VERBS", "Company", "Desk", "Learned", "Learner", "Notes", "Question", "Rule", "Tally",
    "best_two", "call", "code_of", "consult", "desk_at", "entries_of", "how", "invoke", "lead",
    "learned_of", "look", "overlap", "pinned", "play", "prepare", "settle_up", "spread", "store", "verb",
]  # fmt: skip

Array = NDArray[Any]

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
    """What a round is told and what it says: a column each."""

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


class Learner:
    """What learners are made of: a record of parameters, which knows its arrays before the first round."""

    __slots__ = ()
    takes_classes = False  # whether it has a form for several classes
    takes_kernels = True
    takes_weights = False  # whether a label may count more than another

    def arrays(self, n_features: int, k: int, dtype: Any) -> Any:
        """Return the arrays that the loop works on, before the first round, for k classes."""
        raise NotImplementedError


class Rule:
    """What rules are made of: a record of parameters, and the functions that `Question` names."""

    __slots__ = ()
    randomized: Any = False  # whether it tosses a coin each round
    filters = False  # whether asking is predicting +1
    needs_spread = False  # whether the chance is not to be known without r
    chance: Any = None
    grants: Any = None
    answers: Any = None

    def begin(self, counts: Array, scalars: Array) -> None:
        """Write down what it remembers before the first round."""

    def suits(self, learner: Any) -> None:
        """Raise ValueError if it makes no sense with a learner."""

    def numbers(self) -> Array:
        """Return its parameters in the order of its fields, NaN for what is no number."""
        values = (getattr(self, one.name) for one in fields(self))  # type: ignore[arg-type]
        return np.array([float(v) if isinstance(v, Real) else np.nan for v in values] or [0.0])


# -- verbs ---------------------------------------------------------------------------------------------

VERBS: dict[str, tuple[Callable[..., Any], dict[type, Callable[..., Any]]]] = {}


def verb(default: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is chosen by the type of its first argument; `default` is that of all other types."""
    known: dict[type, Callable[..., Any]] = {object: default}

    def chosen(first: Any, *rest: Any) -> Any:
        return known.get(type(first), default)(first, *rest)

    update_wrapper(chosen, default)
    VERBS[default.__name__] = (chosen, known)
    return chosen


def how(verb: Callable[..., Any], *kinds: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Say how a verb is done by these kinds of learner."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        VERBS[verb.__name__][1].update(dict.fromkeys(kinds, function))
        return function

    return register


@verb
def look(learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int) -> None:
    """Write w_c.x into row s of the scores, for each class c; `square` is |x|^2."""


@verb
def spread(learner: Any, counts: Array, scalars: Array, row: Row, norm2: float) -> float:
    """R = x'A^-1 x, with what `store` needs of it left in the learner."""
    return 0.0


@verb
def overlap(learner: Any, counts: Array, row: Row, k: int) -> float:
    """How much the k-th update takes off the bound on r, or -1 if it is not remembered."""
    return -1.0


@verb
def store(
    learner: Any, counts: Array, scalars: Array, row: Row, square: float, scores: Array, s: int, p: float, r: float,
    y: float, label: int, other: int, eviction: float,
) -> None:  # fmt: skip
    """Learn (x, y); of several classes `label` is the true one, `other` the best of the rest, and y = 1."""


@verb
def consult(company: Any, told: Array) -> None:
    """Write into the last row of `told` the margin and the probability of asking of copies that told the others."""


@verb
def settle_up(company: Any, told: Array, y: float) -> None:
    """Charge the copies for the round."""


# -- compiled by themselves, called by address ----------------------------------------------------------------


def call(
    function: Any, rule: Array, counts: Array, scalars: Array, a: float, b: float, c: float, d: float, e: float
) -> float:
    """Call a function of a rule."""
    return float(function(rule, counts, scalars, a, b, c, d, e))


def invoke(
    entry: Any, at: Any, j: int, counts: Array, scalars: Array, row: Row, scores: Array, s: int, label: int, other: int,
    a: float, b: float, c: float, d: float, e: float,
) -> float:  # fmt: skip
    """Call a verb of copy j of a learner, or of a company, by its entry."""
    return float(entry(at, j, counts, scalars, row, scores, s, label, other, a, b, c, d, e))


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


def entries_of(take: Callable[[Any, int], Any]) -> dict[str, Callable[..., float]]:
    """The verbs of what `take(at, j)` finds, all with the arguments of `invoke`."""

    def looks(at, j, counts, scalars, row, scores, s, label, other, a, b, c, d, e):  # type: ignore[no-untyped-def]
        look(take(at, j), counts, scalars, row, a, scores, s)
        return 0.0

    def spreads(at, j, counts, scalars, row, scores, s, label, other, a, b, c, d, e):  # type: ignore[no-untyped-def]
        return spread(take(at, j), counts, scalars, row, a)

    def overlaps(at, j, counts, scalars, row, scores, s, label, other, a, b, c, d, e):  # type: ignore[no-untyped-def]
        return overlap(take(at, j), counts, row, s)

    def stores(at, j, counts, scalars, row, scores, s, label, other, a, b, c, d, e):  # type: ignore[no-untyped-def]
        store(take(at, j), counts, scalars, row, a, scores, s, b, c, d, label, other, e)
        return 0.0

    def consults(at, j, counts, scalars, row, scores, s, label, other, a, b, c, d, e):  # type: ignore[no-untyped-def]
        consult(take(at, j), scores)
        return 0.0

    def settles(at, j, counts, scalars, row, scores, s, label, other, a, b, c, d, e):  # type: ignore[no-untyped-def]
        settle_up(take(at, j), scores, a)
        return 0.0

    return dict(zip(ENTRIES, (looks, spreads, overlaps, stores, consults, settles), strict=True))


ENTRIES = ("look", "spread", "overlap", "store", "consult", "settle_up")


WORDS = 256  # of eight bytes, for a record


def pinned(*records: Any) -> tuple[Any, list[Any]]:
    """Return the place of copies of a record, valid as long as their arrays live, and its entries, 0 for none.

    A record is a learner, a company or a desk.
    """
    if _plain():
        made = entries_of(lambda at, j: at[j])
        return records, [made[name] if type(records[0]) in VERBS[name][1] else 0 for name in ENTRIES]
    place, entries = np.zeros(len(records) * WORDS, dtype=np.int64), np.zeros(len(ENTRIES), dtype=np.int64)
    for j, record in enumerate(records):
        import_module("lpsm.samplers.entries").pin(record, place[j * WORDS : (j + 1) * WORDS], entries)
    return place, entries.tolist()


@cache
def prepare() -> None:
    """Tell numba of the verbs, before the loop is compiled."""
    for name in ("perceptrons", "least_squares", "hinge", "kernels", "tuned"):
        import_module(f"lpsm.samplers.{name}")
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


def learned_of(*copies: Any) -> Learned:
    """Return copies of a learner for the loop; where they are stored, there is one."""
    first, (at, entries) = copies[0], pinned(*copies)
    held = getattr(first, "held", None)
    memory = getattr(first, "memory", None) if held is None else held.memory
    bounded = getattr(first, "bounded", True)
    look, spread, overlap, store = entries[:4]
    return Learned(
        at=at, look=look, spread=spread, overlap=overlap, store=store, inside=bool(getattr(first, "inside", False)),
        buys_first=bool(getattr(first, "buys_first", False)), by_length=held is not None,
        limits=np.array([[getattr(one, "ridge", 0.0), getattr(one, "drift", 0.0)] for one in copies]),
        kernel=np.zeros(1) if held is None else held.kernel, similarity=0 if held is None else held.similarity,
        given=held is not None and held.given, width=UNLIMITED if memory is None else memory.rows.shape[1],
        capacity=UNLIMITED if memory is None or bounded else len(memory.labels),
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
def spread_of(learned: Learned, j: int, counts: Array, scalars: Array, row: Row, scores: Array, norm2: float) -> float:
    """r, with what `store` needs of it left in the learner; 0 where there is none."""
    if learned.spread == 0:
        return 0.0
    return invoke(learned.spread, learned.at, j, counts, scalars, row, scores, 0, 0, 0, norm2, 0.0, 0.0, 0.0, 0.0)


@compiled
def decision(
    learned: Learned, j: int, counts: Array, scalars: Array, question: Question, rule: Array, row: Row, scores: Array,
    p: float, norm2: float, u: float, floor: float, bias: float, lazy: bool,
) -> tuple[float, bool, float]:  # fmt: skip
    """The probability of asking, whether it asks, and r, -1 if it was not needed."""
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
                    less = invoke(
                        learned.overlap, learned.at, j, counts, scalars, row, scores, k, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0
                    )
                    if less < 0.0:
                        break
                    bound -= less
                    k += 1
                r = -1.0
    if exact:
        r = spread_of(learned, j, counts, scalars, row, scores, norm2)
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
def learn(
    learned: Learned, j: int, counts: Array, scalars: Array, question: Question, rule: Array, row: Row, square: float,
    scores: Array, s: int, said: float, norm2: float, p: float, r: float, y: float, label: int, late: bool,
    eviction: float,
) -> bool:  # fmt: skip
    """Take the label that was asked for; return whether the example is stored.

    `said` is the p of the round's own time, by which the prediction is judged, and p that of today.
    """
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
    if r < 0.0:
        r = spread_of(learned, j, counts, scalars, row, scores, norm2)
    other = best_other(scores, s, label) if scores.shape[1] > 1 else 0
    invoke(learned.store, learned.at, j, counts, scalars, row, scores, s, label, other, square, p, r, y, eviction)
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
    always = question.chance == 0 and question.grants == 0 and lazy and question.most == UNLIMITED
    always = always and not learned.buys_first
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
                invoke(learned.look, at, j, counts, scalars, row, scores, s, 0, 0, square, 0.0, 0.0, 0.0, 0.0)
                p = scores[s, 0]
                if k > 1:
                    predicted, second = best_two(scores, s)
                    p = 0.5 * (scores[s, predicted] - scores[s, second])
                norm2 = self_similarity(learned, counts, scalars, square) if measures else -1.0
                r, chance, query = -1.0, 0.0, False
                if decides:
                    counts[ROUND] += 1
                    if always:
                        chance, query = 1.0, True
                        counts[ASKED] += 1
                    else:
                        if notes.schedules.shape[0] > 0:
                            floor, bias = notes.schedules[j, t], notes.schedules[m + j, t]
                        chance, query, r = decision(
                            learned, j, counts, scalars, question, rule, row, scores, p, norm2, u, floor, bias, lazy
                        )
                if r < 0.0 and inside and (not decides or (query and careful)):
                    r = spread_of(learned, j, counts, scalars, row, scores, norm2)
                i = here + j
                told[i, MARGIN] = p / (1.0 + max(r, 0.0)) if inside else p
                told[i, NORM2], told[i, SPREAD] = norm2, r
                told[i, QUERY], told[i, CHANCE] = 1.0 if query else 0.0, chance
                told[i, PREDICTION] = predicted if k > 1 else 1 if (query if question.filters else p >= 0.0) else -1
                if decides or not learns:
                    told[i, SAID] = p
        if not alone:
            invoke(company.consult, company.at, 0, counts, scalars, row, told, 0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0)
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
                then, r, norm2, label, sign = told[i, SAID], told[i, SPREAD], told[i, NORM2], 0, y
                p = then if decides or fresh else scores[s, 0]  # today's, if the label comes late
                if k > 1:
                    label, sign = int(y), 1.0
                    p = 0.5 * (scores[s, label] - scores[s, best_other(scores, s, label)])
                    if decides:
                        then = lead(scores, s, label, predicted)
                eviction = notes.evictions[counts[EVICTED] - orders[GONE]] if len(notes.evictions) > 0 else 0.0
                if learn(
                    learned, j, counts, scalars, question, rule, row, square, scores, s, then, norm2, p, r, sign, label,
                    not (decides or fresh), eviction,
                ):  # fmt: skip
                    said[t, KEPT] = 1.0
        if not alone:
            invoke(company.settle_up, company.at, 0, counts, scalars, row, told, 0, 0, 0, y, 0.0, 0.0, 0.0, 0.0)
    return int(last)
