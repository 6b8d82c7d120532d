"""Cells of many clients: what a policy costs and delays when everybody behind one access point follows it.

A task is a policy, a number of clients and a seed.  Every client has pages of its own from the traffic model, the
first so many clients the same in cells of every size, and all policies meet the same pages.  A client is compared
with itself without power saving in a cell of the same size, so that a slowdown is that of power saving and not of
the crowd.  Quantities are means over the clients of a cell first, then over seeds, with a 95 % Student interval.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import netsim
from experiments.quantities import BASELINE, CELL
from experiments.study.compare import estimate
from experiments.study.sweep import Generated, check_clients, named
from netsim.policies import AnyPolicy

__all__ = ["CellTask", "cell_rows", "cell_tasks", "simulate", "summary"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CellTask:
    """One run: a policy of all clients of a cell."""

    name: str
    policy: AnyPolicy
    clients: int
    pages: int
    seed: int
    config: netsim.SimulationConfig

    @property
    def key(self) -> str:
        """A name unique within the sweep."""
        return f"{self.clients} clients seed {self.seed} {self.name}"


def cell_tasks(
    policies: Sequence[AnyPolicy],
    clients: Sequence[int],
    pages: int,
    seeds: Iterable[int],
    config: netsim.SimulationConfig,
) -> dict[str, CellTask]:
    """List the runs of a sweep, keyed; cells without power saving are always among them.

    Raises
    ------
    ValueError
        If a policy or a number of clients is named twice or not at all, or a number is too small.
    """
    chosen = named(policies, config.beacon_interval_ns)
    if not clients or len(set(clients)) < len(clients):
        raise ValueError(f"clients must be different ones, at least one, got {','.join(map(str, clients)) or 'none'}")
    check_clients(clients)
    if pages < 1:
        raise ValueError(f"pages must be at least 1, got {pages}")
    listed = [
        CellTask(name=name, policy=policy, clients=count, pages=pages, seed=seed, config=config)
        for count in clients
        for seed in seeds
        for name, policy in chosen.items()
    ]
    return {task.key: task for task in listed}


def simulate(task: CellTask) -> list[dict[str, Any]]:
    """Run one cell; one row a client, plain JSON data."""
    drawn = Generated(n_pages=task.pages, seed=task.seed)
    members = [(drawn.pages(client), task.policy) for client in range(task.clients)]
    results = netsim.simulate_cell(members, config=task.config, seed=task.seed)
    return [
        {
            "policy": task.name, "clients": task.clients, "seed": task.seed, "client": client, "pages": task.pages,
            "elapsed_s": float(result.elapsed_s), "total_j": float(result.energy.total_j),
            "awake_s": float(result.awake_s), "latency_s": float(result.latency_s.mean()),
            "frames_lost": int(result.frames_lost), "group_frames_lost": int(result.group_frames_lost),
        }
        for client, result in enumerate(results)
    ]  # fmt: skip


def cell_rows(results: Mapping[str, list[dict[str, Any]]]) -> pd.DataFrame:
    """Gather results, in their order, into a frame with a row for each client of each run."""
    rows = pd.DataFrame([row for found in results.values() for row in found])
    base = rows[rows["policy"] == BASELINE].set_index(["clients", "seed", "client"])["latency_s"]
    places = pd.MultiIndex.from_frame(rows[["clients", "seed", "client"]])
    return rows.assign(
        mean_mw=1000 * rows["total_j"] / rows["elapsed_s"],
        energy_j_per_page=rows["total_j"] / rows["pages"],
        awake_percent=100 * rows["awake_s"] / rows["elapsed_s"],
        slowdown_mean=rows["latency_s"].to_numpy() / base.loc[places].to_numpy(),
        group_frames_lost_per_h=3600 * rows["group_frames_lost"] / rows["elapsed_s"],
    )


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row a policy and number of clients: each quantity `q` of `CELL` as `q` and `q_half_width` (95 %)."""
    found = []
    names = [quantity.name for quantity in CELL if quantity.interval]
    for (policy, clients), group in rows.groupby(["policy", "clients"], sort=False):
        by_seed = group.groupby("seed")[names].mean()
        row: dict[str, Any] = {"policy": policy, "clients": clients}
        for name in names:
            mean, half_width = estimate(np.asarray(by_seed[name]))
            row |= {name: mean, f"{name}_half_width": half_width}
        found.append(row)
    return pd.DataFrame(found)
