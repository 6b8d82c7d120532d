"""`lpsm simulate`: one workload under one policy, page by page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from experiments.cli.model import battery_option, configuration, model_options, uses_recorded_round_trip
from experiments.cli.options import Names, json_option, policy_names, seed_option
from experiments.cli.streams import INPUT
from experiments.cli.traffic import recorded_words
from experiments.inert import echo

__all__ = ["simulate"]


@click.command()
@click.argument("workload", type=INPUT)
@click.option(
    "--policy",
    type=Names(policy_names),
    default="none",
    show_default=True,
    help="A policy, such as none, psm:200 or lpsm.",
)
@click.option("--out", type=click.Path(path_type=Path), help="CSV file for the pages [standard output].")
@click.option("--polls", type=click.Path(path_type=Path), help="CSV file for every beacon listened to on schedule.")
@click.option("--intervals", type=click.Path(path_type=Path), help="CSV file for the intervals awake and asleep.")
@seed_option("Of server delays and losses.")
@click.option(
    "--engine",
    type=click.Choice(["auto", "packet", "express"]),
    default="auto",
    show_default=True,
    help="How it is computed.",
)
@json_option("the totals of the whole run")
@battery_option
@model_options
def simulate(
    workload: Path,
    policy: str,
    out: Path | None,
    polls: Path | None,
    intervals: Path | None,
    seed: int,
    engine: str,
    as_json: bool,
    battery_mwh: float | None,
    **model: Any,
) -> None:
    """Simulate the pages of WORKLOAD (JSON lines, see lpsm generate) under one policy.

    Every page is one row: policy, page, issue_s, latency_s, awake_s, asleep_s, beacons and
    energy_j, each from its issue to its last byte.
    """
    import numpy as np

    import netsim
    import traces
    from experiments.quantities import BASELINE, ENERGY_PARTS, run_row
    from experiments.study.files import columns_text, csv_text, refuse_overwriting, write_file
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
    with progress("runs", 2) as advance:
        result = netsim.simulate(pages, policy, config=config, seed=seed, engine=engine)
        advance()
        base = result if name == BASELINE else netsim.simulate(pages, BASELINE, config=config, seed=seed, engine=engine)
        advance()
    text = columns_text(result.page_columns, len(pages))
    if polls is not None:
        write_file(polls, csv_text(result.polls))
    if intervals is not None:
        write_file(intervals, csv_text(result.radio))
    if out is not None:
        write_file(out, text)
    elif not as_json:
        click.echo(text, nl=False)
    energy, n, row = result.energy, len(pages), run_row(result)
    radio = config.radio
    slowdown = result.latency_s / base.latency_s
    added_s = (result.messages["delay_s"] - base.messages["delay_s"]).to_numpy() if pages.messages else np.empty(0)
    each = max(1, n)  # without pages, figures are of the whole run
    limit_j = radio.least_j(base.elapsed_s, max(base.uplink_air_s, base.downlink_air_s))
    page_awake_j = radio.least_j(base.elapsed_s, float(base.latency_s.sum()))
    mean_mw = 1000 * energy.total_j / result.elapsed_s
    totals = {
        "policy": result.policy,
        "pages": n,
        "energy_j_per_page": energy.total_j / each,
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
    waited = f", mean slowdown {slowdown.mean():.2f}" if n else ""
    if len(added_s):
        waited += f", {len(added_s)} messages {added_s.mean():.3f} s later in the mean"
    echo(
        f"{result.policy}: {n} pages in {result.elapsed_s:.1f} s, {energy.total_j / each:.3f} J a page "
        f"(limit {limit_j / each:.3f}, page-awake {page_awake_j / each:.3f}; whole run: {parts} J), "
        f"{result.beacons} beacons, {result.wakeups} wake-ups{waited}{life}",
        err=True,
    )
    if words := recorded_words(recorded, config):
        echo(words, err=True)
