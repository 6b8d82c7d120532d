"""What an interpreted run asks and tells a policy: the view and the frames of `netsim.policies.protocol`."""

from __future__ import annotations

from typing import cast

from netsim.model.entities import Client, Frame, Run
from netsim.model.policy import arrival
from netsim.policies.compiled import NOT_YET_NS
from netsim.policies.protocol import ASK, FOREVER_NS, HostFrame, Observer, Policy, View, asked, told
from netsim.policies.protocol import Frame as SeenFrame


class Adviser:
    """A policy with its view.

    Parameters
    ----------
    policy : Policy
        Asked in the order of time.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self._view = View("idle", 0, None, None, 0, 0, (), None)

    def ask(self, run: Run, client: Client, at_beacon: int, now: int, slept: int, waiting: int) -> None:
        """Ask for a plan; see `netsim.model.primitives.ask`."""
        view, offset, policy = self._view, client.offset, self.policy
        view.event = "beacon" if at_beacon else "idle"
        view.now_ns = now - offset
        view.slept_ns = slept
        view.buffered_bytes = waiting
        sent, received = client.last_sent, client.last_received
        view.last_sent_ns = None if sent == NOT_YET_NS else sent - offset
        view.last_received_ns = None if received == NOT_YET_NS else received - offset
        view.arrivals_ns = _arrivals(client, now) if waiting and run.oracle_stamps else ()
        if policy.host_aware:
            view.outstanding = client.outstanding
            view.deadline_ns = None if client.deadline >= FOREVER_NS else client.deadline - offset
        plan = asked(policy, view, run.interval, offset)
        answer = client.asked
        answer.until, answer.wake, answer.opens, answer.repeat, answer.agreed = plan
        answer.poll = int(plan.repeat_ns == ASK)
        if answer.poll:
            answer.repeat = 0
        if run.recorder:
            run.recorder.decided(now, view.event, waiting, plan)

    def tell(self, run: Run, client: Client, frame: Frame, sent: int, completes: int, wanted: int) -> None:
        """Tell of a frame; see `netsim.model.primitives.tell_policy`."""
        host = None
        if client.host_aware:
            own = frame.to.connection
            host = HostFrame(own.number, frame.flag != 0, frame.length, completes != 0, wanted != 0, own.asked_of)
        known = (run.now, run.now) if sent else arrival(run, client, frame)
        self.note(run, client, host, sent, run.now, known, frame.bytes)

    def note(
        self, run: Run, client: Client, host: HostFrame | None, sent: int, at: int, known: tuple[int, int], size: int
    ) -> None:
        """Tell of a frame at an instant, with those between which it came."""
        empty, full = (instant - client.offset for instant in known)
        observer, reached = cast(Observer, self.policy), full if run.oracle_stamps else None
        told(observer, SeenFrame(sent != 0, at - client.offset, reached, size, host, empty, full))


def _arrivals(client: Client, now: int) -> tuple[int, ...]:
    found, frame = [], client.buffer.head
    for _ in range(client.buffer.count):
        found.append(min(frame.reached, now) - client.offset)
        frame = frame.link
    return tuple(found)
