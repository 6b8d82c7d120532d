"""`lpsm simulate`: one workload under one policy, page by page."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.model import battery_option, configuration, model_options, uses_recorded_round_trip
from experiments.cli.options import Policies, clients_option, json_option, seed_option
from experiments.cli.streams import INPUT
from experiments.cli.traffic import recorded_words
from experiments.inert import echo

if TYPE_CHECKING:
    import netsim
    import traces
    from netsim.policies import AnyPolicy

__all__ = ["simulate"]


@click.command()
@click.argument("workload", type=INPUT)
@click.option(
    "--policy",
    type=Policies(several=False),
    default="none",
    show_default=True,
    help="A policy, such as none, psm:200 or lpsm.",
)
@click.option("--out", type=click.Path(path_type=Path), help="CSV file for the pages [standard output].")
@click.option("--polls", type=click.Path(path_type=Path), help="CSV file for every beacon listened to on schedule.")
@click.option("--intervals", type=click.Path(path_type=Path), help="CSV file for the intervals awake and asleep.")
@seed_option("Seed of server delays and losses.")
@clients_option
@click.option(
    "--engine",
    type=click.Choice(["auto", "packet", "express"]),
    default="auto",
    show_default=True,
    help="The packet model, the compiled engine (express), or whichever is quicker; all give the same.",
)
@json_option("the totals of the whole run")
@battery_option
@model_options
def simulate(
    workload: Path,
    policy: AnyPolicy,
    out: Path | None,
    polls: Path | None,
    intervals: Path | None,
    seed: int,
    clients: int,
    engine: str,
    as_json: bool,
    battery_mwh: float | None,
    **model: Any,
) -> None:
    """Simulate the pages of WORKLOAD (JSON lines, see lpsm generate) under one policy.

    Every page is one row: policy, page, issue_s, latency_s, awake_s, asleep_s, beacons and
    energy_j, each from its issue to its last byte; with several clients also whose it is.
    """
    import numpy as np

    import netsim
    import traces
    from experiments.quantities import BASELINE, ENERGY_PARTS, mean_row, run_row
    from experiments.study.files import columns_text, refuse_overwriting, write_file
    from experiments.study.progress import progress

    refuse_overwriting([workload], [out, polls, intervals])
    config = configuration(model, preset="model")
    name = netsim.canonical(policy, beacon_interval_ns=config.beacon_interval_ns)
    pages = traces.read_workload(workload)
    known_s = pages.waits_s[~np.isnan(pages.waits_s)] if config.server_delay.kind == "recorded" else np.empty(0)
    recorded = {"server_times_s": float(np.median(known_s))} if len(known_s) else {}
    if pages.round_trip_s is not None and uses_recorded_round_trip(model["rtt"], config):
        recorded["round_trip_s"] = pages.round_trip_s
        from experiments.study.sweep import at_round_trip  # brings pandas, which takes longer than most runs

        config = at_round_trip(config, pages.round_trip_s)
    runs = _runs(pages, clients, config=config, seed=seed, engine=engine)
    with progress("runs", 2) as advance:
        results = runs(policy)
        advance()
        bases = results if name == BASELINE else runs(BASELINE)
        advance()
    text = columns_text(results[0].page_columns, len(pages)) if clients == 1 else _csv_by_client(results, "pages")
    if polls is not None:
        write_file(polls, _csv_by_client(results, "polls"))
    if intervals is not None:
        write_file(intervals, _csv_by_client(results, "radio"))
    if out is not None:
        write_file(out, text)
    elif not as_json:
        click.echo(text, nl=False)
    n, row = len(pages), mean_row([run_row(result) for result in results])
    radio, pairs = config.radio, list(zip(results, bases, strict=True))
    slowdown = np.concatenate([result.latency_s / base.latency_s for result, base in pairs])
    added_s = np.concatenate([result.message_delay_s - base.message_delay_s for result, base in pairs])
    each = max(1, n)  # without pages, figures are of the whole run
    least = [(base.elapsed_s, max(base.uplink_air_s, base.downlink_air_s), base.latency_s.sum()) for base in bases]
    limit_j = float(np.mean([radio.least_j(elapsed_s, busy_s) for elapsed_s, busy_s, _ in least]))
    page_awake_j = float(np.mean([radio.least_j(elapsed_s, float(loading_s)) for elapsed_s, _, loading_s in least]))
    mean_mw = 1000 * row["total_j"] / row["elapsed_s"]
    totals = {
        "policy": results[0].policy,
        **({"clients": clients} if clients > 1 else {}),
        "pages": n,
        "energy_j_per_page": row["total_j"] / each,
        "limit_j_per_page": limit_j / each,
        "page_awake_j_per_page": page_awake_j / each,
        "slowdown_mean": float(slowdown.mean()) if n else None,
        "slowdown_p95": float(np.quantile(slowdown, 0.95)) if n else None,
        **{part.name: row[part.name] for part in ENERGY_PARTS},
        **{name: row[name] for name in ("beacons", "wakeups", "elapsed_s")},
        "mean_mw": mean_mw,
    }
    if len(added_s):
        totals["messages"] = len(added_s)
        totals["added_delay_mean_s"], totals["added_delay_p95_s"] = added_s.mean(), float(np.quantile(added_s, 0.95))
    if recorded:
        totals["recorded"] = recorded
    if battery_mwh is not None:
        totals["battery_h"] = battery_mwh / mean_mw if mean_mw else None
    if as_json:
        click.echo(json.dumps(totals))
        return
    life = "" if battery_mwh is None or not mean_mw else f"; the battery lasts {battery_mwh / mean_mw:.1f} h"
    parts = ", ".join(f"{part.called} {row[part.name]:.3f}" for part in ENERGY_PARTS)
    of_clients = f", mean of {clients} clients" if clients > 1 else ""
    waited = f", mean slowdown {slowdown.mean():.2f}" if n else ""
    if len(added_s):
        waited += f", {len(added_s)} messages {added_s.mean():.3f} s later in the mean"
    echo(
        f"{results[0].policy}{of_clients}: {n} pages in {row['elapsed_s']:.1f} s, "
        f"{row['total_j'] / each:.3f} J a page "
        f"(limit {limit_j / each:.3f}, page-awake {page_awake_j / each:.3f}; whole run: {parts} J), "
        f"{round(row['beacons'], 1)} beacons, {round(row['wakeups'], 1)} wake-ups{waited}{life}",
        err=True,
    )
    if words := recorded_words(recorded, config):
        echo(words, err=True)


def _runs(
    pages: traces.Workload, clients: int, *, config: netsim.SimulationConfig, seed: int, engine: str
) -> Callable[[AnyPolicy], list[netsim.SimulationResult]]:
    """Return what runs a policy: one record a client, each with a draw of its own of the pages."""
    import netsim

    if clients == 1:
        return lambda policy: [netsim.simulate(pages, policy, config=config, seed=seed, engine=engine)]
    from experiments.study.sweep import Recorded, check_clients

    check_clients([clients])
    recorded = Recorded(name="workload", seed=seed, recorded=tuple(pages), messages=tuple(pages.messages))
    drawn = [recorded.pages(client) for client in range(clients)]
    return lambda policy: netsim.simulate_cell(
        [(own, policy) for own in drawn], config=config, seed=seed, engine=engine
    )


def _csv_by_client(results: Sequence[netsim.SimulationResult], name: str) -> str:
    """Return a frame of a record as CSV, those of several clients one below the other."""
    from experiments.study.files import csv_text
    from experiments.study.sweep import by_client

    return csv_text(by_client([getattr(result, name) for result in results]))
