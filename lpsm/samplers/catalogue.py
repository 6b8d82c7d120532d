"""The catalogue: every algorithm of the papers by its key, and samplers made of keys.

What it models: key = learner + query rule + what is stored.  An entry is a function of the algorithm's own parameters,
by symbol, with what the algorithm does and where it is from.  Papers go by the letters in `PAPERS`.  Notation: p = w.x,
r = x'A^-1 x, m the margin, N the examples stored so far.  `make` turns a key and parameters into a sampler, `describe`
says where it is from, and `registry` what there is.
What it leaves out: best values (a default is the paper's where the entry says so; elsewhere the papers tune it, and
the default is merely a place to start), and combinations no paper has: build those from a learner and a rule with
`Sampler`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from lpsm.checks import shown
from lpsm.samplers.core import Learner, Rule
from lpsm.samplers.hinge import AdaGrad, DiagonalArow
from lpsm.samplers.kernels import as_kernel
from lpsm.samplers.least_squares import Lasec, LeastSquares
from lpsm.samplers.perceptrons import BudgetPerceptron, ModifiedPerceptron, Perceptron, ShiftingPerceptron
from lpsm.samplers.rules import (
    AdaptiveSampler,
    Always,
    AppleTasting,
    Coin,
    Filter,
    FixedCoin,
    Halving,
    ImportanceWeighted,
    LabelEfficientFilter,
    NextLabel,
    SecondOrderCoin,
    SmallMargin,
    Variance,
)
from lpsm.samplers.sampler import Sampler

__all__ = ["CATALOGUE", "Entry", "Recipe", "describe", "keys", "make", "options_of", "registry"]

PAPERS = {
    "T": "Monteleoni 2006",
    "W": "Cesa-Bianchi, Gentile and Zaniboni 2004",
    "A": "Cavallanti, Cesa-Bianchi and Gentile 2010",
    "R": "Cesa-Bianchi 2007",
    "D": "Moroshko and Crammer 2014",
    "AROW": "Crammer, Kulesza and Dredze 2009",
    "AG": "Duchi, Hazan and Singer 2011",
    "IU": "Karampatziakis and Langford 2011",
    "IW": "Beygelzimer, Hsu, Langford and Zhang 2010",
}
_KERNEL_PARAMETERS = ("gamma", "degree", "coef0")
_SPELLINGS = {"lambda": "lambda_", "rho_t": "rho"}
LARGEST_MATRIX = 16_384  # rows: 2 GiB of float64


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an entry is made of."""

    learner: Learner
    rule: Rule
    stores: str = "mistakes"
    normalize: bool = False


class Entry(NamedTuple):
    """One algorithm of the catalogue.

    `written` is the key with its parameters and their defaults, `meaning` what the algorithm does, `source`
    the paper and the place in it, `example` a command that uses it, and `recipe` makes it of its parameters.
    """

    written: str
    meaning: str
    source: str
    example: str
    recipe: Callable[..., Recipe]

    @property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """The algorithm's own parameters, with their defaults."""
        return tuple(inspect.signature(self.recipe).parameters.values())


CATALOGUE: dict[str, Entry] = {}


def _enter(*keys: str, source: str, recipe: Callable[..., Recipe], meaning: str) -> None:
    """Enter an algorithm under each of its keys."""
    parameters = inspect.signature(recipe).parameters.values()
    defaults = [f"{p.name.rstrip('_')}={p.default}" for p in parameters if p.default is not None]
    cited = "; ".join(f"{letter}: {PAPERS[letter]}" for letter in PAPERS if re.search(rf"\b{letter}\b(?!')", source))
    for key in keys:
        settings = "".join(f" --param {setting}" for setting in defaults[:1])
        CATALOGUE[key] = Entry(
            written=" ".join((key, *(f"[{setting}]" for setting in defaults))),
            meaning=meaning,
            source=f"{source} ({cited})" if cited else source,
            example=f"lpsm label sms-spam --algorithm {key}{settings}",
            recipe=recipe,
        )


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
    rng: np.random.Generator | None = None,
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
        Draws one uniform a round if the rule is randomised; None for a generator of seed 0.
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
        ``rho_t`` for rho_t.

    Raises
    ------
    ValueError
        If the key or a parameter is unknown, or a parameter is out of its range.

    >>> make("perceptron-ss", 2, b=0.5, rng=np.random.default_rng(0)).decide([3.0, 4.0]).probability
    1.0
    """
    options = options_of(key, n_features, kernel, **params)
    if normalize is not None:
        options["normalize"] = normalize
    return Sampler(
        options.pop("learner"), options.pop("rule"), n_features=n_features, rng=rng, dtype=dtype, key=key,
        max_queries=max_queries, **options,
    )  # fmt: skip


def options_of(key: str, n_features: int, kernel: Any = None, **params: Any) -> dict[str, Any]:
    """Return what a sampler named `key` is made of, as arguments of `Sampler`."""
    entry = _entry(key)
    params = {_SPELLINGS.get(name, name): value for name, value in params.items()}
    of_kernel = {name: params.pop(name) for name in _KERNEL_PARAMETERS if name in params}
    known = [parameter.name for parameter in entry.parameters]
    if unknown := sorted(set(params) - set(known) | (set(of_kernel) if kernel is None else set())):
        raise ValueError(f"{key!r} takes the parameters {known}, got {unknown}")
    recipe = entry.recipe(**params)
    if kernel is None and hasattr(recipe.learner, "recursion") and n_features > LARGEST_MATRIX:
        kernel = "linear"
    return {
        "learner": recipe.learner, "rule": recipe.rule, "stores": recipe.stores, "normalize": recipe.normalize,
        "kernel": as_kernel(kernel, **of_kernel),
    }  # fmt: skip


def _entry(key: str) -> Entry:
    if key not in CATALOGUE:
        near = get_close_matches(str(key).lower(), CATALOGUE, n=1, cutoff=0.0)
        raise ValueError(f"key must be one of lpsm.samplers.keys(); got {shown(key)}, did you mean {near[0]}?")
    return CATALOGUE[key]


# -- the algorithms -------------------------------------------------------------------------------
# fmt: off

_enter("perceptron", source="T section 3.4; W figure 1 without its coin",
       recipe=lambda *, eta=1.0: Recipe(Perceptron(eta=eta), Always()),
       meaning="The Perceptron: margin v.x, and v += eta y x on mistakes; eta > 0.")
_enter("modified-perceptron", source="T figure 3-2; D section 5 with factor 1",
       recipe=lambda *, factor=2.0: Recipe(ModifiedPerceptron(factor=factor), Always(), normalize=True),
       meaning="The modified Perceptron: v -= factor (v.x) x on mistakes, factor in [0, 2]; the first example is v. "
               "Normalised.")
_enter("sop", source="R section 2; W figure 2 without its coin",
       recipe=lambda *, a=1.0: Recipe(LeastSquares(a=a), Always()),
       meaning="The second-order Perceptron: margin p/(1+r); stores mistakes; a > 0.")
_enter("ridge", source="R (1)",
       recipe=lambda *, a=1.0: Recipe(LeastSquares(a=a, includes_instance=False), Always(), "queried"),
       meaning="Ridge regression on the labels: margin p; stores everything; a > 0.")
_enter("rls", source="R (7)",
       recipe=lambda *, a=1.0: Recipe(LeastSquares(a=a), Always(), "queried"),
       meaning="Vovk, Azoury and Warmuth's forward ridge regression: margin p/(1+r); stores everything; a > 0.")
_enter("rls-all", source="A figure 11",
       recipe=lambda *, a=1.0: Recipe(LeastSquares(a=a), Always(), "queried"),
       meaning="The fully supervised baseline: `rls` under the name the sampler's regret is measured against.")
_enter("lasec", source="D figure 1 with a = inf",
       recipe=lambda *, b=1.0, c=100.0: Recipe(Lasec(b=b, c=c), Always()),
       meaning="LASEC, last-step minimax under drift; stores mistakes. 0 < b < c; c = inf is `sop` with a = b, a small "
               "c forgets.")
_enter("shifting-perceptron", source="D section 5 (default its synthetic experiment's)",
       recipe=lambda *, lambda_=0.01: Recipe(ShiftingPerceptron(lambda_=lambda_), Always()),
       meaning="The shifting Perceptron: after k mistakes v = (1 - lambda_k) v + y x, lambda_k = lambda/(lambda + k). "
               "lambda >= 0.")
_enter("randomized-budget-perceptron", source="D section 5 (default its synthetic experiment's)",
       recipe=lambda *, B=500, eta=1.0: Recipe(BudgetPerceptron(B=B, eta=eta), Always()),
       meaning="The randomised budget Perceptron stores at most B >= 1 examples. When full, one drawn uniformly is "
               "evicted before the next is added.")
_enter("perceptron-ss", source="W figure 1; T figure 4-4 (CBGZperc of T table 4.1)",
       recipe=lambda *, b=0.5, eta=1.0: Recipe(Perceptron(eta=eta), Coin(b=b), normalize=True),
       meaning="The selective sampling Perceptron asks with probability b/(b + |margin|) and stores queried mistakes. "
               "b > 0 (the default is W remark 1's for separable data). Normalised.")
_enter("perceptron-ss-adaptive", source="journal version of W (2006)",
       recipe=lambda *, beta=0.5, eta=1.0: Recipe(Perceptron(eta=eta), Coin(b=beta, adaptive=True, symbol="beta")),
       meaning="`perceptron-ss` whose parameter finds its own scale: b_t = beta X_t^2 sqrt(1 + K_t). X_t is the larger "
               "of the norm of x_t and those at updates, K_t the updates so far; beta > 0. Not normalised.")
_enter("sop-ss", source="W figure 2",
       recipe=lambda *, b=0.5, a=1.0: Recipe(LeastSquares(a=a), SecondOrderCoin(b=b), normalize=True),
       meaning="The selective sampling second-order Perceptron asks with probability b/(b + |m| + m^2 (1 + r)/2). m = "
               "p/(1+r), r without the current x; b > 0, and b = inf is `sop`; a > 0 (W takes 1); stores queried "
               "mistakes. Normalised.")
_enter("sop-ss-adaptive", source="journal version of W (2006)",
       recipe=lambda *, beta=0.5, a=1.0:
       Recipe(LeastSquares(a=a), SecondOrderCoin(b=beta, adaptive=True, symbol="beta")),
       meaning="`sop-ss` with b_t = beta X_t^2 sqrt(1 + K_t), as in `perceptron-ss-adaptive`. Not normalised.")
_enter("sop-label-efficient", "sole", source='R section 4; A section 3.1 (SOLE); D figure 2 (its "SOP-SS")',
       recipe=lambda *, C=1.0, a=1.0: Recipe(LeastSquares(a=a), Coin(b=C, symbol="C")),
       meaning="The second-order label-efficient classifier asks with probability C/(C + |m|), m = p/(1+r), C > 0. It "
               "stores queried mistakes.")
_enter("sop-fixed-bias", source="W section 4 and figure 3 (2ND-ORDER-FIXED-BIAS)",
       recipe=lambda *, rate=0.5, a=1.0: Recipe(LeastSquares(a=a), FixedCoin(rate=rate), normalize=True),
       meaning="The second-order Perceptron asks with probability `rate`, whatever the margin; rate 1 is `sop`. "
               "Normalised.")
_enter("lasec-ss", source="D figure 1",
       recipe=lambda *, a=1.0, b=1.0, c=100.0: Recipe(Lasec(b=b, c=c), Coin(b=a, symbol="a")),
       meaning="LASEC-SS asks with probability a/(a + |margin|) on the learner of `lasec`; a > 0, 0 < b < c. c = inf "
               "is `sop-label-efficient` with C = a and regulariser b; a = inf is `lasec`.")
_enter("cbgz-dkm", source="T section 4.6 (CBGZ_DKM)",
       recipe=lambda *, b=0.5, factor=2.0: Recipe(ModifiedPerceptron(factor=factor), Coin(b=b), normalize=True),
       meaning="The coin of `perceptron-ss` with modified updates; the first example is bought. Normalised.")
_enter("random-perceptron", source="T section 4.6 (randPerc)",
       recipe=lambda *, rate=0.5, eta=1.0: Recipe(Perceptron(eta=eta), FixedCoin(rate=rate), normalize=True),
       meaning="A coin of bias `rate` with Perceptron updates. Normalised.")
_enter("random-dkm", source="T section 4.6 (randDKM)",
       recipe=lambda *, rate=0.5, factor=2.0:
       Recipe(ModifiedPerceptron(factor=factor), FixedCoin(rate=rate), normalize=True),
       meaning="A coin of bias `rate` with modified updates; the first example is bought. Normalised.")
_enter("ss", source="A figure 1; R section 4 with c is K = c^2",
       recipe=lambda *, K=1.0, a=1.0: Recipe(LeastSquares(a=a), SmallMargin(K=K), "queried"),
       meaning="SS asks iff m^2 <= |x|^2 K ln t / N, m = p/(1+r), K > 0, and stores every queried example.")
_enter("ssnci", source="A section 3.1",
       recipe=lambda *, K=1.0, a=1.0: Recipe(LeastSquares(a=a, includes_instance=False), SmallMargin(K=K), "queried"),
       meaning="SSNCI is `ss` with margin p: the current instance is not in the inverse. Deviation: A calls its "
               "margins smaller than those of SS; p is larger than p/(1+r).")
_enter("ssmd", source="A section 3.1, step 3'",
       recipe=lambda *, K=1.0, a=1.0: Recipe(LeastSquares(a=a), SmallMargin(K=K)),
       meaning="SSMD is `ss` that stores only queried mistakes; N counts the stored; K = inf is `sop`. Deviation: A's "
               "strict y w.x < 0 would never store a first example; a mistake is prediction != label.")
_enter("ssnl", source="A section 3.1",
       recipe=lambda *, K=1.0, a=1.0: Recipe(LeastSquares(a=a), NextLabel(K=K), "queried"),
       meaning="SSNL: a small margin in round t asks for the label of t + 1; round 1 is asked about.")
_enter("bbq", source="D section 5",
       recipe=lambda *, kappa=0.3, a=1.0: Recipe(LeastSquares(a=a), Variance(kappa=kappa), "queried", normalize=True),
       meaning="BBQ asks iff r/(1+r) > t^-kappa, kappa > 0, with margin p/(1+r), and stores every queried. Normalised.")
_enter("bbq-i", source="D section 5",
       recipe=lambda *, kappa=0.3, a=1.0: Recipe(LeastSquares(a=a), Variance(kappa=kappa), normalize=True),
       meaning="BBQ-I is `bbq` that stores only queried mistakes. Normalised.")
_enter("dkm", source="T figures 3-4 and 4-3 (DKM^2 of T table 4.1)",
       recipe=lambda *, R=10, s_1=1.0, factor=2.0:
       Recipe(ModifiedPerceptron(factor=factor), Halving(R=R, s_1=s_1), normalize=True),
       meaning="DKM asks iff |v.x| <= s_t; s halves after R >= 1 correct labels in a row; modified update on mistakes. "
               "s_1 > 0: 1 in figure 4-3 (default), 1/sqrt(d) in figure 3-4. Normalised; the first example is v.")
_enter("dkm-perceptron", source="T section 4.6 (DKMperc); A's DKMPERC",
       recipe=lambda *, R=10, s_1=1.0, eta=1.0: Recipe(Perceptron(eta=eta), Halving(R=R, s_1=s_1), normalize=True),
       meaning="The threshold of `dkm` with Perceptron updates; v is not normalised, the instances are.")
_enter("adaptive-sampler", source="A figure 12; section 6.3 (step 4'); remark 5 (the coin)",
       recipe=lambda *, lambda_=1.0, rho=None, mistake_driven=False, bias=None, a=1.0:
       Recipe(LeastSquares(a=a), AdaptiveSampler(lambda_=lambda_, rho=rho, mistake_driven=mistake_driven, bias=bias),
              "queried", normalize=True),
       meaning="The adaptive sampler stores while N <= rho_t; then m^2 <= 128 ln t / (lambda N) schedules the next "
               "example. rho_t is a number, a function of t, or None for (16/lambda^2) max(d, ln t); lambda > 0. "
               "`mistake_driven` takes step 4', `bias` remark 5's coin. Normalised.")
_enter("filter", source="A figure 2",
       recipe=lambda *, K=1.0, a=1.0: Recipe(LeastSquares(a=a), Filter(K=K), "queried"),
       meaning="FILTER forwards iff m + |x| sqrt(K ln t / N) >= 0 and stores what it forwards; K > 0.")
_enter("ffoat", source="A section 3.2",
       recipe=lambda *, eta=1.0, count_forced=False:
       Recipe(Perceptron(eta=eta), AppleTasting(count_forced=count_forced)),
       meaning="FFOAT is apple tasting on the Perceptron: it updates iff the sign was wrong. It forwards what looks "
               "positive, the rest with probability min(1, sqrt((1+mu)/t)), mu the classifier's own false positives so "
               "far, or with `count_forced` all of them.")
_enter("fsoat", source="A section 3.2",
       recipe=lambda *, a=1.0, count_forced=False: Recipe(LeastSquares(a=a), AppleTasting(count_forced=count_forced)),
       meaning="FSOAT is apple tasting, as `ffoat`, on the second-order Perceptron.")
_enter("ffole", source="A section 3.2",
       recipe=lambda *, C=1.0, eta=1.0: Recipe(Perceptron(eta=eta), LabelEfficientFilter(C=C)),
       meaning="FFOLE: the Perceptron forwards what looks positive, and the rest with probability C/(C + |v.x|).")
_enter("fsole", source="A section 3.2",
       recipe=lambda *, C=1.0, a=1.0: Recipe(LeastSquares(a=a), LabelEfficientFilter(C=C)),
       meaning="FSOLE does as `ffole` on the second-order Perceptron, with |p/(1+r)| in the coin.")
_enter("arow", source="AROW figure 1",
       recipe=lambda *, r=1.0: Recipe(LeastSquares(a=r, includes_instance=False), Always(), "small margins"),
       meaning="AROW asks for everything and learns wherever y p < 1, p = w.x; r > 0. It is ridge regression with a = "
               "r on the examples that it stores.")
_enter("arow-diagonal", source="AROW figure 1, with the diagonal of the matrix alone",
       recipe=lambda *, r=1.0: Recipe(DiagonalArow(r=r), Always(), "small margins"),
       meaning="AROW that keeps the diagonal of its matrix: as quick as a Perceptron, in any number of features; r > "
               "0.")
_enter("adagrad", source="AG figure 1; IU, the update for the hinge loss",
       recipe=lambda *, eta=0.5: Recipe(AdaGrad(eta=eta), Always(), "small margins"),
       meaning="AdaGrad on the hinge loss, by steps that never carry the margin beyond 1; asks for everything; eta > "
               "0.")
_enter("arow-ss", source="AROW figure 1 with the coin of W figure 1",
       recipe=lambda *, b=0.1, r=1.0: Recipe(LeastSquares(a=r, includes_instance=False), Coin(b=b), "small margins"),
       meaning="`arow` that asks with probability b/(b + |p|); b > 0. A combination of ours: no paper has it.")
_enter("arow-diagonal-ss", source="AROW figure 1 with the coin of W figure 1",
       recipe=lambda *, b=0.1, r=1.0: Recipe(DiagonalArow(r=r), Coin(b=b), "small margins"),
       meaning="`arow-diagonal` that asks with probability b/(b + |p|); b > 0. A combination of ours: no paper has it.")
_enter("adagrad-ss", source="AG figure 1 and IU, the update for the hinge loss, with the coin of W figure 1",
       recipe=lambda *, b=0.1, eta=0.5: Recipe(AdaGrad(eta=eta), Coin(b=b), "small margins"),
       meaning="`adagrad` that asks with probability b/(b + |p|); b > 0. A combination of ours: no paper has it.")
_enter("iwal", source="IW algorithm 1 on `adagrad`, with G_t and weighted labels as in IU",
       recipe=lambda *, c_0=0.0001, floor=0.01, eta=0.5:
       Recipe(AdaGrad(eta=eta), ImportanceWeighted(c_0=c_0, floor=floor), "small margins"),
       meaning="Importance-weighted questions: G_t decides on the probability, a label of probability P counts 1/P; "
               "c_0 > 0. G_t is the weight of a label that would turn the prediction, over t; `floor` in (0, 1] is the "
               "least probability. A combination after IW and IU, without their theorems on labels and consistency.")
