"""Figures 2-5 to 2-8 of Monteleoni 2006: simulated browsing under every policy, and what decides it.

What it models: section 2.5.4's two settings, 100 pages and 4 x 500 pages, drawn from the Web model: HTTP/1.0, a
connection per object, 536-byte segments and Nagle as in ns-2's FullTcp, a server that answers after 0.5 s; the thesis'
single run of 100 pages is repeated over seeds, and intervals are over those.  Of figure 2-5, how sleep times evolve, a
stretch of one run is drawn, and the claims are counted over all of it.  The slowdowns of figure 2-7 depend on how long
the server takes to answer, which the thesis does not state: they are run for several delays.  What LPSM with 1/T saves
depends on the switching rate that it learns: it is run with fixed ones as well.
What it leaves out: the thesis' own traffic and seeds, which are not published (so signs and orders are claims to the
letter, and levels within a factor), and servers whose delay varies.
"""

from functools import partial

import numpy as np
import pandas as pd

import netsim
from experiments.figures.comparison import energy, slowdown, slowdown_by_page
from experiments.figures.timeline import evolution
from experiments.papers.claims import against, cases, where, wide
from experiments.papers.kit import Experiment, Sizes, over
from experiments.papers.predicates import above, at_least, at_most, below, each, falling, rising, within
from experiments.presets import DRAWN, THESIS
from experiments.quantities import PSM
from experiments.study import sweep as study_sweep
from experiments.study.compare import compare, linearised, page_slowdowns

BSD = ("bsd:1", "bsd:0.5", "bsd:0.2", "bsd:0.1")
NAMES = {"lpsm": "LPSM with 1/T", "lpsm:log": "LPSM with 1/log T"}
POLICIES = ("none", PSM, *BSD, *NAMES)
SHORT, LONG = "100 pages", "4 x 500 pages"
LPSM = {"policy": NAMES}
LEVEL = "within a factor of 2, traffic and seeds of the print being unpublished"
WINDOW_S = 150.0
THESIS_WEB = DRAWN["thesis"]
DELAYS = [(f"{delay:g}", delay) for delay in (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)]  # seconds that the server takes
FIXED = {f"{10.0**-k:g}": f"lpsm:alphas={10.0**-k:g}" for k in range(2, 8)}  # switching rates
LEAST = "1e-07"


PRINTED = (  # joules a page, and slowdown against static PSM
    (SHORT, PSM, 3.62, 1.0),
    (SHORT, "lpsm", 3.38, 1.02),
    (SHORT, "lpsm:log", 2.95, 1.19),
    (LONG, PSM, 4.12, 1.0),
    (LONG, "lpsm:log", 3.36, 1.2),
)
FIG_2_5 = Experiment("thesis/fig-2-5", "how sleep times evolve with LPSM", "1 min")
COLUMNS = {
    "pages": ["page", "issue_s", "latency_s"], "polls": ["time_s", "slept_ms", "buffered_bytes", "next_sleep_ms"]
}  # fmt: skip
KEY = "{run} seed {seed} {policy}"
_OF_100 = over({"run": (SHORT,), "seed": Sizes(3, 20), "policy": POLICIES}, KEY, pages=Sizes(20, 100))
_OF_500 = over({"run": (LONG,), "seed": Sizes(2, 4), "policy": POLICIES}, KEY, pages=Sizes(40, 500))


@FIG_2_5.runs(lambda setup: {**_OF_100(setup), **_OF_500(setup)})
def simulate(run, pages, seed, policy, server_delay_s=THESIS["server_delay"]):
    """Run one policy over one workload."""
    world = netsim.SimulationConfig(
        tcp=netsim.TcpConfig(mss_bytes=THESIS["mss_bytes"], nagle=THESIS["nagle"]), connections=THESIS["connections"],
        server_delay=netsim.ServerDelay(mean_s=server_delay_s)
    )  # fmt: skip
    task = study_sweep.Task(
        workload=study_sweep.Generated(n_pages=pages, seed=seed, web=THESIS_WEB), policy=policy, name=policy,
        config=world, record_polls=run == SHORT and policy in NAMES
    )  # fmt: skip
    ran = study_sweep.simulate(task)
    common = {"setting": run, "replication": ran["run"]["replication"], "policy": task.policy}
    return {"runs": [{"setting": run, **ran["run"]}]} | {
        table: pd.DataFrame(ran[table])[columns].assign(**common) for table, columns in COLUMNS.items() if table in ran
    }


FIG_2_6 = FIG_2_5.view("thesis/fig-2-6", "energy a page of LPSM, static PSM and BSD", "1 min")
FIG_2_7 = FIG_2_5.view("thesis/fig-2-7", "slowdown of LPSM, static PSM and BSD", "1 min")
FIG_2_8 = FIG_2_5.view("thesis/fig-2-8", "slowdown of each page against its download time", "1 min")
DELAY = Experiment("thesis/server-delay", "the slowdown of figure 2-7 depends on the server's delay", "1 min")
RATE = Experiment("thesis/switching-rate", "the energy of figure 2-6 depends on the switching rate of LPSM", "1 min")
DELAY.runs(over(
    {"run server_delay_s": Sizes(DELAYS[:4:3], DELAYS), "seed": Sizes(2, 20),
     "policy": ("none", PSM, "bsd:0.5", *NAMES)}, "delay {run} seed {seed} {policy}", pages=Sizes(20, 100)
))(simulate)  # fmt: skip
RATE.runs(over(
    {"run": (SHORT,), "seed": Sizes(2, 20), "policy": ("none", PSM, "lpsm", *FIXED.values())}, KEY, pages=Sizes(20, 100)
))(simulate)  # fmt: skip


def _in_stretches(polls, policy):
    """Return the polls of a policy by stretches in which all find packets or none: which, and the place there."""
    own = where(polls, policy=policy)
    full, before = own["buffered_bytes"] > 0, own.groupby("replication")["next_sleep_ms"].shift()
    number = (full.ne(full.shift()) | own["replication"].ne(own["replication"].shift())).cumsum()
    own = own.assign(full=full, stretch=number, place=own.groupby(number).cumcount() + 1)
    return own.assign(before=before.groupby(number).transform(lambda sleeps: sleeps.iloc[0]))


@FIG_2_5.claim(
    "{policy}: when packets are found, the sleep is quickly reduced to 100 ms", at_least, "quickly",
    "share of stretches of at least three polls that find packets in which it is after the third, by run", limit=90.0,
    unit=" %", of=LPSM
)  # fmt: skip
def _quick(polls, policy):
    stretches = _in_stretches(polls, policy).query("full").groupby(["replication", "stretch"])
    third = stretches["next_sleep_ms"].apply(lambda sleeps: (sleeps[:3] <= 100).any() if len(sleeps) >= 3 else np.nan)
    return 100 * third.groupby("replication").mean()


@FIG_2_5.claim(
    "{policy}: after a poll that finds nothing the sleep never becomes shorter", at_most, "continually increases",
    "times, by run", limit=0, of=LPSM
)  # fmt: skip
def _shorter(polls, policy):
    empty = where(polls, policy=policy, buffered_bytes=0)
    return (empty["next_sleep_ms"] < empty["slept_ms"]).groupby(empty["replication"]).sum()


@FIG_2_5.claim(
    "with 1/T the sleep backs off much more slowly than with 1/log T", at_least, "much more slowly",
    "what it gains in 20 empty polls after one of 100 ms, less twice what it gains with 1/T, by run", limit=0.0,
    unit=" ms"
)  # fmt: skip
def _gains(polls):
    climbs = (_in_stretches(polls, one).query("not full and place == 20 and before <= 100") for one in NAMES)
    slow, fast = (own.groupby("replication")["next_sleep_ms"].mean() - 100.0 for own in climbs)
    return (fast - 2.0 * slow).dropna()


def busy_stretch(pages, polls, window_s=WINDOW_S):
    """Cut polls and page loads out of every policy's run of one replication, from the issue of the same page on.

    That is the first after five, in which a learner has seen some traffic, from which on without power saving five
    pages, or else the most, are issued in the window.
    """
    issued = pages.groupby("policy", sort=False)["issue_s"]
    times = issued.get_group("none").to_numpy()
    busy = np.minimum(np.searchsorted(times, times + window_s) - np.arange(len(times)), 5)
    start = min(5, max(len(times) - 5, 0))
    page = start + busy[start:].argmax()
    origins = issued.apply(lambda own: own.iloc[page])
    polls = polls.assign(time_s=polls["time_s"] - polls["policy"].map(origins))
    begun = pages["issue_s"] - pages["policy"].map(origins)
    loads = pages[["policy"]].assign(start_s=begun, end_s=begun + pages["latency_s"])
    shown = loads["policy"].isin(polls["policy"]) & (loads["end_s"] >= 0) & (loads["start_s"] < window_s)
    return polls[polls["time_s"].between(0.0, window_s, inclusive="left")], loads[shown]


@FIG_2_5.picture("fig-2-5")
def _busy_stretch(pages, polls):
    first = (where(table, setting=SHORT, replication=polls["replication"].iloc[0]) for table in (pages, polls))
    return evolution(*busy_stretch(*first), window_s=WINDOW_S)


def _joules(runs, setting, column="total_j"):
    """Return joules a page, a row a seed and a column a policy."""
    return wide(runs.assign(value=runs[column] / runs["pages"]), "value", setting=setting)


def _saved(runs, setting, policy, column="total_j"):
    """Joules a page of a policy against those of static PSM, percent."""
    table = _joules(runs, setting, column)
    return 100 * (linearised(table[policy], table[PSM]) - 1)


SAVINGS = """
100 pages | lpsm | LPSM with 1/T | total_j | energy | -6.6
100 pages | lpsm | LPSM with 1/T | listen_j | energy for beacons | -29
100 pages | lpsm:log | LPSM with 1/log T | total_j | energy | -18.5
100 pages | lpsm:log | LPSM with 1/log T | listen_j | energy for beacons | -81
4 x 500 pages | lpsm:log | LPSM with 1/log T | total_j | energy | -18
4 x 500 pages | lpsm:log | LPSM with 1/log T | listen_j | energy for beacons | -82
"""


def _with_level(*saving, printed):
    """Add a factor of 2 on a saving, or on what remains, where one on most of the energy would admit all of it."""
    if printed > -50.0:
        return *saving, printed, 2.0 * printed, printed / 2.0, LEVEL
    return *saving, printed, printed / 2 - 50.0, 2 * printed + 100.0, f"what remains {LEVEL}"


NAMED = "setting policy name column what"
LEVELS = [_with_level(*row, printed=printed) for *row, printed in cases(SAVINGS)]
FIG_2_6.claim("{setting}: {name} uses less {what} than static PSM", below, "less", unit=" %", of={
    f"{NAMED} printed": cases(SAVINGS)
})(_saved)  # fmt: skip
FIG_2_6.claim(
    "{setting}: {what} of {name}, against static PSM", within, "{printed:.1f} %", "{level}", unit=" %", kind="level",
    of={f"{NAMED} printed low high level": LEVELS}
)(_saved)  # fmt: skip
JOULES = cases("""
100 pages | psm:100 | 3.62 | 0.83
100 pages | lpsm | 3.38 | 0.59
100 pages | lpsm:log | 2.95 | 0.16
4 x 500 pages | psm:100 | 4.12 | 0.94
4 x 500 pages | lpsm:log | 3.36 | 0.17
""")
FIG_2_6.claim(
    "{setting}: {what} of {policy}, J a page", within, "{printed:.2f}", "within a fifth; static PSM has most of it",
    kind="level", of={"setting policy column what printed low high": [
        (setting, policy, column, what, value, 0.8 * value, 1.2 * value) for setting, policy, *values in JOULES
        for column, what, value in zip(("total_j", "listen_j"), ("energy", "energy for beacons"), values, strict=True)
    ]}
)(lambda runs, setting, policy, column: _joules(runs, setting, column)[policy])  # fmt: skip
EVERY = "LPSM with 1/log T saves more energy than every BSD setting"


@FIG_2_6.claim("{setting}: {what}", below, "{printed}", unit=" J a page", of={"setting policy what printed needed": (
    (SHORT, "lpsm:log", EVERY, "all", None),
    (SHORT, "lpsm", "LPSM with 1/T uses less energy than most BSD settings", "most", 0.5),
    (LONG, "lpsm:log", EVERY, "all", None),
)})  # fmt: skip
def _of_bsd(runs, setting, policy):
    table = _joules(runs, setting)
    return {other: against(table[policy], table[other]) for other in BSD}


def _summary(runs, pages, setting):
    """Return the comparison of all policies in one setting."""
    runs, pages = (where(table, setting=setting) for table in (runs, pages))
    nothing = pages[:0]
    return compare(study_sweep.Frames(runs, pages, nothing, nothing), POLICIES, netsim.RadioConfig())


def _bars(runs, pages, draw, setting):
    """Draw the means of every policy in one setting, and what is printed of them."""
    own, rows = _summary(runs, pages, setting).summary, [row[1:] for row in PRINTED if row[0] == setting]
    psm = own.set_index("policy")["slowdown_mean"][PSM]
    return draw(own, {
        policy: joules if draw is energy else slower * psm
        for policy, joules, slower in rows if draw is energy or policy != PSM
    })  # fmt: skip


for letter, one in (("a", SHORT), ("b", LONG)):
    FIG_2_6.picture(f"fig-2-6-{letter}")(partial(_bars, draw=energy, setting=one))
    FIG_2_7.picture(f"fig-2-7-{letter}")(partial(_bars, draw=slowdown, setting=one))


def _slowdowns(pages, setting):
    """Return mean slowdowns of a page, a row a seed and a column a policy."""
    rows = page_slowdowns(where(pages, setting=setting))
    return rows.pivot_table(index="replication", columns="policy", values="slowdown")


@FIG_2_7.claim(
    "{setting}: slowdown of {policy} over that of static PSM", within, "{printed:.2f}",
    "excess over 1 within a factor of 2, traffic and server being unpublished: see thesis/server-delay", kind="level",
    of={"setting policy printed low high": [
        (setting, policy, slower, 1 + (slower - 1) / 2, 1 + 2 * (slower - 1))
        for setting, policy, _, slower in PRINTED if policy != PSM
    ]}
)  # fmt: skip
def _slower_than_psm(pages, setting, policy):
    slow = _slowdowns(pages, setting)
    return against(slow[policy], slow[PSM], over=True)


@FIG_2_7.claim(
    "{setting}: LPSM with 1/log T is slower than every BSD setting", above, "higher slowdowns",
    of={"setting": (SHORT, LONG)}
)  # fmt: skip
def _slower_than_bsd(pages, setting):
    slow = _slowdowns(pages, setting)
    return {one: against(slow["lpsm:log"], slow[one]) for one in BSD}


def _waits(pages, policy):
    """Return latencies of the first setting: without power saving, under static PSM, and a policy's over the latter."""
    table = wide(pages, "latency_s", index=["replication", "page"], setting=SHORT)
    return table["none"], table[policy] / table[PSM]


@FIG_2_8.claim(
    "no page of {policy} takes more than {most:g} times what it takes under static PSM", each, "at most {most:g}",
    "every page of every seed counts; the print is one run of 100 pages", kind="level",
    of={"policy most high": [("lpsm", 1.2, 1.2 + 1e-9), ("lpsm:log", 2.0, 2.0 + 1e-9)]}
)  # fmt: skip
def _page_ratios(pages, policy):
    return _waits(pages, policy)[1]


@FIG_2_8.claim(
    "for longer transfers {policy} adds only negligible slowdown", at_most, "negligible",
    "latency beyond that under static PSM: on the tenth of pages that is longest without power saving at most "
    "half of that on the rest", limit=0.5, of=LPSM
)  # fmt: skip
def _long_pages(pages, policy):
    base, ratio = _waits(pages, policy)
    long, excess = base >= base.quantile(0.9), ratio - 1.0
    return against(*(excess[pages].groupby("replication").mean() for pages in (long, ~long)), over=True)


@FIG_2_8.picture("fig-2-8")
def _by_page(runs, pages):
    return slowdown_by_page(_summary(runs, pages, SHORT).slowdowns)


@DELAY.claim(
    "slowdown of {policy} over that of static PSM falls as the server takes longer", falling,
    reason="ours, the thesis does not state its server's delay", ends=True, of=LPSM
)  # fmt: skip
def _over_psm(pages, policy):
    return {f"{delay} s": _slower_than_psm(pages, delay, policy) for delay in pages["setting"].unique()}


@DELAY.claim(
    "LPSM uses less energy than static PSM whatever the server's delay", at_most, reason="ours", limit=0.0, open=True,
    unit=" %"
)  # fmt: skip
def _saved_at_delays(runs):
    delays = runs["setting"].unique()
    return {f"{policy} at {delay} s": _saved(runs, delay, policy) for policy in NAMES for delay in delays}


@DELAY.claim(
    "LPSM with 1/T is slower than BSD 0.5 at every delay up to 1 s", at_least, "higher slowdowns",
    "the thesis does not state its server's delay; at 2 s BSD 0.5 is the slower one", limit=0.0, open=True
)  # fmt: skip
def _lag(pages):
    tables = {delay: _slowdowns(pages, delay) for delay in pages["setting"].unique() if float(delay) <= 1.0}
    return {f"at {delay} s": against(slow["lpsm"], slow["bsd:0.5"]) for delay, slow in tables.items()}


RATE.claim(
    "the smaller the switching rate, the less energy LPSM with 1/T saves against static PSM", rising, reason="ours",
    unit=" %"
)(lambda runs: {rate: _saved(runs, SHORT, policy) for rate, policy in FIXED.items()})  # fmt: skip


@RATE.claim(
    "it is the switching rate, not the traffic drawn: on every seed the learned one saves more than the least", each,
    reason="ours", high=0.0
)  # fmt: skip
def _learned_less_fixed(runs):
    joules = _joules(runs, SHORT)
    return against(joules["lpsm"], joules[FIXED[LEAST]])


OURS = "ours, the print being of LPSM as it learns the rate; "
RATE.claim(
    f"{{what}} of {{name}} and a switching rate of {LEAST}, against static PSM", within, "{printed:.1f} %",
    OURS + LEVEL, unit=" %", of={f"{NAMED} printed low high level": LEVELS[:2]}
)(lambda runs, column: _saved(runs, SHORT, FIXED[LEAST], column))  # fmt: skip
RATE.claim(
    f"slowdown of LPSM with 1/T and a switching rate of {LEAST} over that of static PSM", within, "1.02",
    OURS + "excess over 1 within a factor of 2", low=1.01, high=1.04
)(lambda pages: _slower_than_psm(pages, SHORT, FIXED[LEAST]))  # fmt: skip
