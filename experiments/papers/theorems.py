"""What the papers prove of sources whose constants are known: one pure function a statement that an experiment needs.

Statements that speak of any stream are in `lpsm.bounds`.  Parameters are those of the statement, and are not checked.

* Under low noise instances are independent and of norm 1, E[y | x] = Delta = u.x with norm(u) = 1, and P(abs(Delta) <
  eps) <= c eps^alpha for every eps > 0; eps just above 1 shows that c >= 1.  `eigenvalue` is the smallest of E[x x'],
  in (0, 1/d].  Regret is expected mistakes beyond those of Bayes, at most sum_t E abs(Delta_t) whatever one does.

Sources: Monteleoni 2006 (T), Cesa-Bianchi 2007 (R), Cavallanti, Cesa-Bianchi and Gentile 2010 (A).
"""

from math import log, log1p, sqrt

import numpy as np


def perceptron_lemma_sine(norm):
    """T Lemma 3: where an update does not turn v away from u, sin(theta_t) >= min(1/3, 1/(5 norm(v_t))).

    Holds for unit instances and v_0.u >= 0; `norm` is norm(v_t) before the update, 0 leaves 1/3.  Deviation: Theorem 3
    as printed drops the 1/3 and asks for more than is true (even more than 1) when l_t + norm(v_0)^2 is below 9/25.
    """
    return 1.0 / max(3.0, 5.0 * norm)


def second_order_limit(*, comparator_norm, trace):
    """R section 3.1: the limit of (a norm(u)^2 + u'A_n u) sum_i ln(1 + lambda_i/a) for a -> inf.

    It is norm(u)^2 tr(A_n).  Deviation: printed tr(A_n A_n'), the sum of squared eigenvalues.
    """
    return comparator_norm**2 * trace


def separable_second_order_step(mistakes, *, n_features, gamma, lambda_0):
    """R (5): m <= (1/gamma) sqrt((1 + lambda_0 m) d ln(1 + m/d)); returns the right-hand side at m = `mistakes`.

    For sop with a = 1 on unit instances separated by a unit u with margin gamma; lambda_0 m is the sum
    over mistakes of (u.x)^2, so that gamma^2 <= lambda_0 <= 1.
    """
    return sqrt((1.0 + lambda_0 * mistakes) * n_features * log1p(mistakes / n_features)) / gamma


def selected_risk(mistakes, n_rounds, delta):
    """R (6): with probability 1 - delta, R(w*) <= M/n + 6 sqrt((2/n) ln(2(n+1)/delta)).

    w* is the hypothesis `penalised_hypothesis` picks at the same delta.
    """
    return mistakes / n_rounds + 6.0 * sqrt(2.0 / n_rounds * log(2.0 * (n_rounds + 1) / delta))


def penalised_hypothesis(weights, starts, X, y, delta):
    """The hypothesis of R (6), an index into `weights`: least penalised mistakes on the examples that came after it.

    For t < n, the mistakes of w_t on examples t+1..n over n-t, plus sqrt(ln(n(n+1)/d')/(2(n-t))) with d' = delta/2;
    ties go to the earliest.

    Parameters
    ----------
    weights
        The distinct hypotheses in order (k, d): `weights[i]` is w_t for t = `starts[i]` up to the next start.  Only
        the start of each is evaluated, which is enough for a learner that changes only on mistakes: until then it
        errs on nothing, while the penalty grows.
    starts
        Examples seen when each hypothesis came into force, increasing from 0, below n.
    X, y
        The examples (n, d) and labels (n,), as the learner saw them.
    """
    hypotheses, when, n = np.asarray(weights, float), np.asarray(starts), len(np.asarray(X))
    wrong = np.where(np.asarray(X) @ hypotheses.T >= 0.0, 1.0, -1.0) != np.asarray(y)[:, None]
    empirical = [np.mean(wrong[start:, i]) for i, start in enumerate(when)]
    return int(np.argmin(empirical + np.sqrt(log(2.0 * n * (n + 1) / delta) / (2.0 * (n - when)))))


def supervised_regret_of_spectrum(*, n_rounds, alpha, c, eigenvalues):
    """A Theorem 1 and Remark 4: the regret of rls-all after n rounds, `eigenvalues` (d,) being those of E[x x'].

    (4c(1 + sum_i ln(1 + n lambda_i)))^((1+alpha)/(2+alpha)) n^(1/(2+alpha)).
    """
    log_det = float(np.sum(np.log1p(n_rounds * np.asarray(eigenvalues, float))))
    return float((4.0 * c * (1.0 + log_det)) ** ((1.0 + alpha) / (2.0 + alpha)) * n_rounds ** (1.0 / (2.0 + alpha)))


def supervised_rate_in_labels(alpha):
    """A Remark 5: exponent of the average regret in the number N of labels, all of them bought: -(1+alpha)/(2+alpha).

    It is that of the bound of Theorem 1, without logarithms.
    """
    return -(1.0 + alpha) / (2.0 + alpha)


def adaptive_rate_in_labels(alpha):
    """A Remark 5: the same of the adaptive sampler (Theorem 2), -(1+alpha)(2+alpha)/(2(3+alpha)).

    It is below that of all labels, and the rate faster, for alpha > sqrt(3) - 1.

    >>> adaptive_rate_in_labels(1.0), supervised_rate_in_labels(1.0)
    (-0.75, -0.6666666666666666)
    """
    return -(1.0 + alpha) * (2.0 + alpha) / (2.0 * (3.0 + alpha))


def disagreement_cap(regret, *, alpha, c):
    """A section 4, the equivalent form of Assumption 1: P(f* f < 0) <= c' R(f)^(alpha/(1+alpha)).

    Markov's inequality gives P(f* f < 0) <= c eps^alpha + R(f)/eps; the best eps gives
    c' = c^(1/(1+alpha)) (1+alpha) alpha^(-alpha/(1+alpha)), which goes to 1 for alpha -> infinity.
    Deviation: A writes c for both constants; c itself is too small (by sqrt 2 for abs(f*) uniform).
    """
    power = alpha / (1.0 + alpha)
    return float(c ** (1.0 - power) * (1.0 + alpha) * alpha**-power * regret**power)


def adaptive_regret(*, n_rounds, n_features, eigenvalue, alpha, c, margin=None):
    """A Theorem 2 with its constants, eq. (13): the adaptive sampler's expected regret after n >= 2 rounds.

    c n eps^(1+alpha) + rho_n + 512 ln n/(lambda eps^2) + 1 + 8 ln(n+1); eps = `margin` > 0 is free, and `None` takes
    `best_regret_margin`.
    """
    eps = margin or best_regret_margin(n_rounds=n_rounds, eigenvalue=eigenvalue, alpha=alpha, c=c)
    return c * n_rounds * float(eps ** (1.0 + alpha)) + _beyond_margin(n_rounds, n_features, eigenvalue, eps, 8.0)


def adaptive_labels(*, n_rounds, n_features, eigenvalue, alpha, c, margin=None):
    """A section 6.2: the adaptive sampler's expected labels, c n eps^alpha + (I) + (II) with (8) and (10).

    That is c n eps^alpha + rho_n + 512 ln n/(lambda eps^2) + 1 + 3 ln(n+1); `margin` as in `adaptive_regret`, `None`
    taking `best_label_margin` (for alpha = 0: 1, the first term being c n).
    """
    best = best_label_margin(n_rounds=n_rounds, eigenvalue=eigenvalue, alpha=alpha, c=c) if alpha > 0.0 else 1.0
    eps = margin or best
    return c * n_rounds * float(eps**alpha) + _beyond_margin(n_rounds, n_features, eigenvalue, eps, 3.0)


def _beyond_margin(n, n_features, eigenvalue, margin, late):
    """Return what the bounds add to the rounds whose margin is small; rho_n = (16/lambda^2) max{d, ln n}."""
    patience = 16.0 / eigenvalue**2 * max(float(n_features), log(n))
    return patience + 512.0 * log(n) / (eigenvalue * margin**2) + 1.0 + late * log(n + 1)


def best_regret_margin(*, n_rounds, eigenvalue, alpha, c):
    """The eps that minimises (13): (1024 ln n/(lambda n c (1 + alpha)))^(1/(3 + alpha)).

    Deviation: A section 6.2 prints the minimiser of the label bound, `best_label_margin`, here.
    """
    return float((1024.0 * log(n_rounds) / (eigenvalue * n_rounds * c * (1.0 + alpha))) ** (1.0 / (3.0 + alpha)))


def best_label_margin(*, n_rounds, eigenvalue, alpha, c):
    """The eps that minimises the label bound: (1024 ln n/(lambda n c alpha))^(1/(2 + alpha)), alpha > 0."""
    return float((1024.0 * log(n_rounds) / (eigenvalue * n_rounds * c * alpha)) ** (1.0 / (2.0 + alpha)))
