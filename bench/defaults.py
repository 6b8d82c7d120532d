"""Which sampler to take when nothing is known: every key at a few settings over six streams, beside Vowpal Wabbit.

    python -m bench.defaults [ROWS] [STREAM ...]

The data are found through LPSM_DATA.  Streams keep their order; each row is predicted before its label can be bought.
Dense columns are standardised by the rows so far, mails are divided by their norm, and every stream has an intercept
of the size of its other features.  A setting is judged by what it costs, mistakes + 0.1 x labels a hundred rounds, on
each stream and on average: one setting serves all six, as a default must.
ROWS of each stream are played, 10,000 unless said.
Vowpal Wabbit (when it is installed) runs on the same rows with ``--active --simulation``.
A second table holds both at equal labels: of each the setting that was right most often among those that asked for no
more than a share of the labels, chosen in hindsight on both sides.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.datasets import Stream, data_folder, load
from lpsm import samplers

MOST = 10_000  # rows of a stream
PRICE = 0.1  # of a label, in mistakes
_K, _COINS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0), (0.01, 0.03, 0.1, 0.3)
MELLOWNESS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
SHARES = (2.5, 5.0, 10.0, 20.0)  # of the labels, in a hundred
GRIDS: dict[str, dict[str, tuple[float, ...]]] = {
    "ss": {"K": _K, "a": (0.1, 1.0)},
    "ssmd": {"K": _K, "a": (0.1, 1.0)},
    "sop-label-efficient": {"C": _COINS, "a": (0.1, 1.0)},
    "perceptron-ss": {"b": _COINS},
    "arow-ss": {"b": _COINS, "r": (0.1, 1.0)},
    "arow-diagonal-ss": {"b": _COINS, "r": (0.1, 1.0)},
    "adagrad-ss": {"b": _COINS, "eta": (0.1, 0.5)},
    "iwal": {"c_0": (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4), "eta": (0.1, 0.5)},
}


def streams(most: int = MOST, wanted: Sequence[str] = ()) -> Iterator[tuple[str, Any, np.ndarray]]:
    """Names, instances and signs of the first rows of the streams wanted, or of all."""
    folder = data_folder()
    drift = load("spam-drift", folder)
    norms = np.sqrt(np.asarray(drift.X.multiply(drift.X).sum(axis=1)).ravel())
    drift = replace(drift, X=sparse.csr_matrix(sparse.diags(1.0 / np.maximum(norms, 1.0)) @ drift.X))
    mnist = load("mnist", folder)
    digits = mnist.take(np.flatnonzero(np.isin(mnist.y, (4, 7))))
    reuters = load("reuters", folder)
    chosen: list[tuple[str, Stream, Any]] = [
        ("sms-spam", load("sms-spam", folder), 1),
        ("spam-drift", drift, 1),
        ("reuters acq", reuters, reuters.y[:, reuters.classes.index("acq")]),
        ("elec2", load("elec2", folder).scaled(), 1),
        ("usps 0", load("usps", folder), 0),
        ("mnist 4v7", digits, 7),
    ]
    for name, stream, positive in chosen:
        if wanted and name not in wanted:
            continue
        y = positive if isinstance(positive, np.ndarray) else stream.y == positive
        X = stream.with_intercept().X
        yield name, X[:most], np.where(y[:most], 1, -1)


def settings() -> Iterator[tuple[str, dict[str, float]]]:
    """Every key with every combination of its grid."""
    for key, grid in GRIDS.items():
        for values in product(*grid.values()):
            yield key, dict(zip(grid, values, strict=True))


def ours(X: Any, y: np.ndarray, key: str, parameters: dict[str, float]) -> tuple[int, int]:
    """Mistakes and labels."""
    second = isinstance(samplers.make(key, 1, **parameters).learner, samplers.LeastSquares)
    kernel = "linear" if sparse.issparse(X) and second else None
    log = samplers.make(key, X.shape[1], rng=np.random.default_rng(0), kernel=kernel, **parameters).run(X, y)
    return int((log.prediction != y).sum()), int(log.queried.sum())


def vowpal_wabbit(path: Path, y: np.ndarray, mellowness: float, loss: str) -> tuple[int, int]:
    """Mistakes and labels of ``--active --simulation``."""
    command = [sys.executable, "-m", "vowpalwabbit", "-d", str(path), "--active", "--simulation", "-b", "18"]
    command += ["--mellowness", str(mellowness), "--loss_function", loss, "--noconstant", "-p", f"{path}.out"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    margins = np.array([float(line.split()[0]) for line in Path(f"{path}.out").read_text().splitlines() if line])
    labels = re.search(r"total queries = (\d+)", said)
    assert labels is not None
    return int((np.where(margins >= 0.0, 1, -1) != y).sum()), int(labels[1])


def rows(most: int, wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
    """One row a setting and a stream."""
    for name, X, y in streams(most, wanted):
        for key, parameters in settings():
            mistakes, labels = ours(X, y, key, parameters)
            said = " ".join((key, *(f"{symbol}={value:g}" for symbol, value in parameters.items())))
            yield {
                "stream": name,
                "setting": said,
                "mistakes": 100 * mistakes / len(y),
                "labels": 100 * labels / len(y),
            }
        if importlib.util.find_spec("vowpalwabbit") is None:
            print(f"{name}: Vowpal Wabbit left out, not installed", file=sys.stderr, flush=True)
            continue
        table = sparse.csr_matrix(X)
        with TemporaryDirectory() as folder:
            path = Path(folder) / "stream.vw"
            with path.open("w") as file:
                for t in range(len(y)):
                    row = table[t]
                    words = " ".join(
                        f"{j}:{v:.6g}" for j, v in zip(row.indices.tolist(), row.data.tolist(), strict=True)
                    )
                    file.write(f"{y[t]} | {words}\n")
            for mellowness, loss in product(MELLOWNESS, ("hinge", "logistic")):
                mistakes, labels = vowpal_wabbit(path, y, mellowness, loss)
                yield {"stream": name, "setting": f"Vowpal Wabbit {loss} {mellowness:g}",
                       "mistakes": 100 * mistakes / len(y), "labels": 100 * labels / len(y)}  # fmt: skip


def at_equal_labels(frame: pd.DataFrame) -> Iterator[str]:
    """Lines of the table that holds ours and Vowpal Wabbit at equal labels."""
    sides = [frame["setting"].str.startswith("Vowpal"), ~frame["setting"].str.startswith("Vowpal")]
    for name, of_stream in frame.groupby("stream", sort=False):
        for share in SHARES:
            cells = []
            for side in (sides[1], sides[0]):
                found = of_stream[side & (of_stream["labels"] <= share)].sort_values("mistakes")
                if found.empty:
                    cells += ["", "", ""]
                    continue
                best = found.iloc[0]
                cells += [f"{1 - best['mistakes'] / 100:.4f}", f"{best['labels']:.1f} %", str(best["setting"])]
            yield f"| {name} | {share:g} % | " + " | ".join(cells) + " |"


def main() -> None:
    """Print, for each key, its best settings by the mean cost, and both sides at equal labels."""
    most, wanted = (int(sys.argv[1]), sys.argv[2:]) if sys.argv[1:] and sys.argv[1].isdigit() else (MOST, sys.argv[1:])
    frame = pd.DataFrame(rows(most, wanted))
    frame["cost"] = frame["mistakes"] + PRICE * frame["labels"]
    frame["key"] = [re.sub(r" [a-zA-Z_0]+=.*| [0-9.e-]+$", "", setting) for setting in frame["setting"]]
    wide = frame.pivot(index="setting", columns="stream", values=["mistakes", "labels", "cost"])
    wide["mean cost"] = wide["cost"].mean(axis=1)
    wide["key"] = frame.drop_duplicates("setting").set_index("setting")["key"]
    best = wide.sort_values("mean cost").groupby("key", sort=False).head(3)
    names = list(dict.fromkeys(frame["stream"]))
    print("| setting | " + " | ".join(names) + " | mean cost |")
    print("|---|" + "---:|" * (len(names) + 1))
    for setting, row in best.iterrows():
        cells = [f"{row['mistakes', name]:.2f} / {row['labels', name]:.1f}" for name in names]
        print(f"| {setting} | " + " | ".join(cells) + f" | {float(row['mean cost'].iloc[0]):.2f} |")
    print("\n| stream | labels at most | ours right | asked | setting | Vowpal Wabbit right | asked | setting |")
    print("|---|---:|---:|---:|---|---:|---:|---|")
    for line in at_equal_labels(frame):
        print(line)


if __name__ == "__main__":
    main()
