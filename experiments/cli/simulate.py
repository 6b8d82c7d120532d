"""`lpsm simulate`: one workload under one policy, page by page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from experiments.cli.model import configuration, model_options

__all__ = ["simulate"]

COLUMNS = ("policy", "page", "issue_s", "latency_s", "awake_s", "asleep_s", "beacons", "energy_j")


@click.command()
@click.argument("workload", type=click.Path(path_type=Path))
@click.option("--policy", default="none", show_default=True, help="none, psm[:MS], bsd[:P], lpsm or lpsm:log.")
@click.option("--out", type=click.Path(path_type=Path), help="CSV file for the pages [standard output].")
@click.option("--polls", type=click.Path(path_type=Path), help="CSV file for every beacon listened to on schedule.")
@click.option("--radio", type=click.Path(path_type=Path), help="CSV file for the intervals awake and asleep.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of server delays and losses.")
@click.option(
    "--engine",
    type=click.Choice(["auto", "packet", "express"]),
    default="auto",
    show_default=True,
    help="How it is computed.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the totals of the whole run as one JSON object.")
@model_options
def simulate(
    workload: Path,
    policy: str,
    out: Path | None,
    polls: Path | None,
    radio: Path | None,
    seed: int,
    engine: str,
    as_json: bool,
    **model: Any,
) -> None:
    """Simulate the pages of WORKLOAD (JSON lines, see lpsm generate) under one policy.

    Every page is one row: policy, page, issue_s, latency_s, awake_s, asleep_s, beacons and
    energy_j, each from its issue to its last byte.
    """
    import netsim
    import traces
    from experiments.study.run import progress
    from experiments.study.store import csv_text, write_file

    config = configuration(model)
    name = netsim.canonical(policy)
    pages = traces.read_workload(workload)
    with progress(f"{len(pages)} pages", 1) as advance:
        result = netsim.simulate(pages, name, config=config, seed=seed, engine=engine)
        advance()
    text = csv_text(result.pages[list(COLUMNS)])
    if polls is not None:
        write_file(polls, csv_text(result.polls))
    if radio is not None:
        write_file(radio, csv_text(result.radio))
    if out is not None:
        write_file(out, text)
    elif not as_json:
        click.echo(text, nl=False)
    energy = result.energy
    totals = {
        "policy": result.policy,
        "pages": len(pages),
        "energy_j_per_page": energy.per_page_j,
        "awake_j": energy.awake_j,
        "sleep_j": energy.sleep_j,
        "listen_j": energy.listen_j,
        "beacons": result.beacons,
        "elapsed_s": result.elapsed_s,
    }
    if as_json:
        click.echo(json.dumps(totals))
        return
    click.echo(
        f"{result.policy}: {len(pages)} pages in {result.elapsed_s:.1f} s, {energy.per_page_j:.3f} J a page "
        f"(whole run: awake {energy.awake_j:.3f}, asleep {energy.sleep_j:.3f}, listening {energy.listen_j:.3f} J), "
        f"{result.beacons} beacons",
        err=True,
    )
