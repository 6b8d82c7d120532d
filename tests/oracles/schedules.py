"""Sleep schedules beacon by beacon: lists of instants in place of arithmetic on them."""

from fractions import Fraction

NS_PER_MS = 1_000_000


def listened(schedule, interval, origin, until):
    """The beacons that it listens to when asleep, after the origin and up to the first after `until`."""
    first = origin // interval
    beacons = []
    if schedule.stride:
        n = first
        while not beacons or beacons[-1] <= until:
            n += schedule.stride
            beacons.append(n * interval)
        return beacons
    n, gap = first, 0
    last_dense = (origin + Fraction(schedule.dense_ms) * NS_PER_MS) // interval
    while not beacons or beacons[-1] <= until:
        if n < last_dense:
            n += 1
        else:
            gap = 1 if gap == 0 else min(2 * gap, schedule.longest)
            n += gap
        beacons.append(n * interval)
    return beacons


def awake_from(schedule, interval, origin, now):
    """Until when the schedule is awake from `now` on; `now` itself if it is not."""
    since, in_interval = now - origin, now - now // interval * interval
    hold = [round(at * NS_PER_MS) for at in (schedule.hold_from_ms, schedule.hold_to_ms)]
    window = [round(at * NS_PER_MS) for at in (schedule.duty_from_ms, schedule.duty_to_ms)]
    duty = round(schedule.duty * interval)
    if hold[0] <= since < hold[1]:
        return origin + hold[1]
    if window[0] <= since < window[1] and in_interval < duty:
        return now - in_interval + duty
    return now


def lived(schedule, interval, origin, start, end, arrived, sent):
    """Nanoseconds awake, beacons heard, wake-ups and delay of one who follows the schedule through the episode."""
    awake = heard = wakeups = 0
    asleep_at = awake_from(schedule, interval, origin, start)
    awake += min(asleep_at, end) - start
    if asleep_at > start and end <= asleep_at:
        return awake, heard, wakeups, 0
    for beacon in listened(schedule, interval, origin, end):
        if beacon <= asleep_at:  # passed while awake, or before
            continue
        if beacon > end:
            break
        heard += 1
        until = awake_from(schedule, interval, origin, beacon)
        if until > beacon:
            wakeups += 1
            awake += min(until, end) - beacon
            asleep_at = until
            if end <= until:
                return awake, heard, wakeups, 0
    if not arrived:
        return awake, heard, wakeups + 1, 0
    following = next(beacon for beacon in listened(schedule, interval, origin, end) if beacon > end)
    return awake, heard + (following <= sent), wakeups + 1, min(following, sent) - end
