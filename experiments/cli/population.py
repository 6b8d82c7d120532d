"""`lpsm population`: every user or session of a trace through every policy, on this machine or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from experiments.cli import options
from experiments.cli.model import WORLD, world_of
from experiments.cli.outcome import Outcome
from experiments.cli.traffic import begun, recorded_words
from experiments.inert import echo

__all__ = ["population"]


@options.command(
    click.argument("trace", type=options.INPUT),
    options.policies("none,psm,bsd:1,lpsm:log"),
    options.choice("--by", ["user", "session"], "Whether each run is of a user or of a session."),
    options.MEMBER,
    options.SKIP_DAMAGED,
    options.seconds("--max-think", "max_think_s", help="Leave out longer pauses between pages: the user was away."),
    options.seed("Seed of the first user; each further one has the next.", least=0),
    options.out("population"),
    options.REPLACE,
    click.option(
        "--scheduler", default="processes", show_default=True,
        help="processes of this machine, or the address tcp://HOST:PORT of a Dask scheduler.",
    ),
    options.jobs(),
    options.number(
        "--pages-per-task", kind=int, most=options.MOST_PAGES, least=1, default=1000,
        help="About how many pages one task has.",
    ),
    options.json_option("the summary"),
    *WORLD,
)  # fmt: skip
def population(asked: Any) -> None:
    """Run every user (or session) of TRACE under every policy.

    OUT receives a Parquet file for each task, a row for each user and policy, distributions of energy and
    slowdown (CSV) and pictures (PNG and SVG).  A run that was stopped, by whatever, goes on when the same
    command is given again.
    """
    import netsim
    import traces
    from experiments.figures.population import by_user, energy, slowdown
    from experiments.quantities import BASELINE
    from experiments.report.comparison import population_text
    from experiments.report.text import plain
    from experiments.study import population as study
    from experiments.study import sweep
    from experiments.study.executor import checked_jobs, is_cluster, workers
    from experiments.study.files import content_digest, source_digest
    from experiments.study.run import progress, run
    from netsim.simulation import is_compiled

    world = world_of(asked)
    chosen = sweep.named(asked.policies, world.config.beacon_interval_ns)
    chosen = {BASELINE: chosen.pop(BASELINE), **chosen}
    if (on_cluster := is_cluster(asked.scheduler)) and asked.jobs is not None:
        raise ValueError(f"jobs are for this machine, {asked.scheduler} has workers of its own")
    jobs, policies = checked_jobs(asked.jobs), tuple(chosen.values())
    study.check(policies, world.config)
    names = ("by", "member", "seed", "skip_damaged", "max_think_s")
    choice = {name: getattr(asked, name) for name in names} | {"recorded_round_trip": world.recorded_round_trip}
    traffic, report = {"sha256": content_digest(asked.trace), **choice}, traces.Report()
    captured_s: list[float] = []

    def read() -> Iterator[study.User]:
        for user in study.users(asked.trace, **choice, report=report):
            captured_s.extend([user.pages.captured_s] if user.pages.captured_s is not None else [])
            advance()
            yield user

    with progress("runs read", None) as advance:  # what is wrong with the trace is known before anything is written
        tasks = study.Spool(
            study.tasks(
                read(), policies, world.config, pages_per_task=asked.pages_per_task,
                program=source_digest() if on_cluster else None,
            )
        )  # fmt: skip
    if not tasks:
        raise ValueError(f"{asked.trace}: there is no page in it")
    if on_cluster:
        with workers(asked.scheduler, jobs):
            pass
    store = begun("population", asked, traffic, chosen, world, runs=0, pages_per_task=asked.pages_per_task)
    with store.giving_up():
        if tasks.compile_first and len(store.finished) < len(tasks) and not on_cluster:  # where every worker does
            if not all(is_compiled(policy, world.config) for policy in policies):
                echo("compiling the simulator, once on this machine", err=True)
            sweep.compile_express(policies, world.config)
        run(
            study.compute, tasks, jobs=jobs, scheduler=asked.scheduler, finished=store.finished, keep=store.keep,
            title="tasks",
        )  # fmt: skip
        if report.format:  # a workload is read without one
            echo(str(report), err=True)
        table = study.read(store.files())
        wait_us = report.waits_us.quantile(0.5) if world.config.server_delay.kind == "recorded" else None
        recorded = {
            "server_times_s": None if wait_us is None else wait_us / 1e6,
            "round_trip_s": report.round_trip_s if world.recorded_round_trip else None,
            "messages": report["messages"],
        }
        if captured_s:
            simulated_s = table.loc[table["policy"] == BASELINE, "elapsed_s"].sum()
            recorded |= {"captured_s": sum(captured_s), "simulated_s": float(simulated_s)}
        psm = netsim.canonical("psm", beacon_interval_ns=world.config.beacon_interval_ns)
        whole, quarters = study.summary(table, [*chosen], psm), study.by_activity(table, [*chosen])
        users, pages = int(whole["users"].iloc[0]), int(whole["pages"].iloc[0])
        text = population_text(whole, quarters, f"{users} {asked.by}s, {pages} pages", asked.by, psm)
        below = "\n".join(filter(None, [world.words, recorded_words(recorded, world)]))
        said = {"recorded": recorded, "users": users, "summary": plain(whole), "by_activity": plain(quarters)}
        outcome = Outcome(
            name="population", text=f"{text}\n\n{below}", data={**store.configuration, **said},
            tables={"summary": whole, "by-activity": quarters},
            pictures={
                "energy": energy(table, [*chosen], asked.by, psm),
                "slowdown": slowdown(table, [*chosen], asked.by),
                "users": by_user(table, [*chosen], asked.by),
            },
        )  # fmt: skip
        outcome.publish(store)
    outcome.say(asked)
