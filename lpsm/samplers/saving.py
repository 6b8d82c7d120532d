"""How a sampler's state is written down: a versioned dict of arrays, fit for ``np.savez``.

What it models: records of parameters as JSON text, the positions of random generators, and the
questions whose labels have not come, each as arrays, so that a restored sampler goes on as the
original would have.
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
from lpsm.samplers import layout
from lpsm.samplers.compiled.memory import arrays_of, most_waiting, resized
from lpsm.samplers.layout import Part, Plan, State

__all__ = [
    "VERSION",
    "Question",
    "as_text",
    "checked_config",
    "described",
    "generator",
    "position",
    "questions_of_arrays",
    "questions_to_arrays",
    "rebuilt",
    "restored",
]

VERSION = 2
READABLE = (1, 2)  # the first version had no open questions
GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


class Question(NamedTuple):
    """An instance that was asked about, until its label comes."""

    values: NDArray[Any]
    columns: NDArray[np.int32] | None
    said: float  # w.x in its round, whose sign was the prediction
    due: int  # what the adaptive sampler's round entitled to
    weight: float = 1.0  # of its label
    products: tuple[float, float, float, float] = (np.nan,) * 4  # square, norm2, p and r of its round


def described(part: Part | None) -> list[Any] | None:
    """Return a record of parameters as [name of its class, parameters].

    Raises
    ------
    ValueError
        If a parameter is a function.
    """
    if part is None:
        return None
    parameters = asdict(part)  # type: ignore[call-overload]
    if any(callable(value) for value in parameters.values()):
        raise ValueError("state needs parameters that are numbers: a function cannot be saved")
    return [type(part).__name__, parameters]


def rebuilt(description: list[Any] | None, classes: Mapping[str, Any]) -> Any:
    """Return the record that `described` described."""
    return None if description is None else classes[description[0]](**description[1])


def as_text(value: Any) -> NDArray[Any]:
    """Return JSON text in an array of no dimension."""
    return np.array(json.dumps(value, default=_listed))


def position(rng: np.random.Generator | None) -> NDArray[Any]:
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
    wanted = {"config", "coins", "evictions", *(f"state_{name}" for name in State._fields)}
    if missing := sorted(wanted - set(state)):
        raise ValueError(f"a sampler's state must hold {missing}, got {sorted(state)}")
    config: dict[str, Any] = json.loads(state_text(state, "config"))
    return config


def kept(state: State) -> dict[str, NDArray[Any]]:
    """Return copies of the arrays by name, without the room for updates of the inverse that have not come."""
    used = -(-int(state.counts[layout.PENDING]) // layout.BLOCK) * layout.BLOCK
    arrays = state._replace(waiting=state.waiting[: max(used, layout.BLOCK)])
    return {f"state_{name}": array.copy() for name, array in arrays._asdict().items()}


def restored(
    state: Mapping[str, Any], plan: Plan, n_features: int, budget: int, sparse_memory: bool | None, dtype: Any
) -> State:
    """Return the arrays of a state; what an earlier version had no number for is as it is at the start.

    Compiled rounds look at no bounds: shapes, types, counts and places are checked here, before anything is made of
    their sizes.

    Raises
    ------
    ValueError
        If an array has another shape or type, is not finite, or a count or a column points out of it.
    """
    given = {name: np.asarray(state[f"state_{name}"]) for name in State._fields}
    dual = plan.form != layout.PRIMAL
    capacity = budget or (whole(1, labels=given["labels"].size) if dual else 0)
    width = given["rows"].shape[1]
    if width > n_features or (width < n_features and width and not sparse_memory):
        raise ValueError(f"state_rows must be of {n_features} features, got {width}")
    shapes = arrays_of(plan, n_features, capacity, width, width if sparse_memory else 0, dtype)
    arrays = {}
    for name, (shape, kind) in zip(State._fields, shapes, strict=True):
        loose = name == "scalars" or (name == "waiting" and shape[0])  # older ones, and without what has not come
        wanted = (None, *shape[1:]) if loose else shape
        arrays[name] = state_array(state, f"state_{name}", wanted, kind, low=0 if kind == np.int64 else -np.inf)
    found = State(**arrays)
    counts, most = found.counts, most_waiting(n_features)
    whole(0, layout.UNLIMITED, counts=int(counts.max()))
    whole(0, capacity, size=int(counts[layout.SIZE]))
    whole(0, width, lengths=int(found.lengths.max(initial=0)))
    whole(3, layout.N_SCALARS, scalars=len(found.scalars))
    whole(0, n_features - 1, columns=int(found.columns.max(initial=0)))
    whole(0, columns=int(found.columns.min(initial=0)))
    if counts[layout.SIZE] and sparse_memory is None:
        raise ValueError("sparse_memory must tell the form of the stored instances, got None")
    scalars = np.append(found.scalars, np.ones(layout.N_SCALARS - len(found.scalars)))
    waiting = found.waiting
    if waiting.shape[1]:
        whole(layout.BLOCK, most, waiting=len(waiting))
        alone = counts[layout.STORED] == counts[layout.PENDING]
        whole(0, (most if alone else layout.BLOCK) - 1, pending=int(counts[layout.PENDING]))
        whole(int(counts[layout.PENDING]), waiting=len(waiting))
        waiting = resized(waiting, (most, n_features))
    return found._replace(scalars=scalars, waiting=waiting)


def questions_to_arrays(questions: Mapping[int, Question], dtype: Any) -> dict[str, NDArray[Any]]:
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


def questions_of_arrays(state: Mapping[str, Any], n_features: int, dtype: Any) -> dict[int, Question]:
    """Return the open questions in a state, by ticket.

    Raises
    ------
    ValueError
        If their columns do not belong together, or one points out of the instances.
    """
    found: dict[int, Question] = {}
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
        found[int(tickets[i])] = Question(part, places, float(said[i]), int(due[i]), float(weights[i]))
    return found


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
