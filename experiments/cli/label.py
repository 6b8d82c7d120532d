"""`lpsm label`: a selective sampler over a stream."""

from __future__ import annotations

import json
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import Names, json_option, number_option, sampler_names, seed_option
from experiments.inert import echo

if TYPE_CHECKING:
    import pandas as pd

    from experiments.datasets import Stream
    from experiments.study.label import LabelConfig, Outcome
    from experiments.study.store import Store

__all__ = ["label"]


@click.command()
@click.argument("source", metavar="DATA")
@click.option(
    "--algorithm",
    default="ss",
    show_default=True,
    type=Names(sampler_names),
    metavar="KEY",
    help="A sampler's key; see lpsm samplers.",
)
@click.option("--param", "parameters", multiple=True, metavar="NAME=VALUE", help="A parameter of it; may be repeated.")
@seed_option("Seed of its coins.")
@number_option("--window", kind=int, most=10**9, default=2000, help="Rounds in a sliding window.")
@click.option("--normalize/--no-normalize", default=None, help="Divide instances by their norm [as its paper does].")
@click.option(
    "--scale/--no-scale",
    default=None,
    help="Running standardisation of each column [of dense files, not of data sets].",
)
@number_option("--budget", kind=int, most=10**12, metavar="N", help="Ask each sampler for at most N labels.")
@click.option("--intercept", is_flag=True, help="Append a feature that is the same for all, of the size of the others.")
@click.option("--label", "column", metavar="COLUMN", help="Column of labels, name or number from 0 [last].")
@click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out; may be repeated.")
@click.option("--text", "texts", multiple=True, metavar="COLUMN", help="A column of texts; may be repeated.")
@click.option("--ask", is_flag=True, help="There are no labels: ask the person at the keyboard.")
@click.option("--classes", metavar="CLASS,CLASS", help="With --ask: the two answers, the second is +1.")
@click.option(
    "--answers",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --ask: file that keeps the answers, and from which they are taken up [DATA.answers.csv, here].",
)
@click.option("--positive", metavar="CLASS", help="This class is +1, all others -1 [of two classes the second].")
@click.option("--one-vs-rest", is_flag=True, help="Any number of classes, a sampler for each against the rest.")
@number_option("--rows", kind=int, most=10**12, metavar="N", help="Only the first N instances.")
@click.option("--data", "folder", type=click.Path(path_type=Path), help="Folder of named data sets [LPSM_DATA].")
@number_option(
    "--bounds", "runs", kind=int, most=10**4, metavar="RUNS",
    help="Hold it against its theorem, a randomised sampler in the mean of so many runs.",
)  # fmt: skip
@click.option("--out", type=click.Path(path_type=Path), help="Folder for tables, pictures and a manifest [none].")
@json_option()
@click.pass_context
def label(
    context: click.Context,
    source: str,
    algorithm: str,
    parameters: tuple[str, ...],
    seed: int,
    window: int,
    normalize: bool | None,
    scale: bool | None,
    budget: int | None,
    intercept: bool,
    column: str | None,
    drop: tuple[str, ...],
    texts: tuple[str, ...],
    ask: bool,
    classes: str | None,
    answers: Path | None,
    positive: str | None,
    one_vs_rest: bool,
    rows: int | None,
    folder: Path | None,
    runs: int | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run a selective sampler over the stream in DATA; say how well it predicts and what it asks for.

    DATA is a file, by its content a table (CSV, one column the label), parquet, JSON lines, svmlight or npz (X
    and y), plain or packed; or a data set: elec2, mnist, reuters, rcv1, sms-spam, spam-drift, usps. The sampler
    sees only the labels it asks for; accuracy and F-measure are counted afterwards against all. With --ask there
    are none to count against: you are asked, and every answer is kept at once.

    With --bounds the mistakes and labels are held against the theorem about the sampler, evaluated on this stream;
    one whose hypothesis fails is void, one that promises nothing is vacuous. The exit status is 1 if one is violated.
    """
    import pandas as pd

    from experiments.report.comparison import plain
    from experiments.report.label import bounds_text, label_text, mapping_text
    from experiments.study import label as study
    from experiments.study.progress import progress
    from experiments.study.store import Store
    from lpsm import samplers

    keys = samplers.keys()
    if algorithm not in keys:
        near = get_close_matches(algorithm.lower(), keys, n=1)
        hint = f", did you mean {near[0]}?" if near else ""
        raise ValueError(f"--algorithm must be one of {', '.join(keys)}, got {algorithm!r}{hint}")
    if budget is not None and budget < 0:
        raise ValueError(f"--budget must be at least 0, got {budget}")
    config = study.LabelConfig(
        algorithm=algorithm, parameters=study.parse_parameters(parameters), seed=seed, window=window,
        normalize=normalize, max_queries=budget,
    )  # fmt: skip
    config.sampler(1)  # a parameter out of its range is known before anything is read
    if runs is not None and runs < 2:
        raise ValueError(f"--bounds must be at least 2, since a mean is checked, got {runs}")
    if ask and (runs is not None or classes is None or column is not None or positive is not None or one_vs_rest):
        raise ValueError("--ask needs --classes, and takes no --label, --positive, --one-vs-rest or --bounds")
    if not ask and (classes is not None or answers is not None):
        raise ValueError("--classes and --answers go with --ask")
    as_read, digest = _stream(source, folder, column, drop, texts, rows, labelled=not ask)
    _refuse_zeros(as_read, config)
    scale = _is_scaled(scale, source, as_read)
    stream = as_read.scaled() if scale else as_read
    if intercept:
        stream = stream.with_intercept()
    if ask:
        from experiments.cli.asking import ask_person, two_classes

        named = two_classes(classes or "")
        settings = {
            "data": stream.name, "data_sha256": digest, "drop": list(drop), "texts": list(texts), "rows": rows,
            "intercept": intercept, "algorithm": algorithm, "parameters": dict(p.split("=", 1) for p in parameters),
            "normalize": normalize, "seed": seed, "scale": scale, "budget": budget, "classes": named,
        }  # fmt: skip
        ask_person(stream, as_read, config, settings, answers or Path(f"{Path(source).stem}.answers.csv"), out, as_json)
        return
    asked = study.problems(
        stream.y, stream.classes, one_vs_rest=one_vs_rest, positive=positive, place=stream.place
    )  # fmt: skip
    _refuse_zeros(stream, config)
    settings = {
        "data": stream.name, "data_sha256": digest, "label": column, "drop": list(drop), "rows": rows,
        "intercept": intercept, "positive": positive, "one_vs_rest": one_vs_rest, "algorithm": algorithm,
        "parameters": dict(pair.split("=", 1) for pair in parameters), "normalize": normalize, "seed": seed,
        "window": window, "scale": scale, "budget": budget, "texts": list(texts),
    }  # fmt: skip
    if runs is not None:
        settings["bounds"] = runs
    held = pd.DataFrame()
    store = None if out is None else Store(out, "label", settings)
    with nullcontext() if store is None else store.giving_up():
        with progress("classes", len(asked)) as advance:
            outcome = study.label(stream.X, asked, config, advance)
        _warn(outcome, config)
        what = f"{' '.join((algorithm, *parameters))} on {stream.name}"
        text = label_text(outcome.classes, outcome.summary, asked, what)
        if runs is not None:
            with progress("bounds", len(asked)) as advance:
                held = study.held_to_bounds(stream.X, asked, config, runs, advance)
            text += "\n\n" + bounds_text(held)
        if store is not None:
            _write(store, settings, outcome, held, text, what)
    if as_json:
        (summary,) = plain(pd.DataFrame([outcome.summary]))
        tables = {"classes": plain(outcome.classes), "windows": plain(outcome.windows)}
        if runs is not None:
            tables["statements"] = plain(held)
        click.echo(json.dumps({**settings, **summary, "mapping": mapping_text(asked), **tables}))
    else:
        echo(text)
        if out is not None:
            echo(f"\nTables and pictures are in {out}.")
    if runs is not None and not held["holds"].all():
        context.exit(1)


def _is_scaled(scale: bool | None, source: str, stream: Stream) -> bool:
    """Whether columns are standardised: as told, otherwise those of a dense file."""
    from scipy import sparse

    from experiments import datasets

    dense = not sparse.issparse(stream.X)
    if scale and not dense:
        raise ValueError("--scale is for dense instances: centring would fill a sparse table")
    return dense and source not in datasets.names() if scale is None else scale


def _warn(outcome: Outcome, config: LabelConfig) -> None:
    """Say on standard error if a sampler that chooses asked for nearly everything, or for nearly nothing."""
    from lpsm import samplers

    if isinstance(config.sampler(1).rule, samplers.Always):
        return  # it asks for everything by design
    rounds = int(outcome.summary["rounds"])
    for row in outcome.classes.to_dict("records"):
        asked = int(row["queries"])
        spent = config.max_queries is not None and asked >= config.max_queries
        if asked > 0.95 * rounds:
            much, what = f"{asked} of {rounds} labels", "a smaller parameter, or --scale or --normalize, asks for fewer"
        elif asked < max(2, rounds // 1000) and not spent:
            much, what = f"only {asked} of {rounds} labels", "a larger parameter, or --no-normalize, asks for more"
        else:
            continue
        echo(f"lpsm: {config.algorithm} asked for {much} about {row['class']}: {what}", err=True)


def _stream(
    source: str,
    folder: Path | None,
    column: str | None,
    drop: tuple[str, ...],
    texts: tuple[str, ...],
    rows: int | None,
    *,
    labelled: bool,
) -> tuple[Stream, str]:
    """Return the stream, and the digest of what it was read from."""
    from experiments import datasets
    from experiments.study.files import content_digest

    if rows is not None and rows < 1:
        raise ValueError(f"rows must be at least 1, got {rows}")
    if source in datasets.names():
        if column is not None or drop or texts or not labelled:
            raise ValueError(f"--label, --drop, --text and --ask are for tables, {source} is a data set")
        stream = datasets.load(source, folder)
        digest = stream.digest()
    else:
        path = Path(source)
        if not path.exists() and path.suffix == "" and len(path.parts) == 1:
            raise ValueError(f"DATA must be a file or one of {', '.join(datasets.names())}, got {source!r}")
        stream = datasets.read(path, label=column, drop=drop, texts=texts, labelled=labelled)
        digest = content_digest(path)
    return (stream if rows is None else stream.head(rows)), digest


def _refuse_zeros(stream: Stream, config: LabelConfig) -> None:
    if not config.sampler(1).normalize:
        return
    row = stream.first_zero()
    if row is not None:
        raise ValueError(
            f"{stream.place(row)}: an instance must not be zero where instances are normalised: "
            "--no-normalize takes it as it is"
        )


def _write(store: Store, settings: dict[str, Any], outcome: Outcome, held: pd.DataFrame, text: str, name: str) -> None:
    from experiments.figures import label as figures
    from experiments.figures.style import pictures

    store.write("label.txt", text + "\n")
    store.write_frame("classes.csv", outcome.classes)
    store.write_frame("windows.csv", outcome.windows)
    if len(outcome.rounds):
        store.write_frame("rounds.csv", outcome.rounds)
    if len(held):
        store.write_frame("bounds.csv", held)
    window = min(settings["window"], outcome.summary["rounds"])
    drawn = {"label": figures.over_time(outcome.windows, window, name)}
    if len(outcome.classes) > 1:
        drawn["classes"] = figures.by_class(outcome.classes, name)
    for picture, figure in drawn.items():
        for file, content in pictures(picture, figure).items():
            store.write(file, content)
    store.publish()
