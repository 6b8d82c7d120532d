"""Policies by name: "none", "psm:200", "bsd:0.5", "lpsm", and classes of one's own such as "mine.py:Patient".

The kinds of policy are those that the modules of this package declare in their `ENTRIES`.  A class of one's own is
written as the file or the importable module that it stands in, a colon, and its name; text behind a further colon goes
to its constructor.  It is made with `beacon_interval_ns` and `radio` if its constructor takes arguments of these names.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from difflib import get_close_matches
from functools import cache
from types import MappingProxyType
from typing import Any

from netsim.policies import bsd, bsd_phase, drivers, host, lpsm, lpsm2, lpsm3, own, static, twt
from netsim.policies.entry import Entry, Setting
from netsim.policies.protocol import Policy
from netsim.radio import Radio

__all__ = ["canonical", "make", "registry"]

_MODULES = (static, drivers, twt, bsd, bsd_phase, host, lpsm, lpsm2, lpsm3)
_BEACON_INTERVAL_NS = 100_000_000


@cache
def registry() -> Mapping[str, Entry]:
    """Return every kind of policy by the first part of its name.

    >>> registry()["bsd"].written, registry()["bsd"].example
    ('bsd[:P]', 'bsd:0.5')
    """
    entries = [entry for module in _MODULES for entry in module.ENTRIES]
    return MappingProxyType({entry.kind: entry for entry in entries})


def make(policy: str | Policy, *, beacon_interval_ns: int = _BEACON_INTERVAL_NS, radio: Radio | None = None) -> Policy:
    """Make a fresh policy from its name, or copy the policy given; `radio` is for those that weigh energy.

    Raises
    ------
    TypeError
        If what is given is neither a name nor a policy.
    ValueError
        If the name is unknown (the nearest known one is suggested), its parameter breaks its rule, or the class of
        one's own that it names cannot be loaded.
    """
    if not isinstance(policy, str):
        return deepcopy(own.checked(policy))
    spec, setting = policy, Setting(beacon_interval_ns=beacon_interval_ns, radio=radio)
    kind, colon, parameter = spec.strip().partition(":")
    entries = registry()
    if kind not in entries and (not own.is_meant(spec) or (_suggestion(kind) and not own.exists(kind))):
        raise ValueError(f"a policy must be one of {', '.join(entries)}, got {spec!r}{_suggestion(kind)}")
    try:
        if colon and not parameter:
            raise ValueError(f"nothing follows the colon; write {_written(kind)}")
        return entries[kind].make(parameter, setting) if kind in entries else own.load(spec.strip(), setting)
    except ValueError as error:
        raise ValueError(f"policy {spec!r}: {error}") from None


def canonical(policy: str | Policy, *, beacon_interval_ns: int = _BEACON_INTERVAL_NS) -> str:
    """Return the name that results carry: `psm` is `psm:100`, `bsd:1.0` is `bsd:1`, an object's is its `spec`.

    Raises
    ------
    TypeError, ValueError
        As `make` does.
    """
    if not isinstance(policy, str):
        return own.checked(policy).spec
    return make(policy, beacon_interval_ns=beacon_interval_ns).spec


def _suggestion(kind: str) -> str:
    """Return the nearest kind in words, if one is near: rather one character replaced than one taken away."""
    word, kinds = kind.lower(), list(registry())
    near = [known for known in get_close_matches(word, kinds, n=len(kinds), cutoff=0.8) if len(known) == len(word)]
    near = near or get_close_matches(word, kinds, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""


def _written(kind: str) -> str:
    known: Any = registry().get(kind)
    return known.written if known else f"{kind}:CLASS"
