"""States of learners, samplers and combiners: which class a state is of, and states as JSON text.

What it models: every `state()` is a dict of arrays that names its kind and its version, fit for ``numpy.savez``.
`from_state` finds the class; `to_json` and `from_json` write the same dict as text, number for number.  `Stateful` is
the one way in and out.  A state ends with a digest of all that is in it, so that one in which anything was changed
since it was taken is refused.
What it leaves out: the states of samplers (`lpsm.samplers.state_io`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from importlib import import_module
from json import JSONDecodeError
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from lpsm.arrays import Array, State
from lpsm.checks import MOST_TEXT, reading, shown, state_text

__all__ = ["Stateful", "from_json", "from_state", "to_json"]
__dir__ = __all__.copy

_CLASSES = {
    name: f"lpsm.{module}"
    for line in """\
experts StaticExpert FixedShare MarkovShare VariableShare LearnAlpha AdaHedge Squint NormalHedge
combining Combiner
samplers Sampler MulticlassSampler TunedSampler LastLabels""".splitlines()
    for module, *names in [line.split()]
    for name in names
}
FORMAT = "lpsm-state"
MOST_JSON = 1 << 28
"""Most characters of a state in JSON."""
# of values, by the kind of an array
_TYPES: dict[str, set[type]] = {"b": {bool}, "i": {int}, "u": {int}, "f": {int, float, str}, "U": {str}}
_WORDS = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}


def from_state(state: Mapping[str, object] | str) -> Any:
    """Rebuild what a state was taken from: a dict of arrays, what ``numpy.load`` gives, or JSON text.

    Raises
    ------
    ValueError
        If it is no state, or of a version that is not read.

    >>> from lpsm import FixedShare
    >>> from_state(FixedShare(3, 0.1).state())
    FixedShare(n_experts=3, alpha=0.1)
    """
    if isinstance(state, str):
        state = from_json(state)
    if not isinstance(state, Mapping):
        raise TypeError(f"a state must be a mapping or JSON text, got {shown(state)}")
    kind = state_text(state, "kind") if "kind" in state else "Sampler" if "state_counts" in state else "none"
    if kind not in _CLASSES:
        raise ValueError(f"a state must be of one of {', '.join(_CLASSES)}, got {shown(kind)}")
    return getattr(import_module(_CLASSES[kind]), kind).from_state(dict(state))


class Stateful:
    """What has a state: a dict of its parameters and of the arrays that it learns in.

    Subclasses name in `TAKES` the attributes that the constructor takes, and in `_arrays` what they learn in.
    """

    VERSION: ClassVar[int] = 3
    TAKES: ClassVar[str] = ""

    def state(self) -> State:
        """Everything needed to go on, as a versioned dict of arrays; ``numpy.savez(path, **state)`` writes it."""
        taken = {name: np.array(getattr(self, name)) for name in self.TAKES.split()}
        arrays = {name: array.copy() for name, array in self._arrays().items()}
        found = {"kind": np.array(type(self).__name__), "version": np.array(self.VERSION), **taken, **arrays}
        return {**found, "digest": np.array(_digest(found))}

    @classmethod
    def from_state(cls, state: Mapping[str, object]) -> Self:
        """Rebuild it from `state()`, or from what ``numpy.load`` gives for its file.

        A state of another kind or version, or that was changed since it was taken, is a ValueError.
        """
        with reading("state"):
            kind, version = state_text(state, "kind"), int(np.asarray(state["version"]))
            if (kind, version) != (cls.__name__, cls.VERSION):
                raise ValueError(
                    f"state must be of kind {cls.__name__}, version {cls.VERSION}, got kind {kind}, version {version}"
                )
            if (digest := state_text(state, "digest")) != _digest(state):
                raise ValueError(f"state must hold what its digest says, got another digest than {digest[:12]}..")
            thing = cls(**{name: _taken(state, name) for name in cls.TAKES.split()})
            for name, array in thing._arrays().items():
                array[...] = np.asarray(state[name])
            return thing

    def _arrays(self) -> State:
        """What has been learned: the live arrays, which a state is copied into."""
        raise NotImplementedError


def _digest(state: Mapping[str, object]) -> str:
    """Return a digest of all that a state holds, in hexadecimal."""
    found = sha256()
    for name in sorted(set(state) - {"digest"}):
        if isinstance(state[name], np.ma.MaskedArray):
            raise ValueError(f"state must hold {name} without a mask, got a masked array")
        array = np.asarray(state[name])
        found.update(f"{name} {array.dtype} {array.shape} ".encode() + array.tobytes())
    return found.hexdigest()


def _taken(state: Mapping[str, object], name: str) -> Any:
    """Return a parameter of a state: a text, a number or truth value, or an array."""
    value = np.asarray(state[name])
    return value if value.ndim else value.item()


def to_json(state: Mapping[str, object]) -> str:
    """Return a state as one line of JSON; numbers read back as they were.

    >>> from lpsm import StaticExpert
    >>> from_state(to_json(StaticExpert(2).state())).weights.tolist()
    [0.5, 0.5]
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"a state must be a mapping, got {shown(state)}")
    arrays = {name: np.asarray(value) for name, value in state.items()}
    entries = {
        name: {"type": array.dtype.str, "shape": list(array.shape), "values": [_plain(v) for v in array.ravel()]}
        for name, array in arrays.items()
    }
    return json.dumps({"format": FORMAT, "version": 1, "arrays": entries}, allow_nan=False)


def from_json(text: str) -> State:
    """Return the state in JSON text.

    Raises
    ------
    ValueError
        If it is no such text, or of another version.
    """
    if not isinstance(text, str) or len(text) > MOST_JSON:
        raise ValueError(f"a state in JSON must be a text of at most {MOST_JSON} characters, got {shown(text)}")
    try:
        found = json.loads(text)
        if (found["format"], found["version"]) != (FORMAT, 1):
            raise ValueError(f"format must be {FORMAT}, version 1, got {shown((found['format'], found['version']))}")
        return {str(name): _array(entry) for name, entry in found["arrays"].items()}
    except (KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError, JSONDecodeError) as error:
        raise ValueError(f"a state in JSON must be what to_json writes, got {text[:40]!r}") from error


def _array(entry: Mapping[str, Any]) -> Array:
    """Return the array of an entry; how long a text is its values tell, not its type, which may say anything."""
    kind, values, shape = entry["type"][1], entry["values"], entry["shape"]
    if set(map(type, values)) - _TYPES[kind] or any(type(n) is not int or n < 0 for n in shape):
        raise TypeError
    if prod(shape) != len(values):
        raise ValueError(f"values must be as many as the shape {shown(shape)} says, got {len(values)}")
    if kind == "U":
        if sum(map(len, values)) > MOST_TEXT:
            raise ValueError(f"texts of a state must have at most {MOST_TEXT} characters, got more")
        return np.array(values, np.str_).reshape(shape)
    if kind == "f":
        values = [_WORDS[v] if isinstance(v, str) else v for v in values]
    return np.array(values, entry["type"]).reshape(shape)


def _plain(value: np.generic) -> object:
    item = value.item()
    return str(item) if isinstance(item, float) and not np.isfinite(item) else item
