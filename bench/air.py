"""Speed of the shared air: pages a second beside the same pages on wires, a saturated cell, interpreted and compiled.

Pages are 250 of the Web model, interpreted, in turn in the same process, the least of several runs.  Cells of 20
clients are run interpreted and compiled, with pauses a tenth as long; both leave the same record.  Compiled cells of 1
to 200 clients show what grows with their number.  Saturated cells are run beside ns-3 where its bindings are
installed: ``LPSM_NS3`` names the Python that has them (``pip install ns3==3.44.post0`` in an environment of its own).
``python -m bench.air`` prints the tables, or those named: ``pages``, ``saturated``, ``compiled``, ``growth``.
"""

import json
import os
import resource
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np

import netsim
import traces
from bench.simulator import least
from lpsm import randomness
from lpsm.native.records import fields_of
from netsim.running import compiled as engine
from netsim.running.setup import World
from tests.netsim.air.cells import Air

POLICIES = ("none", "psm:100", "dynamic:100", "bsd:1", "lpsm2")
TARGETS = {"none": 2000, "psm:100": 1000}  # pages a second on an idle machine whose wires do 5,600 and 3,400
WIRES = {"none": 5600, "psm:100": 3400}
CELL = 20
NS3_BEACON_NS = {"11b": 832_000, "11g": 832_000, "11n": 1_408_000, "11ax": 300_000}  # of 80 and 152 bytes, at 1 Mb/s
NS3_RATE = {"11ax": "11ax:86"}  # MCS 7, as on the others the fastest
NS3_SEEDS = 4  # of the model, whose runs with A-MPDUs differ by 3 %


def pages_per_second(times=4):
    """One row a policy: pages a second on the air and on wires, and their ratio."""
    pages = traces.Workload.of(traces.generate(250, randomness.generator(0, randomness.WORKLOAD), "1996"))
    air = netsim.SimulationConfig(medium=netsim.AirConfig())
    rows = []
    for policy in POLICIES:
        netsim.simulate(pages[:2], policy, config=air)
        on_air, on_wires = (_speed(pages, policy, config, times) for config in (air, netsim.SimulationConfig()))
        rows.append((policy, on_air, on_wires, on_air / on_wires))
    return rows


def _speed(pages, policy, config, times):
    return len(pages) / least(lambda: netsim.simulate(pages, policy, config=config, engine="packet"), times)


def saturated(spec="11g:54", seconds=4.0, n=CELL):
    """Simulated seconds a second of a cell of saturated stations, and its frames a second."""
    cell = Air(air=netsim.AirConfig(phy=netsim.Phy.parse(spec), neighbours=n))
    for station in cell.contenders[1:]:
        station.template.exchange = cell.run.exchanges[1064]
    start = time.perf_counter()
    cell.until(round(seconds * 1e9))
    taken = time.perf_counter() - start
    return seconds / taken, _delivered(cell) / taken


def _delivered(cell):
    return sum(station.delivered for station in cell.contenders)


def _processor_s(run, times):
    """The least time on the processor: runs of milliseconds are cut short by others on a loaded machine."""
    found = []
    for _ in range(times):
        begin = time.process_time()
        run()
        found.append(time.process_time() - begin)
    return min(found)


def browsing(clients, pages, pause=1.0):
    """What so many clients browse: pages of the Web model, the pauses that much of what it draws."""
    return [
        traces.Workload.of(
            page._replace(think_s=pause * page.think_s)
            for page in traces.generate(pages, randomness.generator(0, randomness.WORKLOAD, client), "1996")
        )
        for client in range(clients)
    ]


def compiled(times=5):
    """One row a cell: processor seconds interpreted and compiled, and their ratio."""
    browsed, longer = browsing(CELL, 20, 0.1), browsing(CELL, 100, 0.1)
    rows = []
    for what, clients, policy, neighbours in (
        *((f"{CELL} clients, 20 pages each", browsed, policy, 0) for policy in ("none", "psm", "dynamic", "lpsm2")),
        *((f"{CELL} clients, 100 pages each", longer, policy, 0) for policy in ("none", "psm", "dynamic", "lpsm2")),
        ("20 saturated neighbours, 1 client", [[traces.Page("p", 300, 1000, (), 30.0)]], "psm", CELL),
    ):
        config = netsim.SimulationConfig(medium=netsim.AirConfig(neighbours=neighbours))
        members = [(pages, policy) for pages in clients]

        def run(engine, members=members, config=config):
            return netsim.simulate_cell(members, config=config, engine=engine)

        run("express")
        packet, express = (
            _processor_s(lambda run=run: run("packet"), 2),
            _processor_s(lambda run=run: run("express"), times),
        )
        rows.append((what, policy, packet, express, packet / express))
    return rows


def beside_ns3(spec="11g", seconds=20.0, n=CELL, max_ampdu_bytes=0):
    """Saturated stations with packets of 1500 bytes, beacons and no power saving: interpreted, compiled, and ns-3.

    Returns
    -------
    list of (what, throughput in Mb/s or None, simulated seconds a second of the processor), or a sentence that says
    why there is none.
    """
    python = os.environ.get("LPSM_NS3", sys.executable)
    command = [python, str(Path(__file__).with_name("ns3_peer.py")), *map(str, (spec, n, seconds, max_ampdu_bytes))]
    peer = subprocess.run(command, capture_output=True, text=True)
    if peer.returncode:
        last = (peer.stderr.strip().splitlines() or ["no output"])[-1]
        return f"ns-3 is left out: {python} could not run it ({last}); LPSM_NS3 names a Python that has it"
    found = json.loads(peer.stdout.strip().splitlines()[-1])
    air = netsim.AirConfig.shipped(NS3_RATE.get(spec, spec), max_ampdu_bytes=max_ampdu_bytes, neighbours=n)
    taken_s = carried = 0.0
    for seed in range(NS3_SEEDS):
        cell = Air(air=air, interval_ns=102_400_000, seed=seed)
        cell.run.beacon_air = NS3_BEACON_NS[spec]
        cell.until(500_000_000)
        before, begin = _delivered(cell), time.process_time()
        cell.until(500_000_000 + round(seconds * 1e9))
        taken_s += (time.process_time() - begin) / NS3_SEEDS
        carried += (_delivered(cell) - before) / NS3_SEEDS
    mbps = 8e-6 * 1472 * carried / seconds

    def run():
        idle = traces.Page("p", 300, 1000, (), 30.0)
        return netsim.simulate([idle], "none", config=netsim.SimulationConfig(medium=air), engine="express")

    lasts_s = run().elapsed_s
    return [
        ("ns-3", found["throughput_mbps"], seconds / found["processor_s"]),
        ("interpreted", mbps, seconds / taken_s),
        ("compiled, and one client", None, lasts_s / _processor_s(run, 3)),
    ]


def counted(browsed, policies, config, beacons=64):
    """Events of a compiled run whose servers take no time, its processor seconds, and its room in MB."""
    delays = [np.zeros(len(one.sizes), dtype=np.int64) for one in browsed]
    world = World([*zip(browsed, policies, strict=True)], delays, [[]] * len(browsed), config, 0, beacons)
    run = engine._Run(world, [one.compiled for one in policies])
    compiled_s = _processor_s(run.go, 1)
    events = int(run._places[id(world.run.machine)][fields_of("Machine")["scheduled"].at])
    return events, compiled_s, sum(room.nbytes for room in run._kept) / 1e6


def growth(policy="psm"):
    """One row a compiled cell: clients, pages each, events, microseconds an event, room and memory in MB."""
    rows = []
    netsim.simulate(
        browsing(1, 1)[0], policy, config=netsim.SimulationConfig(medium=netsim.AirConfig()), engine="express"
    )
    for clients, pages in ((1, 10), (20, 10), (100, 10), (200, 10), (200, 20), (200, 40)):
        config, browsed = netsim.SimulationConfig(medium=netsim.AirConfig()), browsing(clients, pages)
        policies = [netsim.policies.make(policy) for _ in browsed]
        events, compiled_s, room_mb = counted(browsed, policies, config, 64 * 8 ** (clients > 20))
        memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
        rows.append((clients, pages, events, 1e6 * compiled_s / events, room_mb, memory_mb))
    return rows


def main():
    """Print the tables in Markdown."""
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    tables = {
        "pages": _print_pages, "saturated": _print_saturated, "compiled": _print_compiled, "growth": _print_growth
    }  # fmt: skip
    for name in sys.argv[1:] or tables:
        tables[name]()


def _print_pages():
    print("\n| policy | on the air, pages/s | on wires, pages/s | air / wires | asked for |\n|---|---|---|---|---|")
    for policy, on_air, on_wires, ratio in pages_per_second():
        asked = f"{TARGETS[policy] / WIRES[policy]:.2f}" if policy in TARGETS else ""
        print(f"| {policy} | {on_air:,.0f} | {on_wires:,.0f} | {ratio:.2f} | {asked} |")


def _print_saturated():
    print("\n| saturated stations | layer | simulated s/s | frames/s |\n|---|---|---|---|")
    for spec in ("11b:11", "11g:54"):
        rate, frames = max(saturated(spec) for _ in range(3))
        print(f"| {CELL} | {spec} | {rate:.0f} | {frames:,.0f} |")
    layers = ("11b", 0), ("11g", 0), *((spec, most) for spec in ("11n", "11ax") for most in (0, 8_000, 65_535))
    for (spec, most), n in product(layers, (1, 5, CELL)):
        beside = beside_ns3(spec, n=n, max_ampdu_bytes=most)
        if isinstance(beside, str):
            print(f"\n{beside}.")
            break
        print(f"\n| {n} saturated stations, {spec}, A-MPDUs of {most} | Mb/s | simulated s/s | over ns-3 |")
        print("|---|---|---|---|")
        for what, mbps, speed in beside:
            carried = "" if mbps is None else f"{mbps:.2f}"
            print(f"| {what} | {carried} | {speed:.1f} | {speed / beside[0][2]:.0f} |")


def _print_compiled():
    print("\n| cell | policy | interpreted, s | compiled, s | ratio |\n|---|---|---|---|---|")
    for what, policy, packet, express, ratio in compiled():
        print(f"| {what} | `{policy}` | {packet:.3f} | {express:.4f} | {ratio:.0f} |")


def _print_growth():
    print("\n| clients | pages each | events | us an event | room, MB | most memory, MB |\n|---|---|---|---|---|---|")
    for clients, pages, events, each_us, room_mb, memory_mb in growth():
        print(f"| {clients} | {pages} | {events:,} | {each_us:.3f} | {room_mb:.1f} | {memory_mb:.0f} |")


if __name__ == "__main__":
    main()
