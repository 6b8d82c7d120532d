"""A sampler that also sees the labels it bought lately: for dense series whose labels come in runs.

What it models: beside the d features of round t stand k more, one a time tau in rounds,

    sum_s y_s e^(-(t-s)/tau) / (1 + sum_s e^(-(t-s)/tau)),

sums over the rounds s < t whose labels were asked for and have come: means of the labels, the older the lighter, drawn
to 0 as by one label that is neither, so that they lie in (-1, 1) and fade where nothing was bought for long.
What it leaves out: labels that were not bought; several classes; whole streams compiled (rounds are played one by one).
Source: ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from lpsm.arrays import Array, Floats, State
from lpsm.checks import reading, shaped, shown, state_array
from lpsm.samplers import state_io
from lpsm.samplers.checks import Rows, as_instances, as_labels
from lpsm.samplers.run_log import Decision, RunLog
from lpsm.samplers.sampler import Sampler

TIMES = (4.0, 16.0, 64.0)
"""Rounds; looked for on the whole of Elec2, where other sets of times from 1 to 256 did as well."""


class LastLabels:
    """A sampler of two classes and the labels it bought lately.

    Parameters
    ----------
    sampler
        A `Sampler` of d + k features: the last k are the labels.
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
        if type(sampler) is not Sampler or sampler.n_features <= len(self.times):
            raise ValueError(f"sampler must be a Sampler of more than {len(self.times)} features, got {shown(sampler)}")
        self.n_features = sampler.n_features - len(self.times)
        self._fade = np.exp(-1.0 / self.times)
        self._sums, self._seen = np.zeros((2, len(self.times))), np.zeros(len(self.times))

    def decide(self, x: Rows) -> Decision:
        """Predict the label of `x`, shape (d,), and say whether to ask for it."""
        sums = self._sums * self._fade
        seen = sums[0] / (1.0 + sums[1])
        decision = self.sampler.decide(self._row(x, seen))
        self._sums, self._seen = sums, seen
        return decision

    def learn(self, x: Rows | int, y: int) -> bool:
        """Take the label of the last instance, or of a ticket, as `Sampler.learn`; return whether it was stored."""
        age = 0
        if isinstance(x, int | np.integer):
            stored, age = self.sampler.learn(x, y), self.sampler.rounds - int(x)
        else:
            stored = self.sampler.learn(self._row(x, self._seen), y)
        self._sums += np.array([[y], [1.0]]) * self._fade**age
        return stored

    def run(self, X: Rows, y: ArrayLike) -> RunLog:
        """Decide on the rows of X, (T, d), in turn, reading y, (T,), only where it is asked for."""
        table = as_instances(X, self.n_features, self.sampler.dtype)
        if sparse.issparse(table):
            raise ValueError(f"X must be dense beside labels bought lately, got a sparse {type(X).__name__}")
        labels = as_labels(y, len(table))
        n = len(table)
        log = RunLog(np.zeros(n, np.int8), np.zeros(n, bool), np.zeros(n, bool), np.zeros(n))
        for t, (x, label) in enumerate(zip(table, labels, strict=True)):
            one = self.decide(x)
            log.prediction[t], log.queried[t], log.margin[t] = one.prediction, one.query, one.margin
            log.stored[t] = one.query and self.learn(x, int(label))
        return log

    def _row(self, x: Rows, seen: Floats) -> Floats:
        return np.append(shaped("x", x, self.n_features), seen)

    def __repr__(self) -> str:
        return f"LastLabels({self.sampler}, times={self.times.tolist()})"

    # -- saving -------------------------------------------------------------------------------

    def state(self) -> State:
        """Return everything that determines the future, as a versioned dict of arrays; see `Sampler.state`."""
        own = {"times": self.times, "sums": self._sums.copy(), "seen": self._seen.copy()}
        named = {"kind": np.array("LastLabels"), "version": np.array(self.VERSION)}
        return named | own | state_io.within("sampler_", self.sampler.state())

    @classmethod
    def from_state(cls, state: Mapping[str, Array]) -> Self:
        """Return what `state` was taken from; ValueError if its version or its parts do not fit."""
        with reading("a LastLabels' state"):
            if int(state["version"]) != cls.VERSION:
                raise ValueError(f"version must be {cls.VERSION}, got {state['version']}")
            held = Sampler.from_state(state_io.nested(state, "sampler_"))
            found = cls(held, state_array(state, "times", (None,)))
            k = len(found.times)
            found._sums, found._seen = state_array(state, "sums", (2, k)), state_array(state, "seen", (k,))
            return found
