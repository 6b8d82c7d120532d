"""Speed of the shared air: pages a second beside the same pages on wires, a saturated cell, and the compiled air.

Pages are 250 of the Web model, on the packet model, in turn in the same process, the least of several runs.  Cells of
20 clients are run by the packet model and compiled, with pauses a tenth as long; both leave the same record.
``python -m tests.bench.air`` prints the tables.
"""

import os
import time

import numpy as np

import netsim
import traces
from lpsm import randomness
from netsim.air.access import Contender, Medium
from netsim.air.exchanges import Transmission
from netsim.clock import Clock
from tests.bench.simulator import least

POLICIES = ("none", "psm:100", "dynamic:100", "bsd:1", "lpsm2")
TARGETS = {"none": 2000, "psm:100": 1000}  # pages a second on an idle machine whose wires do 5,600 and 3,400
WIRES = {"none": 5600, "psm:100": 3400}
CELL = 20


def pages_per_second(times=4):
    """One row a policy: pages a second on the air and on wires, and their ratio."""
    pages = traces.Workload.of(traces.generate(250, randomness.generator(0, randomness.WORKLOAD)))
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
    clock = Clock()
    medium = Medium(clock, netsim.Phy.parse(spec))
    exchange = medium.data(1064)
    stations = [Contender(medium, np.random.default_rng([0, i])) for i in range(n)]
    for station in stations:
        endless = Transmission(exchange, lambda: None)
        endless.ended = lambda _, station=station, endless=endless: station.queue.append(endless)
        station.send(endless)
    start = time.perf_counter()
    clock.run(until=round(seconds * 1e9))
    taken = time.perf_counter() - start
    return seconds / taken, sum(station.delivered for station in stations) / taken


def _processor_s(run, times):
    """The least time on the processor: runs of milliseconds are cut short by others on a loaded machine."""
    found = []
    for _ in range(times):
        begin = time.process_time()
        run()
        found.append(time.process_time() - begin)
    return min(found)


def compiled(times=5):
    """One row a cell: processor seconds of the packet model, of the compiled air, and their ratio."""
    browsed = [
        [
            page._replace(think_s=0.1 * page.think_s)
            for page in traces.generate(20, randomness.generator(0, randomness.WORKLOAD, client))
        ]
        for client in range(CELL)
    ]
    rows = []
    for what, clients, policy, neighbours in (
        ("20 clients that browse", browsed, "none", 0),
        ("20 clients that browse", browsed, "psm", 0),
        ("20 clients that browse", browsed, "dynamic", 0),
        ("20 clients that browse", browsed, "lpsm2", 0),
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


def main():
    """Print the tables in Markdown."""
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print("| policy | on the air, pages/s | on wires, pages/s | air / wires | asked for |\n|---|---|---|---|---|")
    for policy, on_air, on_wires, ratio in pages_per_second():
        asked = f"{TARGETS[policy] / WIRES[policy]:.2f}" if policy in TARGETS else ""
        print(f"| {policy} | {on_air:,.0f} | {on_wires:,.0f} | {ratio:.2f} | {asked} |")
    print("\n| saturated stations | layer | simulated s/s | frames/s |\n|---|---|---|---|")
    for spec in ("11b:11", "11g:54"):
        rate, frames = max(saturated(spec) for _ in range(3))
        print(f"| {CELL} | {spec} | {rate:.0f} | {frames:,.0f} |")
    print("\n| cell | policy | packet model, s | compiled, s | ratio |\n|---|---|---|---|---|")
    for what, policy, packet, express, ratio in compiled():
        print(f"| {what} | `{policy}` | {packet:.3f} | {express:.4f} | {ratio:.0f} |")


if __name__ == "__main__":
    main()
