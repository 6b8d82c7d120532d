"""The samplers once more, slowly and literally: every margin from the stored examples by `numpy.linalg.inv`.

One function an algorithm of the papers, in the papers' own order of steps; no maintained
inverse, no skipped work, nothing shared with the fast path.
"""

from math import inf, log, sqrt
from types import SimpleNamespace

import numpy as np

from tests.tables import words


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

    def ridge(self, x, a=1.0, **_):  # R (1): w = (aI + S S')^-1 S y
        return float(self.total() @ np.linalg.inv(self.correlation(a)) @ x)

    def forward(self, x, a=1.0, **_):  # R (7), A (1): the current instance inside the inverse
        return float(self.total() @ np.linalg.inv(self.correlation(a) + np.outer(x, x)) @ x)

    def spread(self, x, a=1.0, **_):  # x'A^-1 x, without the current instance
        return float(x @ np.linalg.inv(self.correlation(a)) @ x)

    def perceptron(self, x, eta=1.0, **_):
        return float(eta * self.total() @ x)

    def modified(self, x, factor=2.0, **_):  # T figure 3-2, replayed
        v = np.zeros(self.d)
        for k, (z, y) in enumerate(zip(self.x, self.y, strict=True)):
            v = y * z if k == 0 else v - factor * (v @ z) * z
        return float(v @ x)

    def nearest(
        self, x, **_
    ):  # half the logarithm of how many times farther the nearest of label -1 is than that of +1
        gaps = [min((np.linalg.norm(x - z) for z, k in zip(self.x, self.y, strict=True) if k == y), default=inf)
                for y in (-1, 1)]  # fmt: skip
        if max(gaps) == inf:
            return 0.0 if min(gaps) == inf else 1e-11 * sgn(gaps[0] - gaps[1])
        return 0.5 * log(max(gaps[0], 1e-6 * np.linalg.norm(x)) / max(gaps[1], 1e-6 * np.linalg.norm(x)))

    def shifting(self, x, lambda_, **_):  # D section 5, replayed
        v = np.zeros(self.d)
        for k, (z, y) in enumerate(zip(self.x, self.y, strict=True)):
            shrink = lambda_ / (lambda_ + k) if lambda_ > 0 else 0.0
            v = (1 - shrink) * v + y * z
        return float(v @ x)

    def arow(self, x, r, diagonal=False, **_):  # Crammer, Kulesza and Dredze 2009 figure 1, replayed
        mean, S = np.zeros(self.d), np.eye(self.d)
        for z, y in zip(self.x, self.y, strict=True):
            beta = 1.0 / (z @ S @ z + r)
            mean, S = mean + max(0.0, 1 - y * (mean @ z)) * beta * y * S @ z, S - beta * np.outer(S @ z, z @ S)
            S = np.diag(np.diag(S)) if diagonal else S
        return float(mean @ x)

    def arow_diagonal(self, x, r, **_):
        return self.arow(x, r, True)

    def descended(self, x, eta):  # the margin of AdaGrad, and how far a step for x would move it
        w, G = np.zeros(self.d), np.zeros(self.d)
        for z, y, h in zip(self.x, self.y, self.weight, strict=True):
            G = G + z**2
            D = np.array([1 / sqrt(g) if g > 0 else 0.0 for g in G])
            w = w + min(eta * h, max(0.0, 1 - y * (w @ z)) / (z @ (D * z))) * y * D * z
        return float(w @ x), eta * sum(v * v / sqrt(g + v * v) for g, v in zip(G, x, strict=True) if v != 0)

    def adagrad(self, x, eta, **_):
        return self.descended(x, eta)[0]

    def lasec(self, x, c, b=1.0, **_):  # D figure 1, literally: d x d inverses each round
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


_KEYS = {  # of those that are not forward
    "perceptron": "perceptron perceptron-ss perceptron-ss-adaptive dkm-perceptron random-perceptron ffoat ffole "
    "randomized-budget-perceptron",
    "modified": "modified-perceptron dkm cbgz-dkm random-dkm", "shifting": "shifting-perceptron",
    "ridge": "ridge ssnci", "arow": "arow arow-ss", "arow_diagonal": "arow-diagonal arow-diagonal-ss",
    "adagrad": "adagrad adagrad-ss iwal", "lasec": "lasec lasec-ss kept-rate", "nearest": "nearest",
}  # fmt: skip
LEARNER_OF = {key: name for name, keys in _KEYS.items() for key in keys.split()}


def margin(key, S, x, q):
    """The margin of a key's learner."""
    return getattr(S, LEARNER_OF.get(key, "forward"))(x, **q)


def coin(b, m, more=0.0):
    return 1.0 if b == inf else b / (b + abs(m) + more)


def chance(key, S, x, q, m, t, kept):
    """Whether round t asks, or of a coin the probability; `kept` is what the rule remembers besides what is stored."""
    N, length = len(S), np.linalg.norm(x)
    more = m * m * (1 + S.spread(x, **q)) / 2 if key in ("sop-ss", "sop-ss-adaptive") else 0.0
    match key:
        case "perceptron-ss" | "cbgz-dkm" | "sop-ss" | "arow-ss" | "arow-diagonal-ss" | "adagrad-ss":
            return coin(q["b"], m, more)
        case "perceptron-ss-adaptive" | "sop-ss-adaptive":
            return coin(q["beta"] * max(length, kept.largest) ** 2 * sqrt(1 + N), m, more)
        case "sop-label-efficient" | "sole" | "lasec-ss":
            return coin(q["a" if key == "lasec-ss" else "C"], m)
        case "iwal":
            return importance(t, abs(m) / (S.descended(x, q["eta"])[1] * t), q["c_0"], q["floor"])
        case "sop-fixed-bias" | "random-perceptron" | "random-dkm":
            return q["rate"]
        case "ss" | "ssnci" | "ssmd" | "ssnl":
            return N == 0 or q["K"] == inf or m * m <= length**2 * q["K"] * log(t) / N
        case "bbq" | "bbq-i":
            A = S.correlation(q.get("a", 1.0)) + np.outer(x, x)
            return float(x @ np.linalg.inv(A) @ x) > t ** -q["kappa"]
        case "dkm" | "dkm-perceptron" | "kept-rate" | "nearest":
            return abs(m) <= kept.s
        case "filter":
            return N == 0 or m + length * sqrt(q["K"] * log(t) / N) >= 0
        case "ffoat" | "fsoat":
            return 1.0 if m >= 0 else min(1.0, sqrt((1 + kept.false_positives) / t))
        case "ffole" | "fsole":
            return 1.0 if m >= 0 else coin(q["C"], m)
    return True


def keeps(key, label, m):
    """Whether a learner stores an example that was bought at a margin."""
    if key in words("ridge rls rls-all ss ssnci ssnl bbq filter kept-rate nearest"):
        return True
    return label * m < 1 if key.startswith(("arow", "adagrad", "iwal")) else sgn(m) != label


def play(key, X, y, rng=None, normalize=False, **q):
    """Run the algorithm `key` with parameters `q`; return margin, prediction, queried, stored, chance, each (T,)."""
    S, rows, wanted_next = Stored(X.shape[1]), [], key == "ssnl"  # which has an appointment with the next label
    evictions = rng.spawn(1)[0] if "B" in q else None
    kept = SimpleNamespace(s=0.0 if "step" in q else q.get("s_1", 1.0), streak=0, false_positives=0, largest=0.0)
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        x = x / np.linalg.norm(x) if normalize else x
        m, N = margin(key, S, x, q), len(S)
        predicted, weight = sgn(m), 1.0
        wrong, stores = predicted != label, keeps(key, label, m)
        probability = chance(key, S, x, q, m, t, kept)
        tossed = isinstance(probability, float)
        if tossed:
            asks = rng.random() < probability
            weight = 1 / probability if key == "iwal" else 1.0
        elif key == "ssnl":
            asks, wanted_next = wanted_next, probability
        elif key == "adaptive-sampler":
            small = N == 0 or m * m <= 128 * log(t) / (q["lambda_"] * N)
            small = rng.random() < q["bias"] if "bias" in q else small
            stores = q["rho"] >= N or wanted_next
            small = small and not q["rho"] >= N
            asks = stores or (bool(q.get("mistake_driven")) and small)
            wanted_next = small and (wrong or not q.get("mistake_driven"))
        else:
            asks = bool(probability)
        begins = N == 0 and key in words("modified-perceptron dkm cbgz-dkm random-dkm")
        asks, stores = bool(asks) or begins, (stores or begins) and (bool(asks) or begins)
        probability = probability if tossed and not begins else float(asks)
        if "step" in q:
            kept.s += q["step"] * (q["rate"] - asks)
        elif asks and not begins and key in ("dkm", "dkm-perceptron"):
            kept.streak = 0 if wrong else kept.streak + 1
            if kept.streak == q["R"]:
                kept.s, kept.streak = kept.s / 2, 0
        if asks and key in ("ffoat", "fsoat") and label == -1 and (m >= 0 or q.get("count_forced")):
            kept.false_positives += 1
        if stores and evictions and q["B"] == N:
            gone = int(evictions.random() * N)
            S.x[gone], S.y[gone] = x, label
        elif stores:
            S.add(x, label, weight)
            kept.largest = max(kept.largest, np.linalg.norm(x))
        if key in words("filter ffoat fsoat ffole fsole"):
            predicted = 1 if asks else -1
        rows.append((m, predicted, asks, stores, probability))
    return tuple(np.array(column) for column in zip(*rows, strict=True))


TIMES = (2.0, 9.0)


def means(bought, t):
    """What `LastLabels` sees in round t: means of the labels that are known, by round, the older the lighter."""
    weights = {s: np.exp(-(t - s) / np.array(TIMES)) for s in bought}
    return sum((bought[s] * w for s, w in weights.items()), np.zeros(2)) / (1.0 + sum(weights.values(), np.zeros(2)))
