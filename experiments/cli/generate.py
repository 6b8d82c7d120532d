"""`lpsm generate`: a workload drawn from the measured Web model, or other traffic made to order."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain
from typing import Any

import click

from experiments.cli import options

__all__ = ["generate"]

_KINDS = (
    "web", "mqtt", "push", "stream", "mixed", "chat", "voice", "game", "long-poll", "long-poll-and-web", "sensor",
    "telemetry", "mail", "polling", "update", "web-exponential", "web-pareto", "web-jump", "web-cache",
    "web-servers",
)  # fmt: skip
_SIZES = "LEAST:MOST"


@options.command(
    options.choice("--kind", _KINDS, "What traffic, see above."),
    options.number(
        "--pages", kind=int, most=options.MOST_PAGES, least=1,
        help="How many Web pages [100, or what fills --hours].",
    ),
    options.number("--hours", most=1e6, help="How long [1]."),
    options.seconds("--keep-alive", "keep_alive_s", help="Time between keep-alives of mqtt [60]."),
    options.number("--messages-per-hour", most=1e6, help="Messages that are pushed, on average [180]."),
    click.option("--message-bytes", metavar=_SIZES, help="Their sizes [200:2000]."),
    options.number("--reports-per-hour", most=1e6, help="Reports that an mqtt client sends, on average [60]."),
    click.option("--report-bytes", metavar=_SIZES, help="Their sizes [50:200]."),
    options.flag("--bursty", help="Messages come in bursts of 6 on average, not one by one."),
    options.seed("Seed of all draws; the same seed gives the same bytes.", least=0),
    click.option("--out", type=options.OUTPUT, help="JSON-lines file for the pages and messages [standard output]."),
    options.json_option("the totals (needs --out)"),
)  # fmt: skip
def generate(asked: Any) -> None:
    """Make traffic: pages of the Web model, or what other programs do.

    web: pages with sizes, embedded objects and think times, those that lpsm compare draws for
    the same seed. mqtt: keep-alives, reports and pushed messages. push: messages alone. mixed: pages
    and messages. stream: the segments of a player, each with its deadline. chat to update: programs that ask
    again and again and are told things unasked, with what their servers take. web-pareto, web-jump, web-cache
    and web-servers: pages whose servers answer after Pareto times, become ten times as slow, have a cache, or are three
    in turn, fast to slow.
    """
    import traces
    from experiments.report.found import Found
    from lpsm.randomness import WORKLOAD, generator
    from traces.traffic import Wishes, make
    from traces.web_model import drawn

    if asked.as_json and asked.out is None:
        raise ValueError("--json needs --out FILE for the pages, got none")
    for name in ("message_bytes", "report_bytes"):
        setattr(asked, name, _sizes(name, getattr(asked, name)))
    if asked.kind == "web" and asked.pages is None and asked.hours is None:
        asked.pages = 100
    wishes = options.configured(Wishes, asked)
    rng = generator(asked.seed, WORKLOAD)
    records: Iterable[Any]
    if asked.kind == "web" and wishes.pages is not None:  # as many as anybody likes: written as they are drawn
        records = drawn(wishes.pages, rng)
    else:
        made = make(asked.kind, wishes, rng)
        records = chain(made, made.messages)
    found = Found(traces.Report())
    counted = found.written(records)
    if asked.out is None:
        for record in counted:
            click.echo(traces.workload_line(record), nl=False)
        return
    traces.write_workload(asked.out, counted)
    if asked.as_json:
        counts = found.counts
        totals = {
            "pages": counts["pages"], "objects": counts["exchanges"] - counts["pages"],
            "reply_bytes": counts["reply_bytes"], "think_s": found.think_s, "messages": counts["messages"],
            "message_bytes": counts["message_bytes"],
        }  # fmt: skip
        click.echo(json.dumps(totals))


def _sizes(name: str, text: str | None) -> tuple[int, int] | None:
    """Read two sizes, or one that is both."""
    if text is None:
        return None
    name = f"--{name.replace('_', '-')}"
    sizes = [part for part in text.partition(":")[::2] if part]
    if not sizes or not text[0].isdigit() or not all(size.isascii() and size.isdigit() for size in sizes):
        raise ValueError(f"{name} must be BYTES or {_SIZES}, got {text}")
    if len(text) > 30:
        raise ValueError(f"{name} must have at most 30 characters, got {len(text)}")
    return int(sizes[0]), int(sizes[-1])
