"""Policies of one's own: an object, or a class that somebody names by its file, such as "mine.py:Patient".

A name runs nothing: only an `OwnPolicy` opens a file, and only a class that has `plan` is called.
Who makes one trusts that Python.  The command line makes them of what was typed, and nothing else does.
"""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from os.path import abspath, isfile
from pathlib import Path
from re import fullmatch
from types import ModuleType
from typing import Any, TypeGuard

from lpsm.checks import of_type
from netsim.policies.entry import Setting
from netsim.policies.protocol import Policy, PolicyError, checked_name, guarded


@dataclass(frozen=True, slots=True)
class OwnPolicy:
    """A class of one's own, opened where a policy is made of it: in other processes, too."""

    place: str  #: a file, FILE.py
    name: str  #: the class in it
    #: what its constructor is given, None: nothing.  It is given `beacon_interval_ns` and `radio` if it takes arguments
    #: of these names.
    parameter: str | None = None

    @classmethod
    def typed(cls, text: str) -> OwnPolicy | None:
        """Return what FILE.py:CLASS[:PARAMETER] names; None if it must be another name."""
        of_type(str, text=text)
        found = fullmatch(r"(.+?\.py):([^\W\d]\w*)(?::(.*))?", text)
        return None if found is None else cls(abspath(found[1]), found[2], found[3])

    def load(self) -> type[Policy]:
        """Return the class.

        Raises
        ------
        ValueError
            If the file cannot be loaded, or has no such class with a method `plan`.
        """
        if not isfile(self.place):  # False, too, for a name that no file can have
            raise ValueError(f"there is no file {self.place}")
        module = vars(_from_file(Path(self.place).resolve(), Path(self.place).stat().st_mtime_ns))
        found = module.get(self.name)
        if not _is_policy(found):
            classes = [key for key, value in module.items() if _is_policy(value)]
            there = f"; it has {', '.join(classes)}" if classes else ""
            raise ValueError(f"{self.place} has no class {self.name} with a method plan{there}")
        return found

    def make(self, setting: Setting) -> Policy:
        """Make the policy, or raise a ValueError as `load` does."""
        kind = self.load()
        with guarded(f"{self.name} of {self.place} makes no policy:", ValueError):
            offered = {"beacon_interval_ns": setting.beacon_interval_ns, "radio": setting.radio}
            taken = inspect.signature(kind).parameters
            settings = {key: value for key, value in offered.items() if key in taken}
            return checked(kind(*([] if self.parameter is None else [self.parameter]), **settings))


def checked(policy: Any) -> Policy:
    """Return what is given if it is a policy; anything else is a TypeError."""
    kind, missing = type(policy).__name__, object()
    with guarded(f"a policy must have the attributes plan, spec and host_aware, {kind} raised", TypeError):
        plan, spec, host_aware = (getattr(policy, name, missing) for name in ("plan", "spec", "host_aware"))
    if isinstance(policy, type) or not callable(plan):
        raise TypeError(f"policy must be a name or an object with a method plan, got {_shown(policy)}")
    for name, value in (("spec", spec), ("host_aware", host_aware)):
        if value is missing:
            raise TypeError(f"a policy must have the attribute {name}, which {kind} has not")
    checked_name(policy, spec)
    if not isinstance(host_aware, bool):
        raise TypeError(f"host_aware of the policy {spec} must be True or False, got {_shown(host_aware)}")
    found: Policy = policy
    return found


@contextmanager
def watched(policies: Sequence[Policy]) -> Iterator[None]:
    """Watch over a run that calls Python of somebody's own: it ends no process, leaves no thread, keeps its name.

    What does not is a `PolicyError`, which what ends the process raises in its place.
    """
    names, threads = [policy.spec for policy in policies], {*threading.enumerate()}
    ends: dict[str, Any] = {name: vars(os)[name] for name in ("_exit", "fork") if name in vars(os)}

    def refused(*_: object) -> None:
        raise RuntimeError("a policy must neither end the process nor fork it")

    vars(os).update(dict.fromkeys(ends, refused))
    try:
        yield
    finally:
        vars(os).update(ends)
    for policy, name in zip(policies, names, strict=True):
        if policy.spec != name:
            raise PolicyError(f"policy {name}: its spec must stay the same, it became {_shown(policy.spec)}", policy)
    if any(one.is_alive() and not one.daemon for one in {*threading.enumerate()} - threads):
        raise PolicyError(f"policy {names[0]}: it left a thread that goes on", policies[0])


def _shown(value: object) -> str:
    """Return a value as text, or its type where it has none."""
    with suppress(Exception):
        return f"{value!r:.200}" + ("; did you forget ()?" if _is_policy(value) else "")
    return f"an object of the type {type(value).__name__}"


def _is_policy(kind: object) -> TypeGuard[type[Policy]]:
    """Whether something is a class that has `plan`."""
    return isinstance(kind, type) and callable(getattr(kind, "plan", None))


@cache
def _from_file(path: Path, changed_ns: int) -> ModuleType:
    """Load a file once for as long as it stays the same."""
    name = path.stem if path.stem not in sys.modules else f"policies_of_{path.stem}_{changed_ns}"
    specification = spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise ValueError(f"{path.name} cannot be loaded as a module")
    module = module_from_spec(specification)
    sys.modules[name] = module  # where pickle and dataclasses look for it
    try:
        with guarded(f"{path.name} cannot be loaded:", ValueError):
            specification.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
