"""`lpsm timeline`: what the radio does, frame by frame, as a picture, trace events, or a capture of the air."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

import netsim
import traces
from experiments.cli.model import model_options, world_of
from experiments.cli.options import FILE, INPUT, MOST_PAGES, number_option, policies_option, seed_option
from experiments.cli.outcome import checked_outputs, written_picture
from experiments.inert import echo
from experiments.presets import LEARNED
from experiments.study.files import write_file
from experiments.study.run import progress
from experiments.timeline import Run, record, window_of_page
from experiments.timeline import timeline as seen
from netsim.policies import AnyPolicy

__all__ = ["timeline"]


@click.command()
@click.argument("workload", type=INPUT)
@policies_option(f"psm,bsd:1,lpsm,{LEARNED}", "Policies to show, separated by commas.")
@number_option("--page", kind=int, most=MOST_PAGES, help="The page to show, from 1 [1, unless --from is given].")
@number_option(
    "--from", "start_s", kind=float, most=1e12, help="Instead of a page: the first second of the run to show."
)
@number_option(
    "--length", "length_s", kind=float, most=3600, help="How many seconds to show [the page; after --from 10]."
)
@click.option(
    "--out", type=FILE, default=Path("timeline.png"), show_default=True, help="The picture: FILE.png or FILE.svg."
)
@click.option("--perfetto", type=FILE, metavar="FILE.json", help="Also write trace events.")
@click.option(
    "--pcap", type=FILE, metavar="FILE.pcapng", help="With --air: also write a capture of all frames (of one policy)."
)
@seed_option("Seed of server delays and losses.")
@model_options
def timeline(
    workload: Path,
    policies: list[AnyPolicy],
    page: int | None,
    start_s: float | None,
    length_s: float | None,
    out: Path,
    perfetto: Path | None,
    pcap: Path | None,
    seed: int,
    **model: Any,
) -> None:
    """Show what the radio does while the pages of WORKLOAD are browsed, one policy below the other.

    The picture shows frames in both directions, beacons that were heard and slept through, when the client is awake,
    what waits at the access point, requests outstanding, and what the policy decides.  Perfetto (ui.perfetto.dev)
    opens the trace events, Wireshark the capture; without --page and --from both hold the whole run.
    """
    world = world_of(model)
    config = world.config
    names = [netsim.canonical(one, beacon_interval_ns=config.beacon_interval_ns) for one in policies]
    if not names:
        raise ValueError("policies must name at least one policy, got none")
    if page is not None and start_s is not None:
        raise ValueError("page and from exclude each other: a window is on a page or begins at a second")
    if pcap is not None and len(names) > 1:
        raise ValueError(f"pcap is a capture of one run: name one policy, got {','.join(names)}")
    if pcap is not None and config.medium is None:
        raise ValueError("pcap holds frames of 802.11, which only the shared air has, and no --air is given")
    checked_outputs([workload], [perfetto, pcap], out)
    work = traces.read_workload(workload)
    if page is not None and not 1 <= page <= len(work):  # known before anything is run
        raise ValueError(f"page must lie in [1, {len(work)}], got {page}")
    runs = []
    with progress("policies", len(names)) as advance:
        for policy in policies:
            runs.append(record(work, policy, config, seed=seed, push=work.messages))
            advance()
    windows = _windows(runs, page, start_s, length_s)
    shown = [seen(run, *window) for run, window in zip(runs, windows, strict=True)]
    from experiments.figures.timeline import timelines

    written_picture(out, timelines(shown))
    whole = page is None and start_s is None
    if perfetto is not None:
        from experiments.report.perfetto import trace_events

        spans = [seen(run, 0.0, run.result.elapsed_s) for run in runs] if whole else shown
        write_file(perfetto, json.dumps(trace_events(spans), separators=(",", ":")))
    if pcap is not None:
        from experiments.report.capture import capture

        write_file(pcap, capture(runs[0], *((0.0, runs[0].result.elapsed_s) if whole else windows[0])))
    for one in shown:
        listened = sum(beacon.heard == "listened" for beacon in one.beacons)
        awake = sum(end - start for start, end in one.awake)
        echo(
            f"{one.policy}: {one.title}, awake {1000 * awake:.1f} of {1000 * one.length_s:.0f} ms, "
            f"{listened} of {len(one.beacons)} beacons listened to, {len(one.frames)} frames"
        )
    echo(world.words)


def _windows(
    runs: list[Run], page: int | None, start_s: float | None, length_s: float | None
) -> list[tuple[float, float]]:
    """Return the window of every run: on the same page, or at the same second, and equally long."""
    if start_s is not None:
        return [(start_s, 10.0 if length_s is None else length_s)] * len(runs)
    windows = [window_of_page(run, (1 if page is None else page) - 1) for run in runs]
    longest = max(length for _, length in windows) if length_s is None else length_s
    return [(start, longest) for start, _ in windows]
