"""Power saving on the air held against ns-3, frame by frame: `python -m tests.reference_ns3 DIR`.

DIR has the files of reference runs of ns-3: ``scenarios.csv`` with ``arrivals.csv`` and ``frames.csv``, in which no
backoff is drawn and every frame has to be the same to the nanosecond; ``cells.csv`` with ``cells_arrivals.csv.gz``, in
which backoffs are random and means have to agree.  Either half may be absent.  What differs is printed, then a
summary as the last line; the exit status is 0 only if everything is met.

One shift: ns-3 sends a beacon PIFS after its target time on an idle channel, the model at the target time.  The model
gets its arrivals PIFS earlier, and PIFS is added to what it says.

Scenarios in which ns-3.48 departs from IEEE 802.11-2020 or from itself (`NOT_COPIED`) are run, and decide nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from netsim import AirConfig, AirRecorder, BeaconConfig, Phy
from netsim.model.air.air_times import ACK_BYTES, DATA_OVERHEAD_BYTES, NULL_BYTES, POLL_BYTES
from netsim.model.air.exchange_times import group
from netsim.model.records import RECORDS
from netsim.model.things import Exchange
from tests.netsim.air.cells import Air

INTERVAL_NS = 102_400_000
NOT_COPIED = {
    "edges_*_alone": "ns-3 sets the TIM at a beacon's target time, not when the beacon is sent",
    "late_between": "ns-3 sets the TIM at a beacon's target time, not when the beacon is sent",
    "up_*_li[25]": "ns-3 counts the listen interval anew from every sleep",
    "up_*_psm*": "ns-3 keeps PM = 1 under its time-out, and applies the time-out after every beacon",
    "null_*": "ns-3 waits for a slot boundary of EDCA",
}
"""Scenarios that are not to be copied, by patterns of their names, and why."""
LIMITS = {"mean delay": 0.005, "95 % delay": 0.01, "polls": 0.01, "time awake": 0.01}
"""How far cells may lie from those of ns-3, beyond what backoffs by chance explain."""
COUNT_FROM_NS, UNTIL_NS = 1_024_000_000, 8_000_000_000  # of a cell
BEACON_BYTES = {"11a": 86, "11b": 85, "11g": 98}
KIND = ["phy", "data_mbps", "stations", "frames_per_s", "ip_bytes"]
ARRIVAL_KIND = ["phy", "stations", "frames_per_s", "ip_bytes"]
RUNS = 10
"""Runs of the model, each with backoffs of its own, for one cell of ns-3."""
QUANTILE = 3.29
"""Half width of an interval, in standard deviations."""
SHOWN = 5
"""Differences of a scenario that are printed."""


# -- scenarios without backoff


class Seen(NamedTuple):
    """A frame on the air; `pm` of what a client sends but acknowledgements, `size` of all but group frames."""

    start: int
    end: int
    sender: str
    kind: str
    receiver: str
    size: int
    pm: bool
    more: bool
    retry: bool

    @classmethod
    def of(cls, start: int, end: int, sender: str, kind: str, receiver: str, size: int, *bits: int) -> Seen:
        """Leave out what the two programs do not both say."""
        pm = bool(bits[0]) and sender.startswith("client") and kind != "ack"
        return cls(start, end, sender, kind, receiver, 0 if kind == "group" else size, pm, *map(bool, bits[1:]))


def run_scenario(row: Any, arrivals: pd.DataFrame) -> tuple[Air, AirRecorder]:
    """Run the model on a scenario; its instants are PIFS before those of ns-3."""
    phy = Phy(kind=row.phy, rate_mbps=float(row.data_mbps), cw_min=0, cw_max=0)
    switches = isinstance(row.pm, str) and row.pm != ""
    air = AirConfig(
        phy=phy, beacons=BeaconConfig(size_bytes=int(row.beacon_bytes), dtim_period=int(row.dtim_period)),
        retrieval="null" if switches else "ps-poll",
    )  # fmt: skip
    policy = "dynamic:50" if switches or row.psm_timeout_ms else f"listen:{row.listen_interval}"
    recorder = AirRecorder()
    cell = Air(*[policy] * int(row.stations), air=air, interval_ns=INTERVAL_NS, recorder=recorder)
    cell.run.beacon_air = int(row.beacon_air_ns)
    for number, one in enumerate(arrivals.itertuples()):
        at = one.at_ns - int(row.pifs_ns)
        if one.direction == "g":
            cell.group(at, exchange_of(group(phy, one.ip_bytes + DATA_OVERHEAD_BYTES)))
        else:
            put = cell.down if one.direction == "d" else cell.up
            put(one.station, at, one.ip_bytes, number)
    cell.finish(int(row.until_ns) - int(row.pifs_ns))
    return cell, recorder


def exchange_of(times: tuple[int, ...]) -> Exchange:
    """Make the record of an exchange of its times."""
    exchange = Exchange()
    for name, value in zip(RECORDS["Exchange"].fields, times, strict=True):
        setattr(exchange, name, value)
    return exchange


def ours(row: Any, recorder: AirRecorder) -> set[Seen]:
    """Return the frames of the model, on the clock of ns-3."""
    sizes, found = {"beacon": int(row.beacon_bytes), "poll": POLL_BYTES, "ack": ACK_BYTES, "null": NULL_BYTES}, set()
    for one in recorder.frames:
        data = one.kind == "data"
        size = recorder.transmissions[one.number].size_bytes + DATA_OVERHEAD_BYTES if data else sizes.get(one.kind, 0)
        start, end = one.start_ns + int(row.pifs_ns), one.end_ns + int(row.pifs_ns)
        bits = one.sleeps, one.more_data, one.retry
        found.add(Seen.of(start, end, one.sender, one.kind, one.receiver, size, *bits))
    return found


def differences(row: Any, arrivals: pd.DataFrame, frames: pd.DataFrame) -> tuple[list[str], int]:
    """Return what differs between the model and ns-3, in the order of time, and how many frames were compared."""
    arrivals = arrivals.sort_values("at_ns", kind="stable")
    cell, recorder = run_scenario(row, arrivals)
    columns = ["start_ns", "end_ns", "sender", "kind", "receiver", "mpdu_bytes", "pm", "more_data", "retry"]
    begin, stop = max(int(row.count_from_ns), INTERVAL_NS // 2), int(row.until_ns)  # ns-3 has a beacon at 0
    both = {Seen.of(*one) for one in frames[columns].itertuples(index=False, name=None)}, ours(row, recorder)
    theirs, own = ({one for one in side if begin <= one.start < stop} for side in both)
    found = [(one.start, f"ns-3 alone: {one}") for one in theirs - own]
    found += [(one.start, f"lpsm alone: {one}") for one in own - theirs]
    got = {number: at + int(row.pifs_ns) for at, number in cell.received()}
    for number, one in enumerate(arrivals.itertuples()):
        if one.direction != "g" and one.received_ns != got.get(number, -1):
            instants = f"received at {one.received_ns} in ns-3, at {got.get(number)} in lpsm"
            found.append((one.at_ns, f"packet {number}: {instants}"))
    return [f"{at} ns: {text}" for at, text in sorted(found)], len(theirs)


def scenarios(folder: Path) -> Iterator[tuple[str, list[str], int, str]]:
    """Compare every scenario; yield its name, what differs, how many frames there are, and why it decides nothing."""
    rows = pd.read_csv(folder / "scenarios.csv")
    arrivals, frames = pd.read_csv(folder / "arrivals.csv"), pd.read_csv(folder / "frames.csv")
    for row in rows.itertuples():
        own = [table[table["scenario"] == row.scenario] for table in (arrivals, frames)]
        excuse = next((why for pattern, why in NOT_COPIED.items() if fnmatch(str(row.scenario), pattern)), "")
        found, n = differences(row, *own)
        yield str(row.scenario), found, n, excuse


# -- cells with random backoffs


def run_cell(cell: Any, arrivals: pd.DataFrame, seed: int) -> dict[str, float]:
    """Run a cell on the arrivals of ns-3, with backoffs of its own; delays are in ms, time awake in percent."""
    phy, stations = Phy(kind=cell.phy, rate_mbps=float(cell.data_mbps)), int(cell.stations)
    air = AirConfig(phy=phy, retrieval="ps-poll", edca=True, beacons=BeaconConfig(size_bytes=BEACON_BYTES[cell.phy]))
    world = Air(*["psm:102.4"] * stations, air=air, interval_ns=INTERVAL_NS, seed=seed)
    at, early = arrivals["at_ns"].to_numpy() - phy.pifs_ns, 0
    for number, (when, station) in enumerate(zip(at, arrivals["station"], strict=True)):
        if when >= COUNT_FROM_NS and not early:
            early = awake_ns(world, COUNT_FROM_NS)
        world.down(int(station), int(when), int(cell.ip_bytes), number)
    awake = awake_ns(world, UNTIL_NS) - early
    beacons = UNTIL_NS // INTERVAL_NS - (COUNT_FROM_NS - 1) // INTERVAL_NS
    awake += stations * beacons * phy.pifs_ns  # stations are awake from the target time of a beacon on
    got = {number: when for when, number in world.received()}
    delays = np.array([(got[number] - when) / 1e6 for number, when in enumerate(at) if number in got])
    return {
        "mean delay": float(delays.mean()), "95 % delay": float(np.quantile(delays, 0.95)),
        "polls": float(sum(one.attempts for one in world.contenders[1:])),
        "time awake": 100.0 * awake / (stations * (UNTIL_NS - COUNT_FROM_NS)),
    }  # fmt: skip


def awake_ns(world: Air, at: int) -> int:
    """Return how long the clients were not dozing up to an instant, all together."""
    world.finish(at)
    return sum(at - world.states(who).doze_ns for who in range(len(world.clients)))


def cells(folder: Path, runs: int = RUNS) -> pd.DataFrame:
    """Compare every cell of ns-3 in which a backoff is kept in sleep.

    Returns
    -------
    DataFrame
        A row for each kind of cell and quantity: `difference`, ours less theirs over theirs, a mean over seeds, and
        `half_width` of its 99.9 % interval (there are a hundred of them).  Both programs draw backoffs: the interval
        is that of a mean of as many runs as there are of either, whose spread is that of ours on the same arrivals.
    """
    arrivals = pd.read_csv(folder / "cells_arrivals.csv.gz").sort_values("at_ns", kind="stable")
    theirs = pd.read_csv(folder / "cells.csv").query("program == 'backoff_kept'")
    found = []
    for key, kind in theirs.groupby(KIND, sort=False):
        named = dict(zip(KIND, key, strict=True))
        at_hand = arrivals[(arrivals[ARRIVAL_KIND] == [named[name] for name in ARRIVAL_KIND]).all(axis=1)]
        ratios, variances = [], []
        for row in kind.itertuples():
            own = at_hand[at_hand["seed"] == row.seed]
            ours = pd.DataFrame([run_cell(row, own, seed) for seed in range(runs)])
            printed = [row.mean_delay_ms, row.p95_delay_ms, row.polls, row.awake_percent]
            ratios.append(ours.mean() / printed - 1.0)
            variances.append((ours / printed).var() * (1.0 + 1.0 / runs))
        width = QUANTILE * np.sqrt(pd.DataFrame(variances).sum()) / len(kind)
        mean = pd.DataFrame(ratios).mean()
        label = " ".join(f"{name} {value}" for name, value in named.items())
        found += [(label, name, mean[name], width[name], len(kind)) for name in LIMITS]
    return pd.DataFrame(found, columns=["cell", "quantity", "difference", "half_width", "seeds"])


def in_all(table: pd.DataFrame) -> pd.DataFrame:
    """Return the difference of each quantity over all cells together, each weighing by how sure it is (95 %)."""
    rows = []
    for name, own in table[table["half_width"] > 0.0].groupby("quantity", sort=False):
        weights = own["half_width"] ** -2.0
        mean, width = (own["difference"] * weights).sum() / weights.sum(), 1.96 / QUANTILE * weights.sum() ** -0.5
        rows.append(("all cells together", name, mean, width, 0))
    return pd.DataFrame(rows, columns=table.columns)


def is_far(row: Any) -> bool:
    """Return whether a difference is beyond its limit: of all cells as it is, of one cell by its whole interval."""
    return bool(abs(row.difference) - (row.half_width if row.seeds else 0.0) > LIMITS[row.quantity])


# -- the command


def main(arguments: list[str]) -> int:
    """Compare everything in a folder; return the exit status."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: python -m tests.reference_ns3 DIR, a folder of reference files of ns-3", file=sys.stderr)
        return 2
    folder, unmet, said = Path(arguments[0]), 0, []
    if (folder / "scenarios.csv").exists():
        equal = excused = frames = 0
        for name, found, n, excuse in scenarios(folder):
            frames += n
            equal += not found
            excused += bool(found and excuse)
            unmet += bool(found and not excuse)
            verdict = f"{len(found)} differences" if found else "equal"
            print(f"{name}: {n} frames, {verdict}{f' (not copied: {excuse})' if found and excuse else ''}")
            for line in found[:SHOWN]:
                print(f"    {line}")
        said.append(f"{equal} scenarios equal ({frames} frames), {excused} not copied")
    if (folder / "cells.csv").exists():
        table = cells(folder)
        together = in_all(table)
        for row in pd.concat([together, table]).itertuples():
            far = is_far(row)
            unmet += far
            print(f"{row.cell}: {_percent(row)}{f', beyond {LIMITS[row.quantity]:.1%}' if far else ''}")
        said.append(f"cells in all: {', '.join(map(_percent, together.itertuples()))}")
    if not said:
        print(f"{folder}: neither scenarios.csv nor cells.csv is there", file=sys.stderr)
        return 2
    print("; ".join([*said, f"{unmet} not met" if unmet else "all is met"]))
    return int(unmet > 0)


def _percent(row: Any) -> str:
    """Write a difference with its interval."""
    return f"{row.quantity} {100.0 * row.difference:+.2f} ± {100.0 * row.half_width:.2f} %"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
