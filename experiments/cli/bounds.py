"""`lpsm bounds`: what is proved about the learners over experts, held against what they do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import jobs_option, json_option, number_option, seed_option
from experiments.inert import echo

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from experiments.study.bounds_trials import Trial

__all__ = ["bounds"]


@click.command()
@click.option(
    "--process",
    default="random",
    show_default=True,
    help="iid, piecewise, fast-switching, drifting or adversarial; random draws one of them in each trial.",
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
@number_option("--alpha", kind=float, most=1e9, help="Switching rate of fixed-share [drawn].")
@number_option("--rounds", kind=int, most=10**5, help="Rounds T [drawn, up to 200].")
@number_option("--experts", kind=int, most=1000, help="Experts n [drawn, up to 6].")
@number_option("--scale", kind=float, most=1e9, help="Loss of a bad expert, nats [drawn, 0.05 to 20].")
@number_option("--trials", kind=int, most=10**6, default=1, help="Trials, each with new losses.")
@seed_option("Seed of all trials.")
@jobs_option("Processes.", 1)
@json_option()
@click.pass_context
def bounds(
    context: click.Context,
    process: str,
    file: Path | None,
    sleepers: bool,
    learners: tuple[str, ...],
    alpha: float | None,
    rounds: int | None,
    experts: int | None,
    scale: float | None,
    trials: int,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Hold regret bounds against the regret measured on losses drawn or given.

    Static-expert, Fixed-share, Markov-share and Learn-alpha run over the losses.  One trial prints
    every statement with the measured side, the bound and the slack; several print how often each
    statement spoke and its slack over those times.  A statement whose hypothesis fails is void, one
    that promises nothing is vacuous.  The exit status is 1 if a statement is violated.  With --sleepers
    a comparator counts in the rounds in which it was awake: in the others it loses what the learner loses.
    """
    from experiments.datasets.losses import read_losses
    from experiments.study import bounds_trials
    from experiments.study.run import run

    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}")
    if alpha is not None and learners and "fixed-share" not in learners:
        raise ValueError(f"--alpha is the switching rate of fixed-share, the learners are {', '.join(learners)}")
    losses = None
    if file is not None:
        if trials != 1 or process != "random" or rounds is not None or experts is not None or scale is not None:
            raise ValueError("losses of your own leave no choice of process, rounds, experts, scale or trials")
        losses = read_losses(file, sleepers=sleepers)
    elif sleepers:
        raise ValueError("--sleepers is for losses of your own: it needs --losses")
    tasks = {
        str(index): bounds_trials.Trial(
            index=index,
            seed=seed,
            process=None if process == "random" else process,
            learners=learners or bounds_trials.LEARNERS,
            rounds=rounds,
            n_experts=experts,
            scale=scale,
            alpha=alpha,
        )
        for index in range(trials)
    }
    stopped = None
    if losses is None:
        found = list(run(bounds_trials.play, tasks, jobs=jobs, title="trials").values())
    else:
        found, stopped = _own(tasks["0"], losses)
    reports = bounds_trials.table(found)
    summary = bounds_trials.summary(reports)
    violated = int(summary["violated"].sum())
    shown = reports if trials == 1 else summary
    if as_json:
        settings = {"process": process if losses is None else "given", "seed": seed, "trials": trials}
        click.echo(json.dumps({**settings, "violated": violated, "statements": _plain(shown)}))
    else:
        echo(_one(reports) if trials == 1 else _many(summary))
        checked, firm = int(summary["checked"].sum()), int(summary["firm"].sum())
        echo(f"\n{checked} statements checked, {firm} of them neither void nor vacuous, {violated} violated.")
    if stopped is not None:
        raise stopped
    context.exit(1 if violated else 0)


def _own(trial: Trial, losses: NDArray[np.float64]) -> tuple[list[pd.DataFrame], KeyboardInterrupt | None]:
    """Reports of the learners on given losses; of those that were finished, if it is interrupted."""
    from experiments.study import bounds_trials
    from experiments.study.interruptions import Interrupted
    from experiments.study.progress import progress

    found: list[pd.DataFrame] = []
    try:
        with progress("learners", len(trial.learners)) as advance:
            for part in bounds_trials.parts(trial, losses):
                found.append(part)
                advance()
    except KeyboardInterrupt as interruption:
        said = f", {len(found)} of {len(trial.learners)} learners were finished"
        stopped = Interrupted.saying(said, interruption)
        if not found:
            raise stopped from None
        return found, stopped
    return found, None


def _plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as JSON data; infinities are words, what is not a number is null."""
    rows: Any = frame.to_dict("records")
    return [{name: _plain_value(value) for name, value in row.items()} for row in rows]


def _plain_value(value: Any) -> Any:
    if isinstance(value, float) and value != value:
        return None
    if value in (float("inf"), float("-inf")):
        return "inf" if value > 0 else "-inf"
    return value


def _one(reports: pd.DataFrame) -> str:
    first = reports.iloc[0]
    head = f"process {first['process']}, T = {first['rounds']}, n = {first['n_experts']}\n"
    columns = ["learner", "statement", "kind", "measured", "bound", "slack", "verdict"]
    return head + _text(reports[columns])


def _many(summary: pd.DataFrame) -> str:
    return _text(summary.rename(columns=lambda name: str(name).replace("_", " ")))


def _text(frame: pd.DataFrame) -> str:
    return str(frame.to_string(index=False, float_format=lambda value: f"{value:.6g}", na_rep="-"))
