"""Coins: ask with a probability that falls with the margin, or with one that is fixed.

Each rule is a record of its parameters beside its compiled probability; the algorithms of the papers
that use it follow.  What it leaves out: what happens with the answer.
Sources: Cesa-Bianchi et al. 2004 (W) figures 1, 2 and section 4; Cavallanti et al. 2010 (A) section 3.1;
Moroshko and Crammer 2014 (D) figure 1; Monteleoni 2006 (T) section 4.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, sqrt
from typing import Any

from numpy.typing import NDArray

from lpsm._compile import compiled
from lpsm.checks import between, positive
from lpsm.samplers import layout
from lpsm.samplers.algorithms.learners import Lasec, LeastSquares, ModifiedPerceptron, Perceptron
from lpsm.samplers.algorithms.recipes import Recipe, registered
from lpsm.samplers.layout import LARGEST_SQUARE, STORED, Plan

__all__ = ["Coin", "FixedCoin", "SecondOrderCoin"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coin:
    """Ask with probability b/(b + |margin|) (W figure 1); b = inf always asks.

    If `adaptive`, b is beta in b_t = beta X_t^2 sqrt(1 + K_t): X_t the larger of the norm of x_t and the
    norms at earlier updates, K_t the updates so far (W's journal version).  `symbol` is b's name in messages.
    """

    b: float = 0.5
    adaptive: bool = False
    symbol: str = "b"

    def __post_init__(self) -> None:
        positive(False, **{self.symbol: self.b})

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.COIN, "theta": self.b, "adaptive": self.adaptive}


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondOrderCoin:
    """Ask with probability b/(b + |m| + m^2 (1 + x'A^-1 x)/2) (W figure 2, (3)); `adaptive` as in `Coin`."""

    b: float = 0.5
    adaptive: bool = False
    symbol: str = "b"

    def __post_init__(self) -> None:
        positive(False, **{self.symbol: self.b})

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.SECOND_ORDER_COIN, "theta": self.b, "adaptive": self.adaptive}


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedCoin:
    """Ask with probability `rate`, whatever the margin (W section 4, T section 4.6)."""

    rate: float = 0.5

    def __post_init__(self) -> None:
        between(0.0, 1.0, rate=self.rate)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.FIXED_COIN, "theta": self.rate}


@compiled
def coin(parameter: float, q: float) -> float:
    """parameter/(parameter + q), 1 at an infinite parameter."""
    return 1.0 if isinf(parameter) else parameter / (parameter + q)


@compiled
def coin_probability(
    plan: Plan, counts: NDArray[Any], scalars: NDArray[Any], p: float, r: float, m: float, norm2: float
) -> float:
    """Probability of `Coin` and of `SecondOrderCoin`, whose |m| + m^2 (1 + r)/2 has m = p/(1+r)."""
    parameter = plan.theta
    if plan.adaptive:
        parameter *= max(norm2, scalars[LARGEST_SQUARE]) * sqrt(1.0 + counts[STORED])
        if parameter == 0.0:
            return 1.0  # only zero instances so far: the margin is 0 as well
    if plan.rule == layout.COIN:
        return coin(parameter, abs(m))
    return coin(parameter, (abs(p) + 0.5 * p * p) / (1.0 + r))


@registered("perceptron-ss", source="W figure 1; T figure 4-4 (CBGZperc of T table 4.1)")
def _perceptron_ss(*, b: float = 0.5, eta: float = 1.0) -> Recipe:
    """The selective sampling Perceptron asks with probability b/(b + |margin|) and stores queried mistakes.

    b > 0 (the default is W remark 1's for separable data).  Normalised.
    """
    return Recipe(learner=Perceptron(eta=eta), rule=Coin(b=b), normalize=True)


@registered("perceptron-ss-adaptive", source="journal version of W (2006)")
def _perceptron_ss_adaptive(*, beta: float = 0.5, eta: float = 1.0) -> Recipe:
    """`perceptron-ss` whose parameter finds its own scale: b_t = beta X_t^2 sqrt(1 + K_t).

    X_t is the larger of the norm of x_t and those at updates, K_t the updates so far; beta > 0.  Not normalised.
    """
    return Recipe(learner=Perceptron(eta=eta), rule=Coin(b=beta, adaptive=True, symbol="beta"))


@registered("sop-ss", source="W figure 2")
def _sop_ss(*, b: float = 0.5, a: float = 1.0) -> Recipe:
    """The selective sampling second-order Perceptron asks with probability b/(b + |m| + m^2 (1 + r)/2).

    m = p/(1+r), r without the current x; b > 0, and b = inf is `sop`; a > 0 (W takes 1); stores queried
    mistakes.  Normalised.
    """
    return Recipe(learner=LeastSquares(a=a), rule=SecondOrderCoin(b=b), normalize=True)


@registered("sop-ss-adaptive", source="journal version of W (2006)")
def _sop_ss_adaptive(*, beta: float = 0.5, a: float = 1.0) -> Recipe:
    """`sop-ss` with b_t = beta X_t^2 sqrt(1 + K_t), as in `perceptron-ss-adaptive`.  Not normalised."""
    return Recipe(learner=LeastSquares(a=a), rule=SecondOrderCoin(b=beta, adaptive=True, symbol="beta"))


@registered("sop-label-efficient", "sole", source='R section 4; A section 3.1 (SOLE); D figure 2 (its "SOP-SS")')
def _sop_label_efficient(*, C: float = 1.0, a: float = 1.0) -> Recipe:
    """The second-order label-efficient classifier asks with probability C/(C + |m|), m = p/(1+r), C > 0.

    It stores queried mistakes.
    """
    return Recipe(learner=LeastSquares(a=a), rule=Coin(b=C, symbol="C"))


@registered("sop-fixed-bias", source="W section 4 and figure 3 (2ND-ORDER-FIXED-BIAS)")
def _sop_fixed_bias(*, rate: float = 0.5, a: float = 1.0) -> Recipe:
    """The second-order Perceptron asks with probability `rate`, whatever the margin; rate 1 is `sop`.  Normalised."""
    return Recipe(learner=LeastSquares(a=a), rule=FixedCoin(rate=rate), normalize=True)


@registered("lasec-ss", source="D figure 1")
def _lasec_ss(*, a: float = 1.0, b: float = 1.0, c: float = 100.0) -> Recipe:
    """LASEC-SS asks with probability a/(a + |margin|) on the learner of `lasec`; a > 0, 0 < b < c.

    c = inf is `sop-label-efficient` with C = a and regulariser b; a = inf is `lasec`.
    """
    return Recipe(learner=Lasec(b=b, c=c), rule=Coin(b=a, symbol="a"))


# Of the six pairings of T table 4.1 `perceptron-ss` is CBGZperc, `dkm` and `dkm-perceptron` are thresholds.


@registered("cbgz-dkm", source="T section 4.6 (CBGZ_DKM)")
def _cbgz_dkm(*, b: float = 0.5, factor: float = 2.0) -> Recipe:
    """The coin of `perceptron-ss` with modified updates; the first example is bought.  Normalised."""
    return Recipe(learner=ModifiedPerceptron(factor=factor), rule=Coin(b=b), normalize=True)


@registered("random-perceptron", source="T section 4.6 (randPerc)")
def _random_perceptron(*, rate: float = 0.5, eta: float = 1.0) -> Recipe:
    """A coin of bias `rate` with Perceptron updates.  Normalised."""
    return Recipe(learner=Perceptron(eta=eta), rule=FixedCoin(rate=rate), normalize=True)


@registered("random-dkm", source="T section 4.6 (randDKM)")
def _random_dkm(*, rate: float = 0.5, factor: float = 2.0) -> Recipe:
    """A coin of bias `rate` with modified updates; the first example is bought.  Normalised."""
    return Recipe(learner=ModifiedPerceptron(factor=factor), rule=FixedCoin(rate=rate), normalize=True)
