"""`lpsm compare`: what policies cost and delay, on generated traffic or on somebody's browsing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from experiments.cli import options
from experiments.cli.model import WORLD, world_of
from experiments.cli.studies import TRAFFIC, ended, folder, gathered, settings_of, worlds_words
from experiments.presets import MOST_CLIENTS

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FEW_SESSIONS", "compare"]

POLICIES = "none,psm,listen:3,dynamic,bsd:1,bsd:0.5,lpsm,lpsm:log,lpsm3:1.05,lpsm3:1.2,hold"
THESIS_POLICIES = "none,psm,bsd:1,bsd:0.5,bsd:0.2,bsd:0.1,lpsm,lpsm:log"
FEW_SESSIONS = 2  # fewer are cut into pages; a workload is browsed as it is


@options.command(
    options.SEED,
    options.policies(POLICIES),
    options.option(
        "--trace", "Recorded traffic in place of the Web model; each of its sessions is a replication.", options.INPUT
    ),
    *TRAFFIC,
    options.option(
        "--clients",
        "Clients of the access point, all under the same policy; several numbers, separated by commas, are compared.",
        default="1",
    ),
    options.out("compare"),
    options.slowdown("Name the best policy with at most this mean slowdown [for several limits]."),
    options.jobs(),
    options.JSON,
    options.BATTERY(),
    options.flag(
        "--clairvoyant",
        "Also give the energy of a client that knows beforehand when frames come, at the slowdown of each policy: "
        "Web pages only, not with --air; some 15 ms a page on one core.",
    ),
    *WORLD,
)
def compare(asked: Any) -> None:
    """Compare the energy and the slowdown of power-saving policies.

    All policies meet the same pages, think times and server delays.  Tables (CSV) and pictures (PNG
    and SVG) go to the folder OUT, which is replaced only if an earlier comparison made it.  With
    --preset thesis the figures that the thesis prints stand beside ours.

    \b
    lpsm compare --clients 1,2,5,10,20 --air 11g:54 --pages 20 --seeds 3
    """  # noqa: D301 - the escape is a character that click reads
    import pandas as pd

    import netsim
    import traces
    from experiments.figures import comparison as figures
    from experiments.report.text import plain
    from experiments.study import sweep
    from experiments.study.compare import compare as aggregate

    world, trace = world_of(asked, drawn=asked.trace is None), asked.trace
    counts = _numbers(asked.clients)
    several = counts if counts != [1] else []
    if world.preset == "thesis":
        if not options.from_command_line("policies"):
            asked.policies = THESIS_POLICIES.split(",")
        if several:
            raise ValueError(f"clients must be 1 with --preset thesis, which has one client, got {asked.clients}")
    as_it_is = trace is not None and traces.detect(trace) == "workload" and asked.visits is None
    few = 1 if as_it_is else FEW_SESSIONS
    cut, traffic = gathered(asked, [] if trace is None else [trace], world, few=few, option="--trace")
    if several:
        traffic["clients"] = counts if len(counts) > 1 else counts[0]
    config, radio = world.config, world.config.radio
    chosen = sweep.named(asked.policies, config.beacon_interval_ns)
    of_cells = {count: sweep.tasks(cut.workloads, list(chosen.values()), config, count) for count in counts}
    tasks = {key: task for listed in of_cells.values() for key, task in listed.items()}
    if asked.clairvoyant:
        tasks = sweep.searches(tasks) | tasks
    named = ("battery_mwh", "max_slowdown", "clairvoyant")
    more = {name: one for name in named if (one := getattr(asked, name)) not in (None, False)}
    settings = settings_of(traffic, chosen, world, **more)
    with folder("compare", asked, settings) as store:
        results = sweep.measured(tasks, store, jobs=asked.jobs, title="runs of a policy")
        cells = []
        for count, listed in of_cells.items():
            frames = sweep.frames({key: results[key] for key in listed})
            found = aggregate(
                frames, list(chosen), awake_mw=radio.awake_mw, asleep_mw=radio.asleep_mw,
                psm=netsim.canonical("psm", beacon_interval_ns=config.beacon_interval_ns),
                battery_mwh=asked.battery_mwh, known=sweep.clairvoyant(results),
            )  # fmt: skip
            own = {"summary": found.summary, "replications": found.replications, "slowdown-by-page": found.slowdowns}
            own |= {name: getattr(frames, name) for name in ("runs", "pages", "messages", "clients")}
            cells.append({name: table.assign(clients=count) for name, table in own.items()} if counts[1:] else own)
        tables = {name: pd.concat([own[name] for own in cells], ignore_index=True) for name in cells[0]}
        summary = tables["summary"]
        text = _words(summary, traffic, asked.max_slowdown)
        text += worlds_words(traffic, world, chosen, several, battery=asked.battery_mwh is not None)
        data = {"replications": len(cut.workloads), "summary": plain(summary)}
        if world.preset == "thesis":
            from experiments.papers.thesis.energy import beside
            from experiments.report.comparison import published_text

            tables["published"] = beside(summary)
            text += f"\n\n{published_text(tables['published'])}"
            data["published"] = plain(tables["published"])
        if len(counts) > 1:  # those of several cells stand below each other
            pictures = {"cell": figures.growth(_measured(summary))}
        else:
            pictures = {"energy": figures.energy(summary)}
        if len(counts) == 1 and len(slowdowns := tables["slowdown-by-page"]):  # otherwise there are messages alone
            pictures |= {"front": figures.energy_front(summary), "slowdown": figures.slowdown(summary)}
            pictures["slowdown-by-page"] = figures.slowdown_by_page(slowdowns)
        ended(store, asked, "comparison", text, data, tables, pictures)


def _numbers(text: str) -> list[int]:
    try:
        counts = [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"clients must be whole numbers separated by commas, got {text!r}") from None
    if len(set(counts)) < len(counts):
        raise ValueError(f"clients must be different numbers, got {text}")
    if min(counts) < 1 or max(counts) > MOST_CLIENTS:
        raise ValueError(f"clients must lie in [1, {MOST_CLIENTS}], got {text}")
    return counts


def _measured(summary: pd.DataFrame) -> pd.DataFrame:
    from experiments.quantities import REFERENCES

    return summary[~summary["policy"].isin(REFERENCES)]


def _words(summary: pd.DataFrame, traffic: Mapping[str, Any], max_slowdown: float | None) -> str:
    from experiments.quantities import CELL
    from experiments.report.comparison import advice, comparison_text
    from experiments.report.text import cells, counted, table

    if "clients" in summary:
        said = [
            f"{counted(int(str(n)), 'clients')}: {advice(own, max_slowdown)}" for n, own in summary.groupby("clients")
        ]
        return "\n\n".join([table(*cells(CELL, _measured(summary))), "\n".join(said)])
    if traffic["kind"] == "generated":
        over = f"{counted(traffic['seeds'], 'seeds')} of {counted(traffic['pages'], 'pages')}"
    elif traffic["units"] != "sessions":
        over = f"its {traffic['units']}, each visited {traffic['visits']} times"
    else:
        over = counted(traffic["sessions"], "sessions")
    return comparison_text(summary, over, max_slowdown)
