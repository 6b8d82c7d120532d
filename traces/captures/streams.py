"""The bytes of one direction of a TCP connection: put in order, or only counted once each.

`Ordered` gives back the contents in order, for those who read them.  `Counted` tells of each segment how many of its
bytes were not seen before, for those who need no more; it holds no contents.  Source: RFC 9293, section 3.4.
"""

from __future__ import annotations

ACK, FIN, RST, SYN = 16, 1, 4, 2
_CIRCLE, _HALF = 1 << 32, 1 << 31
_LARGEST_GAP_BYTES = 1 << 20
_MOST_WAITING = 1 << 12
_MOST_HOLES = 1 << 8


class Counted:
    """How many bytes of a stream were captured, each counted once however often it was sent."""

    __slots__ = ("_holes", "_next")

    def __init__(self) -> None:
        self._next = -1
        self._holes: list[tuple[int, int]] = []  # parts before `_next` that are yet to come

    def begin(self, sequence: int) -> None:
        """Note the number of the first byte, as a SYN tells it."""
        if self._next < 0:
            self._next = sequence + _CIRCLE

    def is_again(self, sequence: int) -> bool:
        """Tell whether a segment begins with the last byte that was sent, as one does that keeps a connection alive."""
        return self._next >= 0 and (sequence + 1 - self._next) % _CIRCLE == 0

    def take(self, sequence: int, size: int) -> int:
        """Return how many bytes of a segment are new."""
        last = self._next
        if last < 0:  # the capture began in the middle: what was sent before may come again
            last = sequence + _CIRCLE
            self._holes.append((last - _HALF, last))
        begin = last + (sequence - last + _HALF) % _CIRCLE - _HALF
        end = begin + size
        if begin >= last:
            if begin > last:
                self._holes = [*self._holes, (last, begin)][-_MOST_HOLES:]
            self._next = end
            return size
        self._next = max(last, end)
        new, holes = max(0, end - last), self._holes
        self._holes = []
        for first, until in holes:
            low, high = max(first, begin), min(until, end)
            if low < high:
                new += high - low
                self._holes += [part for part in ((first, low), (high, until)) if part[0] < part[1]]
            else:
                self._holes.append((first, until))
        return new


class Ordered:
    """One direction of a connection, put in order."""

    __slots__ = ("_end", "_held", "_next", "ended", "waiting")

    def __init__(self) -> None:
        self._next = self._end = -1
        self._held = 0
        self.waiting: dict[int, bytes] = {}
        self.ended = False

    def take(self, at: int, flags: int, data: bytes) -> list[bytes]:
        """Take a segment by its number, its flags and its payload; return the data that it makes contiguous."""
        if flags & SYN:
            self._next = (at + 1) % _CIRCLE
            return []
        if self._next < 0:
            self._next = at
        if flags & FIN:
            self._end = (at + len(data)) % _CIRCLE
        longer = len(data) - len(self.waiting.get(at, b""))
        if longer > 0 and self._held + longer <= _LARGEST_GAP_BYTES and len(self.waiting) < _MOST_WAITING:
            self._held += longer
            self.waiting[at] = data
        ready = self._contiguous(at)
        self.ended = self.ended or bool(flags & RST) or self._next == self._end
        return ready

    def fill(self, acknowledged: int) -> list[bytes]:
        """Stand in for packets that the receiver acknowledged and the capture lost, if later ones wait for them.

        The zeros returned first have their number; within a body that is all that matters.
        """
        gap = min((begin - self._next) % _CIRCLE for begin in self.waiting)
        # an acknowledgement of more than half the circle is an old one
        if not 0 < gap <= min(_LARGEST_GAP_BYTES, (acknowledged - self._next) % _CIRCLE) or (
            (acknowledged - self._next) % _CIRCLE >= _HALF
        ):
            return []
        self._next = (self._next + gap) % _CIRCLE
        return [bytes(gap), *self._contiguous(self._next)]

    def _contiguous(self, at: int) -> list[bytes]:
        """Take what is now in order out of what waits, after a segment came in at `at`."""
        ready: list[bytes] = []
        if (self._next - at) % _CIRCLE >= _HALF:  # the new one lies ahead
            return ready
        while self.waiting:
            begin = self._next
            if begin not in self.waiting:  # one that begins before the next byte
                begin = next((one for one in self.waiting if (self._next - one) % _CIRCLE < _HALF), -1)
                if begin < 0:
                    break
            piece = self.waiting.pop(begin)
            self._held -= len(piece)
            if new := piece[(self._next - begin) % _CIRCLE :]:
                ready.append(new)
                self._next = (self._next + len(new)) % _CIRCLE
        return ready
