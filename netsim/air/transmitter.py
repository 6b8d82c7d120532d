"""A client's own queue: frames wait until its radio is awake, and contend for the channel then."""

from __future__ import annotations

from netsim.air.access import Contender
from netsim.air.exchanges import Transmission
from netsim.clock import Clock, Occurrence

__all__ = ["Transmitter"]


class Transmitter:
    """Sends for a client whose radio needs time to wake up.

    Parameters
    ----------
    env : Clock
        Tells and keeps the time.
    contender : Contender
        The client on the channel.

    Attributes
    ----------
    ready_ns : int
        When the radio is awake, or was.
    """

    __slots__ = ("_env", "_pending", "contender", "ready_ns")

    def __init__(self, env: Clock, contender: Contender) -> None:
        self._env = env
        self.contender = contender
        self.ready_ns = 0
        self._pending: list[Transmission] = []

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to send."""
        return not self._pending and not self.contender.queue

    def send(self, transmission: Transmission) -> None:
        """Send as soon as the radio is awake."""
        if self.ready_ns <= self._env.now:
            self.contender.send(transmission)
            return
        if not self._pending:
            Occurrence(self._env, self.ready_ns, self._on_ready)
        self._pending.append(transmission)

    def withdraw(self, transmission: Transmission) -> bool:
        """Take a frame back; return whether it was not on the air yet."""
        if self.contender.on_air:
            return False
        self.contender.queue.remove(transmission)
        return True

    def _on_ready(self, _: Occurrence) -> None:
        pending, self._pending = self._pending, []
        for transmission in pending:
            self.contender.send(transmission)
