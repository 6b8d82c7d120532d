"""LPSM3 with one configuration: energy at equal slowdown, what was asked for, what learning costs, and its parts.

What it models: `lpsm3:1.05:400` on every kind of generated traffic, beside static PSM, BSD, BSD with its phase, two
fixed rules that know what the host waits for, and LPSM2; a stream whose player announces its deadlines; messages at
several delays asked for; the link's form; and a radio whose wake-ups cost energy.  The bars were set down, and the
constants of LPSM3 frozen, before a seed from 8000 on was looked at; they were chosen on 7100 to 7107.

In `ours/lpsm3-learning` the best fixed schedules of LPSM2 in hindsight (a schedule a context, chosen on the very run
for several prices of a second) are run beside LPSM3, and regret is what LPSM3 needs above their front at its own
slowdown (its own delay of messages), joules a run.  LPSM3 that has learned waits on another seed beforehand shows what
learning them costs, and learning curves show when.
In `ours/lpsm3-ablations` one part of LPSM3 is taken away at a time, and what remains is compared with
the whole at equal slowdown; for messages, by how far their mean delay is from the one asked for.  With first seed 0 the
seeds are those that the constants of LPSM3 were chosen on, with any other they are fresh.

What it leaves out: recorded sessions (`papers.ours.browsing`); LPSM, with which LPSM2 was compared
(`papers.ours.lpsm2`); the shared air (`papers.ours.lpsm3_worlds`); schedules that change within a context, and parts
that are not numbers of the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from experiments.papers.claims import Claim, Noted, Record
from experiments.papers.kit import Experiment
from experiments.papers.ours.browsed import WEB, Family, blocks, by_kind, family, world_of
from experiments.papers.ours.fronts import (
    DELAY,
    SLOWDOWN,
    at_equal,
    draw_curves,
    draw_fronts,
    energies,
    saving,
    saving_claim,
    spared,
    spared_by_parts,
    unhurried,
    values,
)  # fmt: skip
from experiments.papers.ours.lpsm2 import HINDSIGHT, UP_TO_8, fixed, in_hindsight, with_rounds
from experiments.papers.predicates import at_least, at_most, each
from experiments.study.compare import estimate
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.sleep_planning.hazards import N_WIDTHS

__all__ = ["EXPERIMENTS", "FIRST_SEED", "HOLD", "HOST", "LINKED", "OWN", "pushed"]

FIRST_SEED = 8000
OWN, LINKED = "lpsm3:1.05:400", "lpsm3-link:1.05:400"
HINTED = f"{OWN} with deadlines"
PUSH = {"push-memoryless": (100, 200, 400), "push-bursty": (60, 100, 200, 400)}  # delays asked for, ms
LONG = ("streaming", "shifting")  # packets by the thousand: half as many seeds
HOLD = family("hold:{}", (0, 25, 50, 100, 200, 400))
HOST = family("bsd-host:{}", (0.07, 0.14, 0.28, 0.6))
PERIODS = family("psm:{}", (100, 200, 300, 400, 500, 700, 1000, 1500))
LPSM2_WIDE = (*UP_TO_8, "lpsm2:1.2", "lpsm2:1.5")
RADIO = "esp32-c3"
FAMILIES: Mapping[str, Sequence[Family]] = {
    **dict.fromkeys(WEB, (UP_TO_8, HOST, HOLD)),
    "web-and-push": (family("lpsm2:{}:400", (1.05, 1.08)), HOST[1:], HOLD[2:]),
    "shifting": (family("lpsm2:{}:400", (1.05, 1.08, 1.2)), family("bsd-host:{}", (0.28, 0.6, 1.5)), HOLD[:4]),
    "streaming": (LPSM2_WIDE[1:], family("bsd-host:{}", (0.28, 0.6, 1, 1.5)), HOLD[:3]),
    RADIO: (UP_TO_8, HOST, HOLD),
}
"""Members of LPSM2, BSD with the host's knowledge and the fixed rule: those around the slowdown that is asked for."""
BLIND: Mapping[str, Sequence[Family]] = {
    traffic: (family("bsd:{}", plain), family("bsd-phase:{}", phase))
    for traffic, plain, phase in (
        ("web-instant", (1.4, 2), (0.28, 0.6)),
        ("web-constant", (0.14, 0.28), (0.14, 0.28)),
        ("web-lognormal", (0.14, 0.28), (0.14, 0.28)),
        ("web-and-push", (0.14, 0.28), (0.14, 0.28)),
        ("shifting", (0.55, 1), (0.28, 0.6)),
        ("streaming", (1.4, 2), (0.6, 1.5)),
    )
}
"""Members of BSD, without and with its phase, on both sides of that slowdown."""
SECONDS = {
    **dict.fromkeys((*WEB, "web-and-push"), 5500.0), **dict.fromkeys(PUSH, 5400.0), "streaming": 900.0,
    "shifting": 3000.0, RADIO: 5500.0,
}  # fmt: skip
SEEDS = {RADIO: 5, **dict.fromkeys(LONG, 10)}
LPSM3 = Experiment(
    "ours/lpsm3", "LPSM3, one configuration on everything: energy at equal slowdown, and what was asked for", "5 min"
)


def pushed(ms: int) -> str:
    """Return the policy that is asked for a delay of messages."""
    return f"lpsm3:1.05:{ms}"


def _policies(traffic: str) -> Family:
    if traffic in PUSH:
        return (*map(pushed, PUSH[traffic]), *PERIODS)
    links = (LINKED, "lpsm2-link:1.05") if traffic in WEB else ()
    families = (*FAMILIES[traffic], *BLIND.get(traffic, ()))
    return (OWN, *links, "psm:100", *(policy for own in families for policy in own))


_LENGTHS = {traffic: (600.0, length, SEEDS.get(traffic, 20)) for traffic, length in SECONDS.items()}


@LPSM3.runs(by_kind(FIRST_SEED, _LENGTHS, _policies, by_seed=True))
def runs(traffic: str, seconds: float, seed: int, policies: Sequence[str]) -> list[dict[str, Any]]:
    """Browse one world under every policy; a stream also with its deadlines."""
    world = world_of(traffic, seconds, seed)
    results = world.under(policies)
    if traffic == "streaming":
        timed = zip(world.traffic.pages, world.traffic.deadlines_s.tolist(), strict=True)
        results[HINTED] = world.browse(OWN, [page._replace(deadline_s=at) for page, at in timed])
    return world.rows(results, traffic)


# -- measures and kinds of claims ----------------------------------------------------------------------------------


def _savings(traffic: str, *least: float | None) -> list[Claim]:
    """Claim savings against LPSM2, BSD with the host's knowledge, and the fixed rule, where there is a number."""
    return [
        saving_claim(traffic, OWN, own, name, percent)
        for name, own, percent in zip(("LPSM2", "BSD, host", "hold, host"), FAMILIES[traffic], least, strict=True)
        if percent is not None
    ]


def _slowdowns(record: Record) -> dict[str, Any]:
    return {traffic: values(record, traffic, SLOWDOWN, OWN) for traffic in BLIND}


def _waits(record: Record, ms: int) -> pd.Series:
    waits: pd.Series = 1000 * values(record, "push-bursty", DELAY, pushed(ms))
    return waits


def below_period(record: Record, traffic: str, ms: int) -> Noted:
    """Measure by how many percent messages cost less than under the constant period of equal delay.

    The energy of a constant period is linear in its inverse, and so is interpolated there.
    """
    own, periods = pushed(ms), list(PERIODS)
    joules, delays_s = (values(record, traffic, one, [own, *periods]) for one in ("total_j", DELAY))
    inverse = 1.0 / delays_s
    lines = zip(inverse[own], inverse[periods].to_numpy(), joules[periods].to_numpy(), strict=True)
    ideal = [np.interp(at, across[::-1], up[::-1]) for at, across, up in lines]
    return Noted(saving(joules[own], ideal), f"below at {1000 * estimate(delays_s[own]).mean:.0f} ms")


def _period_claim(traffic: str, ms: int, least_percent: float) -> Claim:
    how = f"at least {least_percent:g} % below" if least_percent > 0 else f"at most {-least_percent:g} % above"
    test = at_least(partial(below_period, traffic=traffic, ms=ms), least_percent, unit=" %")
    statement = f"{traffic}: asked for {ms} ms, {how} the constant period of equal delay"
    return Claim(statement, test, f"{least_percent:g} %")


def _link_above(record: Record, traffic: str) -> Noted:
    joules, slow = energies(record, traffic, [LINKED, OWN]), values(record, traffic, SLOWDOWN, LINKED)
    return Noted(-saving(joules[LINKED], joules[OWN]), f"above, at {slow.mean():.3f}")


def _below_with_deadlines(record: Record, other: str) -> Noted:
    joules = energies(record, "streaming", [HINTED, other])
    return Noted(saving(joules[HINTED], joules[other]), "below")


# -- claims and pictures -------------------------------------------------------------------------------------------

OF_DEADLINES = (
    Claim("streaming: with its deadlines known, no segment stalls its player",
          each(partial(values, traffic="streaming", column="stalls", policies=HINTED), high=0.0), "0"),
    *(Claim(f"streaming: with its deadlines known, {OWN} needs no more than {words}",
            at_least(partial(_below_with_deadlines, other=other), 0.0, unit=" %"), "0 %")
      for other, words in (("hold:0", "hold:0, which never waits awake"), (OWN, "without them"))),
)  # fmt: skip
LPSM3.claims += [
    *_savings("web-lognormal", 2.0, 6.0, 8.0),
    *_savings("web-constant", 2.0, None, None),
    *_savings("web-instant", None, 0.8, 0.8),
    *_savings("streaming", None, 3.5, 4.5),
    saving_claim("streaming", OWN, UP_TO_8[1:], "LPSM2 asked for up to 1.08", 5.0),
    Claim(f"streaming: {OWN} uses less energy than LPSM2 of equal slowdown, also where that is asked for 1.2 and 1.5",
          at_least(partial(spared, traffic="streaming", policy=OWN, family=LPSM2_WIDE[1:]), 0.0, unit=" %"), "0 %"),
    *_savings("web-and-push", 0.0, 5.0, 6.0),
    Claim("web-and-push: messages wait 0.42 s at most on average",
          at_most(partial(values, traffic="web-and-push", column=DELAY, policies=OWN), 0.42, unit=" s"), "0.42 s"),
    *_savings("shifting", 0.0, 2.5, 1.0),
    Claim(f"the mean slowdown of {OWN} is at most 1.0605 on every seed", each(_slowdowns, high=1.0605), "1.0605"),
    *(Claim(f"push-bursty: asked for {ms} ms, messages wait at most {percent:g} % longer on average",
            at_most(partial(_waits, ms=ms), ms * (1.0 + percent / 100), unit=" ms"), f"{ms} ms")
      for ms, percent in zip(PUSH["push-bursty"], (1.0, 1.0, 1.0, 5.0), strict=True)),
    *(_period_claim("push-bursty", ms, least) for ms, least in ((60, 5.0), (100, 5.0), (200, 2.5))),
    *(_period_claim("push-memoryless", ms, least) for ms, least in ((100, -1.2), (200, -0.5), (400, -0.5))),
    *(Claim(f"{traffic}: {LINKED} needs at most 2 % more than {OWN}",
            at_most(partial(_link_above, traffic=traffic), 2.0, unit=" %"), "2 %") for traffic in WEB),
    *_savings(RADIO, 0.0, 0.0, 0.0),
    *OF_DEADLINES,
    *(saving_claim(traffic, OWN, own, name, 0.0)
      for traffic, families in BLIND.items()
      for name, own in zip(("BSD", "BSD with its phase"), families, strict=True)),
]  # fmt: skip
_names = ("LPSM2", "BSD, host", "hold, host", "BSD", "BSD, phase")
_fronts = {
    traffic: [*zip(_names, (*FAMILIES[traffic], *BLIND[traffic]), strict=True), ("LPSM3", (OWN,)),
              *([("LPSM3, deadlines", (HINTED,))] if traffic == "streaming" else [])]
    for traffic in BLIND
}  # fmt: skip
_mixed = {"web-and-push": (1.6, 1.3), "streaming": (2.5, 1.5), "shifting": (1.8, 1.3)}
draw_fronts(LPSM3, "lpsm3-web", {traffic: _fronts[traffic] for traffic in WEB}, most=(1.6, 1.2))
draw_fronts(LPSM3, "lpsm3-mixed", {traffic: _fronts[traffic] for traffic in _mixed}, most=_mixed)
_push = {name: [("static PSM", PERIODS), ("LPSM3", tuple(map(pushed, own)))] for name, own in PUSH.items()}
draw_fronts(LPSM3, "lpsm3-push", _push, y=DELAY, most=(0.8, 1.6))


# -- what is learned ---------------------------------------------------------------------------------------------

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

_PARTS_SEEDS = {"web-lognormal": 8, "streaming": 4, "shifting": 8, BURSTY: 8}


@ABLATIONS.runs(by_kind(TUNING_SEED, {kind: (600.0, SECONDS[kind], count) for kind, count in _PARTS_SEEDS.items()}))
def without_parts(traffic: str, seconds: float, seed: int) -> dict[str, list[dict[str, Any]]]:
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
    return {"runs": world.rows(world.under(policies), traffic)}


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

EXPERIMENTS = (LPSM3, LEARNING, ABLATIONS)
