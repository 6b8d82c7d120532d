"""802.11 frames of a monitor-mode capture: their headers, encrypted or not.

Bare frames and those behind a radiotap, Prism or PPI header are read.  What is told of a frame: who sent it to whom,
its kind, its power-management and retry bits, its number, its size without the checksum, and its rate; and of a frame
that was sent again, whether an earlier copy was heard.  Left out: control frames other than PS-Poll, aggregates (each
frame of one counts by itself), bodies.

Sources: IEEE 802.11-2020, section 9.2, 9.3, 9.4.2.199 (TWT) and 10.3.2.14 (duplicates); radiotap.org, the list of
defined fields.
"""

from __future__ import annotations

from collections import OrderedDict
from struct import Struct, error
from typing import NamedTuple
from zlib import crc32

BEACON, ASSOCIATION_REQUEST, ASSOCIATION_RESPONSE, ACTION, PS_POLL = 0x08, 0x00, 0x01, 0x0D, 0x1A
"""Type and subtype, as ``type << 4 | subtype``."""

_BARE, _PRISM, _RADIOTAP = 105, 119, 127  # and 192, PPI
_LONGEST_HEADER = 4096
_REMEMBERED = 2048  # frames; a sender gives the same number to every 4096th
# (size, alignment) of the radiotap fields by their bits, up to the last one that is needed
_FIELDS = (
    *((8, 8), (1, 1), (1, 1), (4, 2), (2, 2), (1, 1), (1, 1), (2, 2), (2, 2), (2, 2), (1, 1), (1, 1), (1, 1), (1, 1)),
    *((2, 2), (2, 2), (1, 1), (1, 1), (8, 4), (3, 1), (8, 4), (12, 2), (12, 8), (12, 2)),
)
_ENCRYPTION_BYTES, _LLC_BYTES, _IP_TCP_BYTES, _TCP_OPTIONS_BYTES = 16, 8, 40, 12
_FLAGS, _RATE, _MCS, _VHT, _HE = 1, 2, 19, 21, 23
_TWT_SETUP, _TWT_ELEMENT, _TWT_BYTES, _TWT_REJECT = b"\x16\x06", 216, 15, 7
_HAS_CHECKSUM, _IS_BROKEN = 0x10, 0x40
_SIXTHS_OF_A_BIT = (3, 6, 9, 12, 18, 24, 27, 30, 36, 40, 45, 50)  # of data in a subcarrier's symbol, by MCS
_VHT_SUBCARRIERS = (52, *[108] * 3, *[234] * 7, *[468] * 15)  # of data, by the code of the bandwidth
_HE_SUBCARRIERS = (234, 468, 980, 1960)  # by the code of the bandwidth
_HE_SYMBOL_US = (13.6, 14.4, 16.0)  # by the code of the guard interval
_word = Struct("<I").unpack_from
_half = Struct("<H").unpack_from


class Frame(NamedTuple):
    """One frame of 802.11."""

    kind: int  #: Its type and subtype.
    receiver: bytes  #: Addresses of six bytes; `transmitter` and `bssid` may be empty.
    transmitter: bytes
    bssid: bytes
    up: bool  #: Whether it goes to the access point, or comes from it.
    down: bool
    sleeps: bool  #: Its power-management bit.
    retry: bool  #: Its other bits.
    protected: bool
    number: int  #: Its sequence and fragment numbers, -1 if it has none.
    fragment: int
    tid: int  #: Its traffic identifier, -1 if it has none.
    body_at: int  #: Where its body begins in the captured bytes.
    size: int  #: Bytes of the frame, from its header on, without the checksum.
    rate_mbps: float  #: How fast it was sent, 0 if that is not told.
    duration: int  #: Its duration field; the association identifier of a PS-Poll.

    @property
    def is_data(self) -> bool:
        """Whether it is a data frame that carries data."""
        return self.kind >> 4 == 2 and not self.kind & 4

    @property
    def is_null(self) -> bool:
        """Whether it is a data frame that carries nothing but its header."""
        return self.kind >> 4 == 2 and bool(self.kind & 4)


class Copies:
    """Tells further copies of data frames that were heard; a frame sent again whose first copy was missed is none."""

    def __init__(self) -> None:
        self._heard: OrderedDict[tuple[bytes, bytes, int, int, int], None] = OrderedDict()

    def hear(self, frame: Frame) -> bool:
        """Take the next frame, and return whether it is a further copy."""
        name = (frame.transmitter, frame.receiver, frame.tid, frame.number, frame.fragment)
        if frame.retry and name in self._heard:
            return True
        self._heard[name] = None
        if len(self._heard) > _REMEMBERED:
            self._heard.popitem(last=False)
        return False


def heard(link: int, captured: bytes, sent: int = 0) -> tuple[Frame | None, bool]:
    """Return the frame that was captured, and whether its check sequence is wrong.

    The frame is None if it is cut or broken, or a control frame other than PS-Poll.  That a check sequence is wrong is
    told by the header before the frame, or by its bytes if all that was `sent` was captured.
    """
    try:
        at, rate_mbps, has_checksum, is_wrong = _before(link, captured)
        if has_checksum and len(captured) >= max(sent, at + 4):
            is_wrong = is_wrong or crc32(captured[at:-4]) != _word(captured, len(captured) - 4)[0]
        if is_wrong:
            return None, True
        return _frame(captured, max(sent, len(captured)), at, rate_mbps, has_checksum), False
    except (IndexError, error):
        return None, False


def data_body(frame: Frame, captured: bytes) -> tuple[int, int]:
    """Return the kind (Ethernet's) and the place of what a data frame carries in the clear; (0, 0) if it does not."""
    at = frame.body_at
    if frame.protected or not frame.is_data or captured[at : at + 6] != b"\xaa\xaa\x03\0\0\0":
        return 0, 0
    return captured[at + 6] << 8 | captured[at + 7], at + 8


def payload_bytes(frame: Frame) -> int:
    """Return the payload of TCP or UDP that an encrypted data frame has by its size; 0 if it can only acknowledge.

    Taken off are its header, that of LLC, those of IPv4 and TCP, and 16 bytes of encryption (CCMP).
    """
    header = 26 if frame.tid >= 0 else 24
    payload = frame.size - header - _LLC_BYTES - _ENCRYPTION_BYTES * frame.protected - _IP_TCP_BYTES
    return payload if payload > _TCP_OPTIONS_BYTES else 0


def twt_agreement(frame: Frame, captured: bytes) -> tuple[int, int] | None:
    """Return the wake interval and the wake duration, microseconds, that a TWT setup frame asks for or grants."""
    at = frame.body_at
    element = captured[at + 3 : at + 5 + _TWT_BYTES]
    if captured[at : at + 2] != _TWT_SETUP or len(element) < 2 + _TWT_BYTES or element[0] != _TWT_ELEMENT:
        return None
    request, mantissa = _half(element, 3)[0], _half(element, 14)[0]
    if request >> 1 & 7 == _TWT_REJECT:
        return None
    return mantissa << (request >> 10 & 31), element[13] * (1024 if element[2] & 0x20 else 256)


def _before(link: int, captured: bytes) -> tuple[int, float, bool, bool]:
    """Return where the frame begins, its rate, whether a checksum ends it, and whether it is broken."""
    if link == _RADIOTAP:
        length = _half(captured, 2)[0]
        return (length, *_radiotap(captured, length))
    at = 0
    if link != _BARE:
        at = min(_word(captured, 4)[0], _LONGEST_HEADER) if link == _PRISM else _half(captured, 2)[0]
    return at, 0.0, False, False


def _radiotap(captured: bytes, length: int) -> tuple[float, bool, bool]:
    present = _word(captured, 4)[0]
    at, word = 8, present
    while word & 1 << 31 and at + 4 <= length:
        word, at = _word(captured, at)[0], at + 4
    rate_mbps, flags = 0.0, 0
    for bit, (size, alignment) in enumerate(_FIELDS):
        if not present & 1 << bit:
            continue
        at = -(-at // alignment) * alignment
        if at + size > length:
            break
        if bit == _FLAGS:
            flags = captured[at]
        elif bit == _RATE:
            rate_mbps = captured[at] / 2
        elif bit == _MCS:
            known, ht, index = captured[at : at + 3]
            subcarriers = _VHT_SUBCARRIERS[bool(known & 1 and ht & 3 == 1)]
            rate_mbps = _of_streams(index // 8 % 4 + 1, index % 8, subcarriers, _symbol_us(known & 4 and ht & 4))
        elif bit == _VHT:
            width, user = captured[at + 3], captured[at + 4]
            subcarriers = _VHT_SUBCARRIERS[width] if width < len(_VHT_SUBCARRIERS) else 0
            rate_mbps = _of_streams(user & 15, user >> 4, subcarriers, _symbol_us(captured[at + 2] & 4))
        elif bit == _HE:
            data3, data5, data6 = (_half(captured, at + place)[0] for place in (4, 8, 10))
            width, guard = data5 & 15, data5 >> 4 & 3
            if width < len(_HE_SUBCARRIERS) and guard < len(_HE_SYMBOL_US):
                rate_mbps = _of_streams(data6 & 15, data3 >> 8 & 15, _HE_SUBCARRIERS[width], _HE_SYMBOL_US[guard])
        at += size
    return rate_mbps, bool(flags & _HAS_CHECKSUM), bool(flags & _IS_BROKEN)


def _symbol_us(short: int) -> float:
    return 3.6 if short else 4.0


def _of_streams(streams: int, mcs: int, subcarriers: int, symbol_us: float) -> float:
    """Return the rate of so many spatial streams, Mb/s; 0: there is no such modulation and coding scheme."""
    sixths = _SIXTHS_OF_A_BIT[mcs] if mcs < len(_SIXTHS_OF_A_BIT) else 0
    return streams * subcarriers * sixths / 6 / symbol_us


def _frame(captured: bytes, sent: int, at: int, rate_mbps: float, has_checksum: bool) -> Frame | None:
    control, bits = captured[at], captured[at + 1]
    type_ = control >> 2 & 3
    kind = type_ << 4 | control >> 4
    if control & 3 or type_ == 3 or (type_ == 1 and kind != PS_POLL):
        return None
    duration, size = _half(captured, at + 2)[0], sent - at - 4 * has_checksum
    first, second, third = captured[at + 4 : at + 10], captured[at + 10 : at + 16], captured[at + 16 : at + 22]
    if len(second) < 6:
        return None
    states = bool(bits & 16), bool(bits & 8), bool(bits & 64)
    if kind == PS_POLL:
        return Frame(kind, first, second, first, True, False, *states, -1, -1, -1, at + 16, size, rate_mbps, duration)
    number, fragment = divmod(_half(captured, at + 22)[0], 16)
    up, down, tid = bool(bits & 1), bool(bits & 2), -1
    bssid = third if not type_ else first if up else second if down else third
    at += 30 if type_ == 2 and up and down else 24
    if kind >> 3 == 5:  # data with quality of service
        tid = captured[at] & 15
        at += 2
    if bits & 128 and (tid >= 0 or not type_):
        at += 4
    ends = first, second, bssid, up, down
    return Frame(kind, *ends, *states, number, fragment, tid, at, max(size, 0), rate_mbps, duration)
