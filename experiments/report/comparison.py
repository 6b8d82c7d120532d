"""Policies in words: the tables of `lpsm compare`, and those of `lpsm population`."""

from collections.abc import Mapping

import pandas as pd

from experiments.escaping import inert
from experiments.quantities import BASELINE, COMPARISON, ENERGY_PARTS, POPULATION, REFERENCES, shown
from experiments.report.text import of_frame, power_words
from netsim.policies import AnyPolicy, registry

SLOWDOWNS = (1.02, 1.05, 1.1, 1.2, 1.5, 2.0)  # mean slowdowns that somebody may put up with
_EXPLANATION = (
    "J/page: mean over {what}{interval}; {parts} are parts of it.\n"
    "energy vs psm, beacons: paired differences from static PSM (every beacon), whole and listening energy.\n"
    "slowdown: latency of a page / its latency without power saving.\n"
    "limit: no policy can need less energy.  page-awake: awake exactly while a page loads, never late."
)
_ADDED = "\nadded s: seconds by which a pushed message comes later than without power saving, mean and p95."
_KNOWN = (
    "\nabove clairvoyant: than a client would need at the same slowdown that knows when frames come, and wakes up at\n"
    "beacons alone; if it polls: than one that may also poll at any instant."
)
_POPULATION = (
    "{what}; quantiles are over {by}s, each weighing the same.\n"
    "vs none{vs}: difference from that energy (a saving is negative), of all together, then of a {by}'s own browsing.\n"
    "slowdown: mean over a {by}'s pages of latency / latency without power saving; its mean over {by}s.\n"
)
_MESSAGES = "added s: how much later pushed messages come than without power saving; its mean over {by}s.\n"
_AGAINST_PSM = "dearer, slower, both: percent of {by}s whom the policy costs more energy, or time, than {psm}.\n"


MOST_LATE_S = 1.0  # what nobody notices of a message; a policy that is later is for those who ask for it
_LATE = "added_delay_p95_s", "datagram_delay_p95_s"


def comparison_text(
    summary: pd.DataFrame, what: str, max_slowdown: float | None = None, width: int | None = None
) -> str:
    """Return the table of a comparison (one row a policy, references last), how to read it, and `advice`.

    `what` is what the means are over; `width` is that of the terminal, if it is for one.
    """
    columns = shown(COMPARISON, summary)
    *parts, last = [one.heading for one in columns if one.name.removesuffix("_per_page") in ENERGY_PARTS]
    interval = ", ± 95 % Student interval" * bool(summary["total_j_per_page_half_width"].notna().any())
    text = _EXPLANATION.format(what=what, interval=interval, parts=f"{', '.join(parts)} and {last}")
    more = {"added_delay_mean_s": _ADDED, "energy_above_clairvoyant_percent": _KNOWN}
    text += "".join(words for name, words in more.items() if name in summary)
    return f"{of_frame(COMPARISON, summary, width)}\n\n{text}\n\n{advice(summary, max_slowdown)}"


def advice(summary: pd.DataFrame, max_slowdown: float | None = None) -> str:
    """Return in one sentence which policy to take for which slowdown, or for `max_slowdown` alone.

    >>> rows = pd.DataFrame({"policy": ["none", "psm:100", "lpsm"], "total_j_per_page": [9.0, 3.0, 2.0],
    ...                      "slowdown_mean": [1.0, 1.04, 1.4]})
    >>> print(advice(rows))
    Which to take: for a mean slowdown of at most 1.05 psm:100 (3 J a page), for 1.5 lpsm (2 J a page).
    >>> print(advice(rows, 1.01))
    Which to take: none of those that save power keeps the mean slowdown within 1.01.

    A policy under which one of twenty messages or datagrams comes later by more than `MOST_LATE_S` is not named.

    >>> print(advice(rows.assign(added_delay_p95_s=[0.0, 0.1, 82.0]), 1.5))
    Which to take: for a mean slowdown of at most 1.5 psm:100 (3 J a page); left out, more than 1 s late (p95): lpsm.

    Traffic with times of its own costs power, and not energy by the page.

    >>> print(advice(rows.assign(exchange_mean_s=0.1, mean_mw=[338.0, 4.0, 2.5]), 1.1))
    Which to take: for a mean slowdown of at most 1.1 psm:100 (4 mW: 2500 h on 10000 mWh).
    """
    bounds, rows = SLOWDOWNS if max_slowdown is None else (max_slowdown,), savers(summary)
    tardy = ", ".join(rows.loc[rows["late_s"] > MOST_LATE_S, "policy"])
    more = f"; left out, more than {MOST_LATE_S:g} s late (p95): {tardy}" * bool(tardy)
    rows = rows[rows["late_s"] <= MOST_LATE_S]
    measure = "mean_mw" if "exchange_mean_s" in rows else "total_j_per_page"
    taken: dict[str, str] = {}
    for most in bounds:
        fit = rows[rows["slowdown_mean"] <= most]
        if len(fit):
            best = fit.iloc[int(fit[measure].to_numpy().argmin())]
            words = "a mean slowdown of at most " * (not taken) + f"{most:g}"
            cost = power_words(best[measure]) if measure == "mean_mw" else f"{best[measure]:.3g} J a page"
            taken.setdefault(best["policy"], f"for {words} {best['policy']} ({cost})")
    if not taken:
        return f"Which to take: none of those that save power keeps the mean slowdown within {bounds[-1]:g}{more}."
    return f"Which to take: {', '.join(taken.values())}{more}."


def savers(summary: pd.DataFrame) -> pd.DataFrame:
    """Return the policies that save power, and of what is not a page how late one of twenty is (`late_s`)."""
    rows = summary[~summary["policy"].isin((BASELINE, *REFERENCES))]
    late_s = rows[[name for name in _LATE if name in rows]].max(axis=1).fillna(0.0)
    return rows.assign(late_s=late_s, slowdown_mean=rows["slowdown_mean"].fillna(1.0))


def policies_text(policies: Mapping[str, AnyPolicy]) -> str:
    """Return what each policy does, a line each, by the names that results carry."""
    known = registry()
    lines = []
    for name, policy in policies.items():
        own = not isinstance(policy, str)
        words = "a policy of your own" if own else known[name.partition(":")[0]].meaning
        lines.append(f"{inert(name)}: {words}.")
    return "\n".join(lines)


def population_text(summary: pd.DataFrame, what: str, by: str, psm: str) -> str:
    """Return the table of a population (`study.population`) and its key.

    `what` says how many of what there are, `by` what one of them is ("user" or "session"), and `psm` is the canonical
    name of static PSM.
    """
    against_psm = bool(summary["slower_than_psm_percent"].notna().all())
    columns = [one for one in shown(POPULATION, summary) if against_psm or not summary[one.name].isna().any()]
    text = _POPULATION + _MESSAGES * ("messages" in summary) + _AGAINST_PSM * against_psm
    text = text.format(what=what, by=by, psm=psm, vs=", vs psm" if against_psm else "")
    return f"{of_frame(columns, summary)}\n\n{text.rstrip()}"
