"""`lpsm generate`: a workload drawn from the measured Web model, or other traffic made to order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click

import traces
from experiments.cli.options import MOST_PAGES, OUTPUT, json_option, number_option, seconds_option, seed_option
from lpsm.randomness import WORKLOAD, generator
from traces.traffic import Wishes, make
from traces.web_model import drawn

__all__ = ["generate"]

_KINDS = (
    "web", "mqtt", "push", "stream", "mixed", "chat", "voice", "game", "long-poll", "long-poll-and-web", "sensor",
    "telemetry", "mail", "polling", "update", "web-exponential", "web-pareto", "web-jump", "web-cache",
)  # fmt: skip
_SIZES = "LEAST:MOST"


@click.command()
@click.option("--kind", type=click.Choice(_KINDS), default="web", show_default=True, help="What traffic, see above.")
@number_option("--pages", kind=int, most=MOST_PAGES, least=1, help="How many Web pages [100, or what fills --hours].")
@number_option("--hours", kind=float, most=1e6, help="How long [1].")
@seconds_option("--keep-alive", help="Time between keep-alives of mqtt [60].")
@number_option("--messages-per-hour", kind=float, most=1e6, help="Messages that are pushed, on average [180].")
@click.option("--message-bytes", metavar=_SIZES, help="Their sizes [200:2000].")
@number_option("--reports-per-hour", kind=float, most=1e6, help="Reports that an mqtt client sends, on average [60].")
@click.option("--report-bytes", metavar=_SIZES, help="Their sizes [50:200].")
@click.option("--bursty", is_flag=True, help="Messages come in bursts of 6 on average, not one by one.")
@seed_option("Seed of all draws; the same seed gives the same bytes.", least=0)
@click.option("--out", type=OUTPUT, help="JSON-lines file for the pages and messages [standard output].")
@json_option("the totals (needs --out)")
def generate(kind: str, bursty: bool, seed: int, out: Path | None, as_json: bool, **wanted: Any) -> None:
    """Make traffic: pages of the Web model, or what other programs do.

    web: pages with sizes, embedded objects and think times, those that lpsm compare draws for
    the same seed. mqtt: keep-alives, reports and pushed messages. push: messages alone. mixed: pages
    and messages. stream: the segments of a player, each with its deadline. chat to update: programs that ask
    again and again and are told things unasked, with what their servers take. web-pareto, web-jump and web-cache:
    pages whose servers answer after Pareto times, become ten times as slow, or have a cache.
    """
    if as_json and out is None:
        raise ValueError("--json needs --out FILE for the pages, got none")
    wanted["keep_alive_s"] = wanted.pop("keep_alive")
    for name in ("message_bytes", "report_bytes"):
        wanted[name] = _sizes(name, wanted[name])
    if kind == "web" and wanted["pages"] is None and wanted["hours"] is None:
        wanted["pages"] = 100
    wishes = Wishes(bursty=bursty, **{name: value for name, value in wanted.items() if value is not None})
    rng = generator(seed, WORKLOAD)
    records: Iterable[Any]
    if kind == "web" and wishes.pages is not None:  # as many as anybody likes: written as they are drawn
        records = drawn(wishes.pages, rng)
    else:
        made = make(kind, wishes, rng)
        records = chain(made, made.messages)
    totals = dict.fromkeys(("pages", "objects", "reply_bytes", "think_s", "messages", "message_bytes"), 0)
    counted = _counted(records, totals)
    if out is None:
        for record in counted:
            click.echo(traces.workload_line(record), nl=False)
        return
    traces.write_workload(out, counted)
    if as_json:
        click.echo(json.dumps(totals))


def _counted(records: Iterable[Any], totals: dict[str, Any]) -> Iterator[Any]:
    """Yield pages and messages, and add them up."""
    for record in records:
        if hasattr(record, "size_bytes"):
            more: dict[str, Any] = {"messages": 1, "message_bytes": record.size_bytes}
        else:
            reply_bytes = record.reply_bytes + sum(reply for _, reply in record.objects)
            more = {"pages": 1, "objects": len(record.objects), "reply_bytes": reply_bytes, "think_s": record.think_s}
        for name, value in more.items():
            totals[name] += value
        yield record


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
