"""How long a frame is on the air: the physical layers 802.11b, g, a, n, ac and ax, to the microsecond.

What is modelled: the length of a PPDU from its preamble, rate and bytes; slots, interframe spaces and
contention windows; the rates of control frames and beacons.  Sizes are those of an MPDU with its FCS.  Left out:
several streams but in one kind, other guard intervals than 0.8 us, 160 MHz, PPDUs for several users, packet extensions,
the delimiter of a frame that goes alone, rate adaptation, and protection of ERP-OFDM from stations of 802.11b.

Source: IEEE 802.11-2020, 15.3 (DSSS), 16.3 (HR/DSSS), 17.4.3 (OFDM, TXTIME), 18.5.3 (ERP, signal extension of 6 us),
19.4.3 (HT mixed format), 21.4.3 (VHT: ns-3 leaves out VHT-SIG-B, 4 us), 10.3 (DCF); IEEE 802.11ax-2021, 27.4.3 (HE,
whose training field is taken as 8 us as in ns-3).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf
from typing import Any

import numpy as np

from lpsm.arrays import Ints
from lpsm.checks import between, keep_whole, known, number, shown, whole

DATA_OVERHEAD_BYTES = 8 + 24 + 4
"""What a data frame adds to its IP packet: LLC, MAC header, FCS."""
QOS_BYTES = 2
"""What the header of a QoS frame adds."""
_MOST_SIZES = 1 << 24
ACK_BYTES, CTS_BYTES, RTS_BYTES, POLL_BYTES, NULL_BYTES = 14, 14, 20, 20, 28
BLOCK_ACK_REQUEST_BYTES = 24
"""What asks for a block ACK; that has as many and a bit for each frame that it tells of."""

_NS_PER_US = 1000
_MOST_BYTES = 1 << 40
_OFDM_MBPS = (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)
_OFDM_BASIC_MBPS = (6.0, 12.0, 24.0)
_DSSS_MBPS = (1.0, 2.0, 5.5, 11.0)
_LONG_PREAMBLE_US = 192
_SIXTHS_OF_A_BIT = (3, 6, 9, 12, 18, 24, 27, 30, 36, 40, 45, 50)
"""Data bits of a subcarrier in a symbol, in sixths: modulation and code rate of MCS 0, 1, 2, ..."""
_SERVICE_AND_TAIL_BITS = 16 + 6


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """What a physical layer fixes: times in microseconds, rates in Mb/s."""

    meaning: str
    slot_us: int
    sifs_us: int
    cw_min: int
    rates_mbps: tuple[float, ...]
    basic_mbps: tuple[float, ...]
    extension_us: int = 0
    preamble_us: int = 20
    symbol_ns: int = 4000
    subcarriers: int = 0  # of data, from HT on
    answer_us: int = 0  # preamble that a sender waits for; 0: as long as its own
    block_ack_frames: int = 64  # how many a block ACK tells of

    def bits(self, rate_mbps: float) -> int:
        """Return the data bits of a symbol; 0: a rate of OFDM or DSSS."""
        return _bits(self.subcarriers, len(self.rates_mbps), self.symbol_ns).get(rate_mbps, 0)


def _bits(subcarriers: int, n_mcs: int, symbol_ns: int) -> dict[float, int]:
    """Return the rates of one stream, Mb/s to a tenth, and the data bits of a symbol, rounded down."""
    sixths = [subcarriers * of_a_bit for of_a_bit in _SIXTHS_OF_A_BIT[:n_mcs]]
    return {floor(n * 10_000 / 6 / symbol_ns + 0.5) / 10: n // 6 for n in sixths}


def _later(meaning: str, subcarriers: int, n_mcs: int, symbol_ns: int, preamble_us: int) -> _Kind:
    """Describe 802.11ac or 802.11ax at 5 GHz, where what everybody must understand goes as OFDM."""
    return _Kind(
        meaning=meaning, slot_us=9, sifs_us=16, cw_min=15, rates_mbps=tuple(_bits(subcarriers, n_mcs, symbol_ns)),
        basic_mbps=_OFDM_BASIC_MBPS, preamble_us=preamble_us, symbol_ns=symbol_ns, subcarriers=subcarriers,
        answer_us=20, block_ack_frames=256 if meaning.startswith("HE") else 64,
    )  # fmt: skip


PHYS = {
    "11b": _Kind(
        meaning="DSSS and CCK with the long preamble", slot_us=20, sifs_us=10, cw_min=31,
        rates_mbps=_DSSS_MBPS, basic_mbps=(1.0, 2.0), preamble_us=_LONG_PREAMBLE_US,
    ),
    "11b-short": _Kind(
        meaning="DSSS and CCK with the short preamble", slot_us=20, sifs_us=10, cw_min=31,
        rates_mbps=(2.0, 5.5, 11.0), basic_mbps=(2.0,), preamble_us=96,
    ),
    "11g": _Kind(
        meaning="ERP-OFDM at 2.4 GHz without stations of 802.11b", slot_us=9, sifs_us=10, cw_min=15,
        rates_mbps=_OFDM_MBPS, basic_mbps=_OFDM_BASIC_MBPS, extension_us=6,
    ),
    "11a": _Kind(
        meaning="OFDM at 5 GHz", slot_us=9, sifs_us=16, cw_min=15,
        rates_mbps=_OFDM_MBPS, basic_mbps=_OFDM_BASIC_MBPS,
    ),
    "11n": _Kind(
        meaning="HT, 20 MHz, one stream, mixed format, at 2.4 GHz", slot_us=9, sifs_us=10, cw_min=15,
        rates_mbps=tuple(_bits(52, 8, 4000)), basic_mbps=_OFDM_BASIC_MBPS, extension_us=6, preamble_us=36,
        subcarriers=52,
    ),
    "11ac": _later("VHT, 20 MHz, one stream, which has no MCS 9", 52, 9, 4000, 40),
    "11ac-40": _later("VHT, 40 MHz, one stream", 108, 10, 4000, 40),
    "11ac-80": _later("VHT, 80 MHz, one stream", 234, 10, 4000, 40),
    "11ax": _later("HE, 20 MHz, one stream", 234, 12, 13_600, 44),
    "11ax-40": _later("HE, 40 MHz, one stream", 468, 12, 13_600, 44),
    "11ax-80": _later("HE, 80 MHz, one stream", 980, 12, 13_600, 44),
    "11ax-80x2": _later("HE, 80 MHz, two streams", 1960, 12, 13_600, 52),
}  # fmt: skip
"""The physical layers by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phy:
    """A physical layer and the rate of data on it.

    >>> Phy.parse("11b").data_ns(1064) // 1000, Phy.parse("11g:54").data_ns(1064) // 1000
    (966, 186)
    """

    kind: str = "11g"  #: one of `PHYS`
    rate_mbps: float = 0.0  #: of data frames, one of the layer's; 0 is its fastest
    #: contention windows, slots; -1 is the layer's own least window
    cw_min: int = -1
    cw_max: int = 1023

    def __post_init__(self) -> None:
        known("kind", self.kind, PHYS)
        layer = PHYS[self.kind]
        keep_whole(self, -(2**31), 2**31, "cw_min", "cw_max")
        if not number("rate_mbps", self.rate_mbps):
            object.__setattr__(self, "rate_mbps", layer.rates_mbps[-1])
        if self.rate_mbps not in layer.rates_mbps:
            rates = ", ".join(f"{rate:g}" for rate in layer.rates_mbps)
            raise ValueError(f"rate_mbps of {self.kind} must be one of {rates}, got {shown(self.rate_mbps)}")
        if self.cw_min < 0:
            object.__setattr__(self, "cw_min", layer.cw_min)
        if self.cw_max < self.cw_min:
            raise ValueError(f"cw_max must be at least cw_min ({self.cw_min}), got {self.cw_max}")

    @classmethod
    def parse(cls, text: str) -> Phy:
        """Return the layer written KIND or KIND:RATE, such as "11b", "11g:54"; a ValueError if there is none such."""
        if not isinstance(text, str):
            raise TypeError(f"the air must be a text such as 11g:54, got {shown(text)}")
        kind, colon, rate = text.partition(":")
        try:
            value = float(rate) if colon else 0.0
        except ValueError:
            value = inf
        if colon and not 0.0 < value < inf:
            raise ValueError(f"the air must be KIND or KIND:RATE in Mb/s, such as 11g:54, got {text!r}")
        return cls(kind=kind, rate_mbps=value)

    @property
    def spec(self) -> str:
        """How it is written."""
        return f"{self.kind}:{self.rate_mbps:g}"

    @property
    def slot_ns(self) -> int:
        """Length of a slot."""
        return PHYS[self.kind].slot_us * _NS_PER_US

    @property
    def sifs_ns(self) -> int:
        """Short interframe space: between a frame and its answer."""
        return PHYS[self.kind].sifs_us * _NS_PER_US

    @property
    def pifs_ns(self) -> int:
        """Interframe space before a beacon: SIFS and a slot."""
        return self.sifs_ns + self.slot_ns

    @property
    def difs_ns(self) -> int:
        """Interframe space before contention: SIFS and two slots."""
        return self.sifs_ns + 2 * self.slot_ns

    @property
    def eifs_ns(self) -> int:
        """Interframe space after a frame that could not be decoded: SIFS, an ACK at the lowest basic rate, DIFS."""
        return self.sifs_ns + self.frame_ns(ACK_BYTES, self.lowest_mbps) + self.difs_ns

    @property
    def timeout_ns(self) -> int:
        """How long a sender waits for the answer to begin before it takes its frame for lost."""
        layer = PHYS[self.kind]
        return self.sifs_ns + self.slot_ns + (layer.answer_us or layer.preamble_us) * _NS_PER_US

    @property
    def block_ack_frames(self) -> int:
        """How many frames a block ACK tells of: 64, from 802.11ax on 256."""
        return PHYS[self.kind].block_ack_frames

    @property
    def block_ack_ns(self) -> int:
        """Air time of a compressed block ACK."""
        return self.control_ns(BLOCK_ACK_REQUEST_BYTES + self.block_ack_frames // 8)

    @property
    def lowest_mbps(self) -> float:
        """The lowest basic rate: of RTS and CTS, and of beacons and group frames where nothing is set."""
        return PHYS[self.kind].basic_mbps[0]

    @property
    def control_mbps(self) -> float:
        """The rate of an answer to data: the highest basic rate not above that of the data."""
        return max(rate for rate in PHYS[self.kind].basic_mbps if rate <= max(self.rate_mbps, self.lowest_mbps))

    @property
    def beacon_rates_mbps(self) -> tuple[float, ...]:
        """The rates that beacons and group frames may have: basic ones, at 2.4 GHz those of DSSS besides."""
        layer = PHYS[self.kind]
        return tuple(sorted({*layer.basic_mbps, *(_DSSS_MBPS if layer.sifs_us == 10 else ())}))

    @property
    def shipped_beacon(self) -> tuple[float, int]:
        """Rate in Mb/s and size in bytes of the beacons that access points send where nothing is set.

        At 2.4 GHz stations of 802.11b have to understand them: 1 Mb/s.  To the 196 bytes of `netsim.BeaconConfig` come
        from 802.11ac on VHT capabilities and operation, 21, and from 802.11ax on HE capabilities and operation and
        the contention of several users, 49.
        """
        more = 21 * self.kind.startswith(("11ac", "11ax")) + 49 * self.kind.startswith("11ax")
        return self.beacon_rates_mbps[0], 196 + more

    def everybody_ns(self, mpdu_bytes: int, rate_mbps: float) -> int:
        """Return the air time of a beacon or a group frame at one of `beacon_rates_mbps`, or 0: the lowest basic rate.

        Rates of DSSS that the layer does not have go with the long preamble.
        """
        if rate_mbps in PHYS[self.kind].rates_mbps or rate_mbps not in _DSSS_MBPS:
            return self.frame_ns(mpdu_bytes, rate_mbps or self.lowest_mbps)
        return Phy(kind="11b").frame_ns(mpdu_bytes, rate_mbps)

    def frame_ns(self, mpdu_bytes: int, rate_mbps: float) -> int:
        """Return the air time of an MPDU of so many bytes, FCS included, at a rate in Mb/s, nanoseconds.

        A rate of data from HT on goes in the format of its layer, every other one with OFDM.
        """
        between(0.25, 1e6, rate_mbps=rate_mbps)
        whole(0, _MOST_BYTES, mpdu_bytes=mpdu_bytes)
        return int(self._frame_ns(mpdu_bytes, rate_mbps))

    def _frame_ns(self, mpdu_bytes: Any, rate_mbps: float) -> Any:
        layer = PHYS[self.kind]
        if self.kind in ("11b", "11b-short"):
            return np.ceil(layer.preamble_us + 8 * mpdu_bytes / rate_mbps).astype(np.int64) * _NS_PER_US
        preamble_us, bits, symbol_ns = layer.preamble_us, layer.bits(rate_mbps), layer.symbol_ns
        if not bits:
            preamble_us, bits, symbol_ns = 20, round(4 * rate_mbps), 4 * _NS_PER_US
        symbols = -(-(8 * mpdu_bytes + _SERVICE_AND_TAIL_BITS) // bits)
        return (preamble_us + layer.extension_us) * _NS_PER_US + symbols * symbol_ns

    @property
    def aggregates(self) -> bool:
        """Whether frames can be sent together, as A-MPDUs: from HT on."""
        return PHYS[self.kind].subcarriers > 0

    def data_ns(self, mpdu_bytes: int) -> int:
        """Return the air time of a data frame, or of an A-MPDU, of so many bytes, FCS included."""
        return self.frame_ns(mpdu_bytes, self.rate_mbps)

    def data_times_ns(self, n: int) -> Ints:
        """Return the air times of data frames, or of A-MPDUs, of 0, 1, 2, ... n - 1 bytes."""
        times: Ints = self._frame_ns(np.arange(whole(0, _MOST_SIZES, n=n)), self.rate_mbps)
        return times

    def control_ns(self, mpdu_bytes: int) -> int:
        """Return the air time of a control or null frame of so many bytes, FCS included."""
        return self.frame_ns(mpdu_bytes, self.control_mbps)

    def lowest_ns(self, mpdu_bytes: int) -> int:
        """Return the air time of a frame of so many bytes at the lowest basic rate."""
        return self.frame_ns(mpdu_bytes, self.lowest_mbps)

    @property
    def ack_ns(self) -> int:
        """Air time of an ACK."""
        return self.control_ns(ACK_BYTES)
