"""Which policy to take for some traffic: the cheapest that keeps the limits; how often it wins, and a battery's life.

The traffic is cut into units, its sessions or, where those are few, its pages or stretches (`traffic.units`).  A
candidate is allowed if all limits are kept on all of the units: a mean up to the upper end of its interval, a
percentile or a maximum as it is.  The allowed one of least energy is recommended; never sleeping is not, for it
keeps every limit.  Where none is allowed, the one that comes nearest is named.

How sure that is, is said by repeated splits of the units: on one half, drawn at random (stream 4), the allowed
candidate of least energy is found that keeps the limits on the other half too, where its battery life is measured.  Of
fewer than `LEAST_SPLIT` units, those to choose on are drawn with replacement.  Candidates are level if the first wins
fewer than `CLEARLY` of the splits.

Pages, exchanges and messages weigh the same, whatever unit they are in; energies are sums over sums.  Energy is that
of a page, or for traffic with times of its own the mean power.  Intervals are 95 % Student intervals over units, of the
linearised ratio.  Left out: that the candidates' own parameters could be searched more finely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf, log1p, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import stdtrit

import netsim
from experiments.presets import LEVELS
from experiments.quantities import BASELINE, LIMIT, PAGE_AWAKE
from experiments.study import compare
from experiments.study.compare import LEVEL, QUANTILES, percent, ratio
from experiments.study.sweep import Frames
from lpsm import randomness
from netsim.radio import with_assumed

__all__ = [
    "CANDIDATES", "FEW_SESSIONS", "LEVELS", "SPLITS", "Rule", "Tuning", "by_power", "front", "life_h", "measure",
    "tune",
]  # fmt: skip

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
_LIMITS = (  # what is limited, by which field of a rule, what it is called and its unit
    ("slowdown", "max_slowdown", "slowdown", ""),
    ("message", "max_push_delay_s", "added delay", " s"),
    ("exchange", "max_delay_s", "time of an exchange", " s"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is wanted, and what the battery feeds."""

    max_slowdown: float = 1.1  #: largest slowdown of pages, at least 1
    max_push_delay_s: float | None = None  #: largest delay added to pushed messages, seconds; None: any
    max_delay_s: float | None = None  #: longest time of an exchange (without times of their own: of a page), seconds
    at: str = "mean"  #: what of them is limited: "mean", "p95", "p99" or "max"
    battery_mwh: float = 10_000.0  #: capacity whose life is told, milliwatt-hours
    base_ma: float = 0.0  #: what all but the radio draws (processor, sensors, regulator), milliamperes at 3.3 V
    self_discharge: float = 0.0  #: share of the capacity that a battery loses by itself in a month, percent

    def __post_init__(self) -> None:
        if not 1.0 <= self.max_slowdown < inf:
            raise ValueError(f"max-slowdown must be at least 1 and finite, got {self.max_slowdown}")
        for name in ("max_push_delay_s", "max_delay_s", "battery_mwh"):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < inf:
                raise ValueError(f"{name.removesuffix('_s').replace('_', '-')} must be above 0 and finite, got {value}")
        if self.at not in LEVELS:
            raise ValueError(f"at must be one of {', '.join(LEVELS)}, got {self.at!r}")
        if not 0.0 <= self.base_ma < inf:
            raise ValueError(f"base-ma must be at least 0 and finite, got {self.base_ma}")
        if not 0.0 <= self.self_discharge < 100.0:
            raise ValueError(f"self-discharge must lie in [0, 100) percent, got {self.self_discharge}")

    def given(self) -> dict[str, Any]:
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
    recommendation: dict[str, Any]


def life_h(mean_mw: Any, rule: Rule) -> Any:
    """Return how long the battery of a rule feeds a radio of so many milliwatts, and all else, hours."""
    draw_mw = mean_mw + rule.base_ma * _SUPPLY_V
    lost_an_hour = -log1p(-rule.self_discharge / 100) / _MONTH_H
    with np.errstate(divide="ignore"):
        lasts = rule.battery_mwh / np.where(draw_mw > 0, draw_mw, nan)
        return np.log1p(lasts * lost_an_hour) / lost_an_hour if lost_an_hour else lasts


def by_power(frames: Frames) -> bool:
    """Tell whether candidates are in the order of their mean power: the traffic has times of its own."""
    return len(frames.delays) > 0


# -- samples: what is late, of which unit


class _Sample:
    """Values of every policy, each of a unit: sorted, so that any subset of units is summed up quickly."""

    def __init__(self, table: pd.DataFrame, names: Sequence[str]) -> None:
        places = {name: place for place, name in enumerate(names)}
        table = table[table["replication"].isin(places)].sort_values("value", kind="stable")
        self._of: dict[str, tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = {
            str(policy): (
                rows["value"].to_numpy(dtype=float), rows["weight"].to_numpy(dtype=float),
                rows["replication"].map(places).to_numpy(dtype=int),
            )
            for policy, rows in table.groupby("policy", sort=False)
        }  # fmt: skip
        self._sums = {
            policy: np.array([np.bincount(unit, weight * value, len(names)), np.bincount(unit, weight, len(names))])
            for policy, (value, weight, unit) in self._of.items()
        }

    def at(self, policy: str, how: str, units: NDArray[Any]) -> float:
        """Return the mean, a percentile or the maximum over units, each as often as `units` says; NaN of nothing."""
        if policy not in self._of:
            return nan
        if how == "mean":
            total, n = self._sums[policy] @ units
            return float(total / n) if n else nan
        value, weight, unit = self._of[policy]
        if (weight != 1.0).any():
            return compare.weighted_quantile(value, weight * units[unit], QUANTILES[how])
        kept = np.repeat(value, units[unit].astype(int))
        return float(np.quantile(kept, QUANTILES[how])) if len(kept) else nan

    def half_width(self, policy: str) -> float:
        """Return half the 95 % interval of the mean over all units."""
        if policy not in self._sums:
            return nan
        sums, numbers = self._sums[policy]
        n = len(numbers)
        if n < 2 or not numbers.sum():
            return nan
        residuals = (sums - sums.sum() / numbers.sum() * numbers) / numbers.mean()
        return float(stdtrit(n - 1, 0.5 + LEVEL / 2) * residuals.std(ddof=1) / sqrt(n))


def _samples(frames: Frames, names: Sequence[str]) -> dict[str, _Sample]:
    """Return what may be limited, by its name; what the traffic has not is left out."""
    slowdowns = compare.page_slowdowns(frames.pages)
    tables = {"slowdown": slowdowns.assign(value=slowdowns["slowdown"], weight=1.0)}
    tables["exchange"] = slowdowns.assign(value=slowdowns["latency_s"], weight=1.0)
    if len(frames.messages):
        tables["message"] = (late := compare.added_delays(frames.messages)).assign(value=late["added_s"], weight=1.0)
    for kind in ("exchange", "datagram") if len(frames.delays) else ():
        tables[kind] = frames.delays[frames.delays["kind"] == kind].rename(columns={"delay_s": "value"})
    columns = ["policy", "replication", "value", "weight"]
    return {kind: _Sample(table[columns], names) for kind, table in tables.items() if len(table)}


# -- tables


def measure(frames: Frames, names: Sequence[str], radio: netsim.Radio) -> pd.DataFrame:
    """Measure every policy of a sweep, and the two references, on some of its replications, a row each.

    The columns are policy, units, pages, then energy_j_per_page, mean_mw, energy_vs_none_percent,
    energy_above_limit_percent and energy_above_page_awake_percent, each with its `.._half_width`; as mean (with its
    half width), p95, p99 and max: slowdown, and where there are any added_delay (of messages), datagram_delay and
    exchange, seconds; and on_front_mean, on_front_p95.
    """
    runs, pages = (table[table["replication"].isin(names)] for table in (frames.runs, frames.pages))
    references = compare.reference_energies(
        Frames(runs, pages, frames.polls), awake_mw=radio.awake_mw, asleep_mw=radio.asleep_mw
    )
    tables = {
        str(policy): rows.set_index("replication").loc[list(names)]
        for policy, rows in pd.concat([runs, references], ignore_index=True).groupby("policy")
    }
    samples = _samples(frames, names)
    called = {"slowdown": "slowdown_{}", "message": "added_delay_{}_s", "datagram": "datagram_delay_{}_s"}
    called |= {"exchange": "exchange_{}_s"} if by_power(frames) else {}
    everything = np.ones(len(names))
    rows = []
    for policy, own in tables.items():
        row: dict[str, Any] = {"policy": policy, "units": len(own), "pages": int(own["pages"].sum())}
        estimates = {
            "energy_j_per_page": ratio(own["total_j"], own["pages"].clip(lower=1)),
            "mean_mw": ratio(1000 * own["total_j"], own["elapsed_s"]),
            **{
                f"energy_{name}_percent": percent(own["total_j"], tables[other]["total_j"])
                for name, other in (("vs_none", BASELINE), ("above_limit", LIMIT), ("above_page_awake", PAGE_AWAKE))
            },
        }
        for name, found in estimates.items():
            row[name], row[f"{name}_half_width"] = found
        for kind, form in called.items():
            sample = samples.get(kind)
            for level in LEVELS if sample or kind == "slowdown" else ():
                row[form.format(level)] = sample.at(policy, level, everything) if sample else nan
            if sample or kind == "slowdown":
                row[f"{form.format('mean')}_half_width"] = sample.half_width(policy) if sample else nan
        rows.append(row)
    table = pd.DataFrame(rows)
    energy = "mean_mw" if by_power(frames) else "energy_j_per_page"
    fronts = {f"on_front_{level}": front(table, f"slowdown_{level}", energy) for level in ("mean", "p95")}
    return table.assign(**fronts)


def front(table: pd.DataFrame, slowdown: str, energy: str = "energy_j_per_page") -> pd.Series[bool]:
    """Return which rows no other one beats: less energy and no more slowdown, or no more energy and less slowdown."""
    needs, slow = table[energy].to_numpy(dtype=float), table[slowdown].to_numpy(dtype=float)
    no_more = (needs <= needs[:, None]) & (slow <= slow[:, None])
    beaten = (no_more & ((needs < needs[:, None]) | (slow < slow[:, None]))).any(axis=1)
    return pd.Series(~beaten & ~np.isnan(slow), index=table.index)


# -- the choice


class _Choice:
    """The candidates, what they need and what is limited, on any subset of the units."""

    def __init__(self, frames: Frames, names: Sequence[str], rule: Rule) -> None:
        self._samples = _samples(frames, names)
        self.rule, self.n_units = rule, len(names)
        policies = [str(policy) for policy in frames.runs["policy"].unique() if policy != BASELINE]
        wide = frames.runs.set_index(["policy", "replication"])
        self._joules, self._seconds, pages = (
            wide[column].unstack().loc[policies, list(names)].to_numpy(dtype=float)
            for column in ("total_j", "elapsed_s", "pages")
        )
        self._over = self._seconds if by_power(frames) else np.maximum(pages, 1)
        self.policies = policies

    def energies(self, units: NDArray[Any]) -> NDArray[Any]:
        """Return by what candidates are ordered."""
        found: NDArray[Any] = (self._joules @ units) / (self._over @ units)
        return found

    def mean_mw(self, place: int, units: NDArray[Any]) -> float:
        """Return the mean power of a candidate."""
        return float(1000 * (self._joules[place] @ units) / (self._seconds[place] @ units))

    def values(
        self, policy: str, units: NDArray[Any], *, surely: bool = False
    ) -> dict[str, tuple[float, float, float]]:
        """Return of all that is limited the value, half its interval if `surely` is asked for, and the limit."""
        found = {}
        for kind, field, _, _ in _LIMITS:
            limit, sample = getattr(self.rule, field), self._samples.get(kind)
            if limit is None or sample is None or np.isnan(value := sample.at(policy, self.rule.at, units)):
                continue
            wide = sample.half_width(policy) if surely and self.rule.at == "mean" else 0.0
            found[kind] = value, 0.0 if np.isnan(wide) else wide, limit
        return found

    def keeps(self, policy: str, units: NDArray[Any], *, surely: bool = False) -> bool:
        """Tell whether a candidate keeps all limits."""
        return self.excess(policy, units, surely=surely) <= 1e-9

    def excess(self, policy: str, units: NDArray[Any], *, surely: bool = False) -> float:
        """Return by which share of it the limit is exceeded that is kept least."""
        values = self.values(policy, units, surely=surely).values()
        return max(((value + wide) / limit - 1.0 for value, wide, limit in values), default=0.0)

    def broken(self, policy: str, units: NDArray[Any]) -> dict[str, Any]:
        """Return which limit a candidate keeps least, and by how much it is exceeded."""
        values = self.values(policy, units, surely=True)
        worst = max(values, key=lambda kind: sum(values[kind][:2]) / values[kind][2], default="")
        value, wide, limit = values.get(worst, (nan, nan, nan))
        called, unit = next(((what, unit) for kind, _, what, unit in _LIMITS if kind == worst), ("energy", ""))
        return {"policy": policy, "what": called, "unit": unit, "value": value, "half_width": wide, "limit": limit}


def tune(frames: Frames, names: Sequence[str], rule: Rule, radio: netsim.Radio, *, seed: int) -> Tuning:
    """Choose a candidate on all replications `names` (at least two) of a sweep, and tell how sure the choice is.

    The `radio` is that of the sweep, the `seed` that of the splits; see the module for how.
    """
    choice, everything = _Choice(frames, names, rule), np.ones(len(names))
    policies = choice.policies
    order = np.argsort(choice.energies(everything), kind="stable").tolist()
    if not order:
        raise ValueError("tune needs a candidate beside none, got none")
    allowed = [place for place in order if choice.keeps(policies[place], everything, surely=True)]
    nearest = allowed[:1] or [min(order, key=lambda place: choice.excess(policies[place], everything, surely=True))]
    taken, policy = nearest[0], policies[nearest[0]]
    splits = _splits(choice, allowed, seed)
    share = splits["policy"].value_counts(normalize=True).to_dict()
    table = measure(frames, names, radio)
    table = table.assign(
        battery_h=life_h(table["mean_mw"].to_numpy(dtype=float), rule),
        allowed=table["policy"].isin([policies[place] for place in allowed]),
        wins_percent=[100 * share.get(name, 0.0) if name in policies else nan for name in table["policy"]],
    )
    level = [policies[place] for place in allowed[:3]] if share.get(policy, 0.0) < CLEARLY else []
    cheaper = order[: order.index(taken)] if allowed else [place for place in order if place != taken]
    [row] = (
        {str(name): value for name, value in own.items()} for own in table[table["policy"] == policy].to_dict("records")
    )
    own = frames.runs[(frames.runs["policy"] == policy) & frames.runs["replication"].isin(names)]
    held_out = splits.loc[splits["policy"] == policy, "battery_h"]
    recommendation = {
        **row,
        **rule.given(),
        "keeps": bool(allowed),
        "by_power": by_power(frames),
        **_lives(row, own, rule, radio),
        "battery_h_held_out": [float(held_out.quantile(q)) for q in (0.05, 0.95)] if len(held_out) else None,
        "splits": len(splits),
        "level": level if len(level) > 1 else [],
        "broken": [choice.broken(policy, everything)] if not allowed else [],
        "passed_over": [choice.broken(policies[place], everything) for place in cheaper],
    }
    return Tuning(policy, table, splits, recommendation)


def _splits(choice: _Choice, allowed: Sequence[int], seed: int) -> pd.DataFrame:
    """Return who wins each split (empty: nobody), and its battery life where it was not chosen."""
    n, rng = choice.n_units, randomness.generator(seed, randomness.SPLIT)
    rows = []
    for _ in range(SPLITS):
        if n >= LEAST_SPLIT:
            ours = np.zeros(n)
            ours[rng.permutation(n)[: n // 2]] = 1.0
            theirs = 1.0 - ours
        else:
            ours, theirs = np.bincount(rng.integers(0, n, n), minlength=n).astype(float), np.ones(n)
        energies = choice.energies(ours)
        row = {"policy": "", "battery_h": nan}
        for place in sorted(allowed, key=lambda place: energies[place]):
            if all(choice.keeps(choice.policies[place], half) for half in (ours, theirs)):
                lasts_h = float(life_h(choice.mean_mw(place, theirs), choice.rule))
                row = {"policy": choice.policies[place], "battery_h": lasts_h}
                break
        rows.append(row)
    return pd.DataFrame(rows)


def _lives(row: dict[str, Any], runs: pd.DataFrame, rule: Rule, radio: netsim.Radio) -> dict[str, Any]:
    """Return the battery's life with the interval of the units, and with assumed figures of the radio off both ways."""
    half_mw = 0.0 if np.isnan(row["mean_mw_half_width"]) else row["mean_mw_half_width"]
    asleep_s = runs["elapsed_s"] - runs["awake_s"]

    def joules(of: netsim.Radio) -> float:
        return float(of.total_j(1e9 * runs["awake_s"], 1e9 * asleep_s, runs["beacons"], runs["wakeups"]).sum())

    bounds, factors = [], []
    for sign in (1, -1):
        other = with_assumed(radio, 1 + sign * ASSUMED)
        factors.append(joules(other) / joules(radio) if other != radio else 1.0)
        bounds.append(float(life_h(max(row["mean_mw"] + sign * half_mw, 0.0) * factors[-1], rule)))
    return {
        "battery_h_low": bounds[0], "battery_h_high": bounds[1],
        "assumed_percent": 100 * ASSUMED if factors != [1.0, 1.0] else None,
    }  # fmt: skip
