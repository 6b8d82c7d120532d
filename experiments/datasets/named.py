"""Data sets by name, of which none belongs to the project: in a folder given, or the one LPSM_DATA names.

What it models: handwritten digits, USPS (16 x 16) and MNIST (28 x 28), training rows before test rows, pixels in
[0, 1], background 0 (USPS is stored with it at -1; moved to [0, 1] it agrees with the thesis' table 4.1); in order of
time, spam that drifts (Katakis et al.), electricity prices (Elec2) and two collections of Reuters; and SMS spam.
Texts are TF-IDF of the past (`words`), but for RCV1, whose published weights know the frequencies of all its documents.
What it leaves out: any download, centring or whitening; Elec2's `date`, which only grows.
Source: Lewis' notes on Reuters-21578, Distribution 1.0; Lewis, Yang, Rose and Li 2004, appendices 8 and 13 (RCV1).
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from heapq import nsmallest
from itertools import chain
from math import prod
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.datasets.files import read, svmlight_line
from experiments.datasets.npz import arrays_of
from experiments.datasets.npz import stream as npz_stream
from experiments.datasets.stream import Stream
from experiments.datasets.text import naming
from experiments.datasets.words import past_tfidf
from traces.files import lines, open_trace

__all__ = [
    "N_TERMS", "VARIABLE", "data_folder", "elec2", "mnist", "rcv1", "reuters", "sms_spam", "spam_drift", "usps",
]  # fmt: skip

VARIABLE = "LPSM_DATA"
N_TERMS = 47_236  # of RCV1
_USPS_PIXELS = 256
_ELEC2 = ("date", "day", "period", "nswprice", "nswdemand", "vicprice", "vicdemand", "transfer", "class")
_LONGEST_HEAD, _LONGEST_LINE = 10_000, 1 << 20


def data_folder(folder: Path | str | None = None) -> Path:
    """Return the folder of data sets: the given one, or else the one that LPSM_DATA names."""
    given = folder if folder is not None else os.environ.get(VARIABLE)
    if not given:
        raise ValueError(f"no folder of data sets is known: give --data or set {VARIABLE}")
    path = Path(given)
    if not path.is_dir():
        raise FileNotFoundError(2, "there is no such folder of data sets", str(path))
    return path


@contextmanager
def _found(folder: Path, *names: str) -> Iterator[Path]:
    """Give the file `names` lead to, which errors then name; without it this is a `FileNotFoundError`."""
    path = folder.joinpath(*names)
    if not path.is_file():
        raise FileNotFoundError(2, f"this file of the data set {names[0]} is not there", str(path))
    with naming(path):
        yield path


# -- digits ------------------------------------------------------------------------------------------------


def usps(folder: Path) -> Stream:
    """Return the 9,298 digits of USPS, from ``usps/usps.npz``."""
    wanted = "X_train", "X_test", "y_train", "y_test"
    with _found(folder, "usps", "usps.npz") as path:
        arrays, found = arrays_of(path, wanted)
        if len(arrays) < len(wanted):
            raise ValueError(f"it must hold {', '.join(wanted)}, got {found}")
        for name, array in arrays.items():
            of_pixels = name.startswith("X")
            if array.dtype.kind not in "iu" or array.shape[1:] != ((_USPS_PIXELS,) if of_pixels else ()):
                rule = f"whole numbers, {_USPS_PIXELS} a digit" if of_pixels else "a vector of digits"
                raise ValueError(f"{name} must be {rule}, got {array.dtype} of shape {array.shape}")
        pixels, labels = (np.concatenate([arrays[f"{name}_{part}"] for part in ("train", "test")]) for name in "Xy")
        return _digits("usps", (pixels / 1000.0 + 1.0) / 2.0, labels)


def mnist(folder: Path, parts: tuple[str, ...] = ("train", "t10k")) -> Stream:
    """Return the 70,000 digits of MNIST, from the four idx files in ``mnist/``; or of some `parts`."""
    pixels = np.concatenate([_idx(folder, f"{part}-images-idx3-ubyte.gz", (28, 28)) for part in parts])
    labels = np.concatenate([_idx(folder, f"{part}-labels-idx1-ubyte.gz", ()) for part in parts])
    with naming(folder / "mnist"):
        return _digits("mnist", pixels.reshape(len(pixels), -1) / 255.0, labels)


def _digits(name: str, X: NDArray[np.float64], labels: NDArray[Any]) -> Stream:
    if len(X) != len(labels) or len(X) == 0:
        raise ValueError(f"every digit must have a label, got {len(X)} digits and {len(labels)} labels")
    if labels.min() < 0 or labels.max() > 9:
        raise ValueError(f"labels must be digits, got {labels.min()} to {labels.max()}")
    return Stream(name=name, X=X, y=labels.astype(np.int64), classes=tuple("0123456789"))


def _idx(folder: Path, name: str, each: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return the array of unsigned bytes in an idx file: magic 0 0 8 dimensions, big-endian sizes, values."""
    with _found(folder, "mnist", name) as path:
        with open_trace(path) as file:
            content = file.read()
        dimensions = 1 + len(each)
        if content[:4] != bytes((0, 0, 8, dimensions)):
            raise ValueError(f"an idx file must begin with 0 0 8 {dimensions}, got {list(content[:4])}")
        start = 4 + 4 * dimensions
        if len(content) < start:
            raise ValueError(f"an idx file must begin with {dimensions} sizes, got {len(content)} bytes in all")
        shape = tuple(int(size) for size in np.frombuffer(content[4:start], dtype=">u4"))
        values = np.frombuffer(content, dtype=np.uint8, offset=start)
        if len(values) != prod(shape):
            raise ValueError(f"an idx file of shape {shape} must hold {prod(shape)} bytes, got {len(values)}")
        if shape[1:] != each:
            raise ValueError(f"images must be {' x '.join(map(str, each))}, got shape {shape}")
        return values.reshape(shape)


# -- in order of time --------------------------------------------------------------------------------------


def spam_drift(folder: Path) -> Stream:
    """Return 9,324 mails over 39,916 words, each there or not, from ``spam_katakis_stream/spam_stream.npz``."""
    with _found(folder, "spam_katakis_stream", "spam_stream.npz") as path:
        return _named(npz_stream(path), "spam-drift", {"0": "ham", "1": "spam"})


def elec2(folder: Path) -> Stream:
    """Return 45,312 half-hours of New South Wales, 7 features, from ``elec2/electricity-normalized.csv.gz``.

    Labels are strongly autocorrelated: repeating the last one is right in 85 % of rounds, which no sampler can use.
    """
    with _found(folder, "elec2", "electricity-normalized.csv.gz") as path:
        with open_trace(path) as file:
            _, head = next(lines(file, _LONGEST_HEAD, path), (1, b""))
        names = head.decode("utf-8", "backslashreplace").strip().split(",")
        if tuple(names) != _ELEC2:
            raise ValueError(f"the columns must be {','.join(_ELEC2)}, got {','.join(names)[:80]!r}")
        return _named(read(path, label="class", drop=("date",)), "elec2", {"0": "down", "1": "up"})


def _named(stream: Stream, name: str, called: dict[str, str]) -> Stream:
    """Return a stream of two classes, 0 and 1 in its file, with their names."""
    if not set(stream.classes) <= set(called):
        rule = " or ".join(f"{number} ({word})" for number, word in called.items())
        raise ValueError(f"class must be {rule}, got {', '.join(stream.classes)[:80]}")
    y = np.array([int(number) for number in stream.classes], dtype=np.int64)[stream.y]
    return replace(stream, name=name, y=y, classes=tuple(called.values()))


# -- texts -------------------------------------------------------------------------------------------------


def reuters(folder: Path, n_topics: int = 10, *, all_documents: bool = False) -> Stream:
    """Return Reuters-21578 in time order, an instance having any number of the `n_topics` most frequent topics.

    It lies in ``reuters21578/reuters21578.jsonl.gz``.  With `all_documents` those that were never indexed (TOPICS="NO"
    or "BYPASS") are taken too, as having no topic.
    """
    with _found(folder, "reuters21578", "reuters21578.jsonl.gz") as path, open_trace(path) as file:
        found = [_document(number, line) for number, line in enumerate(file, 1)]
        rows = sorted((row for indexed, row in found if all_documents or indexed), key=itemgetter(0, 1))
        if not rows:
            raise ValueError("there must be a document with TOPICS, got none")
    count = Counter(topic for row in rows for topic in row[2])
    topics = sorted(count, key=lambda topic: (-count[topic], topic))[:n_topics]
    y = np.array([[topic in row[2] for topic in topics] for row in rows], dtype=np.bool_)
    return _worded("reuters", [row[3] for row in rows], y, tuple(topics))


def _document(number: int, line: bytes) -> tuple[bool, tuple[str, int, list[str], str]]:
    """Return whether the document of a line was indexed, and its time, number, topics and text."""
    try:
        row = json.loads(line)
        key = row["iso"], row["newid"]
        topics, parts = row["topics"], [row["title"] or "", row["body"] or ""]
        types = [type(value) for value in (*key, topics, *parts)]
        if types == [str, int, list, str, str] and all(isinstance(topic, str) for topic in topics):
            return row["topics_attr"] == "YES", (*key, topics, " ".join(parts))
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    rule = "must be a JSON object with iso, newid, topics_attr, topics, title and body"
    raise ValueError(f"line {number} {rule}, got {line[:40]!r}")


def sms_spam(folder: Path) -> Stream:
    """Return the SMS Spam Collection, 5,574 messages in no order of time, from ``sms_spam/SMSSpamCollection``."""
    labels, texts = [], []
    with _found(folder, "sms_spam", "SMSSpamCollection") as path:
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            try:
                label, tab, text = line.decode().partition("\t")
            except UnicodeDecodeError as error:
                raise ValueError(f"line {number} must be UTF-8, got {line[error.start]:#x}") from None
            if line and (label not in ("ham", "spam") or not tab):
                raise ValueError(f"line {number} must be ham or spam, a tab and a text, got {line.decode()[:40]!r}")
            if line:
                labels.append(label == "spam")
                texts.append(text)
        if not texts:
            raise ValueError("there must be a message, got none")
    return _worded("sms-spam", texts, np.array(labels, dtype=np.int64), ("ham", "spam"))


def _worded(name: str, texts: list[str], y: NDArray[Any], classes: tuple[str, ...]) -> Stream:
    """Return the stream of texts without those that hold no word: they have no direction."""
    stream = Stream(name=name, X=past_tfidf(texts), y=y, classes=classes)
    worded = np.flatnonzero(np.diff(stream.X.indptr))
    return stream if len(worded) == len(y) else stream.take(worded)


def rcv1(folder: Path, n_topics: int = 50, documents: int = 40_000) -> Stream:
    """Return the first stories of RCV1 in order of time with the most frequent topics among them, any number a story.

    They lie in ``RCV1/`` as LYRL2004 published them: vectors in ``lyrl2004_vectors_train.dat`` and
    ``..._test_pt0.dat`` to ``..._test_pt3.dat``, a story a line (its number, which grows with time, then
    ``term:weight`` pairs); topics in ``rcv1-v2.topics.qrels``, a line ``topic story 1`` for each topic of a story; all
    plain or packed with gzip.  In the papers there are 50 topics, and 20,000 or 40,000 documents.

    Raises
    ------
    ValueError
        If a file is not as published; the message says where.
    """
    if n_topics < 1 or documents < 1:
        raise ValueError(f"n_topics and documents must be at least 1, got {n_topics} and {documents}")
    where, parts = folder / "RCV1", ("train", "test_pt0", "test_pt1", "test_pt2", "test_pt3")
    vectors = [_placed(folder, f"lyrl2004_vectors_{part}.dat") for part in parts]
    topics = _placed(folder, "rcv1-v2.topics.qrels", "rcv1v2.topics.qrels")  # the second as at figshare

    def stories() -> Iterator[tuple[int, str, str]]:
        for line, place in chain.from_iterable(vectors):
            number, _, terms = line.partition(" ")
            if terms.strip():
                yield _story(number, place), line, place

    first = nsmallest(documents, stories(), key=itemgetter(0))
    columns: list[int] = []
    values: list[float] = []
    starts = [0]
    for _, line, place in first:
        svmlight_line(line, place, columns, values)
        starts.append(len(columns))
    row = {number: at for at, (number, _, _) in enumerate(first)}
    indices = np.array(columns, dtype=np.int32) - 1  # terms are numbered from 1
    if len(indices) == 0 or indices.min() < 0 or indices.max() >= N_TERMS:
        raise ValueError(f"{where}: the terms of the stories must be numbers from 1 to {N_TERMS}, got others")
    if len(row) < len(first):
        again = next(number for at, (number, _, _) in enumerate(first) if row[number] != at)
        raise ValueError(f"{where}: a story must have one vector, got two of story {again}")
    having: dict[str, set[int]] = {}
    for line, place in topics:
        fields = line.split()
        if len(fields) != 3 or fields[2] != "1":
            raise ValueError(f"{place}: a line must be a topic, a story's number and 1, got {line[:80].strip()!r}")
        if (at := row.get(_story(fields[1], place))) is not None:
            having.setdefault(fields[0], set()).add(at)
    if not having:
        raise ValueError(f"{where}: it must hold the topics of the stories, got none of the {len(first)} first")
    names = sorted(having, key=lambda name: (-len(having[name]), name))[:n_topics]
    y = np.array([[at in having[name] for name in names] for at in range(len(first))])
    X = sparse.csr_matrix((np.array(values), indices, starts), shape=(len(first), N_TERMS))
    return Stream(name="rcv1", X=X, y=y, classes=tuple(names))


def _placed(folder: Path, *names: str) -> Iterator[tuple[str, str]]:
    """Return the lines, each with its place, of the first of these files of RCV1 that is there, packed or not."""
    files = [name + packing for name in names for packing in (".gz", "")]
    name = next((name for name in files if (folder / "RCV1" / name).is_file()), files[0])

    def of(path: Path) -> Iterator[tuple[str, str]]:
        with open_trace(path) as file:
            for number, line in lines(file, _LONGEST_LINE, path):
                yield line.decode("ascii", "replace"), f"{path}: line {number}"

    with _found(folder, "RCV1", name) as path:
        return of(path)


def _story(number: str, place: str) -> int:
    if not number.isdecimal() or len(number) > 9:
        raise ValueError(f"{place}: a story must have a number of at most 9 digits, got {number[:80]!r}")
    return int(number)
