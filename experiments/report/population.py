"""A population in words: the table of `lpsm population`."""

from __future__ import annotations

import pandas as pd

from experiments.report.text import number, table

__all__ = ["population_text"]

EXPLANATION = (
    "{what}; quantiles are over {by}s, each weighing the same.\n"
    "saving: percent of the energy without power saving{vs}, of all together, then of a {by}'s own browsing.\n"
    "slowdown: mean over a {by}'s pages of latency / latency without power saving; its mean over {by}s.\n"
)
AGAINST_PSM = "dearer, slower, both: percent of {by}s whom the policy costs more energy, or time, than psm:100.\n"


def population_text(summary: pd.DataFrame, by_activity: pd.DataFrame, what: str, by: str) -> str:
    """Return the tables of a population and how to read them; rows are policies, and policies by activity.

    Parameters
    ----------
    summary, by_activity : DataFrame
        Of `study.population_summary`.
    what : str
        How many of what.
    by : {"user", "session"}
        What a row of the population is.
    """
    against_psm = bool(summary["slower_than_psm_percent"].notna().all())
    header = ["policy", "saving", "5 %", "median", "95 %"]
    header += ["vs psm", "5 %", "median", "95 %"] if against_psm else []
    header += ["slowdown", "median", "95 %", "max"]
    header += ["dearer", "slower", "both"] if against_psm else []
    rows = []
    for row in summary.to_dict("records"):
        cells = [row["policy"], number(row["saving_of_all_percent"], 1)]
        cells += [number(row[f"saving_percent_{part}"], 1) for part in ("p05", "p50", "p95")]
        if against_psm:
            cells.append(number(row["saving_of_all_vs_psm_percent"], 1))
            cells += [number(row[f"saving_vs_psm_percent_{part}"], 1) for part in ("p05", "p50", "p95")]
        cells += [number(row[f"slowdown_{part}"]) for part in ("mean", "p50", "p95", "p100")]
        if against_psm:
            lose = ("costlier_than_psm", "slower_than_psm", "losing_both")
            cells += [number(row[f"{part}_percent"], 1) for part in lose]
        rows.append(cells)
    text = (
        table(header, rows)
        + "\n\n"
        + EXPLANATION.format(what=what, by=by, vs=", or with psm:100" if against_psm else "")
    )
    if not against_psm:
        return text.rstrip()
    text += AGAINST_PSM.format(by=by)
    quarters = [f"policy, {by}s by pages an hour", "pages/h", "vs psm", "slowdown", "dearer", "slower"]
    lines = [
        [
            f"{row['policy']}, {row['users_are']}",
            f"{row['pages_per_hour_from']:.3g} to {row['pages_per_hour_to']:.3g}",
            number(row["saving_vs_psm_percent_median"], 1, sign=True),
            number(row["slowdown_median"]),
            number(row["costlier_than_psm_percent"], 1),
            number(row["slower_than_psm_percent"], 1),
        ]
        for row in by_activity.to_dict("records")
        if row["policy"] not in ("none", "psm:100")
    ]
    return text + ("\n" + table(quarters, lines) if lines else "").rstrip()
