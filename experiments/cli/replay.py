"""`lpsm replay`: LPSM's learner on the arrivals of a real trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click
import pandas as pd

import traces
from experiments.cli.options import (
    INPUT,
    json_option,
    member_option,
    number_option,
    out_option,
    skip_damaged_option,
)
from experiments.cli.outcome import Outcome
from experiments.report.learning import replay_text
from experiments.report.text import plain
from experiments.study.files import content_digest
from experiments.study.replay import ReplayConfig, details, rounds, totals
from experiments.study.run import progress
from experiments.study.store import Store

__all__ = ["replay"]

Unit = tuple[str, list[traces.Request]]


@click.command()
@click.argument("trace", type=INPUT)
@out_option("replay")
@member_option
@click.option(
    "--by", type=click.Choice(["session", "user"]), default="session", show_default=True,
    help="Replay each session, or all sessions of a user one after the other.",
)  # fmt: skip
@click.option("--show", metavar="NAME", help="The session or user whose pictures are drawn [most requests].")
@click.option(
    "--times", default="100:1000:100", show_default=True, help="Polling times, ms: FIRST:LAST:STEP or a list."
)
@number_option("--gamma", kind=float, most=1e6, default=1e-7, help="Price of a byte's waiting, per byte and ms.")
@click.option(
    "--energy", type=click.Choice(["1/T", "1/log T"]), default="1/T", show_default=True, help="Energy in the loss."
)
@number_option("--rounding", "rounding_ms", kind=int, most=10**7, default=10, help="Sleeps are multiples of this, ms.")
@number_option("--horizon", kind=int, most=10**7, default=27_000, help="Polls that the switching rates are chosen for.")
@number_option(
    "--max-idle", "max_idle_s", kind=float, most=1e9, default=1000.0, help="Longer pauses are shortened to this, s."
)
@skip_damaged_option
@json_option()
def replay(
    trace: Path,
    out: Path,
    member: str | None,
    by: str,
    show: str | None,
    times: str,
    skip_damaged: bool,
    as_json: bool,
    **parameters: Any,
) -> None:
    """Replay the arrivals of TRACE under LPSM's learner, and hold its losses against hindsight.

    Writes a row for every session (or user), and for one of them pictures of the losses and weights of
    all experts, the competitive analysis, the switching rate and the bounds.
    """
    parameters["times_ms"] = _times(times)
    config = ReplayConfig(**parameters)
    read = traces.Report()
    units = _units(trace, member, by, skip_damaged, read)
    first = next(units, None)
    if first is None:
        raise ValueError(f"{trace}: there is no request in it" + (f" under {member}" if member else ""))
    settings = {
        "trace_sha256": content_digest(trace), "member": member, "by": by, "show": show, "skip_damaged": skip_damaged,
        **parameters,
    }  # fmt: skip
    from experiments.figures import replay as figures

    store = Store(out, "replay", settings)
    with store.giving_up():
        try:
            rows, (shown, requests) = _replay_all(store, chain([first], units), config, show)
        except traces.TraceError as error:  # of arrivals, which know no file
            raise traces.TraceError(read.path or trace, error.where, error.rule, error.value) from None
        found, summary = details(requests, config), pd.DataFrame(rows)
        pictures = {
            "losses": figures.losses(found.polls),
            "weights": figures.weights(found.polls),
            "competition": figures.competition(found.regrets, found.partitions),
            "alphas": figures.alphas(found.alphas, found.posterior),
        }
        if len(summary) > 1:
            pictures["regret"] = figures.regret_distribution(summary)
        outcome = Outcome(
            name="replay",
            text=f"{replay_text(rows, shown, len(found.polls), found.bounds)}\n\n{read}",
            data={**settings, "replays": plain(summary), "shown": shown, "bounds": plain(found.bounds)},
            tables={"summary": summary},
            pictures=pictures,
        )
        outcome.publish(store)
    outcome.say(out, as_json=as_json)


def _times(text: str) -> tuple[float, ...]:
    try:
        if ":" in text:
            first, last, step = (int(part) for part in text.split(":"))
            return tuple(float(time) for time in range(first, last + 1, step))
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"times must be FIRST:LAST:STEP or numbers with commas between them, got {text!r}") from None


def _units(trace: Path, member: str | None, by: str, skip_damaged: bool, report: traces.Report) -> Iterator[Unit]:
    """Yield name and requests; by user the chosen sessions are held in memory, by session only one is."""
    sessions = traces.sessions(trace, member=member, skip_damaged=skip_damaged, report=report)
    if by == "session":
        for session in sessions:
            yield session.name, list(session.requests)
        return
    users: dict[str, list[traces.Request]] = {}
    for session in sessions:
        users.setdefault(session.user, []).extend(session.requests)
    for user, requests in users.items():
        yield user, sorted(requests, key=lambda request: request.start_us)


def _replay_all(
    store: Store, units: Iterable[Unit], config: ReplayConfig, show: str | None
) -> tuple[list[dict[str, Any]], Unit]:
    rows: list[dict[str, Any]] = []
    chosen: Unit | None = None
    with progress("replays", None) as advance:
        for number, (name, requests) in enumerate(units):
            key = f"{number} {name}"
            if key not in store.finished:
                store.keep(key, totals(rounds(requests, config), config))
            if store.finished[key]:  # otherwise no byte arrived
                rows.append({"replay": name, "requests": len(requests), **store.finished[key]})
                larger = chosen is None or len(requests) > len(chosen[1])
                if name == show if show is not None else larger:
                    chosen = (name, requests)
            advance()
    if chosen is None:
        raise ValueError(f"show must name a replay in which bytes arrive, got {show}" if show else "no byte arrives")
    return rows, chosen
