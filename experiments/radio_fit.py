"""A radio of five states from a measured current: what `lpsm radio fit` computes and shows.

The trace, smoothed by a median of 0.2 ms, is cut into passages awake, each between two of doze.  The threshold that
parts the logarithms of the currents best (Otsu's: the largest variance between the two sides) finds doze; awake is what
lies six spreads above it, and a twentieth of the way up.  What a passage begins and ends with below half of the current
that halves its charge is waking.  The rest is parted by thresholds of the same kind: transmitting is what lies highest,
but is in no more than half of the passages, the others being for a beacon alone; receiving is the upper part of what
remains; currents that differ by less than a quarter, or by less than twice their noise, are one state.  The power of a
state is the mean over its samples, so that powers times times are the measured energy exactly.

Left out: states that the current does not tell apart, which then have one power; passages shorter than some samples.

Sources.  N. Otsu, "A threshold selection method from gray-level histograms", 1979.  Columns: of the Power Profiler Kit
`NordicSemiconductor/pc-nrfconnect-ppk`, `src/actions/exportChartAction.ts` (Timestamp(ms), Current(uA)); of Joulescope
`jetperch/pyjoulescope_examples`, `bin/downsample_logging.py` (#time,current,voltage,...: seconds, ampere, volt), or the
same without names; of Otii a time in seconds and a value in ampere (Timestamp, Value), as people read its files who
publish how.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.ndimage import median_filter

from experiments.quantities import Row
from netsim.radio import StateRadioConfig
from traces.errors import TraceError

STATES = ("doze", "waking", "listening", "receiving", "transmitting")
DOZE, WAKING, LISTENING, RECEIVING, TRANSMITTING = range(5)
SUPPLY_V = 3.3
_BEACON_MS = 1.76  # of 220 bytes at 1 Mb/s, where the current does not tell receiving from listening
_UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "a": 1.0, "ma": 1e-3, "ua": 1e-6, "na": 1e-9, "v": 1.0, "mv": 1e-3}
_KINDS = {
    "time": r"#?\s*(time|timestamp)\b",
    "current": r"(.*\bcurrent\b|value\b|i\b)",
    "voltage": r"(.*\bvoltage\b|v\b)",
}
_PASSAGES, _LEAST_SAMPLES = 5, 3  # awake, in a trace; in a passage
_SMOOTH_MS, _SPREADS, _DOZING = 0.1, 6.0, 0.05
_SHARE, _APART, _NOISES, _OFTEN = 0.5, 1.25, 2.0, 0.5
_SLOWEST_S = 1e-3
_BINS = 512
_READ: Any = pd.read_csv  # whose overloads know no options by name
_LONGEST_LINE = 1 << 16
MOST_SAMPLES = 1 << 25

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trace:
    """A measured current: when, and how much."""

    time_s: Floats
    current_a: Floats
    voltage_v: float  #: mean
    name: str = ""

    @property
    def step_s(self) -> float:
        """Time between two samples, the mean."""
        return float((self.time_s[-1] - self.time_s[0]) / (len(self.time_s) - 1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fitted:
    """A radio, and how well it tells a trace."""

    radio: StateRadioConfig
    state: NDArray[np.int8]  #: of each sample, a place in `STATES`
    table: pd.DataFrame  #: a row a state: its power, its share of the time, the spread of its samples
    mean_mw: float  #: measured
    fitted_mw: float  #: of the states' powers and times
    residual_ma: float  #: root mean square of a sample against its state
    told_percent: float  #: of the variance of the current
    drift_ma_per_h: float  #: of the current in doze
    passages: int
    between_ms: float  #: from a passage to the next, the median
    merged: tuple[str, ...]  #: states that the current does not tell apart


def read(path: Path, voltage_v: float | None = None) -> Trace:
    """Read a trace of a current; the voltage is that of its column, or else `voltage_v`, or else 3.3 V.

    Raises
    ------
    TraceError
        With the file, the line, the rule and the value.
    """
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        head = file.readline(_LONGEST_LINE).strip()
    mark = next((one for one in "\t;" if one in head), ",")
    names = [cell.strip().strip('"').lower().replace("µ", "u") for cell in head.split(mark)]
    is_head = not all(re.fullmatch(r"[-+.\deE]+", name) for name in names)
    columns = _columns(path, names) if is_head else dict(zip(_KINDS, ((0, 1.0), (1, 1.0), (2, 1.0)), strict=True))
    columns = {kind: one for kind, one in columns.items() if one[0] < len(names)}
    form: Row = {
        "sep": mark, "header": None, "skiprows": int(is_head), "usecols": [place for place, _ in columns.values()],
        "encoding": "utf-8-sig", "skip_blank_lines": False, "nrows": MOST_SAMPLES + 1,
    }  # fmt: skip
    for decimal in "." if mark == "," else ".,":
        try:
            table = _READ(path, dtype=float, decimal=decimal, **form)
            break
        except ValueError as error:
            damage = error
    else:
        raise _damage(path, columns, form, damage)
    if len(table) > MOST_SAMPLES:
        raise TraceError(str(path), "end of file", f"a trace must have at most {MOST_SAMPLES} samples", "more")
    found = {kind: unit * table[place].to_numpy() for kind, (place, unit) in columns.items()}
    if "current" not in found:
        raise TraceError(str(path), "line 1", "a trace must have a time and a current", head[:80])
    kept = np.isfinite(found["time"]) & np.isfinite(found["current"])
    line = np.flatnonzero(kept) + 1 + is_head
    time_s, current_a = found["time"][kept], found["current"][kept]
    if len(time_s) < 100:
        raise TraceError(str(path), "end of file", "a trace must have at least 100 samples", str(len(time_s)))
    if len(back := np.flatnonzero(np.diff(time_s) <= 0)):
        raise TraceError(str(path), f"line {line[back[0] + 1]}", "time must grow", f"{time_s[back[0] + 1]:g}")
    if not np.ptp(current_a) > 0:
        raise TraceError(str(path), "end of file", "the current must change", f"{current_a[0]:g} A throughout")
    if voltage_v is None:
        voltage_v = float(np.nanmean(found["voltage"])) if "voltage" in found else SUPPLY_V
    return Trace(time_s=time_s - time_s[0], current_a=current_a, voltage_v=voltage_v, name=path.name)


def _columns(path: Path, names: list[str]) -> dict[str, tuple[int, float]]:
    """Return the place and the unit of each kind of column by the names in the first line."""
    found: dict[str, tuple[int, float]] = {}
    for kind, pattern in _KINDS.items():
        for place, name in enumerate(names):
            if kind not in found and re.match(pattern, name):
                unit = re.search(r"[(\[_]([a-z]+)[)\]]?$", name)
                if (text := unit[1] if unit else "") in _UNITS:
                    found[kind] = place, _UNITS[text]
                else:
                    raise TraceError(
                        str(path), "line 1", f"the unit must be one of {', '.join(filter(None, _UNITS))}", text
                    )
    if "time" not in found or "current" not in found:
        rule = "the first line must name a time (time, timestamp) and a current (current, value)"
        raise TraceError(str(path), "line 1", rule, ",".join(names)[:80])
    return found


def _damage(path: Path, columns: dict[str, tuple[int, float]], form: Row, error: ValueError) -> TraceError:
    """Return what is wrong with a table that cannot be read: the first cell that is no number, or the reader's word."""
    try:
        table = _READ(path, dtype=str, **form | {"nrows": 10**6})
    except ValueError as broken:
        return TraceError(str(path), "", "a trace must be a table", str(broken).splitlines()[0][:80])
    for kind, (place, _) in columns.items():
        wrong = pd.to_numeric(table[place].str.replace(",", "."), errors="coerce").isna() & table[place].notna()
        if len(bad := np.flatnonzero(wrong)):
            line = f"line {bad[0] + 1 + form['skiprows']}"
            return TraceError(str(path), line, f"{kind} must be a number", str(table[place].iloc[bad[0]])[:40])
    return TraceError(str(path), "", "a trace must be a table of numbers", str(error)[:80])


def fit(trace: Trace) -> Fitted:
    """Fit a radio of five states to a trace.

    Raises
    ------
    ValueError
        If the samples are further apart than 1 ms, or there are fewer than five passages awake between two of doze.
    """
    if trace.step_s > _SLOWEST_S:
        raise ValueError(f"{trace.name}: samples must be at most 1 ms apart, got {1e3 * trace.step_s:.3g} ms")
    current, step_ms = trace.current_a, 1e3 * trace.step_s
    smooth = median_filter(current, 1 + 2 * max(1, round(_SMOOTH_MS / step_ms)), mode="nearest")
    floor = max(0.0, float(np.quantile(smooth, 0.01))) + 4 * _noise(current) + 1e-9  # below it there is noise alone
    level = np.log(np.maximum(smooth, floor))
    upper = level > _threshold(level)
    doze, middle = np.median(smooth[~upper]), np.median(smooth[upper])
    spread = 1.4826 * np.median(np.abs(smooth[~upper] - doze))
    awake = smooth > doze + max(_SPREADS * spread, _DOZING * (middle - doze))
    begins, ends = _runs(awake)
    passages = [
        (a, b) for a, b in zip(begins, ends, strict=True) if b - a >= _LEAST_SAMPLES and a > 0 and b < len(awake)
    ]
    if len(passages) < _PASSAGES:
        rule = f"a trace must show at least {_PASSAGES} passages awake between two of doze"
        raise ValueError(f"{trace.name}: {rule}, got {len(passages)}")
    state = np.full(len(current), DOZE, dtype=np.int8)
    for a, b in zip(begins, ends, strict=True):
        state[a:b] = LISTENING if b - a >= _LEAST_SAMPLES else DOZE
    middle = float(np.median([_half(smooth[a:b]) for a, b in passages]))
    lead, tail = [], []
    for a, b in passages:
        above = np.flatnonzero(smooth[a:b] >= _SHARE * middle)
        first, last = (int(above[0]), int(above[-1]) + 1) if len(above) else (0, b - a)
        state[a : a + first] = state[a + last : b] = WAKING
        lead.append(first)
        tail.append(b - a - last)
    merged = [] if (state == WAKING).any() else ["waking"]
    least = _NOISES * _noise(current[awake])
    often = [
        high := _upper(smooth, state == LISTENING, least),
        _upper(smooth, high, least),
    ]  # what is in most passages is a beacon received, and transmitting may be the upper part of it
    sent = next((one for one in often if one.any() and np.mean([one[a:b].any() for a, b in passages]) <= _OFTEN), None)
    if sent is not None:
        state[sent] = TRANSMITTING
    heard = _upper(smooth, state == LISTENING, least)
    state[heard] = RECEIVING
    merged += [name for name, kind in (("receiving", RECEIVING), ("transmitting", TRANSMITTING)) if kind not in state]
    waking_ms = [step_ms * float(np.mean(part)) for part in (lead, tail)]
    return _fitted(trace, state, passages, merged, waking_ms)


def _fitted(
    trace: Trace, state: NDArray[np.int8], passages: list[tuple[int, int]], merged: list[str], waking_ms: list[float]
) -> Fitted:
    mw, count = 1e3 * trace.voltage_v * trace.current_a, np.bincount(state, minlength=5)
    power = np.bincount(state, weights=mw, minlength=5) / np.maximum(count, 1)
    for kind in (WAKING, RECEIVING, TRANSMITTING):
        power[kind] = power[kind] if count[kind] else max(power[LISTENING:kind], default=power[LISTENING])
    alone = [(a, b) for a, b in passages if not (state[a:b] == TRANSMITTING).any()] or passages
    step_ms = 1e3 * trace.step_s
    heard = [step_ms * np.mean([(state[a:b] == kind).sum() for a, b in alone]) for kind in (LISTENING, RECEIVING)]
    if not heard[1]:  # the current does not tell
        heard = [max(0.0, heard[0] - _BEACON_MS), min(heard[0], _BEACON_MS)]
    radio = StateRadioConfig(
        **{f"{name}_mw": max(0.0, float(power[place])) for place, name in enumerate(STATES)},
        wakeup_ms=waking_ms[0], settle_ms=waking_ms[1], listen_advance_ms=float(heard[0]), beacon_ms=float(heard[1]),
    )  # fmt: skip
    off_ma = (mw - power[state]) / trace.voltage_v
    spread = [float(np.std(off_ma[state == kind])) if count[kind] else 0.0 for kind in range(5)]
    shown = {"state": STATES, "power_mw": power, "share_percent": 100 * count / len(state), "spread_ma": spread}
    dozing = state == DOZE
    drift = np.polyfit(trace.time_s[dozing] / 3600.0, 1e3 * trace.current_a[dozing], 1)[0]
    return Fitted(
        radio=radio, state=state, table=pd.DataFrame(shown), mean_mw=float(mw.mean()),
        fitted_mw=float(power @ count / len(state)), residual_ma=float(np.sqrt(np.mean(off_ma**2))),
        told_percent=100 * float(1 - np.mean(off_ma**2) / np.var(1e3 * trace.current_a)), drift_ma_per_h=float(drift),
        passages=len(passages), between_ms=float(np.median(np.diff([a for a, _ in passages]))) * step_ms,
        merged=tuple(merged),
    )  # fmt: skip


def toml(fitted: Fitted, trace: Trace) -> str:
    """Return the radio as a file that ``--radio`` takes."""
    lines = [f"{name} = {value:.5g}" for name, value in asdict(fitted.radio).items() if value or name.endswith("_mw")]
    source = f"fitted to {len(trace.time_s)} samples of {trace.name} at {trace.voltage_v:.4g} V"
    source += f"; not told apart from listening: {', '.join(fitted.merged)}" * bool(fitted.merged)
    return "\n".join([*lines, f"source = {json.dumps(source)}"]) + "\n"


def words(fitted: Fitted, trace: Trace, predicted: Row | None = None) -> str:
    """Return the states, how far samples are off, and what a run on a capture predicts."""
    lines = ["state             mW   time  spread mA"]
    for row in fitted.table.to_dict("records"):
        power, share, spread = row["power_mw"], row["share_percent"], row["spread_ma"]
        lines.append(f"{row['state']:13}{power:7.4g} {share:6.2f} % {spread:8.3g}")
    radio = fitted.radio
    lines += [
        "",
        f"Measured: {fitted.mean_mw:.4g} mW in the mean of {trace.time_s[-1]:.4g} s at {trace.voltage_v:.4g} V; "
        f"the states and their times: {fitted.fitted_mw:.4g} mW.",
        f"Residual: {fitted.residual_ma:.3g} mA (root mean square); the states tell {fitted.told_percent:.2f} % of the "
        f"current's variance. Drift in doze: {fitted.drift_ma_per_h:+.3g} mA an hour.",
        f"Awake {fitted.passages} times, every {fitted.between_ms:.4g} ms (median): {radio.wakeup_ms:.3g} ms to wake "
        f"up, {radio.listen_advance_ms:.3g} ms listening and {radio.beacon_ms:.3g} ms receiving where nothing is sent, "
        f"{radio.settle_ms:.3g} ms to settle.",
    ]  # fmt: skip
    if fitted.merged:
        lines.append(f"The current does not tell {', '.join(fitted.merged)} from listening: they have one power.")
    if predicted:
        off = 100 * (predicted["mean_mw"] / fitted.mean_mw - 1)
        lines.append(
            f"A run of {predicted['name']} under {predicted['policy']}: {predicted['mean_mw']:.4g} mW, "
            f"{off:+.1f} % from what was measured. {predicted['world']}"
        )
    return "\n".join(lines)


def predict(radio: StateRadioConfig, capture: Path, policy: Any, world: Any) -> Row:
    """Return the mean power of a run of a capture with the radio, under what policy the device is said to have."""
    import netsim
    from experiments.study import traffic

    sessions = traffic.recorded([capture], round_trip=world.recorded_round_trip)
    world = world.beside(sessions)
    config = replace(world.config, radio=radio)
    runs = [netsim.simulate(one.pages(), policy, config=one.world(config), seed=one.seed) for one in sessions]
    joules, seconds = sum(run.energy.total_j for run in runs), sum(run.elapsed_s for run in runs)
    words = world._replace(said={**world.said, "radio": "as fitted"}).words
    return {"name": capture.name, "policy": runs[0].policy, "mean_mw": 1e3 * joules / seconds, "world": words}


def _threshold(values: Floats) -> float:
    """Return the value that parts others best: with the largest variance between the two sides (Otsu)."""
    count, edges = np.histogram(values, _BINS)
    middle, below = (edges[:-1] + edges[1:]) / 2, np.cumsum(count)
    above, sums = len(values) - below, np.cumsum(count * middle)
    with np.errstate(divide="ignore", invalid="ignore"):
        between = below * above * (sums / below - (sums[-1] - sums) / above) ** 2
    between[~np.isfinite(between)] = 0.0
    best = np.flatnonzero(between >= between.max() * (1 - 1e-9))  # bins of a gap part as well as each other
    return float((edges[best[0] + 1] + edges[best[-1] + 1]) / 2)


def _half(values: Floats) -> float:
    """Return the current below which half of the charge was drawn."""
    ranked = np.sort(values)
    return float(ranked[np.searchsorted(np.cumsum(ranked), ranked.sum() / 2)])


def _upper(values: Floats, among: NDArray[np.bool_], least: float) -> NDArray[np.bool_]:
    """Return the upper ones of some values; none if they are not `_APART` from the lower, and by the `least`."""
    if not among.any() or not np.ptp(values[among]):
        return np.zeros(len(values), dtype=bool)
    cut = _threshold(values[among])
    upper, lower = among & (values > cut), among & (values <= cut)
    high, low = values[upper].mean(), values[lower].mean()
    return upper if high > _APART * low and high - low > least else np.zeros(len(values), dtype=bool)


def _noise(values: Floats) -> float:
    """Return the standard deviation of what differs from sample to sample, whatever the few jumps are."""
    return 1.4826 * float(np.median(np.abs(np.diff(values)))) / 2**0.5


def _runs(mask: NDArray[np.bool_]) -> tuple[NDArray[Any], NDArray[Any]]:
    edges = np.diff(np.concatenate(([0], mask.astype(np.int8), [0])))
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
