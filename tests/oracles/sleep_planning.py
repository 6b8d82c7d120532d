"""Sleep plans by exhaustion: every path through stops and steps, its cost summed event by event on a fine grid."""

import math

import numpy as np

FINE_NS = 200_000


class Waits:
    """Several waits: when the first comes, of which class, on a fine grid.  `rates(age_s)` is one's hazard."""

    def __init__(self, waits, until_ns):
        self.at_s = (np.arange(0, until_ns, FINE_NS) + FINE_NS / 2) * 1e-9
        hazards = np.zeros((2, len(self.at_s)))
        for rates, age_s, which in waits:
            hazards[which] += np.array([rates(age_s + at) for at in self.at_s]) * FINE_NS * 1e-9
        self.alive_after = np.exp(-hazards.cumsum(axis=1))
        before = np.concatenate([np.ones((2, 1)), self.alive_after[:, :-1]], axis=1)
        self.mass = before - self.alive_after  # of the first of each class
        self.last_rates = hazards[:, -500:].sum(axis=1) / (500 * FINE_NS * 1e-9)  # of the last 0.1 s

    def alive(self, at_ns, which=(0, 1)):
        """Probability that none of some classes has come."""
        return 1.0 if at_ns < FINE_NS else float(np.prod(self.alive_after[which, round(at_ns / FINE_NS) - 1]))

    def awake_s(self, from_ns, to_ns):
        """Expected time awake of who stays awake between two instants unless something comes."""
        alive = self.alive_after.prod(axis=0)
        return float(alive[(self.at_s >= from_ns * 1e-9) & (self.at_s < to_ns * 1e-9)].sum()) * FINE_NS * 1e-9

    def late_s(self, asleep_ns, wake_ns, which):
        """Expected delay of the first of a class if asleep; it does not matter whether one of the other has come."""
        chosen = (self.at_s >= asleep_ns * 1e-9) & (self.at_s < wake_ns * 1e-9)
        delay_s = (wake_ns * 1e-9 - self.at_s[chosen]) @ self.mass[which, chosen]
        return float(delay_s) * self.alive(asleep_ns, 1 - which)


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


def cost(path, waits, stops_ns, last, *, awake_w, beacon_j, wakeup_j, prices_w, is_awake, terminal_j):
    """Expected joules of a way to act."""
    total, at_ns, awake = 0.0, 0, is_awake
    for asleep_ns, wake_ns in path:
        if asleep_ns > at_ns:
            total += awake_w * waits.awake_s(at_ns, asleep_ns) + (0.0 if awake else wakeup_j * waits.alive(at_ns))
        if wake_ns < 0:
            break
        total += beacon_j * waits.alive(asleep_ns) + wakeup_j * (waits.alive(asleep_ns) - waits.alive(wake_ns))
        total += sum(price_w * waits.late_s(asleep_ns, wake_ns, which) for which, price_w in enumerate(prices_w))
        at_ns, awake = wake_ns, False
    return total + waits.alive(stops_ns[last]) * terminal_j


def stationary_j(rates, interval_s, periods, *, awake_w, beacon_j, prices_w):
    """Expected joules to go at constant rates with the best constant period."""
    powers = [beacon_j / (n * interval_s) + np.dot(prices_w, rates) * n * interval_s / 2 for n in periods]
    return min(awake_w, *powers) / math.fsum(rates)
