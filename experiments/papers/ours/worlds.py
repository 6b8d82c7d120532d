"""Policies compared over worlds: what is browsed, what is kept of a run, and energy at equal slowdown.

What it models: a task is one seed of one world, browsed under every policy; all of them meet the same pages, servers
and messages.  A world is a kind of traffic (`traces.traffic`) on the standard link, or one of `CONFIGS`: the Web model
with lognormal servers elsewhere.  A family of policies (BSD over its p) is a front: for each seed, the members that no
other one beats on both axes, joined by straight lines.  A policy is compared with the front at its own slowdown (or its
own added delay) on the same seed.  Left of the front's first point the first energy counts, right of its last the last
one: the former flatters the family, as it cannot be had there.
What it leaves out: which claims are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import netsim
from experiments.papers.claims import Noted, point, where, wide
from experiments.papers.predicates import above, at_most
from experiments.quantities import BASELINE, run_row
from experiments.study.compare import estimate, linearised
from lpsm.randomness import WORKLOAD, generator
from traces.traffic import Traffic, draw, stalls

BLOCK = 10  # pages
TARGETS = (1.02, 1.05, 1.08)  # slowdowns asked for
WEB = ("web-instant", "web-constant", "web-lognormal")
HINTED = " with deadlines"  # after a policy that is told when segments of a stream have to be there
SLOWDOWN, DELAY = "slowdown_mean", "added_s_mean"
LABELS = {
    SLOWDOWN: "mean slowdown of a page", DELAY: "mean added delay of a message [s]",
    "slowdown_all": "slowdown of all pages together", "limit_j": "energy over the limit",
    "page_awake_j": "energy over page-awake", "base_j": "energy over that without power saving",
}  # fmt: skip


def on_the_air(**how):
    """Return the shared air under the radio of an ESP32-C6; the arguments are those of `netsim.AirConfig`."""
    air, radio = netsim.AirConfig(**how), netsim.Radio.named("esp32-c6")
    return netsim.SimulationConfig(medium=air, radio=radio, beacon_interval_ns=102_400_000)


CONFIGS = {
    "esp32-c3": netsim.SimulationConfig(radio=netsim.RadioConfig.named("esp32-c3")),
    "1 % lost": netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=0.01)),
    "3 % lost": netsim.SimulationConfig(link=netsim.LinkConfig(loss_rate=0.03)),
    "air": on_the_air(neighbours=0, neighbour_mbps=1.0),
    "air, 5 neighbours": on_the_air(neighbours=5, neighbour_mbps=1.0),
    "round trip 300 ms": netsim.SimulationConfig(link=netsim.LinkConfig(wired_delay_ms=150.0)),
    "beacons 200 ms": netsim.SimulationConfig(beacon_interval_ns=200_000_000),
    "ten neighbours": on_the_air(neighbours=10, neighbour_mbps=0.5),
}


def family(form, values):
    """Return policies that differ in one number, which stands for {} in their form."""
    return tuple(form.format(f"{value:g}") for value in values)


def hurried(pages, factor):
    """Return pages with such a share of their pauses."""
    return [page._replace(think_s=factor * page.think_s) for page in pages]


class World(NamedTuple):
    """Traffic with its servers, ready to be browsed."""

    traffic: Traffic
    servers: list[netsim.ServerDelay]
    seed: int
    config: netsim.SimulationConfig = netsim.SimulationConfig()

    def browse(self, policy):
        """Browse it under a policy, or a name that ends in `HINTED`."""
        pages, name = self.traffic.pages, policy
        if isinstance(policy, str) and policy.endswith(HINTED):
            timed = zip(pages, self.traffic.deadlines_s.tolist(), strict=True)
            pages, name = [page._replace(deadline_s=at) for page, at in timed], policy.removesuffix(HINTED)
        messages, delays = self.traffic.messages, self.servers
        return netsim.simulate(pages, name, config=self.config, push=messages, server_delays=delays, seed=self.seed)

    def under(self, policies):
        """Browse it under every policy; the results by the policies' names, as they are given."""
        return {policy if isinstance(policy, str) else policy.spec: self.browse(policy) for policy in policies}

    def rows(self, results, traffic, *, base=None):
        """Return a row a run by its name; `base` is the run without power saving, made if it is nowhere."""
        base = base or results.get(BASELINE) or self.browse(BASELINE)
        common = {"traffic": traffic, "replication": f"seed-{self.seed}"}
        return [{**common, "policy": name, **measure(one, base, self)} for name, one in results.items()]


def world_of(traffic, seconds, seed, *, pause=1.0):
    """Draw a world of a kind and length in seconds, with such a share of its pauses."""
    drawn = draw("web-lognormal" if traffic in CONFIGS else traffic, seconds, generator(seed, WORKLOAD))
    servers = [netsim.ServerDelay.parse(server) for server in drawn.servers]
    config = CONFIGS.get(traffic, netsim.SimulationConfig())
    return World(drawn._replace(pages=hurried(drawn.pages, pause)), servers, seed, config)


def sweep(first, lasting, policies=None, **more):
    """Return the sweep of a task a seed, from a first one on, and a world, with the policies of the world if there are.

    A world has its seconds in the smoke size and in the full size, and its number of seeds in the latter.
    """

    def tasks(setup):
        found = {}
        for place in range(setup.pick(2, max(seeds for *_, seeds in lasting.values()))):
            for kind, (small, full, seeds) in lasting.items():
                task = {"traffic": kind, "seconds": setup.pick(small, full), "seed": first + setup.seed + place, **more}
                if place < seeds:
                    own = {} if policies is None else {"policies": list(policies(kind))}
                    found[f"{kind} seed {task['seed']}"] = task | own
        return found

    return tasks


def runs(traffic, seconds, seed, policies, pause=1.0):
    """Browse one world under every policy."""
    world = world_of(traffic, seconds, seed, pause=pause)
    return world.rows(world.under(policies), traffic)


def measure(result, base, world):
    """Return the figures of a run beside those of the run without power saving; NaN where nothing is measured."""
    radio, pages, totals = netsim.RadioConfig(), result.pages, run_row(result)
    slowdown = result.latency_s / base.latency_s
    added_s = (result.messages["delay_s"] - base.messages["delay_s"]).to_numpy()
    late_s = stalls(world.traffic.deadlines_s, world.traffic.viewings, pages["issue_s"] + pages["latency_s"])
    late_s = late_s[~np.isnan(late_s)]
    air_s, loading_s = max(base.uplink_air_s, base.downlink_air_s), float(base.latency_s.sum())
    statistics: Any = {"mean": np.mean, "p95": lambda x: np.quantile(x, 0.95)}

    def of(name, values):
        return float(statistics[name](values)) if len(values) else float("nan")

    return {
        "pages": len(slowdown),
        "messages": len(added_s),
        **{name: totals[name] for name in ("elapsed_s", "awake_j", "sleep_j", "listen_j", "total_j")},
        **{f"slowdown_{name}": of(name, slowdown) for name in statistics},
        "slowdown_all": float(result.latency_s.sum()) / loading_s if loading_s else float("nan"),
        **{f"added_s_{name}": of(name, added_s) for name in statistics},
        "stalls": int(np.count_nonzero(late_s)),
        "stall_s": float(late_s.sum()),
        "limit_j": radio.least_j(base.elapsed_s, air_s),
        # the time of loading says nothing of a run with messages
        "page_awake_j": float("nan") if len(added_s) else radio.least_j(base.elapsed_s, loading_s),
        "base_j": float(base.energy.total_j),
    }


def blocks(results, base, traffic, seed):
    """Return the slowdown by blocks of ten pages, of runs by their names."""
    return [
        {"traffic": traffic, "replication": f"seed-{seed}", "policy": name, "first_page": first,
         "slowdown": float((result.latency_s / base.latency_s)[first : first + BLOCK].mean())}
        for name, result in results.items()
        for first in range(0, len(base.latency_s) - BLOCK + 1, BLOCK)
    ]  # fmt: skip


def values(record, traffic, column, policies):
    """Return a column of policies over the replications of a kind of traffic: a frame, or a series of one policy."""
    table = wide(record, "runs", column, traffic=traffic)
    return table[policies if isinstance(policies, str) else list(policies)].astype(float)


def energies(record, traffic, policies):
    """Return the joules of whole runs."""
    return values(record, traffic, "total_j", policies)


def equal_energy(x, y, at):
    """Return the energy of a front at a slowdown; `x` and `y`, shape (n,), are slowdown and energy of its members.

    Examples
    --------
    >>> front = np.array([1.0, 1.2, 1.1, 1.3]), np.array([4.0, 2.0, 3.5, 2.5])  # the last is beaten by the second
    >>> equal_energy(*front, 1.05), equal_energy(*front, 1.4), equal_energy(*front, 0.9)
    (3.75, 2.0, 4.0)
    """
    order = np.lexsort((y, x))
    least = np.minimum.accumulate(y[order])
    kept = order[np.concatenate([[True], least[1:] < least[:-1]])]
    return float(np.interp(at, x[kept], y[kept]))


def at_equal(record, traffic, policy, family, column=SLOWDOWN):
    """Return the joules of a policy, those of a family at its slowdown (or delay), a number a replication, and that."""
    members = list(family)
    joules, x = (values(record, traffic, what, [policy, *members]) for what in ("total_j", column))
    fronts = zip(x[members].to_numpy(), joules[members].to_numpy(), x[policy], strict=True)
    return joules[policy], np.array([equal_energy(*front) for front in fronts]), x[policy].mean()


def saving(own, other):
    """Return by how many percent `own` is below `other`, a number a replication."""
    return 100 * (1 - linearised(own, other))


class Case(NamedTuple):
    """A policy beside a family on a kind of traffic, and by how many percent it has to be below it."""

    traffic: str
    policy: str
    name: str
    family: Sequence[str]
    percent: float = 0.0


def spared(cases, column=SLOWDOWN):
    """Measure by how many percent policies are below families at their own slowdown (or delay), beyond the asked."""
    cases = tuple(cases)

    def measure(record):
        found = {}
        for traffic, policy, name, family, percent in cases:
            own, other, at = at_equal(record, traffic, policy, family, column)
            words = f"beyond the {percent:g} % asked for, at {at:.3f}" if percent else f"below at {at:.3f}"
            found[f"{traffic}, {policy}, {name}:"] = Noted(saving(own, other) - percent, words)
        return found

    return measure


def over_asked(column, asked):
    """Measure a column of policies over what was asked of them; rows are traffic, policy and number."""

    def measure(record):
        found = {}
        for traffic, policy, limit in asked:
            own = values(record, traffic, column, policy)
            found[f"{traffic}, {policy}:"] = Noted(own / limit, f"of it ({own.mean():.3f})")
        return found

    return measure


def spared_by_parts(experiment, whole, asked, parts, traffics):
    """Claim that a policy, asked for several slowdowns, is below what is left without a part, at the latter's."""
    places = [(traffic, part) for traffic in traffics for part in parts]

    @experiment.claim(
        "the whole uses less energy than what is left without one part, at the latter's slowdown", above, unit=" %",
        reason=f"the whole, at {len(asked)} slowdowns asked for, interpolated seed by seed",
    )  # fmt: skip
    def below(record):
        found = {}
        for traffic, part in places:
            rest, other, at = at_equal(record, traffic, part, asked)
            slow = values(record, traffic, SLOWDOWN, whole).mean()
            found[f"{traffic}, {part}:"] = Noted(saving(other, rest), f"at {at:.3f} (whole: {slow:.3f})")
        return found


def unhurried(experiment, traffics, policy):
    """Claim that the first ten pages are slowed down little, beside the others."""

    @experiment.claim("the first ten pages are slowed down by no more than a tenth", at_most, "1.1", limit=1.1)
    def slowed_early(curves):
        found = {}
        for traffic in traffics:
            rows = where(curves, traffic=traffic, policy=policy)
            parts = (rows[rows["first_page"] == 0], rows[rows["first_page"] > 0])
            first, others = (part.groupby("replication")["slowdown"].mean() for part in parts)
            found[f"{traffic}:"] = Noted(first, f"(others {others.mean():.3f})")
        return found


def draw_curves(experiment, name, traffics):
    """Draw mean slowdown, block of pages by block, of every policy with curves: a panel a kind of traffic."""

    @experiment.picture(name, x="page", y="mean slowdown of ten pages")
    def panels(curves):
        for traffic in traffics:
            groups: Any = where(curves, traffic=traffic).groupby(["policy", "first_page"], sort=False)["slowdown"]
            yield traffic, pd.DataFrame([point(policy, first + BLOCK / 2, own) for (policy, first), own in groups])


def draw_fronts(experiment, name, families, *, most, over="limit_j", y=SLOWDOWN):
    """Draw means of families, energy as a multiple of a reference along x: a panel a kind of traffic.

    Parameters
    ----------
    families : mapping of str to sequence of (str, sequence of str)
        Kind of traffic to names and members.
    most : (float, float), or mapping of str to such pairs
        Largest y and largest x kept, for all kinds of traffic or by kind.
    over, y : str
        Column of the reference energy, of the same seed, and the one along y.
    """

    @experiment.picture(name, x=LABELS[over], y=LABELS[y])
    def panels(record):
        for traffic, own in families.items():
            rows = []
            highest, farthest = most[traffic] if isinstance(most, Mapping) else most
            for group, members in own:
                across, joules, reference = (values(record, traffic, what, members) for what in (y, "total_j", over))
                for member in members:
                    along, at = estimate(joules[member] / reference[member]), float(across[member].mean())
                    if at <= highest and along.mean <= farthest:
                        rows.append({"group": group, "x": along.mean, "y": at, "x_half_width": along.half_width})
            yield traffic, pd.DataFrame(rows, columns=["group", "x", "y", "x_half_width"])
