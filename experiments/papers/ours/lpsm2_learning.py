"""What of LPSM2 is information and what is learning, and what each part of it gives.

What it models: in `ours/lpsm2-learning` the rounds of a run of LPSM2 are kept, with what every schedule would have
cost in them.  From them follow, context by context, the loss of the schedules followed, of the best fixed one,
of the best k segments, and of the Learn-alpha mixture with its bound (Monteleoni 2006, Corollary 1, after Herbster and
Warmuth's bound for k segments); at one nat a joule all are joules.  The best fixed schedules of the contexts, for
several prices of a second, are then *run*: in hindsight (chosen on the same run), and chosen on other seeds of the
same traffic or of Web pages with instant servers.  These have LPSM2's information and learn nothing.
In `ours/lpsm2-ablations` one part is taken away at a time.  What remains is run beside the whole, which is asked for
several slowdowns, on Web pages and on all kinds of traffic in turn; and on messages in bursts, where what counts is
how long they wait.

What it leaves out: the bound speaks of the mixture, while LPSM2 follows the schedule of largest weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

import netsim
from experiments.papers.claims import Noted, Record
from experiments.papers.kit import Experiment
from experiments.papers.ours.browsed import WEB, Family, World, blocks, by_kind, family, world_of
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
from experiments.papers.ours.lpsm2 import FIRST_SEED, LINKED, OWN, UP_TO_8
from experiments.papers.ours.traffic import in_turn
from experiments.papers.predicates import below, each, explained_by, reaching
from lpsm import alpha_grid
from netsim.policies.lpsm2 import CONTEXTS, Lpsm2, Lpsm2Config
from netsim.policies.lpsm2_record import Round, by_context

__all__ = ["EXPERIMENTS", "HINDSIGHT", "SEGMENTS", "best_schedules", "fixed", "fixed_schedules", "in_hindsight"]
__all__ += ["regrets_of", "with_rounds"]

PRICES_W = (2.0, 6.0, 15.0, 40.0)
SEGMENTS = (1, 2, 5, 10, 20)
TRAINING_SEEDS = range(4000, 4005)
WIDE = (*UP_TO_8, "lpsm2:1.12", "lpsm2:1.2")
HINDSIGHT, SAME, ELSEWHERE = KINDS = ("in hindsight", "of other seeds", "of instant servers")
LENGTHS = {**dict.fromkeys((*WEB, "push-bursty"), (600.0, 5500.0, 20)), "shifting": (600.0, 3000.0, 10)}
TRAFFICS, PARTS_ON, BURSTY = (*WEB, "shifting"), ("web-lognormal", "shifting"), "push-bursty"
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
    results = {OWN: own, **world.under(name for name in (*WIDE, LINKED) if name != OWN)}
    rounds = {HINDSIGHT: record, SAME: _trained(traffic, seconds), ELSEWHERE: _trained("web-instant", seconds)}
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
            (ELSEWHERE, 0.0, "not above fixed schedules chosen on instant servers"),
        )
        for traffic in TRAFFICS
        if (kind, traffic) != (ELSEWHERE, "web-instant")
    ],
)  # fmt: skip
def _below_schedules(record: Record, traffic: str, kind: str) -> Noted:
    """By how many percent LPSM2 is below fixed schedules of a kind at its own slowdown."""
    sample = saving(energies(record, traffic, OWN), at_equal(record, traffic, OWN, fixed(kind)))
    slow = values(record, traffic, SLOWDOWN, [OWN, *fixed(kind)]).mean()
    return Noted(sample, f"below at {slow[OWN]:.3f}; the fastest of the others is at {slow[1:].min():.3f}")


unhurried(LEARNING, WEB, OWN, "ours")
draw_curves(LEARNING, "lpsm2-curves", WEB)
_families = [*((f"fixed, {kind}", fixed(kind)) for kind in KINDS), ("LPSM2", WIDE), ("link", (LINKED,))]
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
def runs(traffic: str, seconds: float, seed: int) -> list[dict[str, Any]]:
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
    return world.rows(world.under([*(() if traffic == BURSTY else WIDE), *without]), traffic)


spared_by_parts(ABLATIONS, "LPSM2", OWN, WIDE, PARTS, PARTS_ON)


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


_families = [("LPSM2", WIDE), *((part, (part,)) for part in PARTS)]
draw_fronts(ABLATIONS, "lpsm2-parts", dict.fromkeys(PARTS_ON, _families), most=(1.5, 2.5))

EXPERIMENTS = (LEARNING, ABLATIONS)
