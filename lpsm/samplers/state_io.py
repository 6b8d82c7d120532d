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

from lpsm.arrays import Array, State
from lpsm.checks import shown, state_array, state_text, whole
from lpsm.samplers import core, hinge, kernels, least_squares, perceptrons, rules
from lpsm.samplers.least_squares import BLOCK, Squares

VERSION = 3
READABLE = (1, 2, 3)  # the first version had no open questions, the second a vector of weights for two classes
GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
# arrays of learners, by the name under which a state has them
_NAMES = {
    **{name: name for name in ("weights", "matrix", "waiting", "anchors", "rows", "columns", "lengths", "squares")},
    "labels": "labels", "kept": "matrix", "upper": "matrix", "targets": "target",
}  # fmt: skip
FIELDS = tuple(f"state_{name}" for name in ("counts", "scalars", *dict.fromkeys(_NAMES.values())))

PARTS: dict[str, Any] = {
    name: part
    for module in (perceptrons, least_squares, hinge, kernels, rules)
    for name, part in vars(module).items()
    if isinstance(part, type)
    and issubclass(part, core.Learner | core.Rule)
    and part not in (core.Learner, core.Rule, kernels.CallableKernel)
}
"""Every record of parameters that a state may hold, by the name of its class."""


class Owed(NamedTuple):
    """An instance that was asked about, until its label comes."""

    values: Array
    columns: NDArray[np.int32] | None
    told: Array  # (1, N_SAID), or (m + 1, N_SAID) of a company: what its round came to
    scores: Array | None = None  # (1, k) of several classes


def described(part: Any) -> list[Any] | None:
    """Return a record of parameters as [name of its class, parameters].

    Raises
    ------
    ValueError
        If a parameter is a function.
    """
    parameters = {} if part is None else asdict(part)
    if any(callable(value) for value in parameters.values()):
        raise ValueError("state needs parameters that are numbers: a function cannot be saved")
    return None if part is None else [type(part).__name__, parameters]


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


def modern(state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a state as this version writes it: a row of weights a class, and open questions each by itself."""
    if "version" not in state or int(state["version"]) not in READABLE[:2]:
        return state
    rows = {"weights": "class_rows", "target": "class_targets"}
    found = {f"state_{n}": np.atleast_2d(state.get(old, state[f"state_{n}"])) for n, old in rows.items()}
    places = {"said": core.SAID, "due": core.CAUSE, "weights": core.IMPORTANCE, "predictions": core.PREDICTION}
    if not (tickets := np.asarray(state.get("open_tickets", ())).tolist()):
        return {**state, **found, "open_tickets": np.zeros(0, dtype=np.int64)}
    lengths, is_sparse = np.asarray(state["open_lengths"]), np.asarray(state["open_sparse"])
    columns = iter(np.split(np.asarray(state.get("open_columns", ())), np.cumsum(lengths[is_sparse])[:-1]))
    for i, values in enumerate(np.split(np.asarray(state["open_values"]), np.cumsum(lengths)[:-1])):
        own, told = f"open_{tickets[i]}_", np.zeros((1, core.N_SAID))
        told[0, core.QUERY] = told[0, core.IMPORTANCE] = 1.0
        for name, place in places.items():
            told[0, place] = np.asarray(state[f"open_{name}"])[i] if f"open_{name}" in state else told[0, place]
        found |= {f"{own}values": values, f"{own}told": told}
        found |= {f"{own}columns": next(columns)} if is_sparse[i] else {}
        found |= {f"{own}scores": state["open_scores"][i : i + 1]} if "open_scores" in state else {}
    return {**state, **found}


def nested(state: Mapping[str, Any], prefix: str) -> State:
    """Return the state that is held in another one, its parts under a prefix."""
    return {name.removeprefix(prefix): part for name, part in state.items() if name.startswith(prefix)}


def arrays_of(learner: Any, counts: Array, scalars: Array) -> State:
    """Return copies of a learner's arrays by the names of a state, empty where it has none."""
    found = {**dict.fromkeys(FIELDS, np.zeros((0, 0), dtype=learner.weights.dtype))}
    found |= {"state_counts": counts.copy(), "state_scalars": scalars.copy()}

    def enter(name: str, array: Array) -> Array:
        if name == "waiting" and isinstance(learner, Squares):  # those that came, in whole blocks
            array = array[: max(-(-int(counts[core.PENDING]) // BLOCK), 1) * BLOCK]
        if name in _NAMES:
            found[f"state_{_NAMES[name]}"] = array.copy()
        return array

    kernels.changed(learner, enter)
    return found


def restored(
    state: Mapping[str, Any], learner: Any, kernel: Any, d: int, k: int, sparse_memory: bool | None, dtype: Any
) -> tuple[Any, Array, Array]:
    """Return the learner, counts and scalars of a state; what it lacks is as at the start.

    Raises
    ------
    ValueError
        If an array has another shape or type, is not finite, or a count or a column points out of it.
    """
    width, capacity = np.asarray(state["state_rows"]).shape[1], getattr(learner, "B", 0)
    if width > d or (width < d and width and not sparse_memory):
        raise ValueError(f"state_rows must be of {d} features, got {width}")
    if kernel is None:  # before arrays of these sizes are made
        state_array(state, "state_weights", (k, d), dtype)
        if hasattr(learner, "recursion") and "state_matrix" in state:
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
    if perceptrons.memory_of(blank) is not None:
        blank = kernels.roomier(blank, np.zeros_like(counts), width, bool(sparse_memory))

    def read(name: str, array: Array) -> Array:
        if (written := f"state_{_NAMES.get(name)}") not in state:
            return array
        low, waits = 0 if array.dtype.kind == "i" else -np.inf, name == "waiting"
        values = state_array(state, written, (None, d) if waits else array.shape, array.dtype, low=low)
        if waits:
            whole(BLOCK, len(array), waiting=len(values))
            alone, pending = counts[core.STORED] == counts[core.PENDING], int(counts[core.PENDING])
            whole(0, (len(array) if alone else BLOCK) - 1, pending=pending)
            whole(pending, waiting=len(values))
        array[: len(values)] = values
        return array

    full = kernels.changed(blank, read)
    whole(0, core.UNLIMITED, counts=int(counts.max()))
    whole(0, capacity, size=int(counts[core.SIZE]))
    if (memory := perceptrons.memory_of(full)) is not None:
        whole(0, width, lengths=int(memory.lengths.max(initial=0)))
        whole(0, d - 1, columns=int(memory.columns.max(initial=0)))
        if k > 1:  # numbers of classes
            whole(0, k - 1, labels=int(memory.labels.min()))
            whole(0, k - 1, labels=int(memory.labels.max()))
    if counts[core.SIZE] and sparse_memory is None:
        raise ValueError("sparse_memory must tell the form of the stored instances, got None")
    return full, counts, scalars


def questions_to_arrays(questions: Mapping[int, Owed]) -> State:
    """Return open questions as arrays, whose names begin with their tickets."""
    parts = {f"open_{t}_{name}": part for t, one in questions.items() for name, part in one._asdict().items()}
    written = {name: part.copy() for name, part in parts.items() if part is not None}
    return {"open_tickets": np.array(list(questions), dtype=np.int64), **written}


def questions_of_arrays(state: Mapping[str, Any], d: int, dtype: Any, rows: int, k: int) -> dict[int, Owed]:
    """Return the open questions in a state, by ticket: so many `rows` were said of each, of k classes.

    Raises
    ------
    ValueError
        If their columns do not belong together, or one points out of the instances.
    """
    questions: dict[int, Owed] = {}
    for ticket in state_array(state, "open_tickets", (None,), np.int64, low=1).tolist():
        own, columns = f"open_{ticket}_", None
        if ticket in questions:
            raise ValueError(f"open_tickets must be different ones, got {ticket} twice")
        if f"{own}columns" in state:
            columns = state_array(state, f"{own}columns", (None,), np.int32, low=0)
            whole(0, d, values=len(columns))
            whole(0, d - 1, columns=int(columns.max(initial=0)))
        values = state_array(state, f"{own}values", (d if columns is None else len(columns),), dtype)
        told = state_array(state, f"{own}told", (rows, core.N_SAID))
        scores = state_array(state, f"{own}scores", (1, k)) if k > 1 else None
        questions[ticket] = Owed(values, columns, told, scores)
    return questions
