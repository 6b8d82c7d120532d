"""LPSM2: energy at equal slowdown against everything else, what of it is learning, and what each part gives.

What it models: the thesis expects (section 2.5.4) that "it should be possible to simultaneously reduce both energy and
slowdown from that of previous approaches, by appropriate choice and calibration of the loss function".  `ours/lpsm2`
compares LPSM2 with static PSM, BSD, BSD with its phase, BSD that also knows what is outstanding, a fixed rule with
the same knowledge, and LPSM, on Web pages with three kinds of servers; `ours/lpsm2-traffic` does so on every other
kind of generated traffic.  The figures required were set down before the first full run.  Seeds begin at 5000 more
than the first one asked for: the constants of LPSM2 were chosen on small seeds, and these had not been looked at.

In `ours/lpsm2-learning` the rounds of a run of LPSM2 are kept, with what every schedule would have
cost in them.  From them follow, context by context, the loss of the schedules followed, of the best fixed one,
of the best k segments, and of the Learn-alpha mixture with its bound (Monteleoni 2006, Corollary 1, after Herbster and
Warmuth's bound for k segments); at one nat a joule all are joules.  The best fixed schedules of the contexts, for
several prices of a second, are then *run*: in hindsight (chosen on the same run), and chosen on other seeds of the
same traffic or of Web pages with instant servers.  These have LPSM2's information and learn nothing.
In `ours/lpsm2-ablations` one part is taken away at a time.  What remains is run beside the whole, which is asked for
several slowdowns, on Web pages and on all kinds of traffic in turn; and on messages in bursts, where what counts is
how long they wait.

What it leaves out: recorded sessions (`papers.ours.browsing`); and the bound speaks of the mixture, while LPSM2 follows
the schedule of largest weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from math import isfinite
from typing import Any

import numpy as np
import pandas as pd

import netsim
from experiments.papers.claims import Claim, Noted, Record, named
from experiments.papers.kit import Experiment
from experiments.papers.ours.browsed import TARGETS, WEB, Family, World, blocks, by_kind, family, runs, world_of
from experiments.papers.ours.fronts import (
    DELAY,
    SLOWDOWN,
    at_equal,
    draw_curves,
    draw_fronts,
    energies,
    limited,
    not_above,
    saving,
    saving_claim,
    spared_by_parts,
    unhurried,
    values,
)  # fmt: skip
from experiments.papers.ours.traffic import in_turn
from experiments.papers.predicates import above, at_most, below, each, explained_by, reaching
from experiments.study.compare import linearised
from lpsm import alpha_grid
from netsim.policies.lpsm2 import CONTEXTS, Lpsm2, Lpsm2Config
from netsim.policies.lpsm2_record import Round, by_context

__all__ = ["EXPERIMENTS", "FIRST_SEED", "HINDSIGHT", "OWN", "SOME", "SOME_BSD", "SOME_HOST", "SOME_PHASE", "THIN"]
__all__ += ["UP_TO_8", "fixed", "in_hindsight", "with_rounds"]

FIRST_SEED = 5000
INSTANT, CONSTANT, LOGNORMAL = WEB
PUSH, PUSH_TARGETS_MS = ("push-memoryless", "push-bursty"), (60, 100, 150, 200, 300, 400)
OWN, LINKED, PATIENT = "lpsm2:1.05", "lpsm2-link:1.05", "lpsm2:1.05:400"
WIDE = ("lpsm2:1.2", "lpsm2:1.5")
PUSHED = family(OWN + ":{}", PUSH_TARGETS_MS)
PSM = family("psm:{}", (100, 200, 300, 400, 500, 1000))
BSD = family("bsd:{}", (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.55, 0.75, 1, 1.4, 2))
_P = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.6, 1, 1.5)
PHASE, HOST = family("bsd-phase:{}", _P), family("bsd-host:{}", _P)
HOLD = family("hold:{}", (0, 25, 50, 100, 200, 400, 800, 1600))
THESIS = ("lpsm", "lpsm:log")
UP_TO_8, LINK = family("lpsm2:{}", TARGETS), family("lpsm2-link:{}", TARGETS)
FIXED = (("static PSM", PSM), ("BSD", BSD), ("BSD, phase", PHASE), ("BSD, host", HOST), ("hold, host", HOLD))
FAMILIES = (*FIXED, ("LPSM", THESIS), ("LPSM2", UP_TO_8), ("LPSM2, link", LINK))
POLICIES = ("none", *(policy for _, own in FAMILIES for policy in own))
THIN = tuple((name, own[::2] if len(own) > 6 else own) for name, own in FAMILIES)
SOME_BSD, SOME_PHASE, SOME_HOST = (own for name, own in THIN if name.startswith("BSD"))
SOME = ("none", *(policy for _, own in THIN for policy in own))
REST = {
    **dict.fromkeys(PUSH, (600.0, 5400.0, 20)), "web-and-push": (550.0, 5500.0, 20), "streaming": (60.0, 900.0, 10),
    "shifting": (600.0, 3000.0, 10),
}  # fmt: skip
MORE = {"streaming": WIDE, "shifting": (*WIDE, f"{OWN}:200", PATIENT)}
ON_THE_WEB = Experiment("ours/lpsm2", "LPSM2 on the Web: energy at equal slowdown", "2 min")
ON_THE_WEB.runs(by_kind(FIRST_SEED, dict.fromkeys(WEB, (1100.0, 5500.0, 20)), lambda _: POLICIES))(runs)
ELSEWHERE = Experiment("ours/lpsm2-traffic", "LPSM2 on messages, a stream, mixtures, and all of them in turn", "4 min")
ELSEWHERE.runs(by_kind(FIRST_SEED, REST, lambda traffic: [*SOME, *MORE.get(traffic, PUSHED)]))(runs)


# -- measures and kinds of claims ----------------------------------------------------------------------------------


def _over_reference(record: Record) -> Noted:
    """Energy of LPSM2 over that of page-awake, with instant servers."""
    own, awake, limit = (values(record, INSTANT, one, OWN) for one in ("total_j", "page_awake_j", "limit_j"))
    return Noted(linearised(own, awake), f"times page-awake ({linearised(own, limit).mean():.3f} times the limit)")


def _below_each(record: Record, traffic: str, policy: str, others: Sequence[str], column: str = "total_j") -> Any:
    """By how many percent a policy is below each of others, whatever their slowdown."""
    own, slow = (values(record, traffic, one, [policy, *others]) for one in (column, SLOWDOWN))
    return {f"than {one}": Noted(saving(own[policy], own[one]), f"at its {slow[one].mean():.3f}") for one in others}


def _both_axes(traffic: str, policy: str, others: Sequence[str]) -> Claim:
    below = partial(_below_each, traffic=traffic, policy=policy, others=others)
    both = named({"energy": below, "slowdown": partial(below, column=SLOWDOWN)})
    return Claim(f"{traffic}: {policy} is below {' and '.join(others)} in energy and in slowdown",
                 above(both, unit=" %"),
                 "simultaneously reduce both energy and slowdown from that of previous approaches",
                 "percent lower, paired over seeds")  # fmt: skip


def _targets(traffic: str, policies: Family) -> Claim:
    """Claim on those policies that no other claim of the same traffic is about."""
    asked = {policy: policy.partition(":")[2] for policy in policies}

    def excess(record: Record) -> dict[str, Any]:
        means, tails = (values(record, traffic, one, policies) for one in (SLOWDOWN, "slowdown_p95"))
        return {
            policy: Noted(means[policy] / float(target), f"of it (p95 {tails[policy].mean():.2f})")
            for policy, target in asked.items()
        }

    statement = f"{traffic}: the mean slowdown of {policies[0].partition(':')[0]} is at most the one asked for"
    return Claim(statement, at_most(excess, 1.0), ", ".join(asked.values()), "mean slowdown over the one asked for")


def _below_fixed(traffic: str, policy: str) -> Claim:
    """Below each family of fixed policies at its own slowdown."""

    def below(record: Record) -> dict[str, Any]:
        samples, joules = {}, energies(record, traffic, policy)
        for name, own in THIN[: len(FIXED)]:
            waits = values(record, traffic, DELAY, [policy, *own]).mean()
            least = waits[list(own)].min()
            words = f"(messages wait {waits[policy]:.2f} s, {least:.2f} s at least)" if isfinite(least) else ""
            samples[f"{name}:"] = Noted(saving(joules, at_equal(record, traffic, policy, own)), words)
        return samples

    return Claim(f"{traffic}: {policy} uses less energy than every family of fixed policies at its slowdown",
                 above(below, unit=" %"),
                 reason="percent below each family, interpolated seed by seed at the same slowdown")  # fmt: skip


def _of_streams(policy: str) -> tuple[Claim, Claim]:
    def stalls(record: Record) -> Noted:
        count, seconds = (values(record, "streaming", one, [policy, "psm:100"]).sum() for one in ("stalls", "stall_s"))
        words = ", ".join(f"{one} {count[one]:g} ({seconds[one]:.2f} s)" for one in count.index)
        return Noted(count[policy] - count["psm:100"], f"more ({words})")

    less = partial(_below_each, traffic="streaming", policy=policy, others=["psm:100"])
    return (
        Claim(f"streaming: {policy} stalls no more often than static PSM", at_most(stalls, 0),
              reason="all seeds together"),
        Claim(f"streaming: {policy} uses less energy than static PSM", above(less, unit=" %"),
              reason="percent lower, paired over seeds"),
    )  # fmt: skip


def _push_target(traffic: str) -> Claim:
    def over_target(record: Record) -> dict[str, Any]:
        waits = 1000 * values(record, traffic, DELAY, PUSHED)
        return {
            f"{ms} ms:": Noted(waits[policy] / ms, f"of it ({waits[policy].mean():.0f} ms)")
            for ms, policy in zip(PUSH_TARGETS_MS, PUSHED, strict=True)
        }

    return Claim(f"{traffic}: the mean added delay of a message is at most the one asked for",
                 at_most(over_target, 1.0), ", ".join(f"{ms} ms" for ms in PUSH_TARGETS_MS),
                 "over the one asked for")  # fmt: skip


# -- claims and pictures -------------------------------------------------------------------------------------------

ON_THE_WEB.claims += [
    limited(INSTANT, OWN, 1.02),
    Claim(f"{INSTANT}: {OWN} uses at most 1.02 times the energy of page-awake", at_most(_over_reference, 1.02), "1.02"),
    Claim(f"{INSTANT}: {OWN} uses less energy than every setting of BSD with p up to 1",
          above(partial(_below_each, traffic=INSTANT, policy=OWN, others=BSD[:-2]), unit=" %"),
          reason="percent lower, paired over seeds, whatever the slowdown of the other"),
    limited(CONSTANT, OWN, 1.02),
    saving_claim(CONSTANT, OWN, BSD, "BSD", 20.0),
    limited(LOGNORMAL, OWN, 1.05),
    saving_claim(LOGNORMAL, OWN, BSD, "BSD", 12.0),
    saving_claim(LOGNORMAL, OWN, PHASE, "BSD with its phase", 8.0),
    not_above(LOGNORMAL, OWN, HOST, "BSD with phase and host"),
    not_above(LOGNORMAL, OWN, HOLD, "the fixed rule with the host's knowledge"),
    *(_targets(traffic, own) for traffic in WEB for own in (UP_TO_8[::2], LINK)),
    *(_both_axes(traffic, OWN, ("psm:100", "lpsm")) for traffic in WEB),
    _both_axes(LOGNORMAL, OWN, ("lpsm:log",)),
    saving_claim(LOGNORMAL, LINKED, PHASE, "BSD with its phase", 0.0),
]  # fmt: skip
ELSEWHERE.claims += [
    *(claim for policy in (OWN, WIDE[-1]) for claim in _of_streams(policy)),
    *(_below_fixed(traffic, policy)
      for traffic, policy in (("shifting", OWN), ("shifting", LINKED), ("web-and-push", OWN), ("shifting", PATIENT),
                              ("web-and-push", PATIENT))),
    *map(_push_target, PUSH),
    *(not_above(traffic, f"{OWN}:{ms}", own, name, DELAY)
      for name, own in (("static PSM", PSM), ("LPSM", THESIS)) for traffic in PUSH for ms in (100, 200)),
]  # fmt: skip
draw_fronts(ON_THE_WEB, "lpsm2-web", dict.fromkeys(WEB, FAMILIES), over="page_awake_j", most=(1.3, 1.6))
_wide = [(name, (*own, *WIDE) if name == "LPSM2" else own) for name, own in THIN]
_patient = ("LPSM2, messages 0.4 s", (PATIENT,))
_mixed = {"web-and-push": [*THIN, _patient], "streaming": _wide, "shifting": [*_wide, _patient]}
draw_fronts(ELSEWHERE, "lpsm2-mixed", _mixed, most=(1.5, 2.5))
_push = [*(one for one in THIN if one[0] in ("static PSM", "BSD", "LPSM")), ("LPSM2", PUSHED)]
draw_fronts(ELSEWHERE, "lpsm2-push", dict.fromkeys(PUSH, _push), y=DELAY, most=(0.6, 1.6))


# -- what is learned ---------------------------------------------------------------------------------------------

PRICES_W = (2.0, 6.0, 15.0, 40.0)
SEGMENTS = (1, 2, 5, 10, 20)
TRAINING_SEEDS = range(4000, 4005)
ASKED = (*UP_TO_8, "lpsm2:1.12", "lpsm2:1.2")
HINDSIGHT, SAME, OF_INSTANT = KINDS = ("in hindsight", "of other seeds", "of instant servers")
LENGTHS = {**dict.fromkeys((*WEB, "push-bursty"), (600.0, 5500.0, 20)), "shifting": (600.0, 3000.0, 10)}
TRAFFICS, PARTS_ON, BURSTY = (*WEB, "shifting"), ("web-lognormal", "shifting"), PUSH[1]
LEARNING = Experiment("ours/lpsm2-learning", "what of LPSM2 is information and what is learning", "3 min")
ABLATIONS = Experiment("ours/lpsm2-ablations", "LPSM2 with one part taken away at a time", "1 min")


def fixed(kind: str) -> Family:
    """Return the names of fixed schedules of a kind, one a price."""
    return family(f"fixed {kind} {{}}", PRICES_W)


def fixed_schedules(chosen: Sequence[int], spec: str) -> Lpsm2:
    """Return LPSM2 without its learning: one schedule a context, given by number in the order of the contexts."""
    return Lpsm2(Lpsm2Config(dual=False, prior=False, fixed=tuple(chosen)), spec=spec)


def best_schedules(record: Sequence[Round], price_w: float) -> tuple[int, ...]:
    """Return the schedule of least cost in every context, a second of delay being worth `price_w` joules.

    A context without a round takes the schedule that is best in all rounds together.
    """
    everywhere = int(np.sum([one.costs_at(price_w) for one in record], axis=0).argmin())
    past = by_context(record, price_w)
    return tuple(past[context].best_fixed if context in past else everywhere for context in CONTEXTS)


def in_hindsight(world: World, record: Sequence[Round], kind: str = HINDSIGHT) -> dict[str, netsim.SimulationResult]:
    """Browse a world under the best fixed schedules of a record of rounds, one a price of a second."""
    priced = zip(fixed(kind), PRICES_W, strict=True)
    return world.under(fixed_schedules(best_schedules(record, price), name) for name, price in priced)


def regrets_of(record: Sequence[Round]) -> list[dict[str, Any]]:
    """Return, context by context, what was lost and what would have been, joules.

    Returns
    -------
    list of dict
        context, rounds; `own`, the schedules followed; `mixture`, a Learn-alpha that begins uniform; `least`, the best
        schedule of every round; and for k of `SEGMENTS` `best_k`, the best k schedules in turn, and `bound_k`, what the
        mixture may lose at most given these.
    """
    rows = []
    grid = alpha_grid(horizon=Lpsm2Config().horizon)
    for context, past in by_context(record).items():
        least = past.costs.min(axis=1)
        excess = past.costs - least[:, None]  # what every schedule pays shifts all losses alike
        mixture, parts = in_turn(excess, grid, SEGMENTS, float(least.sum()))
        row: dict[str, Any] = {"context": context, "rounds": len(least), "own": past.paid_j}
        row |= {"mixture": mixture, "least": float(least.sum())}
        for k, (best, bound) in parts.items():
            row |= {f"best_{k}": best, f"bound_{k}": bound}
        rows.append(row)
    return rows


def with_rounds(world: World) -> tuple[netsim.SimulationResult, list[Round]]:
    """Browse a world under LPSM2; return the run, and its rounds with what every schedule would have cost."""
    result = world.browse(Lpsm2(Lpsm2Config(record=True), spec=OWN))
    policy = result.final_policy
    assert isinstance(policy, Lpsm2)
    return result, policy.record


@cache
def _trained(traffic: str, seconds: float) -> list[Round]:
    """Rounds of the training seeds, of one kind of traffic."""
    return [one for seed in TRAINING_SEEDS for one in with_rounds(world_of(traffic, seconds, seed))[1]]


@LEARNING.runs(by_kind(FIRST_SEED, {traffic: LENGTHS[traffic] for traffic in TRAFFICS}))
def learn(traffic: str, seconds: float, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Keep the rounds of LPSM2 on one world; run the fixed schedules that follow from them, and from others."""
    world = world_of(traffic, seconds, seed)
    base = world.browse("none")
    own, record = with_rounds(world)
    results = {OWN: own, **world.under(name for name in (*ASKED, LINKED) if name != OWN)}
    rounds = {HINDSIGHT: record, SAME: _trained(traffic, seconds), OF_INSTANT: _trained("web-instant", seconds)}
    for kind, past in rounds.items():
        results |= in_hindsight(world, past, kind)
    bare = world.under([Lpsm2(Lpsm2Config(prior=False), spec="without the first round")])
    return {
        "runs": world.rows(results, traffic, base=base),
        "regrets": [{"traffic": traffic, "replication": f"seed-{seed}", **row} for row in regrets_of(record)],
        "curves": blocks({OWN: own, **bare, LINKED: results[LINKED]}, base, traffic, seed),
    }


# -- claims of learning --------------------------------------------------------------------------------------------


def _regret(regrets: pd.DataFrame, traffic: str) -> pd.DataFrame:
    """Return sums over contexts, a row a seed."""
    own = regrets[regrets["traffic"] == traffic]
    return own.groupby("replication", sort=True)[own.select_dtypes("float").columns.tolist()].sum()


@LEARNING.claim(
    "the mixture's regret is below Learn-alpha's bound in every context", each, high=1.0 + 1e-9,
    reason="a theorem, for the best 1, 2, 5, 10 and 20 schedules in turn; loss over what is allowed",
)  # fmt: skip
def _over_bound(regrets: pd.DataFrame) -> dict[str, Any]:
    words = []
    for traffic in dict.fromkeys(regrets["traffic"]):
        means = _regret(regrets, traffic).mean()
        lost, allowed = (means[one] - means["best_1"] for one in ("mixture", "bound_1"))
        words.append(f"{traffic} {lost:.1f} J of {allowed:.1f}")
    samples: dict[str, Any] = {f"k = {k}:": regrets["mixture"] / regrets[f"bound_{k}"] for k in SEGMENTS}
    return {**samples, "k = 1:": Noted(samples["k = 1:"], f"(regret {', '.join(words)})")}


def _own_regret(regrets: pd.DataFrame, traffic: str, segments: Sequence[int]) -> dict[str, Any]:
    """What the schedules followed lose above the best k of every context in turn, percent."""
    table = _regret(regrets, traffic)
    return {f"k = {k}:": 100 * (table["own"] / table[f"best_{k}"] - 1) for k in segments}


for _traffic in TRAFFICS:
    LEARNING.claim(
        f"{_traffic}: the schedules followed lose no more than the best fixed one of every context", below, unit=" %",
        reason="losses at the prices of the moment, percent above",
        why=explained_by("beyond the best k in turn,", partial(_own_regret, traffic=_traffic, segments=SEGMENTS[1:])),
    )(partial(_own_regret, traffic=_traffic, segments=SEGMENTS[:1]))  # fmt: skip


@LEARNING.claim(
    "{traffic}: " + OWN + " is {words}", reaching, unit=" %",
    reason="energy at equal slowdown, interpolated between the prices of a second, seed by seed",
    of=[
        {"kind": kind, "traffic": traffic, "low": least, "words": words}
        for kind, least, words in (
            (HINDSIGHT, -2.0, "at most 2 % above the best fixed schedules in hindsight"),
            (SAME, 0.0, "not above fixed schedules chosen on other seeds of the same traffic"),
            (OF_INSTANT, 0.0, "not above fixed schedules chosen on instant servers"),
        )
        for traffic in TRAFFICS
        if (kind, traffic) != (OF_INSTANT, "web-instant")
    ],
)  # fmt: skip
def _below_schedules(record: Record, traffic: str, kind: str) -> Noted:
    """By how many percent LPSM2 is below fixed schedules of a kind at its own slowdown."""
    sample = saving(energies(record, traffic, OWN), at_equal(record, traffic, OWN, fixed(kind)))
    slow = values(record, traffic, SLOWDOWN, [OWN, *fixed(kind)]).mean()
    return Noted(sample, f"below at {slow[OWN]:.3f}; the fastest of the others is at {slow[1:].min():.3f}")


unhurried(LEARNING, WEB, OWN, "ours")
draw_curves(LEARNING, "lpsm2-curves", WEB)
_families = [*((f"fixed, {kind}", fixed(kind)) for kind in KINDS), ("LPSM2", ASKED), ("link", (LINKED,))]
draw_fronts(LEARNING, "lpsm2-hindsight", dict.fromkeys(TRAFFICS, _families), most=(1.3, 2.5))


# -- parts ---------------------------------------------------------------------------------------------------------

DELAYS_MS = (60, 100, 200, 400)
DRAWN = "with schedules drawn by weight"
PARTS: Mapping[str, Mapping[str, Any]] = {
    "without contexts": {"contexts": False},
    "without 1/w": {"share_delay": False},
    "without the clock": {"clock": False},
    "without the first round": {"prior": False},
    "at a fixed price": {"dual": False},
    "with Static-expert": {"learn_alpha": False},
    DRAWN: {"sample_seed": 0},  # in a run: its own seed
}
PARTS_OF_PUSH = ("with Static-expert", "at a fixed price")


@ABLATIONS.runs(by_kind(FIRST_SEED, {traffic: LENGTHS[traffic] for traffic in (*PARTS_ON, BURSTY)}))
def without_parts(traffic: str, seconds: float, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Run LPSM2 whole, at several slowdowns or delays of messages, and with one part taken away at a time."""
    parts: Mapping[str, Mapping[str, Any]]
    if traffic == BURSTY:
        parts = {
            f"{part} {ms} ms": {**PARTS.get(part, {}), "max_push_delay_s": ms / 1000}
            for part in ("whole", *PARTS_OF_PUSH)
            for ms in DELAYS_MS
        }
    else:
        parts = {**PARTS, DRAWN: {"sample_seed": seed}}
    world = world_of(traffic, seconds, seed)
    without = (Lpsm2(Lpsm2Config(**change), spec=name) for name, change in parts.items())
    results = world.under([*(() if traffic == BURSTY else ASKED), *without])
    return {"runs": world.rows(results, traffic)}


spared_by_parts(ABLATIONS, "LPSM2", OWN, ASKED, PARTS, PARTS_ON)


@ABLATIONS.claim(
    BURSTY + ": messages wait no longer than they do {part}", reaching, low=0.0, unit=" ms",
    reason="mean added delay without the part less that of the whole, at each of four delays asked for",
    of=[{"part": part} for part in PARTS_OF_PUSH],
)  # fmt: skip
def _waits_less(record: Record, part: str) -> dict[str, Any]:
    """How much longer messages wait without a part, ms, at each delay asked for, beside what that costs."""
    samples = {}
    for ms in DELAYS_MS:
        names = whole, without = [f"{name} {ms} ms" for name in ("whole", part)]
        delays, joules = 1000 * values(record, BURSTY, DELAY, names), energies(record, BURSTY, names)
        cost = saving(joules[without], joules[whole]).mean()
        means = f"({delays[whole].mean():.0f} ms whole, {delays[without].mean():.0f} {part}, energy {cost:.1f} % below)"
        samples[f"{ms} ms:"] = Noted(delays[without] - delays[whole], means)
    return samples


_families = [("LPSM2", ASKED), *((part, (part,)) for part in PARTS)]
draw_fronts(ABLATIONS, "lpsm2-parts", dict.fromkeys(PARTS_ON, _families), most=(1.5, 2.5))

EXPERIMENTS = (ON_THE_WEB, ELSEWHERE, LEARNING, ABLATIONS)
