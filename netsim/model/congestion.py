"""Congestion control: NewReno and CUBIC (RFC 9438), with HyStart's end of slow start, as Linux has them.

Slow start by as many segments as were delivered while the window was in use; above the threshold Reno's one segment a
round trip, or CUBIC's function of the time since the last loss, never less than Reno with CUBIC's factor would have and
never more than half of what is delivered.  HyStart looks for the end of slow start, from 16 segments on: delay that has
grown by an eighth (4 to 16 ms) in eight samples of a round, or a train of acknowledgements that is half a round trip
long.  After an idle time the window is halved for each time-out, down to the first one.  Linux 6.18, `tcp_cubic.c`.
"""

from __future__ import annotations

from netsim.model.codes import CUBIC, RECOVERY
from netsim.model.entities import Endpoint, Run

BETA = 717 / 1024
"""What CUBIC keeps of the window after a loss."""
C = 0.4
"""CUBIC's constant, segments a cubic second."""
RENO_GAIN = 8.0 / 15.0
"""By how much Reno grows with CUBIC's factor, a round trip."""
HYSTART_WINDOW, HYSTART_SAMPLES = 16.0, 8
HYSTART_LEAST, HYSTART_MOST = 4_000_000, 16_000_000
TRAIN_GAP, TRAIN_MORE = 2_000_000, 1_000_000
NO_THRESHOLD = 1e9


def reduced_window(run: Run, end: Endpoint) -> float:
    """Return the threshold after a loss, of which CUBIC takes note."""
    cwnd = float(int(end.cwnd))
    if run.control != CUBIC:
        return max(cwnd // 2.0, 2.0)
    end.epoch = 0
    end.last_max = cwnd * (1.0 + BETA) / 2.0 if cwnd < end.last_max else cwnd
    return max(float(int(cwnd * BETA)), 2.0)


def raise_window(run: Run, end: Endpoint, delivered: int) -> None:
    """Let the window grow by what was delivered."""
    left, slow = float(delivered), end.cwnd < end.ssthresh
    if not (end.limited or (slow and end.cwnd < 2 * end.most_out)):
        return
    if slow:
        before = end.cwnd
        end.cwnd = min(end.cwnd + left, end.ssthresh)
        left -= end.cwnd - before
        if left <= 0.0:
            return
    cwnd = float(int(end.cwnd))
    gain = cubic_gain(run, end, cwnd, left) if run.control == CUBIC else 1.0 / cwnd
    end.cwnd = min(end.cwnd + left * gain, 1.0 * run.window)


def cubic_gain(run: Run, end: Endpoint, cwnd: float, delivered: float) -> float:
    """Return by how much the window grows for each segment that is delivered."""
    if not end.epoch:
        end.epoch, end.reno_cwnd = max(run.now, 1), cwnd
        end.k = ((end.last_max - cwnd) / C) ** (1.0 / 3.0) if end.last_max > cwnd else 0.0
        end.origin = max(end.last_max, cwnd)
    since = (run.now - end.epoch + end.least_rtt) / 1e9 - end.k
    gain = max((end.origin + C * since * since * since - cwnd) / cwnd, 0.01 / cwnd)
    if end.last_max == 0.0:
        gain = max(gain, 0.05)
    end.reno_cwnd += delivered * RENO_GAIN / cwnd
    return min(max(gain, (end.reno_cwnd - cwnd) / cwnd), 0.5)


def look_for_end(run: Run, end: Endpoint, rtt: int) -> None:
    """End slow start if a round trip, or a train of acknowledgements, says that the path is full (HyStart)."""
    if run.control != CUBIC or end.cwnd >= end.ssthresh:
        return
    now = run.now
    if end.unacked > end.round_end:
        end.round_begun, end.round_end, end.train = now, end.next, now
        end.round_samples, end.round_rtt = 0, rtt
    if end.cwnd < HYSTART_WINDOW:
        return
    found = False
    if now - end.train <= TRAIN_GAP:
        end.train = now
        found = now - end.round_begun > (end.least_rtt + TRAIN_MORE) // 2
    end.round_rtt = min(end.round_rtt, rtt)
    if end.round_samples < HYSTART_SAMPLES:
        end.round_samples += 1
    elif end.round_rtt > end.least_rtt + min(max(end.least_rtt // 8, HYSTART_LEAST), HYSTART_MOST):
        found = True
    if found:
        end.ssthresh = float(int(end.cwnd))


def restart_window(run: Run, end: Endpoint) -> None:
    """Begin with a smaller window after an idle time."""
    idle, first = run.now - end.last_sent, 1.0 * run.first_window
    if end.recovering != RECOVERY:
        end.ssthresh = max(end.ssthresh, 0.75 * end.cwnd)
    least, idle = min(first, end.cwnd), idle - end.rto
    while idle > 0 and end.cwnd > least:
        end.cwnd = float(int(end.cwnd) // 2)
        idle -= end.rto
    end.cwnd = max(end.cwnd, least)


def note_idle(run: Run, end: Endpoint) -> None:
    """Let the time in which nothing was on its way not count for CUBIC."""
    if end.epoch and end.last_sent:
        end.epoch = min(end.epoch + run.now - end.last_sent, run.now)
