"""`lpsm generate`: a workload drawn from the measured Web model, or other traffic made to order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click

from experiments.cli.options import MOST_PAGES, json_option, number_option, seconds_option, seed_option
from experiments.cli.streams import OUTPUT

__all__ = ["generate"]

_KINDS = (
    "web", "mqtt", "push", "stream", "mixed", "chat", "voice", "game", "long-poll", "long-poll-and-web", "sensor",
    "telemetry", "mail", "polling", "update", "web-exponential", "web-pareto", "web-jump", "web-cache",
)  # fmt: skip
_SIZES = "LEAST:MOST"


@click.command()
@click.option("--kind", type=click.Choice(_KINDS), default="web", show_default=True, help="What traffic, see above.")
@number_option("--pages", "n_pages", kind=int, most=MOST_PAGES, help="How many Web pages [100, or what fills --hours].")
@number_option("--hours", kind=float, most=1e6, help="How long [1].")
@seconds_option("--keep-alive", help="Time between keep-alives of mqtt [60].")
@number_option("--messages-per-hour", kind=float, most=1e6, help="Messages that are pushed, on average [180].")
@click.option("--message-bytes", metavar=_SIZES, help="Their sizes [200:2000].")
@number_option("--reports-per-hour", kind=float, most=1e6, help="Reports that an mqtt client sends, on average [60].")
@click.option("--report-bytes", metavar=_SIZES, help="Their sizes [50:200].")
@click.option("--bursty", is_flag=True, help="Messages come in bursts of 6 on average, not one by one.")
@seed_option("Seed of all draws; the same seed gives the same bytes.")
@click.option("--out", type=OUTPUT, help="JSON-lines file for the pages and messages [standard output].")
@json_option("the totals (needs --out)")
def generate(
    kind: str,
    n_pages: int | None,
    hours: float | None,
    keep_alive: float | None,
    messages_per_hour: float | None,
    message_bytes: str | None,
    reports_per_hour: float | None,
    report_bytes: str | None,
    bursty: bool,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Make traffic: pages of the Web model, or what other programs do.

    web: pages with sizes, embedded objects and think times, those that lpsm compare draws for
    the same seed. mqtt: keep-alives, reports and pushed messages. push: messages alone. mixed: pages
    and messages. stream: the segments of a player, each with its deadline. chat to update: programs that ask
    again and again and are told things unasked, with what their servers take. web-pareto, web-jump and web-cache:
    pages whose servers answer after Pareto times, become ten times as slow, or have a cache.
    """
    import traces
    from lpsm.randomness import WORKLOAD, generator
    from traces.traffic import Wishes, make
    from traces.web_model import drawn

    if seed < 0:
        raise ValueError(f"--seed must be at least 0, got {seed}")
    if n_pages is not None and n_pages < 1:
        raise ValueError(f"--pages must be at least 1, got {n_pages}")
    if as_json and out is None:
        raise ValueError("--json needs --out FILE for the pages, got none")
    given: dict[str, Any] = {
        "hours": hours,
        "keep_alive_s": keep_alive,
        "messages_per_hour": messages_per_hour,
        "message_bytes": _sizes("--message-bytes", message_bytes),
        "reports_per_hour": reports_per_hour,
        "report_bytes": _sizes("--report-bytes", report_bytes),
    }
    if kind == "web" and n_pages is None and hours is None:
        n_pages = 100
    wishes = Wishes(pages=n_pages, bursty=bursty, **{name: value for name, value in given.items() if value is not None})
    rng = generator(seed, WORKLOAD)
    records: Iterable[Any]
    if kind == "web" and n_pages is not None:  # as many as anybody likes: written as they are drawn
        records = drawn(n_pages, rng)
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
            totals["messages"] += 1
            totals["message_bytes"] += record.size_bytes
        else:
            totals["pages"] += 1
            totals["objects"] += len(record.objects)
            totals["reply_bytes"] += record.reply_bytes + sum(reply for _, reply in record.objects)
            totals["think_s"] += record.think_s
        yield record


def _sizes(name: str, text: str | None) -> tuple[int, int] | None:
    """Read two sizes, or one that is both."""
    if text is None:
        return None
    least, _, most = text.partition(":")
    if not (least.isascii() and least.isdigit() and (most or least).isascii() and (most or least).isdigit()):
        raise ValueError(f"{name} must be BYTES or {_SIZES}, got {text}")
    if len(text) > 30:
        raise ValueError(f"{name} must have at most 30 characters, got {len(text)}")
    return int(least), int(most or least)
