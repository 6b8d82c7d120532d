"""A run over experts held against everything the thesis promises about it.

What it models: for the learner that made the run, every statement of `lpsm.bounds.experts`
that speaks about it, with both sides computed: the measured one from the run's own losses
and hindsight, the bound from the statement.  A statement whose hypothesis fails is void, one
that promises nothing is vacuous; both are said and neither counts as violated.
A run in which experts slept is, for all but Learn-alpha, to the letter the run in which whoever sleeps loses what the
mixture loses; so the statements speak of those losses, where a comparator's regret grows only in the rounds in which
it is awake.  Each alpha-expert of Learn-alpha has losses of its own then, and Learn-alpha is held against the best.
Sources: Monteleoni 2006 (T), sections 2.2-2.4; Freund, Schapire, Singer and Warmuth 1997, theorem 1.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm import hindsight
from lpsm.bounds import experts as bounds
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

__all__ = ["Row", "report", "rows"]

Floats = NDArray[np.float64]
TOLERANCE = 1e-9  # relative to the larger of 1 and the run's loss: rounding, not generosity


class Row(NamedTuple):
    """One statement held against a run; `holds` is False only for a violation under its hypotheses.

    `slack` is bound - measured for an "upper" bound, measured - bound for a "lower" one and the
    absolute difference for an "identity"; `verdict` begins with "holds", "violated", "vacuous: why" or "void: why".
    """

    statement: str
    kind: str
    measured: float
    bound: float
    slack: float
    holds: bool
    verdict: str


def report(
    run: ExpertRun | Learner, losses: ArrayLike | None = None, *, exact_rounds: int = 2_000, k_max: int = 50
) -> pd.DataFrame:
    """Every statement about the run's learner as a table: statement, measured, bound, slack, holds.

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

    Returns
    -------
    pandas.DataFrame
        One `Row` a row.

    >>> from lpsm import FixedShare
    >>> table = report(FixedShare(n_experts=2, alpha=0.25), [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    >>> bool(table.holds.all())
    True
    """
    import pandas as pd

    return pd.DataFrame(rows(run, losses, exact_rounds=exact_rounds, k_max=k_max), columns=list(Row._fields))


def rows(
    run: ExpertRun | Learner, losses: ArrayLike | None = None, *, exact_rounds: int = 2_000, k_max: int = 50
) -> list[Row]:
    """As `report`, as a list of records."""
    if isinstance(run, Learner):
        if losses is None:
            raise ValueError("losses must be given with a learner, got None")
        run = type(run).from_state(run.state()).run(losses)
    elif losses is not None:
        raise ValueError("losses must be given with a learner only; a run carries its own")
    if run.losses is None or run.start is None:
        raise ValueError("run must carry its losses and the learner at its start (weights=True), got neither")
    if run.losses.shape[0] == 0:
        return []
    learner = run.start
    facts = _Facts(run, learner, exact_rounds, k_max)
    if not np.isfinite(facts.loss):
        facts.reason = "in some round the mixture gave the outcome no probability"
    if isinstance(learner, StaticExpert) and run.awake is not None:
        return [_specialists(facts, run), *_fixed_share(facts, 0.0)]
    if isinstance(learner, StaticExpert):
        return [_static(facts), *_fixed_share(facts, 0.0)]
    if isinstance(learner, FixedShare):
        return [_partition(facts, learner.alpha), *_fixed_share(facts, learner.alpha), *_markov(facts, learner.alpha)]
    if isinstance(learner, MarkovShare):
        return _markov(facts, learner.P)
    if isinstance(learner, LearnAlpha):
        if not learner.untouched and facts.reason is None:
            facts.reason = "the run does not start with the learner's first round"
        if run.awake is not None:
            return _sleepy_learn_alpha(facts, learner, run)
        return _doubling(facts) if learner.doubling else _learn_alpha(facts, learner)
    raise ValueError(f"run must be of a learner that something is proved of here, got one of {learner!r}")


class _Facts:
    """What several statements need, computed once and only if asked for."""

    def __init__(self, run: ExpertRun, learner: Learner, exact_rounds: int, k_max: int) -> None:
        assert run.losses is not None
        self.losses: Floats = run.losses if run.awake is None else np.where(run.awake, run.losses, run.loss[:, None])
        self.rounds, self.n = run.losses.shape
        self.loss = run.total_loss
        self.prior = learner.weights / learner.weights.sum()
        self.exact = self.rounds <= exact_rounds
        self.k_max = min(k_max, self.rounds)
        self.tolerance = TOLERANCE * max(1.0, abs(self.loss))
        self.reason: str | None = None  # why nothing can be said of this run

    @cached_property
    def best(self) -> hindsight.BestAlpha:
        return hindsight.best_alpha(self.losses, prior=self.prior, tolerance=1e-4)

    @cached_property
    def most(self) -> float:
        """No mixture can lose more."""
        return float(self.losses.max(axis=1).sum())

    @cached_property
    def log_q(self) -> Floats:
        return bounds.switch_distribution(self.losses, self.best.alpha, prior=self.prior)

    @cached_property
    def moments(self) -> tuple[float, float]:
        return bounds.switch_moments(self.log_q)

    @cached_property
    def log_variance(self) -> float:
        return bounds.log_switch_variance(self.log_q)

    @cached_property
    def beta(self) -> float:
        second = bounds.curvature(self.rounds, self.best.alpha, self.moments[1])
        return bounds.relative_curvature(self.rounds, self.best.alpha, second)

    @cached_property
    def curve(self) -> Floats:
        return hindsight.partition_curve(self.losses, self.k_max, neighbours_differ=True)

    @property
    def exact_reason(self) -> str | None:
        """Why the law of hat-alpha at alpha* cannot be used, if so."""
        if self.reason or self.rounds < 2 or self.n < 2:
            return self.reason or "no expert can be switched to"
        if not 0.0 < self.best.alpha < 1.0:
            return f"alpha* = {self.best.alpha:g} is not inside (0, 1)"
        if not self.exact:
            return f"not computed beyond the given number of rounds, T = {self.rounds}"
        if abs(self.moments[0] - self.best.alpha) > 1e-8:
            return f"alpha* is not stationary: the mean of hat-alpha is off by {self.moments[0] - self.best.alpha:.1e}"
        return None

    def row(self, statement: str, kind: str, measured: float, bound: float, why_void: str | None = None) -> Row:
        """Compare the two sides; `measured` is a loss or a regret, and so is `bound`."""
        why_void = why_void or self.reason
        if why_void:
            return Row(statement, kind, measured, bound, np.nan, True, f"void: {why_void}")
        slack = (
            0.0
            if measured == bound
            else {"upper": bound - measured, "lower": measured - bound}.get(kind, abs(measured - bound))
        )
        holds = slack <= self.tolerance if kind == "identity" else slack >= -self.tolerance
        return Row(statement, kind, measured, bound, slack, holds, "holds" if holds else "violated")

    def upper(self, statement: str, loss: float, against: float, bound: float, why_void: str | None = None) -> Row:
        """An upper bound of the regret `loss` - `against`."""
        row = self.row(statement, "upper", loss - against, bound, why_void)
        if row.verdict != "holds":
            return row
        if bound == np.inf:
            return row._replace(verdict="vacuous: the bound is infinite")
        if bound >= self.most - against:
            return row._replace(verdict="vacuous: no mixture can lose as much")
        return row

    def void(self, statement: str, kind: str, why: str) -> Row:
        return Row(statement, kind, np.nan, np.nan, np.nan, True, f"void: {why}")


def _static(facts: _Facts) -> Row:
    """T 2.2.3, the loss bound of Static-expert, as a regret against the best expert."""
    best = hindsight.best_expert(facts.losses).loss
    bound = bounds.static_expert_loss(facts.losses.sum(axis=0), facts.prior)
    return facts.upper("Static-expert against the best expert", facts.loss, best, bound - best)


def _specialists(facts: _Facts, run: ExpertRun) -> Row:
    """Regret over the rounds in which an expert was awake is at most ln(1/its prior); the tightest of all experts."""
    name = "Static-expert against an expert while it is awake"
    if facts.reason:
        return facts.void(name, "upper", facts.reason)
    assert run.awake is not None
    known = facts.prior > 0.0
    regrets = hindsight.awake_regrets(run.loss, facts.losses, run.awake)[known]
    limits = -np.log(facts.prior[known])
    at = int((limits - regrets).argmin())
    return facts.row(name, "upper", float(regrets[at]), float(limits[at]))


def _sleepy_learn_alpha(facts: _Facts, learner: LearnAlpha, run: ExpertRun) -> list[Row]:
    """(2.10) where experts sleep, and with it the best alpha-expert against k segments: ln m beyond its own bound."""
    names = ("Learn-alpha against its best alpha", "Learn-alpha against k segments while they are awake")
    if facts.reason or learner.doubling:
        return [facts.void(name, "upper", facts.reason or "its epochs are runs of their own") for name in names]
    assert run.losses is not None
    start, prior = facts.prior, learner.alpha_weights / learner.alpha_weights.sum()
    each = [FixedShare(facts.n, float(alpha), prior=start).run(run.losses, run.awake) for alpha in learner.alphas]
    totals = np.array([one.total_loss for one in each])
    best = int(totals.argmin())
    if not np.isfinite(totals[best]):
        return [facts.void(name, "upper", "each alpha-expert gave an outcome no probability") for name in names]
    own = _Facts(each[best], learner, 0, facts.k_max)
    limit = bounds.static_expert_loss(totals, prior)
    row = _partition(own, float(learner.alphas[best]))
    if row.verdict.startswith("void"):
        second = row._replace(statement=names[1])
    else:
        extra = limit - totals[best]  # of the mixture beyond this alpha-expert, at most
        second = facts.row(names[1], "upper", row.measured + facts.loss - totals[best], row.bound + extra)
        second = second._replace(verdict=second.verdict + row.verdict[row.verdict.index(" (") :])
    return [facts.upper(names[0], facts.loss, float(totals.min()), limit - float(totals.min())), second]


def _partition(facts: _Facts, alpha: float) -> Row:
    """The tightest of the bounds against k segments, k up to `k_max`: all hold iff this one does."""
    sizes = np.arange(1, facts.k_max + 1)
    possible = sizes[np.isfinite(facts.curve)]
    start = float(facts.prior.min())
    if possible.size == 0 or start <= 0.0:
        return facts.void("Fixed-share against k segments", "upper", "no partition has a finite loss and weight")
    limits = np.array(
        [
            bounds.fixed_share_partition_loss(float(facts.curve[k - 1]), k, facts.rounds, facts.n, alpha, prior=start)
            for k in possible.tolist()
        ]
    )
    k, against = int(possible[limits.argmin()]), float(facts.curve[possible[limits.argmin()] - 1])
    row = facts.upper("Fixed-share against k segments", facts.loss, against, float(limits.min()) - against)
    return row._replace(verdict=f"{row.verdict} (tightest at k = {k})")


def _fixed_share(facts: _Facts, alpha: float) -> list[Row]:
    """Theorem 1, Lemma 1, Claim 1 with beta*, Theorem 2 for Fixed-share at `alpha`."""
    names = ("Theorem 1", "Lemma 1", "Claim 1", "Theorem 2")
    if facts.reason:
        return [
            facts.void(name, kind, facts.reason)
            for name, kind in zip(names, ("upper", "identity", "identity", "lower"), strict=True)
        ]
    best = facts.best
    first = facts.upper(names[0], facts.loss, best.loss, bounds.fixed_share_regret(facts.rounds, best.alpha, alpha))
    why = facts.exact_reason
    if why:
        return [
            first,
            *(facts.void(n, k, why) for n, k in zip(names[1:], ("identity", "identity", "lower"), strict=True)),
        ]
    regret = facts.loss - best.loss
    lemma = facts.row(names[1], "identity", regret, bounds.regret_identity(facts.log_q, best.alpha, alpha))
    return [first, lemma, _claim(facts), _lower(facts, names[3], regret, alpha)]


def _claim(facts: _Facts) -> Row:
    """Claim 1 in the scale of beta*: the recursion's second derivative against the variance of hat-alpha."""
    second = float(hindsight.alpha_slopes(facts.losses, [facts.best.alpha], prior=facts.prior)[0, 2])
    measured = bounds.relative_curvature(facts.rounds, facts.best.alpha, second)
    return facts.row("Claim 1", "identity", measured, facts.beta)


def _lower(facts: _Facts, name: str, regret: float, alpha: float) -> Row:
    """Theorem 2, through the variance that beta* stands for."""
    bound = bounds.two_point_regret(facts.rounds, facts.best.alpha, facts.log_variance, alpha)
    row = facts.row(name, "lower", regret, bound)
    if row.verdict == "holds" and bound <= 0.0:
        return row._replace(verdict="vacuous: a regret against the best is never negative")
    return row


def _markov(facts: _Facts, dynamics: float | Floats) -> list[Row]:
    """Theorem 1 in its general form, against a stationary matrix found from the one used."""
    names = ("Theorem 1 for matrices", "Theorem 1 for matrices, by visits")
    if facts.reason or facts.rounds < 2 or facts.n < 2:
        return [facts.void(name, "upper", facts.reason or "no expert can be switched to") for name in names]
    if isinstance(dynamics, float):
        matrix = np.full((facts.n, facts.n), dynamics / (facts.n - 1))
        np.fill_diagonal(matrix, 1.0 - dynamics)
    else:
        matrix = dynamics
    iterations = max(20, min(2_000, 200_000_000 // (facts.rounds * facts.n**2)))
    found = hindsight.best_transitions(
        facts.losses, start=matrix if matrix.min() > 1e-9 else None, prior=facts.prior, max_iterations=iterations
    )
    # what Jensen's inequality gives at any matrix, less what it gives at a stationary one
    moved = (found.counts > 0.0) & (matrix > 0.0)
    excess = (found.counts - found.visits[:, None] * found.matrix)[moved]
    excess = excess * np.log(found.matrix[moved] / matrix[moved])
    why = None if excess.sum() <= 1e-6 else f"the re-estimation has not settled, residual {found.residual:.1e}"
    visited = bounds.markov_share_visited_regret(found.visits, found.matrix, matrix) + max(float(excess.sum()), 0.0)
    worst = bounds.markov_share_regret(facts.rounds, found.matrix, matrix, found.visits)
    return [
        facts.upper(name, facts.loss, found.loss, bound, why)
        for name, bound in zip(names, (worst, visited), strict=True)
    ]


def _learn_alpha(facts: _Facts, learner: LearnAlpha) -> list[Row]:
    """(2.10), Corollary 1 and its optimised form, and the statements about each alpha-expert at their tightest."""
    names = ("Learn-alpha against its best alpha", "Corollary 1", "Corollary 1, optimised")
    if facts.reason:
        return [facts.void(name, "upper", facts.reason) for name in names]
    alphas, prior = learner.alphas, learner.alpha_weights / learner.alpha_weights.sum()
    each = hindsight.alpha_losses(facts.losses, alphas, prior=facts.prior)
    own = float(each.min())
    best = facts.best
    limit = bounds.learn_alpha_regret(facts.rounds, best.alpha, alphas, prior)
    worst = worst_divergence(alphas)
    why = None
    if worst > (1.0 + 1e-9) / (2 * facts.rounds):
        why = f"the worst divergence of the alphas is {worst:.3g}, above 1/(2T)"
    elif np.ptp(prior) > 1e-12:
        why = "the prior over the alphas is not uniform"
    optimised = bounds.learn_alpha_optimised_regret(facts.rounds, alphas.size)
    table = [
        facts.upper(names[0], facts.loss, own, bounds.static_expert_loss(each, prior) - own),
        facts.upper(names[1], facts.loss, best.loss, limit),
        facts.upper(names[2], facts.loss, best.loss, optimised, why),
    ]
    per_alpha = [_alpha_expert(facts, float(a), float(loss)) for a, loss in zip(alphas, each, strict=True)]
    return table + [_tightest(list(group)) for group in zip(*per_alpha, strict=True)]


def _alpha_expert(facts: _Facts, alpha: float, loss: float) -> list[Row]:
    names = ("Theorem 1, alpha-experts", "Lemma 1, alpha-experts", "Theorem 2, alpha-experts")
    first = facts.upper(
        names[0], loss, facts.best.loss, bounds.fixed_share_regret(facts.rounds, facts.best.alpha, alpha)
    )
    if facts.exact_reason:
        return [
            first,
            *(facts.void(n, k, facts.exact_reason) for n, k in zip(names[1:], ("identity", "lower"), strict=True)),
        ]
    regret = loss - facts.best.loss
    lemma = facts.row(names[1], "identity", regret, bounds.regret_identity(facts.log_q, facts.best.alpha, alpha))
    return [first, lemma, _lower(facts, names[2], regret, alpha)]


def _tightest(group: list[Row]) -> Row:
    """The violated or else least slack among the rows of one statement; of an identity the largest difference."""
    sign = -1.0 if group[0].kind == "identity" else 1.0
    firm = [row for row in group if row.verdict in ("holds", "violated")] or group
    return min(firm, key=lambda row: (row.holds, sign * row.slack))


def _doubling(facts: _Facts) -> list[Row]:
    name = "Learn-alpha with doubling"
    if facts.reason:
        return [facts.void(name, "upper", facts.reason)]
    return [facts.upper(name, facts.loss, facts.best.loss, doubling_regret(facts.rounds))]
