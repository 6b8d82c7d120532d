"""Bytes that arrive, in bins of 10 ms: what a power-saving client would have found waiting.

A trace of requests tells when a reply began and ended and how long it was, not when its packets came.  As in the thesis
(section 2.5.4) the bytes of each connection are spread evenly over all bins from the one in which it starts to the one
in which it ends; bytes stay whole, so that a share is rounded and the sum is exact.  Left out: acknowledgements,
headers of packets, the shape of slow start.

Source: C. Monteleoni, Learning with Online Constraints, 2006, section 2.5.4.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from traces.checks import checked, each, shown
from traces.errors import TraceError
from traces.records import Request

BIN_US = 10_000
"""Width of a bin, thesis section 2.5.4: 10 ms."""

MAX_BINS = 1 << 22
"""Most bins one connection may span: 11.6 hours at 10 ms."""

_CHUNK_BINS = 1 << 18
_MOST_BYTES = 1 << 62
Ints = NDArray[np.int64]
Bins = tuple[Ints, Ints]


def spread(start_us: int, end_us: int, size_bytes: int) -> tuple[int, Ints]:
    """Spread the bytes of one connection evenly over the bins it touches.

    Parameters
    ----------
    start_us, end_us : int
        Its first and last moment, microseconds; an end on the border of two bins belongs to the earlier one,
        unless the connection is a single moment.
    size_bytes : int
        Its bytes, in [0, 2^62].

    Returns
    -------
    first : int
        Number of the first bin; bin k covers [k, k + 1) `BIN_US`.
    sizes : int64 array, shape (bins,)
        Bytes in each bin; any two differ by at most 1, and the sum is `size_bytes`.

    Examples
    --------
    >>> spread(5_000, 35_000, 10)
    (0, array([2, 3, 2, 3]))
    """
    if end_us < start_us:
        raise ValueError(f"end_us must be at least start_us ({start_us}), got {end_us}")
    if not 0 <= size_bytes <= _MOST_BYTES:
        raise ValueError(f"size_bytes must lie in [0, 2^62], got {shown(size_bytes)}")
    first = start_us // BIN_US
    n_bins = max(first, (end_us - 1) // BIN_US) - first + 1
    if n_bins > MAX_BINS:
        raise TraceError("arrivals", "", f"a connection must span at most {MAX_BINS} bins", n_bins)
    whole, rest = divmod(size_bytes, n_bins)
    steps = np.arange(n_bins + 1, dtype=np.int64) * rest // n_bins
    return first, whole + np.diff(steps)


@checked
def binned(requests: Iterable[Request]) -> Bins:
    """Add up the replies of all connections by bin; memory holds the bins that have any.

    Returns
    -------
    bins : int64 array, shape (n,)
        Numbers of bins in which bytes arrive, increasing.
    sizes : int64 array, shape (n,)
        Bytes that arrive in them, above 0.
    """
    parts, held, limit = list[Bins](), 0, _CHUNK_BINS
    for request in each("requests", requests, Request):
        first, sizes = spread(request.start_us, request.end_us, request.reply_bytes)
        parts.append((np.arange(first, first + len(sizes)), sizes))
        held += len(sizes)
        if held > limit:
            parts = [_summed(parts)]
            held = len(parts[0][0])
            limit = max(_CHUNK_BINS, 2 * held)  # sum up each time they double
    return _summed(parts)


def _summed(parts: list[Bins]) -> Bins:
    """Add up parts by bin, leaving out bins without bytes."""
    nothing = np.empty(0, np.int64), np.empty(0, np.int64)
    numbers, sizes = map(np.concatenate, zip(nothing, *parts, strict=True))
    bins, places = np.unique(numbers, return_inverse=True)
    totals = np.zeros(len(bins), np.int64)
    np.add.at(totals, places, sizes)
    return bins[totals > 0], totals[totals > 0]
