"""Figures 2-6 to 2-8 of Monteleoni 2006: simulated browsing under every policy, and what decides it.

What it models: section 2.5.4's two settings, 100 pages and 4 x 500 pages, drawn from
the Web model under the settings of `thesis.energy` (HTTP/1.0, 536-byte segments, Nagle, a server
that answers after 0.5 s); the thesis' single run of 100 pages is repeated over seeds, and
intervals are over those.  `thesis/server-delay` runs the same for other delays of the
server, on which the slowdown depends.  What it leaves out: the thesis' own traffic and seeds,
which are not published; so signs and orders are claims to the letter, and levels within a factor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

import netsim
from experiments.figures.comparison import energy, slowdown, slowdown_by_page
from experiments.figures.papers import lines
from experiments.papers.registry import Claim, Experiment, Record, Rows, Setup, Verdict
from experiments.papers.thesis.energy import SETTINGS
from experiments.papers.verdicts import below, pivot, shown, within_factor
from experiments.study import sweep as study_sweep
from experiments.study.compare import compare, estimate, page_slowdowns, ratio

__all__ = ["EXPERIMENTS", "settings", "simulate", "task"]

POLICIES = ("none", "psm:100", "bsd:1", "bsd:0.5", "bsd:0.2", "bsd:0.1", "lpsm", "lpsm:log")
BSD = tuple(policy for policy in POLICIES if policy.startswith("bsd"))
SHORT, LONG = "100 pages", "4 x 500 pages"
DELAYS_S = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)
LEVEL = "within a factor of 2, traffic and seeds of the print being unpublished"
SIGN = "the whole 95 % interval over seeds has the sign; the world is common to both policies"


def settings(
    server_delay_s: float, *, rtt_s: float | None = None, connections: int | None = None
) -> netsim.SimulationConfig:
    """Return the thesis' world with a server that takes so long, and with another round-trip time or parallelism."""
    link = netsim.LinkConfig()
    if rtt_s is not None:
        link = netsim.LinkConfig(wired_delay_ms=round(rtt_s * 500.0 - link.wireless_delay_ms, 6))
    return netsim.SimulationConfig(
        link=link,
        tcp=netsim.TcpConfig(mss_bytes=SETTINGS["mss"], nagle=SETTINGS["nagle"]),
        connections=SETTINGS["connections"],
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
        f"{run} seed {seed} {policy}": task(run, pages, seed, policy, SETTINGS["server_delay"])
        for run, pages, seeds in runs
        for seed in range(setup.seed, setup.seed + seeds)
        for policy in POLICIES
    }


def _delays(setup: Setup) -> dict[str, dict[str, Any]]:
    delays = setup.pick((0.0, 0.5), DELAYS_S)
    return {
        f"delay {delay:g} seed {seed} {policy}": task(f"{delay:g}", setup.pick(20, 100), seed, policy, delay)
        for delay in delays
        for seed in range(setup.seed, setup.seed + setup.pick(2, 20))
        for policy in ("none", "psm:100", "bsd:0.5", "lpsm", "lpsm:log")
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


def _runs(record: Record, setting: str, column: str) -> dict[str, Any]:
    runs = record["runs"][record["runs"]["setting"] == setting]
    per_page = runs.assign(value=runs[column] / runs["pages"])
    return pivot(per_page, "value", list(dict.fromkeys(runs["policy"])))


def _slow(record: Record, setting: str) -> dict[str, Any]:
    pages = page_slowdowns(record["pages"][record["pages"]["setting"] == setting])
    means = pages.groupby(["replication", "policy"], sort=False)["slowdown"].mean().reset_index()
    return pivot(means, "slowdown", list(dict.fromkeys(means["policy"])))


def _saving(setting: str, policy: str, printed: float, column: str, what: str) -> list[Claim]:
    """The sign and the level of a relative saving against static PSM, percent."""

    def percent(record: Record) -> Any:
        values = _runs(record, setting, column)
        found = ratio(values[policy], values["psm:100"])
        return values, found._replace(mean=100 * (found.mean - 1), half_width=100 * found.half_width)

    def sign(record: Record) -> Verdict:
        values, found = percent(record)
        upper = found.mean + (found.half_width if found.half_width == found.half_width else 0.0)
        return Verdict(shown(found, 1, " %"), upper < 0.0, f"difference per page: {shown(estimate(values[policy]))}")

    def level(record: Record) -> Verdict:
        return within_factor(percent(record)[1], printed, 2.0, 1, " %")

    name = {"lpsm": "LPSM with 1/T", "lpsm:log": "LPSM with 1/log T"}[policy]
    return [
        Claim(
            statement=f"{setting}: {name} uses less {what} than static PSM",
            printed="less", check=sign, tolerance=SIGN,
        ),
        Claim(
            statement=f"{setting}: {what} of {name}, against static PSM", printed=f"{printed:.1f} %", check=level,
            tolerance=LEVEL,
        ),
    ]  # fmt: skip


def _order(setting: str) -> list[Claim]:
    def deepest(record: Record) -> Verdict:
        values = _runs(record, setting, "total_j")
        best = min(BSD, key=lambda policy: float(values[policy].mean()))
        verdict = below(values["lpsm:log"] - values[best], 3, " J a page")
        return verdict._replace(ours=f"{verdict.ours} against {best}, the best of BSD")

    def most(record: Record) -> Verdict:
        values = _runs(record, setting, "total_j")
        fewer = [policy for policy in BSD if below(values["lpsm"] - values[policy]).holds]
        means = ", ".join(f"{policy} {values[policy].mean():.2f}" for policy in ("lpsm", *BSD))
        return Verdict(f"less than {len(fewer)} of {len(BSD)} ({means} J)", len(fewer) > len(BSD) / 2, means)

    return [
        Claim(
            statement=f"{setting}: LPSM with 1/log T saves more energy than every BSD setting",
            printed="all", check=deepest, tolerance="paired difference from the best BSD setting; " + SIGN,
        ),
        Claim(
            statement=f"{setting}: LPSM with 1/T uses less energy than most BSD settings",
            printed="most", check=most, tolerance="more than half of the four, each by its 95 % interval",
        ),
    ]  # fmt: skip


def _level(setting: str, policy: str, column: str, printed: float, what: str) -> Claim:
    return Claim(
        statement=f"{setting}: {what} of static PSM", printed=f"{printed:.2f} J a page",
        check=lambda record: within_factor(estimate(_runs(record, setting, column)[policy]), printed, 2.0, 2, " J"),
        tolerance=LEVEL + "; energy a page varies by half from seed to seed, because think times do",
    )  # fmt: skip


def _slower(setting: str, policy: str, printed: float) -> Claim:
    def check(record: Record) -> Verdict:
        slow = _slow(record, setting)
        found = ratio(slow[policy], slow["psm:100"])
        low, high = 1.0 + (printed - 1.0) / 2.0, 1.0 + 2.0 * (printed - 1.0)
        why = (
            f"our static PSM slows pages by {slow['psm:100'].mean():.2f} and LPSM by {slow[policy].mean():.2f}; the "
            "ratio is the server's: see thesis/server-delay"
        )  # fmt: skip
        return Verdict(shown(found), bool(low <= found.mean <= high), why)

    return Claim(
        statement=f"{setting}: slowdown of {policy} over that of static PSM", printed=f"{printed:.2f}", check=check,
        tolerance="excess over 1 within a factor of 2, traffic and server of the print being unpublished",
    )  # fmt: skip


def _slower_than_bsd(setting: str) -> Claim:
    def check(record: Record) -> Verdict:
        slow = _slow(record, setting)
        means = ", ".join(f"{policy} {slow[policy].mean():.2f}" for policy in ("lpsm:log", "lpsm", *BSD))
        holds = all(below(slow[policy] - slow["lpsm:log"]).holds for policy in BSD)
        return Verdict(means, holds, means)

    return Claim(
        statement=f"{setting}: LPSM with 1/log T is slower than every BSD setting", printed="higher slowdowns",
        check=check, tolerance=SIGN,
    )  # fmt: skip


def _page_maximum(policy: str, printed: float) -> Claim:
    def check(record: Record) -> Verdict:
        waits = _waits(record, policy)
        far = waits["ratio"] > printed + 1e-9
        why = ""
        if far.any():
            over, rest = waits[far], waits[~far]
            allowed = (printed - 1.0) * float(over["psm"].median())
            why = (
                f"{100 * far.mean():.1f} % of {len(far)} pages exceed it. {policy} adds {over['extra'].median():.2f} s "
                f"to static PSM there (median; at most {over['extra'].max():.2f} s), {rest['extra'].median():.2f} s "
                f"elsewhere; pages of their {over['psm'].median():.2f} s under static PSM would stay within up to "
                f"{allowed:.2f} s. Without power saving they load in {over['base'].median():.2f} s, the others in "
                f"{rest['base'].median():.2f} s"
            )
        return Verdict(f"largest {waits['ratio'].max():.2f}, mean {waits['ratio'].mean():.3f}", not far.any(), why)

    return Claim(
        statement=f"no page of {policy} takes more than {printed:g} times what it takes under static PSM",
        printed=f"at most {printed:g}", check=check, tolerance="none: every page of every seed counts",
    )  # fmt: skip


def _long_pages(policy: str) -> Claim:
    def check(record: Record) -> Verdict:
        waits = _waits(record, policy)
        longest = waits["base"] >= waits["base"].quantile(0.9)
        top, rest = waits[longest], waits[~longest]
        extra = top["extra"].mean()
        why = (
            f"the wait does not vanish on long pages: {policy} adds {extra:.2f} s to the longest tenth on the mean and "
            f"{rest['extra'].mean():.2f} s to the rest; that is 5 % of {20 * extra:.1f} s, and "
            f"{int((top['psm'] >= 20 * extra).sum())} of the {len(top)} longest pages take as long under static PSM"
        )
        return Verdict(
            f"{top['ratio'].mean():.3f} on the longest tenth (from {top['base'].min():.1f} s), "
            f"{rest['ratio'].mean():.3f} on the rest",
            bool(top["ratio"].mean() <= 1.05), why,
        )  # fmt: skip

    return Claim(
        statement=f"for longer transfers {policy} adds only negligible slowdown", printed="negligible", check=check,
        tolerance="at most 5 % on the mean of the longest tenth of pages",
    )  # fmt: skip


def _waits(record: Record, policy: str) -> pd.DataFrame:
    """A row a page of the first setting: latencies without power saving and under static PSM, what `policy` adds, s."""
    pages = record["pages"][record["pages"]["setting"] == SHORT]
    table = pages.pivot(index=["replication", "page"], columns="policy", values="latency_s")
    psm = table["psm:100"]
    return pd.DataFrame(
        {"base": table["none"], "psm": psm, "extra": table[policy] - psm, "ratio": table[policy] / psm}
    ).reset_index(drop=True)


# -- the server's delay ------------------------------------------------------------------------------------


def _by_delay(record: Record) -> pd.DataFrame:
    rows = []
    for setting in dict.fromkeys(record["runs"]["setting"]):
        slow, joules = _slow(record, setting), _runs(record, setting, "total_j")
        for policy in ("psm:100", "bsd:0.5", "lpsm", "lpsm:log"):
            found, against = estimate(slow[policy]), ratio(joules[policy], joules["psm:100"])
            rows.append(
                {"group": policy, "x": float(setting), "y": found.mean, "half_width": found.half_width,
                 "vs_psm": ratio(slow[policy], slow["psm:100"]).mean, "energy_percent": 100 * (against.mean - 1)}
            )  # fmt: skip
    return pd.DataFrame(rows)


def _falls(policy: str) -> Claim:
    def check(record: Record) -> Verdict:
        own = _by_delay(record)
        own = own[own["group"] == policy].sort_values("x")
        words = ", ".join(f"{row.vs_psm:.2f} at {row.x:g} s" for row in own.itertuples())
        return Verdict(words, bool(own["vs_psm"].iloc[-1] < own["vs_psm"].iloc[0]))

    return Claim(
        statement=f"slowdown of {policy} over that of static PSM falls as the server takes longer", check=check,
        printed="", tolerance="last delay against first; ours, the thesis does not state its server's delay",
    )  # fmt: skip


def _saves_everywhere(record: Record) -> Verdict:
    table = _by_delay(record)
    own = table[table["group"].isin(("lpsm", "lpsm:log"))]
    return Verdict(
        f"from {own['energy_percent'].min():.1f} to {own['energy_percent'].max():.1f} %",
        bool((own["energy_percent"] < 0).all()),
    )


def _order_turns(record: Record) -> Verdict:
    table = _by_delay(record).pivot(index="x", columns="group", values="y").sort_index()
    words = ", ".join(f"{row['bsd:0.5']:.2f} and {row['lpsm']:.2f} at {delay:g} s" for delay, row in table.iterrows())
    return Verdict(f"BSD 0.5 and LPSM: {words}", bool((table["lpsm"] > table["bsd:0.5"]).all()), words)


def _draw_delays(record: Record) -> Mapping[str, Figure]:
    table = _by_delay(record)
    return {"server-delay": lines(table, x="server's delay [s]", y="mean slowdown of a page")}


def _bars(name: str, draw: Any) -> Any:
    def figures(record: Record) -> Mapping[str, Figure]:
        return {
            f"{name}-{letter}": draw(_summary(record, setting).summary)
            for letter, setting in (("a", SHORT), ("b", LONG))
        }

    return figures


EXPERIMENTS = (
    Experiment(
        name="thesis/fig-2-6", claim="energy a page of LPSM, static PSM and BSD", time="1 min", sweep=_both,
        run=simulate,
        claims=(
            _level(SHORT, "psm:100", "total_j", 3.62, "energy"),
            _level(SHORT, "psm:100", "listen_j", 0.83, "energy for beacons"),
            *_saving(SHORT, "lpsm", -6.6, "total_j", "energy"),
            *_saving(SHORT, "lpsm", -29.0, "listen_j", "energy for beacons"),
            *_saving(SHORT, "lpsm:log", -18.5, "total_j", "energy"),
            *_saving(SHORT, "lpsm:log", -81.0, "listen_j", "energy for beacons"),
            *_order(SHORT),
            _level(LONG, "psm:100", "total_j", 4.12, "energy"),
            _level(LONG, "psm:100", "listen_j", 0.94, "energy for beacons"),
            *_saving(LONG, "lpsm:log", -18.0, "total_j", "energy"),
            *_saving(LONG, "lpsm:log", -82.0, "listen_j", "energy for beacons"),
            *_order(LONG),
        ),
        figures=_bars("fig-2-6", energy),
    ),
    Experiment(
        name="thesis/fig-2-7", claim="slowdown of LPSM, static PSM and BSD", time="1 min", sweep=_both, run=simulate,
        claims=(
            _slower(SHORT, "lpsm", 1.02), _slower(SHORT, "lpsm:log", 1.19), _slower(LONG, "lpsm:log", 1.2),
            _slower_than_bsd(SHORT), _slower_than_bsd(LONG),
        ),
        figures=_bars("fig-2-7", slowdown),
    ),
    Experiment(
        name="thesis/fig-2-8", claim="slowdown of each page against its download time", time="1 min", sweep=_both,
        run=simulate,
        claims=(
            _page_maximum("lpsm", 1.2), _page_maximum("lpsm:log", 2.0), _long_pages("lpsm"), _long_pages("lpsm:log"),
        ),
        figures=lambda record: {"fig-2-8": slowdown_by_page(_summary(record, SHORT).slowdowns)},
    ),
    Experiment(
        name="thesis/server-delay", claim="the slowdown of figure 2-7 depends on the server's delay", time="1 min",
        sweep=_delays, run=simulate,
        claims=(
            _falls("lpsm"), _falls("lpsm:log"),
            Claim(
                statement="LPSM uses less energy than static PSM whatever the server's delay", printed="",
                check=_saves_everywhere, tolerance="both energy terms at every delay; ours",
            ),
            Claim(
                statement="LPSM with 1/T is slower than BSD 0.5 at every delay", printed="higher slowdowns",
                check=_order_turns, tolerance="means over seeds",
            ),
        ),
        figures=_draw_delays,
    ),
)  # fmt: skip
