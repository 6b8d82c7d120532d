"""Figures 2-9 to 2-11 of Monteleoni 2006: the learner's losses and weights on real arrivals.

What it models: section 2.5.4, "Trace-based evaluation framework": 10 experts, 100 to 1000 ms,
gamma = 1e-7, losses at LPSM's own polls.  The thesis' traces (UC Berkeley Home IP, 1996) are taken where somebody has
them: their clients with most requests.  Otherwise sessions of Boston University's client traces stand in for them, or
generated browsing where those are not at hand either.  Both losses are reported: the mixture loss (2.8), whose regret
in a round is never negative, and the polling loss (2.34) at the time slept, which the thesis plots.
What it leaves out: the polls after the first 20,000.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from heapq import nlargest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import traces
from experiments.figures.replay import competition, losses, weights
from experiments.papers.claims import Beside, Claim, Measure, Record
from experiments.papers.predicates import at_least, at_most, beside, both, each
from experiments.papers.proved.tracking import learn_alpha_asymptotic_regret
from experiments.papers.registry import Better, Experiment, Rows, Setup
from experiments.study.replay import ReplayConfig, details
from lpsm import alpha_grid
from lpsm.bounds.experts import fixed_share_partition_loss
from lpsm.randomness import generator

__all__ = ["BROWSING", "EXPERIMENTS", "requests_of", "sessions"]

SESSIONS = ("con4.cs18.785551445", "con6.cs17.786230791", "con396.huey.792945489")  # of the sample, longest first
EARLY = 200  # polls of "the early iterations"
HOME_IP = Better("ucb-home-ip", "ucb-home-ip/UCB-home-IP-*.tr*")
LINE_BYTES_PER_S = 28_800 // 8  # the thesis' users dialled in


def sessions(setup: Setup) -> dict[str, dict[str, Any]]:
    """Return a task a recorded session, or a seed of generated browsing."""
    polls = setup.pick(1500, 20_000)
    if setup.stand_in:
        return {
            f"seed {seed}": {"pages": setup.pick(30, 300), "seed": seed, "polls": polls}
            for seed in range(setup.seed, setup.seed + setup.pick(1, 3))
        }
    source = {"polls": polls, "folder": str(setup.data)}
    if setup.better:
        return {f"Home IP client {place + 1}": {"busiest": place, **source} for place in range(setup.pick(1, 3))}
    return {name: {"session": name, **source} for name in SESSIONS[: setup.pick(1, 3)]}


def replay(task: dict[str, Any]) -> Rows:
    """Replay one session; polls, cumulative losses, and least losses of k segments."""
    found = details(requests_of(task), ReplayConfig(), max_polls=task["polls"])
    return {
        "polls": found.polls.to_dict("records"),  # type: ignore[dict-item]
        "regrets": found.regrets.to_dict("records"),  # type: ignore[dict-item]
        "partitions": found.partitions.to_dict("records"),  # type: ignore[dict-item]
    }


def requests_of(task: dict[str, Any]) -> list[traces.Request]:
    """Return the requests of a task's session, or those that are generated in its place."""
    if "busiest" in task:
        return _busiest(task["folder"])[task["busiest"]]
    if "session" not in task:
        return _generated(task["pages"], task["seed"])
    path = Path(task["folder"]) / "bu-www-client" / "sample" / task["session"]
    return [request for session in traces.sessions(path) for request in session.requests]


@lru_cache(maxsize=1)
def _busiest(folder: str) -> list[list[traces.Request]]:
    """Return the requests of the clients that have most of them in the first file of the Home IP traces."""
    first = min(Path(folder).glob(HOME_IP.shown_by))
    longest = nlargest(len(SESSIONS), traces.sessions(first, skip_damaged=True), key=lambda one: len(one.requests))
    return [list(session.requests) for session in longest]


def _generated(n_pages: int, seed: int) -> list[traces.Request]:
    """Browsing drawn from the Web model, over a dial-up line: what an object takes, and then the pause for thought."""
    now_us = 0
    requests = []
    for page in traces.generate(n_pages, generator(seed, 0)):
        for sent, reply in ((page.request_bytes, page.reply_bytes), *page.objects):
            taken_us = 100_000 + reply * 1_000_000 // LINE_BYTES_PER_S
            requests.append(traces.Request("generated", "", now_us, now_us + taken_us, sent, reply))
            now_us += taken_us
        now_us += round(page.think_s * 1e6)
    return requests


# -- what a record says ----------------------------------------------------------------------------------


def _by_session(table: str, number: Any) -> Measure:
    """A number (or several) of each session's rows, by its name."""

    def measure(record: Record) -> dict[str, Any]:
        groups = record[table].groupby("task", sort=False)
        return {f"{task}:": number(rows.reset_index(drop=True)) for task, rows in groups}

    return measure


def _columns(rows: pd.DataFrame, what: str) -> Any:
    return rows[[name for name in rows.columns if name.startswith(what)]].to_numpy(dtype=float)


def _over_current(rows: pd.DataFrame) -> Beside:
    """Polling loss over that of the best expert of every poll, and how often that one changes."""
    best = _columns(rows, "loss_").min(axis=1)
    changes = int((rows["best_expert_ms"].diff().fillna(0) != 0).sum())
    return Beside(rows["polling_loss"].sum() / best.sum(), f"times its loss ({changes} changes of it)")


def _at_full_polls(rows: pd.DataFrame) -> Beside:
    """Share of what is lost beyond the current best that is lost where a poll finds bytes, percent."""
    extra = rows["polling_loss"].to_numpy() - _columns(rows, "loss_").min(axis=1)
    full = (rows["buffered_bytes"] > 0).to_numpy()
    slept, right = rows.loc[full, "slept_ms"].mean(), rows.loc[full, "best_expert_ms"].mean()
    words = f"% lost at polls that find bytes ({slept:.0f} ms slept on the mean, {right:.0f} ms would have been best)"
    return Beside(100 * extra[full].sum() / extra.sum(), words)


def _over_worse_half(rows: pd.DataFrame) -> Beside:
    """Polling loss of the early polls over that of the best of the worse half of the experts."""
    early = rows.head(EARLY)
    sums = np.sort(_columns(early, "loss_").sum(axis=0))
    own, half = float(early["polling_loss"].sum()), float(sums[len(sums) // 2])
    return Beside(own / half, f"({own:.3f} over {half:.3f})")


def _regained(rows: pd.DataFrame) -> int:
    """How many experts have the largest weight after they had the least."""
    held = _columns(rows, "weight_")
    least, most = held.argmin(axis=1), held.argmax(axis=1)
    return sum(
        bool((most[np.flatnonzero(least == expert)[0] :] == expert).any())
        for expert in range(held.shape[1])
        if (least == expert).any()
    )


def _favourites(rows: pd.DataFrame) -> Beside:
    """Share of the polls in which the expert of largest weight is not the one that has it most often, percent."""
    favourite = _columns(rows, "weight_").argmax(axis=1)
    words = f"({np.count_nonzero(np.diff(favourite))} changes)"
    return Beside(100 * np.mean(favourite != np.bincount(favourite).argmax()), words)


def _end(rows: pd.DataFrame, own: str, other: str) -> tuple[float, float]:
    return float(rows[own].iloc[-1]), float(rows[other].iloc[-1])


def _less_fixed(loss: str) -> Any:
    """A loss less that of the best fixed expert at the end."""

    def number(rows: pd.DataFrame) -> Beside:
        own, best = _end(rows, loss, "best_expert_loss")
        price = np.log(10) + learn_alpha_asymptotic_regret(len(rows))
        return Beside(own - best, f"({own:.2f} against {best:.2f}; learning may cost {price:.1f} nats)")

    return number


def _regret_percent(rows: pd.DataFrame) -> Beside:
    own, best = _end(rows, "mixture_loss", "best_expert_loss")
    return Beside(100 * (own / best - 1), f"({(own - best) / len(rows):+.1e} nats a poll)")


def _tracking(record: Record) -> dict[str, Any]:
    """Mixture loss over what the bounds allow beyond the best k experts in turn, for k = 1, 2, 4, ..."""
    found = {}
    alphas = alpha_grid(horizon=ReplayConfig().horizon)
    for task, rows in record["regrets"].groupby("task", sort=False):
        curve = record["partitions"][record["partitions"]["task"] == task].set_index("k")["loss"]
        mixture, best = _end(rows, "mixture_loss", "best_per_poll_loss")
        ratios = []
        for k in (k for k in 2 ** np.arange(12) if k in curve.index):
            allowed = min(fixed_share_partition_loss(float(curve[k]), int(k), len(rows), 10, float(a)) for a in alphas)
            ratios.append(mixture / (allowed + np.log(len(alphas))))
        words = f"(k up to {curve.index.max()}; {mixture:.2f} against {best:.2f} of the best of every poll)"
        found[f"{task}:"] = Beside(ratios, words)
    return found


def _below_share(best_of_each_poll: bool) -> Any:
    """Share of the polls whose polling loss is below that of the best expert, fixed or current, percent."""

    def number(rows: pd.DataFrame) -> float:
        expert = _columns(rows, "loss_")
        best = expert.min(axis=1) if best_of_each_poll else expert[:, expert.sum(axis=0).argmin()]
        return 100 * float((rows["polling_loss"].to_numpy() < best - 1e-12).mean())

    return number


def _least_regret(rows: pd.DataFrame) -> float:
    return float((rows["mixture_loss"].to_numpy() - _columns(rows, "loss_").min(axis=1)).min())


def _longest(record: Record, table: str) -> pd.DataFrame:
    rows = record[table]
    first: pd.DataFrame = rows[rows["task"] == rows["task"].iloc[0]]
    return first.reset_index(drop=True).drop(columns="task")


BROWSING: dict[str, Any] = {
    "data": "bu-www-client",
    "better": HOME_IP,
    "traffic": True,
    "stand_in": "generated browsing over a dial-up line",
    "published": "Boston University Web client traces 1994-1995, Internet Traffic Archive",
}


def _experiment(place: str, claim: str, claims: tuple[Claim, ...], draw: Any) -> Experiment:
    return Experiment(
        name=f"thesis/{place}",
        claim=claim,
        time="1 min",
        sweep=sessions,
        run=replay,
        claims=claims,
        figures=draw,
        **BROWSING,
    )


def _draw(place: str, draw: Any, *tables: str) -> Any:
    def figures(record: Record) -> Mapping[str, Figure]:
        return {place: draw(*(_longest(record, table) for table in tables))}

    return figures


EXPERIMENTS = (
    _experiment(
        "fig-2-9",
        "loss of each expert and of the algorithm on real arrivals",
        (
            Claim(
                "the algorithm's loss stays close to, or below, that of the best current expert",
                at_most(_by_session("polls", _over_current), 2.0),
                "close to or better",
                "sum over the polls, every session; the identity of that expert changes, as printed",
                why=beside("of what is lost beyond it,", _by_session("polls", _at_full_polls)),
            ),
            Claim(
                "the first polling time is the mean of the experts' times",
                each(_by_session("polls", lambda rows: rows["slept_ms"].iloc[0]), 545.0, 555.0, unit=" ms"),
                "the mean",
                "550 ms, to the bin",
            ),
            Claim(
                "even early on the algorithm beats the worse half of the experts",
                at_most(_by_session("polls", _over_worse_half), 1.0),
                "beats the worse half",
                f"loss of the first {EARLY} polls, over that of the best of the worse half; every session",
            ),
        ),
        _draw("fig-2-9", losses, "polls"),
    ),
    _experiment(
        "fig-2-10",
        "weights of the experts on real arrivals",
        (
            Claim(
                "which expert has the highest weight changes with the arrivals",
                at_least(_by_session("polls", _favourites), 5.0, unit=" %"),
                "shifts",
                "share of the polls in which it is not the one that it mostly is; every session",
            ),
            Claim(
                "an expert that was the worst can become the best again, its weight never having gone to 0",
                both(
                    at_least(_by_session("polls", _regained), 1, needed=1, unit=" experts"),
                    at_least(_by_session("polls", lambda rows: _columns(rows, "weight_").min()), 0.0, open=True),
                ),
                "regains",
                "an expert of one session; least weights of all",
            ),
        ),
        _draw("fig-2-10", weights, "polls"),
    ),
    _experiment(
        "fig-2-11",
        "the algorithm against the best fixed expert, and the best of every poll",
        (
            Claim(
                "the algorithm eventually loses less than the best fixed expert (polling loss, as plotted)",
                at_most(_by_session("regrets", _less_fixed("polling_loss")), 0.0, open=True, unit=" nats"),
                "better",
                "at the end of every session",
            ),
            Claim(
                "the same of the mixture loss, of which the bounds speak",
                at_most(_by_session("regrets", _less_fixed("mixture_loss")), 0.0, open=True, unit=" nats"),
                reason="at the end of every session; ours",
            ),
            Claim(
                "it tracks the best sequences of experts, within the bounds",
                each(_tracking, high=1.0),
                "does not beat, but tracks, as per the bounds",
                "mixture loss over the loss of the best k experts in turn and what the bounds add; every session and k",
            ),
            Claim(
                "regret against the best fixed expert is negligible",
                at_most(_by_session("regrets", _regret_percent), 5.0, unit=" %"),
                "negligible",
                "mixture loss above its loss, every session",
            ),
            *(
                Claim(
                    statement,
                    at_least(_by_session("polls", _below_share(current)), 0.0, open=True, needed=1, unit=" % of polls"),
                    "sometimes negative",
                    "in some poll of a session",
                )
                for current, statement in (
                    (
                        False,
                        "the instantaneous regret against the best fixed expert is sometimes negative (polling loss)",
                    ),
                    (True, "the same against the current best expert"),
                )
            ),
            Claim(
                "the instantaneous regret of the mixture loss is never negative, being impossible",
                at_least(_by_session("polls", _least_regret), -1e-12, unit=" nats"),
                reason="least of each session, to rounding; ours, an erratum",
            ),
        ),
        _draw("fig-2-11", competition, "regrets", "partitions"),
    ),
)
