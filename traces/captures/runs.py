"""From the payload of a flow to exchanges, uploads and messages, without a look inside.

A *run* is payload in one direction without payload in the other between.

* An **exchange** is a run up and what comes down after it, until the next run up; one that nothing comes down after
  is an upload.  A run up ends after 250 ms of silence, or two round trips, so that each part of what nobody answers
  keeps its time.
* While a run down arrives (its last payload came less than one round trip, or 10 ms, ago), what goes up and can only
  be acknowledgements or window updates belongs to the exchange: datagrams of at most 100 bytes in a QUIC flow, TLS
  records of at most 64 bytes.
* A **message** is a run down that nothing asked for: no run up since the run down before, whose last byte came more
  than one round trip and at least 100 ms ago; or what a server sends first.  A run down that goes on for longer than
  50 ms is several messages, each of which keeps its time.

The time that the server took is from the last byte up to the first byte down, less the round trip between the place
of the capture and the server, where that is known.
"""

from collections.abc import Callable, Generator
from functools import wraps
from typing import ParamSpec, TypeVar

from traces.captures.byte_accounting import Enter, datagram
from traces.records import BY_SUFFIX, MESSAGE, UNKNOWN_WAIT_US, Request

ACKNOWLEDGED_WITHIN_US = 10_000
UNASKED_AFTER_US = 100_000
UPLOADED_AFTER_US = 250_000
MESSAGE_US = 50_000
ON_ITS_WAY = 0.9  # of a round trip: what comes down sooner was on its way already
SMALL_DATAGRAM_BYTES = 100
SMALL_RECORD_BYTES = 64
_RECORD_HEAD = 5

Payload = tuple[bool, int, int, bytes]
"""Whether it goes up, when it was seen (microseconds), how many bytes it has, and those that were captured."""

Run = Generator[None, Payload | None, None]
"""A process that is sent the payload of a flow."""

P = ParamSpec("P")
T = TypeVar("T")


def started(process: Callable[P, Generator[None, T, None]]) -> Callable[P, Generator[None, T, None]]:
    """Let a process go on to where it waits for the first thing that is sent to it."""

    @wraps(process)
    def begun(*args: P.args, **kwargs: P.kwargs) -> Generator[None, T, None]:
        made = process(*args, **kwargs)
        next(made)
        return made

    return begun


@started
def runs(
    client: str, server: str, enter: Enter,
    acknowledge: Callable[[int], None] = lambda size: None, *,
    server_trip_us: int = -1, round_trip_us: int = -1, quic_trip: Callable[[int], None] | None = None,
) -> Run:  # fmt: skip
    """Take the payload of one flow as it comes; None ends what is open, and the flow may go on after it.

    `enter` receives exchanges and messages as they are finished, with their packets up and down; `acknowledge` the
    bytes that acknowledge a message and are in neither.  Round trips are those between the place of the capture and the
    server, and between client and server, -1 if not known.  `quic_trip` is given for a flow of QUIC, whose small
    datagrams up are acknowledgements; it receives the round trip that its first answer tells.
    """
    asked = replied = pushed = 0  # bytes of what is open
    packets = [0, 0]  # and its packets down and up
    start_us = last_up_us = first_down_us = last_down_us = -1

    def finish() -> None:
        if not asked:
            if pushed:
                enter(Request(client, server, start_us, last_down_us, 0, pushed, "", MESSAGE), 0, packets[0])
            return
        wait_us, first_us, end_us = UNKNOWN_WAIT_US, -1, last_up_us
        if replied:
            first_us, end_us = first_down_us, last_down_us
            if server_trip_us >= 0:
                wait_us = max(0, first_us - last_up_us - server_trip_us)
        if first_us - last_up_us < ON_ITS_WAY * server_trip_us:  # it answers something else
            first_us = last_up_us
        times = wait_us, -1, last_up_us, first_us
        enter(Request(client, server, start_us, end_us, asked, replied, "", BY_SUFFIX, *times), *packets[::-1])

    while True:
        payload = yield
        if payload is None:
            finish()
            asked = replied = pushed = 0
            packets[:] = 0, 0
            continue
        up, now_us, size, data = payload
        packets[up] += 1
        since_us = now_us - last_down_us
        if up:
            if asked and not replied and now_us - last_up_us <= max(UPLOADED_AFTER_US, 2 * round_trip_us):
                asked += size
                last_up_us = now_us
                continue
            soon = (replied or pushed) and since_us < max(round_trip_us, ACKNOWLEDGED_WITHIN_US)
            if soon and (size <= SMALL_DATAGRAM_BYTES if quic_trip else are_small_tls_records(data, size)):
                if since_us > ACKNOWLEDGED_WITHIN_US:  # its bytes are part of the exchange, its instant stands alone
                    enter(datagram(client, server, now_us, up=True), 0, 0)
                if asked:
                    asked += size
                else:
                    packets[up] -= 1
                    acknowledge(size)
                continue
        elif asked and not replied:
            first_down_us = last_down_us = now_us
            replied = size
            if round_trip_us < 0 and quic_trip:
                round_trip_us = server_trip_us = now_us - start_us
                quic_trip(round_trip_us)
            continue
        elif replied and since_us <= max(UNASKED_AFTER_US - 1, round_trip_us):
            replied, last_down_us = replied + size, now_us
            continue
        elif pushed and now_us - start_us <= MESSAGE_US:
            pushed, last_down_us = pushed + size, now_us
            continue
        packets[up] -= 1
        finish()
        packets[:] = not up, up
        asked, replied, pushed, start_us = size * up, 0, size * (not up), now_us
        if up:
            last_up_us = now_us
        else:
            last_down_us = now_us


def are_small_tls_records(data: bytes, size: int) -> bool:
    r"""Tell whether payload of a size is whole TLS records, each of at most 64 bytes; their heads must be in `data`.

    >>> are_small_tls_records(b"\x17\x03\x03\x00\x03abc", 8), are_small_tls_records(b"\x17\x03\x03\x01\x00", 261)
    (True, False)
    """
    at = 0
    while at + _RECORD_HEAD <= min(size, len(data)):
        kind, version, _, high, length = data[at : at + _RECORD_HEAD]
        if not 20 <= kind <= 23 or version != 3 or high or length > SMALL_RECORD_BYTES:
            return False
        at += _RECORD_HEAD + length
    return at == size
