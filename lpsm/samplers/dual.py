"""Kernels and the stored instances of dual forms.

What it models: k(x, z) linear, radial, polynomial or any callable, and the memory that
dual forms (and the budget Perceptron) keep: the stored instances, dense or sparse, and
a triangular factor, all in arrays that double when full.  What it leaves out: choosing
a kernel's parameters.
Source: Cesa-Bianchi et al. 2004, remark 2; Cavallanti et al. 2010, section 2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lpsm.samplers import layout
from lpsm.samplers.checks import positive
from lpsm.samplers.layout import Plan, State, Work

__all__ = ["CallableKernel", "Kernel", "Linear", "Polynomial", "Radial", "as_kernel", "grow", "new_state", "new_work"]

FIRST_CAPACITY = 64


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
        positive("gamma", self.gamma)

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
        positive("gamma", self.gamma)
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


def new_state(plan: Plan, n_features: int, budget: int, threshold: float, dtype: Any) -> State:
    """Return the state before the first round."""
    counts = np.zeros(layout.N_COUNTS, dtype=np.int64)
    counts[layout.SCHEDULED] = plan.rule == layout.NEXT_LABEL  # the first label is asked for
    scalars = np.zeros(layout.N_SCALARS)
    scalars[layout.THRESHOLD] = threshold
    primal = plan.form == layout.PRIMAL
    capacity = budget or (0 if primal else FIRST_CAPACITY)
    second = plan.learner == layout.SECOND_ORDER
    matrix = np.zeros((0, 0), dtype=dtype)
    if second and primal:
        matrix = np.zeros((n_features, n_features), dtype=dtype)
        np.fill_diagonal(matrix, plan.ridge)
    elif second:
        matrix = np.zeros((capacity, capacity), dtype=dtype)
    return State(
        counts=counts,
        scalars=scalars,
        weights=np.zeros(n_features if primal else capacity, dtype=dtype),
        matrix=matrix,
        waiting=np.zeros((layout.BLOCK if second and primal else 0, n_features if primal else 0), dtype=dtype),
        anchors=np.zeros((layout.ANCHORS if second and primal else 0, n_features if primal else 0), dtype=dtype),
        target=np.zeros(capacity if second and not primal else 0, dtype=dtype),
        rows=np.zeros((capacity, 0), dtype=dtype),
        columns=np.zeros((capacity, 0), dtype=np.int32),
        lengths=np.zeros(capacity, dtype=np.int64),
        squares=np.zeros(capacity),
        labels=np.zeros(capacity),
    )


def new_work(plan: Plan, state: State, n_features: int, dtype: Any) -> Work:
    """Return a work space that fits the state."""
    primal = plan.form == layout.PRIMAL
    capacity = state.labels.shape[0]
    second = plan.learner == layout.SECOND_ORDER
    return Work(
        x=np.zeros(n_features, dtype=dtype),
        columns=np.zeros(n_features, dtype=np.int32),
        g=np.zeros((n_features if primal else capacity) if second else 0, dtype=dtype),
        similarities=np.zeros(0 if primal else capacity, dtype=dtype),
        scatter=np.zeros(0 if primal else n_features, dtype=dtype),
    )


def grow(plan: Plan, state: State, width: int, sparse: bool) -> State:
    """Return the state with room for one more instance of `width` values, its arrays doubled where full."""
    capacity = state.labels.shape[0]
    wanted = capacity
    if plan.learner != layout.BUDGET and int(state.counts[layout.SIZE]) >= capacity:
        wanted = 2 * capacity
    wide = max(width, state.rows.shape[1])
    return state._replace(
        weights=state.weights if plan.form == layout.PRIMAL else _resized(state.weights, (wanted,)),
        matrix=_resized(state.matrix, (wanted, wanted)) if plan.learner == layout.SECOND_ORDER else state.matrix,
        target=_resized(state.target, (wanted,)) if plan.learner == layout.SECOND_ORDER else state.target,
        rows=_resized(state.rows, (wanted, wide)),
        columns=_resized(state.columns, (wanted, wide if sparse else 0)),
        lengths=_resized(state.lengths, (wanted,)),
        squares=_resized(state.squares, (wanted,)),
        labels=_resized(state.labels, (wanted,)),
    )


def _resized(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    if array.shape == shape:
        return array
    larger = np.zeros(shape, dtype=array.dtype)
    larger[tuple(slice(0, n) for n in array.shape)] = array
    return larger
