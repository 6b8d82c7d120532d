"""States of learners, samplers and combiners: which class a state is of, and states as JSON text.

What it models: every `state()` is a dict of arrays that names its kind and its version, fit for ``numpy.savez``.
`from_state` finds the class; `to_json` and `from_json` write the same dict as text, number for number.
What it leaves out: what is in a state, which is each class's own business.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["from_json", "from_state", "to_json"]

_CLASSES = {
    **dict.fromkeys(("StaticExpert", "FixedShare", "MarkovShare", "LearnAlpha"), "lpsm.experts"),
    "Combiner": "lpsm.combining",
    "Sampler": "lpsm.samplers",
    "MulticlassSampler": "lpsm.samplers",
    "TunedSampler": "lpsm.samplers",
}
FORMAT = "lpsm-state"
_WORDS = {"inf": np.inf, "-inf": -np.inf, "nan": np.nan}


def from_state(state: Mapping[str, Any] | str) -> Any:
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
    kind = str(state["kind"]) if "kind" in state else "Sampler" if "state_counts" in state else "none"
    if kind not in _CLASSES:
        raise ValueError(f"a state must be of one of {', '.join(_CLASSES)}, got {kind!r}")
    return getattr(import_module(_CLASSES[kind]), kind).from_state(dict(state))


def to_json(state: Mapping[str, Any]) -> str:
    """Return a state as one line of JSON; numbers read back as they were.

    >>> from lpsm import StaticExpert
    >>> from_state(to_json(StaticExpert(2).state())).weights.tolist()
    [0.5, 0.5]
    """
    arrays = {name: np.asarray(value) for name, value in state.items()}
    entries = {
        name: {"type": array.dtype.str, "shape": list(array.shape), "values": [_plain(v) for v in array.ravel()]}
        for name, array in arrays.items()
    }
    return json.dumps({"format": FORMAT, "version": 1, "arrays": entries}, allow_nan=False)


def from_json(text: str) -> dict[str, NDArray[Any]]:
    """Return the state in JSON text.

    Raises
    ------
    ValueError
        If it is no such text, or of another version.
    """
    try:
        found = json.loads(text)
        if (found["format"], found["version"]) != (FORMAT, 1):
            raise ValueError(f"format must be {FORMAT}, version 1, got {found['format']!r}, {found['version']!r}")
        return {
            str(name): np.array([_WORDS.get(v, v) if isinstance(v, str) and entry["type"][1] == "f" else v
                                 for v in entry["values"]], dtype=entry["type"]).reshape(entry["shape"])
            for name, entry in found["arrays"].items()
        }  # fmt: skip
    except (KeyError, TypeError, IndexError, AttributeError, json.JSONDecodeError) as error:
        raise ValueError(f"a state in JSON must be what to_json writes, got {text[:40]!r}") from error


def _plain(value: Any) -> Any:
    item = value.item()
    return str(item) if isinstance(item, float) and not np.isfinite(item) else item
