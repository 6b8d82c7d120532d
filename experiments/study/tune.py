"""Which policy to take for some traffic: the cheapest that keeps the limits; how often it wins, and a battery's life.

The traffic is cut into units, its sessions or, where those are few, its pages or stretches (`traffic.units`).  A
candidate is allowed if all limits are kept on all of the units: a mean up to the upper end of its interval, a
percentile or a maximum as it is.  The allowed one of least energy is recommended; never sleeping is not, for it
keeps every limit.  Where none is allowed, the one that comes nearest is named.

How sure that is, is said by repeated splits of the units: on one half, drawn at random (stream 4), the allowed
candidate of least energy is found that keeps the limits on the other half too, where its battery life is measured.  Of
fewer than `LEAST_SPLIT` units, those to choose on are drawn with replacement.  Candidates are level if the first wins
fewer than `CLEARLY` of the splits.

The figures of a recording with times of its own are those of one run of the whole, as in the other commands; its parts
tell the splits and, relative to their own means, the intervals.

Pages, exchanges and messages weigh the same, whatever unit they are in; energies are sums over sums.  Energy is that
of a page, or for traffic with times of its own the mean power.  Intervals are 95 % Student intervals over units, of the
linearised ratio.  Left out: that the candidates' own parameters could be searched more finely.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import log1p, nan
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import netsim
from experiments.presets import BATTERY_MWH, LEVELS
from experiments.quantities import BASELINE, LIMIT, PAGE_AWAKE, Row
from experiments.study import compare
from experiments.study.compare import QUANTILES, percent, ratio
from experiments.study.sweep import Frames
from lpsm import randomness
from netsim.radio import with_assumed

CANDIDATES = (
    "none", "psm", "listen:2", "listen:3", "listen:5", "listen:10", "dynamic:20", "dynamic:50", "dynamic:100",
    "dynamic:200", "uapsd", "twt:100:20", "twt:500:20", "twt:1000:50", "bsd:1", "bsd:0.5", "bsd:0.2", "bsd:0.1",
    "bsd:0.05", "bsd-phase:1", "bsd-phase:0.5", "bsd-phase:0.2", "bsd-phase:0.1", "bsd-phase:0.05", "lpsm",
    "lpsm:log", "lpsm2-link:1.05", "bsd-host:0.5", "bsd-host:0.1", "hold:20", "hold:50", "hold:100", "lpsm2:1.02",
    "lpsm2:1.05", "lpsm2:1.1", "lpsm3:1.02:400", "lpsm3:1.05:400", "lpsm3:1.1:400", "lpsm3:1.2:400",
    "lpsm3-link:1.05:400",
)  # fmt: skip
FEW_SESSIONS = 4  # fewer than so many are cut into pages
SPLITS, LEAST_SPLIT, CLEARLY = 200, 4, 2 / 3
ASSUMED = 0.3  # by how much figures that the table of a radio calls assumed may be off
_SUPPLY_V, _MONTH_H = 3.3, 730.5
_LIMITS = {  # what is limited: by which field of a rule, what it is called, its unit
    "slowdown": ("max_slowdown", "slowdown", ""),
    "message": ("max_push_delay_s", "added delay", " s"),
    "added": ("max_delay_s", "delay added to an exchange", " s"),
}
_COLUMNS = {  # what is measured: its columns in the table
    "slowdown": "slowdown_{}", "message": "added_delay_{}_s", "datagram": "datagram_delay_{}_s",
    "exchange": "exchange_{}_s", "added": "exchange_added_{}_s",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is wanted, and what the battery feeds."""

    max_slowdown: float = 1.1  #: largest slowdown of pages, at least 1
    max_push_delay_s: float | None = None  #: largest delay added to pushed messages, seconds; None: any
    #: largest delay added to exchanges (without times of their own: to pages), seconds; None: any
    max_delay_s: float | None = None
    at: str = "mean"  #: what of them is limited: "mean", "p95", "p99" or "max"
    battery_mwh: float = BATTERY_MWH  #: capacity whose life is told, milliwatt-hours
    base_ma: float = 0.0  #: what all but the radio draws (processor, sensors, regulator), milliamperes at 3.3 V
    self_discharge: float = 0.0  #: share of the capacity that a battery loses by itself in a month, percent

    def given(self) -> Row:
        """Return what is limited and fed, without what is not asked for."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) not in (None, 0.0)}


class Tuning(NamedTuple):
    """The result."""

    policy: str  #: What is recommended, or what comes nearest to the limits where nothing keeps them.
    #: One row a candidate, then the two references, as `measure` gives them, of all units; with the battery's life,
    #: whether the limits are kept (`allowed`), and the share of splits that it wins.
    table: pd.DataFrame
    splits: pd.DataFrame  #: One row a split: the winner (or none), and its battery life on the other half.
    #: The row of `policy`, with the rule, intervals of the life, what is level with it and what was passed over.
    recommendation: Row


def life_h(mean_mw: float | NDArray[np.float64], rule: Rule) -> NDArray[np.float64]:
    """Return how long the battery of a rule feeds a radio of so many milliwatts, and all else, hours."""
    draw_mw = mean_mw + rule.base_ma * _SUPPLY_V
    lost_an_hour = -log1p(-rule.self_discharge / 100) / _MONTH_H
    with np.errstate(divide="ignore"):
        lasts = rule.battery_mwh / np.where(draw_mw > 0, draw_mw, nan)
        return np.log1p(lasts * lost_an_hour) / lost_an_hour if lost_an_hour else lasts


class _Sample:
    """Values of a policy, each of a unit: sorted, so that any choice of units is summed up quickly."""

    def __init__(self, rows: pd.DataFrame, names: Sequence[str]) -> None:
        rows = rows.sort_values("value", kind="stable")
        self.values, self.weights = rows["value"].to_numpy(dtype=float), rows["weight"].to_numpy(dtype=float)
        self.units = rows["replication"].map({name: place for place, name in enumerate(names)}).to_numpy(dtype=int)
        self.sums, self.numbers = (
            np.bincount(self.units, of, len(names)) for of in (self.weights * self.values, self.weights)
        )

    def at(self, how: str, times: NDArray[Any]) -> float:
        """Return the mean, a percentile or the maximum over units, each so many times; NaN of nothing."""
        if not (n := float(self.numbers @ times)):
            return nan
        if how == "mean":
            return float(self.sums @ times) / n
        if (self.weights != 1.0).any():
            return compare.weighted_quantile(self.values, self.weights * times[self.units], QUANTILES[how])
        return float(np.quantile(np.repeat(self.values, times[self.units].astype(int)), QUANTILES[how]))

    def half_width(self) -> float:
        """Return half the 95 % interval of the mean over all units."""
        return ratio(self.sums, self.numbers).half_width


class _Units:
    """What the policies of a sweep, and the two references, need on its replications, and what they delay.

    Figures are those of the `whole`, if that is not the units themselves.

    `joules`, `seconds` and `pages` have a row a policy and a column a unit; `samples` what may be limited, by its name
    and the policy, without what the traffic has not.  `by_power`, for traffic with times of its own, has candidates in
    the order of their mean power.
    """

    def __init__(self, frames: Frames, radio: netsim.Radio) -> None:
        references = compare.reference_energies(frames, radio)
        wide: Any = pd.concat([frames.runs, references], ignore_index=True).set_index(["policy", "replication"])
        self.whole, self.runs = self, frames.runs
        names = frames.runs["replication"].unique().tolist()
        columns = ("total_j", "elapsed_s", "pages")
        self.joules, self.seconds, self.pages = (wide[column].unstack()[names] for column in columns)
        self.policies = [str(policy) for policy in frames.runs["policy"].unique() if policy != BASELINE]
        self.by_power, self.everything = len(frames.delays) > 0, np.ones(len(names))
        slowdowns = compare.page_slowdowns(frames.pages)
        tables = {"slowdown": slowdowns.assign(value=slowdowns["slowdown"])}
        tables["exchange"] = slowdowns.assign(value=slowdowns["latency_s"])
        tables["added"] = slowdowns.assign(value=slowdowns["latency_s"] - slowdowns["base_latency_s"])
        if self.by_power:
            tables["added"] = compare.added_times(frames.delays).rename(columns={"added_s": "value"})
        if len(frames.messages):
            tables["message"] = compare.added_delays(frames.messages).rename(columns={"added_s": "value"})
        for kind in ("exchange", "datagram") if self.by_power else ():
            tables[kind] = frames.delays[frames.delays["kind"] == kind].rename(columns={"delay_s": "value"})
        self.samples = {
            kind: {
                str(policy): _Sample(rows if "weight" in rows else rows.assign(weight=1.0), names)
                for policy, rows in table.groupby("policy", sort=False)
            }
            for kind, table in tables.items()
            if len(table)
        }

    def measured(self) -> pd.DataFrame:
        """Return the table of `measure`."""
        if self.whole is not self:
            table, parts = self.whole.measured(), self.own()
            for column in [name for name in map(str, table) if name.endswith("_half_width")]:
                of = column.removesuffix("_half_width")
                scale = 1.0 if "percent" in of else (table[of] / parts[of]).abs()
                table[column] = parts[column] * scale
            return table.assign(units=parts["units"])
        return self.own()

    def own(self) -> pd.DataFrame:
        """Return that table of the units alone."""
        others = {"vs_none": BASELINE, "above_limit": LIMIT, "above_page_awake": PAGE_AWAKE}
        has = self.samples.keys() - (set() if self.by_power else {"exchange", "added"}) | {"slowdown"}
        rows = []
        for policy in self.joules.index:
            joules, pages = self.joules.loc[policy], self.pages.loc[policy]
            row: Row = {"policy": policy, "units": len(joules), "pages": int(pages.sum())}
            estimates = {
                "energy_j_per_page": ratio(joules, pages.clip(lower=1)),
                "mean_mw": ratio(1000 * joules, self.seconds.loc[policy]),
            } | {f"energy_{name}_percent": percent(joules, self.joules.loc[other]) for name, other in others.items()}
            row |= compare.with_half_widths(estimates)
            for kind, form in _COLUMNS.items():
                if kind in has:
                    sample = self.samples.get(kind, {}).get(policy)
                    for level in LEVELS:
                        row[form.format(level)] = sample.at(level, self.everything) if sample else nan
                    row[f"{form.format('mean')}_half_width"] = sample.half_width() if sample else nan
            rows.append(row)
        return pd.DataFrame(rows)

    def without(self, rule: Rule) -> float:
        """Return how long exchanges (or pages) take without power saving, which no setting shortens, seconds."""
        sample = self.whole.samples.get("exchange", {}).get(BASELINE)
        return sample.at(rule.at, self.whole.everything) if sample else nan

    def in_order(self, times: NDArray[Any]) -> list[str]:
        """Return the candidates by their energy on the units, each so many times."""
        if times is self.everything and self.whole is not self:
            return self.whole.in_order(self.whole.everything)
        over = self.seconds if self.by_power else self.pages.clip(lower=1)
        energies = (self.joules @ times / (over @ times))[self.policies]
        return [*energies.sort_values(kind="stable").index]

    def worst(self, rule: Rule, policy: str, times: NDArray[Any] | None = None) -> Row:
        """Return the limit that a candidate keeps least, and by which share it is exceeded (`excess`).

        Of all units (`times` None) it is held up to the end of its interval.
        """
        found = dict.fromkeys(("value", "half_width", "limit"), nan) | {"excess": -1.0, "what": "energy", "unit": ""}
        for kind, (field, called, unit) in _LIMITS.items():
            limit, sample = getattr(rule, field), self.samples.get(kind, {}).get(policy)
            if limit is not None and sample is not None:
                of = self.whole.samples[kind][policy] if times is None else sample
                value = of.at(rule.at, self.whole.everything if times is None else times)
                wide = sample.half_width() if times is None and rule.at == "mean" else 0.0
                if wide and self.whole is not self:
                    wide *= abs(value / sample.at("mean", self.everything))
                wide = 0.0 if np.isnan(wide) else wide
                if (excess := (value + wide) / limit - 1.0) > found["excess"]:
                    found = {"what": called, "unit": unit, "value": value, "half_width": wide, "limit": limit}
                    found["excess"] = excess
        return found

    def splits(self, rule: Rule, allowed: Sequence[str], seed: int) -> pd.DataFrame:
        """Return who of the `allowed` wins each split (empty: nobody), and its battery life where it was not chosen."""
        n, rng = len(self.everything), randomness.generator(seed, randomness.SPLIT)
        rows = []
        for _ in range(SPLITS):
            ours = np.bincount(rng.permutation(n)[: n // 2], minlength=n) if n >= LEAST_SPLIT else None
            theirs = self.everything if ours is None else 1.0 - ours
            ours = np.bincount(rng.integers(0, n, n), minlength=n) if ours is None else ours
            row = {"policy": "", "battery_h": nan}
            for policy in self.in_order(ours):
                if policy in allowed and all(_kept(self.worst(rule, policy, half)) for half in (ours, theirs)):
                    mean_mw = 1000 * (self.joules.loc[policy] @ theirs) / (self.seconds.loc[policy] @ theirs)
                    row = {"policy": policy, "battery_h": float(life_h(mean_mw, rule))}
                    break
            rows.append(row)
        return pd.DataFrame(rows)


def _kept(worst: Row) -> bool:
    return bool(worst["excess"] <= 1e-9)


def measure(frames: Frames, radio: netsim.Radio) -> pd.DataFrame:
    """Measure every policy of a sweep, and the two references, a row each.

    The columns are policy, units, pages, then energy_j_per_page, mean_mw, energy_vs_none_percent,
    energy_above_limit_percent and energy_above_page_awake_percent, each with its `.._half_width`; as mean (with its
    half width), p95, p99 and max: slowdown, and where there are any added_delay (of messages), datagram_delay and
    exchange, seconds.
    """
    return _Units(frames, radio).measured()


def tune(frames: Frames, rule: Rule, radio: netsim.Radio, *, seed: int, whole: Frames | None = None) -> Tuning:
    """Choose a candidate on a sweep of at least two replications, and tell how sure the choice is.

    The `radio` is that of the sweep, the `seed` that of the splits, `whole` the sweep on the recordings of which the
    replications are parts; see the module for how.
    """
    units = _Units(frames, radio)
    if whole is not None:
        units.whole = _Units(whole, radio)
    order = units.in_order(units.everything)
    if not order:
        raise ValueError("tune needs a candidate beside none, got none")
    worst = {policy: {"policy": policy, **units.worst(rule, policy)} for policy in order}
    allowed = [policy for policy in order if _kept(worst[policy])]
    policy = allowed[0] if allowed else min(order, key=lambda one: worst[one]["excess"])
    splits = units.splits(rule, allowed, seed)
    share = splits["policy"].value_counts(normalize=True).to_dict()
    table = units.measured()
    table = table.assign(
        battery_h=life_h(table["mean_mw"].to_numpy(dtype=float), rule), allowed=table["policy"].isin(allowed),
        wins_percent=[100 * share.get(name, 0.0) if name in order else nan for name in table["policy"]],
    )  # fmt: skip
    cheaper = order[: order.index(policy)] if allowed else [one for one in order if one != policy]
    [records] = table[table["policy"] == policy].to_dict("records")
    row: Row = {str(name): value for name, value in records.items()}
    held_out = splits.loc[splits["policy"] == policy, "battery_h"]
    recommendation = {
        **row,
        **rule.given(),
        **_lives(row, units.whole.runs[units.whole.runs["policy"] == policy], rule, radio),
        "keeps": bool(allowed),
        "by_power": units.by_power,
        "exchange_without_s": units.without(rule) if rule.max_delay_s is not None else None,
        "battery_h_held_out": [float(held_out.quantile(q)) for q in (0.05, 0.95)] if len(held_out) else None,
        "splits": len(splits),
        "level": allowed[:3] if len(allowed) > 1 and share.get(policy, 0.0) < CLEARLY else [],
        "broken": [] if allowed else [worst[policy]],
        "passed_over": [worst[one] for one in cheaper],
    }
    return Tuning(policy, table, splits, recommendation)


def _lives(row: Row, runs: pd.DataFrame, rule: Rule, radio: netsim.Radio) -> Row:
    """Return the battery's life with the interval of the units, and with assumed figures of the radio off both ways.

    No power is below that of sleeping throughout.
    """
    half_mw = 0.0 if np.isnan(row["mean_mw_half_width"]) else row["mean_mw_half_width"]
    spent = 1e9 * runs["awake_s"], 1e9 * (runs["elapsed_s"] - runs["awake_s"]), runs["beacons"], runs["wakeups"]
    found, factors = {}, []
    for name, sign in (("battery_h_low", 1), ("battery_h_high", -1)):
        assumed = with_assumed(radio, 1 + sign * ASSUMED).total_j(*spent).sum()
        factors.append(float(assumed / radio.total_j(*spent).sum()))
        found[name] = float(life_h(max(row["mean_mw"] + sign * half_mw, radio.asleep_mw) * factors[-1], rule))
    return found | {"assumed_percent": 100 * ASSUMED if factors != [1.0, 1.0] else None}
