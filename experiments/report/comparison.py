"""A comparison of policies in words: the table of `lpsm compare`, and a paper's figures beside it."""

from __future__ import annotations

from math import isfinite
from typing import Any

import pandas as pd

from experiments.quantities import BASELINE, COMPARISON, REFERENCES, shown
from experiments.report.text import cells, number, table

__all__ = ["advice", "comparison_text", "explanation", "plain", "published_text"]

SLOWDOWNS = (1.02, 1.05, 1.1, 1.2, 1.5, 2.0)  # mean slowdowns that somebody may put up with
_EXPLANATION = (
    "J/page: mean over {what}, ± 95 % Student interval; {parts} are parts of it.\n"
    "energy vs psm, beacons: paired differences from static PSM (every beacon), whole and listening energy.\n"
    "slowdown: latency of a page / its latency without power saving.\n"
    "limit: no policy can need less energy.  page-awake: awake exactly while a page loads, never late."
)


def comparison_text(summary: pd.DataFrame, what: str, max_slowdown: float | None = None) -> str:
    """Return the table of a comparison (one row a policy, references last), how to read it, and `advice`."""
    words = advice(summary, max_slowdown)
    return "\n\n".join([table(*cells(COMPARISON, summary)), explanation(summary, what), words]).rstrip()


def advice(summary: pd.DataFrame, max_slowdown: float | None = None) -> str:
    """Return in one sentence which policy to take for which slowdown, or for `max_slowdown` alone.

    >>> rows = pd.DataFrame({"policy": ["none", "psm:100", "lpsm"], "total_j_per_page": [9.0, 3.0, 2.0],
    ...                      "slowdown_mean": [1.0, 1.04, 1.4]})
    >>> print(advice(rows))
    Which to take: for a mean slowdown of at most 1.05 psm:100 (3 J a page), for 1.5 lpsm (2 J a page).
    >>> print(advice(rows, 1.01))
    Which to take: none of them keeps the mean slowdown within 1.01.
    """
    bounds = SLOWDOWNS if max_slowdown is None else (max_slowdown,)
    rows = summary[~summary["policy"].isin((BASELINE, *REFERENCES))]
    taken: list[tuple[float, str, float]] = []
    for most in bounds:
        fit = rows[rows["slowdown_mean"] <= most]
        if len(fit):
            place = int(fit["total_j_per_page"].to_numpy().argmin())
            policy = str(fit["policy"].iloc[place])
            if not taken or policy != taken[-1][1]:
                taken.append((most, policy, float(fit["total_j_per_page"].iloc[place])))
    if not taken:
        return f"Which to take: none of them keeps the mean slowdown within {bounds[-1]:g}."
    words = [f"for {most:g} {policy} ({joules:.3g} J a page)" for most, policy, joules in taken]
    words[0] = words[0].replace("for ", "for a mean slowdown of at most ", 1)
    return f"Which to take: {', '.join(words)}."


def explanation(summary: pd.DataFrame, what: str) -> str:
    """Return how to read the table of a comparison, a line a quantity; `what` is what the means are over."""
    parts = [quantity.heading for quantity in shown(COMPARISON, summary) if quantity.part_of]
    text = _EXPLANATION.format(what=what, parts=" and ".join([", ".join(parts[:-1]), parts[-1]]))
    if "added_delay_mean_s" in summary:
        text += "\nadded s: seconds by which a pushed message comes later than without power saving, mean and p95."
    return text + "\nbattery: how long it lasts at the mean power of all the time." * ("battery_h" in summary)


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
