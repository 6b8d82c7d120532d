"""`lpsm label`: a selective sampler over a stream."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from experiments.cli import options
from experiments.cli.studies import ended, folder
from experiments.escaping import echo

if TYPE_CHECKING:
    from experiments import datasets

_NOT_SETTINGS = ("source", "folder", "runs", "out", "force", "as_json", "parameters", "rate", "store_all")


@options.command(
    click.argument("source", metavar="DATA"),
    options.option(
        "--algorithm", "A sampler's key; see lpsm list samplers  [ss; with --rate kept-rate].",
        options.Names(options.registered("lpsm.samplers")), metavar="KEY",
    ),
    options.option("--param parameters", "A parameter of it; may be repeated.", multiple=True, metavar="NAME=VALUE"),
    options.number(
        "--rate", "Ask for this share of the labels, where the margin is below a threshold that keeps to it.",
        most=1.0, above=True, metavar="B",
    ),
    options.flag("--store-all", "Learn from every label that was asked for, not from mistakes alone."),
    options.flag("--last-labels", "Add the labels asked for lately as features: for series whose labels come in runs."),
    options.SEED,
    options.whole("--window", "Rounds in a sliding window.", 2000, most=10**9),
    options.option("--normalize/--no-normalize", "Divide instances by their norm [as its paper does]."),
    options.option("--scale/--no-scale", "Standardise each column as it comes [those of dense files]."),
    options.whole("--budget", "Ask each sampler for at most N labels.", most=10**12, least=0, metavar="N"),
    options.flag("--intercept", "Append a feature that is the same for all, of the size of the others."),
    options.option("--label column", "Column of labels, name or number from 0 [last].", metavar="COLUMN"),
    options.option("--drop", "A column to leave out; may be repeated.", multiple=True, metavar="COLUMN"),
    options.option("--text texts", "A column of texts; may be repeated.", multiple=True, metavar="COLUMN"),
    options.option("--positive", "This class is +1, all others -1 [of two classes the second].", metavar="CLASS"),
    options.flag("--one-vs-rest", "Any number of classes, a sampler for each against the rest."),
    options.flag("--multiclass", "Any number of classes, one sampler that asks for the class itself."),
    options.whole("--rows", "Only the first N instances.", most=10**12, metavar="N"),
    options.option("--data folder", "Folder of named data sets [LPSM_DATA].", options.FILE),
    options.whole(
        "--bounds runs", "Compare it with its theorem; a randomised sampler in the mean of RUNS runs.",
        most=10**4, least=2, metavar="RUNS",
    ),
    options.out(None, "Folder for tables, pictures and a manifest [none]."),
    options.JSON,
)  # fmt: skip
def label(asked: options.Asked) -> None:
    """Run a selective sampler over the stream in DATA; say how well it predicts and what it asks for.

    DATA is a file, by its content a table (CSV, one column the label), svmlight or npz (X
    and y), plain or packed; or a data set: elec2, mnist, reuters, sms-spam, spam-drift, usps. The sampler
    sees only the labels it asks for; accuracy and F-measure are counted afterwards against all.

    With --bounds the mistakes and labels are held against the theorem about the sampler, evaluated on this stream;
    one whose hypothesis fails is void, one that promises nothing is vacuous. The exit status is 1 if one is violated.
    """
    import pandas as pd

    from experiments.figures import label as figures
    from experiments.report.learning import bounds_text, label_text, mapping_text
    from experiments.report.text import plain
    from experiments.study import label as study
    from experiments.study.progress import progress

    algorithm = asked.algorithm = asked.algorithm or ("ss" if asked.rate is None else "kept-rate")
    asked.parameters += () if asked.rate is None else (f"rate={asked.rate}",)
    asked.parameters += ("stores=queried",) if asked.store_all else ()
    runs, given = asked.runs, study.parse_parameters(asked.parameters)
    config = options.configured(study.LabelConfig, asked, parameters=given, max_queries=asked.budget)
    if runs is not None and (config.last_labels or config.multiclass):
        what = "questions of yes and no on the data as they are: no --last-labels, --multiclass"
        raise ValueError(f"--bounds holds for {what}")
    if asked.one_vs_rest and asked.multiclass:
        raise ValueError("--one-vs-rest asks a question a class and --multiclass one for the class: give one of them")
    try:
        normalize = config.sampler(1).normalize  # a parameter out of its range is known before anything is read
    except TypeError as error:
        raise ValueError(str(error)) from error
    stream, digest = _prepared(asked, normalize)
    several = asked.one_vs_rest or config.multiclass
    problems = study.problems(stream.y, stream.classes, one_vs_rest=several, positive=asked.positive)
    chosen = {name: value for name, value in vars(asked).items() if name not in _NOT_SETTINGS}
    settings = {
        "data": stream.name, "data_sha256": digest, "parameters": dict(pair.split("=", 1) for pair in asked.parameters),
        **{"label" if name == "column" else name: value for name, value in chosen.items()},
        **({} if runs is None else {"bounds": runs}),
    }  # fmt: skip
    with nullcontext() if asked.out is None else folder("label", asked, settings) as store:
        with progress("classes", len(problems)) as advance:
            found = study.label(stream.X, problems, config, advance)
        windows, rounds = found.windows, len(stream.y)
        so_far = (windows["t"] * windows["label_rate_so_far"]).to_numpy()
        last = int(windows["t"].iloc[int((so_far > so_far[-1] - 1e-6).argmax())])
        if last <= rounds / 2 and config.max_queries is None:  # a small K, and labels of one class
            hint = "a larger parameter, or --rate, asks for more"
            echo(f"lpsm: {algorithm} asked for no label after round {last} of {rounds}: {hint}", err=True)
        what = f"{' '.join((algorithm, *asked.parameters))} on {stream.name}"
        text = label_text(found.classes, found.summary, problems, what, multiclass=config.multiclass)
        (summary,) = plain(pd.DataFrame([found.summary]))
        tables = {"classes": found.classes, "windows": windows, "rounds": found.rounds}
        data = {**summary, "mapping": mapping_text(problems, multiclass=config.multiclass)}
        data |= {name: plain(tables[name]) for name in ("classes", "windows")}
        if runs is not None:
            with progress("bounds", len(problems)) as advance:
                tables["bounds"] = study.held_to_bounds(stream.X, problems, config, runs, advance)
            text += "\n\n" + bounds_text(tables["bounds"])
            data["statements"] = plain(tables["bounds"])
        drawings = {"label": partial(figures.over_time, windows, min(config.window, rounds), what)}
        if len(found.classes) > 1:
            drawings["classes"] = partial(figures.by_class, found.classes, what)
        ended(store, asked, "label", text, {**settings, **data}, tables, drawings)
    if runs is not None and not tables["bounds"]["holds"].all():
        click.get_current_context().exit(1)


def _prepared(asked: options.Asked, normalize: bool) -> tuple[datasets.Stream, str]:
    """Return the stream as it is learned from, and the digest of what it was read from."""
    from scipy import sparse

    from experiments import datasets
    from experiments.study.files import content_digest

    named, path = asked.source in datasets.names(), Path(asked.source)
    if named:
        if asked.column is not None or asked.drop or asked.texts:
            raise ValueError(f"--label, --drop and --text are for tables, {asked.source} is a data set")
        stream = datasets.load(asked.source, asked.folder)
    elif not path.exists() and path.suffix == "" and len(path.parts) == 1:
        raise ValueError(f"DATA must be a file or one of {', '.join(datasets.names())}, got {asked.source!r}")
    else:
        stream = datasets.read(path, label=asked.column, drop=asked.drop, texts=asked.texts)
    digest = stream.digest() if named else content_digest(path)
    stream, dense = stream.take(slice(asked.rows)), not sparse.issparse(stream.X)
    if normalize and (row := stream.first_zero()) is not None:
        rule = "an instance must not be zero where instances are normalised: --no-normalize takes it as it is"
        raise ValueError(f"{stream.name}: {stream.place(row)}: {rule}")
    if not dense and (asked.scale or asked.last_labels):
        raise ValueError("--scale and --last-labels are for dense instances, the rows are sparse")
    asked.scale = dense and not named if asked.scale is None else asked.scale
    stream = stream.scaled() if asked.scale else stream
    return (stream.with_intercept() if asked.intercept else stream), digest
