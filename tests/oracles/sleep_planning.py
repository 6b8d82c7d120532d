"""Sleep plans by exhaustion: every path through stops and steps, and what the best constant period costs."""

import math

import numpy as np


def paths(stops_ns, steps_ns, last, k=0):
    """Yield every way to act from stop k on: (asleep_ns, wake_ns) one after another; awake to the end is (last, -1)."""
    if k >= last:
        yield ()
        return
    starts = [step for step in steps_ns if stops_ns[k] <= step < stops_ns[last]]
    for asleep_ns in starts:
        for j in range(k + 1, last + 1):
            if stops_ns[j] > asleep_ns:
                for rest in paths(stops_ns, steps_ns, last, j):
                    yield ((asleep_ns, stops_ns[j]), *rest)
    yield ((stops_ns[last], -1),)


def stationary_j(rates, interval_s, periods, *, awake_w, beacon_j, prices_w):
    """Expected joules to go at constant rates with the best constant period."""
    powers = [beacon_j / (n * interval_s) + np.dot(prices_w, rates) * n * interval_s / 2 for n in periods]
    return min(awake_w, *powers) / math.fsum(rates)
