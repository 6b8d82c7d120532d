"""Slow exact references for the samplers' theorems: quadratic forms, comparators, literal runs.

Shares no code with lpsm.  On the sphere the
projection of a uniform point on a plane has a uniform angle and a squared radius of law Beta(1, (d-2)/2), independent
of each other.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import special
from sklearn.svm import LinearSVC


def drift_quadratic_forms(X, b, c):
    """x'D_k^-1 x of D (2), (3) along the update rounds: D_0 = bc/(c-b) I, D_k = (D_{k-1}^-1 + I/c)^-1 + xx'."""
    eye, forms = np.eye(X.shape[1]), []
    D = eye / (1.0 / b - 1.0 / c)
    for x in X:
        D = np.linalg.inv(np.linalg.inv(D) + eye / c) + np.outer(x, x)
        forms.append(x @ np.linalg.solve(D, x))
    return np.array(forms)


def total_drift(U):
    """V_m: the sum of norm(u_k - u_{k-1})^2 over the update rounds."""
    return float(np.sum(np.diff(U, axis=0) ** 2))


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


# Updates of the modified Perceptron


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
