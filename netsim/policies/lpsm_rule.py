"""The rule of LPSM on plain arrays, compiled; `netsim.policies.lpsm` says what it does."""

from __future__ import annotations

from lpsm.experts.share import N_ROWS
from lpsm.native import block, compiled
from netsim.policies.compiled import FlatView, Floats, Ints
from netsim.policies.lpsm2_rule import learner_places
from netsim.policies.polling import polling_round
from netsim.policies.protocol import Plan

INTERVAL, BEACONS, N_EXPERTS, N_RATES, N_SLOW = range(5)  # the integers


@compiled
def learn_at_beacons(view: FlatView, ints: Ints, floats: Floats) -> Plan:
    """The rule of LPSM: learn at a beacon; sleep for the beacons last decided.

    The integers are the time between beacons, the beacons of the next sleep, and the shape of the learner's arrays; the
    numbers the mean polling time, milliseconds, and the arrays that `polling_round` takes, one behind another.
    """
    interval = ints[INTERVAL]
    if view.at_beacon:
        _learn(ints, floats, view.buffered_bytes)
    return Plan(view.now_ns, (view.now_ns // interval + ints[BEACONS]) * interval, False, 0, False)


@compiled
def _learn(ints: Ints, floats: Floats, buffered_bytes: int) -> None:
    """Play the round of one poll."""
    n, m, s = ints[N_EXPERTS], ints[N_RATES], ints[N_SLOW]
    columns_at, slow_at, head_at, work_at, experts_at = learner_places(1, n, m, s)
    interval_ms = ints[INTERVAL] / 1e6
    # T_t is the nominal sleep, also when it was cut short by a send
    floats[0] = polling_round(
        ints[BEACONS] * interval_ms,
        buffered_bytes,
        block(floats, 1, (n, m)),
        block(floats, columns_at, (N_ROWS, m + s)),
        block(floats, slow_at, (2, n, s)),
        floats[head_at:work_at],
        block(floats, work_at, (3, n)),
        block(floats, experts_at, (4, n)),
    )
    ints[BEACONS] = max(1, int(floats[0] / interval_ms + (0.5 + 1e-9)))  # the nearest number of beacons, halves up
