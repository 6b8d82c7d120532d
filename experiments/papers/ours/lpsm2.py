"""LPSM2 against everything else: energy at equal slowdown on the Web, messages, streams and mixtures.

What it models: the thesis expects (section 2.5.4) that "it should be possible to simultaneously reduce both energy and
slowdown from that of previous approaches, by appropriate choice and calibration of the loss function".  `ours/lpsm2`
holds LPSM2 against static PSM, BSD, BSD with its phase, BSD that also knows what is outstanding, a fixed rule with
the same knowledge, and LPSM, on Web pages with three kinds of servers; `ours/lpsm2-traffic` on everything else that
is generated.  Figures required are those that were set down before the first full run.  What it leaves out: recorded
sessions (`papers.ours.browsing`); what was learned (`papers.ours.lpsm2_learning`), and from which part of it what
comes (`papers.ours.lpsm2_parts`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers.claims import Claim, Measure, Noted, Record, named
from experiments.papers.kit import Experiment, Setup
from experiments.papers.ours.lpsm2_fronts import (
    at_equal,
    energies,
    front_frames,
    limited,
    not_above,
    saving,
    saving_claim,
    values,
)
from experiments.papers.ours.lpsm2_runs import (
    BSD,
    HOLD,
    HOST,
    HOST_AWARE,
    LINK,
    PHASE,
    POLICIES,
    PSM,
    THESIS,
    run,
    seeds_of,
)
from experiments.papers.predicates import above, at_most
from experiments.study.compare import linearised

__all__ = ["EXPERIMENTS"]

INSTANT, CONSTANT, LOGNORMAL = WEB = ("web-instant", "web-constant", "web-lognormal")
PUSH = ("push-memoryless", "push-bursty")
PUSH_TARGETS_MS = (60, 100, 150, 200, 300, 400)
OWN, LINKED = "lpsm2:1.05", "lpsm2-link:1.05"
WIDE = ("lpsm2:1.2", "lpsm2:1.5")
PUSHED = tuple(f"{OWN}:{ms}" for ms in PUSH_TARGETS_MS)
UP_TO_1 = tuple(policy for policy in BSD if float(policy.partition(":")[2]) <= 1)
FIXED = (("static PSM", PSM), ("BSD", BSD), ("BSD, phase", PHASE), ("BSD, host", HOST), ("hold, host", HOLD))
FAMILIES = (*FIXED, ("LPSM", THESIS), ("LPSM2", HOST_AWARE), ("LPSM2, link", LINK))
LONG = ("streaming", "shifting")  # packets by the thousand
THIN = tuple((name, family[::2] if len(family) > 6 else family) for name, family in FAMILIES)
SOME_BSD, SOME_PHASE, SOME_HOST = (family for name, family in THIN if name.startswith("BSD"))
SOME = ("none", *(policy for _, family in THIN for policy in family))
PATIENT = f"{OWN}:400"
MORE = {"streaming": WIDE, "shifting": (*WIDE, f"{OWN}:200", PATIENT)}
SLOWDOWN = "mean slowdown of a page"
SERVERS = {"instant servers": "0", "lognormal servers": "lognormal:0.5:0.8"}


def _web(setup: Setup) -> dict[str, dict[str, Any]]:
    return _tasks(setup, {kind: setup.pick(1100.0, 5500.0) for kind in WEB}, ("none", *POLICIES), 20)


def _rest(setup: Setup) -> dict[str, dict[str, Any]]:
    lengths = {**dict.fromkeys(PUSH, setup.pick(600.0, 5400.0)), "web-and-push": setup.pick(550.0, 5500.0)}
    lengths |= {"streaming": setup.pick(60.0, 900.0), "shifting": setup.pick(600.0, 3000.0)}
    tasks = _tasks(setup, lengths, SOME, 20)
    for task in tasks.values():
        task["policies"] += MORE.get(task["traffic"], PUSHED)
    return tasks


def _tasks(
    setup: Setup, lengths: Mapping[str, float], policies: Sequence[str], seeds: int
) -> dict[str, dict[str, Any]]:
    return {
        f"{kind} seed {seed}": {"traffic": kind, "seconds": seconds, "seed": seed, "policies": list(policies)}
        for kind, seconds in lengths.items()
        for seed in seeds_of(setup, 2, seeds // 2 if kind in LONG else seeds)
    }


# -- what a record says ---------------------------------------------------------------------------------------------


def _over_reference(record: Record) -> dict[str, Any]:
    """Energy of LPSM2 over that of page-awake, with instant servers."""
    own, awake, limit = (
        values(record, INSTANT, column, [OWN])[OWN] for column in ("total_j", "page_awake_j", "limit_j")
    )
    return {
        "": Noted(linearised(own, awake), f"times page-awake ({linearised(own, limit).mean():.3f} times the limit)")
    }


def _below_each(traffic: str, policy: str, others: Sequence[str], column: str = "total_j") -> Measure:
    """By how many percent a policy is below each of others, whatever their slowdown."""

    def measure(record: Record) -> dict[str, Any]:
        found, slow = (values(record, traffic, one, [policy, *others]) for one in (column, "slowdown_mean"))
        return {
            f"than {other}": Noted(saving(found[policy], found[other]), f"at its {slow[other].mean():.3f}")
            for other in others
        }

    return measure


def _both_axes(traffic: str, policy: str, others: Sequence[str]) -> Claim:
    columns = {"energy": "total_j", "slowdown": "slowdown_mean"}
    return Claim(
        f"{traffic}: {policy} is below {' and '.join(others)} in energy and in slowdown",
        above(named({what: _below_each(traffic, policy, others, one) for what, one in columns.items()}), unit=" %"),
        "simultaneously reduce both energy and slowdown from that of previous approaches",
        "percent lower, paired over seeds",
    )


def _targets(traffic: str, policies: Sequence[str]) -> Claim:
    """Judged on those that no other claim of the same traffic judges."""

    def excess(record: Record) -> dict[str, Any]:
        means, tails = (values(record, traffic, one, policies) for one in ("slowdown_mean", "slowdown_p95"))
        return {
            policy: Noted(means[policy] / float(policy.partition(":")[2]), f"of it (p95 {tails[policy].mean():.2f})")
            for policy in policies
        }

    return Claim(
        f"{traffic}: the mean slowdown of {policies[0].partition(':')[0]} is at most the one asked for",
        at_most(excess, 1.0),
        ", ".join(policy.partition(":")[2] for policy in policies),
        "mean slowdown over the one asked for",
    )


def _below_fixed(traffic: str, policy: str) -> Claim:
    """Below each family of fixed policies at its own slowdown."""
    fixed = [(name, family) for name, family in THIN if not name.startswith("LPSM")]

    def measure(record: Record) -> dict[str, Any]:
        own = energies(record, traffic, [policy])[policy]
        waits = values(
            record, traffic, "added_s_mean", [policy, *(one for _, family in fixed for one in family)]
        ).mean()
        found = {}
        for name, family in fixed:
            least = waits[list(family)].min()
            words = f"(messages wait {waits[policy]:.2f} s, {least:.2f} s at least)" if isfinite(least) else ""
            found[f"{name}:"] = Noted(saving(own, at_equal(record, traffic, policy, family)), words)
        return found

    return Claim(
        f"{traffic}: {policy} uses less energy than every family of fixed policies at its slowdown",
        above(measure, unit=" %"),
        reason="percent below each family, interpolated seed by seed at the same slowdown",
    )


def _stalls(policy: str) -> Claim:
    def measure(record: Record) -> dict[str, Any]:
        found, seconds = (values(record, "streaming", one, [policy, "psm:100"]).sum() for one in ("stalls", "stall_s"))
        words = ", ".join(f"{one} {found[one]:g} ({seconds[one]:.2f} s)" for one in found.index)
        return {"": Noted(found[policy] - found["psm:100"], f"more ({words})")}

    return Claim(
        f"streaming: {policy} stalls no more often than static PSM", at_most(measure, 0), reason="all seeds together"
    )


def _less_than_psm(policy: str) -> Claim:
    return Claim(
        f"streaming: {policy} uses less energy than static PSM",
        above(_below_each("streaming", policy, ["psm:100"]), unit=" %"),
        reason="percent lower, paired over seeds",
    )


def _push_target(traffic: str) -> Claim:
    def measure(record: Record) -> dict[str, Any]:
        found = 1000 * values(record, traffic, "added_s_mean", PUSHED)
        return {
            f"{ms} ms:": Noted(found[policy] / ms, f"of it ({found[policy].mean():.0f} ms)")
            for ms, policy in zip(PUSH_TARGETS_MS, PUSHED, strict=True)
        }

    return Claim(
        f"{traffic}: the mean added delay of a message is at most the one asked for",
        at_most(measure, 1.0),
        ", ".join(f"{ms} ms" for ms in PUSH_TARGETS_MS),
        "over the one asked for",
    )


# -- pictures -------------------------------------------------------------------------------------------------------


def _draw_web(record: Record) -> Mapping[str, Figure]:
    frames = front_frames(record, dict.fromkeys(WEB, FAMILIES), over="page_awake_j", most=(1.3, 1.6))
    return {"lpsm2-web": panels(frames, x="energy over page-awake", y=SLOWDOWN)}


def _draw_rest(record: Record) -> Mapping[str, Figure]:
    push = (*(one for one in THIN if one[0] in ("static PSM", "BSD", "LPSM")), ("LPSM2", PUSHED))
    wide = [(name, (*family, *WIDE) if name == "LPSM2" else family) for name, family in THIN]
    patient = ("LPSM2, messages 0.4 s", (PATIENT,))
    families = {"web-and-push": [*THIN, patient], "streaming": wide, "shifting": [*wide, patient]}
    mixed = front_frames(record, families, over="limit_j", most=(1.5, 2.5))
    messages = front_frames(record, dict.fromkeys(PUSH, push), y="added_s_mean", over="limit_j", most=(0.6, 1.6))
    return {
        "lpsm2-mixed": panels(mixed, x="energy over the limit", y=SLOWDOWN),
        "lpsm2-push": panels(messages, x="energy over the limit", y="mean added delay of a message [s]"),
    }


_OTHER_TARGETS = tuple(policy for policy in HOST_AWARE if policy != OWN)

EXPERIMENTS = (
    Experiment(
        name="ours/lpsm2",
        subject="LPSM2 on the Web: energy at equal slowdown",
        time="2 min",
        sweep=_web,
        run=run,
        claims=(
            limited(INSTANT, OWN, 1.02),
            Claim(
                f"{INSTANT}: {OWN} uses at most 1.02 times the energy of page-awake",
                at_most(_over_reference, 1.02),
                "1.02",
            ),
            Claim(
                f"{INSTANT}: {OWN} uses less energy than every setting of BSD with p up to 1",
                above(_below_each(INSTANT, OWN, UP_TO_1), unit=" %"),
                reason="percent lower, paired over seeds, whatever the slowdown of the other",
            ),
            limited(CONSTANT, OWN, 1.02),
            saving_claim(CONSTANT, OWN, BSD, "BSD", 20.0),
            limited(LOGNORMAL, OWN, 1.05),
            saving_claim(LOGNORMAL, OWN, BSD, "BSD", 12.0),
            saving_claim(LOGNORMAL, OWN, PHASE, "BSD with its phase", 8.0),
            not_above(LOGNORMAL, OWN, HOST, "BSD with phase and host"),
            not_above(LOGNORMAL, OWN, HOLD, "the fixed rule with the host's knowledge"),
            *(_targets(traffic, family) for traffic in WEB for family in (_OTHER_TARGETS, LINK)),
            *(_both_axes(traffic, OWN, ("psm:100", "lpsm")) for traffic in WEB),
            _both_axes(LOGNORMAL, OWN, ("lpsm:log",)),
            saving_claim(LOGNORMAL, LINKED, PHASE, "BSD with its phase", 0.0),
        ),
        figures=_draw_web,
    ),
    Experiment(
        name="ours/lpsm2-traffic",
        subject="LPSM2 on messages, a stream, mixtures, and all of them in turn",
        time="4 min",
        sweep=_rest,
        run=run,
        claims=(
            *(claim for policy in (OWN, WIDE[-1]) for claim in (_stalls(policy), _less_than_psm(policy))),
            _below_fixed("shifting", OWN),
            _below_fixed("shifting", LINKED),
            _below_fixed("web-and-push", OWN),
            _below_fixed("shifting", PATIENT),
            _below_fixed("web-and-push", PATIENT),
            *(_push_target(traffic) for traffic in PUSH),
            *(
                not_above(traffic, f"{OWN}:{ms}", family, name, "added_s_mean")
                for name, family in (("static PSM", PSM), ("LPSM", THESIS))
                for traffic in PUSH
                for ms in (100, 200)
            ),
        ),
        figures=_draw_rest,
    ),
)
