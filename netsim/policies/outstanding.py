"""What a client waits for: known by the host, or inferred from the sizes of frames.

Both keep the same account, a row for each thing outstanding, in the order in which they began: a connection that is
being opened, a request that has had no answer yet, or a reply of which something but not all has come.  The host knows.
The link sees sizes only: a packet up that is larger than a bare header asks for something, a frame down that is larger
than a header but shorter than the longest seen ends a reply, and replies come in the order of requests.  That goes
wrong where a reply fills its last frame, or where nothing was asked for; so the link forgets its account when something
of the size of a SYN is sent from sleep, and after a silence.

An account is part of a record of numbers, so that compiled rules can keep it; what begins when all its rows are taken
is not entered.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from lpsm.native import compiled
from lpsm.native.records import IntArray, RealArray, dtype_of, record
from netsim.policies.compiled import FlatFrame

OPENING, REPLY, REST = range(3)
_SMALLEST_FULL_BYTES = 576
"""Whatever is shorter cannot be a full frame: the least that IPv4 must carry (RFC 791)."""


@record
class Account:
    """What is outstanding, the oldest first: what it is, since when, and asked of whom."""

    host_aware: int  # whether the host tells
    bare_bytes: int  # size of a packet without payload
    silence_ns: int  # when the link forgets,
    rest_silence_ns: int  # and where only rests are outstanding
    n: int
    key: IntArray = 1024
    kind: IntArray = 1024
    origin_ns: IntArray = 1024
    server: IntArray = 1024
    asked_bytes: IntArray = 1024  # size of the frame that asked
    left: RealArray = 1024  # how likely it is not over yet, where that is not known
    lag_ns: IntArray = 1024  # how much later than without sleep its sender heard of the client last,
    held_ns: IntArray = 1024  # and how long what it sends in answer was held at most since
    full_bytes: int  # the link: longest frame seen,
    last_ns: int  # the last of all,
    owed_ns: int  # and at this instant an acknowledgement is due, which is as small as a SYN


ACCOUNT = dtype_of("Account")


def open_account(
    state: NDArray[np.void], *, host_aware: bool, silence_s: float = 10.0, rest_silence_s: float | None = None
) -> None:
    """Fill in an account with nothing in it; the link takes nothing to be outstanding after so long a silence.

    It may be shorter where all that is outstanding are further frames of replies.
    """
    state["host_aware"], state["bare_bytes"], state["silence_ns"] = host_aware, 40, round(silence_s * 1e9)
    state["rest_silence_ns"] = round((rest_silence_s or silence_s) * 1e9)
    state["full_bytes"], state["owed_ns"] = _SMALLEST_FULL_BYTES, -1


def fill(
    state: NDArray[np.void], config: object, constants: Mapping[str, object], *, host_aware: bool, **silences: float
) -> None:
    """Fill in a state: what has the name of a field of the configuration, the constants, and an empty account."""
    same = {name: getattr(config, name) for name in state.dtype.names or () if hasattr(config, name)}
    for name, value in {**same, **constants}.items():
        state[name] = value
    open_account(state, host_aware=host_aware, **silences)


@compiled
def find(s: Account, key: int) -> int:
    """Return the place of a connection among what is outstanding, or -1."""
    for i in range(s.n):
        if s.key[i] == key:
            return i
    return -1


@compiled
def first(s: Account, kind: int) -> int:
    """Return the oldest of a kind, or -1."""
    for i in range(s.n):
        if s.kind[i] == kind:
            return i
    return -1


@compiled
def count(s: Account, kind: int) -> int:
    """Return how many of a kind are outstanding."""
    found = 0
    for i in range(s.n):
        found += s.kind[i] == kind
    return found


@compiled
def _add(s: Account, key: int, kind: int, at_ns: int, server: int, size_bytes: int) -> None:
    """Enter what begins now, if there is room."""
    if s.n < s.key.size:
        s.key[s.n], s.kind[s.n], s.origin_ns[s.n] = key, kind, at_ns
        s.server[s.n], s.asked_bytes[s.n], s.left[s.n] = server, size_bytes, 1.0
        s.lag_ns[s.n] = s.held_ns[s.n] = 0
        s.n += 1


@compiled
def remove(s: Account, which: int) -> None:
    """Take out what has ended."""
    s.n -= 1
    for i in range(which, s.n):
        s.key[i], s.kind[i], s.origin_ns[i] = s.key[i + 1], s.kind[i + 1], s.origin_ns[i + 1]
        s.server[i], s.asked_bytes[i], s.left[i] = s.server[i + 1], s.asked_bytes[i + 1], s.left[i + 1]
        s.lag_ns[i], s.held_ns[i] = s.lag_ns[i + 1], s.held_ns[i + 1]


@compiled
def forget_after(s: Account, now_ns: int) -> bool:
    """Let the link forget all if it has been silent for too long until now; return whether there was anything."""
    if s.host_aware or now_ns - s.last_ns < (s.rest_silence_ns if count(s, REST) == s.n else s.silence_ns):
        return False
    known = s.n > 0
    s.n = 0
    return known


@compiled
def _link_sent(s: Account, size_bytes: int, asleep: bool, at_ns: int) -> None:
    """Infer from its size what a frame asks for: more than a header a reply, as much as a header an answer to a SYN."""
    forget_after(s, at_ns)
    s.last_ns = at_ns
    if size_bytes > s.bare_bytes:
        _add(s, -1, REPLY, at_ns, -1, size_bytes)
    elif asleep:
        s.n = 0
        _add(s, -1, OPENING, at_ns, -1, size_bytes)
    elif at_ns != s.owed_ns:
        _add(s, -1, OPENING, at_ns, -1, size_bytes)
    s.owed_ns = -1


@compiled
def link_received(s: Account, size_bytes: int, at_ns: int) -> tuple[int, bool, bool]:
    """Infer from its size what a frame answers: its place or -1, whether as the last, and whether nobody asked."""
    forget_after(s, at_ns)
    s.last_ns = at_ns
    if size_bytes <= s.bare_bytes:
        which = first(s, OPENING)
        s.owed_ns = at_ns if which >= 0 else -1  # the end of a handshake
        return which, True, False
    which = first(s, REST)
    if which < 0:
        which = first(s, REPLY)
    is_full = size_bytes >= s.full_bytes
    if is_full:
        s.full_bytes = size_bytes
        s.owed_ns = at_ns
    return which, not is_full, which < 0


@compiled
def observe(s: Account, frame: FlatFrame, asleep: bool) -> None:
    """Enter a frame, which was sent from sleep or not."""
    if s.host_aware:
        which = find(s, frame.connection)
        if frame.sent:
            if which < 0 and (frame.opening or (frame.payload_bytes and frame.wanted)):
                kind = OPENING if frame.opening else REPLY
                _add(s, frame.connection, kind, frame.at_ns, frame.server, frame.size_bytes)
            return
        says = which >= 0 and (s.kind[which] == OPENING or frame.payload_bytes or frame.completes)
        ends = says and (s.kind[which] == OPENING or frame.completes)
    elif frame.sent:
        _link_sent(s, frame.size_bytes, asleep, frame.at_ns)
        return
    else:
        which, ends, _ = link_received(s, frame.size_bytes, frame.at_ns)
        says = which >= 0
    if says and ends:
        remove(s, which)
    elif says:
        s.kind[which] = REST
