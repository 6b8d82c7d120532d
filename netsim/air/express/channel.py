"""The channel and its beacons: `netsim.air.access.Medium` and `netsim.air.beacons.Beacons` in integers."""

from __future__ import annotations

from lpsm._compile import compiled
from netsim.air.air_times import DATA_OVERHEAD_BYTES, NULL_BYTES
from netsim.air.express import layout as slot
from netsim.air.express.events import append, draw, happen
from netsim.express.layout import Place
from netsim.running.pointers import real

__all__ = [
    "advance_beacons", "backoff", "beacon_start", "contend", "data_air", "data_exchange", "heard_up_to", "late_in_all",
    "listen_to_beacon", "null_exchange", "send", "take_turn", "wait",
]  # fmt: skip


# -- frames


@compiled
def data_exchange(w: Place, frame: int, mpdu_bytes: int) -> None:
    """Enter the times of a data frame of so many bytes that is acknowledged."""
    row = w[slot.EXCHANGES] + slot.EXCHANGE_SIZE * mpdu_bytes
    for field in range(5):
        w[frame + slot.FRAME_FIRST + field] = w[row + field]
    w[frame + slot.FRAME_ANSWERED] = 1


@compiled
def data_air(w: Place, mpdu_bytes: int) -> int:
    """Return the air time of a data frame of so many bytes."""
    return w[w[slot.EXCHANGES] + slot.EXCHANGE_SIZE * mpdu_bytes + slot.DATA_ALONE]


@compiled
def null_exchange(w: Place, frame: int, code: int, client: int) -> None:
    """Make a frame a null frame of a client, or for it."""
    data_exchange(w, frame, w[client + slot.CLIENT_OVERHEAD] - DATA_OVERHEAD_BYTES + NULL_BYTES)
    w[frame + slot.FRAME_CODE] = code
    w[frame + slot.FRAME_OWNER] = client
    w[frame + slot.FRAME_TO] = 0


# -- contention


@compiled
def backoff(w: Place, contender: int) -> int:
    """Draw a number of slots uniformly from 0 to the contention window."""
    return int(draw(w, contender + slot.CONTENDER_NEXT) * (w[contender + slot.CONTENDER_CW] + 1))


@compiled
def send(w: Place, contender: int, frame: int) -> None:
    """Put a frame at the end of a queue, and contend for the channel."""
    append(w, contender + slot.CONTENDER_HEAD, frame)
    w[contender + slot.CONTENDER_COUNT] += 1
    if not w[contender + slot.CONTENDER_CONTENDS]:
        contend(w, contender)


@compiled
def contend(w: Place, contender: int) -> None:
    """Let a station with a frame contend: at once if the channel has been idle for DIFS, else with a backoff."""
    now = w[slot.NOW]
    if w[slot.NEXT_TARGET] <= now:
        advance_beacons(w, now)
    w[contender + slot.CONTENDER_CONTENDS] = 1
    slots, since, due = w[slot.SLOTS], w[slot.COUNT_FROM], w[contender + slot.CONTENDER_DUE]
    if now >= since:
        if due <= slots + (now - since) // w[slot.SLOT]:
            w[w[slot.WINNERS]] = contender
            _transmit(w, 1)
            if w[slot.N_WAITING]:
                plan_turn(w)
            return
    elif due <= slots:
        w[contender + slot.CONTENDER_DUE] = slots + backoff(w, contender)
    wait(w, contender)


@compiled
def wait(w: Place, contender: int) -> None:
    """Wait for the end of the backoff of a station, in a heap of ends and places in the order of stations."""
    place = (contender - w[slot.CONTENDERS]) // slot.CONTENDER_SIZE
    key = w[contender + slot.CONTENDER_DUE] << slot.ORDER_BITS | place
    heap, hole = w[slot.WAITING], w[slot.N_WAITING]
    w[slot.N_WAITING] = hole + 1
    while hole > 0 and w[heap + ((hole - 1) >> 1)] > key:
        w[heap + hole] = w[heap + ((hole - 1) >> 1)]
        hole = (hole - 1) >> 1
    w[heap + hole] = key
    if hole == 0:
        plan_turn(w)


@compiled
def _next_waiting(w: Place) -> int:
    """Take out the station whose backoff ends first."""
    heap, n = w[slot.WAITING], w[slot.N_WAITING] - 1
    w[slot.N_WAITING] = n
    first, key, hole = w[heap], w[heap + n], 0
    while 2 * hole + 1 < n:
        child = 2 * hole + 1
        if child + 1 < n and w[heap + child + 1] < w[heap + child]:
            child += 1
        if key <= w[heap + child]:
            break
        w[heap + hole] = w[heap + child]
        hole = child
    w[heap + hole] = key
    return w[slot.CONTENDERS] + slot.CONTENDER_SIZE * (first & ((1 << slot.ORDER_BITS) - 1))


@compiled
def _occupy(w: Place, start: int, free: int) -> None:
    """Stop counting slots at `start`, and go on DIFS after `free`."""
    if start > w[slot.COUNT_FROM]:
        w[slot.SLOTS] += (start - w[slot.COUNT_FROM]) // w[slot.SLOT]
    w[slot.FREE] = free
    w[slot.COUNT_FROM] = free + w[slot.DIFS]


@compiled
def plan_turn(w: Place) -> None:
    """Look again when the least backoff ends, or when a beacon that matters may be sent."""
    turn, beacon_turn, target = slot.NEVER, slot.NEVER, w[slot.WANTED]
    if w[slot.N_WAITING]:
        turn = w[slot.COUNT_FROM] + ((w[w[slot.WAITING]] >> slot.ORDER_BITS) - w[slot.SLOTS]) * w[slot.SLOT]
        target = w[slot.NEXT_TARGET]
    if target < slot.NEVER:
        beacon_turn = max(target, w[slot.FREE] + w[slot.PIFS])
        turn = min(turn, beacon_turn)
    if turn < slot.NEVER and turn != w[slot.TURN]:
        w[slot.TURN] = turn
        if turn != w[slot.BEACON_TURN]:  # between exchanges the next beacon is planned for over and over
            happen(w, turn, slot.TAKE_TURN, 0)
            if turn == beacon_turn:
                w[slot.BEACON_TURN] = turn


@compiled
def take_turn(w: Place) -> None:
    """Let beacons pass, and those transmit whose backoff ends now."""
    now = w[slot.NOW]
    if now == w[slot.BEACON_TURN]:
        w[slot.BEACON_TURN] = slot.NEVER
    if now != w[slot.TURN]:
        return  # another turn took its place
    w[slot.TURN] = slot.NEVER
    advance_beacons(w, now)
    if w[slot.N_WAITING] and now >= w[slot.FREE]:
        due = w[w[slot.WAITING]] >> slot.ORDER_BITS
        if w[slot.COUNT_FROM] + (due - w[slot.SLOTS]) * w[slot.SLOT] == now:
            n = 0
            while w[slot.N_WAITING] and w[w[slot.WAITING]] >> slot.ORDER_BITS == due:
                contender = _next_waiting(w)
                w[contender + slot.CONTENDER_CONTENDS] = w[contender + slot.CONTENDER_COUNT] > 0
                if w[contender + slot.CONTENDER_COUNT]:  # its frame may have been withdrawn
                    w[w[slot.WINNERS] + n] = contender
                    n += 1
            if n:
                _transmit(w, n)
    plan_turn(w)


@compiled
def _transmit(w: Place, n: int) -> None:
    """Begin an exchange of the first winner, or a collision of all."""
    now, sender = w[slot.NOW], w[w[slot.WINNERS]]
    first = 0
    if n == 1:
        frame = w[sender + slot.CONTENDER_HEAD]
        w[sender + slot.CONTENDER_ON_AIR] = 1
        w[sender + slot.CONTENDER_ATTEMPTS] += 1
        if not (w[slot.LOSSY] and draw(w, slot.LOSS_NEXT) < real(w[slot.LOSS_RATE]) and w[frame + slot.FRAME_ANSWERED]):
            w[sender + slot.CONTENDER_SENT] += w[frame + slot.FRAME_SENDER]
            w[sender + slot.CONTENDER_RECEIVED] += w[frame + slot.FRAME_RECEIVER]
            _occupy(w, now, now + w[frame + slot.FRAME_TOTAL])
            w[slot.BUSY] += w[frame + slot.FRAME_TOTAL]
            happen(w, now + w[frame + slot.FRAME_DELIVERED], slot.DELIVER, sender)
            return
        first = w[frame + slot.FRAME_FIRST]
        w[sender + slot.CONTENDER_SENT] += first
        w[sender + slot.CONTENDER_LOST] += 1
        w[slot.BUSY] += first
        _occupy(w, now, now + first)
    else:
        for i in range(n):
            one = w[w[slot.WINNERS] + i]
            own = w[w[one + slot.CONTENDER_HEAD] + slot.FRAME_FIRST]
            first = max(first, own)
            w[one + slot.CONTENDER_ON_AIR] = 1
            w[one + slot.CONTENDER_ATTEMPTS] += 1
            w[one + slot.CONTENDER_COLLIDED] += 1
            w[one + slot.CONTENDER_SENT] += own
        w[slot.COLLIDED] += first
        _occupy(w, now, now + first)
        w[slot.COUNT_FROM] = w[slot.FREE] + w[slot.AFTER_COLLISION]
    for i in range(n):
        one = w[w[slot.WINNERS] + i]
        first = w[w[one + slot.CONTENDER_HEAD] + slot.FRAME_FIRST]
        happen(w, now + first + w[slot.TIMEOUT], slot.MISS_ANSWER, one)


# -- beacons


@compiled
def advance_beacons(w: Place, now: int) -> None:
    """Let the beacons pass whose time came while nobody contended."""
    interval, air = w[slot.INTERVAL], w[slot.BEACON_AIR]
    while w[slot.NEXT_TARGET] <= now and w[slot.FREE] <= now:
        target = w[slot.NEXT_TARGET]
        start = max(target, w[slot.FREE] + w[slot.PIFS])
        if start > now:
            return
        count = (now - target) // interval + 1 if start == target else 1
        last = start + (count - 1) * interval
        _occupy(w, last, last + air)
        w[slot.BUSY] += count * air
        _beacons_sent(w, count, start)


@compiled
def _beacons_sent(w: Place, count: int, start: int) -> None:
    """Note that so many beacons were sent, the first at `start`; all after it were on time."""
    n = w[slot.NEXT_BEACON]
    if start > w[slot.NEXT_TARGET]:
        late = w[slot.N_LATE]
        if late + slot.MARGIN >= w[slot.LATE_ROOM]:
            w[slot.STATUS] |= slot.LATES if late < w[slot.LATE_ROOM] else slot.REFUSED
        if late < w[slot.LATE_ROOM]:
            w[w[slot.LATE] + 2 * late], w[w[slot.LATE] + 2 * late + 1] = n, start - w[slot.NEXT_TARGET]
            w[slot.N_LATE] = late + 1
    w[slot.NEXT_BEACON] = n + count
    w[slot.NEXT_TARGET] = (n + count) * w[slot.INTERVAL]
    if w[slot.WANTED] < w[slot.NEXT_TARGET]:
        _tell_listeners(w, n + count - 1)


@compiled
def _tell_listeners(w: Place, beacon: int) -> None:
    """Have those told who wait for this beacon, when it has ended."""
    if w[slot.N_TOLD]:
        w[slot.STATUS] |= slot.REFUSED  # beacons that follow one another without a pause
    listeners, kept, wanted = w[slot.LISTENERS], 0, slot.NEVER
    for i in range(w[slot.N_LISTENERS]):
        n, who = w[listeners + 2 * i], w[listeners + 2 * i + 1]
        if n == beacon:
            w[w[slot.TOLD] + w[slot.N_TOLD]] = who
            w[slot.N_TOLD] += 1
        else:
            w[listeners + 2 * kept], w[listeners + 2 * kept + 1] = n, who
            kept += 1
            wanted = min(wanted, n * w[slot.INTERVAL])
    w[slot.N_LISTENERS], w[slot.WANTED] = kept, wanted
    w[slot.TOLD_FROM] = beacon_start(w, beacon)
    happen(w, w[slot.TOLD_FROM] + w[slot.BEACON_AIR], slot.TELL, 0)


@compiled
def listen_to_beacon(w: Place, n: int, who: int) -> None:
    """Have a client told when beacon `n` has ended; 0: group frames that wait for it."""
    at = w[slot.N_LISTENERS]
    if at >= w[slot.LISTENERS_ROOM] or n < w[slot.NEXT_BEACON]:
        w[slot.STATUS] |= slot.REFUSED
        return
    w[w[slot.LISTENERS] + 2 * at], w[w[slot.LISTENERS] + 2 * at + 1] = n, who
    w[slot.N_LISTENERS] = at + 1
    target = n * w[slot.INTERVAL]
    if target < w[slot.WANTED]:
        w[slot.WANTED] = target
        plan_turn(w)


@compiled
def first_late(w: Place, n: int) -> int:
    """Return the place among beacons that were late of the first from number `n` on."""
    low, high = 0, w[slot.N_LATE]
    while low < high:
        middle = (low + high) >> 1
        if w[w[slot.LATE] + 2 * middle] < n:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def beacon_start(w: Place, n: int) -> int:
    """Return when beacon `n`, which has been sent, began."""
    at = first_late(w, n)
    start = n * w[slot.INTERVAL]
    if at < w[slot.N_LATE] and w[w[slot.LATE] + 2 * at] == n:
        start += w[w[slot.LATE] + 2 * at + 1]
    return start


@compiled
def late_in_all(w: Place, n: int, last: int, step: int) -> int:
    """Return how much later than their targets the beacons n, n + step, ... up to `last` began, all together."""
    total, at = 0, first_late(w, n)
    while at < w[slot.N_LATE] and w[w[slot.LATE] + 2 * at] <= last:
        if (w[w[slot.LATE] + 2 * at] - n) % step == 0:
            total += w[w[slot.LATE] + 2 * at + 1]
        at += 1
    return total


@compiled
def heard_up_to(w: Place, now: int) -> int:
    """Return the number of the last beacon that has ended by `now`."""
    last = w[slot.NEXT_BEACON] - 1
    return last - 1 if last > 0 and beacon_start(w, last) + w[slot.BEACON_AIR] > now else last
