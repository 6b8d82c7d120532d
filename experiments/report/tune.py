"""A recommendation in words: what to take and to type, how sure that is, and the table behind it."""

from collections.abc import Iterator, Sequence
from math import isfinite, nan

import pandas as pd

from experiments.quantities import TUNING, Row
from experiments.report.text import number, of_frame, plus_minus
from experiments.study.targets import Settings
from traces import counted

_MOST_NAMED = 5
_LIMITS = (
    ("max_slowdown", "", "slowdown"),
    ("max_push_delay_s", " s", "added delay"),
    ("max_delay_s", " s", "added to exchanges"),
)
_NOTE = (
    "Every page weighs the same; ± is a 95 % interval.\nlimit, page-awake: as in lpsm compare.\n"
    "wins: share of the splits in which it is the cheapest on one half and keeps the limits on both."
)


def recommendation_text(found: Row, units: str) -> str:
    """Return the recommendation (`Tuning.recommendation`) in some sentences, with what speaks against it.

    `units` are what the traffic was cut into: "sessions", "pages", "parts", "visits" or "seeds".
    """
    return " ".join(_sentences(found, units))


def _sentences(found: Row, units: str) -> Iterator[str]:
    capacity = f"a battery of {found['battery_mwh']:g} mWh"
    if found["keeps"]:
        less, above = 0.0 - found["energy_vs_none_percent"], found["energy_above_limit_percent"]
        percent = f"{less:.{int(less >= 99.5)}f} % less energy than without power saving and {above:.1f} % above "
        percent += f"the limit; measured on {counted(found['units'], units)}."
        power = f"{number(found['mean_mw'], '.3g')} mW{_beside(found)}"
        yield f"Take {found['policy']}: {capacity} lasts {_life(found)} at {power}, {_waiting(found)}{percent}"
        text = f"It wins {found['wins_percent']:.0f} % of {found['splits']} splits in halves"
        if found["battery_h_held_out"]:
            shortest, longest = found["battery_h_held_out"]
            text += f" and lasts {shortest:.1f} to {longest:.1f} h on the other halves (90 % of them)"
        yield text + "."
    else:
        [broken] = found["broken"]
        limits = [f"{found[name]:g}{unit} ({what})" for name, unit, what in _LIMITS if found.get(name) is not None]
        nearest = f"{found['policy']}, {_value(broken)}, {_life(found)}"
        yield f"No candidate keeps {' and '.join(limits)}, {found['at']}; nearest: {nearest}. A{capacity[1:]} is meant."
    if isfinite(without_s := found.get("exchange_without_s") or nan):
        yield f"Without power saving an exchange takes {without_s:.3g} s ({found['at']}), which no setting shortens."
    if found["level"]:
        yield f"Level, as the splits do not agree: {', '.join(found['level'])}."
    if found["units"] == 1:
        yield "With a single one there is no interval."
    if passed_over := found["passed_over"]:
        named = ", ".join(f"{one['policy']} ({_value(one)})" for one in passed_over[:_MOST_NAMED])
        more = f" and {len(passed_over) - _MOST_NAMED} more" if len(passed_over) > _MOST_NAMED else ""
        what = "of less energy, but over a limit" if found["keeps"] else "further over a limit"
        yield f"Passed over, {what}: {named}{more}."


def _life(found: Row) -> str:
    low, high, life = found["battery_h_low"], found["battery_h_high"], found["battery_h"]
    if not (isfinite(low) and low < life):
        return f"{life:.1f} h"
    upper = f"to {high:.1f} h" if isfinite(high) else "h, no upper end"
    assumed = found["assumed_percent"]
    off = f", with the figures that the radio's table calls assumed {assumed:.0f} % off" if assumed else ""
    return f"{life:.1f} h (95 % interval {low:.1f} {upper}{off})"


def settings_text(found: Sequence[Settings], policy: str, idle_ma: float | None, radio: str) -> str:
    """Return what to type, line by line, with its source, and what to measure; or that no platform has a setting."""
    if not found:
        words = f"No platform of the table has a setting for {policy}"
        return f"{words}: it needs a driver of its own (--target names those)."
    blocks = [[f"On {one.device} ({one.state}):", *one.lines, f"(source: {one.source})"] for one in found]
    check = f"\nTo check on the device: {idle_ma:.3g} mA at 3.3 V in the mean while nothing comes, with {radio}."
    return "\n".join("\n    ".join(block) for block in blocks) + check * (idle_ma is not None)


def tuning_text(rows: pd.DataFrame, found: Row, units: str) -> str:
    """Return the recommendation and the table of all candidates, those of least energy first.

    Traffic with times of its own is told in mW and hours, and not by the page.
    """
    ordered = rows.sort_values("mean_mw" if found["by_power"] else "energy_j_per_page", kind="stable")
    note = f"Measured on {counted(found['units'], units)}.  {_NOTE}"
    columns = [one for one in TUNING if not (found["by_power"] and one.name == "energy_j_per_page")]
    return "\n\n".join([recommendation_text(found, units), of_frame(columns, ordered), note])


def _value(one: Row) -> str:
    if not isfinite(one["value"]):
        return "nothing is late"
    value = plus_minus(one["value"], one["half_width"] or nan, ".3f")
    return f"{one['what']} {value}{one['unit']}, limit {one['limit']:g}"


def _beside(found: Row) -> str:
    beside = {"base_ma": "beside {:g} mA for all else", "self_discharge": "losing {:g} % a month by itself"}
    words = [text.format(found[name]) for name, text in beside.items() if found.get(name)]
    return f" ({' and '.join(words)})" if words else ""


def _waiting(found: Row) -> str:
    """Return how much later messages, datagrams and pages come, and what a page costs, unless traffic has its times."""
    text = ""
    for name, what in (("added_delay", "messages"), ("datagram_delay", "datagrams")):
        if isfinite(found.get(f"{name}_mean_s", nan)):
            late = plus_minus(found[f"{name}_mean_s"], found[f"{name}_mean_s_half_width"], ".3f")
            text += f"{what} come {late} s later (99th percentile {number(found[f'{name}_p99_s'], '.3f')} s), "
    if isfinite(found["slowdown_mean"]):
        slower = plus_minus(found["slowdown_mean"], found["slowdown_mean_half_width"], ".3f")
        joules = plus_minus(found["energy_j_per_page"], found["energy_j_per_page_half_width"])
        late = number(found["slowdown_p95"])
        text += f"pages take {slower} times as long as without power saving (95th percentile {late}), "
        text += f"a page costs {joules} J, " * (not found["by_power"])
    return text
