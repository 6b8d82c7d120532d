"""LPSM2 and LPSM3 on recorded browsing: energy at equal slowdown, session by session.

What it models: sessions of Boston University's students, thirty of 20 to 200 pages drawn without replacement, each
browsed under every policy; pages of the Web model stand in for them.  The servers' times are not in the record:
LPSM2 meets servers that answer at once and servers whose times are lognormal, LPSM3 the latter.
What it leaves out: pauses of more than 1,000 s, which are absences and cut out.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import netsim
import traces
from experiments.papers.kit import DataSet, Experiment
from experiments.papers.ours import lpsm2, lpsm3
from experiments.papers.ours.worlds import SLOWDOWN, TARGETS, Case, World, draw_fronts, family, over_asked, spared
from experiments.papers.predicates import at_least, at_most
from lpsm.randomness import WORKLOAD, generator
from traces.traffic import Traffic

SESSION_PAGES = (20, 200)
RULE = traces.GroupingRule(max_think_s=1000.0)  # a longer pause is an absence, and cut out
RECORDED = "lognormal servers"
SERVERS = {"instant servers": "0", RECORDED: "lognormal:0.5:0.8"}
OWN = family("lpsm3:{}:400", TARGETS)
BROWSING = DataSet(
    "bu-www-client", "Boston University Web client traces 1994-1995, Internet Traffic Archive",
    "pages of the Web model", unasked=True,
)  # fmt: skip
OF_LPSM2 = Experiment("ours/lpsm2-browsing", "LPSM2 on recorded browsing", "1 min", BROWSING)
OF_LPSM3 = Experiment("ours/lpsm3-browsing", "LPSM3 on recorded browsing", "1 min", BROWSING)


def _sweep(first_seed, servers, policies):
    """Sessions of the archive, ten a task; in the small size those of the sample; else generated pages."""

    def tasks(setup):
        common = {"servers": servers, "policies": list(policies), "traffic": "recorded"}
        first = first_seed + setup.seed
        if setup.stand_in or setup.data is None:
            return {
                f"seed {seed}": {**common, "seeds": [seed], "pages": setup.pick(20, 60), "seed": seed}
                for seed in range(first, first + setup.pick(2, 20))
            }
        trace = "bu-www-client/" + setup.pick("sample", "condensed.tar.xz")
        names = sessions_of(setup.data / trace, setup.pick(1, 30), first)
        place = {"folder": str(setup.data), "trace": trace}
        return {
            f"sessions {start} to {start + len(own) - 1}": {**common, **place, "sessions": own, "seed": first + start}
            for start in range(0, len(names), 10)
            for own in [names[start : start + 10]]
        }

    return tasks


def runs(servers, policies, seed, traffic="recorded", folder="", trace="", sessions=(), seeds=(), pages=0):
    """Browse recorded sessions, or generated ones, each by itself under every policy and with every server."""
    visited = {name: own for name, own in _recorded(Path(folder) / trace) if name in sessions} if folder else {}
    visited = visited or {f"generated-{one}": list(traces.generate(pages, generator(one, WORKLOAD))) for one in seeds}
    rows = []
    for place, (name, own) in enumerate(visited.items()):
        nothing = np.full(len(own), np.nan), np.full(len(own), -1, dtype=np.int64)
        for kind, server in servers.items():
            delays = [netsim.ServerDelay.parse(server)] * len(own)
            world = World(Traffic(own, [server] * len(own), *nothing, []), delays, seed + place)
            rows += [{**row, "replication": name} for row in world.rows(world.under(policies), kind)]
    return rows


def _recorded(trace):
    for session in traces.sessions(trace):
        yield session.name, traces.pages(session.requests, rule=RULE)


def sessions_of(trace, n_sessions, seed):
    """Return names of recorded sessions of 20 to 200 pages, drawn without replacement, in the order of the trace.

    Raises
    ------
    ValueError
        If there is none.
    """
    least, most = SESSION_PAGES
    names = [name for name, pages in _recorded(trace) if least <= len(pages) <= most]
    if not names:
        raise ValueError(f"{trace.name} must hold a session of {least} to {most} pages, it has none")
    chosen = np.random.default_rng(seed).permutation(len(names))[:n_sessions]
    return [names[place] for place in sorted(chosen.tolist())]


OF_LPSM2.runs(_sweep(lpsm2.FIRST_SEED, SERVERS, lpsm2.SOME))(runs)
OF_LPSM3.runs(_sweep(lpsm3.FIRST_SEED, {RECORDED: SERVERS[RECORDED]}, (*OWN, *lpsm2.UP_TO_8, *lpsm3.HOLD)))(runs)
_rivals = [Case(traffic, lpsm2.OWN, *one) for traffic in SERVERS for one in lpsm2.THIN[1:4]]
_others = [Case(RECORDED, lpsm3.OWN, *one) for one in (("LPSM2", lpsm2.UP_TO_8), ("hold, host", lpsm3.HOLD))]
for _experiment, _cases, _asked in (
    (OF_LPSM2, _rivals, [(traffic, lpsm2.OWN, 1.05) for traffic in SERVERS]),
    (OF_LPSM3, _others, [(RECORDED, policy, target) for policy, target in zip(OWN, TARGETS, strict=True)]),
):
    _kept = over_asked(SLOWDOWN, _asked)
    _experiment.claim("the mean slowdown is at most the one asked for", at_most, limit=1.0)(_kept)
    _below = _experiment.claim("energy is below that of each family at equal slowdown", at_least, "0 %", unit=" %")
    _below(spared(_cases))
draw_fronts(OF_LPSM2, "lpsm2-browsing", dict.fromkeys(SERVERS, lpsm2.THIN), over="page_awake_j", most=(1.3, 1.6))
_families = [("hold, host", lpsm3.HOLD), ("LPSM2", lpsm2.UP_TO_8), ("LPSM3", OWN)]
draw_fronts(OF_LPSM3, "lpsm3-browsing", {RECORDED: _families}, over="page_awake_j", most=(1.6, 1.2))
