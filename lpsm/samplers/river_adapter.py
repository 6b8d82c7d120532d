"""Selective samplers inside river: dictionaries of features in, labels one at a time, early or late.

What it models: river's loop.  `RiverSampler` is a river classifier to which every label may be shown.  Its round is
`learn_one`: there it decides, and looks at the label only if it asks for it; `predict_one` changes nothing.  So it may
stand behind transformers that learn, and its labels may come late.  `ask(x)` opens the round of x ahead of its label.
`ActiveRiverSampler` is the same in river's active-learning form, where the round is the prediction.
New features may appear at any time; a feature that an instance lacks is 0.  Where a key normalises, an instance of
zeros has no direction: it is no round, is not asked about, and is predicted to be positive.

What it leaves out: more than two classes, filters' forced forwards as anything but questions.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from sklearn.feature_extraction import FeatureHasher

from lpsm.samplers.calibration import Bought, leads
from lpsm.samplers.catalogue import make
from lpsm.samplers.linear_algebra import Table
from lpsm.samplers.sampler import Sampler

try:
    from river import base, compose
    from river.active.base import ActiveLearningClassifier
except ImportError as error:  # pragma: no cover
    raise ImportError("the river adapter needs river: install lpsm[river]") from error

Features = dict[Any, float]
Owed = list[tuple[Features, int]]  # instances that were asked about, and their tickets, oldest first


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
        Names of the features, if no others may come; None to take them as they come.
    n_hashed
        Instead of names: the size of a hashed feature space, for vocabularies without end (scikit-learn's
        `FeatureHasher`, without signs).
    seed
        Seed of the coins of a randomised key.
    """

    def __init__(
        self, key: str = "ss", params: Mapping[str, Any] | None = None, classes: Sequence[Hashable] = (False, True),
        features: Sequence[Hashable] | None = None, n_hashed: int | None = None, seed: int | None = None,
    ) -> None:  # fmt: skip
        if len(classes) != 2 or classes[0] == classes[1]:
            raise ValueError(f"classes must be two different labels, got {classes!r}")
        if features is not None and n_hashed is not None:
            raise ValueError(f"features and n_hashed exclude each other, got {features!r} and {n_hashed}")
        self.key, self.params, self.classes = key, params, classes
        self.features, self.n_hashed, self.seed = features, n_hashed, seed
        self.sampler: Sampler | None = None
        self._columns: dict[Hashable, int] = {name: i for i, name in enumerate(features or ())}
        self._hasher = FeatureHasher(n_hashed, alternate_sign=False) if n_hashed else None
        self._bought = Bought()
        self._opened: tuple[Features, int | None] | None = None  # the last instance of `ask`
        self._owed: Owed = []  # those that were asked about before it

    @property
    def n_queries(self) -> int:
        """Labels asked for so far."""
        return 0 if self.sampler is None else self.sampler.queries

    def ask(self, x: Features) -> bool:
        """Whether the label of `x` is wanted; its round is opened; `learn_one` with it, now or later, closes that."""
        if self._opened is None or self._opened[0] != x:
            self._put_off()
            self._opened = dict(x), self.open(x)
        return self._opened[1] is not None

    def forget(self, x: Features) -> None:
        """Close the oldest question about `x`, whose label will not come; ValueError if there is none."""
        self._put_off()
        if not _settled(self._owed, x, self._drop):
            raise ValueError(f"x must be an instance that was asked about, got {dict(x)!r}")

    def open(self, x: Features) -> int | None:
        """Play the round of `x` and return the ticket of its question, None if its label is not wanted."""
        row = self._row(x)
        if self.sampler is None:
            size = self.n_hashed or max(1, len(self._columns))
            self.sampler = make(self.key, size, rng=np.random.default_rng(self.seed), **dict(self.params or {}))
        if self._hasher is None and len(row) > self.sampler.n_features:
            self.sampler.widen(len(row))
        if self.sampler.normalize and not _any(row):
            return None
        decision = self.sampler.decide(row)
        if decision.ticket is not None:
            self._bought.open[decision.ticket] = leads(np.array([decision.margin]))
        return decision.ticket

    def close(self, ticket: int, y: Hashable) -> None:
        """Give the label that a ticket stands for."""
        if y not in self.classes:
            raise ValueError(f"y must be one of the classes {tuple(self.classes)}, got {y!r}")
        assert self.sampler is not None
        code = int(y == self.classes[1])
        self.sampler.learn(ticket, 2 * code - 1)
        self._bought.answer(ticket, code)

    def predict_one(self, x: Features, **kwargs: object) -> Any:
        """Return the predicted class of `x`."""
        return self.classes[int(self._margin(x) >= 0.0)]

    def predict_proba_one(self, x: Features, **kwargs: object) -> dict[Any, float]:
        """Return the classes' probabilities, calibrated on the labels bought so far, the predicted class first."""
        margin = self._margin(x)
        chances = self._bought.probabilities(leads(np.array([margin])))[0].tolist()
        found = list(zip(self.classes, chances, strict=True))
        return dict(found[::-1] if margin >= 0.0 else found)

    def learn_one(self, x: Features, y: Hashable, **kwargs: object) -> None:
        """Play the round of `x`, unless `ask` has; its label is looked at only if it is asked for."""
        last = self._opened is not None and self._opened[0] == x
        if not last and _settled(self._owed, x, lambda ticket: self.close(ticket, y)):
            return
        if self.ask(x):
            self.close(self._opened[1], y)  # type: ignore[index, arg-type]
        self._opened = None

    def _drop(self, ticket: int) -> None:
        assert self.sampler is not None
        self.sampler.forget(ticket)
        del self._bought.open[ticket]

    def _put_off(self) -> None:
        """Keep the question of the last `ask` for a label that comes later."""
        if self._opened is not None and self._opened[1] is not None:
            self._owed.append((self._opened[0], self._opened[1]))
        self._opened = None

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield from ({"key": "ssmd"}, {"key": "perceptron-ss", "seed": 0}, {"key": "sop-ss", "n_hashed": 64, "seed": 0})

    def _margin(self, x: Features) -> float:
        """The margin of `x` as it would be now; 0 before the first round, and where `x` has no direction."""
        row, sampler = self._row(x, remember=False), self.sampler
        if sampler is None or (sampler.normalize and not _any(row)):
            return 0.0
        if self._hasher is None:
            row = np.append(row, np.zeros(max(0, sampler.n_features - len(row))))[: sampler.n_features]
        return sampler.margin(row)

    def _row(self, x: Features, remember: bool = True) -> Table:
        if self._hasher is not None:
            return self._hasher.transform([{str(name): value for name, value in x.items()}])
        unknown = sorted((name for name in x if name not in self._columns), key=str)
        if unknown and self.features is not None:
            raise ValueError(f"x must hold only the features {list(self.features)}, got {unknown[0]!r}")
        if remember:
            for name in unknown:
                self._columns[name] = len(self._columns)
        row = np.zeros(len(self._columns))
        for name in self._columns.keys() & x.keys():
            row[self._columns[name]] = x[name]
        return row


class ActiveRiverSampler(ActiveLearningClassifier):
    """A `RiverSampler`, or a pipeline that ends in one, in river's active-learning form.

    Predictions are pairs (label, whether its label is wanted).  A label that comes late goes to the instance as it
    was transformed when it was asked about; the transformers learn from the instances whose labels come.

    Parameters
    ----------
    classifier
        The sampler, or transformers and it.
    seed
        Not used: the coins are the sampler's.
    """

    def __init__(self, classifier: Any, seed: int | None = None) -> None:
        super().__init__(classifier=classifier, seed=seed)
        self._last: tuple[Features, set[str]] | None = None  # and the methods that predicted it
        self._owed: Owed = []  # instances as they came

    @property
    def sampler(self) -> RiverSampler:
        """The `RiverSampler` at the end."""
        last = self._steps()[-1]
        if not isinstance(last, RiverSampler):
            raise ValueError(f"classifier must be, or end in, a RiverSampler, got {type(last).__name__}")
        return last

    def predict_one(self, x: Features, **kwargs: object) -> Any:
        """Return the predicted class of `x` and whether its label is wanted: a round, unless its chances began it."""
        said = self.classifier.predict_one(x, **kwargs)
        return said, self._ask_for_label(x, said, "predict_one")

    def predict_proba_one(self, x: Features, **kwargs: object) -> Any:
        """Return the chances of the classes and whether the label is wanted: a round, unless a prediction began it."""
        said = self.classifier.predict_proba_one(x, **kwargs)
        return said, self._ask_for_label(x, said, "predict_proba_one")

    def learn_one(self, x: Features, y: Hashable, **kwargs: object) -> None:
        """Take the label of an instance that was asked about; without a question it is not looked at."""
        instance = x
        for step in self._steps()[:-1]:
            step.learn_one(instance)
            instance = step.transform_one(instance)
        asked = _settled(self._owed, x, lambda ticket: self.sampler.close(ticket, y))
        if not asked and (self._last is None or self._last[0] != x):
            self.sampler.learn_one(instance, y)  # it was not predicted before: its round is now
        self._last = None

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"classifier": RiverSampler()}

    def _unit_test_skips(self) -> set[str]:
        return {"check_predict_proba_one_binary"}  # it is not for predictions that are pairs

    def _ask_for_label(self, x: Features, y_pred: object, method: str = "") -> bool:
        """Whether the label of `x` is wanted; each prediction is a round, but the two ways of one instance are one."""
        if self._last is None or self._last[0] != x or method in self._last[1]:
            ticket = self.sampler.open(reduce(lambda seen, step: step.transform_one(seen), self._steps()[:-1], x))
            self._last, self._wanted = (dict(x), set()), ticket is not None
            if ticket is not None:
                self._owed.append((dict(x), ticket))
        self._last[1].add(method)
        return self._wanted

    def _steps(self) -> list[Any]:
        last = self.classifier
        return list(last.steps.values()) if isinstance(last, compose.Pipeline) else [last]


def _settled(owed: Owed, x: Features, settle: Callable[[int], None]) -> bool:
    """Settle the oldest question about an instance by its ticket; return whether there was one."""
    for at, (seen, ticket) in enumerate(owed):
        if seen == x:
            settle(ticket)
            del owed[at]
            return True
    return False


def _any(row: Table) -> bool:
    """Whether a row, dense or sparse, is not all zero."""
    return bool((row != 0.0).sum())
