"""Selective samplers as a scikit-learn classifier.

What it models: `fit` plays the rows of X as a stream, in order: each is predicted first, and its
label is used only if the sampler asks for it.  The labels may be an array (a simulation: entries
that were not asked for have no influence) or come from `oracle`, which is called for the rows asked
about and no other.  Classes may have any names: of two the second in sorted order is the sampler's +1, and for more
there is one question an instance (`MulticlassSampler`).  Rows whose label is not known yet may be given to
`partial_fit`; those of them that are asked about have a ticket, and `answer` takes their labels whenever they come.
One class alone is predicted for everything; the sampler then sees one sign only.  Where rows are
normalised, one of zeros has no direction: it is no round, is never asked about, and has margin 0.

What it leaves out: several labels a row (wrap it in `OneVsRestClassifier`).
scikit-learn takes a second to import, so this module is imported when first asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from lpsm.checks import shown
from lpsm.samplers.calibration import Bought, leads, probabilities
from lpsm.samplers.catalogue import make, registry
from lpsm.samplers.checks import squared_lengths
from lpsm.samplers.multiclass import MulticlassSampler, has_classes

__all__ = ["SelectiveClassifier"]

_SYMBOLS = (
    *dict.fromkeys(parameter.name for entry in registry().values() for parameter in entry.parameters),
    *("gamma", "degree", "coef0"),  # of a kernel
)
_NO_PROMISE = frozenset(
    ("modified-perceptron", "sop-fixed-bias", "bbq-i", "dkm-perceptron", "cbgz-dkm", "random-perceptron", "random-dkm")
)
"""Keys that need separable examples through the origin, or buy too few of a short stream, to be accurate on it."""


class SelectiveClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A linear classifier that buys the labels it learns from.

    Parameters
    ----------
    key
        One of `lpsm.samplers.keys()`; `lpsm.samplers.describe(key)` names its parameters.  The default has the
        fewest mistakes at few labels over six streams (docs/sampler-tools.md).
    a, b, c, c_0, beta, bias, count_forced, eta, factor, floor, kappa, lambda_, mistake_driven, r, rate, rho, s_1
        See R.
    B, C, K, R
        The sampler's parameters by the papers' symbols; None, the default, is the key's own
        default.  One that the key does not have is an error when fitting.
    kernel, gamma, degree, coef0
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

    classes_: NDArray[Any]

    def __init__(
        self,
        key: str = "ss",
        *,
        a: float | None = None,
        b: float | None = None,
        c: float | None = None,
        count_forced: bool | None = None,
        beta: float | None = None,
        c_0: float | None = None,
        floor: float | None = None,
        r: float | None = None,
        bias: Any = None,
        eta: float | None = None,
        factor: float | None = None,
        kappa: float | None = None,
        lambda_: float | None = None,
        mistake_driven: bool | None = None,
        rate: float | None = None,
        rho: Any = None,
        s_1: float | None = None,
        B: int | None = None,
        C: float | None = None,
        K: float | None = None,
        R: int | None = None,
        kernel: Any = None,
        gamma: float | None = None,
        degree: float | None = None,
        coef0: float | None = None,
        normalize: bool | None = None,
        fit_intercept: bool = False,
        intercept_scaling: float | None = None,
        max_queries: int | None = None,
        random_state: Any = None,
        oracle: Callable[[int, Any], Any] | None = None,
    ) -> None:
        self.key = key
        self.a = a
        self.b = b
        self.c = c
        self.count_forced = count_forced
        self.beta = beta
        self.c_0 = c_0
        self.floor = floor
        self.r = r
        self.bias = bias
        self.eta = eta
        self.factor = factor
        self.kappa = kappa
        self.lambda_ = lambda_
        self.mistake_driven = mistake_driven
        self.rate = rate
        self.rho = rho
        self.s_1 = s_1
        self.B = B
        self.C = C
        self.K = K
        self.R = R
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.normalize = normalize
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_queries = max_queries
        self.random_state = random_state
        self.oracle = oracle

    def fit(self, X: Any, y: ArrayLike | None = None, *, classes: ArrayLike | None = None) -> SelectiveClassifier:
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

    def partial_fit(self, X: Any, y: ArrayLike | None = None, classes: ArrayLike | None = None) -> SelectiveClassifier:
        """Go on with more rows; the first call needs `classes` unless all appear in its y.

        Labels that are None or NaN, or all of them without y, are not known yet: where one is asked for,
        `tickets_` names the question, which `answer` closes.
        """
        return self._play(X, y, classes, anew=not hasattr(self, "sampler_"), late=True)

    def answer(self, tickets: ArrayLike, y: ArrayLike) -> SelectiveClassifier:
        """Take labels that come late, in any order, by the tickets of their questions.

        Raises
        ------
        RuntimeError
            If a ticket is not open.
        ValueError
            If a label is none of the classes, or there is not one for each ticket.
        """
        check_is_fitted(self)
        names, labels = np.atleast_1d(np.asarray(tickets)), np.atleast_1d(np.asarray(y))
        if names.shape != labels.shape:
            raise ValueError(f"y must have a label for each of {len(names)} tickets, got {len(labels)}")
        for ticket, code in zip(names.tolist(), self._codes(labels).tolist(), strict=True):
            self.sampler_.learn(ticket, code if len(self.classes_) > 2 else self._sign(code))
            self._bought.add(self._waiting.pop(ticket), code)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Margins as the sampler would have them now: (n,), positive is ``classes_[1]``; (n, k) for more classes."""
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32))
        table = self._with_intercept(table)
        rounds = self._rounds(table)
        if isinstance(self.sampler_, MulticlassSampler):
            scores = np.zeros((table.shape[0], len(self.classes_)))
            scores[rounds] = self.sampler_.scores(table[rounds])
            return scores
        margins = np.zeros(table.shape[0])
        margins[rounds] = self.sampler_.margins(table[rounds])
        return margins

    def predict(self, X: Any) -> NDArray[Any]:
        """Class names (n,); of equal scores the last class, so that a margin of 0 is ``classes_[1]``, SGN(0) = +1."""
        margins = self.decision_function(X)
        if margins.ndim == 2:
            return np.asarray(self.classes_[margins.shape[1] - 1 - margins[:, ::-1].argmax(axis=1)])
        if len(self.classes_) == 1:
            return np.full(len(margins), self.classes_[0])
        return np.asarray(self.classes_[(margins >= 0.0).astype(np.intp)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities (n, k) of the classes, calibrated on the labels that were bought (`lpsm.samplers.calibration`).

        Of a fit over more than 64 rows the margins of all rounds are computed for it, once.
        """
        margins = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.ones((len(margins), 1))
        beta = self._bought.fitted(len(self.classes_))
        return probabilities(margins if margins.ndim == 2 else leads(margins), beta)

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` was called; the parameter lambda_ looks like a fitted attribute and is none."""
        return hasattr(self, "sampler_")

    def __sklearn_tags__(self) -> Any:
        """Sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.key not in registry() or has_classes(self.key)
        tags.classifier_tags.poor_score = self.key in _NO_PROMISE
        tags.input_tags.sparse = True
        return tags

    # -- inside -------------------------------------------------------------------------------

    def _play(self, X: Any, y: Any, classes: Any, anew: bool, late: bool = False) -> SelectiveClassifier:
        given = {"accept_sparse": "csr", "dtype": (np.float64, np.float32), "reset": anew}
        labels, known = None, np.ones(0, dtype=np.bool_)
        if self.oracle is not None or (late and y is None):
            X = validate_data(self, X, **given)
        elif late and not (known := _known(y)).all():
            X = validate_data(self, X, **given)
            if known.shape != (X.shape[0],):
                raise ValueError(f"y must have shape ({X.shape[0]},), got {known.shape}")
            labels = np.asarray(np.asarray(y, dtype=object)[known].tolist())
        else:
            X, labels = validate_data(self, X, y, **given)
        if anew or classes is not None:
            self.classes_ = self._class_names(labels, classes, None if anew else self.classes_)
        if anew:
            self._bought = Bought()
            self._waiting: dict[int, Any] = {}
            size = self.intercept_scaling
            self._constant = (_typical(X) if size is None else float(size)) if self.fit_intercept else 0.0
        table = self._with_intercept(X)
        if anew:
            self.sampler_ = self._made(table.shape[1])
        rounds, queried = self._rounds(table), np.zeros(table.shape[0], dtype=np.bool_)
        predicted = np.full(table.shape[0], len(self.classes_) - 1)  # of rows that are no rounds: SGN(0) = +1
        self.tickets_ = np.zeros(table.shape[0], dtype=np.int64)
        whole = labels is not None and len(labels) == table.shape[0]
        if isinstance(self.sampler_, MulticlassSampler) and whole:
            codes = self._codes(labels)[rounds]
            at = 0
            for said, asked, scores in self.sampler_._blocks(table[rounds], codes):
                part = rounds[at : at + len(said)]
                predicted[part], queried[part] = said, asked
                for i in np.flatnonzero(asked):
                    self._bought.add(scores[i].copy(), int(codes[at + i]))
                at += len(said)
        elif whole:
            codes = self._codes(labels)[rounds]
            log = self.sampler_.run(table[rounds], np.where(codes == len(self.classes_) - 1, 1.0, -1.0))
            queried[rounds], predicted[rounds] = log.queried, np.where(log.prediction > 0, len(self.classes_) - 1, 0)
            self._bought.add_log(log, codes[log.queried])
        else:
            codes = np.full(table.shape[0], -1)
            if labels is not None:
                codes[known if len(known) else slice(None)] = self._codes(labels)
            for i in rounds:
                queried[i], predicted[i] = self._round(i, X, table[i], int(codes[i]))
        self.queried_ = queried
        self.predicted_ = self.classes_[predicted]
        self.n_queries_, self.n_rounds_ = self.sampler_.queries, self.sampler_.rounds
        return self

    def _made(self, n_features: int) -> Any:
        options = {
            "rng": _generator(self.random_state),
            "normalize": self.normalize,
            "kernel": self.kernel,
            "max_queries": self.max_queries,
            **{name: getattr(self, name) for name in _SYMBOLS if getattr(self, name) is not None},
        }
        if len(self.classes_) > 2:
            return MulticlassSampler(self.key, n_features, len(self.classes_), **options)
        return make(self.key, n_features, **options)

    def _round(self, i: int, X: Any, row: Any, code: int) -> tuple[bool, int]:
        """Play one row, whose label is number `code`, or -1: to be had from the oracle, or later."""
        several = isinstance(self.sampler_, MulticlassSampler)
        decision = self.sampler_.decide(row)
        ticket = decision.ticket
        if ticket is not None:
            scores = self.sampler_.last_scores if several else leads(np.array([decision.margin]))[0]
            if self.oracle is not None:
                code = int(self._codes(np.asarray([self.oracle(int(i), X[i])]))[0])
            if code < 0:
                self.tickets_[i], self._waiting[ticket] = ticket, scores
            else:
                self._bought.add(scores, code)
                self.sampler_.learn(ticket, code if several else self._sign(code))
        last = len(self.classes_) - 1
        return decision.query, decision.prediction if several else last if decision.prediction > 0 else 0

    def _sign(self, code: int) -> int:
        return 1 if code == len(self.classes_) - 1 else -1

    def _rounds(self, table: Any) -> NDArray[np.intp]:
        """Numbers of the rows that are rounds: all, or those not zero where rows are normalised."""
        if not self.sampler_.normalize:
            return np.arange(table.shape[0])
        return np.flatnonzero(squared_lengths(table) > 0)

    def _class_names(self, labels: Any, classes: Any, known: Any) -> NDArray[Any]:
        if labels is not None:
            check_classification_targets(labels)
        elif classes is None:
            raise ValueError("classes must be given with an oracle, or without labels, got None")
        if classes is not None and (np.ndim(classes) != 1 or not np.size(classes)):
            raise ValueError(f"classes must be names, shape (k,), got {shown(classes)}")
        names = np.unique(labels if classes is None else classes)
        if len(names) > 2 and self.key in registry() and not has_classes(self.key):
            what = f"The type of the target is {type_of_target(names, input_name='y')}."
            raise ValueError(f"Only binary classification is supported. {what}")
        if known is not None and not np.array_equal(names, known):
            raise ValueError(f"classes must stay those of the first call, {known}, got {names}")
        return np.asarray(names)

    def _codes(self, labels: Any) -> NDArray[np.int64]:
        """Numbers of the classes of labels."""
        if (strange := ~np.isin(labels, self.classes_)).any():
            raise ValueError(f"y must hold only the classes {self.classes_}, got {np.asarray(labels)[strange][0]!r}")
        return np.searchsorted(self.classes_, np.asarray(labels)).astype(np.int64)

    def _with_intercept(self, table: Any) -> Any:
        if not self.fit_intercept:
            return table
        ones = np.full((table.shape[0], 1), self._constant, dtype=table.dtype)
        return sparse.hstack([table, ones], format="csr") if sparse.issparse(table) else np.hstack([table, ones])


def _known(y: Any) -> NDArray[np.bool_]:
    """Which labels are there: those that are neither None nor NaN."""
    return np.array([label is not None and bool(label == label) for label in np.asarray(y, dtype=object).ravel()])


def _typical(table: Any) -> float:
    """Root mean square of the values other than 0; 1 if there is none."""
    values = table.data if sparse.issparse(table) else table
    values = values[values != 0]
    return float(np.sqrt(np.mean(np.square(values)))) if values.size else 1.0


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32 - 1, dtype=np.uint32))
    return np.random.default_rng(random_state)
