"""`lpsm pages`: any supported trace, grouped into pages to replay, and what was found in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli import options
from experiments.inert import echo

if TYPE_CHECKING:
    import traces

__all__ = ["pages"]

_STANDARD_OUTPUT = Path("/dev/stdout")


@options.command(
    click.argument("trace", type=options.INPUT),
    options.option("--out", "JSON-lines file for the pages and messages, - for stdout.", options.OUTPUT, required=True),
    options.MEMBER,
    options.option("--client", "The one device of a capture that is wanted, by its address [all].", metavar="ADDRESS"),
    options.seconds("--max-think max_think_s", "Cut out longer pauses between pages [keep all]."),
    options.seconds("--same-server-gap same_server_gap_s", "Longest pause before an image of a page [5]."),
    options.seconds("--other-server-gap other_server_gap_s", "The same, from another server [2]."),
    options.seconds("--page-gap page_gap_s", "Pause that ends a page of traffic without URLs [1]."),
    options.seconds("--from start_s", "Cut out what a capture holds before this instant, from its first packet on."),
    options.seconds("--to stop_s", "And what it holds after this one."),
    options.SKIP_DAMAGED,
    options.flag("--json as_json", "Print what was found as one JSON object."),
)
def pages(asked: Any) -> None:
    """Group the requests of TRACE into pages, session after session, and say what was found.

    The format is found by content: Boston University sessions (a file, a folder, a tar
    archive), UC Berkeley Home IP, HAR, pcap or pcapng (any TCP or UDP
    traffic, encrypted or not), or a table of time and bytes; plain or packed with gzip or xz.
    """
    import traces
    from experiments.report.found import Found, found_text
    from experiments.study.files import refuse_overwriting
    from experiments.study.progress import progress

    out = asked.out
    if asked.as_json and out == _STANDARD_OUTPUT:
        raise ValueError("--json needs --out FILE for the pages, got standard output")
    refuse_overwriting([asked.trace], [out])
    rule, report = options.configured(traces.GroupingRule, asked), traces.Report()
    found, which = Found(report), {name: getattr(asked, name) for name in ("member", "client", "skip_damaged")}

    def sessions() -> Iterator[traces.Session]:
        for session in traces.sessions(asked.trace, **which, report=report):
            yield session
            advance()

    with progress("sessions read", None) as advance:
        records = traces.browsed(sessions(), rule=rule, report=report)
        if asked.start_s is not None or asked.stop_s is not None:
            records = _cut(list(records), asked.start_s or 0.0, asked.stop_s)
        written = traces.write_workload(out, found.written(records), lambda: report.round_trip_s)
    if asked.as_json:
        click.echo(json.dumps({"format": report.format, "pages": written, "counts": report.counts} | found.as_dict()))
    else:
        echo(found_text(found), err=out == _STANDARD_OUTPUT)
    echo(f"{traces.counted(written, 'pages')} from {report}", err=True)


def _cut(records: list[Any], start_s: float, stop_s: float | None) -> Iterator[Any]:
    """Yield what was recorded between two instants."""
    import traces
    from traces.times import between_instants

    of: dict[type, list[Any]] = {kind: [one for one in records if type(one) is kind] for kind in map(type, records)}
    whole = traces.Workload.of(
        of.get(traces.Page, []), of.get(traces.Message, []), None, of.get(traces.Datagram, []),
        next((one.captured_s for one in of.get(traces.Captured, [])), None),
    )  # fmt: skip
    part = between_instants(whole, start_s, stop_s)
    yield from chain(part, part.messages, part.datagrams, [traces.Captured(part.captured_s or 0.0)])
