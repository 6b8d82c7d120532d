"""Trials of the learners over experts: loss processes drawn or given, and the reports of what is proved about them.

One trial is one loss process at one size: Static-expert, Fixed-share, Markov-share and Learn-alpha run over it (an
adversary plays each of them anew) and are reported on.  A trial is a function of its settings, seed and index alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.presets import LEARNERS
from experiments.quantities import Row
from lpsm import FixedShare, LearnAlpha, MarkovShare, StaticExpert, alpha_grid, synthetic
from lpsm.bounds import expert_report
from lpsm.experts import Learner

MOST_ROUNDS, MOST_EXPERTS = 200, 6  # of sizes drawn
_STREAM = 5  # of the seed's children: loss processes


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is drawn in trial `index`; None leaves the choice to chance.

    `process` is one of `synthetic.PROCESSES`, `scale` the loss of a bad expert in nats, `alpha` the switching rate of
    Fixed-share.
    """

    index: int
    seed: int = 0
    process: str | None = None
    learners: tuple[str, ...] = LEARNERS
    rounds: int | None = None
    n_experts: int | None = None
    scale: float | None = None
    alpha: float | None = None


def play(trial: Trial, losses: NDArray[np.float64] | None = None) -> list[Row]:
    """Return the reports of one trial, a row a statement; `losses` (T, n), NaN of experts asleep, replace a process.

    A row has trial, process, rounds, n_experts, learner, alpha (of Fixed-share), then what `lpsm.bounds.report` has.
    """
    rng = np.random.default_rng(np.random.SeedSequence(trial.seed, spawn_key=(_STREAM, trial.index)))
    name = trial.process or synthetic.PROCESSES[int(rng.integers(len(synthetic.PROCESSES)))]
    rounds = trial.rounds or round(MOST_ROUNDS ** float(np.sqrt(rng.random())))  # 42 in the middle, 1 now and then
    least = 1 if trial.n_experts is None and rng.random() < 0.02 else 2
    n = trial.n_experts or int(rng.integers(least, MOST_EXPERTS + 1))
    scale, alpha = trial.scale or exp(rng.uniform(log(0.05), log(20.0))), trial.alpha
    if losses is not None:
        name, (rounds, n) = "given", losses.shape
        alpha = 1.0 / rounds if alpha is None else alpha
    elif name != "adversarial":
        more: Row = {}
        if name == "piecewise":
            more["segments"] = int(rng.integers(1, (min(rounds, 10) if n > 1 else 1) + 1))
        elif name == "fast-switching":
            more["rate"] = rng.uniform(0.3, 1.0)
        elif name == "drifting":
            more["step"] = rng.uniform(0.01, 0.3)
        losses = getattr(synthetic, name.replace("-", "_"))(rng, rounds, n, scale=scale, **more).losses
    makers: dict[str, Callable[[], Learner]] = {
        "static-expert": lambda: StaticExpert(n),
        "fixed-share": lambda: FixedShare(n, rng.beta(0.3, 0.3) if alpha is None else alpha),  # often near an end
        "markov-share": lambda: MarkovShare(rng.dirichlet(np.full(n, 0.7), size=n)),
        "learn-alpha": lambda: LearnAlpha(n, alpha_grid(horizon=rounds)),
    }
    found: list[Row] = []
    for kind in trial.learners:
        learner, played = makers[kind](), losses
        if played is None:
            played = synthetic.adversarial(type(learner).from_state(learner.state()), rounds, scale=scale).losses
        awake = ~np.isnan(played)
        run = learner.run(np.where(awake, played, 0.0), awake) if not awake.all() else learner.run(played)
        about = {"trial": trial.index, "process": name, "rounds": rounds, "n_experts": n, "learner": kind}
        about["alpha"] = learner.alpha if isinstance(learner, FixedShare) and kind == "fixed-share" else None
        found += [about | row._asdict() for row in expert_report.rows(run)]
    return found


def summary(reports: pd.DataFrame) -> pd.DataFrame:
    """Return one row a statement and learner: how often it spoke, and with what slack.

    Columns: learner, statement, kind, checked (reports), void (a hypothesis failed), vacuous, firm (neither),
    violated, and the least, median and greatest slack over the firm ones.
    """
    verdicts = reports["verdict"].str.split(r"[ :(]", n=1, regex=True).str[0]
    firm = verdicts.isin(["holds", "violated"])
    said = reports.assign(
        checked=1, void=verdicts == "void", vacuous=verdicts == "vacuous", firm=firm,
        violated=~reports["holds"].astype(bool), slack=reports["slack"].where(firm),
    )  # fmt: skip
    groups = said.groupby(["learner", "statement"], sort=False)
    counts = groups[["checked", "void", "vacuous", "firm", "violated"]].sum()
    slack = groups["slack"].agg(least_slack="min", median_slack="median", greatest_slack="max")
    return pd.concat([groups["kind"].first(), counts, slack], axis=1).reset_index()
