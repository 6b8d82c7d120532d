"""Selective samplers inside river: dictionaries of features in, labels one at a time.

What it models: river's loop, predict then learn.  `RiverSampler` is a river classifier to which every
label may be shown; it uses those it asked for and no other.  `ask(x)` says whether it wants the one of
x.  `ActiveRiverSampler` is the same in river's active-learning form, whose predictions are pairs
(label, whether it is wanted), so that river's progressive validation withholds the rest and counts.
An instance predicted again before its label came is the same round.

What it leaves out: more than two classes, probabilities (the predicted class has 1), filters' forced
forwards as anything but questions.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lpsm.samplers.catalogue import make
from lpsm.samplers.record import Decision
from lpsm.samplers.sampler import Sampler

try:
    from river import base
    from river.active.base import ActiveLearningClassifier
except ImportError as error:  # pragma: no cover
    raise ImportError("the river adapter needs river: install lpsm[river]") from error

__all__ = ["ActiveRiverSampler", "RiverSampler"]


class RiverSampler(base.Classifier):
    """A sampler as a river classifier.

    Parameters
    ----------
    key
        A key of `lpsm.samplers.keys()`.
    params
        The sampler's parameters by symbol, and `normalize`, as in `lpsm.samplers.make`.
    classes
        The two labels, negative first; river's binary metrics take booleans.
    features
        Names of the features; None for those of the first instance, in sorted order.  A feature
        that an instance lacks is 0; one that is not listed is an error.
    n_hashed
        Instead of names: the size of a hashed feature space, for vocabularies without end.
    seed
        Seed of the coins of a randomised key.
    """

    def __init__(
        self,
        key: str = "ssmd",
        params: Mapping[str, Any] | None = None,
        classes: Sequence[Hashable] = (False, True),
        features: Sequence[Hashable] | None = None,
        n_hashed: int | None = None,
        seed: int | None = None,
    ) -> None:
        if len(classes) != 2 or classes[0] == classes[1]:
            raise ValueError(f"classes must be two different labels, got {classes!r}")
        if features is not None and n_hashed is not None:
            raise ValueError(f"features and n_hashed exclude each other, got {features!r} and {n_hashed}")
        self.key, self.params, self.classes = key, params, classes
        self.features, self.n_hashed, self.seed = features, n_hashed, seed
        self.sampler: Sampler | None = None
        self._columns: dict[Hashable, int] | None = None
        self._round: tuple[dict[Any, Any], Any, Decision] | None = None

    @property
    def n_queries(self) -> int:
        """Labels asked for so far."""
        return 0 if self.sampler is None else self.sampler.queries

    def ask(self, x: Mapping[Any, float]) -> bool:
        """Whether the label of `x` is wanted."""
        return self._decide(x)[1].query

    def predict_one(self, x: Mapping[Any, float], **kwargs: Any) -> Any:
        """Return the predicted class of `x`."""
        return self.classes[int(self._decide(x)[1].prediction > 0)]

    def predict_proba_one(self, x: Mapping[Any, float], **kwargs: Any) -> dict[Any, float]:
        """Return 1 for the predicted class and 0 for the other: samplers have margins, not probabilities."""
        positive = float(self._decide(x)[1].prediction > 0)
        return {self.classes[0]: 1.0 - positive, self.classes[1]: positive}

    def learn_one(self, x: Mapping[Any, float], y: Hashable, **kwargs: Any) -> None:
        """Show the label of `x`; it is looked at only if it was asked for."""
        row, decision = self._decide(x)
        self._round = None
        if not decision.query:
            return
        if y not in self.classes:
            raise ValueError(f"y must be one of the classes {tuple(self.classes)}, got {y!r}")
        assert self.sampler is not None
        self.sampler.learn(row, 1 if y == self.classes[1] else -1)

    def _decide(self, x: Mapping[Any, float]) -> tuple[Any, Decision]:
        if self._round is not None and self._round[0] == x:
            return self._round[1:]
        row = self._row(x)
        if self.sampler is None:
            size = self.n_hashed if self._columns is None else len(self._columns)
            self.sampler = make(
                self.key, int(size or 0), rng=np.random.default_rng(self.seed), **dict(self.params or {})
            )
        decision = self.sampler.decide(row)
        self._round = (dict(x), row, decision)
        return row, decision

    def _row(self, x: Mapping[Any, float]) -> NDArray[np.float64] | sparse.csr_matrix:
        if self.n_hashed is not None:
            columns = [crc32(str(name).encode()) % self.n_hashed for name in x]
            values = [float(value) for value in x.values()]
            return sparse.csr_matrix((values, (np.zeros(len(x), dtype=np.intp), columns)), shape=(1, self.n_hashed))
        if self._columns is None:
            names = sorted(x, key=str) if self.features is None else list(self.features)
            self._columns = {name: i for i, name in enumerate(names)}
        row = np.zeros(len(self._columns))
        for name, value in x.items():
            if name not in self._columns:
                raise ValueError(f"x must hold only the features of the first instance or `features`, got {name!r}")
            row[self._columns[name]] = value
        return row


class ActiveRiverSampler(ActiveLearningClassifier):
    """A `RiverSampler` in river's active-learning form: predictions are (label, whether its label is wanted)."""

    def __init__(self, classifier: RiverSampler, seed: int | None = None) -> None:
        super().__init__(classifier=classifier, seed=seed)
        self._sampler = classifier

    def _ask_for_label(self, x: Mapping[Any, float], y_pred: Any) -> bool:
        return self._sampler.ask(x)
