"""Arrivals: bytes are conserved, spread evenly, and equal to an honest dictionary."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces import Request, arrivals
from traces.arrivals import BIN_US, binned, spread


@given(st.integers(0, 10**7), st.integers(0, 10**6), st.integers(0, 1 << 40))
def test_bytes_are_conserved_and_even_to_one_byte(start_us, length_us, size):
    first, sizes = spread(start_us, start_us + length_us, size)
    assert sizes.sum() == size
    assert sizes.max() - sizes.min() <= 1
    assert first * BIN_US <= start_us < (first + 1) * BIN_US
    last = first + len(sizes)
    assert (last - 1) * BIN_US <= start_us + length_us <= last * BIN_US


connections = st.lists(st.tuples(st.integers(0, 300_000), st.integers(0, 900_000), st.integers(0, 5000)), max_size=30)


@given(connections, st.sampled_from([1, 7, 1 << 18]))
def test_bins_hold_what_a_dictionary_adds_up(steps, chunk):
    start, requests, expected = 0, [], Counter()
    for pause, length, size in steps:
        start += pause
        requests.append(Request("c", "s", start, start + length, 300, size))
        first = start // BIN_US
        last = max(first, -(-(start + length) // BIN_US) - 1)
        shares = [Fraction(size * k, last - first + 1).__floor__() for k in range(last - first + 2)]
        expected.update({first + k: shares[k + 1] - shares[k] for k in range(last - first + 1)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrivals, "_CHUNK_BINS", chunk)
        bins, sizes = binned(requests)
    assert sizes.sum() == sum(size for _, _, size in steps)
    assert dict(zip(bins.tolist(), sizes.tolist(), strict=True)) == {b: s for b, s in expected.items() if s}
    assert (np.diff(bins) > 0).all()
