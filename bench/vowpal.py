"""Labels that are asked for, beside those of Vowpal Wabbit's active learning, on the streams of `ours/labelling-*`.

    python -m bench.vowpal [elec2 | mails | news] ...

It needs the package vowpalwabbit, and the data, which are found through LPSM_DATA.  Vowpal Wabbit (`--active
--simulation`) has no share to keep to: of all settings that ask for about 5, 10 or 20 % of the labels after the first
fifth of the stream, the one counts that is most often right there, in hindsight.  Ours chooses its one number on the
first fifth, starts anew, and is given the share that Vowpal Wabbit asked for.  Differences are means over blocks of
the stream, in points of accuracy.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import partial
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from experiments.papers.ours import labels
from experiments.study.compare import estimate

SETTINGS = [
    f"--loss_function {loss} -l {step} --mellowness {10.0**power:.3g}"
    for loss, step, power in product(("logistic", "hinge"), (0.05, 0.5, 2.0), np.arange(-12.0, -0.9, 0.25))
]
LEAST, MOST = 0.8, 1.1  # of the share, that a setting may ask for
PLAY = "import sys, vowpalwabbit as v; v.Workspace(sys.argv[1], quiet=False).finish()"


def vowpal(folder: Path, part: str, y: Any, setting: str) -> tuple[Any, float]:
    """Return which predictions are right, and the share of the labels that were asked for."""
    options = f"-d {folder / part} -p {folder / 'said'} --active --simulation --noconstant {setting}"
    told = subprocess.run([sys.executable, "-c", PLAY, options], capture_output=True, text=True, check=True)
    asked = re.search(r"total queries = (\d+)", told.stdout + told.stderr)
    assert asked is not None
    return (np.loadtxt(folder / "said") >= 0.0) == (y > 0), int(asked[1]) / len(y)


def written(path: Path, X: Any, y: Any) -> None:
    """Write instances and labels as Vowpal Wabbit reads them."""
    table = sparse.csr_matrix(X)
    with path.open("w") as file:
        for t, label in enumerate(y):
            part = slice(table.indptr[t], table.indptr[t + 1])
            values = zip(table.indices[part], table.data[part], strict=True)
            file.write(f"{label:.0f} | {' '.join(f'{j}:{value:.7g}' for j, value in values)}\n")


def compared(stream: str) -> None:
    """Print a line for each share of the labels."""
    X, y, cut = labels.prepared(stream, os.environ["LPSM_DATA"], False, 0, 0)
    early, rest = (X[:cut], y[:cut]), (X[cut:], y[cut:])
    key, grid = labels.WORDS if sparse.issparse(X) else labels.DENSE
    with TemporaryDirectory() as name:
        folder = Path(name)
        written(folder / "rest", *rest)
        tried = [(setting, *vowpal(folder, "rest", rest[1], setting)) for setting in SETTINGS]
        for share in labels.SHARES:
            about = [one for one in tried if LEAST * share <= one[2] <= MOST * share]
            if not about:
                nearest = min(tried, key=lambda one: abs(one[2] - share))
                print(f"{stream} {100 * share:g} %: no setting asks for it; the nearest for {100 * nearest[2]:.1f} %")
                continue
            setting, theirs, rate = max(about, key=lambda one: float(one[1].mean()))
            best = labels._best(grid, partial(labels._ours, key, rate, early))
            logs = {"ours": labels._ours(key, rate, rest, **best)}
            if stream == "elec2":
                logs["and the last labels"] = labels._ours(key, rate, rest, lately=True, **best)
            words = []
            for who, (right, asked) in logs.items():
                blocks = [np.array_split(one, labels.BLOCKS) for one in (right, theirs)]
                more = estimate(np.array([100 * (a.mean() - b.mean()) for a, b in zip(*blocks, strict=True)]))
                level = f"{who} {100 * right.mean():.2f} % at {100 * asked.mean():.1f} %"
                words.append(f"{level} ({more.mean:+.2f} ± {more.half_width:.2f})")
            words.append(f"Vowpal Wabbit {100 * theirs.mean():.2f} % at {100 * rate:.1f} % ({setting})")
            print(f"{stream} {100 * share:g} %: {'; '.join(words)}", flush=True)


if __name__ == "__main__":
    for one in sys.argv[1:] or ("elec2", "mails", "news"):
        compared(one)
