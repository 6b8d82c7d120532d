"""Combining once more, slowly and literally: exact fractions of weights in plain Python, a loop for every sum."""

from math import exp, inf, log

__all__ = ["combined"]


def loss(name, quantile, f, y):
    if name == "square":
        return (f - y) ** 2
    if name == "absolute":
        return abs(f - y)
    if name == "pinball":
        return max(quantile * (y - f), (quantile - 1) * (y - f))
    if name == "log":
        return -log(f if y > 0 else 1 - f)
    return log(1 + exp(-f if y > 0 else f))


def slope(name, quantile, f, y):
    step = 1e-6 * max(1.0, abs(f))
    return (loss(name, quantile, f + step, y) - loss(name, quantile, f - step, y)) / (2 * step)


class Copy:
    """Learn-alpha at one rate: a Fixed-share for every alpha, their weights by their own mixture losses."""

    def __init__(self, n, alphas):
        self.n, self.alphas = n, alphas
        self.top = [1 / len(alphas)] * len(alphas)
        self.inner = [[1 / n] * n for _ in alphas]

    def weights(self):
        return [sum(t * w[i] for t, w in zip(self.top, self.inner, strict=True)) for i in range(self.n)]

    def learn(self, losses, awake):
        for j, (w, alpha) in enumerate(zip(self.inner, self.alphas, strict=True)):
            base = sum(w[i] for i in awake)
            total = sum(w[i] * exp(-losses[i]) for i in awake)
            for i in awake:
                w[i] *= exp(-losses[i]) * base / total
            n = self.n
            self.inner[j] = [
                (1 - alpha) * w[i] + alpha * (sum(w) - w[i]) / (n - 1) if n > 1 else w[i] for i in range(n)
            ]
            self.top[j] *= total / base
        s = sum(self.top)
        self.top = [t / s for t in self.top]


def combined(forecasts, y, name, rates, scale, quantile, gradient, alphas):
    """Predictions of every round; `scale` is None to take the first difference between losses."""
    n = len(forecasts[0])
    copies, behind, gap = [Copy(n, alphas) for _ in rates], [0.0] * len(rates), 0.0
    out = []
    for f, outcome in zip(forecasts, y, strict=True):
        awake = [i for i in range(n) if f[i] == f[i]]
        eta = log(len(rates)) / gap if gap > 0 else inf
        v = [exp(-eta * (b - min(behind))) if gap > 0 else float(b == min(behind)) for b in behind]
        v = [value / sum(v) for value in v]
        own = []
        for copy in copies:
            w = copy.weights()
            own.append(sum(w[i] * f[i] for i in awake) / sum(w[i] for i in awake))
        p = sum(a * b for a, b in zip(v, own, strict=True))
        out.append(p)
        g = slope(name, quantile, p, outcome) if gradient else None
        losses = [
            (0.0 if i not in awake else g * (f[i] - p) if gradient else loss(name, quantile, f[i], outcome))
            for i in range(n)
        ]
        spread = max(losses[i] for i in awake) - min(losses[i] for i in awake)
        if scale is None and spread == 0:
            continue
        scale = spread if scale is None else scale
        for copy, rate in zip(copies, rates, strict=True):
            least = min(losses[i] for i in awake)
            copy.learn([rate / scale * (value - least) for value in losses], awake)
        if len(rates) > 1:
            top = [g * (q - p) if gradient else loss(name, quantile, q, outcome) for q in own]
            mean = sum(a * b for a, b in zip(v, top, strict=True))
            low = min(t for a, t in zip(v, top, strict=True) if a > 0)
            mix = (
                low
                if eta == inf
                else low - log(sum(a * exp(-eta * (t - low)) for a, t in zip(v, top, strict=True))) / eta
            )
            gap += max(0.0, mean - mix)
            behind = [b + t for b, t in zip(behind, top, strict=True)]
    return out
