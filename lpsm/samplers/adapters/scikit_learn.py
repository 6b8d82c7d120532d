"""Selective samplers as a scikit-learn classifier.

What it models: `fit` plays the rows of X as a stream, in order: each is predicted first, and its
label is used only if the sampler asks for it.  The labels may be an array (a simulation: entries
that were not asked for have no influence) or come from `oracle`, which is called for the rows asked
about and no other.  Two classes, any names: the second in sorted order is the sampler's +1.
One class alone is predicted for everything; the sampler then sees one sign only.  Where rows are
normalised, one of zeros has no direction: it is no round, is never asked about, and has margin 0.

What it leaves out: more than two classes (wrap it in `OneVsRestClassifier`, which also makes it
multi-label), probabilities.
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

from lpsm.online import play
from lpsm.samplers.catalogue import make, registry
from lpsm.samplers.checks import nonzero_rows
from lpsm.samplers.record import RunLog
from lpsm.samplers.sampler import Sampler

__all__ = ["SelectiveClassifier"]

_SYMBOLS = (
    *dict.fromkeys(parameter.name for entry in registry().values() for parameter in entry.parameters),
    *("gamma", "degree", "coef0"),  # of a kernel
)
_NO_PROMISE = frozenset({"modified-perceptron", "sop-fixed-bias", "cbgz-dkm", "random-perceptron", "random-dkm"})
"""Keys that need separable examples through the origin, or buy too few of a short stream, to be accurate on it."""


class SelectiveClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A linear classifier that buys the labels it learns from.

    Parameters
    ----------
    key
        One of `lpsm.samplers.keys()`; `lpsm.samplers.describe(key)` names its parameters.
    a, b, c, beta, bias, count_forced, eta, factor, kappa, lambda_, mistake_driven, rate, rho, s_1, B, C, K, R
        The sampler's parameters by the papers' symbols; None, the default, is the key's own
        default.  One that the key does not have is an error when fitting.
    kernel, gamma, degree, coef0
        None for weights over features, or the kernel form as in `lpsm.samplers.make`.
    normalize
        Whether rows are divided by their norm; None for what the key's paper does.
    fit_intercept
        Whether a constant feature of 1 is appended to the rows; the papers have none.
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
        Sorted class names, (2,) or (1,).
    queried_
        Which rows of the last `fit` or `partial_fit` had their label asked for, (n,).
    predicted_
        What was predicted of these rows before their labels could be known, (n,).
    n_queries_, n_rounds_
        Labels asked for and rows seen since `fit` began, `partial_fit` included.
    n_features_in_
        Columns of X.
    sampler_
        The `Sampler` itself.

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
        key: str = "ssmd",
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
            The one or two class names; None for those in y.

        Raises
        ------
        ValueError
            On more than two classes, an unknown parameter, or input scikit-learn would refuse.
        """
        return self._play(X, y, classes, anew=True)

    def partial_fit(self, X: Any, y: ArrayLike | None = None, classes: ArrayLike | None = None) -> SelectiveClassifier:
        """Go on with more rows; the first call needs `classes` unless both appear in its y."""
        return self._play(X, y, classes, anew=not hasattr(self, "sampler_"))

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Signed margins (n,), as the sampler would have them now; positive is ``classes_[1]``."""
        check_is_fitted(self)
        table = validate_data(self, X, reset=False, accept_sparse="csr", dtype=(np.float64, np.float32))
        table = self._with_intercept(table)
        rounds, margins = self._rounds(table), np.zeros(table.shape[0])
        margins[rounds] = self.sampler_.margins(table[rounds])
        return margins

    def predict(self, X: Any) -> NDArray[Any]:
        """Class names (n,); a margin of 0 is ``classes_[1]``, SGN(0) = +1."""
        margins = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.full(len(margins), self.classes_[0])
        return np.asarray(self.classes_[(margins >= 0.0).astype(np.intp)])

    def __sklearn_is_fitted__(self) -> bool:
        """Whether `fit` was called; the parameter lambda_ looks like a fitted attribute and is none."""
        return hasattr(self, "sampler_")

    def __sklearn_tags__(self) -> Any:
        """Two classes; sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = self.key in _NO_PROMISE
        tags.input_tags.sparse = True
        return tags

    # -- inside -------------------------------------------------------------------------------

    def _play(self, X: Any, y: Any, classes: Any, anew: bool) -> SelectiveClassifier:
        given = {"accept_sparse": "csr", "dtype": (np.float64, np.float32), "reset": anew}
        labels: Any = None
        if self.oracle is None:
            X, labels = validate_data(self, X, y, **given)
        else:
            X = validate_data(self, X, **given)
        if anew or classes is not None:
            known = None if anew else self.classes_
            self.classes_ = self._class_names(labels, classes, known)
        table = self._with_intercept(X)
        if anew:
            self.sampler_: Sampler = make(
                self.key,
                table.shape[1],
                rng=_generator(self.random_state),
                normalize=self.normalize,
                kernel=self.kernel,
                max_queries=self.max_queries,
                **{name: getattr(self, name) for name in _SYMBOLS if getattr(self, name) is not None},
            )
        rounds = self._rounds(table)
        queried, predicted = np.zeros(table.shape[0], dtype=np.bool_), np.ones(table.shape[0], dtype=np.int8)
        if self.oracle is None:
            log = self.sampler_.run(table[rounds], self._signs(labels)[rounds])
        else:
            oracle = self.oracle

            def answer(t: int) -> int:
                return int(self._signs(np.asarray([oracle(int(rounds[t]), X[rounds[t]])]))[0])

            log = RunLog.of(play(self.sampler_, (table[i] for i in rounds), answer), len(rounds))
        queried[rounds], predicted[rounds] = log.queried, log.prediction
        self.queried_ = queried
        self.predicted_ = self.classes_[np.where(predicted > 0, len(self.classes_) - 1, 0)]
        self.n_queries_, self.n_rounds_ = self.sampler_.queries, self.sampler_.rounds
        return self

    def _rounds(self, table: Any) -> NDArray[np.intp]:
        """Numbers of the rows that are rounds: all, or those not zero where rows are normalised."""
        if not self.sampler_.normalize:
            return np.arange(table.shape[0])
        return np.flatnonzero(nonzero_rows(table))

    def _class_names(self, labels: Any, classes: Any, known: Any) -> NDArray[Any]:
        if labels is not None:
            check_classification_targets(labels)
            kind = type_of_target(labels, input_name="y")
            if kind not in ("binary", "unknown") and not (kind == "multiclass" and len(np.unique(labels)) <= 2):
                raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
        elif classes is None:
            raise ValueError("classes must be given with an oracle, got None")
        names = np.unique(labels if classes is None else classes)
        if len(names) > 2:
            raise ValueError(f"classes must be one or two, got {len(names)}: {names}")
        if known is not None and not np.array_equal(names, known):
            raise ValueError(f"classes must stay those of the first call, {known}, got {names}")
        return np.asarray(names)

    def _signs(self, labels: Any) -> NDArray[np.float64]:
        strange = ~np.isin(labels, self.classes_)
        if strange.any():
            raise ValueError(f"y must hold only the classes {self.classes_}, got {np.asarray(labels)[strange][0]!r}")
        return np.where(np.asarray(labels) == self.classes_[-1], 1.0, -1.0)

    def _with_intercept(self, table: Any) -> Any:
        if not self.fit_intercept:
            return table
        ones = np.ones((table.shape[0], 1), dtype=table.dtype)
        return sparse.hstack([table, ones], format="csr") if sparse.issparse(table) else np.hstack([table, ones])


def _generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32 - 1, dtype=np.uint32))
    return np.random.default_rng(random_state)
