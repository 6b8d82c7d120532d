"""How a sampler's state is written down: a versioned dict of arrays, fit for ``np.savez``.

What it models: records of parameters as JSON text, the positions of random generators, a learner's arrays, and the
questions whose labels have not come, so that a restored sampler goes on as the original would have.  What is read is
checked first: compiled rounds look at no bounds.
What it leaves out: parameters that are functions (a callable kernel, a callable rho_t), which cannot
be written down; asking for their state raises.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lpsm.checks import shown, state_array, state_text, whole
from lpsm.samplers import core, kernels
from lpsm.samplers.hinge import Diagonal, Gradients
from lpsm.samplers.least_squares import BLOCK, FIRST, Squares, most_waiting
from lpsm.samplers.perceptrons import BudgetVector, Memory, new_memory

__all__ = [
    "VERSION", "Owed", "arrays_of", "as_text", "checked_config", "described", "generator", "position",
    "questions_of_arrays", "questions_to_arrays", "rebuilt", "restored",
]  # fmt: skip

Array = NDArray[Any]

VERSION = 2
READABLE = (1, 2)  # the first version had no open questions
GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
FIELDS = (
    "counts", "scalars", "weights", "matrix", "waiting", "anchors", "target", "rows", "columns", "lengths", "squares",
    "labels",
)  # fmt: skip


class Owed(NamedTuple):
    """An instance that was asked about, until its label comes."""

    values: Array
    columns: NDArray[np.int32] | None
    said: float  # w.x in its round, whose sign was the prediction
    due: int  # what the adaptive sampler's round entitled to
    weight: float = 1.0  # of its label
    scores: Array | None = None  # of several classes
    prediction: int = 0


def described(part: Any) -> list[Any] | None:
    """Return a record of parameters as [name of its class, parameters].

    Raises
    ------
    ValueError
        If a parameter is a function.
    """
    if part is None:
        return None
    parameters = asdict(part)
    if any(callable(value) for value in parameters.values()):
        raise ValueError("state needs parameters that are numbers: a function cannot be saved")
    return [type(part).__name__, parameters]


def rebuilt(description: list[Any] | None, classes: Mapping[str, Any]) -> Any:
    """Return the record that `described` described."""
    return None if description is None else classes[description[0]](**description[1])


def as_text(value: Any) -> Array:
    """Return JSON text in an array of no dimension."""
    return np.array(json.dumps(value, default=_listed))


def position(rng: np.random.Generator | None) -> Array:
    """Return where a generator stands, as text; empty for none."""
    return np.array("") if rng is None else as_text(rng.bit_generator.state)


def generator(state: Mapping[str, Any], part: str) -> np.random.Generator | None:
    """Return the generator whose `position` is a part of a state."""
    if not (text := state_text(state, part)):
        return None
    where = json.loads(text)
    if (name := where["bit_generator"]) not in GENERATORS:
        raise ValueError(f"a generator must be one of {', '.join(GENERATORS)}, got {shown(name)}")
    whole(0, 624, pos=where["state"].get("pos", 0))  # numpy reads there without looking
    whole(0, 4, buffer_pos=where.get("buffer_pos", 0))
    bits = getattr(np.random, name)()
    bits.state = where
    return np.random.Generator(bits)


def checked_config(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a state says of the sampler's parameters.

    Raises
    ------
    ValueError
        If the state is of another version or lacks a part.
    """
    if "version" not in state or int(state["version"]) not in READABLE:
        raise ValueError(f"version of a sampler's state must be {VERSION}, got {state.get('version', 'none')}")
    wanted = {"config", "coins", "evictions", *(f"state_{name}" for name in FIELDS)}
    if missing := sorted(wanted - set(state)):
        raise ValueError(f"a sampler's state must hold {missing}, got {sorted(state)}")
    config: dict[str, Any] = json.loads(state_text(state, "config"))
    return config


def arrays_of(learner: Any, counts: Array, scalars: Array) -> dict[str, Array]:
    """Return copies of a learner's arrays by name, those of its weights and targets with a row a class."""
    dtype = learner.weights.dtype
    found = {
        "counts": counts, "scalars": scalars, "weights": learner.weights, "matrix": np.zeros((0, 0), dtype=dtype),
        "waiting": np.zeros((0, 0), dtype=dtype),
        "anchors": np.zeros((0, 0 if hasattr(learner, "held") else learner.weights.shape[1]), dtype=dtype),
        "target": np.zeros((len(learner.weights), 0), dtype=dtype), **new_memory(0, dtype)._asdict(),
    }  # fmt: skip
    if isinstance(learner, Squares):
        used = max(-(-int(counts[core.PENDING]) // BLOCK), 1) * BLOCK
        found |= {"matrix": learner.matrix, "anchors": learner.vectors[1:FIRST]}
        found["waiting"] = learner.vectors[FIRST : FIRST + used]
    elif isinstance(learner, Diagonal | Gradients):
        found["matrix"] = learner.kept[None]
    elif isinstance(learner, BudgetVector):
        found |= learner.memory._asdict()
    elif hasattr(learner, "held"):
        found |= learner.held.memory._asdict()
        if isinstance(learner, kernels.Factor):
            found |= {"matrix": learner.upper, "target": learner.targets}
    return {name: array.copy() for name, array in found.items()}


def restored(
    state: Mapping[str, Any], learner: Any, kernel: Any, d: int, k: int, sparse_memory: bool | None, dtype: Any
) -> tuple[Any, Array, Array]:
    """Return the learner, counts and scalars of a state; what an earlier version lacks is as at the start.

    Raises
    ------
    ValueError
        If an array has another shape or type, is not finite, or a count or a column points out of it.
    """
    given = {name: np.asarray(state[f"state_{name}"]) for name in FIELDS}
    width, capacity = given["rows"].shape[1], getattr(learner, "B", 0)
    if width > d or (width < d and width and not sparse_memory):
        raise ValueError(f"state_rows must be of {d} features, got {width}")
    if kernel is None:  # before arrays of these sizes are made
        state_array(state, "state_weights", (d,), dtype)
        if hasattr(learner, "recursion"):
            state_array(state, "state_matrix", (d, d), dtype)
    else:
        capacity = capacity or whole(1, labels=given["labels"].size)
    if capacity:
        state_array(state, "state_labels", (capacity,))
    full = (
        learner.arrays(d, k, dtype)
        if kernel is None
        else kernels.over_instances(learner, kernel, d, k, dtype, capacity)
    )
    zeros = np.zeros(core.N_COUNTS, dtype=np.int64), np.zeros(core.N_SCALARS)
    shapes = arrays_of(full, *zeros)
    arrays: dict[str, Array] = {}
    for name, made in shapes.items():
        shape: tuple[int | None, ...] = made.shape[1:] if name in ("weights", "target") else made.shape
        if name in ("rows", "columns"):
            shape = (made.shape[0], width if name == "rows" or sparse_memory else 0)
        if name == "scalars" or (name == "waiting" and made.size):
            shape = (None, *made.shape[1:])  # of older ones, and without what has not come
        low = 0 if made.dtype == np.int64 else -np.inf
        arrays[name] = state_array(state, f"state_{name}", shape, made.dtype, low=low)
    counts, scalars = arrays["counts"], arrays["scalars"]
    whole(0, core.UNLIMITED, counts=int(counts.max()))
    whole(0, capacity, size=int(counts[core.SIZE]))
    whole(0, width, lengths=int(arrays["lengths"].max(initial=0)))
    whole(3, core.N_SCALARS, scalars=len(scalars))
    whole(0, d - 1, columns=int(arrays["columns"].max(initial=0)))
    whole(0, columns=int(arrays["columns"].min(initial=0)))
    if counts[core.SIZE] and sparse_memory is None:
        raise ValueError("sparse_memory must tell the form of the stored instances, got None")
    later = np.zeros(core.N_SCALARS)
    later[core.WEIGHT], later[: len(scalars)] = 1.0, scalars
    return _filled(full, arrays, d), counts, later


def _filled(learner: Any, arrays: dict[str, Array], d: int) -> Any:
    """Return a learner with the arrays of a state."""
    memory = Memory(*(arrays[name] for name in Memory._fields))
    learner.weights[:] = arrays["weights"]
    if isinstance(learner, Squares):
        counts, waiting, most = arrays["counts"], arrays["waiting"], most_waiting(d)
        whole(BLOCK, most, waiting=len(waiting))
        alone = counts[core.STORED] == counts[core.PENDING]
        whole(0, (most if alone else BLOCK) - 1, pending=int(counts[core.PENDING]))
        whole(int(counts[core.PENDING]), waiting=len(waiting))
        learner.vectors[1:FIRST], learner.vectors[FIRST : FIRST + len(waiting)] = arrays["anchors"], waiting
        return learner._replace(matrix=arrays["matrix"])
    if isinstance(learner, Diagonal | Gradients):
        return learner._replace(kept=arrays["matrix"][0])
    if isinstance(learner, BudgetVector):
        return learner._replace(memory=memory)
    if hasattr(learner, "held"):
        learner = learner._replace(held=learner.held._replace(memory=memory))
        if isinstance(learner, kernels.Factor):
            learner.targets[:] = arrays["target"]
            return learner._replace(upper=arrays["matrix"])
    return learner


def questions_to_arrays(questions: Mapping[int, Owed], dtype: Any) -> dict[str, Array]:
    """Return open questions, by ticket, as arrays: a column each, and the instances end to end."""
    asked = list(questions.values())
    none = np.zeros(0, dtype=np.int32)
    return {
        "open_tickets": np.array(list(questions), dtype=np.int64),
        "open_said": np.array([question.said for question in asked], dtype=np.float64),
        "open_due": np.array([question.due for question in asked], dtype=np.int64),
        "open_weights": np.array([question.weight for question in asked], dtype=np.float64),
        "open_lengths": np.array([len(question.values) for question in asked], dtype=np.int64),
        "open_sparse": np.array([question.columns is not None for question in asked], dtype=np.bool_),
        "open_values": np.concatenate([np.zeros(0, dtype=dtype), *(question.values for question in asked)]),
        "open_columns": np.concatenate([none, *(none if q.columns is None else q.columns for q in asked)]),
    }


def questions_of_arrays(state: Mapping[str, Any], n_features: int, dtype: Any) -> dict[int, Owed]:
    """Return the open questions in a state, by ticket.

    Raises
    ------
    ValueError
        If their columns do not belong together, or one points out of the instances.
    """
    found: dict[int, Owed] = {}
    if "open_tickets" not in state:
        return found
    tickets = state_array(state, "open_tickets", (None,), np.int64, low=1)
    n = len(tickets)
    if "open_weights" not in state:
        state = {**state, "open_weights": np.ones(n)}
    said, weights = (state_array(state, f"open_{name}", (n,)) for name in ("said", "weights"))
    due, lengths = (state_array(state, f"open_{name}", (n,), np.int64, low=0) for name in ("due", "lengths"))
    is_sparse = state_array(state, "open_sparse", (n,), np.bool_)
    if not ((lengths == n_features) | (is_sparse & (lengths < n_features))).all():
        raise ValueError(f"open_lengths must be {n_features}, or less where sparse, got {lengths.tolist()[:8]}")
    values = state_array(state, "open_values", (int(lengths.sum()),), dtype)
    columns = state_array(state, "open_columns", (int(lengths[is_sparse].sum()),), np.int32, low=0)
    whole(0, n_features - 1, open_columns=int(columns.max(initial=0)))
    at = column = 0
    for i, length in enumerate(lengths.tolist()):
        places = columns[column : column + length].copy() if is_sparse[i] else None
        part = values[at : at + length].copy()
        at, column = at + length, column + (length if is_sparse[i] else 0)
        found[int(tickets[i])] = Owed(part, places, float(said[i]), int(due[i]), float(weights[i]))
    return found


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
