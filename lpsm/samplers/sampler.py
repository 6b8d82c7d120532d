"""The sampler: a margin learner, a query rule, and the protocol that keeps them honest.

What it models: round t shows an instance; `decide` predicts its label and says whether to
ask for it; only then does `learn` take the label, using the products `decide` left.
`run` is the same over a whole stream, compiled.  A randomised rule consumes one uniform a
round, asked or not; deterministic rules none; evictions draw from a spawned generator.
A label may come late: the decision's ticket names its question, which stays open until `learn` takes
the label, in any order.  Then whether the prediction was a mistake is judged by what was said in its
round, and the example is stored into the state of the day.
What it leaves out: which learner goes with which rule (`catalogue`), labels other than
-1 and +1 (`multiclass`).
Source: Cesa-Bianchi et al. 2004, section 2; Cavallanti et al. 2010, section 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lpsm.online import play as play_rounds
from lpsm.samplers import core, least_squares, saving
from lpsm.samplers.checks import as_labels
from lpsm.samplers.kernels import CallableKernel
from lpsm.samplers.player import RUN, RUN_CAREFULLY, RUN_LAZILY, Player, copied
from lpsm.samplers.record import Decision, RunLog
from lpsm.samplers.rows import WIDE

__all__ = ["Sampler"]

Array = NDArray[Any]

SHORT = 64  # rounds: for so few, exact margins cost less than a copy of the state to find them later


class Sampler(Player):
    """A margin learner asking by a query rule.

    Parameters
    ----------
    learner, rule
        Records such as `LeastSquares` and `SmallMargin`.
    n_features
        Dimension d of the instances.
    stores
        "mistakes": of the queried examples those predicted wrongly; "queried": all of
        them; "small margins": those with y p < 1, as a hinge loss wants it.  The adaptive
        sampler stores what it scheduled, in any case.
    normalize
        Whether instances are divided by their norm first; a zero vector is then an error.
    kernel
        None for weights over features; otherwise coefficients over stored instances.
    rng
        The coins of a randomised rule, one uniform a round; None for one of seed 0.
    dtype
        float64 or float32, of the learner's arrays.
    max_queries
        Labels asked for at most; after that it goes on predicting.  None for no limit.

    >>> from lpsm.samplers import Always, LeastSquares
    >>> s = Sampler(LeastSquares(), Always(), n_features=2)
    >>> s.decide([1.0, 0.0])
    Decision(margin=0.0, prediction=1, query=True, probability=1.0, ticket=1)
    >>> s.learn([1.0, 0.0], -1)
    True
    >>> s.decide([1.0, 0.0]).margin  # p = -1/2, r = 1/2
    -0.3333333333333333
    """

    # -- one instance at a time -----------------------------------------------------------

    def decide(self, x: Any) -> Decision:
        """Predict the label of `x`, shape (d,) or a sparse row, and say whether to ask for it.

        Raises
        ------
        ValueError
            If `x` has another dimension, is not finite, or is zero where it is normalised.
        """
        values, columns, said = self._ask(x)
        ticket = self._last
        if ticket is not None:
            due, weight = self._counts.item(core.DUE), self._scalars.item(core.WEIGHT)
            kept = values.copy() if np.may_share_memory(values, x) else values
            self._questions[ticket] = saving.Owed(kept, columns, said[core.SAID], due, weight)
        return Decision(said[0], int(said[1]), ticket is not None, said[4], ticket)

    def learn(self, x: Any, y: int) -> bool:
        """Take the label `y` of an instance `decide` asked about; return whether the example was stored.

        Parameters
        ----------
        x
            The instance of the last decision, or the ticket of any decision whose label is still owed.
        y
            Its label, -1 or +1.

        Raises
        ------
        RuntimeError
            If the last `decide` did not ask, or the ticket is not open.
        ValueError
            If `x` is not the instance it asked about, or `y` is neither -1 nor +1.
        """
        if y not in (-1, 1):
            raise ValueError(f"y must be -1 or +1, got {y}")
        return self._take(int(x) if isinstance(x, int | np.integer) else self._ticket_of(x), float(y))

    # -- whole streams ----------------------------------------------------------------------

    def run(self, X: Any, y: ArrayLike) -> RunLog:
        """Decide on the rows of X in turn, reading y only where it is asked for.

        Equal to the loop of `decide` and `learn`, decision for decision and draw for draw.

        Parameters
        ----------
        X
            Instances, array of shape (T, d) or sparse matrix.
        y
            Labels -1 and +1, shape (T,).

        Raises
        ------
        ValueError
            As `decide` and `learn`; nothing has then been learned.
        """
        return self._run(X, y, careful=False)

    def _run(self, X: Any, y: ArrayLike, careful: bool) -> RunLog:
        """`run`; if `careful`, the margins of rounds that ask are exact, also in a log that is not."""
        table = self._table(X)
        rounds = table.shape[0]
        labels = as_labels(y, rounds)
        if isinstance(self.kernel, CallableKernel):
            return RunLog.of(play_rounds(self, table, lambda t: int(labels[t])), rounds)
        uniforms, schedules = self._chance(rounds)
        lazy = rounds > SHORT
        before = self._copy() if lazy and self._inside() else None
        way = RUN if not lazy else RUN_CAREFULLY if careful else RUN_LAZILY
        log = self._log(table, labels, uniforms, schedules, way)
        if before is not None:
            log.replay = lambda: before()._log(table, labels, uniforms, schedules, RUN)
        return log

    def _log(self, table: Any, labels: Array, uniforms: Array, schedules: Array, way: Array) -> RunLog:
        rounds = len(labels)
        margin, prediction = np.zeros(rounds), np.zeros(rounds, dtype=np.int8)
        queried, stored, said = np.zeros(rounds, dtype=np.bool_), np.zeros(rounds, dtype=np.bool_), np.zeros(rounds)
        for part, notes, _ in self._blocks(table, labels, way, uniforms, schedules):
            margin[part], prediction[part], queried[part], stored[part] = notes.T[:4]
            said[part] = notes[:, core.SAID]
        return RunLog(prediction, queried, stored, margin, said)

    def _copy(self) -> Any:
        """Return what makes a sampler that stands where this one stands, without chance of its own."""
        twin = Sampler.__new__(Sampler)
        vars(twin).update(self.__getstate__(), _rng=None, _questions={})
        counts, scalars, learner = self._counts.copy(), self._scalars.copy(), self._learner
        packs = isinstance(learner, least_squares.Squares)
        kept = least_squares.packed(learner, counts) if packs else copied(learner)
        if self._evictions is not None:
            raise AssertionError  # a budget goes with first-order learners, whose margins are exact

        def made() -> Sampler:
            twin._learner = least_squares.unpacked(kept) if packs else kept
            twin._counts, twin._scalars = counts, scalars
            return twin

        return made

    def margins(self, X: Any) -> NDArray[np.float64]:
        """Return the margins of the rows of X under the present state: no round, no question."""
        return self._reads(X)[0][:, core.MARGIN].copy()

    def predict(self, X: Any) -> NDArray[np.int8]:
        """Return the signs of the margins of the rows of X, SGN(0) = +1."""
        return np.where(self.margins(X) >= 0.0, 1, -1).astype(np.int8)

    # -- what it has learned ---------------------------------------------------------------------

    @property
    def weights(self) -> Array:
        """V or w, shape (d,): p = weights.x (primal); the coefficients of the stored instances (dual)."""
        n = self.n_features if self.kernel is None else int(self._counts[core.SIZE])
        weights: Array = self._learner.weights[0, :n].copy()
        return weights

    @property
    def inverse(self) -> Array:
        """A^-1, shape (d, d), of a second-order learner in primal form; D^-1 + I/c for lasec.

        Raises
        ------
        AttributeError
            If there is no such matrix.
        """
        learner = self._learner
        if not isinstance(learner, least_squares.Squares):
            raise AttributeError("inverse belongs to second-order learners in primal form")
        waiting = int(self._counts[core.PENDING])
        rows = learner.vectors[least_squares.FIRST : least_squares.FIRST + waiting]
        shift = waiting * learner.drift * np.eye(self.n_features, dtype=self.dtype)
        full: Array = learner.matrix - rows.T @ rows + shift
        return np.triu(full) + np.triu(full, 1).T if self.n_features >= WIDE else full

    def __repr__(self) -> str:
        name = repr(self.key) if self.key else f"{self.learner}, {self.rule}"
        return f"Sampler({name}, n_features={self.n_features}, rounds={self.rounds}, queries={self.queries})"

    # -- inside -------------------------------------------------------------------------------

    def _ticket_of(self, x: Any) -> int:
        """Return the ticket of the last decision, which must have asked about this very instance."""
        if self._last is None or self._last not in self._questions:
            raise RuntimeError("learn needs a label that decide asked for: the last decision was not a query")
        values, columns, *_ = self._questions[self._last]
        alike = type(x) is np.ndarray and columns is None and (x.dtype, x.shape) == (values.dtype, values.shape)
        if alike and x.tobytes() == values.tobytes():
            return self._last
        given, at = self._instance(x)
        same_columns = at is columns if at is None or columns is None else np.array_equal(at, columns)
        if not (same_columns and np.array_equal(given, values)):
            raise ValueError("x must be the instance that decide asked about")
        return self._last
