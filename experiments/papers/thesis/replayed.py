"""Figures 2-9 to 2-11 of Monteleoni 2006: the learner's losses and weights on real arrivals; and section 2.5.5.

What it models: section 2.5.4, "Trace-based evaluation framework": 10 experts, 100 to 1000 ms, gamma = 1e-7, losses at
LPSM's own polls.  The thesis' traces (UC Berkeley Home IP, 1996) are taken where somebody has them: their clients with
most requests.  Otherwise sessions of Boston University's client traces stand in for them, or generated browsing where
those are not at hand either.  Both losses are reported: the mixture loss (2.8), whose regret in a round is never
negative, and the polling loss (2.34) at the time slept, which the thesis plots.  Section 2.5.5 holds the number m of
switching rates constant, and says that n polling times may be few: the 20 sessions of Boston University with most
requests (the three, where the whole archive is not at hand) are replayed with grids of fewer and fewer rates, made for
shorter and shorter horizons (the thesis' own grid has 259 for 27,000 polls), and with n times over the same range.
What it leaves out: the polls after the first 20,000, and the time that fewer rates save.
"""

from __future__ import annotations

from functools import lru_cache, partial
from heapq import nlargest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

import traces
from experiments.figures.replay import competition, losses, weights
from experiments.papers.claims import Claim, Frame, Measure, Noted, Samples, point
from experiments.papers.kit import Better, DataSet, Experiment, Rows, Setup
from experiments.papers.predicates import at_least, at_most, each, explained_by
from experiments.papers.proved import learn_alpha_asymptotic_regret
from experiments.study.replay import ReplayConfig, details, rounds, totals
from lpsm import alpha_grid
from lpsm.bounds.experts import fixed_share_partition_loss
from lpsm.randomness import generator

__all__ = ["EXPERIMENTS", "requests_of", "sessions"]

SESSIONS = ("con4.cs18.785551445", "con6.cs17.786230791", "con396.huey.792945489")  # of the sample, longest first
EARLY = 200  # polls of "the early iterations"
HOME_IP = Better("ucb-home-ip", "ucb-home-ip/UCB-home-IP-*.tr*")
BROWSING = DataSet(
    "bu-www-client",
    "Boston University Web client traces 1994-1995, Internet Traffic Archive",
    "generated browsing over a dial-up line",
    HOME_IP,
    unasked=True,
)
LINE_BYTES_PER_S = 28_800 // 8  # the thesis' users dialled in
HORIZONS = (27_000, 3000, 300, 30, 3)  # polls for which the grid of switching rates is made
COUNTS = (3, 4, 7, 10, 19, 46)  # polling times, evenly from 100 to 1000 ms
SMALL_N = 10  # what the thesis takes
MANY = 20  # sessions
ARCHIVE = "bu-www-client/condensed.tar.xz"
LOSSES = {"polling_loss": "polling loss, as plotted", "mixture_loss": "mixture loss, of which the bounds speak"}


def sessions(setup: Setup, *, many: bool = False) -> dict[str, dict[str, Any]]:
    """Return a task a recorded session (as many as the whole archive is to give), or a seed of generated browsing."""
    count, polls = setup.pick(1, MANY if many else 3), setup.pick(1500, 20_000)
    if setup.stand_in or setup.data is None:
        pages, seeds = setup.pick(30, 300), range(setup.seed, setup.seed + min(count, 3))
        return {f"seed {seed}": {"pages": pages, "seed": seed, "polls": polls} for seed in seeds}
    source = {"polls": polls, "folder": str(setup.data)}
    whole = setup.better or (count == MANY and (setup.data / ARCHIVE).is_file())
    if not whole:
        return {name: {"session": name, **source} for name in SESSIONS[:count]}
    name, files = ("Home IP client", HOME_IP.shown_by) if setup.better else ("session", ARCHIVE)
    return {f"{name} {place + 1}": {"busiest": place, "files": files, **source} for place in range(count)}


def requests_of(task: dict[str, Any]) -> list[traces.Request]:
    """Return the requests of a task's session, or those that are generated in its place."""
    if "busiest" in task:
        return _busiest(task["folder"], task["files"])[task["busiest"]]
    if "session" not in task:
        return _generated(task["pages"], task["seed"])
    path = Path(task["folder"]) / "bu-www-client" / "sample" / task["session"]
    return [request for session in traces.sessions(path) for request in session.requests]


@lru_cache(maxsize=1)
def _busiest(folder: str, files: str) -> list[list[traces.Request]]:
    """Return the requests of the sessions (or clients) that have most of them, in the first file of a pattern."""
    first = min(Path(folder).glob(files))
    longest = nlargest(MANY, traces.sessions(first, skip_damaged=True), key=lambda one: len(one.requests))
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


FIG_2_9 = Experiment("thesis/fig-2-9", "loss of each expert and of the algorithm on real arrivals", "1 min", BROWSING)
CONSTANT_M = Experiment(
    "thesis/constant-m", "Learn-alpha with fewer switching rates than its bound asks for", "1 min", BROWSING
)


@FIG_2_9.runs(sessions)
def replay(**task: Any) -> Rows:
    """Replay one session; polls, cumulative losses, and least losses of k segments."""
    replayed = details(requests_of(task), ReplayConfig(), max_polls=task["polls"])
    return {name: getattr(replayed, name) for name in ("polls", "regrets", "partitions")}


@CONSTANT_M.runs(lambda setup: {
    f"{name} horizon {horizon} n {n}": {**task, "session_name": name, "horizon": horizon, "n": n}
    for name, task in sessions(setup, many=True).items()
    for horizon, n in (
        *((horizon, SMALL_N) for horizon in setup.pick((300, 30), HORIZONS)),
        *((setup.pick(300, HORIZONS[0]), n) for n in COUNTS if n != SMALL_N),
    )
})  # fmt: skip
def with_fewer(session_name: str, horizon: int, n: int, **task: Any) -> Rows:
    """Replay one session with one grid of rates and one of polling times: its losses at the end."""
    config = ReplayConfig(horizon=horizon, times_ms=tuple(np.linspace(100.0, 1000.0, n).tolist()))
    ended = totals(rounds(requests_of(task), config), config)
    named = {"session": session_name, "m": len(config.polling().alphas or ()), "n": n, "polls": ended["polls"]}
    return {"losses": [{**named, **{name: ended[name] for name in (*LOSSES, "best_expert_loss")}}]}


FIG_2_10 = FIG_2_9.view("thesis/fig-2-10", "weights of the experts on real arrivals", "1 min")
FIG_2_11 = FIG_2_9.view(
    "thesis/fig-2-11", "the algorithm against the best fixed expert, and the best of every poll", "1 min"
)

# -- what a record says --------------------------------------------------------------------------------------------


def by_session(table: str, number: Any, *arguments: Any) -> Measure:
    """Measure a number (or several) of each session's rows, by its name."""

    def measure(record: Any) -> Samples:
        groups = record[table].groupby("task", sort=False)
        return {f"{task}:": number(rows.reset_index(drop=True), *arguments) for task, rows in groups}

    return measure


def _columns(rows: Frame, what: str) -> Any:
    return rows[[name for name in rows.columns if name.startswith(what)]].to_numpy(dtype=float)


def over_current(rows: Frame) -> Noted:
    """Polling loss over that of the best expert of every poll, and how often that one changes."""
    changes = int((rows["best_expert_ms"].diff().fillna(0) != 0).sum())
    ratio = rows["polling_loss"].sum() / _columns(rows, "loss_").min(axis=1).sum()
    return Noted(ratio, f"times its loss ({changes} changes of it)")


def at_full_polls(rows: Frame) -> Noted:
    """Share of what is lost beyond the current best that is lost where a poll finds bytes, percent."""
    extra = rows["polling_loss"].to_numpy() - _columns(rows, "loss_").min(axis=1)
    full = (rows["buffered_bytes"] > 0).to_numpy()
    slept, right = rows.loc[full, "slept_ms"].mean(), rows.loc[full, "best_expert_ms"].mean()
    note = f"% lost at polls that find bytes ({slept:.0f} ms slept on the mean, {right:.0f} ms would have been best)"
    return Noted(100 * extra[full].sum() / extra.sum(), note)


def over_worse_half(rows: Frame) -> Noted:
    """Polling loss of the early polls over that of the best of the worse half of the experts."""
    early = rows.head(EARLY)
    sums = np.sort(_columns(early, "loss_").sum(axis=0))
    own, half = float(early["polling_loss"].sum()), float(sums[len(sums) // 2])
    return Noted(own / half, f"({own:.3f} over {half:.3f})")


def favourites(rows: Frame) -> Noted:
    """Share of the polls in which the expert of largest weight is not the one that has it most often, percent."""
    favourite = _columns(rows, "weight_").argmax(axis=1)
    share = 100 * np.mean(favourite != np.bincount(favourite).argmax())
    return Noted(share, f"({np.count_nonzero(np.diff(favourite))} changes)")


def regained(rows: Frame) -> int:
    """How many experts have the largest weight after they had the least."""
    held = _columns(rows, "weight_")
    least, most = held.argmin(axis=1), held.argmax(axis=1)
    return sum(bool((most[np.argmax(least == expert) :] == expert).any()) for expert in np.unique(least))


def less_fixed(rows: Frame, loss: str) -> Noted:
    """A loss less that of the best fixed expert at the end."""
    own, best = rows[[loss, "best_expert_loss"]].iloc[-1].astype(float)
    price = np.log(10) + learn_alpha_asymptotic_regret(len(rows))
    return Noted(own - best, f"({own:.2f} against {best:.2f}; learning may cost {price:.1f} nats)")


def regret_percent(rows: Frame) -> Noted:
    """Polling loss above that of the best fixed expert at the end, percent."""
    own, best = rows[["polling_loss", "best_expert_loss"]].iloc[-1].astype(float)
    return Noted(100 * (own / best - 1), f"({(own - best) / len(rows):+.1e} nats a poll)")


def tracking(regrets: Frame, partitions: Frame) -> Samples:
    """Mixture loss over what the bounds allow beyond the best k experts in turn, for k = 1, 2, 4, ..."""
    samples, alphas = {}, alpha_grid(horizon=ReplayConfig().horizon)
    for task, rows in regrets.groupby("task", sort=False):
        curve = partitions[partitions["task"] == task].set_index("k")["loss"]
        mixture, best = rows[["mixture_loss", "best_per_poll_loss"]].iloc[-1].astype(float)
        ratios = []
        for k in (k for k in 2 ** np.arange(12) if k in curve.index):
            allowed = min(fixed_share_partition_loss(float(curve[k]), int(k), len(rows), 10, float(a)) for a in alphas)
            ratios.append(mixture / (allowed + np.log(len(alphas))))
        note = f"(k up to {curve.index.max()}; {mixture:.2f} against {best:.2f} of the best of every poll)"
        samples[f"{task}:"] = Noted(ratios, note)
    return samples


def below_share(rows: Frame, current: bool) -> float:
    """Share of the polls whose polling loss is below that of the best expert, fixed or current, percent."""
    expert = _columns(rows, "loss_")
    best = expert.min(axis=1) if current else expert[:, expert.sum(axis=0).argmin()]
    return 100 * float((rows["polling_loss"].to_numpy() < best - 1e-12).mean())


def least_regret(rows: Frame) -> float:
    """Least regret of the mixture loss in a poll."""
    return float((rows["mixture_loss"].to_numpy() - _columns(rows, "loss_").min(axis=1)).min())


def over_largest(losses: Frame, *, loss: str, by: str, least: int) -> Samples:
    """A loss over that with the largest m (or n), a number a session, by m (or n) from the least one on."""
    rows = losses[losses["n"] == SMALL_N] if by == "m" else losses[losses["m"] == losses["m"].max()]
    table = rows.pivot(index="session", columns=by, values=loss).sort_index(axis=1)
    *fewer, largest = map(int, table.columns)
    return {
        f"{by} = {one}:": Noted(table[one] / table[largest], f"times that of {by} = {largest}")
        for one in fewer if one >= least
    }  # fmt: skip


FIG_2_9.claims += [
    Claim("the algorithm's loss stays close to, or below, that of the best current expert",
        at_most(by_session("polls", over_current), 2.0, needed=1), "close to or better",
        "sum over the polls, of one session: figure 2-9 shows one trace; the identity of that expert changes",
        why=explained_by("of what is lost beyond it,", by_session("polls", at_full_polls))),
    Claim("the first polling time is the mean of the experts' times",
        each(by_session("polls", lambda rows: rows["slept_ms"].iloc[0]), 545.0, 555.0, unit=" ms"), "the mean",
        "550 ms, to the bin", no_test="it begins with equal weights"),
    Claim("even early on the algorithm beats the worse half of the experts",
        at_most(by_session("polls", over_worse_half), 1.0), "beats the worse half",
        f"loss of the first {EARLY} polls, over that of the best of the worse half; every session"),
]  # fmt: skip
FIG_2_10.claims += [
    Claim("which expert has the highest weight changes with the arrivals",
        at_least(by_session("polls", favourites), 5.0, unit=" %"), "shifts",
        "share of the polls in which it is not the one that it mostly is; every session"),
    Claim("an expert that was the worst can become the best again, its weight never having gone to 0",
        at_least(by_session("polls", regained), 1, needed=1, unit=" experts"), "regains", "an expert of one session"),
]  # fmt: skip
FIG_2_11.claims += [
    Claim("the algorithm eventually loses less than the best fixed expert (polling loss, as plotted)",
        at_most(by_session("regrets", less_fixed, "polling_loss"), 0.0, open=True, unit=" nats"), "better",
        "at the end of every session"),
    Claim("it tracks the best sequences of experts, within the bounds", each(tracking, high=1.0),
        "does not beat, but tracks, as per the bounds",
        "mixture loss over the loss of the best k experts in turn and what the bounds add; every session and k",
        no_test="a theorem"),
    Claim("regret against the best fixed expert is negligible",
        at_most(by_session("regrets", regret_percent), 5.0, unit=" %"), "negligible",
        "polling loss, which figure 2-11 plots, above its loss; every session"),
    *(Claim(statement, at_least(by_session("polls", below_share, current), 0.0, open=True, needed=1,
        unit=" % of polls"), "sometimes negative", "in some poll of a session")
      for current, statement in (
        (False, "the instantaneous regret against the best fixed expert is sometimes negative (polling loss)"),
        (True, "the same against the current best expert"))),
    Claim("the instantaneous regret of the mixture loss is never negative, being impossible",
        at_least(by_session("polls", least_regret), -1e-12, unit=" nats"),
        reason="least of each session, to rounding; ours, an erratum"),
]  # fmt: skip
CONSTANT_M.claims += [
    Claim(f"{what} ({words})", at_most(partial(over_largest, loss=loss, by=by, least=least), 1.05), printed,
        f"at most 5 % more on the mean over sessions, at every {by} from {least} on")
    for what, printed, by, least in (
        ("m held constant does not significantly degrade performance", "not significantly", "m", 9),
        ("n can be chosen as a small constant, without degrading performance", "without degrading performance", "n", 7))
    for loss, words in LOSSES.items()
]  # fmt: skip


def _longest(rows: Frame) -> Frame:
    first: Frame = rows[rows["task"] == rows["task"].iloc[0]]
    return first.reset_index(drop=True).drop(columns="task")


FIG_2_9.picture("fig-2-9")(lambda polls: losses(_longest(polls)))
FIG_2_10.picture("fig-2-10")(lambda polls: weights(_longest(polls)))


@FIG_2_11.picture("fig-2-11")
def against_the_best(regrets: Frame, partitions: Frame) -> Figure:
    """Draw cumulative losses of the longest session, and the least ones of k segments."""
    return competition(_longest(regrets), _longest(partitions))


@CONSTANT_M.picture("constant-m", x="switching rates m, or polling times n",
    y="loss over that of the best expert of n = 10", x_scale="log")  # fmt: skip
def loss_by_size(losses: Frame) -> Frame:
    """Draw the polling loss over that of the best of ten experts, means over sessions: by m, and by n."""
    base = losses[losses["n"] == SMALL_N].groupby("session")["best_expert_loss"].first()
    rows = losses.assign(ratio=losses["polling_loss"] / losses["session"].map(base))
    parts = {"m": rows[rows["n"] == SMALL_N], "n": rows[rows["m"] == rows["m"].max()]}
    return pd.DataFrame([
        point(f"by {by}", value, own["ratio"]) for by, part in parts.items() for value, own in part.groupby(by)
    ])  # fmt: skip


EXPERIMENTS = (FIG_2_9, FIG_2_10, FIG_2_11, CONSTANT_M)
