"""LPSM2 against everything else: energy at equal slowdown on the Web, messages, streams, mixtures, real browsing.

What it models: the thesis expects (section 2.5.4) that "it should be possible to simultaneously reduce both energy and
slowdown from that of previous approaches, by appropriate choice and calibration of the loss function".  `ours/lpsm2`
holds LPSM2 against static PSM, BSD, BSD with its phase, BSD that also knows what is outstanding, a fixed rule with
the same knowledge, and LPSM, on Web pages with three kinds of servers; `ours/lpsm2-traffic` on everything else that
is generated; `ours/lpsm2-browsing` on recorded sessions.  Figures required are those that were set down before the
first full run.  What it leaves out: what was learned, and from which part it comes (`papers.ours.lpsm2_learning`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from matplotlib.figure import Figure

from experiments.figures.papers import panels
from experiments.papers.ours.lpsm2_fronts import (
    at_equal,
    at_most,
    compared,
    energies,
    front_frame,
    saving,
    saving_claim,
    upper,
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
    run_recorded,
    seeds_of,
    sessions_of,
)
from experiments.papers.registry import Claim, Experiment, Record, Setup, Verdict
from experiments.papers.verdicts import shown
from experiments.study.compare import estimate, ratio

__all__ = ["EXPERIMENTS"]

INSTANT, CONSTANT, LOGNORMAL = WEB = ("web-instant", "web-constant", "web-lognormal")
PUSH = ("push-memoryless", "push-bursty")
PUSH_TARGETS_MS = (60, 100, 150, 200, 300, 400)
OWN, LINKED = "lpsm2:1.05", "lpsm2-link:1.05"
WIDE = ("lpsm2:1.2", "lpsm2:1.5")
PUSHED = tuple(f"{OWN}:{ms}" for ms in PUSH_TARGETS_MS)
UP_TO_1 = tuple(policy for policy in BSD if float(policy.partition(":")[2]) <= 1)
FAMILIES = (
    ("static PSM", PSM), ("BSD", BSD), ("BSD, phase", PHASE), ("BSD, host", HOST), ("hold, host", HOLD),
    ("LPSM", THESIS), ("LPSM2", HOST_AWARE), ("LPSM2, link", LINK),
)  # fmt: skip
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
    lengths = {
        **dict.fromkeys(PUSH, setup.pick(600.0, 5400.0)), "web-and-push": setup.pick(550.0, 5500.0),
        "streaming": setup.pick(60.0, 900.0), "shifting": setup.pick(600.0, 3000.0),
    }  # fmt: skip
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


def _recorded(setup: Setup) -> dict[str, dict[str, Any]]:
    """Sessions of the archive, ten a task; in the small size those of the sample; else generated pages."""
    common = {"servers": SERVERS, "policies": list(SOME), "traffic": "recorded"}
    seeds = seeds_of(setup, 2, 20)
    if setup.stand_in or setup.data is None:
        return {
            f"seed {seed}": {**common, "seeds": [seed], "pages": setup.pick(20, 60), "seed": seed} for seed in seeds
        }
    trace = "bu-www-client/" + setup.pick("sample", "condensed.tar.xz")
    names = sessions_of(setup.data / trace, setup.pick(1, 30), seeds.start)
    return {
        f"sessions {first} to {first + len(names[first : first + 10]) - 1}": {
            **common, "folder": str(setup.data), "trace": trace, "sessions": names[first : first + 10],
            "seed": seeds.start + first,
        }
        for first in range(0, len(names), 10)
    }  # fmt: skip


# -- what a record says ---------------------------------------------------------------------------------------------


def _near_page_awake(traffic: str, policy: str, factor: float) -> Claim:
    def check(record: Record) -> Verdict:
        own = energies(record, traffic, [policy])[policy]
        found = ratio(own, values(record, traffic, "page_awake_j", [policy])[policy])
        least = ratio(own, values(record, traffic, "limit_j", [policy])[policy])
        words = f"{shown(found, 3)} times page-awake, {shown(least, 3)} times the limit"
        return Verdict(words, found.mean <= factor, words)

    return Claim(
        statement=f"{traffic}: {policy} uses at most {factor:g} times the energy of page-awake", check=check,
        printed=f"{factor:g}", tolerance="ratio of means over seeds",
    )  # fmt: skip


def _below_every(traffic: str, policy: str, others: Sequence[str], name: str) -> Claim:
    def check(record: Record) -> Verdict:
        found = compared(record, traffic, policy, others)
        nearest = min(found, key=lambda other: found[other].mean)
        words = f"{shown(found[nearest], 1, ' %')} below the nearest, {nearest}"
        slow = estimate(values(record, traffic, "slowdown_mean", [nearest])[nearest])
        return Verdict(
            words, all(one.mean - one.half_width > 0 for one in found.values()),
            f"{words}, whose slowdown is {shown(slow, 3)}",
        )  # fmt: skip

    return Claim(
        statement=f"{traffic}: {policy} uses less energy than every setting of {name}", check=check,
        tolerance="paired over seeds, whole 95 % intervals, whatever the slowdown of the other",
    )  # fmt: skip


def _not_above(traffic: str, policy: str, family: Sequence[str], name: str, column: str = "slowdown_mean") -> Claim:
    def check(record: Record) -> Verdict:
        found = saving(energies(record, traffic, [policy])[policy], at_equal(record, traffic, policy, family, column))
        words = f"{shown(found, 1, ' %')} below"
        return Verdict(words, upper(found) >= 0.0, f"it is above: {words}")

    what = {"slowdown_mean": "slowdown", "added_s_mean": "added delay"}[column]
    return Claim(
        statement=f"{traffic}: {policy} is not above {name} of equal {what}", check=check,
        tolerance="paired over seeds; fails if the whole 95 % interval is above",
    )  # fmt: skip


def _both_axes(traffic: str, policy: str, others: Sequence[str]) -> Claim:
    def check(record: Record) -> Verdict:
        joules = energies(record, traffic, [policy, *others])
        slow = values(record, traffic, "slowdown_mean", [policy, *others])
        words, holds = [], True
        for other in others:
            energy, delay = saving(joules[policy], joules[other]), saving(slow[policy], slow[other])
            holds = holds and energy.mean > energy.half_width and delay.mean > delay.half_width
            words.append(f"{other}: energy {shown(energy, 1, ' %')} and slowdown {shown(delay, 1, ' %')} lower")
        return Verdict("; ".join(words), holds, "; ".join(words))

    return Claim(
        statement=f"{traffic}: {policy} is below {' and '.join(others)} in energy and in slowdown", check=check,
        printed="simultaneously reduce both energy and slowdown from that of previous approaches",
        tolerance="paired over seeds, whole 95 % intervals",
    )  # fmt: skip


def _targets(traffic: str, policies: Sequence[str]) -> Claim:
    def check(record: Record) -> Verdict:
        means = values(record, traffic, "slowdown_mean", policies)
        tails = values(record, traffic, "slowdown_p95", policies)
        words, holds = [], True
        for policy in policies:
            found = estimate(means[policy])
            holds = holds and found.mean <= float(policy.partition(":")[2])
            words.append(f"{policy} {shown(found, 3)} (p95 {tails[policy].mean():.2f})")
        return Verdict(", ".join(words), holds, ", ".join(words))

    return Claim(
        statement=f"{traffic}: the mean slowdown is at most the one asked for", check=check,
        printed=", ".join(policy.partition(":")[2] for policy in policies), tolerance="means over seeds",
    )  # fmt: skip


def _if_any(value: float, words: str) -> str:
    """Return the words with the value in them; nothing where a replication has no message."""
    return words.format(value) if isfinite(value) else ""


def _below_fixed(traffic: str, policy: str) -> Claim:
    """Below each family of fixed policies at its own slowdown."""
    fixed = [(name, family) for name, family in THIN if not name.startswith("LPSM")]

    def check(record: Record) -> Verdict:
        own = energies(record, traffic, [policy])[policy]
        found = {name: saving(own, at_equal(record, traffic, policy, family)) for name, family in fixed}
        slow = estimate(values(record, traffic, "slowdown_mean", [policy])[policy])
        waits = values(record, traffic, "added_s_mean", [policy, *(member for _, family in fixed for member in family)])
        least = {name: min(waits[member].mean() for member in family) for name, family in fixed}
        words = ", ".join(
            f"{name} {shown(one, 1, ' %')}" + _if_any(least[name], " (messages wait {:.2f} s at least)")
            for name, one in found.items()
        )
        return Verdict(
            f"at {shown(slow, 3)}{_if_any(waits[policy].mean(), ', messages waiting {:.2f} s')}: {words} below",
            all(one.mean - one.half_width > 0 for one in found.values()), f"below by {words}",
        )  # fmt: skip

    return Claim(
        statement=f"{traffic}: {policy} uses less energy than every family of fixed policies at its slowdown",
        check=check, tolerance="paired over seeds, whole 95 % intervals; each family interpolated at the same slowdown",
    )  # fmt: skip


def _stalls(policy: str) -> Claim:
    def check(record: Record) -> Verdict:
        found = values(record, "streaming", "stalls", [policy, "psm:100"])
        seconds = values(record, "streaming", "stall_s", [policy, "psm:100"])
        own, psm = (f"{found[one].sum():g} ({seconds[one].sum():.2f} s)" for one in (policy, "psm:100"))
        words = f"{own} against {psm}"
        return Verdict(words, bool(found[policy].sum() <= found["psm:100"].sum()), words)

    return Claim(
        statement=f"streaming: {policy} stalls no more often than static PSM", check=check,
        tolerance="over all seeds together",
    )  # fmt: skip


def _less_than_psm(traffic: str, policy: str) -> Claim:
    def check(record: Record) -> Verdict:
        found = compared(record, traffic, policy, ["psm:100"])["psm:100"]
        slow = values(record, traffic, "slowdown_mean", [policy, "psm:100"])
        words = f"{shown(found, 1, ' %')} below, at {slow[policy].mean():.2f} against {slow['psm:100'].mean():.2f}"
        return Verdict(words, found.mean - found.half_width > 0, words)

    return Claim(
        statement=f"{traffic}: {policy} uses less energy than static PSM", check=check,
        tolerance="paired over seeds, whole 95 % interval",
    )  # fmt: skip


def _push_target(traffic: str) -> Claim:
    def check(record: Record) -> Verdict:
        found = {ms: estimate(values(record, traffic, "added_s_mean", [policy])[policy])
                 for ms, policy in zip(PUSH_TARGETS_MS, PUSHED, strict=True)}  # fmt: skip
        words = ", ".join(f"{shown(one._replace(mean=1000 * one.mean, half_width=1000 * one.half_width), 0)} of {ms} ms"
                          for ms, one in found.items())  # fmt: skip
        return Verdict(words, all(one.mean <= ms / 1000 for ms, one in found.items()), words)

    return Claim(
        statement=f"{traffic}: the mean added delay of a message is at most the one asked for", check=check,
        printed=", ".join(f"{ms} ms" for ms in PUSH_TARGETS_MS), tolerance="means over seeds",
    )  # fmt: skip


# -- pictures -------------------------------------------------------------------------------------------------------


def _draw_web(record: Record) -> Mapping[str, Figure]:
    frames = [
        (traffic, front_frame(record, traffic, FAMILIES, over="page_awake_j", most=(1.3, 1.6))) for traffic in WEB
    ]
    return {"lpsm2-web": panels(frames, x="energy over page-awake", y=SLOWDOWN)}


def _draw_rest(record: Record) -> Mapping[str, Figure]:
    push = (*(one for one in THIN if one[0] in ("static PSM", "BSD", "LPSM")), ("LPSM2", PUSHED))
    wide = [(name, (*family, *WIDE) if name == "LPSM2" else family) for name, family in THIN]
    patient = ("LPSM2, messages 0.4 s", (PATIENT,))
    mixed = [
        (traffic, front_frame(record, traffic, families, over="limit_j", most=(1.5, 2.5)))
        for traffic, families in (
            ("web-and-push", [*THIN, patient]),
            ("streaming", wide),
            ("shifting", [*wide, patient]),
        )
    ]
    messages = [
        (traffic, front_frame(record, traffic, push, y="added_s_mean", over="limit_j", most=(0.6, 1.6)))
        for traffic in PUSH
    ]
    return {
        "lpsm2-mixed": panels(mixed, x="energy over the limit", y=SLOWDOWN),
        "lpsm2-push": panels(messages, x="energy over the limit", y="mean added delay of a message [s]"),
    }


def _draw_recorded(record: Record) -> Mapping[str, Figure]:
    frames = [
        (traffic, front_frame(record, traffic, THIN, over="page_awake_j", most=(1.3, 1.6))) for traffic in SERVERS
    ]
    return {"lpsm2-browsing": panels(frames, x="energy over page-awake", y=SLOWDOWN)}


EXPERIMENTS = (
    Experiment(
        name="ours/lpsm2", claim="LPSM2 on the Web: energy at equal slowdown", time="2 min", sweep=_web, run=run,
        claims=(
            at_most(INSTANT, OWN, "slowdown_mean", 1.02, "the mean slowdown"),
            _near_page_awake(INSTANT, OWN, 1.02),
            _below_every(INSTANT, OWN, UP_TO_1, "BSD with p up to 1"),
            at_most(CONSTANT, OWN, "slowdown_mean", 1.02, "the mean slowdown"),
            saving_claim(CONSTANT, OWN, BSD, "BSD", 20.0),
            at_most(LOGNORMAL, OWN, "slowdown_mean", 1.05, "the mean slowdown"),
            saving_claim(LOGNORMAL, OWN, BSD, "BSD", 12.0),
            saving_claim(LOGNORMAL, OWN, PHASE, "BSD with its phase", 8.0),
            _not_above(LOGNORMAL, OWN, HOST, "BSD with phase and host"),
            _not_above(LOGNORMAL, OWN, HOLD, "the fixed rule with the host's knowledge"),
            *(_targets(traffic, family) for traffic in WEB for family in (HOST_AWARE, LINK)),
            *(_both_axes(traffic, OWN, ("psm:100", "lpsm")) for traffic in WEB),
            _both_axes(LOGNORMAL, OWN, ("lpsm:log",)),
            saving_claim(LOGNORMAL, LINKED, PHASE, "BSD with its phase", 0.0),
        ),
        figures=_draw_web,
    ),
    Experiment(
        name="ours/lpsm2-traffic", claim="LPSM2 on messages, a stream, mixtures, and all of them in turn",
        time="4 min", sweep=_rest, run=run,
        claims=(
            _stalls(OWN), _less_than_psm("streaming", OWN),
            _stalls(WIDE[-1]), _less_than_psm("streaming", WIDE[-1]),
            _below_fixed("shifting", OWN), _below_fixed("shifting", LINKED),
            _below_fixed("web-and-push", OWN),
            _below_fixed("shifting", PATIENT), _below_fixed("web-and-push", PATIENT),
            *(_push_target(traffic) for traffic in PUSH),
            *(
                _not_above(traffic, f"{OWN}:{ms}", family, name, "added_s_mean")
                for name, family in (("static PSM", PSM), ("LPSM", THESIS)) for traffic in PUSH for ms in (100, 200)
            ),
        ),
        figures=_draw_rest,
    ),
    Experiment(
        name="ours/lpsm2-browsing", claim="LPSM2 on recorded browsing", time="1 min", sweep=_recorded,
        run=run_recorded,
        claims=tuple(
            claim
            for traffic in SERVERS
            for claim in (
                at_most(traffic, OWN, "slowdown_mean", 1.05, "the mean slowdown"),
                saving_claim(traffic, OWN, SOME_BSD, "BSD", 0.0),
                saving_claim(traffic, OWN, SOME_PHASE, "BSD with its phase", 0.0),
                _not_above(traffic, OWN, SOME_HOST, "BSD with phase and host"),
            )
        ),
        figures=_draw_recorded, data="bu-www-client", traffic=True, stand_in="pages of the Web model",
        published="Boston University Web client traces 1994-1995, Internet Traffic Archive",
    ),
)  # fmt: skip
