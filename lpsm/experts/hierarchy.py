"""The state of Learn-alpha on plain arrays, and its rounds through the compiled share step.

What it models: m + s Fixed-share columns and a Static-expert over them, laid out for `share`; Static-expert and
Fixed-share are a hierarchy of one column.  What it leaves out: checks of the losses (see `learner`) and the choice of
the alphas (see `grids`).  Source: Monteleoni 2006, section 2.2.3, equations (2.6)-(2.8).
"""

from __future__ import annotations

import math

import numpy as np

from lpsm.arrays import Floats, Mask, State
from lpsm.experts import share
from lpsm.native.entries import FLOATS, Signature, entry_of

SAFE_FLOOR = 1e-100  # smallest share per round that keeps weights within floats
SAFE_MASS = 1e-140  # how far a column's mass may fall between two folds
SAFE_STAY = 1e-6  # smallest 1 - alpha of which 1 - alpha - alpha/(n-1) keeps ten digits ..
SAFE_STAY_OF_FEW = 1e-2  # .. and fourteen, where there are so few alphas that exactness costs little
FEW = 8
MOST_ROUNDS = 16  # between folds
MOST_WEIGHTS = 1 << 25
ROUNDING = 1e-9  # of sums that a state has twice, relative
DRIFT = 1e-6  # of the sum of weights kept as logarithms, which nothing rescales

_ROWS = "float64[:, ::1]"
_ARRAYS = _ROWS, _ROWS, "float64[:, :, ::1]", FLOATS
_RUN = entry_of(
    share.learn_alpha_run, Signature(None, (_ROWS, "boolean[:, ::1]", *_ARRAYS, _ROWS, FLOATS, _ROWS, _ROWS))
)
MIXTURE = entry_of(share.mixture, Signature(None, (*_ARRAYS, FLOATS)))
"""`share.mixture` without numba, for who calls it a few times."""


class Hierarchy:
    """A set of alphas with their weights over experts and their own weights, as the arrays of `share`.

    Those that may reach 0 or too near to it ("slow") come last; `order` says which of `alphas` each column is.
    """

    __slots__ = ("alphas", "arrays", "order")

    arrays: tuple[Floats, Floats, Floats, Floats, Floats]

    def __init__(self, n_experts: int, alphas: Floats, prior: Floats, alpha_prior: Floats, lower: float) -> None:
        if n_experts * alphas.size > MOST_WEIGHTS:
            raise ValueError(f"n_experts x alphas must be at most {MOST_WEIGHTS}, got {n_experts} x {alphas.size}")
        self.alphas = alphas
        several, others = n_experts > 1, max(n_experts - 1, 1)
        floor = np.minimum(alphas / others, 1.0 - alphas)  # of what the share step leaves an expert of a column
        stay = SAFE_STAY if alphas.size > FEW else SAFE_STAY_OF_FEW
        is_slow = ((floor < SAFE_FLOOR) | (1.0 - alphas < stay)) & several
        self.order, m = np.argsort(is_slow, kind="stable"), int((~is_slow).sum())
        least = float(floor[~is_slow].min()) if m and several else 1.0
        rates, first = alphas[self.order], alpha_prior[self.order]
        columns = np.zeros((share.N_ROWS, alphas.size))
        columns[share.ALPHA] = rates
        columns[share.SPREAD] = rates / others if several else 0.0
        columns[share.KEEP] = 1.0 - rates - rates / others if several else 1.0
        columns[share.MANTISSA], columns[share.EXPONENT] = np.frexp(first)
        columns[share.TOP], columns[share.MASS] = first, 1.0
        slow = np.zeros((2, n_experts, alphas.size - m))
        with np.errstate(divide="ignore"):
            slow[0] = np.log(prior)[:, None]
        head = np.zeros(share.N_HEAD)
        head[share.TOTAL], head[share.SINCE], head[share.LOWER] = 1.0, -1.0, lower
        head[share.EVERY] = MOST_ROUNDS if least == 1.0 else min(MOST_ROUNDS, int(math.log(SAFE_MASS, least)))
        self.arrays = (np.repeat(prior[:, None], m, axis=1), columns, slow, head, np.zeros((3, n_experts)))

    def __copy__(self) -> Hierarchy:
        """Return an independent one in the same state; what never changes, and scratch space, is not copied."""
        twin = Hierarchy.__new__(Hierarchy)
        twin.alphas, twin.order = self.alphas, self.order
        weights, columns, slow, head, work = self.arrays
        twin.arrays = (weights.copy(), columns.copy(), slow.copy(), head.copy(), np.empty_like(work))
        return twin

    def mixture(self) -> Floats:
        """Weights over the experts for the next round, shape (n,)."""
        out = np.empty(self.arrays[4].shape[1])
        share.mixture(*self.arrays[:4], out)
        return out

    def posterior(self) -> Floats:
        """Weights of the alphas for the next round, shape (m,), in the order given."""
        by_column = np.empty(self.alphas.size)
        share.alpha_posterior(self.arrays[1], self.arrays[3], by_column)
        return self._in_order(by_column)

    def round(self, losses: Floats, awake: Mask | None) -> float:
        """One round; return the mixture loss, NaN, and nothing changed, for an illegal one."""
        if awake is None:
            return share.learn_alpha_round(losses, *self.arrays)
        return share.masked_round(losses, awake, *self.arrays)

    def to_arrays(self) -> State:
        """The live arrays that change, by name."""
        weights, columns, slow, head, _ = self.arrays
        learned = columns[share.MANTISSA : share.SHARE]
        return {"weights": weights, "columns": learned, "slow": slow[0], "head": head}

    def belongings(self, blank: State) -> dict[str, bool]:
        """Whether the arrays of `to_arrays` belong together; those of a new one are `blank`."""
        return belongings(self.to_arrays(), blank)

    def run(self, losses: Floats, awake: Mask | None, weights: bool, alpha_weights: bool) -> tuple[Floats, ...]:
        """Many rounds, shape (T, n); return their losses, and weights over experts and alphas before each if wanted."""
        n_rounds, n_experts = losses.shape
        loss = np.empty(n_rounds)
        record = np.empty((n_rounds if weights else 0, n_experts))
        alpha_record = np.empty((n_rounds if alpha_weights else 0, self.alphas.size))
        mask = np.empty((0, n_experts), dtype=np.bool_) if awake is None else awake
        _RUN(np.ascontiguousarray(losses), np.ascontiguousarray(mask), *self.arrays, loss, record, alpha_record)
        return loss, record, self._in_order(alpha_record)

    def _in_order(self, by_column: Floats) -> Floats:
        out = np.empty_like(by_column)
        out[..., self.order] = by_column
        return out


def unit(logs: Floats) -> bool:
    """Whether the weights with these logarithms, (n, ..), sum to 1 in each column, but for rounding."""
    return bool((np.abs(np.logaddexp.reduce(logs, axis=0)) <= DRIFT).all())


def belongings(arrays: State, blank: State) -> dict[str, bool]:
    """Whether each array that a hierarchy learns in is one that rounds can lead to from `blank`, given the others."""
    weights, columns, slow, head = (arrays[name] for name in ("weights", "columns", "slow", "head"))
    mantissa, exponent, top, mass = columns
    m, since, every = weights.shape[1], head[share.SINCE], head[share.EVERY]
    alive, shift = mantissa > 0.0, np.clip(exponent - head[share.PEAK], -1100, 1000)
    first = weights[:, :1] if m else np.exp(slow[:, :1])
    return {
        "weights": bool((weights >= 0.0).all()) and np.allclose(weights.sum(axis=0), mass[:m], ROUNDING, 0.0),
        "columns": bool(
            ((mantissa == 0.0) | ((mantissa >= 0.5) & (mantissa < 1.0))).all()
            and (np.trunc(exponent) == exponent).all()
            and np.isfinite(exponent).all()
            and np.allclose(np.ldexp(mantissa, shift.astype(np.int64)), top, ROUNDING, 1e-290)
            and (mass > 0.0).all()
            and (mass[m:] == 1.0).all()
        ),
        "slow": not np.isnan(slow).any() and unit(slow[:, alive[m:]]),
        "head": bool(
            (head[[share.EVERY, share.LOWER]] == blank["head"][[share.EVERY, share.LOWER]]).all()
            and math.isfinite(head[share.PEAK])
            and math.isclose(head[share.TOTAL], float(top @ mass), rel_tol=ROUNDING)
            and head[share.TOTAL] > 0.0
            and (since == -1.0 or 0.0 <= np.floor(since) == since < every)
            and (
                since >= 0.0
                or (np.allclose(weights, first, ROUNDING, 0.0) and np.allclose(np.exp(np.minimum(slow, 1.0)), first))
            )
        ),
    }
