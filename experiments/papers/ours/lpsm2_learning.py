"""What of LPSM2 is information and what is learning: regrets, hindsight, learning curves.

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

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

import netsim
from experiments.figures.papers import panels
from experiments.papers.claims import Claim, Measure, Noted, Record
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.ours.lpsm2_fronts import (
    at_equal,
    curve_frame,
    energies,
    front_frames,
    saving,
    unhurried,
    values,
)
from experiments.papers.ours.lpsm2_runs import BLOCK, HOST_AWARE, World, blocks, measure, seeds_of, world_of
from experiments.papers.predicates import below, each, explained_by, reaching
from lpsm import LearnAlpha, alpha_grid, hindsight
from lpsm.bounds.experts import fixed_share_partition_loss
from netsim.policies.lpsm2 import CONTEXTS, Lpsm2, Lpsm2Config
from netsim.policies.lpsm2_record import Round, by_context

__all__ = ["EXPERIMENTS", "WIDE", "best_schedules", "fixed_schedules", "learn", "regrets", "tasks_on", "with_rounds"]

Floats = NDArray[np.float64]

TRAFFICS = ("web-instant", "web-constant", "web-lognormal", "shifting")
OWN = "lpsm2:1.05"
PRICES_W = (2.0, 6.0, 15.0, 40.0)
SEGMENTS = (1, 2, 5, 10, 20)
TRAINING_SEEDS = range(4000, 4005)
WIDE = (*HOST_AWARE, "lpsm2:1.12", "lpsm2:1.2")
HINDSIGHT, SAME, ELSEWHERE = KINDS = ("in hindsight", "of other seeds", "of instant servers")


def fixed(kind: str) -> tuple[str, ...]:
    """Return the names of fixed schedules of a kind, one a price."""
    return tuple(f"fixed {kind} {price:g}" for price in PRICES_W)


def fixed_schedules(chosen: Sequence[int], spec: str) -> Lpsm2:
    """Return LPSM2 without its learning: one schedule a context, given by number in the order of the contexts."""
    return Lpsm2(Lpsm2Config(dual=False, prior=False, fixed=tuple(chosen)), spec=spec)


def best_schedules(record: Sequence[Round], price_w: float) -> tuple[int, ...]:
    """Return the schedule of least cost in every context, a second of delay being worth `price_w` joules.

    A context without a round takes the schedule that is best in all rounds together.
    """
    everywhere = int(np.sum([found.costs_at(price_w) for found in record], axis=0).argmin())
    past = by_context(record, price_w)
    return tuple(past[context].best_fixed if context in past else everywhere for context in CONTEXTS)


def regrets(record: Sequence[Round]) -> list[dict[str, Any]]:
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
            worst = [fixed_share_partition_loss(best, min(k, t), t, n, alpha) for alpha in grid]
            row |= {f"best_{k}": best, f"bound_{k}": min(worst) + float(np.log(len(grid)))}
        rows.append(row)
    return rows


@cache
def _trained(traffic: str, seconds: float) -> list[Round]:
    """Rounds of the training seeds, of one kind of traffic."""
    found: list[Round] = []
    for seed in TRAINING_SEEDS:
        found += with_rounds(world_of({"traffic": traffic, "seconds": seconds, "seed": seed}))[1]
    return found


def with_rounds(world: World) -> tuple[netsim.SimulationResult, list[Round]]:
    """Browse a world under LPSM2; return the run, and its rounds with what every schedule would have cost."""
    result = world.browse(Lpsm2(Lpsm2Config(record=True), spec=OWN))
    policy = result.final_policy
    assert isinstance(policy, Lpsm2)
    return result, policy.record


def learn(task: dict[str, Any]) -> Rows:
    """Keep the rounds of LPSM2 on one world; run the fixed schedules that follow from them, and from others."""
    world = world_of(task)
    common = {"traffic": task["traffic"], "replication": f"seed-{task['seed']}"}
    base = world.browse("none")
    own, record = with_rounds(world)
    results = [own, *(world.browse(policy) for policy in WIDE if policy != OWN), world.browse("lpsm2-link:1.05")]
    sources = {HINDSIGHT: record, SAME: _trained(task["traffic"], task["seconds"])}
    sources[ELSEWHERE] = _trained("web-instant", task["seconds"])
    for kind, rounds in sources.items():
        for name, price in zip(fixed(kind), PRICES_W, strict=True):
            results.append(world.browse(fixed_schedules(best_schedules(rounds, price), name)))
    bare = world.browse(Lpsm2(Lpsm2Config(prior=False), spec="without the first round"))
    drawn = (own, bare, results[len(WIDE)])
    curves = [{**common, "policy": result.policy, **row} for result in drawn for row in blocks(result, base)]
    return {
        "runs": [{**common, "policy": result.policy, **measure(result, base, world)} for result in results],
        "regrets": [{**common, **row} for row in regrets(record)],
        "curves": curves,
    }


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    return tasks_on(setup, TRAFFICS)


def tasks_on(setup: Setup, traffics: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Twenty seeds of 100 pages, and ten of 50 minutes of everything in turn."""
    return {
        f"{traffic} seed {seed}": {"traffic": traffic, "seconds": seconds, "seed": seed}
        for traffic in traffics
        for seconds, seeds in [setup.pick((600.0, 2), (3000.0, 10) if traffic == "shifting" else (5500.0, 20))]
        for seed in seeds_of(setup, seeds, seeds)
    }


# -- what a record says ---------------------------------------------------------------------------------------------


def _below_schedules(traffic: str, kind: str) -> Measure:
    """By how many percent LPSM2 is below fixed schedules of a kind at its own slowdown."""

    def measure(record: Record) -> dict[str, Any]:
        found = saving(energies(record, traffic, [OWN])[OWN], at_equal(record, traffic, OWN, fixed(kind)))
        slow, fastest = (values(record, traffic, "slowdown_mean", one).mean().min() for one in ([OWN], fixed(kind)))
        return {"": Noted(found, f"below at {slow:.3f}; the fastest of the others is at {fastest:.3f}")}

    return measure


def _regret(record: Record, traffic: str) -> pd.DataFrame:
    """Sums over contexts, a row a seed."""
    rows = record["regrets"]
    numbers = [name for name in rows.columns if rows[name].dtype.kind == "f"]
    return rows[rows["traffic"] == traffic].groupby("replication", sort=True)[numbers].sum()


def _over_bound(record: Record) -> dict[str, Any]:
    """Loss of the mixture over what the bound allows, every context, by the number of schedules in turn."""
    rows = record["regrets"]
    regrets = {traffic: _regret(record, traffic) for traffic in dict.fromkeys(rows["traffic"])}
    words = ", ".join(
        "{} {:.1f} J of {:.1f}".format(
            traffic, *((table[one] - table["best_1"]).mean() for one in ("mixture", "bound_1"))
        )
        for traffic, table in regrets.items()
    )
    found: dict[str, Any] = {f"k = {k}:": rows["mixture"] / rows[f"bound_{k}"] for k in SEGMENTS}
    return {**found, "k = 1:": Noted(found["k = 1:"], f"(regret {words})")}


def _own_regret(traffic: str, *segments: int) -> Measure:
    """What the schedules followed lose above the best k of every context in turn, percent."""

    def measure(record: Record) -> dict[str, Any]:
        table = _regret(record, traffic)
        return {f"k = {k}:": 100 * (table["own"] / table[f"best_{k}"] - 1) for k in segments}

    return measure


def _draw_learning(record: Record) -> Mapping[str, Figure]:
    curves = [(traffic, curve_frame(record, traffic, BLOCK)) for traffic in TRAFFICS[:3]]
    families = [*((f"fixed, {kind}", fixed(kind)) for kind in KINDS), ("LPSM2", WIDE), ("link", ("lpsm2-link:1.05",))]
    fronts = front_frames(record, dict.fromkeys(TRAFFICS, families), over="limit_j", most=(1.3, 2.5))
    return {
        "lpsm2-curves": panels(curves, x="page", y="mean slowdown of ten pages"),
        "lpsm2-hindsight": panels(fronts, x="energy over the limit", y="mean slowdown of a page"),
    }


_AGAINST = (
    (HINDSIGHT, -2.0, "at most 2 % above the best fixed schedules in hindsight"),
    (SAME, 0.0, "not above fixed schedules chosen on other seeds of the same traffic"),
    (ELSEWHERE, 0.0, "not above fixed schedules chosen on instant servers"),
)

EXPERIMENTS = (
    Experiment(
        name="ours/lpsm2-learning",
        subject="what of LPSM2 is information and what is learning",
        time="3 min",
        sweep=_sweep,
        run=learn,
        claims=(
            Claim(
                "the mixture's regret is below Learn-alpha's bound in every context",
                each(_over_bound, high=1.0 + 1e-9),
                reason="a theorem, for the best 1, 2, 5, 10 and 20 schedules in turn; loss over what is allowed",
            ),
            *(
                Claim(
                    f"{traffic}: the schedules followed lose no more than the best fixed one of every context",
                    below(_own_regret(traffic, 1), unit=" %"),
                    reason="losses at the prices of the moment, percent above",
                    why=explained_by("beyond the best k in turn,", _own_regret(traffic, *SEGMENTS[1:])),
                )
                for traffic in TRAFFICS
            ),
            *(
                Claim(
                    f"{traffic}: {OWN} is {words}",
                    reaching(_below_schedules(traffic, kind), least, unit=" %"),
                    reason="energy at equal slowdown, interpolated between the prices of a second, seed by seed",
                )
                for kind, least, words in _AGAINST
                for traffic in TRAFFICS[kind == ELSEWHERE :]
            ),
            *unhurried(TRAFFICS[:3], OWN, "ours"),
        ),
        figures=_draw_learning,
    ),
)
