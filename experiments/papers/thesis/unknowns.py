"""What section 2.5.4 of Monteleoni 2006 leaves open: does any setting of it meet all that figures 2-6 to 2-8 print?

What it models: the thesis says neither how long its server took, nor how long users thought; and its gamma, its
switching rates and its range of polling times may have been others than those that it states.  Settings are drawn from
the product of these (`AXES`), each is run on pages of the Web model without power saving, with static PSM and with both
forms of LPSM, and held to the ten numbers that are printed of 100 pages.  A miss is the logarithm of ours over the
printed number (of slowdowns, of what is beyond 1) in units of its tolerance: a fifth of a joule figure, a factor of 2
of a slowdown; the slowest page only misses above.  All settings with a largest miss of 1 or less meet the print.
What it leaves out: other traffic, radios and round trips; and that the nearest of many settings looks nearer on the
seeds that chose it than on others.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import netsim
import traces
from experiments.papers.claims import Noted
from experiments.papers.kit import Experiment, Sizes, over
from experiments.papers.predicates import at_least
from experiments.presets import DRAWN, THESIS
from experiments.quantities import PSM
from lpsm.randomness import WORKLOAD, generator

AXES: dict[str, Sequence[Any]] = {
    "server_s": (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0), "think": (0.8, 1.0, 1.2),  # times the model's
    "gamma": (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),  # times the printed one
    "rates": ("259", "8", "0.001", "1e-05", "1e-07"), "longest_ms": (600, 1000, 1200, 1600)
}  # fmt: skip
GAMMA = {"lpsm": 1 / 1.2e5, "lpsm:log": 1 / 1.2e3}
PRINTED = {
    f"{policy} {what}": value
    for policy, *values in ((PSM, 3.62, 0.83), ("lpsm", 3.38, 0.59, 1.02, 1.2), ("lpsm:log", 2.95, 0.16, 1.19, 2.0))
    for what, value in zip(("J a page", "J for beacons", "slowdown", "slowest page"), values, strict=False)
}
UNKNOWNS = Experiment(
    "thesis/unknowns", "settings that the thesis leaves open, held to all it prints of LPSM on 100 pages", "5 min"
)


def _policies(point):
    """Return the specs of a setting by the name of the policy."""
    own = f"times=100:{point['longest_ms']}:100,alphas={point['rates']}"
    forms = {name: f",gamma={point['gamma'] * gamma:.6g}" for name, gamma in GAMMA.items()}
    return {"none": "none", PSM: PSM, "lpsm": f"lpsm:{own}{forms['lpsm']}",
            "lpsm:log": f"lpsm:{own},energy=log{forms['lpsm:log']}"}  # fmt: skip


@UNKNOWNS.runs(over({"point": Sizes(range(4), range(600))}, seeds=Sizes(1, 2), pages=Sizes(20, 100)))
def settings(point, seed, seeds, pages):
    """Run one setting; a row a number that is printed, its mean over seeds."""
    chance = generator(seed, WORKLOAD, point)
    drawn = {name: values[int(chance.integers(len(values)))] for name, values in AXES.items()}
    world = netsim.SimulationConfig(
        tcp=netsim.TcpConfig(mss_bytes=THESIS["mss_bytes"], nagle=THESIS["nagle"]), connections=THESIS["connections"],
        server_delay=netsim.ServerDelay(mean_s=drawn["server_s"])
    )  # fmt: skip
    found = []
    for replication in range(seed, seed + seeds):
        load = [page._replace(think_s=round(page.think_s * drawn["think"], 6))
                for page in traces.generate(pages, generator(replication, WORKLOAD), web=DRAWN["thesis"])]  # fmt: skip
        runs = {name: netsim.simulate(load, spec, config=world, seed=replication)
                for name, spec in _policies(drawn).items()}  # fmt: skip
        waits = {name: np.asarray(run.page_columns["latency_s"]) for name, run in runs.items()}
        slower = {name: (own / waits["none"]).mean() for name, own in waits.items()}
        for name in (PSM, *GAMMA):
            energy = runs[name].energy
            numbers = (energy.per_page_j, energy.listen_j / pages, slower[name] / slower[PSM],
                       (waits[name] / waits[PSM]).max())  # fmt: skip
            what = ("J a page", "J for beacons", "slowdown", "slowest page")
            found += [{"what": f"{name} {one}", "value": value} for one, value in zip(what, numbers, strict=True)]
    means = pd.DataFrame(found).groupby("what", sort=False)["value"].mean()
    return [{"point": point, **drawn, "what": one, "ours": float(means[one])} for one in PRINTED]


def misses(settings):
    """Return how far off every number is in units of its tolerance: a row a setting, a column a number."""
    table, off = settings.pivot(index="point", columns="what", values="ours")[list(PRINTED)], {}
    for what, printed in PRINTED.items():
        own = table[what]
        if "slow" in what:
            off[what] = np.log(np.maximum(own - 1.0, 1e-9) / (printed - 1.0)) / np.log(2.0)
            off[what] = off[what].clip(lower=0.0) if "slowest" in what else off[what].abs()
        else:
            off[what] = np.abs(np.log(own / printed)) / np.log(1.2)
    return pd.DataFrame(off)


@UNKNOWNS.claim(
    "a setting of what the thesis leaves open meets all ten numbers printed of 100 pages", at_least, "figures 2-6 to 8",
    "ours; settings drawn from the product of server delay, think times, gamma, switching rates and polling times",
    limit=1, unit=" settings",
)  # fmt: skip
def _that_meet(settings):
    off = misses(settings)
    worst, met = off.max(axis=1), (off <= 1.0).sum(axis=1)
    nearest = worst.idxmin()
    return Noted(
        [(worst <= 1.0).sum()],
        f"of {len(off)}; the nearest misses {off.loc[nearest].idxmax()} by {worst[nearest]:.2f} tolerances; at most "
        f"{met.max()} numbers are met by one",
    )


@UNKNOWNS.table("unknowns")
def _nearest(settings):
    """Return the print and the five nearest settings with all numbers, the largest miss last."""
    worst = misses(settings).max(axis=1).sort_values()
    rows = [{"setting": "printed", **{what: f"{value:g}" for what, value in PRINTED.items()}, "largest miss": ""}]
    for point in worst.index[:5]:
        own = settings[settings["point"] == point]
        drawn = own.iloc[0][list(AXES)]
        numbers = {what: f"{value:.3g}" for what, value in zip(own["what"], own["ours"], strict=True)}
        name = ", ".join(f"{key} {value}" for key, value in drawn.items())
        rows.append({"setting": name, **numbers, "largest miss": f"{worst[point]:.2f}"})
    return pd.DataFrame(rows)
