"""Python of one's own, called so that whatever it does ends in one error that names it, or in nothing.

What it models: `guarded`, a block in which somebody's own file runs.  What that raises is an error of the policy,
unless it was asked to stop; calls of its own by which the process would end or double without a word (`os._exit`,
`os.fork`) raise instead.  Threads that it leaves behind are an error at the end of the run.
What it leaves out: signals that it sends to itself, and loops without an end; Ctrl-C ends those.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from sysconfig import get_path
from traceback import extract_tb

__all__ = ["guarded", "in_a_line", "left_behind", "shown_safely", "unless_stopped"]

# where nobody's own files are
_PACKAGES = (str(Path(__file__).parents[2] / name) + os.sep for name in ("netsim", "experiments"))
_NOT_OWN = ("<", *_PACKAGES, get_path("stdlib"), get_path("purelib"))
_WORDLESS = ("_exit", "abort", "fork", "forkpty")


def _refusing(name: str, real: Callable[..., object]) -> Callable[..., object]:
    def refuse(*given: object) -> object:
        if sys._getframe(1).f_code.co_filename.startswith(_NOT_OWN):  # a handler of signals, or multiprocessing
            return real(*given)
        raise SystemExit(f"os.{name} must not be called by a policy")

    return refuse


class _Guarded:
    """A block that may stand within itself, and in several threads."""

    def __init__(self) -> None:
        self._real: dict[str, Callable[..., object]] = {}
        self._depth, self._lock = 0, threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            if not self._depth:
                self._real = {name: getattr(os, name) for name in _WORDLESS if hasattr(os, name)}
                vars(os).update((name, _refusing(name, real)) for name, real in self._real.items())
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if not self._depth:
                vars(os).update(self._real)

    @contextmanager
    def lifted(self) -> Iterator[None]:
        """Leave the block for as long as the program waits in it for its caller, whose calls are no policy's."""
        self.__exit__()
        try:
            yield
        finally:
            self.__enter__()


guarded = _Guarded()


def unless_stopped(error: BaseException) -> BaseException:
    """Return an error that somebody's own Python raised; raise it if it asks the program to stop (Ctrl-C)."""
    if isinstance(error, KeyboardInterrupt) or type(error).__name__ == "GreenletExit":  # of an environment that is over
        raise error
    return error


def left_behind(before: set[threading.Thread]) -> list[str]:
    """Return the names of threads that began since, and keep the process from ending; of more than three, how many."""
    left = [shown_safely(one.name) for one in threading.enumerate() if one not in before and not one.daemon]
    return left if len(left) <= 3 else [*left[:3], f"and {len(left) - 3} more"]


def shown_safely(value: object) -> str:
    """Return what a value is, in 200 characters, even if it cannot say so itself."""
    try:
        return f"{value!r:.200}"
    except BaseException as error:
        unless_stopped(error)
        return f"a {type(value).__name__} without a repr"


def in_a_line(error: BaseException) -> str:
    """Return the type of an exception, what it says, and where in somebody's file, in a line that is not too long."""
    try:
        text = " ".join(str(error).split())[:500]
    except BaseException as another:
        unless_stopped(another)
        text = "it cannot say what"
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    frames = [frame for frame in extract_tb(error.__traceback__) if not frame.filename.startswith(_NOT_OWN)]
    own = [frame for frame in frames if frame.filename == frames[0].filename]
    return f"{said} ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else said
