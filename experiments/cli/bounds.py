"""`lpsm bounds`: what is proved about the learners over experts, held against what they do."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli import options
from experiments.inert import echo

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from experiments.study.trials import Trial

__all__ = ["bounds"]

_ONE = ["learner", "statement", "kind", "measured", "bound", "slack", "verdict"]


@options.command(
    click.option(
        "--process",
        help="iid, piecewise, fast-switching, drifting or adversarial; random draws one of them in each trial "
        "[random].",
    ),
    click.option(
        "--losses", "file", type=click.Path(path_type=Path, dir_okay=False),
        help="Losses of your own: a .npy matrix, a table as pandas writes it, or text with one round a line.",
    ),
    options.flag("--sleepers", help="Losses that are empty or nan are of experts asleep in that round."),
    click.option(
        "--learner", "learners", multiple=True,
        help="static-expert, fixed-share, markov-share or learn-alpha; may be repeated [all].",
    ),
    options.number(
        "--alpha", most=1e9, help="Switching rate of fixed-share [drawn; 1/T for losses of your own]."
    ),
    options.number("--rounds", kind=int, most=10**5, help="Rounds T [drawn, up to 200]."),
    options.number("--experts", "n_experts", kind=int, most=1000, help="Experts n [drawn, up to 6]."),
    options.number("--scale", most=1e9, help="Loss of a bad expert, nats [drawn, 0.05 to 20]."),
    options.number("--trials", kind=int, most=10**6, least=1, help="Trials, each with new losses [1]."),
    options.seed("Seed of all trials."),
    options.jobs("Processes.", 1),
    options.json_option(),
)  # fmt: skip
def bounds(asked: Any) -> None:
    """Hold regret bounds against the regret measured on losses drawn or given.

    Static-expert, Fixed-share, Markov-share and Learn-alpha run over the losses.  One trial prints
    every statement with the measured side, the bound and the slack; several print how often each
    statement spoke and its slack over those times.  A statement whose hypothesis fails is void, one
    that promises nothing is vacuous.  The exit status is 1 if a statement is violated.  With --sleepers
    a comparator counts in the rounds in which it was awake: in the others it loses what the learner loses.
    """
    import pandas as pd

    from experiments.report.text import plain
    from experiments.study.run import run
    from experiments.study.trials import LEARNERS, Trial, play, summary

    drawn = {"process", "rounds", "n_experts", "scale", "trials"}
    if asked.file is not None and any(getattr(asked, name) is not None for name in drawn):
        raise ValueError("losses of your own leave no choice of process, rounds, experts, scale or trials")
    if asked.file is None and asked.sleepers:
        raise ValueError("--sleepers is for losses of your own: it needs --losses")
    trials, process = asked.trials or 1, asked.process or "random"
    if asked.alpha is not None and asked.learners and "fixed-share" not in asked.learners:
        raise ValueError(f"--alpha is the switching rate of fixed-share, the learners are {', '.join(asked.learners)}")
    asked.process, asked.learners = None if process == "random" else process, asked.learners or LEARNERS
    losses, stopped = None, None
    if asked.file is not None:
        from experiments.datasets.losses import read_losses

        losses = read_losses(asked.file, sleepers=asked.sleepers)
    tasks = {str(index): options.configured(Trial, asked, index=index) for index in range(trials)}
    if losses is None:
        found = list(run(play, tasks, jobs=asked.jobs, title="trials").values())
    else:
        found, stopped = _own(tasks["0"], losses)
    reports = pd.concat(found, ignore_index=True)
    whole = summary(reports)
    checked, firm, violated = (int(whole[name].sum()) for name in ("checked", "firm", "violated"))
    if asked.as_json:
        rows = plain((reports if trials == 1 else whole).astype(object).replace({inf: "inf", -inf: "-inf"}))
        head = {"process": process if losses is None else "given", "seed": asked.seed, "trials": trials}
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
    from experiments.study.interruptions import Interrupted
    from experiments.study.run import progress
    from experiments.study.trials import parts

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
