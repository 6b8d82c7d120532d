"""The record that the compiled loop works on: who plays, by which rule, and what rounds are given and come to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lpsm.arrays import Array
from lpsm.samplers.protocol import Line, Square, Values, Whole, Wholes

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

UNLIMITED = 2**62  # labels, values and instances
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
    kernel: Line  # parameters of the kernel
    similarity: int  # its function, 0 for x.z
    given: bool  # whether k(x, x) is written from outside
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


_LINE = np.zeros(1)
_EXAMPLES: dict[str, Any] = {
    "Whole": np.zeros(1, dtype=np.int64), "Wholes": np.zeros((1, 1), dtype=np.int64), "Line": _LINE,
    "Square": _LINE[None], "int": 0, "float": 0.0, "bool": True,
}  # fmt: skip


def example(kind: Any, **more: Any) -> Any:
    """Return a record of the types that its fields have in compiled code."""
    return kind(*({**_EXAMPLES, **more}[name.__forward_arg__] for name in kind.__annotations__.values()))


def record_at(place: Any, values: Array) -> RoundRecord:
    """Return the record that was `pinned`, for instances with values of this type."""
    record: RoundRecord = place[0]
    return record


def flags_of(log: Array) -> tuple[Array, Array, Array]:
    """Return predictions, questions, and whether examples were stored, of a log."""
    flags = log[LOG_FLAGS].astype(np.int32)
    return (flags >> 2) - 1, (flags & 2) > 0, (flags & 1) > 0
