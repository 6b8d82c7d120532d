"""What every learner over experts, the combiner and hindsight gave before they were rewritten.

``python -m tests.lpsm.frozen_experts.freeze`` writes the file anew: for a change of what is computed, never of how.
"""

from pathlib import Path

import numpy as np

from lpsm import Combiner, FixedShare, LearnAlpha, MarkovShare, StaticExpert, alpha_grid, bounds, hindsight
from lpsm.experts import AdaHedge, NormalHedge, Squint, VariableShare

FILE = Path(__file__).with_name("frozen.npz")
N, ROUNDS = 4, 60
PRIOR = [0.5, 0.0, 0.2, 0.3]
CHAIN = [[0.9, 0.1, 0.0, 0.0], [0.0, 0.7, 0.3, 0.0], [0.2, 0.2, 0.3, 0.3], [0.0, 0.0, 0.5, 0.5]]
NEAR = [0.0, 1e-300, 1e-120, 1e-12, 0.01, 0.4, 0.97, 1.0 - 1e-8, 1.0 - 1e-15, 1.0]

LEARNERS = {
    "static": lambda: StaticExpert(N),
    "static with a prior": lambda: StaticExpert(N, prior=PRIOR),
    **{f"fixed share {alpha!r}": lambda alpha=alpha: FixedShare(N, alpha) for alpha in NEAR},
    "fixed share with a prior": lambda: FixedShare(N, 0.1, prior=PRIOR),
    "markov": lambda: MarkovShare(CHAIN),
    "markov with a prior": lambda: MarkovShare(CHAIN, prior=PRIOR),
    "variable share": lambda: VariableShare(N, 0.3),
    "variable share of none": lambda: VariableShare(N, 0.0),
    "learn alpha": lambda: LearnAlpha(N, alpha_grid(horizon=ROUNDS)),
    "learn alpha near the ends": lambda: LearnAlpha(N, NEAR),
    "learn alpha with priors": lambda: LearnAlpha(N, NEAR[3:8], prior=PRIOR, alpha_prior=[5, 4, 3, 2, 1]),
    "learn alpha, many": lambda: LearnAlpha(N, alpha_grid(kind="chebyshev", size=40)),
    "learn alpha, doubling": lambda: LearnAlpha(N, doubling=True),
    "adahedge": lambda: AdaHedge(N),
    "squint": lambda: Squint(N, loss_range=4.0),
    "normalhedge": lambda: NormalHedge(N),
}
BOUNDED = ("adahedge", "squint", "normalhedge")


def losses_by_name():
    """Losses of many sizes, and who is awake (None: all)."""
    rng = np.random.default_rng(12345)
    plain = np.minimum(rng.exponential(size=(ROUNDS, N)), 4.0)
    asleep = rng.random((ROUNDS, N)) < 0.7
    asleep[7] = False
    turning = np.zeros((ROUNDS, N))
    turning[: ROUNDS // 2, 1:] = 4.0
    turning[ROUNDS // 2 :, 0] = 4.0
    steep = rng.choice([0.0, 1.0, 30.0, 800.0, 1e6], size=(ROUNDS, N))
    some = np.where(rng.random((ROUNDS, N)) < 0.2, np.inf, plain)
    some[20] = np.inf
    return {
        "plain": (plain, None),
        "sleepers": (plain, asleep),
        "turning": (turning, None),
        "steep": (steep, None),
        "infinite": (some, None),
        "infinite, sleepers": (some, asleep),
    }


def learners():
    """Losses, weights and weights of alphas by name."""
    for kind, make in LEARNERS.items():
        for name, (losses, awake) in losses_by_name().items():
            if (kind, name) == ("learn alpha near the ends", "infinite, sleepers"):  # was NaN
                continue
            if kind in BOUNDED and name not in ("plain", "sleepers", "turning"):
                continue
            learner = make()
            begun = learner.run(losses[:25], None if awake is None else awake[:25], weights=True)
            middle = learner.weights
            rest = [learner.update(row, None if awake is None else awake[25 + t]) for t, row in enumerate(losses[25:])]
            yield f"{kind} | {name} | loss", np.append(begun.loss, rest)
            yield f"{kind} | {name} | weights", np.concatenate([begun.weights[20], middle, learner.weights])
            if isinstance(learner, LearnAlpha):
                yield f"{kind} | {name} | alpha weights", learner.alpha_weights


def combiners():
    """Combinations, their weights at the end and bounds by name."""
    rng = np.random.default_rng(54321)
    y = rng.random(ROUNDS)
    table = y[:, None] + rng.normal(size=(ROUNDS, N)) * [0.1, 0.5, 1.0, 0.3]
    sleepy = np.where(rng.random(table.shape) < 0.2, np.nan, table)
    signs = (y > 0.5).astype(float)
    probabilities = 1.0 / (1.0 + np.exp(-2.0 * table))
    for loss in ("square", "absolute", "pinball", "log", "logistic"):
        outcomes = signs if loss in ("log", "logistic") else y
        for rate in ("learn", 2.0):
            for gradient in (False,) if loss == "log" else (False, True):
                for kind, forecasts in (("awake", table), ("sleepy", sleepy)):
                    used = probabilities if loss == "log" else forecasts
                    extra = {"quantile": 0.8} if loss == "pinball" else {}
                    combiner = Combiner(N, loss, rate, gradient=gradient, **extra)
                    predictions, _ = combiner.run(used, outcomes)
                    name = f"combiner {loss} | {rate} | {gradient} | {kind}"
                    yield f"{name} | predictions", predictions
                    yield f"{name} | weights", combiner.weights
                    if kind == "awake":
                        yield f"{name} | bound", np.array([combiner.regret_bound(k) for k in (1, 3)])


def comparators():
    """What hindsight finds, and what bounds say."""
    for name, (losses, awake) in losses_by_name().items():
        if awake is not None or name == "infinite":
            continue
        best = hindsight.best_alpha(losses)
        yield f"hindsight | {name} | best alpha", np.array([best.alpha, best.loss])
        yield f"hindsight | {name} | alpha losses", hindsight.alpha_losses(losses, NEAR)
        yield f"hindsight | {name} | slopes", hindsight.alpha_slopes(losses, [0.01, 0.3]).ravel()
        yield f"hindsight | {name} | partitions", hindsight.partition_curve(losses, 6)
        yield f"hindsight | {name} | partition", np.array(hindsight.best_partition(losses, 4).starts, dtype=float)
        yield f"hindsight | {name} | expert", np.array([hindsight.best_expert(losses).loss])
        for make in (lambda: LearnAlpha(N, alpha_grid(horizon=ROUNDS)), lambda: FixedShare(N, 0.1)):
            learner = make()
            report = bounds.report(learner.run(losses))
            numbers = report.select_dtypes("number")
            yield f"report | {name} | {type(learner).__name__}", numbers.to_numpy(dtype=float).ravel()


def found():
    """Everything by name."""
    return {**dict(learners()), **dict(combiners()), **dict(comparators())}


if __name__ == "__main__":
    np.savez_compressed(FILE, **found())
    print(FILE.stat().st_size)
