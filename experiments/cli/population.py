"""`lpsm population`: every user or session of a trace through every policy, on this machine or on a cluster."""

from functools import partial

import click

from experiments.cli import options
from experiments.cli.model import WORLD, world_of
from experiments.cli.studies import ended, folder, recorded_words, settings_of
from experiments.escaping import echo
from experiments.presets import LOCAL


@options.command(
    click.argument("trace", type=options.INPUT),
    options.policies("none,psm,bsd:1,lpsm:log"),
    options.choice("--by", ["user", "session"], "Whether each run is of a user or of a session."),
    options.MEMBER,
    options.SKIP_DAMAGED,
    options.seconds("--max-think max_think_s", "Leave out longer pauses between pages: the user was away."),
    options.SEED,
    options.out("population"),
    options.option(
        "--scheduler", "processes of this machine, or the address tcp://HOST:PORT of a Dask scheduler.", default=LOCAL
    ),
    options.JOBS,
    options.whole("--pages-per-task", "About how many pages one task has.", 1000),
    options.JSON,
    *WORLD,
)
def population(asked: options.Asked) -> None:
    """Run every user (or session) of TRACE under every policy.

    OUT receives a table of all users and policies (Parquet), distributions of energy and slowdown (CSV) and pictures
    (PNG and SVG).  A run that was stopped, by whatever, goes on when the same command is given again.
    """
    import pandas as pd

    import netsim
    import traces
    from experiments.figures.population import by_user, energy, slowdown
    from experiments.quantities import BASELINE
    from experiments.report.comparison import population_text
    from experiments.report.text import plain
    from experiments.study import population as study
    from experiments.study import sweep
    from experiments.study.files import content_digest, source_digest
    from experiments.study.progress import progress
    from experiments.study.run import is_cluster, processes, run
    from experiments.study.traffic import told
    from netsim.simulation import uncompiled

    world = world_of(asked)
    config, interval_ns = world.config, world.config.beacon_interval_ns
    chosen = sweep.named(asked.policies, interval_ns)
    chosen = {BASELINE: chosen.pop(BASELINE), **chosen}
    if (on_cluster := is_cluster(asked.scheduler)) and asked.jobs is not None:
        raise ValueError(f"jobs are for this machine, {asked.scheduler} has workers of its own")
    jobs, policies = processes(asked.jobs), tuple(chosen.values())
    for policy in policies:  # one that does not go with the world is known before anything is read
        netsim.simulate(sweep.ONE_PAGE, policy, config=config)
    names = ("by", "member", "seed", "skip_damaged", "max_think_s")
    choice = {name: getattr(asked, name) for name in names} | {"recorded_round_trip": world.recorded_round_trip}
    traffic, report = {"sha256": content_digest(asked.trace), **choice}, traces.Report()
    users = []
    with progress("runs read", None) as advance:  # what is wrong with the trace is known before anything is written
        for user in study.users(asked.trace, **choice, report=report):
            users.append(user)
            advance()
    world = world.beside(users)
    config = world.config
    program = source_digest() if on_cluster else None
    cut = study.tasks(users, policies, config, pages_per_task=asked.pages_per_task, program=program)
    if not cut:
        raise ValueError(f"{asked.trace}: there is no page in it")
    settings = settings_of(traffic, chosen, world, pages_per_task=asked.pages_per_task)
    with folder("population", asked, settings, dict.fromkeys(study.COLUMNS, list)) as store:
        if cut[0].compile_first and len(store.finished) < len(cut) and not on_cluster:  # where every worker does
            if uncompiled(policies, config):
                echo("compiling the simulator, once on this machine", err=True)
            sweep.compile_express(policies, config, jobs)
        found = run(
            study.compute, {str(number): task for number, task in enumerate(cut)}, jobs=jobs, title="tasks",
            scheduler=asked.scheduler, finished=store.finished, keep=store.keep,
        )  # fmt: skip
        if report.format:  # a workload is read without one
            echo(str(report), err=True)
        table = pd.concat(map(pd.DataFrame, found.values()), ignore_index=True)
        recorded = told(users, config)
        psm = netsim.canonical("psm", beacon_interval_ns=interval_ns)
        whole = study.summary(table, [*chosen], psm)
        count, pages = int(whole["users"].iloc[0]), int(whole["pages"].iloc[0])
        of = f"{traces.counted(count, f'{asked.by}s')}, {traces.counted(pages, 'pages')}"
        text = population_text(whole, of, asked.by, psm)
        said = {"recorded": recorded, "users": count, "summary": plain(whole)}
        drawings = {
            "energy": partial(energy, table, [*chosen], asked.by, psm),
            "slowdown": partial(slowdown, table, [*chosen], asked.by),
            "users": partial(by_user, table, [*chosen], asked.by),
        }  # fmt: skip
        store.write("users.parquet", table.to_parquet(index=False, compression="zstd"))
        text += f"\n\n{recorded_words(recorded, world)}"
        ended(store, asked, "population", text, said, {"summary": whole}, drawings)
