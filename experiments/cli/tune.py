"""`lpsm tune`: the power-save setting to take for somebody's traffic."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.model import configuration, described, model_options, split_options
from experiments.cli.options import (
    jobs_option,
    json_option,
    number_option,
    out_option,
    policies_option,
    seconds_option,
    seed_option,
    slowdown_option,
)
from experiments.cli.streams import INPUT
from experiments.cli.traffic import gathered, traffic_options, worlds_words
from experiments.inert import echo

if TYPE_CHECKING:
    from experiments.study.store import Store
    from experiments.study.sweep import Frames
    from experiments.study.tune import Tuning
    from netsim.policies import AnyPolicy

__all__ = ["tune"]


@click.command()
@click.argument("traffic", nargs=-1, type=INPUT)
@slowdown_option("Largest mean slowdown of pages.", default=1.1)
@seconds_option("--max-push-delay", help="Largest mean delay added to pushed messages [any].")
@number_option("--battery-mwh", kind=float, most=1e12, default=10_000.0, help="Capacity of the battery, mWh.")
@policies_option(None, "Candidates, separated by commas [those of docs/tune.md].")
@seed_option("Seed of the split in halves, and of what the traffic does not tell.")
@traffic_options
@out_option("tune")
@jobs_option()
@json_option("the recommendation")
@model_options
def tune(
    traffic: tuple[Path, ...],
    max_slowdown: float,
    max_push_delay: float | None,
    battery_mwh: float,
    policies: list[AnyPolicy] | None,
    seed: int,
    out: Path,
    jobs: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Recommend a power-save setting for TRAFFIC.

    TRAFFIC is any trace that lpsm pages reads (HAR, pcap, a table, Boston University or Home IP
    sessions) or a workload, one or several; without it, the Web model. The setting is chosen on
    half of the sessions (of the pages, if there are fewer than four sessions) and measured on the
    other half.

    \b
    lpsm tune mine.har --think 30 --radio esp32-c3 --battery-mwh 5000
    lpsm tune condensed.tar.xz --member '*/con2.*' --max-slowdown 1.05
    """  # noqa: D301 - the escape is a character that click reads
    from experiments.report.comparison import plain
    from experiments.report.tune import recommendation_text, tuning_text
    from experiments.study import sweep
    from experiments.study.executor import checked_jobs
    from experiments.study.progress import progress
    from experiments.study.run import run
    from experiments.study.store import Store
    from experiments.study.tune import CANDIDATES, FEW_SESSIONS, Rule
    from experiments.study.tune import tune as choose

    rule = Rule(max_slowdown=max_slowdown, max_push_delay_s=max_push_delay, battery_mwh=battery_mwh)
    model, drawn = split_options(options)
    config = configuration(model, drawn=not traffic)
    jobs = checked_jobs(jobs)
    chosen = sweep.named(CANDIDATES if policies is None else policies, config.beacon_interval_ns)
    if not traffic and drawn["seeds"] < 2:
        raise ValueError(f"seeds must be at least 2, one to choose on and one held out, got {drawn['seeds']}")
    cut, source = gathered(traffic, config, few=FEW_SESSIONS, option="TRAFFIC", seed=seed, rtt=model["rtt"], **drawn)
    if len(cut.workloads) < 2:
        raise ValueError(
            f"tune needs at least two sessions or pages, one of them to be held out, got {len(cut.workloads)}; "
            "add a recording, or see all policies on this one with lpsm compare --trace"
        )
    tasks = sweep.tasks(cut.workloads, list(chosen.values()), config, drawn["clients"])
    wanted = {name: value for name, value in asdict(rule).items() if value is not None}
    settings = {"traffic": source, "policies": list(chosen), "model": described(config), "rule": wanted}
    settings |= sweep.own_sources(chosen)
    store = Store(out, "tune", settings)
    with store.giving_up():
        if jobs > 1:
            with progress("compiling", None):
                sweep.warm_up(tasks.values())
        results = run(sweep.simulate, tasks, jobs=jobs, finished=store.finished, keep=store.keep, title="runs")
        frames = sweep.frames(results)
        found = choose(frames, [workload.name for workload in cut.workloads], rule, config.radio, seed=seed)
        recommendation = plain_row(found, cut.called)
        world = worlds_words(source, config, sweep.host_aware(chosen, config))
        if max_push_delay is not None and not len(frames.messages):
            world += "\nNo message is pushed, so that max-push-delay rules nothing out."
        text = tuning_text(found.held_out, found.recommendation, cut.called) + world
        _write(store, frames, found, recommendation, text, seed)
        store.publish()
    if as_json:
        sentence = recommendation_text(found.recommendation, cut.called)
        data = {**settings, "sentence": sentence, "recommendation": recommendation, "held_out": plain(found.held_out)}
        click.echo(json.dumps(data))
    else:
        echo(text)
        echo(f"\nTables and the picture are in {out}.")


def plain_row(found: Tuning, units: str) -> dict[str, Any]:
    """Return the recommendation as JSON data."""
    import pandas as pd

    from experiments.report.comparison import plain

    [row] = plain(pd.DataFrame([found.recommendation]))
    return {name: value.item() if hasattr(value, "item") else value for name, value in row.items()} | {"unit": units}


def _write(store: Store, frames: Frames, found: Tuning, recommendation: dict[str, Any], text: str, seed: int) -> None:
    from experiments.figures.style import pictures
    from experiments.figures.tune import tradeoff
    from experiments.quantities import BASELINE
    from experiments.study.tune import halves

    store.write("tune.txt", text + "\n")
    store.write("recommendation.json", json.dumps(recommendation, indent=2) + "\n")
    store.write_frame("chosen-on.csv", found.chosen_on)
    store.write_frame("held-out.csv", found.held_out)
    base = frames.runs.loc[frames.runs["policy"] == BASELINE, ["replication", "pages"]].reset_index(drop=True)
    ours, _ = halves(frames, base["replication"].tolist(), seed)
    role = base["replication"].isin(ours).map({True: "chosen on", False: "held out"})
    store.write_frame("units.csv", base.rename(columns={"replication": "unit"}).assign(role=role))
    store.write_frame("runs.csv", frames.runs)
    if len(frames.clients):
        store.write_frame("clients.csv", frames.clients)
    if not found.held_out["slowdown_mean"].notna().any():
        return  # there are messages alone, and no page to be slowed down
    figure = tradeoff(found.held_out, found.policy, found.recommendation["max_slowdown"])
    for file, content in pictures("tradeoff", figure).items():
        store.write(file, content)
