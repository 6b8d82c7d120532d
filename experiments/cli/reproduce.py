"""`lpsm reproduce`: figures, tables and theorems of the papers, run again, claim by claim."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from experiments.cli.listings import experiments_listed
from experiments.cli.options import FILE, KINDS, Names, jobs_option, json_option, out_option, seed_option
from experiments.inert import echo

__all__ = ["reproduce"]


@click.command()
@click.argument("what", metavar="[NAME | PAPER | all]", required=False, type=Names(KINDS["experiments"]))
@click.option(
    "--list", "listed", is_flag=True, help="List the experiments, then all figures, tables and theorems of the papers."
)
@click.option(
    "--size", type=click.Choice(["smoke", "full"]), default="full", show_default=True,
    help="A small run to try it, or all that the paper ran.",
)  # fmt: skip
@seed_option("First seed.")
@out_option("papers")
@click.option("--data", type=FILE, help="Folder of data sets [the one LPSM_DATA names].")
@click.option("--stand-in", is_flag=True, help="Run on generated data instead of the data set, where that is possible.")
@click.option("--redraw", is_flag=True, help="Run nothing; check the claims and draw again from the record in OUT.")
@click.option(
    "--commit",
    "commits",
    multiple=True,
    help="Commit whose program made some of the records; RESULTS.md names it beside them; may be repeated.",
)
@jobs_option()
@json_option("the results")
def reproduce(
    what: str | None,
    listed: bool,
    size: str,
    seed: int,
    out: Path,
    data: Path | None,
    stand_in: bool,
    redraw: bool,
    commits: tuple[str, ...],
    jobs: int | None,
    as_json: bool,
) -> None:
    """Run an experiment of a paper again, draw it, and say claim by claim whether it holds.

    WHAT is a name from the list, a paper, or all.  Each experiment has a folder OUT/PAPER/PLACE
    with its record (parquet), claims and pictures; OUT/RESULTS.md sums up all records there.
    """
    if listed:
        experiments_listed(as_json=as_json)
        return
    if what is None:
        raise ValueError("say what to reproduce: a name of `lpsm reproduce --list`, a paper, or all")
    from experiments.papers import archive
    from experiments.papers.kit import Setup
    from experiments.papers.registry import PAPERS, choose
    from experiments.report.results import HEADING, claim_counts, details_markdown, results_markdown, results_text
    from experiments.study.executor import checked_jobs
    from experiments.study.files import alone, refuse_file, write_file

    chosen = choose(what)
    jobs = checked_jobs(jobs)
    refuse_file(out)
    page = Path(os.path.realpath(out)) / "RESULTS.md"
    if page.exists() and not page.read_text(errors="replace").startswith(HEADING):
        raise ValueError(f"{page} was not written by lpsm reproduce; choose another --out")
    for commit in commits:
        archive.program_at(commit)
    click.get_current_context().with_resource(alone(page))  # until the command ends
    setup = Setup(size=size, seed=seed, data=_data_folder(data), stand_in=stand_in)
    missing, said = [], []
    for experiment in chosen:
        try:
            if not redraw and not stand_in and experiment.setup(setup).stand_in and experiment.data is not None:
                instead = (
                    f"{experiment.data.folder} is not there (--data, LPSM_DATA): {experiment.data.stand_in} instead"
                )
                echo(f"lpsm: {experiment.name}: {instead}", err=True)
            result = archive.reproduce(experiment, setup, out, jobs=jobs, redraw=redraw)
        except (FileNotFoundError, archive.MissingRecordError) as error:
            if len(chosen) == 1:
                raise
            words = str(error) if isinstance(error, ValueError) else f"{error.strerror}: {error.filename}"
            missing.append(words)
            continue
        said += archive.collect([result])
        if not as_json:
            echo(results_text(said[-1], computed=result.computed) + "\n")
    everything = archive.collect(archive.results(out), commits)
    write_file(page, results_markdown(everything, PAPERS))
    (out / "results").mkdir(exist_ok=True)
    for paper in dict.fromkeys(result["experiment"].partition("/")[0] for result in everything):
        write_file(out / "results" / f"{paper}.md", details_markdown(everything, paper, PAPERS[paper]))
    for line in missing:
        echo(f"left out: {line}", err=True)
    if as_json:
        click.echo(json.dumps({"results": said, "left_out": missing}))
    else:
        counts = claim_counts(said)
        held, count = counts["holds"], counts["holds"] + counts["fails"]
        echo(f"{held} of {count} claims hold. Records and pictures are in {out}, all claims in {page}.")


def _data_folder(given: Path | None) -> Path | None:
    """Return the folder of data sets that is given or named by the environment, if any."""
    if given is not None:
        if not given.is_dir():
            raise NotADirectoryError(20, "is no folder of data sets", str(given))
        return given
    named = os.environ.get("LPSM_DATA")
    return Path(named) if named and Path(named).is_dir() else None
