"""`lpsm cell`: what policies cost and delay as the number of clients behind one access point grows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.model import configuration, described, model_options
from experiments.cli.options import (
    MOST_PAGES,
    MOST_SEEDS,
    jobs_option,
    json_option,
    number_option,
    out_option,
    policies_option,
    seed_option,
)
from experiments.inert import echo
from experiments.presets import LEARNED

if TYPE_CHECKING:
    import pandas as pd

    from experiments.study.store import Store
    from netsim.policies import AnyPolicy

__all__ = ["cell"]

POLICIES = f"none,psm,dynamic,uapsd,twt:200:10,bsd:1,{LEARNED}"
AIR = "11g:54"


@click.command()
@click.option("--clients", default="1,2,5,10,20", show_default=True, help="Numbers of clients, separated by commas.")
@policies_option(POLICIES)
@number_option("--pages", kind=int, most=MOST_PAGES, default=20, help="Number of pages of each client.")
@seed_option("First seed.")
@number_option("--seeds", kind=int, most=MOST_SEEDS, default=3, help="Number of seeds: SEED, SEED+1, ...")
@out_option("cell")
@jobs_option()
@json_option()
@model_options
def cell(
    clients: str,
    policies: list[AnyPolicy],
    pages: int,
    seed: int,
    seeds: int,
    out: Path,
    jobs: int | None,
    as_json: bool,
    **model: Any,
) -> None:
    """Compare policies in cells of more and more clients on the shared air (--air, 11g:54 if not given).

    All clients of a cell follow the same policy and browse pages of their own.  Tables (CSV) and pictures
    (PNG and SVG) go to the folder OUT, which is replaced only if an earlier comparison of cells made it; one
    that was stopped goes on.
    """
    from experiments.quantities import CELL
    from experiments.report.comparison import plain
    from experiments.report.text import cells, table
    from experiments.study import cells as study
    from experiments.study.executor import checked_jobs
    from experiments.study.run import run
    from experiments.study.store import Store
    from experiments.study.sweep import own_sources

    config = configuration({**model, "air": model["air"] or AIR}, drawn=True)
    counts = _numbers(clients)
    if seeds < 1 or seed < 0:
        raise ValueError(f"seed must be at least 0 and seeds at least 1, got {seed} and {seeds}")
    tasks = study.cell_tasks(policies, counts, pages, range(seed, seed + seeds), config)
    chosen = {task.name: task.policy for task in tasks.values()}
    settings: dict[str, Any] = {
        "policies": list(chosen), "clients": counts, "pages": pages,
        "seed": seed, "seeds": seeds, "model": described(config), **own_sources(chosen),
    }  # fmt: skip
    store = Store(out, "cell", settings)
    with store.giving_up():
        results = run(
            study.simulate, tasks, jobs=checked_jobs(jobs), finished=store.finished, keep=store.keep, title="cells"
        )
        rows = study.cell_rows(results)
        found = study.summary(rows)
        text = table(*cells(CELL, found))
        store.write("cell.txt", text + "\n")
        store.write_frame("summary.csv", found)
        store.write_frame("clients.csv", rows)
        _write_pictures(store, found)
        store.publish()
    if as_json:
        click.echo(json.dumps({**settings, "summary": plain(found)}))
    else:
        echo(text)
        echo(f"\nTables and pictures are in {out}.")


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"clients must be whole numbers separated by commas, got {text!r}") from None


def _write_pictures(store: Store, found: pd.DataFrame) -> None:
    from experiments.figures.cell import growth
    from experiments.figures.style import pictures

    for file, content in pictures("cell", growth(found)).items():
        store.write(file, content)
