"""A small agent that saves power: it is trained for about a minute, then held against policies on other pages.

``python docs/agent.py`` prints the table of docs/gymnasium.md; ``python docs/agent.py --quick`` only tries it.
The agent has eight situations and one action for each, chosen by the cross-entropy method: draw tables of actions,
keep the best quarter, draw from what they have in common.
"""

import sys

import gymnasium
import numpy as np
from scipy.stats import t as student

import netsim
from netsim.environment import unscaled

PRICE_W = 0.5
POLICIES = (
    "none", "dynamic:100", "psm", "lpsm", "lpsm:log", "bsd:1", "hold:50", "lpsm2:1.05", "lpsm2:1.2", "lpsm3:1.05",
    "lpsm3:1.2",
)  # fmt: skip
WORLD = netsim.SimulationConfig(server_delay=0.2)


def situation(seen):
    """Whether a request is outstanding, and for how long nothing was sent or received: one of 8."""
    values = unscaled(seen)
    silent = min(values[2], values[3])
    return 4 * int(values[6] > 0.5) + int(np.searchsorted((0.03, 0.12, 0.5), silent))


def episode(env, table, seed):
    """Return the joules and the seconds of waiting of one episode, and the pages that it browsed."""
    seen, _ = env.reset(seed=seed)
    over = False
    while not over:
        seen, _, over, _, info = env.step(table[situation(seen)])
    return info["energy_j"] + PRICE_W * info["latency_s"] * info["pages"], env.unwrapped.pages


def trained(env, rng, *, generations, tables, episodes):
    """Return the best action of each situation, shape (8, 2), of those that listen to beacons."""
    chance = np.full((8, 2, 8), 1 / 8)  # situation, part of the action, choice
    for _ in range(generations):
        drawn = np.array([[[rng.choice(8, p=part) for part in row] for row in chance] for _ in range(tables)])
        seeds = rng.integers(1000, size=episodes)
        costs = [sum(episode(env, table, int(seed))[0] for seed in seeds) for table in drawn]
        best = drawn[np.argsort(costs)[: tables // 4]]
        chance = 0.5 * chance + 0.5 * (best[..., None] == np.arange(8)).mean(axis=0)
    return chance.argmax(axis=2)


def cost_of(policy, pages):
    """Return the same cost of a policy of the package on the same pages."""
    run = netsim.simulate(pages, policy, config=WORLD)
    return run.energy.total_j + PRICE_W * float(run.pages.latency_s.sum())


def main(quick):
    """Train, and print cost a page beside that of the policies, with paired 95 % intervals over episodes."""
    env = gymnasium.make(
        "netsim.environment:netsim/PowerSave-v1", price_w=PRICE_W, config=WORLD, disable_env_checker=True
    )
    size = {"generations": 2, "tables": 4, "episodes": 1} if quick else {"generations": 16, "tables": 32, "episodes": 2}
    agent = trained(env, np.random.default_rng(0), **size)
    seeds = range(10_000, 10_002 if quick else 10_020)  # none of which it was trained on
    own = [episode(env, agent, seed) for seed in seeds]
    costs = np.array([cost for cost, _ in own]) / 20
    print(f"{'the agent':12} {costs.mean():6.2f} J a page")
    for policy in POLICIES:
        of_policy = np.array([cost_of(policy, pages) for _, pages in own]) / 20
        more = of_policy - costs
        half = student.ppf(0.975, len(more) - 1) * more.std(ddof=1) / len(more) ** 0.5
        print(f"{policy:12} {of_policy.mean():6.2f} J a page, {more.mean():+.3f} ± {half:.3f} more than the agent")


if __name__ == "__main__":
    main("--quick" in sys.argv)
