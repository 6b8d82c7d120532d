"""Texts as TF-IDF of the past, and generated news: a stand-in for collections of texts that are not at hand.

What it models: a document becomes the vector of (1 + ln tf) (1 + ln((1 + n)/(1 + df))) over
its words, divided by its norm; n and df count the documents *before* it, so that no
round knows anything of a later one.  A word that has not occurred yet is a new feature.
What it leaves out: stop words and stems; of generated news order, syntax, and topics that come and go.
Source: Cavallanti et al. 2010, section 3.3, for time order and cosine-normalised TF-IDF.
"""

import re
from collections import Counter
from collections.abc import Iterable
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from experiments.datasets.stream import Stream

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
        weights: dict[int, float] = {}
        for word, tf in Counter(_WORD.findall(text.lower())).items():
            at = column.setdefault(word, len(column))
            seen += [0] * (at == len(seen))
            weights[at] = (1.0 + log(tf)) * (1.0 + log((1 + n) / (1 + seen[at])))
            seen[at] += 1
        norm = sum(weight * weight for weight in weights.values()) ** 0.5
        columns += sorted(weights)
        values += [weights[at] / norm for at in sorted(weights)]
        starts.append(len(columns))
    parts = (np.array(values), np.array(columns, np.int32), np.array(starts, np.int32))
    return sparse.csr_matrix(parts, shape=(len(starts) - 1, max(1, len(column))))


WORDS, OWN_WORDS = 8000, 60  # of the language, of a topic
LENGTH, OWN_SHARE = 40, 0.25  # mean words of a document, and how many of them are its topics' own
NO_TOPIC, TWO_TOPICS = 0.2, 0.15


def generated_news(documents: int, topics: int, rng: np.random.Generator) -> Stream:
    """Return documents of words whose frequencies fall like 1/rank, with any number of topics, the most frequent first.

    A document has one topic, two or none; topics are as uneven as those of a news wire, like 1/rank, and a topic's own
    words turn up more often in its documents.

    >>> stream = generated_news(50, 3, np.random.default_rng(0))
    >>> stream.X.shape[0], stream.classes
    (50, ('topic 1', 'topic 2', 'topic 3'))
    """
    common, shares = (1.0 / np.arange(1, size + 1) for size in (WORDS, topics))
    own = np.array([rng.choice(WORDS, OWN_WORDS, replace=False) for _ in range(topics)])
    y, texts = np.zeros((documents, topics), bool), []
    counts = (rng.random(documents)[:, None] < (1.0 - NO_TOPIC, TWO_TOPICS)).sum(axis=1)
    for row, count in enumerate(counts.tolist()):
        chosen = rng.choice(topics, min(count, topics), replace=False, p=shares / shares.sum())
        y[row, chosen] = True
        words = rng.choice(WORDS, 5 + rng.poisson(LENGTH - 5), p=common / common.sum())
        of_topic = rng.random(len(words)) < OWN_SHARE * (count > 0)
        words[of_topic] = rng.choice(own[chosen].ravel(), of_topic.sum()) if count else 0
        texts.append(" ".join("".join(chr(97 + word // 26**at % 26) for at in range(3)) for word in words.tolist()))
    order: NDArray[np.intp] = np.argsort(-y.sum(axis=0), kind="stable")
    names = tuple(f"topic {place}" for place in range(1, topics + 1))
    return Stream(name="generated-news", X=past_tfidf(texts), y=y[:, order], classes=names)
