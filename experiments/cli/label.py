"""`lpsm label`: a selective sampler over a stream."""

from __future__ import annotations

from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click
import pandas as pd
from scipy import sparse

from experiments import datasets
from experiments.cli.options import FILE, KINDS, Names, json_option, number_option, seed_option
from experiments.cli.outcome import Outcome
from experiments.inert import echo
from experiments.report.learning import bounds_text, label_text, mapping_text
from experiments.report.text import plain
from experiments.study import label as study
from experiments.study.files import content_digest
from experiments.study.run import progress
from experiments.study.store import Store
from lpsm import samplers

__all__ = ["label"]


@click.command()
@click.argument("source", metavar="DATA")
@click.option(
    "--algorithm", default="ss", show_default=True, type=Names(KINDS["samplers"]), metavar="KEY",
    help="A sampler's key; see lpsm list samplers.",
)  # fmt: skip
@click.option("--param", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of it; may be repeated.")
@seed_option("Seed of its coins.")
@number_option("--window", kind=int, most=10**9, default=2000, help="Rounds in a sliding window.")
@click.option("--normalize/--no-normalize", default=None, help="Divide instances by their norm [as its paper does].")
@click.option("--scale/--no-scale", default=None, help="Standardise each column as it comes [those of dense files].")
@number_option("--budget", kind=int, most=10**12, least=0, metavar="N", help="Ask each sampler for at most N labels.")
@click.option("--intercept", is_flag=True, help="Append a feature that is the same for all, of the size of the others.")
@click.option("--label", "column", metavar="COLUMN", help="Column of labels, name or number from 0 [last].")
@click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out; may be repeated.")
@click.option("--text", "texts", multiple=True, metavar="COLUMN", help="A column of texts; may be repeated.")
@click.option("--positive", metavar="CLASS", help="This class is +1, all others -1 [of two classes the second].")
@click.option("--one-vs-rest", is_flag=True, help="Any number of classes, a sampler for each against the rest.")
@number_option("--rows", kind=int, most=10**12, least=1, metavar="N", help="Only the first N instances.")
@click.option("--data", "folder", type=FILE, help="Folder of named data sets [LPSM_DATA].")
@number_option(
    "--bounds", "runs", kind=int, most=10**4, least=2, metavar="RUNS",
    help="Hold it against its theorem, a randomised sampler in the mean of so many runs.",
)  # fmt: skip
@click.option("--out", type=FILE, help="Folder for tables, pictures and a manifest [none].")
@json_option()
def label(
    source: str,
    folder: Path | None,
    runs: int | None,
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Run a selective sampler over the stream in DATA; say how well it predicts and what it asks for.

    DATA is a file, by its content a table (CSV, one column the label), parquet, JSON lines, svmlight or npz (X
    and y), plain or packed; or a data set: elec2, mnist, reuters, rcv1, sms-spam, spam-drift, usps. The sampler
    sees only the labels it asks for; accuracy and F-measure are counted afterwards against all.

    With --bounds the mistakes and labels are held against the theorem about the sampler, evaluated on this stream;
    one whose hypothesis fails is void, one that promises nothing is vacuous. The exit status is 1 if one is violated.
    """
    algorithm, parameters = options["algorithm"], options.pop("parameters")
    if algorithm not in (keys := samplers.keys()):
        near = get_close_matches(algorithm.lower(), keys, n=1)
        hint = f", did you mean {near[0]}?" if near else ""
        raise ValueError(f"--algorithm must be one of {', '.join(keys)}, got {algorithm!r}{hint}")
    config = study.LabelConfig(
        algorithm=algorithm, parameters=study.parse_parameters(parameters), max_queries=options["budget"],
        **{name: options[name] for name in ("seed", "window", "normalize")},
    )  # fmt: skip
    config.sampler(1)  # a parameter out of its range is known before anything is read
    stream, digest = _stream(source, folder, options)
    _refuse_zeros(stream, config)
    options["scale"] = _is_scaled(options["scale"], source, stream)
    if options["scale"]:
        stream = stream.scaled()
    if options["intercept"]:
        stream = stream.with_intercept()
    choice = {name: options[name] for name in ("one_vs_rest", "positive")}
    asked = study.problems(stream.y, stream.classes, **choice, place=stream.place)
    _refuse_zeros(stream, config)
    settings = {
        "data": stream.name, "data_sha256": digest, "parameters": dict(pair.split("=", 1) for pair in parameters),
        **{"label" if name == "column" else name: value for name, value in options.items()},
        **({} if runs is None else {"bounds": runs}),
    }  # fmt: skip
    held = pd.DataFrame()
    store = None if out is None else Store(out, "label", settings)
    with nullcontext() if store is None else store.giving_up():
        with progress("classes", len(asked)) as advance:
            found = study.label(stream.X, asked, config, advance)
        _warn(found, config)
        what = f"{' '.join((algorithm, *parameters))} on {stream.name}"
        text = label_text(found.classes, found.summary, asked, what)
        (summary,) = plain(pd.DataFrame([found.summary]))
        data = {**settings, **summary, "mapping": mapping_text(asked), "classes": plain(found.classes)}
        data["windows"] = plain(found.windows)
        if runs is not None:
            with progress("bounds", len(asked)) as advance:
                held = study.held_to_bounds(stream.X, asked, config, runs, advance)
            text += "\n\n" + bounds_text(held)
            data["statements"] = plain(held)
        tables = {"classes": found.classes, "windows": found.windows, "rounds": found.rounds, "bounds": held}
        pictures = {}
        if store is not None:
            from experiments.figures import label as figures

            pictures["label"] = figures.over_time(found.windows, min(config.window, found.summary["rounds"]), what)
            if len(found.classes) > 1:
                pictures["classes"] = figures.by_class(found.classes, what)
        outcome = Outcome(name="label", text=text, data=data, tables=tables, pictures=pictures)
        if store is not None:
            outcome.publish(store)
    outcome.say(out, as_json=as_json)
    if runs is not None and not held["holds"].all():
        click.get_current_context().exit(1)


def _is_scaled(scale: bool | None, source: str, stream: datasets.Stream) -> bool:
    """Whether columns are standardised: as told, otherwise those of a dense file."""
    dense = not sparse.issparse(stream.X)
    if scale and not dense:
        raise ValueError("--scale is for dense instances: centring would fill a sparse table")
    return dense and source not in datasets.names() if scale is None else scale


def _warn(found: study.Labelled, config: study.LabelConfig) -> None:
    """Say on standard error if a sampler that chooses asked for nearly everything, or for nearly nothing."""
    if isinstance(config.sampler(1).rule, samplers.Always):
        return  # it asks for everything by design
    rounds = int(found.summary["rounds"])
    for row in found.classes.to_dict("records"):
        asked = int(row["queries"])
        spent = config.max_queries is not None and asked >= config.max_queries
        if asked > 0.95 * rounds:
            much, what = f"{asked} of {rounds} labels", "a smaller parameter, or --scale or --normalize, asks for fewer"
        elif asked < max(2, rounds // 1000) and not spent:
            much, what = f"only {asked} of {rounds} labels", "a larger parameter, or --no-normalize, asks for more"
        else:
            continue
        echo(f"lpsm: {config.algorithm} asked for {much} about {row['class']}: {what}", err=True)


def _stream(source: str, folder: Path | None, options: dict[str, Any]) -> tuple[datasets.Stream, str]:
    """Return the stream, and the digest of what it was read from."""
    column, drop, texts, rows = (options[name] for name in ("column", "drop", "texts", "rows"))
    if source in datasets.names():
        if column is not None or drop or texts:
            raise ValueError(f"--label, --drop and --text are for tables, {source} is a data set")
        stream = datasets.load(source, folder)
        digest = stream.digest()
    else:
        path = Path(source)
        if not path.exists() and path.suffix == "" and len(path.parts) == 1:
            raise ValueError(f"DATA must be a file or one of {', '.join(datasets.names())}, got {source!r}")
        stream = datasets.read(path, label=column, drop=drop, texts=texts)
        digest = content_digest(path)
    return (stream if rows is None else stream.head(rows)), digest


def _refuse_zeros(stream: datasets.Stream, config: study.LabelConfig) -> None:
    row = stream.first_zero() if config.sampler(1).normalize else None
    if row is not None:
        raise ValueError(
            f"{stream.place(row)}: an instance must not be zero where instances are normalised: "
            "--no-normalize takes it as it is"
        )
