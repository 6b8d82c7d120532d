"""`lpsm simulate`: one workload under one policy, page by page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from experiments.cli import options
from experiments.cli.model import WORLD, world_of
from experiments.cli.studies import recorded_words, workload_in
from experiments.escaping import echo

if TYPE_CHECKING:
    import netsim
    from experiments.quantities import Row

_LATE = {"message": "added_delay", "datagram": "datagram_delay"}
# what brings pandas is not imported: it takes longer than most runs


@options.command(
    click.argument("workload", type=options.INPUT),
    options.option("--policy", "A policy, such as none, psm:200 or lpsm.", options.Policies(several=False), "none"),
    options.option("--out", "CSV file for the pages [standard output].", options.FILE),
    options.SEED,
    options.choice(
        "--engine", ["auto", "packet", "express"],
        "The model interpreted (packet), compiled (express), or whichever is quicker; all give the same.",
    ),
    options.JSON,
    *WORLD,
)  # fmt: skip
def simulate(asked: options.Asked) -> None:
    """Simulate the pages of WORKLOAD (JSON lines, see lpsm generate) under one policy.

    Every page is one row: policy, page, issue_s, latency_s, awake_s, asleep_s, beacons and
    energy_j, each from its issue to its last byte.
    """
    import netsim
    from experiments.study.files import csv_text, refuse_overwriting, write_file
    from experiments.study.progress import progress
    from experiments.study.traffic import told

    refuse_overwriting([asked.workload], [asked.out])
    work, world = workload_in(asked, world_of(asked))
    pages, config = work.recorded, work.world(world.config)
    with progress("runs", 2) as advance:
        how: Row = {"config": config, "seed": asked.seed, "engine": asked.engine}
        result = netsim.simulate(pages, asked.policy, **how)
        advance()
        base = netsim.simulate(pages, "none", **how)
        advance()
    text = csv_text(result.page_columns)
    if asked.out is not None:
        write_file(asked.out, text)
    elif not asked.as_json:
        click.echo(text, nl=False)
    recorded = told([work], world.config)
    totals = _totals(result, base, config.radio) | {"preset": world.preset, "recorded": recorded}
    if asked.as_json:
        click.echo(json.dumps(totals))
    else:
        echo(f"{_words(totals)}\n{recorded_words(recorded, world)}", err=True)


def _totals(result: netsim.SimulationResult, base: netsim.SimulationResult, radio: netsim.Radio) -> Row:
    """Return the totals of a run beside the two reference energies."""
    from experiments.quantities import ENERGY_PARTS, run_row
    from netsim.result import spread

    row, found = run_row(result), result.against(base)
    each = max(1, row["pages"])  # without pages, figures are of the whole run
    totals = {
        "policy": result.policy,
        "pages": row["pages"],
        "energy_j_per_page": row["total_j"] / each,
        "limit_j_per_page": radio.least_j(base.elapsed_s, max(base.uplink_air_s, base.downlink_air_s)) / each,
        "page_awake_j_per_page": radio.least_j(base.elapsed_s, float(base.latency_s.sum())) / each,
        **spread("slowdown", "", found.slowdowns),
        **{name: row[name] for name in (*ENERGY_PARTS, "beacons", "wakeups", "elapsed_s")},
        "mean_mw": 1000 * row["total_j"] / row["elapsed_s"],
    }
    if hasattr(result.final_policy, "exceptions"):
        totals["exceptions"] = result.final_policy.exceptions
    if len(found.added_delay_s):
        totals |= {"messages": len(found.added_delay_s)} | spread(_LATE["message"], "s", found.added_delay_s)
    if result.captured_s is not None:
        totals |= {"captured_s": result.captured_s, "exchanges": len(result.exchange_s)}
        totals |= spread("exchange", "s", result.exchange_s)
        totals |= {name: int(result.datagram_totals[name]) for name in ("datagrams", "datagrams_lost")}
        totals |= spread(_LATE["datagram"], "s", result.datagram_delay_s)
    return totals


def _words(totals: Row) -> str:
    from experiments.quantities import ENERGY_PARTS
    from experiments.report.text import power_words
    from traces import counted

    parts = ", ".join(f"{called} {totals[name]:.3f}" for name, called in ENERGY_PARTS.items())
    waited = f", mean slowdown {totals['slowdown_mean']:.2f}" if totals["pages"] else ""
    for things, late in _LATE.items():
        if (late_s := totals.get(f"{late}_mean_s")) is not None:
            waited += f", {counted(totals[f'{things}s'], f'{things}s')} {late_s:.3f} s later in the mean"
    if totals.get("exceptions"):
        waited += f", {counted(totals['exceptions'], 'pages')} beyond what its promise supposes"
    power = f"{power_words(totals['mean_mw'])}, " * ("captured_s" in totals)
    return (
        f"{totals['policy']}: {totals['pages']} pages in {totals['elapsed_s']:.1f} s, {power}"
        f"{totals['energy_j_per_page']:.3f} J a page (limit {totals['limit_j_per_page']:.3f}, "
        f"page-awake {totals['page_awake_j_per_page']:.3f}; whole run: {parts} J), "
        f"{totals['beacons']} beacons, {totals['wakeups']} wake-ups{waited}"
    )
