"""What the thesis proves about tracking the best expert, one pure function a statement.

T rounds (`horizon`), n experts, losses in nats, L_T(alpha) the loss of Fixed-share at switching rate alpha, alpha*
(`best_alpha`) a rate of least L_T.  The hat-alpha of a sequence of experts is the fraction of its T-1 transitions that
switch; Q is the law of hat-alpha under the posterior over sequences at alpha*, ln Q (T,) is `log_q`.
Functions return the right-hand side; infinity where a statement promises nothing.

Left out: running the learners (`lpsm.experts`) and comparing (`lpsm.bounds.report`).
Source: Monteleoni 2006 (T), sections 2.2-2.4 and appendix A; Herbster and Warmuth 1998 (HW)
for the bounds against one expert and against k-partitions.
"""

from __future__ import annotations

from math import exp, expm1, inf, log, log1p

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, rel_entr, xlog1py, xlogy

from lpsm.arrays import Floats
from lpsm.checks import at_least, between, checked, probability, shaped
from lpsm.experts.hindsight_kernels import Likelihoods, switch_coefficients
from lpsm.experts.learner import checked_prior, checked_rates, checked_transitions, logarithms


@checked
def divergence(p: ArrayLike, q: ArrayLike) -> Floats:
    """D(p || q) of Bernoulli distributions, elementwise, nats; 0 ln 0 is 0.

    >>> float(divergence(0.0, 0.5)) == log(2)
    True
    """
    p, q = np.asarray(p, float), np.asarray(q, float)
    if not (((p >= 0.0) & (p <= 1.0)).all() and ((q >= 0.0) & (q <= 1.0)).all()):
        raise ValueError(f"p and q must lie in [0, 1], got {p} and {q}")
    # p ln(p/q) + (1-p) ln((1-p)/(1-q)); grouped so that nothing is lost near 0
    with np.errstate(divide="ignore", invalid="ignore"):
        near = xlog1py(1.0 - p, (q - p) / (1.0 - q))
    far = np.where(q == 1.0, np.where(p == 1.0, 0.0, inf), near)
    return np.asarray(np.maximum(rel_entr(p, q) + far, 0.0))


@checked
def static_expert_loss(expert_losses: ArrayLike, prior: ArrayLike | None = None) -> float:
    """HW, T 2.2.3: Static-expert loses at most min_i (L_i + ln(1/prior_i)), L_i the total `expert_losses`, (n,)."""
    losses = shaped("expert_losses", expert_losses, "n", filled=True)
    return float((losses - logarithms(checked_prior("prior", prior, losses.size))).min())


@checked
def fixed_share_partition_loss(
    partition_loss: float, k: int, horizon: int, n_experts: int, alpha: float, *, prior: float | None = None
) -> float:
    """HW: Fixed-share loses at most L_k + ln n + (k-1) ln((n-1)/alpha) + (T-k) ln(1/(1-alpha)).

    L_k is the loss of a sequence of experts with exactly k - 1 changes.  The bound is infinite at alpha = 0 unless
    k = 1, at 1 unless k = T.  `prior` is the first weight of the first segment's expert; 1/n when left out.
    """
    between(1, horizon, k=k)
    if k > 1 and n_experts == 1:
        raise ValueError(f"k must be 1 when there is one expert, got {k}")
    start = log(n_experts) if prior is None else float(-np.log(prior))
    switching = (k - 1) * (log(n_experts - 1) - _log(alpha)) if k > 1 else 0.0
    staying = (horizon - k) * (-log1p(-alpha) if alpha < 1.0 else inf) if horizon > k and n_experts > 1 else 0.0
    return partition_loss + start + switching + staying


@checked
def fixed_share_regret(horizon: int, best_alpha: float, alpha: float) -> float:
    """T Theorem 1: L_T(alpha) - L_T(alpha*) <= (T-1) D(alpha* || alpha).

    alpha* must minimise L_T over [0, 1]; of an interior one the proof uses only that it is stationary.
    Infinite where alpha rules out what alpha* needs (alpha = 0 < alpha*).
    """
    return learn_alpha_regret(horizon, best_alpha, [alpha])


@checked
def learn_alpha_regret(horizon: int, best_alpha: float, alphas: ArrayLike, prior: ArrayLike | None = None) -> float:
    """T Corollary 1 (2.9): L_top - L_T(alpha*) <= min_j (ln(1/prior_j) + (T-1) D(alpha* || alpha_j)), prior_j 1/m."""
    rates = checked_rates(alphas)
    apart = (horizon - 1) * divergence(best_alpha, rates) if horizon > 1 else np.zeros(rates.size)
    return static_expert_loss(apart, prior)


@checked
def learn_alpha_optimised_regret(horizon: int, n_alphas: int) -> float:
    """T 2.3: with a grid of m = `n_alphas` whose worst divergence is delta = 1/(2T), at most ln m + (T-1) delta."""
    return log(n_alphas) + (horizon - 1) / (2 * horizon)


@checked
def markov_share_regret(horizon: int, best: ArrayLike, matrix: ArrayLike, visits: ArrayLike | None = None) -> float:
    """T Theorem 1, general form: L_T(P) - L_T(P*) <= (T-1) max_j D(P*_j || P_j) over rows j.

    `best` (n, n) must be stationary for L_T.  With `visits` (n,), the expected departures from
    each expert at `best`, rows that are never left do not count: they change no loss.
    """
    rows, counts = _row_divergences(best, matrix, visits)
    return (horizon - 1) * float(rows[counts > 0.0].max(initial=0.0)) if horizon > 1 else 0.0


@checked
def markov_share_visited_regret(visits: ArrayLike, best: ArrayLike, matrix: ArrayLike) -> float:
    """The step before the maximum is taken: L_T(P) - L_T(P*) <= sum_j E[n_j] D(P*_j || P_j).

    `visits` (n,) are the expected departures E[n_j] at the stationary `best`; they sum to T-1.
    """
    rows, counts = _row_divergences(best, matrix, visits)
    left = counts > 0.0
    return float(counts[left] @ rows[left])


@checked
def switch_distribution(losses: ArrayLike, alpha: float, *, prior: ArrayLike | None = None) -> Floats:
    """Logarithm of Q(k), the posterior of k switches at rate `alpha` in (0, 1), k = 0 .. T-1 (T 2.2.2).

    Exact, by a dynamic programme over rounds and number of switches: O(T^2 n) time, O(T n)
    memory, in the log domain since Lemma 1 multiplies the far tails by huge factors.
    """
    probability(alpha=alpha)
    prepared = Likelihoods(losses, prior)
    rounds, n = prepared.shifted.shape
    if not prepared.finite:
        raise ValueError("losses must allow a finite value in every round, got a round of infinities")
    if n == 1 and rounds > 1:
        raise ValueError("losses must come from at least 2 experts, got 1")
    if rounds == 1:
        return np.zeros(1)
    logs = switch_coefficients(prepared.shifted, logarithms(prepared.prior))
    logs += np.arange(rounds) * log(alpha) + np.arange(rounds)[::-1] * log1p(-alpha)
    return np.asarray(logs - logsumexp(logs))


@checked
def switch_moments(log_q: ArrayLike) -> tuple[float, float]:
    """Mean and variance of hat-alpha = k/(T-1) under Q."""
    weights = np.exp(_log_q(log_q))
    rates = np.arange(weights.size) / (weights.size - 1)
    mean = float(weights @ rates)
    return mean, float(weights @ (rates - mean) ** 2)


@checked
def log_switch_variance(log_q: ArrayLike) -> float:
    """Logarithm of the variance of hat-alpha, also where the variance itself underflows."""
    logs = _log_q(log_q)
    mean, _ = switch_moments(logs)
    with np.errstate(divide="ignore"):
        return float(logsumexp(logs + 2.0 * np.log(np.abs(np.arange(logs.size) / (logs.size - 1) - mean))))


@checked
def regret_identity(log_q: ArrayLike, reference: float, alpha: float) -> float:
    """T Lemma 1 (2.4): L_T(alpha) - L_T(reference) = -ln E_Q exp((T-1)(D(hat || reference) - D(hat || alpha))).

    `log_q` is `switch_distribution` at `reference` in (0, 1), which need not minimise the loss; alpha is in [0, 1].
    """
    probability(reference=reference)
    logs = _log_q(log_q)
    return _regret(logs, np.arange(logs.size), logs.size - 1, reference, alpha)


@checked
def curvature(horizon: int, best_alpha: float, variance: float) -> float:
    """T Claim 1 (2.20): L_T''(alpha*) at a stationary alpha* in (0, 1), by Q's `variance` of hat-alpha."""
    at_least(2, horizon=horizon)
    probability(best_alpha=best_alpha)
    between(0.0, 0.25, variance=variance)
    moves, spread = horizon - 1, best_alpha * (1.0 - best_alpha)
    return (moves / spread) ** 2 * (spread / moves - variance)


@checked
def relative_curvature(horizon: int, best_alpha: float, second_derivative: float) -> float:
    """T (2.15): beta* = alpha*(1-alpha*)/(T-1) L_T''(alpha*), in [0, 1] at a minimum in (0, 1), else a ValueError."""
    at_least(2, horizon=horizon)
    probability(best_alpha=best_alpha)
    beta = best_alpha * (1.0 - best_alpha) / (horizon - 1) * second_derivative
    if not -1e-6 <= beta <= 1.0 + 1e-6:
        raise ValueError(f"second_derivative must give a beta in [0, 1] at a minimum, got beta {beta}")
    return min(max(beta, 0.0), 1.0)


@checked
def fixed_share_regret_lower(horizon: int, best_alpha: float, beta: float, alpha: float) -> float:
    """T Theorem 2 (2.16): a lower bound of L_T(alpha) - L_T(alpha*), from the two-point law of hat-alpha.

    Of all laws on [0, 1] with mean alpha* in (0, 1) and the variance that beta*, its `relative_curvature`, fixes
    (2.21), the one that puts mass on the end towards alpha makes the regret least.  The bound may be negative, that is
    vacuous; at beta* = 1 the law is a point and the bound equals Theorem 1's.
    """
    at_least(2, horizon=horizon)
    probability(best_alpha=best_alpha)
    variance = (1.0 - beta) * best_alpha * (1.0 - best_alpha) / (horizon - 1)  # (2.21)
    return two_point_regret(horizon, best_alpha, _log(variance), alpha)


@checked
def two_point_regret(horizon: int, best_alpha: float, log_variance: float, alpha: float) -> float:
    """Theorem 2 from the logarithm of the variance of hat-alpha (2.21) in place of beta*.

    Where the losses all but dictate the sequence of experts beta* rounds to 1 while the variance
    still decides the bound; see `log_switch_variance`.
    """
    towards = 1.0 if alpha >= best_alpha else 0.0
    # q / (1 - q) = variance / (distance of alpha* to the end)^2 for q = q_1 or q_0
    log_odds = min(log_variance - 2.0 * log(abs(towards - best_alpha)), 700.0)
    odds = exp(log_odds)
    log_rest = -log1p(odds)
    rest = best_alpha - odds * (1.0 - best_alpha) if towards else best_alpha * (1.0 + odds)
    rest = min(max(rest, 0.0), 1.0)  # (alpha* - q_1)/(1 - q_1), or alpha*/(1 - q_0)
    law, moves = np.array([log_odds + log_rest, log_rest]), horizon - 1
    return _regret(law, moves * np.array([towards, rest]), moves, best_alpha, alpha)


def _regret(logs: Floats, switches: NDArray[np.generic], moves: int, reference: float, alpha: float) -> float:
    """-ln of the mean of p(s; alpha)/p(s; reference) over sequences with so many switches in `moves` transitions."""
    s = np.asarray(switches, float)
    stays = moves - s
    ratio = xlogy(s, alpha) - s * log(reference) + xlog1py(stays, -alpha) - stays * log1p(-reference)
    return float(-logsumexp(logs + ratio))


def _log(x: float) -> float:
    return log(x) if x > 0.0 else -inf


def _log_q(log_q: ArrayLike) -> Floats:
    logs = np.asarray(log_q, float)
    if logs.ndim != 1 or logs.size < 2 or abs(expm1(float(logsumexp(logs)))) > 1e-6:
        raise ValueError(f"log_q must hold the logarithms of probabilities (T,), T >= 2, got shape {logs.shape}")
    return logs


def _row_divergences(best: ArrayLike, matrix: ArrayLike, visits: ArrayLike | None) -> tuple[Floats, Floats]:
    """D(P*_j || P_j) for every row j, (n,), and the visits; 1 each if not given."""
    target = checked_transitions("best", best)
    used, n = checked_transitions("matrix", matrix, len(target)), len(target)
    counts = shaped("visits", np.ones(n) if visits is None else visits, n)
    if not (counts >= 0.0).all():
        raise ValueError(f"visits must hold numbers of at least 0, got {counts.min()}")
    return np.maximum(rel_entr(target, used).sum(axis=1), 0.0), counts
