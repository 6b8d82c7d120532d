"""`lpsm replay`: LPSM's learner on the arrivals of a real trace."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from experiments.cli import options
from experiments.cli.studies import ended, folder

if TYPE_CHECKING:
    import traces

__all__ = ["replay"]


@options.command(
    click.argument("trace", type=options.INPUT),
    options.out("replay"),
    options.MEMBER,
    options.choice(
        "--by", ["session", "user"], "Replay each session, or all sessions of a user one after the other."
    ),
    options.option("--show", "The session or user whose pictures are drawn [most requests].", metavar="NAME"),
    options.option("--times", "Polling times, ms: FIRST:LAST:STEP or a list.", default="100:1000:100"),
    options.number("--gamma", "Price of a byte's waiting, per byte and ms.", 1e-7, most=1e6),
    options.choice("--energy", ["1/T", "1/log T"], "Energy in the loss."),
    options.whole("--rounding rounding_ms", "Sleeps are multiples of this, ms.", 10, most=10**7),
    options.whole("--horizon", "Polls that the switching rates are chosen for.", 27_000, most=10**7),
    options.number("--max-idle max_idle_s", "Longer pauses are shortened to this, s.", 1000.0, above=True),
    options.SKIP_DAMAGED,
    options.JSON,
)  # fmt: skip
def replay(asked: Any) -> None:
    """Replay the arrivals of TRACE under LPSM's learner, and hold its losses against hindsight.

    Writes a row for every session (or user), and for one of them pictures of the losses and weights of
    all experts, the competitive analysis, the switching rate and the bounds.
    """
    import pandas as pd

    import traces
    from experiments.figures import replay as figures
    from experiments.report.learning import replay_text
    from experiments.report.text import plain
    from experiments.study.files import content_digest
    from experiments.study.progress import progress
    from experiments.study.replay import ReplayConfig, details, rounds, totals

    config = options.configured(ReplayConfig, asked, times_ms=_times(asked.times))
    read, show = traces.Report(), asked.show
    units = _units(asked, read)
    if (first := next(units, None)) is None:  # what is wrong with the trace is known before anything is written
        raise ValueError(f"{asked.trace}: there is no request in it{f' under {asked.member}' if asked.member else ''}")
    chosen = {name: getattr(asked, name) for name in ("member", "by", "show", "skip_damaged")}
    settings = {"trace_sha256": content_digest(asked.trace), **chosen, **asdict(config)}
    rows: list[dict[str, Any]] = []
    shown, requests = "", list[traces.Request]()
    with folder("replay", asked, settings) as store:
        try:
            with progress("replays", None) as advance:
                for number, (name, own) in enumerate(chain([first], units)):
                    key = f"{number} {name}"
                    if key not in store.finished:
                        store.keep(key, totals(rounds(own, config), config))
                    if store.finished[key]:  # otherwise no byte arrived
                        rows.append({"replay": name, "requests": len(own), **store.finished[key]})
                        if name == show or (show is None and len(own) > len(requests)):
                            shown, requests = name, own
                    advance()
        except traces.TraceError as error:  # of arrivals, which know no file
            raise traces.TraceError(read.path or asked.trace, error.where, error.rule, error.value) from None
        if not requests:
            rule = f"show must name a replay in which bytes arrive, got {show}" if show else "no byte arrives"
            raise ValueError(rule)
        found, summary = details(requests, config), pd.DataFrame(rows)
        pictures = {
            "losses": figures.losses(found.polls),
            "weights": figures.weights(found.polls),
            "competition": figures.competition(found.regrets, found.partitions),
            "alphas": figures.alphas(found.alphas, found.posterior),
        }
        text = f"{replay_text(rows, shown, len(found.polls), found.bounds)}\n\n{read}"
        data = {"replays": plain(summary), "shown": shown, "bounds": plain(found.bounds)}
        ended(store, asked, "replay", text, data, {"summary": summary}, pictures)


def _times(text: str) -> tuple[float, ...]:
    try:
        if ":" in text:
            first, last, step = map(int, text.split(":"))
            return tuple(map(float, range(first, last + 1, step)))
        return tuple(map(float, text.split(",")))
    except ValueError:
        raise ValueError(f"times must be FIRST:LAST:STEP or numbers with commas between them, got {text!r}") from None


def _units(asked: Any, report: traces.Report) -> Iterator[tuple[str, list[traces.Request]]]:
    """Yield name and requests; by user the chosen sessions are held in memory, by session only one is."""
    import traces

    users: dict[str, list[traces.Request]] = {}
    for session in traces.sessions(asked.trace, member=asked.member, skip_damaged=asked.skip_damaged, report=report):
        if asked.by == "session":
            yield session.name, list(session.requests)
        else:
            users.setdefault(session.user, []).extend(session.requests)
    for user, requests in users.items():
        yield user, sorted(requests, key=lambda request: request.start_us)
