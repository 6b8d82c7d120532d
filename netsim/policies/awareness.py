"""What a client waits for: known by the host, or inferred from the sizes of frames.

Both keep the same account, from the frames that a policy observes: how many connections
are being opened, whether a reply is coming in, and which requests have had no answer yet,
with the instants at which they were sent.  The host knows.  The link sees sizes only: a
packet up that is larger than a bare header asks for something, a frame down that is
larger than a header but shorter than the longest seen ends a reply.  That goes wrong
where a reply fills its last frame, or where nothing was asked for; so the link forgets
its account when something of the size of a SYN is sent from sleep, and after a silence.

An account is an array of integers, so that compiled rules can keep it.  At most 1,024 things
outstanding are remembered; what begins beyond that is not entered.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm._compile import compiled
from netsim.policies.compiled import FlatFrame

__all__ = [
    "ACCOUNT_SIZE", "ARRIVING", "OPENING", "forget_after", "new_account", "observe", "oldest_ns",
    "outstanding", "waiting",
]  # fmt: skip

Ints = NDArray[np.int64]

# HOST: whether the host tells.  OPENING: connections being opened.  ARRIVING: replies of which something but not all
# has come (the link: whether there is one).  FULL_BYTES: longest frame seen.  OWED_NS: at this instant an
# acknowledgement is due, which is as small as a SYN.  From FIRST on: a row for each thing outstanding, in the order in
# which they began (the link keeps requests only).
HOST, BARE_BYTES, SILENCE_NS, OPENING, ARRIVING, ASKED, FULL_BYTES, LAST_NS, OWED_NS, N_ROWS, FIRST = range(11)
CONNECTION, SINCE_NS, STAGE, N_FIELDS = range(4)
IS_OPENING, IS_ASKED, IS_ARRIVING = range(3)
_MOST_ROWS = 1024
ACCOUNT_SIZE = FIRST + N_FIELDS * _MOST_ROWS
_SMALLEST_FULL_BYTES = 576
"""Whatever is shorter cannot be a full frame: the least that IPv4 must carry (RFC 791)."""


def new_account(*, host: bool, bare_bytes: int = 40, silence_s: float = 10.0) -> Ints:
    """Return an account with nothing in it.

    Parameters
    ----------
    host : bool
        Whether the host tells what is outstanding; otherwise it is inferred.
    bare_bytes : int
        Size of a packet without payload.
    silence_s : float
        After how long without a frame the link takes nothing to be outstanding any more.

    Returns
    -------
    array of int64, shape (ACCOUNT_SIZE,)
    """
    account = np.zeros(ACCOUNT_SIZE, dtype=np.int64)
    account[HOST], account[BARE_BYTES], account[SILENCE_NS] = host, bare_bytes, round(silence_s * 1e9)
    account[FULL_BYTES], account[OWED_NS] = _SMALLEST_FULL_BYTES, -1
    return account


@compiled
def waiting(account: Ints) -> int:
    """Requests of whose replies nothing has come."""
    return account[ASKED] if account[HOST] else max(0, account[ASKED] - account[ARRIVING])


@compiled
def oldest_ns(account: Ints) -> int:
    """When the oldest of these was sent; the link takes replies to come in the order of requests."""
    place = FIRST
    if account[HOST]:
        while account[place + STAGE] != IS_ASKED:
            place += N_FIELDS
    else:
        place += N_FIELDS * account[ARRIVING]
    return account[place + SINCE_NS]


@compiled
def outstanding(account: Ints) -> bool:
    """Whether an answer of any kind may come."""
    return account[OPENING] != 0 or account[ARRIVING] != 0 or account[ASKED] != 0


@compiled
def observe(account: Ints, frame: FlatFrame, asleep: bool) -> None:
    """Enter a frame, which was sent from sleep or not."""
    if account[HOST]:
        if frame.sent:
            _host_sent(account, frame)
        else:
            _host_received(account, frame)
        return
    forget_after(account, frame.at_ns)
    account[LAST_NS] = frame.at_ns
    if frame.sent:
        _link_sent(account, frame, asleep)
    else:
        _link_received(account, frame)


@compiled
def forget_after(account: Ints, now_ns: int) -> bool:
    """Forget all if the link has been silent for too long until `now_ns`; return whether there was anything."""
    if account[HOST] or now_ns - account[LAST_NS] < account[SILENCE_NS]:
        return False
    known = outstanding(account)
    _forget(account)
    return known


@compiled
def _forget(account: Ints) -> None:
    account[N_ROWS] = account[ASKED] = account[OPENING] = account[ARRIVING] = 0


@compiled
def _enter(account: Ints, connection: int, at_ns: int, stage: int) -> None:
    n = account[N_ROWS]
    if n < _MOST_ROWS:
        place = FIRST + N_FIELDS * n
        account[place + CONNECTION], account[place + SINCE_NS], account[place + STAGE] = connection, at_ns, stage
        account[N_ROWS] = n + 1
        account[OPENING if stage == IS_OPENING else ASKED] += 1


@compiled
def _row_of(account: Ints, connection: int) -> int:
    """Return where the connection's row begins, or -1."""
    for place in range(FIRST, FIRST + N_FIELDS * account[N_ROWS], N_FIELDS):
        if account[place + CONNECTION] == connection:
            return place
    return -1


@compiled
def _strike(account: Ints, place: int) -> None:
    """Take out the row that begins at `place`."""
    account[N_ROWS] -= 1
    for i in range(place, FIRST + N_FIELDS * account[N_ROWS]):
        account[i] = account[i + N_FIELDS]


@compiled
def _host_sent(account: Ints, frame: FlatFrame) -> None:
    if (frame.opening or frame.payload_bytes) and _row_of(account, frame.connection) < 0:
        _enter(account, frame.connection, frame.at_ns, IS_OPENING if frame.opening else IS_ASKED)


@compiled
def _host_received(account: Ints, frame: FlatFrame) -> None:
    place = _row_of(account, frame.connection)
    if place < 0:
        return
    stage = account[place + STAGE]
    if stage == IS_OPENING:
        account[OPENING] -= 1
        _strike(account, place)
    elif frame.payload_bytes or frame.completes:
        if stage == IS_ASKED:
            account[ASKED] -= 1
            account[ARRIVING] += 1
            account[place + STAGE] = IS_ARRIVING
        if frame.completes:
            account[ARRIVING] -= 1
            _strike(account, place)


@compiled
def _link_sent(account: Ints, frame: FlatFrame, asleep: bool) -> None:
    if frame.size_bytes > account[BARE_BYTES]:
        _enter(account, -1, frame.at_ns, IS_ASKED)
    elif asleep:
        _forget(account)
        account[OPENING] = 1
    elif frame.at_ns != account[OWED_NS]:
        account[OPENING] += 1
    account[OWED_NS] = -1


@compiled
def _link_received(account: Ints, frame: FlatFrame) -> None:
    if frame.size_bytes <= account[BARE_BYTES]:
        account[OWED_NS] = frame.at_ns if account[OPENING] else -1  # the end of a handshake
        account[OPENING] = max(0, account[OPENING] - 1)
    elif frame.size_bytes >= account[FULL_BYTES]:
        account[FULL_BYTES] = frame.size_bytes
        account[OWED_NS] = frame.at_ns
        account[ARRIVING] = 1 if account[ASKED] else 0
    else:
        account[ARRIVING] = 0
        if account[ASKED]:
            account[ASKED] -= 1
            _strike(account, FIRST)
