"""`lpsm bounds`: what is proved about the learners over experts, held against what they do."""

from itertools import chain
from math import inf
from pathlib import Path

import click

from experiments.cli import options
from experiments.presets import LEARNERS, PROCESSES
from experiments.quantities import Row

_ONE = ["learner", "statement", "kind", "measured", "bound", "slack", "verdict"]


@options.command(
    options.option(
        "--process", "How losses are drawn; random draws one of these in each trial [random].",
        click.Choice([*PROCESSES, "random"]),
    ),
    options.option(
        "--losses file", "Losses of your own: a .npy matrix, a table as pandas writes it, or text with one round a "
        "line.", click.Path(path_type=Path, dir_okay=False),
    ),
    options.flag("--sleepers", "Losses that are empty or nan are of experts asleep in that round."),
    options.option("--learner learners", "May be repeated [all].", click.Choice(LEARNERS), multiple=True),
    options.number("--alpha", "Switching rate of fixed-share [drawn; 1/T for losses given].", most=1.0),
    options.whole("--rounds", "Rounds T [drawn, up to 200].", most=10**5),
    options.whole("--experts n_experts", "Experts n [drawn, up to 6].", most=1000),
    options.number("--scale", "Loss of a bad expert, nats [drawn, 0.05 to 20].", above=True),
    options.whole("--trials", "Trials, each with new losses [1].", most=10**6),
    options.SEED,
    options.JOBS,
    options.JSON,
)  # fmt: skip
def bounds(asked: options.Asked) -> None:
    """Hold regret bounds against the regret measured on losses drawn or given.

    Static-expert, Fixed-share, Markov-share and Learn-alpha run over the losses.  One trial prints
    every statement with the measured side, the bound and the slack; several print how often each
    statement spoke and its slack over those times.  A statement whose hypothesis fails is void, one
    that promises nothing is vacuous.  The exit status is 1 if a statement is violated.  With --sleepers
    a comparator counts in the rounds in which it was awake: in the others it loses what the learner loses.
    """
    import pandas as pd

    from experiments.report.text import plain
    from experiments.study.progress import progress
    from experiments.study.run import run
    from experiments.study.trials import Trial, play, summary

    drawn = ("process", "rounds", "n_experts", "scale", "trials")
    if asked.file is not None and any(getattr(asked, name) is not None for name in drawn):
        raise ValueError("losses of your own leave no choice of process, rounds, experts, scale or trials")
    if asked.file is None and asked.sleepers:
        raise ValueError("--sleepers is for losses of your own: it needs --losses")
    if asked.alpha is not None and asked.learners and "fixed-share" not in asked.learners:
        raise ValueError(f"--alpha is the switching rate of fixed-share, the learners are {', '.join(asked.learners)}")
    trials, process = asked.trials or 1, asked.process or "random"
    asked.process, asked.learners = None if process == "random" else process, asked.learners or LEARNERS
    found: list[list[Row]] = []
    if asked.file is None:
        tasks = {str(index): options.configured(Trial, asked, index=index) for index in range(trials)}
        found += run(play, tasks, jobs=asked.jobs, title="trials").values()
    else:
        from experiments.datasets.losses import read_losses

        process, losses = "given", read_losses(asked.file, sleepers=asked.sleepers)
        with progress("trials", 1):
            found.append(play(options.configured(Trial, asked, index=0), losses))
    reports = pd.DataFrame(chain(*found))
    whole = summary(reports)
    checked, firm, violated = (int(whole[name].sum()) for name in ("checked", "firm", "violated"))
    rows = plain((reports if trials == 1 else whole).astype(object).replace({inf: "inf", -inf: "-inf"}))
    data = {"process": process, "seed": asked.seed, "trials": trials, "violated": violated, "statements": rows}
    words, table = "", whole.rename(columns=lambda name: name.replace("_", " "))
    if trials == 1:
        first, table = reports.iloc[0], reports[_ONE]
        rate = "".join(f", alpha of fixed-share = {alpha:.4g}" for alpha in reports["alpha"].dropna().unique())
        words = f"process {first['process']}, T = {first['rounds']}, n = {first['n_experts']}{rate}\n"
    words += table.to_string(index=False, float_format=lambda value: f"{value:.6g}", na_rep="-")
    words += f"\n\n{checked} statements checked, {firm} of them neither void nor vacuous, {violated} violated."
    options.answer(asked, data, words)
    click.get_current_context().exit(1 if violated else 0)
