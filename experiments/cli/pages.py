"""`lpsm pages`: any supported trace, grouped into pages to replay, and what was found in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from experiments.cli import options
from experiments.inert import echo

_STANDARD_OUTPUT = Path("/dev/stdout")


@options.command(
    click.argument("trace", type=options.INPUT),
    options.option("--out", "JSON-lines file for the pages and messages, - for stdout.", options.OUTPUT, required=True),
    options.MEMBER,
    options.option("--client", "The one device of a capture that is wanted, by its address [all].", metavar="ADDRESS"),
    options.seconds("--max-think max_think_s", "Cut out longer pauses between pages [keep all]."),
    options.seconds("--page-gap page_gap_s", "Pause that ends a page of traffic without URLs [1]."),
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

    if asked.as_json and asked.out == _STANDARD_OUTPUT:
        raise ValueError("--json needs --out FILE for the pages, got standard output")
    refuse_overwriting([asked.trace], [asked.out])
    rule, report = options.configured(traces.GroupingRule, asked), traces.Report()
    found, which = Found(report), {name: getattr(asked, name) for name in ("member", "client", "skip_damaged")}

    def sessions() -> Iterator[traces.Session]:
        for session in traces.sessions(asked.trace, **which, report=report):
            yield session
            advance()

    with progress("sessions read", None) as advance:
        records = found.written(traces.browsed(sessions(), rule=rule, report=report))
        written = traces.write_workload(asked.out, records, lambda: report.round_trip_s)
    if asked.as_json:
        click.echo(json.dumps({"format": report.format, "pages": written, "counts": report.counts} | found.as_dict()))
    else:
        echo(found_text(found), err=asked.out == _STANDARD_OUTPUT)
    echo(f"{traces.counted(written, 'pages')} from {report}", err=True)
