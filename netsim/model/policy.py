"""A client and its policy: what it is told, what it answers, and what holds of that.

The policy is asked when the client could sleep, and at every beacon that it listens to; what it answers holds until
something is sent or received (`netsim.policies.protocol`).
"""

from __future__ import annotations

from netsim.model.entities import Client, Frame, Plan, Run
from netsim.model.primitives import ask, note_poll, tell_policy


def say_sent(run: Run, client: Client, frame: Frame) -> None:
    """Let the policy know that a packet is handed to the transmitter."""
    client.last_sent = run.now
    if client.observes and client.host_aware and run.control and frame.to.connection.is_stream:
        say_asked(run, client, frame)
    elif client.observes:
        tell_policy(run, client, frame, 1, 0, 1)


def say_asked(run: Run, client: Client, frame: Frame) -> None:
    """Tell a host-aware policy of a packet on a stream's connection, once for each request in it."""
    connection, told = frame.to.connection, 0
    wanted = connection.requests.head
    while wanted and connection.is_open:
        if frame.seq <= wanted.asked < frame.seq + frame.length:
            connection.number, connection.asked_of = wanted.number, wanted.asked_of
            tell_policy(run, client, frame, 1, 0, 1)
            told = 1
        wanted = wanted.link
    if told == 0:
        tell_policy(run, client, frame, 1, 0, 1 - connection.is_open)


def arrival(run: Run, client: Client, frame: Frame) -> tuple[int, int]:
    """Return between which instants a frame that is received now came to the access point, as far as a device knows.

    What was let out with others is told from what came since: it had waited (IEEE 802.11-2020, More Data, and for QoS
    the buffer state of the access point).
    """
    if run.oracle_stamps:
        return frame.reached, frame.reached
    return (client.empty, client.full) if frame.reached <= client.full else (run.now, run.now)


def ask_at_beacon(run: Run, client: Client, at: int) -> None:
    """Ask the policy at a beacon, or an instant agreed on, whose target time is `at`."""
    slept = at - client.slept_from
    ask(run, client, 1, at, slept, client.waiting)
    note_poll(run, client, at, slept, client.waiting, client.asked.wake - at, 0, 0)


def ask_idle(run: Run, client: Client, at: int) -> None:
    """Ask a policy when its client could sleep, and tell one that polls how long it slept before it woke up last."""
    ask(run, client, 0, at, max(0, client.awake_since - client.slept_from) if client.polls else 0, 0)
    take_answer(client)


def take_answer(client: Client) -> None:
    """Let the last answer hold until something is sent or received."""
    plan, asked = client.plan, client.asked
    client.planned = 1
    plan.until, plan.wake, plan.opens = asked.until, asked.wake, asked.opens
    plan.repeat, plan.agreed, plan.poll = asked.repeat, asked.agreed, asked.poll


def follow(client: Client, plan: Plan) -> None:
    """Follow a plan while the gate is closed."""
    client.wake, client.repeat = plan.wake, plan.repeat
    client.opens, client.agreed, client.poll = plan.opens, plan.agreed, plan.poll
