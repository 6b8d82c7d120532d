"""What the slowdowns of figure 2-7 of Monteleoni 2006 depend on: how long the server takes to answer.

What it models: the runs of `browsing` for several delays of the server, which the thesis does not state.
What it leaves out: servers whose delay varies.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.papers import lines
from experiments.papers.claims import Claim, Measure, Noted, Record, named, point
from experiments.papers.kit import Experiment, Setup
from experiments.papers.predicates import at_least, at_most, falling
from experiments.papers.thesis.browsing import NAMES, saved, simulate, slowdowns, task
from experiments.quantities import PSM
from experiments.study.compare import linearised

__all__ = ["EXPERIMENTS"]

DELAYS_S = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0)


def _delays(setup: Setup) -> dict[str, dict[str, Any]]:
    delays = setup.pick((0.0, 0.5), DELAYS_S)
    return {
        f"delay {delay:g} seed {seed} {policy}": task(f"{delay:g}", setup.pick(20, 100), seed, policy, delay)
        for delay in delays
        for seed in range(setup.seed, setup.seed + setup.pick(2, 20))
        for policy in ("none", "psm:100", "bsd:0.5", "lpsm", "lpsm:log")
    }


def _at_delays(column: str, measure: Any) -> Measure:
    """What a measure finds at every delay of the server, by delay."""

    def measured(record: Record) -> dict[str, Any]:
        settings = dict.fromkeys(record["runs"]["setting"])
        return {f"{column} {setting} s".strip(): measure(record, setting) for setting in settings}

    return measured


def _over_psm(policy: str) -> Measure:
    return _at_delays(
        "", lambda record, setting: linearised(*(slowdowns(record, setting)[one] for one in (policy, PSM)))
    )


def _lag(record: Record, setting: str) -> Noted:
    slow = slowdowns(record, setting)
    return Noted(slow["lpsm"] - slow["bsd:0.5"], f"({slow['lpsm'].mean():.2f} against {slow['bsd:0.5'].mean():.2f})")


def _by_delay(record: Record) -> pd.DataFrame:
    rows = []
    for setting in dict.fromkeys(record["runs"]["setting"]):
        slow = slowdowns(record, setting)
        rows += [point(policy, float(setting), slow[policy]) for policy in (PSM, "bsd:0.5", "lpsm", "lpsm:log")]
    return pd.DataFrame(rows)


def _draw_delays(record: Record) -> Mapping[str, Figure]:
    table = _by_delay(record)
    return {"server-delay": lines(table, x="server's delay [s]", y="mean slowdown of a page")}


EXPERIMENTS = (
    Experiment(
        name="thesis/server-delay",
        subject="the slowdown of figure 2-7 depends on the server's delay",
        time="1 min",
        sweep=_delays,
        run=simulate,
        claims=(
            *(
                Claim(
                    f"slowdown of {policy} over that of static PSM falls as the server takes longer",
                    falling(_over_psm(policy), ends=True),
                    reason="ours, the thesis does not state its server's delay",
                )
                for policy in NAMES
            ),
            Claim(
                "LPSM uses less energy than static PSM whatever the server's delay",
                at_most(
                    named({one: _at_delays("at", lambda r, s, p=one: saved(s, p, "total_j")(r)[""]) for one in NAMES}),
                    0.0,
                    open=True,
                    unit=" %",
                ),
                reason="ours",
            ),
            Claim(
                "LPSM with 1/T is slower than BSD 0.5 at every delay",
                at_least(_at_delays("at", _lag), 0.0, open=True),
                "higher slowdowns",
            ),
        ),
        figures=_draw_delays,
    ),
)
