"""Reuters Corpus Volume 1 as LYRL2004 published it, for those who have it.

What it models: the published vectors (``lyrl2004_vectors_train.dat`` and ``..._test_pt0.dat`` to ``..._test_pt3.dat``,
a story a line: its number, then ``term:weight`` pairs) and topics (``rcv1-v2.topics.qrels``, a line ``topic story 1``
for each topic of a story), text, plain or packed with gzip, under ``RCV1/`` of the folder of data sets; the stories
in the order of their numbers, which is that of time.  Nothing is downloaded here.
The published weights are cosine-normalised TF-IDF whose document frequencies are those of the publishers, not of
the past of each story: unlike `texts.reuters`, a look-ahead remains in them.
Source: Lewis, Yang, Rose and Li 2004, appendices 8 and 13.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.datasets.files import svmlight_line
from experiments.datasets.finding import find
from experiments.datasets.stream import Stream
from traces.files import open_trace, read_line

__all__ = ["rcv1"]

N_TERMS = 47_236
_VECTORS = tuple(f"lyrl2004_vectors_{part}.dat" for part in ("train", "test_pt0", "test_pt1", "test_pt2", "test_pt3"))
_TOPICS = ("rcv1-v2.topics.qrels", "rcv1v2.topics.qrels")  # as published, and as its copy at figshare is called
_LONGEST_LINE = 1 << 20


def rcv1(folder: Path, n_topics: int = 50, documents: int = 40_000) -> Stream:
    """Return the first stories in order of time with the most frequent topics among them, any number a story.

    In the papers there are 50 topics, and 20,000 or 40,000 documents.  A file that is not as published is a
    `ValueError` that says where.
    """
    if n_topics < 1 or documents < 1:
        raise ValueError(f"n_topics and documents must be at least 1, got {n_topics} and {documents}")
    paths = [_found(folder, name) for name in _VECTORS]
    topics_path = _found(folder, *_TOPICS)
    first = nsmallest(documents, (line for path in paths for line in _stories(path)), key=itemgetter(0))
    columns: list[int] = []
    values: list[float] = []
    starts = [0]
    for _, line, place in first:
        svmlight_line(line, place, columns, values)
        starts.append(len(columns))
    indices = np.array(columns, dtype=np.int32) - 1  # terms are numbered from 1
    if len(indices) == 0 or indices.min() < 0 or indices.max() >= N_TERMS:
        raise ValueError(f"{paths[0].parent}: the terms of the stories must be numbers from 1 to {N_TERMS}, got others")
    X = sparse.csr_matrix((np.array(values), indices, starts), shape=(len(first), N_TERMS))
    stories = np.array([number for number, _, _ in first], dtype=np.int64)
    if (np.diff(stories) == 0).any():
        again = int(stories[np.argmin(np.diff(stories))])
        raise ValueError(f"{paths[0].parent}: a story must have one vector, got two of story {again}")
    y, names = _topics(topics_path, stories, n_topics)
    return Stream(name="rcv1", X=X, y=y, classes=names, lines=np.zeros(0, dtype=np.int64), in_time_order=True)


def _found(folder: Path, *names: str) -> Path:
    """Return the first of the files of these names that is there, packed or not."""
    files = [name + packing for name in names for packing in (".gz", "")]
    return find(folder, "RCV1", next((name for name in files if (folder / "RCV1" / name).is_file()), files[0]))


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the lines of a file with the place of each."""
    with open_trace(path) as file:
        number = 1
        while line := read_line(file, _LONGEST_LINE, path, number):
            yield line.decode("ascii", "replace"), f"{path}: line {number}"
            number += 1


def _stories(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield the number, the line and the place of every story."""
    for line, place in _lines(path):
        number, _, terms = line.partition(" ")
        if terms.strip():
            yield _story(number, place), line, place


def _story(number: str, place: str) -> int:
    if not number.isdecimal() or len(number) > 9:
        raise ValueError(f"{place}: a story must have a number of at most 9 digits, got {number[:80]!r}")
    return int(number)


def _topics(path: Path, stories: NDArray[np.int64], n_topics: int) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Return which of the most frequent topics each story has, (T, k), and their names."""
    row = {int(number): at for at, number in enumerate(stories)}
    having: dict[str, list[int]] = {}
    for line, place in _lines(path):
        fields = line.split()
        if len(fields) != 3 or fields[2] != "1":
            raise ValueError(f"{place}: a line must be a topic, a story's number and 1, got {line[:80].strip()!r}")
        at = row.get(_story(fields[1], place))
        if at is not None:
            having.setdefault(fields[0], []).append(at)
    names = sorted(having, key=lambda name: (-len(set(having[name])), name))[:n_topics]
    if not names:
        raise ValueError(f"{path}: it must hold the topics of the stories, got none of the {len(stories)} first")
    y = np.zeros((len(stories), len(names)), dtype=np.bool_)
    for column, name in enumerate(names):
        y[having[name], column] = True
    return y, tuple(names)
