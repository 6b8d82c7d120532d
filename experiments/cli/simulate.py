"""`lpsm simulate`: one workload under one policy, page by page."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from experiments.cli import options
from experiments.cli.model import WORLD, world_of
from experiments.cli.studies import CLIENTS, recorded_words
from experiments.inert import echo

if TYPE_CHECKING:
    import netsim
    import traces
    from netsim.policies import AnyPolicy

__all__ = ["simulate"]

_LATE = {"message": "added_delay", "datagram": "datagram_delay"}
# `experiments.study.sweep` is imported where it is needed: it brings pandas, which takes longer than most runs


@options.command(
    click.argument("workload", type=options.INPUT),
    options.option("--policy", "A policy, such as none, psm:200 or lpsm.", options.Policies(several=False), "none"),
    options.option("--out", "CSV file for the pages [standard output].", options.FILE),
    options.option("--polls", "CSV file for every beacon listened to on schedule.", options.FILE),
    options.option("--intervals", "CSV file for the intervals awake and asleep.", options.FILE),
    options.seed("Seed of server delays and losses."),
    CLIENTS,
    options.choice(
        "--engine", ["auto", "packet", "express"],
        "The model interpreted (packet), compiled (express), or whichever is quicker; all give the same.",
    ),
    options.JSON,
    options.BATTERY(),
    *WORLD,
)  # fmt: skip
def simulate(asked: Any) -> None:
    """Simulate the pages of WORKLOAD (JSON lines, see lpsm generate) under one policy.

    Every page is one row: policy, page, issue_s, latency_s, awake_s, asleep_s, beacons and
    energy_j, each from its issue to its last byte; with several clients also whose it is.
    """
    import numpy as np

    import netsim
    import traces
    from experiments.quantities import BASELINE
    from experiments.study.files import csv_text, refuse_overwriting, write_file
    from experiments.study.progress import progress

    refuse_overwriting([asked.workload], [asked.out, asked.polls, asked.intervals])
    world = world_of(asked)
    config = world.config
    name = netsim.canonical(asked.policy, beacon_interval_ns=config.beacon_interval_ns)
    pages = traces.read_workload(asked.workload)
    known_s = pages.waits_s[~np.isnan(pages.waits_s)] if config.server_delay.kind == "recorded" else np.empty(0)
    recorded = {"server_times_s": float(np.median(known_s))} if len(known_s) else {}
    if pages.round_trip_s is not None and world.recorded_round_trip:
        from experiments.study.sweep import at_round_trip

        recorded["round_trip_s"] = pages.round_trip_s
        config = at_round_trip(config, pages.round_trip_s)
    runs = _runs(pages, asked.clients, config=config, seed=asked.seed, engine=asked.engine)
    with progress("runs", 2) as advance:
        results = runs(asked.policy)
        advance()
        bases = results if name == BASELINE else runs(BASELINE)
        advance()
    text = csv_text(results[0].page_columns) if len(results) == 1 else _csv_by_client(results, "pages")
    for path, frame in ((asked.polls, "polls"), (asked.intervals, "radio")):
        if path is not None:
            write_file(path, _csv_by_client(results, frame))
    if asked.out is not None:
        write_file(asked.out, text)
    elif not asked.as_json:
        click.echo(text, nl=False)
    totals = _totals(results, bases, config.radio, asked.battery_mwh) | {"preset": world.preset}
    if pages.captured_s is not None:
        totals["captured_s"] = pages.captured_s
        recorded |= {
            "captured_s": pages.captured_s,
            "simulated_s": float(np.mean([base.elapsed_s for base in bases])),
            "things": len(pages.sizes) + len(pages.beside_s),
        }
    if recorded:
        totals["recorded"] = recorded
    if asked.as_json:
        click.echo(json.dumps(totals))
    else:
        echo(f"{_words(totals)}\n{recorded_words(recorded, world, battery=asked.battery_mwh is not None)}", err=True)


def _totals(
    results: Sequence[netsim.SimulationResult], bases: Sequence[netsim.SimulationResult], radio: netsim.Radio,
    battery_mwh: float | None,
) -> dict[str, Any]:  # fmt: skip
    """Return the totals of a run, as means over its clients, beside the two reference energies."""
    import numpy as np

    from experiments.quantities import ENERGY_PARTS, mean_row, run_row
    from netsim.result import spread

    row, n = mean_row([run_row(result) for result in results]), len(results[0].latency_s)
    each = max(1, n)  # without pages, figures are of the whole run
    found = [result.against(base) for result, base in zip(results, bases, strict=True)]

    def least_j(busy_s: Callable[[netsim.SimulationResult], float]) -> float:
        return float(np.mean([radio.least_j(base.elapsed_s, busy_s(base)) for base in bases])) / each

    mean_mw = 1000 * row["total_j"] / row["elapsed_s"]
    totals = {
        "policy": results[0].policy,
        **({"clients": len(results)} if len(results) > 1 else {}),
        "pages": n,
        "energy_j_per_page": row["total_j"] / each,
        "limit_j_per_page": least_j(lambda base: max(base.uplink_air_s, base.downlink_air_s)),
        "page_awake_j_per_page": least_j(lambda base: float(base.latency_s.sum())),
        **dict.fromkeys(("slowdown_mean", "slowdown_p95")),
        **spread("slowdown", "", np.concatenate([one.slowdowns for one in found])),
        **{name: row[name] for name in (*ENERGY_PARTS, "beacons", "wakeups", "elapsed_s")},
        "mean_mw": mean_mw,
    }
    added_s = np.concatenate([one.added_delay_s for one in found])
    if len(added_s):
        totals |= {"messages": len(added_s)} | spread(_LATE["message"], "s", added_s)
    if results[0].captured_s is not None:
        one_by_one = np.concatenate([result.exchange_s for result in results])
        totals |= {"exchanges": len(one_by_one)} | spread("exchange", "s", one_by_one)
        for name in ("datagrams", "datagrams_lost"):
            totals[name] = sum(int(result.datagram_totals[name]) for result in results)
        totals |= spread(_LATE["datagram"], "s", np.concatenate([result.datagram_delay_s for result in results]))
    if battery_mwh is not None:
        totals["battery_h"] = battery_mwh / mean_mw if mean_mw else None
    return totals


def _words(totals: dict[str, Any]) -> str:
    from experiments.quantities import ENERGY_PARTS
    from experiments.report.text import counted

    parts = ", ".join(f"{called} {totals[name]:.3f}" for name, called in ENERGY_PARTS.items())
    of_clients = f", mean of {totals['clients']} clients" if "clients" in totals else ""
    waited = f", mean slowdown {totals['slowdown_mean']:.2f}" if totals["pages"] else ""
    for things in ("message", "datagram"):
        if (late_s := totals.get(f"{_LATE[things]}_mean_s")) is not None:
            waited += f", {counted(totals[f'{things}s'], f'{things}s')} {late_s:.3f} s later in the mean"
    life = f"; the battery lasts {totals['battery_h']:.1f} h" if totals.get("battery_h") else ""
    return (
        f"{totals['policy']}{of_clients}: {totals['pages']} pages in {totals['elapsed_s']:.1f} s, "
        f"{totals['energy_j_per_page']:.3f} J a page (limit {totals['limit_j_per_page']:.3f}, "
        f"page-awake {totals['page_awake_j_per_page']:.3f}; whole run: {parts} J), "
        f"{round(totals['beacons'], 1)} beacons, {round(totals['wakeups'], 1)} wake-ups{waited}{life}"
    )


def _runs(pages: traces.Workload, clients: int, **how: Any) -> Callable[[AnyPolicy], list[netsim.SimulationResult]]:
    """Return what runs a policy: one record a client, each with a draw of its own of the pages."""
    import netsim

    if clients == 1:
        return lambda policy: [netsim.simulate(pages, policy, **how)]
    from experiments.study.sweep import Recorded

    recorded = Recorded(name="workload", seed=how["seed"], recorded=pages)
    drawn = [recorded.pages(client) for client in range(clients)]
    return lambda policy: netsim.simulate_cell([(own, policy) for own in drawn], **how)


def _csv_by_client(results: Sequence[netsim.SimulationResult], name: str) -> str:
    """Return a frame of a record as CSV, those of several clients one below the other."""
    from experiments.study.files import csv_text
    from experiments.study.sweep import by_client

    return csv_text(by_client([getattr(result, name) for result in results]))
