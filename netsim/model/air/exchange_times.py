"""What follows once a station has won the channel, and how long it takes: the rows of `netsim.model.entities.Exchange`.

A frame and its acknowledgement, RTS and CTS before it, frames sent together and their block ACK, a PS-Poll with the
data that answers it, a null frame, a group frame.  Times are in nanoseconds from the beginning of the exchange;
frames of one exchange are SIFS apart.  The times of a `Phy` come from `netsim.model.air.air_times`.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache

import numpy as np

from lpsm.arrays import Ints
from netsim.model.air.air_times import (
    BLOCK_ACK_REQUEST_BYTES,
    CTS_BYTES,
    DATA_OVERHEAD_BYTES,
    NULL_BYTES,
    POLL_BYTES,
    QOS_BYTES,
    RTS_BYTES,
    Phy,
)

Row = tuple[int, int, int, int, int, int, int, int]
TIMES = ("first", "delivered", "total", "sent", "received", "alone", "size", "answered")
"""The fields of `netsim.model.entities.Exchange` in the order of a row."""
_LONGEST_NS = 5_484_000


def null(phy: Phy, mpdu_bytes: int) -> Row:
    """Return the times of a null frame that is acknowledged."""
    frame = phy.control_ns(mpdu_bytes)
    return frame, frame, frame + phy.sifs_ns + phy.ack_ns, frame, phy.ack_ns, 0, 0, 1


@cache
def block_ack_request(phy: Phy) -> Row:
    """Return the times of a block-ACK request and its answer."""
    frame, answer = phy.control_ns(BLOCK_ACK_REQUEST_BYTES), phy.block_ack_ns
    return frame, frame, frame + phy.sifs_ns + answer, frame, answer, 0, 0, 1


@cache
def group(phy: Phy, mpdu_bytes: int, rate_mbps: float = 0.0) -> Row:
    """Return the times of a group frame, which nobody answers."""
    frame = phy.everybody_ns(mpdu_bytes, rate_mbps)
    return frame, frame, frame, frame, 0, 0, 0, 0


def data_table(phy: Phy, rts_bytes: int | None, packet_bytes: int) -> Ints:
    """Return the times of data frames, a row a size, with packets of up to so many bytes; and of null frames."""
    rows = _answered(phy, _sizes(packet_bytes), rts_bytes, phy.ack_ns)
    for size in (NULL_BYTES, NULL_BYTES + QOS_BYTES):
        rows[size] = null(phy, size)
    return rows


def fetch_table(phy: Phy, packet_bytes: int) -> Ints:
    """Return the times of PS-Polls, the data frame that answers, a row a size of it, and its ACK."""
    poll, sifs, ack = phy.control_ns(POLL_BYTES), phy.sifs_ns, phy.ack_ns
    frame = phy.data_times_ns(_sizes(packet_bytes))
    delivered = poll + sifs + frame
    return _table(poll, delivered, delivered + sifs + ack, poll + ack, frame, frame, 0, 1)


def together_table(phy: Phy, rts_bytes: int | None, max_bytes: int) -> Ints:
    """Return the times of frames sent together, a row a size of all of them."""
    return _answered(phy, max_bytes + 1, rts_bytes, phy.block_ack_ns)


def _sizes(packet_bytes: int) -> int:
    """Return how many sizes data frames have, from 0 on, with packets of up to so many bytes."""
    return packet_bytes + DATA_OVERHEAD_BYTES + QOS_BYTES + 1


def _answered(phy: Phy, n: int, rts_bytes: int | None, ack_ns: int) -> Ints:
    """Return the times of frames of 0 to n - 1 bytes and of the answer to them, with RTS and CTS before long ones."""
    frame, sifs, size = phy.data_times_ns(n), phy.sifs_ns, np.arange(n)
    rows = _table(frame, frame, frame + sifs + ack_ns, frame, ack_ns, frame, size, 1)
    if rts_bytes is None:
        return rows
    rts, cts = phy.lowest_ns(RTS_BYTES), phy.lowest_ns(CTS_BYTES)
    delivered = rts + sifs + cts + sifs + frame
    long = _table(rts, delivered, delivered + sifs + ack_ns, rts + frame, cts + ack_ns, frame, size, 1)
    return np.where(size[:, None] < rts_bytes, rows, long)


def _table(*columns: Ints | int) -> Ints:
    return np.column_stack(np.broadcast_arrays(*columns)).astype(np.int64)


@cache
def most_together(phy: Phy, max_bytes: int) -> int:
    """Return the largest size of frames sent together, at most `max_bytes`, that a PPDU may have."""
    return bisect_right(range(max_bytes + 1), _LONGEST_NS, key=phy.data_ns) - 1
