"""Power saving on the air held against ns-3, frame by frame: `python -m tests.reference_ns3 DIR`.

DIR has the files of reference runs of ns-3: ``scenarios.csv`` with ``arrivals.csv`` and ``frames.csv``, in which no
backoff is drawn and every frame has to be the same to the nanosecond; ``cells.csv`` with ``cells_arrivals.csv.gz``, in
which backoffs are random and means have to agree; or ``cells.csv`` of cells in which frames are lost, with
``arrivals.csv.gz``.  Each of them may be absent.  What differs is printed, then a summary as the last line; the exit
status is 0 only if everything is met.

One shift: ns-3 sends a beacon PIFS after its target time on an idle channel, the model at the target time.  The model
gets its arrivals PIFS earlier, and PIFS is added to what it says.

Scenarios in which ns-3.48 departs from IEEE 802.11-2020 or from itself (`NOT_COPIED`) are run, and decide nothing.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pandas as pd

from lpsm.native.records import RECORDS
from netsim import AirConfig, AirRecorder, BeaconConfig, Phy
from netsim.model.air.air_times import ACK_BYTES, DATA_OVERHEAD_BYTES, NULL_BYTES, POLL_BYTES
from netsim.model.air.exchange_times import group
from netsim.model.entities import Exchange
from tests.netsim.air.cells import Air

INTERVAL_NS = 102_400_000
NOT_COPIED = {"edges_*_alone": "ns-3 sets the TIM at a beacon's target time, not when the beacon is sent",
    "late_between": "ns-3 sets the TIM at a beacon's target time, not when the beacon is sent",
    "up_*_li[25]": "ns-3 counts the listen interval anew from every sleep",
    "up_*_psm*": "ns-3 keeps PM = 1 under its time-out, and applies the time-out after every beacon",
    "null_*": "ns-3 waits for a slot boundary of EDCA"}  # fmt: skip
"""Scenarios that are not to be copied, by patterns of their names, and why."""
LIMITS = {"mean delay": 0.005, "95 % delay": 0.01, "polls": 0.01, "time awake": 0.01}
"""How far cells may lie from those of ns-3, beyond what backoffs by chance explain."""
LOSS_LIMITS = {"mean delay": 0.01, "time awake": 0.03}
"""The same of cells in which frames are lost."""
LOSS_PHYS = {"11a": (54.0, 86, 0.0), "11g": (54.0, 98, 1.0), "11n": (65.0, 150, 6.0), "11ax": (86.0, 210, 6.0)}
"""Their layers: rate of data, size of beacons and rate of beacons in Mb/s; HT and HE are at 5 GHz."""
FROM_HT_ON = "in ns-3 every PS-Poll is sent twice from HT on, and more of them fetch agreements on block ACKs"
LOSS_NOT_COPIED = {
    "11n *": FROM_HT_ON,
    "11ax *": FROM_HT_ON,
    "* all *": "ns-3 stays awake from a missed beacon to the next: 802.11-2020, 11.2.3.8 does not ask for it",
}
"""Cells whose time awake is not to be copied, by patterns of layer, stations and loss, and why."""
COUNT_FROM_NS, UNTIL_NS = 1_024_000_000, 8_000_000_000  # of a cell
BEACON_BYTES = {"11a": 86, "11b": 85, "11g": 98}
KIND = ["phy", "data_mbps", "stations", "frames_per_s", "ip_bytes"]
ARRIVAL_KIND = ["phy", "stations", "frames_per_s", "ip_bytes"]
RUNS = 10  # of the model, each with backoffs of its own, for one cell of ns-3
QUANTILE = 3.29  # half width of an interval, in standard deviations
SHOWN = 5  # differences of a scenario that are printed


# -- scenarios without backoff
def seen(start, end, sender, kind, receiver, size, pm, more, retry):
    """Return what both programs say of a frame: PM of what a client sends but ACKs, sizes of all but group frames."""
    pm = bool(pm) and sender.startswith("client") and kind != "ack"
    return start, end, sender, kind, receiver, 0 if kind == "group" else size, pm, bool(more), bool(retry)


def run_scenario(row, arrivals):
    """Run the model on a scenario; its instants are PIFS before those of ns-3."""
    phy = Phy(kind=row.phy, rate_mbps=float(row.data_mbps), cw_min=0, cw_max=0)
    switches = isinstance(row.pm, str) and row.pm != ""
    air = AirConfig(phy=phy, beacons=BeaconConfig(size_bytes=int(row.beacon_bytes), dtim_period=int(row.dtim_period)),
        retrieval="null" if switches else "ps-poll")  # fmt: skip
    policy = "dynamic:50" if switches or row.psm_timeout_ms else f"listen:{row.listen_interval}"
    recorder = AirRecorder()
    cell = Air(*[policy] * int(row.stations), air=air, interval_ns=INTERVAL_NS, recorder=recorder)
    cell.run.beacon_air = int(row.beacon_air_ns)
    for number, one in enumerate(arrivals.itertuples()):
        at = one.at_ns - int(row.pifs_ns)
        if one.direction == "g":
            exchange = Exchange()
            times = group(phy, one.ip_bytes + DATA_OVERHEAD_BYTES)
            for name, value in zip(RECORDS["Exchange"].fields, times, strict=True):
                setattr(exchange, name, value)
            cell.group(at, exchange)
        else:
            put = cell.down if one.direction == "d" else cell.up
            put(one.station, at, one.ip_bytes, number)
    cell.finish(int(row.until_ns) - int(row.pifs_ns))
    return cell, recorder


def differences(row, arrivals, frames):
    """Return what differs between the model and ns-3, in the order of time, and how many frames were compared."""
    arrivals = arrivals.sort_values("at_ns", kind="stable")
    cell, recorder = run_scenario(row, arrivals)
    pifs, begin, stop = int(row.pifs_ns), max(int(row.count_from_ns), INTERVAL_NS // 2), int(row.until_ns)
    columns = ["start_ns", "end_ns", "sender", "kind", "receiver", "mpdu_bytes", "pm", "more_data", "retry"]
    sizes, own = {"beacon": int(row.beacon_bytes), "poll": POLL_BYTES, "ack": ACK_BYTES, "null": NULL_BYTES}, set()
    for one in recorder.frames:
        data = one.kind == "data"
        size = recorder.transmissions[one.number].size_bytes + DATA_OVERHEAD_BYTES if data else sizes.get(one.kind, 0)
        bits = one.sleeps, one.more_data, one.retry
        own.add(seen(one.start_ns + pifs, one.end_ns + pifs, one.sender, one.kind, one.receiver, size, *bits))
    theirs = {seen(*one) for one in frames[columns].itertuples(index=False, name=None)}
    theirs, own = ({one for one in side if begin <= one[0] < stop} for side in (theirs, own))  # ns-3 has a beacon at 0
    found = [(one[0], f"ns-3 alone: {one}") for one in theirs - own]
    found += [(one[0], f"lpsm alone: {one}") for one in own - theirs]
    got = {number: at + pifs for at, number in cell.received()}
    for number, one in enumerate(arrivals.itertuples()):
        if one.direction != "g" and one.received_ns != got.get(number, -1):
            instants = f"received at {one.received_ns} in ns-3, at {got.get(number)} in lpsm"
            found.append((one.at_ns, f"packet {number}: {instants}"))
    return [f"{at} ns: {text}" for at, text in sorted(found)], len(theirs)


def scenarios(folder):
    """Compare every scenario; yield its name, what differs, how many frames there are, and why it decides nothing."""
    rows = pd.read_csv(folder / "scenarios.csv")
    arrivals, frames = pd.read_csv(folder / "arrivals.csv"), pd.read_csv(folder / "frames.csv")
    for row in rows.itertuples():
        own = [table[table["scenario"] == row.scenario] for table in (arrivals, frames)]
        excuse = next((why for pattern, why in NOT_COPIED.items() if fnmatch(str(row.scenario), pattern)), "")
        found, n = differences(row, *own)
        yield str(row.scenario), found, n, excuse


# -- cells with random backoffs
def run_cell(air, arrivals, sizes, seed, until_ns=UNTIL_NS, **more):
    """Run a cell on the arrivals of ns-3, with backoffs of its own; delays are in ms, time awake in percent."""
    stations, pifs_ns = 1 + arrivals["station"].max(), air.phy.pifs_ns
    world = Air(*["psm:102.4"] * stations, air=air, interval_ns=INTERVAL_NS, seed=seed, **more)
    at, early = arrivals["at_ns"].to_numpy() - pifs_ns, 0
    for number, (when, station, size) in enumerate(zip(at, arrivals["station"], sizes, strict=True)):
        if when >= COUNT_FROM_NS and not early:
            early = awake_ns(world, COUNT_FROM_NS)
        world.down(int(station), int(when), int(size), number)
    awake = awake_ns(world, until_ns) - early
    beacons = until_ns // INTERVAL_NS - (COUNT_FROM_NS - 1) // INTERVAL_NS
    awake += stations * beacons * pifs_ns  # stations are awake from the target time of a beacon on
    got = {number: when for when, number in world.received()}
    delays = np.array([(got[number] - when) / 1e6 for number, when in enumerate(at) if number in got])
    return {"mean delay": float(delays.mean()), "95 % delay": float(np.quantile(delays, 0.95)),
        "polls": float(sum(one.attempts for one in world.contenders[1:])),
        "time awake": 100.0 * awake / (stations * (until_ns - COUNT_FROM_NS))}  # fmt: skip


def air_of(kind, rate_mbps, **beacons):
    """Return the air of a cell."""
    beacons = BeaconConfig(**beacons)
    return AirConfig(phy=Phy(kind=kind, rate_mbps=rate_mbps), retrieval="ps-poll", edca=True, beacons=beacons)


def losses(folder, runs=RUNS):
    """Compare every kind of cell of ns-3 in which frames are lost; the rows are those of `cells`, with an excuse."""
    arrivals = pd.read_csv(folder / "arrivals.csv.gz").sort_values("at_ns", kind="stable")
    found = []
    for key, kind in pd.read_csv(folder / "cells.csv").groupby(["phy", "stations", "lost_kind", "loss"], sort=False):
        phy, _, lost, loss = key
        rate_mbps, size_bytes, beacon_mbps = LOSS_PHYS[phy]
        air = air_of(phy, rate_mbps, size_bytes=size_bytes, beacon_mbps=beacon_mbps)
        air = replace(air, beacon_loss=lost == "all")
        own = [arrivals[arrivals["name"] == name] for name in kind["name"]]
        ours = [pd.DataFrame([run_cell(air, one, one["ip_bytes"], seed, 20_000_000_000, loss=loss)
            for seed in range(runs)]) for one in own]  # fmt: skip
        for name, column in (("mean delay", kind["delay_mean_ms"]), ("time awake", 100.0 * kind["awake_share"])):
            ratios = [one[name] / value for one, value in zip(ours, column, strict=True)]
            mean = sum(one.mean() for one in ratios) / len(ratios) - 1.0
            width = QUANTILE * np.sqrt(sum(one.var() for one in ratios) * (1.0 + 1.0 / runs)) / len(ratios)
            cell, is_far = " ".join(map(str, key)), abs(mean) - width > LOSS_LIMITS[name]
            whys = [why for pattern, why in LOSS_NOT_COPIED.items() if name == "time awake" and fnmatch(cell, pattern)]
            found.append((cell, name, mean, width, is_far and not whys, "not copied: " + whys[0] if whys else ""))
    return pd.DataFrame(found, columns=["cell", "quantity", "difference", "half_width", "far", "decides"])


def awake_ns(world, at):
    """Return how long the clients were not dozing up to an instant, all together."""
    world.finish(at)
    return sum(at - world.states(who).doze_ns for who in range(len(world.clients)))


def cells(folder, runs=RUNS):
    """Compare every kind of cell of ns-3 in which a backoff is kept in sleep, and all of them together.

    A row has `difference`, ours less theirs over theirs, a mean over seeds; `half_width` of its 99.9 % interval (there
    are a hundred of them), of all together 95 %; and whether it is `far`: beyond its limit by the whole interval, or of
    all together as it is.  Both programs draw backoffs: the interval is that of a mean of as many runs as there are of
    either, whose spread is that of ours on the same arrivals.
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
            air = air_of(row.phy, float(row.data_mbps), size_bytes=BEACON_BYTES[row.phy])
            ours = pd.DataFrame([run_cell(air, own, [row.ip_bytes] * len(own), seed) for seed in range(runs)])
            printed = [row.mean_delay_ms, row.p95_delay_ms, row.polls, row.awake_percent]
            ratios.append(ours.mean() / printed - 1.0)
            variances.append((ours / printed).var() * (1.0 + 1.0 / runs))
        width, mean = QUANTILE * np.sqrt(pd.DataFrame(variances).sum()) / len(kind), pd.DataFrame(ratios).mean()
        label = " ".join(f"{name} {value}" for name, value in named.items())
        found += [(label, name, mean[name], width[name], abs(mean[name]) - width[name] > LIMITS[name])
            for name in LIMITS]  # fmt: skip
    table = pd.DataFrame(found, columns=["cell", "quantity", "difference", "half_width", "far"])
    for name, own in table[table["half_width"] > 0.0].groupby("quantity", sort=False):
        weights = own["half_width"] ** -2.0
        mean, width = (own["difference"] * weights).sum() / weights.sum(), 1.96 / QUANTILE * weights.sum() ** -0.5
        table.loc[len(table)] = ("all cells together", name, mean, width, abs(mean) > LIMITS[name])
    return table


def main(folder):
    """Compare everything in a folder, print what differs, and return the exit status."""
    unmet = 0
    if (folder / "scenarios.csv").exists():
        for name, found, n, excuse in scenarios(folder):
            unmet += bool(found and not excuse)
            why = f" (not copied: {excuse})" if found and excuse else ""
            print(f"{name}: {n} frames, {len(found) or 'no'} differences{why}", *found[:SHOWN], sep="\n    ")
    if (folder / "cells.csv").exists():
        table = (losses if "lost_kind" in pd.read_csv(folder / "cells.csv", nrows=1) else cells)(folder)
        unmet += int(table["far"].sum())
        print(table.to_string(index=False))
    print(f"{unmet} not met" if unmet else "all is met")
    return int(unmet > 0)


if __name__ == "__main__":
    place = Path(*sys.argv[1:2])
    if not any((place / name).is_file() for name in ("scenarios.csv", "cells.csv")):
        sys.exit(f"DIRECTORY must hold scenarios.csv or cells.csv, {place} does not")
    sys.exit(main(place))
