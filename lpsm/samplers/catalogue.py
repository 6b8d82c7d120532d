"""The catalogue: every algorithm of the papers by its key, and samplers made of keys, of two classes or more.

What it models: key = learner + query rule + what is stored: a row of the table `_ALGORITHMS`.
The algorithm's own parameters, by symbol, are the fields of its rule and its learner.  Papers go by the letters in
`PAPERS`.  Notation: p = w.x, r = x'A^-1 x, m the margin, N the examples stored so far.
What it leaves out: best values (where the entry does not say that the paper has it, a default is merely a place to
start), and combinations no paper has: build those from a learner and a rule with `Sampler`.

**More than two classes** with one question an instance: a vector of weights for each class over one memory.  The class
of the largest score is predicted, half the lead over the next is the margin that the rule looks at, and the answer is
the class itself.  What is stored is common to all: least squares learns the target +1 for the true class and -1 for
every other; the Perceptron, AROW's diagonal and AdaGrad move the true class up and the best other one down (Crammer
and Singer 2003).  With two classes it is the binary sampler, number for number.  Left out: filters; learners whose
update turns or shrinks the vector, or forgets examples.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from inspect import Parameter
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from lpsm.arrays import Floats, Ints, Mask
from lpsm.checks import shaped, shown, whole
from lpsm.samplers import kernels
from lpsm.samplers.checks import Rows
from lpsm.samplers.kernels import KernelLike, as_kernel
from lpsm.samplers.protocol import VARIANCE, Learner, Rule, flags_of
from lpsm.samplers.rules import KeptRate
from lpsm.samplers.run_log import Decision
from lpsm.samplers.sampler import RUN, Sampler
from lpsm.samplers.state_io import PARTS

_PAPERS = """\
T: Monteleoni 2006
W: Cesa-Bianchi, Gentile and Zaniboni 2004
A: Cavallanti, Cesa-Bianchi and Gentile 2010
R: Cesa-Bianchi 2007
D: Moroshko and Crammer 2014
AROW: Crammer, Kulesza and Dredze 2009
AG: Duchi, Hazan and Singer 2011
IU: Karampatziakis and Langford 2011
NN: Cover and Hart 1967
GC: Gibbs and Candès 2021
IW: Beygelzimer, Hsu, Langford and Zhang 2010"""
PAPERS = dict(line.split(": ") for line in _PAPERS.splitlines())
OF_KERNELS = ("gamma", "degree", "coef0")
"""Parameters of kernels, which every key takes that has a form over stored instances."""
OF_ALL = ("rate", "step", "stores")
"""Parameters of every key: the share of the labels to keep to, by `KeptRate`, and what is stored."""
LARGEST_MATRIX = 16_384  # rows: 2 GiB of float64
_SPELLINGS = {"lambda": "lambda_", "rho_t": "rho"}
_FIXED = ("adaptive", "symbol", "includes_instance")  # fields that are not an algorithm's parameters


class Recipe(NamedTuple):
    """What an algorithm is made of, with the defaults of its parameters."""

    learner: Learner
    rule: Rule
    stores: str
    normalize: bool
    symbols: Mapping[str, str]  # of fields that go by another one

    def places(self) -> dict[str, tuple[str, str]]:
        """Return where each parameter is, by symbol: in the rule or the learner, and in which field."""
        return {
            getattr(getattr(self, part), "symbol", self.symbols.get(field.name, field.name)): (part, field.name)
            for part in ("rule", "learner")
            for field in fields(getattr(self, part))
            if field.name not in _FIXED
        }

    def changed(self, parameters: Mapping[str, object]) -> Recipe:
        """Return it with other values of parameters, by symbol."""

        def part(name: str) -> Any:
            own = {field: symbol for symbol, (where, field) in self.places().items() if where == name}
            values = {field: parameters[symbol] for field, symbol in own.items() if symbol in parameters}
            return replace(getattr(self, name), **values)

        return self._replace(learner=part("learner"), rule=part("rule"))


class Entry(NamedTuple):
    """One algorithm of the catalogue: what it does (`meaning`), the place in the papers, and what it is made of."""

    key: str
    place: str
    recipe: Recipe
    meaning: str

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The algorithm's own parameters, with their defaults."""
        return tuple(
            Parameter(symbol, Parameter.KEYWORD_ONLY, default=getattr(getattr(self.recipe, part), field))
            for symbol, (part, field) in self.recipe.places().items()
        )

    @property
    def defaults(self) -> list[str]:
        """The parameters that have a value of their own: symbol=default."""
        return [f"{p.name.rstrip('_')}={p.default}" for p in self.parameters if p.default is not None]

    @property
    def written(self) -> str:
        """The key with its parameters and their defaults."""
        return " ".join((self.key, *(f"[{setting}]" for setting in self.defaults)))

    @property
    def source(self) -> str:
        """The place in the papers, and which those are."""
        cited = [f"{letter}: {PAPERS[letter]}" for letter in PAPERS if re.search(rf"\b{letter}\b(?!')", self.place)]
        return f"{self.place} ({'; '.join(cited)})" if cited else self.place

    @property
    def example(self) -> str:
        """A command that uses it."""
        numbers = [setting for setting in self.defaults if not setting.endswith(("True", "False"))]
        return " --param ".join((f"lpsm label sms-spam --algorithm {self.key}", *numbers[:1]))


def registry() -> Mapping[str, Entry]:
    """Return every algorithm by its key: how it is written, what it does, where it is from, and an example.

    >>> registry()["ssmd"].written
    'ssmd [K=1.0] [a=1.0]'
    """
    return MappingProxyType(CATALOGUE)


def keys() -> tuple[str, ...]:
    """Return the keys of the catalogue, aliases included."""
    return tuple(CATALOGUE)


def describe(key: str) -> str:
    """Return what is known about `key`: its parameters by symbol with their defaults, what it does, its source."""
    entry = _entry(key)
    parameters = ", ".join(map(str, entry.parameters))
    return f"{key}({parameters}): {entry.meaning}  Source: {entry.source}."


def make(
    key: str, n_features: int, *, rng: np.random.Generator | int | None = None, normalize: bool | None = None,
    kernel: KernelLike = None, dtype: DTypeLike = np.float64, max_queries: int | None = None, **params: Any,
) -> Sampler:  # fmt: skip
    """Return the sampler named `key`.

    Parameters
    ----------
    key
        One of `keys()`; `describe(key)` gives paper, figure and parameters.
    n_features, rng, dtype, max_queries
        As of `Sampler`.
    normalize
        Whether instances are divided by their norm; None for what the key's paper does.
    kernel
        None for the primal form (beyond 16,384 features, where a second-order learner's matrix
        no longer fits, for the linear dual one: the same margins); "linear", "rbf" (gamma),
        "poly" (degree, gamma, coef0) or a function of two vectors for the dual form.
    **params
        The algorithm's parameters by symbol; ``lambda_`` or ``lambda`` for lambda, ``rho`` or ``rho_t`` for rho_t.
        Every key but a filter takes `rate`, the share of the labels to ask for, for which `KeptRate` (also `step`)
        takes the place of the key's own rule unless that has a `rate`; and every key takes `stores`, as `Sampler` does.

    Raises
    ------
    ValueError
        If the key or a parameter is unknown, or a parameter is out of its range.

    >>> make("perceptron-ss", 2, b=0.5, rng=np.random.default_rng(0)).decide([3.0, 4.0]).probability
    1.0
    """
    options = options_of(key, n_features, kernel, normalize, **params)
    return Sampler(**options, n_features=n_features, rng=rng, dtype=dtype, max_queries=max_queries)


def options_of(
    key: str, n_features: int, kernel: KernelLike = None, normalize: bool | None = None, **params: Any
) -> dict[str, Any]:
    """Return what a sampler named `key` is made of, as arguments of `Sampler`."""
    recipe = _entry(key).recipe
    if "rate" in params and "rate" not in recipe.places():
        if recipe.rule.filters:
            raise ValueError(f"rate must not be given for {key!r}: a filter predicts by asking, got {params['rate']}")
        recipe = recipe._replace(rule=KeptRate())
    params = {_SPELLINGS.get(name, name): value for name, value in params.items()}
    of_kernel = {name: params.pop(name) for name in OF_KERNELS if name in params}
    recipe = recipe._replace(stores=params.pop("stores", recipe.stores))
    known = list(recipe.places())
    if unknown := sorted(set(params) - set(known) | (set(of_kernel) if kernel is None else set())):
        raise ValueError(f"{key!r} takes the parameters {known}, got {unknown}")
    learner, rule, stores, normalizes, _ = recipe.changed(params)
    if kernel is None and (learner.by_instances or (learner.recursion is not None and n_features > LARGEST_MATRIX)):
        kernel = "linear"
    return {
        "learner": learner, "rule": rule, "stores": stores, "key": key, "kernel": as_kernel(kernel, **of_kernel),
        "normalize": normalizes if normalize is None else normalize,
    }  # fmt: skip


def _entry(key: str) -> Entry:
    if key not in CATALOGUE:
        near = get_close_matches(str(key).lower(), CATALOGUE, n=1, cutoff=0.0)
        raise ValueError(f"key must be one of lpsm.samplers.keys(); got {shown(key)}, did you mean {near[0]}?")
    return CATALOGUE[key]


# -- the algorithms: keys | learner | rule | what is stored | the place in the papers | what it does -------------------
# `field=value` where a part's default is another, `field->symbol` where a field goes by another symbol.

_ALGORITHMS = """
perceptron | Perceptron | Always | mistakes | T section 3.4; W figure 1 without its coin |
    The Perceptron: margin v.x, and v += eta y x on mistakes; eta > 0.
modified-perceptron | ModifiedPerceptron | Always | mistakes, normalised | T figure 3-2; D section 5 with factor 1 |
    The modified Perceptron: v -= factor (v.x) x on mistakes, factor in [0, 2]; the first example is v. Normalised.
sop | LeastSquares | Always | mistakes | R section 2; W figure 2 without its coin |
    The second-order Perceptron: margin p/(1+r); stores mistakes; a > 0.
ridge | LeastSquares includes_instance=False | Always | queried | R (1) |
    Ridge regression on the labels: margin p; stores everything; a > 0.
rls | LeastSquares | Always | queried | R (7) |
    Vovk, Azoury and Warmuth's forward ridge regression: margin p/(1+r); stores everything; a > 0.
rls-all | LeastSquares | Always | queried | A figure 11 |
    The fully supervised baseline: `rls` under the name the sampler's regret is measured against.
lasec | Lasec | Always | mistakes | D figure 1 with a = inf |
    LASEC, last-step minimax under drift; stores mistakes. 0 < b < c; c = inf is `sop` with a = b, a small c forgets.
shifting-perceptron | ShiftingPerceptron | Always | mistakes | D section 5 (default its synthetic experiment's) |
    The shifting Perceptron: after k mistakes v = (1 - lambda_k) v + y x, lambda_k = lambda/(lambda + k). lambda >= 0.
randomized-budget-perceptron | BudgetPerceptron | Always | mistakes | D section 5 (default its synthetic experiment's) |
    The randomised budget Perceptron stores at most B >= 1 examples. When full, one drawn uniformly is evicted before
    the next is added.
perceptron-ss | Perceptron | Coin | mistakes, normalised | W figure 1; T figure 4-4 (CBGZperc of T table 4.1) |
    The selective sampling Perceptron asks with probability b/(b + |margin|) and stores queried mistakes. b > 0 (the
    default is W remark 1's for separable data). Normalised.
perceptron-ss-adaptive | Perceptron | Coin adaptive=True symbol='beta' | mistakes | journal version of W (2006) |
    `perceptron-ss` whose parameter finds its own scale: b_t = beta X_t^2 sqrt(1 + K_t). X_t is the larger of the norm
    of x_t and those at updates, K_t the updates so far; beta > 0. Not normalised.
sop-ss | LeastSquares | SecondOrderCoin | mistakes, normalised | W figure 2 |
    The selective sampling second-order Perceptron asks with probability b/(b + |m| + m^2 (1 + r)/2). m = p/(1+r), r
    without the current x; b > 0, and b = inf is `sop`; a > 0 (W takes 1); stores queried mistakes. Normalised.
sop-ss-adaptive | LeastSquares | SecondOrderCoin adaptive=True symbol='beta' | mistakes | journal version of W (2006) |
    `sop-ss` with b_t = beta X_t^2 sqrt(1 + K_t), as in `perceptron-ss-adaptive`. Not normalised.
sop-label-efficient sole | LeastSquares | Coin b=1.0 symbol='C' | mistakes | R section 4; A section 3.1 (SOLE); D figure
    2 (its "SOP-SS") |
    The second-order label-efficient classifier asks with probability C/(C + |m|), m = p/(1+r), C > 0. It stores queried
    mistakes.
sop-fixed-bias | LeastSquares | FixedCoin | mistakes, normalised | W section 4 and figure 3 (2ND-ORDER-FIXED-BIAS) |
    The second-order Perceptron asks with probability `rate`, whatever the margin; rate 1 is `sop`. Normalised.
lasec-ss | Lasec | Coin b=1.0 symbol='a' | mistakes | D figure 1 |
    LASEC-SS asks with probability a/(a + |margin|) on the learner of `lasec`; a > 0, 0 < b < c. c = inf is
    `sop-label-efficient` with C = a and regulariser b; a = inf is `lasec`.
cbgz-dkm | ModifiedPerceptron | Coin | mistakes, normalised | T section 4.6 (CBGZ_DKM) |
    The coin of `perceptron-ss` with modified updates; the first example is bought. Normalised.
random-perceptron | Perceptron | FixedCoin | mistakes, normalised | T section 4.6 (randPerc) |
    A coin of bias `rate` with Perceptron updates. Normalised.
random-dkm | ModifiedPerceptron | FixedCoin | mistakes, normalised | T section 4.6 (randDKM) |
    A coin of bias `rate` with modified updates; the first example is bought. Normalised.
ss | LeastSquares | SmallMargin | queried | A figure 1; R section 4 with c is K = c^2 |
    SS asks iff m^2 <= |x|^2 K ln t / N, m = p/(1+r), K > 0, and stores every queried example.
ssnci | LeastSquares includes_instance=False | SmallMargin | queried | A section 3.1 |
    SSNCI is `ss` with margin p: the current instance is not in the inverse. Deviation: A calls its margins smaller than
    those of SS; p is larger than p/(1+r).
ssmd | LeastSquares | SmallMargin | mistakes | A section 3.1, step 3' |
    SSMD is `ss` that stores only queried mistakes; N counts the stored; K = inf is `sop`. Deviation: A's strict y w.x <
    0 would never store a first example; a mistake is prediction != label.
ssnl | LeastSquares | NextLabel | queried | A section 3.1 |
    SSNL: a small margin in round t asks for the label of t + 1; round 1 is asked about.
bbq | LeastSquares | Variance | queried, normalised | D section 5 |
    BBQ asks iff r/(1+r) > t^-kappa, kappa > 0, with margin p/(1+r), and stores every queried. Normalised.
bbq-i | LeastSquares | Variance | mistakes, normalised | D section 5 |
    BBQ-I is `bbq` that stores only queried mistakes. Normalised.
dkm | ModifiedPerceptron | Halving | mistakes, normalised | T figures 3-4 and 4-3 (DKM^2 of T table 4.1) |
    DKM asks iff |v.x| <= s_t; s halves after R >= 1 correct labels in a row; modified update on mistakes. s_1 > 0: 1 in
    figure 4-3 (default), 1/sqrt(d) in figure 3-4. Normalised; the first example is v.
dkm-perceptron | Perceptron | Halving | mistakes, normalised | T section 4.6 (DKMperc); A's DKMPERC |
    The threshold of `dkm` with Perceptron updates; v is not normalised, the instances are.
adaptive-sampler | LeastSquares | AdaptiveSampler | queried, normalised | A figure 12; section 6.3 (step 4'); remark 5
    (the coin) |
    The adaptive sampler stores while N <= rho_t; then m^2 <= 128 ln t / (lambda N) schedules the next example. rho_t is
    a number, a function of t, or None for (16/lambda^2) max(d, ln t); lambda > 0. `mistake_driven` takes step 4',
    `bias` remark 5's coin. Normalised.
filter | LeastSquares | Filter | queried | A figure 2 |
    FILTER forwards iff m + |x| sqrt(K ln t / N) >= 0 and stores what it forwards; K > 0.
ffoat | Perceptron | AppleTasting | mistakes | A section 3.2 |
    FFOAT is apple tasting on the Perceptron: it updates iff the sign was wrong. It forwards what looks positive, the
    rest with probability min(1, sqrt((1+mu)/t)), mu the classifier's own false positives so far, or with `count_forced`
    all of them.
fsoat | LeastSquares | AppleTasting | mistakes | A section 3.2 |
    FSOAT is apple tasting, as `ffoat`, on the second-order Perceptron.
ffole | Perceptron | LabelEfficientFilter | mistakes | A section 3.2 |
    FFOLE: the Perceptron forwards what looks positive, and the rest with probability C/(C + |v.x|).
fsole | LeastSquares | LabelEfficientFilter | mistakes | A section 3.2 |
    FSOLE does as `ffole` on the second-order Perceptron, with |p/(1+r)| in the coin.
arow | LeastSquares a->r includes_instance=False | Always | small margins | AROW figure 1 |
    AROW asks for everything and learns wherever y p < 1, p = w.x; r > 0. It is ridge regression with a = r on the
    examples that it stores.
arow-diagonal | DiagonalArow | Always | small margins | AROW figure 1, with the diagonal of the matrix alone |
    AROW that keeps the diagonal of its matrix: as quick as a Perceptron, in any number of features; r > 0.
adagrad | AdaGrad | Always | small margins | AG figure 1; IU, the update for the hinge loss |
    AdaGrad on the hinge loss, by steps that never carry the margin beyond 1; asks for everything; eta > 0.
arow-ss | LeastSquares a->r includes_instance=False | Coin b=0.1 | small margins | AROW figure 1 with the coin of W
    figure 1 |
    `arow` that asks with probability b/(b + |p|); b > 0. A combination of ours: no paper has it.
arow-diagonal-ss | DiagonalArow | Coin b=0.1 | small margins | AROW figure 1 with the coin of W figure 1 |
    `arow-diagonal` that asks with probability b/(b + |p|); b > 0. A combination of ours: no paper has it.
adagrad-ss | AdaGrad | Coin b=0.1 | small margins | AG figure 1 and IU, the update for the hinge loss, with the coin of
    W figure 1 |
    `adagrad` that asks with probability b/(b + |p|); b > 0. A combination of ours: no paper has it.
iwal | AdaGrad | ImportanceWeighted | small margins | IW algorithm 1 on `adagrad`, with G_t and weighted labels as in IU
    |
    Importance-weighted questions: G_t decides on the probability, a label of probability P counts 1/P; c_0 > 0. G_t is
    the weight of a label that would turn the prediction, over t; `floor` in (0, 1] is the least probability. A
    combination after IW and IU, without their theorems on labels and consistency.
kept-rate | Lasec c=1000.0 | KeptRate | queried | the learner of D figure 1; the threshold after GC (2) |
    Asks iff |m| <= s, then s += step (rate - 1{asked}), so that `rate` of the labels are asked for, of any T rounds at
    most rate T + 1; stores every queried. c forgets. A combination of ours: no paper has it.
nearest | Neighbours | KeptRate | queried | NN with the threshold after GC (2) |
    The nearest stored neighbour, d' away: margin ln(d/d')/2, d the distance to the nearest of another class; asks as
    `kept-rate`, stores every queried. For many classes. A combination of ours: no paper has it.
"""


def _part(text: str) -> tuple[Any, dict[str, str]]:
    """Return a record of the table, and the fields that go by another symbol."""
    name, *settings = text.split()
    values = dict(setting.split("=") for setting in settings if "=" in setting)
    record = PARTS[name](**{field: literal_eval(value) for field, value in values.items()})
    return record, dict(setting.split("->") for setting in settings if "->" in setting)


def _entries() -> Iterator[Entry]:
    for line in re.split(r"\n(?! )", _ALGORITHMS.strip()):
        keys, learner, rule, stores, place, meaning = " ".join(line.split()).split(" | ", 5)
        (learns, symbols), (asks, _), (stores, _, normalised) = _part(learner), _part(rule), stores.partition(", ")
        recipe = Recipe(learns, asks, stores, normalised == "normalised", symbols)
        yield from (Entry(key, place, recipe, meaning) for key in keys.split())


CATALOGUE = {entry.key: entry for entry in _entries()}
"""Every algorithm by its key."""


def has_classes(key: str) -> bool:
    """Whether a key of the catalogue has a form for several classes."""
    return kernels.has_classes(CATALOGUE[key].recipe.learner, CATALOGUE[key].recipe.rule)


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
        self.n_classes = whole(2, 1_000_000, n_classes=n_classes)
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
        labels = shaped("y", y, rounds)
        if rounds and not (np.asarray(y).dtype.kind in "iu" and 0 <= labels.min() <= labels.max() < self.n_classes):
            raise ValueError(f"y must hold numbers of classes from 0 to {self.n_classes - 1}, got {labels[:3]} ...")
        return labels

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
    return np.asarray(scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1), np.int64)
