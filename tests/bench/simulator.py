"""Speed of the simulator: the packet model and its compiled twin, on the same pages in the same run.

Beside them the bare cost of a SimPy event, which is what the packet model is made of.  ns-2.35, in C++, took 5,000
pages of this kind at 2,650 pages/s without power saving and 531 with static PSM on a two-core machine.
``python -m tests.bench.simulator`` prints the table.
"""

import time

import simpy

import netsim
import traces
from netsim import streams

POLICIES = ("none", "psm:100", "bsd:1", "lpsm", "lpsm:log")
TARGETS = {"none": 4000, "psm:100": 3000, "lpsm": 400, "lpsm:log": 1000}


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


def rows():
    """One row a policy."""
    small = traces.generate(250, streams.generator(0, streams.WORKLOAD))
    large = traces.generate(5000, streams.generator(0, streams.WORKLOAD))
    found = []
    for policy in POLICIES:
        learned = policy.startswith("lpsm")
        netsim.simulate(small[:5], policy)  # compile
        many = small * 4 if learned else large
        packet = len(small) / least(lambda policy=policy: netsim.simulate(small, policy, engine="packet"), 5)
        express = len(many) / least(
            lambda policy=policy, many=many: netsim.simulate(many, policy, engine="express"), 2 if learned else 5
        )
        result = netsim.simulate(small, policy)
        found.append(
            {
                "policy": policy,
                "polls_a_page": len(result.polls) / len(small),
                "packet_pages_per_s": packet,
                "target": TARGETS.get(policy),
                "express_pages_per_s": express,
                "ratio": express / packet,
            }
        )
    return found


def main():
    """Print the table in Markdown."""
    print(f"one SimPy event: {event_us():.2f} us\n")
    print("| policy | polls a page | packet model, pages/s | target | compiled twin, pages/s | ratio |")
    print("|---|---|---|---|---|---|")
    for row in rows():
        target = "" if row["target"] is None else f"{row['target']:,}"
        print(
            f"| {row['policy']} | {row['polls_a_page']:.0f} | {row['packet_pages_per_s']:,.0f} | {target} "
            f"| {row['express_pages_per_s']:,.0f} | {row['ratio']:.0f} |"
        )


if __name__ == "__main__":
    main()
