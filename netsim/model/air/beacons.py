"""Beacons: sent at their target times before anybody else, late after what is on the air, with a TIM.

What is modelled: a beacon every interval with priority (PIFS, no backoff), at its target time or after the frame that
is on the air then.  Beacons that nobody needs and that nothing delays take no event: they are counted when somebody
next asks.  A client may be unable to decode some: one that it wanted costs it as much as any, tells it nothing, and
makes it listen to the next.  Left out: several BSSIDs, beacon jitter.

Source: IEEE 802.11-2020, 11.1.3.2 (beacon generation), 11.2.3 (power management), 9.4.2.5 (TIM).
"""

from __future__ import annotations

from netsim.model.codes import NEVER, TELL
from netsim.model.entities import Client, Run
from netsim.model.primitives import draw, note_late, schedule


def beacons_sent(run: Run, count: int, start: int) -> None:
    """Note that so many beacons were sent, the first at `start`; all after it were on time."""
    n = run.next_beacon
    if start > run.next_target:
        note_late(run, n, start - run.next_target)
    run.next_beacon = n + count
    run.next_target = (n + count) * run.interval
    if run.wanted < run.next_target:  # somebody waits for the last of them, and for no other
        last, wanted = n + count - 1, NEVER
        for i in range(run.n_listeners):
            if run.listeners[2 * i] > last:
                wanted = min(wanted, run.listeners[2 * i] * run.interval)
        run.wanted = wanted
        schedule(run, beacon_end(run, last), TELL, last)


def first_late(run: Run, n: int) -> int:
    """Return the place, among beacons that were late, of the first from number `n` on."""
    low, high = 0, run.n_late
    while low < high:
        middle = (low + high) >> 1
        if run.late[2 * middle] < n:
            low = middle + 1
        else:
            high = middle
    return low


def beacon_start(run: Run, n: int) -> int:
    """Return when beacon `n`, which has been sent, began."""
    at, start = first_late(run, n), n * run.interval
    if at < run.n_late and run.late[2 * at] == n:
        start += run.late[2 * at + 1]
    return start


def beacon_end(run: Run, n: int) -> int:
    """Return when beacon `n`, which has been sent, ended."""
    return beacon_start(run, n) + run.beacon_air


def late_in_all(run: Run, n: int, last: int, step: int) -> int:
    """Return how much later than their targets the beacons n, n + step, ... up to `last` began, all together."""
    total, at = 0, first_late(run, n)
    while at < run.n_late and run.late[2 * at] <= last:
        if (run.late[2 * at] - n) % step == 0:
            total += run.late[2 * at + 1]
        at += 1
    return total


def heard_up_to(run: Run, now: int) -> int:
    """Return the number of the last beacon that has ended by `now`."""
    last = run.next_beacon - 1
    return last - 1 if last > 0 and beacon_end(run, last) > now else last


def next_lost(run: Run, client: Client, number: int, step: int, last: int) -> int:
    """Return the first of the beacons number, number + step, ... up to `last` that a client loses, or what follows it.

    A beacon is lost or not however many the client listens to: one number is drawn for each, in their order.
    """
    if not run.beacons_lossy:
        return last + 1
    while client.lost_beacon < number or (client.lost_beacon - number) % step:
        if client.decided > last:
            return last + 1
        if draw(run, client.reception) < run.loss_rate:
            client.lost_beacon = client.decided
        client.decided += 1
    return min(client.lost_beacon, last + 1)
