"""Query rules: when the label is asked for.

What it models: coins whose bias falls with the margin, thresholds on the margin or on
its variance, questions about the next label, and filters, which see a label only if they
forward the instance.  Each rule is a record of its parameters; `questions` computes.
What it leaves out: what happens with the answer, beside the rule's own counters.
Sources: Cesa-Bianchi et al. 2004 (W) figures 1, 2 and section 4; Cavallanti et al. 2010
(A) figures 1, 2, 12 and sections 3.1, 3.2, 5, 6.3; Moroshko and Crammer 2014 (D) section
5; Monteleoni 2006 (T) sections 3.6, 4.6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan

from lpsm.samplers import layout
from lpsm.samplers.checks import at_least, between, positive

__all__ = [
    "AdaptiveSampler",
    "Always",
    "AppleTasting",
    "Coin",
    "Filter",
    "FixedCoin",
    "Halving",
    "LabelEfficientFilter",
    "NextLabel",
    "QueryRule",
    "SecondOrderCoin",
    "SmallMargin",
    "Variance",
]

Schedule = Callable[[int], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Always:
    """Ask for every label."""

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.ALWAYS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Coin:
    """Ask with probability b/(b + |margin|) (W figure 1); b = inf always asks.

    If `adaptive`, b is beta in b_t = beta X_t^2 sqrt(1 + K_t): X_t the larger of the
    norm of x_t and the norms at earlier updates, K_t the updates so far.
    """

    b: float = 0.5
    adaptive: bool = False
    symbol: str = "b"

    def __post_init__(self) -> None:
        positive(self.symbol, self.b, finite=False)

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
        positive(self.symbol, self.b, finite=False)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.SECOND_ORDER_COIN, "theta": self.b, "adaptive": self.adaptive}


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedCoin:
    """Ask with probability `rate`, whatever the margin (W section 4, T section 4.6)."""

    rate: float = 0.5

    def __post_init__(self) -> None:
        between("rate", self.rate, 0.0, 1.0)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.FIXED_COIN, "theta": self.rate}


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallMargin:
    """Ask if margin^2 <= |x|^2 K ln t / N, N stored so far (A figure 1); R section 4 is K = c^2."""

    K: float = 1.0

    def __post_init__(self) -> None:
        positive("K", self.K, finite=False)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.SMALL_MARGIN, "theta": self.K}


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLabel:
    """A small margin in round t asks for the label of round t + 1 (A section 3.1); the first label is asked for."""

    K: float = 1.0

    def __post_init__(self) -> None:
        positive("K", self.K, finite=False)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.NEXT_LABEL, "theta": self.K}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveSampler:
    """A figure 12: ask while N <= rho_t, then for the next label after margin^2 <= 128 ln t / (lambda N).

    Parameters
    ----------
    lambda_
        Smallest eigenvalue of the instances' correlation matrix, positive.
    rho
        rho_t as a constant or a function of t; None for Theorem 2's
        (16/lambda^2) max(d, ln t).
    mistake_driven
        Step 4' of section 6.3: a small margin buys y_t, and the next label if y_t was
        a mistake.
    bias
        If given, Remark 5: a coin of this bias (a constant or a function of t) stands in
        for the margin of step 4.
    """

    lambda_: float = 1.0
    rho: float | Schedule | None = None
    mistake_driven: bool = False
    bias: float | Schedule | None = None

    def __post_init__(self) -> None:
        positive("lambda", self.lambda_)
        if isinstance(self.rho, int | float) and (isnan(self.rho) or self.rho < 0.0):
            raise ValueError(f"rho must be non-negative, got {self.rho}")
        if isinstance(self.bias, int | float):
            between("bias", self.bias, 0.0, 1.0)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        code = layout.ADAPTIVE_SAMPLER if self.bias is None else layout.ADAPTIVE_COIN
        return {"rule": code, "theta": self.lambda_, "mistake_driven": self.mistake_driven}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance:
    """Ask if x'(A + x x')^-1 x > t^-kappa, that is r/(1+r) (D section 5: BBQ)."""

    kappa: float = 0.3

    def __post_init__(self) -> None:
        positive("kappa", self.kappa)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.VARIANCE, "theta": self.kappa}


@dataclass(frozen=True, slots=True, kw_only=True)
class Halving:
    """Ask if |margin| <= s_t; s halves after R correct labels in a row (T figures 3-4 and 4-3)."""

    R: int = 10
    s_1: float = 1.0

    def __post_init__(self) -> None:
        at_least("R", self.R, 1)
        positive("s_1", self.s_1)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.HALVING, "theta": self.R}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Forward if margin + |x| sqrt(K ln t / N) >= 0 (A figure 2)."""

    K: float = 1.0

    def __post_init__(self) -> None:
        positive("K", self.K, finite=False)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.FILTER, "theta": self.K}


@dataclass(frozen=True, slots=True, kw_only=True)
class AppleTasting:
    """Forward what looks positive, and the rest with probability min(1, sqrt((1+mu)/t)) (A section 3.2).

    mu is the number of false positives so far, forced ones included.
    """

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.APPLE_TASTING}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelEfficientFilter:
    """Forward what looks positive, and the rest with probability C/(C + |margin|) (A section 3.2)."""

    C: float = 1.0

    def __post_init__(self) -> None:
        positive("C", self.C, finite=False)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"rule": layout.LABEL_EFFICIENT_FILTER, "theta": self.C}


QueryRule = (
    Always
    | Coin
    | SecondOrderCoin
    | FixedCoin
    | SmallMargin
    | NextLabel
    | AdaptiveSampler
    | Variance
    | Halving
    | Filter
    | AppleTasting
    | LabelEfficientFilter
)

RANDOMIZED = frozenset(
    (
        layout.COIN,
        layout.SECOND_ORDER_COIN,
        layout.FIXED_COIN,
        layout.ADAPTIVE_COIN,
        layout.APPLE_TASTING,
        layout.LABEL_EFFICIENT_FILTER,
    )
)
