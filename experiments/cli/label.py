"""`lpsm label`: a selective sampler over a stream."""

from __future__ import annotations

from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli import options
from experiments.cli.outcome import Outcome
from experiments.inert import echo

if TYPE_CHECKING:
    from experiments import datasets
    from experiments.study.label import LabelConfig, Labelled

__all__ = ["label"]

_NOT_SETTINGS = ("source", "folder", "runs", "out", "as_json", "parameters", "rate", "store_all")


@options.command(
    click.argument("source", metavar="DATA"),
    click.option(
        "--algorithm", type=options.Names(options.KINDS["samplers"]), metavar="KEY",
        help="A sampler's key; see lpsm list samplers  [ss; with --rate kept-rate].",
    ),
    click.option(
        "--param", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of it; may be repeated."
    ),
    options.number(
        "--rate", kind=float, most=1.0, least=0.0, metavar="B",
        help="Ask for this share of the labels, where the margin is below a threshold that keeps to it.",
    ),
    options.flag("--store-all", help="Learn from every label that was asked for, not from mistakes alone."),
    options.flag("--last-labels", help="Add the labels asked for lately as features: for series of two classes."),
    options.seed("Seed of its coins."),
    options.number("--window", kind=int, most=10**9, default=2000, help="Rounds in a sliding window."),
    click.option(
        "--normalize/--no-normalize", default=None, help="Divide instances by their norm [as its paper does]."
    ),
    click.option(
        "--scale/--no-scale", default=None, help="Standardise each column as it comes [those of dense files]."
    ),
    options.number(
        "--budget", kind=int, most=10**12, least=0, metavar="N", help="Ask each sampler for at most N labels."
    ),
    options.flag("--intercept", help="Append a feature that is the same for all, of the size of the others."),
    click.option("--label", "column", metavar="COLUMN", help="Column of labels, name or number from 0 [last]."),
    click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out; may be repeated."),
    click.option("--text", "texts", multiple=True, metavar="COLUMN", help="A column of texts; may be repeated."),
    click.option("--positive", metavar="CLASS", help="This class is +1, all others -1 [of two classes the second]."),
    options.flag("--one-vs-rest", help="Any number of classes, a sampler for each against the rest."),
    options.flag("--multiclass", help="Any number of classes, one sampler that asks for the class itself."),
    options.number("--rows", kind=int, most=10**12, least=1, metavar="N", help="Only the first N instances."),
    click.option("--data", "folder", type=options.FILE, help="Folder of named data sets [LPSM_DATA]."),
    options.number(
        "--bounds", "runs", kind=int, most=10**4, least=2, metavar="RUNS",
        help="Compare it with its theorem; a randomised sampler in the mean of RUNS runs.",
    ),
    click.option("--out", type=options.FILE, help="Folder for tables, pictures and a manifest [none]."),
    options.json_option(),
)  # fmt: skip
def label(asked: Any) -> None:
    """Run a selective sampler over the stream in DATA; say how well it predicts and what it asks for.

    DATA is a file, by its content a table (CSV, one column the label), parquet, JSON lines, svmlight or npz (X
    and y), plain or packed; or a data set: elec2, mnist, reuters, rcv1, sms-spam, spam-drift, usps. The sampler
    sees only the labels it asks for; accuracy and F-measure are counted afterwards against all.

    With --bounds the mistakes and labels are held against the theorem about the sampler, evaluated on this stream;
    one whose hypothesis fails is void, one that promises nothing is vacuous. The exit status is 1 if one is violated.
    """
    import pandas as pd
    from scipy import sparse

    from experiments.report.learning import bounds_text, label_text, mapping_text
    from experiments.report.text import plain
    from experiments.study import label as study
    from experiments.study.run import progress
    from experiments.study.store import Store
    from lpsm import samplers

    algorithm = asked.algorithm = asked.algorithm or ("ss" if asked.rate is None else "kept-rate")
    asked.parameters += () if asked.rate is None else (f"rate={asked.rate}",)
    asked.parameters += ("stores=queried",) if asked.store_all else ()
    runs = asked.runs
    if algorithm not in (keys := samplers.keys()):
        near = get_close_matches(algorithm.lower(), keys, n=1)
        hint = f", did you mean {near[0]}?" if near else ""
        raise ValueError(f"--algorithm must be one of {', '.join(keys)}, got {algorithm!r}{hint}")
    given = study.parse_parameters(asked.parameters)
    config = options.configured(study.LabelConfig, asked, parameters=given, max_queries=asked.budget)
    if runs is not None and (config.last_labels or config.multiclass):
        raise ValueError(
            "--bounds holds for questions of yes and no on the data as they are: no --last-labels, --multiclass"
        )
    config.sampler(1)  # a parameter out of its range is known before anything is read
    stream, digest = _stream(asked)
    _refuse_zeros(stream, config)
    asked.scale = _is_scaled(asked, stream)
    if asked.scale:
        stream = stream.scaled()
    if asked.intercept:
        stream = stream.with_intercept()
    if config.last_labels and sparse.issparse(stream.X):
        raise ValueError("--last-labels is for dense instances: a few more columns count for nothing among many words")
    several = asked.one_vs_rest or config.multiclass
    problems = study.problems(
        stream.y, stream.classes, one_vs_rest=several, positive=asked.positive, place=stream.place
    )
    _refuse_zeros(stream, config)
    chosen = {name: value for name, value in vars(asked).items() if name not in _NOT_SETTINGS}
    settings = {
        "data": stream.name, "data_sha256": digest, "parameters": dict(pair.split("=", 1) for pair in asked.parameters),
        **{"label" if name == "column" else name: value for name, value in chosen.items()},
        **({} if runs is None else {"bounds": runs}),
    }  # fmt: skip
    held = pd.DataFrame()
    store = None if asked.out is None else Store(asked.out, "label", settings)
    with nullcontext() if store is None else store.giving_up():
        with progress("classes", len(problems)) as advance:
            found = study.label(stream.X, problems, config, advance)
        _warn(found, config)
        what = f"{' '.join((algorithm, *asked.parameters))} on {stream.name}"
        text = label_text(found.classes, found.summary, problems, what, multiclass=config.multiclass)
        (summary,) = plain(pd.DataFrame([found.summary]))
        mapping = mapping_text(problems, multiclass=config.multiclass)
        data = {**settings, **summary, "mapping": mapping, "classes": plain(found.classes)}
        data["windows"] = plain(found.windows)
        if runs is not None:
            with progress("bounds", len(problems)) as advance:
                held = study.held_to_bounds(stream.X, problems, config, runs, advance)
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
    outcome.say(asked)
    if runs is not None and not held["holds"].all():
        click.get_current_context().exit(1)


def _is_scaled(asked: Any, stream: datasets.Stream) -> bool:
    """Whether columns are standardised: as told, otherwise those of a dense file."""
    from scipy import sparse

    from experiments import datasets

    dense = not sparse.issparse(stream.X)
    if asked.scale and not dense:
        raise ValueError("--scale is for dense instances: centring would fill a sparse table")
    return dense and asked.source not in datasets.names() if asked.scale is None else bool(asked.scale)


def _warn(found: Labelled, config: LabelConfig) -> None:
    """Say on standard error if a sampler that chooses asked for nearly everything, or for nearly nothing."""
    from lpsm import samplers

    if isinstance(config.sampler(1).rule, samplers.Always):
        return  # it asks for everything by design
    rounds, more = int(found.summary["rounds"]), "or --rate, asks for more"
    so_far = (found.windows["t"] * found.windows["label_rate_so_far"]).to_numpy()
    last = int(found.windows["t"].iloc[int((so_far > so_far[-1] - 1e-6).argmax())])
    if 0 < last <= rounds / 2 and so_far[-1] > 0 and config.max_queries is None:  # a small K, and labels of one class
        said = f"asked for no label after round {last} of {rounds}: a larger parameter, {more}"
        echo(f"lpsm: {config.algorithm} {said}", err=True)
    for row in found.classes.to_dict("records"):
        queries = int(row["queries"])
        spent = config.max_queries is not None and queries >= config.max_queries
        if queries > 0.95 * rounds:
            only, what = "", "a smaller parameter, or --scale or --normalize, asks for fewer"
        elif queries < max(2, rounds // 1000) and not spent:
            only, what = "only ", f"a larger parameter, --no-normalize, {more}"
        else:
            continue
        much = f"{only}{queries} of {rounds} labels about {row['class']}"
        echo(f"lpsm: {config.algorithm} asked for {much}: {what}", err=True)


def _stream(asked: Any) -> tuple[datasets.Stream, str]:
    """Return the stream, and the digest of what it was read from."""
    from experiments import datasets
    from experiments.study.files import content_digest

    if asked.source in datasets.names():
        if asked.column is not None or asked.drop or asked.texts:
            raise ValueError(f"--label, --drop and --text are for tables, {asked.source} is a data set")
        stream = datasets.load(asked.source, asked.folder)
        digest = stream.digest()
    else:
        path = Path(asked.source)
        if not path.exists() and path.suffix == "" and len(path.parts) == 1:
            raise ValueError(f"DATA must be a file or one of {', '.join(datasets.names())}, got {asked.source!r}")
        stream = datasets.read(path, label=asked.column, drop=asked.drop, texts=asked.texts)
        digest = content_digest(path)
    return (stream if asked.rows is None else stream.head(asked.rows)), digest


def _refuse_zeros(stream: datasets.Stream, config: LabelConfig) -> None:
    row = stream.first_zero() if config.sampler(1).normalize else None
    if row is not None:
        raise ValueError(
            f"{stream.place(row)}: an instance must not be zero where instances are normalised: "
            "--no-normalize takes it as it is"
        )
