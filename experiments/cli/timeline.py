"""`lpsm timeline`: what the radio does, frame by frame, as a picture, trace events, or a capture of the air."""

import json
from functools import partial
from pathlib import Path

import click

from experiments.cli import options
from experiments.cli.model import WORLD, world_of
from experiments.cli.studies import checked_outputs, recorded_words, workload_in, written_picture
from experiments.escaping import echo
from experiments.presets import LEARNED


@options.command(
    click.argument("workload", type=options.INPUT),
    options.policies(f"psm,bsd:1,lpsm,{LEARNED}", "Policies to show, separated by commas."),
    options.whole("--page", "The page to show, from 1 [1, unless --from is given]."),
    options.number("--from start_s", "Instead of a page: the first second of the run to show.", most=1e12),
    options.number("--length length_s", "How many seconds to show [the page; after --from 10].", most=3600, above=True),
    options.option("--out", "The picture: FILE.png or FILE.svg.", options.FILE, Path("timeline.png")),
    options.option("--perfetto", "Also write trace events.", options.FILE, metavar="FILE.json"),
    options.option(
        "--pcap", "With --air: also write a capture of all frames (of one policy).", options.FILE,
        metavar="FILE.pcapng",
    ),
    options.SEED,
    *WORLD,
)  # fmt: skip
def timeline(asked: options.Asked) -> None:
    """Show what the radio does while the pages of WORKLOAD are browsed, one policy below the other.

    The picture shows frames in both directions, beacons that were heard and slept through, when the client is awake,
    what waits at the access point, requests outstanding, and what the policy decides.  Perfetto (ui.perfetto.dev)
    opens the trace events, Wireshark the capture; without --page and --from both hold the whole run.
    """
    from experiments.figures.timeline import timelines
    from experiments.study.files import write_file
    from experiments.study.progress import progress
    from experiments.study.traffic import told
    from experiments.timeline import record, window_of_page
    from experiments.timeline import timeline as seen

    world, page, start_s, n = world_of(asked), asked.page, asked.start_s, len(asked.policies)
    if page is not None and start_s is not None:
        raise ValueError("page and from exclude each other: a window is on a page or begins at a second")
    if not n or (asked.pcap is not None and n > 1):
        raise ValueError(f"policies must be {'at least one' if not n else 'one for a capture (--pcap)'}, got {n}")
    checked_outputs([asked.workload], [asked.perfetto, asked.pcap], asked.out)
    work, world = workload_in(asked, world)
    if page is not None and page > work.n_pages:  # known before anything is run
        raise ValueError(f"page must lie in [1, {work.n_pages}], got {page}")
    pages, config, runs = work.recorded, work.world(world.config), []
    with progress("policies", n) as advance:
        for policy in asked.policies:
            runs.append(record(pages, policy, config, seed=asked.seed))
            advance()
    if start_s is not None:
        windows = [(start_s, asked.length_s or 10.0)] * n
    else:  # the same page in all runs, and equally long
        windows = [window_of_page(run, (page or 1) - 1) for run in runs]
        longest = asked.length_s or max(length for _, length in windows)
        windows = [(start, longest) for start, _ in windows]
    shown = [seen(run, *window) for run, window in zip(runs, windows, strict=True)]
    written = windows if page or start_s is not None else [(0.0, run.result.elapsed_s) for run in runs]
    if asked.pcap is not None:
        from experiments.report.capture import capture

        write_file(asked.pcap, capture(runs[0], *written[0]))
    written_picture(asked.out, partial(timelines, shown))
    if asked.perfetto is not None:
        from experiments.report.perfetto import trace_events

        spans = [seen(run, *span) for run, span in zip(runs, written, strict=True)]
        write_file(asked.perfetto, json.dumps(trace_events(spans), separators=(",", ":")))
    for one in shown:
        listened = sum(beacon.heard == "listened" for beacon in one.beacons)
        awake = sum(end - start for start, end in one.awake)
        echo(
            f"{one.policy}: {one.title}, awake {1000 * awake:.1f} of {1000 * one.length_s:.0f} ms, "
            f"{listened} of {len(one.beacons)} beacons listened to, {len(one.frames)} frames"
        )
    echo(recorded_words(told([work], world.config), world))
