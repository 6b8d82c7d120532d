"""Rates of frames, read from radiotap headers that are made by hand."""

import struct

import pytest

from traces.captures.wireless import _radiotap

MCS, AMPDU, VHT, HE = 1 << 19, 1 << 20, 1 << 21, 1 << 23


def header(present, fields):
    length = 8 + len(fields)
    return struct.pack("<BBHI", 0, 0, length, present) + fields, length


def vht(*, bandwidth, mcs, streams, short):
    return struct.pack("<HBB4sBBH", 0x0044, 4 * short, bandwidth, bytes([mcs << 4 | streams, 0, 0, 0]), 0, 0, 0)


def he(*, bandwidth, mcs, streams, guard):
    return struct.pack("<6H", 0, 0, mcs << 8, 0, guard << 4 | bandwidth, streams)


@pytest.mark.parametrize(("present", "fields", "mbps"), [
    (MCS, bytes([0x07, 0x01, 7]), 135.0),  # 40 MHz
    (VHT, vht(bandwidth=0, mcs=8, streams=1, short=0), 78.0),
    (VHT, vht(bandwidth=4, mcs=9, streams=2, short=1), 866.7),
    (AMPDU | VHT, bytes(8) + vht(bandwidth=1, mcs=0, streams=1, short=0), 13.5),
    (VHT, vht(bandwidth=99, mcs=0, streams=1, short=0), 0.0),
    (VHT, vht(bandwidth=0, mcs=15, streams=1, short=0), 0.0),
    (HE, he(bandwidth=0, mcs=0, streams=1, guard=0), 8.6),
    (HE, he(bandwidth=2, mcs=11, streams=2, guard=0), 1201.0),
    (HE, he(bandwidth=3, mcs=11, streams=1, guard=2), 1020.8),
    (HE, he(bandwidth=9, mcs=0, streams=1, guard=3), 0.0),
    (HE, he(bandwidth=0, mcs=0, streams=1, guard=0)[:6], 0.0),  # cut short
])  # fmt: skip
def test_a_rate_of_80211n_ac_or_ax_is_that_of_its_tables(present, fields, mbps):
    assert _radiotap(*header(present, fields))[0] == pytest.approx(mbps, abs=0.06)
