"""Generated news: a stand-in for collections of texts that are not at hand.

What it models: documents of words whose frequencies fall like 1/rank; a document has one topic, two or
none, topics are as uneven as those of a news wire (every third document to one in a hundred), and a
topic's own words turn up more often in its documents.  Weights are TF-IDF of the past, as of real texts.
What it leaves out: order, syntax, and topics that come and go.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.datasets.stream import Stream
from experiments.datasets.texts import past_tfidf

__all__ = ["generated_news"]

WORDS, OWN_WORDS = 8000, 60  # of the language, of a topic
LENGTH, OWN_SHARE = 40, 0.25  # mean words of a document, and how many of them are its topics' own
NO_TOPIC, TWO_TOPICS = 0.2, 0.15


def generated_news(documents: int, topics: int, rng: np.random.Generator) -> Stream:
    """Return documents with any number of topics, the most frequent topic first.

    >>> stream = generated_news(50, 3, np.random.default_rng(0))
    >>> stream.X.shape[0], stream.classes
    (50, ('topic 1', 'topic 2', 'topic 3'))
    """
    if documents < 1 or topics < 1:
        raise ValueError(f"documents and topics must be at least 1, got {documents} and {topics}")
    common = 1.0 / np.arange(1, WORDS + 1)
    common /= common.sum()
    own = np.array([rng.choice(WORDS, OWN_WORDS, replace=False) for _ in range(topics)])
    shares = 1.0 / np.arange(1, topics + 1)
    shares /= shares.sum()
    y = np.zeros((documents, topics), dtype=np.bool_)
    counts = (rng.random(documents)[:, None] < (1.0 - NO_TOPIC, TWO_TOPICS)).sum(axis=1)
    texts = []
    for row, count in enumerate(counts):
        chosen = rng.choice(topics, min(int(count), topics), replace=False, p=shares)
        y[row, chosen] = True
        length = 5 + int(rng.poisson(LENGTH - 5))
        words = rng.choice(WORDS, length, p=common)
        for at in np.flatnonzero(rng.random(length) < OWN_SHARE) if len(chosen) else ():
            words[at] = own[chosen[int(rng.integers(len(chosen)))], int(rng.integers(OWN_WORDS))]
        texts.append(" ".join(_word(int(word)) for word in words))
    order: NDArray[np.intp] = np.argsort(-y.sum(axis=0), kind="stable")
    X: sparse.csr_matrix = past_tfidf(texts)
    names = tuple(f"topic {place}" for place in range(1, topics + 1))
    return Stream(
        name="generated-news", X=X, y=y[:, order], classes=names, lines=np.zeros(0, dtype=np.int64), in_time_order=True
    )


def _word(number: int) -> str:
    """Return the number in letters, three of them."""
    return "".join(chr(ord("a") + number // 26**place % 26) for place in range(3))
