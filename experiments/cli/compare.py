"""`lpsm compare`: what policies cost and delay, on generated traffic or on somebody's browsing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pandas as pd

import netsim
import traces
from experiments.cli.model import model_options, split_options, world_of
from experiments.cli.options import (
    INPUT,
    battery_option,
    from_command_line,
    jobs_option,
    json_option,
    out_option,
    policies_option,
    replace_option,
    seed_option,
    slowdown_option,
)
from experiments.cli.outcome import Outcome
from experiments.cli.traffic import gathered, study_settings, traffic_options, worlds_words
from experiments.quantities import BASELINE, CELL, REFERENCES
from experiments.report.comparison import advice, comparison_text, published_text
from experiments.report.text import cells, counted, plain, table
from experiments.study import sweep
from experiments.study.compare import Comparison
from experiments.study.compare import compare as aggregate
from experiments.study.evolution import busy_page, window
from experiments.study.store import Store
from netsim.policies import AnyPolicy

__all__ = ["FEW_SESSIONS", "compare"]

POLICIES = "none,psm,listen:3,dynamic,bsd:1,bsd:0.5,lpsm,lpsm:log,lpsm3:1.05,lpsm3:1.2,hold"
THESIS_POLICIES = "none,psm,bsd:1,bsd:0.5,bsd:0.2,bsd:0.1,lpsm,lpsm:log"
FEW_SESSIONS = 2  # fewer are cut into pages; a workload is browsed as it is
WINDOW_S = 150.0  # of the picture of sleep times


@click.command()
@seed_option("First seed.", least=0)
@policies_option(POLICIES)
@click.option(
    "--trace", type=INPUT, help="Recorded traffic in place of the Web model; each of its sessions is a replication."
)
@traffic_options
@click.option(
    "--clients",
    default="1",
    show_default=True,
    help="Clients of the access point, all under the same policy; several numbers, separated by commas, are compared.",
)
@out_option("compare")
@replace_option
@slowdown_option("Name the best policy with at most this mean slowdown [for several of them].")
@jobs_option()
@json_option()
@battery_option()
@model_options
def compare(
    seed: int,
    policies: list[AnyPolicy],
    trace: Path | None,
    clients: str,
    out: Path,
    replace: bool,
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

    \b
    lpsm compare --clients 1,2,5,10,20 --air 11g:54 --pages 20 --seeds 3
    """  # noqa: D301 - the escape is a character that click reads
    model, drawn = split_options(options)
    world = world_of(model, drawn=trace is None)
    counts = _numbers(clients)
    several = counts if counts != [1] else []
    if world.preset == "thesis":
        if not from_command_line("policies"):
            policies = [*THESIS_POLICIES.split(",")]
        if several:
            raise ValueError(f"clients must be 1 with --preset thesis, which has one client, got {clients}")
    as_it_is = trace is not None and traces.detect(trace) == "workload" and drawn["visits"] is None
    few = 1 if as_it_is else FEW_SESSIONS
    cut, traffic = gathered([] if trace is None else [trace], world, few=few, option="--trace", seed=seed, **drawn)
    if several:
        traffic["clients"] = counts if len(counts) > 1 else counts[0]
    chosen = sweep.named(policies, world.config.beacon_interval_ns)
    of_cells = {count: sweep.tasks(cut.workloads, list(chosen.values()), world.config, count) for count in counts}
    tasks = {key: task for listed in of_cells.values() for key, task in listed.items()}
    asked = {"battery_mwh": battery_mwh, "max_slowdown": max_slowdown}
    settings = study_settings(traffic, chosen, world, **{name: one for name, one in asked.items() if one is not None})
    store = Store(out, "compare", settings, runs=len(tasks), replace=replace)
    with store.giving_up():
        results = sweep.measured(tasks, store, jobs=jobs, title="runs of a policy")
        found: dict[int, tuple[sweep.Frames, Comparison]] = {}
        for count, listed in of_cells.items():
            frames, radio = sweep.frames({key: results[key] for key in listed}), world.config.radio
            found[count] = frames, aggregate(
                frames, list(chosen), awake_mw=radio.awake_mw, asleep_mw=radio.asleep_mw,
                psm=netsim.canonical("psm", beacon_interval_ns=world.config.beacon_interval_ns),
                battery_mwh=battery_mwh,
            )  # fmt: skip
        tables = _tables(found)
        summary = tables["summary"]
        text = _words(summary, traffic, max_slowdown)
        aware = sweep.host_aware(chosen, world.config)
        text += worlds_words(traffic, world, aware, several, battery=battery_mwh is not None)
        data = {**settings, "replications": len(cut.workloads), "summary": plain(summary)}
        if world.preset == "thesis":
            from experiments.papers.thesis.energy import beside

            tables["published"] = beside(summary)
            text += f"\n\n{published_text(tables['published'])}"
            data["published"] = plain(tables["published"])
        pictures = _pictures(*found[counts[0]], tables) if len(counts) == 1 else _growth(summary)
        outcome = Outcome(name="comparison", text=text, data=data, tables=tables, pictures=pictures)
        outcome.publish(store)
    outcome.say(out, as_json=as_json)


def _numbers(text: str) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"clients must be whole numbers separated by commas, got {text!r}") from None
    if len(set(counts)) < len(counts):
        raise ValueError(f"clients must be different numbers, got {text}")
    sweep.check_clients(counts)
    return counts


def _measured(summary: pd.DataFrame) -> pd.DataFrame:
    return summary[~summary["policy"].isin(REFERENCES)]


def _words(summary: pd.DataFrame, traffic: Mapping[str, Any], max_slowdown: float | None) -> str:
    if "clients" not in summary:
        return comparison_text(summary, _over(traffic), max_slowdown)
    said = [
        f"{counted(int(number), 'clients')}: {advice(summary[summary['clients'] == number], max_slowdown)}"
        for number in summary["clients"].unique()
    ]
    return "\n\n".join([table(*cells(CELL, _measured(summary))), "\n".join(said)])


def _over(traffic: Mapping[str, Any]) -> str:
    if traffic["kind"] == "generated":
        return f"{counted(traffic['seeds'], 'seeds')} of {counted(traffic['pages'], 'pages')}"
    if traffic["units"] != "sessions":
        return f"its {traffic['units']}, each visited {traffic['visits']} times"
    return counted(traffic["sessions"], "sessions")


def _tables(found: Mapping[int, tuple[sweep.Frames, Comparison]]) -> dict[str, pd.DataFrame]:
    """Return the tables by the names of their files; those of several cells stand below each other."""
    of_cells = {
        count: {
            "summary": comparison.summary, "replications": comparison.replications, "runs": frames.runs,
            "pages": frames.pages, "slowdown-by-page": comparison.slowdowns, "messages": frames.messages,
            "clients": frames.clients,
        }
        for count, (frames, comparison) in found.items()
    }  # fmt: skip
    first, *others = of_cells.values()
    if not others:
        return first
    return {
        name: pd.concat([tables[name].assign(clients=count) for count, tables in of_cells.items()], ignore_index=True)
        for name in first
        if any(len(tables[name]) for tables in of_cells.values())
    }


def _growth(summary: pd.DataFrame) -> dict[str, Any]:
    from experiments.figures.comparison import growth

    return {"cell": growth(_measured(summary))}


def _pictures(frames: sweep.Frames, comparison: Comparison, tables: dict[str, pd.DataFrame]) -> dict[str, Any]:
    """Return the pictures; the polls of the window that is drawn become tables too."""
    from experiments.figures.comparison import energy, energy_front, slowdown, slowdown_by_page
    from experiments.figures.timeline import evolution

    drawn = {"energy": energy(comparison.summary)}
    if not len(comparison.slowdowns):  # there are messages alone
        return drawn
    drawn |= {
        "front": energy_front(comparison.summary),
        "slowdown": slowdown(comparison.summary),
        "slowdown-by-page": slowdown_by_page(comparison.slowdowns),
    }
    if len(frames.polls):
        pages = frames.pages[frames.pages["replication"] == frames.polls["replication"].iloc[0]]
        if "client" in pages:  # whose polls were recorded
            pages = pages[pages["client"] == 0]
        start_page = busy_page(pages.loc[pages["policy"] == BASELINE, "issue_s"], WINDOW_S)
        polls, loads = window(pages, frames.polls, start_page=start_page, window_s=WINDOW_S)
        tables |= {"sleep-times": polls, "sleep-times-pages": loads}
        drawn["sleep-times"] = evolution(polls, loads, window_s=WINDOW_S)
    return drawn
