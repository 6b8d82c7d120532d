"""`lpsm pages`: any supported trace, grouped into pages to replay, and what was found in it."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click

import traces
from experiments.cli.options import (
    INPUT,
    OUTPUT,
    json_option,
    member_option,
    picture_suffix,
    seconds_option,
    skip_damaged_option,
)
from experiments.found import Found
from experiments.inert import echo
from experiments.report.found import found_text
from experiments.study.files import refuse_overwriting
from traces.times import between_instants

__all__ = ["pages"]

_PATIENCE_S = 2.0
_STANDARD_OUTPUT = Path("/dev/stdout")


@click.command()
@click.argument("trace", type=INPUT)
@click.option("--out", required=True, type=OUTPUT, help="JSON-lines file for the pages and messages, - for stdout.")
@member_option
@click.option("--client", metavar="ADDRESS", help="The one device of a capture that is wanted, by its address [all].")
@seconds_option("--max-think", help="Cut out longer pauses between pages [keep all].")
@seconds_option("--same-server-gap", help="Longest pause before an image of a page [5].")
@seconds_option("--other-server-gap", help="The same, from another server [2].")
@seconds_option("--page-gap", help="Pause that ends a page of traffic without URLs [1].")
@seconds_option("--from", help="Cut out what a capture holds before this instant, from its first packet on.")
@seconds_option("--to", help="And what it holds after this one.")
@click.option("--picture", type=OUTPUT, metavar="FILE", help="Picture of the traffic over time: .svg or .png.")
@skip_damaged_option
@json_option("what was found")
def pages(
    trace: Path,
    out: Path,
    member: str | None,
    client: str | None,
    picture: Path | None,
    skip_damaged: bool,
    as_json: bool,
    **gaps: float | None,
) -> None:
    """Group the requests of TRACE into pages, session after session, and say what was found.

    The format is found by content: Boston University sessions (a file, a folder, a tar
    archive), UC Berkeley Home IP (binary or showtrace), HAR, pcap or pcapng (any TCP or UDP
    traffic, encrypted or not), or a table of time and bytes; plain or packed with gzip or xz.
    """
    refuse_overwriting([trace], [out, picture])
    if as_json and out == _STANDARD_OUTPUT:
        raise ValueError("--json needs --out FILE for the pages, got standard output")
    picture_suffix(picture)
    start_s, stop_s = gaps.pop("from"), gaps.pop("to")
    given: dict[str, Any] = {f"{name}_s": value for name, value in gaps.items() if value is not None}
    rule, report = traces.GroupingRule(**given), traces.Report()
    found = Found(report)
    read = traces.sessions(
        trace, member=member, client=client, skip_damaged=skip_damaged, report=report, on_read=_reading()
    )
    records = traces.browsed(found.watch(_told(read, report)), rule=rule, report=report)
    if start_s is not None or stop_s is not None:
        records = _cut(list(records), start_s or 0.0, stop_s)
    written = traces.write_workload(out, found.written(records), lambda: report.round_trip_s)
    if picture is not None:
        from experiments.cli.outcome import written_picture
        from experiments.figures.traffic import traffic

        written_picture(picture, traffic(found))
    if as_json:
        click.echo(json.dumps({"format": report.format, "pages": written, "counts": report.counts} | found.as_dict()))
    else:
        echo(found_text(found), err=out == _STANDARD_OUTPUT)
    echo(f"{traces.counted(written, 'pages')} from {report}", err=True)


def _cut(records: list[Any], start_s: float, stop_s: float | None) -> Iterator[Any]:
    """Yield what was recorded between two instants."""
    of: dict[type, list[Any]] = {kind: [one for one in records if type(one) is kind] for kind in map(type, records)}
    whole = traces.Workload.of(
        of.get(traces.Page, []), of.get(traces.Message, []), None, of.get(traces.Datagram, []),
        next((one.captured_s for one in of.get(traces.Captured, [])), None),
    )  # fmt: skip
    part = between_instants(whole, start_s, stop_s)
    yield from chain(part, part.messages, part.datagrams, [traces.Captured(part.captured_s or 0.0)])


def _reading() -> Callable[[int, int], None]:
    """Return what says how much of a large file has been read."""
    patience = _Patience()

    def tell(done: int, size: int) -> None:
        if size and patience.is_over():
            _say(f"read {100 * done // size} % of {size / 1e6:.0f} MB")

    return tell


def _told(sessions: Iterable[traces.Session], report: traces.Report) -> Iterator[traces.Session]:
    """Yield the sessions, and say on standard error how far it is if that takes long."""
    patience = _Patience()
    for session in sessions:
        yield session
        if patience.is_over():
            _say(f"{report['sessions']} sessions, {report['pages']} pages")


class _Patience:
    """Is over every two seconds."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def is_over(self) -> bool:
        now = time.monotonic()
        over = now - self._last > _PATIENCE_S
        if over:
            self._last = now
        return over


def _say(text: str) -> None:
    click.echo(text + ("\r" if sys.stderr.isatty() else "\n"), err=True, nl=False)
