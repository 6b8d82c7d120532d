"""Arrivals: bytes are conserved, spread evenly, and equal to an honest dictionary."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traces import Request, arrivals
from traces.arrivals import BIN_US, binned, spread


def request(start_us, end_us, size):
    return Request("c", "s", start_us, end_us, 300, size)


@given(st.integers(0, 10**7), st.integers(0, 10**6), st.integers(0, 1 << 40))
def test_bytes_are_conserved_and_even_to_one_byte(start_us, length_us, size):
    first, sizes = spread(start_us, start_us + length_us, size)
    assert sizes.sum() == size
    assert sizes.max() - sizes.min() <= 1
    assert first * BIN_US <= start_us < (first + 1) * BIN_US
    last = first + len(sizes)
    assert (last - 1) * BIN_US <= start_us + length_us <= last * BIN_US


def test_ten_bytes_over_three_hundredths_of_a_second_by_hand():
    first, sizes = spread(120_000, 150_000, 10)
    assert first == 12
    assert sizes.tolist() == [3, 3, 4]
    assert spread(120_000, 120_000, 5)[1].tolist() == [5]


connections = st.lists(st.tuples(st.integers(0, 300_000), st.integers(0, 900_000), st.integers(0, 5000)), max_size=30)


@given(connections, st.sampled_from([1, 7, 1 << 18]))
def test_chunks_join_to_what_a_dictionary_adds_up(steps, chunk):
    start, requests, expected = 0, [], Counter()
    for pause, length, size in steps:
        start += pause
        requests.append(request(start, start + length, size))
        first = start // 10_000
        last = max(first, -(-(start + length) // 10_000) - 1)
        shares = [Fraction(size * k, last - first + 1) for k in range(last - first + 2)]
        for k in range(last - first + 1):
            expected[first + k] += shares[k + 1].__floor__() - shares[k].__floor__()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrivals, "_CHUNK_BINS", chunk)
        parts = list(binned(requests))
    got = {int(b): int(s) for bins, sizes in parts for b, s in zip(bins, sizes, strict=True)}
    assert sum(len(bins) for bins, _ in parts) == len(got)
    assert sum(got.values()) == sum(size for _, _, size in steps)
    assert got == {b: s for b, s in expected.items() if s}
    everything = np.concatenate([bins for bins, _ in parts]) if parts else np.empty(0)
    assert (np.diff(everything) > 0).all()


def test_short_connections_are_held_a_chunk_at_a_time(monkeypatch):
    monkeypatch.setattr(arrivals, "_CHUNK_BINS", 100)
    sizes = [len(bins) for bins, _ in binned(request(k * 10_000, k * 10_000 + 5_000, 3) for k in range(950))]
    assert (sum(sizes), max(sizes)) == (950, 100)
