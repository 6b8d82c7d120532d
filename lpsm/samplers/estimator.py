"""Selective samplers as a scikit-learn classifier.

What it models: `fit` plays the rows of X as a stream, in order: each is predicted first, and its label is used only if
the sampler asks for it.  The labels may be an array (a simulation: entries that were not asked for have no influence),
come from `oracle`, which is called for the rows asked about and no other, or come late.  Classes may have any names: of
two the second in sorted order is the sampler's +1, and for more there is one question an instance
(`MulticlassSampler`).  One class alone is predicted for everything; the sampler then sees one sign only.  Where rows
are normalised, one of zeros has no direction: it is no round, is never asked about, and has margin 0.
What it leaves out: several labels a row (wrap it in `OneVsRestClassifier`).
scikit-learn takes a second to import, so this module is imported when first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from lpsm.arrays import Array, Floats, Ints, Mask
from lpsm.checks import shown
from lpsm.samplers.calibration import Bought, leads
from lpsm.samplers.catalogue import CATALOGUE, OF_ALL, OF_KERNELS, MulticlassSampler, has_classes, last_largest, make
from lpsm.samplers.checks import Rows, squared_lengths
from lpsm.samplers.kernels import KernelLike
from lpsm.samplers.linear_algebra import Table

_TAKES = {"accept_sparse": "csr", "dtype": (np.float64, np.float32)}
_NO_PROMISE = "modified-perceptron sop-fixed-bias bbq-i dkm-perceptron cbgz-dkm random-perceptron random-dkm"
"""Keys that need separable examples through the origin, or buy too few of a short stream, to be accurate on it."""


class SelectiveClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A linear classifier that buys the labels it learns from.

    Parameters
    ----------
    key
        One of `lpsm.samplers.keys()`; `lpsm.samplers.describe(key)` names its parameters.  The default has the
        fewest mistakes at few labels over six streams (docs/sampler-tools.md).
    params
        The sampler's parameters by the papers' symbols, and gamma, degree, coef0 of a kernel; None for the key's own
        defaults.  One that the key does not have is an error when fitting.  They may be given by name as well:
        ``SelectiveClassifier("ssmd", K=1.0)``.
    kernel
        None for weights over features, or the kernel form as in `lpsm.samplers.make`.
    normalize
        Whether rows are divided by their norm; None for what the key's paper does.
    fit_intercept
        Whether a constant feature is appended to the rows; the papers have none.
    intercept_scaling
        Its value; None for the root mean square of the values other than 0 in the first rows fitted, since
        a 1 would outweigh all the words of a unit vector.
    max_queries
        Labels asked for at most; None for no limit.
    random_state
        Seed, generator or None, of the coins of a randomised key.
    oracle
        Called as ``oracle(i, x)`` with the row number in X and the row whenever a label is asked
        for; returns the label.  `y` is then not looked at, and `classes` must be given.

    Attributes
    ----------
    classes_
        Sorted class names, (k,).
    queried_
        Which rows of the last `fit` or `partial_fit` had their label asked for, (n,).
    predicted_
        What was predicted of these rows before their labels could be known, (n,).
    tickets_
        Of the rows of the last `partial_fit` the tickets of questions whose labels were not there, else 0, (n,).
    n_queries_, n_rounds_
        Labels asked for and rows seen since `fit` began, `partial_fit` included.
    n_features_in_
        Columns of X.
    sampler_
        The `Sampler` itself; a `MulticlassSampler` for more than two classes.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).standard_normal((400, 3))
    >>> y = np.where(X[:, 0] > 0, "spam", "ham")
    >>> model = SelectiveClassifier("ssmd", K=0.05).fit(X, y)
    >>> bool(model.score(X, y) > 0.95), bool(model.n_queries_ < 200)
    (True, True)
    """

    classes_: Array

    def __init__(
        self, key: str = "ss", params: Mapping[str, Any] | None = None, *, kernel: KernelLike = None,
        normalize: bool | None = None, fit_intercept: bool = False, intercept_scaling: float | None = None,
        max_queries: int | None = None, random_state: np.random.Generator | np.random.RandomState | int | None = None,
        oracle: Callable[[int, Table], object] | None = None, **symbols: object,
    ) -> None:  # fmt: skip
        self.key, self.params = key, _together(params, symbols)
        self.kernel, self.normalize, self.max_queries = kernel, normalize, max_queries
        self.fit_intercept, self.intercept_scaling = fit_intercept, intercept_scaling
        self.random_state, self.oracle = random_state, oracle

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name; if `deep`, those in `params` too."""
        own: dict[str, object] = super().get_params(deep)
        return {**own, **self.params} if deep and isinstance(self.params, Mapping) else own

    def set_params(self, **params: object) -> SelectiveClassifier:
        """Set parameters by name, those in `params` too; a new key keeps of these what it has a use for."""
        key = params.get("key", self.key)
        if isinstance(key, str) and key in CATALOGUE and isinstance(self.params, Mapping) and "params" not in params:
            known = {*CATALOGUE[key].recipe.places(), *OF_KERNELS, *OF_ALL}
            self.params = {name: value for name, value in self.params.items() if name in known}
        own = self.get_params(deep=False).keys() & params
        super().set_params(**{name: params[name] for name in own})
        self.params = _together(self.params, {name: value for name, value in params.items() if name not in own})
        return self

    def fit(self, X: Rows, y: ArrayLike | None = None, *, classes: ArrayLike | None = None) -> SelectiveClassifier:
        """Start anew and play the rows of X as a stream.

        Parameters
        ----------
        X
            (n, d), dense or sparse.
        y
            Labels (n,); not needed with an `oracle`.
        classes
            The class names; None for those in y.

        Raises
        ------
        ValueError
            On classes that the key has no form for, an unknown parameter, or input scikit-learn would refuse.
        """
        return self._play(X, y, classes, anew=True)

    def partial_fit(self, X: Rows, y: ArrayLike | None = None, classes: ArrayLike | None = None) -> SelectiveClassifier:
        """Go on with more rows; the first call needs `classes` unless all appear in its y.

        Labels that are None or NaN, or all of them without y, are not known yet: where one is asked for,
        `tickets_` names the question, which `answer` closes.
        """
        return self._play(X, y, classes, anew=not hasattr(self, "sampler_"), late=True)

    def answer(self, tickets: ArrayLike, y: ArrayLike) -> SelectiveClassifier:
        """Take labels that come late, in any order, by the tickets of their questions.

        RuntimeError if a ticket is not open; nothing has then been learned. ValueError if a label is none of the
        classes, or there is not one for each ticket.
        """
        check_is_fitted(self)
        names, labels = np.atleast_1d(np.asarray(tickets)), np.atleast_1d(np.asarray(y))
        if names.shape != labels.shape:
            raise ValueError(f"y must have a label for each of {len(names)} tickets, got {len(labels)}")
        codes, given = self._codes(labels).tolist(), names.tolist()
        if closed := sorted(set(given) - set(self._bought.open)):
            open_ones = shown(self.sampler_.open_tickets)
            raise RuntimeError(f"ticket must be of an open question, got {closed[0]}; open are {open_ones}")
        if len(set(given)) < len(given):
            raise ValueError(f"tickets must be different ones, got {given}")
        for ticket, code in zip(given, codes, strict=True):
            self._enter(ticket, code)
        return self

    def decision_function(self, X: Rows) -> Floats:
        """Margins as the sampler would have them now: (n,), positive is ``classes_[1]``; (n, k) for more classes."""
        check_is_fitted(self)
        table = self._with_intercept(validate_data(self, X, reset=False, **_TAKES))
        rounds, k = self._rounds(table), len(self.classes_)
        found = np.zeros((table.shape[0], k) if k > 2 else table.shape[0])
        found[rounds] = self.sampler_.scores(table[rounds]) if k > 2 else self.sampler_.margins(table[rounds])
        return found

    def predict(self, X: Rows) -> Array:
        """Class names (n,); of equal scores the last class, so that a margin of 0 is ``classes_[1]``, SGN(0) = +1."""
        margins = self.decision_function(X)
        return self.classes_[last_largest(margins) if margins.ndim == 2 else self._code(margins >= 0.0)]

    def predict_proba(self, X: Rows) -> Floats:
        """Probabilities (n, k) of the classes, calibrated on labels that were bought (`lpsm.samplers.calibration`)."""
        margins = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.ones((len(margins), 1))
        return self._bought.probabilities(margins if margins.ndim == 2 else leads(margins))

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` was called."""
        return hasattr(self, "sampler_")

    def __sklearn_tags__(self) -> Any:
        """Sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.key not in CATALOGUE or has_classes(self.key)
        tags.classifier_tags.poor_score = self.key in _NO_PROMISE.split()
        tags.input_tags.sparse = True
        return tags

    # -- inside -------------------------------------------------------------------------------

    def _play(
        self, X: Table, y: ArrayLike | None, classes: ArrayLike | None, anew: bool, late: bool = False
    ) -> SelectiveClassifier:
        if self.oracle is not None and (isinstance(self.oracle, type) or not callable(self.oracle)):
            raise TypeError(f"oracle must be a function, got {shown(self.oracle)}")
        given = [] if self.oracle is not None or (late and y is None) else [y]
        known: Any = _known(y) if late and given else np.True_  # of which rows the labels are there
        whole = given if known.all() else []
        try:
            checked = validate_data(self, X, *whole, reset=anew, **_TAKES)
        except OverflowError:
            raise ValueError(f"X must hold numbers that fit a float, got {shown(X)}") from None
        X, labels = checked if whole else (checked, None)
        if not known.all():
            if known.shape != (X.shape[0],):
                raise ValueError(f"y must have shape ({X.shape[0]},), got {known.shape}")
            labels = np.asarray(np.asarray(y, object)[known].tolist())
        if anew or classes is not None:
            self.classes_ = self._class_names(labels, classes, None if anew else self.classes_)
        if anew:
            self._bought, size = Bought(), self.intercept_scaling
            self._constant = (_typical(X) if size is None else float(size)) if self.fit_intercept else 0.0
        table = self._with_intercept(X)
        if anew:
            self.sampler_ = self._made(table.shape[1])
        n, last = table.shape[0], len(self.classes_) - 1
        rounds, queried, codes = self._rounds(table), np.zeros(n, bool), np.full(n, -1)
        predicted = np.full(n, last)  # of rows that are no rounds: SGN(0) = +1
        self.tickets_ = np.zeros(n, np.int64)
        if labels is not None:
            codes[known] = self._codes(labels)  # of all rows if it is a single truth value
        if labels is None or len(labels) < n:
            for i in rounds:
                queried[i], predicted[i] = self._round(i, X, table[i], int(codes[i]))
        else:
            said, queried[rounds], scores = self.sampler_._plays(table[rounds], self._label(codes[rounds]))
            predicted[rounds], asked = self._code(said), queried[rounds]
            self._bought.add(scores[asked], codes[rounds[asked]])
        self.queried_, self.predicted_ = queried, self.classes_[predicted]
        self.n_queries_, self.n_rounds_ = self.sampler_.queries, self.sampler_.rounds
        return self

    def _made(self, n_features: int) -> Any:
        if not isinstance(self.params, Mapping | None):
            raise ValueError(f"params must be a mapping of symbols to values, got {shown(self.params)}")
        options = {name: getattr(self, name) for name in ("normalize", "kernel", "max_queries")}
        seed = self.random_state
        if isinstance(seed, np.random.RandomState):
            seed = int(seed.randint(2**32 - 1, dtype=np.uint32))
        options["rng"] = np.random.default_rng(seed)
        options |= {name: value for name, value in (self.params or {}).items() if value is not None}
        if len(self.classes_) > 2:
            return MulticlassSampler(self.key, n_features, len(self.classes_), **options)
        return make(self.key, n_features, **options)

    def _label(self, code: Ints | int) -> Any:
        """What the sampler calls a class, or classes, of this number: of one or two the last is +1, and others -1."""
        last = len(self.classes_) - 1
        return code if last > 1 else np.where(code == last, 1, -1)

    def _code(self, label: Array | int) -> Any:
        last = len(self.classes_) - 1
        return label if last > 1 else np.where(np.greater(label, 0), last, 0)

    def _round(self, i: int, X: Table, row: Table, code: int) -> tuple[bool, int]:
        """Play one row, whose label is number `code`, or -1: to be had from the oracle, or later."""
        decision = self.sampler_.decide(row)
        if (ticket := decision.ticket) is not None:
            few = len(self.classes_) < 3
            scores = leads(np.array([decision.margin])) if few else self.sampler_.last_scores[None]
            self._bought.open[ticket] = scores
            if self.oracle is not None:
                code = int(self._codes(np.asarray([self.oracle(int(i), X[i])]))[0])
            if code < 0:
                self.tickets_[i] = ticket
            else:
                self._enter(ticket, code)
        return decision.query, int(self._code(decision.prediction))

    def _enter(self, ticket: int, code: int) -> None:
        """Give the label of a question."""
        self.sampler_.learn(ticket, int(self._label(code)))
        self._bought.answer(ticket, code)

    def _rounds(self, table: Rows) -> NDArray[np.intp]:
        """Numbers of the rows that are rounds: all, or those not zero where rows are normalised."""
        return np.flatnonzero((squared_lengths(table) > 0) | (not self.sampler_.normalize))

    def _class_names(self, labels: Array | None, classes: ArrayLike | None, known: Array | None) -> Array:
        if labels is not None:
            check_classification_targets(labels)
        elif classes is None:
            raise ValueError("classes must be given with an oracle, or without labels, got None")
        if classes is not None and (np.ndim(classes) != 1 or not np.size(classes)):
            raise ValueError(f"classes must be names, shape (k,), got {shown(classes)}")
        names = np.unique(np.asarray(labels if classes is None else classes))
        if len(names) > 2 and self.key in CATALOGUE and not has_classes(self.key):
            what = f"The type of the target is {type_of_target(names, input_name='y')}."
            raise ValueError(f"Only binary classification is supported. {what}")
        if known is not None and not np.array_equal(names, known):
            raise ValueError(f"classes must stay those of the first call, {known}, got {names}")
        return names

    def _codes(self, labels: Array) -> Ints:
        """Numbers of the classes of labels."""
        if (strange := ~np.isin(labels, self.classes_)).any():
            raise ValueError(f"y must hold only the classes {self.classes_}, got {labels[strange][0]!r}")
        return np.searchsorted(self.classes_, labels).astype(np.int64)

    def _with_intercept(self, table: Table) -> Table:
        if not self.fit_intercept:
            return table
        ones = np.full((table.shape[0], 1), self._constant, table.dtype)
        return sparse.hstack([table, ones], format="csr") if sparse.issparse(table) else np.hstack([table, ones])


def _together(params: object, symbols: Mapping[str, object]) -> Any:
    """Parameters given as a mapping, or None, and by name; what is neither is refused when fitting."""
    return {**(params or {}), **symbols} if symbols and isinstance(params, Mapping | None) else params


def _known(y: ArrayLike | None) -> Mask:
    """Which labels are there: those that are neither None nor NaN."""
    return np.array([label is not None and bool(label == label) for label in np.asarray(y, object).ravel()])


def _typical(table: Table) -> float:
    """Root mean square of the values other than 0; 1 if there is none."""
    values = table.data if sparse.issparse(table) else table
    values = values[values != 0]
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 1.0
