"""What a network needs for a reply, for traces that tell only how long the whole exchange took.

Such a trace has no round trip, so that of the simulator's network at its defaults stands for it: what is then
left of the recorded time is the server's, and a simulated client that never sleeps takes as long as the recorded one
did.  The transfer is that of a new TCP connection in slow start.  Left out: losses, requests of more than one segment.
"""

from functools import lru_cache

from traces.records import UNKNOWN_REQUEST_BYTES

ROUND_TRIP_US = 40_200
"""Round trip of the simulator's network at its defaults: twice 20 ms of wire and 0.1 ms of air."""

_SEGMENT_BYTES, _HEADER_BYTES = 1460, 40
_AIR_MBPS, _WIRE_MBPS = 5.0, 10.0
_FIRST_WINDOW, _LARGEST_WINDOW = 2, 20


@lru_cache(maxsize=1 << 14)
def network_us(reply_bytes: int) -> int:
    """Return the microseconds from opening a connection to the last byte of a reply whose server answers at once.

    >>> network_us(500), network_us(9_000)
    (82704, 170656)
    """
    whole, rest = divmod(max(0, reply_bytes), _SEGMENT_BYTES)
    segment_us = (_SEGMENT_BYTES + _HEADER_BYTES) * 8 / _AIR_MBPS
    last_us = (rest + _HEADER_BYTES) * 8 / _AIR_MBPS if rest else 0.0
    first_bytes = _SEGMENT_BYTES if whole else rest
    on_wire_us = (first_bytes + _HEADER_BYTES) * 8 / _WIRE_MBPS  # of the first segment, before the air has it
    asked_us = (3 * _HEADER_BYTES + UNKNOWN_REQUEST_BYTES) * 8 * (1 / _AIR_MBPS + 1 / _WIRE_MBPS)
    total_us = 2 * ROUND_TRIP_US + on_wire_us + asked_us
    left, window = whole + bool(rest), _FIRST_WINDOW
    while left > window and window * segment_us < ROUND_TRIP_US:
        total_us += ROUND_TRIP_US + segment_us
        left -= window
        window = min(2 * window, _LARGEST_WINDOW)
    return round(total_us + min(left, whole) * segment_us + last_us)
