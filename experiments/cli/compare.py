"""`lpsm compare`: what policies cost and delay, on generated traffic or on somebody's browsing."""

from __future__ import annotations

from typing import Any

from experiments.cli import options
from experiments.cli.model import WORLD, world_of
from experiments.cli.studies import TRAFFIC, ended, folder, gathered, settings_of, worlds_words
from experiments.presets import MOST_CLIENTS

POLICIES = "none,psm,listen:3,dynamic,bsd:1,bsd:0.5,lpsm,lpsm:log,lpsm3:1.05,lpsm3:1.2,hold"
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
    options.number(
        "--max-slowdown", "Name the best policy with at most this mean slowdown [for several limits].", least=1.0
    ),
    options.JOBS,
    options.JSON,
    options.flag(
        "--clairvoyant",
        "Also give the energy of a client that knows beforehand when frames come, at the slowdown of each policy: "
        "Web pages only, not with --air; some 15 ms a page on one core.",
    ),
    *WORLD,
)
def compare(asked: Any) -> None:
    """Compare the energy and the slowdown of power-saving policies.

    All policies meet the same pages, think times and server delays.  Tables (CSV) and pictures (PNG and SVG) go to the
    folder OUT, which is replaced only if an earlier comparison made it.

    \b
    lpsm compare --clients 1,2,5,10,20 --air 11g:54 --pages 20 --seeds 3
    """  # noqa: D301 - the escape is a character that click reads
    import pandas as pd

    import netsim
    import traces
    from experiments.figures import comparison as figures
    from experiments.quantities import CELL, REFERENCES
    from experiments.report.comparison import advice, comparison_text
    from experiments.report.text import cells as cells_of
    from experiments.report.text import plain, table
    from experiments.study import sweep
    from experiments.study.compare import compare as aggregate

    world, trace = world_of(asked, drawn=asked.trace is None), asked.trace
    try:
        counts = sorted({*map(int, asked.clients.split(","))})
    except ValueError:
        counts = [0]
    if not 1 <= counts[0] <= counts[-1] <= MOST_CLIENTS:
        raise ValueError(f"clients must be whole numbers from 1 to {MOST_CLIENTS}, with commas, got {asked.clients!r}")
    several = counts if counts != [1] else []
    few = 1 if trace is not None and traces.detect(trace) == "workload" else FEW_SESSIONS
    cut, traffic, world = gathered(asked, [] if trace is None else [trace], world, few=few, option="--trace")
    config, radio = world.config, world.config.radio
    chosen = sweep.named(asked.policies, config.beacon_interval_ns)
    of_cells = {count: sweep.tasks(cut.workloads, list(chosen.values()), config, count) for count in counts}
    tasks = {key: task for listed in of_cells.values() for key, task in listed.items()}
    if asked.clairvoyant:
        tasks = sweep.searches(tasks) | tasks
    named = {name: getattr(asked, name) for name in ("max_slowdown", "clairvoyant")}
    with folder("compare", asked, settings_of(traffic, chosen, world, clients=counts, **named)) as store:
        results = sweep.measured(tasks, store, jobs=asked.jobs)
        cells = []
        for count, listed in of_cells.items():
            frames = sweep.frames({key: results[key] for key in listed})
            found = aggregate(
                frames, list(chosen), radio,
                psm=netsim.canonical("psm", beacon_interval_ns=config.beacon_interval_ns),
                known=sweep.clairvoyant(results),
            )  # fmt: skip
            own = {"summary": found.summary, "replications": found.replications, "slowdown-by-page": found.slowdowns}
            own |= {name: getattr(frames, name) for name in ("runs", "pages", "messages")}
            cells.append({name: table.assign(clients=count) for name, table in own.items()} if counts[1:] else own)
        tables = {name: pd.concat([own[name] for own in cells], ignore_index=True) for name in cells[0]}
        summary, slowdowns = tables["summary"], tables["slowdown-by-page"]
        if counts[1:]:  # cells stand below each other
            measured = summary[~summary["policy"].isin(REFERENCES)]
            text = "\n\n".join([table(*cells_of(CELL, measured)), *(
                f"{traces.counted(int(str(n)), 'clients')}: {advice(own, asked.max_slowdown)}"
                for n, own in summary.groupby("clients")
            )])  # fmt: skip
            pictures = {"cell": figures.growth(measured)}
        else:
            text = comparison_text(summary, traces.counted(len(cut.workloads), cut.called), asked.max_slowdown)
            pictures = {"energy": figures.energy(summary)}
            if len(slowdowns):  # otherwise there are messages alone
                pictures |= {"front": figures.energy_front(summary), "slowdown": figures.slowdown(summary)}
                pictures["slowdown-by-page"] = figures.slowdown_by_page(slowdowns)
        text += worlds_words(traffic, world, chosen, several)
        data = {"replications": len(cut.workloads), "summary": plain(summary)}
        ended(store, asked, "comparison", text, data, tables, pictures)
