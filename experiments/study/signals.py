"""Signals and exit statuses: Ctrl-C, and the signals that ask it to terminate or hang up.

A handler raises `Interrupted` in the main thread.  On its way up each layer puts its things in order and adds a note to
it, so that the last one to see it, the command line, can print what is kept.  Python drops an exception that
is raised while it frees an object or calls back from C; so the handler remembers the signal, and what goes through
tasks calls `check` after each, which raises again what was lost.  Who is impatient and presses Ctrl-C again does not
disturb that order, and ends the program at once if it takes longer than `GRACE_S`.
"""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GRACE_S = 5.0


class Interrupted(KeyboardInterrupt):
    """The program was asked to stop by a signal; what was finished is in order, and the notes say what is kept.

    `status` is what a shell expects: 128 and the number of the signal.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__("interrupted" if number == signal.SIGINT else "terminated")
        self.status = 128 + number


class Handler:
    """Raises `Interrupted` for the first signal; ends the program if a kernel is compiled, which would lose that.

    `came` is the first signal that came, 0 before any has; while `waits`, nothing is raised.
    """

    came, waits, _at_s = 0, False, 0.0

    def __call__(self, number: int, _frame: Any) -> None:
        """Remember the signal, and raise."""
        first = not self.came
        if first:
            self.came, self._at_s = number, monotonic()
        stopped, where = Interrupted(self.came), "while compiling"
        compiler = sys.modules.get("numba.core.compiler_lock")
        if compiler is None or not compiler.global_compiler_lock.is_locked():
            if first and not self.waits:
                raise stopped
            if monotonic() - self._at_s < GRACE_S:
                return
            where = "again"
        os.write(2, f"lpsm: {stopped} {where}; what was finished before is kept\n".encode())
        os._exit(stopped.status)


@contextmanager
def handled(*, to_the_end: bool) -> Iterator[None]:
    """Have a `Handler` called, within the block, for the signals that stop a program; nohup's ignored ones stay so.

    With `to_the_end` of the process, what comes after the block finds it done and its exit status known.
    """
    handler, before = Handler(), dict[int, Any]()
    for number in SIGNALS if threading.current_thread() is threading.main_thread() else ():
        if number == signal.SIGINT or signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, handler) or signal.SIG_DFL
    try:
        yield
    finally:
        handler.waits = True
        for one, earlier in before.items():
            signal.signal(one, signal.SIG_IGN if to_the_end else earlier)


def check() -> None:
    """Raise `Interrupted` if a signal has come to a `Handler`, whatever became of the exception that said so."""
    handler = signal.getsignal(signal.SIGINT)
    if isinstance(handler, Handler) and handler.came:
        raise Interrupted(handler.came)


@contextmanager
def put_off() -> Iterator[None]:
    """Have a `Handler` wait until the end of the block; processes it starts never hear of Ctrl-C or of a hang-up."""
    handler, unheard = signal.getsignal(signal.SIGINT), (signal.SIGINT, signal.SIGHUP)
    handler = handler if isinstance(handler, Handler) else Handler()
    signal.pthread_sigmask(signal.SIG_BLOCK, unheard)  # which processes inherit
    handler.waits = True
    try:
        yield
    finally:
        handler.waits = False
        signal.pthread_sigmask(signal.SIG_UNBLOCK, unheard)
    check()
