"""The one error of every reader: where it happened, which rule was broken, what was found."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Protocol, Self

__all__ = ["Place", "RuleError", "TraceError"]

_LONGEST_TEXT = 80  # of a value in a message, characters


class TraceError(ValueError):
    """A trace or workload breaks a rule of its format.

    Parameters
    ----------
    path : path-like
        The file (or archive) that was read.
    where : str
        The place in it: ``"line 3"``, ``"byte 392"``, ``"member con1.cs18.7"``; may be empty.
    rule : str
        What must hold there.
    value : object
        What was found; long values are cut.

    Examples
    --------
    >>> print(TraceError("w.jsonl", "line 3", "think_s must be at least 0", -1))
    w.jsonl, line 3: think_s must be at least 0, got -1
    """

    def __init__(self, path: str | PathLike[str], where: str, rule: str, value: object) -> None:
        super().__init__(path, where, rule, value)  # constructible from args, so that it crosses processes
        self.path = fspath(path)
        self.where = where
        self.rule = rule
        self.value = value

    def __str__(self) -> str:
        place = f"{self.path}, {self.where}" if self.where else self.path
        return f"{place}: {self.rule}, got {_short(self.value)}"


class RuleError(ValueError):
    """A broken rule, and the value that breaks it, raised where nobody knows the place; `Place` adds it."""

    def __init__(self, rule: str, value: object) -> None:
        super().__init__(rule, value)
        self.rule = rule
        self.value = value


class Counter(Protocol):
    """Where things are counted by name."""

    def count(self, name: str, occurrences: int = 1) -> None:
        """Add occurrences of something."""


class Place:
    """Where a reader is: a rule that is broken inside ``with place.at("line", 3):`` is a `TraceError` there.

    Parameters
    ----------
    path : path-like
        The file that is read.
    report : Counter, optional
        If given, damage is counted here and what follows the block goes on, in place of the error.

    Examples
    --------
    >>> with Place("w.jsonl").at("line", 3):
    ...     raise RuleError("think_s must be at least 0", -1)
    Traceback (most recent call last):
    traces.errors.TraceError: w.jsonl, line 3: think_s must be at least 0, got -1
    """

    __slots__ = ("_number", "_path", "_report", "_unit")

    def __init__(self, path: str | PathLike[str], report: Counter | None = None) -> None:
        self._path = path
        self._report = report
        self._unit, self._number = "", 0

    def at(self, unit: str, number: int) -> Self:
        """Move to a place, such as a line or an entry, by its number."""
        self._unit, self._number = unit, number
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, RuleError):
            return False
        if self._report is None:
            where = f"{self._unit} {self._number}" if self._unit else ""
            raise TraceError(self._path, where, error.rule, error.value) from None
        self._report.count("damaged")
        return True


def _short(value: object) -> str:
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:  # an integer of more digits than Python prints
        text = "a number of thousands of digits"
    printable = text.encode("ascii", "backslashreplace").decode().replace("\n", "\\n").replace("\r", "\\r")
    return printable if len(printable) <= _LONGEST_TEXT else printable[: _LONGEST_TEXT - 3] + "..."
