"""Figures 2-9 to 2-11 of Monteleoni 2006: the learner's losses and weights on real arrivals; and section 2.5.5.

What it models: section 2.5.4, "Trace-based evaluation framework": 10 experts, 100 to 1000 ms, gamma = 1e-7, losses at
LPSM's own polls.  Sessions of Boston University's client traces stand in for the thesis' traces (UC Berkeley Home IP,
1996), or generated browsing where those are not at hand either.  Both losses are reported: the mixture loss (2.8),
whose regret in a round is never negative, and the polling loss (2.34) at the time slept, which the thesis plots.
Section 2.5.5 holds the number m of switching rates constant, and says that n polling times may be few: the 20 sessions
with most requests (the three, where the whole archive is not at hand) are replayed with grids of fewer and fewer rates,
made for shorter and shorter horizons (the thesis' own grid has 259 for 27,000 polls), and with n times over the same
range.
What it leaves out: the polls after the first 20,000, and the time that fewer rates save.
"""

from functools import lru_cache
from heapq import nlargest
from pathlib import Path

import numpy as np

import traces
from experiments.figures.replay import competition, losses, weights
from experiments.papers.claims import Noted, where, wide
from experiments.papers.kit import DataSet, Experiment
from experiments.papers.predicates import at_least, at_most
from experiments.study.replay import ReplayConfig, details, rounds, totals
from lpsm.randomness import generator

SESSIONS = ("con4.cs18.785551445", "con6.cs17.786230791", "con396.huey.792945489")  # of the sample, longest first
EARLY = 200  # polls of "the early iterations"
BROWSING = DataSet(
    "bu-www-client", "Boston University Web client traces 1994-1995, Internet Traffic Archive",
    "generated browsing over a dial-up line", unasked=True
)  # fmt: skip
LINE_BYTES_PER_S = 28_800 // 8  # the thesis' users dialled in
HORIZONS = (27_000, 3000, 300, 30, 3)  # polls for which the grid of switching rates is made
COUNTS = (3, 4, 7, 10, 19, 46)  # polling times, evenly from 100 to 1000 ms
SMALL_N = 10  # what the thesis takes
MANY = 20  # sessions
ARCHIVE = Path("bu-www-client", "condensed.tar.xz")
LOSSES = {"polling_loss": "polling loss, as plotted", "mixture_loss": "mixture loss, of which the bounds speak"}


def sessions(setup, *, many=False):
    """Return a task a recorded session (as many as the whole archive is to give), or a seed of generated browsing."""
    count, source = setup.pick(1, 3), {"polls": setup.pick(1500, 20_000)}
    if setup.data is None:
        source["pages"] = setup.pick(30, 300)
        return {f"seed {seed}": {"seed": seed, **source} for seed in range(setup.seed, setup.seed + count)}
    source["folder"] = str(setup.data)
    if many and setup.size == "full" and (setup.data / ARCHIVE).is_file():
        return {f"session {place + 1}": {"busiest": place, **source} for place in range(MANY)}
    return {name: {"session": name, **source} for name in SESSIONS[:count]}


def requests_of(task):
    """Return the requests of a task's session, or those that are generated in its place."""
    if "busiest" in task:
        return _busiest(task["folder"])[task["busiest"]]
    if "session" not in task:
        return _generated(task["pages"], task["seed"])
    path = Path(task["folder"]) / "bu-www-client" / "sample" / task["session"]
    return [request for session in traces.sessions(path) for request in session.requests]


@lru_cache(maxsize=1)
def _busiest(folder):
    """Return the requests of the sessions of the archive that have most of them."""
    longest = nlargest(MANY, traces.sessions(folder / ARCHIVE, skip_damaged=True), key=lambda one: len(one.requests))
    return [list(session.requests) for session in longest]


def _generated(n_pages, seed):
    """Browsing drawn from the Web model, over a dial-up line: what an object takes, and then the pause for thought."""
    now_us, requests = 0, []
    for page in traces.generate(n_pages, generator(seed, 0), web="1996"):
        for sent, reply in ((page.request_bytes, page.reply_bytes), *page.objects):
            begun_us, now_us = now_us, now_us + 100_000 + reply * 1_000_000 // LINE_BYTES_PER_S
            requests.append(traces.Request("generated", "", begun_us, now_us, sent, reply))
        now_us += round(page.think_s * 1e6)
    return requests


FIG_2_9 = Experiment("thesis/fig-2-9", "loss of each expert and of the algorithm on real arrivals", "1 min", BROWSING)


@FIG_2_9.runs(sessions)
def replay(**task):
    """Replay one session; polls, cumulative losses, and least losses of k segments."""
    replayed = details(requests_of(task), ReplayConfig(), max_polls=task["polls"])
    return {name: getattr(replayed, name) for name in ("polls", "regrets", "partitions")}


FIG_2_10 = FIG_2_9.view("thesis/fig-2-10", "weights of the experts on real arrivals", "1 min")
FIG_2_11 = FIG_2_9.view(
    "thesis/fig-2-11", "the algorithm against the best fixed expert, and the best of every poll", "1 min"
)
CONSTANT_M = Experiment(
    "thesis/constant-m", "Learn-alpha with fewer switching rates than its bound asks for", "1 min", BROWSING
)


def _grids(setup):
    """Return every session with every grid of rates and the thesis' n, and with the longest grid and every other n."""
    horizons = setup.pick((300, 30), HORIZONS)
    pairs = [(horizon, SMALL_N) for horizon in horizons] + [(horizons[0], n) for n in COUNTS if n != SMALL_N]
    return {
        f"{name} horizon {horizon} n {n}": {**task, "session_name": name, "horizon": horizon, "n": n}
        for name, task in sessions(setup, many=True).items() for horizon, n in pairs
    }  # fmt: skip


@CONSTANT_M.runs(_grids)
def with_fewer(session_name, horizon, n, **task):
    """Replay one session with one grid of rates and one of polling times: its losses at the end."""
    config = ReplayConfig(horizon=horizon, times_ms=tuple(np.linspace(100.0, 1000.0, n).tolist()))
    ended = totals(rounds(requests_of(task), config), config)
    named = {"session": session_name, "m": len(config.polling().alphas or ()), "n": n}
    return {"losses": [named | {name: ended[name] for name in LOSSES}]}


def _by_session(number):
    """Measure a number of each session's polls, by its name."""
    return lambda polls: {f"{task}:": number(rows) for task, rows in polls.groupby("task", sort=False)}


def _columns(rows, what):
    return rows.filter(regex=f"^{what}").to_numpy(dtype=float)


def _over(rows, loss):
    own = rows["polling_loss"].sum()
    return Noted(own / loss, f"({own:.3f} over {loss:.3f})")


FIG_2_9.claim(
    "the algorithm's loss stays close to, or below, that of the best current expert", at_most, "close to or better",
    "sum over the polls, of one session: figure 2-9 shows one trace; the identity of that expert changes", limit=2.0,
    needed=1,
)(_by_session(lambda rows: _over(rows, _columns(rows, "loss_").min(axis=1).sum())))  # fmt: skip


@FIG_2_9.claim(
    "even early on the algorithm beats the worse half of the experts", at_most, "beats the worse half",
    f"loss of the first {EARLY} polls, over that of the best of the worse half; every session", limit=1.0
)  # fmt: skip
@_by_session
def _early(rows):
    rows = rows.head(EARLY)
    sums = np.sort(_columns(rows, "loss_").sum(axis=0))
    return _over(rows, sums[len(sums) // 2])


@FIG_2_10.claim(
    "which expert has the highest weight changes with the arrivals", at_least, "shifts",
    "share of the polls in which it is not the one that it mostly is; every session", limit=5.0, unit=" %"
)  # fmt: skip
@_by_session
def _favourites(rows):
    favourite = _columns(rows, "weight_").argmax(axis=1)
    return 100 * np.mean(favourite != np.bincount(favourite).argmax())


@FIG_2_10.claim(
    "an expert that was the worst can become the best again, its weight never having gone to 0", at_least, "regains",
    "an expert of one session", limit=1, needed=1, unit=" experts"
)  # fmt: skip
@_by_session
def _regained(rows):
    """How many experts have the largest weight after they had the least."""
    held = _columns(rows, "weight_")
    least, most = held.argmin(axis=1), held.argmax(axis=1)
    return sum(expert in most[np.argmax(least == expert) :] for expert in np.unique(least))


def _at_the_end(regrets):
    """Return polling loss and that of the best fixed expert, a number a session."""
    last = regrets.groupby("task", sort=False)[["polling_loss", "best_expert_loss"]].last()
    return {f"{task}:": own.astype(float) for task, own in last.iterrows()}


FIG_2_11.claim(
    "the algorithm eventually loses less than the best fixed expert (polling loss, as plotted)", at_most, "better",
    "at the end of every session", limit=0.0, open=True, unit=" nats",
)(lambda regrets: {
    task: Noted(own - best, f"({own:.2f} against {best:.2f})") for task, (own, best) in _at_the_end(regrets).items()
})  # fmt: skip
FIG_2_11.claim(
    "regret against the best fixed expert is negligible", at_most, "negligible",
    "polling loss, which figure 2-11 plots, above its loss; every session", limit=5.0, unit=" %",
)(lambda regrets: {task: 100 * (own / best - 1) for task, (own, best) in _at_the_end(regrets).items()})  # fmt: skip
for statement, best in (
    ("the instantaneous regret against the best fixed expert is sometimes negative (polling loss)",
     lambda experts: experts[:, experts.sum(axis=0).argmin()]),
    ("the same against the current best expert", lambda experts: experts.min(axis=1)),
):  # fmt: skip
    FIG_2_11.claim(
        statement, at_least, "sometimes negative", "in some poll of a session", limit=0.0, open=True, needed=1,
        unit=" % of polls",
    )(_by_session(
        lambda rows, best=best: 100 * (rows["polling_loss"] < best(_columns(rows, "loss_")) - 1e-12).mean()
    ))  # fmt: skip


@CONSTANT_M.claim(
    "{what} ({words})", at_most, "{printed}",
    "at most 5 % more on the mean over sessions, at every {by} from {least} on", limit=1.05, of={
        "what printed by least": (
            ("m held constant does not significantly degrade performance", "not significantly", "m", 9),
            ("n can be chosen as a small constant, without degrading performance", "without degrading performance",
             "n", 7),
        ),
        "loss words": LOSSES.items(),
    }
)  # fmt: skip
def _over_largest(losses, loss, by, least):
    """A loss over that with the largest m (or n), a number a session, by m (or n) from the least one on."""
    rows = where(losses, n=SMALL_N) if by == "m" else where(losses, m=losses["m"].max())
    table = wide(rows, loss, by, "session").sort_index(axis=1)
    *fewer, largest = map(int, table.columns)
    note = f"times that of {by} = {largest}"
    return {f"{by} = {one}:": Noted(table[one] / table[largest], note) for one in fewer if one >= least}


def _drawn(draw, *tables):
    """Draw the first session of some tables."""
    return draw(
        *(where(rows, task=rows["task"].iloc[0]).reset_index(drop=True).drop(columns="task") for rows in tables)
    )


FIG_2_9.picture("fig-2-9")(lambda polls: _drawn(losses, polls))
FIG_2_10.picture("fig-2-10")(lambda polls: _drawn(weights, polls))
FIG_2_11.picture("fig-2-11")(lambda regrets, partitions: _drawn(competition, regrets, partitions))
