"""Figure 3, d, of Cesa-Bianchi, Gentile and Zaniboni 2004: asking by margin against asking at random, on news.

What it models: 2ND-ORDER (sop-ss) runs at five b, and then both orders with a constant probability, which is the label
rate that it had: the second order's is FIXED-BIAS, the first order's the baseline that footnote 4 leaves out.
What it leaves out: panels a to c (`papers.worst_case.text`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from experiments.figures.papers import lines
from experiments.papers import news
from experiments.papers.claims import Claim, Measure, Noted, Record, named
from experiments.papers.kit import Experiment, Rows, Setup
from experiments.papers.news import NEWS, counts, make, question, sweep
from experiments.papers.predicates import above
from experiments.papers.worst_case.text import STORIES
from lpsm.randomness import POLICY, generator

__all__ = ["EXPERIMENTS"]

B = (0.003, 0.01, 0.03, 0.1, 0.3)


def same_rate(task: dict[str, Any]) -> Rows:
    """Run 2ND-ORDER at five b, then both orders with a constant probability that is the rate it had."""
    X, y, named = question(task)
    rows = []
    for place, b in enumerate(task["b"]):
        rate = 0.0
        for number, key in enumerate(("sop-ss", "sop-fixed-bias", "random-perceptron")):
            coins = generator(task["seed"], POLICY, 1000 * (3 * place + number) + task["rank"])
            parameters = {"b": b} if not number else {"rate": rate}
            total, _ = counts(make(key, X, coins, parameters).run(X, y), y)
            rate = rate or total["queried"] / total["rounds"]
            rows.append({**named, "key": key, "value": b, "run": 0, **total})
    return {"totals": rows}


def _same_rate_sweep(setup: Setup) -> dict[str, dict[str, Any]]:
    tasks = sweep((), rcv1_stories=STORIES)(setup)
    return {name: {**task, "b": list(setup.pick(B[::2], B))} for name, task in tasks.items()}


def _at_all_b(ours: str, theirs: str) -> Measure:
    """F of one sampler less that of another at each b, whose label rate both have."""

    def measure(record: Record) -> Any:
        values = sorted(set(news.scored(record)["value"]))
        return named({f"b = {b:g}": news.paired("f", news.of(ours, b), news.of(theirs, b)) for b in values})(record)

    return measure


def _shrinkage(record: Record) -> dict[str, Any]:
    """The difference at the smallest b less that at the largest."""
    gaps = _at_all_b("sop-ss", "sop-fixed-bias")(record)
    first, *_, last = (gap.sample for gap in gaps.values())
    words = ", ".join(f"{name}: {gap.sample.mean():+.3f}" for name, gap in gaps.items())
    return {"": Noted(first - last, f"(gaps by {words})")}


def _draw_d(record: Record) -> Mapping[str, Figure]:
    frame = news.trade_off(news.scored(record), ("sop-ss", "sop-fixed-bias", "random-perceptron"))
    return {"fig-3-d": lines(frame, x="labels asked for, %", y="F-measure, mean over topics", x_scale="log")}


EXPERIMENTS = (
    Experiment(
        name="worst-case/fig-3-d",
        subject="asking by margin against asking at random, at equal label rates",
        time="1 min",
        sweep=_same_rate_sweep,
        run=same_rate,
        claims=(
            Claim(
                "2ND-ORDER outperforms FIXED-BIAS at every b",
                above(_at_all_b("sop-ss", "sop-fixed-bias")),
                "outperforms",
            ),
            Claim("the difference shrinks as b gets larger", above(_shrinkage), "tends to shrink"),
            Claim(
                "2ND-ORDER-FIXED-BIAS outperforms 1ST-ORDER-FIXED-BIAS at every rate",
                above(_at_all_b("sop-fixed-bias", "random-perceptron")),
                "always (footnote 4)",
            ),
        ),
        figures=_draw_d,
        data=NEWS,
    ),
)
