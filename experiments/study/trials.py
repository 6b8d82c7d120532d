"""Trials of the learners over experts: loss processes drawn or given, and the reports of what is proved about them.

One trial is one loss process at one size: Static-expert, Fixed-share, Markov-share and Learn-alpha run over it (an
adversary plays each of them anew) and are reported on.  A trial is a function of its settings, seed and index alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.presets import LEARNERS
from lpsm import FixedShare, LearnAlpha, MarkovShare, StaticExpert, alpha_grid, synthetic
from lpsm.bounds import expert_report
from lpsm.experts import Learner

__all__ = ["Trial", "play", "summary"]

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


def play(trial: Trial, losses: NDArray[np.float64] | None = None) -> list[dict[str, Any]]:
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
        losses = _draw(name, rng, rounds, n, scale)
    found: list[dict[str, Any]] = []
    for kind in trial.learners:
        learner = _learner(kind, rng, rounds, n, alpha)
        played = losses
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
    said = reports.assign(
        void=verdicts == "void", vacuous=verdicts == "vacuous", firm=verdicts.isin(["holds", "violated"]),
        violated=~reports["holds"].astype(bool),
    )  # fmt: skip
    said["firm_slack"] = said["slack"].where(said["firm"])
    return (
        said.groupby(["learner", "statement"], sort=False)
        .agg(
            kind=("kind", "first"), checked=("kind", "size"), void=("void", "sum"), vacuous=("vacuous", "sum"),
            firm=("firm", "sum"), violated=("violated", "sum"), least_slack=("firm_slack", "min"),
            median_slack=("firm_slack", "median"), greatest_slack=("firm_slack", "max"),
        )
        .reset_index()
    )  # fmt: skip


def _draw(name: str, rng: np.random.Generator, rounds: int, n: int, scale: float) -> NDArray[np.float64]:
    more: dict[str, Any] = {}
    if name == "piecewise":
        more["segments"] = int(rng.integers(1, (min(rounds, 10) if n > 1 else 1) + 1))
    elif name == "fast-switching":
        more["rate"] = rng.uniform(0.3, 1.0)
    elif name == "drifting":
        more["step"] = rng.uniform(0.01, 0.3)
    found: NDArray[np.float64] = getattr(synthetic, name.replace("-", "_"))(rng, rounds, n, scale=scale, **more).losses
    return found


def _learner(kind: str, rng: np.random.Generator, rounds: int, n: int, alpha: float | None) -> Learner:
    if kind == "static-expert":
        return StaticExpert(n)
    if kind == "fixed-share":
        return FixedShare(n, rng.beta(0.3, 0.3) if alpha is None else alpha)  # often near an end
    if kind == "markov-share":
        return MarkovShare(rng.dirichlet(np.full(n, 0.7), size=n))
    return LearnAlpha(n, alpha_grid(horizon=rounds))
