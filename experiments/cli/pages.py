"""`lpsm pages`: any supported trace, grouped into pages to replay, and what was found in it."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from experiments.cli import options
from experiments.escaping import echo

_STANDARD_OUTPUT = Path("/dev/stdout")


@options.command(
    click.argument("trace", type=options.INPUT),
    options.option("--out", "JSON-lines file for the pages and messages, - for stdout.", options.OUTPUT, required=True),
    options.MEMBER,
    options.option(
        "--client",
        "The one device of a capture that is wanted: its address, or several, or its MAC address [all].",
        metavar="ADDRESS[,...]",
    ),
    options.seconds("--max-think max_think_s", "Cut out longer pauses between pages [keep all]."),
    options.seconds("--page-gap page_gap_s", "Pause that ends a page of traffic without URLs [1]."),
    options.seconds("--from start_s", "Cut out what a capture holds before this instant, from its first packet on."),
    options.seconds("--to stop_s", "And what it holds after this one."),
    options.SKIP_DAMAGED,
    options.flag("--json as_json", "Print what was found as one JSON object."),
)
def pages(asked: options.Asked) -> None:
    """Group the requests of TRACE into pages, session after session, and say what was found.

    The format is found by content: Boston University sessions (a file, a folder, a tar
    archive), UC Berkeley Home IP, HAR, pcap or pcapng (any TCP or UDP
    traffic, encrypted or not), or a table of time and bytes; plain or packed with gzip or xz.
    """
    import traces
    from experiments.report.trace_summary import Found, found_text
    from experiments.study.files import refuse_overwriting
    from experiments.study.progress import progress

    if asked.as_json and asked.out == _STANDARD_OUTPUT:
        raise ValueError("--json needs --out FILE for the pages, got standard output")
    refuse_overwriting([asked.trace], [asked.out])
    rule, report = options.configured(traces.GroupingRule, asked), traces.Report()
    found, which = Found(report), {name: getattr(asked, name) for name in ("member", "client", "skip_damaged")}

    def sessions() -> Iterator[traces.Session]:
        for session in traces.sessions(asked.trace, **which, report=report, on_disk=True):
            yield session
            advance()

    with progress("sessions read", None) as advance:
        records = traces.browsed(sessions(), rule=rule, report=report)
        if asked.start_s is not None or asked.stop_s is not None:
            records = _cut(records, asked.start_s or 0.0, asked.stop_s)
        written = traces.write_workload(asked.out, found.written(records), lambda: report.round_trip_s)
    if asked.as_json:
        click.echo(json.dumps({"format": report.format, "pages": written, "counts": report.counts} | found.as_dict()))
    else:
        echo(found_text(found), err=asked.out == _STANDARD_OUTPUT)
    echo(f"{traces.counted(written, 'pages')} from {report}", err=True)


def _cut(records: Iterable[Any], start_s: float, stop_s: float | None) -> Iterator[Any]:
    """Yield what was recorded between two instants."""
    from traces import Captured
    from traces.times import stretches
    from traces.workload import gathered

    whole = gathered(records)
    if (ends_s := whole.captured_s) is None:
        raise ValueError("--from and --to are for captures, whose traffic has times of its own")
    stop_s = ends_s if stop_s is None else min(stop_s, ends_s)
    if not start_s < stop_s:
        raise ValueError(f"--from must lie before {stop_s:g} s, the end of what is wanted, got {start_s:g}")
    edges = sorted({0.0, start_s, *([stop_s] if stop_s < ends_s else [])})
    part = stretches(whole, edges)[edges.index(start_s)]
    yield from (*part, *part.messages, *part.datagrams, Captured(stop_s - start_s))
