"""802.11 frames of a monitor-mode capture: their headers, encrypted or not.

Bare frames and those behind a radiotap, Prism or PPI header are read.  What is told of a frame: who sent it to whom,
its kind, its power-management and retry bits, its number, and its size without the checksum; and of a frame
that was sent again, whether an earlier copy was heard.  Left out: control frames other than PS-Poll, aggregates (each
frame of one counts by itself), rates, bodies.

Sources: IEEE 802.11-2020, sections 9.2, 9.3 and 10.3.2.14 (duplicates); radiotap.org, the list of defined fields.
"""

from collections import OrderedDict
from struct import Struct, error
from typing import NamedTuple
from zlib import crc32

BEACON, ASSOCIATION_REQUEST, ASSOCIATION_RESPONSE, ACTION, PS_POLL = 0x08, 0x00, 0x01, 0x0D, 0x1A
"""Type and subtype, as ``type << 4 | subtype``."""

_BARE, _PRISM, _RADIOTAP = 105, 119, 127  # and 192, PPI
_LONGEST_HEADER = 4096
_REMEMBERED = 2048  # frames; a sender gives the same number to every 4096th
_TIME, _FLAGS, _MORE = 1 << 0, 1 << 1, 1 << 31  # fields of radiotap, in this order
_ENCRYPTION_BYTES, _LLC_BYTES, _IP_TCP_BYTES, _TCP_OPTIONS_BYTES = 16, 8, 40, 12
_HAS_CHECKSUM, _IS_BROKEN = 0x10, 0x40
word_at = Struct("<I").unpack_from
half = Struct("<H").unpack_from


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
    sequence: int  #: Its sequence number, times 16, and fragment number, -1 if it has none.
    tid: int  #: Its traffic identifier, -1 if it has none.
    body_at: int  #: Where its body begins in the captured bytes.
    size: int  #: Bytes of the frame, from its header on, without the checksum.
    duration: int  #: Its duration field; the association identifier of a PS-Poll.

    @property
    def is_data(self) -> bool:
        """Whether it is a data frame that carries data."""
        return self.kind & 0xF4 == 0x20

    @property
    def is_null(self) -> bool:
        """Whether it is a data frame that carries nothing but its header."""
        return self.kind & 0xF4 == 0x24


class Copies:
    """Tells further copies of data frames that were heard; a frame sent again whose first copy was missed is none."""

    def __init__(self) -> None:
        self._heard: OrderedDict[tuple[bytes, bytes, int, int], None] = OrderedDict()

    def hear(self, frame: Frame) -> bool:
        """Take the next frame, and return whether it is a further copy."""
        name = frame.transmitter, frame.receiver, frame.tid, frame.sequence
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
        at, flags = _before(link, captured)
        has_checksum, is_wrong = bool(flags & _HAS_CHECKSUM), bool(flags & _IS_BROKEN)
        if has_checksum and len(captured) >= max(sent, at + 4):
            is_wrong = is_wrong or crc32(captured[at:-4]) != word_at(captured, len(captured) - 4)[0]
        size = max(sent, len(captured)) - at - 4 * has_checksum
        return None if is_wrong else _frame(captured, at, max(size, 0)), is_wrong
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


def _before(link: int, captured: bytes) -> tuple[int, int]:
    """Return where the frame begins, and the flags that a header of radiotap tells."""
    if link == _BARE:
        return 0, 0
    if link == _PRISM:
        return min(word_at(captured, 4)[0], _LONGEST_HEADER), 0
    length, at = half(captured, 2)[0], 4
    if link != _RADIOTAP:
        return length, 0
    present = word = word_at(captured, at)[0]
    at += 4
    while word & _MORE and at + 4 <= length:
        word, at = word_at(captured, at)[0], at + 4
    if present & _TIME:
        at += -at % 8 + 8
    return length, captured[at] if present & _FLAGS and at < length else 0


def _frame(captured: bytes, at: int, size: int) -> Frame | None:
    control, bits = captured[at], captured[at + 1]
    type_ = control >> 2 & 3
    kind = type_ << 4 | control >> 4
    first, second, third = (captured[place : place + 6] for place in range(at + 4, at + 22, 6))
    if control & 3 or type_ == 3 or (type_ == 1 and kind != PS_POLL) or len(second) < 6:
        return None
    duration, up, down = half(captured, at + 2)[0], bool(bits & 1), bool(bits & 2)
    states = bool(bits & 16), bool(bits & 8), bool(bits & 64)
    if kind == PS_POLL:
        return Frame(kind, first, second, first, True, False, *states, -1, -1, at + 16, size, duration)
    sequence, tid = half(captured, at + 22)[0], -1
    bssid = third if not type_ else first if up else second if down else third
    at += 30 if type_ == 2 and up and down else 24
    if kind >> 3 == 5:  # data with quality of service
        tid = captured[at] & 15
        at += 2
    if bits & 128 and (tid >= 0 or not type_):
        at += 4
    return Frame(kind, first, second, bssid, up, down, *states, sequence, tid, at, size, duration)
