"""Combining once more, slowly and literally: a number for every weight of every copy, losses and slopes one by one."""

from math import exp, inf, log

import numpy as np


def loss(name, quantile, f, y):
    return {"square": lambda: (f - y) ** 2, "absolute": lambda: abs(f - y),
        "pinball": lambda: max(quantile * (y - f), (quantile - 1) * (y - f)),
        "log": lambda: -log(f if y > 0 else 1 - f), "logistic": lambda: log(1 + exp(-f if y > 0 else f))}[
        name]()  # fmt: skip


def slope(name, quantile, f, y):
    step = 1e-6 * max(1.0, abs(f))
    return (loss(name, quantile, f + step, y) - loss(name, quantile, f - step, y)) / (2 * step)


class Copy:
    """Learn-alpha at one rate: a Fixed-share of two experts or more for every alpha, weighed by their own losses."""

    def __init__(self, n, alphas):
        self.alphas, self.top = np.array(alphas)[:, None], np.full((len(alphas), 1), 1 / len(alphas))
        self.inner = np.full((len(alphas), n), 1 / n)

    def weights(self):
        return (self.top * self.inner).sum(axis=0)

    def learn(self, losses, awake):
        seen = np.where(awake, self.inner * np.exp(-losses), 0.0)
        ratio = (seen.sum(axis=1) / self.inner[:, awake].sum(axis=1))[:, None]
        w = np.where(awake, seen / ratio, self.inner)
        total = w.sum(axis=1, keepdims=True)
        self.inner = (1 - self.alphas) * w + self.alphas * (total - w) / (w.shape[1] - 1)
        self.top = self.top * ratio / (self.top * ratio).sum()


def combined(forecasts, y, name, rates, scale, quantile, gradient, alphas):
    """Predictions of every round; `scale` is None to take the first difference between losses."""
    copies, behind, gap = [Copy(forecasts.shape[1], alphas) for _ in rates], np.zeros(len(rates)), 0.0
    out = []
    for f, outcome in zip(forecasts, y, strict=True):
        awake = ~np.isnan(f)
        eta = log(len(rates)) / gap if gap > 0 else inf
        v = np.exp(-eta * (behind - behind.min())) if gap > 0 else 1.0 * (behind == behind.min())
        v /= v.sum()
        each = [copy.weights()[awake] for copy in copies]
        own = [w @ f[awake] / w.sum() for w in each]
        p = v @ own
        out.append(p)
        g = slope(name, quantile, p, outcome) if gradient else None
        losses, top = (np.array([g * (q - p) if gradient else loss(name, quantile, q, outcome) for q in said])
            for said in (np.where(awake, f, p), own))  # fmt: skip
        least, spread = losses[awake].min(), np.ptp(losses[awake])
        if scale is None and spread == 0:
            continue
        scale = spread if scale is None else scale
        for copy, rate in zip(copies, rates, strict=True):
            copy.learn(rate / scale * (losses - least), awake)
        if len(rates) > 1:
            low = top[v > 0].min()
            mix = low if eta == inf else low - log(v @ np.exp(-eta * (top - low))) / eta
            gap, behind = gap + max(0.0, v @ top - mix), behind + top
    return out
