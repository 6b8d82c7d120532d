"""`lpsm population`: every user or session of a trace through every policy, on this machine or on a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.model import configuration, described, model_options, uses_recorded_round_trip
from experiments.cli.options import (
    MOST_PAGES,
    jobs_option,
    json_option,
    member_option,
    number_option,
    out_option,
    policies_option,
    seconds_option,
    seed_option,
    skip_damaged_option,
)
from experiments.cli.streams import INPUT
from experiments.cli.traffic import recorded_words
from experiments.inert import echo

if TYPE_CHECKING:
    import netsim
    from experiments.study.store import Store
    from netsim.policies import AnyPolicy

__all__ = ["population"]

POLICIES = "none,psm,bsd:1,lpsm:log"
PICTURES = ("saving", "slowdown", "users")
FILES = ("population.txt", "summary.csv", "by-activity.csv", *(f"{name}.{kind}" for name in PICTURES for kind in ("png", "svg")))  # fmt: skip  # noqa: E501


@click.command()
@click.argument("trace", type=INPUT)
@policies_option(POLICIES)
@click.option(
    "--by", type=click.Choice(["user", "session"]), default="user", show_default=True,
    help="Whether each run is of a user or of a session.",
)  # fmt: skip
@member_option
@skip_damaged_option
@seconds_option("--max-think", help="Leave out longer pauses between pages: the user was away.")
@seed_option("Seed of the first user; each further one has the next.")
@out_option("population")
@click.option("--resume", is_flag=True, help="Go on where the run in OUT stopped.")
@click.option("--scheduler", default="processes", show_default=True, help="processes, threads, or the address tcp://HOST:PORT of a Dask scheduler.")  # noqa: E501  # fmt: skip
@jobs_option("Number of processes or threads [one per processor].")
@number_option("--pages-per-task", kind=int, most=MOST_PAGES, default=1000, help="About how many pages one task has.")
@json_option("the summary")
@model_options
def population(
    trace: Path,
    policies: list[AnyPolicy],
    by: str,
    member: str | None,
    skip_damaged: bool,
    max_think: float | None,
    seed: int,
    out: Path,
    resume: bool,
    scheduler: str,
    jobs: int | None,
    pages_per_task: int,
    as_json: bool,
    **model: Any,
) -> None:
    """Run every user (or session) of TRACE under every policy.

    OUT receives a Parquet file for each task, a row for each user and policy; when all are there,
    distributions of saving and slowdown (CSV) and pictures (PNG and SVG).  A run that was stopped, by whatever,
    goes on with --resume.
    """
    import netsim
    import traces
    from experiments.quantities import BASELINE
    from experiments.study import population as study
    from experiments.study import sweep
    from experiments.study.executor import checked_jobs, is_cluster, workers
    from experiments.study.files import content_digest
    from experiments.study.store import Store

    config = configuration(model, preset="model")
    chosen = sweep.named(policies, config.beacon_interval_ns)
    chosen = {BASELINE: chosen.pop(BASELINE), **chosen}
    names = tuple(chosen)
    on_cluster = is_cluster(scheduler)
    if on_cluster and jobs is not None:
        raise ValueError(f"jobs are for this machine, {scheduler} has workers of its own")
    jobs = checked_jobs(jobs)
    for name, value, least in (("seed", seed, 0), ("pages-per-task", pages_per_task, 1)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    study.check(tuple(chosen.values()), config)
    traffic = {
        "sha256": content_digest(trace), "by": by, "member": member, "seed": seed, "skip_damaged": skip_damaged,
        "max_think_s": max_think, "recorded_round_trip": uses_recorded_round_trip(model["rtt"], config),
    }  # fmt: skip
    settings = {"traffic": traffic, "policies": names, "model": described(config), "pages_per_task": pages_per_task}
    settings |= sweep.own_sources(chosen)
    # what can be known to be wrong is known before anything is written
    if traces.detect(trace) != "workload":
        next(iter(traces.batches(trace, member=member, skip_damaged=skip_damaged)), None)
    if on_cluster:
        with workers(scheduler, jobs):
            pass
    store = Store(out, "population", settings, parts="users", beside=FILES, resume=resume)
    with store.giving_up(input_is_right=bool(store.finished)):
        program = store.manifest["source_sha256"] if on_cluster else None
        wanted, recorded = _run(
            store, trace, traffic, tuple(chosen.values()), config, pages_per_task, program, scheduler, jobs
        )
        static = netsim.canonical("psm", beacon_interval_ns=config.beacon_interval_ns)
        text, data = _write(store, names, by, static, recorded_words(recorded, config))
        store.publish(wanted)
    if as_json:
        click.echo(json.dumps({**settings, "recorded": recorded, **data}))
    else:
        echo(text)
        echo(f"\nA row for each user and policy is in {out / 'users'}, tables and pictures are in {out}.")


def _run(
    store: Store,
    trace: Path,
    traffic: dict[str, Any],
    policies: tuple[AnyPolicy, ...],
    config: netsim.SimulationConfig,
    pages_per_task: int,
    program: str | None,
    scheduler: str,
    jobs: int,
) -> tuple[list[str], dict[str, Any]]:
    """Compute what is missing; return the names of all parts, and what of the world was recorded and is used."""
    import traces
    from experiments.study import population as study
    from experiments.study.executor import stream, workers
    from experiments.study.progress import progress
    from experiments.study.sweep import compile_express
    from netsim.simulation import is_compiled

    report = traces.Report()
    ready = program is not None  # on a cluster every worker compiles for itself
    chosen = {
        name: traffic[name] for name in ("by", "member", "skip_damaged", "seed", "max_think_s", "recorded_round_trip")
    }
    users = study.users(trace, **chosen, report=report)
    cut = study.tasks(users, policies, config, pages_per_task=pages_per_task, program=program)
    names: list[str] = []

    with progress("tasks", None) as advance, workers(scheduler, jobs) as pool:

        def missing() -> Iterator[tuple[str, study.Task]]:
            nonlocal ready
            for number, task in enumerate(cut):
                names.append(f"part-{number:06d}.parquet")
                if store.has(names[-1]):
                    advance()
                    continue
                if task.compile_first and not ready:  # once here, rather than in every process
                    if not all(is_compiled(policy, task.config) for policy in task.policies):
                        echo("compiling the simulator, once on this machine", err=True)
                    compile_express(task.policies, task.config)
                    ready = True
                yield names[-1], task

        def accept(name: str, content: bytes) -> None:
            store.keep(name, content)
            advance()

        stream(study.compute, missing(), pool, accept)
    if report.format:  # a workload is read without one
        echo(str(report), err=True)
    if not names:
        raise ValueError(f"{trace}: there is no page in it")
    wait_us = report.waits_us.quantile(0.5) if config.server_delay.kind == "recorded" else None
    return names, {
        "server_times_s": None if wait_us is None else wait_us / 1e6,
        "round_trip_s": report.round_trip_s if traffic["recorded_round_trip"] else None,
        "messages": report["messages"],
    }


def _write(store: Store, policies: tuple[str, ...], by: str, psm: str, world: str) -> tuple[str, dict[str, Any]]:
    from experiments.figures.population import by_user, saving, slowdown
    from experiments.figures.style import pictures
    from experiments.report.comparison import plain
    from experiments.report.population import population_text
    from experiments.study.population_summary import by_activity, read, summary

    table = read(store.files())
    whole, quarters = summary(table, policies, psm), by_activity(table, policies)
    text = population_text(whole, quarters, f"{whole['users'].iloc[0]} {by}s, {whole['pages'].iloc[0]} pages", by, psm)
    text += f"\n\n{world}" if world else ""
    store.write_frame("summary.csv", whole)
    store.write_frame("by-activity.csv", quarters)
    listed = list(policies)
    drawn = (saving(table, listed, by, psm), slowdown(table, listed, by), by_user(table, listed, by))
    for name, figure in zip(PICTURES, drawn, strict=True):
        for file, content in pictures(name, figure).items():
            store.write(file, content)
    store.write("population.txt", text + "\n")
    return text, {"users": int(whole["users"].iloc[0]), "summary": plain(whole), "by_activity": plain(quarters)}
