"""Figures 2-9 to 2-11 of Monteleoni 2006: the learner's losses and weights on real arrivals.

What it models: section 2.5.4, "Trace-based evaluation framework": 10 experts, 100 to 1000 ms,
gamma = 1e-7, losses at LPSM's own polls.  The thesis' traces (UC Berkeley Home IP, 1996) are replaced by
sessions of Boston University's client traces, or by generated browsing where
those are not at hand.  Both losses are reported: the mixture loss (2.8), whose regret in a
round is never negative, and the polling loss (2.34) at the time slept, which the thesis plots.
What it leaves out: the polls after the first 20,000.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import traces
from experiments.figures.replay import competition, losses, weights
from experiments.papers.registry import Claim, Experiment, Record, Rows, Setup, Verdict
from experiments.study.replay import ReplayConfig, details
from lpsm.bounds.experts import learn_alpha_asymptotic_regret
from lpsm.randomness import generator

__all__ = ["EXPERIMENTS"]

SESSIONS = ("con4.cs18.785551445", "con6.cs17.786230791", "con396.huey.792945489")  # of the sample, longest first
EARLY = 200  # polls of "the early iterations"
LINE_BYTES_PER_S = 28_800 // 8  # the thesis' users dialled in


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    polls = setup.pick(1500, 20_000)
    if setup.stand_in:
        return {
            f"seed {seed}": {"pages": setup.pick(30, 300), "seed": seed, "polls": polls}
            for seed in range(setup.seed, setup.seed + setup.pick(1, 3))
        }
    return {name: {"session": name, "polls": polls, "folder": str(setup.data)} for name in SESSIONS[: setup.pick(1, 3)]}


def replay(task: dict[str, Any]) -> Rows:
    """Replay one session; polls, cumulative losses, and least losses of k segments."""
    if "session" in task:
        path = Path(task["folder"]) / "bu-www-client" / "sample" / task["session"]
        requests = [request for session in traces.sessions(path) for request in session.requests]
    else:
        requests = _generated(task["pages"], task["seed"])
    found = details(requests, ReplayConfig(), max_polls=task["polls"])
    return {
        "polls": found.polls.to_dict("records"),  # type: ignore[dict-item]
        "regrets": found.regrets.to_dict("records"),  # type: ignore[dict-item]
        "partitions": found.partitions.to_dict("records"),  # type: ignore[dict-item]
    }


def _generated(n_pages: int, seed: int) -> list[traces.Request]:
    """Browsing drawn from the Web model, over a dial-up line: what an object takes, and then the pause for thought."""
    now_us = 0
    requests = []
    for page in traces.generate(n_pages, generator(seed, 0)):
        for sent, reply in ((page.request_bytes, page.reply_bytes), *page.objects):
            taken_us = 100_000 + reply * 1_000_000 // LINE_BYTES_PER_S
            requests.append(
                traces.Request(
                    client="generated", server="", start_us=now_us, end_us=now_us + taken_us, request_bytes=sent,
                    reply_bytes=reply,
                )
            )  # fmt: skip
            now_us += taken_us
        now_us += round(page.think_s * 1e6)
    return requests


# -- what a record says ----------------------------------------------------------------------------------


def _each(record: Record, table: str) -> list[tuple[str, pd.DataFrame]]:
    return [(str(task), rows.reset_index(drop=True)) for task, rows in record[table].groupby("task", sort=False)]


def _columns(rows: pd.DataFrame, what: str) -> Any:
    return rows[[name for name in rows.columns if name.startswith(what)]].to_numpy(dtype=float)


def _close_to_current(record: Record) -> Verdict:
    found, where = [], []
    for _, rows in _each(record, "polls"):
        best = _columns(rows, "loss_").min(axis=1)
        extra = rows["polling_loss"].to_numpy() - best
        full = (rows["buffered_bytes"] > 0).to_numpy()
        found.append(float(rows["polling_loss"].sum() / best.sum()))
        share = 100 * float(extra[full].sum() / extra.sum())
        slept, right = rows.loc[full, "slept_ms"].mean(), rows.loc[full, "best_expert_ms"].mean()
        where.append(f"{share:.0f} % (slept {slept:.0f} ms on the mean, {right:.0f} ms would have been best)")
    why = "of what is lost beyond it, so much is lost at polls that find bytes: " + ", ".join(where)
    return Verdict(f"{', '.join(f'{ratio:.2f}' for ratio in found)} times its loss", max(found) <= 2.0, why)


def _identity_changes(record: Record) -> Verdict:
    counts = [int((rows["best_expert_ms"].diff().fillna(0) != 0).sum()) for _, rows in _each(record, "polls")]
    return Verdict(f"{', '.join(map(str, counts))} changes", min(counts) >= 1)


def _starts_at_mean(record: Record) -> Verdict:
    first = [float(rows["slept_ms"].iloc[0]) for _, rows in _each(record, "polls")]
    return Verdict(f"first sleep {first[0]:g} ms", all(abs(value - 550.0) <= 50.0 for value in first))


def _beats_worse_half(record: Record) -> Verdict:
    found = []
    for _, rows in _each(record, "polls"):
        early = rows.head(EARLY)
        sums = np.sort(_columns(early, "loss_").sum(axis=0))
        found.append((float(early["polling_loss"].sum()), float(sums[len(sums) // 2])))
    words = ", ".join(f"{own:.3f} against {half:.3f}" for own, half in found)
    return Verdict(words, all(own <= half for own, half in found), words)


def _regains(record: Record) -> Verdict:
    found = []
    for _, rows in _each(record, "polls"):
        held = _columns(rows, "weight_")
        least, most = held.argmin(axis=1), held.argmax(axis=1)
        regained = sum(
            bool((most[np.flatnonzero(least == expert)[0] :] == expert).any())
            for expert in range(held.shape[1])
            if (least == expert).any()
        )
        found.append((regained, float(held.min())))
    words = ", ".join(f"{count} experts (least weight {least:.1e})" for count, least in found)
    return Verdict(words, max(count for count, _ in found) >= 1 and min(least for _, least in found) > 0)


def _favourite_changes(record: Record) -> Verdict:
    found = [
        int(np.count_nonzero(np.diff(_columns(rows, "weight_").argmax(axis=1)))) for _, rows in _each(record, "polls")
    ]
    return Verdict(f"{', '.join(map(str, found))} changes", min(found) >= 1)


def _ends(record: Record) -> list[dict[str, float]]:
    names = ("mixture_loss", "polling_loss", "best_expert_loss", "best_per_poll_loss")
    return [
        {"polls": float(len(rows)), **{name: float(rows[name].iloc[-1]) for name in names}}
        for _, rows in _each(record, "regrets")
    ]


def _beats_best_fixed(loss: str) -> Any:
    def check(record: Record) -> Verdict:
        ends = _ends(record)
        words = ", ".join(f"{end[loss]:.2f} against {end['best_expert_loss']:.2f}" for end in ends)
        held = [end[loss] < end["best_expert_loss"] for end in ends]
        prices = [np.log(10) + learn_alpha_asymptotic_regret(int(end["polls"])) for end in ends]
        price = ", ".join(f"{value:.1f}" for value, fine in zip(prices, held, strict=True) if not fine)
        return Verdict(
            words, all(held),
            f"below in {sum(held)} of {len(held)} sessions; for the others, learning the expert and the switching rate "
            f"may cost ln 10 + (1/2) ln T + 0.95 = {price} nats",
        )  # fmt: skip

    return check


def _not_beaten_by_sequence(record: Record) -> Verdict:
    ends = _ends(record)
    words = ", ".join(f"{end['polling_loss']:.2f} against {end['best_per_poll_loss']:.2f}" for end in ends)
    return Verdict(words, all(end["polling_loss"] >= end["best_per_poll_loss"] for end in ends))


def _negligible_regret(record: Record) -> Verdict:
    relative = [100 * (end["mixture_loss"] / end["best_expert_loss"] - 1) for end in _ends(record)]
    per_poll = [(end["mixture_loss"] - end["best_expert_loss"]) / end["polls"] for end in _ends(record)]
    words = "; ".join(
        f"{share:+.1f} % ({rate:+.1e} nats a poll)" for share, rate in zip(relative, per_poll, strict=True)
    )
    least = min(end["best_expert_loss"] for end in _ends(record))
    return Verdict(
        words, max(relative) <= 5.0, f"what learning may cost, about 8 nats, is not small against {least:.0f} nats",
    )  # fmt: skip


def _never_negative(record: Record) -> Verdict:
    least = min(
        float((rows["mixture_loss"].to_numpy() - _columns(rows, "loss_").min(axis=1)).min())
        for _, rows in _each(record, "polls")
    )
    return Verdict(f"least {least:.1e} nats", least >= -1e-12)


def _negative_shares(record: Record, best_of_each_poll: bool) -> list[float]:
    shares = []
    for _, rows in _each(record, "polls"):
        expert = _columns(rows, "loss_")
        best = expert.min(axis=1) if best_of_each_poll else expert[:, expert.sum(axis=0).argmin()]
        shares.append(float((rows["polling_loss"].to_numpy() < best - 1e-12).mean()))
    return shares


def _sometimes_negative(best_of_each_poll: bool) -> Any:
    def check(record: Record) -> Verdict:
        shares = _negative_shares(record, best_of_each_poll)
        return Verdict(
            f"in {', '.join(f'{100 * share:.1f}' for share in shares)} % of polls", max(shares) > 0,
            "sleeps are rounded to 100 ms, and an expert sits at every multiple: at such a sleep the algorithm pays "
            "exactly what one of them does",
        )  # fmt: skip

    return check


def _longest(record: Record, table: str) -> pd.DataFrame:
    rows = record[table]
    first: pd.DataFrame = rows[rows["task"] == rows["task"].iloc[0]]
    return first.reset_index(drop=True).drop(columns="task")


def _experiment(place: str, claim: str, claims: tuple[Claim, ...], draw: Any) -> Experiment:
    return Experiment(
        name=f"thesis/{place}", claim=claim, time="1 min", sweep=_sweep, run=replay, claims=claims,
        figures=draw, data="bu-www-client", traffic=True, stand_in="generated browsing over a dial-up line",
        published="Boston University Web client traces 1994-1995, Internet Traffic Archive",
    )  # fmt: skip


def _draw(place: str, draw: Any, *tables: str) -> Any:
    def figures(record: Record) -> Mapping[str, Figure]:
        return {place: draw(*(_longest(record, table) for table in tables))}

    return figures


EXPERIMENTS = (
    _experiment(
        "fig-2-9", "loss of each expert and of the algorithm on real arrivals",
        (
            Claim(
                statement="the algorithm's loss stays close to, or below, that of the best current expert",
                printed="close to or better", check=_close_to_current,
                tolerance="sum over the polls at most twice that of the best expert of every poll; every session",
            ),
            Claim(
                statement="the identity of the best current expert changes", printed="changes", check=_identity_changes,
                tolerance="at least once in every session",
            ),
            Claim(
                statement="the first polling time is the mean of the experts' times", printed="the mean",
                check=_starts_at_mean, tolerance="550 ms, rounded to a multiple of 100 ms",
            ),
            Claim(
                statement="even early on the algorithm beats the worse half of the experts",
                printed="beats the worse half", check=_beats_worse_half,
                tolerance=f"loss of the first {EARLY} polls, against the best of the worse half; every session",
            ),
        ),
        _draw("fig-2-9", losses, "polls"),
    ),
    _experiment(
        "fig-2-10", "weights of the experts on real arrivals",
        (
            Claim(
                statement="which expert has the highest weight changes with the arrivals", printed="shifts",
                check=_favourite_changes, tolerance="at least once in every session",
            ),
            Claim(
                statement="an expert that was the worst can become the best again, its weight never having gone to 0",
                printed="regains", check=_regains, tolerance="an expert of one session; weights above 0 in all",
            ),
        ),
        _draw("fig-2-10", weights, "polls"),
    ),
    _experiment(
        "fig-2-11", "the algorithm against the best fixed expert, and the best of every poll",
        (
            Claim(
                statement="the algorithm eventually loses less than the best fixed expert (polling loss, as plotted)",
                printed="better", check=_beats_best_fixed("polling_loss"), tolerance="at the end of every session",
            ),
            Claim(
                statement="the same of the mixture loss, of which the bounds speak",
                check=_beats_best_fixed("mixture_loss"),
                tolerance="at the end of every session; ours",
            ),
            Claim(
                statement="it does not beat the sequence of the best experts of every poll", printed="does not beat",
                check=_not_beaten_by_sequence, tolerance="at the end of every session",
            ),
            Claim(
                statement="regret against the best fixed expert is negligible", printed="negligible",
                check=_negligible_regret, tolerance="mixture loss at most 5 % above, every session",
            ),
            Claim(
                statement="the instantaneous regret against the best fixed expert is sometimes negative (polling loss)",
                printed="sometimes negative", check=_sometimes_negative(False), tolerance="in some poll",
            ),
            Claim(
                statement="the same against the current best expert",
                printed="sometimes negative", check=_sometimes_negative(True), tolerance="in some poll",
            ),
            Claim(
                statement="the instantaneous regret of the mixture loss is never negative, being impossible",
                check=_never_negative, tolerance="1e-12 nats of rounding; ours, an erratum",
            ),
        ),
        _draw("fig-2-11", competition, "regrets", "partitions"),
    ),
)  # fmt: skip
