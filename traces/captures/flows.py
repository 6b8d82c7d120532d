"""The flows of a capture: TCP connections and UDP conversations, from their packets to exchanges and messages.

A connection that speaks HTTP/1 is parsed (`http1`), so that its exchanges have URLs and exact borders.  Every
other flow is told apart by its runs (`runs`), as is what follows once a connection no longer speaks HTTP/1.

The client of a flow is who opened it, the sender of the SYN or of the first datagram; of a connection that was
already open, the end with the higher port.  The round trip is the time from SYN to SYN-ACK, and away from the client
(which answers within 1 ms) the trip to it: the least time from what came down to its ACK; one that sleeps is late.

A flow is a process to which its packets are sent, and None when it is over.
"""

import re
from collections.abc import Generator, Sequence
from itertools import chain, repeat

import numpy as np
from numpy.typing import NDArray

from traces.captures.byte_accounting import Enter, Ledger, datagram
from traces.captures.frames import Segment
from traces.captures.runs import Payload, Run, runs, started
from traces.captures.streams import ACK, FIN, RST, SYN, Stream
from traces.records import Request

Seen = tuple[bool, Segment, bytes, int]
"""Whether a packet goes the way of the first one of its flow, its headers, its frame, and when it was seen."""

Flow = Generator[None, Seen | None, None]

AT_THE_CLIENT_US = 1_000
ALONE_AFTER_US = 10_000
"""A segment without new payload stands alone if nothing came so shortly before it, beside the trip to the client."""

SILENCE_US = 60_000_000
LEAST_TOLD, MOST_HELD = 40, 512
"""How many datagrams of a flow are looked at to find out whether each direction has its own clock."""

MORE_OFTEN = 0.25
"""By how much larger the share of packets must be that follow the other direction than it would be by chance."""

_SHIFTS_US = (-1_137_300, -731_900, -413_700, 417_100, 733_300, 1_131_700)  # no multiples of a common period
_EVEN_US, _EVENLY, _MOSTLY = (5_000, 70_000), 0.3, 0.6
_WITHIN_US = (2_000, 10_000, 50_000, 200_000)
_LONGEST_HEAD = 8
_HTTP = re.compile(rb"HTTP/1\.|[A-Z]{3,20} (?:\S*\Z|\S+ (?:HTTP/1\.|H?T?T?P?/?1?\Z))|[A-Z]{1,20} ?\Z|HTTP?/?1?\Z")


@started
def of_others(ledger: Ledger) -> Flow:
    """Leave out a flow of a device that was not asked for."""
    streams = Stream(), Stream()
    while packet := (yield):
        forward, segment, _, _ = packet
        new = segment.size
        if new and segment.flags >= 0:
            new = streams[forward].count(segment.sequence, new)
        ledger.payload.captured += new
        ledger.dropped("other_clients", new)
    yield


@started
def udp(key: bytes, forward: bool, ledger: Ledger, enter: Enter, *, quic: bool, is_open: bool) -> Flow:
    """Take a conversation over UDP; after a minute of silence its next datagram begins a new one between the same ends.

    The first of its datagrams are held until it is known whether each direction has its own clock (`open_loop`): then
    all of them are datagrams, else they are told apart by their runs.  `key` is that of its first datagram, which is
    the client's if `forward`; `is_open` tells that each direction is known to have its own clock.
    """
    names = ledger.ends(key, forward)[2:]
    run = runs(
        *names, enter, lambda size: ledger.dropped("acknowledgements_of_messages", size),
        quic_trip=ledger.round_trip if quic else None,
    )  # fmt: skip
    held: list[Payload] = []
    is_known, last_us = is_open, -1

    def decide() -> None:
        nonlocal is_known, is_open
        if held and not is_known:
            is_known, is_open = True, open_loop(held)
        for payload in held:
            up, at_us, size, _ = payload
            if is_open:
                enter(datagram(*names, at_us, up, size), up, not up)
            else:
                run.send(payload)
        held.clear()

    while True:
        packet = yield
        if packet is None or (last_us >= 0 and packet[3] - last_us > SILENCE_US):
            decide()
            run.send(None)
        if packet is None:
            continue
        way, segment, frame, last_us = packet
        up = way is forward
        if not segment.size:
            enter(datagram(*names, last_us, up), up, not up)
        else:
            ledger.payload.captured += segment.size
            head = frame[segment.payload_at : segment.payload_at + _LONGEST_HEAD]
            held.append((up, last_us, segment.size, head))
            if is_known or len(held) >= MOST_HELD:
                decide()


def open_loop(packets: Sequence[Payload]) -> bool:
    """Tell whether each direction of a flow has its own clock.

    That is so if packets of neither direction follow one of the other within some milliseconds more often than they
    would by chance: than the same packets would some tenths of a second earlier or later, when both directions are as
    busy.  Two directions of the same even pace, as voice has it, follow each other at the same distance for minutes;
    they have their own clocks because nothing asks and answers so often.  So has a flow of one direction, however
    short.  Of few packets, which are in the order of time, nothing else is known.
    """
    ups, downs = (np.array([at_us for up, at_us, *_ in packets if up is way]) for way in (True, False))
    fewest = min(len(ups), len(downs))
    if not fewest:
        return True
    if len(packets) < LEAST_TOLD or fewest < LEAST_TOLD // 4:
        return False
    if _is_even(ups) and _is_even(downs):
        return True
    return all(
        _follow(later, earlier, within_us, 0) - np.mean([_follow(later, earlier, within_us, by) for by in _SHIFTS_US])
        < MORE_OFTEN
        for later, earlier in ((ups, downs), (downs, ups))
        for within_us in _WITHIN_US
    )


def _is_even(at_us: NDArray[np.int64]) -> bool:
    """Tell whether most packets come at the same pace, every 5 to 70 ms."""
    gaps = np.diff(at_us)
    pace = np.median(gaps)
    return bool(_EVEN_US[0] <= pace <= _EVEN_US[1] and np.mean(np.abs(gaps - pace) <= _EVENLY * pace) >= _MOSTLY)


def _follow(later: NDArray[np.int64], earlier: NDArray[np.int64], within_us: int, by_us: int) -> float:
    """Return which share of packets, moved in time, comes so soon after one of the others."""
    moved = later + by_us
    before = np.searchsorted(earlier, moved, side="right") - 1
    return float(np.mean((before >= 0) & (moved - earlier[np.maximum(before, 0)] <= within_us)))


@started
def tcp(key: bytes, forward: bool, ledger: Ledger, enter: Enter) -> Flow:
    """Take a TCP connection as seen from its middle, by the key of its first packet, the client's if `forward`."""
    # of the way back and the way forth: what was sent, and bytes captured before it was known to be no HTTP
    streams, held = (Stream(), Stream()), [0, 0]
    syn_us = trip_us = whole_us = latest_us = -1  # the latest packet that is replayed
    away_us = down_us = end_down = 0  # the trip to the client; when what it is to acknowledge passed, and its end
    near_us, packets = ALONE_AFTER_US, [0, 0]  # of HTTP, of the way back and the way forth
    run = None  # once it is known not to speak HTTP/1
    http = None  # once it is known to speak it
    found_bytes, lost = 0, [0, 0]  # in exchanges of HTTP; bytes that only the capture lost: down, up

    def beside(name: str) -> None:
        enter(datagram(*ledger.ends(key, forward)[2:], now_us, is_up), is_up, not is_up)
        ledger.count(name)

    def speak_runs() -> Run:
        client, server, name, of_server = ledger.ends(key, forward)
        seen_us, all_us = (trip_us, whole_us) if trip_us >= 0 else ledger.trips.get((client, server), (-1, -1))
        return runs(
            name, of_server, enter, lambda size: ledger.dropped("acknowledgements_of_messages", size),
            server_trip_us=seen_us, round_trip_us=max(seen_us, all_us),
        )  # fmt: skip

    def found(requests: list[Request]) -> None:
        nonlocal found_bytes
        for request in requests:
            enter(request, 0, 0)
            found_bytes += request.request_bytes + request.reply_bytes

    def leave_http(last: list[Request]) -> None:
        found(last)
        ledger.payload.in_requests -= lost[True]
        ledger.payload.in_replies -= lost[False]
        outside = sum(held) - found_bytes + sum(lost)
        if found_bytes:
            ledger.packets.in_requests += packets[forward]
            ledger.packets.in_replies += packets[not forward]
        ledger.dropped("http_outside_exchanges", outside, 0 if found_bytes else sum(packets))

    while packet := (yield):
        way, segment, frame, now_us = packet
        _, at, size, sequence, acknowledged, flags, _ = segment
        is_up, stream, other = way is forward, streams[way], streams[not way]
        if flags & SYN:
            if not flags & ACK:
                syn_us = now_us
            elif syn_us >= 0 > trip_us:
                trip_us, away_us, down_us, end_down = now_us - syn_us, SILENCE_US, now_us, sequence + 1
            sequence += 1
            stream.begin(sequence, opening=True)
        elif is_up and acknowledged == end_down and now_us - down_us < away_us:
            away_us = now_us - down_us
            near_us = away_us + ALONE_AFTER_US
            whole_us = trip_us + (away_us if away_us > AT_THE_CLIENT_US else 0)
            ledger.trip(ledger.ends(key, forward)[:2], trip_us, whole_us)
        new = stream.count(sequence, size) if size else 0
        before_us, latest_us = latest_us, now_us
        if new:
            ledger.payload.captured += new
            if not is_up:
                down_us, end_down = now_us, sequence + size
        elif flags & (SYN | FIN | RST):
            beside("openings_and_closings")
        elif now_us - before_us > near_us:
            beside("keep_alives" if stream.is_again(sequence) and size <= 1 else "segments_alone")
        else:
            latest_us = before_us
            ledger.dropped("acknowledgements_and_copies", 0)
        if run is not None:
            if new:
                run.send((is_up, now_us, new, frame[at : at + new] if is_up else b""))
            continue
        held[way] += new
        packets[way] += new > 0
        ready = stream.take(sequence, flags, frame[at : at + size])
        filled = other.fill(acknowledged) if other.waiting and flags & ACK else []
        if filled:
            lost[not is_up] += len(filled[0])
        for to, data in chain(zip(repeat(not way), filled), zip(repeat(way), ready)):
            if http is None:
                if not _HTTP.match(data):  # all of what came is runs, which have no need of what the capture lost
                    lost = [0, 0]
                    ledger.count("connections_not_of_http")
                    run = speak_runs()
                    for up in (True, False):
                        if came := held[up is forward]:
                            run.send((up, now_us, came, frame[at : at + came]))
                            ledger.packets.in_requests += packets[up is forward] - 1
                    break
                from traces.captures.http1 import Exchanges

                forward = to is not data.startswith(b"HTTP/")
                http = Exchanges(*ledger.ends(key, forward)[2:], trip_us)
            if not http.broken:
                http.take(to is forward, data, now_us)
        if http:
            if stream.ended and way is not forward:
                http.server_closed(now_us)
            found(http.finished())
            if http.broken:
                leave_http(http.close(ledger.count))
                http, run = None, speak_runs()
    if whole_us >= 0:
        ledger.round_trip(whole_us)
    if run is None:
        if http is None:
            ledger.dropped("behind_a_gap_of_the_capture", sum(held), sum(packets))
            ledger.count("connections_without_data", not sum(held))
        ledger.count("connections_cut_at_a_gap", any(part.waiting for part in streams))
    ledger.count("bytes_lost_in_the_capture", sum(lost))
    if http:
        leave_http(http.close(ledger.count))
    if run:
        run.send(None)
    yield
