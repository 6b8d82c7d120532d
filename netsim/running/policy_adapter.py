"""What an interpreted run asks and tells a policy: the view and the frames of `netsim.policies.protocol`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from netsim.model.entities import Client, Frame, Run
from netsim.model.medium import advance
from netsim.model.policy import arrival
from netsim.policies.compiled import NOT_YET_NS
from netsim.policies.protocol import ASK, FOREVER_NS, HostFrame, Observer, Policy, View, asked, told
from netsim.policies.protocol import Frame as SeenFrame
from traces.captures.waiting import READ_BYTES, Waiting


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
            view.outstanding, view.missing = client.outstanding, client.missing if client.n_hosts else 0
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


class PacketAdviser(Adviser):
    """A policy whose host knows of datagrams what their packets tell (`traces.captures.waiting`).

    Parameters
    ----------
    policy : Policy
        Asked in the order of time.
    heads : sequence or mapping of bytes
        Of each datagram, by its number, the first bytes of its packet.
    """

    def __init__(self, policy: Policy, heads: Sequence[bytes] | Mapping[int, bytes]) -> None:
        super().__init__(policy)
        self._heads, self._waiting, self._observes = heads, Waiting(), isinstance(policy, Observer)
        self._due = -1

    def ask(self, run: Run, client: Client, at_beacon: int, now: int, slept: int, waiting: int) -> None:
        """Ask for a plan, knowing what is waited for."""
        client.outstanding = self._waiting.n
        super().ask(run, client, at_beacon, now, slept, waiting)

    def tell(self, run: Run, client: Client, frame: Frame, sent: int, completes: int, wanted: int) -> None:
        """Tell of a packet."""
        self._look(run, client)
        seen = self._waiting.take(run.now, self._heads[frame.seq][:READ_BYTES], sent != 0)
        if self._observes:
            known = (run.now, run.now) if sent else arrival(run, client, frame)
            self.note(run, client, HostFrame(*seen), sent, run.now, known, frame.bytes)
        self._look(run, client)

    def _look(self, run: Run, client: Client) -> None:
        """Let waits end by silence, now and when the next does: the policy is told, and asked at its next beacon."""
        for seen, last_ns in self._waiting.over(run.now):
            advance(run, client, run.now)
            if self._observes:
                self.note(run, client, HostFrame(*seen), 0, run.now, (last_ns, last_ns), run.header)
            client.repeat = 0
        clock, due = run.machine.clock, self._waiting.due_ns

        def look_again(_: object) -> None:
            run.now = clock._now
            self._look(run, client)

        if due not in (-1, self._due):
            self._due = due
            clock.timeout(due - clock._now).callbacks.append(look_again)


def _arrivals(client: Client, now: int) -> tuple[int, ...]:
    found, frame = [], client.buffer.head
    for _ in range(client.buffer.count):
        found.append(min(frame.reached, now) - client.offset)
        frame = frame.link
    return tuple(found)
