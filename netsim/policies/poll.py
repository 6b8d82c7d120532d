"""Polls while something is outstanding, and no beacons: the simplest thing that a client can do between beacons.

While anything is outstanding the client sleeps for a fixed time, asks the access point, and sleeps again; while nothing
is, it naps.  For a wait without memory a fixed interval is the best there is (Azad et al., CDC 2009).  `poll` knows
from the host what is outstanding, `poll-link` infers it from the sizes of frames (`netsim.policies.outstanding`).
Nothing is learned.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from lpsm.native import compiled
from netsim.policies import outstanding
from netsim.policies.compiled import CompiledForm, FlatFrame, FlatView, Floats, Ints, Ruled
from netsim.policies.entry import NS_PER_MS, Entry, Setting, number_text, positive_fraction
from netsim.policies.protocol import ASK, Frame, Plan

INTERVAL, EVERY, N_INTEGERS = range(3)  # the last: how many stand before the account
NAP_BEACONS = 50
_LONGEST_MS = 10_000


class PollWhileWaiting(Ruled):
    """The policies `poll:MS` and `poll-link:MS`.

    Parameters
    ----------
    every_ms : number or str
        Time from the end of one poll to the beginning of the next, milliseconds in (0, 10,000].
    host_aware : bool
        Whether the host tells what is outstanding.
    beacon_interval_ns : int
        Time between beacons, nanoseconds.

    Raises
    ------
    ValueError
        If the time is not in its range.
    """

    polls = True

    def __init__(
        self, every_ms: str | float = 25.6, *, host_aware: bool = True, beacon_interval_ns: int = 100 * NS_PER_MS
    ) -> None:
        kind = "poll" if host_aware else "poll-link"
        every = positive_fraction(kind, every_ms)
        if every * NS_PER_MS < 1 or every > _LONGEST_MS:
            raise ValueError(f"{kind} must poll every 0 to {_LONGEST_MS} ms, got {every_ms}")
        self.host_aware = host_aware
        self.spec = f"{kind}:{number_text(float(every))}"
        account = np.zeros(1, dtype=outstanding.ACCOUNT)
        outstanding.open_account(account, host_aware=host_aware, rest_silence_s=2.0)
        ints = np.concatenate([[beacon_interval_ns, round(every * NS_PER_MS)], account.view(np.int64)])
        self.compiled = CompiledForm(_poll_or_nap, _keep_account, ints=ints)

    def observe(self, frame: Frame) -> None:
        """Enter a frame into the account."""
        self.compiled.observe(frame)


@compiled
def _keep_account(frame: FlatFrame, ints: Ints, floats: Floats) -> None:
    """Enter a frame into the account; whoever polls is asleep when it sends, but for frames that answer others."""
    outstanding.observe(ints[N_INTEGERS:].view(outstanding.ACCOUNT)[0], frame, False)


@compiled
def _poll_or_nap(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Ask again after a while if anything is outstanding; nap else."""
    interval, now, account = ints[INTERVAL], view.now_ns, ints[N_INTEGERS:].view(outstanding.ACCOUNT)[0]
    outstanding.forget_after(account, now)
    if account.n:
        return Plan(now, now + ints[EVERY], True, ASK + 0 * now, False)
    length = NAP_BEACONS * interval
    return Plan(now, now // interval * interval + length, True, length, False)


def _made(host_aware: bool, parameter: str, setting: Setting) -> PollWhileWaiting:
    return PollWhileWaiting(parameter or 25.6, host_aware=host_aware, beacon_interval_ns=setting.beacon_interval_ns)


ENTRIES = (
    Entry("poll[:MS]", "host-aware: asks the access point every MS ms (default 25.6) while waiting; else naps",
        "ours; for waits without memory Azad et al. 2009", "poll:25.6", partial(_made, True), host_aware=True),
    Entry("poll-link[:MS]", "link-only: the same, inferring from frame sizes what is outstanding",
        "ours; for waits without memory Azad et al. 2009", "poll-link:25.6", partial(_made, False)),
)  # fmt: skip
