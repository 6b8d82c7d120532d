"""A comparison of policies in words: the table of `lpsm compare`, and a paper's figures beside it."""

from __future__ import annotations

from math import isfinite
from typing import Any

import pandas as pd

from experiments.report.text import number, plus_minus, table

__all__ = ["comparison_text", "plain", "published_text"]

EXPLANATION = (
    "J/page: mean over {what}, ± 95 % Student interval; awake, sleep and listen are parts of it.\n"
    "energy vs psm, beacons: paired differences from static PSM (every beacon), whole and listening energy.\n"
    "slowdown: latency of a page / its latency without power saving.\n"
    "limit: a bound for every policy.  page-awake: awake exactly while a page loads, never late."
)


def comparison_text(summary: pd.DataFrame, what: str) -> str:
    """Return the table of a comparison (one row a policy, references last) and how to read it."""
    header = [
        "policy",
        "J/page",
        "awake",
        "sleep",
        "listen",
        "energy vs psm",
        "beacons",
        "above limit",
        "slowdown",
        "median",
        "p95",
    ]
    rows = [
        [
            row["policy"],
            plus_minus(row["total_j_per_page"], row["total_j_per_page_half_width"]),
            number(row["awake_j_per_page"]),
            number(row["sleep_j_per_page"]),
            number(row["listen_j_per_page"]),
            plus_minus(row["energy_vs_psm_percent"], row["energy_vs_psm_percent_half_width"], 1, sign=True, unit=" %"),
            number(row["beacon_energy_vs_psm_percent"], 1, sign=True, unit=" %")
            if row["listen_j_per_page"] > 0
            else "",
            number(row["energy_above_limit_percent"], 1, sign=True, unit=" %"),
            plus_minus(row["slowdown_mean"], row["slowdown_mean_half_width"]),
            number(row["slowdown_median"]),
            number(row["slowdown_p95"]),
        ]
        for row in summary.to_dict("records")
    ]
    explanation = EXPLANATION.format(what=what)
    if "battery_h" in summary:
        header.append("battery")
        for cells, hours in zip(rows, summary["battery_h"], strict=True):
            cells.append(number(hours, 1, unit=" h"))
        explanation += "\nbattery: how long it lasts at the mean power of all the time."
    return table(header, rows) + "\n\n" + explanation


def published_text(beside: pd.DataFrame) -> str:
    """Return a paper's printed figures with ours in brackets (the frame of `papers.thesis.energy.beside`)."""
    header = ["thesis run, policy", "J/page", "(ours)", "energy", "(ours)", "beacons", "(ours)", "slowdown", "(ours)", "max", "(ours)"]  # fmt: skip  # noqa: E501
    rows = [
        [
            f"{record['run']}, {record['policy']}",
            number(record["printed_j_per_page"]),
            number(record["ours_j_per_page"]),
            *(
                number(record[f"{who}_{what}_vs_psm_percent"], 1, sign=True, unit=" %")
                for what in ("energy", "beacon")
                for who in ("printed", "ours")
            ),
            number(record["printed_slowdown_ratio_psm"]),
            number(record["ours_slowdown_ratio_psm"]),
            number(record["printed_slowdown_vs_psm_max"], 1),
            number(record["ours_slowdown_vs_psm_max"], 1),
        ]
        for record in beside.to_dict("records")
    ]
    note = (
        "As printed in the thesis, ours in brackets; all against static PSM of the same run.\n"
        "Its traffic and seeds are not published: signs and sizes can be compared, single figures cannot."
    )
    return table(header, rows) + "\n\n" + note


def plain(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as JSON data; what is not a number becomes null."""
    rows: Any = frame.to_dict("records")
    return [
        {name: None if isinstance(value, float) and not isfinite(value) else value for name, value in row.items()}
        for row in rows
    ]
