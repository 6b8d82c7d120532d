"""What the policies cost and what they delay: the aggregation of a sweep.

Every quantity is computed within a replication (a seed, or a recorded session) first; what is reported is the mean over
replications, which weigh the same whatever their length, with a 95 % Student interval.  Differences and ratios between
policies are paired: both policies met the same world in every replication.

Slowdown of a page = its latency / its latency without power saving.  Two reference energies come from the run without
power saving: `limit`, sleep power throughout plus the extra power of being awake for the busier direction's air time,
which no policy can beat; and `page-awake`, awake exactly while a page loads and asleep otherwise: a clairvoyant that
never delays a page, and never sleeps inside one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from experiments.quantities import BASELINE, LIMIT, PAGE_AWAKE, PER_PAGE, PSM, REFERENCES, Row
from experiments.study.sweep import Frames
from netsim import Clairvoyant, Radio

LEVEL = 0.95
QUANTILES = {"p95": 0.95, "p99": 0.99, "max": 1.0}
_RUN = ["replication", "policy"]
_MAXIMA = ("_max", "_max_s")
_DIFFERENCES = {  # name -> (column, the policy that it is compared with)
    "energy_vs_psm_percent": ("total_j_per_page", PSM),
    "beacon_energy_vs_psm_percent": ("listen_j_per_page", PSM),
    "energy_above_limit_percent": ("total_j_per_page", LIMIT),
}


class Estimate(NamedTuple):
    """A mean over replications and the half width of its 95 % interval (NaN with one replication)."""

    mean: float
    half_width: float


class Comparison(NamedTuple):
    """The result of a study."""

    #: One row for each replication and policy (references included): energies and beacons a page, slowdowns, and
    #: differences from other policies.
    replications: pd.DataFrame
    summary: pd.DataFrame  #: One row a policy; each quantity `q` as `q` and `q_half_width` (95 %).
    slowdowns: pd.DataFrame  #: One row a page: its latency without power saving, its latency, its slowdown.


def estimate(values: ArrayLike) -> Estimate:
    """Return the mean of independent replications, NaN left out, with its 95 % Student t-interval.

    >>> mean, half_width = estimate([1.0, 2.0, 3.0])
    >>> print(f"{mean:g} ± {half_width:.4f}")
    2 ± 2.4841
    """
    sample = np.asarray(values, float)
    sample = sample[~np.isnan(sample)]
    n = sample.size
    if n < 2:
        return Estimate(float(sample[0]) if n else nan, nan)
    spread = float(stdtrit(n - 1, 0.5 + LEVEL / 2)) * float(sample.std(ddof=1)) / sqrt(n)
    return Estimate(float(sample.mean()), spread)


def linearised(numerators: ArrayLike, denominators: ArrayLike) -> NDArray[np.float64]:
    """Return a number a replication whose mean is the ratio of the means, and whose spread is that of the ratio.

    The ratio r plus its residuals, (x - r y) / mean(y).  A mean of ratios would let the shortest sessions, in which
    either energy is next to nothing, decide.  Nothing is returned where the denominators have no positive mean.
    """
    x, y = np.asarray(numerators, float), np.asarray(denominators, float)
    if not y.size or not y.mean() > 0:
        return np.empty(0)
    value = x.mean() / y.mean()
    return np.asarray(value + (x - value * y) / y.mean())


def ratio(numerators: ArrayLike, denominators: ArrayLike) -> Estimate:
    """Return the ratio of the means of paired replications, with a 95 % Student interval (`linearised`)."""
    x, y = np.asarray(numerators, float), np.asarray(denominators, float)
    mean = float(x.mean() / y.mean()) if y.size and y.mean() > 0 else nan
    return Estimate(mean, estimate(linearised(x, y)).half_width)


def percent(numerators: ArrayLike, denominators: ArrayLike) -> Estimate:
    """Return by how many percent the first differ from the second (`ratio`)."""
    found = ratio(numerators, denominators)
    return Estimate(100 * (found.mean - 1), 100 * found.half_width)


def page_slowdowns(pages: pd.DataFrame) -> pd.DataFrame:
    """Pair every page (replication, policy, page, latency_s) with itself without power saving.

    Pages of a run are in the order browsed, those of each `client` after those of the one before if there are several.
    The columns are then replication, policy, client if there are several, page, base_latency_s, latency_s, slowdown.
    """
    whose = [*_RUN, *pages.columns.intersection(["client"]), "page"]
    table = pages[[*whose, "latency_s"]].assign(number=pages.groupby(_RUN, sort=False).cumcount())
    paired = _beside_none(table, "latency_s", ["replication", "number"])
    paired = paired.assign(base_latency_s=paired.pop("latency_s_base"))
    paired["slowdown"] = paired["latency_s"] / paired["base_latency_s"]
    return paired[[*whose, "base_latency_s", "latency_s", "slowdown"]]


def added_delays(messages: pd.DataFrame) -> pd.DataFrame:
    """Pair every pushed message (replication, policy, message, delay_s) with itself without power saving.

    The columns `delay_s_base` and `added_s` are added.
    """
    one = ["replication", *messages.columns.intersection(["client"]), "message"]
    return _beside_none(messages, "delay_s", one)


def added_times(delays: pd.DataFrame) -> pd.DataFrame:
    """Pair every exchange (replication, policy, kind, delay_s, weight) with itself without power saving: `added_s`."""
    own = delays[delays["kind"] == "exchange"]
    numbered = own.assign(number=own.groupby(_RUN, sort=False).cumcount())
    return _beside_none(numbered, "delay_s", ["replication", "number"])


def _beside_none(rows: pd.DataFrame, value: str, one: list[str]) -> pd.DataFrame:
    """Add the seconds that `one` has without power saving, and how many more it has here (`added_s`)."""
    base = rows.loc[rows["policy"] == BASELINE, [*one, value]]
    found = rows.merge(base, on=one, how="left", suffixes=("", "_base"), sort=False, validate="many_to_one")
    return found.assign(added_s=found[value] - found[f"{value}_base"])


def reference_energies(frames: Frames, radio: Radio) -> pd.DataFrame:
    """Return the two reference energies of every replication, as rows like those of `frames.runs`."""
    base = frames.runs[frames.runs["policy"] == BASELINE]
    latency = frames.pages[frames.pages["policy"] == BASELINE].groupby("replication", sort=False)["latency_s"].sum()
    if len(latency):  # else there is nothing to be awake for
        latency = latency.reindex(base["replication"], fill_value=0.0)
    busy_s = {
        LIMIT: base[["uplink_air_s", "downlink_air_s"]].max(axis=1),
        PAGE_AWAKE: base["replication"].map(latency).astype(float) / base.get("clients", 1),
    }
    nothing = dict.fromkeys(("listen_j", "wakeup_j", "beacons", "wakeups", "group_frames_lost", "exceptions"), 0)
    rows = []
    for name, awake_s in busy_s.items():
        # `limit` charges only the difference for being awake, over a sleep that lasts throughout: the same sum
        awake_j, sleep_j = awake_s * radio.awake_mw / 1000, (base["elapsed_s"] - awake_s) * radio.asleep_mw / 1000
        energies = {"awake_j": awake_j, "sleep_j": sleep_j, "total_j": awake_j + sleep_j}
        rows.append(base.assign(**nothing, **energies, policy=name, awake_s=awake_s))
    return pd.concat(rows).sort_index(kind="stable")


def compare(
    frames: Frames, policies: Sequence[str], radio: Radio, *, psm: str = PSM,
    known: Mapping[str, Mapping[str, Clairvoyant]] | None = None,
) -> Comparison:  # fmt: skip
    """Aggregate what `sweep.frames` gathered: the canonical `policies` in this order, then the two references.

    `radio` is that of the runs, for the reference energies; that a run needs less than sleeping throughout is a
    ValueError.  `psm` is the canonical name of static PSM; differences from it are NaN where it was not run.  `known`
    tells by name and replication what clients need that know when frames come: then ``NAME_j_per_page`` is that at the
    slowdown of each policy.
    """
    least = frames.runs["total_j"] / frames.runs["elapsed_s"]
    if len(least) and 1e-3 * radio.asleep_mw > 1.0001 * least.min():
        found = f"got {radio.asleep_mw:g} mW asleep, and a run that needs {1e3 * least.min():.3g} mW"
        raise ValueError(f"radio must be what the runs were simulated with, {found}")
    order = [*policies, LIMIT, PAGE_AWAKE]
    slowdowns = page_slowdowns(frames.pages)
    slowdowns = slowdowns[slowdowns["policy"].isin(policies)].reset_index(drop=True)
    runs = pd.concat([frames.runs, reference_energies(frames, radio)], ignore_index=True)
    runs = runs[runs["policy"].isin(order)].reset_index(drop=True)
    table, pages = runs[[*_RUN, "pages"]].copy(), runs["pages"].clip(lower=1)  # without pages, of the whole run
    for part in PER_PAGE:
        table[f"{part}_per_page"] = runs[part] / pages
    table["mean_mw"] = 1000 * runs["total_j"] / runs["elapsed_s"]
    if "exceptions" in runs:
        table["exceptions"] = runs["exceptions"]
    if "awake_s" in runs and "group_frames_lost" in runs:
        table["awake_percent"] = 100 * runs["awake_s"] / runs["elapsed_s"]
        table["group_frames_lost_per_h"] = 3600 * runs["group_frames_lost"] / runs["elapsed_s"]
    groups = slowdowns.groupby(_RUN, sort=False)
    waits = {"latency_s": groups["latency_s"].mean(), "slowdown_median": groups["slowdown"].median()}
    table = table.join(pd.DataFrame(waits | _spread(groups["slowdown"], "slowdown_{}")), on=_RUN)
    if len(frames.messages):
        late = added_delays(frames.messages).groupby(_RUN, sort=False)["added_s"]
        table = table.join(pd.DataFrame(_spread(late, "added_delay_{}_s")), on=_RUN)
    for kind, name in (("datagram", "datagram_delay"), ("exchange", "exchange")) if len(frames.delays) else ():
        own = frames.delays[frames.delays["kind"] == kind].groupby(_RUN, sort=False)[["delay_s", "weight"]]
        if len(own):
            table = table.join(own.apply(_weighted).add_prefix(f"{name}_"), on=_RUN)
    for name, curves in (known or {}).items():
        above_j = [curves[one].at(at) for one, at in zip(table["replication"], table["slowdown_mean"], strict=True)]
        table[f"{name}_j_per_page"] = 1e-3 * radio.asleep_mw * table["elapsed_s_per_page"] + above_j
    psm_j = table[table["policy"] == psm].set_index("replication")["total_j_per_page"]
    table["energy_minus_psm_j_per_page"] = table["total_j_per_page"] - table["replication"].map(psm_j).astype(float)
    summary = _summary({policy: table[table["policy"] == policy] for policy in order}, psm)
    return Comparison(table, summary, slowdowns)


def paired(replications: pd.DataFrame, policy: str) -> pd.DataFrame:
    """Return how every other policy differs from one, a row each: the two met the same world in every replication.

    `energy_percent` is the difference of energies, `slowdown` and `added_delay_s` are those of mean slowdowns and of
    mean delays of messages, where there are any; each has its ``_half_width`` (95 %).  `replications` is that of a
    `Comparison`.
    """
    base = replications[replications["policy"] == policy].set_index("replication")
    rows = []
    for name, own in replications.groupby("policy", sort=False):
        if name == policy or name in REFERENCES:
            continue
        other = base.loc[own["replication"]].reset_index()
        found = {"energy_percent": percent(own["total_j_per_page"], other["total_j_per_page"])}
        for quantity, column in {"slowdown": "slowdown_mean", "added_delay_s": "added_delay_mean_s"}.items():
            if column in own:
                found[quantity] = estimate(own[column].to_numpy() - other[column].to_numpy())
        rows.append({"policy": name, **with_half_widths(found)})
    return pd.DataFrame(rows)


def with_half_widths(found: Mapping[str, Estimate]) -> dict[str, float]:
    """Return estimates as columns, the half width of each behind it; a maximum is of everything, and has none."""
    columns = dict[str, float]()
    for name, (mean, half_width) in found.items():
        columns |= {name: mean} if name.endswith(_MAXIMA) else {name: mean, f"{name}_half_width": half_width}
    return columns


def _spread(values: Any, name: str) -> Row:
    """Return mean, percentiles and maximum of grouped values."""
    quantiles = {name.format(level): values.quantile(share) for level, share in QUANTILES.items()}
    return {name.format("mean"): values.mean(), **quantiles}


def weighted_quantile(ranked: NDArray[Any], weights: NDArray[Any], level: float) -> float:
    """Return the first of the sorted values up to which this share of all weights lies; NaN of no weight."""
    reached = np.cumsum(weights)
    if not reached.size or not reached[-1]:
        return nan
    return float(ranked[np.searchsorted(reached, level * reached[-1] * (1 - 1e-12))])


def _weighted(rows: pd.DataFrame) -> pd.Series[float]:
    """Return mean, percentiles and maximum of delays, each of which stands for some."""
    delay, weight = rows.sort_values("delay_s", kind="stable").to_numpy().T
    found = {f"{name}_s": weighted_quantile(delay, weight, level) for name, level in QUANTILES.items()}
    return pd.Series({"mean_s": float(np.average(delay, weights=weight)), **found})


def _summary(tables: Mapping[str, pd.DataFrame], psm: str) -> pd.DataFrame:
    """Return a row a policy from the rows of its replications."""
    rows = []
    for policy, own in tables.items():
        row = {"policy": policy, "replications": len(own), "pages": int(own["pages"].sum())}
        found: dict[str, Estimate] = {}
        for name in own.columns.drop([*_RUN, "pages"]):
            found[name] = Estimate(float(own[name].max()), nan) if name.endswith(_MAXIMA) else estimate(own[name])
        pages = own["pages"].clip(lower=1)  # the mean power is that of all the time, not of the mean replication
        found["mean_mw"] = ratio(1000 * own["total_j_per_page"] * pages, own["elapsed_s_per_page"] * pages)
        for name, (column, other) in _DIFFERENCES.items():
            base = tables.get(psm if other == PSM else other, own.iloc[:0])
            found[name] = percent(own[column], base[column]) if len(base) == len(own) else Estimate(nan, nan)
        for column in own.columns[own.columns.str.endswith("clairvoyant_j_per_page")]:
            name = f"energy_above_{column.removesuffix('_j_per_page')}_percent"
            found[name] = percent(own["total_j_per_page"], own[column])
        rows.append(row | with_half_widths(found))
    return pd.DataFrame(rows)
