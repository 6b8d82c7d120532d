"""A sampler that also sees the labels it bought lately: for dense series whose labels come in runs.

What it models: beside the d features of round t stand k more, one a time tau in rounds,

    sum_s y_s e^(-(t-s)/tau) / (1 + sum_s e^(-(t-s)/tau)),

sums over the rounds s < t whose labels were asked for and have come: means of the labels, the older the lighter, drawn
to 0 as by one label that is neither, so that they lie in (-1, 1) and fade where nothing was bought for long.

Of several classes each has k such features, with 1 for y_s where the label was that class and 0 where it was another,
times the root mean square length of the instances so far, so that neighbours differ as much by a label as by x.  What
is stored sees its own label among them, as it will be seen by the rounds after it: so a run that has begun speaks for
the instances stored in runs of its class, and not for those stored before a run of that class began.
What it leaves out: labels that were not bought; whole streams compiled (rounds are played one by one).
Source: ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from lpsm.arrays import Array, Floats, State
from lpsm.checks import reading, shaped, shown, state_array
from lpsm.samplers import state_io
from lpsm.samplers.catalogue import MulticlassSampler
from lpsm.samplers.checks import Rows, as_instances
from lpsm.samplers.run_log import Decision, RunLog
from lpsm.samplers.sampler import Sampler
from lpsm.states import from_state

TIMES = (4.0, 16.0, 64.0)
"""Rounds; looked for on the whole of Elec2, where other sets of times from 1 to 256 did as well."""


class LastLabels:
    """A sampler and the labels it bought lately.

    Parameters
    ----------
    sampler
        A `Sampler` of d + k features: the last k are the labels.  Or a `MulticlassSampler` of c classes, of d + c k.
    times
        The times tau, in rounds, (k,), positive.

    Raises
    ------
    ValueError
        If the sampler has no feature beside the times, or a time is not positive.

    >>> from lpsm.samplers import make
    >>> series = LastLabels(make("kept-rate", 1 + 3, rate=0.2))
    >>> log = series.run(np.ones((500, 1)), np.where(np.arange(500) // 100 % 2 == 0, 1, -1))
    >>> bool(log.queried.mean() < 0.21), bool((log.prediction[400:] == 1).mean() > 0.8)
    (True, True)
    """

    VERSION = 1

    def __init__(self, sampler: Sampler, times: ArrayLike = TIMES) -> None:
        self.sampler, self.times = sampler, shaped("times", times, "k", filled=True)
        if not (self.times > 0.0).all():
            raise ValueError(f"times must be positive, got {shown(times)}")
        shows = len(self.times) * getattr(sampler, "n_classes", 1)
        if type(sampler) not in (Sampler, MulticlassSampler) or sampler.n_features <= shows:
            raise ValueError(f"sampler must be a Sampler of more than {shows} features, got {shown(sampler)}")
        self.n_features, self._several = sampler.n_features - shows, sampler.n_classes > 1
        self._fade = np.exp(-1.0 / self.times)
        self._sums = np.zeros((max(sampler.n_classes, 2), len(self.times)))  # a class each; of two, y and labels
        self._seen, self._squares = np.zeros(shows), np.zeros(2)  # sum of |x|^2, and rounds

    def decide(self, x: Rows) -> Decision:
        """Predict the label of `x`, shape (d,), and say whether to ask for it."""
        row, sums = shaped("x", x, self.n_features), self._sums * self._fade
        squares, seen = self._squares + np.array([row @ row, 1.0]), sums[0] / (1.0 + sums[1])
        if self._several:
            seen = (_size(squares) * sums / (1.0 + sums.sum(axis=0))).ravel()
        decision = self.sampler.decide(np.append(row, seen))
        self._sums, self._seen, self._squares = sums, seen, squares
        return decision

    def learn(self, x: Rows | int, y: int) -> bool:
        """Take the label of the last instance, or of a ticket, as `Sampler.learn`; return whether it was stored."""
        sampler, ticket = self.sampler, x
        if not isinstance(ticket, int | np.integer):
            ticket = sampler._ticket_of(np.append(shaped("x", x, self.n_features), self._seen))
        sampler._check_label(y)
        one = np.eye(sampler.n_classes, 1, -int(y)) if self._several else np.array([[y], [1.0]])
        if self._several and ticket in sampler._questions:  # what was seen is size sums/(1 + w): now with this one
            seen = sampler._questions[int(ticket)].values[self.n_features :].reshape(one.shape[0], -1)
            size = _size(self._squares)
            rest = size - seen.sum(axis=0)
            seen[:] = size * (seen + rest * one) / (size + rest)
        stored = sampler.learn(ticket, y)
        self._sums += one * self._fade ** (sampler.rounds - int(ticket))
        return stored

    def run(self, X: Rows, y: ArrayLike) -> Any:
        """Decide on the rows of X, (T, d), in turn, reading y, (T,), only where it is asked for.

        Return what the sampler's own `run` returns: a `RunLog`, or of several classes predictions and questions.
        """
        table = as_instances(X, self.n_features, self.sampler.dtype)
        if sparse.issparse(table):
            raise ValueError(f"X must be dense beside labels bought lately, got a sparse {type(X).__name__}")
        n, labels = len(table), self.sampler._labels(y, len(table))
        prediction, (queried, stored), margin = np.zeros(n, np.int64), np.zeros((2, n), bool), np.zeros(n)
        for t, (x, label) in enumerate(zip(table, labels, strict=True)):
            margin[t], prediction[t], queried[t], *_ = self.decide(x)
            stored[t] = queried[t] and self.learn(x, int(label))
        if self._several:
            return prediction, queried
        return RunLog(prediction.astype(np.int8), queried, stored, margin)

    def __repr__(self) -> str:
        return f"LastLabels({self.sampler}, times={self.times.tolist()})"

    # -- saving -------------------------------------------------------------------------------

    def _arrays(self) -> State:
        return {name: getattr(self, f"_{name}") for name in ("sums", "seen", "squares")[: 2 + self._several]}

    def state(self) -> State:
        """Return everything that determines the future, as a versioned dict of arrays; see `Sampler.state`."""
        own = {"times": self.times} | {name: array.copy() for name, array in self._arrays().items()}
        named = {"kind": np.array("LastLabels"), "version": np.array(self.VERSION)}
        return named | own | state_io.within("sampler_", self.sampler.state())

    @classmethod
    def from_state(cls, state: Mapping[str, Array]) -> Self:
        """Return what `state` was taken from; ValueError if its version or its parts do not fit."""
        with reading("a LastLabels' state"):
            if int(state["version"]) != cls.VERSION:
                raise ValueError(f"version must be {cls.VERSION}, got {state['version']}")
            held = from_state(state_io.nested(state, "sampler_"))
            found = cls(held, state_array(state, "times", (None,)))
            for name, array in found._arrays().items():
                array[:] = state_array(state, name, array.shape)
            return found


def _size(squares: Floats) -> float:
    """The root mean square of lengths."""
    return float(np.sqrt(np.divide(*squares))) or 1.0
