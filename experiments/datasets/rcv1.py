"""Reuters Corpus Volume 1 as LYRL2004 published it, for those who have it.

What it models: the vectors and topics that scikit-learn's `fetch_rcv1` keeps under ``RCV1/`` of the folder of
data sets, in the order of their story numbers, which is that of time.  Nothing is downloaded here.
The published weights are cosine-normalised TF-IDF whose document frequencies are those of the publishers, not of
the past of each story: unlike `texts.reuters`, a look-ahead remains in them.
Source: Lewis, Yang, Rose and Li 2004.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from experiments.datasets.finding import find
from experiments.datasets.stream import Stream

__all__ = ["rcv1"]

_FILES = ("samples_py3.pkl", "sample_id_py3.pkl", "sample_topics_py3.pkl", "topics_names_py3.pkl")


def rcv1(folder: Path, n_topics: int = 50, documents: int = 40_000) -> Stream:
    """Return the first stories in order of time with the most frequent topics among them, any number a story.

    Parameters
    ----------
    folder
        Where the ``RCV1/`` of scikit-learn lies; it is the `data_home` that `fetch_rcv1` was given.
    n_topics
        How many topics, by their number of stories among those returned; 50 in the papers.
    documents
        How many stories; 20,000 or 40,000 in the papers.

    Raises
    ------
    ValueError
        If a number is not positive.
    FileNotFoundError
        If a file is not there.
    """
    if n_topics < 1 or documents < 1:
        raise ValueError(f"n_topics and documents must be at least 1, got {n_topics} and {documents}")
    for name in _FILES:
        find(folder, "RCV1", name)
    from sklearn.datasets import fetch_rcv1  # slow to import, and needed here alone

    bunch: Any = fetch_rcv1(data_home=str(folder), download_if_missing=False)
    first = np.argsort(bunch.sample_id, kind="stable")[:documents]
    X, topics = bunch.data[first].astype(np.float64).tocsr(), bunch.target[first]
    names = [str(name) for name in bunch.target_names]
    counts = np.asarray(topics.sum(axis=0), dtype=np.int64).ravel()
    chosen = sorted(range(len(names)), key=lambda at: (-counts[at], names[at]))[:n_topics]
    return Stream(
        name="rcv1", X=X, y=topics[:, chosen].toarray().astype(np.bool_), classes=tuple(names[at] for at in chosen),
        lines=np.zeros(0, dtype=np.int64), in_time_order=True,
    )  # fmt: skip
