"""`lpsm replay`: LPSM's learner on the arrivals of a real trace."""

from dataclasses import asdict
from functools import partial
from itertools import chain
from typing import Any

import click

from experiments.cli import options
from experiments.cli.studies import ended, folder
from experiments.quantities import Row


@options.command(
    click.argument("trace", type=options.INPUT),
    options.out("replay"),
    options.MEMBER,
    options.option("--show", "The session whose pictures are drawn [most requests].", metavar="NAME"),
    options.option("--times", "Polling times, ms: FIRST:LAST:STEP, or a list", default="100:1000:100"),
    options.number("--gamma", "Price of a byte's waiting, per byte and ms.", 1e-7, most=1e6),
    options.choice("--energy", ["1/T", "1/log T"], "Energy in the loss."),
    options.whole("--rounding rounding_ms", "Sleeps are multiples of this, ms.", 10, most=10**7),
    options.SKIP_DAMAGED,
    options.JSON,
)  # fmt: skip
def replay(asked: options.Asked) -> None:
    """Replay the arrivals of TRACE under LPSM's learner, and hold its losses against hindsight.

    Writes a row for every session, and for one of them pictures of the losses and weights of all experts,
    the competitive analysis, the switching rate and the bounds.
    """
    import pandas as pd

    import traces
    from experiments.figures import replay as figures
    from experiments.report.learning import replay_text
    from experiments.report.text import plain
    from experiments.study.files import content_digest
    from experiments.study.progress import progress
    from experiments.study.replay import ReplayConfig, details, rounds, totals
    from netsim import policies

    polling: Any = policies.make(f"lpsm:times={asked.times.replace(',', '/')}")
    config = options.configured(ReplayConfig, asked, times_ms=polling.learner.config.times_ms)
    read, show = traces.Report(), asked.show
    which = {"member": asked.member, "skip_damaged": asked.skip_damaged}
    sessions = traces.sessions(asked.trace, report=read, **which)
    if (first := next(sessions, None)) is None:  # what is wrong with the trace is known before anything is written
        raise ValueError(f"{asked.trace}: there is no request in it{f' under {asked.member}' if asked.member else ''}")
    settings = {"trace_sha256": content_digest(asked.trace), **which, "show": show, **asdict(config)}
    rows: list[Row] = []
    shown, requests = "", list[traces.Request]()
    with folder("replay", asked, settings, {...: (int, float)}) as store:
        try:
            with progress("replays", None) as advance:
                for number, session in enumerate(chain([first], sessions)):
                    key, own = f"{number} {session.name}", list(session.requests)
                    if key not in store.finished:
                        store.keep(key, totals(rounds(own, config), config))
                    if store.finished[key]:  # otherwise no byte arrived
                        rows.append({"replay": session.name, "requests": len(own), **store.finished[key]})
                        if session.name == show or (show is None and len(own) > len(requests)):
                            shown, requests = session.name, own
                    advance()
        except traces.TraceError as error:  # of arrivals, which know no file
            raise traces.TraceError(read.path or asked.trace, error.where, error.rule, error.value) from None
        if not requests:
            rule = f"show must name a replay in which bytes arrive, got {show}" if show else "no byte arrives"
            raise ValueError(rule)
        whole, summary = details(requests, config), pd.DataFrame(rows)
        drawings = {
            "losses": partial(figures.losses, whole.polls), "weights": partial(figures.weights, whole.polls),
            "competition": partial(figures.competition, whole.regrets, whole.partitions),
            "alphas": partial(figures.alphas, whole.alphas, whole.posterior),
        }  # fmt: skip
        text = f"{replay_text(rows, shown, len(whole.polls), whole.bounds)}\n\n{read}"
        data = {"replays": plain(summary), "shown": shown, "bounds": plain(whole.bounds)}
        ended(store, asked, "replay", text, data, {"summary": summary}, drawings)
