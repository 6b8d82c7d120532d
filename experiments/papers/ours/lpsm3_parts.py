"""What each part of LPSM3 gives, what learning costs, and what the best schedules in hindsight would have saved.

What it models: in `ours/lpsm3-ablations` one part of LPSM3 is taken away at a time, and what remains is compared with
the whole at equal slowdown; for messages, by how far their mean delay is from the one asked for.  With first seed 0 the
seeds are those that the constants of LPSM3 were chosen on (7100 to 7107), with any other they are fresh.  In
`ours/lpsm3-learning` the best fixed schedules of LPSM2 in hindsight (a schedule a context, chosen on the very run for
several prices of a second) are run beside LPSM3, and regret is what LPSM3 needs above their front at its own slowdown
(its own delay of messages), joules a run.  LPSM3 that has learned waits on another seed beforehand shows what learning
them costs, and learning curves show when.

What it leaves out: schedules that change within a context, and parts that are not numbers of the configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from experiments.papers.claims import Claim, Noted, Record
from experiments.papers.kit import Experiment
from experiments.papers.ours.lpsm2_fronts import (
    at_equal,
    curves,
    energies,
    fronts,
    saving,
    spared_by_parts,
    unhurried,
    values,
)  # fmt: skip
from experiments.papers.ours.lpsm2_learning import HINDSIGHT, fixed, in_hindsight, with_rounds
from experiments.papers.ours.lpsm2_runs import BLOCK, blocks, family, kinds, world_of
from experiments.papers.ours.lpsm3 import FIRST_SEED, OWN, SECONDS, SLOWDOWN, pushed
from experiments.papers.predicates import at_least, at_most
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.sleep_planning.hazards import N_WIDTHS

__all__ = ["EXPERIMENTS", "PARTS", "experienced", "without"]

TUNING_SEED = 7100
ELSEWHERE = 500  # so many seeds away is what was learned from beforehand
BURSTY = "push-bursty"
WEB = ("web-instant", "web-constant", "web-lognormal")
LEARNED_ON = (*WEB, BURSTY)
PARTS_ON = ("web-lognormal", "streaming", "shifting")
WHOLE = family("lpsm3:{}:400", (1.02, 1.05, 1.08, 1.2))
DELAYS_MS = (100, 400)
EXPERIENCED = "after another seed"
LEARNED = ("events", "at_risk_s", "rates", "log_evidence", "mean_rates", "ages")
OF_BOTH: Mapping[str, Mapping[str, float]] = {
    "without learning": {"prior_events": 1e9},
    **{f"with bins of {words} alone": {"alone": which} for which, words in enumerate(("7 %", "40 %", "5.4"))},
}
PARTS: Mapping[str, Mapping[str, float]] = {
    "at a fixed price": {"gain": 1e-9},
    "without good will": {"good_will": 0.0},
    "without a balance at first": {"start": 0.0},
    **OF_BOTH,
}
PARTS_OF_PUSH: Mapping[str, Mapping[str, float]] = {
    "without correction": {"push_memory": 1e9},
    "without aiming lower": {"push_margin": 0.0},
    "without waiting for what was held back": {"held_shape": 1e-9},
    **OF_BOTH,
}
LEARNING = Experiment(
    "ours/lpsm3-learning", "what learning costs LPSM3: regret against the best schedules in hindsight, learning curves",
    "1 min",
)  # fmt: skip
ABLATIONS = Experiment("ours/lpsm3-ablations", "LPSM3 with one part taken away at a time", "1 min")


def without(part: str, change: Mapping[str, float], **more: float) -> Lpsm3:
    """Return LPSM3 with a part taken away, under its name: constants changed, or one of the estimators `alone`."""
    numbers = {**change, **more}
    alone = numbers.pop("alone", None)
    policy = Lpsm3(Lpsm3Config(**numbers), spec=part)
    if alone is not None:
        state = policy.memory[0]
        state["log_evidence"][:, [which for which in range(N_WIDTHS) if which != alone]] = -1e12
        state["mean_rates"][...] = state["rates"][:, int(alone)]
    return policy


def experienced(policy: Lpsm3) -> Lpsm3:
    """Return LPSM3 before a run, but with the waits that another has learned."""
    fresh = Lpsm3(policy.config, spec=EXPERIENCED)
    for name in LEARNED:
        fresh.memory[0][name][...] = policy.memory[0][name]
    return fresh


def _lengths(seeds: Mapping[str, int]) -> dict[str, tuple[float, float, int]]:
    return {traffic: (600.0, SECONDS[traffic], count) for traffic, count in seeds.items()}


# -- learning ------------------------------------------------------------------------------------------------------


@LEARNING.runs(kinds(FIRST_SEED, _lengths(dict.fromkeys(LEARNED_ON, 20))))
def learn(traffic: str, seconds: float, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Run LPSM3 new and experienced, and LPSM2's best schedules in hindsight."""
    world = world_of(traffic, seconds, seed)
    before = world_of(traffic, seconds, seed + ELSEWHERE).browse(OWN).final_policy
    assert isinstance(before, Lpsm3)
    lpsm2, rounds = with_rounds(world)
    drawn = {OWN: world.browse(OWN), EXPERIENCED: world.browse(experienced(before)), lpsm2.policy: lpsm2}
    base = world.browse("none")
    tables = {"runs": world.rows({**drawn, **in_hindsight(world, rounds)}, traffic, base=base)}
    if world.traffic.pages:
        tables["curves"] = blocks(drawn, base, traffic=traffic, replication=f"seed-{seed}")
    return tables


def _column(traffic: str) -> str:
    return "added_s_mean" if traffic == BURSTY else "slowdown_mean"


def regret_j(record: Record, traffic: str) -> Noted:
    """Measure what LPSM3 needs above the best fixed schedules in hindsight at its own slowdown, joules a run."""
    own = energies(record, traffic, [OWN])[OWN]
    at = values(record, traffic, _column(traffic), [OWN, *fixed(HINDSIGHT)]).mean()
    words = f"of {own.mean():.0f} J, at {at[OWN]:.3f}; the fastest of the others is at {at[1:].min():.3f}"
    return Noted(own - at_equal(record, traffic, OWN, fixed(HINDSIGHT), _column(traffic)), words)


def _spared_by_experience(record: Record, traffic: str) -> Noted:
    joules = energies(record, traffic, [OWN, EXPERIENCED])
    at = values(record, traffic, _column(traffic), [OWN, EXPERIENCED]).mean()
    return Noted(saving(joules[EXPERIENCED], joules[OWN]), f"at {at[EXPERIENCED]:.3f}, {at[OWN]:.3f} new")


LEARNING.claims += [
    *(Claim(f"{traffic}: {OWN} needs at most 2 J a run more than the best fixed schedules in hindsight",
            at_most(partial(regret_j, traffic=traffic), 2.0, unit=" J"), "2 J",
            "a schedule a context, chosen on the same run; at equal slowdown or delay, between prices")
      for traffic in LEARNED_ON),
    *unhurried(WEB, OWN),
    *(Claim(f"{traffic}: waits learned on another seed spare at most 2 % of the energy",
            at_most(partial(_spared_by_experience, traffic=traffic), 2.0, unit=" %"), "2 %")
      for traffic in LEARNED_ON),
]  # fmt: skip
LEARNING.picture("lpsm3-curves", x="page", y="mean slowdown of ten pages")(partial(curves, traffics=WEB, block=BLOCK))


@LEARNING.picture("lpsm3-hindsight", x="energy over the limit", y=SLOWDOWN)
def _hindsight(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    families = [("schedules in hindsight", fixed(HINDSIGHT)), ("LPSM2", ("lpsm2:1.05",)), ("LPSM3", (OWN,))]
    families += [(f"LPSM3 {EXPERIENCED}", (EXPERIENCED,))]
    return fronts(record, dict.fromkeys(WEB, families), over="limit_j", most=(1.2, 2.0))


# -- parts ---------------------------------------------------------------------------------------------------------


@ABLATIONS.runs(kinds(TUNING_SEED, _lengths({"web-lognormal": 8, "streaming": 4, "shifting": 8, BURSTY: 8})))
def runs(traffic: str, seconds: float, seed: int) -> list[dict[str, Any]]:
    """Run LPSM3 whole, at several slowdowns or delays of messages, and with one part taken away at a time."""
    policies: dict[str, Any]
    if traffic == BURSTY:
        policies = {
            f"{part} {ms} ms": without(part, change, max_push_delay_s=ms / 1000)
            for part, change in PARTS_OF_PUSH.items()
            for ms in DELAYS_MS
        } | {pushed(ms): pushed(ms) for ms in DELAYS_MS}
    else:
        policies = {part: without(part, change) for part, change in PARTS.items()} | {name: name for name in WHOLE}
    world = world_of(traffic, seconds, seed)
    return world.rows({name: world.browse(policy) for name, policy in policies.items()}, traffic)


def _nearer(record: Record, part: str, ms: int) -> Noted:
    """How much nearer to the delay asked for messages are than without a part, percent of it."""
    names = whole, rest = [pushed(ms), f"{part} {ms} ms"]
    delays, joules = 1000 * values(record, BURSTY, "added_s_mean", names), energies(record, BURSTY, names)
    cost, means, off = saving(joules[rest], joules[whole]).mean(), delays.mean(), (delays - ms).abs()
    words = f"({means[whole]:.0f} ms whole, {means[rest]:.0f} {part}, its energy {cost:.1f} % below)"
    return Noted(100 * (off[rest] - off[whole]) / ms, words)


ABLATIONS.claims += [
    *spared_by_parts("LPSM3", OWN, WHOLE, PARTS, PARTS_ON),
    *(Claim(f"{BURSTY}: asked for {ms} ms, messages are no farther from it than they are {part}",
            at_least(partial(_nearer, part=part, ms=ms), 0.0, unit=" %"),
            reason="how far the mean delay of a run is from what was asked for, percent of that")
      for part in PARTS_OF_PUSH
      for ms in DELAYS_MS),
]  # fmt: skip


@ABLATIONS.picture("lpsm3-parts", x="energy over the limit", y=SLOWDOWN)
def _fronts(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    families = [("LPSM3", WHOLE), *((part, (part,)) for part in PARTS)]
    return fronts(record, dict.fromkeys(PARTS_ON, families), over="limit_j", most=(1.4, 1.5))


EXPERIMENTS = (LEARNING, ABLATIONS)
