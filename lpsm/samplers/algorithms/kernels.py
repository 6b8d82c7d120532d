"""Kernels: k(x, z) linear, radial, polynomial or any callable, for the dual forms of the learners.

What it leaves out: choosing a kernel's parameters, and the stored instances (`compiled.memory`).
Source: Cesa-Bianchi et al. 2004, remark 2; Cavallanti et al. 2010, section 2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from lpsm.checks import positive
from lpsm.samplers import layout
from lpsm.samplers.layout import State, Work

__all__ = ["CallableKernel", "Kernel", "Linear", "Polynomial", "Radial", "as_kernel"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Linear:
    """k(x, z) = x.z: the dual form of the primal learner."""

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"form": layout.LINEAR}


@dataclass(frozen=True, slots=True, kw_only=True)
class Radial:
    """k(x, z) = exp(-gamma |x - z|^2)."""

    gamma: float = 1.0

    def __post_init__(self) -> None:
        positive(gamma=self.gamma)

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"form": layout.RBF, "gamma": self.gamma}


@dataclass(frozen=True, slots=True, kw_only=True)
class Polynomial:
    """k(x, z) = (gamma x.z + coef0)^degree, degree a positive integer, coef0 >= 0."""

    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        positive(gamma=self.gamma)
        if self.degree != int(self.degree) or self.degree < 1:
            raise ValueError(f"degree must be a positive integer, got {self.degree}")
        if not self.coef0 >= 0.0:
            raise ValueError(f"coef0 must be non-negative, got {self.coef0}")

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"form": layout.POLYNOMIAL, "gamma": self.gamma, "offset": self.coef0, "degree": self.degree}


@dataclass(frozen=True, slots=True)
class CallableKernel:
    """k given as a function of two vectors (d,) returning a number; it must be positive semidefinite."""

    function: Callable[[NDArray[Any], NDArray[Any]], float]

    def plan(self) -> dict[str, float]:
        """Fields of the plan."""
        return {"form": layout.GIVEN}

    def fill(self, state: State, work: Work, x: NDArray[Any]) -> None:
        """Write k(x, x) and k(x_i, x) for all stored x_i, where the compiled round looks for them."""
        state.scalars[layout.SELF_SIMILARITY] = self.function(x, x)
        for i in range(int(state.counts[layout.SIZE])):
            work.similarities[i] = self.function(state.rows[i], x)


Kernel = Linear | Radial | Polynomial | CallableKernel

NAMED: dict[str, Callable[..., Kernel]] = {
    "linear": Linear,
    "rbf": Radial,
    "poly": Polynomial,
    "polynomial": Polynomial,
}


def as_kernel(kernel: Any, **parameters: float) -> Kernel | None:
    """Return the kernel named, given or wrapped; None stays None (the primal form).

    Raises
    ------
    ValueError
        If there is no such kernel, or `parameters` do not belong to it.
    """
    if isinstance(kernel, str):
        if kernel not in NAMED:
            raise ValueError(f"kernel must be one of {sorted(NAMED)} or a function of two vectors, got {kernel!r}")
        try:
            return NAMED[kernel](**parameters)
        except TypeError as error:
            raise ValueError(f"kernel {kernel!r} does not take these parameters: {sorted(parameters)}") from error
    if parameters:
        raise ValueError(f"parameters of a kernel need its name, got {sorted(parameters)}")
    if kernel is None or isinstance(kernel, Linear | Radial | Polynomial | CallableKernel):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel)
    raise ValueError(f"kernel must be a name or a function of two vectors, got {kernel!r}")
