"""How long a frame is on the air: the physical layers 802.11b, g, a and n, to the microsecond.

What is modelled: the length of a PPDU from its preamble, rate and bytes; slots, interframe spaces and
contention windows; the rates of control frames.  Sizes are those of an MPDU with its FCS.  Left out: several
streams, 40 MHz and more, short guard intervals, rate adaptation, and protection of ERP-OFDM from
stations of 802.11b.

Source: IEEE 802.11-2020, 15.3 (DSSS), 16.3 (HR/DSSS), 17.4.3 (OFDM, TXTIME), 18.5.3 (ERP, signal extension of 6 us),
19.4.3 (HT mixed format), 10.3 (DCF).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf

from lpsm.checks import positive, shown, whole
from netsim.whole_numbers import keep_whole

__all__ = [
    "ACK_BYTES", "BLOCK_ACK_BYTES", "DATA_OVERHEAD_BYTES", "NULL_BYTES", "PHYS", "POLL_BYTES", "QOS_BYTES", "Phy",
]  # fmt: skip

DATA_OVERHEAD_BYTES = 8 + 24 + 4
"""What a data frame adds to its IP packet: LLC, MAC header, FCS."""
QOS_BYTES = 2
"""What the header of a QoS frame adds."""
ACK_BYTES, CTS_BYTES, RTS_BYTES, POLL_BYTES, NULL_BYTES = 14, 14, 20, 20, 28
BLOCK_ACK_BYTES = 32
"""A compressed block ACK, whose map has 64 bits."""

_NS_PER_US = 1000
_MOST_BYTES = 1 << 40
_OFDM_MBPS = (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)
_OFDM_BASIC_MBPS = (6.0, 12.0, 24.0)
_HT_MBPS = (6.5, 13.0, 19.5, 26.0, 39.0, 52.0, 58.5, 65.0)
_HT_BITS_PER_SYMBOL = dict(zip(_HT_MBPS, (26, 52, 78, 104, 156, 208, 234, 260), strict=True))


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
    plcp_us: int = 192


PHYS = {
    "11b": _Kind(
        meaning="DSSS and CCK with the long preamble", slot_us=20, sifs_us=10, cw_min=31,
        rates_mbps=(1.0, 2.0, 5.5, 11.0), basic_mbps=(1.0, 2.0), preamble_us=192,
    ),
    "11b-short": _Kind(
        meaning="DSSS and CCK with the short preamble", slot_us=20, sifs_us=10, cw_min=31,
        rates_mbps=(2.0, 5.5, 11.0), basic_mbps=(2.0,), preamble_us=96, plcp_us=96,
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
        rates_mbps=_HT_MBPS, basic_mbps=_OFDM_BASIC_MBPS, extension_us=6, preamble_us=36,
    ),
}  # fmt: skip
"""The physical layers by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phy:
    """A physical layer and the rate of data on it.

    Attributes
    ----------
    kind : str
        One of `PHYS`.
    rate_mbps : float
        Rate of data frames, one of the layer's; 0 is its fastest.
    cw_min, cw_max : int
        Contention windows, slots; -1 is the layer's own least window.

    >>> Phy.parse("11b").data_ns(1064) // 1000, Phy.parse("11g:54").data_ns(1064) // 1000
    (966, 186)
    """

    kind: str = "11g"
    rate_mbps: float = 0.0
    cw_min: int = -1
    cw_max: int = 1023

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in PHYS:
            raise ValueError(f"kind must be one of {', '.join(PHYS)}, got {shown(self.kind)}")
        layer = PHYS[self.kind]
        keep_whole(self, "cw_min", "cw_max")
        if not self.rate_mbps:
            object.__setattr__(self, "rate_mbps", layer.rates_mbps[-1])
        if self.rate_mbps not in layer.rates_mbps:
            rates = ", ".join(f"{rate:g}" for rate in layer.rates_mbps)
            raise ValueError(f"rate_mbps of {self.kind} must be one of {rates}, got {self.rate_mbps:g}")
        if self.cw_min < 0:
            object.__setattr__(self, "cw_min", layer.cw_min)
        if self.cw_max < self.cw_min:
            raise ValueError(f"cw_max must be at least cw_min ({self.cw_min}), got {self.cw_max}")

    @classmethod
    def parse(cls, text: str) -> Phy:
        """Return the layer written KIND or KIND:RATE, such as "11b", "11g:54".

        Raises
        ------
        ValueError
            If there is no such layer or rate.
        """
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
        preamble_us = 36 if self.kind == "11n" else PHYS[self.kind].preamble_us
        return self.sifs_ns + self.slot_ns + preamble_us * _NS_PER_US

    @property
    def lowest_mbps(self) -> float:
        """The lowest basic rate: of beacons, group frames, RTS and CTS."""
        return PHYS[self.kind].basic_mbps[0]

    @property
    def control_mbps(self) -> float:
        """The rate of an answer to data: the highest basic rate not above that of the data."""
        return max(rate for rate in PHYS[self.kind].basic_mbps if rate <= max(self.rate_mbps, self.lowest_mbps))

    def frame_ns(self, mpdu_bytes: int, rate_mbps: float) -> int:
        """Return the air time of an MPDU of so many bytes, FCS included, at a rate in Mb/s, nanoseconds.

        A rate that only 802.11n has goes with its mixed format, every other one of 11n with ERP-OFDM.
        """
        positive(rate_mbps=rate_mbps)
        whole(0, _MOST_BYTES, mpdu_bytes=mpdu_bytes)
        layer = PHYS[self.kind]
        if self.kind in ("11b", "11b-short"):
            return ceil(layer.plcp_us + 8 * mpdu_bytes / rate_mbps) * _NS_PER_US
        if self.kind == "11n" and rate_mbps in _HT_BITS_PER_SYMBOL:
            preamble_us, bits = layer.preamble_us, _HT_BITS_PER_SYMBOL[rate_mbps]
        else:
            preamble_us, bits = 20, round(4 * rate_mbps)
        symbols = -(-(16 + 8 * mpdu_bytes + 6) // bits)
        return (preamble_us + 4 * symbols + layer.extension_us) * _NS_PER_US

    @property
    def aggregates(self) -> bool:
        """Whether frames can be sent together, as A-MPDUs: from HT on."""
        return self.kind == "11n"

    def data_ns(self, mpdu_bytes: int) -> int:
        """Return the air time of a data frame, or of an A-MPDU, of so many bytes, FCS included."""
        return self.frame_ns(mpdu_bytes, self.rate_mbps)

    def control_ns(self, mpdu_bytes: int) -> int:
        """Return the air time of a control or null frame of so many bytes, FCS included."""
        return self.frame_ns(mpdu_bytes, self.control_mbps)

    def lowest_ns(self, mpdu_bytes: int) -> int:
        """Return the air time of a frame for everybody (beacon, group frame, RTS, CTS) of so many bytes."""
        return self.frame_ns(mpdu_bytes, self.lowest_mbps)

    @property
    def ack_ns(self) -> int:
        """Air time of an ACK."""
        return self.control_ns(ACK_BYTES)
