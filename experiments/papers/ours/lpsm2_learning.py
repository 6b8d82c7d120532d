"""What of LPSM2 is information and what is learning: regrets, schedules in hindsight, learning curves.

What it models, in `ours/lpsm2-learning`: the rounds of a run of LPSM2 are kept, with what every schedule would have
cost in them.  From them follow, context by context, the loss of the schedules followed, of the best fixed one,
of the best k segments, and of the Learn-alpha mixture with its bound (Monteleoni 2006, Corollary 1, after Herbster and
Warmuth's bound for k segments); at one nat a joule all are joules.  The best fixed schedules of the contexts, for
several prices of a second, are then *run*: in hindsight (chosen on the same run), and chosen on other seeds of the
same traffic or of Web pages with instant servers.  These have LPSM2's information and learn nothing.

What it leaves out: the bound speaks of the mixture, while LPSM2 follows the schedule of largest weight; and the
parts of LPSM2, one by one (`papers.ours.lpsm2_parts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd

import netsim
from experiments.papers.claims import Claim, Noted, Record
from experiments.papers.kit import Experiment
from experiments.papers.ours.lpsm2_fronts import at_equal, curves, energies, fronts, saving, unhurried, values
from experiments.papers.ours.lpsm2_runs import (
    BLOCK,
    FIRST_SEED,
    HOST_AWARE,
    Family,
    World,
    blocks,
    family,
    kinds,
    world_of,
)  # fmt: skip
from experiments.papers.predicates import below, each, explained_by, reaching
from lpsm import LearnAlpha, alpha_grid, hindsight
from lpsm.bounds.experts import fixed_share_partition_loss
from netsim.policies.lpsm2 import CONTEXTS, Lpsm2, Lpsm2Config
from netsim.policies.lpsm2_record import Round, by_context

__all__ = [
    "EXPERIMENTS",
    "HINDSIGHT",
    "OWN",
    "WIDE",
    "fixed",
    "fixed_schedules",
    "in_hindsight",
    "regrets_of",
    "with_rounds",
]

OWN, LINKED = "lpsm2:1.05", "lpsm2-link:1.05"
PRICES_W = (2.0, 6.0, 15.0, 40.0)
SEGMENTS = (1, 2, 5, 10, 20)
TRAINING_SEEDS = range(4000, 4005)
WIDE = (*HOST_AWARE, "lpsm2:1.12", "lpsm2:1.2")
HINDSIGHT, SAME, ELSEWHERE = KINDS = ("in hindsight", "of other seeds", "of instant servers")
WEB = dict.fromkeys(("web-instant", "web-constant", "web-lognormal"), (600.0, 5500.0, 20))
TRAFFICS = {**WEB, "shifting": (600.0, 3000.0, 10)}
LEARNING = Experiment("ours/lpsm2-learning", "what of LPSM2 is information and what is learning", "3 min")


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
    return {
        name: world.browse(fixed_schedules(best_schedules(record, price), name))
        for name, price in zip(fixed(kind), PRICES_W, strict=True)
    }


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
        t, n = past.costs.shape
        least = past.costs.min(axis=1)
        excess = past.costs - least[:, None]  # what every schedule pays shifts all losses alike
        mixture = LearnAlpha(n_experts=n, alphas=grid).run(excess, weights=False).loss.sum()
        curve = hindsight.partition_curve(excess, min(max(SEGMENTS), t))
        row: dict[str, Any] = {"context": context, "rounds": t, "own": past.paid_j}
        row |= {"mixture": float(mixture + least.sum()), "least": float(least.sum())}
        for k in SEGMENTS:
            best = float(curve[min(k, t) - 1] + least.sum())
            worst = min(fixed_share_partition_loss(best, min(k, t), t, n, alpha) for alpha in grid)
            row |= {f"best_{k}": best, f"bound_{k}": worst + float(np.log(len(grid)))}
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


@LEARNING.runs(kinds(FIRST_SEED, TRAFFICS))
def learn(traffic: str, seconds: float, seed: int) -> dict[str, list[dict[str, Any]]]:
    """Keep the rounds of LPSM2 on one world; run the fixed schedules that follow from them, and from others."""
    world = world_of(traffic, seconds, seed)
    base = world.browse("none")
    own, record = with_rounds(world)
    results = {OWN: own, **{name: world.browse(name) for name in (*WIDE, LINKED) if name != OWN}}
    for kind, rounds in (
        (HINDSIGHT, record),
        (SAME, _trained(traffic, seconds)),
        (ELSEWHERE, _trained("web-instant", seconds)),
    ):
        results |= in_hindsight(world, rounds, kind)
    bare = "without the first round"
    drawn = {OWN: own, bare: world.browse(Lpsm2(Lpsm2Config(prior=False), spec=bare)), LINKED: results[LINKED]}
    common = {"traffic": traffic, "replication": f"seed-{seed}"}
    return {
        "runs": world.rows(results, traffic, base=base),
        "regrets": [{**common, **row} for row in regrets_of(record)],
        "curves": blocks(drawn, base, **common),
    }


# -- claims --------------------------------------------------------------------------------------------------------


def _regret(regrets: pd.DataFrame, traffic: str) -> pd.DataFrame:
    """Return sums over contexts, a row a seed."""
    numbers = [name for name in regrets.columns if regrets[name].dtype.kind == "f"]
    return regrets[regrets["traffic"] == traffic].groupby("replication", sort=True)[numbers].sum()


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


def _below_schedules(record: Record, traffic: str, kind: str) -> Noted:
    """By how many percent LPSM2 is below fixed schedules of a kind at its own slowdown."""
    sample = saving(energies(record, traffic, [OWN])[OWN], at_equal(record, traffic, OWN, fixed(kind)))
    slow = values(record, traffic, "slowdown_mean", [OWN, *fixed(kind)]).mean()
    return Noted(sample, f"below at {slow[OWN]:.3f}; the fastest of the others is at {slow[1:].min():.3f}")


LEARNING.claims += [
    Claim(f"{traffic}: the schedules followed lose no more than the best fixed one of every context",
          below(partial(_own_regret, traffic=traffic, segments=(1,)), unit=" %"),
          reason="losses at the prices of the moment, percent above",
          why=explained_by("beyond the best k in turn,", partial(_own_regret, traffic=traffic, segments=SEGMENTS[1:])))
    for traffic in TRAFFICS
]  # fmt: skip
LEARNING.claims += [
    Claim(f"{traffic}: {OWN} is {words}",
          reaching(partial(_below_schedules, traffic=traffic, kind=kind), least, unit=" %"),
          reason="energy at equal slowdown, interpolated between the prices of a second, seed by seed")
    for kind, least, words in (
        (HINDSIGHT, -2.0, "at most 2 % above the best fixed schedules in hindsight"),
        (SAME, 0.0, "not above fixed schedules chosen on other seeds of the same traffic"),
        (ELSEWHERE, 0.0, "not above fixed schedules chosen on instant servers"),
    )
    for traffic in TRAFFICS
    if (kind, traffic) != (ELSEWHERE, "web-instant")
]  # fmt: skip
LEARNING.claims += unhurried(tuple(WEB), OWN, "ours")
LEARNING.picture("lpsm2-curves", x="page", y="mean slowdown of ten pages")(
    partial(curves, traffics=tuple(WEB), block=BLOCK)
)  # fmt: skip


@LEARNING.picture("lpsm2-hindsight", x="energy over the limit", y="mean slowdown of a page")
def _hindsight(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    families = [*((f"fixed, {kind}", fixed(kind)) for kind in KINDS), ("LPSM2", WIDE), ("link", (LINKED,))]
    return fronts(record, dict.fromkeys(TRAFFICS, families), over="limit_j", most=(1.3, 2.5))


EXPERIMENTS = (LEARNING,)
