"""How a sampler's state is written down: a versioned dict of arrays, fit for ``np.savez``.

What it models: records of parameters as JSON text, the positions of random generators, and a learner's arrays; open
questions write themselves (`late_labels`).  What is read is checked first: compiled rounds look at no bounds.
What it leaves out: parameters that are functions, which cannot be written down; asking for their state raises.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import DTypeLike

from lpsm.arrays import Array, Floats, Ints, State
from lpsm.checks import shown, state_array, state_text, whole
from lpsm.samplers import kernels, learners, protocol, rules
from lpsm.samplers.learners import BLOCK, Record, Squares
from lpsm.samplers.protocol import UNLIMITED

VERSION = 4
GENERATORS = "PCG64, PCG64DXSM, MT19937, Philox, SFC64"
# arrays of learners, by the name under which a state has them
_OWN = "weights matrix waiting anchors rows columns lengths squares labels"
_NAMES = {name: name for name in _OWN.split()} | {"kept": "matrix", "upper": "matrix", "targets": "target"}
FIELDS = tuple(f"state_{name}" for name in ("counts", "scalars", *dict.fromkeys(_NAMES.values())))

PARTS: dict[str, Any] = {
    name: part
    for module in (learners, kernels, rules)
    for name, part in vars(module).items()
    if part in (*protocol.Learner.__subclasses__(), *protocol.Rule.__subclasses__())
    and part is not kernels.CallableKernel
}
"""Every record of parameters that a state may hold, by the name of its class."""


def described(part: Any) -> tuple[str, dict[str, object]] | None:
    """Return a record of parameters as the name of its class and parameters; a function cannot be written down."""
    if part is None:
        return None
    parameters = asdict(part)
    if any(map(callable, parameters.values())):
        raise ValueError("state needs parameters that are numbers: a function cannot be saved")
    return type(part).__name__, parameters


def rebuilt(description: tuple[str, dict[str, object]] | None) -> Any:
    """Return the record that `described` described."""
    return None if description is None else PARTS[description[0]](**description[1])


def as_text(value: object) -> Array:
    """Return JSON text in an array of no dimension."""
    return np.array(json.dumps(value, default=lambda v: v.tolist() if hasattr(v, "tolist") else str(v)))


def position(rng: Generator | None) -> Array:
    """Return where a generator stands, as text; empty for none."""
    return np.array("") if rng is None else as_text(rng.bit_generator.state)


def generator(state: Mapping[str, Array], part: str, needed: bool) -> Generator | None:
    """Return the generator whose `position` is a part of a state, None if there is none, and none is needed."""
    if not (text := state_text(state, part)):
        if needed:
            raise ValueError(f"state must hold {part} as the position of a generator, got none")
        return None
    where = json.loads(text)
    if (name := where["bit_generator"]) not in GENERATORS.split(", "):
        raise ValueError(f"a generator must be one of {GENERATORS}, got {shown(name)}")
    whole(0, 624, pos=where["state"].get("pos", 0))  # numpy reads there without looking
    whole(0, 4, buffer_pos=where.get("buffer_pos", 0))
    bits = getattr(np.random, name)()
    bits.state = where
    return Generator(bits)


def checked_config(what: str, state: Mapping[str, Array], version: int, parts: set[str]) -> dict[str, Any]:
    """Return the parameters in a state, which must be of this version and have these parts."""
    if "version" not in state or int(state["version"]) != version:
        raise ValueError(f"version of {what}'s state must be {version}, got {state.get('version', 'none')}")
    if missing := sorted({"config", "coins", *parts} - set(state)):
        raise ValueError(f"{what}'s state must hold {missing}, got {sorted(state)}")
    config: dict[str, Any] = json.loads(state_text(state, "config"))
    return config


def within(prefix: str, state: State) -> State:
    """Return a state as part of another one, its parts under a prefix."""
    return {prefix + name: part for name, part in state.items()}


def nested(state: Mapping[str, Array], prefix: str) -> State:
    """Return the state that is `within` another one."""
    return {name.removeprefix(prefix): part for name, part in state.items() if name.startswith(prefix)}


def arrays_of(learner: Record, counts: Ints, scalars: Floats) -> State:
    """Return copies of a learner's arrays by the names of a state, empty where it has none."""
    found = dict.fromkeys(FIELDS, np.zeros((0, 0), learner.weights.dtype))
    found |= {"state_counts": counts.copy(), "state_scalars": scalars.copy()}

    def enter(name: str, array: Array) -> Array:
        if name == "waiting" and isinstance(learner, Squares):  # those that came, in whole blocks
            array = array[: max(-(-int(counts[protocol.PENDING]) // BLOCK), 1) * BLOCK]
        if name in _NAMES:
            found[f"state_{_NAMES[name]}"] = array.copy()
        return array

    kernels.changed(learner, enter)
    return found


def counts_of(state: Mapping[str, Array], name: str) -> Ints:
    """Return the counts in a state."""
    return state_array(state, name, (protocol.N_COUNTS,), np.int64, 0, UNLIMITED)


def restored(
    state: Mapping[str, Array], learner: protocol.Learner, kernel: kernels.Kernel | None, d: int, k: int,
    sparse_memory: bool | None, dtype: DTypeLike,
) -> tuple[Record, Ints, Floats]:  # fmt: skip
    """Return the arrays, counts and scalars of a state, checked; what it lacks is as at the start."""
    width, capacity = np.asarray(state["state_rows"]).shape[1], learner.B
    if width > d or (width < d and width and not sparse_memory):
        raise ValueError(f"state_rows must be of {d} features, got {width}")
    if kernel is None:  # before arrays of these sizes are made
        state_array(state, "state_weights", (k, d), dtype)
        if learner.recursion is not None and "state_matrix" in state:
            state_array(state, "state_matrix", (d, d), dtype)
    else:
        capacity = capacity or whole(1, labels=np.size(state["state_labels"]))
    if capacity:
        state_array(state, "state_labels", (capacity,))
    counts = counts_of(state, "state_counts")
    whole(0, capacity, size=counts[protocol.SIZE])
    scalars = state_array(state, "state_scalars", (protocol.N_SCALARS,))
    blank = kernels.first_arrays(learner, kernel, d, k, dtype, capacity)
    if (memory := learners.memory_of(blank)) is not None:
        blank = kernels.roomier(blank, memory, len(memory.labels), width, bool(sparse_memory))

    ranges = {"lengths": (0, width), "columns": (0, d - 1)} | ({"labels": (0, k - 1)} if k > 1 else {})

    def read(name: str, array: Array) -> Array:
        if (written := f"state_{_NAMES.get(name)}") not in state:
            return array
        waits = name == "waiting"
        shape = (None, d) if waits else array.shape
        values = state_array(state, written, shape, array.dtype, *ranges.get(name, ()))
        if waits:
            alone, pending = counts[protocol.STORED] == counts[protocol.PENDING], int(counts[protocol.PENDING])
            whole(0, (len(array) if alone else BLOCK) - 1, pending=pending)
            whole(max(BLOCK, pending), len(array), waiting=len(values))
        array[: len(values)] = values
        return array

    full = kernels.changed(blank, read)
    if counts[protocol.SIZE] and sparse_memory is None:
        raise ValueError("sparse_memory must tell the form of the stored instances, got None")
    return full, counts, scalars
