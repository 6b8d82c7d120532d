"""`lpsm tune`: the power-save setting to take for somebody's traffic."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.model import described, model_options, split_options, world_of
from experiments.cli.options import (
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
from experiments.cli.streams import INPUT
from experiments.cli.traffic import clients_option, gathered, traffic_options, worlds_words

if TYPE_CHECKING:
    from netsim.policies import AnyPolicy

__all__ = ["tune"]

TARGETS = ("esp-idf", "linux", "cc33xx", "nrf70", "any")
ANY = TARGETS[-1]


@click.command()
@click.argument("traffic", nargs=-1, type=INPUT)
@slowdown_option("Largest slowdown of pages.", default=1.1)
@seconds_option("--max-push-delay", help="Largest delay added to pushed messages [any].")
@seconds_option("--max-delay", help="Longest time that an exchange may take, from request to last byte [any].")
@click.option(
    "--at",
    type=click.Choice(["mean", "p95", "p99", "max"]),
    default="mean",
    show_default=True,
    help="What of these is limited.",
)
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    default=ANY,
    show_default=True,
    help="Platform that must be able to do it: its settings are the candidates, and are printed.",
)
@battery_option(10_000.0)
@number_option(
    "--base-ma",
    kind=float,
    most=1e6,
    default=0.0,
    help="What all but the radio draws, mA at 3.3 V (processor, sensors).",
)
@number_option(
    "--self-discharge", kind=float, most=99.0, default=0.0, help="What a battery loses by itself in a month, percent."
)
@policies_option(None, "Candidates, separated by commas [those of the target, or of docs/tune.md].")
@seed_option("Seed of the splits, and of what the traffic does not tell.")
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
    import pandas as pd

    from experiments.report.comparison import plain
    from experiments.report.tune import recommendation_text, settings_text, tuning_text
    from experiments.study import sweep, targets
    from experiments.study import tune as study
    from experiments.study.store import Store

    rule = study.Rule(
        max_slowdown=max_slowdown, max_push_delay_s=max_push_delay, max_delay_s=max_delay, at=at,
        battery_mwh=battery_mwh, base_ma=base_ma, self_discharge=self_discharge,
    )  # fmt: skip
    model, drawn = split_options(options)
    world = world_of(model, drawn=not traffic)
    interval_ns = world.config.beacon_interval_ns
    listed = (list(study.CANDIDATES) if target == ANY else targets.candidates(target)) if policies is None else policies
    chosen = sweep.named(listed, interval_ns)
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
    settings = {
        "traffic": source, "policies": list(chosen), "model": described(world.config), "preset": world.preset,
        "rule": rule.given(), "target": target, **sweep.own_sources(chosen),
    }  # fmt: skip
    store = Store(out, "tune", settings, runs=len(tasks), replace=replace)
    with store.giving_up():
        frames = sweep.frames(sweep.measured(tasks, store, jobs=jobs))
        found = study.tune(frames, [unit.name for unit in cut.workloads], rule, world.config.radio, seed=seed)
        [row] = plain(pd.DataFrame([found.recommendation]))
        row = {name: value.item() if hasattr(value, "item") else value for name, value in row.items()}
        to_type = targets.settings(found.policy, target, beacon_interval_ns=interval_ns)
        recommendation = row | {"unit": cut.called, "settings": [one._asdict() for one in to_type]}
        text = tuning_text(found.table, found.recommendation, cut.called)
        text += f"\n\n{settings_text(to_type, found.policy)}"
        if target == ANY and (own := targets.of_radio(world.config.radio)):
            text += f"\nThis radio is that of a device of --target {own}."
        aware = sweep.host_aware(chosen, world.config)
        text += worlds_words(source, world, aware, () if clients == 1 else (clients,), battery=True)
        if max_push_delay is not None and not len(frames.messages):
            text += "\nNo message is pushed, so that max-push-delay rules nothing out."
        sentence = recommendation_text(found.recommendation, cut.called)
        base = frames.runs.loc[frames.runs["policy"] == "none", ["replication", "pages"]]
        outcome = Outcome(
            name="tune", text=text,
            data={
                **settings, "sentence": sentence, "recommendation": recommendation, "candidates": plain(found.table),
            },
            tables={
                "candidates": found.table, "splits": found.splits, "runs": frames.runs, "clients": frames.clients,
                "units": base.rename(columns={"replication": "unit"}),
            },
            pictures=_picture(found),
            files={"recommendation.json": json.dumps(recommendation, indent=2) + "\n"},
        )  # fmt: skip
        outcome.publish(store)
    outcome.say(out, as_json=as_json)


def _picture(found: Any) -> dict[str, Any]:
    from experiments.figures.tune import tradeoff

    if not found.table["slowdown_mean"].notna().any():
        return {}  # there are messages alone, and no page to be slowed down
    return {"tradeoff": tradeoff(found.table, found.policy, found.recommendation["max_slowdown"])}
