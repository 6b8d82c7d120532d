"""The bytes of one direction of a TCP connection: counted once each, and put in order for those who read them.

The numbers of bytes, which begin anew after 2^32, are placed on one line.  Source: RFC 9293, section 3.4.
"""

import heapq

ACK, FIN, RST, SYN = 16, 1, 4, 2
_CIRCLE, _HALF = 1 << 32, 1 << 31
_LARGEST_GAP_BYTES = 1 << 20
_MOST_WAITING = 1 << 12
_MOST_HOLES = 1 << 8


class Stream:
    """What one side sent."""

    __slots__ = ("_end", "_held", "_holes", "_last", "_next", "ended", "waiting")

    def __init__(self) -> None:
        self._last = self._next = self._end = -1  # behind the latest byte, behind what is in order, behind the last one
        self._holes: list[tuple[int, int]] = []  # parts before `_last` that are yet to come
        self._held = 0
        self.waiting: list[tuple[int, bytes]] = []  #: What lies ahead, the nearest first.
        self.ended = False

    def at(self, sequence: int) -> int:
        """Return the place of a byte by its number."""
        return self._last + (sequence - self._last + _HALF) % _CIRCLE - _HALF

    def begin(self, sequence: int, opening: bool) -> None:
        """Note the number of the first byte: as a SYN tells it, or of the first segment that has any."""
        if self._last < 0:
            self._last = self._next = sequence + _CIRCLE
            if not opening:  # the capture began in the middle: what was sent before may come again
                self._holes.append((self._last - _HALF, self._last))

    def is_again(self, sequence: int) -> bool:
        """Tell whether a segment begins with the last byte that was sent, as one does that keeps a connection alive."""
        return self._last >= 0 and (sequence + 1 - self._last) % _CIRCLE == 0

    def count(self, sequence: int, size: int) -> int:
        """Return how many bytes of a segment are new."""
        if self._last < 0:
            self.begin(sequence, opening=False)
        last = self._last
        begin = self.at(sequence)
        end = begin + size
        if begin >= last:
            if begin > last:
                self._holes = [*self._holes, (last, begin)][-_MOST_HOLES:]
            self._last = end
            return size
        self._last = max(last, end)
        new, holes = max(0, end - last), self._holes
        self._holes = []
        for first, until in holes:
            low, high = max(first, begin), min(until, end)
            new += max(0, high - low)
            parts = ((first, low), (high, until)) if low < high else ((first, until),)
            self._holes += [part for part in parts if part[0] < part[1]]
        return new

    def take(self, sequence: int, flags: int, data: bytes) -> list[bytes]:
        """Take a segment that was counted; return the data that it makes contiguous."""
        if self._last < 0:
            return []
        at = self.at(sequence)
        if flags & FIN:
            self._end = at + len(data)
        if data and self._held + len(data) <= _LARGEST_GAP_BYTES and len(self.waiting) < _MOST_WAITING:
            self._held += len(data)
            heapq.heappush(self.waiting, (at, data))
        ready = self._contiguous()
        self.ended = self.ended or bool(flags & RST) or self._next == self._end
        return ready

    def fill(self, acknowledged: int) -> list[bytes]:
        """Stand in for packets that the receiver acknowledged and the capture lost, if later ones wait for them.

        The zeros returned first have their number; within a body that is all that matters.
        """
        gap = self.waiting[0][0] - self._next
        if not 0 < gap <= min(_LARGEST_GAP_BYTES, self.at(acknowledged) - self._next):
            return []
        self._next += gap
        return [bytes(gap), *self._contiguous()]

    def _contiguous(self) -> list[bytes]:
        """Take what is now in order out of what waits."""
        ready: list[bytes] = []
        while self.waiting and self.waiting[0][0] <= self._next:
            begin, piece = heapq.heappop(self.waiting)
            self._held -= len(piece)
            if new := piece[self._next - begin :]:
                ready.append(new)
                self._next += len(new)
        return ready
