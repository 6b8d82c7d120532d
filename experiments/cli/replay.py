"""`lpsm replay`: LPSM's learner on the arrivals of a real trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from experiments.cli import options
from experiments.cli.outcome import Outcome

if TYPE_CHECKING:
    import traces
    from experiments.study.replay import ReplayConfig
    from experiments.study.store import Store

    Unit = tuple[str, list[traces.Request]]

__all__ = ["replay"]


@options.command(
    click.argument("trace", type=options.INPUT),
    options.out("replay"),
    options.MEMBER,
    options.choice(
        "--by", ["session", "user"], "Replay each session, or all sessions of a user one after the other."
    ),
    click.option("--show", metavar="NAME", help="The session or user whose pictures are drawn [most requests]."),
    click.option(
        "--times", default="100:1000:100", show_default=True, help="Polling times, ms: FIRST:LAST:STEP or a list."
    ),
    options.number("--gamma", most=1e6, default=1e-7, help="Price of a byte's waiting, per byte and ms."),
    options.choice("--energy", ["1/T", "1/log T"], "Energy in the loss."),
    options.number(
        "--rounding", "rounding_ms", kind=int, most=10**7, default=10, help="Sleeps are multiples of this, ms."
    ),
    options.number(
        "--horizon", kind=int, most=10**7, default=27_000, help="Polls that the switching rates are chosen for."
    ),
    options.number(
        "--max-idle", "max_idle_s", most=1e9, default=1000.0, help="Longer pauses are shortened to this, s."
    ),
    options.SKIP_DAMAGED,
    options.json_option(),
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
    from experiments.study.replay import ReplayConfig, details
    from experiments.study.store import Store

    config = options.configured(ReplayConfig, asked, times_ms=_times(asked.times))
    read = traces.Report()
    units = _units(asked, read)
    if (first := next(units, None)) is None:
        where = f" under {asked.member}" if asked.member else ""
        raise ValueError(f"{asked.trace}: there is no request in it{where}")
    settings = {
        "trace_sha256": content_digest(asked.trace),
        **{name: getattr(asked, name) for name in ("member", "by", "show", "skip_damaged")}, **asdict(config),
    }  # fmt: skip
    store = Store(asked.out, "replay", settings)
    with store.giving_up():
        try:
            rows, (shown, requests) = _replay_all(store, chain([first], units), config, asked.show)
        except traces.TraceError as error:  # of arrivals, which know no file
            raise traces.TraceError(read.path or asked.trace, error.where, error.rule, error.value) from None
        found, summary = details(requests, config), pd.DataFrame(rows)
        pictures = {
            "losses": figures.losses(found.polls),
            "weights": figures.weights(found.polls),
            "competition": figures.competition(found.regrets, found.partitions),
            "alphas": figures.alphas(found.alphas, found.posterior),
        }
        outcome = Outcome(
            name="replay", text=f"{replay_text(rows, shown, len(found.polls), found.bounds)}\n\n{read}",
            data={**settings, "replays": plain(summary), "shown": shown, "bounds": plain(found.bounds)},
            tables={"summary": summary}, pictures=pictures,
        )  # fmt: skip
        outcome.publish(store)
    outcome.say(asked)


def _times(text: str) -> tuple[float, ...]:
    try:
        if ":" in text:
            first, last, step = (int(part) for part in text.split(":"))
            return tuple(float(time) for time in range(first, last + 1, step))
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"times must be FIRST:LAST:STEP or numbers with commas between them, got {text!r}") from None


def _units(asked: Any, report: traces.Report) -> Iterator[Unit]:
    """Yield name and requests; by user the chosen sessions are held in memory, by session only one is."""
    import traces

    sessions = traces.sessions(asked.trace, member=asked.member, skip_damaged=asked.skip_damaged, report=report)
    if asked.by == "session":
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
    from experiments.study.replay import rounds, totals
    from experiments.study.run import progress

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
