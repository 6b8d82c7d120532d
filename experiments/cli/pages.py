"""`lpsm pages`: any supported trace, grouped into pages to replay."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from traces import GroupingRule, Page, Report

__all__ = ["pages"]

_PATIENCE_S = 2.0


@click.command()
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path), help="JSON-lines file for the pages.")
@click.option("--member", metavar="GLOB", help="Sessions of a folder or archive to take, e.g. '272/Nov94/*' [all].")
@click.option("--max-think", type=float, metavar="SECONDS", help="Cut out longer pauses between pages [keep all].")
@click.option("--same-server-gap", type=float, metavar="SECONDS", help="Longest pause before an image of a page [5].")
@click.option("--other-server-gap", type=float, metavar="SECONDS", help="The same, from another server [2].")
@click.option("--skip-damaged", is_flag=True, help="Count and leave out damaged records.")
@click.option("--json", "as_json", is_flag=True, help="Print the counts as one JSON object.")
def pages(
    trace: Path,
    out: Path,
    member: str | None,
    max_think: float | None,
    same_server_gap: float | None,
    other_server_gap: float | None,
    skip_damaged: bool,
    as_json: bool,
) -> None:
    """Group the requests of TRACE into pages, session after session.

    The format is found by content: Boston University sessions (a file, a folder, a tar
    archive), UC Berkeley Home IP (binary or showtrace), HAR, pcap or pcapng of plain
    HTTP, or a table of time and bytes; plain or packed with gzip or xz.
    """
    import traces
    from experiments.study.files import refuse_overwriting

    refuse_overwriting([trace], [out])
    gaps = {"same_server_gap_s": same_server_gap, "other_server_gap_s": other_server_gap}
    rule = traces.GroupingRule(
        max_think_s=max_think, **{name: value for name, value in gaps.items() if value is not None}
    )
    report = traces.Report()
    written = traces.write_workload(out, _grouped(trace, member, skip_damaged, rule, report))
    counts = dict(report.counts)
    if as_json:
        click.echo(json.dumps({"format": report.format, "pages": written, "counts": counts}))
    click.echo(f"{written} pages from {report}", err=True)


def _grouped(trace: Path, member: str | None, skip_damaged: bool, rule: GroupingRule, report: Report) -> Iterator[Page]:
    """Yield the pages of each session, and say on standard error how far it is if that takes long."""
    import traces

    started = told = time.monotonic()
    done = 0
    for session in traces.sessions(trace, member=member, skip_damaged=skip_damaged, report=report):
        of_session = traces.pages(session.requests, rule=rule, report=report)
        yield from of_session
        done += len(of_session)
        now = time.monotonic()
        if now - started > _PATIENCE_S and now - told > _PATIENCE_S:
            told = now
            end = "\r" if sys.stderr.isatty() else "\n"
            click.echo(f"{report['sessions']} sessions, {done} pages{end}", err=True, nl=False)
