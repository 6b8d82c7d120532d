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
@number_option("--alpha", kind=float, most=1e9, help="Switching rate of fixed-share [drawn].")
@number_option("--rounds", kind=int, most=10**5, help="Rounds T [drawn, up to 200].")
@number_option("--experts", "n_experts", kind=int, most=1000, help="Experts n [drawn, up to 6].")
@number_option("--scale", kind=float, most=1e9, help="Loss of a bad expert, nats [drawn, 0.05 to 20].")
@number_option("--trials", kind=int, most=10**6, help="Trials, each with new losses [1].")
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
    from experiments.datasets.losses import read_losses
    from experiments.report.comparison import plain
    from experiments.study import bounds_trials
    from experiments.study.run import run

    if file is not None and any(value is not None for value in drawn.values()):
        raise ValueError("losses of your own leave no choice of process, rounds, experts, scale or trials")
    if file is None and sleepers:
        raise ValueError("--sleepers is for losses of your own: it needs --losses")
    given = {name: value for name, value in drawn.items() if value is not None}
    trials, process = given.pop("trials", 1), given.pop("process", "random")
    if trials < 1:
        raise ValueError(f"trials must be at least 1, got {trials}")
    if alpha is not None and learners and "fixed-share" not in learners:
        raise ValueError(f"--alpha is the switching rate of fixed-share, the learners are {', '.join(learners)}")
    settings = {"seed": seed, "learners": learners or bounds_trials.LEARNERS, "alpha": alpha, **given}
    settings["process"] = None if process == "random" else process
    losses = None if file is None else read_losses(file, sleepers=sleepers)
    tasks = {str(index): bounds_trials.Trial(index=index, **settings) for index in range(trials)}
    stopped = None
    if losses is None:
        found = list(run(bounds_trials.play, tasks, jobs=jobs, title="trials").values())
    else:
        found, stopped = _own(tasks["0"], losses)
    reports = bounds_trials.table(found)
    summary = bounds_trials.summary(reports)
    checked, firm, violated = (int(summary[name].sum()) for name in ("checked", "firm", "violated"))
    if as_json:
        shown = reports if trials == 1 else summary
        ends = {float("inf"): "inf", float("-inf"): "-inf"}
        rows = plain(shown.astype(object).replace(ends))
        head = {"process": process if losses is None else "given", "seed": seed, "trials": trials}
        click.echo(json.dumps({**head, "violated": violated, "statements": rows}))
    else:
        if trials == 1:
            first = reports.iloc[0]
            echo(f"process {first['process']}, T = {first['rounds']}, n = {first['n_experts']}")
        table = reports[_ONE] if trials == 1 else summary.rename(columns=lambda name: name.replace("_", " "))
        echo(table.to_string(index=False, float_format=lambda value: f"{value:.6g}", na_rep="-"))
        echo(f"\n{checked} statements checked, {firm} of them neither void nor vacuous, {violated} violated.")
    if stopped is not None:
        raise stopped
    click.get_current_context().exit(1 if violated else 0)


def _own(trial: Trial, losses: NDArray[np.float64]) -> tuple[list[pd.DataFrame], KeyboardInterrupt | None]:
    """Return reports of the learners on given losses; of those that were finished, if it is interrupted."""
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
