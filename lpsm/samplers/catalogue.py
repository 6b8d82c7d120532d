"""The catalogue: every algorithm of the papers by its key, and samplers made of keys.

What it models: key = learner + query rule + what is stored: a line of `_ALGORITHMS`, whose records hold the defaults.
The algorithm's own parameters, by symbol, are the fields of its rule and its learner.  Papers go by the letters in
`PAPERS`.  Notation: p = w.x, r = x'A^-1 x, m the margin, N the examples stored so far.  `make` turns a key and
parameters into a sampler, `describe` says where it is from, and `registry` what there is.
What it leaves out: best values (a default is the paper's where the entry says so; elsewhere the papers tune it, and
the default is merely a place to start), and combinations no paper has: build those from a learner and a rule with
`Sampler`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from inspect import Parameter
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from lpsm.checks import shown
from lpsm.samplers.hinge import AdaGrad, DiagonalArow
from lpsm.samplers.kernels import Neighbours, as_kernel
from lpsm.samplers.least_squares import Lasec, LeastSquares
from lpsm.samplers.perceptrons import BudgetPerceptron, ModifiedPerceptron, Perceptron, ShiftingPerceptron
from lpsm.samplers.protocol import Learner, Rule
from lpsm.samplers.rules import (
    AdaptiveSampler,
    Always,
    AppleTasting,
    Coin,
    Filter,
    FixedCoin,
    Halving,
    ImportanceWeighted,
    KeptRate,
    LabelEfficientFilter,
    NextLabel,
    SecondOrderCoin,
    SmallMargin,
    Variance,
)
from lpsm.samplers.sampler import Sampler

PAPERS = {
    "T": "Monteleoni 2006",
    "W": "Cesa-Bianchi, Gentile and Zaniboni 2004",
    "A": "Cavallanti, Cesa-Bianchi and Gentile 2010",
    "R": "Cesa-Bianchi 2007",
    "D": "Moroshko and Crammer 2014",
    "AROW": "Crammer, Kulesza and Dredze 2009",
    "AG": "Duchi, Hazan and Singer 2011",
    "IU": "Karampatziakis and Langford 2011",
    "NN": "Cover and Hart 1967",
    "GC": "Gibbs and Candès 2021",
    "IW": "Beygelzimer, Hsu, Langford and Zhang 2010",
}
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
    stores: str = "mistakes"
    normalize: bool = False
    symbols: Mapping[str, str] = MappingProxyType({})  # of fields that go by another one

    def places(self) -> dict[str, tuple[str, str]]:
        """Return where each parameter is, by symbol: in the rule or the learner, and in which field."""
        return {
            getattr(getattr(self, part), "symbol", self.symbols.get(field.name, field.name)): (part, field.name)
            for part in ("rule", "learner")
            for field in fields(getattr(self, part))
            if field.name not in _FIXED
        }

    def changed(self, parameters: Mapping[str, Any]) -> Recipe:
        """Return it with other values of parameters, by symbol."""
        values: dict[str, dict[str, Any]] = {"rule": {}, "learner": {}}
        for symbol, (part, field) in self.places().items():
            if symbol in parameters:
                values[part][field] = parameters[symbol]
        return self._replace(**{part: replace(getattr(self, part), **own) for part, own in values.items()})


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
    key: str,
    n_features: int,
    *,
    rng: np.random.Generator | int | None = None,
    normalize: bool | None = None,
    kernel: Any = None,
    dtype: Any = np.float64,
    max_queries: int | None = None,
    **params: Any,
) -> Sampler:
    """Return the sampler named `key`.

    Parameters
    ----------
    key
        One of `keys()`; `describe(key)` gives paper, figure and parameters.
    n_features
        Dimension d of the instances.
    rng
        Draws one uniform a round if the rule is randomised: a generator or its seed; None for seed 0.
    normalize
        Whether instances are divided by their norm; None for what the key's paper does.
    kernel
        None for the primal form (beyond 16,384 features, where a second-order learner's matrix
        no longer fits, for the linear dual one: the same margins); "linear", "rbf" (gamma),
        "poly" (degree, gamma, coef0) or a function of two vectors for the dual form.
    dtype
        float64 or float32.
    max_queries
        Labels asked for at most; None for no limit.
    **params
        The algorithm's parameters by symbol; ``lambda_`` or ``lambda`` for lambda, ``rho`` or
        ``rho_t`` for rho_t.  Every key but a filter takes `rate`, the share of the labels to ask for, for which
        `KeptRate` (also `step`) takes the place of the key's own rule unless that has a `rate`; and every key takes
        `stores`, as `Sampler` does.

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
    key: str, n_features: int, kernel: Any = None, normalize: bool | None = None, **params: Any
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


# -- the algorithms: keys, the place in the papers, what it is made of, what it does --------------------------------
# fmt: off

_ALGORITHMS: tuple[tuple[str, str, Recipe, str], ...] = (
    ("perceptron", "T section 3.4; W figure 1 without its coin", Recipe(Perceptron(), Always()),
     "The Perceptron: margin v.x, and v += eta y x on mistakes; eta > 0."),
    ("modified-perceptron", "T figure 3-2; D section 5 with factor 1",
     Recipe(ModifiedPerceptron(), Always(), normalize=True),
     "The modified Perceptron: v -= factor (v.x) x on mistakes, factor in [0, 2]; the first example is v. "
     "Normalised."),
    ("sop", "R section 2; W figure 2 without its coin", Recipe(LeastSquares(), Always()),
     "The second-order Perceptron: margin p/(1+r); stores mistakes; a > 0."),
    ("ridge", "R (1)", Recipe(LeastSquares(includes_instance=False), Always(), "queried"),
     "Ridge regression on the labels: margin p; stores everything; a > 0."),
    ("rls", "R (7)", Recipe(LeastSquares(), Always(), "queried"),
     "Vovk, Azoury and Warmuth's forward ridge regression: margin p/(1+r); stores everything; a > 0."),
    ("rls-all", "A figure 11", Recipe(LeastSquares(), Always(), "queried"),
     "The fully supervised baseline: `rls` under the name the sampler's regret is measured against."),
    ("lasec", "D figure 1 with a = inf", Recipe(Lasec(), Always()),
     "LASEC, last-step minimax under drift; stores mistakes. 0 < b < c; c = inf is `sop` with a = b, a small c "
     "forgets."),
    ("shifting-perceptron", "D section 5 (default its synthetic experiment's)",
     Recipe(ShiftingPerceptron(), Always()),
     "The shifting Perceptron: after k mistakes v = (1 - lambda_k) v + y x, lambda_k = lambda/(lambda + k). lambda "
     ">= 0."),
    ("randomized-budget-perceptron", "D section 5 (default its synthetic experiment's)",
     Recipe(BudgetPerceptron(), Always()),
     "The randomised budget Perceptron stores at most B >= 1 examples. When full, one drawn uniformly is evicted "
     "before the next is added."),
    ("perceptron-ss", "W figure 1; T figure 4-4 (CBGZperc of T table 4.1)",
     Recipe(Perceptron(), Coin(), normalize=True),
     "The selective sampling Perceptron asks with probability b/(b + |margin|) and stores queried mistakes. b > 0 "
     "(the default is W remark 1's for separable data). Normalised."),
    ("perceptron-ss-adaptive", "journal version of W (2006)",
     Recipe(Perceptron(), Coin(adaptive=True, symbol="beta")),
     "`perceptron-ss` whose parameter finds its own scale: b_t = beta X_t^2 sqrt(1 + K_t). X_t is the larger of the "
     "norm of x_t and those at updates, K_t the updates so far; beta > 0. Not normalised."),
    ("sop-ss", "W figure 2", Recipe(LeastSquares(), SecondOrderCoin(), normalize=True),
     "The selective sampling second-order Perceptron asks with probability b/(b + |m| + m^2 (1 + r)/2). m = p/(1+r), "
     "r without the current x; b > 0, and b = inf is `sop`; a > 0 (W takes 1); stores queried mistakes. Normalised."),
    ("sop-ss-adaptive", "journal version of W (2006)",
     Recipe(LeastSquares(), SecondOrderCoin(adaptive=True, symbol="beta")),
     "`sop-ss` with b_t = beta X_t^2 sqrt(1 + K_t), as in `perceptron-ss-adaptive`. Not normalised."),
    ("sop-label-efficient sole", 'R section 4; A section 3.1 (SOLE); D figure 2 (its "SOP-SS")',
     Recipe(LeastSquares(), Coin(b=1.0, symbol="C")),
     "The second-order label-efficient classifier asks with probability C/(C + |m|), m = p/(1+r), C > 0. It stores "
     "queried mistakes."),
    ("sop-fixed-bias", "W section 4 and figure 3 (2ND-ORDER-FIXED-BIAS)",
     Recipe(LeastSquares(), FixedCoin(), normalize=True),
     "The second-order Perceptron asks with probability `rate`, whatever the margin; rate 1 is `sop`. Normalised."),
    ("lasec-ss", "D figure 1", Recipe(Lasec(), Coin(b=1.0, symbol="a")),
     "LASEC-SS asks with probability a/(a + |margin|) on the learner of `lasec`; a > 0, 0 < b < c. c = inf is `sop- "
     "label-efficient` with C = a and regulariser b; a = inf is `lasec`."),
    ("cbgz-dkm", "T section 4.6 (CBGZ_DKM)", Recipe(ModifiedPerceptron(), Coin(), normalize=True),
     "The coin of `perceptron-ss` with modified updates; the first example is bought. Normalised."),
    ("random-perceptron", "T section 4.6 (randPerc)", Recipe(Perceptron(), FixedCoin(), normalize=True),
     "A coin of bias `rate` with Perceptron updates. Normalised."),
    ("random-dkm", "T section 4.6 (randDKM)", Recipe(ModifiedPerceptron(), FixedCoin(), normalize=True),
     "A coin of bias `rate` with modified updates; the first example is bought. Normalised."),
    ("ss", "A figure 1; R section 4 with c is K = c^2", Recipe(LeastSquares(), SmallMargin(), "queried"),
     "SS asks iff m^2 <= |x|^2 K ln t / N, m = p/(1+r), K > 0, and stores every queried example."),
    ("ssnci", "A section 3.1", Recipe(LeastSquares(includes_instance=False), SmallMargin(), "queried"),
     "SSNCI is `ss` with margin p: the current instance is not in the inverse. Deviation: A calls its margins "
     "smaller than those of SS; p is larger than p/(1+r)."),
    ("ssmd", "A section 3.1, step 3'", Recipe(LeastSquares(), SmallMargin()),
     "SSMD is `ss` that stores only queried mistakes; N counts the stored; K = inf is `sop`. Deviation: A's strict y "
     "w.x < 0 would never store a first example; a mistake is prediction != label."),
    ("ssnl", "A section 3.1", Recipe(LeastSquares(), NextLabel(), "queried"),
     "SSNL: a small margin in round t asks for the label of t + 1; round 1 is asked about."),
    ("bbq", "D section 5", Recipe(LeastSquares(), Variance(), "queried", normalize=True),
     "BBQ asks iff r/(1+r) > t^-kappa, kappa > 0, with margin p/(1+r), and stores every queried. Normalised."),
    ("bbq-i", "D section 5", Recipe(LeastSquares(), Variance(), normalize=True),
     "BBQ-I is `bbq` that stores only queried mistakes. Normalised."),
    ("dkm", "T figures 3-4 and 4-3 (DKM^2 of T table 4.1)", Recipe(ModifiedPerceptron(), Halving(), normalize=True),
     "DKM asks iff |v.x| <= s_t; s halves after R >= 1 correct labels in a row; modified update on mistakes. s_1 > "
     "0: 1 in figure 4-3 (default), 1/sqrt(d) in figure 3-4. Normalised; the first example is v."),
    ("dkm-perceptron", "T section 4.6 (DKMperc); A's DKMPERC", Recipe(Perceptron(), Halving(), normalize=True),
     "The threshold of `dkm` with Perceptron updates; v is not normalised, the instances are."),
    ("adaptive-sampler", "A figure 12; section 6.3 (step 4'); remark 5 (the coin)",
     Recipe(LeastSquares(), AdaptiveSampler(), "queried", normalize=True),
     "The adaptive sampler stores while N <= rho_t; then m^2 <= 128 ln t / (lambda N) schedules the next example. "
     "rho_t is a number, a function of t, or None for (16/lambda^2) max(d, ln t); lambda > 0. `mistake_driven` takes "
     "step 4', `bias` remark 5's coin. Normalised."),
    ("filter", "A figure 2", Recipe(LeastSquares(), Filter(), "queried"),
     "FILTER forwards iff m + |x| sqrt(K ln t / N) >= 0 and stores what it forwards; K > 0."),
    ("ffoat", "A section 3.2", Recipe(Perceptron(), AppleTasting()),
     "FFOAT is apple tasting on the Perceptron: it updates iff the sign was wrong. It forwards what looks positive, "
     "the rest with probability min(1, sqrt((1+mu)/t)), mu the classifier's own false positives so far, or with "
     "`count_forced` all of them."),
    ("fsoat", "A section 3.2", Recipe(LeastSquares(), AppleTasting()),
     "FSOAT is apple tasting, as `ffoat`, on the second-order Perceptron."),
    ("ffole", "A section 3.2", Recipe(Perceptron(), LabelEfficientFilter()),
     "FFOLE: the Perceptron forwards what looks positive, and the rest with probability C/(C + |v.x|)."),
    ("fsole", "A section 3.2", Recipe(LeastSquares(), LabelEfficientFilter()),
     "FSOLE does as `ffole` on the second-order Perceptron, with |p/(1+r)| in the coin."),
    ("arow", "AROW figure 1",
     Recipe(LeastSquares(includes_instance=False), Always(), "small margins", symbols={"a": "r"}),
     "AROW asks for everything and learns wherever y p < 1, p = w.x; r > 0. It is ridge regression with a = r on the "
     "examples that it stores."),
    ("arow-diagonal", "AROW figure 1, with the diagonal of the matrix alone",
     Recipe(DiagonalArow(), Always(), "small margins"),
     "AROW that keeps the diagonal of its matrix: as quick as a Perceptron, in any number of features; r > 0."),
    ("adagrad", "AG figure 1; IU, the update for the hinge loss", Recipe(AdaGrad(), Always(), "small margins"),
     "AdaGrad on the hinge loss, by steps that never carry the margin beyond 1; asks for everything; eta > 0."),
    ("arow-ss", "AROW figure 1 with the coin of W figure 1",
     Recipe(LeastSquares(includes_instance=False), Coin(b=0.1), "small margins", symbols={"a": "r"}),
     "`arow` that asks with probability b/(b + |p|); b > 0. A combination of ours: no paper has it."),
    ("arow-diagonal-ss", "AROW figure 1 with the coin of W figure 1",
     Recipe(DiagonalArow(), Coin(b=0.1), "small margins"),
     "`arow-diagonal` that asks with probability b/(b + |p|); b > 0. A combination of ours: no paper has it."),
    ("adagrad-ss", "AG figure 1 and IU, the update for the hinge loss, with the coin of W figure 1",
     Recipe(AdaGrad(), Coin(b=0.1), "small margins"),
     "`adagrad` that asks with probability b/(b + |p|); b > 0. A combination of ours: no paper has it."),
    ("iwal", "IW algorithm 1 on `adagrad`, with G_t and weighted labels as in IU",
     Recipe(AdaGrad(), ImportanceWeighted(), "small margins"),
     "Importance-weighted questions: G_t decides on the probability, a label of probability P counts 1/P; c_0 > 0. "
     "G_t is the weight of a label that would turn the prediction, over t; `floor` in (0, 1] is the least "
     "probability. A combination after IW and IU, without their theorems on labels and consistency."),
    ("kept-rate", "the learner of D figure 1; the threshold after GC (2)",
     Recipe(Lasec(c=1000.0), KeptRate(), "queried"),
     "Asks iff |m| <= s, then s += step (rate - 1{asked}), so that `rate` of the labels are asked for, of any T rounds "
     "at most rate T + 1; stores every queried. c forgets. A combination of ours: no paper has it."),
    ("nearest", "NN with the threshold after GC (2)", Recipe(Neighbours(), KeptRate(), "queried"),
     "The nearest stored neighbour, d' away: margin ln(d/d')/2, d the distance to the nearest of another class; asks "
     "as `kept-rate`, stores every queried. For many classes. A combination of ours: no paper has it."),
)
# fmt: on


CATALOGUE = {
    key: Entry(key, place, recipe, text) for names, place, recipe, text in _ALGORITHMS for key in names.split()
}
"""Every algorithm by its key."""
