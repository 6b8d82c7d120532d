"""Where records lie: a folder an experiment, its tables as parquet, and what was concluded from them.

What it models: `reproduce` runs what is not finished yet (a journal keeps every finished
task, `study.store`), writes the record, reads it back, and only then checks claims and draws.
A folder whose record has the same configuration and was made by the same program is not
computed again; neither are tasks that another experiment, which draws something else from them, has
under the same folder.  Every parquet file carries configuration and versions in its own metadata, so
that it stays what it is when it is moved.  What it leaves out: how results are worded (`report.results`).
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from experiments.figures.style import pictures
from experiments.inert import as_meant
from experiments.papers.claims import Claim, Record, Verdict
from experiments.papers.kit import Experiment, Setup
from experiments.papers.registry import all_experiments
from experiments.report.text import markdown
from experiments.study.files import PACKAGES, source_digest
from experiments.study.run import run
from experiments.study.store import Store

__all__ = ["MissingRecordError", "Result", "collect", "folder_of", "program_at", "reproduce", "results"]

MANIFEST = "manifest.json"
CLAIMS = "claims.csv"


class MissingRecordError(ValueError):
    """There is no record to draw again."""


class Result(NamedTuple):
    """A record and what it says: `claims` is a row a claim."""

    experiment: Experiment
    configuration: dict[str, Any]
    claims: pd.DataFrame
    computed: bool


def folder_of(out: Path, experiment: Experiment) -> Path:
    """Return the folder of an experiment's record under `out`."""
    return out / experiment.name


def reproduce(experiment: Experiment, setup: Setup, out: Path, *, jobs: int = 1, redraw: bool = False) -> Result:
    """Make or find the record of an experiment in ``out/PAPER/PLACE``, and conclude from it.

    With `redraw` the record that is there, whatever program made it, is only checked and drawn again.

    Raises
    ------
    ValueError
        If the folder holds something else or a damaged record, or `redraw` finds none that this program can read.
    FileNotFoundError
        If its data set is missing.
    Interrupted
        On Ctrl-C; finished tasks are kept.
    """
    folder = folder_of(out, experiment)
    if redraw:
        return _redraw(experiment, folder)
    setup = experiment.setup(setup)
    tasks = dict(experiment.sweep(setup))
    configuration = {
        "experiment": experiment.name, "size": setup.size, "seed": setup.seed, "material": experiment.material(setup),
        # where data lie decides no number
        "tasks": {key: {name: one for name, one in task.items() if name != "folder"} for key, task in tasks.items()},
        "program_sha256": source_digest(),
    }  # fmt: skip
    store = Store(folder, _command(experiment), configuration)
    there = _with_same_runs(experiment, store, out)
    with store.giving_up():
        record = _tables(*there) if there is not None else _computed(experiment, tasks, store, jobs)
    return _conclude(experiment, store, record, computed=there is None)


def _computed(experiment: Experiment, tasks: Mapping[str, Any], store: Store, jobs: int) -> Record:
    """Run what is not finished, and return the record as it is read back."""
    title = f"runs of {experiment.name}"
    finished = run(experiment.run, tasks, jobs=jobs, finished=store.finished, keep=store.keep, title=title)
    rows: dict[str, list[dict[str, Any]]] = {}
    for key, tables in finished.items():
        for table, own in tables.items():
            rows.setdefault(table, []).extend({"task": key, **row} for row in own)
    written = {table: _parquet(pd.DataFrame(own), store.manifest) for table, own in rows.items()}
    return {table: pd.read_parquet(io.BytesIO(content)) for table, content in written.items()}


def _redraw(experiment: Experiment, folder: Path) -> Result:
    """Conclude anew from the record that is there."""
    earlier = _manifest(folder)
    if earlier is None or earlier.get("command") != _command(experiment):
        raise MissingRecordError(f"redraw needs a record of {experiment.name}, there is none in {folder}")
    record = _tables(folder, earlier)
    try:
        store = Store(folder, _command(experiment), earlier["configuration"])
        return _conclude(experiment, store, record, computed=False)
    except KeyError as error:
        raise ValueError(
            f"the record in {folder} has no {error.args[0]!r}: another version of the program made it; "
            "run it again without redraw"
        ) from None


def results(out: Path) -> list[Result]:
    """Return what was concluded from every record under `out`, in the order of the registry.

    Raises ValueError if the claims of one are not as they were written.
    """
    concluded = []
    for experiment in all_experiments().values():
        folder = folder_of(out, experiment)
        manifest = _manifest(folder)
        if manifest is not None and manifest.get("command") == _command(experiment):
            written = io.BytesIO(_whole(folder, CLAIMS, manifest))
            claims = pd.read_csv(written, keep_default_na=False, dtype={"printed": str, "ours": str}).map(as_meant)
            concluded.append(Result(experiment, manifest["configuration"], claims, False))
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


def collect(concluded: list[Result], commits: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return results as plain data: a dictionary an experiment, with its claims; `made` is by which program.

    That is the one of the commits given whose program it was, and otherwise the beginning of the program's digest.
    """
    names = {program_at(commit): f"commit {commit}" for commit in commits}
    collected = []
    for experiment, configuration, claims, _ in concluded:
        digest = configuration["program_sha256"]
        collected.append({
            "experiment": experiment.name, "about": experiment.subject,
            **{name: configuration[name] for name in ("size", "seed", "material")},
            "runs": len(configuration["tasks"]), "made": names.get(digest) or f"program {digest[:12]}",
            "claims": claims.to_dict("records"),
        })  # fmt: skip
    return collected


def _command(experiment: Experiment) -> str:
    return f"reproduce {experiment.name}"


def _with_same_runs(experiment: Experiment, store: Store, out: Path) -> tuple[Path, dict[str, Any]] | None:
    """Return where the record lies of an experiment, this or another, that ran the same tasks with this program."""

    def runs(manifest: Mapping[str, Any]) -> Any:
        return {**manifest["configuration"], "experiment": ""}, manifest["versions"]

    others = [one for one in all_experiments().values() if one.run == experiment.run and one.name != experiment.name]
    for folder in (folder_of(out, one) for one in (experiment, *others)):
        manifest = _manifest(folder)
        if manifest is not None and runs(manifest) == runs(store.manifest):
            return folder, manifest
    return None


def _conclude(experiment: Experiment, store: Store, record: Record, *, computed: bool) -> Result:
    """Write record, claims and pictures, and give the folder its name."""
    configuration = store.manifest["configuration"]
    if not computed:  # the record that is there has all tasks
        store.finished = dict.fromkeys(configuration["tasks"])
    with store.giving_up():
        for table, frame in record.items():
            store.write(f"{table}.parquet", _parquet(frame, store.manifest))
        claims = pd.DataFrame(_row(claim, verdict) for claim, verdict in experiment.verdicts(record))
        store.write(CLAIMS, claims)
        for name, words in experiment.tables(record).items():
            store.write(f"{name}.csv", words)
            store.write(f"{name}.md", markdown(words).encode())
        data, material = experiment.data, configuration["material"]
        for name, figure in experiment.figures(record).items():
            if data is not None:
                instead = f", in place of {data.folder}" if material == data.stand_in else ""
                figure.suptitle(f"on {material}{instead}", fontsize=9)
            for file, content in pictures(name, figure).items():
                store.write(file, content)
        store.publish()
    return Result(experiment, configuration, claims, computed)


def _row(claim: Claim, verdict: Verdict) -> dict[str, Any]:
    ours, holds, why, short = verdict
    said = {"statement": claim.statement, "printed": claim.printed, "ours": ours, "short": short or ours}
    why_not = "" if holds else why or f"the record has {ours}"
    return {**said, "holds": bool(holds), "tolerance": claim.tolerance, "why_not": why_not}


def _parquet(frame: pd.DataFrame, manifest: Mapping[str, Any]) -> bytes:
    """Return the table as parquet; configuration (without the list of tasks) and versions are in its metadata."""
    import pyarrow as pa
    from pyarrow import parquet

    table = pa.Table.from_pandas(frame, preserve_index=False)
    configuration = {key: value for key, value in manifest["configuration"].items() if key != "tasks"}
    note = json.dumps({"configuration": configuration, "versions": manifest["versions"]}, sort_keys=True)
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), b"lpsm": note.encode()})
    sink = io.BytesIO()
    parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue()


def _tables(folder: Path, manifest: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    names = sorted(name for name in manifest["files"] if name.endswith(".parquet"))
    return {Path(name).stem: pd.read_parquet(io.BytesIO(_whole(folder, name, manifest))) for name in names}


def _whole(folder: Path, name: str, manifest: Mapping[str, Any]) -> bytes:
    """Return the content of a file of a record, which must be what its manifest says was written."""
    path = folder / name
    content = path.read_bytes() if path.is_file() else None
    if content is None or hashlib.sha256(content).hexdigest() != manifest["files"].get(name):
        what = "is not there" if content is None else "is not as it was written"
        raise ValueError(f"{path} {what}; delete {folder} and run again")
    return content


def _manifest(folder: Path) -> dict[str, Any] | None:
    try:
        manifest = json.loads((folder / MANIFEST).read_text())
    except (OSError, ValueError):
        return None
    return manifest if isinstance(manifest, dict) and isinstance(manifest.get("files"), dict) else None
