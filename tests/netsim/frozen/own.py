"""Policies of the frozen worlds' own, which keep what they are shown, so that it is part of the answer."""

from netsim import Plan

MS = 1_000_000


class Keeping:
    """Keeps the numbers of all that it is shown; `learned` is part of the digest."""

    host_aware = False

    def __init__(self, interval_ns):
        self.interval_ns = interval_ns
        self.learned = []

    def keep(self, view):
        seen = (view.now_ns, view.last_sent_ns, view.last_received_ns, view.slept_ns, view.buffered_bytes)
        told = (view.outstanding, view.deadline_ns)
        self.learned += [view.event == "beacon", *(-1 if value is None else value for value in (*seen, *told))]
        self.learned += view.arrivals_ns


class Doubling(Keeping):
    """Sleeps twice as long after every beacon that brings nothing, and one beacon after one that does."""

    spec = "own-doubling"
    beacons = 1

    def plan(self, view):
        self.keep(view)
        if view.event == "beacon":
            self.beacons = 1 if view.buffered_bytes else min(2 * self.beacons, 32)
        return Plan(view.now_ns, (view.now_ns // self.interval_ns + self.beacons) * self.interval_ns)


class Odd(Keeping):
    """Holds, sleeps, repeats and opens by remainders of the time: no rule that would make sense."""

    spec = "own-odd"

    def plan(self, view):
        self.keep(view)
        mixed = view.now_ns // 1_000 * 7_919 % 10_007
        hold = view.now_ns + (0, 0, 3 * MS, self.interval_ns, 2 * self.interval_ns + 1)[mixed % 5]
        wake = (hold // self.interval_ns + 1 + mixed % 7) * self.interval_ns
        return Plan(hold, wake, mixed % 3 == 0, mixed % 2 * (1 + mixed % 4) * self.interval_ns)


class Agreed(Keeping):
    """Has agreed on instants that are no beacons, nearer while something came in a short time ago."""

    spec = "own-agreed"

    def plan(self, view):
        self.keep(view)
        heard = view.last_received_ns
        period = 37 * MS if heard is not None and view.now_ns - heard < 150 * MS else 211 * MS
        begin = view.now_ns // period * period
        return Plan(max(view.now_ns, begin + 5 * MS), begin + period, agreed=True)


class Watching(Keeping):
    """Knows what the host knows, sees every frame, and holds as long as its requests are small in number."""

    spec, host_aware = "own-watching", True
    sent = received = 0

    def observe(self, frame):
        host = frame.host
        self.sent, self.received = self.sent + frame.sent, self.received + (not frame.sent)
        self.learned += [frame.sent, frame.at_ns, frame.reached_ns, frame.size_bytes]
        self.learned += [host.connection, host.opening, host.payload_bytes, host.completes, host.wanted]

    def plan(self, view):
        self.keep(view)
        hold = view.now_ns + (20 * MS if 0 < view.outstanding <= 2 and self.received % 5 else 0)
        return Plan(hold, (hold // self.interval_ns + 1 + self.sent % 3) * self.interval_ns, self.sent % 2 == 0)


OWN = {kind.spec: kind for kind in (Doubling, Odd, Agreed, Watching)}
