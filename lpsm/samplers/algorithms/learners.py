"""Margin learners: what is predicted, and what a stored example changes.

What it models: the first-order learners (one vector) and the second-order ones (a
regularised least-squares estimate); each is a record of its parameters.  What it
leaves out: which examples are stored (`recipes`), the arithmetic (`compiled.rounds`).
Sources: Cesa-Bianchi et al. 2004 (W) figures 1, 2; Cesa-Bianchi 2007 (R) section 2;
Moroshko and Crammer 2014 (D) figure 1 and section 5; Monteleoni 2006 (T) figure 3-2.
"""

from __future__ import annotations

from dataclasses import dataclass

from lpsm.checks import between, non_negative, number, positive, shown, whole
from lpsm.samplers import layout

__all__ = [
    "AdaGrad",
    "BudgetPerceptron",
    "DiagonalArow",
    "Lasec",
    "LeastSquares",
    "ModifiedPerceptron",
    "Perceptron",
    "ShiftingPerceptron",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Perceptron:
    """Margin v.x; v += eta y x (W figure 1, T section 3.4).  Only the ratio of eta to the rule's b matters."""

    eta: float = 1.0

    def __post_init__(self) -> None:
        positive(eta=self.eta)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"learner": layout.PERCEPTRON, "step": self.eta}


@dataclass(frozen=True, slots=True, kw_only=True)
class ModifiedPerceptron:
    """Margin v.x; v -= factor (v.x) x, started from v = x y (T figure 3-2 with factor 2; D section 5 with factor 1).

    On unit vectors factor 2 is a reflection: the norm of v stays 1.
    """

    factor: float = 2.0

    def __post_init__(self) -> None:
        between(0.0, 2.0, factor=self.factor)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"learner": layout.MODIFIED, "step": self.factor}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShiftingPerceptron:
    """Margin v.x; after k updates v = (1 - lambda_k) v + y x, lambda_k = lambda/(lambda + k) (D section 5)."""

    lambda_: float = 0.01

    def __post_init__(self) -> None:
        non_negative(**{"lambda": self.lambda_})

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"learner": layout.SHIFTING, "step": self.lambda_}


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPerceptron:
    """A Perceptron on at most B stored examples: when full, one drawn uniformly goes first (D section 5)."""

    B: int = 500
    eta: float = 1.0

    def __post_init__(self) -> None:
        whole(1, B=self.B)
        positive(eta=self.eta)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"learner": layout.BUDGET, "step": self.eta}


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastSquares:
    """Regularised least squares with a > 0: margin p/(1+r) if the current instance is in the inverse, else p.

    R (1) and (7), W figure 2, A equation (1).  As a grows, a p approaches the
    Perceptron's margin.
    """

    a: float = 1.0
    includes_instance: bool = True

    def __post_init__(self) -> None:
        positive(a=self.a)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {
            "learner": layout.SECOND_ORDER,
            "ridge": 1.0 / self.a,
            "includes_instance": self.includes_instance,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Lasec:
    """Last-step minimax under drift, 0 < b < c (D figure 1); c = inf is `LeastSquares` with a = b."""

    b: float = 1.0
    c: float = 100.0

    def __post_init__(self) -> None:
        positive(b=self.b)
        if not self.b < number("c", self.c):
            raise ValueError(f"c must be larger than b = {self.b}, got {shown(self.c)}")

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {
            "learner": layout.SECOND_ORDER,
            "ridge": 1.0 / self.b,
            "drift": 1.0 / self.c,
            "includes_instance": True,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagonalArow:
    """AROW with a diagonal matrix S, 1 at first: w += y S x loss/(x'S x + r), and S loses the diagonal of its update.

    Crammer, Kulesza and Dredze 2009, figure 1; loss = max(0, 1 - y w.x).
    """

    r: float = 1.0

    def __post_init__(self) -> None:
        positive(r=self.r)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"learner": layout.DIAGONAL, "step": self.r}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaGrad:
    """AdaGrad on the hinge loss: w += s y D x, D = 1/sqrt(sums of x_j^2 at updates), s = min(eta h, loss/x'D x).

    h is the weight of the label.  Duchi, Hazan and Singer 2011, figure 1; Karampatziakis and Langford 2011, section 4.
    """

    eta: float = 0.5

    def __post_init__(self) -> None:
        positive(eta=self.eta)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"learner": layout.ADAGRAD, "step": self.eta}
