"""What finding the parameter on the way costs, against every fixed candidate and the best in hindsight.

Cost is mistakes + 0.1 x labels over 3,000 rounds, d = 10, means over seeds.
Run with ``python -m bench.tuned``.
"""

from __future__ import annotations

import numpy as np

from lpsm import samplers
from lpsm import synthetic_streams as sources
from lpsm.samplers import TunedSampler

PRICE = 0.1
GRIDS = {
    "perceptron-ss": ("b", np.geomspace(0.01, 10, 7), "perceptron-ss-adaptive"),
    "sop-ss": ("b", np.geomspace(0.001, 10, 9), "sop-ss-adaptive"),
    "sop-label-efficient": ("C", np.geomspace(0.001, 10, 9), None),
    "ssmd": ("K", np.geomspace(0.001, 10, 9), None),
}
STREAMS = ("separable", "flipped", "noise", "drift")


def rows(n_seeds: int = 10, streams: tuple[str, ...] = STREAMS, keys: tuple[str, ...] = tuple(GRIDS)) -> list[dict]:
    """One row a sampler and stream; costs are means."""
    table = []
    for key in keys:
        parameter, grid, adaptive = GRIDS[key]
        for kind in streams:
            fixed, tuned, by_paper = [], [], []
            for seed in range(n_seeds):
                X, y = stream(kind, seed)
                fixed.append([_cost(key, X, y, seed, **{parameter: value}) for value in grid])
                sampler = TunedSampler(key, X.shape[1], parameter, grid, label_price=PRICE, rng=_rng(seed))
                tuned.append(_price(sampler.run(X, y), y))
                by_paper.append(_cost(adaptive, X, y, seed) if adaptive else np.nan)
            costs = np.mean(fixed, axis=0)
            table.append(
                {
                    "sampler": key,
                    "stream": kind,
                    "tuned": float(np.mean(tuned)),
                    "best in hindsight": float(costs.min()),
                    "at": f"{parameter} = {grid[costs.argmin()]:.3g}",
                    "median of grid": float(np.median(costs)),
                    "worst of grid": float(costs.max()),
                    "adaptive b_t": float(np.mean(by_paper)),
                }
            )
    return table


def stream(kind: str, seed: int, n: int = 3000, d: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Separable with margin 0.1; the same with a tenth of the labels flipped; linear noise; ten shifts."""
    rng = np.random.default_rng([5, seed])
    if kind == "drift":
        made = sources.drifting(n, d, 20.0, rng, 0.05, n_shifts=10)
        return made.X, made.y
    if kind == "noise":
        noisy = sources.linear_noise(n, d, 4.0, rng)
        return noisy.X, noisy.y
    still = sources.separable(n, d, 0.1, rng)
    return still.X, np.where(rng.random(n) < 0.1, -still.y, still.y) if kind == "flipped" else still.y


def _cost(key: str, X: np.ndarray, y: np.ndarray, seed: int, **params: float) -> float:
    return _price(samplers.make(key, X.shape[1], rng=_rng(seed), **params).run(X, y), y)


def _price(log: samplers.RunLog, y: np.ndarray) -> float:
    return float(np.sum(log.prediction != y) + PRICE * log.queried.sum())


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng([6, seed])


if __name__ == "__main__":
    for row in rows():
        print(" | ".join(f"{value:.0f}" if isinstance(value, float) else str(value) for value in row.values()))
