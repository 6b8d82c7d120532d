"""Who may send, and when: the distributed coordination function (DCF) of IEEE 802.11 on one channel.

What is modelled: a half-duplex channel on which everybody hears everybody.  A station that has a frame and finds the
channel idle for DIFS, with no backoff pending, sends at once; otherwise it draws a backoff, counts it down slot by
slot while the channel is idle and keeps it while it is busy.  After every transmission a new backoff is drawn.  Those
whose backoff ends in the same slot collide, and all of their frames are lost.  Without an answer the sender doubles
its contention window and tries again, seven times in all.  RTS and CTS go before long frames if asked for, and data
frames go together if asked for (`netsim.model.air.aggregation`).

Slots are counted once for everybody, and a backoff is the count at which it ends.  The next to send is therefore the
least of these numbers, and a transmission costs a few events however many stations there are.

What is left out: hidden stations, capture, propagation delay (below a microsecond), and rate adaptation.  Frames that
collide do so from their first symbol, so that no receiver finds a preamble: those who only listen wait for DIFS
afterwards, as in ns-3.

Source: IEEE 802.11-2020, 10.3.4 (DCF access procedure), 10.3.2.3 (interframe spaces).
"""

from __future__ import annotations

from lpsm.native.records import NONE
from netsim.model.air.aggregation import gather, is_received
from netsim.model.air.beacons import beacons_sent
from netsim.model.codes import DELIVER, MISS_ANSWER, NEVER, NO_ROOM, ORDER_BITS, TAKE_TURN
from netsim.model.entities import Contender, Frame, Run
from netsim.model.primitives import draw, note_exchange, schedule
from netsim.model.queues import append

# -- contention


def backoff(run: Run, contender: Contender) -> int:
    """Draw a number of slots uniformly from 0 to the contention window."""
    return int(draw(run, contender.backoffs) * (contender.cw + 1))


def draw_backoff(run: Run, contender: Contender, begin: int) -> None:
    """Draw the backoff of a station, which counts from a number of slots on."""
    contender.due, contender.drawn = begin + backoff(run, contender), run.idle_times


def put(run: Run, contender: Contender, frame: Frame) -> None:
    """Put a frame at the end of a queue, and contend for the channel."""
    append(contender.queue, frame)
    if not contender.contends:
        contend(run, contender)


def contend(run: Run, contender: Contender) -> None:
    """Let a station with a frame contend: at once if the channel has been idle for DIFS, else with a backoff."""
    now = run.now
    if run.next_target <= now:
        advance_beacons(run, now)
    contender.contends = 1
    if now >= run.count_from:
        if contender.due <= run.slots + (now - run.count_from) // run.slot:
            run.winners[0] = contender.place
            transmit_frames(run, 1)
            if run.n_waiting:
                plan_turn(run)
            return
    elif contender.due < run.slots or (contender.due == run.slots and contender.drawn != run.idle_times):
        draw_backoff(run, contender, run.slots)
    wait(run, contender)


def wait(run: Run, contender: Contender) -> None:
    """Wait for the end of the backoff of a station, in a heap of ends and places in the order of stations."""
    key = contender.due << ORDER_BITS | contender.place
    heap, hole = run.backoffs, run.n_waiting
    run.n_waiting = hole + 1
    while hole > 0 and heap[(hole - 1) >> 1] > key:
        heap[hole] = heap[(hole - 1) >> 1]
        hole = (hole - 1) >> 1
    heap[hole] = key
    if hole == 0:
        plan_turn(run)


def next_waiting(run: Run) -> Contender:
    """Take out the station whose backoff ends first."""
    heap, n = run.backoffs, run.n_waiting - 1
    run.n_waiting = n
    first, key, hole = heap[0], heap[n], 0
    while 2 * hole + 1 < n:
        child = 2 * hole + 1
        if child + 1 < n and heap[child + 1] < heap[child]:
            child += 1
        if key <= heap[child]:
            break
        heap[hole] = heap[child]
        hole = child
    heap[hole] = key
    winner: Contender = run.contenders[first & ((1 << ORDER_BITS) - 1)]
    return winner


def occupy(run: Run, start: int, free: int) -> None:
    """Stop counting slots at `start`, and go on DIFS after `free`."""
    if start >= run.count_from:
        run.slots += (start - run.count_from) // run.slot + run.edca
        run.idle_times += 1
    run.free = free
    run.count_from = free + run.difs


def plan_turn(run: Run) -> None:
    """Look again when the least backoff ends, or when a beacon that matters may be sent."""
    turn, beacon_turn, target = NEVER, NEVER, run.wanted
    if run.n_waiting:
        turn = run.count_from + ((run.backoffs[0] >> ORDER_BITS) - run.slots) * run.slot
        target = run.next_target
    if target < NEVER:
        beacon_turn = max(target, run.free + run.pifs)
        turn = min(turn, beacon_turn)
    if turn < NEVER and turn != run.turn:
        run.turn = turn
        if turn != run.beacon_turn:  # between exchanges the next beacon is planned for over and over
            schedule(run, turn, TAKE_TURN, NONE)
            if turn == beacon_turn:
                run.beacon_turn = turn


def take_turn(run: Run) -> None:
    """Let beacons pass, and those transmit whose backoff ends now."""
    now = run.now
    if now == run.beacon_turn:
        run.beacon_turn = NEVER
    if now != run.turn:
        return  # another turn took its place
    run.turn = NEVER
    advance_beacons(run, now)
    if run.n_waiting and now >= run.free:
        due = run.backoffs[0] >> ORDER_BITS
        if run.count_from + (due - run.slots) * run.slot == now:
            n = 0
            while run.n_waiting and run.backoffs[0] >> ORDER_BITS == due:
                contender = next_waiting(run)
                contender.contends = contender.queue.count > 0
                if contender.queue.count:  # its frame may have been withdrawn
                    run.winners[n] = contender.place
                    n += 1
            if n:
                transmit_frames(run, n)
    plan_turn(run)


# -- transmission


def transmit_frames(run: Run, n: int) -> None:
    """Begin an exchange of the first winner, or a collision of all."""
    now, sender = run.now, run.contenders[run.winners[0]]
    for i in range(n):
        one = run.contenders[run.winners[i]]
        one.on_air = 1
        gather(run, one)
    first = 0
    if n == 1:
        sender.attempts += sender.together
        if is_received(run, sender):
            exchange = sender.exchange
            sender.sent += exchange.sent
            sender.received += exchange.received
            occupy(run, now, now + exchange.total)
            run.busy += exchange.total
            note_exchange(run, n, 1)
            schedule(run, now + exchange.delivered, DELIVER, sender)
            return
        first = sender.exchange.first
        sender.sent += first
        sender.lost += sender.together
        run.busy += first
    else:
        for i in range(n):
            one = run.contenders[run.winners[i]]
            first = max(first, one.exchange.first)
            one.attempts += one.together
            one.collided += one.together
            one.sent += one.exchange.first
        run.collided += first
    note_exchange(run, n, 0)
    occupy(run, now, now + first)
    if n > 1:
        run.count_from = run.free + run.after_collision
    for i in range(n):
        one = run.contenders[run.winners[i]]
        wait_for = run.timeout if one.exchange.answered else 0  # a group frame is over when it ends
        schedule(run, now + one.exchange.first + wait_for, MISS_ANSWER, one)


# -- beacons in between


def advance_beacons(run: Run, now: int) -> None:
    """Let the beacons pass whose time came while nobody contended."""
    interval, air = run.interval, run.beacon_air
    while run.next_target <= now and run.free <= now:
        target = run.next_target
        start = max(target, run.free + run.pifs)
        if start > now:
            return
        count = (now - target) // interval + 1 if start == target else 1
        last = start + (count - 1) * interval
        occupy(run, last, last + air)
        run.busy += count * air
        beacons_sent(run, count, start)


def listen_to_beacon(run: Run, n: int, who: int) -> None:
    """Have a client, by its number, told when beacon `n` has ended; -1: group frames that wait for it."""
    at = run.n_listeners
    if at >= run.listeners_room:
        run.status |= NO_ROOM
        return
    run.listeners[2 * at], run.listeners[2 * at + 1] = n, who
    run.n_listeners = at + 1
    target = n * run.interval
    if target < run.wanted:
        run.wanted = target
        plan_turn(run)
