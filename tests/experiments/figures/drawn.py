"""Every picture of the program, of few made-up numbers."""

from functools import partial

import numpy as np
import pandas as pd

import netsim
import traces
from experiments.figures import label, population, replay
from experiments.figures.comparison import energy, energy_front, slowdown, slowdown_by_page
from experiments.figures.front import tradeoff
from experiments.figures.papers import panels
from experiments.figures.timeline import evolution, timelines
from experiments.timeline import record, timeline, window_of_page

MANY = ["none", "psm:100", "psm:300", "listen:3", "dynamic:100", "uapsd:100", "twt:500:20", "bsd-phase:1", "hold:50",
        "lpsm", "lpsm:log", "lpsm2:1.05", "lpsm2:1.1", "lpsm2-link:1.05", "lpsm3:1.05:400", "mine.py:Patient",
        "mine.py:Eager", *(f"bsd:{p}" for p in (2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01))]  # fmt: skip


def summary():
    rows = [("none", 40.0, 1.0), ("psm:100", 3.3, 2.2), ("lpsm", 2.9, 3.4), ("limit", 2.6, np.nan)]
    table = pd.DataFrame(rows, columns=["policy", "total_j_per_page", "slowdown_mean"])
    total, slow = table["total_j_per_page"], table["slowdown_mean"]
    return table.assign(
        replications=3, sleep_j_per_page=0.7 * total, awake_j_per_page=0.2 * total, listen_j_per_page=0.1 * total,
        wakeup_j_per_page=0.0, energy_minus_psm_j_per_page_half_width=0.2,
        energy_vs_psm_percent=100 * (total / 3.3 - 1),
        slowdown_mean_half_width=0.1, slowdown_median=0.9 * slow, slowdown_p95=2 * slow,
    )  # fmt: skip


def by_page():
    rng = np.random.default_rng(0)
    named = {"replication": np.repeat(["a", "b"], 30), "policy": np.tile(["none", "psm:100", "lpsm"], 20)}
    latencies = {"base_latency_s": rng.exponential(1, 60) + 0.1, "slowdown": 1 + rng.exponential(1, 60)}
    return pd.DataFrame(named | latencies)


def sleeps():
    polls = pd.DataFrame({"policy": "lpsm", "time_s": np.arange(50.0), "next_sleep_ms": 500})
    loads = pd.DataFrame({"policy": ["lpsm"], "start_s": [3.0], "end_s": [4.0]})
    return evolution(polls.assign(buffered_bytes=[0, 1500] * 25), loads, window_s=60.0)


def fronts():
    frame = pd.DataFrame({"group": ["BSD", "BSD", "LPSM2", "LPSM2"], "x": [1, 1.2, 1.1, 1.3], "y": [2, 1.5, 1.4, 1]})
    return panels([("instant", frame), ("slow", frame)], x="energy over the limit", y="mean slowdown")


def replayed(draw):
    rng = np.random.default_rng(0)
    polls = pd.DataFrame({"time_s": np.arange(1.0, 41.0), "mixture_loss": 0.2, "polling_loss": 0.1})
    for name in ("100", "500", "1000"):
        polls[f"loss_{name}"] = rng.exponential(0.2, 40) + 0.01
        polls[f"weight_{name}"] = rng.dirichlet(np.ones(3), 40)[:, 0]
    if draw in ("losses", "weights"):
        return getattr(replay, draw)(polls)
    if draw == "competition":
        sums = polls[["mixture_loss", "polling_loss"]].cumsum().assign(time_s=polls["time_s"], best_expert_loss=1.0)
        partitions = pd.DataFrame({"k": [1, 2, 3], "loss": [9.0, 7.0, 6.0]})
        return replay.competition(sums.assign(best_per_poll_loss=0.5), partitions)
    quantiles = pd.DataFrame({"time_s": [1.0, 2.0], "mean": [0.1, 0.01]})
    for share in ("0.05", "0.5", "0.95"):
        quantiles[f"quantile_{share}"] = [0.1 * float(share), 0.01 * float(share)]
    return replay.alphas(quantiles, pd.DataFrame({"alpha": [0.01, 0.1, 1.0], "weight": [0.7, 0.2, 0.1]}))


def users(draw):
    policies = ["none", "psm:100", "lpsm:log"]
    rows = pd.DataFrame({"policy": np.repeat(policies, 9), "slowdown_mean": np.linspace(1, 4, 27)})
    table = rows.assign(energy_vs_none_percent=np.linspace(-90, 0, 27), energy_vs_psm_percent=np.linspace(-40, 20, 27))
    return getattr(population, draw)(table, policies)


def by_class(names=("earn", "acq"), title="ssmd on news"):
    return label.by_class(pd.DataFrame({"class": names, "f_measure": 0.9, "label_rate": 0.2}), title)


def over_time():
    columns = ("accuracy", "f_measure", "label_rate")
    windows = pd.DataFrame({name: [0.5, 0.6, 0.7] for column in columns for name in (column, f"{column}_so_far")})
    return label.over_time(windows.assign(t=[100, 200, 300]), 100, "ssmd on news")


def tuned():
    names = [name for name in MANY[:18] if not name.startswith("mine")]
    energies = np.geomspace(0.05, 30.0, len(names))
    rows = pd.DataFrame({"policy": names, "energy_j_per_page": energies, "slowdown_mean": 1 + 0.1 / energies})
    levels = pd.DataFrame({"policy": ["limit", "page-awake"], "energy_j_per_page": [0.03, 0.9]})
    return tradeoff(pd.concat([rows.assign(slowdown_p95=1 + 0.3 / energies), levels]), "lpsm2:1.05", 1.1)


def frame_by_frame():
    config = netsim.SimulationConfig(radio=netsim.Radio.profile("esp32-c6"))
    run = record(traces.Workload.of([traces.Page("a", 300, 9000, ((300, 4000),), 2.0)]), "psm", config)
    return timelines([timeline(run, *window_of_page(run, 0))])


DRAWING = {
    "energy": lambda: energy(summary()),
    "front": lambda: energy_front(summary()),
    "slowdown": lambda: slowdown(summary()),
    "by-page": lambda: slowdown_by_page(by_page()),
    "sleeps": sleeps,
    "papers": fronts,
    **{f"replay-{draw}": partial(replayed, draw) for draw in ("losses", "weights", "competition", "alphas")},
    **{f"population-{draw}": partial(users, draw) for draw in ("energy", "slowdown", "by_user")},
    "label-over-time": over_time,
    "label-by-class": by_class,
    "tune": tuned,
    "timeline": frame_by_frame,
}
