"""Speed of the simulator: the model interpreted and compiled, on the same pages in the same run.

Two kinds of pages: those of the Web model (48 packets on average), and one page of 81 packets over and over, with the
think times of the Web model.  Compiled it is timed in this process and warm, from the call of `netsim.simulate` to its
record, with pages as columns (`traces.Workload`) and as a list of `Page`.  Beside them the bare cost of a SimPy event,
which is what interpreting is made of; what a learned policy's learner alone takes for the same polls; and whole
processes from a file to a CSV file.  ns-2.35, in C++, took 5,000 pages at 2,650 pages/s without power saving and 531
with static PSM on a two-core machine.  ``python -m bench.simulator`` prints the tables.
"""

import os
import tempfile
import time
from pathlib import Path

import simpy

import netsim
import traces
from bench.compare import PROGRAM, seconds
from lpsm import randomness
from lpsm.native import compiled
from netsim.policies.polling import PollingConfig, PollingLearner, polling_round
from traces.records import Page

POLLING = ("lpsm", "lpsm:log")
POLICIES = ("none", "psm:100", "bsd:1", "lpsm2", "lpsm3", *POLLING)
PACKET_TARGETS = {"none": 4000, "psm:100": 3000, "lpsm3": 1000, "lpsm": 400, "lpsm:log": 1000}
EXPRESS_TARGETS = {"none": 660_000, "psm:100": 400_000, "lpsm3": 15_000, "lpsm": 2000, "lpsm:log": 7000}
NS2 = {"none": 2650, "psm:100": 531}
N_PAGES, N_SMALL = 5000, 250
PACKETS = 81  # of a page of 12,000 bytes and three objects of 12,000 bytes, handshakes and acknowledgements included


def least(function, times):
    """Least time of `function` over so many runs, seconds."""
    found = []
    for _ in range(times):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


def event_us(n=30_000):
    """One SimPy event: made, scheduled, its one callback called."""

    def run():
        env = simpy.Environment(0)
        for i in range(n):
            simpy.Timeout(env, i).callbacks.append(lambda _: None)
        env.run()

    return least(run, 5) / n * 1e6


@compiled
def _learn(slept_ms, buffered_bytes, weights, columns, slow, head, work, experts):
    for i in range(slept_ms.size):
        polling_round(slept_ms[i], buffered_bytes[i], weights, columns, slow, head, work, experts)


def learner_s(policy, polls):
    """Time that the learner alone takes for the polls of a run."""
    slept, found = polls["slept_ms"].to_numpy(), polls["buffered_bytes"].to_numpy().astype(float)
    arrays = PollingLearner(PollingConfig.thesis("1/log T" if policy == "lpsm:log" else "1/T")).arrays()
    _learn(slept[:2], found[:2], *arrays)
    return least(lambda: _learn(slept, found, *arrays), 12)


def workloads(n):
    """Both kinds of pages by name."""
    web = list(traces.generate(n, randomness.generator(0, randomness.WORKLOAD), "1996"))
    fixed = [Page(page.page, 300, 12_000, ((300, 12_000),) * 3, page.think_s) for page in web]
    return {"Web model": web, f"{PACKETS} packets": fixed}


def rows():
    """One row a kind of page and policy."""
    found = []
    small, large = workloads(N_SMALL), workloads(N_PAGES)
    for policy in POLICIES:
        learned = policy in POLLING
        for kind, few in small.items():
            netsim.simulate(few[:5], policy, engine="express")  # compile
            pages = few if learned else large[kind]
            columns = traces.Workload.of(pages)
            times = 12 if learned else 25
            packet = N_SMALL / least(lambda few=few, policy=policy: netsim.simulate(few, policy, engine="packet"), 3)
            express_s, listed_s = (
                least(lambda given=given, policy=policy: netsim.simulate(given, policy, engine="express"), times)
                for given in (columns, pages)
            )
            result = netsim.simulate(columns, policy, engine="express")
            found.append(
                {
                    "pages": kind,
                    "policy": policy,
                    "polls_a_page": len(result.polls) / len(pages),
                    "packet_pages_per_s": packet,
                    "packet_target": PACKET_TARGETS.get(policy),
                    "express_pages_per_s": len(pages) / express_s,
                    "express_target": EXPRESS_TARGETS.get(policy),
                    "listed_pages_per_s": len(pages) / listed_s,
                    "ratio": len(pages) / express_s / packet,
                    "ratio_to_ns2": len(pages) / express_s / NS2[policy] if policy in NS2 else None,
                    "learner_share": learner_s(policy, result.polls) / express_s if learned else None,
                }
            )
    return found


def end_to_end():
    """Wall clock of `lpsm simulate` from a file of 5,000 pages to a CSV file, warm and without any compiled code."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        file, cache = Path(folder, "pages.jsonl"), str(Path(folder, "cache"))
        traces.write_workload(file, workloads(N_PAGES)["Web model"])
        for policy in ("none", "psm:100"):
            command = [*PROGRAM, "simulate", str(file), "--policy", policy, "--out", str(Path(folder, "out.csv"))]
            seconds([*command, "--engine", "express"])
            found.append((policy, "warm", min(seconds(command) for _ in range(5)), 1.0))
            found.append((policy, "cold", seconds(command, NUMBA_CACHE_DIR=cache), 4.0))
    return found


def _shown(value, form):
    return "" if value is None else format(value, form)


def main():
    """Print the tables in Markdown."""
    print(
        f"one SimPy event: {event_us():.2f} us; load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    print("\n| pages | policy | polls a page | interpreted, pages/s | target | compiled, pages/s | target "
          "| from a list | compiled / interpreted | compiled / ns-2 | learner's share |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for row in rows():
        print(
            f"| {row['pages']} | {row['policy']} | {row['polls_a_page']:.0f} "
            f"| {row['packet_pages_per_s']:,.0f} | {_shown(row['packet_target'], ',')} "
            f"| {row['express_pages_per_s']:,.0f} | {_shown(row['express_target'], ',')} "
            f"| {row['listed_pages_per_s']:,.0f} | {row['ratio']:,.0f} | {_shown(row['ratio_to_ns2'], ',.0f')} "
            f"| {_shown(row['learner_share'], '.0%')} |"
        )
    print(f"\n| lpsm simulate, {N_PAGES:,} pages, file to CSV | compiled code | seconds | target |")
    print("|---|---|---|---|")
    for policy, state, found_s, target_s in end_to_end():
        print(f"| {policy} | {state} | {found_s:.2f} | {target_s:g} |")
    print(f"\nload of the machine at the end: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
