"""Where records lie: a folder an experiment, its tables as parquet, and what was concluded from them.

What it models: `reproduce` runs what is not finished yet (a journal keeps every finished task, `study.store`), writes
the record, reads it back, and only then checks claims and draws.  A folder whose record has the same configuration and
was made by the same program is not computed again; neither are tasks that another experiment, which draws something
else from them, has under the same folder.
What it leaves out: how results are worded (`report.results`).
"""

import io
import subprocess
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from experiments.escaping import as_meant
from experiments.figures.style import pictures
from experiments.papers.causes import cause_of
from experiments.papers.kit import Experiment, Setup
from experiments.papers.registry import all_experiments
from experiments.quantities import Row
from experiments.report.text import markdown
from experiments.study.files import PACKAGES, source_digest
from experiments.study.run import run
from experiments.study.store import Store, content_of, finished, manifest_of

CLAIMS = "claims.csv"


class MissingRecordError(ValueError):
    """There is no record to draw again."""


class Result(NamedTuple):
    """A record and what it says: `claims` is a row a claim, `tables` are those of words, in Markdown."""

    experiment: Experiment
    configuration: Row
    claims: pd.DataFrame
    computed: bool
    tables: tuple[str, ...] = ()


def reproduce(
    experiment: Experiment, setup: Setup, out: Path, *, jobs: int = 1, redraw: bool = False, force: bool = False
) -> Result:
    """Make or find the record of an experiment in ``out/PAPER/PLACE``, and conclude from it.

    With `redraw` the record that is there, whatever program made it, is only checked and drawn again; with `force` one
    that is there is made anew, whatever its options.

    Raises
    ------
    ValueError
        If the folder holds something else or a damaged record, or `redraw` finds none that this program can read.
    FileNotFoundError
        If its data set is missing.
    Interrupted
        On Ctrl-C; finished tasks are kept.
    """
    folder, command = out / experiment.name, _command(experiment)
    if redraw:
        there = _manifest(folder, command)
        if there is None:
            raise MissingRecordError(f"redraw needs a record of {experiment.name}, there is none in {folder}")
        tables = _tables(folder, there)
        try:
            store = Store(folder, command, there["configuration"], force=force)
            return _conclude(experiment, store, tables, computed=False)
        except KeyError as error:
            raise ValueError(
                f"the record in {folder} has no {error.args[0]!r}: another version of the program made it; "
                "run it again without redraw"
            ) from None
    setup = experiment.setup(setup)
    tasks = dict(experiment.sweep(setup))
    configuration = {
        "experiment": experiment.name, "size": setup.size, "seed": setup.seed, "material": setup.material,
        # where data lie decides no number
        "tasks": {key: {name: one for name, one in task.items() if name != "folder"} for key, task in tasks.items()},
        "program_sha256": source_digest(),
    }  # fmt: skip
    store = Store(folder, command, configuration, force=force, shape={...: [dict]})
    same = _with_same_runs(experiment, store.manifest, out, itself=not force)
    with store.giving_up():
        tables = _tables(*same) if same else _computed(experiment, tasks, store, jobs)
    return _conclude(experiment, store, tables, computed=same is None)


def _computed(experiment, tasks, store, jobs):
    """Run what is not finished, and return the record, parquet by table."""
    title = f"runs of {experiment.name}"
    done = run(experiment.run, tasks, jobs=jobs, finished=store.finished, keep=store.keep, title=title)
    rows: defaultdict[str, list[Row]] = defaultdict(list)
    for key, tables in done.items():
        for table, own in tables.items():
            rows[table] += [{"task": key, **row} for row in own]
    return {table: pd.DataFrame(own).to_parquet(compression="zstd", index=False) for table, own in rows.items()}


def _with_same_runs(experiment, manifest, out, *, itself):
    """Return where the record lies of an experiment, `itself` or another, that ran the same tasks with this program."""

    def runs(of):
        return {**of["configuration"], "experiment": ""}, of["versions"]

    others = [one for one in all_experiments().values() if one.run == experiment.run and one.name != experiment.name]
    for one in [experiment] * itself + others:
        there = _manifest(out / one.name, _command(one))
        if there is not None and runs(there) == runs(manifest):
            return out / one.name, there
    return None


def _conclude(experiment, store, tables, *, computed):
    """Write record, claims and pictures, and give the folder its name."""
    configuration, data = store.configuration, experiment.data
    if not computed:  # the record that is there has all tasks
        store.finished = dict.fromkeys(configuration["tasks"])
    with store.giving_up():
        for table, content in tables.items():
            store.write(f"{table}.parquet", content)
        record = {table: pd.read_parquet(io.BytesIO(content)) for table, content in tables.items()}
        claims = pd.DataFrame([
            {"statement": claim.statement, "kind": experiment.kind(claim), "printed": claim.printed, "ours": ours,
             "short": short, "holds": bool(holds), "noisy": noisy, "tolerance": claim.tolerance,
             "why_not": "" if holds else why or f"the record has {ours}",
             "cause": cause_of(experiment.name, claim.statement)}
            for claim, (ours, holds, why, short, noisy) in experiment.verdicts(record)
        ])  # fmt: skip
        store.write(CLAIMS, claims)
        words = []
        for name, drawn in experiment.figures(record).items():
            if isinstance(drawn, pd.DataFrame):
                store.write(f"{name}.csv", drawn)
                words.append(markdown(drawn))
                store.write(f"{name}.md", words[-1].encode())
                continue
            if data is not None:
                material = configuration["material"]
                instead = f", in place of {data.folder}" if material == data.stand_in else ""
                drawn.suptitle(f"on {material}{instead}", fontsize=9)
            for file, content in pictures(name, drawn).items():
                store.write(file, content)
        store.publish()
    return Result(experiment, configuration, claims, computed, tuple(words))


def results(out: Path) -> list[Result]:
    """Return what was concluded from every record under `out`, in the order of the registry.

    Raises ValueError if the claims of one are not as they were written.
    """
    concluded = []
    for experiment in all_experiments().values():
        folder = out / experiment.name
        manifest = _manifest(folder, _command(experiment))
        if manifest is not None:
            written = io.BytesIO(content_of(folder, CLAIMS, manifest))
            claims = pd.read_csv(written, keep_default_na=False, dtype={"printed": str, "ours": str}).map(as_meant)
            files = (name for name in manifest["files"] if name.endswith(".md"))
            tables = tuple(content_of(folder, name, manifest).decode() for name in files)
            concluded.append(Result(experiment, manifest["configuration"], claims, False, tables))
    return concluded


def program_at(commit: str) -> str:
    """Return the digest of the program as it was at a commit of its repository; ValueError if there is no such one."""
    command = ["git", "-C", str(Path(__file__).resolve().parents[2]), "archive", commit, *PACKAGES]
    try:
        packed = subprocess.run(command, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise ValueError(f"commit must be one of the repository that lpsm lies in, got {commit!r}") from None
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(packed)) as tree:
        tree.extractall(folder, filter="data")
        return source_digest(Path(folder))


def collect(concluded: list[Result], commits: Sequence[str] = ()) -> list[Row]:
    """Return results as plain data: a dictionary an experiment, with its claims; `made` is by which program.

    That is the one of the commits given whose program it was, and otherwise the beginning of the program's digest.
    """
    names = {program_at(commit): f"commit {commit}" for commit in commits}
    return [
        {
            "experiment": experiment.name, "about": experiment.subject,
            **{name: made[name] for name in ("size", "seed", "material")}, "runs": len(made["tasks"]),
            "data": experiment.data.told(made["material"]) if experiment.data else made["material"],
            "made": names.get(made["program_sha256"]) or f"program {made['program_sha256'][:12]}",
            "claims": claims.to_dict("records"), "tables": tables,
        }
        for experiment, made, claims, _, tables in concluded
    ]  # fmt: skip


def _command(experiment):
    return f"reproduce {experiment.name}"


def _tables(folder, manifest):
    names = sorted(name for name in manifest["files"] if name.endswith(".parquet"))
    return {Path(name).stem: content_of(folder, name, manifest) for name in names}


def _manifest(folder, command):
    """Return the manifest of a finished record, if there is one; a ValueError of one that is not as it was written."""
    with suppress(OSError):
        found = manifest_of(folder)
        if found["command"] == command and "files" in found:
            return finished(folder)
    return None
