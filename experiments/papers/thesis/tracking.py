"""Section 2.4 of Monteleoni 2006: the regret of Fixed-share grows linearly with T, that of Learn-alpha with log T.

What it models: ten experts of which the best one changes with a probability of .05 after every round.  Regret is the
loss beyond that of Fixed-share at the switching rate that is best in hindsight (of 400).  Learn-alpha has the grid made
for the number of rounds, and beside it one made for 1,000 (section 2.5.4: "had it been optimized for the length").
What it leaves out: sequences made for a learner, on which the bounds are tight.
"""

from itertools import pairwise
from math import log

import numpy as np

from experiments.papers.claims import against, jackknifed, slope, wide
from experiments.papers.kit import Experiment, Sizes, over
from experiments.papers.predicates import at_least, between, reaching
from lpsm import LearnAlpha, alpha_grid, hindsight
from lpsm.randomness import WORKLOAD, generator
from lpsm.synthetic import fast_switching

N_EXPERTS, RATE, SHORT = 10, 0.05, 1000
WRONG = (0.005, 0.5)  # switching rates of Fixed-share
ROUNDS = (1000, 4000, 16_000, 64_000)
OWN, OTHER = "Learn-alpha", f"Learn-alpha for {SHORT} rounds"
GROWTH = Experiment("thesis/regret-growth", "the regret of Fixed-share and of Learn-alpha against the length", "1 min")


@GROWTH.runs(over({"rounds": Sizes(ROUNDS[:3], ROUNDS), "run": Sizes(range(2), range(20))}))
def regrets(rounds, run, seed):
    """Return the regret of every learner on one sequence, nats."""
    losses = fast_switching(generator(seed, WORKLOAD, run), rounds, N_EXPERTS, rate=RATE, scale=3.0).losses
    best = float(hindsight.alpha_losses(losses, np.geomspace(1e-4, 1.0, 400)).min())
    lost = {f"Fixed-share at {rate:g}": hindsight.alpha_losses(losses, [rate])[0] for rate in WRONG}
    for name, horizon in ((OWN, rounds), (OTHER, SHORT)):
        learner = LearnAlpha(n_experts=N_EXPERTS, alphas=alpha_grid(horizon=horizon))
        lost[name] = learner.run(losses, weights=False).loss.sum()
    return [{"rounds": rounds, "run": run, "learner": name, "regret": float(one - best)} for name, one in lost.items()]


def _table(regrets, learner):
    return wide(regrets, "regret", "rounds", "run", learner=learner)


@GROWTH.claim(
    "the regret of Fixed-share at a switching rate of {rate:g} in place of 0.05 is linear in T", between,
    "linear in T (section 2.4)", "exponent in T, jackknife over runs", low=0.9, high=1.1, of={"rate": WRONG}
)  # fmt: skip
def _growth(regrets, rate):
    table = _table(regrets, f"Fixed-share at {rate:g}")
    return jackknifed(table.index, lambda runs: slope(table.columns, table.loc[runs].mean()))


@GROWTH.claim(
    "the regret of Learn-alpha grows with (1/2) log T", reaching, "(1/2) log T + c (section 2.3)",
    "what a length four times as long adds, at most (1/2) ln 4", high=0.5 * log(4.0), unit=" nats"
)  # fmt: skip
def _per_factor_4(regrets):
    table = _table(regrets, OWN)
    return {f"{low} to {high}:": against(table[high], table[low]) for low, high in pairwise(table.columns)}


@GROWTH.claim(
    "a grid of switching rates made for the length of the trial loses less", at_least,
    "better results, especially in the longer trials", "at the largest length", limit=0.0, open=True, unit=" nats"
)  # fmt: skip
def _lost_by_short_grid(regrets):
    return against(*(_table(regrets, learner).iloc[:, -1] for learner in (OTHER, OWN)))
