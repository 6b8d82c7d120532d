"""A recommendation in words: what to take and to type, how sure that is, and the table behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import Any

import pandas as pd

from experiments.quantities import TUNING
from experiments.report.text import cells, counted, number, plus_minus, table
from experiments.study.targets import Settings

__all__ = ["recommendation_text", "settings_text", "tuning_text"]

_MOST_NAMED = 5


def recommendation_text(found: Mapping[str, Any], units: str) -> str:
    """Return the recommendation in some sentences, with what speaks against it if something does.

    Parameters
    ----------
    found : mapping
        `Tuning.recommendation`.
    units : str
        What the traffic was cut into: "sessions", "pages", "parts", "visits" or "seeds".
    """
    low, high = found["battery_h_low"], found["battery_h_high"]
    life = f"{found['battery_h']:.1f} h"
    if isfinite(low) and low < found["battery_h"]:
        upper = f"to {high:.1f} h" if isfinite(high) else "h, no upper end"
        life += f" (95 % interval {low:.1f} {upper}"
        if found["assumed_percent"]:
            life += f", with the figures that the radio's table calls assumed {found['assumed_percent']:.0f} % off"
        life += ")"
    if not found["keeps"]:
        [broken] = found["broken"]
        text = (
            f"No candidate keeps {_limits(found)}; nearest: {found['policy']}, {_value(broken)}, {life}. "
            f"A battery of {found['battery_mwh']:g} mWh is meant."
        )
    else:
        text = f"Take {found['policy']}: a battery of {found['battery_mwh']:g} mWh lasts {life} at "
        text += f"{number(found['mean_mw'], 1)} mW{_beside(found)}, {_waiting(found)}"
        text += f"{0.0 - found['energy_vs_none_percent']:.0f} % less energy than without power saving and "
        text += f"{found['energy_above_limit_percent']:.1f} % above the limit; "
        text += f"measured on {counted(found['units'], units)}."
        text += f" It wins {found['wins_percent']:.0f} % of {found['splits']} splits in halves"
        if found["battery_h_held_out"]:
            shortest, longest = found["battery_h_held_out"]
            text += f" and lasts {shortest:.1f} to {longest:.1f} h on the other halves (90 % of them)"
        text += "."
    if found["level"]:
        text += f" Level, as the splits do not agree: {', '.join(found['level'])}."
    if found["units"] == 1:
        text += " With a single one there is no interval."
    if passed_over := found["passed_over"]:
        named = [f"{one['policy']} ({_value(one)})" for one in passed_over[:_MOST_NAMED]]
        more = f" and {len(passed_over) - _MOST_NAMED} more" if len(passed_over) > _MOST_NAMED else ""
        what = "of less energy, but over a limit" if found["keeps"] else "further over a limit"
        text += f" Passed over, {what}: {', '.join(named)}{more}."
    return text


def settings_text(found: Sequence[Settings], policy: str) -> str:
    """Return what to type, line by line, with its source; or that no platform has a setting for it."""
    if not found:
        return (
            f"No platform of the table has a setting for {policy}: it needs a driver of its own (--target names those)."
        )
    blocks = []
    for one in found:
        lines = "".join(f"\n    {line}" for line in one.lines)
        blocks.append(f"On {one.device}:{lines}\n    (source: {one.source})")
    return "\n".join(blocks)


def tuning_text(rows: pd.DataFrame, found: Mapping[str, Any], units: str) -> str:
    """Return the recommendation and the table of all candidates, those of least energy first; * is on a front."""
    order = "mean_mw" if found["by_power"] else "energy_j_per_page"
    ordered = rows.sort_values(order, kind="stable")
    header, lines = cells(TUNING, ordered)
    header.append("front")
    for own, by_mean, by_p95 in zip(lines, ordered["on_front_mean"], ordered["on_front_p95"], strict=True):
        own.append(" ".join(name for name, on_it in (("mean", by_mean), ("p95", by_p95)) if on_it))
    note = (
        f"Measured on {counted(found['units'], units)}.  Every page weighs the same; ± is a 95 % interval.\n"
        "front: no other needs less energy and is no slower, by mean or by 95th percentile.  limit, page-awake: as in "
        "lpsm compare.\nwins: share of the splits in which it is the cheapest on one half and keeps the limits on both."
    )
    return recommendation_text(found, units) + "\n\n" + table(header, lines) + "\n\n" + note


def _limits(found: Mapping[str, Any]) -> str:
    limits = (
        ("max_slowdown", "", "slowdown"),
        ("max_push_delay_s", " s", "added delay"),
        ("max_delay_s", " s", "time"),
    )
    words = [f"{found[name]:g}{unit} ({what})" for name, unit, what in limits if found.get(name) is not None]
    return f"{' and '.join(words)}, {found['at']}"


def _value(one: Mapping[str, Any]) -> str:
    if not isfinite(one["value"]):
        return "nothing is late"
    return f"{one['what']} {plus_minus(one['value'], one['half_width'] or nan, 3)}{one['unit']}, limit {one['limit']:g}"


def _beside(found: Mapping[str, Any]) -> str:
    words = []
    if found.get("base_ma"):
        words.append(f"beside {found['base_ma']:g} mA for all else")
    if found.get("self_discharge"):
        words.append(f"losing {found['self_discharge']:g} % a month by itself")
    return f" ({' and '.join(words)})" if words else ""


def _waiting(found: Mapping[str, Any]) -> str:
    text = ""
    for name, what in (("added_delay", "messages"), ("datagram_delay", "datagrams")):
        if isfinite(found.get(f"{name}_mean_s", nan)):
            late = plus_minus(found[f"{name}_mean_s"], found[f"{name}_mean_s_half_width"], 3)
            text += f"{what} come {late} s later (99th percentile {number(found[f'{name}_p99_s'], 3)} s), "
    if isfinite(found["slowdown_mean"]):
        slower = plus_minus(found["slowdown_mean"], found["slowdown_mean_half_width"], 3)
        text += f"pages take {slower} times as long as without power saving "
        text += f"(95th percentile {number(found['slowdown_p95'], 2)}), a page costs "
        text += f"{plus_minus(found['energy_j_per_page'], found['energy_j_per_page_half_width'])} J, "
    return text
