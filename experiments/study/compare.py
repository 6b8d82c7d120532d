"""What the policies cost and what they delay: the aggregation of a sweep.

Every quantity is computed within a replication (a seed, or a recorded session) first;
what is reported is the mean over replications with a 95 % Student interval, so
that an interval says how far other traffic of the same kind may lie.  Replications
weigh the same, whatever their length.  Differences and ratios between policies are
paired: both policies met the same world in every replication.

Slowdown of a page = its latency / its latency without power saving.  Two reference
energies come from the run without power saving: `limit`, sleep power throughout plus the extra
power of being awake for the busier direction's air time, which no policy can beat; and
`page-awake`, awake exactly while a page loads and asleep otherwise: a clairvoyant that
never delays a page, and never sleeps inside one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from experiments.quantities import BASELINE, ENERGIES, LIMIT, PAGE_AWAKE, PER_PAGE, PSM
from experiments.study.sweep import Frames

__all__ = [
    "Comparison",
    "Estimate",
    "added_delays",
    "compare",
    "estimate",
    "linearised",
    "page_slowdowns",
    "ratio",
    "reference_energies",
]

LEVEL = 0.95
_LEVELS = {"p95": 0.95, "p99": 0.99, "max": 1.0}
_RATIOS = {  # name -> (column, the policy it is divided by, whether the difference in percent is reported)
    "energy_vs_psm_percent": ("total_j_per_page", PSM, True),
    "beacon_energy_vs_psm_percent": ("listen_j_per_page", PSM, True),
    "slowdown_ratio_psm": ("slowdown_mean", PSM, False),
    "energy_above_limit_percent": ("total_j_per_page", LIMIT, True),
    "energy_above_page_awake_percent": ("total_j_per_page", PAGE_AWAKE, True),
}


class Estimate(NamedTuple):
    """A mean over replications and the half width of its 95 % interval (NaN with one replication)."""

    mean: float
    half_width: float


class Comparison(NamedTuple):
    """The result of a study.

    Attributes
    ----------
    replications : DataFrame
        One row for each replication and policy (references included): energies a page, beacons a page,
        slowdowns, and differences from other policies.
    summary : DataFrame
        One row a policy; each quantity `q` as `q` and `q_half_width` (95 %).
    slowdowns : DataFrame
        One row a page: its latency without power saving, its latency, its slowdown.
    """

    replications: pd.DataFrame
    summary: pd.DataFrame
    slowdowns: pd.DataFrame


def estimate(values: ArrayLike) -> Estimate:
    """Return the mean of independent replications with its 95 % Student t-interval.

    >>> mean, half_width = estimate([1.0, 2.0, 3.0])
    >>> print(f"{mean:g} ± {half_width:.4f}")
    2 ± 2.4841
    """
    sample = np.asarray(values, dtype=float)
    sample = sample[~np.isnan(sample)]
    n = sample.size
    if n == 0:
        return Estimate(float("nan"), float("nan"))
    mean = float(sample.mean())
    if n == 1:
        return Estimate(mean, float("nan"))
    spread = float(stdtrit(n - 1, 0.5 + LEVEL / 2)) * float(sample.std(ddof=1)) / sqrt(n)
    return Estimate(mean, spread)


def linearised(numerators: ArrayLike, denominators: ArrayLike) -> NDArray[np.float64]:
    """Return a number a replication whose mean is the ratio of the means, and whose spread is that of the ratio.

    The ratio r plus its residuals, (x - r y) / mean(y).  A mean of ratios would let the shortest sessions, in which
    either energy is next to nothing, decide.  Nothing is returned where the denominators have no positive mean.
    """
    x, y = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    if not y.size or not y.mean() > 0:
        return np.empty(0)
    value = x.mean() / y.mean()
    return np.asarray(value + (x - value * y) / y.mean())


def ratio(numerators: ArrayLike, denominators: ArrayLike) -> Estimate:
    """Return the ratio of the means of paired replications, with a 95 % Student interval (`linearised`)."""
    x, y = np.asarray(numerators, dtype=float), np.asarray(denominators, dtype=float)
    spread = estimate(linearised(x, y)).half_width
    return Estimate(float(x.mean() / y.mean()) if y.size and y.mean() > 0 else float("nan"), spread)


def page_slowdowns(pages: pd.DataFrame) -> pd.DataFrame:
    """Pair every page with itself without power saving.

    Parameters
    ----------
    pages : DataFrame
        Rows of the runs: `replication`, `policy`, `page`, `latency_s`; pages of a run in the order browsed, those of
        each `client` after those of the one before if there are several.

    Returns
    -------
    DataFrame
        replication, policy, client if there are several, page, base_latency_s, latency_s, slowdown.
    """
    whose = ["replication", "policy", *_client(pages), "page"]
    table = pages[[*whose, "latency_s"]].copy()
    table["number"] = table.groupby(["replication", "policy"], sort=False).cumcount()
    base = table.loc[table["policy"] == BASELINE, ["replication", "number", "latency_s"]]
    base = base.rename(columns={"latency_s": "base_latency_s"})
    paired = table.merge(base, on=["replication", "number"], how="left", sort=False, validate="many_to_one")
    paired["slowdown"] = paired["latency_s"] / paired["base_latency_s"]
    return paired[[*whose, "base_latency_s", "latency_s", "slowdown"]]


def _client(table: pd.DataFrame) -> list[str]:
    return [name for name in ("client",) if name in table]


def reference_energies(frames: Frames, *, awake_mw: float, asleep_mw: float) -> pd.DataFrame:
    """Return the two reference energies of every replication, as rows like those of `frames.runs`."""
    rows = []
    latency = frames.pages[frames.pages["policy"] == BASELINE].groupby("replication", sort=False)["latency_s"].sum()
    runs: Any = frames.runs[frames.runs["policy"] == BASELINE].to_dict("records")
    without_pages = 0.0 if len(latency) else float("nan")
    for run in runs:
        busy_s = {
            LIMIT: max(run["uplink_air_s"], run["downlink_air_s"]),
            PAGE_AWAKE: float(latency.get(run["replication"], without_pages)) / run.get("clients", 1),
        }
        for name, awake_s in busy_s.items():
            # `limit` charges only the difference for being awake, over a sleep that lasts throughout: the same sum
            awake_j = awake_s * awake_mw / 1000
            sleep_j = (run["elapsed_s"] - awake_s) * asleep_mw / 1000
            energies = {"awake_j": awake_j, "sleep_j": sleep_j, "total_j": awake_j + sleep_j}
            nothing = dict.fromkeys((*ENERGIES, "beacons", "wakeups", "group_frames_lost"), 0)
            rows.append({**run, **nothing, "policy": name, "awake_s": awake_s, **energies})
    return pd.DataFrame(rows)


def compare(
    frames: Frames,
    policies: Sequence[str],
    *,
    awake_mw: float,
    asleep_mw: float,
    psm: str = PSM,
    battery_mwh: float | None = None,
) -> Comparison:
    """Aggregate a sweep.

    Parameters
    ----------
    frames : Frames
        What `sweep.frames` gathered.
    policies : sequence of str
        Canonical policies to report, in this order; the references follow.
    awake_mw, asleep_mw : float
        Power of the radio, for the reference energies.
    psm : str
        The canonical name of static PSM in this sweep.
    battery_mwh : float, optional
        Capacity of a battery: the summary then has `battery_h`, how long it lasts at the mean power, with
        `battery_h_low` and `battery_h_high`, what the interval of the mean power says.

    Returns
    -------
    Comparison
        Differences against static PSM are NaN where it was not run.
    """
    slowdowns = page_slowdowns(frames.pages)
    slowdowns = slowdowns[slowdowns["policy"].isin(policies)].reset_index(drop=True)
    references = reference_energies(frames, awake_mw=awake_mw, asleep_mw=asleep_mw)
    runs = pd.concat([frames.runs, references], ignore_index=True)
    table = _per_page(runs).merge(
        _slowdown_statistics(slowdowns, psm), on=["replication", "policy"], how="left", sort=False
    )
    if len(frames.messages):
        table = table.merge(_added_statistics(frames.messages), on=["replication", "policy"], how="left", sort=False)
    if len(frames.delays):
        table = table.merge(_late_statistics(frames.delays), on=["replication", "policy"], how="left", sort=False)
    table = _paired(table, psm)
    order = [*policies, LIMIT, PAGE_AWAKE]
    table = table[table["policy"].isin(order)].reset_index(drop=True)
    summary = _summary(table, order, psm)
    if battery_mwh is not None:
        low, high = (summary["mean_mw"] + side * summary["mean_mw_half_width"] for side in (1, -1))
        lives = {"battery_h": summary["mean_mw"], "battery_h_low": low, "battery_h_high": high}
        summary = summary.assign(**{name: battery_mwh / mw.where(mw > 0) for name, mw in lives.items()})
    return Comparison(table, summary, slowdowns)


def _per_page(runs: pd.DataFrame) -> pd.DataFrame:
    table = runs[["replication", "policy", "pages"]].copy()
    for part in PER_PAGE:
        table[f"{part}_per_page"] = runs[part] / runs["pages"].clip(lower=1)  # without pages, of the whole run
    table["mean_mw"] = 1000 * runs["total_j"] / runs["elapsed_s"]
    if "awake_s" in runs and "group_frames_lost" in runs:
        table["awake_percent"] = 100 * runs["awake_s"] / runs["elapsed_s"]
        table["group_frames_lost_per_h"] = 3600 * runs["group_frames_lost"] / runs["elapsed_s"]
    return table


def added_delays(messages: pd.DataFrame) -> pd.DataFrame:
    """Pair every pushed message with itself without power saving.

    Parameters
    ----------
    messages : DataFrame
        replication, policy, message, delay_s.

    Returns
    -------
    DataFrame
        replication, policy, message, delay_s, delay_s_base, added_s.
    """
    one = ["replication", *_client(messages), "message"]
    base = messages.loc[messages["policy"] == BASELINE, [*one, "delay_s"]]
    paired = messages.merge(base, on=one, suffixes=("", "_base"), sort=False)
    return paired.assign(added_s=paired["delay_s"] - paired["delay_s_base"])


def _added_statistics(messages: pd.DataFrame) -> pd.DataFrame:
    groups = added_delays(messages).groupby(["replication", "policy"], sort=False)["added_s"]
    quantiles = {f"added_delay_{name}_s": groups.quantile(level) for name, level in _LEVELS.items()}
    return pd.DataFrame({"added_delay_mean_s": groups.mean(), **quantiles}).reset_index()


def _late_statistics(delays: pd.DataFrame) -> pd.DataFrame:
    """Return how late the datagrams of each run were, and how long its exchanges took (`Frames.delays`)."""

    def levels(rows: pd.DataFrame) -> pd.Series[float]:
        name = {"datagram": "datagram_delay", "exchange": "exchange"}[str(rows["kind"].iloc[0])]
        delay, weight = (rows[column].to_numpy(dtype=float) for column in ("delay_s", "weight"))
        order = np.argsort(delay, kind="stable")
        reached = np.cumsum(weight[order])
        found = {f"{name}_mean_s": np.average(delay, weights=weight)}
        for level, share in _LEVELS.items():
            found[f"{name}_{level}_s"] = delay[order[np.searchsorted(reached, share * reached[-1] * (1 - 1e-12))]]
        return pd.Series(found)

    whose = ["replication", "policy"]
    tables = [
        pd.DataFrame(
            [{**dict(zip(whose, key, strict=True)), **levels(rows)} for key, rows in own.groupby(whose, sort=False)]
        )
        for _, own in delays.groupby("kind", sort=False)
    ]
    found = tables[0]
    for table in tables[1:]:
        found = found.merge(table, on=whose, how="outer", sort=False)
    return found


def _slowdown_statistics(slowdowns: pd.DataFrame, static: str) -> pd.DataFrame:
    against_psm = slowdowns.copy()
    psm = slowdowns.loc[slowdowns["policy"] == static, "latency_s"].to_numpy()
    n_policies = slowdowns["policy"].nunique()
    against_psm["vs_psm"] = np.nan
    if psm.size * n_policies == len(slowdowns):
        for _, rows in against_psm.groupby("policy", sort=False):
            against_psm.loc[rows.index, "vs_psm"] = rows["latency_s"].to_numpy() / psm
    groups = against_psm.groupby(["replication", "policy"], sort=False)
    statistics = pd.DataFrame(
        {
            "latency_s": groups["latency_s"].mean(),
            "slowdown_mean": groups["slowdown"].mean(),
            "slowdown_median": groups["slowdown"].median(),
            **{f"slowdown_{name}": groups["slowdown"].quantile(level) for name, level in _LEVELS.items()},
            "slowdown_vs_psm_mean": groups["vs_psm"].mean(),
            "slowdown_vs_psm_max": groups["vs_psm"].max(),
        }
    )
    return statistics.reset_index()


def _paired(table: pd.DataFrame, psm: str) -> pd.DataFrame:
    def against(policy: str, column: str) -> pd.Series[float]:
        other = table.loc[table["policy"] == policy].set_index("replication")[column]
        return table["replication"].map(other).astype(float)

    paired = table.copy()
    total, slow = table["total_j_per_page"], table["slowdown_mean"]
    paired["energy_minus_none_j_per_page"] = total - against(BASELINE, "total_j_per_page")
    paired["energy_minus_psm_j_per_page"] = total - against(psm, "total_j_per_page")
    paired["slowdown_minus_psm"] = slow - against(psm, "slowdown_mean")
    return paired


def _summary(table: pd.DataFrame, order: Sequence[str], psm: str) -> pd.DataFrame:
    quantities = [name for name in table.columns if name not in ("replication", "policy", "pages")]
    rows = []
    for policy in order:
        own = table[table["policy"] == policy]
        row: dict[str, object] = {"policy": policy, "replications": len(own), "pages": int(own["pages"].sum())}
        for name in quantities:
            if name.endswith(("_max", "_max_s")):  # a maximum is taken over everything, and has no interval
                row[name] = float(own[name].max())
            elif name == "mean_mw":  # of all the time, not of the mean replication
                found = ratio(1000 * own["total_j_per_page"], own["elapsed_s_per_page"])
                row[name], row[f"{name}_half_width"] = found
            else:
                row[name], row[f"{name}_half_width"] = estimate(own[name])
        for name, (column, other, percent) in _RATIOS.items():
            base = table[table["policy"] == (psm if other == PSM else other)]
            found = ratio(own[column], base[column]) if len(base) == len(own) else Estimate(float("nan"), float("nan"))
            row[name] = 100 * (found.mean - 1) if percent else found.mean
            row[f"{name}_half_width"] = (100 if percent else 1) * found.half_width
        rows.append(row)
    return pd.DataFrame(rows)
