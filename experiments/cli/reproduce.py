"""`lpsm reproduce`: figures, tables and theorems of the papers, run again, claim by claim."""

import os
from contextlib import suppress
from pathlib import Path

import click

from experiments.cli import options
from experiments.cli.listings import experiments_listed
from experiments.escaping import echo


def _experiments() -> dict[str, str]:
    from experiments.papers.registry import all_experiments

    return {one.name: one.subject for one in all_experiments().values()}


@options.command(
    click.argument(
        "names", metavar="[NAME | PAPER | all]...", nargs=-1, type=options.Names(_experiments)
    ),
    options.flag(
        "--list listed", "List the experiments, then all figures, tables and theorems of the papers."
    ),
    options.choice("--size", ["smoke", "full"], "A small run to try it, or all that the paper ran.", "full"),
    options.SEED,
    options.out("papers"),
    options.option("--data", "Folder of data sets [the one LPSM_DATA names].", options.FILE),
    options.flag("--stand-in", "Run on generated data instead of the data set, where that is possible."),
    options.flag("--redraw", "Run nothing; check the claims and draw again from the record in OUT."),
    options.option(
        "--commit commits",
        "Commit whose program made some of the records; RESULTS.md names it beside them; may be repeated.",
        multiple=True,
    ),
    options.JOBS,
    options.JSON,
)  # fmt: skip
def reproduce(asked: options.Asked) -> None:
    """Run experiments of the papers again, draw them, and say claim by claim whether they hold.

    Each NAME is one of the list; a paper or all names many.  Each experiment has a folder OUT/PAPER/PLACE
    with its record (parquet), claims and pictures; OUT/RESULTS.md sums up all records there.
    """
    if asked.listed:
        experiments_listed(asked)
        return
    if not asked.names:
        raise ValueError("say what to reproduce: a name of `lpsm reproduce --list`, a paper, or all")
    from experiments.datasets import data_folder
    from experiments.papers import archive
    from experiments.papers.causes import CLASSES
    from experiments.papers.kit import Setup
    from experiments.papers.registry import PAPERS, all_experiments, choose
    from experiments.report.results import (
        HEADING,
        UNDECIDED,
        claim_counts,
        details_markdown,
        results_markdown,
        results_text,
    )
    from experiments.study.files import alone, refuse_file, refuse_foreign, write_file
    from experiments.study.run import processes

    chosen = list(dict.fromkeys(one for name in asked.names for one in choose(name)))
    jobs, out = processes(asked.jobs), asked.out
    refuse_file(out)
    page = Path(os.path.realpath(out)) / "RESULTS.md"
    details = {paper: page.parent / "docs" / "results" / f"{paper}.md" for paper in PAPERS}
    refuse_foreign(page, HEADING, "lpsm reproduce")
    for paper, path in details.items():
        refuse_foreign(path, details_markdown([], paper, PAPERS[paper]).partition("\n")[0], "lpsm reproduce")
    for commit in asked.commits:
        archive.program_at(commit)
    click.get_current_context().with_resource(alone(page))  # until the command ends
    data = None
    with suppress(ValueError, *(() if asked.data else (FileNotFoundError,))):
        data = data_folder(asked.data)
    setup = Setup(size=asked.size, seed=asked.seed, data=data, stand_in=asked.stand_in)
    if len(chosen) > 1 and setup.size == "full" and not asked.redraw:
        hours = sum(one.minutes for one in chosen) / 60.0
        kept = "what is finished is kept, and the same command goes on from there"
        echo(f"lpsm: {len(chosen)} experiments, about {hours:.1f} h of one processor without records; {kept}", err=True)
    missing, said = [], []
    for experiment in chosen:
        try:
            own = None if asked.redraw or asked.stand_in else experiment.data
            if own is not None and experiment.setup(setup).stand_in:
                instead = f"{own.folder} is not there (--data, LPSM_DATA): {own.stand_in} instead"
                echo(f"lpsm: {experiment.name}: {instead}", err=True)
            result = archive.reproduce(experiment, setup, out, jobs=jobs, redraw=asked.redraw, force=asked.force)
        except (FileNotFoundError, archive.MissingRecordError) as error:
            if len(chosen) == 1:
                raise
            words = str(error) if isinstance(error, ValueError) else f"{error.strerror}: {error.filename}"
            missing.append(words)
            continue
        said += archive.collect([result])
        if not asked.as_json:
            echo(results_text(said[-1], computed=result.computed) + "\n")
    everything = archive.collect(archive.results(out), asked.commits)
    there = {result["experiment"] for result in everything}
    absent = [one.name for one in all_experiments().values() if one.name not in there]
    write_file(page, results_markdown(everything, PAPERS, CLASSES, absent))
    for paper in dict.fromkeys(result["experiment"].partition("/")[0] for result in everything):
        write_file(details[paper], details_markdown(everything, paper, PAPERS[paper]))
    for line in missing:
        echo(f"left out: {line}", err=True)
    counts = claim_counts(said)
    few = f"; of those of smoke size the others are {UNDECIDED}" if setup.size != "full" else ""
    held = f"{counts['holds']} of {counts.total() - counts['not a test']} claims hold{few}"
    words = f"{held}. Records and pictures are in {out}, all claims in {page}."
    options.answer(asked, {"results": said, "left_out": missing}, words)
