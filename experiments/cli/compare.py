"""`lpsm compare`: what policies cost and delay, on generated traffic or on somebody's browsing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.model import battery_option, configuration, described, model_options, split_options
from experiments.cli.options import (
    jobs_option,
    json_option,
    out_option,
    policies_option,
    seed_option,
    slowdown_option,
)
from experiments.cli.streams import INPUT
from experiments.cli.traffic import gathered, traffic_options, worlds_words
from experiments.inert import echo

if TYPE_CHECKING:
    from experiments.study.compare import Comparison
    from experiments.study.store import Store
    from experiments.study.sweep import Frames
    from netsim.policies import AnyPolicy

__all__ = ["compare"]

POLICIES = "none,psm,listen:3,dynamic,bsd:1,bsd:0.5,lpsm,lpsm:log,lpsm3:1.05,lpsm3:1.2,hold"
THESIS_POLICIES = "none,psm,bsd:1,bsd:0.5,bsd:0.2,bsd:0.1,lpsm,lpsm:log"
FEW_SESSIONS = 2  # fewer are cut into pages; a workload is browsed as it is
WINDOW_S = 150.0  # of the picture of sleep times


@click.command()
@seed_option("First seed.")
@policies_option(POLICIES)
@click.option(
    "--trace", type=INPUT, help="Recorded traffic in place of the Web model; each of its sessions is a replication."
)
@traffic_options
@out_option("compare")
@slowdown_option("Name the best policy with at most this mean slowdown [for several of them].")
@jobs_option()
@json_option()
@battery_option
@model_options
def compare(
    seed: int,
    policies: list[AnyPolicy],
    trace: Path | None,
    out: Path,
    max_slowdown: float | None,
    jobs: int | None,
    as_json: bool,
    battery_mwh: float | None,
    **options: Any,
) -> None:
    """Compare the energy and the slowdown of power-saving policies.

    All policies meet the same pages, think times and server delays.  Tables (CSV) and pictures (PNG
    and SVG) go to the folder OUT, which is replaced only if an earlier comparison made it.  With
    --preset thesis the figures that the thesis prints stand beside ours.
    """
    import netsim
    import traces
    from experiments.report.comparison import plain
    from experiments.study import sweep
    from experiments.study.compare import compare as aggregate
    from experiments.study.executor import checked_jobs
    from experiments.study.progress import progress
    from experiments.study.run import run
    from experiments.study.store import Store

    model, drawn = split_options(options)
    config = configuration(model, drawn=trace is None)
    preset = model["preset"] or "today"
    if preset == "thesis" and _is_default("policies"):
        policies = [*THESIS_POLICIES.split(",")]
    if preset == "thesis" and drawn["clients"] != 1:
        raise ValueError(f"clients must be 1 with --preset thesis, which has one client, got {drawn['clients']}")
    jobs = checked_jobs(jobs)
    browsed = [] if trace is None else [trace]
    as_it_is = trace is not None and traces.detect(trace) == "workload" and drawn["visits"] is None
    few = 1 if as_it_is else FEW_SESSIONS
    cut, traffic = gathered(browsed, config, few=few, option="--trace", seed=seed, rtt=model["rtt"], **drawn)
    if trace is not None:
        [traffic["sha256"]] = traffic["sha256"]
    if cut.called in ("seeds", "sessions"):
        del traffic["units"]
    chosen = sweep.named(policies, config.beacon_interval_ns)
    tasks = sweep.tasks(cut.workloads, list(chosen.values()), config, drawn["clients"])
    wanted = list(chosen)
    settings: dict[str, Any] = {"traffic": traffic, "policies": wanted, "model": described(config), "preset": preset}
    settings |= sweep.own_sources(chosen)
    if battery_mwh is not None:
        settings["battery_mwh"] = battery_mwh
    if max_slowdown is not None:
        settings["max_slowdown"] = max_slowdown
    store = Store(out, "compare", settings)
    with store.giving_up():
        if jobs > 1:
            with progress("compiling", None):
                sweep.warm_up(tasks.values())
        results = run(
            sweep.simulate, tasks, jobs=jobs, finished=store.finished, keep=store.keep, title="runs of a policy"
        )
        frames = sweep.frames(results)
        comparison = aggregate(
            frames,
            wanted,
            awake_mw=config.radio.awake_mw,
            asleep_mw=config.radio.asleep_mw,
            psm=netsim.canonical("psm", beacon_interval_ns=config.beacon_interval_ns),
            battery_mwh=battery_mwh,
        )
        text, beside = _words(comparison, settings, worlds_words(traffic, config, sweep.host_aware(chosen, config)))
        _write_tables(store, frames, comparison, text)
        if beside is not None:
            store.write_frame("published.csv", beside)
        _write_pictures(store, frames, comparison)
        store.publish()
    if as_json:
        data = {**settings, "replications": len(cut.workloads), "summary": plain(comparison.summary)}
        if beside is not None:
            data["published"] = plain(beside)
        click.echo(json.dumps(data))
    else:
        echo(text)
        echo(f"\nTables and pictures are in {out}.")


def _is_default(option: str) -> bool:
    source = click.get_current_context().get_parameter_source(option)
    return source is not click.core.ParameterSource.COMMANDLINE


def _words(comparison: Comparison, settings: Mapping[str, Any], world: str) -> tuple[str, Any]:
    from experiments.papers.thesis.energy import beside
    from experiments.report.comparison import comparison_text, published_text

    text = comparison_text(comparison.summary, _over(settings["traffic"]), settings.get("max_slowdown")) + world
    if settings["preset"] != "thesis":
        return text, None
    table = beside(comparison.summary)
    return text + "\n\n" + published_text(table), table


def _over(traffic: Mapping[str, Any]) -> str:
    if traffic["kind"] == "generated":
        return f"{traffic['seeds']} seeds of {traffic['pages']} pages"
    if "units" in traffic:
        return f"its {traffic['units']}, each visited {traffic['visits']} times"
    return f"{traffic['sessions']} session{'s' * (traffic['sessions'] != 1)}"


def _write_tables(store: Store, frames: Frames, comparison: Comparison, text: str) -> None:
    store.write("comparison.txt", text + "\n")
    store.write_frame("summary.csv", comparison.summary)
    store.write_frame("replications.csv", comparison.replications)
    store.write_frame("runs.csv", frames.runs)
    store.write_frame("pages.csv", frames.pages)
    store.write_frame("slowdown-by-page.csv", comparison.slowdowns)
    for name in ("messages", "clients"):
        if len(frame := getattr(frames, name)):
            store.write_frame(f"{name}.csv", frame)


def _write_pictures(store: Store, frames: Frames, comparison: Comparison) -> None:
    from experiments.figures.comparison import energy, energy_front, slowdown, slowdown_by_page
    from experiments.figures.evolution import evolution
    from experiments.figures.style import pictures
    from experiments.quantities import BASELINE
    from experiments.study.evolution import busy_page, window

    drawn = {"energy": energy(comparison.summary)}
    if len(comparison.slowdowns):  # else there are messages alone
        drawn |= {
            "front": energy_front(comparison.summary),
            "slowdown": slowdown(comparison.summary),
            "slowdown-by-page": slowdown_by_page(comparison.slowdowns),
        }
    if len(frames.polls) and len(comparison.slowdowns):
        first = frames.polls["replication"].iloc[0]
        pages = frames.pages[frames.pages["replication"] == first]
        if "client" in pages:  # whose polls were recorded
            pages = pages[pages["client"] == 0]
        start_page = busy_page(pages.loc[pages["policy"] == BASELINE, "issue_s"], WINDOW_S)
        polls, loads = window(pages, frames.polls, start_page=start_page, window_s=WINDOW_S)
        store.write_frame("sleep-times.csv", polls)
        store.write_frame("sleep-times-pages.csv", loads)
        drawn["sleep-times"] = evolution(polls, loads, window_s=WINDOW_S)
    for name, figure in drawn.items():
        for file, content in pictures(name, figure).items():
            store.write(file, content)
