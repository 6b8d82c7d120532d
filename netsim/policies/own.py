"""Policies of one's own: an object, or a class named by its file or module, such as "mine.py:Patient"."""

from __future__ import annotations

import inspect
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from os.path import isfile
from pathlib import Path
from types import ModuleType
from typing import Any

from netsim.policies.entry import Setting
from netsim.policies.protocol import Policy

__all__ = ["checked", "exists", "is_meant", "load"]


def is_meant(text: str) -> bool:
    """Whether a text names a class of one's own: a file or a module, a colon, and what can be a class."""
    place, colon, rest = _parts(text)
    name = rest.partition(":")[0]
    return bool(colon) and name.isidentifier() and (place.endswith(".py") or _is_module(place))


def exists(place: str) -> bool:
    """Whether there is a file or a module of this name."""
    if place.endswith(".py") or isfile(Path(*place.split(".")).with_suffix(".py")):
        return True
    try:
        return find_spec(place) is not None
    except (ImportError, ValueError):
        return False


def checked(policy: Any) -> Policy:
    """Return what is given if it is a policy.

    Raises
    ------
    TypeError
        If it is not.
    """
    if isinstance(policy, type) or not callable(getattr(policy, "plan", None)):
        raise TypeError(f"policy must be a name or an object with a method plan, got {policy!r}")
    for name in ("spec", "host_aware"):
        if not hasattr(policy, name):
            raise TypeError(f"a policy must have the attribute {name}, which {type(policy).__name__} has not")
    return policy


def load(text: str, setting: Setting) -> Policy:
    """Make a policy from FILE.py:CLASS[:PARAMETER] or MODULE:CLASS[:PARAMETER].

    Raises
    ------
    ValueError
        If the file or the module cannot be loaded, has no such class, or what the class makes is no policy.
    """
    place, _, rest = _parts(text)
    name, colon, parameter = rest.partition(":")
    module = _module(place)
    found = getattr(module, name, None)
    if not isinstance(found, type):
        classes = [key for key, value in vars(module).items() if isinstance(value, type) and hasattr(value, "plan")]
        there = f"; it has {', '.join(classes)}" if classes else ""
        raise ValueError(f"{place} has no class {name}{there}")
    try:
        offered = {"beacon_interval_ns": setting.beacon_interval_ns, "radio": setting.radio}
        taken = inspect.signature(found).parameters
        settings = {key: value for key, value in offered.items() if key in taken}
        return checked(found(*([parameter] if colon else []), **settings))
    except Exception as error:
        raise ValueError(f"{name} of {place} makes no policy: {_in_a_line(error)}") from None


def _parts(text: str) -> tuple[str, str, str]:
    """Part a text at the colon behind the file or module; a drive's letter is followed by a colon, too."""
    drive = len(text) > 2 and text[0].isalpha() and text[1] == ":" and text[2] in "\\/"
    start = 2 if drive else 0
    place, colon, rest = text[start:].partition(":")
    return text[:start] + place, colon, rest


def _is_module(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _module(place: str) -> ModuleType:
    if place.endswith(".py"):
        path = Path(place)
        if not isfile(path):
            raise ValueError(f"there is no file {place}")
        return _from_file(path.resolve(), path.stat().st_mtime_ns)
    beside = Path(*place.split(".")).with_suffix(".py")  # where the program runs, which need not be on Python's path
    if isfile(beside):  # False, too, for a name that no file can have
        return _from_file(beside.resolve(), beside.stat().st_mtime_ns)
    try:
        return import_module(place)
    except Exception as error:
        raise ValueError(f"the module {place} cannot be imported: {_in_a_line(error)}") from None


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
    except Exception as error:
        del sys.modules[name]
        raise ValueError(f"{path.name} cannot be loaded: {_in_a_line(error)}") from None
    return module


def _in_a_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
