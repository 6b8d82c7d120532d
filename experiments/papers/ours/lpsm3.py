"""LPSM3 against everything else, with one configuration: energy at equal slowdown, and what was asked for, kept.

What it models: `lpsm3:1.05:400` on every kind of generated traffic, beside static PSM, BSD, BSD with its phase, two
fixed rules that know what the host waits for, and LPSM2; a stream whose player tells its deadlines; messages at several
delays asked for; the link's form; and a radio whose wake-ups cost energy.  The bars were set down, and the constants of
LPSM3 frozen, before a seed from 8000 on was looked at; they were chosen on 7100 to 7107.  What it leaves out: recorded
sessions (`papers.ours.browsing`); LPSM, which LPSM2 was held against (`papers.ours.lpsm2`); what each part of LPSM3
gives and what learning costs (`papers.ours.lpsm3_parts`); the shared air (`papers.ours.lpsm3_air`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import netsim
from experiments.figures.papers import panels
from experiments.papers.claims import Claim, Measure, Noted, Record
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.ours.lpsm2_fronts import energies, front_frames, mean_of, saving, saving_claim, spared, values
from experiments.papers.ours.lpsm2_runs import measure, world_of
from experiments.papers.predicates import at_least, at_most, each
from experiments.study.compare import estimate
from traces.records import Page

__all__ = ["EXPERIMENTS"]

FIRST_SEED = 8000
OWN, LINKED = "lpsm3:1.05:400", "lpsm3-link:1.05:400"
HINTED = f"{OWN} with deadlines"
WEB = ("web-instant", "web-constant", "web-lognormal")
MIXED = ("web-and-push", "shifting")
PUSH = ("push-memoryless", "push-bursty")
LONG = ("streaming", "shifting")  # packets by the thousand: half as many seeds
BURST_MS, MEMORYLESS_MS = (60, 100, 200, 400), (100, 200, 400)
HOLD = tuple(f"hold:{ms}" for ms in (0, 25, 50, 100, 200, 400))
HOST = tuple(f"bsd-host:{p:g}" for p in (0.07, 0.14, 0.28, 0.6))
PERIODS = tuple(f"psm:{ms}" for ms in (100, 200, 300, 400, 500, 700, 1000, 1500))
TARGETS = (1.02, 1.05, 1.08)
LPSM2 = tuple(f"lpsm2:{target:g}" for target in TARGETS)
LPSM2_WIDE = (*LPSM2, "lpsm2:1.2", "lpsm2:1.5")
LPSM2_LINK = "lpsm2-link:1.05"
RADIO = "esp32-c3"
SERVERS = {"lognormal servers": "lognormal:0.5:0.8"}
SLOWDOWN = "mean slowdown of a page"


FAMILIES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    **dict.fromkeys(WEB, (LPSM2, HOST, HOLD)),
    "web-and-push": (("lpsm2:1.05:400", "lpsm2:1.08:400"), HOST[1:], HOLD[2:]),
    "shifting": (
        ("lpsm2:1.05:400", "lpsm2:1.08:400", "lpsm2:1.2:400"), ("bsd-host:0.28", "bsd-host:0.6", "bsd-host:1.5"),
        HOLD[:4],
    ),
    "streaming": (LPSM2_WIDE[1:], ("bsd-host:0.28", "bsd-host:0.6", "bsd-host:1", "bsd-host:1.5"), HOLD[:3]),
    RADIO: (LPSM2, HOST, HOLD),
}  # fmt: skip
"""Members of LPSM2, BSD with the host's knowledge and the fixed rule: those around the slowdown that is asked for."""


BLIND: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "web-instant": (("bsd:1.4", "bsd:2"), ("bsd-phase:0.28", "bsd-phase:0.6")),
    "web-constant": (("bsd:0.14", "bsd:0.28"), ("bsd-phase:0.14", "bsd-phase:0.28")),
    "web-lognormal": (("bsd:0.14", "bsd:0.28"), ("bsd-phase:0.14", "bsd-phase:0.28")),
    "web-and-push": (("bsd:0.14", "bsd:0.28"), ("bsd-phase:0.14", "bsd-phase:0.28")),
    "shifting": (("bsd:0.55", "bsd:1"), ("bsd-phase:0.28", "bsd-phase:0.6")),
    "streaming": (("bsd:1.4", "bsd:2"), ("bsd-phase:0.6", "bsd-phase:1.5")),
}
"""Members of BSD, without and with its phase, on both sides of that slowdown."""


SECONDS = {
    **dict.fromkeys((*WEB, RADIO, "web-and-push"), 5500.0), **dict.fromkeys(PUSH, 5400.0), "streaming": 900.0,
    "shifting": 3000.0,
}  # fmt: skip


def pushed(ms: int) -> str:
    """Return the policy that is asked for a delay of messages."""
    return f"lpsm3:1.05:{ms}"


def _sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    """Make the tasks seed by seed, so that what an interrupted run has is of all kinds."""
    tasks: dict[str, dict[str, Any]] = {}
    first, full = FIRST_SEED + setup.seed, 20
    for seed in range(first, first + setup.pick(2, full)):
        kinds = [*WEB, "web-and-push", *PUSH]
        kinds += LONG if seed < first + full // 2 else ()
        for traffic in [*kinds, RADIO] if seed < first + full // 4 else kinds:
            task: dict[str, Any] = {
                "traffic": traffic, "seconds": setup.pick(600.0, SECONDS[traffic]), "seed": seed
            }  # fmt: skip
            if traffic == RADIO:
                task |= {"traffic": "web-lognormal", "radio": RADIO}
            tasks[f"{traffic} seed {seed}"] = task | {"policies": list(_policies(traffic))}
    return tasks


def _policies(traffic: str) -> tuple[str, ...]:
    if traffic in PUSH:
        return (*map(pushed, BURST_MS if traffic == "push-bursty" else MEMORYLESS_MS), *PERIODS)
    links = (LINKED, LPSM2_LINK) if traffic in WEB else ()
    families = (*FAMILIES[traffic], *BLIND.get(traffic, ()))
    return (OWN, *links, "psm:100", *(policy for family in families for policy in family))


def run(task: dict[str, Any]) -> Rows:
    """Browse one world under every policy of a task, with the radio that it names; a stream also with deadlines."""
    world = world_of(task)
    config, traffic = netsim.SimulationConfig(), task["traffic"]
    if "radio" in task:
        config, traffic = replace(config, radio=netsim.RadioConfig.named(task["radio"])), task["radio"]

    found = world.traffic

    def browse(policy: str, pages: Sequence[Page] = found.pages) -> netsim.SimulationResult:
        return netsim.simulate(
            pages, policy, config=config, push=found.messages, server_delays=world.servers, seed=world.seed
        )

    base = browse("none")
    common = {"traffic": traffic, "replication": f"seed-{task['seed']}"}
    results = {policy: browse(policy) for policy in task["policies"]}
    if traffic == "streaming":
        instants = found.deadlines_s.tolist()
        pages = [page._replace(deadline_s=at) for page, at in zip(found.pages, instants, strict=True)]
        results[HINTED] = browse(OWN, pages)
    return {"runs": [{**common, "policy": name, **measure(one, base, world)} for name, one in results.items()]}


# -- what a record says


def _every_slowdown(traffics: Sequence[str], limit: float) -> Claim:
    def found(record: Record) -> dict[str, Any]:
        return {traffic: values(record, traffic, "slowdown_mean", [OWN])[OWN] for traffic in traffics}

    return Claim(
        f"the mean slowdown of {OWN} is at most {limit:g} on every seed", each(found, high=limit), f"{limit:g}"
    )


def _kept(traffic: str, ms: int, tolerance: float) -> Claim:
    limit = 1.0 + tolerance / 100

    def found(record: Record) -> dict[str, Any]:
        return {"": 1000 * values(record, traffic, "added_s_mean", [pushed(ms)])[pushed(ms)]}

    return Claim(
        f"{traffic}: asked for {ms} ms, messages wait at most {tolerance:g} % longer on average",
        at_most(found, ms * limit, unit=" ms"), f"{ms} ms",
    )  # fmt: skip


def _below_period(traffic: str, ms: int) -> Measure:
    """Measure by how many percent messages cost less than under the constant period of equal delay.

    The energy of a constant period is linear in its inverse, and so is interpolated there.
    """
    own = pushed(ms)

    def found(record: Record) -> dict[str, Any]:
        joules = energies(record, traffic, [own, *PERIODS])
        delays = values(record, traffic, "added_s_mean", [own, *PERIODS])
        at = 1.0 / delays[own].to_numpy()
        across, up = 1.0 / delays[list(PERIODS)].to_numpy(), joules[list(PERIODS)].to_numpy()
        ideal = [np.interp(x, row_x[::-1], row_y[::-1]) for x, row_x, row_y in zip(at, across, up, strict=True)]
        words = f"below at {1000 * estimate(delays[own]).mean:.0f} ms"
        return {"": Noted(saving(joules[own], np.array(ideal)), words)}

    return found


def _period_claim(traffic: str, ms: int, least_percent: float) -> Claim:
    how = f"at least {least_percent:g} % below" if least_percent > 0 else f"at most {-least_percent:g} % above"
    return Claim(
        f"{traffic}: asked for {ms} ms, {how} the constant period of equal delay",
        at_least(_below_period(traffic, ms), least_percent, unit=" %"), f"{least_percent:g} %",
    )  # fmt: skip


def _mean_delay(traffic: str, limit_s: float) -> Claim:
    return Claim(
        f"{traffic}: messages wait {limit_s:g} s at most on average",
        at_most(mean_of(traffic, "added_s_mean", [OWN]), limit_s, unit=" s"), f"{limit_s:g} s",
    )  # fmt: skip


def _link_near(traffic: str, percent: float) -> Claim:
    family = (OWN,)

    def found(record: Record) -> dict[str, Any]:
        joules, slow = energies(record, traffic, [LINKED, OWN]), values(record, traffic, "slowdown_mean", [LINKED])
        return {"": Noted(-saving(joules[LINKED], joules[family[0]]), f"above, at {slow[LINKED].mean():.3f}")}

    return Claim(
        f"{traffic}: {LINKED} needs at most {percent:g} % more than {OWN}", at_most(found, percent, unit=" %"),
        f"{percent:g} %",
    )  # fmt: skip


def _bars(traffic: str, *least: float) -> tuple[Claim, ...]:
    """Claim savings against LPSM2, BSD with the host's knowledge, and the fixed rule; NaN: none."""
    names = ("LPSM2", "BSD, host", "hold, host")
    return tuple(
        saving_claim(traffic, OWN, family, name, percent)
        for name, family, percent in zip(names, FAMILIES[traffic], least, strict=True)
        if np.isfinite(percent)
    )


def _wide_lpsm2() -> Claim:
    return Claim(
        f"streaming: {OWN} uses less energy than LPSM2 of equal slowdown, also where that is asked for 1.2 and 1.5",
        at_least(spared("streaming", OWN, LPSM2_WIDE[1:]), 0.0, unit=" %"), "0 %",
    )  # fmt: skip


def _of_deadlines() -> tuple[Claim, ...]:
    """Claim that a stream whose deadlines are known needs no more than the rule that never waits awake, unstalled."""

    def below(other: str) -> Measure:
        def found(record: Record) -> dict[str, Any]:
            joules = energies(record, "streaming", [HINTED, other])
            return {"": Noted(saving(joules[HINTED], joules[other]), "below")}

        return found

    def stalled(record: Record) -> dict[str, Any]:
        return {"": values(record, "streaming", "stalls", [HINTED])[HINTED]}

    return (
        Claim("streaming: with its deadlines known, no segment stalls its player", each(stalled, high=0.0), "0"),
        *(
            Claim(f"streaming: with its deadlines known, {OWN} needs no more than {words}",
                  at_least(below(other), 0.0, unit=" %"), "0 %")
            for other, words in (("hold:0", "hold:0, which never waits awake"), (OWN, "without them"))
        ),
    )  # fmt: skip


def _below_bsd() -> tuple[Claim, ...]:
    return tuple(
        saving_claim(traffic, OWN, family, name, 0.0)
        for traffic, families in BLIND.items()
        for name, family in zip(("BSD", "BSD with its phase"), families, strict=True)
    )


def _draw(record: Record) -> Mapping[str, Figure]:
    def front(most: tuple[float, float], *traffics: str) -> list[tuple[str, Any]]:
        return front_frames(record, {name: families(name) for name in traffics}, over="limit_j", most=most)

    def families(traffic: str) -> list[tuple[str, Any]]:
        names = ("LPSM2", "BSD, host", "hold, host", "BSD", "BSD, phase")
        own = [*zip(names, (*FAMILIES[traffic], *BLIND[traffic]), strict=True), ("LPSM3", (OWN,))]
        return [*own, ("LPSM3, deadlines", (HINTED,))] if traffic == "streaming" else own

    asked = dict(zip(PUSH, (MEMORYLESS_MS, BURST_MS), strict=True))
    push = {name: [("static PSM", PERIODS), ("LPSM3", tuple(map(pushed, own)))] for name, own in asked.items()}
    messages = front_frames(record, push, y="added_s_mean", over="limit_j", most=(0.8, 1.6))
    mixed = front((1.6, 1.3), "web-and-push") + front((2.5, 1.5), "streaming") + front((1.8, 1.3), "shifting")
    energy = "energy over the limit"
    return {
        "lpsm3-web": panels(front((1.6, 1.2), *WEB), x=energy, y=SLOWDOWN),
        "lpsm3-mixed": panels(mixed, x=energy, y=SLOWDOWN),
        "lpsm3-push": panels(messages, x=energy, y="mean added delay of a message [s]"),
    }


EXPERIMENTS = (
    Experiment(
        name="ours/lpsm3",
        subject="LPSM3, one configuration on everything: energy at equal slowdown, and what was asked for",
        time="5 min",
        sweep=_sweep,
        run=run,
        claims=(
            *_bars("web-lognormal", 2.0, 6.0, 8.0),
            *_bars("web-constant", 2.0, float("nan"), float("nan")),
            *_bars("web-instant", float("nan"), 0.8, 0.8),
            *_bars("streaming", float("nan"), 3.5, 4.5),
            saving_claim("streaming", OWN, LPSM2[1:], "LPSM2 asked for up to 1.08", 5.0),
            _wide_lpsm2(),
            *_bars("web-and-push", 0.0, 5.0, 6.0),
            _mean_delay("web-and-push", 0.42),
            *_bars("shifting", 0.0, 2.5, 1.0),
            _every_slowdown((*WEB, *MIXED, "streaming"), 1.0605),
            *(_kept("push-bursty", ms, 5.0 if ms == 400 else 1.0) for ms in BURST_MS),
            *(_period_claim("push-bursty", ms, least) for ms, least in ((60, 5.0), (100, 5.0), (200, 2.5))),
            *(_period_claim("push-memoryless", ms, least) for ms, least in ((100, -1.2), (200, -0.5), (400, -0.5))),
            *(_link_near(traffic, 2.0) for traffic in WEB),
            *_bars(RADIO, 0.0, 0.0, 0.0),
            *_of_deadlines(),
            *_below_bsd(),
        ),
        figures=_draw,
    ),
)
