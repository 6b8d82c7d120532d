"""`lpsm generate`: a workload drawn from the measured Web model, or other traffic made to order."""

import json
from itertools import chain

import click

from experiments.cli import options

_KINDS = (
    "web", "mqtt", "push", "stream", "mixed", "chat", "voice", "game", "long-poll", "long-poll-and-web", "sensor",
    "telemetry", "mail", "polling", "update", "iot", "web-exponential", "web-pareto", "web-jump", "web-cache",
    "web-servers", "web-bimodal", "web-flaky", "typeahead", "feed", "ticker-and-web", "answers",
)  # fmt: skip
_SIZES = "LEAST:MOST"
_MESSAGES = ("messages_per_hour", "message_bytes", "bursty")
_TAKES: dict[str, tuple[str, ...]] = {
    "mqtt": ("keep_alive_s", "reports_per_hour", "report_bytes", *_MESSAGES), "push": _MESSAGES,
    "web": ("pages", "web"), "mixed": ("pages", *_MESSAGES),
    **{kind: ("pages",) for kind in _KINDS if kind.startswith("web-")},
}  # fmt: skip
"""Which options, beside --hours, a kind of traffic heeds."""


@options.command(
    options.choice("--kind", _KINDS, "What traffic, see above."),
    options.web("With --kind web"),
    options.whole("--pages", "How many Web pages [100, or what fills --hours]."),
    options.number("--hours", "How long [1].", most=1e6),
    options.seconds("--keep-alive keep_alive_s", "Time between keep-alives of mqtt [60]."),
    options.number("--messages-per-hour", "Messages that are pushed, on average [180].", most=1e6),
    options.option("--message-bytes", "Their sizes [200:2000].", metavar=_SIZES),
    options.number("--reports-per-hour", "Reports that an mqtt client sends, on average [60].", most=1e6),
    options.option("--report-bytes", "Their sizes [50:200].", metavar=_SIZES),
    options.flag("--bursty", "Messages come in bursts of 6 on average, not one by one."),
    options.SEED,
    options.option("--out", "JSON-lines file for the pages and messages [standard output].", options.OUTPUT),
    options.flag("--json as_json", "Print the totals as one JSON object (needs --out)."),
)
def generate(asked: options.Asked) -> None:
    """Make traffic: pages of the Web model, or what other programs do.

    web: pages with sizes, embedded objects and think times, those that lpsm compare draws for the same seed. mqtt:
    keep-alives, reports and pushed messages. push: messages alone. mixed: pages and messages. stream: the segments of a
    player, each with its deadline. chat to update, typeahead to ticker-and-web: programs that ask again and again and
    are told things unasked, with what their servers take. answers: questions, and answers told word by word.
    web-pareto to web-flaky: pages whose servers answer after Pareto times, become ten times as slow, have a cache, are
    three in turn, fast to slow, take a second for half, or ten seconds for one in fifty.
    """
    import traces
    from experiments.report.trace_summary import Found
    from lpsm.randomness import WORKLOAD, generator
    from traces.traffic import Wishes, make
    from traces.web_model import drawn

    if asked.as_json and asked.out is None:
        raise ValueError("--json needs --out FILE for the pages, got none")
    for name in {"pages", "web", *_TAKES["mqtt"]} - {*_TAKES.get(asked.kind, ())}:
        if getattr(asked, name):
            option = f"--{name.removesuffix('_s').replace('_', '-')}"
            raise ValueError(f"{option} must be left out for --kind {asked.kind}, which does not heed it")
    for name in ("message_bytes", "report_bytes"):
        if (text := getattr(asked, name)) is not None:
            setattr(asked, name, _sizes(f"--{name.replace('_', '-')}", text))
    if asked.kind == "web" and asked.hours is not None and asked.web != "1996":
        raise ValueError("--hours must be left out but for --web 1996: of other pages so many --pages are drawn")
    if asked.kind == "web" and asked.hours is None:
        asked.pages = asked.pages or 100
    wishes, rng, found = options.configured(Wishes, asked), generator(asked.seed, WORKLOAD), Found(traces.Report())
    if asked.kind == "web" and wishes.pages is not None:  # as many as anybody likes: written as they are drawn
        counted = found.written(drawn(wishes.pages, rng, asked.web or "2025"))
    else:
        made = make(asked.kind, wishes, rng)
        length = () if made.captured_s is None else (traces.Captured(made.captured_s),)
        counted = found.written(chain(made, made.messages, made.datagrams, length))
    if asked.out is None:
        for record in counted:
            click.echo(traces.workload_line(record), nl=False)
        return
    pages = traces.write_workload(asked.out, counted)
    if asked.as_json:
        click.echo(json.dumps({"pages": pages, "think_s": found.think_s} | found.as_dict()))


def _sizes(option: str, text: str) -> tuple[int, int]:
    """Read two sizes, or one that is both."""
    least, _, most = text.partition(":")
    try:
        return int(least), int(most or least)
    except ValueError:
        raise ValueError(f"{option} must be BYTES or {_SIZES}, got {text[:40]}") from None
