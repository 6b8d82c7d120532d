"""What our own studies browse: worlds, the policies that are made for them, and what is kept of a run.

What it models: a task is one seed of one world, browsed under every policy; all of them meet the same pages, servers
and messages.  A world is a kind of traffic (`traces.traffic`) on the standard link; one of `CONFIGS`, the Web model
with lognormal servers elsewhere; or `RECORDED`, a session of Boston University's students of 20 to 200 pages, with
lognormal servers, as the record does not tell their times.  Beside policies by their specification there are those with
a name of their own: LPSM3 without one of `PARTS`, or with the waits that it has learned on another seed
(`EXPERIENCED`); the best fixed schedules of LPSM2 in `HINDSIGHT`, one for every price of a second of delay; and a
specification with `HINTED` behind it, which is told when segments of a stream have to be there.
What it leaves out: pauses of more than 1,000 s in recorded sessions, which are absences and cut out.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import netsim
import traces
from experiments.quantities import BASELINE, Row, run_row
from lpsm.randomness import WORKLOAD, generator
from netsim.policies import AnyPolicy
from netsim.policies.lpsm2 import CONTEXTS, Lpsm2, Lpsm2Config
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.sleep_planning.hazards import N_WIDTHS
from traces.traffic import KINDS, Traffic, draw, stalls

BLOCK = 10  # pages
SLOWDOWN, DELAY, TOGETHER = "slowdown_mean", "added_s_mean", "slowdown_all"
SESSION_PAGES = (20, 200)
RULE = traces.GroupingRule(max_think_s=1000.0)
RECORDED = "lognormal servers"
OWN = "lpsm3:1.05:400"
HINTED = " with deadlines"
EXPERIENCED, ELSEWHERE = "after another seed", 500  # so many seeds away
LEARNED = ("events", "at_risk_s", "rates", "log_evidence", "mean_rates", "ages")
HINDSIGHT = {f"fixed in hindsight {price_w:g}": price_w for price_w in (2.0, 6.0, 15.0, 40.0)}
PARTS: dict[str, Row] = {
    "at a fixed price": {"gain": 1e-9},
    "without good will": {"good_will": 0.0},
    "without a balance at first": {"start": 0.0},
    "without learning": {"prior_events": 1e9},
    **{f"with bins of {words} alone": {"alone": which} for which, words in enumerate(("7 %", "40 %", "5.4"))},
}


def _air(neighbours, mbps, phy="11g:54"):
    """Return the shared air under the radio of an ESP32-C6."""
    air = netsim.AirConfig(phy=netsim.Phy.parse(phy), neighbours=neighbours, neighbour_mbps=mbps)
    radio = netsim.Radio.named("esp32-c6")
    return netsim.SimulationConfig(medium=air, radio=radio, beacon_interval_ns=102_400_000)


CONFIGS = {
    "esp32-c3": netsim.SimulationConfig(radio=netsim.RadioConfig.named("esp32-c3")),
    "1 % lost": netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=0.01)),
    "3 % lost": netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=0.03)),
    "air": _air(0, 1.0),
    "802.11n": _air(0, 1.0, "11n"),
    "air, 5 neighbours": _air(5, 1.0),
    "ten neighbours": _air(10, 0.5),
    "round trip 300 ms": netsim.SimulationConfig(link=netsim.LinkConfig(wired_delay_ms=150.0)),
    "beacons 200 ms": netsim.SimulationConfig(beacon_interval_ns=200_000_000),
}


class World(NamedTuple):
    """Traffic with its servers, ready to be browsed."""

    traffic: Traffic
    seed: int
    config: netsim.SimulationConfig = netsim.SimulationConfig()

    def browse(self, policy: AnyPolicy) -> netsim.SimulationResult:
        """Browse it under a policy, or a specification with `HINTED` behind it."""
        pages, servers = self.traffic.pages, [netsim.ServerDelay.parse(server) for server in self.traffic.servers]
        if isinstance(policy, str) and policy.endswith(HINTED):
            timed = zip(pages, self.traffic.deadlines_s.tolist(), strict=True)
            pages, policy = [page._replace(deadline_s=at) for page, at in timed], policy.removesuffix(HINTED)
        messages = self.traffic.messages
        return netsim.simulate(pages, policy, config=self.config, push=messages, server_delays=servers, seed=self.seed)


def world_of(traffic: str, seconds: float, seed: int, pause: float = 1.0) -> World:
    """Draw a world, KIND, CONFIG or KIND on CONFIG, of a length in seconds, with such a share of its pauses."""
    kind, _, place = traffic.partition(" on ")
    drawn = draw(kind if kind in KINDS else "web-lognormal", seconds, generator(seed, WORKLOAD))
    pages = [page._replace(think_s=pause * page.think_s) for page in drawn.pages]
    return World(drawn._replace(pages=pages), seed, CONFIGS.get(place or traffic, netsim.SimulationConfig()))


@lru_cache(maxsize=1)
def sessions(trace: Path) -> dict[str, list[traces.Page]]:
    """Return the pages of the recorded sessions of 20 to 200 pages by name, in the order of the trace.

    Raises ValueError if there is none.
    """
    named = ((one.name, list(traces.pages(one.requests, rule=RULE))) for one in traces.sessions(trace))
    least, most = SESSION_PAGES
    found = {name: pages for name, pages in named if least <= len(pages) <= most}
    if not found:
        raise ValueError(f"{trace.name} must hold a session of {least} to {most} pages, it has none")
    return found


def recorded(trace: Path, session: str, seed: int) -> World:
    """Return the world of a recorded session, with lognormal servers."""
    return World(Traffic.plain(sessions(trace)[session], [], "lognormal:0.5:0.8"), seed)


def runs(traffic, seed, policies, seconds=0.0, pause=1.0, curves=(), folder="", trace="", session=""):
    """Browse one world under every policy, and keep the slowdown of some by blocks of ten pages."""
    world = recorded(Path(folder) / trace, session, seed) if session else world_of(traffic, seconds, seed, pause)
    made: Row = {part: without(part, **change) for part, change in PARTS.items() if part in policies}
    if EXPERIENCED in policies:
        made[EXPERIENCED] = experienced(world_of(traffic, seconds, seed + ELSEWHERE, pause).browse(OWN).final_policy)
    if set(HINDSIGHT) & set(policies):
        rounds: Any = world.browse(Lpsm2(Lpsm2Config(record=True))).final_policy
        made |= {name: fixed_schedules(best_schedules(rounds.record, price)) for name, price in HINDSIGHT.items()}
    results = {policy: world.browse(made.get(policy, policy)) for policy in policies}
    base = results.get(BASELINE) or world.browse(BASELINE)
    common = {"traffic": traffic, "replication": session or f"seed-{seed}"}
    early = [
        {**common, "policy": policy, "first_page": first,
         "slowdown": float((results[policy].latency_s / base.latency_s)[first : first + BLOCK].mean())}
        for policy in curves for first in range(0, len(base.latency_s) - BLOCK + 1, BLOCK)
    ]  # fmt: skip
    rows = [{**common, "policy": policy, **measure(one, base, world)} for policy, one in results.items()]
    return {"runs": rows, **({"curves": early} if early else {})}


def measure(result: netsim.SimulationResult, base: netsim.SimulationResult, world: World) -> Row:
    """Return the totals of a run beside the run without power saving; NaN where there are no pages or no messages."""
    late_s = stalls(world.traffic.deadlines_s, world.traffic.viewings, result.pages["issue_s"] + result.latency_s)
    added_s: pd.Series = result.messages["delay_s"] - base.messages["delay_s"]
    whole_s = float(base.latency_s.sum())
    return {
        **run_row(result),
        "messages": len(added_s),
        SLOWDOWN: float(pd.Series(result.latency_s / base.latency_s).mean()),
        TOGETHER: float(result.latency_s.sum()) / whole_s if whole_s else float("nan"),
        DELAY: float(added_s.mean()),
        "stalls": int(np.count_nonzero(late_s > 0.0)),
    }


def without(part, alone=None, **change):
    """Return LPSM3 with a part taken away, under its name: constants changed, or one of the estimators `alone`."""
    policy = Lpsm3(Lpsm3Config(**change), spec=part)
    if alone is not None:
        state = policy.memory[0]
        state["log_evidence"][:, [which for which in range(N_WIDTHS) if which != alone]] = -1e12
        state["mean_rates"][...] = state["rates"][:, alone]
    return policy


def experienced(policy):
    """Return LPSM3 before a run, but with the waits that another has learned."""
    fresh = Lpsm3(policy.config, spec=EXPERIENCED)
    for name in LEARNED:
        fresh.memory[0][name][...] = policy.memory[0][name]
    return fresh


def fixed_schedules(chosen):
    """Return LPSM2 without its learning: one schedule a context, given by number in the order of the contexts."""
    return Lpsm2(Lpsm2Config(fixed=tuple(chosen)))


def best_schedules(rounds, price_w):
    """Return the schedule of least cost in every context, a second of delay being worth `price_w` joules.

    A context without a round takes the schedule that is best in all rounds together.
    """
    costs = np.array([one.costs + (price_w - one.price_w) / one.waiting * one.delay_ns * 1e-9 for one in rounds])
    contexts = np.array([one.context for one in rounds])
    own = [costs[contexts == context] for context in CONTEXTS]
    return tuple(int((some if len(some) else costs).sum(axis=0).argmin()) for some in own)
