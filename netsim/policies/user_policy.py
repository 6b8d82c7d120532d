"""Policies of one's own: an object, or a class that somebody names by its file, such as "mine.py:Patient".

A name runs nothing: only an `OwnPolicy` opens a file, and only a class that has `plan` is called.
Who makes one trusts that Python.  The command line makes them of what was typed, and nothing else does.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from functools import cache
from os.path import abspath, isfile
from pathlib import Path
from re import fullmatch
from types import ModuleType
from typing import Any, TypeGuard

from lpsm.checks import of_type
from netsim.policies.entry import Setting
from netsim.policies.guarded import guarded, in_a_line, shown_safely, unless_stopped
from netsim.policies.protocol import Policy

_LONGEST = 200  # characters of a spec


@dataclass(frozen=True, slots=True)
class OwnPolicy:
    """A class of one's own, or an exported policy, opened where a policy is made of it: in other processes, too."""

    place: str  #: a file, FILE.py or FILE.so
    name: str  #: the class in it; "": it is a library
    #: what its constructor is given, None: nothing.  It is given `beacon_interval_ns` and `radio` if it takes arguments
    #: of these names.
    parameter: str | None = None

    @classmethod
    def typed(cls, text: str) -> OwnPolicy | None:
        """Return what FILE.py:CLASS[:PARAMETER] names, or FILE.so, a policy exported as C; None for any other name."""
        of_type(str, text=text)
        if text.endswith(".so"):
            return cls(abspath(text), "")
        found = fullmatch(r"(.+?\.py):([^\W\d]\w*)(?::(.*))?", text)
        return None if found is None else cls(abspath(found[1]), found[2], found[3])

    def load(self) -> type[Policy]:
        """Return the class; a file that cannot be loaded, or has no such class with a `plan`, is a ValueError."""
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
        if not self.name:
            from netsim.firmware.library import Exported

            return Exported(self.place, setting.beacon_interval_ns)
        kind = self.load()
        try:
            offered = {"beacon_interval_ns": setting.beacon_interval_ns, "radio": setting.radio}
            taken = inspect.signature(kind).parameters
            settings = {key: value for key, value in offered.items() if key in taken}
            with guarded:
                return checked(kind(*([] if self.parameter is None else [self.parameter]), **settings))
        except BaseException as error:
            what = f"{self.name} of {self.place} makes no policy: {in_a_line(error)}"
            raise ValueError(what) from unless_stopped(error)


def checked(policy: Any) -> Policy:
    """Return what is given if it is a policy; anything else is a TypeError."""
    if isinstance(policy, type) or not callable(getattr(policy, "plan", None)):
        forgot = "; did you forget ()?" if _is_policy(policy) else ""
        raise TypeError(f"policy must be a name or an object with a method plan, got {shown_safely(policy)}{forgot}")
    whose = type(policy).__name__
    for name in ("spec", "host_aware"):
        if not hasattr(policy, name):
            raise TypeError(f"a policy must have the attribute {name}, which {whose} has not")
    if type(spec := policy.spec) is not str:
        raise TypeError(f"spec of the policy {whose} must be a str, got {shown_safely(spec)}")
    if not 0 < len(spec) <= _LONGEST:
        raise ValueError(f"spec of the policy {whose} must have 1 to {_LONGEST} characters, got {spec[:40]!a}")
    if type(aware := policy.host_aware) not in (bool, int):
        raise TypeError(f"host_aware of the policy {whose} must be a bool, got {shown_safely(aware)}")
    from netsim.policies.compiled import CompiledForm

    if not isinstance(form := getattr(policy, "compiled", None), CompiledForm | None):
        raise TypeError(f"compiled of the policy {whose} must be a CompiledForm, got {shown_safely(form)}")
    found: Policy = policy
    return found


def _is_policy(kind: object) -> TypeGuard[type[Policy]]:
    """Whether something is a class that has `plan`."""
    return isinstance(kind, type) and callable(getattr(kind, "plan", None))


@cache
def _from_file(path: Path, changed_ns: int) -> ModuleType:
    """Load a file once for as long as it stays the same; no bytecode is taken from beside it, or left there."""
    name = path.stem if path.stem not in sys.modules else f"policies_of_{path.stem}_{changed_ns}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # where pickle and dataclasses look for it
    try:
        with guarded:
            exec(compile(path.read_bytes(), path, "exec"), vars(module))
    except BaseException as error:
        del sys.modules[name]
        raise ValueError(f"{path.name} cannot be loaded: {in_a_line(error)}") from unless_stopped(error)
    return module
