"""`lpsm timeline`: what the radio does, frame by frame, as a picture, trace events, or a capture of the air."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.model import model_options, world_of
from experiments.cli.options import MOST_PAGES, number_option, picture_suffix, policies_option, seed_option
from experiments.cli.outcome import written_picture
from experiments.cli.streams import INPUT
from experiments.inert import echo
from experiments.presets import LEARNED

if TYPE_CHECKING:
    from experiments.timeline import Run
    from netsim.policies import AnyPolicy

__all__ = ["timeline"]

POLICIES = f"psm,bsd:1,lpsm,{LEARNED}"


@click.command()
@click.argument("workload", type=INPUT)
@policies_option(POLICIES, "Policies to show, separated by commas.")
@number_option("--page", kind=int, most=MOST_PAGES, help="The page to show, from 1 [1, unless --from is given].")
@number_option(
    "--from", "start_s", kind=float, most=1e12, help="Instead of a page: the first second of the run to show."
)
@number_option(
    "--length", "length_s", kind=float, most=3600, help="How many seconds to show [the page; after --from 10]."
)
@click.option(
    "--out", type=click.Path(path_type=Path), default=Path("timeline.png"), show_default=True,
    help="The picture: FILE.png or FILE.svg.",
)  # fmt: skip
@click.option("--perfetto", type=click.Path(path_type=Path), metavar="FILE.json", help="Also write trace events.")
@click.option(
    "--pcap",
    type=click.Path(path_type=Path),
    metavar="FILE.pcapng",
    help="With --air: also write a capture of all frames (of one policy).",
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
    import netsim
    import traces
    from experiments.figures.timeline import timelines
    from experiments.study.files import refuse_overwriting, write_file
    from experiments.study.run import progress
    from experiments.timeline import record
    from experiments.timeline import timeline as seen

    world = world_of(model)
    config = world.config
    names = [netsim.canonical(one, beacon_interval_ns=config.beacon_interval_ns) for one in policies]
    _check(out, names, page, start_s, pcap, on_the_air=config.medium is not None)
    refuse_overwriting([workload], [out, perfetto, pcap])
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
    written_picture(out, timelines(shown))
    whole = page is None and start_s is None
    if perfetto is not None:
        from experiments.report.perfetto import trace_events

        spans = [seen(run, 0.0, run.result.elapsed_s) for run in runs] if whole else shown
        write_file(perfetto, json.dumps(trace_events(spans), separators=(",", ":")))
    if pcap is not None:
        from experiments.report.capture import capture

        window = (0.0, runs[0].result.elapsed_s) if whole else windows[0]
        write_file(pcap, capture(runs[0], *window))
    for one in shown:
        listened = sum(beacon.heard == "listened" for beacon in one.beacons)
        awake = sum(end - start for start, end in one.awake)
        echo(
            f"{one.policy}: {one.title}, awake {1000 * awake:.1f} of {1000 * one.length_s:.0f} ms, "
            f"{listened} of {len(one.beacons)} beacons listened to, {len(one.frames)} frames"
        )
    echo(world.words)


def _check(
    out: Path, names: list[str], page: int | None, start_s: float | None, pcap: Path | None, *, on_the_air: bool
) -> None:
    if not names:
        raise ValueError("policies must name at least one policy, got none")
    picture_suffix(out)
    if page is not None and start_s is not None:
        raise ValueError("page and from exclude each other: a window is on a page or begins at a second")
    if pcap is not None and len(names) > 1:
        raise ValueError(f"pcap is a capture of one run: name one policy, got {','.join(names)}")
    if pcap is not None and not on_the_air:
        raise ValueError("pcap holds frames of 802.11, which only the shared air has, and no --air is given")


def _windows(
    runs: list[Run], page: int | None, start_s: float | None, length_s: float | None
) -> list[tuple[float, float]]:
    """Return the window of every run: on the same page, or at the same second, and equally long."""
    from experiments.timeline import window_of_page

    if start_s is not None:
        return [(start_s, 10.0 if length_s is None else length_s)] * len(runs)
    windows = [window_of_page(run, (1 if page is None else page) - 1) for run in runs]
    longest = max(length for _, length in windows) if length_s is None else length_s
    return [(start, longest) for start, _ in windows]
