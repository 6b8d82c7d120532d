"""A benchmark of policies: fixed worlds, fixed seeds, and the energy of each policy beside mixtures of all others.

What it models: the 25 worlds in which LPSM3 is judged (`ours/lpsm3-worlds`) and nine beside them: today's Web, alone
and on 802.11n, servers of two speeds and servers that fail to answer for 10 s, a search that is asked at each key, a
feed of pictures, prices beside browsing, answers of a language model, and a sensor on 802.11n; with their data also
recorded sessions.  A run is one seed of one world, browsed under every policy; `public` seeds are for choosing
constants, `held-out` ones for what is published.

A policy is held against the *time-sharing hull* of all others (`experiments.study.hull`): what those need that change
from policy to policy and are no slower, neither their pages nor their messages.  Beside that stand the tails of both,
on which share of the seeds a policy that names what it gives (`max_slowdown`, `max_push_delay_s` of its `config`) gives
it, and how many times what a client would need at the same slowdown that knows when frames come.

What it leaves out: the other radios and losses of `lpsm compare`, and who shares a cell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import netsim
import traces
from experiments.papers.ours.studies import ASKED, RIVALS, family, lasting
from experiments.papers.ours.studies import WORLDS as OF_LPSM3
from experiments.papers.ours.worlds import DELAY, RECORDED, SLOWDOWN, World, measure, recorded, sessions, world_of
from experiments.quantities import BASELINE, Quantity, Row
from experiments.report.text import markdown, plain
from experiments.study.compare import estimate
from experiments.study.hull import above
from lpsm.checks import known
from netsim.policies import AnyPolicy

SCHEMA = "lpsm-benchmark/1"
SPLITS = {"public": 100, "held-out": 770_000}
QUICK_SEEDS, RECORDED_SESSIONS = 2, 30
WORLDS: Mapping[str, tuple[int, ...]] = OF_LPSM3 | lasting("""
    web-2025; web-2025 on 802.11n; web-bimodal; web-flaky; mqtt on 802.11n = 600 3000 10
    typeahead; feed; ticker-and-web; answers = 300 900 10
""")
"""Each world: seconds that are browsed quickly, and in full, and the seeds of the latter."""
REGISTERED = (
    *RIVALS, *ASKED, "uapsd", "twt:500:20", "break-even", "break-even:random", "doubling", "upm", "sifi", "sapsm",
    "stpm", *family("poll:{}", "3.2 6.4 12.8 25.6 51.2 102.4 204.8"), "poll-link:25.6", "lpsm-poll", "lpsm-poll:log",
    *family("lpsm4:{}:400", "1.02 1.05 1.1 1.2"), "lpsm4-link:1.05:400",
    "lpsm3-driver:1.05:400", "lpsm4-driver:1.05:400",
)  # fmt: skip
"""The settings of all registered policies that make the hull."""
TRACE = "bu-www-client/condensed.tar.xz"
MANY = 50  # messages, for their delay to be judged
ASKED_FOR = ("max_slowdown", "max_push_delay_s", "push_measure")  # what the `config` of a policy may name
TAILS = ("slowdown_p95", "added_s_p95", "added_s_max")
COLUMNS = (
    Quantity("policy", "policy"), Quantity("above_hull_percent", "above hull", "+.1f %", "±"),
    Quantity("worlds_at_hull", "worlds at it", ".0f"), Quantity("slowdown_mean", "slowdown"),
    Quantity("slowdown_p95", "p95 of it"), Quantity("added_s_mean", "added s", ".3f"),
    Quantity("added_s_p95", "p95 of these", ".3f"), Quantity("kept_percent", "kept %", ".0f"),
    Quantity("times_clairvoyant", "x clairvoyant", ".1f"),
)  # fmt: skip


class Task(NamedTuple):
    """One seed of one world, to be browsed under policies, by the names that results carry."""

    world: str
    seed: int
    seconds: float
    policies: Mapping[str, AnyPolicy]
    trace: Path | None = None  #: recorded sessions, and which of them
    session: str = ""


class Found(NamedTuple):
    """What a benchmark found."""

    results: pd.DataFrame  #: a row a world and policy
    summary: pd.DataFrame  #: a row a policy, the least above the hull first

    def as_json(self, settings: Row) -> str:
        """Return all of it in the stable form, with the settings of the command."""
        parts = {"summary": plain(self.summary), "results": plain(self.results)}
        return json.dumps({"schema": SCHEMA, **settings, **parts}, indent=1) + "\n"

    def as_markdown(self) -> str:
        """Return the table of the summary, a row a policy, to paste."""
        rows = {one.heading: [_cell(one, row) for row in plain(self.summary)] for one in COLUMNS}
        return markdown(pd.DataFrame(rows))


def _cell(quantity: Quantity, row: Row) -> str:
    value = row[quantity.name]
    if quantity.name == "policy":
        return f"`{value}`"
    return "" if value is None or value != value else format(value, quantity.form.partition(" ")[0])


def tasks(
    policies: Sequence[AnyPolicy], *, quick: bool = False, split: str = "public", data: Path | None = None
) -> dict[str, Task]:
    """List what is browsed under the registered policies and these, keyed; `data` is a folder of data sets."""
    named = {netsim.canonical(policy): policy for policy in (*REGISTERED, *policies)}
    found = {}
    for world, (short_s, long_s, seeds) in WORLDS.items():
        for seed in range(SPLITS[split], SPLITS[split] + (QUICK_SEEDS if quick else seeds)):
            found[f"{world} seed {seed}"] = Task(world, seed, float(short_s if quick else long_s), named)
    if data is not None:
        names = [*sessions(data / TRACE)]
        drawn = np.random.default_rng(SPLITS[split]).permutation(len(names))[
            : QUICK_SEEDS if quick else RECORDED_SESSIONS
        ]
        for seed, number in enumerate(sorted(drawn.tolist())):
            found[f"{RECORDED} {names[number]}"] = Task(RECORDED, seed, 0.0, named, data / TRACE, names[number])
    return found


def environment(world: str = "web-lognormal", *, seconds: float = 600.0, **more: Any) -> Any:
    """Return a world as a Gymnasium environment (`netsim.environment`), of which an episode is a draw that long.

    Seeds are drawn as well, none of a split; `more` goes to `gymnasium.make`.

    Raises
    ------
    ValueError
        If the world is unknown, or its servers change from page to page.
    """
    import gymnasium

    known("world", world, WORLDS)
    first = world_of(world, seconds, 0)
    config, servers = first.config, {*first.traffic.servers}
    if len(servers) > 1:
        raise ValueError(f"the servers of an environment must stay the same, those of {world} change")
    delay = netsim.ServerDelay.parse(servers.pop()) if servers else config.server_delay

    def drawn(rng: np.random.Generator) -> traces.Workload:
        traffic = world_of(world, seconds, int(rng.integers(10**6, 10**9))).traffic
        return traces.Workload.of(traffic.pages, traffic.messages)

    name = "netsim.environment:netsim/PowerSave-v1"
    return gymnasium.make(name, pages=drawn, config=replace(config, server_delay=delay), **more)


def browse(task: Task) -> Row:
    """Browse one seed of a world under every policy; plain JSON data."""
    place = task.trace
    world = world_of(task.world, task.seconds, task.seed) if place is None else recorded(place, task.session, task.seed)
    base, rows = world.browse(BASELINE), []
    for name, policy in task.policies.items():
        begun = process_time()
        run = base if name == BASELINE else world.browse(policy)
        cpu_s = process_time() - begun
        own = measure(run, base, world)
        added_s = (run.messages["delay_s"] - base.messages["delay_s"]).to_numpy()
        tails = _quantile(run.latency_s / base.latency_s, 0.95), _quantile(added_s, 0.95), _quantile(added_s, 1.0)
        kept = {one: own[one] for one in ("total_j", "elapsed_s", "pages", "messages", SLOWDOWN, DELAY)}
        config = getattr(run.final_policy, "config", None)
        asked = {one: getattr(config, one, None) for one in ASKED_FOR}
        rows.append({"policy": name, **kept, **dict(zip(TAILS, tails, strict=True)), **asked, "cpu_s": cpu_s})
    return {"world": task.world, "seed": task.seed, "rows": rows, **_known(world)}


def _quantile(values: Any, level: float) -> float:
    return float(np.quantile(values, level)) if len(values) else nan


def _known(world: World) -> Row:
    """Return what a client needs that knows when frames come, where that can be found: pages alone, on wires."""
    traffic, config = world.traffic, world.config
    if not traffic.pages or traffic.messages or config.medium or config.link.loss_rate or len({*traffic.servers}) > 1:
        return {}
    config = replace(config, server_delay=netsim.ServerDelay.parse(traffic.servers[0]))
    found = netsim.clairvoyant(traffic.pages, config=config, seed=world.seed)
    asleep_w = 1e-3 * config.radio.asleep_mw
    return {"asleep_w": asleep_w, "slowdown": found.slowdown.tolist(), "above_sleep_j": found.above_sleep_j.tolist()}


def scored(results: Mapping[str, Row]) -> Found:
    """Hold every policy against the hull of the others in each world, and sum up."""
    tables = dict[str, list[Row]]()
    for one in results.values():
        tables.setdefault(one["world"], []).append(one)
    rows = [row for world, seeds in tables.items() for row in _in_world(world, seeds)]
    table = pd.DataFrame(rows)
    summary = []
    for policy, own in table.groupby("policy", sort=False):
        over = own["above_hull_percent"]
        at_hull = int((over - own["above_hull_percent_half_width"].fillna(0.0) <= 0.0).sum())
        above_percent = estimate(over)
        means = {name: float(own[name].mean()) for name in (SLOWDOWN, DELAY, *TAILS)}
        summary.append({
            "policy": policy, "worlds": len(own), "above_hull_percent": above_percent.mean,
            "above_hull_percent_half_width": above_percent.half_width, "worlds_at_hull": at_hull, **means,
            "kept_percent": float(own["kept_percent"].mean()),
            "times_clairvoyant": float(own["times_clairvoyant"].median()),
        })  # fmt: skip
    ranked = pd.DataFrame(summary).sort_values("above_hull_percent", kind="stable", ignore_index=True)
    return Found(table, ranked)


def _in_world(world: str, seeds: Sequence[Row]) -> list[Row]:
    """Return a row a policy in one world."""
    frames = [pd.DataFrame(one["rows"]).set_index("policy") for one in seeds]
    names = frames[0].index
    joules = np.stack([frame["total_j"].to_numpy() for frame in frames])
    both = np.stack([frame[[SLOWDOWN, DELAY]].to_numpy(dtype=float) for frame in frames])
    measures = both[:, :, ~np.isnan(both).any(axis=(0, 1))]
    rows = []
    for place, policy in enumerate(names):
        order = [place, *(other for other in range(len(names)) if other != place)]
        own = pd.DataFrame([frame.iloc[place] for frame in frames])
        over = estimate(above(measures[:, order], joules[:, order]))
        times = [_times(one, row) for one, (_, row) in zip(seeds, own.iterrows(), strict=True) if "slowdown" in one]
        rows.append({
            "world": world, "policy": policy, "seeds": len(seeds), "above_hull_percent": over.mean,
            "above_hull_percent_half_width": over.half_width,
            "mean_mw": 1000 * own["total_j"].sum() / own["elapsed_s"].sum(),
            **{name: float(own[name].mean()) for name in (SLOWDOWN, DELAY, *TAILS)},
            "kept_percent": _kept(own), "times_clairvoyant": float(np.mean(times)) if times else nan,
        })  # fmt: skip
    return rows


def _times(one: Row, row: pd.Series[float]) -> float:
    """Return how many times a policy needs, above sleeping, what one needs that knows, at the same slowdown."""
    least_j = netsim.Clairvoyant(np.array(one["slowdown"]), np.array(one["above_sleep_j"])).at(row[SLOWDOWN])
    return float((row["total_j"] - one["asleep_w"] * row["elapsed_s"]) / row["pages"] / least_j)


def _kept(own: pd.DataFrame) -> float:
    """Return on how many percent of seeds a policy gave what it names: 3 % of the excess + 0.005, delays to a tenth.

    Of messages it is the mean that is held against it; a quantile or a limit that it names is not.
    """
    slowdown, delay_s, of = (own[name].iloc[0] for name in ASKED_FOR)
    kept = []
    if not pd.isna(slowdown) and own[SLOWDOWN].notna().all():
        kept.append(own[SLOWDOWN] <= slowdown + 0.03 * (slowdown - 1.0) + 0.005)
    if not pd.isna(delay_s) and of in ("mean", None) and (own["messages"] >= MANY).all():
        kept.append(own[DELAY] <= 1.1 * delay_s)
    return 100.0 * float(np.logical_and.reduce(kept).mean()) if kept else nan


def cpu_text(results: Mapping[str, Row]) -> str:
    """Return what policies took to compute, and be simulated, beside the run without power saving."""
    rows = pd.DataFrame([row for one in results.values() for row in one["rows"]])
    spent = rows.groupby("policy", sort=False)[["cpu_s", "elapsed_s"]].sum()
    ms = (3.6e6 * spent["cpu_s"] / spent["elapsed_s"]).sort_values(ascending=False)
    most = ", ".join(f"{policy} {value:.0f}" for policy, value in ms.head(3).items())
    return f"CPU ms a simulated hour: {most}; in the median {ms.median():.0f}."
