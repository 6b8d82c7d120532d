"""Slow exact references for learners over experts and for comparators in hindsight; no code of the fast path."""

from itertools import pairwise, product
from math import exp, fsum, log

import mpmath
import numpy as np
from scipy import special


def share_matrix(n, alpha):
    """Equation (2.3): alpha/(n-1) goes to each other expert."""
    if n == 1:
        return np.ones((1, 1))
    matrix = np.full((n, n), alpha / (n - 1))
    np.fill_diagonal(matrix, 1 - alpha)
    return matrix


def by_mpmath(losses, laws, prior, alpha_prior, awake=None, digits=60):
    """Mixture of Markov learners: loss (T,), weights (T+1, n), weights of the laws (T+1, m).

    A law is a number alpha, a matrix, or a matrix after each round.  A sleeping expert is multiplied by its column's
    own likelihood.  A round nobody foresaw costs infinity and changes nothing.
    """
    mp = mpmath.mp.clone()
    mp.dps = digits
    losses = np.asarray(losses, float)
    rounds, n = losses.shape

    def exactly(law):
        if np.ndim(law) or n == 1:
            return [[mp.mpf(float(value)) for value in row] for row in (law if np.ndim(law) else [[1]])]
        alpha = mp.mpf(float(law))
        return [[1 - alpha if i == j else alpha / (n - 1) for i in range(n)] for j in range(n)]

    exact = [[exactly(one) for one in law] if np.ndim(law) == 3 else [exactly(law)] * rounds for law in laws]
    rows = [[mp.mpf(float(p)) for p in prior] for _ in exact]
    rows = [[p / sum(row) for p in row] for row in rows]
    top = [mp.mpf(float(a)) for a in alpha_prior]
    top = [a / sum(top) for a in top]
    out_loss, out_weights, out_alphas = [], [], []

    def note():
        out_weights.append([float(sum(a * row[i] for a, row in zip(top, rows, strict=True))) for i in range(n)])
        out_alphas.append([float(a) for a in top])

    for t in range(rounds):
        note()
        mask = [True] * n if awake is None else [bool(v) for v in awake[t]]
        likelihood = [mp.exp(-mp.mpf(float(v))) if m else None for v, m in zip(losses[t], mask, strict=True)]
        ratios = []
        for row in rows:
            base = sum(p for p, m in zip(row, mask, strict=True) if m)
            seen = sum(p * f for p, f in zip(row, likelihood, strict=True) if f is not None)
            ratios.append(mp.mpf(1) if base == 0 else seen / base)
        total = sum(a * r for a, r in zip(top, ratios, strict=True))
        if total == 0:
            out_loss.append(np.inf)
            continue
        out_loss.append(float(-mp.log(total)))
        top = [a * r / total for a, r in zip(top, ratios, strict=True)]
        for k, (row, ratio) in enumerate(zip(rows, ratios, strict=True)):
            if ratio == 0:
                continue
            new = [p * (f if f is not None else ratio) / ratio for p, f in zip(row, likelihood, strict=True)]
            rows[k] = [sum(new[j] * exact[k][t][j][i] for j in range(n)) for i in range(n)]
    note()
    return np.array(out_loss), np.array(out_weights), np.array(out_alphas)


def krichevsky_trofimov_loss(losses, digits=30):
    """-ln of the integral of exp(-L_T(alpha)) against 1/(pi sqrt(alpha(1-alpha))), by its polynomial's coefficients.

    exp(-L_T) = sum_k c_k alpha^k (1-alpha)^(T-1-k), c_k the weight of the sequences with k changes; the integral
    of each term is a Beta function.
    """
    mp = mpmath.mp.clone()
    mp.dps = digits
    losses = np.asarray(losses, float)
    rounds, n = losses.shape
    by_changes = [[mp.exp(-mp.mpf(float(v))) / n for v in losses[0]]]
    for t in range(1, rounds):
        factor = [mp.exp(-mp.mpf(float(v))) for v in losses[t]]
        new = []
        for k in range(t + 1):
            stay = by_changes[k] if k < t else [mp.mpf(0)] * n
            come = by_changes[k - 1] if k else [mp.mpf(0)] * n
            mass = sum(come)
            new.append([factor[i] * (stay[i] + (mass - come[i]) / (n - 1)) for i in range(n)])
        by_changes = new
    total = sum(sum(row) * mp.beta(k + mp.mpf(1) / 2, rounds - 1 - k + mp.mpf(1) / 2) / mp.pi
        for k, row in enumerate(by_changes))  # fmt: skip
    return float(-mp.log(total))


def variable_share_matrices(losses, alpha):
    """The transition law of Variable-share after each round, which depends on the losses."""
    stays = (1 - alpha) ** losses
    n = stays.shape[1]
    if n == 1:
        return np.ones((len(losses), 1, 1))
    return [np.where(np.eye(n), stay[:, None], (1 - stay[:, None]) / (n - 1)) for stay in stays]


def ada_hedge_reference(losses, digits=50):
    """Weights of AdaHedge, (T+1, n), by its definition in mpmath."""
    mp = mpmath.mp.clone()
    mp.dps = digits
    n = len(losses[0])
    cumulative, gap, out = [mp.mpf(0)] * n, mp.mpf(0), []
    for row in [*losses, [0.0] * n]:  # nothing comes of the last
        low, row = min(cumulative), [mp.mpf(float(v)) for v in row]
        eta = mp.log(n) / gap if gap else mp.inf
        values = [mp.exp(-eta * (c - low)) if gap else mp.mpf(c == low) for c in cumulative]
        weights = [v / sum(values) for v in values]
        out.append([float(w) for w in weights])
        mixed = min(v for w, v in zip(weights, row, strict=True) if w > 0)
        if gap:
            mixed = -mp.log(sum(w * mp.exp(-eta * v) for w, v in zip(weights, row, strict=True))) / eta
        gap += sum(w * v for w, v in zip(weights, row, strict=True)) - mixed
        gap = gap if abs(gap) >= mp.mpf(10) ** (8 - digits) else mp.mpf(0)
        cumulative = [c + v for c, v in zip(cumulative, row, strict=True)]
    return np.array(out)


def squint_weights(regret, variance):
    """Squint's weights by numerical integration over the learning rate."""
    mp = mpmath.mp.clone()
    mp.dps = 25
    values = []
    for R, V in zip(regret, variance, strict=True):
        peak = min(max(R / (2 * V), 0.0), 0.5) if V else 0.25
        ends = sorted({0.0, peak, 0.5})
        values.append(mp.quad(lambda eta, R=R, V=V: mp.exp(eta * R - eta * eta * V), ends))
    return [float(v / sum(values)) for v in values]


def normal_hedge_weights(regret, variance):
    """NormalHedge's weights, c by bisection."""
    del variance
    n = len(regret)
    ahead = [max(r, 0.0) for r in regret]
    if max(ahead) == 0.0:
        return [1 / n] * n
    low, high = max(ahead) ** 2 / (2 * (1 + log(n))) * (1 - 1e-12), max(ahead) ** 2 / 2 * (1 + 1e-12)
    for _ in range(200):
        c = (low + high) / 2
        low, high = (c, high) if fsum(exp(r * r / (2 * c)) for r in ahead) / n > exp(1) else (low, c)
    values = [r / c * exp(r * r / (2 * c)) for r in ahead]
    return [v / fsum(values) for v in values]


def ada_hedge_weights(behind, gap):
    """AdaHedge's weights in plain numpy."""
    values = np.exp(-np.log(len(behind)) / gap * behind) if gap > 0 else 1.0 * (behind == 0)
    return values / values.sum()


def hedge_run(kind, losses, awake):
    """Mixture losses (T,) and weights (T, n) of AdaHedge, Squint or NormalHedge, a round at a time by definition."""
    n, out, weights = losses.shape[1], [], []
    behind, gap, regret, variance = np.zeros(n), 0.0, np.zeros(n), np.zeros(n)
    for row, up in zip(losses, awake, strict=True):
        if kind == "AdaHedge":
            p = ada_hedge_weights(behind, gap)
        elif kind == "Squint":
            p = np.array(squint_weights(regret, variance))
        else:
            p = np.array(normal_hedge_weights(regret, variance))
        weights.append(p)
        part = np.where(up, p, 0.0)
        if part.sum() == 0:
            charged, loss = np.zeros(n), 0.0
        else:
            part = part / part.sum()
            charged = np.where(up, row, part[up] @ row[up])
            loss = -special.logsumexp(-row[up], b=part[up])
        out.append(loss)
        if kind == "AdaHedge":
            rate = np.log(n) / gap if gap > 0 else np.inf
            mixed = charged[p > 0].min() if gap == 0 else -special.logsumexp(-rate * charged, b=p) / rate
            behind, gap = behind + charged, gap + max(0.0, p @ charged - mixed)
            behind = behind - behind.min()
        else:
            excess = p @ charged - charged
            regret, variance = regret + excess, variance + excess**2
    return np.array(out), np.array(weights)


# -- comparators in hindsight, by enumeration and in fifty digits
def switches(sequence):
    return sum(a != b for a, b in pairwise(sequence))


def sequences(losses, matrix=None, prior=None):
    """Every sequence of experts, its loss, and under a law its probability times its likelihood."""
    rounds, n = np.shape(losses)
    for sequence in product(range(n), repeat=rounds):
        loss, weight = sum(losses[t][i] for t, i in enumerate(sequence)), mpmath.mpf(1)
        if matrix is not None:
            weight = mpmath.mpf(1 / n if prior is None else float(prior[sequence[0]])) * mpmath.exp(-mpmath.mpf(loss))
            for a, b in pairwise(sequence):
                weight *= mpmath.mpf(float(matrix[a][b]))
        yield sequence, float(loss), weight


def best_with_switches(losses, k, *, at_most):
    """Least loss over the sequences with (at most) k - 1 switches."""
    fits = range(k) if at_most else [k - 1]
    return min((loss for one, loss, _ in sequences(losses) if switches(one) in fits), default=float("inf"))


def markov_loss(losses, matrix, prior=None):
    """-ln of the sum over all sequences of probability times likelihood."""
    total = mpmath.fsum(weight for _, _, weight in sequences(losses, matrix, prior))
    return float(-mpmath.log(total)) if total else float("inf")


def switch_distribution(losses, alpha, prior=None):
    """Posterior of the number of switches by enumeration, (T,)."""
    mass = [mpmath.mpf(0)] * len(losses)
    for sequence, _, weight in sequences(losses, share_matrix(np.shape(losses)[1], alpha), prior):
        mass[switches(sequence)] += weight
    return [m / sum(mass) for m in mass]


def share_loss(losses, alpha, prior=None):
    """Fixed-share's loss by the forward recursion, 50 digits or the caller's precision; alpha may be an mpf."""
    with mpmath.workdps(max(50, mpmath.mp.dps)):
        losses = np.asarray(losses)
        rounds, n = losses.shape
        alpha = mpmath.mpf(alpha)
        weights = [mpmath.mpf(1) / n for _ in range(n)] if prior is None else [mpmath.mpf(float(p)) for p in prior]
        for t in range(rounds):
            weights = [w * mpmath.exp(-mpmath.mpf(float(x))) for w, x in zip(weights, losses[t], strict=True)]
            if t < rounds - 1 and n > 1:
                total = mpmath.fsum(weights)
                weights = [(1 - alpha) * w + alpha * (total - w) / (n - 1) for w in weights]
        return -mpmath.log(mpmath.fsum(weights))


def transition_counts(losses, matrix, prior=None):
    """Expected moves j -> i given the losses, by enumeration, (n, n)."""
    counts, total = np.zeros(np.shape(matrix), object) + mpmath.mpf(0), mpmath.mpf(0)
    for sequence, _, weight in sequences(losses, matrix, prior):
        total += weight
        for a, b in pairwise(sequence):
            counts[a, b] += weight
    return (counts / total).astype(float)
