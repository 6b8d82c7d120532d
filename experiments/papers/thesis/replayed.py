"""Figures 2-9 to 2-11 of Monteleoni 2006: the learner's losses and weights on real arrivals; and section 2.5.5.

What it models: section 2.5.4, "Trace-based evaluation framework": 10 experts, 100 to 1000 ms, gamma = 1e-7, losses at
LPSM's own polls.  The thesis' traces are those of UC Berkeley's Home IP service (1996), a client a
session; where they are not at hand sessions of Boston University's client traces stand in for them, or else generated
browsing.  Both losses are reported: the mixture loss (2.8),
whose regret in a round is never negative, and the polling loss (2.34) at the time slept, which the thesis plots.
Section 2.5.5 holds the number m of switching rates constant, and says that n polling times may be few: the 20 sessions
with most requests (the three, where the whole archive is not at hand) are replayed with grids of fewer and fewer rates,
made for shorter and shorter horizons (the thesis' own grid has 259 for 27,000 polls), and with n times over the same
range.  The figures show one trace; where the archive is there, what they say of losses is asked of every session of it
that has 30 requests, not of those drawn alone.
What it leaves out: the polls after the first 20,000, and the time that fewer rates save.
"""

from functools import lru_cache, partial
from heapq import nlargest
from itertools import islice
from pathlib import Path

import numpy as np

import traces
from experiments.figures.replay import competition, losses, weights
from experiments.papers.claims import Noted, where, wide
from experiments.papers.kit import DataSet, Experiment
from experiments.papers.predicates import above, at_least, at_most
from experiments.study.replay import ReplayConfig, details, rounds, totals
from lpsm.randomness import generator

SESSIONS = ("con4.cs18.785551445", "con6.cs17.786230791", "con396.huey.792945489")  # of the sample, longest first
EARLY = 200  # polls of "the early iterations"
BROWSING = DataSet(
    "bu-www-client", "Boston University Web client traces 1994-1995, Internet Traffic Archive",
    "generated browsing over a dial-up line", unasked=True, paper="UC Berkeley Home IP", own="ucb-home-ip/UCB-home-IP-*"
)  # fmt: skip
LINE_BYTES_PER_S = 28_800 // 8  # the thesis' users dialled in
HORIZONS = (27_000, 3000, 300, 30, 3)  # polls for which the grid of switching rates is made
COUNTS = (3, 4, 7, 10, 19, 46)  # polling times, evenly from 100 to 1000 ms
SMALL_N = 10  # what the thesis takes
MANY = 20  # sessions
LEAST_REQUESTS, PARTS = 30, 4  # of a session of the archive; how many tasks share them
ARCHIVE = "bu-www-client/condensed.tar.xz"
LOSSES = {"polling_loss": "polling loss, as plotted", "mixture_loss": "mixture loss, of which the bounds speak"}


def sessions(setup, *, many=False):
    """Return a task a recorded session (as many as the whole archive is to give), or a seed of generated browsing."""
    count, source = setup.pick(1, 3), {"polls": setup.pick(1500, 20_000)}
    pattern = _whole(setup)
    if setup.data is None:
        source["pages"] = setup.pick(30, 300)
        return {f"seed {seed}": {"seed": seed, **source} for seed in range(setup.seed, setup.seed + count)}
    source["folder"] = str(setup.data)
    if pattern and ((many and setup.size == "full") or pattern == BROWSING.own):
        source["pattern"] = pattern
        return {f"session {place + 1}": {"busiest": place, **source} for place in range(MANY if many else count)}
    return {name: {"session": name, **source} for name in SESSIONS[:count]}


def _whole(setup):
    """Return the pattern of the files that have all sessions, the paper's own first; none where these are not there."""
    own = BROWSING.own if setup.material == BROWSING.own.partition("/")[0] else ARCHIVE
    return own if setup.data is not None and any(setup.data.glob(own)) else ""


def _recorded(folder, pattern):
    """Yield the requests of all sessions of the files of a pattern."""
    for path in sorted(Path(folder).glob(pattern)):
        yield from (session.requests for session in traces.sessions(path, skip_damaged=True))


def requests_of(task):
    """Return the requests of a task's session, or those that are generated in its place."""
    if "busiest" in task:
        return _busiest(task["folder"], task["pattern"])[task["busiest"]]
    if "session" not in task:
        return _generated(task["pages"], task["seed"])
    path = Path(task["folder"]) / "bu-www-client" / "sample" / task["session"]
    return [request for session in traces.sessions(path) for request in session.requests]


@lru_cache(maxsize=1)
def _busiest(folder, pattern):
    """Return the requests of the sessions that have most of them."""
    return [list(requests) for requests in nlargest(MANY, _recorded(folder, pattern), key=len)]


def _generated(n_pages, seed):
    """Browsing drawn from the Web model, over a dial-up line: what an object takes, and then the pause for thought."""
    now_us, requests = 0, []
    for page in traces.generate(n_pages, generator(seed, 0), web="1996"):
        for sent, reply in ((page.request_bytes, page.reply_bytes), *page.objects):
            begun_us, now_us = now_us, now_us + 100_000 + reply * 1_000_000 // LINE_BYTES_PER_S
            requests.append(traces.Request("generated", "", begun_us, now_us, sent, reply))
        now_us += round(page.think_s * 1e6)
    return requests


FIG_2_9 = Experiment("thesis/fig-2-9", "loss of each expert and of the algorithm on real arrivals", "10 min", BROWSING)


def _with_archive(setup):
    """Return a task a session that is drawn, and the parts of the whole archive."""
    drawn = sessions(setup)
    if setup.size != "full" or not (pattern := _whole(setup)):
        return {key: {**task, "alone": True} for key, task in drawn.items()}
    common = {"folder": str(setup.data), "pattern": pattern, "polls": next(iter(drawn.values()))["polls"]}
    return {**drawn, **{f"archive, part {part + 1}": {"part": part, **common} for part in range(PARTS)}}


@FIG_2_9.runs(_with_archive)
def replay(**task):
    """Replay one session; polls, cumulative losses, and least losses of k segments; or a row a session of a part."""
    if "part" in task:
        recorded = _recorded(task["folder"], task["pattern"])
        long = (requests for requests in recorded if len(requests) >= LEAST_REQUESTS)
        return {"sessions": [_summed(requests, task["polls"]) for requests in islice(long, task["part"], None, PARTS)]}
    requests = requests_of(task)
    replayed = details(requests, ReplayConfig(), max_polls=task["polls"])
    frames = {name: getattr(replayed, name) for name in ("polls", "regrets", "partitions")}
    return frames | ({"sessions": [_summed(requests, task["polls"])]} if "alone" in task else {})


def _summed(requests, polls):
    """Return the losses of one session, and those of its first polls."""
    config = ReplayConfig()
    run = rounds(requests, config, recorded=polls)
    early, own = np.sort(run.expert_losses[:EARLY].sum(axis=0)), run.polling_loss[:EARLY].sum()
    return {**totals(run, config), "early_loss": own, "early_worse_half_loss": early[len(early) // 2]}


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


def _share(sessions, loss, of, most):
    """Return 100 for every session whose loss is at most so many times another, and 0 for the others."""
    ratio = sessions[loss] / sessions[of]
    told = ", ".join(f"{value:.3g}" for value in ratio.quantile([0.05, 0.5, 0.95]))
    return Noted(100.0 * (ratio <= most), f"(5 %, half, 95 % of the {len(ratio)} sessions have at most {told} times)")


def _by_session(number):
    """Measure a number of each session's polls, by its name."""
    return lambda polls: {f"{task}:": number(rows) for task, rows in polls.groupby("task", sort=False)}


def _columns(rows, what):
    return rows.filter(regex=f"^{what}").to_numpy(dtype=float)


OF_ALL = "share of the sessions with 30 requests, polling loss, as plotted; the figure shows one trace"
for _experiment, *_asked in (
    (FIG_2_9, "the algorithm's loss stays close to, or below, that of the best current expert", "close to or better",
     "best_per_poll_loss", 2.0),
    (FIG_2_11, "the algorithm eventually loses less than the best fixed expert", "better", "best_expert_loss", 1.0),
    (FIG_2_11, "regret against the best fixed expert is negligible", "negligible", "best_expert_loss", 1.05),
):  # fmt: skip
    _statement, _printed, _of, _most = _asked
    _experiment.claim(
        _statement, above, _printed, f"{OF_ALL}; at most {_most:g} times its loss", limit=50.0, unit=" %"
    )(partial(_share, loss="polling_loss", of=_of, most=_most))
FIG_2_9.claim("even early on the algorithm beats the worse half of the experts", above, "beats the worse half",
    f"the best of the worse half, first {EARLY} polls; {OF_ALL}", limit=50.0, unit=" %",
)(partial(_share, loss="early_loss", of="early_worse_half_loss", most=1.0))  # fmt: skip


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
