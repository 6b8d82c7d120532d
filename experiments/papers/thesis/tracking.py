"""Section 2.4 of Monteleoni 2006: the regret of Fixed-share grows linearly with T, that of Learn-alpha with log T.

What it models: ten experts of which the best one changes with a probability of .05 after every round.  Regret is the
loss beyond that of Fixed-share at the switching rate that is best in hindsight (of 400).  Learn-alpha has the grid made
for the number of rounds, and beside it one made for 1,000 (section 2.5.4: "had it been optimized for the length").
What it leaves out: sequences made for a learner, on which the bounds are tight.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import log
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers.claims import Claim, Frame, Noted, Samples, jackknifed, point
from experiments.papers.kit import Experiment, Sizes, over
from experiments.papers.predicates import at_least, between, reaching
from lpsm import LearnAlpha, alpha_grid, hindsight
from lpsm.randomness import WORKLOAD, generator
from lpsm.synthetic import fast_switching

__all__ = ["EXPERIMENTS"]

N_EXPERTS, RATE, SHORT = 10, 0.05, 1000
WRONG = (0.005, 0.5)  # switching rates of Fixed-share
ROUNDS = (1000, 4000, 16_000, 64_000)
OWN, OTHER = "Learn-alpha", f"Learn-alpha for {SHORT} rounds"
GROWTH = Experiment("thesis/regret-growth", "the regret of Fixed-share and of Learn-alpha against the length", "1 min")


@GROWTH.runs(over({"rounds": Sizes(ROUNDS[:3], ROUNDS), "run": Sizes(range(2), range(20))}))
def regrets(rounds: int, run: int, seed: int) -> list[dict[str, Any]]:
    """Return the regret of every learner on one sequence, nats."""
    losses = fast_switching(generator(seed, WORKLOAD, run), rounds, N_EXPERTS, rate=RATE, scale=3.0).losses
    best = float(hindsight.alpha_losses(losses, np.geomspace(1e-4, 1.0, 400)).min())
    lost = {f"Fixed-share at {rate:g}": hindsight.alpha_losses(losses, [rate])[0] for rate in WRONG}
    for name, horizon in ((OWN, rounds), (OTHER, SHORT)):
        learner = LearnAlpha(n_experts=N_EXPERTS, alphas=alpha_grid(horizon=horizon))
        lost[name] = learner.run(losses, weights=False).loss.sum()
    return [{"rounds": rounds, "run": run, "learner": name, "regret": float(one - best)} for name, one in lost.items()]


def _table(regrets: Frame, learner: str) -> Frame:
    own: Frame = regrets[regrets["learner"] == learner]
    return own.pivot(index="run", columns="rounds", values="regret")


def growth(regrets: Frame, *, learner: str) -> Noted:
    """Exponent of the regret in the number of rounds, a pseudo-value a run."""
    table = _table(regrets, learner)
    lengths = np.log(table.columns.to_numpy(dtype=float))

    def exponent(runs: Any) -> float:
        return float(np.polyfit(lengths, np.log(table.loc[runs].mean().to_numpy()), 1)[0])

    words = ", ".join(f"{value:.0f} nats at {rounds}" for rounds, value in table.mean().items())
    return Noted(jackknifed(table.index, exponent), f"({words})")


def per_factor_4(regrets: Frame) -> Samples:
    """What Learn-alpha's regret gains from each length to the next, four times as long, nats."""
    table = _table(regrets, OWN)
    lengths = list(table.columns)
    pairs = pairwise(lengths)
    return {f"{low} to {high}:": Noted(table[high] - table[low], f"({table[high].mean():.2f})") for low, high in pairs}


def lost_by_short_grid(regrets: Frame) -> Noted:
    """Regret with the grid for 1,000 rounds less that with the grid for the length, at the largest length."""
    other, own = (_table(regrets, learner).iloc[:, -1] for learner in (OTHER, OWN))
    return Noted(other - own, f"({other.mean():.2f} against {own.mean():.2f})")


GROWTH.claims += [
    *(Claim(f"the regret of Fixed-share at a switching rate of {rate:g} in place of {RATE:g} is linear in T",
        between(partial(growth, learner=f"Fixed-share at {rate:g}"), 0.9, 1.1), "linear in T (section 2.4)",
        "exponent in T, jackknife over runs") for rate in WRONG),
    Claim("the regret of Learn-alpha grows with (1/2) log T", reaching(per_factor_4, high=0.5 * log(4.0), unit=" nats"),
        "(1/2) log T + c (section 2.3)", "what a length four times as long adds, at most (1/2) ln 4"),
    Claim("a grid of switching rates made for the length of the trial loses less",
        at_least(lost_by_short_grid, 0.0, open=True, unit=" nats"), "better results, especially in the longer trials"),
]  # fmt: skip


@GROWTH.picture("regret-growth", x="rounds", y="regret [nats]", x_scale="log", y_scale="log")
def by_length(regrets: Frame) -> Frame:
    """Draw the mean regret of every learner against the length."""
    groups: Any = regrets.groupby(["learner", "rounds"], sort=False)["regret"]
    return pd.DataFrame([point(learner, rounds, own) for (learner, rounds), own in groups])


EXPERIMENTS = (GROWTH,)
