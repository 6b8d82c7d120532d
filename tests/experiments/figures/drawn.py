"""Every picture of the program, of few made-up numbers."""

from functools import cache, partial

import numpy as np
import pandas as pd

import netsim
from experiments.figures import label, population, replay
from experiments.figures.comparison import energy, energy_front, slowdown, slowdown_by_page
from experiments.figures.front import tradeoff
from experiments.figures.timeline import evolution, timelines
from experiments.study.replay import ReplayConfig, details
from experiments.timeline import record, timeline, window_of_page
from traces import Page, Request, Workload

MANY = ["none", "psm:100", "psm:300", "listen:3", "dynamic:100", "uapsd:100", "twt:500:20", "bsd-phase:1", "hold:50",
        "lpsm", "lpsm:log", "lpsm2:1.05", "lpsm2:1.1", "lpsm2-link:1.05", "lpsm3:1.05:400", "mine.py:Patient",
        "mine.py:Eager", *(f"bsd:{p}" for p in (2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01))]  # fmt: skip


def summary():
    rows = [("none", 40.0, 1.0), ("psm:100", 3.3, 2.2), ("lpsm", 2.9, 3.4), ("limit", 2.6, np.nan)]
    table = pd.DataFrame(rows, columns=["policy", "total_j_per_page", "slowdown_mean"])
    total, slow = table["total_j_per_page"], table["slowdown_mean"]
    return table.assign(replications=3, sleep_j_per_page=0.7 * total, awake_j_per_page=0.2 * total,
        listen_j_per_page=0.1 * total, wakeup_j_per_page=0.0, total_j_per_page_half_width=0.1 * total,
        energy_minus_psm_j_per_page_half_width=0.2, energy_vs_psm_percent=100 * (total / 3.3 - 1),
        energy_vs_psm_percent_half_width=[5.0, 0.0, 4.0, 3.0], slowdown_mean_half_width=0.1, slowdown_median=0.9 * slow,
        slowdown_p95=2 * slow)  # fmt: skip


def by_page():
    rng = np.random.default_rng(0)
    named = {"replication": np.repeat(["a", "b"], 30), "policy": np.tile(["none", "psm:100", "lpsm"], 20)}
    latencies = {"base_latency_s": rng.exponential(1, 60) + 0.1, "slowdown": 1 + rng.exponential(1, 60)}
    return pd.DataFrame(named | latencies)


def sleeps():
    polls = pd.DataFrame({"policy": "lpsm", "time_s": np.arange(50.0), "next_sleep_ms": 500})
    loads = pd.DataFrame({"policy": ["lpsm"], "start_s": [3.0], "end_s": [4.0]})
    return evolution(polls.assign(buffered_bytes=[0, 1500] * 25), loads, window_s=60.0)


@cache
def replayed():
    starts = range(0, 400_000_000, 9_000_000)
    requests = [Request("c", "s", start, start + 2_000_000, 300, start % 50_000 + 1) for start in starts]
    return details(requests, ReplayConfig(horizon=100))


def users(draw):
    policies = ["none", "psm:100", "lpsm:log"]
    rows = pd.DataFrame({"policy": np.repeat(policies, 9), "slowdown_mean": np.linspace(1, 4, 27)})
    table = rows.assign(energy_vs_none_percent=np.linspace(-90, 0, 27), energy_vs_psm_percent=np.linspace(-40, 20, 27))
    medians = table.groupby("policy", as_index=False)[["slowdown_mean", "energy_vs_none_percent"]].median()
    middle = medians.set_axis(["policy", "slowdown_p50", "energy_vs_none_percent_p50"], axis=1)
    given = {"energy": [policies], "slowdown": [], "by_user": [middle]}[draw]
    return getattr(population, draw)(table.assign(share=np.tile(np.linspace(0, 1, 9), 3)), *given)


def by_class(names=("earn", "acq"), title="ssmd on news"):
    return label.by_class(pd.DataFrame({"class": names, "f_measure": 0.9, "label_rate": 0.2}), title)


def over_time():
    names = [f"{name}{more}" for name in ("accuracy", "f_measure", "label_rate") for more in ("", "_so_far")]
    windows = pd.DataFrame(0.5, range(3), names)
    return label.over_time(windows.assign(t=[100, 200, 300]), 100, "ssmd on news")


def tuned():
    names = [name for name in MANY[:18] if not name.startswith("mine")]
    energies = np.geomspace(0.05, 30.0, len(names))
    rows = pd.DataFrame({"policy": names, "energy_j_per_page": energies, "slowdown_mean": 1 + 0.1 / energies})
    levels = pd.DataFrame({"policy": ["limit", "page-awake"], "energy_j_per_page": [0.03, 0.9]})
    return tradeoff(pd.concat([rows.assign(slowdown_p95=1 + 0.3 / energies), levels]), "lpsm2:1.05", 1.1)


def frame_by_frame():
    config = netsim.SimulationConfig(radio=netsim.Radio.profile("esp32-c6"))
    run = record(Workload.of([Page("a", 300, 9000, ((300, 4000),), 2.0)]), "psm", config)
    return timelines([timeline(run, *window_of_page(run, 0))])


DRAWING = {"energy": lambda: energy(summary()), "front": lambda: energy_front(summary()),
    "slowdown": lambda: slowdown(summary()), "by-page": lambda: slowdown_by_page(by_page()), "sleeps": sleeps,
    "replay-losses": lambda: replay.losses(replayed().polls),
    "replay-weights": lambda: replay.weights(replayed().polls),
    "replay-competition": lambda: replay.competition(replayed().regrets, replayed().partitions),
    "replay-alphas": lambda: replay.alphas(replayed().alphas, replayed().posterior),
    **{f"population-{draw}": partial(users, draw) for draw in ("energy", "slowdown", "by_user")},
    "label-over-time": over_time, "label-by-class": by_class, "tune": tuned, "timeline": frame_by_frame}  # fmt: skip
