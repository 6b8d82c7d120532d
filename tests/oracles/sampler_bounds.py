"""Slow exact references for the samplers' theorems: quadratic forms, comparators, literal runs.

Shares no code with lpsm.  On the sphere the
projection of a uniform point on a plane has a uniform angle and a squared radius of law Beta(1, (d-2)/2), independent
of each other.
"""

import warnings

import numpy as np
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


def perceptron_path(X, y, v):
    """The Perceptron's vectors before each update and after the last, started at v; mistakes are y v.x <= 0."""
    path = [v]
    for x, label in zip(X, y, strict=True):
        if label * (path[-1] @ x) <= 0:
            path.append(path[-1] + label * x)
    return np.array(path)
