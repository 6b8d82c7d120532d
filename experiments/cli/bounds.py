"""`lpsm bounds`: what is proved about the learners over experts, held against what they do.

One trial is one loss process at one size: Static-expert, Fixed-share, Markov-share and Learn-alpha run over it (an
adversary plays each of them anew) and are reported on.  A trial is a function of its settings, seed and index alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, inf, log
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from experiments.cli.options import jobs_option, json_option, number_option, seed_option
from experiments.datasets.losses import read_losses
from experiments.inert import echo
from experiments.report.text import plain
from experiments.study.interruptions import Interrupted
from experiments.study.run import progress, run
from lpsm import FixedShare, LearnAlpha, MarkovShare, StaticExpert, alpha_grid, synthetic
from lpsm.bounds import expert_report
from lpsm.bounds.verdicts import Row
from lpsm.experts import Learner

__all__ = ["LEARNERS", "Trial", "bounds", "parts", "play", "summary"]

LEARNERS = ("static-expert", "fixed-share", "markov-share", "learn-alpha")
MOST_ROUNDS, MOST_EXPERTS = 200, 6  # of sizes drawn
_STREAM = 5  # of the seed's children: loss processes
_ONE = ["learner", "statement", "kind", "measured", "bound", "slack", "verdict"]


@click.command()
@click.option(
    "--process",
    help="iid, piecewise, fast-switching, drifting or adversarial; random draws one of them in each trial [random].",
)
@click.option(
    "--losses",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Losses of your own: a .npy matrix, a table as pandas writes it, or text with one round a line.",
)
@click.option("--sleepers", is_flag=True, help="Losses that are empty or nan are of experts asleep in that round.")
@click.option(
    "--learner",
    "learners",
    multiple=True,
    help="static-expert, fixed-share, markov-share or learn-alpha; may be repeated [all].",
)
@number_option(
    "--alpha", kind=float, most=1e9, help="Switching rate of fixed-share [drawn; 1/T for losses of your own]."
)
@number_option("--rounds", kind=int, most=10**5, help="Rounds T [drawn, up to 200].")
@number_option("--experts", "n_experts", kind=int, most=1000, help="Experts n [drawn, up to 6].")
@number_option("--scale", kind=float, most=1e9, help="Loss of a bad expert, nats [drawn, 0.05 to 20].")
@number_option("--trials", kind=int, most=10**6, least=1, help="Trials, each with new losses [1].")
@seed_option("Seed of all trials.")
@jobs_option("Processes.", 1)
@json_option()
def bounds(
    file: Path | None,
    sleepers: bool,
    learners: tuple[str, ...],
    alpha: float | None,
    seed: int,
    jobs: int,
    as_json: bool,
    **drawn: Any,
) -> None:
    """Hold regret bounds against the regret measured on losses drawn or given.

    Static-expert, Fixed-share, Markov-share and Learn-alpha run over the losses.  One trial prints
    every statement with the measured side, the bound and the slack; several print how often each
    statement spoke and its slack over those times.  A statement whose hypothesis fails is void, one
    that promises nothing is vacuous.  The exit status is 1 if a statement is violated.  With --sleepers
    a comparator counts in the rounds in which it was awake: in the others it loses what the learner loses.
    """
    given = {name: value for name, value in drawn.items() if value is not None}
    if file is not None and given:
        raise ValueError("losses of your own leave no choice of process, rounds, experts, scale or trials")
    if file is None and sleepers:
        raise ValueError("--sleepers is for losses of your own: it needs --losses")
    trials, process = given.pop("trials", 1), given.pop("process", "random")
    if alpha is not None and learners and "fixed-share" not in learners:
        raise ValueError(f"--alpha is the switching rate of fixed-share, the learners are {', '.join(learners)}")
    settings = {"seed": seed, "learners": learners or LEARNERS, "alpha": alpha, **given}
    settings["process"] = None if process == "random" else process
    losses = None if file is None else read_losses(file, sleepers=sleepers)
    tasks = {str(index): Trial(index=index, **settings) for index in range(trials)}
    stopped = None
    if losses is None:
        found = list(run(play, tasks, jobs=jobs, title="trials").values())
    else:
        found, stopped = _own(tasks["0"], losses)
    reports = pd.concat(found, ignore_index=True)
    whole = summary(reports)
    checked, firm, violated = (int(whole[name].sum()) for name in ("checked", "firm", "violated"))
    if as_json:
        rows = plain((reports if trials == 1 else whole).astype(object).replace({inf: "inf", -inf: "-inf"}))
        head = {"process": process if losses is None else "given", "seed": seed, "trials": trials}
        click.echo(json.dumps({**head, "violated": violated, "statements": rows}))
    else:
        if trials == 1:
            first = reports.iloc[0]
            rate = "".join(f", alpha of fixed-share = {alpha:.4g}" for alpha in reports["alpha"].dropna().unique())
            echo(f"process {first['process']}, T = {first['rounds']}, n = {first['n_experts']}{rate}")
        table = reports[_ONE] if trials == 1 else whole.rename(columns=lambda name: name.replace("_", " "))
        echo(table.to_string(index=False, float_format=lambda value: f"{value:.6g}", na_rep="-"))
        echo(f"\n{checked} statements checked, {firm} of them neither void nor vacuous, {violated} violated.")
    if stopped is not None:
        raise stopped
    click.get_current_context().exit(1 if violated else 0)


def _own(trial: Trial, losses: NDArray[np.float64]) -> tuple[list[pd.DataFrame], KeyboardInterrupt | None]:
    """Return reports of the learners on given losses; of those that were finished, if it is interrupted."""
    found: list[pd.DataFrame] = []
    try:
        with progress("learners", len(trial.learners)) as advance:
            for part in parts(trial, losses):
                found.append(part)
                advance()
    except KeyboardInterrupt as interruption:
        said = f", {len(found)} of {len(trial.learners)} learners were finished"
        stopped = Interrupted.saying(said, interruption)
        if not found:
            raise stopped from None
        return found, stopped
    return found, None


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

    def __post_init__(self) -> None:
        if self.process is not None and self.process not in synthetic.PROCESSES:
            raise ValueError(f"process must be one of {', '.join(synthetic.PROCESSES)}, got {self.process}")
        for name in self.learners:
            if name not in LEARNERS:
                raise ValueError(f"learner must be one of {', '.join(LEARNERS)}, got {name}")
        for field, least in (("seed", 0), ("index", 0), ("rounds", 1), ("n_experts", 1)):
            value = getattr(self, field)
            if value is not None and value < least:
                raise ValueError(f"{field} must be at least {least}, got {value}")
        if self.scale is not None and not 0.0 < self.scale < inf:
            raise ValueError(f"scale must be positive and finite, got {self.scale}")
        if self.alpha is not None and not 0.0 <= self.alpha <= 1.0:
            raise ValueError(f"alpha must lie in [0, 1], got {self.alpha}")


def play(trial: Trial, losses: NDArray[np.float64] | None = None) -> pd.DataFrame:
    """Return the reports of one trial, below each other; `losses` (T, n), NaN of experts asleep, replace a process.

    Columns: trial, process, rounds, n_experts, learner, then those of `lpsm.bounds.report`.
    """
    return pd.concat(list(parts(trial, losses)), ignore_index=True)


def parts(trial: Trial, losses: NDArray[np.float64] | None = None) -> Iterator[pd.DataFrame]:
    """Yield what `play` returns, a learner at a time."""
    rng = np.random.default_rng(np.random.SeedSequence(trial.seed, spawn_key=(_STREAM, trial.index)))
    name = trial.process or synthetic.PROCESSES[int(rng.integers(len(synthetic.PROCESSES)))]
    rounds = trial.rounds or round(MOST_ROUNDS ** float(np.sqrt(rng.random())))  # 42 in the middle, 1 now and then
    least = 1 if trial.n_experts is None and rng.random() < 0.02 else 2
    n = trial.n_experts or int(rng.integers(least, MOST_EXPERTS + 1))
    scale = trial.scale or exp(rng.uniform(log(0.05), log(20.0)))
    if losses is not None:
        name, (rounds, n) = "given", losses.shape
    elif name != "adversarial":
        losses = _draw(name, rng, rounds, n, scale)
    for kind in trial.learners:
        own = 1.0 / rounds if name == "given" else None  # a switching rate for losses of one's own
        learner = _learner(kind, rng, rounds, n, own if trial.alpha is None else trial.alpha)
        played = losses
        if played is None:
            played = synthetic.adversarial(type(learner).from_state(learner.state()), rounds, scale=scale).losses
        awake = ~np.isnan(played)
        run = learner.run(np.where(awake, played, 0.0), awake) if not awake.all() else learner.run(played)
        part = pd.DataFrame(expert_report.rows(run), columns=list(Row._fields))
        about = {
            "trial": trial.index,
            "process": name,
            "rounds": rounds,
            "n_experts": n,
            "learner": kind,
            "alpha": getattr(learner, "alpha", np.nan),
        }
        yield pd.concat([pd.DataFrame(about, index=part.index), part], axis=1)


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
    if name == "iid":
        return synthetic.iid(rng, rounds, n, scale=scale).losses
    if name == "piecewise":
        most = min(rounds, 10) if n > 1 else 1
        return synthetic.piecewise(rng, rounds, n, segments=int(rng.integers(1, most + 1)), scale=scale).losses
    if name == "fast-switching":
        return synthetic.fast_switching(rng, rounds, n, rate=rng.uniform(0.3, 1.0), scale=scale).losses
    return synthetic.drifting(rng, rounds, n, step=rng.uniform(0.01, 0.3), scale=scale).losses


def _learner(kind: str, rng: np.random.Generator, rounds: int, n: int, alpha: float | None) -> Learner:
    if kind == "static-expert":
        return StaticExpert(n)
    if kind == "fixed-share":
        return FixedShare(n, _rate(rng) if alpha is None else alpha)
    if kind == "markov-share":
        return MarkovShare(rng.dirichlet(np.full(n, 0.7), size=n))
    return LearnAlpha(n, alpha_grid(horizon=rounds))


def _rate(rng: np.random.Generator) -> float:
    """Return a switching rate: mostly anywhere, sometimes near an end, now and then at one."""
    where = rng.random()
    if where < 0.1:
        return float(where >= 0.05)
    small = exp(rng.uniform(log(1e-9), log(0.1)))
    return small if where < 0.3 else 1.0 - small if where < 0.5 else rng.random()
