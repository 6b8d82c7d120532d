"""A population in words: the table of `lpsm population`."""

from __future__ import annotations

import pandas as pd

from experiments.quantities import ACTIVITY, BASELINE, POPULATION, PSM, shown
from experiments.report.text import cells, table

__all__ = ["population_text"]

EXPLANATION = (
    "{what}; quantiles are over {by}s, each weighing the same.\n"
    "vs none{vs}: difference from that energy (a saving is negative), of all together, then of a {by}'s own browsing.\n"
    "slowdown: mean over a {by}'s pages of latency / latency without power saving; its mean over {by}s.\n"
)
AGAINST_PSM = "dearer, slower, both: percent of {by}s whom the policy costs more energy, or time, than {psm}.\n"


def population_text(summary: pd.DataFrame, by_activity: pd.DataFrame, what: str, by: str, psm: str = PSM) -> str:
    """Return the tables of a population and how to read them; rows are policies, and policies by activity.

    Parameters
    ----------
    summary, by_activity : DataFrame
        Of `study.population`.
    what : str
        How many of what.
    by : {"user", "session"}
        What a row of the population is.
    psm : str
        The canonical name of static PSM.
    """
    against_psm = bool(summary["slower_than_psm_percent"].notna().all())
    columns = [one for one in shown(POPULATION, summary) if against_psm or not summary[one.name].isna().any()]
    text = (
        table(*cells(columns, summary))
        + "\n\n"
        + EXPLANATION.format(what=what, by=by, vs=", vs psm" if against_psm else "")
    )
    if "messages" in summary:
        text += f"added s: how much later pushed messages come than without power saving; its mean over {by}s.\n"
    if not against_psm:
        return text.rstrip()
    text += AGAINST_PSM.format(by=by, psm=psm)
    others = by_activity[~by_activity["policy"].isin((BASELINE, psm))]
    header, rows = cells(ACTIVITY, others)
    quarters = [f"policy, {by}s by pages an hour", "pages/h", *header[4:]]
    lines = [[f"{row[0]}, {row[1]}", f"{row[2]} to {row[3]}", *row[4:]] for row in rows]
    return text + ("\n" + table(quarters, lines) if lines else "").rstrip()
