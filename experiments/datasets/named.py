"""Data sets by name, of which none belongs to the project: in a folder given, or the one LPSM_DATA names.

What it models: handwritten digits, USPS (16 x 16) and MNIST (28 x 28), training rows before test rows, pixels in
[0, 1], background 0 (USPS is stored with it at -1; moved to [0, 1] it agrees with the thesis' table 4.1); in order of
time, spam that drifts (Katakis et al.), electricity prices (Elec2), Reuters-21578 and RCV1; and SMS spam.  Texts are
TF-IDF of the past (`words`).
What it leaves out: any download, centring or whitening; Elec2's `date`, which only grows.
Sources: Lewis' notes on Reuters-21578, Distribution 1.0; Lewis, Yang, Rose and Li 2004, appendices 2, 12 and 13.
"""

import csv
import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.datasets.files import MOST_BYTES, arrays_of, naming, of_npz, read
from experiments.datasets.stream import Stream
from experiments.datasets.words import past_tfidf
from traces.files import open_trace

__all__ = ["VARIABLE", "data_folder", "elec2", "mnist", "rcv1", "reuters", "sms_spam", "spam_drift", "usps"]

VARIABLE = "LPSM_DATA"


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
        arrays = arrays_of(path, wanted)
        if len(arrays) < len(wanted):
            raise ValueError(f"it must hold {', '.join(wanted)}, got {', '.join(arrays) or 'none of them'}")
        X, y = (np.concatenate([arrays[f"{name}_{part}"] for part in ("train", "test")]) for name in "Xy")
        return _digits("usps", X, y, 256, 2000, 0.5)


def mnist(folder: Path, parts: tuple[str, ...] = ("train", "t10k")) -> Stream:
    """Return the 70,000 digits of MNIST, from the four idx files in ``mnist/``; or of some `parts`."""
    X = np.concatenate([_idx(folder, f"{part}-images-idx3-ubyte.gz", 3) for part in parts])
    y = np.concatenate([_idx(folder, f"{part}-labels-idx1-ubyte.gz", 1) for part in parts])
    with naming(folder / "mnist"):
        return _digits("mnist", X.reshape(len(X), -1), y, 28 * 28, 255)


def _digits(name: str, X: NDArray[Any], y: NDArray[Any], pixels: int, scale: float, background: float = 0.0) -> Stream:
    if {X.dtype.kind, y.dtype.kind} - set("iu") or X.shape[1:] != (pixels,) or y.shape != X.shape[:1]:
        rule = f"digits must be {pixels} whole numbers each, with a label"
        raise ValueError(f"{rule}, got {X.dtype} of shape {X.shape}, and labels {y.dtype} of shape {y.shape}")
    if not set(np.unique(y).tolist()) <= set(range(10)):
        raise ValueError(f"labels must be digits, got {y.min()} to {y.max()}")
    return Stream(name=name, X=X / scale + background, y=y.astype(np.int64), classes=tuple("0123456789"))


def _idx(folder: Path, name: str, dimensions: int) -> NDArray[np.uint8]:
    """Return the array of unsigned bytes in an idx file: magic 0 0 8 dimensions, big-endian sizes, values."""
    with _found(folder, "mnist", name) as path:
        with open_trace(path, max_unpacked_bytes=MOST_BYTES) as file:
            content = file.read()
        if content[:4] != bytes((0, 0, 8, dimensions)):
            raise ValueError(f"an idx file must begin with 0 0 8 {dimensions}, got {list(content[:4])}")
        sizes = np.frombuffer(content, ">u4", dimensions, 4).tolist()
        return np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(sizes)


# -- in order of time --------------------------------------------------------------------------------------


def spam_drift(folder: Path) -> Stream:
    """Return 9,324 mails over 39,916 words, each there or not, from ``spam_katakis_stream/spam_stream.npz``."""
    with _found(folder, "spam_katakis_stream", "spam_stream.npz") as path:
        return _named(of_npz(path), "spam-drift", ("ham", "spam"))


def elec2(folder: Path) -> Stream:
    """Return 45,312 half-hours of New South Wales, 7 features, from ``elec2/electricity-normalized.csv.gz``.

    Labels are strongly autocorrelated: repeating the last one is right in 85 % of rounds, which no sampler can use.
    """
    with _found(folder, "elec2", "electricity-normalized.csv.gz") as path:
        return _named(read(path, label="class", drop=("date",)), "elec2", ("down", "up"))


def _named(stream: Stream, name: str, called: tuple[str, str]) -> Stream:
    """Return a stream of two classes, 0 and 1 in its file, with their names."""
    if stream.classes != ("0", "1"):
        rule = f"classes must be 0 ({called[0]}) and 1 ({called[1]})"
        raise ValueError(f"{rule}, got {', '.join(stream.classes)[:80]}")
    return replace(stream, name=name, classes=called)


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
    y = np.array([[topic in row[2] for topic in topics] for row in rows], bool)
    return _worded("reuters", [row[3] for row in rows], y, tuple(topics))


def _document(number: int, line: bytes) -> tuple[bool, tuple[str, int, list[str], str]]:
    """Return whether the document of a line was indexed, and its time, number, topics and text."""
    try:
        row = json.loads(line)
        key = str(row["iso"]), int(row["newid"]), [str(topic) for topic in row["topics"]]
        return row["topics_attr"] == "YES", (*key, f"{row['title'] or ''} {row['body'] or ''}")
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        rule = "must be a JSON object with iso, newid, topics_attr, topics, title and body"
        raise ValueError(f"line {number} {rule}, got {line[:40]!r}") from None


def rcv1(folder: Path, n_topics: int = 10, *, documents: int = 40_000) -> Stream:
    """Return the first stories of RCV1 by number, which is the order of time, with the most frequent of their topics.

    Taken are the token files of LYRL2004, ``rcv1/lyrl2004_tokens_*.dat`` and ``rcv1/rcv1-v2.topics.qrels``, gzipped or
    not; or else its vectors as scikit-learn keeps them (``fetch_rcv1(data_home="rcv1")``: pickles, which are only to be
    loaded where one made them), whose weights know the training stories' frequencies.
    """
    base = folder / "rcv1"
    if paths := sorted(base.glob("lyrl2004_tokens_*.dat*"), key=lambda path: ("train" not in path.name, path.name)):
        texts = dict(islice(_tokens(paths), documents))
        own: dict[int, list[str]] = {number: [] for number in texts}
        packed = "rcv1-v2.topics.qrels.gz"
        name = packed if (base / packed).is_file() else packed.removesuffix(".gz")
        with _found(folder, "rcv1", name) as path, open_trace(path, max_unpacked_bytes=MOST_BYTES) as file:
            for number, line in enumerate(file, 1):
                topic, story, _ = _fields(number, line, 3)
                own.get(int(story), []).append(topic)
        count = Counter(topic for topics in own.values() for topic in topics)
        classes = sorted(count, key=lambda topic: (-count[topic], topic))[:n_topics]
        y = np.array([[topic in topics for topic in classes] for topics in own.values()], bool)
        return _worded("rcv1", list(texts.values()), y, tuple(classes))
    from sklearn.datasets import fetch_rcv1

    try:
        kept = fetch_rcv1(data_home=base, download_if_missing=False)
    except OSError:
        rule = "there must be token files of LYRL2004, or the vectors that scikit-learn keeps in RCV1"
        raise FileNotFoundError(2, rule, str(base)) from None
    order = np.argsort(kept.sample_id, kind="stable")[:documents]
    labels = sparse.csr_matrix(kept.target)[order].astype(np.int64)
    most = np.argsort(-np.asarray(labels.sum(axis=0)).ravel(), kind="stable")[:n_topics]
    names = tuple(str(kept.target_names[at]) for at in most)
    X = sparse.csr_matrix(kept.data, dtype=np.float64)[order]
    return Stream(name="rcv1", X=X, y=labels[:, most].toarray() > 0, classes=names)


def _tokens(paths: list[Path]) -> Iterator[tuple[int, str]]:
    """Yield number and text of each story of token files: a line .I and its number, a line .W, and lines of words."""
    last, words = -1, list[str]()
    for path in paths:
        with naming(path), open_trace(path) as file:
            for number, line in enumerate(file, 1):
                if line.startswith(b".I"):
                    if last >= 0:
                        yield last, " ".join(words)
                    before, last, words = last, int(_fields(number, line, 2)[1]), []
                    if last <= before:
                        raise ValueError(f"line {number}: stories must go up in number, got {last} after {before}")
                elif last < 0:
                    raise ValueError(f"line {number} must begin a story with .I and its number, got {line[:40]!r}")
                elif not line.startswith(b".W"):
                    words.append(line.decode("ascii", "replace").strip())
    if last >= 0:
        yield last, " ".join(words)


def _fields(number: int, line: bytes, count: int) -> list[str]:
    """Return the words of a line that must have so many, the second a whole number."""
    fields = line.decode("ascii", "replace").split()
    if len(fields) != count or not fields[1].isdigit():
        raise ValueError(f"line {number} must have {count} words, of which the second is a number, got {line[:40]!r}")
    return fields


def sms_spam(folder: Path) -> Stream:
    """Return the SMS Spam Collection, 5,574 messages in no order of time, from ``sms_spam/SMSSpamCollection``."""
    import pandas as pd

    with _found(folder, "sms_spam", "SMSSpamCollection") as path:
        messages = pd.read_csv(
            path, sep="\t", header=None, names=["label", "text"], index_col=False, dtype=str, quoting=csv.QUOTE_NONE,
            na_filter=False,
        )  # fmt: skip
        strange = ~messages["label"].isin(["ham", "spam"]) | messages["text"].eq("")
        if strange.any() or messages.empty:
            rule = "a line must be ham or spam, a tab and a text"
            raise ValueError(f"{rule}, got {messages.to_numpy()[strange].tolist()[:1] or 'none'}")
        return _worded("sms-spam", messages["text"].tolist(), (messages["label"] == "spam") * 1, ("ham", "spam"))


def _worded(name: str, texts: list[str], y: Any, classes: tuple[str, ...]) -> Stream:
    """Return the stream of texts without those that hold no word: they have no direction."""
    stream = Stream(name=name, X=past_tfidf(texts), y=np.asarray(y), classes=classes)
    return stream.take(np.flatnonzero(np.diff(stream.X.indptr)))
