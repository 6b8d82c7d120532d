"""`lpsm timeline`: what the radio does, frame by frame, as a picture, trace events, or a capture of the air."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli import options
from experiments.cli.model import WORLD, world_of
from experiments.cli.outcome import checked_outputs, written_picture
from experiments.cli.traffic import recorded_words
from experiments.inert import echo
from experiments.presets import LEARNED

if TYPE_CHECKING:
    from experiments.timeline import Run

__all__ = ["timeline"]


@options.command(
    click.argument("workload", type=options.INPUT),
    options.policies(f"psm,bsd:1,lpsm,{LEARNED}", "Policies to show, separated by commas."),
    options.number(
        "--page", kind=int, most=options.MOST_PAGES, help="The page to show, from 1 [1, unless --from is given]."
    ),
    options.number("--from", "start_s", most=1e12, help="Instead of a page: the first second of the run to show."),
    options.number(
        "--length", "length_s", most=3600, help="How many seconds to show [the page; after --from 10]."
    ),
    click.option(
        "--out", type=options.FILE, default=Path("timeline.png"), show_default=True,
        help="The picture: FILE.png or FILE.svg.",
    ),
    click.option("--perfetto", type=options.FILE, metavar="FILE.json", help="Also write trace events."),
    click.option(
        "--pcap", type=options.FILE, metavar="FILE.pcapng",
        help="With --air: also write a capture of all frames (of one policy).",
    ),
    options.seed("Seed of server delays and losses."),
    *WORLD,
)  # fmt: skip
def timeline(asked: Any) -> None:
    """Show what the radio does while the pages of WORKLOAD are browsed, one policy below the other.

    The picture shows frames in both directions, beacons that were heard and slept through, when the client is awake,
    what waits at the access point, requests outstanding, and what the policy decides.  Perfetto (ui.perfetto.dev)
    opens the trace events, Wireshark the capture; without --page and --from both hold the whole run.
    """
    import netsim
    from experiments.figures.timeline import timelines
    from experiments.study.files import write_file
    from experiments.study.run import progress
    from experiments.study.traffic import one_recorded, told
    from experiments.timeline import record
    from experiments.timeline import timeline as seen

    world, page = world_of(asked), asked.page
    names = [netsim.canonical(one, beacon_interval_ns=world.config.beacon_interval_ns) for one in asked.policies]
    if not names:
        raise ValueError("policies must name at least one policy, got none")
    if page is not None and asked.start_s is not None:
        raise ValueError("page and from exclude each other: a window is on a page or begins at a second")
    if asked.pcap is not None and len(names) > 1:
        raise ValueError(f"pcap is a capture of one run: name one policy, got {','.join(names)}")
    if asked.pcap is not None and world.config.medium is None:
        raise ValueError("pcap holds frames of 802.11, which only the shared air has, and no --air is given")
    checked_outputs([asked.workload], [asked.perfetto, asked.pcap], asked.out)
    work = one_recorded(asked.workload, asked.seed, recorded_round_trip=world.recorded_round_trip)
    if page is not None and not 1 <= page <= work.n_pages:  # known before anything is run
        raise ValueError(f"page must lie in [1, {work.n_pages}], got {page}")
    config, runs = work.world(world.config), []
    with progress("policies", len(names)) as advance:
        for policy in asked.policies:
            runs.append(record(work.recorded, policy, config, seed=asked.seed, push=work.recorded.messages))
            advance()
    windows = _windows(runs, page, asked.start_s, asked.length_s)
    shown = [seen(run, *window) for run, window in zip(runs, windows, strict=True)]
    written_picture(asked.out, timelines(shown))
    whole = page is None and asked.start_s is None
    if asked.perfetto is not None:
        from experiments.report.perfetto import trace_events

        spans = [seen(run, 0.0, run.result.elapsed_s) for run in runs] if whole else shown
        write_file(asked.perfetto, json.dumps(trace_events(spans), separators=(",", ":")))
    if asked.pcap is not None:
        from experiments.report.capture import capture

        write_file(asked.pcap, capture(runs[0], *((0.0, runs[0].result.elapsed_s) if whole else windows[0])))
    for one in shown:
        listened = sum(beacon.heard == "listened" for beacon in one.beacons)
        awake = sum(end - start for start, end in one.awake)
        echo(
            f"{one.policy}: {one.title}, awake {1000 * awake:.1f} of {1000 * one.length_s:.0f} ms, "
            f"{listened} of {len(one.beacons)} beacons listened to, {len(one.frames)} frames"
        )
    echo("\n".join(filter(None, [world.words, recorded_words(told([work], world.config), world)])))


def _windows(
    runs: Sequence[Run], page: int | None, start_s: float | None, length_s: float | None
) -> list[tuple[float, float]]:
    """Return the window of every run: on the same page, or at the same second, and equally long."""
    from experiments.timeline import window_of_page

    if start_s is not None:
        return [(start_s, 10.0 if length_s is None else length_s)] * len(runs)
    windows = [window_of_page(run, (1 if page is None else page) - 1) for run in runs]
    longest = max(length for _, length in windows) if length_s is None else length_s
    return [(start, longest) for start, _ in windows]
