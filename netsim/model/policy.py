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
    if client.observes:
        tell_policy(run, client, frame, 1, run.now, 0, 1)


def ask_at_beacon(run: Run, client: Client, at: int) -> None:
    """Ask the policy at a beacon, or an instant agreed on, whose target time is `at`."""
    slept = at - client.slept_from
    ask(run, client, 1, at, slept, client.waiting)
    note_poll(run, client, at, slept, client.waiting, client.asked.wake - at, 0, 0)


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
