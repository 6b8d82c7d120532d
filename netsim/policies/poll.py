"""Polls while something is outstanding, and no beacons: the simplest thing that a client can do between beacons.

While anything is outstanding the client sleeps for a fixed time, asks the access point, and sleeps again; while nothing
is, it naps.  For a wait without memory a fixed interval is the best there is (Azad et al., CDC 2009).  `poll` knows
from the host what is outstanding, `poll-link` infers it from the sizes of frames (`netsim.policies.outstanding`).
Nothing is learned.
"""

from __future__ import annotations

from functools import partial

from lpsm.native import compiled
from netsim.policies import outstanding
from netsim.policies.compiled import FlatView, Floats, Ints, NamedObserving
from netsim.policies.entry import NS_PER_MS, Entry, Setting, number_text, positive_fraction
from netsim.policies.host import PARAMETERS, nap, with_account
from netsim.policies.protocol import ASK, Plan

INTERVAL, EVERY = range(2)
_LONGEST_MS = 10_000


@compiled
def _poll_or_nap(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Ask again after a while if anything is outstanding; nap else."""
    now, account = view.now_ns, ints[PARAMETERS:].view(outstanding.ACCOUNT)[0]
    outstanding.forget_after(account, now)
    if account.n:
        return Plan(now, now + ints[EVERY], True, ASK + 0 * now, False)
    return nap(now, ints[INTERVAL])


def _made(host_aware: bool, parameter: str, setting: Setting) -> NamedObserving:
    kind = "poll" if host_aware else "poll-link"
    every_ms = positive_fraction(kind, parameter or 25.6, "MS")  # from the end of one poll to the beginning of the next
    if every_ms * NS_PER_MS < 1 or every_ms > _LONGEST_MS:
        raise ValueError(f"MS of {kind} must lie in (0, {_LONGEST_MS}], got {parameter}")
    ints = setting.beacon_interval_ns, round(every_ms * NS_PER_MS)
    form = with_account(_poll_or_nap, ints, host_aware=host_aware, rest_silence_s=2.0)
    return NamedObserving(f"{kind}:{number_text(float(every_ms))}", form, host_aware=host_aware, polls=True)


ENTRIES = (
    Entry("poll[:MS]", "host-aware: asks the access point every MS ms (default 25.6) while waiting; else naps",
        "ours; for waits without memory Azad et al. 2009", "poll:25.6", partial(_made, True), host_aware=True),
    Entry("poll-link[:MS]", "link-only: the same, inferring from frame sizes what is outstanding",
        "ours; for waits without memory Azad et al. 2009", "poll-link:25.6", partial(_made, False)),
)  # fmt: skip
