"""`lpsm population`: every user or session of a trace through every policy, on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

import netsim
import traces
from experiments.cli.model import model_options, world_of
from experiments.cli.options import (
    INPUT,
    MOST_PAGES,
    jobs_option,
    json_option,
    member_option,
    number_option,
    out_option,
    policies_option,
    replace_option,
    seconds_option,
    seed_option,
    skip_damaged_option,
)
from experiments.cli.outcome import Outcome
from experiments.cli.traffic import recorded_words, study_settings
from experiments.inert import echo
from experiments.quantities import BASELINE
from experiments.report.comparison import population_text
from experiments.report.text import plain
from experiments.study import population as study
from experiments.study import sweep
from experiments.study.executor import checked_jobs, is_cluster, stream, workers
from experiments.study.files import content_digest, source_digest
from experiments.study.run import progress
from experiments.study.store import Store
from netsim.policies import AnyPolicy
from netsim.simulation import is_compiled

__all__ = ["population"]


@click.command()
@click.argument("trace", type=INPUT)
@policies_option("none,psm,bsd:1,lpsm:log")
@click.option(
    "--by", type=click.Choice(["user", "session"]), default="user", show_default=True,
    help="Whether each run is of a user or of a session.",
)  # fmt: skip
@member_option
@skip_damaged_option
@seconds_option("--max-think", "max_think_s", help="Leave out longer pauses between pages: the user was away.")
@seed_option("Seed of the first user; each further one has the next.", least=0)
@out_option("population")
@replace_option
@click.option(
    "--scheduler", default="processes", show_default=True,
    help="processes of this machine, or the address tcp://HOST:PORT of a Dask scheduler.",
)  # fmt: skip
@jobs_option()
@number_option(
    "--pages-per-task", kind=int, most=MOST_PAGES, least=1, default=1000, help="About how many pages one task has."
)
@json_option("the summary")
@model_options
def population(
    trace: Path,
    policies: list[AnyPolicy],
    by: str,
    member: str | None,
    skip_damaged: bool,
    max_think_s: float | None,
    seed: int,
    out: Path,
    replace: bool,
    scheduler: str,
    jobs: int | None,
    pages_per_task: int,
    as_json: bool,
    **model: Any,
) -> None:
    """Run every user (or session) of TRACE under every policy.

    OUT receives a Parquet file for each task, a row for each user and policy, distributions of energy and
    slowdown (CSV) and pictures (PNG and SVG).  A run that was stopped, by whatever, goes on when the same
    command is given again.
    """
    world = world_of(model)
    chosen = sweep.named(policies, world.config.beacon_interval_ns)
    chosen = {BASELINE: chosen.pop(BASELINE), **chosen}
    if (on_cluster := is_cluster(scheduler)) and jobs is not None:
        raise ValueError(f"jobs are for this machine, {scheduler} has workers of its own")
    jobs = checked_jobs(jobs)
    study.check(tuple(chosen.values()), world.config)
    choice: dict[str, Any] = {
        "by": by, "member": member, "seed": seed, "skip_damaged": skip_damaged, "max_think_s": max_think_s,
        "recorded_round_trip": world.recorded_round_trip,
    }  # fmt: skip
    traffic = {"sha256": content_digest(trace), **choice}
    settings = study_settings(traffic, chosen, world, pages_per_task=pages_per_task)
    # what can be known to be wrong is known before anything is written
    if traces.detect(trace) != "workload":
        next(iter(traces.batches(trace, member=member, skip_damaged=skip_damaged)), None)
    if on_cluster:
        with workers(scheduler, jobs):
            pass
    store = Store(out, "population", settings, runs=0, replace=replace)
    with store.giving_up(input_is_right=bool(store.finished)):
        report = traces.Report()
        cut = study.tasks(
            study.users(trace, **choice, report=report), tuple(chosen.values()), world.config,
            pages_per_task=pages_per_task, program=source_digest() if on_cluster else None,
        )  # fmt: skip
        if not _computed(cut, store, scheduler, jobs):
            raise ValueError(f"{trace}: there is no page in it")
        if report.format:  # a workload is read without one
            echo(str(report), err=True)
        wait_us = report.waits_us.quantile(0.5) if world.config.server_delay.kind == "recorded" else None
        recorded = {
            "server_times_s": None if wait_us is None else wait_us / 1e6,
            "round_trip_s": report.round_trip_s if world.recorded_round_trip else None,
            "messages": report["messages"],
        }
        below = "\n".join(filter(None, [world.words, recorded_words(recorded, world)]))
        static = netsim.canonical("psm", beacon_interval_ns=world.config.beacon_interval_ns)
        outcome = _outcome(store, {**settings, "recorded": recorded}, static, below)
        outcome.publish(store)
    outcome.say(out, as_json=as_json)


def _computed(cut: Iterator[study.Task], store: Store, scheduler: str, jobs: int) -> int:
    """Compute the tasks that are missing; return how many there are."""
    ready = is_cluster(scheduler)  # where every worker compiles for itself
    count = 0

    def accept(name: str, content: bytes) -> None:
        store.keep(name, content)
        advance()

    def missing() -> Iterator[tuple[str, study.Task]]:
        nonlocal count, ready
        for task in cut:
            name = f"users/part-{count:06d}.parquet"
            count += 1
            if name in store.finished:
                advance()
                continue
            if task.compile_first and not ready:  # once here, rather than in every process
                if not all(is_compiled(policy, task.config) for policy in task.policies):
                    echo("compiling the simulator, once on this machine", err=True)
                sweep.compile_express(task.policies, task.config)
                ready = True
            yield name, task

    with progress("tasks", None) as advance, workers(scheduler, jobs) as pool:
        stream(study.compute, missing(), pool, accept)
    return count


def _outcome(store: Store, settings: Mapping[str, Any], psm: str, below: str) -> Outcome:
    from experiments.figures.population import by_user, energy, slowdown

    by, policies = settings["traffic"]["by"], list(settings["policies"])
    table = study.read(store.files())
    whole, quarters = study.summary(table, policies, psm), study.by_activity(table, policies)
    users, pages = int(whole["users"].iloc[0]), int(whole["pages"].iloc[0])
    text = population_text(whole, quarters, f"{users} {by}s, {pages} pages", by, psm)
    return Outcome(
        name="population",
        text=f"{text}\n\n{below}",
        data={**settings, "users": users, "summary": plain(whole), "by_activity": plain(quarters)},
        tables={"summary": whole, "by-activity": quarters},
        pictures={
            "energy": energy(table, policies, by, psm),
            "slowdown": slowdown(table, policies, by),
            "users": by_user(table, policies, by),
        },
    )
