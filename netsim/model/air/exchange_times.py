"""What follows once a station has won the channel, and how long it takes: the rows of `netsim.model.things.Exchange`.

A frame and its acknowledgement, RTS and CTS before it, frames sent together and their block ACK, a PS-Poll with the
data that answers it, a null frame, a group frame.  Times are in nanoseconds from the beginning of the exchange;
frames of one exchange are SIFS apart.  The times of a `Phy` come from `netsim.model.air.air_times`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from netsim.model.air.air_times import (
    BLOCK_ACK_BYTES,
    CTS_BYTES,
    DATA_OVERHEAD_BYTES,
    NULL_BYTES,
    POLL_BYTES,
    QOS_BYTES,
    RTS_BYTES,
    Phy,
)

Ints = NDArray[np.int64]
Row = tuple[int, int, int, int, int, int, int, int]
_LONGEST_NS = 5_484_000


def answered(phy: Phy, size_bytes: int, rts_bytes: int | None, ack_ns: int) -> Row:
    """Return the times of a data frame, or of frames sent together, and the answer to it, with RTS and CTS if long."""
    frame, sifs = phy.data_ns(size_bytes), phy.sifs_ns
    if rts_bytes is None or size_bytes < rts_bytes:
        return frame, frame, frame + sifs + ack_ns, frame, ack_ns, frame, size_bytes, 1
    rts, cts = phy.lowest_ns(RTS_BYTES), phy.lowest_ns(CTS_BYTES)
    delivered = rts + sifs + cts + sifs + frame
    return rts, delivered, delivered + sifs + ack_ns, rts + frame, cts + ack_ns, frame, size_bytes, 1


def null(phy: Phy, mpdu_bytes: int) -> Row:
    """Return the times of a null frame that is acknowledged."""
    frame = phy.control_ns(mpdu_bytes)
    return frame, frame, frame + phy.sifs_ns + phy.ack_ns, frame, phy.ack_ns, 0, 0, 1


def polled(phy: Phy, mpdu_bytes: int) -> Row:
    """Return the times of a PS-Poll, the data frame of so many bytes that answers it, and its ACK."""
    poll, sifs, ack, frame = phy.control_ns(POLL_BYTES), phy.sifs_ns, phy.ack_ns, phy.data_ns(mpdu_bytes)
    return poll, poll + sifs + frame, poll + sifs + frame + sifs + ack, poll + ack, frame, frame, 0, 1


def group(phy: Phy, mpdu_bytes: int) -> Row:
    """Return the times of a group frame, which nobody answers."""
    frame = phy.lowest_ns(mpdu_bytes)
    return frame, frame, frame, frame, 0, 0, 0, 0


@lru_cache(maxsize=8)
def data_table(phy: Phy, rts_bytes: int | None, packet_bytes: int) -> Ints:
    """Return the times of data frames, a row a size, with packets of up to so many bytes; and of null frames."""
    rows = _table(packet_bytes, lambda size: answered(phy, size, rts_bytes, phy.ack_ns))
    for size in (NULL_BYTES, NULL_BYTES + QOS_BYTES):
        rows[size] = null(phy, size)
    return rows


@lru_cache(maxsize=8)
def fetch_table(phy: Phy, packet_bytes: int) -> Ints:
    """Return the times of PS-Polls, a row a size of the data frame that answers."""
    return _table(packet_bytes, lambda size: polled(phy, size))


def _table(packet_bytes: int, row: Callable[[int], Row]) -> Ints:
    """Return the rows of data frames with packets of up to so many bytes; smaller ones are not used."""
    rows = np.zeros((packet_bytes + DATA_OVERHEAD_BYTES + QOS_BYTES + 1, 8), dtype=np.int64)
    for size in range(DATA_OVERHEAD_BYTES + 1, len(rows)):
        rows[size] = row(size)
    return rows


@lru_cache(maxsize=4)
def together_table(phy: Phy, rts_bytes: int | None, max_bytes: int) -> Ints:
    """Return the times of frames sent together, a row a size of all of them."""
    rows = np.zeros((max_bytes + 1, 8), dtype=np.int64)
    for size in range(1, len(rows)):
        rows[size] = answered(phy, size, rts_bytes, phy.control_ns(BLOCK_ACK_BYTES))
    return rows


def most_together(phy: Phy, max_bytes: int) -> int:
    """Return the largest size of frames sent together, at most `max_bytes`, that a PPDU may have."""
    return bisect_right(range(max_bytes + 1), _LONGEST_NS, key=phy.data_ns) - 1
