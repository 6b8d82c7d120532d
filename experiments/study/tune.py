"""Which setting to take: all candidates on all traffic, chosen on one half of it, measured on the other.

The traffic is cut into units, its sessions or, where those are few, its pages (`traffic.units`).  Half of the units,
drawn at random (stream 4), decide: the candidate of least energy whose mean slowdown is allowed, up to the upper end
of its interval.  What is reported about it comes from the other half alone, so that having been chosen cannot flatter
it; a candidate that breaks the rule there is passed over, and that is said.

Pages and messages weigh the same, whatever unit they are in: energy a page is the sum of joules over the sum of
pages, the mean slowdown that of all pages, the added delay that of all messages.  Intervals are 95 % Student intervals
over units, of the linearised ratio.  Left out: that the candidates' own parameters could be searched more finely than
the list does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import netsim
from experiments.quantities import BASELINE, LIMIT, PAGE_AWAKE, REFERENCES
from experiments.study.compare import added_delays, page_slowdowns, percent, ratio, reference_energies
from experiments.study.sweep import Frames
from lpsm import randomness

__all__ = [
    "CANDIDATES", "FEW_SESSIONS", "Rule", "Tuning", "front", "halves", "measure", "ranked", "split",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is wanted.

    Attributes
    ----------
    max_slowdown : float
        Largest mean slowdown of pages, at least 1.
    max_push_delay_s : float or None
        Largest mean delay that is added to pushed messages, seconds; None: any.
    battery_mwh : float
        Capacity whose life is told, milliwatt-hours.
    """

    max_slowdown: float = 1.1
    max_push_delay_s: float | None = None
    battery_mwh: float = 10_000.0

    def __post_init__(self) -> None:
        if not 1.0 <= self.max_slowdown < float("inf"):
            raise ValueError(f"max-slowdown must be at least 1 and finite, got {self.max_slowdown}")
        for name, value in (("max-push-delay", self.max_push_delay_s), ("battery-mwh", self.battery_mwh)):
            if value is not None and not 0.0 < value < float("inf"):
                raise ValueError(f"{name} must be above 0 and finite, got {value}")


class Tuning(NamedTuple):
    """The result: the policy that is recommended, what was measured on either half, and the recommendation.

    `chosen_on` and `held_out` are as `measure` gives them; `recommendation` is the row of `held_out`, with the rule,
    battery life and the sizes of the halves.
    """

    policy: str
    chosen_on: pd.DataFrame
    held_out: pd.DataFrame
    recommendation: dict[str, Any]


def split(names: Sequence[str], seed: int, pushed: Collection[str] = ()) -> tuple[list[str], list[str]]:
    """Return the units to choose on (half of them, rounded down) and those held out.

    Those to which messages are `pushed` are split in the same way, so that a single one is among those held out.
    """
    order = randomness.generator(seed, randomness.SPLIT).permutation(len(names)).tolist()
    with_messages, without = ([i for i in order if (names[i] in pushed) is wanted] for wanted in (True, False))
    half = len(with_messages) // 2
    ours = {*with_messages[:half], *without[: len(names) // 2 - half]}
    return [name for i, name in enumerate(names) if i in ours], [name for i, name in enumerate(names) if i not in ours]


def halves(frames: Frames, names: Sequence[str], seed: int) -> tuple[list[str], list[str]]:
    """Return the units of a sweep to choose on, and those held out (`split`)."""
    return split(names, seed, frozenset(frames.messages["replication"]) if len(frames.messages) else ())


def measure(frames: Frames, names: Sequence[str], radio: netsim.Radio) -> pd.DataFrame:
    """Measure every policy of a sweep, and the two references, on the replications of these names.

    Returns
    -------
    DataFrame
        policy, units, pages, then energy_j_per_page, mean_mw, slowdown_mean, energy_vs_none_percent,
        energy_above_limit_percent and energy_above_page_awake_percent, each with its `.._half_width`, and
        slowdown_p95, on_front_mean, on_front_p95; where messages are pushed, added_delay_mean_s with its half width
        and added_delay_p95_s.
    """
    names = list(names)
    runs, pages = (table[table["replication"].isin(names)] for table in (frames.runs, frames.pages))
    references = reference_energies(
        Frames(runs, pages, frames.polls), awake_mw=radio.awake_mw, asleep_mw=radio.asleep_mw
    )
    slowdowns = page_slowdowns(pages)
    sums = slowdowns.groupby(["policy", "replication"], sort=False)["slowdown"].sum()
    messages = frames.messages
    if len(messages):
        messages = added_delays(messages[messages["replication"].isin(names)])
    together = pd.concat([runs, references], ignore_index=True)
    tables = {str(policy): rows.set_index("replication").loc[names] for policy, rows in together.groupby("policy")}
    rows = []
    for policy, own in tables.items():
        row: dict[str, Any] = {"policy": policy, "units": len(own), "pages": int(own["pages"].sum())}
        estimates = {
            "energy_j_per_page": ratio(own["total_j"], own["pages"].clip(lower=1)),
            "mean_mw": ratio(1000 * own["total_j"], own["elapsed_s"]),
        }
        p95 = float("nan")
        if policy in sums.index:
            pages_of_all = own["pages"] * own.get("clients", 1)
            estimates["slowdown_mean"] = ratio(sums[policy].reindex(names, fill_value=0.0), pages_of_all)
            p95 = float(slowdowns.loc[slowdowns["policy"] == policy, "slowdown"].quantile(0.95))
        if len(messages) and (late := messages[messages["policy"] == policy]).size:
            of_unit = late.groupby("replication")["added_s"].agg(["sum", "count"]).reindex(names, fill_value=0)
            estimates["added_delay_mean_s"] = ratio(of_unit["sum"], of_unit["count"])
            row["added_delay_p95_s"] = float(late["added_s"].quantile(0.95))
        for name, other in (("vs_none", BASELINE), ("above_limit", LIMIT), ("above_page_awake", PAGE_AWAKE)):
            estimates[f"energy_{name}_percent"] = percent(own["total_j"], tables[other]["total_j"])
        for name, found in estimates.items():
            row[name], row[f"{name}_half_width"] = found
        rows.append({**row, "slowdown_p95": p95})
    table = pd.DataFrame(rows)
    if "slowdown_mean" not in table:  # there is no page, but messages
        table = table.assign(slowdown_mean=float("nan"), slowdown_mean_half_width=float("nan"))
    return table.assign(on_front_mean=front(table, "slowdown_mean"), on_front_p95=front(table, "slowdown_p95"))


def front(table: pd.DataFrame, slowdown: str) -> pd.Series[bool]:
    """Return which rows no other one beats: less energy and no more slowdown, or no more energy and less slowdown."""
    energy, slow = table["energy_j_per_page"].to_numpy(dtype=float), table[slowdown].to_numpy(dtype=float)
    no_more = (energy <= energy[:, None]) & (slow <= slow[:, None])
    beaten = (no_more & ((energy < energy[:, None]) | (slow < slow[:, None]))).any(axis=1)
    return pd.Series(~beaten & ~np.isnan(slow), index=table.index)


def ranked(table: pd.DataFrame, rule: Rule, *, surely: bool = False) -> list[str]:
    """Return the policies whose mean slowdown is allowed, those of least energy first; never sleeping always is.

    With `surely` the upper end of the interval of the mean must be allowed.  Of several that need the same, the first
    in the table is first.
    """
    kept = table["slowdown_mean"].notna() | table["energy_j_per_page"].notna()
    kept &= ~table["policy"].isin(REFERENCES)
    for name, limit in (("slowdown_mean", rule.max_slowdown), ("added_delay_mean_s", rule.max_push_delay_s)):
        if limit is not None and name in table:
            surely_at = table[name] + table[f"{name}_half_width"].fillna(0.0) * surely
            kept &= (surely_at <= limit) | surely_at.isna()  # without pages nothing is slowed down
    allowed = table[kept | (table["policy"] == BASELINE)]
    return [str(policy) for policy in allowed.sort_values("energy_j_per_page", kind="stable")["policy"]]


def tune(frames: Frames, names: Sequence[str], rule: Rule, radio: netsim.Radio, *, seed: int) -> Tuning:
    """Choose on one half of the replications `names`, at least two, and measure the choice on the other.

    Of the candidates whose mean slowdown on the first half is surely allowed, those of least energy first, the first
    whose mean slowdown on the other half is allowed too is taken: what breaks the rule on either half is not
    recommended.  `radio` is that of the sweep, `seed` that of the split.
    """
    ours, theirs = halves(frames, names, seed)
    chosen_on, held_out = (measure(frames, half, radio) for half in (ours, theirs))
    allowed, candidates = ranked(held_out, rule), ranked(chosen_on, rule, surely=True)
    policy = next(candidate for candidate in candidates if candidate in allowed)
    row: Any = held_out[held_out["policy"] == policy].iloc[0].to_dict()
    slowest, fastest = (row["mean_mw"] + side * row["mean_mw_half_width"] for side in (-1, 1))
    lives = {"battery_h": row["mean_mw"], "battery_h_low": fastest, "battery_h_high": slowest}
    recommendation = {
        **row,
        **{name: rule.battery_mwh / mw if mw > 0 else float("nan") for name, mw in lives.items()},
        "battery_mwh": rule.battery_mwh,
        "max_slowdown": rule.max_slowdown,
        **({} if rule.max_push_delay_s is None else {"max_push_delay_s": rule.max_push_delay_s}),
        "passed_over": ", ".join(candidates[: candidates.index(policy)]),
        "best_on_held_out": allowed[0],
        "chosen_on_units": len(ours),
        "held_out_units": len(theirs),
    }
    return Tuning(policy, chosen_on, held_out, recommendation)
