"""What a population gains and who loses: distributions over users, every user weighing the same.

A user's energy is that of all of their browsing, as a difference in percent (a saving is negative), their *slowdown*
the mean over their pages.  Quantiles are over users.  A user *loses* by a policy against static PSM if it costs them
more energy, or more time, or both.  What it leaves out: intervals, because a trace is not a sample of something larger
unless somebody argues that it is.

Parts are read one after another, and of each the columns that are needed: memory holds about a hundred bytes a
user and policy.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq

from experiments.quantities import PSM

__all__ = ["COLUMNS", "QUANTILES", "SLOW", "by_activity", "read", "summary"]

COLUMNS = (
    "policy", "pages", "elapsed_s", "total_j", "energy_vs_none_percent", "energy_vs_psm_percent", "latency_s",
    "slowdown_mean", "slowdown_vs_psm", "messages", "added_delay_mean_s",
)  # fmt: skip
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
SLOW = 2.0  # a mean slowdown that is reported as such
_GROUPS = ("least active quarter", "second quarter", "third quarter", "most active quarter")
_HOUR_S = 3600.0


def read(parts: Sequence[Path]) -> pd.DataFrame:
    """Read the columns that summaries need from all parts, in their order."""
    frames = []
    for part in parts:
        frame: pd.DataFrame = pq.read_table(part, columns=list(COLUMNS)).to_pandas()
        frame["policy"] = frame["policy"].astype("category")
        frames.append(frame)
    table: pd.DataFrame = pd.concat(frames, ignore_index=True)
    table["policy"] = table["policy"].astype("category")
    return table


def summary(table: pd.DataFrame, policies: Sequence[str], psm: str = PSM) -> pd.DataFrame:
    """Return one row a policy; `psm` is the canonical name of static PSM.

    Returns
    -------
    DataFrame
        policy, users, pages, total_j; ``energy_of_all_vs_none_percent`` and ``energy_of_all_vs_psm_percent``, of all
        users together; over users `energy_vs_none_percent`, `energy_vs_psm_percent` and `slowdown`, each
        as ``.._mean`` and ``.._p00`` to ``.._p100``; and the percentages of users ``costlier_than_none_percent``,
        ``costlier_than_psm_percent``, ``slower_than_psm_percent``, ``losing_both_percent``,
        ``slowed_over_2_percent``.  Where messages are pushed: `messages`, and over the users who have some
        `added_delay_s`, how much later they come in the mean.
    """
    rows = []
    base_j = float(_of(table, policies[0])["total_j"].sum())
    psm_j = float(_of(table, psm)["total_j"].sum()) if psm in policies else float("nan")
    for policy in policies:
        own = _of(table, policy)
        dear, late = own["energy_vs_psm_percent"] > 0, own["slowdown_vs_psm"] > 1
        against_psm = bool(own["energy_vs_psm_percent"].notna().all())
        row: dict[str, Any] = {"policy": policy, "users": len(own), "pages": int(own["pages"].sum())}
        row["total_j"] = float(own["total_j"].sum())
        row["energy_of_all_vs_none_percent"] = 100.0 * (row["total_j"] / base_j - 1.0)
        row["energy_of_all_vs_psm_percent"] = 100.0 * (row["total_j"] / psm_j - 1.0)
        distributed = {name: name for name in ("energy_vs_none_percent", "energy_vs_psm_percent")}
        distributed["slowdown"] = "slowdown_mean"
        if messages := int(own["messages"].sum()):
            row["messages"] = messages
            distributed["added_delay_s"] = "added_delay_mean_s"
        for name, column in distributed.items():
            values = own[column].dropna().to_numpy(dtype=float)  # some users may have no page, or no message
            quantiles = np.quantile(values, QUANTILES) if len(values) else np.full(len(QUANTILES), np.nan)
            row[f"{name}_mean"] = float(values.mean()) if len(values) else float("nan")
            for level, value in zip(QUANTILES, quantiles, strict=True):
                row[f"{name}_p{round(100 * level):02d}"] = float(value)
        row["costlier_than_none_percent"] = _share(own["energy_vs_none_percent"] > 0)
        row["costlier_than_psm_percent"] = _share(dear) if against_psm else float("nan")
        row["slower_than_psm_percent"] = _share(late) if against_psm else float("nan")
        row["losing_both_percent"] = _share(dear & late) if against_psm else float("nan")
        row["slowed_over_2_percent"] = _share(own["slowdown_mean"] > SLOW)
        rows.append(row)
    return pd.DataFrame(rows)


def by_activity(table: pd.DataFrame, policies: Sequence[str]) -> pd.DataFrame:
    """Return who gains and who loses, by how much they browse: quarters of users by pages an hour without power saving.

    Returns
    -------
    DataFrame
        policy, users_are (which quarter), users, pages_per_hour_from, pages_per_hour_to, medians of energies
        and slowdown, and the percentages costlier and slower than static PSM.
    """
    base = _of(table, policies[0])
    activity = base["pages"].to_numpy() / np.maximum(base["elapsed_s"].to_numpy(), 1e-9) * _HOUR_S
    order = np.argsort(activity, kind="stable")
    rows = []
    for policy in policies:
        own = _of(table, policy)
        for name, places in zip(_GROUPS, np.array_split(order, len(_GROUPS)), strict=True):
            if not len(places):
                continue
            group = own.iloc[places]
            against_psm = bool(group["energy_vs_psm_percent"].notna().all())
            rows.append(
                {
                    "policy": policy,
                    "users_are": name,
                    "users": len(group),
                    "pages_per_hour_from": float(activity[places].min()),
                    "pages_per_hour_to": float(activity[places].max()),
                    "energy_vs_none_percent_median": float(group["energy_vs_none_percent"].median()),
                    "energy_vs_psm_percent_median": float(group["energy_vs_psm_percent"].median()),
                    "slowdown_median": float(group["slowdown_mean"].median()),
                    "costlier_than_psm_percent": _share(group["energy_vs_psm_percent"] > 0) if against_psm else None,
                    "slower_than_psm_percent": _share(group["slowdown_vs_psm"] > 1) if against_psm else None,
                }
            )
    return pd.DataFrame(rows)


def _of(table: pd.DataFrame, policy: str) -> pd.DataFrame:
    return table[table["policy"] == policy].reset_index(drop=True)


def _share(chosen: pd.Series[bool]) -> float:
    return 100.0 * float(chosen.mean())
