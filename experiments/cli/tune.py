"""`lpsm tune`: the power-save setting to take for somebody's traffic."""

from __future__ import annotations

import json
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
    number_option,
    out_option,
    policies_option,
    replace_option,
    seconds_option,
    seed_option,
    slowdown_option,
)
from experiments.cli.outcome import Outcome
from experiments.cli.traffic import clients_option, gathered, study_settings, traffic_options, worlds_words
from experiments.quantities import BASELINE
from experiments.report.text import plain
from experiments.report.tune import recommendation_text, settings_text, tuning_text
from experiments.study import sweep, targets
from experiments.study import tune as study
from experiments.study.store import Store
from netsim.policies import AnyPolicy

__all__ = ["tune"]


@click.command()
@click.argument("traffic", nargs=-1, type=INPUT)
@slowdown_option("Largest slowdown of pages.", default=1.1)
@seconds_option("--max-push-delay", help="Largest delay added to pushed messages [any].")
@seconds_option("--max-delay", help="Longest time that an exchange may take, from request to last byte [any].")
@click.option(
    "--at", type=click.Choice(study.LEVELS), default="mean", show_default=True, help="What of these is limited."
)
@click.option(
    "--target",
    type=click.Choice(targets.TARGETS),
    default=targets.ANY,
    show_default=True,
    help="Platform that must be able to do it: its settings are the candidates, and are printed.",
)
@battery_option(10_000.0)
@number_option("--base-ma", kind=float, most=1e6, default=0.0, help="What all but the radio draws, mA at 3.3 V.")
@number_option(
    "--self-discharge", kind=float, most=99.0, default=0.0, help="What a battery loses by itself in a month, percent."
)
@policies_option(None, "Candidates, separated by commas [those of the target, or of docs/tune.md].")
@seed_option("Seed of the splits, and of what the traffic does not tell.", least=0)
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
    max_delay: float | None,
    at: str,
    target: str,
    battery_mwh: float,
    base_ma: float,
    self_discharge: float,
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
    sessions) or a workload, one or several; without it, the Web model. The cheapest candidate that
    keeps the limits on all of the traffic is taken; repeated splits in halves say how sure that is.

    \b
    lpsm tune mine.har --think 30 --radio esp32-c3 --battery-mwh 5000
    lpsm tune capture.pcap --target esp-idf --max-delay 0.3 --at p99
    lpsm tune condensed.tar.xz --member '*/con2.*' --max-slowdown 1.05
    """  # noqa: D301 - the escape is a character that click reads
    rule = study.Rule(
        max_slowdown=max_slowdown, max_push_delay_s=max_push_delay, max_delay_s=max_delay, at=at,
        battery_mwh=battery_mwh, base_ma=base_ma, self_discharge=self_discharge,
    )  # fmt: skip
    model, drawn = split_options(options)
    world = world_of(model, drawn=not traffic)
    interval_ns = world.config.beacon_interval_ns
    of_target = study.CANDIDATES if target == targets.ANY else targets.candidates(target)
    chosen = sweep.named(of_target if policies is None else policies, interval_ns)
    if not traffic and drawn["seeds"] < 2:
        raise ValueError(f"seeds must be at least 2 to be split, got {drawn['seeds']}")
    cut, source = gathered(traffic, world, few=study.FEW_SESSIONS, option="TRAFFIC", seed=seed, least=2, **drawn)
    if len(cut.workloads) < 2:
        raise ValueError(
            f"tune needs at least two sessions or pages to be split, got {len(cut.workloads)}; "
            "add a recording, or see all policies on this one with lpsm compare --trace"
        )
    if clients != 1:
        source["clients"] = clients
    tasks = sweep.tasks(cut.workloads, list(chosen.values()), world.config, clients)
    settings = study_settings(source, chosen, world, rule=rule.given(), target=target)
    store = Store(out, "tune", settings, runs=len(tasks), replace=replace)
    with store.giving_up():
        frames = sweep.frames(sweep.measured(tasks, store, jobs=jobs))
        found = study.tune(frames, [unit.name for unit in cut.workloads], rule, world.config.radio, seed=seed)
        [row] = plain(pd.DataFrame([found.recommendation]))
        recommendation = {name: getattr(value, "item", lambda value=value: value)() for name, value in row.items()}
        to_type = targets.settings(found.policy, target, beacon_interval_ns=interval_ns)
        recommendation |= {"unit": cut.called, "settings": [one._asdict() for one in to_type]}
        text = f"{tuning_text(found.table, found.recommendation, cut.called)}\n\n{settings_text(to_type, found.policy)}"
        if target == targets.ANY and (own := targets.of_radio(world.config.radio)):
            text += f"\nThis radio is that of a device of --target {own}."
        aware = sweep.host_aware(chosen, world.config)
        text += worlds_words(source, world, aware, () if clients == 1 else (clients,), battery=True)
        if max_push_delay is not None and not len(frames.messages):
            text += "\nNo message is pushed, so that max-push-delay rules nothing out."
        sentence = recommendation_text(found.recommendation, cut.called)
        pictures = {}
        if found.table["slowdown_mean"].notna().any():  # otherwise there are messages alone
            from experiments.figures.front import tradeoff

            pictures["tradeoff"] = tradeoff(found.table, found.policy, max_slowdown)
        units = frames.runs.loc[frames.runs["policy"] == BASELINE, ["replication", "pages"]]
        outcome = Outcome(
            name="tune", text=text,
            data={
                **settings, "sentence": sentence, "recommendation": recommendation, "candidates": plain(found.table),
            },
            tables={
                "candidates": found.table, "splits": found.splits, "runs": frames.runs, "clients": frames.clients,
                "units": units.rename(columns={"replication": "unit"}),
            },
            pictures=pictures,
            files={"recommendation.json": json.dumps(recommendation, indent=2) + "\n"},
        )  # fmt: skip
        outcome.publish(store)
    outcome.say(out, as_json=as_json)
