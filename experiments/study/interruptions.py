"""What ends a program early, and with which exit status: Ctrl-C, and the signals that ask it to terminate or hang up.

A handler raises `Interrupted` in the main thread.  On its way up each layer puts its things in order and raises it
again with what it has to say, so that the last one to see it, the command line, can print what is kept.
"""

from __future__ import annotations

import signal

__all__ = ["SIGNALS", "Interrupted"]

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Interrupted(KeyboardInterrupt):
    """The program was asked to stop; what was finished is in order, and the message says what is kept.

    Parameters
    ----------
    message : str
        What is kept; empty while nobody has anything to say.
    number : int
        The signal that asked for it.
    """

    def __init__(self, message: str = "", number: int = signal.SIGINT) -> None:
        super().__init__(message)
        self.number = int(number)

    @classmethod
    def saying(cls, message: str, earlier: KeyboardInterrupt) -> Interrupted:
        """Return one of the same signal with another message, which begins with what happened."""
        number = earlier.number if isinstance(earlier, Interrupted) else int(signal.SIGINT)
        found = cls("", number)
        return cls(f"{str(earlier) or found.word}{message}", number)

    @property
    def word(self) -> str:
        """What happened, in a word."""
        return "interrupted" if self.number == signal.SIGINT else "terminated"

    @property
    def status(self) -> int:
        """The exit status that a shell expects: 128 and the number of the signal."""
        return 128 + self.number
