"""Figures 2-6 to 2-8 of Monteleoni 2006: simulated browsing under every policy, and what decides it.

What it models: section 2.5.4's two settings, 100 pages and 4 x 500 pages, drawn from
the Web model under the settings of `thesis.energy` (HTTP/1.0, 536-byte segments, Nagle, a server
that answers after 0.5 s); the thesis' single run of 100 pages is repeated over seeds, and
intervals are over those.   What it leaves out: the thesis' own traffic and seeds,
which are not published; so signs and orders are claims to the letter, and levels within a factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import netsim
from experiments.figures.comparison import energy, slowdown, slowdown_by_page
from experiments.papers.claims import Claim, Measure, Noted, Record, wide
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.predicates import above, at_most, below, between, each, near
from experiments.presets import THESIS
from experiments.quantities import PSM
from experiments.study import sweep as study_sweep
from experiments.study.compare import compare, estimate, linearised, page_slowdowns

__all__ = ["EXPERIMENTS", "settings", "simulate", "task"]

POLICIES = ("none", PSM, "bsd:1", "bsd:0.5", "bsd:0.2", "bsd:0.1", "lpsm", "lpsm:log")
BSD = tuple(policy for policy in POLICIES if policy.startswith("bsd"))
SHORT, LONG = "100 pages", "4 x 500 pages"
NAMES = {"lpsm": "LPSM with 1/T", "lpsm:log": "LPSM with 1/log T"}
LEVEL = "within a factor of 2, traffic and seeds of the print being unpublished"


def settings(
    server_delay_s: float, *, rtt_s: float | None = None, connections: int | None = None
) -> netsim.SimulationConfig:
    """Return the thesis' world with a server that takes so long, and with another round-trip time or parallelism."""
    link = netsim.LinkConfig()
    if rtt_s is not None:
        link = netsim.LinkConfig(wired_delay_ms=round(rtt_s * 500.0 - link.wireless_delay_ms, 6))
    return netsim.SimulationConfig(
        link=link,
        tcp=netsim.TcpConfig(mss_bytes=THESIS["mss"], nagle=THESIS["nagle"]),
        connections=THESIS["connections"],
        max_connections=4 if connections is None else connections,
        server_delay=netsim.ServerDelay(mean_s=server_delay_s),
    )


def task(run: str, pages: int, seed: int, policy: str, delay: float, **extra: Any) -> dict[str, Any]:
    """Return one run as plain data."""
    return {"run": run, "pages": pages, "seed": seed, "policy": policy, "server_delay_s": delay, **extra}


def _both(setup: Setup) -> dict[str, dict[str, Any]]:
    """The two settings of the thesis: seeds of 100 pages, and 4 of 500."""
    runs = [(SHORT, setup.pick(20, 100), setup.pick(3, 20)), (LONG, setup.pick(40, 500), setup.pick(2, 4))]
    return {
        f"{run} seed {seed} {policy}": task(run, pages, seed, policy, THESIS["server_delay"])
        for run, pages, seeds in runs
        for seed in range(setup.seed, setup.seed + seeds)
        for policy in POLICIES
    }


def simulate(task: dict[str, Any]) -> Rows:
    """Run one policy over one workload."""
    policy = netsim.canonical(task["policy"])
    found = study_sweep.simulate(
        study_sweep.Task(
            workload=study_sweep.Generated(n_pages=task["pages"], seed=task["seed"]),
            policy=policy,
            config=settings(task["server_delay_s"]),
            record_polls=task.get("polls", False) and policy.startswith("lpsm"),
        )
    )
    common = {"setting": task["run"], "replication": found["run"]["replication"], "policy": policy}
    rows: Rows = {"runs": [{"setting": task["run"], **found["run"]}]}
    pages = pd.DataFrame(found["pages"])[["page", "issue_s", "latency_s"]].assign(**common)
    rows["pages"] = pages.to_dict("records")  # type: ignore[assignment]
    if found["polls"].get("time_s"):
        polls = pd.DataFrame(found["polls"])[["time_s", "slept_ms", "buffered_bytes", "next_sleep_ms"]]
        rows["polls"] = polls.assign(**common).to_dict("records")  # type: ignore[assignment]
    return rows


# -- what a record says ---------------------------------------------------------------------------------


def _summary(record: Record, setting: str) -> Any:
    radio = netsim.RadioConfig()
    runs = record["runs"][record["runs"]["setting"] == setting]
    pages = record["pages"][record["pages"]["setting"] == setting]
    frames = study_sweep.Frames(runs, pages, pd.DataFrame())
    present = [policy for policy in POLICIES if policy in set(runs["policy"])]
    return compare(frames, present, awake_mw=radio.awake_mw, asleep_mw=radio.asleep_mw)


def joules(record: Record, setting: str, column: str = "total_j") -> pd.DataFrame:
    """Joules a page, a row a seed and a column a policy."""
    runs = record["runs"].assign(value=record["runs"][column] / record["runs"]["pages"])
    return wide({"runs": runs}, "runs", "value", setting=setting)


def slowdowns(record: Record, setting: str) -> pd.DataFrame:
    pages = page_slowdowns(record["pages"][record["pages"]["setting"] == setting])
    means = pages.groupby(["replication", "policy"], sort=False)["slowdown"].mean().reset_index()
    return wide({"means": means}, "means", "slowdown")


def saved(setting: str, policy: str, column: str) -> Measure:
    """Joules a page of a policy against those of static PSM, percent."""

    def measure(record: Record) -> dict[str, Any]:
        found = joules(record, setting, column)
        return {"": 100 * (linearised(found[policy], found[PSM]) - 1)}

    return measure


def _saving(setting: str, policy: str, printed: float, column: str, what: str) -> list[Claim]:
    """The sign and the level of a relative saving against static PSM, percent."""
    measure = saved(setting, policy, column)
    return [
        Claim(f"{setting}: {NAMES[policy]} uses less {what} than static PSM", below(measure, unit=" %"), "less"),
        Claim(
            f"{setting}: {what} of {NAMES[policy]}, against static PSM",
            near(measure, printed, 2.0, unit=" %"),
            f"{printed:.1f} %",
            LEVEL,
        ),
    ]


def _above(setting: str, policy: str) -> Measure:
    """Joules a page of a policy less those of every BSD setting."""

    def measure(record: Record) -> dict[str, Any]:
        found = joules(record, setting)
        return {other: Noted(found[policy] - found[other], f"({found[other].mean():.2f})") for other in BSD}

    return measure


def _share(setting: str) -> Measure:
    """Joules for beacons in all of static PSM, percent."""

    def measure(record: Record) -> dict[str, Any]:
        listen, total = (joules(record, setting, column)[PSM] for column in ("listen_j", "total_j"))
        words = f"({estimate(listen).mean:.2f} of {estimate(total).mean:.2f} J a page)"
        return {"": Noted(100 * linearised(listen, total), words)}

    return measure


def _beacons(setting: str, beacon_j: float, total_j: float, other: float) -> Claim:
    printed = 100 * beacon_j / total_j
    return Claim(
        f"{setting}: beacons' share of the energy of static PSM",
        between(_share(setting), (printed + other) / 2, 1.5 * printed - other / 2, unit=" %"),
        f"{beacon_j:g} of {total_j:g} J a page, {printed:.1f} %",
        f"nearer to the print than what it prints of LPSM, {other:.1f} %; joules themselves follow think times",
    )


def _slower(setting: str, policy: str, printed: float) -> Claim:
    def measure(record: Record) -> dict[str, Any]:
        slow = slowdowns(record, setting)
        words = f"(pages are slowed by {slow[policy].mean():.2f}, by {slow[PSM].mean():.2f} under static PSM)"
        return {"": Noted(linearised(slow[policy], slow[PSM]), words)}

    return Claim(
        f"{setting}: slowdown of {policy} over that of static PSM",
        between(measure, 1.0 + (printed - 1.0) / 2.0, 1.0 + 2.0 * (printed - 1.0)),
        f"{printed:.2f}",
        "excess over 1 within a factor of 2, traffic and server being unpublished: see thesis/server-delay",
    )


def _slower_than_bsd(setting: str) -> Claim:
    def measure(record: Record) -> dict[str, Any]:
        slow = slowdowns(record, setting)
        own = slow["lpsm:log"]
        return {
            other: Noted(own - slow[other], f"({own.mean():.2f} against {slow[other].mean():.2f})") for other in BSD
        }

    return Claim(f"{setting}: LPSM with 1/log T is slower than every BSD setting", above(measure), "higher slowdowns")


def _page_maximum(policy: str, printed: float) -> Claim:
    def why(record: Record) -> str:
        waits = _waits(record, policy)
        over, rest = (waits[far] for far in (waits["ratio"] > printed, waits["ratio"] <= printed))
        return (
            f"{policy} adds {over['extra'].median():.2f} s to static PSM there (median) and "
            f"{rest['extra'].median():.2f} s elsewhere; without power saving those pages load in "
            f"{over['base'].median():.2f} s, the others in {rest['base'].median():.2f} s"
        )

    return Claim(
        f"no page of {policy} takes more than {printed:g} times what it takes under static PSM",
        each(lambda record: {"": _waits(record, policy)["ratio"]}, high=printed + 1e-9),
        f"at most {printed:g}",
        "every page of every seed counts",
        why=why,
    )


def _long_pages(policy: str) -> Claim:
    def measure(record: Record) -> dict[str, Any]:
        waits = _waits(record, policy)
        longest = waits["base"] >= waits["base"].quantile(0.9)
        words = f"on the longest tenth ({waits['ratio'][~longest].mean():.3f} on the rest)"
        return {"": Noted(waits["ratio"][longest], words)}

    def why(record: Record) -> str:
        waits = _waits(record, policy)
        extra = waits["extra"][waits["base"] >= waits["base"].quantile(0.9)].mean()
        return (
            f"the wait does not vanish on long pages: {policy} adds {extra:.2f} s to the longest tenth on the mean, "
            f"which is 5 % of {20 * extra:.1f} s"
        )

    return Claim(
        f"for longer transfers {policy} adds only negligible slowdown",
        at_most(measure, 1.05),
        "negligible",
        "latency over that under static PSM, the tenth of pages that is longest without power saving",
        why=why,
    )


def _waits(record: Record, policy: str) -> pd.DataFrame:
    """A row a page of the first setting: latencies without power saving and under static PSM, what `policy` adds, s."""
    table = wide(record, "pages", "latency_s", index=["replication", "page"], setting=SHORT)
    psm = table[PSM]
    return pd.DataFrame({"base": table["none"], "psm": psm, "extra": table[policy] - psm, "ratio": table[policy] / psm})


# -- pictures -------------------------------------------------------------------------------------------------


def _bars(name: str, draw: Any) -> Any:
    def figures(record: Record) -> Mapping[str, Figure]:
        return {
            f"{name}-{letter}": draw(_summary(record, setting).summary)
            for letter, setting in (("a", SHORT), ("b", LONG))
        }

    return figures


EXPERIMENTS = (
    Experiment(
        name="thesis/fig-2-6",
        subject="energy a page of LPSM, static PSM and BSD",
        time="1 min",
        sweep=_both,
        run=simulate,
        claims=(
            _beacons(SHORT, 0.83, 3.62, 100 * 0.59 / 3.38),
            *_saving(SHORT, "lpsm", -6.6, "total_j", "energy"),
            *_saving(SHORT, "lpsm", -29.0, "listen_j", "energy for beacons"),
            *_saving(SHORT, "lpsm:log", -18.5, "total_j", "energy"),
            *_saving(SHORT, "lpsm:log", -81.0, "listen_j", "energy for beacons"),
            Claim(
                f"{SHORT}: LPSM with 1/log T saves more energy than every BSD setting",
                below(_above(SHORT, "lpsm:log"), unit=" J a page"),
                "all",
            ),
            Claim(
                f"{SHORT}: LPSM with 1/T uses less energy than most BSD settings",
                below(_above(SHORT, "lpsm"), needed=0.5, unit=" J a page"),
                "most",
            ),
            _beacons(LONG, 0.94, 4.12, 100 * 0.59 / 3.38),
            *_saving(LONG, "lpsm:log", -18.0, "total_j", "energy"),
            *_saving(LONG, "lpsm:log", -82.0, "listen_j", "energy for beacons"),
            Claim(
                f"{LONG}: LPSM with 1/log T saves more energy than every BSD setting",
                below(_above(LONG, "lpsm:log"), unit=" J a page"),
                "all",
            ),
        ),
        figures=_bars("fig-2-6", energy),
    ),
    Experiment(
        name="thesis/fig-2-7",
        subject="slowdown of LPSM, static PSM and BSD",
        time="1 min",
        sweep=_both,
        run=simulate,
        claims=(
            _slower(SHORT, "lpsm", 1.02),
            _slower(SHORT, "lpsm:log", 1.19),
            _slower(LONG, "lpsm:log", 1.2),
            _slower_than_bsd(SHORT),
            _slower_than_bsd(LONG),
        ),
        figures=_bars("fig-2-7", slowdown),
    ),
    Experiment(
        name="thesis/fig-2-8",
        subject="slowdown of each page against its download time",
        time="1 min",
        sweep=_both,
        run=simulate,
        claims=(
            _page_maximum("lpsm", 1.2),
            _page_maximum("lpsm:log", 2.0),
            _long_pages("lpsm"),
            _long_pages("lpsm:log"),
        ),
        figures=lambda record: {"fig-2-8": slowdown_by_page(_summary(record, SHORT).slowdowns)},
    ),
)
