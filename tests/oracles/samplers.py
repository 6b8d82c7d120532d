"""The samplers once more, slowly and literally: every margin from the stored examples by `numpy.linalg.inv`.

One function an algorithm of the papers, in the papers' own order of steps; no maintained
inverse, no skipped work, nothing shared with the fast path.
"""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np

__all__ = ["importance", "margins_by_recursion", "play"]


def sgn(value):
    return 1 if value >= 0 else -1


class Stored:
    """The stored examples in order, and every margin that can be had from them."""

    def __init__(self, d):
        self.d, self.x, self.y, self.weight = d, [], [], []

    def __len__(self):
        return len(self.x)

    def add(self, x, y, weight=1.0):
        self.x.append(x)
        self.y.append(y)
        self.weight.append(weight)

    def correlation(self, a):
        return a * np.eye(self.d) + sum((np.outer(x, x) for x in self.x), np.zeros((self.d, self.d)))

    def total(self):
        return sum((y * x for x, y in zip(self.x, self.y, strict=True)), np.zeros(self.d))

    def ridge(self, x, a):  # R (1): w = (aI + S S')^-1 S y
        return float(self.total() @ np.linalg.inv(self.correlation(a)) @ x)

    def forward(self, x, a):  # R (7), A (1): the current instance inside the inverse
        return float(self.total() @ np.linalg.inv(self.correlation(a) + np.outer(x, x)) @ x)

    def spread(self, x, a):  # x'A^-1 x, without the current instance
        return float(x @ np.linalg.inv(self.correlation(a)) @ x)

    def perceptron(self, x, eta):
        return float(eta * self.total() @ x)

    def modified(self, x, factor):  # T figure 3-2, replayed
        v = np.zeros(self.d)
        for k, (z, y) in enumerate(zip(self.x, self.y, strict=True)):
            v = y * z if k == 0 else v - factor * (v @ z) * z
        return float(v @ x)

    def nearest(self, x):  # half the logarithm of how many times farther the nearest of label -1 is than that of +1
        gaps = [min((np.linalg.norm(x - z) for z, k in zip(self.x, self.y, strict=True) if k == y), default=inf)
                for y in (-1, 1)]  # fmt: skip
        if max(gaps) == inf:
            return 0.0 if min(gaps) == inf else 1e-11 * sgn(gaps[0] - gaps[1])
        return 0.5 * log(max(gaps[0], 1e-6 * np.linalg.norm(x)) / max(gaps[1], 1e-6 * np.linalg.norm(x)))

    def shifting(self, x, strength):  # D section 5, replayed
        v = np.zeros(self.d)
        for k, (z, y) in enumerate(zip(self.x, self.y, strict=True)):
            shrink = strength / (strength + k) if strength > 0 else 0.0
            v = (1 - shrink) * v + y * z
        return float(v @ x)

    def arow(self, x, r, diagonal):  # Crammer, Kulesza and Dredze 2009 figure 1, replayed
        mean, S = np.zeros(self.d), np.eye(self.d)
        for z, y in zip(self.x, self.y, strict=True):
            beta = 1.0 / (z @ S @ z + r)
            mean, S = mean + max(0.0, 1 - y * (mean @ z)) * beta * y * S @ z, S - beta * np.outer(S @ z, z @ S)
            S = np.diag(np.diag(S)) if diagonal else S
        return float(mean @ x)

    def adagrad(self, x, eta):  # with how far a step for x would move its margin
        w, G = np.zeros(self.d), np.zeros(self.d)
        for z, y, h in zip(self.x, self.y, self.weight, strict=True):
            G = G + z**2
            D = np.array([1 / sqrt(g) if g > 0 else 0.0 for g in G])
            w = w + min(eta * h, max(0.0, 1 - y * (w @ z)) / (z @ (D * z))) * y * D * z
        return float(w @ x), eta * sum(v * v / sqrt(g + v * v) for g, v in zip(G, x, strict=True) if v != 0)

    def lasec(self, x, b, c):  # D figure 1, literally: d x d inverses each round
        eye, over_c = np.eye(self.d), 1.0 / c
        D = eye * (b if c == inf else b * c / (c - b))
        e = np.zeros(self.d)
        for z, y in zip(self.x, self.y, strict=True):
            S = np.linalg.inv(np.linalg.inv(D) + over_c * eye) + np.outer(z, z)
            e = np.linalg.inv(eye + over_c * D) @ e + y * z
            D = S
        S = np.linalg.inv(np.linalg.inv(D) + over_c * eye) + np.outer(x, x)
        return float(x @ np.linalg.inv(S) @ np.linalg.inv(eye + over_c * D) @ e)


def importance(t, gap, c_0, floor):
    """Beygelzimer, Hsu, Langford and Zhang 2010, algorithm 1, its equation solved by bisection."""
    if t == 1:
        return 1.0
    e = c_0 * log(t) / (t - 1)
    if gap <= sqrt(e) + e:
        return 1.0
    c_1, c_2 = 5 + 2 * sqrt(2), 5
    low, high = 1e-30, 1.0
    for _ in range(400):
        s = sqrt(low * high)
        above = (c_1 / sqrt(s) - c_1 + 1) * sqrt(e) + (c_2 / s - c_2 + 1) * e > gap
        low, high = (s, high) if above else (low, s)
    return max(floor, low)


def margins_by_recursion(X, y, b, c):
    """Margins of D figure 1 with every example stored, by ridge on (1/b + (min(i,j)-1)/c) x_i'x_j."""
    T = len(y)
    index = np.arange(T)
    scale = 1.0 / b + np.minimum.outer(index, index) / c
    K = scale * (X @ X.T)
    out = []
    for t in range(T):
        k, corner = K[:t, t], K[t, t]
        inverse = np.linalg.inv(np.eye(t) + K[:t, :t])
        out.append(k @ inverse @ y[:t] / (1 + corner - k @ inverse @ k))
    return np.array(out)


def play(key, X, y, rng=None, normalize=False, **q):
    """Run the algorithm `key` with parameters `q`; return margin, prediction, queried, stored, each (T,)."""
    first_order = {
        "perceptron": lambda S, x: S.perceptron(x, q.get("eta", 1.0)),
        "shifting-perceptron": lambda S, x: S.shifting(x, q["lambda_"]),
        "modified-perceptron": lambda S, x: S.modified(x, q.get("factor", 2.0)),
    }
    a = q.get("a", 1.0)
    kinds = {
        "perceptron": "perceptron", "perceptron-ss": "perceptron", "perceptron-ss-adaptive": "perceptron",
        "dkm-perceptron": "perceptron", "random-perceptron": "perceptron", "ffoat": "perceptron", "ffole": "perceptron",
        "modified-perceptron": "modified-perceptron", "dkm": "modified-perceptron", "cbgz-dkm": "modified-perceptron",
        "random-dkm": "modified-perceptron", "shifting-perceptron": "shifting-perceptron",
    }  # fmt: skip
    if key in kinds:
        value = first_order[kinds[key]]
    elif key in ("ridge", "ssnci"):
        value = lambda S, x: S.ridge(x, a)  # noqa: E731
    elif key in ("arow", "arow-ss", "arow-diagonal", "arow-diagonal-ss"):
        value = lambda S, x: S.arow(x, q["r"], "diagonal" in key)  # noqa: E731
    elif key in ("adagrad", "adagrad-ss", "iwal"):
        value = lambda S, x: S.adagrad(x, q["eta"])[0]  # noqa: E731
    elif key in ("lasec", "lasec-ss"):
        value = lambda S, x: S.lasec(x, q["b"], q["c"])  # noqa: E731
    elif key == "kept-rate":
        value = lambda S, x: S.lasec(x, 1.0, q["c"])  # noqa: E731
    elif key == "nearest":
        value = lambda S, x: S.nearest(x)  # noqa: E731
    else:
        value = lambda S, x: S.forward(x, a)  # noqa: E731
    buys_first = key in ("modified-perceptron", "dkm", "cbgz-dkm", "random-dkm")

    S = Stored(X.shape[1])
    wanted_next = key == "ssnl"  # the adaptive sampler's and ssnl's appointment with the next label
    hinge = key.startswith(("arow", "adagrad", "iwal"))
    s, streak, false_positives = 0.0 if "step" in q else q.get("s_1", 1.0), 0, 0
    largest = 0.0
    rows = []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        if normalize:
            x = x / np.linalg.norm(x)
        m = value(S, x)
        N, length = len(S), np.linalg.norm(x)
        predicted = sgn(m)
        wrong = predicted != label
        threshold = inf if N == 0 else length**2 * q["K"] * log(t) / N if "K" in q else None
        if q.get("K") == inf:
            threshold = inf
        store_now, weight = None, 1.0
        match key:
            case "arow-ss" | "arow-diagonal-ss" | "adagrad-ss":
                asks = rng.random() < q["b"] / (q["b"] + abs(m))
            case "iwal":
                chance = importance(t, abs(m) / (S.adagrad(x, q["eta"])[1] * t), q["c_0"], q["floor"])
                asks, weight = rng.random() < chance, 1 / chance
            case "perceptron-ss" | "cbgz-dkm":
                b = q["b"]
                asks = rng.random() < (1.0 if b == inf else b / (b + abs(m)))
            case "perceptron-ss-adaptive" | "sop-ss-adaptive":
                b = q["beta"] * max(length, largest) ** 2 * sqrt(1 + N)
                extra = 0.0 if key == "perceptron-ss-adaptive" else m * m * (1 + S.spread(x, a)) / 2
                asks = rng.random() < b / (b + abs(m) + extra)
            case "sop-ss":
                b = q["b"]
                extra = m * m * (1 + S.spread(x, a)) / 2
                asks = rng.random() < (1.0 if b == inf else b / (b + abs(m) + extra))
            case "sop-label-efficient" | "sole":
                asks = rng.random() < q["C"] / (q["C"] + abs(m))
            case "lasec-ss":
                asks = rng.random() < q["a"] / (q["a"] + abs(m))
            case "sop-fixed-bias" | "random-perceptron" | "random-dkm":
                asks = rng.random() < q["rate"]
            case "ss" | "ssnci" | "ssmd":
                asks = m * m <= threshold
            case "ssnl":
                asks, wanted_next = wanted_next, m * m <= threshold
            case "adaptive-sampler":
                small = N == 0 or m * m <= 128 * log(t) / (q["lambda_"] * N)
                if "bias" in q:
                    small = rng.random() < q["bias"]
                transient = q["rho"] >= N
                store_now = transient or wanted_next
                small = small and not transient
                if q.get("mistake_driven"):
                    asks = store_now or small
                    wanted_next = small and wrong
                else:
                    asks, wanted_next = store_now, small
            case "bbq" | "bbq-i":
                inside = float(x @ np.linalg.inv(S.correlation(a) + np.outer(x, x)) @ x)
                asks = inside > t ** -q["kappa"]
            case "dkm" | "dkm-perceptron":
                asks = abs(m) <= s
            case "kept-rate" | "nearest":
                asks = abs(m) <= s
                s += q["step"] * (q["rate"] - asks)
            case "filter":
                asks = N == 0 or m + length * sqrt(q["K"] * log(t) / N) >= 0
            case "ffoat" | "fsoat":
                u = rng.random()
                asks = m >= 0 or u < min(1.0, sqrt((1 + false_positives) / t))
            case "ffole" | "fsole":
                u = rng.random()
                asks = m >= 0 or u < q["C"] / (q["C"] + abs(m))
            case _:
                asks = True
        begins = buys_first and N == 0
        asks = bool(asks) or begins
        stores = False
        if asks:
            stores = label * m < 1 if hinge else wrong
            if key in ("ridge", "rls", "rls-all", "ss", "ssnci", "ssnl", "bbq", "filter", "kept-rate", "nearest"):
                stores = True
            if store_now is not None:
                stores = store_now
            if begins:
                stores = True
            elif key in ("dkm", "dkm-perceptron"):
                streak = 0 if wrong else streak + 1
                if streak == q["R"]:
                    s, streak = s / 2, 0
            if key in ("ffoat", "fsoat") and label == -1 and (m >= 0 or q.get("count_forced")):
                false_positives += 1
            if stores:
                S.add(x, label, weight)
                largest = max(largest, length)
        if key in ("filter", "ffoat", "fsoat", "ffole", "fsole"):
            predicted = 1 if asks else -1
        rows.append((m, predicted, asks, stores))
    margin, prediction, queried, stored = zip(*rows, strict=True)
    return np.array(margin), np.array(prediction), np.array(queried), np.array(stored)
