"""The entries of the catalogue: every algorithm of the five papers.

What it models: key = learner + query rule + what is stored.  Each function below takes an
algorithm's own parameters; its docstring names the paper, the figure and the parameters
by symbol.  Papers: T Monteleoni 2006; W Cesa-Bianchi, Gentile and Zaniboni 2004; A
Cavallanti, Cesa-Bianchi and Gentile 2010; R Cesa-Bianchi 2007; D Moroshko and Crammer
2014.  Notation: p = w.x, r = x'A^-1 x, m the margin, N examples stored so far.
What it leaves out: best values.  A default is the paper's where the docstring says so;
elsewhere the papers tune it, and the default is merely a place to start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lpsm.samplers.learners import (
    BudgetPerceptron,
    Lasec,
    LeastSquares,
    MarginLearner,
    ModifiedPerceptron,
    Perceptron,
    ShiftingPerceptron,
)
from lpsm.samplers.rules import (
    AdaptiveSampler,
    Always,
    AppleTasting,
    Coin,
    Filter,
    FixedCoin,
    Halving,
    LabelEfficientFilter,
    NextLabel,
    QueryRule,
    Schedule,
    SecondOrderCoin,
    SmallMargin,
    Variance,
)

__all__ = ["CATALOGUE", "Entry", "Recipe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What an entry is made of."""

    learner: MarginLearner
    rule: QueryRule
    stores: str = "mistakes"
    normalize: bool = False


Entry = Callable[..., Recipe]
CATALOGUE: dict[str, Entry] = {}


def _key(*names: str) -> Callable[[Entry], Entry]:
    def register(entry: Entry) -> Entry:
        CATALOGUE.update(dict.fromkeys(names, entry))
        return entry

    return register


# -- learners that ask for every label -------------------------------------------------------------


@_key("perceptron")
def _perceptron(*, eta: float = 1.0) -> Recipe:
    """Perceptron; T section 3.4, W figure 1 without its coin.  Margin v.x, v += eta y x on mistakes; eta > 0."""
    return Recipe(learner=Perceptron(eta=eta), rule=Always())


@_key("modified-perceptron")
def _modified_perceptron(*, factor: float = 2.0) -> Recipe:
    """Modified Perceptron; T figure 3-2, and D section 5 with factor 1.

    v -= factor (v.x) x on mistakes, factor in [0, 2]; the first example is v.  Normalised.
    """
    return Recipe(learner=ModifiedPerceptron(factor=factor), rule=Always(), normalize=True)


@_key("sop")
def _sop(*, a: float = 1.0) -> Recipe:
    """Second-order Perceptron; R section 2, W figure 2 without its coin.  Margin p/(1+r); stores mistakes; a > 0."""
    return Recipe(learner=LeastSquares(a=a), rule=Always())


@_key("ridge")
def _ridge(*, a: float = 1.0) -> Recipe:
    """Ridge regression on the labels; R (1).  Margin p; stores everything; a > 0."""
    return Recipe(learner=LeastSquares(a=a, includes_instance=False), rule=Always(), stores="queried")


@_key("rls")
def _rls(*, a: float = 1.0) -> Recipe:
    """Vovk, Azoury and Warmuth's forward ridge regression; R (7).  Margin p/(1+r); stores everything; a > 0."""
    return Recipe(learner=LeastSquares(a=a), rule=Always(), stores="queried")


@_key("rls-all")
def _rls_all(*, a: float = 1.0) -> Recipe:
    """The fully supervised baseline; A figure 11: `rls` under the name the sampler's regret is measured against."""
    return _rls(a=a)


@_key("lasec")
def _lasec(*, b: float = 1.0, c: float = 100.0) -> Recipe:
    """LASEC, last-step minimax under drift; D figure 1 with a = inf.

    0 < b < c; c = inf is `sop` with a = b, a small c forgets.  Stores mistakes.
    """
    return Recipe(learner=Lasec(b=b, c=c), rule=Always())


@_key("shifting-perceptron")
def _shifting_perceptron(*, lambda_: float = 0.01) -> Recipe:
    """Shifting Perceptron; D section 5 (default its synthetic experiment's).

    After k mistakes v = (1 - lambda_k) v + y x, lambda_k = lambda/(lambda + k); lambda >= 0.
    """
    return Recipe(learner=ShiftingPerceptron(lambda_=lambda_), rule=Always())


@_key("randomized-budget-perceptron")
def _randomized_budget_perceptron(*, B: int = 500, eta: float = 1.0) -> Recipe:
    """Randomized Budget Perceptron; D section 5 (default its synthetic experiment's).

    At most B >= 1 stored examples; when full, one drawn uniformly is evicted before the next is added.
    """
    return Recipe(learner=BudgetPerceptron(B=B, eta=eta), rule=Always())


# -- coins -------------------------------------------------------------------------------------------


@_key("perceptron-ss")
def _perceptron_ss(*, b: float = 0.5, eta: float = 1.0) -> Recipe:
    """Selective sampling Perceptron; W figure 1, T figure 4-4 (CBGZperc of T table 4.1).

    Asks with probability b/(b + |margin|), b > 0 (default: W remark 1 for separable data);
    stores queried mistakes.  Normalised.
    """
    return Recipe(learner=Perceptron(eta=eta), rule=Coin(b=b), normalize=True)


@_key("perceptron-ss-adaptive")
def _perceptron_ss_adaptive(*, beta: float = 0.5, eta: float = 1.0) -> Recipe:
    """`perceptron-ss` with b_t = beta X_t^2 sqrt(1 + K_t); journal version of W (2006).

    X_t: the larger of the norm of x_t and those at updates; K_t: updates so far; beta > 0.  Not normalised.
    """
    return Recipe(learner=Perceptron(eta=eta), rule=Coin(b=beta, adaptive=True, symbol="beta"))


@_key("sop-ss")
def _sop_ss(*, b: float = 0.5, a: float = 1.0) -> Recipe:
    """Selective sampling second-order Perceptron; W figure 2.

    Asks with probability b/(b + |m| + m^2 (1 + r)/2), m = p/(1+r), r without the current x;
    b > 0, b = inf is `sop`; a > 0 (W: 1); stores queried mistakes.  Normalised.
    """
    return Recipe(learner=LeastSquares(a=a), rule=SecondOrderCoin(b=b), normalize=True)


@_key("sop-ss-adaptive")
def _sop_ss_adaptive(*, beta: float = 0.5, a: float = 1.0) -> Recipe:
    """`sop-ss` with b_t = beta X_t^2 sqrt(1 + K_t), as `perceptron-ss-adaptive`.  Not normalised."""
    return Recipe(learner=LeastSquares(a=a), rule=SecondOrderCoin(b=beta, adaptive=True, symbol="beta"))


@_key("sop-label-efficient", "sole")
def _sop_label_efficient(*, C: float = 1.0, a: float = 1.0) -> Recipe:
    """Second-order label-efficient classifier, SOLE; R section 4, A section 3.1, D figure 2 (its "SOP-SS").

    Asks with probability C/(C + |m|), m = p/(1+r), C > 0; stores queried mistakes.
    """
    return Recipe(learner=LeastSquares(a=a), rule=Coin(b=C, symbol="C"))


@_key("sop-fixed-bias")
def _sop_fixed_bias(*, rate: float = 0.5, a: float = 1.0) -> Recipe:
    """2ND-ORDER-FIXED-BIAS; W section 4, figure 3.  Asks with probability `rate`; rate 1 is `sop`.  Normalised."""
    return Recipe(learner=LeastSquares(a=a), rule=FixedCoin(rate=rate), normalize=True)


@_key("lasec-ss")
def _lasec_ss(*, a: float = 1.0, b: float = 1.0, c: float = 100.0) -> Recipe:
    """LASEC-SS; D figure 1.  Asks with probability a/(a + |margin|) on `lasec`; a > 0, 0 < b < c.

    c = inf is `sop-label-efficient` with C = a and regulariser b; a = inf is `lasec`.
    """
    return Recipe(learner=Lasec(b=b, c=c), rule=Coin(b=a, symbol="a"))


# -- thresholds --------------------------------------------------------------------------------------


@_key("ss")
def _ss(*, K: float = 1.0, a: float = 1.0) -> Recipe:
    """SS; A figure 1; R section 4 with c is K = c^2.

    Asks iff m^2 <= |x|^2 K ln t / N, m = p/(1+r), K > 0; stores every queried example.
    """
    return Recipe(learner=LeastSquares(a=a), rule=SmallMargin(K=K), stores="queried")


@_key("ssnci")
def _ssnci(*, K: float = 1.0, a: float = 1.0) -> Recipe:
    """SSNCI; A section 3.1: `ss` with margin p, the current instance not in the inverse.

    Deviation: A calls its margins smaller than those of SS; p is larger than p/(1+r).
    """
    learner = LeastSquares(a=a, includes_instance=False)
    return Recipe(learner=learner, rule=SmallMargin(K=K), stores="queried")


@_key("ssmd")
def _ssmd(*, K: float = 1.0, a: float = 1.0) -> Recipe:
    """SSMD; A section 3.1, step 3': `ss` that stores only queried mistakes; N counts the stored; K = inf is `sop`.

    Deviation: A's strict y w.x < 0 would never store a first example; a mistake is prediction != label.
    """
    return Recipe(learner=LeastSquares(a=a), rule=SmallMargin(K=K))


@_key("ssnl")
def _ssnl(*, K: float = 1.0, a: float = 1.0) -> Recipe:
    """SSNL; A section 3.1: a small margin in round t asks for the label of t + 1; asks in round 1."""
    return Recipe(learner=LeastSquares(a=a), rule=NextLabel(K=K), stores="queried")


@_key("adaptive-sampler")
def _adaptive_sampler(
    *,
    lambda_: float = 1.0,
    rho: float | Schedule | None = None,
    mistake_driven: bool = False,
    bias: float | Schedule | None = None,
    a: float = 1.0,
) -> Recipe:
    """Adaptive sampler; A figure 12; step 4' of section 6.3 if `mistake_driven`; remark 5's coin if `bias` is given.

    Stores while N <= rho_t (a number, a function of t, or None for (16/lambda^2) max(d, ln t));
    then m^2 <= 128 ln t / (lambda N) schedules the next example; lambda > 0.  Normalised.
    """
    rule = AdaptiveSampler(lambda_=lambda_, rho=rho, mistake_driven=mistake_driven, bias=bias)
    return Recipe(learner=LeastSquares(a=a), rule=rule, stores="queried", normalize=True)


@_key("bbq")
def _bbq(*, kappa: float = 0.3, a: float = 1.0) -> Recipe:
    """BBQ; D section 5.  Asks iff r/(1+r) > t^-kappa, kappa > 0; margin p/(1+r); stores every queried.  Normalised."""
    return Recipe(learner=LeastSquares(a=a), rule=Variance(kappa=kappa), stores="queried", normalize=True)


@_key("bbq-i")
def _bbq_i(*, kappa: float = 0.3, a: float = 1.0) -> Recipe:
    """BBQ-I; D section 5: `bbq` that stores only queried mistakes.  Normalised."""
    return Recipe(learner=LeastSquares(a=a), rule=Variance(kappa=kappa), normalize=True)


# -- the six pairings of T table 4.1 (perceptron-ss is CBGZperc) ----------------------------------------


@_key("dkm")
def _dkm(*, R: int = 10, s_1: float = 1.0, factor: float = 2.0) -> Recipe:
    """DKM (DKM^2 of T table 4.1); T figures 3-4 and 4-3.

    Asks iff |v.x| <= s_t; s halves after R >= 1 correct labels in a row; modified update on mistakes.
    s_1 > 0: 1 in figure 4-3 (default), 1/sqrt(d) in figure 3-4.  Normalised; the first example is v.
    """
    return Recipe(learner=ModifiedPerceptron(factor=factor), rule=Halving(R=R, s_1=s_1), normalize=True)


@_key("dkm-perceptron")
def _dkm_perceptron(*, R: int = 10, s_1: float = 1.0, eta: float = 1.0) -> Recipe:
    """DKMperc; T section 4.6, A's DKMPERC: the threshold of `dkm`, Perceptron updates (v not normalised)."""
    return Recipe(learner=Perceptron(eta=eta), rule=Halving(R=R, s_1=s_1), normalize=True)


@_key("cbgz-dkm")
def _cbgz_dkm(*, b: float = 0.5, factor: float = 2.0) -> Recipe:
    """CBGZ_DKM; T section 4.6: the coin of `perceptron-ss`, modified updates; the first example is bought."""
    return Recipe(learner=ModifiedPerceptron(factor=factor), rule=Coin(b=b), normalize=True)


@_key("random-perceptron")
def _random_perceptron(*, rate: float = 0.5, eta: float = 1.0) -> Recipe:
    """randPerc; T section 4.6: a coin of bias `rate`, Perceptron updates."""
    return Recipe(learner=Perceptron(eta=eta), rule=FixedCoin(rate=rate), normalize=True)


@_key("random-dkm")
def _random_dkm(*, rate: float = 0.5, factor: float = 2.0) -> Recipe:
    """randDKM; T section 4.6: a coin of bias `rate`, modified updates; the first example is bought."""
    return Recipe(learner=ModifiedPerceptron(factor=factor), rule=FixedCoin(rate=rate), normalize=True)


# -- filters: the label is seen only if the instance is forwarded, which is predicting +1 ---------------


@_key("filter")
def _filter(*, K: float = 1.0, a: float = 1.0) -> Recipe:
    """FILTER; A figure 2.  Forwards iff m + |x| sqrt(K ln t / N) >= 0; stores what it forwards; K > 0."""
    return Recipe(learner=LeastSquares(a=a), rule=Filter(K=K), stores="queried")


@_key("ffoat")
def _ffoat(*, eta: float = 1.0) -> Recipe:
    """FFOAT; A section 3.2: apple tasting on the Perceptron.

    Forwards what looks positive, the rest with probability min(1, sqrt((1+mu)/t)), mu false
    positives so far; updates iff the sign was wrong.
    """
    return Recipe(learner=Perceptron(eta=eta), rule=AppleTasting())


@_key("fsoat")
def _fsoat(*, a: float = 1.0) -> Recipe:
    """FSOAT; A section 3.2: apple tasting, as `ffoat`, on the second-order Perceptron."""
    return Recipe(learner=LeastSquares(a=a), rule=AppleTasting())


@_key("ffole")
def _ffole(*, C: float = 1.0, eta: float = 1.0) -> Recipe:
    """FFOLE; A section 3.2: the Perceptron forwards what looks positive, the rest with probability C/(C + |v.x|)."""
    return Recipe(learner=Perceptron(eta=eta), rule=LabelEfficientFilter(C=C))


@_key("fsole")
def _fsole(*, C: float = 1.0, a: float = 1.0) -> Recipe:
    """FSOLE; A section 3.2: as `ffole` on the second-order Perceptron, |p/(1+r)| in the coin."""
    return Recipe(learner=LeastSquares(a=a), rule=LabelEfficientFilter(C=C))
