"""What a client waits for: known by the host, or inferred from the sizes of frames.

Both keep the same account, from the frames that a policy observes: how many connections
are being opened, whether a reply is coming in, and which requests have had no answer yet,
with the instants at which they were sent.  The host knows.  The link sees sizes only: a
packet up that is larger than a bare header asks for something, a frame down that is
larger than a header but shorter than the longest seen ends a reply.  That goes wrong
where a reply fills its last frame, or where nothing was asked for; so the link forgets
its account when something of the size of a SYN is sent from sleep, and after a silence.
"""

from __future__ import annotations

from collections.abc import Sequence

from netsim.policies.protocol import Frame

__all__ = ["HostAccount", "LinkAccount"]

_SMALLEST_FULL_BYTES = 576
"""Whatever is shorter cannot be a full frame: the least that IPv4 must carry (RFC 791)."""


class HostAccount:
    """What is outstanding, as the host knows it."""

    limits = (0, 0)

    def __init__(self) -> None:
        self._opening: set[object] = set()
        self._arriving: set[object] = set()
        self._asked_ns: dict[object, int] = {}  # the oldest first

    @property
    def opening(self) -> int:
        """Connections being opened."""
        return len(self._opening)

    @property
    def arriving(self) -> int:
        """Replies of which something but not all has come."""
        return len(self._arriving)

    @property
    def waiting(self) -> int:
        """Requests of whose replies nothing has come."""
        return len(self._asked_ns)

    @property
    def outstanding(self) -> bool:
        """Whether anything is: an answer of any kind may come."""
        return bool(self._opening or self._arriving or self._asked_ns)

    @property
    def oldest_ns(self) -> int:
        """When the oldest of these was sent."""
        return next(iter(self._asked_ns.values()))

    def observe(self, frame: Frame, *, asleep: bool = False) -> None:
        """Enter a frame; whether it was sent from sleep tells the host nothing."""
        host = frame.host
        if host is None:
            raise ValueError("frame.host must be given to a policy that is host_aware, got None")
        connection = host.connection
        if frame.sent:
            if host.opening:
                self._opening.add(connection)
            elif host.payload_bytes and connection not in self._arriving:
                self._asked_ns.setdefault(connection, frame.at_ns)
            return
        self._opening.discard(connection)
        if not host.payload_bytes:
            return
        asked = self._asked_ns.pop(connection, None)
        if host.completes:
            self._arriving.discard(connection)
        elif asked is not None:
            self._arriving.add(connection)

    def forget_after(self, now_ns: int) -> bool:
        """Whether silence until `now_ns` has made the account worthless; the host's never is."""
        return False

    def state(self) -> tuple[tuple[int, ...], list[int]]:
        """Return what it knows between pages, numbers and when what is waiting was sent, in the order of `resume`."""
        return (self.opening, self.arriving, 0, 0, 0), list(self._asked_ns.values())

    def resume(self, numbers: Sequence[int], asked_ns: Sequence[int]) -> None:
        """Take over what `state` returned, of connections that are no more."""
        opening, arriving, *_ = numbers
        self._opening, self._arriving = {object() for _ in range(opening)}, {object() for _ in range(arriving)}
        self._asked_ns = {object(): at for at in asked_ns}


class LinkAccount:
    """What is outstanding, as far as the sizes of frames tell.

    Parameters
    ----------
    bare_bytes : int
        Size of a packet without payload.
    silence_s : float
        After how long without a frame nothing is outstanding any more.

    Attributes
    ----------
    opening, arriving : int
        Connections being opened, and whether a reply is coming in.
    """

    def __init__(self, bare_bytes: int = 40, silence_s: float = 10.0) -> None:
        self._bare_bytes = bare_bytes
        self._silence_ns = round(silence_s * 1e9)
        self._full_bytes = _SMALLEST_FULL_BYTES
        self._last_ns = 0
        self._owed_ns = -1  # at this instant an acknowledgement is due, which is as small as a SYN
        self._asked_ns: list[int] = []
        self.opening = self.arriving = 0

    @property
    def waiting(self) -> int:
        """Requests inferred to have no reply yet, one that is coming in apart."""
        return max(0, len(self._asked_ns) - self.arriving)

    @property
    def oldest_ns(self) -> int:
        """When the oldest of these was sent."""
        return self._asked_ns[self.arriving]

    def observe(self, frame: Frame, *, asleep: bool = False) -> None:
        """Enter a frame, sent from sleep or not."""
        self.forget_after(frame.at_ns)
        self._last_ns = frame.at_ns
        bare = frame.size_bytes <= self._bare_bytes
        if frame.sent:
            if not bare:
                self._asked_ns.append(frame.at_ns)
            elif asleep:
                self._forget()
                self.opening = 1
            elif frame.at_ns != self._owed_ns:
                self.opening += 1
            self._owed_ns = -1
            return
        if bare:
            self._owed_ns = frame.at_ns if self.opening else -1  # the end of a handshake
            self.opening = max(0, self.opening - 1)
            return
        if frame.size_bytes >= self._full_bytes:
            self._full_bytes = frame.size_bytes
            self._owed_ns = frame.at_ns
            self.arriving = 1 if self._asked_ns else 0
        else:
            self.arriving = 0
            del self._asked_ns[:1]

    def forget_after(self, now_ns: int) -> bool:
        """Forget all if it has been silent for too long until `now_ns`; return whether there was anything."""
        if now_ns - self._last_ns < self._silence_ns:
            return False
        known = bool(self.opening or self.arriving or self._asked_ns)
        self._forget()
        return known

    @property
    def limits(self) -> tuple[int, int]:
        """Size of a packet without payload, and the silence after which all is forgotten, nanoseconds."""
        return self._bare_bytes, self._silence_ns

    def state(self) -> tuple[tuple[int, ...], list[int]]:
        """Return what it knows, numbers and when what was asked for was sent, in the order of `resume`."""
        return (self.opening, self.arriving, self._full_bytes, self._last_ns, self._owed_ns), self._asked_ns.copy()

    def resume(self, numbers: Sequence[int], asked_ns: Sequence[int]) -> None:
        """Take over what `state` returned."""
        self.opening, self.arriving, self._full_bytes, self._last_ns, self._owed_ns = numbers
        self._asked_ns = list(asked_ns)

    def _forget(self) -> None:
        self._asked_ns.clear()
        self.opening = self.arriving = 0
