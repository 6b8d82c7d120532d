"""Policies of one's own: an object, or a class that somebody names by its file or module, such as "mine.py:Patient".

A name runs nothing: only an `OwnPolicy` opens a file or imports a module, and only a class that has `plan` is called.
Who makes one trusts that Python.  The command line makes them of what was typed, and nothing else does.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from os.path import abspath, isfile
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

from lpsm.checks import of_type
from netsim.policies.entry import Setting
from netsim.policies.protocol import FAILURES, Policy, in_a_line


@dataclass(frozen=True, slots=True)
class OwnPolicy:
    """A class of one's own, opened where a policy is made of it: in other processes, too."""

    place: str  #: a file, FILE.py, or an importable module
    name: str  #: the class in it
    #: what its constructor is given, None: nothing.  It is given `beacon_interval_ns` and `radio` if it takes arguments
    #: of these names.
    parameter: str | None = None

    @classmethod
    def typed(cls, text: str) -> OwnPolicy | None:
        """Return what FILE.py:CLASS[:PARAMETER] or MODULE:CLASS[:PARAMETER] names; None if it must be another name."""
        of_type(str, text=text)
        place, _, rest = _parts(text)
        name, colon, parameter = rest.partition(":")
        parts = place.split(".")
        is_file = place.endswith(".py")
        if not name.isidentifier() or not (is_file or all(part.isidentifier() for part in parts)):
            return None
        beside = str(Path(*parts).with_suffix(".py"))  # where the program runs, which need not be on Python's path
        if is_file or isfile(beside):
            place = abspath(place if is_file else beside)
        else:
            try:
                if find_spec(parts[0]) is None:  # nothing is imported yet
                    return None
            except (ImportError, ValueError):
                return None
        return cls(place, name, parameter if colon else None)

    def load(self) -> type[Policy]:
        """Return the class.

        Raises
        ------
        ValueError
            If the file or the module cannot be loaded, or has no such class with a method `plan`.
        """
        module = vars(_module(self.place))
        found = module.get(self.name)
        if not _is_policy(found):
            classes = [key for key, value in module.items() if _is_policy(value)]
            there = f"; it has {', '.join(classes)}" if classes else ""
            raise ValueError(f"{self.place} has no class {self.name} with a method plan{there}")
        return found

    @property
    def file(self) -> Path:
        """The file of the class."""
        return Path(inspect.getfile(self.load()))

    def make(self, setting: Setting) -> Policy:
        """Make the policy, or raise a ValueError as `load` does."""
        kind = self.load()
        try:
            offered = {"beacon_interval_ns": setting.beacon_interval_ns, "radio": setting.radio}
            taken = inspect.signature(kind).parameters
            settings = {key: value for key, value in offered.items() if key in taken}
            return checked(kind(*([] if self.parameter is None else [self.parameter]), **settings))
        except FAILURES as error:
            raise ValueError(f"{self.name} of {self.place} makes no policy: {in_a_line(error)}") from error


def checked(policy: Any) -> Policy:
    """Return what is given if it is a policy; anything else is a TypeError."""
    if isinstance(policy, type) or not callable(getattr(policy, "plan", None)):
        raise TypeError(f"policy must be a name or an object with a method plan, got {policy!r}")
    for name in ("spec", "host_aware"):
        if not hasattr(policy, name):
            raise TypeError(f"a policy must have the attribute {name}, which {type(policy).__name__} has not")
    if not isinstance(policy.spec, str):
        raise TypeError(f"spec of the policy {type(policy).__name__} must be a str, got {policy.spec!r}")
    found: Policy = policy
    return found


def _is_policy(kind: object) -> TypeGuard[type[Policy]]:
    """Whether something is a class that has `plan`."""
    return isinstance(kind, type) and callable(getattr(kind, "plan", None))


def _parts(text: str) -> tuple[str, str, str]:
    """Part a text at the colon behind the file or module; a drive's letter is followed by a colon, too."""
    drive = len(text) > 2 and text[0].isalpha() and text[1] == ":" and text[2] in "\\/"
    start = 2 if drive else 0
    place, colon, rest = text[start:].partition(":")
    return text[:start] + place, colon, rest


def _module(place: str) -> ModuleType:
    if place.endswith(".py"):
        if not isfile(place):  # False, too, for a name that no file can have
            raise ValueError(f"there is no file {place}")
        return _from_file(Path(place).resolve(), Path(place).stat().st_mtime_ns)
    try:
        return import_module(place)
    except FAILURES as error:
        raise ValueError(f"the module {place} cannot be imported: {in_a_line(error)}") from error


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
        specification.loader.exec_module(module)
    except FAILURES as error:
        del sys.modules[name]
        raise ValueError(f"{path.name} cannot be loaded: {in_a_line(error)}") from error
    return module
