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
from lpsm.samplers import core, hinge, kernels, least_squares, perceptrons, rules
from lpsm.samplers.core import Learner, Rule
from lpsm.samplers.least_squares import BLOCK, Squares

__all__ = [
    "PARTS", "VERSION", "Owed", "arrays_of", "as_text", "checked_config", "described", "generator", "position",
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
_WRITTEN = {"kept": "matrix", "upper": "matrix", "targets": "target"}  # arrays of learners under another name

PARTS: dict[str, Any] = {
    name: part
    for module in (perceptrons, least_squares, hinge, kernels, rules)
    for name, part in vars(module).items()
    if isinstance(part, type)
    and issubclass(part, Learner | Rule)
    and part not in (Learner, Rule, kernels.CallableKernel)
}
"""Every record of parameters that a state may hold, by the name of its class."""


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


def rebuilt(description: list[Any] | None) -> Any:
    """Return the record that `described` described."""
    return None if description is None else PARTS[description[0]](**description[1])


def as_text(value: Any) -> Array:
    """Return JSON text in an array of no dimension."""
    return np.array(json.dumps(value, default=lambda v: v.tolist() if hasattr(v, "tolist") else str(v)))


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


def checked_config(what: str, state: Mapping[str, Any], versions: tuple[int, ...], parts: set[str]) -> dict[str, Any]:
    """Return the parameters in a state.

    Raises
    ------
    ValueError
        If the state is of another version or lacks a part.
    """
    if "version" not in state or int(state["version"]) not in versions:
        raise ValueError(f"version of {what}'s state must be {versions[-1]}, got {state.get('version', 'none')}")
    if missing := sorted({"config", "coins", *parts} - set(state)):
        raise ValueError(f"{what}'s state must hold {missing}, got {sorted(state)}")
    config: dict[str, Any] = json.loads(state_text(state, "config"))
    return config


def arrays_of(learner: Any, counts: Array, scalars: Array) -> dict[str, Array]:
    """Return copies of a learner's arrays by name, those of its weights and targets with a row a class."""
    none = np.zeros((0, 0), dtype=learner.weights.dtype)
    found = {**dict.fromkeys(FIELDS, none), "target": np.zeros((len(learner.weights), 0), dtype=none.dtype)}

    def enter(name: str, array: Array) -> Array:
        found[_WRITTEN.get(name, name)] = array
        return array

    kernels.changed(learner, enter)
    if isinstance(learner, Squares):  # of the updates that wait those that came, in whole blocks
        found["waiting"] = learner.waiting[: max(-(-int(counts[core.PENDING]) // BLOCK), 1) * BLOCK]
    return {
        name: array.copy() for name, array in {**found, "counts": counts, "scalars": scalars}.items() if name in FIELDS
    }


def restored(
    state: Mapping[str, Any], learner: Any, kernel: Any, d: int, k: int, sparse_memory: bool | None, dtype: Any
) -> tuple[Any, Array, Array]:
    """Return the learner, counts and scalars of a state; what an earlier version lacks is as at the start.

    Raises
    ------
    ValueError
        If an array has another shape or type, is not finite, or a count or a column points out of it.
    """
    width, capacity = np.asarray(state["state_rows"]).shape[1], getattr(learner, "B", 0)
    if width > d or (width < d and width and not sparse_memory):
        raise ValueError(f"state_rows must be of {d} features, got {width}")
    if kernel is None:  # before arrays of these sizes are made
        state_array(state, "state_weights", (d,), dtype)
        if hasattr(learner, "recursion"):
            state_array(state, "state_matrix", (d, d), dtype)
    else:
        capacity = capacity or whole(1, labels=np.size(state["state_labels"]))
    if capacity:
        state_array(state, "state_labels", (capacity,))
    counts = state_array(state, "state_counts", (core.N_COUNTS,), np.int64, low=0)
    scalars = np.zeros(core.N_SCALARS)
    scalars[core.WEIGHT], given = 1.0, state_array(state, "state_scalars", (None,))
    whole(3, core.N_SCALARS, scalars=len(given))  # older states have fewer
    scalars[: len(given)] = given
    if kernel is None:
        blank = learner.arrays(d, k, dtype)
    else:
        blank = kernels.over_instances(learner, kernel, d, k, dtype, capacity)
    if core.memory_of(blank) is not None:
        blank = kernels.roomier(blank, np.zeros_like(counts), width, bool(sparse_memory))

    def read(name: str, array: Array) -> Array:
        written = _WRITTEN.get(name, name)
        if written not in FIELDS:
            return array
        shape: tuple[int | None, ...] = array.shape[1:] if name in ("weights", "targets") else array.shape
        if name == "waiting":
            shape = (None, d)
        values = state_array(
            state, f"state_{written}", shape, array.dtype, low=0 if array.dtype.kind == "i" else -np.inf
        )
        if name == "waiting":
            whole(BLOCK, len(array), waiting=len(values))
            alone = counts[core.STORED] == counts[core.PENDING]
            whole(0, (len(array) if alone else BLOCK) - 1, pending=int(counts[core.PENDING]))
            whole(int(counts[core.PENDING]), waiting=len(values))
        array[: len(values) if name == "waiting" else None] = values
        return array

    full = kernels.changed(blank, read)
    whole(0, core.UNLIMITED, counts=int(counts.max()))
    whole(0, capacity, size=int(counts[core.SIZE]))
    if (memory := core.memory_of(full)) is not None:
        whole(0, width, lengths=int(memory.lengths.max(initial=0)))
        whole(0, d - 1, columns=int(memory.columns.max(initial=0)))
    if counts[core.SIZE] and sparse_memory is None:
        raise ValueError("sparse_memory must tell the form of the stored instances, got None")
    return full, counts, scalars


def questions_to_arrays(questions: Mapping[int, Owed], dtype: Any) -> dict[str, Array]:
    """Return open questions, by ticket, as arrays: a column each, and the instances end to end."""
    asked, none = list(questions.values()), np.zeros(0, dtype=np.int32)
    columns: dict[str, tuple[list[Any], Any]] = {
        "tickets": (list(questions), np.int64),
        "said": ([question.said for question in asked], np.float64),
        "due": ([question.due for question in asked], np.int64),
        "weights": ([question.weight for question in asked], np.float64),
        "lengths": ([len(question.values) for question in asked], np.int64),
        "sparse": ([question.columns is not None for question in asked], np.bool_),
    }
    return {
        **{f"open_{name}": np.array(values, dtype=kind) for name, (values, kind) in columns.items()},
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
    if "open_tickets" not in state:
        return {}
    tickets = state_array(state, "open_tickets", (None,), np.int64, low=1)
    n = len(tickets)
    state = {"open_weights": np.ones(n), **state}
    said, weights = (state_array(state, f"open_{name}", (n,)) for name in ("said", "weights"))
    due, lengths = (state_array(state, f"open_{name}", (n,), np.int64, low=0) for name in ("due", "lengths"))
    is_sparse = state_array(state, "open_sparse", (n,), np.bool_)
    if not ((lengths == n_features) | (is_sparse & (lengths < n_features))).all():
        raise ValueError(f"open_lengths must be {n_features}, or less where sparse, got {lengths.tolist()[:8]}")
    values = state_array(state, "open_values", (int(lengths.sum()),), dtype)
    columns = state_array(state, "open_columns", (int(lengths[is_sparse].sum()),), np.int32, low=0)
    whole(0, n_features - 1, open_columns=int(columns.max(initial=0)))
    instances = np.split(values, lengths.cumsum()[:-1])
    places = iter(np.split(columns, lengths[is_sparse].cumsum()[:-1]))
    return {
        int(tickets[i]): Owed(
            instances[i].copy(), next(places).copy() if is_sparse[i] else None, float(said[i]), int(due[i]),
            float(weights[i]),
        )
        for i in range(n)
    }  # fmt: skip
