"""More than two classes with one question an instance.

What it models: the samplers of the catalogue with a vector of weights for each class over one memory.  The class of the
largest score is predicted, half the lead over the next is the margin that the rule looks at, and the answer is the
class itself.  What is stored is common to all classes: least squares learns the target +1 for the true class and -1
for every other; the Perceptron, AROW's diagonal and AdaGrad move the true class up and the best other one down.
With two classes it is the binary sampler, number for number.
What it leaves out: filters; learners whose update turns or shrinks the vector, or forgets examples.
Sources: those of the binary samplers; Crammer and Singer 2003 for the pair that is moved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from lpsm.arrays import Floats, Ints, Mask
from lpsm.checks import whole
from lpsm.samplers import kernels
from lpsm.samplers.catalogue import CATALOGUE, options_of
from lpsm.samplers.checks import Rows
from lpsm.samplers.round import VARIANCE, flags_of
from lpsm.samplers.run_log import Decision
from lpsm.samplers.sampler import RUN, Sampler


def has_classes(key: str) -> bool:
    """Whether a key of the catalogue has a form for several classes."""
    return kernels.has_classes(CATALOGUE[key].recipe.learner, CATALOGUE[key].recipe.rule)


_MOST_CLASSES = 1_000_000


class MulticlassSampler(Sampler):
    """A sampler of the catalogue for `n_classes` classes.

    Parameters
    ----------
    n_classes
        Number k of classes, at least 2.
    key, n_features, rng, normalize, dtype, max_queries, kernel, **params
        As in `lpsm.samplers.make`; ValueError for a filter, or a learner that has no form for several classes.

    Attributes
    ----------
    last_scores
        Scores of the classes in the last round, (k,).

    >>> s = MulticlassSampler("ss", 2, 3, K=0.5)
    >>> for x, c in (([1.0, 0.0], 0), ([0.0, 1.0], 1), ([-1.0, -1.0], 2)):
    ...     d = s.decide(x)
    ...     _ = d.query and s.learn(d.ticket, c)
    >>> s.predict([[2.0, 0.0], [0.0, 3.0], [-1.0, -2.0]]).tolist()
    [0, 1, 2]
    """

    def __init__(
        self, key: str, n_features: int, n_classes: int, *, rng: np.random.Generator | int | None = None,
        normalize: bool | None = None, dtype: DTypeLike = np.float64, max_queries: int | None = None, **params: Any,
    ) -> None:  # fmt: skip
        self.n_classes = whole(2, _MOST_CLASSES, n_classes=n_classes)
        options = options_of(key, n_features, normalize=normalize, **params)
        super().__init__(**options, n_features=n_features, rng=rng, dtype=dtype, max_queries=max_queries)

    def _configure(self, *settings: Any, **named: Any) -> None:
        super()._configure(*settings, **named)
        self.last_scores = np.zeros(self.n_classes)

    def decide(self, x: Rows) -> Decision:
        """Predict the class of `x`, of equals the last, and say whether to ask for it; `margin` is half the lead."""
        decision = super().decide(x)
        ensemble = self._prepared()
        variance = max(ensemble.record.outcome[0, VARIANCE], 0.0) if ensemble.inside else 0.0
        self.last_scores = ensemble.record.scores[0] / (1.0 + variance)
        return decision

    def _check_label(self, y: int) -> None:
        if whole(y=y) >= self.n_classes:
            raise ValueError(f"y must be a class from 0 to {self.n_classes - 1}, got {y}")

    def run(self, X: Rows, y: ArrayLike) -> tuple[Ints, Mask]:
        """Decide on the rows of X in turn, reading y only where it is asked for; return predictions and questions.

        Equal to the loop of `decide` and `learn`, decision for decision and draw for draw, compiled. ValueError as
        `decide`, or if there is not a class for each row; nothing has then been learned.
        """
        return self._plays(X, y)[:2]

    def _labels(self, y: ArrayLike, rounds: int) -> Floats:
        labels = np.asarray(y)
        if labels.shape != (rounds,):
            raise ValueError(f"y must have shape ({rounds},), got {labels.shape}")
        if rounds and not (labels.dtype.kind in "iu" and 0 <= labels.min() <= labels.max() < self.n_classes):
            raise ValueError(f"y must hold numbers of classes from 0 to {self.n_classes - 1}, got {labels[:3]} ...")
        return labels.astype(np.float64)

    def _plays(self, X: Rows, y: ArrayLike) -> tuple[Ints, Mask, Floats]:
        """Play the rows of X; return predictions, questions, and what `last_scores` was in each round (T, k)."""
        log, scores = self._played(*self._stream(X, y), RUN)
        if len(scores):
            self.last_scores = scores[-1].copy()
        return *flags_of(log)[:2], scores

    def scores(self, X: Rows) -> Floats:
        """Return the scores (T, k) of the rows of X under the present state: no round, no question."""
        return self._reads(X)[1]

    def predict(self, X: Rows) -> Ints:
        """Return the numbers of the classes of the largest scores, of several the last."""
        return last_largest(self.scores(X))

    def _particulars(self) -> str:
        return f", n_classes={self.n_classes}"


def last_largest(scores: Floats) -> Ints:
    """Return the numbers of the classes of the largest scores (n, k), of several the last."""
    return np.asarray(scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1), dtype=np.int64)
