"""LPSM3 with one configuration: energy at equal slowdown, what was asked for, what learning costs, and its parts.

What it models: `ours/lpsm3` runs `lpsm3:1.05:400` on all kinds of generated traffic beside six families, a stream whose
player announces its deadlines, messages at several delays asked for, and the link's form.  The figures required were
set down, and the constants frozen, before a seed from 8000 on was looked at; they were chosen on 7100 to 7107.
In `ours/lpsm3-learning` regret is what LPSM3 needs above the front of LPSM2's best fixed schedules in hindsight, at its
own slowdown (delay of messages); LPSM3 that has learned waits on another seed shows what learning them costs.
`ours/lpsm3-ablations` takes one part away at a time, with first seed 0 on the seeds that the constants were chosen on.
In `ours/lpsm3-air` frames are lost, or the air is shared; the slowdown there is that of all pages of a run together, as
frames that are lost under one policy alone say nothing of a page.
In `ours/lpsm3-worlds` 25 worlds are browsed under LPSM3 and 36 settings of rivals.  Who may change from rival to rival
reaches every mean between theirs: the *time-sharing hull*, the least energy of a mixture of rivals that is no slower,
neither its pages nor its messages (a linear program).  The mixture is that of the means; its weights and the worth of
slowdown and delay then make a difference a seed, which is paired.
What it leaves out: recorded sessions (`papers.ours.browsing`), schedules that change within a context, cells of several
clients, messages and streams on the air, and rivals that change by what they see.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linprog

from experiments.papers.claims import Noted
from experiments.papers.kit import Experiment
from experiments.papers.ours.lpsm2 import HINDSIGHT, UP_TO_8, in_hindsight
from experiments.papers.ours.lpsm2 import OWN as LPSM2
from experiments.papers.ours.worlds import (
    DELAY,
    HINTED,
    SLOWDOWN,
    WEB,
    Case,
    at_equal,
    blocks,
    draw_curves,
    draw_fronts,
    energies,
    family,
    over_asked,
    runs,
    saving,
    spared,
    spared_by_parts,
    sweep,
    unhurried,
    values,
    world_of,
)
from experiments.papers.predicates import at_least, at_most, each, reaching
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.sleep_planning.hazards import N_WIDTHS

FIRST_SEED = 8000
OWN, LINKED = "lpsm3:1.05:400", "lpsm3-link:1.05:400"
TIMED = OWN + HINTED
PUSH = {"push-memoryless": (100, 200, 400), "push-bursty": (60, 100, 200, 400)}  # delays asked for, ms
HOLD = family("hold:{}", (0, 25, 50, 100, 200, 400))
HOST = family("bsd-host:{}", (0.07, 0.14, 0.28, 0.6))
PERIODS = family("psm:{}", (100, 200, 300, 400, 500, 700, 1000, 1500))
LPSM2_WIDE = (*UP_TO_8, "lpsm2:1.2", "lpsm2:1.5")
NAMES = ("LPSM2", "BSD, host", "hold, host", "BSD", "BSD, phase")
FAMILIES = {
    traffic: (*own, family("bsd:{}", plain), family("bsd-phase:{}", phase))
    for traffic, own, plain, phase in (
        (WEB[0], (UP_TO_8, HOST, HOLD), (1.4, 2), (0.28, 0.6)),
        (WEB[1], (UP_TO_8, HOST, HOLD), (0.14, 0.28), (0.14, 0.28)),
        (WEB[2], (UP_TO_8, HOST, HOLD), (0.14, 0.28), (0.14, 0.28)),
        ("web-and-push", (family("lpsm2:{}:400", (1.05, 1.08)), HOST[1:], HOLD[2:]), (0.14, 0.28), (0.14, 0.28)),
        ("shifting", (family("lpsm2:{}:400", (1.05, 1.08, 1.2)), family("bsd-host:{}", (0.28, 0.6, 1.5)), HOLD[:4]),
         (0.55, 1), (0.28, 0.6)),
        ("streaming", (LPSM2_WIDE[1:], family("bsd-host:{}", (0.28, 0.6, 1, 1.5)), HOLD[:3]), (1.4, 2), (0.6, 1.5)),
    )
}  # fmt: skip
"""Members of the families called `NAMES`: those around the slowdown that is asked for."""
RADIO = {"esp32-c3": (UP_TO_8, HOST, HOLD)}
SECONDS = {
    **dict.fromkeys((*WEB, "web-and-push"), 5500.0), **dict.fromkeys(PUSH, 5400.0), "streaming": 900.0,
    "shifting": 3000.0, "esp32-c3": 5500.0,
}  # fmt: skip
SEEDS = {"esp32-c3": 5, "streaming": 10, "shifting": 10}  # packets by the thousand: half as many
LPSM3 = Experiment(
    "ours/lpsm3", "LPSM3, one configuration on everything: energy at equal slowdown, and what was asked for", "5 min"
)


def pushed(ms):
    """Return the policy that is asked for a delay of messages."""
    return f"lpsm3:1.05:{ms}"


def _policies(traffic):
    if traffic in PUSH:
        yield from (*map(pushed, PUSH[traffic]), *PERIODS)
        return
    yield from (OWN, *((LINKED, "lpsm2-link:1.05") if traffic in WEB else ()), "psm:100")
    for own in (FAMILIES | RADIO)[traffic]:
        yield from own
    if traffic == "streaming":
        yield TIMED


_LENGTHS = {traffic: (600.0, length, SEEDS.get(traffic, 20)) for traffic, length in SECONDS.items()}
LPSM3.runs(sweep(FIRST_SEED, _LENGTHS, _policies))(runs)

BARS = {  # percent set beforehand below the first three families
    "web-lognormal": (2.0, 6.0, 8.0), "web-constant": (2.0, None, None), "web-instant": (None, 0.8, 0.8),
    "streaming": (0.0, 3.5, 4.5), "web-and-push": (0.0, 5.0, 6.0), "shifting": (0.0, 2.5, 1.0),
    "esp32-c3": (0.0, 0.0, 0.0),
}  # fmt: skip
PERIOD_BARS = {  # percent set beforehand below the constant period, by delay asked for
    "push-bursty": {60: 5.0, 100: 5.0, 200: 2.5}, "push-memoryless": {100: -1.2, 200: -0.5, 400: -0.5}
}  # fmt: skip
_set_down = [
    *(Case(traffic, OWN, name, own, bar)
      for traffic, bars in BARS.items()
      for name, own, bar in zip(NAMES[:3], (FAMILIES | RADIO)[traffic], bars, strict=False) if bar is not None),
    Case("streaming", OWN, "LPSM2 up to 1.08", UP_TO_8[1:], 5.0),
]  # fmt: skip
_blind = [Case(traffic, OWN, *one) for traffic, own in FAMILIES.items() for one in zip(NAMES[3:], own[3:], strict=True)]
LPSM3.claim(
    "energy is below that of each family at equal slowdown, by what was set beforehand", at_least, unit=" %",
    reason="families are interpolated seed by seed at the policy's own slowdown",
)(spared([*_set_down, *_blind]))  # fmt: skip


@LPSM3.claim(f"the mean slowdown of {OWN} is at most 1.0605 on every seed", each, "1.0605", high=1.0605)
def _slowdowns(record):
    return {traffic: values(record, traffic, SLOWDOWN, OWN) for traffic in FAMILIES}


_asked = [(traffic, pushed(ms), ms / 1000) for traffic, delays in PUSH.items() for ms in delays]
LPSM3.claim("the mean delay of messages is at most 5 % longer than asked for", at_most, limit=1.05)(
    over_asked(DELAY, [*_asked, ("web-and-push", OWN, 0.4)])
)


@LPSM3.claim(
    "messages cost less than under the constant period of equal delay, by what was set beforehand", at_least, unit=" %"
)
def below_periods(record):
    """By how many percent they cost less, beyond what was set; the energy of a period is linear in its inverse."""
    found = {}
    for traffic, bars in PERIOD_BARS.items():
        for ms, bar in bars.items():
            own, periods = pushed(ms), list(PERIODS)
            joules, delays_s = (values(record, traffic, one, [own, *periods]) for one in ("total_j", DELAY))
            inverse = 1.0 / delays_s
            lines = zip(inverse[own], inverse[periods].to_numpy(), joules[periods].to_numpy(), strict=True)
            ideal = [np.interp(at, across[::-1], up[::-1]) for at, across, up in lines]
            words = f"beyond the {bar:g} % asked for, at {1000 * delays_s[own].mean():.0f} ms"
            found[f"{traffic}, {ms} ms:"] = Noted(saving(joules[own], ideal) - bar, words)
    return found


@LPSM3.claim(f"{LINKED} needs at most 2 % more than {OWN}", at_most, "2 %", limit=2.0, unit=" %")
def _link_above(record):
    joules = {traffic: energies(record, traffic, [LINKED, OWN]) for traffic in WEB}
    return {f"{traffic}:": -saving(own[LINKED], own[OWN]) for traffic, own in joules.items()}


LPSM3.claim("streaming: with its deadlines known, no segment stalls its player", each, "0", high=0.0)(
    lambda record: values(record, "streaming", "stalls", TIMED)
)


@LPSM3.claim(
    "streaming: with its deadlines known, it needs no more than hold:0, which never waits awake, and than without them",
    at_least, "0 %", unit=" %",
)  # fmt: skip
def _below_with_deadlines(record):
    joules = energies(record, "streaming", [TIMED, HOLD[0], OWN])
    return {f"{other}:": saving(joules[TIMED], joules[other]) for other in (HOLD[0], OWN)}


_fronts = {traffic: [*zip(NAMES, own, strict=True), ("LPSM3", (OWN,))] for traffic, own in FAMILIES.items()}
_fronts["streaming"].append(("LPSM3, deadlines", (TIMED,)))
_mixed = {"web-and-push": (1.6, 1.3), "streaming": (2.5, 1.5), "shifting": (1.8, 1.3)}
draw_fronts(LPSM3, "lpsm3-web", {traffic: _fronts[traffic] for traffic in WEB}, most=(1.6, 1.2))
draw_fronts(LPSM3, "lpsm3-mixed", {traffic: _fronts[traffic] for traffic in _mixed}, most=_mixed)
_push = {name: [("static PSM", PERIODS), ("LPSM3", tuple(map(pushed, own)))] for name, own in PUSH.items()}
draw_fronts(LPSM3, "lpsm3-push", _push, y=DELAY, most=(0.8, 1.6))

ELSEWHERE = 500  # so many seeds away is what was learned from beforehand
LEARNED_ON = {**dict.fromkeys(WEB, SLOWDOWN), "push-bursty": DELAY}  # and the column in which policies are compared
EXPERIENCED = "after another seed"
LEARNED = ("events", "at_risk_s", "rates", "log_evidence", "mean_rates", "ages")
LEARNING = Experiment(
    "ours/lpsm3-learning", "what learning costs LPSM3: regret against the best schedules in hindsight, learning curves",
    "1 min",
)  # fmt: skip


def experienced(policy):
    """Return LPSM3 before a run, but with the waits that another has learned."""
    fresh = Lpsm3(policy.config, spec=EXPERIENCED)
    for name in LEARNED:
        fresh.memory[0][name][...] = policy.memory[0][name]
    return fresh


@LEARNING.runs(sweep(FIRST_SEED, {traffic: (600.0, SECONDS[traffic], 20) for traffic in LEARNED_ON}))
def learn(traffic, seconds, seed):
    """Run LPSM3 new and experienced, and LPSM2's best schedules in hindsight."""
    world = world_of(traffic, seconds, seed)
    before = world_of(traffic, seconds, seed + ELSEWHERE).browse(OWN).final_policy
    assert isinstance(before, Lpsm3)
    hindsight = in_hindsight(world)
    drawn = {**world.under([OWN, experienced(before)]), LPSM2: hindsight[LPSM2]}
    base = world.browse("none")
    tables = {"runs": world.rows({**drawn, **hindsight}, traffic, base=base)}
    if world.traffic.pages:
        tables["curves"] = blocks(drawn, base, traffic, seed)
    return tables


@LEARNING.claim(
    f"{OWN} needs at most 2 J a run more than the best fixed schedules in hindsight", at_most, "2 J",
    "a schedule a context, chosen on the same run; at equal slowdown or delay, between prices", limit=2.0, unit=" J",
)  # fmt: skip
def regret_j(record):
    """Measure what LPSM3 needs above the best fixed schedules in hindsight, joules a run."""
    found = {}
    for traffic, column in LEARNED_ON.items():
        own, least, at = at_equal(record, traffic, OWN, HINDSIGHT, column)
        found[f"{traffic}:"] = Noted(own - least, f"of {own.mean():.0f} J, at {at:.3f}")
    return found


@LEARNING.claim("waits learned on another seed spare at most 2 % of the energy", at_most, "2 %", limit=2.0, unit=" %")
def _spared_by_experience(record):
    joules = {traffic: energies(record, traffic, [OWN, EXPERIENCED]) for traffic in LEARNED_ON}
    return {f"{traffic}:": saving(own[EXPERIENCED], own[OWN]) for traffic, own in joules.items()}


unhurried(LEARNING, WEB, OWN)
draw_curves(LEARNING, "lpsm3-curves", WEB)

TUNING_SEED, PARTS_ON = 7100, {"web-lognormal": 8, "streaming": 4, "shifting": 8}  # and how many seeds
WHOLE = family("lpsm3:{}:400", (1.02, 1.05, 1.08, 1.2))
PARTS: dict[str, Any] = {
    "at a fixed price": {"gain": 1e-9},
    "without good will": {"good_will": 0.0},
    "without a balance at first": {"start": 0.0},
    "without learning": {"prior_events": 1e9},
    **{f"with bins of {words} alone": {"alone": which} for which, words in enumerate(("7 %", "40 %", "5.4"))},
}
ABLATIONS = Experiment("ours/lpsm3-ablations", "LPSM3 with one part taken away at a time", "1 min")


def without(part, alone=None, **change):
    """Return LPSM3 with a part taken away, under its name: constants changed, or one of the estimators `alone`."""
    policy = Lpsm3(Lpsm3Config(**change), spec=part)
    if alone is not None:
        state = policy.memory[0]
        state["log_evidence"][:, [which for which in range(N_WIDTHS) if which != alone]] = -1e12
        state["mean_rates"][...] = state["rates"][:, alone]
    return policy


@ABLATIONS.runs(sweep(TUNING_SEED, {traffic: (600.0, SECONDS[traffic], seeds) for traffic, seeds in PARTS_ON.items()}))
def without_parts(traffic, seconds, seed):
    """Run LPSM3 whole, at several slowdowns, and with one part taken away at a time."""
    world, parts = world_of(traffic, seconds, seed), (without(part, **change) for part, change in PARTS.items())
    return {"runs": world.rows(world.under([*parts, *WHOLE]), traffic)}


spared_by_parts(ABLATIONS, OWN, WHOLE, PARTS, PARTS_ON)
_families = [("LPSM3", WHOLE), *((part, (part,)) for part in PARTS)]
draw_fronts(ABLATIONS, "lpsm3-parts", dict.fromkeys(PARTS_ON, _families), most=(1.4, 1.5))

PAGES = {"1 % lost": 200, "3 % lost": 200, "air": 30, "air, 5 neighbours": 30}  # of the full size, on average
SECONDS_A_PAGE = 55.0
TOGETHER = "slowdown_all"
_near = (("LPSM2", UP_TO_8), ("BSD, host", HOST[1:]), ("hold, host", family("hold:{}", (0, 50, 100, 200, 400))))
_on_air = (OWN, LINKED, *(one for _, own in _near for one in own))
AIR = Experiment("ours/lpsm3-air", "LPSM3 where frames are lost, and on the shared air", "3 min")
_LENGTHS = {name: (5 * SECONDS_A_PAGE, count * SECONDS_A_PAGE, 10) for name, count in PAGES.items()}
AIR.runs(sweep(FIRST_SEED, _LENGTHS, lambda _: _on_air, pause=0.2))(runs)


@AIR.claim("the slowdown of all pages together is at most 1.0605", at_most, "1.0605", limit=1.0605)
def _together(record):
    return {f"{name}, {one}:": values(record, name, TOGETHER, one) for one in (OWN, LINKED) for name in PAGES}


AIR.claim("energy is below that of each family at equal slowdown", at_least, "0 %", unit=" %")(
    spared([Case(name, OWN, *one) for name in PAGES for one in _near], TOGETHER)
)
_families = [*_near, ("LPSM3", (OWN,)), ("LPSM3, link", (LINKED,))]
draw_fronts(AIR, "lpsm3-air", dict.fromkeys(PAGES, _families), y=TOGETHER, over="base_j", most=(1.3, 1.0))

KINDS, TARGETS, PUSH_S = ("lpsm3", "lpsm3-link"), (1.05, 1.2), 0.4
ASKED = {f"{kind}:{target}:400": target for target in TARGETS for kind in KINDS}
_P = (0.07, 0.14, 0.28, 0.6, 1.5)
RIVALS = (
    "none", "dynamic", "lpsm", "lpsm:log", "lpsm2-link:1.05",
    *family("listen:{}", (1, 2, 3, 5, 10, 20)), *family("bsd:{}", _P), *family("bsd-phase:{}", _P),
    *family("bsd-host:{}", _P), *HOLD, *family("lpsm2:{}", (1.02, 1.05, 1.08, 1.2)),
)  # fmt: skip
WORLDS = {  # and their length, seconds; all are kinds of traffic but for the last three
    "chat": 3000.0, "voice": 30.0, "game": 30.0, "long-poll": 1500.0, "long-poll-and-web": 1500.0, "sensor": 3000.0,
    "telemetry": 500.0, "mail": 3000.0, "polling": 1000.0, "update": 3000.0, "web-instant": 4000.0,
    "web-constant": 4000.0, "web-lognormal": 4000.0, "web-exponential": 4000.0, "web-pareto": 4000.0,
    "web-jump": 4000.0, "web-cache": 4000.0, "push-memoryless": 3000.0, "push-bursty": 3000.0, "web-and-push": 4000.0,
    "streaming": 300.0, "shifting": 1500.0, "round trip 300 ms": 4000.0, "beacons 200 ms": 4000.0,
    "ten neighbours": 550.0,
}  # fmt: skip
WORLDS_OF_LPSM3 = Experiment("ours/lpsm3-worlds", "LPSM3 in 25 worlds beside all mixtures of 36 rivals", "10 min")
_LENGTHS = {world: (min(900.0, lasts_s), lasts_s, 10) for world, lasts_s in WORLDS.items()}
WORLDS_OF_LPSM3.runs(sweep(100, _LENGTHS, lambda _: (*ASKED, *RIVALS)))(runs)


def time_shared(measures, joules, most):
    """Return the mixture of policies of least energy that is nowhere above `most`, and what being below it is worth.

    Parameters
    ----------
    measures : array, shape (policies, k)
        Slowdown, delay and so on of each.
    joules : array, shape (policies,)
    most : array, shape (k,)

    Returns
    -------
    weights : array, shape (policies,)
    worth : array, shape (k,)
        Joules for each unit by which a measure may be larger; at least 0.

    Examples
    --------
    >>> time_shared(np.array([[1.0], [1.1], [1.3]]), np.array([4.0, 2.0, 1.5]), np.array([1.05]))[0].round(6).tolist()
    [0.5, 0.5, 0.0]
    """
    found = linprog(joules, measures.T, np.maximum(most, measures.min(axis=0)), np.ones((1, len(joules))), [1.0])
    return found.x, -found.ineqlin.marginals


def above_hull(record, world, policy):
    """Return by how many percent a policy is above the time-sharing hull of the rivals, a number a replication."""
    tables = [values(record, world, name, [policy, *RIVALS]) for name in (SLOWDOWN, DELAY)]
    joules = values(record, world, "total_j", [policy, *RIVALS]).to_numpy()
    found = np.stack([table.to_numpy() for table in tables if not table.isna().any(axis=None)], axis=-1)
    weights, worth = time_shared(found.mean(axis=0)[1:], joules.mean(axis=0)[1:], found.mean(axis=0)[0])
    shared_j, slower = joules[:, 1:] @ weights, found[:, 0] - np.einsum("sik,i->sk", found[:, 1:], weights)
    above_j = joules[:, 0] - shared_j + (slower - slower.mean(axis=0)) @ worth
    return 100 * above_j / shared_j.mean()


@WORLDS_OF_LPSM3.claim(
    "{policy} is not above the time-sharing hull", reaching, "0 %", high=0.0, unit=" %",
    of=[{"policy": policy} for policy in ASKED],
)  # fmt: skip
def _above(record, policy):
    return {world: above_hull(record, world, policy) for world in WORLDS}


def _slow(record, policy):
    found = {world: values(record, world, SLOWDOWN, policy) for world in WORLDS}
    return {world: own for world, own in found.items() if own.notna().all()}


WORLDS_OF_LPSM3.claim(
    "{policy} gives at most 3 % of the excess and 0.005 more on every seed", each,
    of=[{"policy": policy, "high": 1.005 + 1.03 * (target - 1.0)} for policy, target in ASKED.items()],
)(_slow)  # fmt: skip


@WORLDS_OF_LPSM3.claim(
    "where 50 or more messages came, they are delayed by at most 10 % more than asked", each, f"{PUSH_S:g} s",
    high=1.1 * PUSH_S, unit=" s",
)  # fmt: skip
def _delays(record):
    found = {}
    for policy in ASKED:
        for world in WORLDS:
            delay_s, count = (values(record, world, one, policy) for one in (DELAY, "messages"))
            found[f"{world}, {policy}:"] = delay_s[count >= 50]
    return {name: delay_s for name, delay_s in found.items() if len(delay_s)}


@WORLDS_OF_LPSM3.claim(
    "asked for {target:g}, pages under lpsm3-link are at most 3 % slower than under lpsm3", at_most, limit=0.03,
    of=[{"target": target} for target in TARGETS],
)  # fmt: skip
def _link_above_host(record, target):
    host, link = (_slow(record, f"{kind}:{target}:400") for kind in KINDS)
    return {world: link[world] - host[world] for world in host}
