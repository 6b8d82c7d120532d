"""LPSM2 and LPSM3 on recorded browsing: energy at equal slowdown, session by session.

What it models: sessions of Boston University's students, thirty of 20 to 200 pages drawn without replacement, each
browsed under every policy; pages of the Web model stand in for them.  The servers' times are not in the record:
LPSM2 meets servers that answer at once and such whose times are lognormal, LPSM3 the latter.
What it leaves out: pauses of more than 1,000 s, which are absences and cut out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import netsim
import traces
from experiments.figures.papers import panels
from experiments.papers.claims import Claim, Record
from experiments.papers.kit import DataSet, Experiment, Rows, Setup
from experiments.papers.ours import lpsm2, lpsm2_runs, lpsm3
from experiments.papers.ours.lpsm2_fronts import front_frames, limited, mean_of, not_above, saving_claim
from experiments.papers.ours.lpsm2_runs import World, measure
from experiments.papers.predicates import at_most
from experiments.quantities import BASELINE
from lpsm.randomness import WORKLOAD, generator
from traces.traffic import Traffic

__all__ = ["EXPERIMENTS", "run_recorded", "sessions_of"]

SESSION_PAGES = (20, 200)
LONGEST_PAUSE_S = 1000.0  # a longer one is an absence, and cut out
LOGNORMAL = {"lognormal servers": "lognormal:0.5:0.8"}
SERVERS = {"instant servers": "0", **LOGNORMAL}
OWN = tuple(f"lpsm3:{target:g}:400" for target in lpsm3.TARGETS)
SLOWDOWN = "mean slowdown of a page"
BROWSING = DataSet(
    "bu-www-client",
    "Boston University Web client traces 1994-1995, Internet Traffic Archive",
    "pages of the Web model",
    unasked=True,
)


def _sweep(
    first_seed: int, servers: Mapping[str, str], policies: Sequence[str]
) -> Callable[[Setup], dict[str, dict[str, Any]]]:
    """Sessions of the archive, ten a task; in the small size those of the sample; else generated pages."""

    def tasks(setup: Setup) -> dict[str, dict[str, Any]]:
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
            f"sessions {start} to {start + len(names[start : start + 10]) - 1}": {
                **common, **place, "sessions": names[start : start + 10], "seed": first + start
            }
            for start in range(0, len(names), 10)
        }  # fmt: skip

    return tasks


def run_recorded(task: dict[str, Any]) -> Rows:
    """Browse recorded sessions, each by itself, under every policy of a task and with every server."""
    rule = traces.GroupingRule(max_think_s=LONGEST_PAUSE_S)
    sessions = traces.sessions(Path(task["folder"]) / task["trace"]) if "folder" in task else ()
    chosen = [session for session in sessions if session.name in task["sessions"]]
    wanted = {session.name: traces.pages(session.requests, rule=rule) for session in chosen}
    if not wanted:
        wanted = {
            f"generated-{seed}": traces.generate(task["pages"], generator(seed, WORKLOAD)) for seed in task["seeds"]
        }
    found: list[dict[str, Any]] = []
    for place, (name, pages) in enumerate(wanted.items()):
        nothing = np.full(len(pages), np.nan), np.full(len(pages), -1, dtype=np.int64)
        for traffic, server in task["servers"].items():
            servers = [netsim.ServerDelay.parse(server)] * len(pages)
            world = World(Traffic(pages, [server] * len(pages), *nothing, []), servers, task["seed"] + place)
            base = world.browse(BASELINE)
            for policy in task["policies"]:
                result = world.browse(policy)
                common = {"traffic": traffic, "replication": name, "policy": result.policy}
                found.append({**common, **measure(result, base, world)})
    return {"runs": found}


def sessions_of(trace: Path, n_sessions: int, seed: int) -> list[str]:
    """Return names of recorded sessions of 20 to 200 pages, drawn without replacement, in the order of the trace.

    Raises
    ------
    ValueError
        If there is none.
    """
    rule = traces.GroupingRule(max_think_s=LONGEST_PAUSE_S)
    found = [
        session.name
        for session in traces.sessions(trace)
        if SESSION_PAGES[0] <= len(traces.pages(session.requests, rule=rule)) <= SESSION_PAGES[1]
    ]
    if not found:
        raise ValueError(
            f"{trace.name} must hold a session of {SESSION_PAGES[0]} to {SESSION_PAGES[1]} pages, it has none"
        )
    chosen = np.random.default_rng(seed).permutation(len(found))[:n_sessions]
    return [found[place] for place in sorted(chosen.tolist())]


def _sessions(target: float) -> Claim:
    policy = f"lpsm3:{target:g}:400"
    return Claim(
        f"recorded sessions, lognormal servers: the mean slowdown of {policy} is at most {target:g}",
        at_most(mean_of("lognormal servers", "slowdown_mean", [policy]), target), f"{target:g}",
    )  # fmt: skip


def _draw_lpsm2(record: Record) -> Mapping[str, Figure]:
    frames = front_frames(record, dict.fromkeys(SERVERS, lpsm2.THIN), over="page_awake_j", most=(1.3, 1.6))
    return {"lpsm2-browsing": panels(frames, x="energy over page-awake", y=SLOWDOWN)}


def _draw_lpsm3(record: Record) -> Mapping[str, Figure]:
    families = [("hold, host", lpsm3.HOLD), ("LPSM2", lpsm3.LPSM2), ("LPSM3", OWN)]
    frames = front_frames(record, dict.fromkeys(LOGNORMAL, families), over="page_awake_j", most=(1.6, 1.2))
    return {"lpsm3-browsing": panels(frames, x="energy over page-awake", y=SLOWDOWN)}


EXPERIMENTS = (
    Experiment(
        name="ours/lpsm2-browsing",
        subject="LPSM2 on recorded browsing",
        time="1 min",
        sweep=_sweep(lpsm2_runs.FIRST_SEED, SERVERS, lpsm2.SOME),
        run=run_recorded,
        claims=tuple(
            claim
            for traffic in SERVERS
            for claim in (
                limited(traffic, lpsm2.OWN, 1.05),
                saving_claim(traffic, lpsm2.OWN, lpsm2.SOME_BSD, "BSD", 0.0),
                saving_claim(traffic, lpsm2.OWN, lpsm2.SOME_PHASE, "BSD with its phase", 0.0),
                not_above(traffic, lpsm2.OWN, lpsm2.SOME_HOST, "BSD with phase and host"),
            )
        ),
        figures=_draw_lpsm2,
        data=BROWSING,
    ),
    Experiment(
        name="ours/lpsm3-browsing",
        subject="LPSM3 on recorded browsing",
        time="1 min",
        sweep=_sweep(lpsm3.FIRST_SEED, LOGNORMAL, (*OWN, *lpsm3.LPSM2, *lpsm3.HOLD)),
        run=run_recorded,
        claims=(
            *(_sessions(target) for target in lpsm3.TARGETS),
            saving_claim("lognormal servers", lpsm3.OWN, lpsm3.LPSM2, "LPSM2", 0.0),
            saving_claim("lognormal servers", lpsm3.OWN, lpsm3.HOLD, "the fixed rule with the host's knowledge", 0.0),
        ),
        figures=_draw_lpsm3,
        data=BROWSING,
    ),
)
