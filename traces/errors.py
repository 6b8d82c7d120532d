"""The one error of every reader: where it happened, which rule was broken, what was found."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike, fspath

PathName = str | PathLike[str]
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

    def __init__(self, path: PathName, where: str, rule: str, value: object) -> None:
        super().__init__(path, where, rule, value)  # constructible from args, so that it crosses processes
        self.path = fspath(path)
        self.where = where
        self.rule = rule
        self.value = value

    def __str__(self) -> str:
        try:
            text = self.value if isinstance(self.value, str) else repr(self.value)
        except ValueError:  # an integer of more digits than Python prints
            text = "a number of thousands of digits"
        text = text.encode("ascii", "backslashreplace").decode().replace("\n", "\\n").replace("\r", "\\r")
        text = text if len(text) <= _LONGEST_TEXT else text[: _LONGEST_TEXT - 3] + "..."
        place = f"{self.path}, {self.where}" if self.where else self.path
        return f"{place}: {self.rule}, got {text}"


class RuleError(ValueError):
    """A broken rule, and the value that breaks it, raised where nobody knows the place."""

    def __init__(self, rule: str, value: object) -> None:
        super().__init__(rule, value)
        self.rule, self.value = rule, value

    def at(self, path: PathName, where: str) -> TraceError:
        """Return the error with its place."""
        return TraceError(path, where, self.rule, self.value)


@contextmanager
def placed(path: PathName, where: str = "") -> Iterator[None]:
    """Make a `TraceError` at this place of a rule that is broken in the ``with`` block."""
    try:
        yield
    except RuleError as error:
        raise error.at(path, where) from None
