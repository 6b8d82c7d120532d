"""The rule of LPSM as a compiled function: thesis fig. 2-4 on arrays.

Integers: time between beacons; beacons of the next sleep; then the shape of the learner's arrays.  Numbers: the mean
polling time, milliseconds, then the arrays that `netsim.policies.polling.polling_round` takes, one behind another.
"""

from __future__ import annotations

from lpsm._compile import compiled
from lpsm.experts.share import N_HEAD, N_ROWS
from netsim.policies.compiled import FlatView, Floats, Ints
from netsim.policies.polling import polling_round
from netsim.policies.protocol import Plan
from netsim.running.pointers import block

__all__ = ["learn_at_beacons", "nearest_beacons"]

INTERVAL, BEACONS, N_EXPERTS, N_RATES, N_SLOW = range(5)
_EXPERT_ROWS = 4
_NS_PER_MS = 1e6


@compiled
def nearest_beacons(mean_ms: float, interval_ms: float) -> int:
    """Whole beacon intervals nearest to a time, halves up, at least one."""
    return max(1, int(mean_ms / interval_ms + (0.5 + 1e-9)))


@compiled
def learn_at_beacons(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """Learn at a beacon; sleep for the beacons last decided."""
    interval = ints[INTERVAL]
    if view.at_beacon:
        _learn(ints, floats, view.buffered_bytes)
    return Plan(view.now_ns, (view.now_ns // interval + ints[BEACONS]) * interval, False, 0, False)


@compiled
def _learn(ints: Ints, floats: Floats, buffered_bytes: int) -> None:
    """Play the round of one poll."""
    n, m, s = ints[N_EXPERTS], ints[N_RATES], ints[N_SLOW]
    columns_at = 1 + n * m
    slow_at = columns_at + N_ROWS * (m + s)
    head_at = slow_at + 2 * n * s
    work_at = head_at + N_HEAD
    experts_at = work_at + 3 * n
    interval_ms = ints[INTERVAL] / _NS_PER_MS
    # T_t is the nominal sleep, also when it was cut short by a send
    floats[0] = polling_round(
        ints[BEACONS] * interval_ms,
        buffered_bytes,
        block(floats, 1, (n, m)),
        block(floats, columns_at, (N_ROWS, m + s)),
        block(floats, slow_at, (2, n, s)),
        floats[head_at:work_at],
        block(floats, work_at, (3, n)),
        block(floats, experts_at, (_EXPERT_ROWS, n)),
    )
    ints[BEACONS] = nearest_beacons(floats[0], interval_ms)
