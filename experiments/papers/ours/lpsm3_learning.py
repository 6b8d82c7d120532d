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

from collections.abc import Iterable, Mapping
from typing import Any

from experiments.papers.claims import Noted, Record
from experiments.papers.kit import Experiment
from experiments.papers.ours.browsed import WEB, blocks, by_kind, family, world_of
from experiments.papers.ours.fronts import (
    DELAY,
    SLOWDOWN,
    at_equal,
    draw_curves,
    draw_fronts,
    energies,
    saving,
    spared_by_parts,
    unhurried,
    values,
)  # fmt: skip
from experiments.papers.ours.lpsm2_learning import HINDSIGHT, fixed, in_hindsight, with_rounds
from experiments.papers.ours.lpsm3 import FIRST_SEED, OWN, SECONDS, pushed
from experiments.papers.predicates import at_least, at_most
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.sleep_planning.hazards import N_WIDTHS

__all__ = ["EXPERIMENTS", "LEARNED", "PARTS", "PARTS_OF_PUSH", "experienced", "regret_j", "without"]

TUNING_SEED = 7100
ELSEWHERE = 500  # so many seeds away is what was learned from beforehand
BURSTY = "push-bursty"
LEARNED_ON, PARTS_ON = (*WEB, BURSTY), ("web-lognormal", "streaming", "shifting")
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


# -- learning ------------------------------------------------------------------------------------------------------


@LEARNING.runs(by_kind(FIRST_SEED, {traffic: (600.0, SECONDS[traffic], 20) for traffic in LEARNED_ON}))
def learn(traffic: str, seconds: float, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Run LPSM3 new and experienced, and LPSM2's best schedules in hindsight."""
    world = world_of(traffic, seconds, seed)
    before = world_of(traffic, seconds, seed + ELSEWHERE).browse(OWN).final_policy
    assert isinstance(before, Lpsm3)
    lpsm2, rounds = with_rounds(world)
    drawn = {**world.under([OWN, experienced(before)]), lpsm2.policy: lpsm2}
    base = world.browse("none")
    tables = {"runs": world.rows({**drawn, **in_hindsight(world, rounds)}, traffic, base=base)}
    if world.traffic.pages:
        tables["curves"] = blocks(drawn, base, traffic, seed)
    return tables


def _on(traffics: Iterable[str]) -> list[dict[str, str]]:
    """Return a row of a claim for each kind of traffic, with the column in which policies are compared there."""
    return [{"traffic": traffic, "column": DELAY if traffic == BURSTY else SLOWDOWN} for traffic in traffics]


@LEARNING.claim(
    "{traffic}: " + OWN + " needs at most 2 J a run more than the best fixed schedules in hindsight", at_most, "2 J",
    "a schedule a context, chosen on the same run; at equal slowdown or delay, between prices", limit=2.0, unit=" J",
    of=_on(LEARNED_ON),
)  # fmt: skip
def regret_j(record: Record, traffic: str, column: str) -> Noted:
    """Measure what LPSM3 needs above the best fixed schedules in hindsight at its own slowdown, joules a run."""
    own = energies(record, traffic, OWN)
    at = values(record, traffic, column, [OWN, *fixed(HINDSIGHT)]).mean()
    words = f"of {own.mean():.0f} J, at {at[OWN]:.3f}; the fastest of the others is at {at[1:].min():.3f}"
    return Noted(own - at_equal(record, traffic, OWN, fixed(HINDSIGHT), column), words)


unhurried(LEARNING, WEB, OWN)


@LEARNING.claim(
    "{traffic}: waits learned on another seed spare at most 2 % of the energy", at_most, "2 %", limit=2.0, unit=" %",
    of=_on(LEARNED_ON),
)  # fmt: skip
def _spared_by_experience(record: Record, traffic: str, column: str) -> Noted:
    joules, at = (values(record, traffic, one, [OWN, EXPERIENCED]) for one in ("total_j", column))
    slow = at.mean()
    return Noted(saving(joules[EXPERIENCED], joules[OWN]), f"at {slow[EXPERIENCED]:.3f}, {slow[OWN]:.3f} new")


draw_curves(LEARNING, "lpsm3-curves", WEB)
_families = [("schedules in hindsight", fixed(HINDSIGHT)), ("LPSM2", ("lpsm2:1.05",)), ("LPSM3", (OWN,)),
             (f"LPSM3 {EXPERIENCED}", (EXPERIENCED,))]  # fmt: skip
draw_fronts(LEARNING, "lpsm3-hindsight", dict.fromkeys(WEB, _families), most=(1.2, 2.0))


# -- parts ---------------------------------------------------------------------------------------------------------

_SEEDS = {"web-lognormal": 8, "streaming": 4, "shifting": 8, BURSTY: 8}


@ABLATIONS.runs(by_kind(TUNING_SEED, {kind: (600.0, SECONDS[kind], count) for kind, count in _SEEDS.items()}))
def runs(traffic: str, seconds: float, seed: int) -> list[dict[str, Any]]:
    """Run LPSM3 whole, at several slowdowns or delays of messages, and with one part taken away at a time."""
    policies: list[Any]
    if traffic == BURSTY:
        policies = [
            *(without(f"{part} {ms} ms", change, max_push_delay_s=ms / 1000)
              for part, change in PARTS_OF_PUSH.items() for ms in DELAYS_MS),
            *map(pushed, DELAYS_MS),
        ]  # fmt: skip
    else:
        policies = [*(without(part, change) for part, change in PARTS.items()), *WHOLE]
    world = world_of(traffic, seconds, seed)
    return world.rows(world.under(policies), traffic)


spared_by_parts(ABLATIONS, "LPSM3", OWN, WHOLE, PARTS, PARTS_ON)


@ABLATIONS.claim(
    BURSTY + ": asked for {ms} ms, messages are no farther from it than they are {part}", at_least, limit=0.0,
    reason="how far the mean delay of a run is from what was asked for, percent of that", unit=" %",
    of=[{"part": part, "ms": ms} for part in PARTS_OF_PUSH for ms in DELAYS_MS],
)  # fmt: skip
def _nearer(record: Record, part: str, ms: int) -> Noted:
    """How much nearer to the delay asked for messages are than without a part, percent of it."""
    names = whole, rest = [pushed(ms), f"{part} {ms} ms"]
    delays, joules = 1000 * values(record, BURSTY, DELAY, names), energies(record, BURSTY, names)
    cost, means, off = saving(joules[rest], joules[whole]).mean(), delays.mean(), (delays - ms).abs()
    words = f"({means[whole]:.0f} ms whole, {means[rest]:.0f} {part}, its energy {cost:.1f} % below)"
    return Noted(100 * (off[rest] - off[whole]) / ms, words)


_families = [("LPSM3", WHOLE), *((part, (part,)) for part in PARTS)]
draw_fronts(ABLATIONS, "lpsm3-parts", dict.fromkeys(PARTS_ON, _families), most=(1.4, 1.5))

EXPERIMENTS = (LEARNING, ABLATIONS)
