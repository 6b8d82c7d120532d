"""What learners and query rules are, the record of a round, and the one loop that plays every round, compiled.

What it models: a learner is a named tuple of arrays and numbers, whose methods `score`, `variance`, `overlap` and
`update` play a round.  A query rule is the functions `chance`, `grants` and `answers`.  Each is compiled by itself and
called by address, so that the loop is compiled once, whatever the learner and the rule; what it gives them is a
`Round`, or plain numbers.  Copy by copy an instance is scored, and the rule decides (`predict`); an ensemble of copies
votes; then those who asked learn the label (`learn`), and the ensemble weighs its copies anew.

Work that cannot change a decision is left out where `LAZY` says so: the sign of the margin is that of p = w.x; the
probability of asking never falls as r = x'A^-1 x grows, and r has bounds that cost less than itself.

What it leaves out: the learners (`learners`, `kernels`), the rules (`rules`), checks, who fills the record
(`ensemble`), and how compiled code calls by address (`native_calls`).
Source: the protocol of Cesa-Bianchi et al. 2004, section 2, and Cavallanti et al. 2010, section 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from dis import get_instructions
from functools import partial
from numbers import Real
from typing import Any, NamedTuple, TypeAlias, TypeVar, dataclass_transform

import numpy as np
from numpy.typing import DTypeLike

from lpsm.arithmetic import dot
from lpsm.arrays import Array, Floats, Ints, Mask
from lpsm.checks import between, non_negative, positive, shown, whole
from lpsm.native import compiled, is_plain
from lpsm.native.entries import FLOATS, INTS, Signature, entry_of
from lpsm.samplers.linear_algebra import Row, row_of, scaled

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


_RANGES: dict[str, Callable[..., object]] = {
    name: check
    for names, check in (
        ("b C K", partial(positive, False)),
        ("a c_0 eta gamma kappa r s_1 step", positive),
        ("coef0 lambda_", non_negative),
        ("rate", partial(between, 0.0, 1.0)),
        ("floor", partial(between, 0.0, 1.0, True)),
        ("factor", partial(between, 0.0, 2.0)),
        ("B R degree", partial(whole, 1)),
    )
    for name in names.split()
}
"""How parameters of these symbols are checked."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
def parameters(kind: type[T]) -> type[T]:
    """Make a class a record of parameters: frozen and by keyword, checked by `ranges` or else as all of their name."""
    own: Any = kind
    own.ranges = {name: _RANGES[name] for name in own.__annotations__ if name in _RANGES} | dict(own.ranges)
    for name, function in vars(kind).items():
        if isinstance(function, staticmethod):  # by this name its machine code is kept
            function.__func__.__qualname__ = f"{kind.__name__}.{name}"
    return dataclass(frozen=True, slots=True, kw_only=True)(kind)


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
        """Raise ValueError if it makes no sense with a learner, as where it reads an r that is not computed."""
        if self.chance and not (self.needs_variance or learner.includes_instance) and _reads_variance(self.chance):
            needed = "a second-order learner that includes the current instance, or needs_variance = True"
            raise ValueError(f"{type(self).__name__} reads r, and needs {needed}, got {learner}")

    def numbers(self) -> Floats:
        """Return its parameters in the order of its fields, NaN for what is no number."""
        values = (getattr(self, one.name) for one in fields(self))  # type: ignore[arg-type]
        return np.array([float(v) if isinstance(v, Real) else np.nan for v in values] or [0.0])


def _reads_variance(chance: Any) -> bool:
    """Whether a function of a rule uses the second of its five numbers."""
    code = getattr(chance, "py_func", chance).__code__
    r = code.co_varnames[4]
    return any(one.argval == r or (isinstance(one.argval, tuple) and r in one.argval) for one in get_instructions(code))


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


# `limits`: r is at most |x|^2 times the first plus N times the second; values of an instance, and instances, that there
# is room for; labels asked for at most.
RIDGE, DRIFT, WIDTH, CAPACITY, MOST = range(5)
# `outcome`: what a round came to.  `PRODUCT` is p, and `CAUSE` and `IMPORTANCE` are `DUE` and `WEIGHT` as they were in
# the round of a question.
MARGIN, PREDICTION, QUERY, KEPT, CHANCE, PRODUCT, NORM2, VARIANCE, CAUSE, IMPORTANCE = range(10)
N_OUTCOME = 10
# `log`: the margin; 4 (prediction + 1), 2 if asked and 1 if stored; where the margin is p/(1+r), p and r; and where no
# work is left out, the probability of asking.
LOG_MARGIN, LOG_FLAGS, LOG_PRODUCT, LOG_VARIANCE, LOG_CHANCE, N_LOG = range(6)
# `mode`: rounds begin, and labels are asked for; labels that were asked for are learned; work that cannot change a
# decision is left out; but margins of rounds that ask are exact; the products of a round whose label comes are still
# there; rows are sparse; the first round, and the one before which to stop.
DECIDES, LEARNS, LAZY, CAREFUL, FRESH, SPARSE, FIRST, LAST = range(8)


def mode_of(digits: str, is_sparse: bool, last: int) -> Ints:
    """Return the mode of these first five, each 0 or 1, for rounds up to the last."""
    return np.array([*map(int, digits), is_sparse, 0, last])


UNLIMITED = 2**62  # labels, values and instances
SLACK = 1e-9  # of r, above its rounding, so that the upper end of its range is safe
ENTRIES = ("score", "variance", "overlap", "update", "vote", "reweigh")
"""Methods that are called by address; the last two are an ensemble's."""
WORDS = 256  # of eight bytes, for a record


class RoundRecord(NamedTuple):
    """All that rounds need but the instances, of m copies of a sampler; a row a copy, and then one of the ensemble."""

    size: int  # m
    at: Whole  # where the learners' records are, the entries of their methods, and what is known of them all
    score: int
    variance: int
    overlap: int
    update: int
    inside: bool  # whether the margin is p/(1+r): the current instance is part of the inverse
    buys_first: bool  # whether v = 0 would never move, so that the first example is bought and stored
    by_length: bool  # whether `score` needs the squared length
    kernel: Similarity
    ensemble: Whole  # where its record is, and the entries of its methods; without an ensemble `vote` is 0
    vote: int
    reweigh: int
    counts: Wholes
    scalars: Square
    limits: Square
    rule: Square  # (m, n) its parameters, and its functions, 0 for none
    chance: int
    grants: int
    answers: int
    needs_variance: bool
    filters: bool
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
    outcome: Square  # (m, N_OUTCOME), of every copy in a round; a row more for an ensemble, which speaks last
    mode: Whole  # (8,)
    scratch: Values  # (d,) for an instance divided by its norm


_WHOLES = np.zeros((1, 1), np.int64)
_EXAMPLES: dict[str, object] = {
    "Whole": _WHOLES[0], "Wholes": _WHOLES, "Line": np.zeros(1), "Square": np.zeros((1, 1)), "int": 0, "float": 0.0,
    "bool": True, "Similarity": NO_KERNEL,
}  # fmt: skip


def example(kind: Any, **more: object) -> Any:
    """Return a record of the types that its fields have in compiled code."""
    return kind(*({**_EXAMPLES, **more}[name.__forward_arg__] for name in kind.__annotations__.values()))


def record_at(place: Sequence[RoundRecord], values: Array) -> RoundRecord:
    """Return the record that was `pinned`, for instances with values of this type."""
    return place[0]


# -- the loop --------------------------------------------------------------------------------------


@compiled
def play(place: Code, values: Array, columns: Array, starts: Ints) -> int:
    """Play rounds from the first on; return where it stopped: the last, or the round that found no room.

    `place` is that of a `RoundRecord`, the others are those of `linear_algebra.table_of`.
    """
    record = record_at(place, values)
    mode, m, outcome, last = record.mode, record.size, record.outcome, record.mode[LAST]
    decides, learns, fresh = mode[DECIDES] != 0, mode[LEARNS] != 0, mode[FRESH] != 0
    measures = record.chance != 0 or mode[LAZY] == 0 or record.by_length
    alone, speaker = record.vote == 0, outcome[outcome.shape[0] - 1]
    for t in range(mode[FIRST], last):
        row = row_of(values, columns, starts, mode[SPARSE] != 0, t)
        if not has_room(record, row.n):
            return int(t)
        square = dot(row.x, row.x, row.n) if measures or record.normalize else -1.0
        if record.normalize:
            row, square = scaled(row, square, record.scratch), 1.0
        s = min(t, record.scores.shape[0] - 1)
        for j in range(0 if fresh and not decides else m):
            predict(record, j, row, square, s, t)
        if not alone and (decides or not learns):
            vote(record, row, s, record.coin[t])
        asked, kept, y = speaker[QUERY] > 0.0 or not decides, 0.0, record.label[t]
        for j in range(m if learns and asked and (alone or y != 0.0) else 0):
            if outcome[j, QUERY] != 0.0 and learn(record, j, row, square, s, y):
                kept = 1.0
        if learns:
            speaker[KEPT] = kept
        if not alone and (learns or (decides and not asked)):
            reweigh(record, row, s, y if asked else 0.0, kept > 0.0)
        if record.log.shape[1] > 0:
            write_log(record, speaker, t, kept)
    return int(last)


@compiled
def has_room(record: RoundRecord, n: int) -> bool:
    """Whether every copy has room for one more instance of n values."""
    for j in range(record.size):
        if n > record.limits[j, WIDTH] or record.counts[j, SIZE] >= record.limits[j, CAPACITY]:
            return False
    return True


@compiled
def write_log(record: RoundRecord, speaker: Line, t: int, kept: float) -> None:
    """Write what round t came to."""
    log = record.log
    log[LOG_MARGIN, t] = speaker[MARGIN]
    log[LOG_FLAGS, t] = 4.0 * (speaker[PREDICTION] + 1.0) + 2.0 * speaker[QUERY] + kept
    if record.inside:
        log[LOG_PRODUCT, t], log[LOG_VARIANCE, t] = speaker[PRODUCT], speaker[VARIANCE]
    if record.mode[LAZY] == 0:
        log[LOG_CHANCE, t] = speaker[CHANCE]


def flags_of(log: Floats) -> tuple[Ints, Mask, Mask]:
    """Return predictions, questions, and whether examples were stored, of a log."""
    flags = log[LOG_FLAGS].astype(np.int64)
    return (flags >> 2) - 1, (flags & 2) > 0, (flags & 1) > 0


# -- the first half of a round ---------------------------------------------------------------------


@compiled
def before_label(
    record: RoundRecord, j: int, row: Row, scores: Square, s: int, square: float, norm2: float, p: float
) -> Round:
    """What copy j is given as long as the label is not known."""
    return Round(record.counts[j], record.scalars[j], row, scores, s, 0, 0, square, norm2, p, 0.0, 0.0, 0.0)


@compiled
def predict(record: RoundRecord, j: int, row: Row, square: float, s: int, t: int) -> None:
    """Score the instance by copy j; where a round begins decide whether to ask; write what it came to."""
    counts, scalars, scores, own = record.counts[j], record.scalars[j], record.scores, record.outcome[j]
    mode, decides = record.mode, record.mode[DECIDES] != 0
    invoke(record.score, record.at, j, before_label(record, j, row, scores, s, square, 0.0, 0.0))
    p, best = scores[s, 0], 0
    if scores.shape[1] > 1:
        best = best_other(scores, s, -1)
        p = 0.5 * (scores[s, best] - scores[s, best_other(scores, s, best)])
    norm2 = self_similarity(record.kernel, counts, scalars, square) if square >= 0.0 else -1.0
    now = before_label(record, j, row, scores, s, square, norm2, p)
    chance, query, r = decision(record, j, now, t) if decides else (0.0, False, -1.0)
    if r < 0.0 and record.inside and (not decides or (query and mode[CAREFUL] != 0)):
        r = variance_of(record, j, now)
    own[NORM2], own[VARIANCE] = norm2, r
    if not decides and mode[LEARNS] != 0:  # a late label: what was said stays as it was
        own[MARGIN] = p
        return
    own[MARGIN] = p / (1.0 + max(r, 0.0)) if record.inside else p
    own[PRODUCT], own[QUERY], own[CHANCE] = p, 1.0 if query else 0.0, chance
    positive = query if record.filters else p >= 0.0
    own[PREDICTION] = best if scores.shape[1] > 1 else 1 if positive else -1
    own[CAUSE], own[IMPORTANCE] = counts[DUE], scalars[WEIGHT]


@compiled
def decision(record: RoundRecord, j: int, now: Round, t: int) -> tuple[float, bool, float]:
    """The probability of asking, whether it asks, and r, -1 if it was not needed."""
    counts, u, floor, bias, chance, r = now.counts, record.coin[t], 0.0, 0.0, 1.0, -1.0
    counts[ROUND] += 1
    if record.schedules.shape[0] > 0:
        floor, bias = record.schedules[j, t], record.schedules[record.size + j, t]
    exact, tells = record.inside and record.mode[LAZY] == 0, record.chance != 0
    if record.buys_first and counts[READY] == 0:
        exact = tells = False
    elif tells and not exact:
        exact = record.needs_variance
        if not exact:
            chance = chance_at(record, j, now, 0.0, bias)
            if record.inside and u >= chance:
                chance, exact = chance_by_bounds(record, j, now, u, bias)
    if exact:
        r = variance_of(record, j, now)
        if tells:
            chance = chance_at(record, j, now, r, bias)
    if record.grants != 0:
        signal = 1.0 if u < chance else 0.0
        chance = call(record.grants, record.rule[j], counts, now.scalars, chance, signal, floor, 0.0, 0.0)
    if counts[ASKED] >= record.limits[j, MOST]:  # the budget is spent
        return 0.0, False, r
    query = u < chance
    if query:
        counts[ASKED] += 1
    return chance, query, r


@compiled
def chance_by_bounds(record: RoundRecord, j: int, now: Round, u: float, bias: float) -> tuple[float, bool]:
    """The probability of asking at ever lower upper bounds on r, until the coin passes; whether r itself is needed.

    It never falls in r, so that where the coin passes at a bound it passes at r.
    """
    bound = now.norm2 * (record.limits[j, RIDGE] + now.counts[STORED] * record.limits[j, DRIFT])
    slack, k = bound * SLACK, 0
    while True:
        chance = chance_at(record, j, now, max(bound, 0.0) + slack, bias)
        if u >= chance:
            return chance, False
        if record.overlap == 0:
            return chance, True
        less = invoke(record.overlap, record.at, j, before_label(record, j, now.row, now.scores, k, 0.0, 0.0, 0.0))
        if less < 0.0:
            return chance, True
        bound -= less
        k += 1


@compiled
def chance_at(record: RoundRecord, j: int, now: Round, r: float, bias: float) -> float:
    """The probability of asking if x'A^-1 x were r."""
    margin = now.p / (1.0 + r) if record.inside else now.p
    return call(record.chance, record.rule[j], now.counts, now.scalars, now.p, r, margin, now.norm2, bias)


@compiled
def variance_of(record: RoundRecord, j: int, now: Round) -> float:
    """r, with what `update` needs of it left in the learner; 0 where there is none."""
    return invoke(record.variance, record.at, j, now) if record.variance != 0 else 0.0


@compiled
def best_other(scores: Square, s: int, label: int) -> int:
    """The class of the largest score beside that of `label` (-1: of all), the last of several."""
    other = 0 if label != 0 else 1
    for c in range(scores.shape[1]):
        if c != label and scores[s, c] >= scores[s, other]:
            other = c
    return other


# -- the second half -------------------------------------------------------------------------------


@compiled
def learn(record: RoundRecord, j: int, row: Row, square: float, s: int, y: float) -> bool:
    """Give copy j the label of what it asked about; return whether it stores the example."""
    counts, scalars, scores, own = record.counts[j], record.scalars[j], record.scores, record.outcome[j]
    decides, late = record.mode[DECIDES] != 0, record.mode[DECIDES] == 0 and record.mode[FRESH] == 0
    counts[DUE], scalars[WEIGHT] = int(own[CAUSE]), own[IMPORTANCE]
    said, label, other, sign = own[PRODUCT], 0, 0, y
    p = own[MARGIN] if late else said  # today's, if the label comes late
    if scores.shape[1] > 1:
        label, sign = int(y), 1.0
        other = best_other(scores, s, label)
        p = 0.5 * (scores[s, label] - scores[s, other])
        if decides:
            said = lead(scores, s, label, int(own[PREDICTION]))
    if not keeps(record, j, said, p, sign, late):
        return False
    if square < 0.0:
        square = dot(row.x, row.x, row.n)
    norm2, r, eviction = own[NORM2], own[VARIANCE], 0.0
    if norm2 < 0.0:
        norm2 = self_similarity(record.kernel, counts, scalars, square)
    if record.evictions.size > 0:
        eviction = record.evictions[j, counts[EVICTED] - record.gone[j]]
    if r < 0.0:
        r = variance_of(record, j, before_label(record, j, row, scores, s, square, norm2, p))
    now = Round(counts, scalars, row, scores, s, label, other, square, norm2, p, r, sign, eviction)
    invoke(record.update, record.at, j, now)
    counts[STORED] += 1
    if norm2 > 0.0:  # a zero vector initialises nothing
        counts[READY] = 1
    scalars[LARGEST_SQUARE] = max(scalars[LARGEST_SQUARE], norm2)
    return True


@compiled
def keeps(record: RoundRecord, j: int, said: float, p: float, y: float, late: bool) -> bool:
    """Whether an example is stored, given its label.

    `said` is the p of the round's own time, by which the prediction is judged, and `p` that of today.
    """
    counts, scalars = record.counts[j], record.scalars[j]
    if record.buys_first and counts[READY] == 0:  # no prediction of v is judged by what initialises it
        return True
    wrong = (said >= 0.0) != (y > 0.0)
    stores = y * said < 1.0 if record.hinge else record.stores_all or wrong
    if record.answers != 0:
        answer = call(record.answers, record.rule[j], counts, scalars, said, y, 1.0 if wrong else 0.0, 0.0, 0.0)
        if answer >= 0.0:
            stores = answer > 0.0
    if late:  # v may have come right since, so that a modified update would turn it wrong; or the margin large
        return stores and not (record.buys_first and (p >= 0.0) == (y > 0.0)) and not (record.hinge and y * p >= 1.0)
    return stores


@compiled
def lead(scores: Square, s: int, label: int, predicted: int) -> float:
    """Half the lead of the true class over the best other one; negative wherever another was predicted."""
    half: float = 0.5 * (scores[s, label] - scores[s, best_other(scores, s, label)])
    return half if predicted == label else min(half, -SMALLEST)


# -- copies that decide together -------------------------------------------------------------------


@compiled
def vote(record: RoundRecord, row: Row, s: int, u: float) -> None:
    """Let the ensemble vote, in its own row of the outcomes, and ask."""
    m = record.size
    counts, own = record.counts[m], record.outcome[m]
    invoke(record.vote, record.ensemble, 0, before_label(record, m, row, record.outcome, s, 0.0, 0.0, 0.0))
    own[PREDICTION] = 1.0 if own[MARGIN] >= 0.0 else -1.0
    if record.mode[DECIDES] == 0:
        return
    counts[ROUND] += 1
    if counts[ASKED] >= record.limits[m, MOST]:
        own[CHANCE] = 0.0
    own[QUERY] = 1.0 if u < own[CHANCE] else 0.0
    counts[ASKED] += int(own[QUERY])


@compiled
def reweigh(record: RoundRecord, row: Row, s: int, y: float, kept: bool) -> None:
    """Let the ensemble weigh its copies anew, after the round."""
    m = record.size
    counts, scalars = record.counts[m], record.scalars[m]
    now = Round(counts, scalars, row, record.outcome, s, 0, 0, 0.0, 0.0, 0.0, 0.0, y, 0.0)
    invoke(record.reweigh, record.ensemble, 0, now)
    counts[STORED] += 1 if kept else 0
