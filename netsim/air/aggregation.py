"""Frames sent together: A-MPDUs, in which every frame is acknowledged, and sent again, by itself.

What is modelled: a station that wins the channel sends as many data frames for one receiver as wait and fit: at most
`max_ampdu_bytes` with delimiters and padding, 5.484 ms of air time, and 64 frames from the first that is not
acknowledged, as many as a block ACK tells of.  A frame that goes alone is sent and acknowledged as ever.  Each frame
may be lost by itself; if all are, or in a collision, nothing is answered (and of RTS, where it goes before them, no
CTS).  The sender goes on with those that were lost and those that have come to wait meanwhile, and gives a frame up
after the attempts that a frame has.  The receiver hands frames over in order: those behind a lost one wait for it.

The block ACK is never lost, so that both ends know the same, and one list tells what each has: the queue of the sender,
in which a frame stays until all before it are received or given up.

What is left out: how a block ACK is agreed on (it always is), block-ACK requests (a receiver knows at once of a frame
given up, and what was not answered at all is sent again as it is), a least distance of frames, and A-MSDUs.

Source: IEEE 802.11-2020, 9.7 (A-MPDU), 10.12 (its limits), 10.25 (block acknowledgment), 9.3.1.8 (BlockAck frame),
table 19-25 (longest PPDU).
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from netsim.air.exchanges import Exchange, Transmission

if TYPE_CHECKING:
    from netsim.air.access import Medium
    from netsim.air.contender import Contender

__all__ = ["BLOCK_ACK_FRAMES", "MAX_AMPDU_BYTES", "Aggregate", "Aggregator", "with_delimiter"]

MAX_AMPDU_BYTES = 65_535
BLOCK_ACK_FRAMES = 64
_LONGEST_NS = 5_484_000
_DELIMITER_BYTES, _MULTIPLE_BYTES = 4, 4
_MAX_MPDU_BYTES = 4095  # the length in a delimiter of HT has 12 bits


def with_delimiter(before_bytes: int, mpdu_bytes: int) -> int:
    """Return the size of an A-MPDU of `before_bytes` once a frame has joined it: padding, delimiter, frame."""
    return before_bytes + -before_bytes % _MULTIPLE_BYTES + _DELIMITER_BYTES + mpdu_bytes


class Aggregate(Transmission):
    """Data frames that are on the air together, in the place that the first of them had in its sender's queue.

    Attributes
    ----------
    frames : list of Transmission
        Those that are sent.
    lost : array of bool
        Of each of them, whether it is lost by itself.
    n_frames : int
        How many are sent.
    """

    __slots__ = ("_attempts", "_sender", "_span", "frames", "lost", "n_frames")

    def __init__(
        self,
        exchange: Exchange,
        sender: Contender,
        frames: list[Transmission],
        span: list[Transmission],
        attempts: int,
    ) -> None:
        super().__init__(exchange, _received, receiver=frames[0].receiver)
        self.frames, self.n_frames = frames, len(frames)
        self.lost = np.zeros(self.n_frames, dtype=np.bool_)
        self._sender, self._attempts = sender, attempts
        self._span = span  # the frames, and among them those that were received before and wait for one of these

    def draw_losses(self, rng: np.random.Generator, loss_rate: float) -> bool:
        """Draw a uniform a frame; return whether any frame is received."""
        self.lost = rng.random(self.n_frames) < loss_rate
        return not self.lost.all()

    def received(self) -> None:
        """Note which frames the receiver has, and hand over those that no other is awaited before."""
        sender, n_lost = self._sender, int(self.lost.sum())
        sender.delivered -= n_lost
        sender.lost += n_lost
        ends_ns = self.ends_ns()
        received = []
        for frame, is_lost, begin, end in zip(self.frames, self.lost, [0, *ends_ns], ends_ns, strict=False):
            if is_lost:
                self._fail(frame)
            else:
                frame.outcome, frame.air_ns = True, end - begin
                received.append(frame)
        sender.queue.extendleft(reversed(self._span))
        if received[0].heard is not None:
            received[0].heard()
        self.hand_over()

    def missed(self) -> bool:
        """Take the place of frames that were not answered by the frames themselves; return whether one is given up."""
        self._sender.queue.popleft()
        self._sender.queue.extendleft(reversed(self._span))
        self._sender.tries = 0  # each counts for itself
        for frame in self.frames:
            self._fail(frame)
        return any(frame.outcome is False for frame in self.frames)

    def _fail(self, frame: Transmission) -> None:
        frame.tries += 1
        if frame.tries >= self._attempts:
            frame.outcome = False

    def hand_over(self) -> None:
        """Let frames leave the queue up to the first that is neither received nor given up."""
        sender = self._sender
        queue = sender.queue
        while queue and queue[0].outcome is not None:
            frame = queue[0]
            if frame.outcome:
                frame.delivered(frame)
            else:
                sender.dropped += 1
            queue.popleft()
            if frame.ended is not None:
                frame.ended(bool(frame.outcome))
        if sender.exchanged is not None:
            sender.exchanged()

    def ends_ns(self) -> list[int]:
        """Return when each frame ends, from the beginning of the PPDU, whose preamble is shared out by their sizes."""
        ends, air_ns = [0], self.exchange.data_ns
        for frame in self.frames:
            ends.append(with_delimiter(ends[-1], frame.exchange.size_bytes))
        return [air_ns * end // ends[-1] for end in ends[1:]]


def _received(aggregate: Transmission) -> None:
    assert isinstance(aggregate, Aggregate)
    aggregate.received()


class Aggregator:
    """Puts frames together when they are sent.

    Parameters
    ----------
    medium : Medium
        The channel.
    max_ampdu_bytes : int
        Size of an A-MPDU at most.
    """

    def __init__(self, medium: Medium, max_ampdu_bytes: int) -> None:
        self._medium = medium
        self._most_bytes = bisect_right(range(max_ampdu_bytes + 1), _LONGEST_NS, key=medium.phy.data_ns) - 1

    def gather(self, sender: Contender) -> None:
        """Have the data frames that are sent together take the first place in the queue of a station."""
        queue = sender.queue
        frames, size, n_spanned = list[Transmission](), 0, 0
        for place, one in enumerate(islice(queue, BLOCK_ACK_FRAMES), 1):
            if one.outcome is not None:
                continue
            grown = with_delimiter(size, one.exchange.size_bytes)
            fits = grown <= self._most_bytes and one.exchange.size_bytes <= _MAX_MPDU_BYTES
            if one.exchange.kind != "data" or (frames and not fits):
                break
            frames.append(one)
            size, n_spanned = grown, place
            if not fits:
                break
        if not frames:
            return
        exchange = frames[0].exchange if len(frames) == 1 else self._medium.aggregated(size)
        span = [queue.popleft() for _ in range(n_spanned)]
        queue.appendleft(Aggregate(exchange, sender, frames, span, self._medium.attempts))
