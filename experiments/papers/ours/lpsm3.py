"""LPSM3 against everything else, with one configuration: energy at equal slowdown, and whether it keeps what was asked.

What it models: `lpsm3:1.05:400` on every kind of generated traffic, beside static PSM, BSD, BSD with its phase, two
fixed rules that know what the host waits for, and LPSM2; a stream whose player announces its deadlines; messages at
several delays asked for; the link's form; and a radio whose wake-ups cost energy.  The bars were set down, and the
constants of LPSM3 frozen, before a seed from 8000 on was looked at; they were chosen on 7100 to 7107.
What it leaves out: recorded sessions (`papers.ours.browsing`); LPSM, with which LPSM2 was compared
(`papers.ours.lpsm2`); what each part of LPSM3 gives and what learning costs (`papers.ours.lpsm3_parts`); the shared air
(`papers.ours.lpsm3_air`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import nan
from typing import Any

import numpy as np
import pandas as pd

import netsim
from experiments.papers.claims import Claim, Noted, Record
from experiments.papers.kit import Experiment, Setup
from experiments.papers.ours.lpsm2_fronts import energies, fronts, mean_of, saving, saving_claim, spared, values
from experiments.papers.ours.lpsm2_runs import TARGETS, Family, family, world_of
from experiments.papers.predicates import at_least, at_most, each
from experiments.study.compare import estimate

__all__ = ["EXPERIMENTS", "FIRST_SEED", "HOLD", "HOST", "LINKED", "LPSM2", "OWN", "SECONDS", "SLOWDOWN", "pushed"]

FIRST_SEED = 8000
OWN, LINKED = "lpsm3:1.05:400", "lpsm3-link:1.05:400"
HINTED = f"{OWN} with deadlines"
WEB = ("web-instant", "web-constant", "web-lognormal")
MIXED = ("web-and-push", "shifting")
PUSH = {"push-memoryless": (100, 200, 400), "push-bursty": (60, 100, 200, 400)}  # delays asked for, ms
LONG = ("streaming", "shifting")  # packets by the thousand: half as many seeds
HOLD = family("hold:{}", (0, 25, 50, 100, 200, 400))
HOST = family("bsd-host:{}", (0.07, 0.14, 0.28, 0.6))
PERIODS = family("psm:{}", (100, 200, 300, 400, 500, 700, 1000, 1500))
LPSM2 = family("lpsm2:{}", TARGETS)
LPSM2_WIDE = (*LPSM2, "lpsm2:1.2", "lpsm2:1.5")
RADIO = "esp32-c3"
SLOWDOWN = "mean slowdown of a page"
FAMILIES: Mapping[str, Sequence[Family]] = {
    **dict.fromkeys(WEB, (LPSM2, HOST, HOLD)),
    "web-and-push": (family("lpsm2:{}:400", (1.05, 1.08)), HOST[1:], HOLD[2:]),
    "shifting": (family("lpsm2:{}:400", (1.05, 1.08, 1.2)), family("bsd-host:{}", (0.28, 0.6, 1.5)), HOLD[:4]),
    "streaming": (LPSM2_WIDE[1:], family("bsd-host:{}", (0.28, 0.6, 1, 1.5)), HOLD[:3]),
    RADIO: (LPSM2, HOST, HOLD),
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
    **dict.fromkeys((*WEB, RADIO, "web-and-push"), 5500.0), **dict.fromkeys(PUSH, 5400.0), "streaming": 900.0,
    "shifting": 3000.0,
}  # fmt: skip
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


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    """Make the tasks seed by seed, so that what an interrupted run has is of all kinds."""
    tasks: dict[str, dict[str, Any]] = {}
    seeds = dict.fromkeys((*WEB, "web-and-push", *PUSH), 20) | dict.fromkeys(LONG, 10) | {RADIO: 5}
    for place in range(setup.pick(2, 20)):
        for traffic in (kind for kind, count in seeds.items() if place < count):
            seed = FIRST_SEED + setup.seed + place
            world = {"traffic": "web-lognormal", "radio": RADIO} if traffic == RADIO else {"traffic": traffic}
            length = {"seconds": setup.pick(600.0, SECONDS[traffic]), "seed": seed}
            tasks[f"{traffic} seed {seed}"] = world | length | {"policies": list(_policies(traffic))}
    return tasks


@LPSM3.runs(_sweep)
def runs(traffic: str, seconds: float, seed: int, policies: Sequence[str], radio: str = "") -> list[dict[str, Any]]:
    """Browse one world under every policy, with the radio that is named; a stream also with its deadlines."""
    world = world_of(traffic, seconds, seed)
    if radio:
        world = world._replace(config=netsim.SimulationConfig(radio=netsim.RadioConfig.named(radio)))
    results = {policy: world.browse(policy) for policy in policies}
    if traffic == "streaming":
        own = world.traffic
        instants = own.deadlines_s.tolist()
        pages = [page._replace(deadline_s=at) for page, at in zip(own.pages, instants, strict=True)]
        results[HINTED] = world.browse(OWN, pages)
    return world.rows(results, radio or traffic)


# -- measures and kinds of claims ----------------------------------------------------------------------------------


def _savings(traffic: str, *least: float) -> list[Claim]:
    """Claim savings against LPSM2, BSD with the host's knowledge, and the fixed rule; NaN: none."""
    names = ("LPSM2", "BSD, host", "hold, host")
    return [
        saving_claim(traffic, OWN, own, name, percent)
        for name, own, percent in zip(names, FAMILIES[traffic], least, strict=True)
        if percent == percent
    ]


def _every_slowdown(traffics: Sequence[str], limit: float) -> Claim:
    def slowdowns(record: Record) -> dict[str, Any]:
        return {traffic: values(record, traffic, "slowdown_mean", [OWN])[OWN] for traffic in traffics}

    statement = f"the mean slowdown of {OWN} is at most {limit:g} on every seed"
    return Claim(statement, each(slowdowns, high=limit), f"{limit:g}")


def _kept(ms: int, tolerance: float) -> Claim:
    def waits(record: Record) -> pd.Series:
        return 1000 * values(record, "push-bursty", "added_s_mean", [pushed(ms)])[pushed(ms)]

    statement = f"push-bursty: asked for {ms} ms, messages wait at most {tolerance:g} % longer on average"
    return Claim(statement, at_most(waits, ms * (1.0 + tolerance / 100), unit=" ms"), f"{ms} ms")


def below_period(record: Record, traffic: str, ms: int) -> Noted:
    """Measure by how many percent messages cost less than under the constant period of equal delay.

    The energy of a constant period is linear in its inverse, and so is interpolated there.
    """
    own = pushed(ms)
    joules = energies(record, traffic, [own, *PERIODS])
    inverse = 1.0 / values(record, traffic, "added_s_mean", [own, *PERIODS])
    ideal = [
        np.interp(at, across[::-1], up[::-1])
        for at, across, up in zip(
            inverse[own], inverse[list(PERIODS)].to_numpy(), joules[list(PERIODS)].to_numpy(), strict=True
        )
    ]
    delay_s = estimate(values(record, traffic, "added_s_mean", [own])[own]).mean
    return Noted(saving(joules[own], np.array(ideal)), f"below at {1000 * delay_s:.0f} ms")


def _period_claim(traffic: str, ms: int, least_percent: float) -> Claim:
    how = f"at least {least_percent:g} % below" if least_percent > 0 else f"at most {-least_percent:g} % above"
    test = at_least(partial(below_period, traffic=traffic, ms=ms), least_percent, unit=" %")
    statement = f"{traffic}: asked for {ms} ms, {how} the constant period of equal delay"
    return Claim(statement, test, f"{least_percent:g} %")


def _link_near(traffic: str, percent: float) -> Claim:
    def above(record: Record) -> Noted:
        joules, slow = energies(record, traffic, [LINKED, OWN]), values(record, traffic, "slowdown_mean", [LINKED])
        return Noted(-saving(joules[LINKED], joules[OWN]), f"above, at {slow[LINKED].mean():.3f}")

    statement = f"{traffic}: {LINKED} needs at most {percent:g} % more than {OWN}"
    return Claim(statement, at_most(above, percent, unit=" %"), f"{percent:g} %")


def _stalls(record: Record) -> pd.Series:
    return values(record, "streaming", "stalls", [HINTED])[HINTED]


def _below_with_deadlines(record: Record, other: str) -> Noted:
    joules = energies(record, "streaming", [HINTED, other])
    return Noted(saving(joules[HINTED], joules[other]), "below")


# -- claims and pictures -------------------------------------------------------------------------------------------

OF_DEADLINES = (
    Claim("streaming: with its deadlines known, no segment stalls its player", each(_stalls, high=0.0), "0"),
    *(Claim(f"streaming: with its deadlines known, {OWN} needs no more than {words}",
            at_least(partial(_below_with_deadlines, other=other), 0.0, unit=" %"), "0 %")
      for other, words in (("hold:0", "hold:0, which never waits awake"), (OWN, "without them"))),
)  # fmt: skip
LPSM3.claims += [
    *_savings("web-lognormal", 2.0, 6.0, 8.0),
    *_savings("web-constant", 2.0, nan, nan),
    *_savings("web-instant", nan, 0.8, 0.8),
    *_savings("streaming", nan, 3.5, 4.5),
    saving_claim("streaming", OWN, LPSM2[1:], "LPSM2 asked for up to 1.08", 5.0),
    Claim(f"streaming: {OWN} uses less energy than LPSM2 of equal slowdown, also where that is asked for 1.2 and 1.5",
          at_least(partial(spared, traffic="streaming", policy=OWN, family=LPSM2_WIDE[1:]), 0.0, unit=" %"), "0 %"),
    *_savings("web-and-push", 0.0, 5.0, 6.0),
    Claim("web-and-push: messages wait 0.42 s at most on average",
          at_most(partial(mean_of, traffic="web-and-push", column="added_s_mean", policies=[OWN]), 0.42, unit=" s"),
          "0.42 s"),
    *_savings("shifting", 0.0, 2.5, 1.0),
    _every_slowdown((*WEB, *MIXED, "streaming"), 1.0605),
    *(_kept(ms, 5.0 if ms == 400 else 1.0) for ms in PUSH["push-bursty"]),
    *(_period_claim("push-bursty", ms, least) for ms, least in ((60, 5.0), (100, 5.0), (200, 2.5))),
    *(_period_claim("push-memoryless", ms, least) for ms, least in ((100, -1.2), (200, -0.5), (400, -0.5))),
    *(_link_near(traffic, 2.0) for traffic in WEB),
    *_savings(RADIO, 0.0, 0.0, 0.0),
    *OF_DEADLINES,
    *(saving_claim(traffic, OWN, own, name, 0.0)
      for traffic, families in BLIND.items()
      for name, own in zip(("BSD", "BSD with its phase"), families, strict=True)),
]  # fmt: skip


def _fronts(record: Record, most: Mapping[str, tuple[float, float]]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Return the panels of kinds of traffic, with the largest slowdown and energy that each shows."""
    names = ("LPSM2", "BSD, host", "hold, host", "BSD", "BSD, phase")
    for traffic, limits in most.items():
        own = [*zip(names, (*FAMILIES[traffic], *BLIND[traffic]), strict=True), ("LPSM3", (OWN,))]
        own += [("LPSM3, deadlines", (HINTED,))] if traffic == "streaming" else []
        yield from fronts(record, {traffic: own}, over="limit_j", most=limits)


@LPSM3.picture("lpsm3-web", x="energy over the limit", y=SLOWDOWN)
def _web_fronts(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    return _fronts(record, dict.fromkeys(WEB, (1.6, 1.2)))


@LPSM3.picture("lpsm3-mixed", x="energy over the limit", y=SLOWDOWN)
def _mixed_fronts(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    return _fronts(record, {"web-and-push": (1.6, 1.3), "streaming": (2.5, 1.5), "shifting": (1.8, 1.3)})


@LPSM3.picture("lpsm3-push", x="energy over the limit", y="mean added delay of a message [s]")
def _push_fronts(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    push = {name: [("static PSM", PERIODS), ("LPSM3", tuple(map(pushed, own)))] for name, own in PUSH.items()}
    return fronts(record, push, y="added_s_mean", over="limit_j", most=(0.8, 1.6))


EXPERIMENTS = (LPSM3,)
