"""What of LPSM3 does what, what learning costs, and what the best schedules in hindsight would have spared.

What it models: in `ours/lpsm3-ablations` one part of LPSM3 is taken away at a time, and what remains is held against
the whole at equal slowdown; for messages, by how far their mean delay is from the one asked for.  With first seed 0 the
seeds are those that the constants of LPSM3 were chosen on (7100 to 7107), with any other they are fresh.  In
`ours/lpsm3-learning` the best fixed schedules of LPSM2 in hindsight (a schedule a context, chosen on the very run for
several prices of a second) are run beside LPSM3, and regret is what LPSM3 needs above their front at its own slowdown
(its own delay of messages), joules a run.  LPSM3 that has learned waits on another seed beforehand shows what learning
them costs, and learning curves show when.

What it leaves out: schedules that change within a context, and parts that are not numbers of the configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers.claims import Claim, Measure, Noted, Record
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.ours.lpsm2_fronts import (
    at_equal,
    curve_frame,
    energies,
    front_frames,
    saving,
    spared_by_parts,
    unhurried,
    values,
)
from experiments.papers.ours.lpsm2_learning import (
    HINDSIGHT,
    PRICES_W,
    best_schedules,
    fixed,
    fixed_schedules,
    with_rounds,
)
from experiments.papers.ours.lpsm2_runs import BLOCK, World, blocks, measure, world_of
from experiments.papers.ours.lpsm3 import FIRST_SEED, OWN, SECONDS, pushed
from experiments.papers.predicates import at_least, at_most
from netsim.policies.lpsm3 import Lpsm3, Lpsm3Config
from netsim.sleep_planning.hazards import N_WIDTHS

__all__ = ["EXPERIMENTS", "PARTS", "experienced", "without"]

TUNING_SEED = 7100
ELSEWHERE = 500  # so many seeds away is what was learned from beforehand
BURSTY = "push-bursty"
LEARNED_ON = ("web-instant", "web-constant", "web-lognormal", BURSTY)
PARTS_ON = ("web-lognormal", "streaming", "shifting")
WHOLE = ("lpsm3:1.02:400", OWN, "lpsm3:1.08:400", "lpsm3:1.2:400")
DELAYS_MS = (100, 400)
EXPERIENCED = "after another seed"
LEARNED = ("events", "at_risk_s", "rates", "log_evidence", "mean_rates", "ages")
UNLEARNED = {"without learning": {"prior_events": 1e9}}
WIDTHS = {f"with bins of {words} alone": {"alone": which} for which, words in enumerate(("7 %", "40 %", "5.4"))}
PARTS: Mapping[str, Mapping[str, float]] = {
    "at a fixed price": {"gain": 1e-9, "drift_step": 0.0},
    "without the drift": {"drift_step": 0.0},
    "without good will": {"good_will": 0.0},
    **UNLEARNED,
    **WIDTHS,
}
PARTS_OF_PUSH: Mapping[str, Mapping[str, float]] = {
    "without correction": {"push_memory": 1e9},
    "without aiming lower": {"push_margin": 0.0},
    "without waiting for what was held back": {"held_shape": 1e-9},
    **UNLEARNED,
    **WIDTHS,
}


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


def browse_parts(task: dict[str, Any]) -> Rows:
    """Run LPSM3 whole, at several slowdowns or delays of messages, and with one part taken away at a time."""
    world = world_of(task)
    if task["traffic"] == BURSTY:
        runs: dict[str, Any] = {
            f"{part} {ms} ms": without(part, change, max_push_delay_s=ms / 1000)
            for part, change in PARTS_OF_PUSH.items()
            for ms in DELAYS_MS
        } | {pushed(ms): pushed(ms) for ms in DELAYS_MS}
    else:
        runs = {part: without(part, change) for part, change in PARTS.items()} | {name: name for name in WHOLE}
    return {"runs": _measured(task, world, {name: world.browse(policy) for name, policy in runs.items()})}


def learn(task: dict[str, Any]) -> Rows:
    """Run LPSM3 new and experienced, and LPSM2's best schedules in hindsight."""
    world = world_of(task)
    before = world_of(task | {"seed": task["seed"] + ELSEWHERE}).browse(OWN).final_policy
    assert isinstance(before, Lpsm3)
    lpsm2, rounds = with_rounds(world)
    runs = {OWN: world.browse(OWN), EXPERIENCED: world.browse(experienced(before)), lpsm2.policy: lpsm2}
    curves = dict(runs)
    for name, price_w in zip(fixed(HINDSIGHT), PRICES_W, strict=True):
        runs[name] = world.browse(fixed_schedules(best_schedules(rounds, price_w), name))
    rows: Rows = {"runs": _measured(task, world, runs)}
    if world.traffic.pages:
        base, common = world.browse("none"), _common(task)
        rows["curves"] = [
            {**common, "policy": name, **row} for name, result in curves.items() for row in blocks(result, base)
        ]
    return rows


def _common(task: dict[str, Any]) -> dict[str, str]:
    return {"traffic": task["traffic"], "replication": f"seed-{task['seed']}"}


def _measured(task: dict[str, Any], world: World, runs: Mapping[str, Any]) -> list[dict[str, Any]]:
    base = world.browse("none")
    return [{**_common(task), "policy": name, **measure(result, base, world)} for name, result in runs.items()]


def _tasks(setup: Setup, first: int, seeds: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    return {
        f"{traffic} seed {seed}": {
            "traffic": traffic, "seconds": setup.pick(600.0, SECONDS[traffic]), "seed": seed
        }
        for traffic, full in seeds.items()
        for seed in range(first + setup.seed, first + setup.seed + setup.pick(2, full))
    }  # fmt: skip


def _parts(setup: Setup) -> dict[str, dict[str, Any]]:
    return _tasks(setup, TUNING_SEED, {"web-lognormal": 8, "streaming": 4, "shifting": 8, BURSTY: 8})


def _learning(setup: Setup) -> dict[str, dict[str, Any]]:
    return _tasks(setup, FIRST_SEED, dict.fromkeys(LEARNED_ON, 20))


# -- what a record says


def _nearer(part: str, ms: int) -> Measure:
    """How much nearer to the delay asked for messages are than without a part, percent of it."""

    def found(record: Record) -> dict[str, Any]:
        names = [pushed(ms), f"{part} {ms} ms"]
        delays = 1000 * values(record, BURSTY, "added_s_mean", names)
        whole, rest = ((delays[name] - ms).abs() for name in names)
        joules = energies(record, BURSTY, names)
        cost = saving(joules[names[1]], joules[names[0]]).mean()
        means = delays.mean()
        words = f"({means[names[0]]:.0f} ms whole, {means[names[1]]:.0f} {part}, its energy {cost:.1f} % below)"
        return {"": Noted(100 * (rest - whole) / ms, words)}

    return found


def _column(traffic: str) -> str:
    return "added_s_mean" if traffic == BURSTY else "slowdown_mean"


def _regret_j(traffic: str) -> Measure:
    def found(record: Record) -> dict[str, Any]:
        own = energies(record, traffic, [OWN])[OWN]
        at = values(record, traffic, _column(traffic), [OWN, *fixed(HINDSIGHT)]).mean()
        words = f"of {own.mean():.0f} J, at {at[OWN]:.3f}; the fastest of the others is at {at[1:].min():.3f}"
        return {"": Noted(own - at_equal(record, traffic, OWN, fixed(HINDSIGHT), _column(traffic)), words)}

    return found


def _spared_by_experience(traffic: str) -> Measure:
    def found(record: Record) -> dict[str, Any]:
        joules = energies(record, traffic, [OWN, EXPERIENCED])
        at = values(record, traffic, _column(traffic), [OWN, EXPERIENCED]).mean()
        return {"": Noted(saving(joules[EXPERIENCED], joules[OWN]), f"at {at[EXPERIENCED]:.3f}, {at[OWN]:.3f} new")}

    return found


def _draw_parts(record: Record) -> Mapping[str, Figure]:
    families = [("LPSM3", WHOLE), *((part, (part,)) for part in PARTS)]
    fronts = front_frames(record, dict.fromkeys(PARTS_ON, families), over="limit_j", most=(1.4, 1.5))
    return {"lpsm3-parts": panels(fronts, x="energy over the limit", y="mean slowdown of a page")}


def _draw_learning(record: Record) -> Mapping[str, Figure]:
    curves = [(traffic, curve_frame(record, traffic, BLOCK)) for traffic in LEARNED_ON[:3]]
    families = [("schedules in hindsight", fixed(HINDSIGHT)), ("LPSM2", ("lpsm2:1.05",)), ("LPSM3", (OWN,))]
    families += [(f"LPSM3 {EXPERIENCED}", (EXPERIENCED,))]
    fronts = front_frames(record, dict.fromkeys(LEARNED_ON[:3], families), over="limit_j", most=(1.2, 2.0))
    return {
        "lpsm3-curves": panels(curves, x="page", y="mean slowdown of ten pages"),
        "lpsm3-hindsight": panels(fronts, x="energy over the limit", y="mean slowdown of a page"),
    }


EXPERIMENTS = (
    Experiment(
        name="ours/lpsm3-learning",
        subject="what learning costs LPSM3: regret against the best schedules in hindsight, learning curves",
        time="1 min",
        sweep=_learning,
        run=learn,
        claims=(
            *(
                Claim(
                    f"{traffic}: {OWN} needs at most 2 J a run more than the best fixed schedules in hindsight",
                    at_most(_regret_j(traffic), 2.0, unit=" J"),
                    "2 J",
                    "a schedule a context, chosen on the same run; at equal slowdown or delay, between prices",
                )
                for traffic in LEARNED_ON
            ),
            *unhurried(LEARNED_ON[:3], OWN),
            *(
                Claim(
                    f"{traffic}: waits learned on another seed spare at most 2 % of the energy",
                    at_most(_spared_by_experience(traffic), 2.0, unit=" %"),
                    "2 %",
                )
                for traffic in LEARNED_ON
            ),
        ),
        figures=_draw_learning,
    ),
    Experiment(
        name="ours/lpsm3-ablations",
        subject="LPSM3 with one part taken away at a time",
        time="1 min",
        sweep=_parts,
        run=browse_parts,
        claims=(
            *spared_by_parts("LPSM3", OWN, WHOLE, PARTS, PARTS_ON),
            *(
                Claim(
                    f"{BURSTY}: asked for {ms} ms, messages are no farther from it than they are {part}",
                    at_least(_nearer(part, ms), 0.0, unit=" %"),
                    reason="how far the mean delay of a run is from what was asked for, percent of that",
                )
                for part in PARTS_OF_PUSH
                for ms in DELAYS_MS
            ),
        ),
        figures=_draw_parts,
    ),
)
