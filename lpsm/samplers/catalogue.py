"""The catalogue: samplers by the papers' keys.

What it models: `make` turns a key and the algorithm's parameters by symbol into a sampler; `describe`
says where it is from, and `registry` what there is.  What it leaves out: the algorithms, which register
themselves (`algorithms`), and combinations no paper has: build those from a learner and a rule with
`Sampler`.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any

import numpy as np

from lpsm.samplers.algorithms.kernels import as_kernel
from lpsm.samplers.algorithms.learners import Lasec, LeastSquares
from lpsm.samplers.algorithms.recipes import CATALOGUE, Entry
from lpsm.samplers.sampler import Sampler

__all__ = ["describe", "keys", "make", "registry"]

_KERNEL_PARAMETERS = ("gamma", "degree", "coef0")
_SPELLINGS = {"lambda": "lambda_", "rho_t": "rho"}
LARGEST_MATRIX = 16_384  # rows: 2 GiB of float64


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
    parameters = ", ".join(str(p.replace(annotation=p.empty)) for p in entry.parameters)
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
    entry = _entry(key)
    params = {_SPELLINGS.get(name, name): value for name, value in params.items()}
    of_kernel = {name: params.pop(name) for name in _KERNEL_PARAMETERS if name in params}
    known = [parameter.name for parameter in entry.parameters]
    if unknown := sorted(set(params) - set(known) | (set(of_kernel) if kernel is None else set())):
        raise ValueError(f"{key!r} takes the parameters {known}, got {unknown}")
    recipe = entry.recipe(**params)
    if kernel is None and n_features > LARGEST_MATRIX and isinstance(recipe.learner, LeastSquares | Lasec):
        kernel = "linear"
    return Sampler(
        recipe.learner,
        recipe.rule,
        n_features=n_features,
        stores=recipe.stores,
        normalize=recipe.normalize if normalize is None else normalize,
        kernel=as_kernel(kernel, **of_kernel),
        rng=rng,
        dtype=dtype,
        key=key,
        max_queries=max_queries,
    )


def _entry(key: str) -> Entry:
    if key not in CATALOGUE:
        near = get_close_matches(str(key).lower(), CATALOGUE, n=1)
        hint = f", did you mean {near[0]}?" if near else ""
        raise ValueError(f"key must be one of {', '.join(CATALOGUE)}; got {key!r}{hint}")
    return CATALOGUE[key]
