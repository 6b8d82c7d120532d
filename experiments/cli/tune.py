"""`lpsm tune`: the power-save setting to take for somebody's traffic."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import pandas as pd

from experiments.cli.model import model_options, split_options, world_of
from experiments.cli.options import (
    INPUT,
    battery_option,
    jobs_option,
    json_option,
    out_option,
    policies_option,
    replace_option,
    seconds_option,
    seed_option,
    slowdown_option,
)
from experiments.cli.outcome import Outcome
from experiments.cli.traffic import clients_option, gathered, study_settings, traffic_options, worlds_words
from experiments.figures.tune import tradeoff
from experiments.quantities import BASELINE
from experiments.report.comparison import plain
from experiments.report.tune import recommendation_text, tuning_text
from experiments.study import sweep
from experiments.study import tune as study
from experiments.study.store import Store
from netsim.policies import AnyPolicy

__all__ = ["tune"]


@click.command()
@click.argument("traffic", nargs=-1, type=INPUT)
@slowdown_option("Largest mean slowdown of pages.", default=1.1)
@seconds_option("--max-push-delay", help="Largest mean delay added to pushed messages [any].")
@battery_option(10_000.0)
@policies_option(None, "Candidates, separated by commas [those of docs/tune.md].")
@seed_option("Seed of the split in halves, and of what the traffic does not tell.", least=0)
@traffic_options
@clients_option
@out_option("tune")
@replace_option
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
    clients: int,
    out: Path,
    replace: bool,
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
    rule = study.Rule(max_slowdown=max_slowdown, max_push_delay_s=max_push_delay, battery_mwh=battery_mwh)
    model, drawn = split_options(options)
    world = world_of(model, drawn=not traffic)
    chosen = sweep.named(study.CANDIDATES if policies is None else policies, world.config.beacon_interval_ns)
    if not traffic and drawn["seeds"] < 2:
        raise ValueError(f"seeds must be at least 2, one to choose on and one held out, got {drawn['seeds']}")
    cut, source = gathered(traffic, world, few=study.FEW_SESSIONS, option="TRAFFIC", seed=seed, **drawn)
    if len(cut.workloads) < 2:
        raise ValueError(
            f"tune needs at least two sessions or pages, one of them to be held out, got {len(cut.workloads)}; "
            "add a recording, or see all policies on this one with lpsm compare --trace"
        )
    if clients != 1:
        source["clients"] = clients
    tasks = sweep.tasks(cut.workloads, list(chosen.values()), world.config, clients)
    wanted = {name: value for name, value in asdict(rule).items() if value is not None}
    settings = study_settings(source, chosen, world, rule=wanted)
    store = Store(out, "tune", settings, runs=len(tasks), replace=replace)
    with store.giving_up():
        frames = sweep.frames(sweep.measured(tasks, store, jobs=jobs))
        found = study.tune(frames, [unit.name for unit in cut.workloads], rule, world.config.radio, seed=seed)
        [row] = plain(pd.DataFrame([found.recommendation]))
        recommendation = {name: getattr(value, "item", lambda value=value: value)() for name, value in row.items()}
        recommendation["unit"] = cut.called
        text = tuning_text(found.held_out, found.recommendation, cut.called)
        aware = sweep.host_aware(chosen, world.config)
        text += worlds_words(source, world, aware, () if clients == 1 else (clients,))
        if max_push_delay is not None and not len(frames.messages):
            text += "\nNo message is pushed, so that max-push-delay rules nothing out."
        sentence = recommendation_text(found.recommendation, cut.called)
        pictures = {}
        if found.held_out["slowdown_mean"].notna().any():  # otherwise there are messages alone
            pictures["tradeoff"] = tradeoff(found.held_out, found.policy, max_slowdown)
        outcome = Outcome(
            name="tune", text=text,
            data={
                **settings, "sentence": sentence, "recommendation": recommendation, "held_out": plain(found.held_out),
            },
            tables={
                "chosen-on": found.chosen_on, "held-out": found.held_out, "units": _units(frames, seed),
                "runs": frames.runs, "clients": frames.clients,
            },
            pictures=pictures,
            files={"recommendation.json": json.dumps(recommendation, indent=2) + "\n"},
        )  # fmt: skip
        outcome.publish(store)
    outcome.say(out, as_json=as_json)


def _units(frames: sweep.Frames, seed: int) -> pd.DataFrame:
    """Return the units of the traffic, and which half each is in."""
    base = frames.runs.loc[frames.runs["policy"] == BASELINE, ["replication", "pages"]].reset_index(drop=True)
    ours, _ = study.halves(frames, base["replication"].tolist(), seed)
    role = base["replication"].isin(ours).map({True: "chosen on", False: "held out"})
    return base.rename(columns={"replication": "unit"}).assign(role=role)
