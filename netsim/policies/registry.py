"""Policies by name: "none", "psm:200", "bsd:0.5", "lpsm", as the modules of this package declare them in `ENTRIES`.

A name is one of these and nothing else, wherever it comes from.  A policy of one's own is an object, or an `OwnPolicy`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from difflib import get_close_matches
from functools import cache
from re import findall
from types import MappingProxyType
from typing import TypeAlias

from netsim.policies import (
    bsd,
    drivers,
    gaps,
    host,
    intent,
    lpsm,
    lpsm2,
    lpsm3,
    lpsm4,
    lpsm_driver,
    poll,
    static,
    timeouts,
    twt,
)
from netsim.policies.entry import Entry, Setting, assignments
from netsim.policies.guarded import guarded, in_a_line, unless_stopped
from netsim.policies.protocol import Policy, PolicyError
from netsim.policies.user_policy import OwnPolicy, checked
from netsim.radio import Radio

AnyPolicy: TypeAlias = str | Policy | OwnPolicy
"""A name of the registry, or a policy of one's own."""

_MODULES = (static, drivers, timeouts, twt, bsd, gaps, intent, host, poll, lpsm, lpsm2, lpsm3, lpsm4, lpsm_driver)
_BEACON_INTERVAL_NS = 100_000_000


@cache
def registry() -> Mapping[str, Entry]:
    """Return every kind of policy by the first part of its name.

    >>> registry()["bsd"].written, registry()["bsd"].example
    ('bsd[:P]', 'bsd:0.5')
    """
    entries = [entry for module in _MODULES for entry in module.ENTRIES]
    return MappingProxyType({entry.kind: entry for entry in entries})


def make(
    policy: AnyPolicy,
    *,
    beacon_interval_ns: int = _BEACON_INTERVAL_NS,
    radio: Radio | None = None,
    dtim_period: int = 1,
) -> Policy:
    """Make a fresh policy from its name for a world (`Setting`), or copy the policy given.

    Raises
    ------
    TypeError
        If what is given is neither a name nor a policy.
    ValueError
        If the name is unknown (the nearest known one is suggested), its parameter breaks its rule, or the class of
        one's own cannot be loaded.
    """
    setting = Setting(beacon_interval_ns=beacon_interval_ns, radio=radio, dtim_period=dtim_period)
    if isinstance(policy, OwnPolicy):
        return policy.make(setting)
    if not isinstance(policy, str):
        spec = _known(policy).spec
        try:
            with guarded:
                return checked(deepcopy(policy))
        except BaseException as error:
            raise PolicyError(f"policy {spec} cannot be copied: {in_a_line(error)}") from unless_stopped(error)
    kind, colon, parameter = policy.strip().partition(":")
    entries = registry()
    if kind not in entries:
        raise ValueError(f"a policy must be one of {', '.join(entries)}, got {policy!r}{_suggestion(kind)}")
    try:
        if colon and not parameter:
            raise ValueError(f"nothing follows the colon; write {entries[kind].written}")
        return entries[kind].make(_by_position(entries[kind], parameter), setting)
    except ValueError as error:
        raise ValueError(f"policy {policy!r}: {error}") from None


def canonical(policy: AnyPolicy, *, beacon_interval_ns: int = _BEACON_INTERVAL_NS) -> str:
    """Return the name that results carry: `psm` is `psm:100`, `bsd:1.0` is `bsd:1`, an object's is its `spec`."""
    if not isinstance(policy, str | OwnPolicy):
        return _known(policy).spec
    return make(policy, beacon_interval_ns=beacon_interval_ns).spec


def _known(policy: object) -> Policy:
    """Return a policy that is an object (`checked`); what its attributes raise is a `PolicyError`."""
    try:
        return checked(policy)
    except (TypeError, ValueError):
        raise
    except BaseException as error:
        what = f"policy {type(policy).__name__} cannot be asked what it is: {in_a_line(error)}"
        raise PolicyError(what) from unless_stopped(error)


def split(names: str) -> list[str]:
    """Part policies at the commas of a text; NAME=VALUE goes with the policy before it.

    >>> split("psm, lpsm:energy=log,gamma=1e-4,none")
    ['psm', 'lpsm:energy=log,gamma=1e-4', 'none']
    """
    found: list[str] = []
    for part in map(str.strip, names.split(",")):
        if found and "=" in part.partition(":")[0]:
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found


def _by_position(entry: Entry, parameter: str) -> str:
    """Return parameters written NAME=VALUE,... as they stand behind one another; an entry of its own names keeps them.

    The names are those in `Entry.written`, in small letters.
    """
    if "=" not in parameter or "=" in entry.written:
        return parameter
    names = [name.lower() for name in findall(r"[A-Z][A-Z_]*", entry.written)]
    given = assignments(parameter, names)
    values = [given.get(name, "") for name in names]
    while values and not values[-1]:
        values.pop()
    if "" in values[1:]:
        raise ValueError(
            f"{names[values.index('', 1)]} must be given before {names[len(values) - 1]}, got {parameter!r}"
        )
    return ":".join(values)


def _suggestion(kind: str) -> str:
    """Return the nearest kind in words, if one is near: rather two characters changed round, or one, than one less."""
    if kind.endswith(".py"):
        return "; a class of one's own is given as an object, or on the command line as FILE.py:CLASS"
    word, kinds = kind.lower(), list(registry())
    near = [known for known in get_close_matches(word, kinds, n=len(kinds), cutoff=0.8) if len(known) == len(word)]
    near = [known for known in kinds if sorted(known) == sorted(word)] or near
    near = near or get_close_matches(word, kinds, n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""
