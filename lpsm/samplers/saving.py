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

from lpsm.samplers import layout
from lpsm.samplers.compiled.memory import most_waiting, resized
from lpsm.samplers.layout import Part, State

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
PARTS = ("learner", "rule", "kernel")


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


def generator(text: Any) -> np.random.Generator | None:
    """Return the generator that stands at a `position`."""
    if not str(text):
        return None
    where = json.loads(str(text))
    bits = getattr(np.random, where["bit_generator"])()
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
    config: dict[str, Any] = json.loads(str(state["config"]))
    return config


def kept(state: State) -> dict[str, NDArray[Any]]:
    """Return copies of the arrays by name, without the room for updates of the inverse that have not come."""
    used = -(-int(state.counts[layout.PENDING]) // layout.BLOCK) * layout.BLOCK
    arrays = state._replace(waiting=state.waiting[: max(used, layout.BLOCK)])
    return {f"state_{name}": array.copy() for name, array in arrays._asdict().items()}


def restored(state: Mapping[str, Any]) -> State:
    """Return the arrays of a state; what an earlier version had no number for is as it is at the start."""
    found = State(*(np.array(state[f"state_{name}"], order="C") for name in State._fields))
    scalars = np.append(found.scalars, np.ones(layout.N_SCALARS - len(found.scalars)))
    waiting = found.waiting
    if len(waiting):
        waiting = resized(waiting, (most_waiting(waiting.shape[1]), waiting.shape[1]))
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


def questions_of_arrays(state: Mapping[str, Any]) -> dict[int, Question]:
    """Return the open questions in a state, by ticket."""
    found: dict[int, Question] = {}
    at = column = 0
    for i, ticket in enumerate(state.get("open_tickets", ())):
        length, is_sparse = int(state["open_lengths"][i]), bool(state["open_sparse"][i])
        values = np.array(state["open_values"][at : at + length])
        columns = np.array(state["open_columns"][column : column + length]) if is_sparse else None
        at, column = at + length, column + (length if is_sparse else 0)
        weight = float(state["open_weights"][i]) if "open_weights" in state else 1.0
        found[int(ticket)] = Question(values, columns, float(state["open_said"][i]), int(state["open_due"][i]), weight)
    return found


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else str(value)
