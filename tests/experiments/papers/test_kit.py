"""An experiment as one object: the tasks of a sweep, the rows of a run, claims and pictures in order, views."""

import pickle

import pandas as pd

from experiments.papers.kit import Experiment, Run, Setup, Sizes, over
from experiments.papers.predicates import above, below

SWEEP = over({"law margin": [(0.5, 0.0), (2.0, 1.0)], "seed": Sizes(1, 3)}, "{law:g}/{seed} of {n}", n=Sizes(10, 1000),
    way="up")  # fmt: skip


def rows(n, seed=0):
    """Rows of one table."""
    return [{"n": n, "seed": seed}]


def frames(**task):
    """Two tables, one of them a frame."""
    return {"long": pd.DataFrame({"x": [1, 2]}), "task": [task]}


def test_a_sweep_is_the_product_of_its_axes_whose_last_varies_fastest():
    small, full = (SWEEP(Setup(size=size, seed=7)) for size in ("smoke", "full"))
    assert small["2/7 of 10"] == {"law": 2.0, "margin": 1.0, "seed": 7, "n": 10, "way": "up"}
    assert list(full) == [f"{law}/{seed} of 1000" for law in ("0.5", "2") for seed in (7, 8, 9)]
    tasks = over({"alpha": (0.5, 1.0), "run": range(1)}, n=3)(Setup(seed=4))  # named by its axes, with the first seed
    assert tasks["alpha 1 run 0"] == {"seed": 4, "n": 3, "alpha": 1.0, "run": 0}


def test_a_run_returns_plain_rows_by_table_and_goes_to_other_processes():
    assert Run(frames)({"n": 3}) == {"long": [{"x": 1}, {"x": 2}], "task": [{"n": 3}]}
    assert pickle.loads(pickle.dumps(Run(rows))) == Run(rows) != Run(frames)


def test_claims_and_pictures_keep_their_order_and_a_view_has_the_runs_alone():
    experiment = Experiment("thesis/x", "a subject", "1 s")
    experiment.runs(SWEEP)(rows)
    experiment.claim("first", above, "printed", "why it counts", limit=1.0)(lambda rows: rows["n"])
    experiment.claim("over {least} {unit}", below, of={"least unit": [(2, "J")], "limit": (1.0, 9.0)})(
        lambda rows, least: {"n": rows["n"] - least})  # fmt: skip
    record = {"rows": pd.DataFrame({"n": [2.0, 2.5, 3.0], "group": "g", "x": [1, 2, 3], "y": 1.0})}
    (first, held), (second, failed), (_, other) = experiment.verdicts(record)
    assert (first.statement, first.printed, held.holds) == ("first", "printed", True)
    assert first.tolerance == "whole 95 % interval above 1; why it counts"
    assert (second.statement, failed.holds, failed.ours, other.holds) == ("over 2 J", False, "n 0.5 ± 1.2", True)
    experiment.picture("b", x="x", y="y")(lambda rows: rows)
    experiment.picture("a", x="x", y="y")(lambda rows: (title for title in [("one", rows), ("two", rows)]))
    experiment.table("d")(lambda rows: rows)
    pictures = experiment.figures(record)
    assert pictures.pop("d") is record["rows"]
    assert [(name, len(figure.axes)) for name, figure in pictures.items()] == [("b", 1), ("a", 2)]
    view = experiment.view("thesis/y", "another subject", "as long")
    assert (view.run, view.sweep, view.claims, view.figures(record)) == (experiment.run, SWEEP, [], {})
