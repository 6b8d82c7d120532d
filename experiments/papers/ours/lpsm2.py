"""LPSM2 against everything else: energy at equal slowdown on the Web, messages, streams and mixtures.

What it models: the thesis expects (section 2.5.4) that "it should be possible to simultaneously reduce both energy and
slowdown from that of previous approaches, by appropriate choice and calibration of the loss function".  `ours/lpsm2`
compares LPSM2 with static PSM, BSD, BSD with its phase, BSD that also knows what is outstanding, a fixed rule with
the same knowledge, and LPSM, on Web pages with three kinds of servers; `ours/lpsm2-traffic` does so on every other
kind of generated traffic.  The figures required were set down before the first full run.
What it leaves out: recorded sessions (`papers.ours.browsing`); what was learned (`papers.ours.lpsm2_learning`), and
what each part of it gives (`papers.ours.lpsm2_parts`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import isfinite
from typing import Any

import pandas as pd

from experiments.papers.claims import Claim, Noted, Record, named
from experiments.papers.kit import Experiment, Setup
from experiments.papers.ours.lpsm2_fronts import (
    at_equal,
    energies,
    fronts,
    limited,
    not_above,
    saving,
    saving_claim,
    values,
)  # fmt: skip
from experiments.papers.ours.lpsm2_runs import (
    BSD,
    FIRST_SEED,
    HOLD,
    HOST,
    HOST_AWARE,
    LINK,
    PHASE,
    POLICIES,
    PSM,
    THESIS,
    Family,
    family,
    kinds,
    runs,
)  # fmt: skip
from experiments.papers.predicates import above, at_most
from experiments.study.compare import linearised

__all__ = ["EXPERIMENTS", "OWN", "SLOWDOWN", "SOME", "SOME_BSD", "SOME_HOST", "SOME_PHASE", "THIN"]

INSTANT, CONSTANT, LOGNORMAL = WEB = ("web-instant", "web-constant", "web-lognormal")
PUSH = ("push-memoryless", "push-bursty")
PUSH_TARGETS_MS = (60, 100, 150, 200, 300, 400)
OWN, LINKED = "lpsm2:1.05", "lpsm2-link:1.05"
WIDE = ("lpsm2:1.2", "lpsm2:1.5")
PUSHED = family(OWN + ":{}", PUSH_TARGETS_MS)
UP_TO_1 = tuple(policy for policy in BSD if float(policy.partition(":")[2]) <= 1)
FIXED = (("static PSM", PSM), ("BSD", BSD), ("BSD, phase", PHASE), ("BSD, host", HOST), ("hold, host", HOLD))
FAMILIES = (*FIXED, ("LPSM", THESIS), ("LPSM2", HOST_AWARE), ("LPSM2, link", LINK))
THIN = tuple((name, own[::2] if len(own) > 6 else own) for name, own in FAMILIES)
SOME_BSD, SOME_PHASE, SOME_HOST = (own for name, own in THIN if name.startswith("BSD"))
SOME = ("none", *(policy for _, own in THIN for policy in own))
PATIENT = f"{OWN}:400"
SLOWDOWN = "mean slowdown of a page"
REST = {
    **dict.fromkeys(PUSH, (600.0, 5400.0, 20)), "web-and-push": (550.0, 5500.0, 20), "streaming": (60.0, 900.0, 10),
    "shifting": (600.0, 3000.0, 10),
}  # fmt: skip
MORE = {"streaming": WIDE, "shifting": (*WIDE, f"{OWN}:200", PATIENT)}
ON_THE_WEB = Experiment("ours/lpsm2", "LPSM2 on the Web: energy at equal slowdown", "2 min")
ELSEWHERE = Experiment(
    "ours/lpsm2-traffic", "LPSM2 on messages, a stream, mixtures, and all of them in turn", "4 min"
)  # fmt: skip


def _rest(setup: Setup) -> dict[str, dict[str, Any]]:
    tasks: dict[str, dict[str, Any]] = kinds(FIRST_SEED, REST)(setup)
    return {key: task | {"policies": [*SOME, *MORE.get(task["traffic"], PUSHED)]} for key, task in tasks.items()}


ON_THE_WEB.runs(kinds(FIRST_SEED, dict.fromkeys(WEB, (1100.0, 5500.0, 20)), policies=["none", *POLICIES]))(runs)
ELSEWHERE.runs(_rest)(runs)


# -- measures and kinds of claims ----------------------------------------------------------------------------------


def _over_reference(record: Record) -> Noted:
    """Energy of LPSM2 over that of page-awake, with instant servers."""
    own, awake, limit = (values(record, INSTANT, one, [OWN])[OWN] for one in ("total_j", "page_awake_j", "limit_j"))
    return Noted(linearised(own, awake), f"times page-awake ({linearised(own, limit).mean():.3f} times the limit)")


def _below_each(record: Record, traffic: str, policy: str, others: Sequence[str], column: str = "total_j") -> Any:
    """By how many percent a policy is below each of others, whatever their slowdown."""
    own, slow = (values(record, traffic, one, [policy, *others]) for one in (column, "slowdown_mean"))
    return {f"than {one}": Noted(saving(own[policy], own[one]), f"at its {slow[one].mean():.3f}") for one in others}


def _both_axes(traffic: str, policy: str, others: Sequence[str]) -> Claim:
    below = partial(_below_each, traffic=traffic, policy=policy, others=others)
    columns = {"energy": "total_j", "slowdown": "slowdown_mean"}
    return Claim(
        f"{traffic}: {policy} is below {' and '.join(others)} in energy and in slowdown",
        above(named({what: partial(below, column=one) for what, one in columns.items()}), unit=" %"),
        "simultaneously reduce both energy and slowdown from that of previous approaches",
        "percent lower, paired over seeds",
    )


def _targets(traffic: str, policies: Family) -> Claim:
    """Claim on those policies that no other claim of the same traffic is about."""
    asked = {policy: policy.partition(":")[2] for policy in policies}

    def excess(record: Record) -> dict[str, Any]:
        means, tails = (values(record, traffic, one, policies) for one in ("slowdown_mean", "slowdown_p95"))
        return {
            policy: Noted(means[policy] / float(target), f"of it (p95 {tails[policy].mean():.2f})")
            for policy, target in asked.items()
        }

    statement = f"{traffic}: the mean slowdown of {policies[0].partition(':')[0]} is at most the one asked for"
    return Claim(statement, at_most(excess, 1.0), ", ".join(asked.values()), "mean slowdown over the one asked for")


def _below_fixed(traffic: str, policy: str) -> Claim:
    """Below each family of fixed policies at its own slowdown."""
    fixed = {name: own for name, own in THIN if not name.startswith("LPSM")}

    def below(record: Record) -> dict[str, Any]:
        joules = energies(record, traffic, [policy])[policy]
        waits = values(
            record, traffic, "added_s_mean", [policy, *(one for own in fixed.values() for one in own)]
        ).mean()
        samples = {}
        for name, own in fixed.items():
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
        waits = 1000 * values(record, traffic, "added_s_mean", PUSHED)
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
          above(partial(_below_each, traffic=INSTANT, policy=OWN, others=UP_TO_1), unit=" %"),
          reason="percent lower, paired over seeds, whatever the slowdown of the other"),
    limited(CONSTANT, OWN, 1.02),
    saving_claim(CONSTANT, OWN, BSD, "BSD", 20.0),
    limited(LOGNORMAL, OWN, 1.05),
    saving_claim(LOGNORMAL, OWN, BSD, "BSD", 12.0),
    saving_claim(LOGNORMAL, OWN, PHASE, "BSD with its phase", 8.0),
    not_above(LOGNORMAL, OWN, HOST, "BSD with phase and host"),
    not_above(LOGNORMAL, OWN, HOLD, "the fixed rule with the host's knowledge"),
    *(_targets(traffic, own) for traffic in WEB for own in ((HOST_AWARE[0], *HOST_AWARE[2:]), LINK)),
    *(_both_axes(traffic, OWN, ("psm:100", "lpsm")) for traffic in WEB),
    _both_axes(LOGNORMAL, OWN, ("lpsm:log",)),
    saving_claim(LOGNORMAL, LINKED, PHASE, "BSD with its phase", 0.0),
]  # fmt: skip
ELSEWHERE.claims += [
    *(claim for policy in (OWN, WIDE[-1]) for claim in _of_streams(policy)),
    _below_fixed("shifting", OWN),
    _below_fixed("shifting", LINKED),
    _below_fixed("web-and-push", OWN),
    _below_fixed("shifting", PATIENT),
    _below_fixed("web-and-push", PATIENT),
    *map(_push_target, PUSH),
    *(
        not_above(traffic, f"{OWN}:{ms}", own, name, "added_s_mean")
        for name, own in (("static PSM", PSM), ("LPSM", THESIS))
        for traffic in PUSH
        for ms in (100, 200)
    ),
]


@ON_THE_WEB.picture("lpsm2-web", x="energy over page-awake", y=SLOWDOWN)
def _web_fronts(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    return fronts(record, dict.fromkeys(WEB, FAMILIES), over="page_awake_j", most=(1.3, 1.6))


@ELSEWHERE.picture("lpsm2-mixed", x="energy over the limit", y=SLOWDOWN)
def _mixed_fronts(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    wide = [(name, (*own, *WIDE) if name == "LPSM2" else own) for name, own in THIN]
    patient = ("LPSM2, messages 0.4 s", (PATIENT,))
    families = {"web-and-push": [*THIN, patient], "streaming": wide, "shifting": [*wide, patient]}
    return fronts(record, families, over="limit_j", most=(1.5, 2.5))


@ELSEWHERE.picture("lpsm2-push", x="energy over the limit", y="mean added delay of a message [s]")
def _push_fronts(record: Record) -> Iterator[tuple[str, pd.DataFrame]]:
    push = [*(one for one in THIN if one[0] in ("static PSM", "BSD", "LPSM")), ("LPSM2", PUSHED)]
    return fronts(record, dict.fromkeys(PUSH, push), y="added_s_mean", over="limit_j", most=(0.6, 1.6))


EXPERIMENTS = (ON_THE_WEB, ELSEWHERE)
