"""A run over experts held against everything the thesis promises about it.

What it models: for the learner that made the run, every statement of `lpsm.bounds.experts` that speaks about it, with
both sides computed: the measured one from the run's own losses and hindsight, the bound from the statement.  A
statement whose hypothesis fails is void, one that promises nothing is vacuous; neither counts as violated.
A run in which experts slept is, for all but Learn-alpha, to the letter the run in which whoever sleeps loses what the
mixture loses; so the statements speak of those losses, where a comparator's regret grows only in the rounds in which
it is awake.  Each alpha-expert of Learn-alpha has losses of its own then, and Learn-alpha is held against the best.
Sources: Monteleoni 2006 (T), sections 2.2-2.4; Freund, Schapire, Singer and Warmuth 1997, theorem 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from lpsm import hindsight
from lpsm.arrays import Floats
from lpsm.bounds import experts as bounds
from lpsm.bounds.verdicts import Row, compare, void
from lpsm.checks import shown
from lpsm.experts import (
    ExpertRun,
    FixedShare,
    LearnAlpha,
    Learner,
    MarkovShare,
    StaticExpert,
    doubling_regret,
    worst_divergence,
)

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 1e-9  # relative to the larger of 1 and the run's loss: rounding, not generosity

STATIC, SPECIALISTS = "Static-expert against the best expert", "Static-expert against an expert while it is awake"
SEGMENTS, DOUBLING = "Fixed-share against k segments", "Learn-alpha with doubling"
SHARE = ("Theorem 1", "Lemma 1", "Claim 1", "Theorem 2")
MATRICES = ("Theorem 1 for matrices", "Theorem 1 for matrices, by visits")
ALPHA = ("Learn-alpha against its best alpha", "Corollary 1", "Corollary 1, optimised")
ASLEEP = (ALPHA[0], "Learn-alpha against k segments while they are awake")
OF_ALPHAS = ", alpha-experts"
KINDS = {"Lemma 1": "identity", "Claim 1": "identity", "Theorem 2": "lower"}  # the others are upper bounds


def report(
    run: ExpertRun | Learner, losses: ArrayLike | None = None, *, exact_rounds: int = 2_000, k_max: int = 50
) -> pd.DataFrame:
    """Every statement about the run's learner as a table of one `Row` a row.

    Parameters
    ----------
    run
        What ``learner.run(losses)`` returned, or a learner, of which a copy is run over `losses`.
    losses
        Losses (T, n); needed with a learner only.
    exact_rounds
        Statements through the law of hat-alpha cost O(T^2 n) and are void beyond this many rounds.
    k_max
        Partitions up to this many segments are looked at.

    >>> from lpsm import FixedShare
    >>> table = report(FixedShare(n_experts=2, alpha=0.25), [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    >>> bool(table.holds.all())
    True
    """
    import pandas as pd

    return pd.DataFrame(rows(run, losses, exact_rounds, k_max), columns=list(Row._fields))


def rows(
    run: ExpertRun | Learner, losses: ArrayLike | None = None, exact_rounds: int = 2_000, k_max: int = 50
) -> list[Row]:
    """As `report`, as a list of records."""
    if not isinstance(run, ExpertRun | Learner):
        raise TypeError(f"run must be what a learner's run returned, or a learner, got {shown(run)}")
    if isinstance(run, Learner):
        if losses is None:
            raise ValueError("losses must be given with a learner, got None")
        run = run.copy().run(losses)
    elif losses is not None:
        raise ValueError("losses must be given with a learner only; a run carries its own")
    if run.losses is None:
        raise ValueError("run must carry its losses and the learner at its start (weights=True), got neither")
    if run.losses.shape[0] == 0:
        return []
    names, found = _statements(run)
    facts = _Facts(run, exact_rounds, k_max)
    return [_void(name, facts.reason) for name in names] if facts.reason else list(found(facts))


class _Facts:
    """What several statements need, computed once and only if asked for."""

    def __init__(self, run: ExpertRun, exact_rounds: int, k_max: int) -> None:
        self.run, self.exact_rounds, self.k_max = run, exact_rounds, k_max
        self.learner: Any = run.start
        self.awake: Any = run.awake
        self.given = np.asarray(run.losses)
        self.losses = self.given if run.awake is None else np.where(run.awake, self.given, run.loss[:, None])
        (self.rounds, self.n), self.loss = self.losses.shape, run.total_loss
        self.prior = self.learner.weights / self.learner.weights.sum()
        self.most = float(self.losses.max(axis=1).sum())

    @property
    def reason(self) -> str:
        """Why nothing can be said of this run; empty if something can."""
        if not np.isfinite(self.loss):
            return "in some round the mixture gave the outcome no probability"
        if not getattr(self.learner, "untouched", True):
            return "the run does not start with the learner's first round"
        doubles = getattr(self.learner, "doubling", False) and self.awake is not None
        return "its epochs are runs of their own" if doubles else ""

    @cached_property
    def best(self) -> hindsight.BestAlpha:
        return hindsight.best_alpha(self.losses, prior=self.prior, tolerance=1e-4)

    @cached_property
    def log_q(self) -> Floats:
        return bounds.switch_distribution(self.losses, self.best.alpha, prior=self.prior)

    @cached_property
    def moments(self) -> tuple[float, float]:
        return bounds.switch_moments(self.log_q)

    @cached_property
    def inexact(self) -> str:
        """Why the law of hat-alpha at alpha* cannot be used, if so."""
        if self.rounds < 2 or self.n < 2:
            return "no expert can be switched to"
        if not 0.0 < self.best.alpha < 1.0:
            return f"alpha* = {self.best.alpha:g} is not inside (0, 1)"
        if self.rounds > self.exact_rounds:
            return f"not computed beyond the given number of rounds, T = {self.rounds}"
        off, spread = self.moments[0] - self.best.alpha, self.best.alpha * (1.0 - self.best.alpha)
        exact = abs(off) <= TOLERANCE * spread  # beta* is off by as much over the spread
        return "" if exact else f"alpha* is not stationary: the mean of hat-alpha is off by {off:.1e}"

    def compare(self, name: str, measured: float, bound: float, vacuous: str = "") -> Row:
        return compare(name, _kind(name), measured, bound, TOLERANCE * max(1.0, abs(self.loss)), vacuous)

    def upper(self, name: str, loss: float, against: float, bound: float) -> Row:
        """An upper bound of the regret `loss` - `against`; no mixture loses more than each round's worst expert."""
        useless = "no mixture can lose as much" if bound >= self.most - against else ""
        return self.compare(name, loss - against, bound, "the bound is infinite" if bound == np.inf else useless)


def _kind(name: str) -> str:
    """Whether a statement is an identity, a lower bound or an upper one."""
    return KINDS.get(name.removesuffix(OF_ALPHAS), "upper")


def _void(name: str, why: str, *sides: float) -> Row:
    return void(name, _kind(name), why, *sides)


def _statements(run: ExpertRun) -> tuple[tuple[str, ...], Callable[[_Facts], Iterator[Row]]]:
    """What is proved of such a learner: the names, and what finds their rows in that order."""
    match run.start:
        case StaticExpert() if run.awake is not None:
            return (SPECIALISTS, *SHARE), _specialists
        case StaticExpert():
            return (STATIC, *SHARE), _static
        case FixedShare():
            return (SEGMENTS, *SHARE, *MATRICES), _fixed_share
        case MarkovShare():
            return MATRICES, lambda facts: _markov(facts, facts.learner.P)
        case LearnAlpha() if run.awake is not None:
            return ASLEEP, _sleepy_learn_alpha
        case LearnAlpha(doubling=True):
            return (DOUBLING,), _doubling
        case LearnAlpha():
            return (*ALPHA, *(name + OF_ALPHAS for name in SHARE if name != "Claim 1")), _learn_alpha
    raise ValueError(f"run must be of a learner that something is proved of here, got one of {run.start!r}")


def _static(facts: _Facts) -> Iterator[Row]:
    """T 2.2.3, the loss bound of Static-expert, as a regret against the best expert."""
    best = hindsight.best_expert(facts.losses).loss
    bound = bounds.static_expert_loss(facts.losses.sum(axis=0), facts.prior)
    yield facts.upper(STATIC, facts.loss, best, bound - best)
    yield from _alpha_experts(facts, [0.0], [facts.loss])


def _specialists(facts: _Facts) -> Iterator[Row]:
    """Regret over the rounds in which an expert was awake is at most ln(1/its prior); the tightest of all experts."""
    told = (facts.prior > 0.0) & (np.isfinite(facts.losses) | ~facts.awake).all(axis=0)
    if told.any():
        regrets = hindsight.awake_regrets(facts.run.loss, facts.losses, facts.awake)[told]
        limits = -np.log(facts.prior[told])
        at = (limits - regrets).argmin()
        yield facts.compare(SPECIALISTS, float(regrets[at]), float(limits[at]))
    else:
        yield _void(SPECIALISTS, "every expert lost infinitely while it was awake, or had no weight")
    yield from _alpha_experts(facts, [0.0], [facts.loss])


def _fixed_share(facts: _Facts) -> Iterator[Row]:
    alpha = facts.learner.alpha
    matrix = np.full((facts.n, facts.n), alpha / max(facts.n - 1, 1))
    np.fill_diagonal(matrix, 1.0 - alpha)
    yield _segments(facts, alpha)
    yield from _alpha_experts(facts, [alpha], [facts.loss])
    yield from _markov(facts, matrix)


def _segments(facts: _Facts, alpha: float) -> Row:
    """The tightest of the bounds against k segments, k up to `k_max`: all hold iff this one does."""
    curve = hindsight.partition_curve(facts.losses, min(facts.k_max, facts.rounds), neighbours_differ=True)
    start = float(facts.prior.min())
    limits = {
        k: bounds.fixed_share_partition_loss(loss, k, facts.rounds, facts.n, alpha, prior=start)
        for k, loss in enumerate(curve.tolist(), start=1)
        if np.isfinite(loss) and start > 0.0
    }
    if not limits:
        return _void(SEGMENTS, "no partition has a finite loss and weight")
    k = min(limits, key=lambda k: limits[k])
    row = facts.upper(SEGMENTS, facts.loss, float(curve[k - 1]), limits[k] - float(curve[k - 1]))
    return row._replace(verdict=f"{row.verdict} (tightest at k = {k})")


def _alpha_experts(facts: _Facts, alphas: list[float], losses: list[float], suffix: str = "") -> Iterator[Row]:
    """Theorem 1, Lemma 1 and Theorem 2 for Fixed-share at rates and the losses of these, each at its tightest.

    Of one rate also Claim 1, in the scale of beta*: the recursion's second derivative against the law of hat-alpha.
    """
    best, rounds, each = facts.best, facts.rounds, [*zip(alphas, losses, strict=True)]
    first, lemma, claim, second = (name + suffix for name in SHARE)
    apart = partial(bounds.fixed_share_regret, rounds, best.alpha)
    yield _tightest(facts.upper(first, loss, best.loss, apart(alpha)) for alpha, loss in each)
    if facts.inexact:
        yield from (_void(name, facts.inexact) for name in (lemma, claim, second) if not suffix or name != claim)
        return
    moved = partial(bounds.regret_identity, facts.log_q, best.alpha)
    yield _tightest(facts.compare(lemma, loss - best.loss, moved(alpha)) for alpha, loss in each)
    if not suffix:
        of_losses = float(hindsight.alpha_slopes(facts.losses, [best.alpha], prior=facts.prior)[0, 2])
        of_law = bounds.curvature(rounds, best.alpha, facts.moments[1])
        measured, beta = (bounds.relative_curvature(rounds, best.alpha, curve) for curve in (of_losses, of_law))
        yield facts.compare(claim, measured, beta)
    useless, spread = "a regret against the best is never negative", bounds.log_switch_variance(facts.log_q)
    lower = [bounds.two_point_regret(rounds, best.alpha, spread, alpha) for alpha in alphas]
    pairs = zip(losses, lower, strict=True)
    yield _tightest(facts.compare(second, loss - best.loss, b, useless if b <= 0.0 else "") for loss, b in pairs)


def _tightest(rows: Iterable[Row]) -> Row:
    """The violated or else least slack among the rows of one statement; of an identity the largest difference."""
    group = list(rows)
    sign = -1.0 if group[0].kind == "identity" else 1.0
    firm = [row for row in group if row.verdict in ("holds", "violated")] or group
    return min(firm, key=lambda row: (row.holds, sign * row.slack))


def _markov(facts: _Facts, matrix: Floats) -> Iterator[Row]:
    """Theorem 1 in its general form, against a stationary matrix found from the one used."""
    if facts.rounds < 2 or facts.n < 2:
        yield from (_void(name, "no expert can be switched to") for name in MATRICES)
        return
    iterations = max(20, min(2_000, 200_000_000 // (facts.rounds * facts.n**2)))
    found = hindsight.best_transitions(
        facts.losses, start=matrix if matrix.min() > 1e-9 else None, prior=facts.prior, max_iterations=iterations
    )
    # what Jensen's inequality gives at any matrix, less what it gives at a stationary one
    moved = (found.counts > 0.0) & (matrix > 0.0)
    more = (found.counts - found.visits[:, None] * found.matrix)[moved]
    excess = float((more * np.log(found.matrix[moved] / matrix[moved])).sum())
    worst = bounds.markov_share_regret(facts.rounds, found.matrix, matrix, found.visits)
    visited = bounds.markov_share_visited_regret(found.visits, found.matrix, matrix) + max(excess, 0.0)
    for name, bound in zip(MATRICES, (worst, visited), strict=True):
        if excess <= 1e-6:
            yield facts.upper(name, facts.loss, found.loss, bound)
        else:
            why = f"the re-estimation has not settled, residual {found.residual:.1e}"
            yield _void(name, why, facts.loss - found.loss, bound)


def _learn_alpha(facts: _Facts) -> Iterator[Row]:
    """(2.10), Corollary 1 and its optimised form, and the statements about each alpha-expert at their tightest."""
    learner, best = facts.learner, facts.best
    alphas, prior = learner.alphas, learner.alpha_weights / learner.alpha_weights.sum()
    each = hindsight.alpha_losses(facts.losses, alphas, prior=facts.prior)
    own = float(each.min())
    yield facts.upper(ALPHA[0], facts.loss, own, bounds.static_expert_loss(each, prior) - own)
    limit = bounds.learn_alpha_regret(facts.rounds, best.alpha, alphas, prior)
    yield facts.upper(ALPHA[1], facts.loss, best.loss, limit)
    optimised, worst = bounds.learn_alpha_optimised_regret(facts.rounds, alphas.size), worst_divergence(alphas)
    if worst > (1.0 + 1e-9) / (2 * facts.rounds):
        why = f"the worst divergence of the alphas is {worst:.3g}, above 1/(2T)"
    else:
        why = "the prior over the alphas is not uniform" if np.ptp(prior) > 1e-12 else ""
    row = facts.upper(ALPHA[2], facts.loss, best.loss, optimised)
    yield _void(ALPHA[2], why, row.measured, row.bound) if why else row
    yield from _alpha_experts(facts, alphas.tolist(), each.tolist(), OF_ALPHAS)


def _sleepy_learn_alpha(facts: _Facts) -> Iterator[Row]:
    """(2.10) where experts sleep, and with it the best alpha-expert against k segments: ln m beyond its own bound."""
    learner = facts.learner
    each = [FixedShare(facts.n, a, prior=facts.prior).run(facts.given, facts.awake) for a in learner.alphas.tolist()]
    totals = np.array([one.total_loss for one in each])
    best, least = int(totals.argmin()), float(totals.min())
    if not np.isfinite(least):
        yield from (_void(name, "each alpha-expert gave an outcome no probability") for name in ASLEEP)
        return
    extra = bounds.static_expert_loss(totals, learner.alpha_weights / learner.alpha_weights.sum()) - least
    yield facts.upper(ASLEEP[0], facts.loss, least, extra)
    row = _segments(_Facts(each[best], 0, facts.k_max), float(learner.alphas[best]))
    if row.verdict.startswith("void"):
        yield row._replace(statement=ASLEEP[1])
    else:
        second = facts.compare(ASLEEP[1], row.measured + facts.loss - least, row.bound + extra)
        yield second._replace(verdict=second.verdict + row.verdict[row.verdict.index(" (") :])


def _doubling(facts: _Facts) -> Iterator[Row]:
    yield facts.upper(DOUBLING, facts.loss, facts.best.loss, doubling_regret(facts.rounds))
