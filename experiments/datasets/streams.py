"""Streams in time order: spam that drifts (Katakis et al.), and electricity prices (Elec2).

What it leaves out: Elec2's `date`, which only grows.  Its labels are strongly autocorrelated
(repeating the last one is right in 85 % of rounds), which no sampler here can use.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

from experiments.datasets.finding import find
from experiments.datasets.stream import Stream

__all__ = ["elec2", "spam_drift"]


def spam_drift(folder: Path) -> Stream:
    """Return 9,324 mails over 39,916 words, each there or not, from ``spam_katakis_stream/spam_stream.npz``."""
    with np.load(find(folder, "spam_katakis_stream", "spam_stream.npz"), allow_pickle=False) as file:
        parts = (file["data"].astype(np.float64), file["indices"], file["indptr"])
        X = sparse.csr_matrix(parts, shape=tuple(int(size) for size in file["shape"]))
        y = file["y"].astype(np.int64)
    return Stream(
        name="spam-drift", X=X, y=y, classes=("ham", "spam"), lines=np.zeros(0, dtype=np.int64), in_time_order=True
    )


def elec2(folder: Path) -> Stream:
    """Return 45,312 half-hours of New South Wales, 7 features, from ``elec2/electricity-normalized.csv.gz``."""
    frame = pd.read_csv(find(folder, "elec2", "electricity-normalized.csv.gz"), float_precision="round_trip")
    features = frame.drop(columns=["date", "class"])
    return Stream(
        name="elec2",
        X=features.to_numpy(dtype=np.float64),
        y=frame["class"].to_numpy(dtype=np.int64),
        classes=("down", "up"),
        lines=np.arange(2, len(frame) + 2),
        in_time_order=True,
    )
