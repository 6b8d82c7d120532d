"""Save and restore a sampler: a versioned dict of arrays, fit for ``np.savez``.

What it models: the parameters (as JSON text), the learned arrays, and the positions of
the random generators, so that a restored sampler goes on as the original would have.
What it leaves out: parameters that are functions (a callable kernel, a callable rho_t),
which cannot be written down; asking for their state raises.  Nor is a question still open
between `decide` and `learn` part of the state: save between rounds.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lpsm.samplers import dual, learners, rules
from lpsm.samplers.dual import CallableKernel, new_work
from lpsm.samplers.layout import State

if TYPE_CHECKING:
    from lpsm.samplers.sampler import Sampler

__all__ = ["sampler_of", "state_of"]

VERSION = 1


def state_of(sampler: Sampler) -> dict[str, NDArray[Any]]:
    """Return the state of `sampler`.

    Raises
    ------
    ValueError
        If a parameter is a function.
    """
    parts = {"learner": sampler.learner, "rule": sampler.rule, "kernel": sampler.kernel}
    if isinstance(sampler.kernel, CallableKernel) or any(
        callable(value) for part in parts.values() if part is not None for value in asdict(part).values()
    ):
        raise ValueError("state needs parameters that are numbers: a function cannot be saved")
    config = {
        "key": sampler.key,
        "n_features": sampler.n_features,
        "stores": sampler.stores,
        "normalize": sampler.normalize,
        "dtype": sampler.dtype.name,
        "sparse_memory": sampler._sparse_memory,
        **{name: None if part is None else [type(part).__name__, asdict(part)] for name, part in parts.items()},
    }
    generators = {"coins": sampler._rng, "evictions": sampler._evictions}
    state: dict[str, NDArray[Any]] = {
        "version": np.array(VERSION),
        "config": np.array(json.dumps(config)),
        **{
            name: np.array("" if rng is None else json.dumps(rng.bit_generator.state, default=_listed))
            for name, rng in generators.items()
        },
    }
    state.update({f"state_{name}": array.copy() for name, array in sampler._state._asdict().items()})
    return state


def sampler_of(state: dict[str, Any]) -> Sampler:
    """Return the sampler that `state` describes.

    Raises
    ------
    ValueError
        If the state is of another version or lacks a part.
    """
    from lpsm.samplers.sampler import Sampler

    if "version" not in state or int(state["version"]) != VERSION:
        raise ValueError(f"version of a sampler's state must be {VERSION}, got {state.get('version', 'none')}")
    wanted = {"config", "coins", "evictions", *(f"state_{name}" for name in State._fields)}
    if missing := sorted(wanted - set(state)):
        raise ValueError(f"a sampler's state must hold {missing}, got {sorted(state)}")
    config = json.loads(str(state["config"]))
    kinds: dict[str, Any] = {"learner": learners, "rule": rules, "kernel": dual}
    parts: dict[str, Any] = {
        name: None if config[name] is None else getattr(module, config[name][0])(**config[name][1])
        for name, module in kinds.items()
    }
    sampler = Sampler(
        parts["learner"],
        parts["rule"],
        kernel=parts["kernel"],
        n_features=config["n_features"],
        stores=config["stores"],
        normalize=config["normalize"],
        dtype=config["dtype"],
        key=config["key"],
    )
    sampler._sparse_memory = config["sparse_memory"]
    sampler._rng = _generator(str(state["coins"]))
    sampler._evictions = _generator(str(state["evictions"]))
    sampler._state = State(*(np.array(state[f"state_{name}"], order="C") for name in State._fields))
    sampler._work = new_work(sampler._plan, sampler._state, sampler.n_features, sampler.dtype)
    return sampler


def _generator(text: str) -> np.random.Generator | None:
    if not text:
        return None
    position = json.loads(text)
    bits = getattr(np.random, position["bit_generator"])()
    bits.state = position
    return np.random.Generator(bits)


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
