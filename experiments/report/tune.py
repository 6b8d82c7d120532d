"""A recommendation in words: one sentence, and the table behind it."""

from __future__ import annotations

from math import isfinite
from typing import Any

import pandas as pd

from experiments.quantities import TUNING
from experiments.report.text import cells, counted, number, plus_minus, table

__all__ = ["recommendation_text", "tuning_text"]


def recommendation_text(found: dict[str, Any], units: str) -> str:
    """Return the recommendation in one sentence, with what speaks against it if something does.

    Parameters
    ----------
    found : dict
        `Tuning.recommendation`.
    units : str
        What the traffic was cut into: "sessions", "pages" or "seeds".
    """
    held_out = int(found["held_out_units"])
    life = f"{found['battery_h']:.1f} h"
    if isfinite(found["battery_h_low"]) and isfinite(found["battery_h_high"]):
        if found["battery_h_high"] > 0:
            life += f" (95 % interval {found['battery_h_low']:.1f} to {found['battery_h_high']:.1f} h)"
        else:
            life += f" (95 % interval from {found['battery_h_low']:.1f} h, no upper end)"
    slower = plus_minus(found["slowdown_mean"], found["slowdown_mean_half_width"], 3)
    energy = plus_minus(found["energy_j_per_page"], found["energy_j_per_page_half_width"])
    saved = 0.0 - found["energy_vs_none_percent"]  # and not -0
    waiting, what = "", "all of it"
    if isfinite(found["slowdown_mean"]):
        p95 = number(found["slowdown_p95"], 2)
        waiting = f"pages take {slower} times as long as without power saving (95th percentile {p95}), and "
        what = "a page"
    if isfinite(found.get("added_delay_mean_s", float("nan"))):
        later = plus_minus(found["added_delay_mean_s"], found["added_delay_mean_s_half_width"], 3)
        waiting = f"messages come {later} s later, " + waiting
    text = (
        f"Take {found['policy']}: a battery of {found['battery_mwh']:g} mWh lasts {life} at {found['mean_mw']:.1f} mW, "
        f"{waiting}{what} costs {energy} J, {saved:.0f} % "
        f"less than without power saving and {found['energy_above_limit_percent']:.1f} % above the limit; measured on "
        f"{counted(held_out, units)} held out from the choice."
    )
    if held_out == 1:
        text += " With a single one there is no interval."
    if found["passed_over"]:
        text += (
            f" Passed over: {found['passed_over']}, of less energy where it was chosen, but there pages take more than "
            f"the {found['max_slowdown']:g} times that were asked for"
            + (f", or messages come more than {limit:g} s later." if (limit := found.get("max_push_delay_s")) else ".")
        )
    if found["best_on_held_out"] != found["policy"]:
        text += f" Chosen on those held out themselves, it would have been {found['best_on_held_out']}."
    return text


def tuning_text(held_out: pd.DataFrame, found: dict[str, Any], units: str) -> str:
    """Return the sentence and the table of all candidates on what was held out, by energy; * is on a front."""
    ordered = held_out.sort_values("energy_j_per_page", kind="stable")
    header, rows = cells(TUNING, ordered)
    header.append("front")
    for own, by_mean, by_p95 in zip(rows, ordered["on_front_mean"], ordered["on_front_p95"], strict=True):
        own.append(" ".join(name for name, on_it in (("mean", by_mean), ("p95", by_p95)) if on_it))
    note = (
        f"Chosen on {counted(int(found['chosen_on_units']), units)}, measured here on {found['held_out_units']} "
        f"other{'s' * (found['held_out_units'] != 1)}.  Every page "
        "weighs the same; ± is a 95 % interval.\nfront: no other needs less energy and is no slower, by mean or by "
        "95th percentile.  limit, page-awake: as in lpsm compare."
    )
    return recommendation_text(found, units) + "\n\n" + table(header, rows) + "\n\n" + note
