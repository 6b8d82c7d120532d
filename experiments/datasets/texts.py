"""Texts: Reuters-21578 in time order, and SMS spam, as TF-IDF of the past.

What it models: a document becomes the vector of (1 + ln tf) (1 + ln((1 + n)/(1 + df))) over
its words, divided by its norm; n and df count the documents *before* it, so that no
round knows anything of a later one.  A word that has not occurred yet is a new feature.
What it leaves out: stop words and stems.
Source: Lewis' notes on Reuters-21578, Distribution 1.0; Cavallanti et al. 2010, section 3.3,
for time order and cosine-normalised TF-IDF.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from math import log
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.datasets.finding import find
from experiments.datasets.stream import Stream
from traces.files import open_trace

__all__ = ["past_tfidf", "reuters", "sms_spam"]

_WORD = re.compile(r"[^\W\d_]{2,}")


def past_tfidf(texts: Iterable[str]) -> sparse.csr_matrix:
    """Return the unit vectors of the texts, (T, words), each weighted by what came before it.

    >>> past_tfidf(["oil oil", "gas oil"]).toarray().round(3)
    array([[1.   , 0.   ],
           [0.509, 0.861]])
    """
    column: dict[str, int] = {}
    seen: list[int] = []  # documents with each word so far
    values: list[float] = []
    columns: list[int] = []
    starts = [0]
    for n, text in enumerate(texts):
        counts = Counter(_WORD.findall(text.lower()))
        weights: dict[int, float] = {}
        for word, tf in counts.items():
            at = column.setdefault(word, len(column))
            if at == len(seen):
                seen.append(0)
            weights[at] = (1.0 + log(tf)) * (1.0 + log((1 + n) / (1 + seen[at])))
        for at in weights:
            seen[at] += 1
        norm = sum(weight * weight for weight in weights.values()) ** 0.5
        for at in sorted(weights):
            columns.append(at)
            values.append(weights[at] / norm)
        starts.append(len(columns))
    parts = (np.array(values), np.array(columns, dtype=np.int32), np.array(starts, dtype=np.int32))
    return sparse.csr_matrix(parts, shape=(len(starts) - 1, max(1, len(column))))


def reuters(folder: Path, n_topics: int = 10, *, all_documents: bool = False) -> Stream:
    """Return Reuters-21578 in time order, an instance having any number of the `n_topics` most frequent topics.

    It lies in ``reuters21578/reuters21578.jsonl.gz``.  With `all_documents` those that were never indexed (TOPICS="NO"
    or "BYPASS") are taken too, as having no topic.
    """
    rows = []
    path = find(folder, "reuters21578", "reuters21578.jsonl.gz")
    with open_trace(path) as file:
        for number, line in enumerate(file, 1):
            indexed, row = _document(path, number, line)
            if all_documents or indexed:
                rows.append(row)
    if not rows:
        raise ValueError(f"{path}: there must be a document with TOPICS, got none")
    rows.sort(key=lambda row: row[:2])
    count = Counter(topic for row in rows for topic in row[2])
    topics = sorted(count, key=lambda topic: (-count[topic], topic))[:n_topics]
    y = np.array([[topic in row[2] for topic in topics] for row in rows], dtype=np.bool_)
    X = past_tfidf(row[3] for row in rows)
    return _worded("reuters", X, y, tuple(topics), in_time_order=True)


def _document(path: Path, number: int, line: bytes) -> tuple[bool, tuple[str, int, list[str], str]]:
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
    raise ValueError(
        f"{path}: line {number} must be a JSON object with iso, newid, topics_attr, topics, title and body, "
        f"got {line[:40]!r}"
    )


def sms_spam(folder: Path) -> Stream:
    """Return the SMS Spam Collection, 5,574 messages in no order of time, from ``sms_spam/SMSSpamCollection``."""
    path = find(folder, "sms_spam", "SMSSpamCollection")
    labels, texts = [], []
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        number = error.object[: error.start].count(b"\n") + 1
        raise ValueError(f"{path}: line {number} must be UTF-8, got {error.object[error.start]:#x}") from None
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        label, tab, text = line.partition("\t")
        if label not in ("ham", "spam") or not tab:
            raise ValueError(f"{path}: line {number} must be ham or spam, a tab and a text, got {line[:40]!r}")
        labels.append(label == "spam")
        texts.append(text)
    if not texts:
        raise ValueError(f"{path}: there must be a message, got none")
    return _worded("sms-spam", past_tfidf(texts), np.array(labels, dtype=np.int64), ("ham", "spam"))


def _worded(name: str, X: sparse.csr_matrix, y: NDArray[Any], classes: tuple[str, ...], **more: Any) -> Stream:
    """Return the stream without texts that hold no word: they have no direction."""
    stream = Stream(name=name, X=X, y=y, classes=classes, lines=np.zeros(0, dtype=np.int64), **more)
    worded = np.flatnonzero(np.diff(X.indptr))
    return stream if len(worded) == len(y) else stream.take(worded)
