"""What the papers prove of sources whose constants are known: one pure function a statement that an experiment needs.

Statements that speak of any stream are in `lpsm.bounds`.  Parameters are those of the statement, and are not checked.

* Under low noise instances are independent and of norm 1, E[y | x] = Delta = u.x with norm(u) = 1, and P(abs(Delta) <
  eps) <= c eps^alpha for every eps > 0; eps just above 1 shows that c >= 1.  `eigenvalue` is the smallest of E[x x'],
  in (0, 1/d].  Regret is expected mistakes beyond those of Bayes, at most sum_t E abs(Delta_t) whatever one does.

Sources: Cesa-Bianchi, Gentile and Zaniboni 2004 (W), Monteleoni 2006 (T), Cesa-Bianchi 2007 (R), Cavallanti,
Cesa-Bianchi and Gentile 2010 (A), Moroshko and Crammer 2014 (D).
"""

from math import cos, exp, log, log1p, log2, pi, sqrt, tan

import numpy as np
from scipy.special import betainc, betaincinv


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


# -- the best parameters in hindsight --------------------------------------------------------------------------------


def best_coin(*, hinge, comparator_norm, gamma):
    """W Remark 1: the b that makes Theorem 1 least, (1/2) sqrt(1 + 4 gamma^2/norm(u)^2 D); D is `hinge` over gamma."""
    return 0.5 * sqrt(1.0 + 4.0 * gamma**2 / comparator_norm**2 * hinge / gamma)


def selective_perceptron_at_best(*, hinge, comparator_norm, gamma):
    """W (8): Theorem 1 at `best_coin`, D + k/2 + sqrt(k) sqrt(D + k/4) with k = (norm(u)/gamma)^2, D = hinge/gamma.

    Deviation: printed norm(u)/(2 gamma) before the root, which is below the least of Theorem 1 over all b.
    """
    k, over_gamma = (comparator_norm / gamma) ** 2, hinge / gamma
    return over_gamma + k / 2.0 + sqrt(k) * sqrt(over_gamma + k / 4.0)


def best_second_order_coin(*, quadratic, comparator_norm, log_det, gamma):
    """W Remark 1: the b that makes Theorem 2 least, gamma sqrt(log_det/(u'A u)); u'A u = norm(u)^2 + quadratic."""
    return gamma * sqrt(log_det / (comparator_norm**2 + quadratic))


def selective_second_order_at_best(*, hinge, quadratic, comparator_norm, log_det, gamma):
    """W (9): Theorem 2 at `best_second_order_coin`, hinge/gamma + sqrt((norm(u)^2 + quadratic) log_det)/gamma."""
    return hinge / gamma + sqrt((comparator_norm**2 + quadratic) * log_det) / gamma


def excess_of_linear_model(eigenvalues, gamma):
    """R Theorem 2: expected mistakes of rls (a = 1) beyond those of Bayes, 16 (1 + 1/e)/gamma^2 sum ln(1 + lambda_i).

    Labels have P(Y = 1) = (1 + v.x)/2, v and instances norm 1; gamma is the least abs(v.x), lambda_i are eigenvalues of
    the sum of x x'.
    """
    return 16.0 * (1.0 + exp(-1.0)) / gamma**2 * float(np.sum(np.log1p(np.asarray(eigenvalues, float))))


# -- drift (D): d features, norms at most X, T rounds, V = V_m; c follows from T and V -------------------------------


def drift_objective(X, y, b, c):
    """D Lemma 1: the least of b norm(u_1)^2 + c sum norm(u_t - u_{t-1})^2 + sum (y_t - u_t.x_t)^2, by its recursion."""
    identity = np.eye(np.asarray(X).shape[1])
    D, e, f = b * identity, np.zeros(len(identity)), 0.0
    for place, (x, label) in enumerate(zip(np.asarray(X, float), np.asarray(y, float), strict=True)):
        if place:
            f -= float(e @ np.linalg.solve(c * identity + D, e))
            e = np.linalg.solve(identity + D / c, e)
            D = np.linalg.inv(np.linalg.inv(D) + identity / c)
        D, e, f = D + np.outer(x, x), e + label * x, f + label**2
    return f - float(e @ np.linalg.solve(D, e))


def solved_for_mistakes(A, B, C, D, gamma):
    """D Lemma 7, (11): the largest m with m <= D/gamma + sqrt(A (B + m C))/gamma."""
    half = A * C / (2.0 * gamma**2)
    return D / gamma + half + sqrt(D * A * C / gamma**3 + half**2 + A * B / gamma**2)


def drift_rate(*, n_rounds, n_features, radius, drift):
    """D Corollaries 8 and 9: c = (sqrt(2) T d X/V)^(2/3)."""
    return (sqrt(2.0) * n_rounds * n_features * radius / drift) ** (2.0 / 3.0)


def most_drift(*, n_rounds, n_features, radius, b):
    """D Corollaries 8 and 9: the V up to which they hold, T sqrt(2) d X/mu^(3/2).

    Deviation: mu = max(9 X^2/8, (b + X^2)^2/(8 X^2)), of which the first is printed 9/8X^2.
    """
    mu = max(9.0 * radius**2 / 8.0, (b + radius**2) ** 2 / (8.0 * radius**2))
    return n_rounds * sqrt(2.0) * n_features * radius / mu**1.5


def _of_drift(n_rounds, n_features, radius, drift, share):
    """Return c, c V, epsilon d/(1 - epsilon) for b = epsilon c, and C T of the corollaries."""
    c = drift_rate(n_rounds=n_rounds, n_features=n_features, radius=radius, drift=drift)
    growth = (4.0 * n_features * radius * n_rounds) ** (2.0 / 3.0) * drift ** (1.0 / 3.0)
    return c, c * drift, share / (1.0 - share) * n_features, growth


def drift_mistakes_tuned(*, hinge, start, quadratic, log_det, gamma, n_rounds, n_features, radius, drift, share):
    """D Corollary 8: mistakes of lasec at c = `drift_rate` and b = `share` c.

    (11) with D = hinge, A = b start + c V + quadratic, B = log_det + share d/(1 - share), C = (4 d X)^(2/3)
    (V/T)^(1/3); `start` is norm(u_1)^2, `quadratic` the sum of (u.x)^2 and `log_det` ln det(D_m/b), over the mistakes.
    """
    c, moved, trace, growth = _of_drift(n_rounds, n_features, radius, drift, share)
    A = share * c * start + moved + quadratic
    return solved_for_mistakes(A, log_det + trace, growth / n_rounds, hinge, gamma)


def selective_drift_mistakes_tuned(
    *, hinge, start, quadratic, log_det, gamma, n_rounds, n_features, radius, drift, share, a=None
):
    """D Corollary 9: expected mistakes of lasec-ss(a) at that c and b; with no `a` its best, gamma sqrt(B/A).

    hinge/gamma + a/(2 gamma^2) A + B/(2a), A as in Corollary 8 and B = log_det + share d/(1 - share) + C T.
    """
    c, moved, trace, growth = _of_drift(n_rounds, n_features, radius, drift, share)
    A, B = share * c * start + moved + quadratic, log_det + trace + growth
    a = gamma * sqrt(B / A) if a is None else a
    return hinge / gamma + a / (2.0 * gamma**2) * A + B / (2.0 * a)


# -- low noise (A): lemmas -------------------------------------------------------------------------------------------


def regret_of_square_loss(excess, *, alpha, c):
    """A Lemma 1: R(f) <= (4 c R_phi(f))^((1+alpha)/(2+alpha)), `excess` being the square loss beyond that of f*."""
    return (4.0 * c * excess) ** ((1.0 + alpha) / (2.0 + alpha))


def regret_beyond_margin(eps, errors, *, alpha, c):
    """A Lemma 2: a round's regret is at most c eps^(1+alpha) + `errors`, P(wrong side, abs(Delta) >= eps)."""
    return c * eps ** (1.0 + alpha) + errors


def small_eigenvalue_probability(n_samples, n_features, eigenvalue):
    """A Lemma 3: P(least eigenvalue of a sample < half its mean) <= e^(-lambda^2 s/8), for s >= 16 d/lambda^2."""
    if n_samples < 16.0 * n_features / eigenvalue**2:
        raise ValueError(f"n_samples must be at least 16 d/lambda^2, got {n_samples}")
    return exp(-(eigenvalue**2) * n_samples / 8.0)


# -- the sphere (T): x uniform on that of d dimensions, v and u at an angle theta, an error where they disagree -----

GOOD = 2.0 / (128.0 * pi) ** 2
"""T Lemmas 4 and 16: the constant c of a good update, which the thesis does not compute."""


def band_mass(width, d):
    """P(abs(a.x) <= width); T Lemma 2: for width = gamma/sqrt(d), gamma <= 1, from gamma/4 to gamma.

    Deviation: appendix B prints the density of a.x with the exponent (d-2)/2; it is (1 - z^2)^((d-3)/2).
    """
    squared = np.minimum(np.square(width), 1.0)
    return betainc(0.5, (d - 1) / 2.0, squared) if d > 1 else np.where(np.asarray(width) >= 1.0, 1.0, 0.0)


def error_in_band(theta, width, d, nodes=2001):
    """P(error | abs(v.x) < width); T Lemma 6: at least 1/4 for width <= sin(theta)/sqrt(4 d).

    A mean over z = v.x of the chance that the rest of x, on a sphere of one dimension less, points away from u enough.
    """
    shares = (np.arange(nodes) + 0.5) / nodes
    z = np.sqrt(betaincinv(0.5, (d - 1) / 2.0, shares * band_mass(width, d)))
    return float(np.mean((1.0 - band_mass(z / tan(theta) / np.sqrt(1.0 - z * z), d - 1)) / 2.0))


def asked_of_errors(theta, width, d):
    """P(abs(v.x) <= width | error); T Lemma 7: at least 1/32 for width >= sin(theta)/sqrt(16 d)."""
    return error_in_band(theta, width, d) * float(band_mass(width, d)) / (theta / pi)


def progress(theta, d, factor, width=1.0, nodes=2001):
    """P(1 - v'.u <= (1 - v.u)(1 - factor/d) | error, abs(v.x) <= width), v' being v after the update.

    T Lemma 4: at least 1/3 for factor 1/50, and 63/64 for `GOOD`; T Lemma 8: at least 1/2 for `GOOD` in the band of
    `asked_of_errors`.  The update gains 2 abs(v.x) abs(u.x) = 2 r^2 cos(phi) cos(phi - theta') over the plane of u
    and v, r^2 of law Beta(1, (d-2)/2), phi uniform over the wedge of errors.
    """
    phi = theta * (np.arange(nodes) + 0.5) / nodes  # from the line on which u changes its mind to that of v
    of_u, of_v = np.sin(phi), np.sin(theta - phi)
    least = factor / d * (1.0 - cos(theta)) / (2.0 * of_u * of_v)
    most = np.minimum(np.square(width / of_v), 1.0)

    def beyond(squared, reached):  # P(r^2 >= squared), or > squared
        return np.where(reached, np.maximum(1.0 - squared, 0.0) ** ((d - 2) / 2.0), 0.0)

    outside = beyond(most, most < 1.0)
    gains = np.maximum(beyond(least, least <= 1.0) - outside, 0.0)
    return float(np.mean(gains) / np.mean(1.0 - outside))


def least_when_similar(probability, similarity):
    """The least P_D(A | B) of densities between lambda and 1/lambda times the uniform one, P(A | B) being given.

    T Lemmas 13, 15 and 16 from 6, 7 and 4: at least lambda^2/4; lambda^4/32; 1 - lambda^4/64 for c lambda^12.
    """
    odds = similarity**2 * probability
    return odds / (odds + 1.0 - probability)


def threshold_failure(n_labels, patience, similarity=1.0):
    """T Lemma 5 (14: lambda-similar): P(some s_t < sin(theta_t)/(4 sqrt(d))) <= L (1 - lambda^2/4)^R."""
    return n_labels * (1.0 - similarity**2 / 4.0) ** patience


def mistakes_to_error(d, error, delta):
    """T Theorem 4: mistakes after which the modified Perceptron errs at most so often, 150 d ln(1/(4 eps^2 delta)).

    Deviation: the proof ends with 150 d ln(1/(eps delta)), which is not enough for small eps.
    """
    return 150.0 * d * log(1.0 / (4.0 * error**2 * delta))


def labels_to_error(d, error, delta, similarity=1.0):
    """T Theorem 5 (7: lambda-similar): labels L and patience R of dkm, by the constants of its proof.

    U = (2 d/(c lambda^12)) ln(1/(delta eps^2)) updates, L = R (U + log2(2 sqrt(d)/eps)), and the least R for which
    `threshold_failure` is at most delta/4.  Deviation: error lambda eps under the uniform law is what eps under D asks.
    """
    error *= similarity
    updates = 2.0 * d / (GOOD * similarity**12) * log(1.0 / (delta * error**2))
    halvings, patience = updates + log2(2.0 * sqrt(d) / error), 1
    while threshold_failure(patience * halvings, patience, similarity) > delta / 4.0:
        patience += 1
    return patience * halvings, patience
