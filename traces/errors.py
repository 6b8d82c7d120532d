"""The one error of every reader: where it happened, which rule was broken, what was found."""

from __future__ import annotations

from os import PathLike, fspath

__all__ = ["TraceError"]

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


def _short(value: object) -> str:
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:  # an integer of more digits than Python prints
        text = "a number of thousands of digits"
    printable = text.encode("ascii", "backslashreplace").decode().replace("\n", "\\n").replace("\r", "\\r")
    return printable if len(printable) <= _LONGEST_TEXT else printable[: _LONGEST_TEXT - 3] + "..."
