"""The power-saving client on the shared air: the same policies, carried out with frames that contend.

The client dozes, wakes up in time for the beacons that its policy wants, learns from the TIM whether frames wait for
it, and fetches them (`netsim.model.air.retrieval`).  It wakes up to send, which takes the time that its radio needs.
It is brought up to date only when something happens to it.  States: *dozing*; *awake with the gate closed* (the
access point holds its frames back: it sends, polls, or waits for a beacon too near to sleep before); *awake with the
gate open*. Left out: association, keep-alive frames.
"""

from __future__ import annotations

from lpsm.native.records import NONE
from netsim.model.air.access_point import forward, hold
from netsim.model.air.air_times import DATA_OVERHEAD_BYTES, NULL_BYTES, QOS_BYTES
from netsim.model.air.beacons import beacon_end, beacon_start, heard_up_to, late_in_all, next_lost
from netsim.model.air.channel import advance_beacons, listen_to_beacon, put
from netsim.model.air.radio import begin_doze, hear_beacons, listen_ahead, wake_up
from netsim.model.air.retrieval import fetch_waiting, open_gate, transmit_from
from netsim.model.codes import AUTO, CLOSE_TIMER, CLOSING, LISTEN, NEVER, NULL, OPEN, PS_POLL, TWT, UAPSD, UP
from netsim.model.entities import Client, Frame, Run
from netsim.model.policy import ask_at_beacon, ask_idle, follow, say_sent, take_answer
from netsim.model.primitives import ask, free_frame, new_frame, note_gate, note_poll, schedule
from netsim.model.queues import remove

# -- packets


def send_on_air(run: Run, client: Client, frame: Frame) -> None:
    """Hand a packet to the transmitter, waking up for it if need be."""
    if not client.never_sleeps:
        advance_on_air(run, client, run.now)
    say_sent(run, client, frame)
    client.planned = 0
    client.close = NEVER
    if client.closing and not client.contender.on_air and remove(client.contender.queue, client.closing):
        free_frame(run, client.closing)  # no sleep, since there is something to send
        client.closing = NONE
    frame.exchange = run.exchanges[frame.bytes + client.overhead]
    frame.code, frame.outcome, frame.tries, frame.air = UP, OPEN, 0, frame.exchange.alone
    frame.reached = run.now
    client.air_up += frame.air
    transmit_from(run, client, frame)


def at_access_point_on_air(run: Run, client: Client, frame: Frame) -> None:
    """Send a packet on to its client, or hold it back."""
    if not client.never_sleeps:
        advance_on_air(run, client, run.now)
    if client.is_open:
        forward(run, client, frame)
        return
    if not client.agreed and not client.poll and client.wake // run.interval < run.next_beacon:
        listen_on_air(run, client)  # the beacon is on the air, and its TIM does not tell of this frame
    hold(run, client, frame)
    await_beacon(run, client)


# -- sleeping


def is_quiet(client: Client) -> bool:
    """Return whether nothing is on its way either way."""
    if client.due_down or client.fetches or client.closing:
        return False
    return client.pending.count == 0 and client.contender.queue.count == 0


def rest(run: Run, client: Client, at: int) -> None:
    """Ask the policy what to do once nothing is left to send or to receive."""
    if client.dozing or client.never_sleeps or not is_quiet(client):
        return
    client.quiet = at
    woke, client.woke_to_send = client.woke_to_send, 0
    if woke and not client.is_open:
        doze(run, client, at)
        return
    client.empty = at
    if not client.planned:
        ask_idle(run, client, at)
    stay_until(run, client, max(client.plan.until, at), at)


def stay_until(run: Run, client: Client, until: int, now: int) -> None:
    """Be awake until an instant, with the gate open if that is in the future, and sleep then."""
    plan = client.plan
    if until <= now and (plan.agreed or not client.is_open):
        close_gate(run, client, now)
        follow(client, plan)
        doze(run, client, now)
    elif not client.is_open and not plan.agreed:
        fetch_waiting(run, client, 1)
    elif until < NEVER:
        client.close = until
        if until < client.timer:  # a deadline that moves: an event that comes too early looks again
            client.timer = max(until, run.now)
            schedule(run, client.timer, CLOSE_TIMER, client)


def wake_close_timer(run: Run, client: Client) -> None:
    """Close the gate, if it is time and nothing is on its way."""
    now = run.now
    if now < client.timer:
        return
    client.timer = NEVER
    if now < client.close < NEVER:
        client.timer = client.close
        schedule(run, client.close, CLOSE_TIMER, client)
    elif client.close <= now and client.planned and is_quiet(client):
        client.close = NEVER
        if client.agreed:
            stay_until(run, client, now, now)
        else:
            closing = new_frame(run)
            closing.code, closing.client, closing.to = CLOSING, client, NONE
            closing.exchange, closing.outcome = run.exchanges[client.null], OPEN
            client.closing = closing
            put(run, client.contender, closing)


def gate_closed(run: Run, client: Client, delivered: int, end: int) -> None:
    """The frame that closes the gate has left its queue: doze, unless there is something to do."""
    client.closing = NONE
    if delivered and client.planned and is_quiet(client):
        follow(client, client.plan)
        doze(run, client, end)
    else:
        rest(run, client, end)


def close_gate(run: Run, client: Client, at: int) -> None:
    """Have the access point hold back what comes for the client."""
    if client.is_open:
        note_gate(run, at, 0)
        client.empty = at
    client.is_open = 0


def doze(run: Run, client: Client, at: int) -> None:
    """Doze from `at` on, or stay awake with the gate closed if the next beacon is too near."""
    if client.wake <= at and not client.agreed and not client.poll:  # it took longer to fall asleep than was planned
        client.wake = (at // run.interval + 1) * run.interval
    client.planned = 0
    client.close = NEVER
    ahead = 0 if client.poll else listen_ahead(run, client.wake - at)
    if client.wake - ahead - run.wakeup - run.settle >= at:
        begin_doze(run, client, at)
    await_beacon(run, client)


# -- beacons, and what is agreed in place of them


def advance_on_air(run: Run, client: Client, now: int) -> None:
    """Bring the state up to `now`: the beacons that have ended by then, and what was agreed for it."""
    advance_beacons(run, now)
    while True:
        if client.is_open:
            if not client.agreed or not client.planned or client.close > now or not is_quiet(client):
                return
            close = max(client.close, client.quiet)  # a frame may have taken longer than the service period
            stay_until(run, client, close, close)
        elif client.agreed:
            if client.wake > now:
                return
            begin_service(run, client)
        elif client.poll:
            if client.wake > now:
                return
            begin_poll(run, client)
        else:
            number, heard = client.wake // run.interval, heard_up_to(run, now)
            if heard < number:
                return
            if client.repeat and client.dozing and client.buffer.count == 0:
                heard = next_lost(run, client, number, client.repeat // run.interval, heard) - 1
                if heard >= number:
                    skip_beacons_on_air(run, client, heard)
                    continue
            listen_on_air(run, client)


def skip_beacons_on_air(run: Run, client: Client, heard: int) -> None:
    """Listen to all the beacons up to number `heard` that bring nothing and that the policy need not hear of."""
    first, period = client.wake, client.repeat
    number, step = first // run.interval, period // run.interval
    more, slept = (heard - number) // step, first - client.slept_from
    note_poll(run, client, first, slept, 0, period, more, period)
    hear_beacons(run, client, more + 1, period if more else slept, late_in_all(run, number, heard, step))
    client.slept_from = client.empty = beacon_end(run, number + more * step)
    client.wake = first + (more + 1) * period


def await_beacon(run: Run, client: Client) -> None:
    """Have the next instant of listening happen if it matters: frames wait, or the policy may wish to be awake."""
    at, silent = client.wake, client.repeat or (client.agreed and not client.announces)
    if (silent and client.buffer.count == 0) or at == client.expected or at >= NEVER:
        return
    client.expected = at
    if client.agreed or client.poll:
        schedule(run, max(at, run.now), LISTEN, client)
    elif at // run.interval >= run.next_beacon:
        listen_to_beacon(run, at // run.interval, client.number)


def listen_on_air(run: Run, client: Client) -> None:
    """Hear the beacon wanted, and do what its TIM and the policy say."""
    target = client.wake
    number, slept = target // run.interval, target - client.slept_from
    start, end = beacon_start(run, number), beacon_end(run, number)
    lost = next_lost(run, client, number, 1, number) == number
    if lost:  # it listens to the next
        asked = client.asked
        asked.until, asked.wake, asked.opens = 0, target + run.interval, client.opens
        asked.repeat = asked.agreed = 0
        client.beacons_lost += 1
        client.missed = end
    else:
        ask_at_beacon(run, client, target)
        if not client.buffer.count:
            client.empty = end
    stays = not lost and (client.buffer.count > 0 or client.asked.until > end)
    if client.dozing:
        if stays:
            client.beacons += 1
            wake_up(run, client, target - listen_ahead(run, slept) - run.wakeup)
        else:
            hear_beacons(run, client, 1, slept, start - target)
            client.slept_from = end
    follow(client, client.asked)
    if not stays:
        if not client.dozing and is_quiet(client):
            doze(run, client, end)
        await_beacon(run, client)
        return
    client.woke_to_send = client.planned = 0
    if client.buffer.count:
        fetch_waiting(run, client, 0)
    else:
        take_answer(client)
        rest(run, client, end)


def begin_service(run: Run, client: Client) -> None:
    """Open the gate at an instant agreed on."""
    at = client.wake
    ask_at_beacon(run, client, at)
    if client.dozing:
        wake_up(run, client, at)
    follow(client, client.asked)
    if client.announces:
        client.woke_to_send = client.planned = 0
        fetch_waiting(run, client, 0)
    elif not open_gate(run, client, at):
        take_answer(client)
        client.close = max(client.plan.until, at)


def begin_poll(run: Run, client: Client) -> None:
    """Wake up at an instant of its own and ask the access point for what waits."""
    at = client.wake
    client.wake, client.poll = NEVER, 0
    if client.dozing:
        wake_up(run, client, at)
    client.woke_to_send = client.planned = 0
    fetch_waiting(run, client, 0)


# -- the beginning


def associate(run: Run, client: Client) -> None:
    """Ask the policy for the first time, and leave the gate as it wants it."""
    ask(run, client, 0, 0, 0, 0)
    take_answer(client)
    plan = client.plan
    if plan.agreed:  # service periods begin where those of the client before end, as far as there is room
        service = plan.until
        client.offset = run.agreed % plan.wake
        run.agreed += service
        plan.until, plan.wake = 0, client.offset
        client.retrieval = TWT
    elif client.retrieval == TWT:
        client.retrieval = NULL
    elif client.retrieval == AUTO:
        client.retrieval = NULL if plan.opens else PS_POLL
    qos = QOS_BYTES if client.retrieval == UAPSD else 0
    client.null = NULL_BYTES + qos
    client.overhead = DATA_OVERHEAD_BYTES + (QOS_BYTES if run.most_bytes else qos)
    client.is_open = 1
    close_gate(run, client, 0)
    if plan.until > 0:
        open_gate(run, client, 0)
    follow(client, plan)
    stay_until(run, client, plan.until, 0)
