"""LPSM on traffic that changes, which the thesis wished for: energy and slowdown beside BSD, and its regret.

What it models: `ours/shifting-traffic` browses the Web model in blocks of 25 pages, in turn hasty and small
(think times and replies a fifth) and slow and large (three times), beside pages all scaled by their mean, 1.6; once
with the same server throughout, and once with servers that shift as well (0.1 and 1.5 s, beside 0.8 s).
The thesis (section 2.5.4) expects LPSM to do better against BSD there.  Of LPSM's polls the losses of all polling times
follow, and so its regret against the best one, and against the best k in turn; k = 8 are the blocks of the traffic.
What it leaves out: LPSM2 on traffic that shifts (`papers.ours.lpsm2`).
"""

from __future__ import annotations

from math import log

import numpy as np
import pandas as pd

import netsim
import traces
from experiments.papers.claims import Noted, shown, where, wide
from experiments.papers.kit import Experiment, Sizes, over
from experiments.papers.predicates import below, each
from experiments.papers.thesis.browsing import settings
from experiments.presets import THESIS
from experiments.study.compare import estimate, linearised
from lpsm import LearnAlpha, hindsight
from lpsm.bounds.experts import fixed_share_partition_loss
from lpsm.randomness import WORKLOAD, generator
from netsim.policies.lpsm import Lpsm
from netsim.policies.polling import BEACON_MS

POLICIES = ("none", "psm:100", "bsd:1", "bsd:0.5", "lpsm", "lpsm:log")
RIVALS = {"lpsm": "bsd:0.5", "lpsm:log": "bsd:1"}
BLOCK = 25  # pages
FACTORS = {"stationary": [1.6], "shifting": [0.2, 3.0]}
SERVERS = ("", ", servers too")
SEGMENTS = (1, 2, 4, 8, 16, 32, 64)
SHIFTING = Experiment("ours/shifting-traffic", "LPSM against BSD on traffic that shifts, and its regret", "2 min")


@SHIFTING.runs(
    over(
        {"world factors servers": [(kind + more, own, bool(more)) for more in SERVERS for kind, own in FACTORS.items()],
         "seed": Sizes(2, 10), "policy": POLICIES},
        "{world} seed {seed} {policy}", pages=Sizes(30, 200), server_delay_s=THESIS["server_delay"],
    )
)  # fmt: skip
def browse(world, policy, seed, pages, server_delay_s, factors, servers=False):
    """Run one policy in one world, whose blocks of pages (and servers) are scaled by the factors in turn."""
    scales = [factors[number // BLOCK % len(factors)] for number in range(pages)]
    drawn = traces.generate(pages, generator(seed, WORKLOAD))
    visited = [_scaled(page, factor) for page, factor in zip(drawn, scales, strict=True)]
    delays = [netsim.ServerDelay(mean_s=server_delay_s * factor) for factor in scales] if servers else None
    result = netsim.simulate(visited, policy, config=settings(server_delay_s), seed=seed, server_delays=delays)
    common = {"world": world, "replication": f"seed-{seed}", "policy": result.policy}
    latencies = result.pages["latency_s"]
    tables = {
        "runs": [{**common, "pages": len(latencies), "total_j": float(result.energy.total_j)}],
        "latencies": [{**common, "number": i, "latency_s": float(value)} for i, value in enumerate(latencies)],
    }
    if isinstance(result.final_policy, Lpsm):
        tables["regrets"] = [{**common, **row} for row in regrets_of(result)]
    return tables


def _scaled(page, factor):
    objects = tuple((request, max(1, round(reply * factor))) for request, reply in page.objects)
    reply_bytes = max(1, round(page.reply_bytes * factor))
    return page._replace(reply_bytes=reply_bytes, objects=objects, think_s=page.think_s * factor)


def regrets_of(result):
    """Return what LPSM's polls lost, and what the best polling times in turn would have, nats.

    Losses are taken at LPSM's own polls (thesis, equation 2.35): what was buffered there would not have been
    the same at other polls.  `mixture` is loss (2.8); of k segments `best` is the least loss, and `bound` the most that
    the mixture may then lose.
    """
    policy = result.final_policy
    assert isinstance(policy, Lpsm)
    config, alphas = policy.learner.config, policy.learner.alphas
    slept_ms = np.ceil(result.polls["slept_ms"].to_numpy() / BEACON_MS - 1e-9) * BEACON_MS  # nominal: whole beacons
    buffered = result.polls["buffered_bytes"].to_numpy(dtype=float)
    times = np.array(config.times_ms)
    losses = 0.5 * config.price() * np.outer(buffered / slept_ms, times**2) + np.array(config.energy_costs())
    mixture, parts = in_turn(losses, alphas, SEGMENTS)
    return [{"k": float(k), "mixture": mixture, "best": best, "bound": bound} for k, (best, bound) in parts.items()]


def in_turn(losses, alphas, segments, shared=0.0):
    """Return the loss of Learn-alpha, and for k segments that of the best experts in turn and what it bounds.

    Parameters
    ----------
    losses : array, shape (rounds, experts)
    alphas : iterable of float
        Switching rates, which begin with equal weights.
    segments : sequence of int
        Numbers of segments; more than there are rounds count as one a round.
    shared : float
        What every expert loses beyond `losses`, over all rounds.
    """
    t, n = losses.shape
    rates = [float(alpha) for alpha in alphas]
    mixture = LearnAlpha(n_experts=n, alphas=rates).run(losses, weights=False).loss.sum() + shared
    curve = hindsight.partition_curve(losses, min(max(segments), t))
    parts = {}
    for k in segments:
        best = float(curve[min(k, t) - 1] + shared)
        bound = min(fixed_share_partition_loss(best, min(k, t), t, n, alpha) for alpha in rates) + log(len(rates))
        parts[k] = best, bound
    return float(mixture), parts


def _joules(record, world):
    """Return the energy a page: a row a replication, a column a policy."""
    return wide(record, "runs", "total_j", world=world) / wide(record, "runs", "pages", world=world)


def _slowdowns(record, world):
    table = wide(record, "latencies", "latency_s", index=["replication", "number"], world=world)
    return table.div(table["none"], axis=0).groupby(level="replication").mean().sort_index()


@SHIFTING.claim("LPSM uses less energy than static PSM on shifting traffic", below, unit=" %")
def _over_psm(record):
    joules = _joules(record, "shifting")
    return {one: 100 * (linearised(joules[one], joules["psm:100"]) - 1) for one in RIVALS}


@SHIFTING.claim(
    "energy and slowdown over those of BSD are smaller on shifting traffic", below,
    "we would expect LPSM to perform better than BSD",
    "ratio on shifting traffic less that on stationary, paired over seeds",
)  # fmt: skip
def _shifting_less_stationary(record):
    found = {}
    for more in SERVERS:
        for what, measured in (("energy", _joules), ("slowdown", _slowdowns)):
            tables = [measured(record, kind + more) for kind in FACTORS]
            for policy, rival in RIVALS.items():
                stationary, shifting = (table[policy] / table[rival] for table in tables)
                words = f"({shown(estimate(stationary))} stationary, {shown(estimate(shifting))} shifting)"
                found[f"{what} of {policy} over {rival}{more}:"] = Noted(shifting - stationary, words)
    return found


def _regrets(regrets, k):
    """Yield the rows of LPSM's two forms on traffic that shifts, without and with its servers, for k segments."""
    for more in SERVERS:
        for policy in RIVALS:
            yield f"{policy}{more}:", where(regrets, world=f"shifting{more}", policy=policy, k=k)


SHIFTING.claim("the mixture loses less than the best fixed polling time", below, unit=" nats")(
    lambda regrets: {name: own["mixture"] - own["best"] for name, own in _regrets(regrets, 1)}
)


@SHIFTING.claim("and never more than its bound", each, high=1.0, reason="over it, for the best k polling times in turn")
def _over_bound(regrets):
    return {f"{name} k = {k}:": own["mixture"] / own["bound"] for k in SEGMENTS for name, own in _regrets(regrets, k)}


@SHIFTING.picture("shifting-traffic", x="energy per page [J]", y="mean slowdown of a page")
def _both_axes(record):
    rows = []
    for world in (*FACTORS, f"shifting{SERVERS[1]}"):
        joules, slow = _joules(record, world).mean(), _slowdowns(record, world).mean()
        rows += [{"group": f"{one} ({world})", "x": joules[one], "y": slow[one]} for one in POLICIES[1:]]
    return pd.DataFrame(rows)
