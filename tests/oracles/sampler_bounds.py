"""Slow exact references for the samplers' theorems: least squares, exact probabilities on the sphere, literal runs.

Shares no code with lpsm.  The drift objective is minimised by one dense least-squares solve; the
probabilities of the modified Perceptron's analysis are one-dimensional integrals, because the
projection of a uniform point of the sphere on a plane has a uniform angle and a squared radius of
law Beta(1, (d-2)/2), independent of each other.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import special
from sklearn.svm import LinearSVC

# Drift: the objective of Moroshko and Crammer 2014, by least squares


def drift_system(X, y, b, c):
    """Rows of Q_t as norm(F u - g)^2 over the stacked u = (u_1, ..., u_t)."""
    t, d = X.shape
    fit = np.zeros((t, t * d))
    for s in range(t):
        fit[s, s * d : (s + 1) * d] = X[s]
    start = np.zeros((d, t * d))
    start[:, :d] = np.sqrt(b) * np.eye(d)
    steps = np.zeros(((t - 1) * d, t * d))
    for s in range(t - 1):
        rows = slice(s * d, (s + 1) * d)
        steps[rows, (s + 1) * d : (s + 2) * d] = np.sqrt(c) * np.eye(d)
        steps[rows, s * d : (s + 1) * d] = -np.sqrt(c) * np.eye(d)
    F = np.vstack([fit, start, steps])
    return F, np.concatenate([y, np.zeros(len(F) - t)])


def drift_minimum(X, y, b, c):
    """(min of Q_t, its minimisers (t, d))."""
    if len(X) == 0:
        return 0.0, np.zeros(X.shape)
    F, g = drift_system(X, y, b, c)
    path = np.linalg.lstsq(F, g, rcond=None)[0]
    residual = F @ path - g
    return float(residual @ residual), path.reshape(X.shape)


def lasec_margin(X, y, x, b, c):
    """The last-step min-max margin: a quarter of the difference of two least-squares minima."""
    both = [drift_minimum(np.vstack([X, x]), np.append(y, label), b, c)[0] for label in (-1.0, 1.0)]
    return (both[0] - both[1]) / 4.0


# The comparator that makes a bound least


def tight_comparator(X, y, weights, hinge_factor, energy):
    """w that about minimises hinge_factor sum_t weights_t [1 - y w.x]_+ + w' energy w; any w is legal in a bound."""
    d = X.shape[1]
    used = weights > 0
    if not used.any():
        return np.zeros(d)
    root = np.linalg.cholesky(energy)  # w'energy w = norm(root' w)^2
    Z = np.linalg.solve(root, X[used].T).T
    both, signs = np.vstack([Z, -Z]), np.concatenate([y[used], -y[used]])
    svm = LinearSVC(loss="hinge", fit_intercept=False, C=hinge_factor / 4.0, dual=True, tol=1e-3, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        svm.fit(both, signs, sample_weight=np.concatenate([weights[used], weights[used]]))
    return np.linalg.solve(root.T, svm.coef_[0])


# Exact probabilities for x uniform on the sphere of R^d, v and u at angle theta


def band_probability(r, d):
    """P(abs(a.x) <= r), by quadrature of the density (1 - z^2)^((d-3)/2) with z = sin(s)."""
    s = _midpoints(np.arcsin(min(r, 1.0)))
    whole = special.beta(0.5, (d - 1) / 2.0) / 2.0
    return float(np.mean(np.cos(s) ** (d - 2)) * np.arcsin(min(r, 1.0)) / whole)


def error_given_band(width, theta, d):
    """P(x is an error given abs(x.v) < width)."""
    z = _midpoints(width)
    density = (1 - z**2) ** ((d - 3) / 2)
    needed = z / np.tan(theta) / np.sqrt(1 - z**2)  # of the cosine between the parts across v
    if d == 2:
        wrong = 0.5 * (needed < 1)
    else:
        wrong = np.where(needed < 1, 0.5 * (1 - special.betainc(0.5, (d - 2) / 2, np.minimum(needed, 1) ** 2)), 0.0)
    return float(np.sum(density * wrong) / np.sum(density))


def band_given_error(threshold, theta, d):
    """P(abs(x.v) <= threshold given that x is an error)."""
    to_v, _, weights = _error_angles(theta)
    return float(np.sum(weights * _radius_below(threshold**2 / np.sin(to_v) ** 2, d)))


def progress_given_error(fraction, theta, d, threshold=np.inf):
    """P(1 - u.v falls by at least `fraction` of itself, given an error with abs(x.v) <= threshold)."""
    to_v, to_u, weights = _error_angles(theta)
    least = fraction * (1 - np.cos(theta)) / (2 * np.sin(to_v) * np.sin(to_u))  # of the squared radius
    most = np.minimum(1.0, threshold**2 / np.sin(to_v) ** 2)
    seen = _radius_below(most, d)
    good = np.maximum(0.0, seen - _radius_below(least, d, strictly=True))
    return float(np.sum(weights * good) / np.sum(weights * seen))


def modified_perceptron_angles(theta, d, n_updates, rng):
    """Angles to the target (n_updates + 1, starts): each update is on an error of a uniform source."""
    theta = np.array(theta, dtype=float)
    path = [theta]
    for _ in range(n_updates):
        to_u = theta * rng.random(theta.shape)
        square = 1.0 if d == 2 else rng.beta(1.0, (d - 2) / 2.0, theta.shape)
        cosine_gap = 2 * np.sin(theta / 2) ** 2 - 2 * square * np.sin(to_u) * np.sin(theta - to_u)
        theta = 2 * np.arcsin(np.sqrt(np.clip(cosine_gap, 0.0, 2.0) / 2))  # 1 - cos, kept accurate near 0
        path.append(theta)
    return np.array(path)


def _midpoints(width, n=20_000):
    return (np.arange(n) + 0.5) / n * width


def _error_angles(theta, n=20_000):
    """Angles to the two boundaries across the error wedge, fine near both, and their probabilities."""
    s = _midpoints(np.pi / 2, n)
    return theta * np.sin(s) ** 2, theta * np.cos(s) ** 2, np.sin(2 * s) * (np.pi / 2 / n)


def _radius_below(square, d, strictly=False):
    """P(r^2 <= square): r^2 has law Beta(1, (d-2)/2), and is 1 in the plane."""
    square = np.asarray(square, dtype=float)
    if d == 2:
        return (square > 1 if strictly else square >= 1).astype(float)
    return 1 - (1 - np.clip(square, 0, 1)) ** ((d - 2) / 2)


# Literal runs


@dataclass
class DkmRun:
    """dkm on its queried examples: instances, labels, thresholds s_t and hypotheses v_t before each."""

    X: np.ndarray
    y: np.ndarray
    s: np.ndarray
    V: np.ndarray


def dkm_on_queries(u, n_labels, patience, rng, reset=True, density=None, lightest=1.0):
    """dkm drawing straight from the law of its next queried instance, abs(x.v) <= s.

    `reset=False` reads T fig. 3-4 to the letter: once R labels in a row were right, every further right
    one halves s again.  `density` weighs instances against uniform, with values in [lightest, 1/lightest].
    """
    d = len(u)
    x = _in_band(u, 1.0, d, rng, density, lightest)
    v, s, row = (1.0 if x @ u >= 0 else -1.0) * x, 1 / np.sqrt(d), 0
    out = DkmRun(np.empty((n_labels, d)), np.empty(n_labels), np.empty(n_labels), np.empty((n_labels, d)))
    for t in range(n_labels):
        x = _in_band(v, s, d, rng, density, lightest)
        y = 1.0 if x @ u >= 0 else -1.0
        out.X[t], out.y[t], out.s[t], out.V[t] = x, y, s, v
        if (1.0 if v @ x >= 0 else -1.0) != y:
            v, row = v - 2 * (v @ x) * x, 0
            v = v / np.linalg.norm(v)
        else:
            row += 1
            if row >= patience:
                s, row = s / 2, (0 if reset else row)
    return out


def _in_band(v, s, d, rng, density, lightest):
    while True:
        top = special.betainc(0.5, (d - 1) / 2, min(1.0, s) ** 2)
        z = np.sqrt(special.betaincinv(0.5, (d - 1) / 2, top * rng.random())) * rng.choice((-1, 1))
        z = np.clip(z, -s, s)
        across = rng.standard_normal(d)
        across -= (across @ v) * v
        x = z * v + np.sqrt(max(0.0, 1 - z * z)) * across / np.linalg.norm(across)
        if density is None or rng.random() < density(x) * lightest:
            return x


def perceptron_path(X, y, v):
    """The Perceptron's vectors before each update and after the last, started at v; mistakes are y v.x <= 0."""
    path = [v]
    for x, label in zip(X, y, strict=True):
        if label * (path[-1] @ x) <= 0:
            path.append(path[-1] + label * x)
    return np.array(path)
