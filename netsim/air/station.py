"""The power-saving client on the shared air: the same policies, carried out with frames that contend.

The client dozes, wakes up in time for the beacons that its policy wants, learns from the TIM whether frames wait for
it, and fetches them (`netsim.air.retrieval`).  It wakes up to send, which takes the time that its radio needs.  It is
brought up to date only when something happens to it.  States: *dozing*; *awake with the gate closed* (the access point
holds its frames back: it sends, polls, or waits for a beacon too near to sleep before); *awake with the gate open*.
Left out: association, keep-alive frames.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable
from itertools import count

import numpy as np

from netsim.air.access import NEVER_NS, Contender, Medium
from netsim.air.access_point import AirAccessPoint
from netsim.air.accounted import Accounted
from netsim.air.adviser import Adviser
from netsim.air.beacons import Beacons, Reception
from netsim.air.exchanges import Transmission
from netsim.air.radio_states import Passages, RadioAccount
from netsim.air.retrieval import Retrieval, Retriever, frame_bytes, retrieval_of
from netsim.air.transmitter import Transmitter
from netsim.clock import Clock, Occurrence
from netsim.policies.protocol import FOREVER_NS, Plan, Policy
from netsim.tcp import Packet

__all__ = ["AirStation"]


class AirStation(Accounted):
    """One client on the air.

    Parameters
    ----------
    env : Clock
        Tells and keeps the time.
    medium : Medium
        The channel.
    beacons : Beacons
        Of the access point.
    access_point : AirAccessPoint
        Where its frames go and wait.
    policy : Policy
        Decides; asked in the order of time.
    passages : Passages
        The times that its radio needs.
    rng : numpy.random.Generator
        Draws its backoffs.
    reception : Reception
        Which beacons it cannot decode.
    retrieval : str
        How it fetches what waits.
    agree : callable, optional
        Takes interval and length of the service periods that the policy wants, and returns when the first begins.
    announces : bool
        Whether it announces with a null frame that it is awake in a service period agreed on.

    Attributes
    ----------
    connections : iterator of int
        A number for every connection of this client.
    line : deque of Transmission
        What the access point has for it while its gate is open.
    overhead_bytes, null_bytes : int
        As `frame_bytes` says.
    """

    _adviser_type = Adviser

    def __init__(
        self,
        env: Clock,
        medium: Medium,
        beacons: Beacons,
        access_point: AirAccessPoint,
        policy: Policy,
        passages: Passages,
        rng: np.random.Generator,
        reception: Reception,
        retrieval: Retrieval = "auto",
        agree: Callable[[int, int], int] | None = None,
        announces: bool = False,
    ) -> None:
        self._env, self._medium = env, medium
        self._beacons = beacons
        self._access_point = access_point
        self._adviser = self._adviser_type(policy, beacons.interval_ns)
        self._interval_ns = beacons.interval_ns
        self.contender = Contender(medium, rng)
        self._transmitter = Transmitter(env, self.contender)
        self.account = RadioAccount(passages)
        self.line: deque[Transmission] = deque()
        self.connections = count()
        self.polls = array("q")
        self._due_down = 0  # frames that the access point is about to send it
        self.is_open = self._woke_to_send = self._open_on_send = self._agreed = False
        self._closing: Transmission | None = None
        self._reception, self._announces = reception, announces
        self._repeat_ns, self._expected_ns = 0, -1
        self._close_ns = self._timer_ns = self._wake_ns = NEVER_NS
        self.never_sleeps = getattr(policy, "never_sleeps", False)
        first = self._adviser.ask("idle", 0)
        if first.agreed and agree is not None:
            self._adviser.offset_ns = agree(first.wake_ns, first.awake_until_ns)
            first = first._replace(awake_until_ns=0, wake_ns=self._adviser.offset_ns)
        self._plan: Plan | None = first  # what holds until something is sent or received
        self.retrieval = kind = retrieval_of(retrieval, policy.spec, first)
        self.overhead_bytes, self.null_bytes = frame_bytes(kind, medium.aggregates)
        self._retriever = Retriever(self, medium, kind)
        self._buffer = self._retriever.buffer
        self.is_open = first.awake_until_ns > 0  # association leaves the gate as the policy wants it
        self._follow(first)
        self._stay_until(first.awake_until_ns, 0)

    def send(self, packet: Packet) -> None:
        """Hand a packet to the transmitter, waking up for it if need be."""
        if not self.never_sleeps:
            self.advance(self._env.now)
        self._adviser.sent(packet, self._env.now)
        self._plan = None
        self._close_ns = NEVER_NS
        if self._closing is not None and self._transmitter.withdraw(self._closing):
            self._closing = None  # no sleep, since there is something to send
        exchange = self._medium.data(packet.size_bytes + self.overhead_bytes)
        self.air_up_ns += exchange.data_ns
        now, heard = self._env.now, self._access_point_hears
        self.transmit(Transmission(exchange, self._sent_up, self.sent, packet=packet, reached_ns=now, heard=heard))

    def transmit(self, transmission: Transmission) -> None:
        """Queue a frame, waking up for it if need be."""
        if self.account.dozing:
            self._woke_to_send = not self._open_on_send
            self._wake_up(self._env.now)
        self._transmitter.send(transmission)

    def _sent_up(self, frame: Transmission) -> None:
        """The access point has received a data frame."""
        assert frame.packet is not None
        self.air_up_ns += frame.air_ns - frame.exchange.data_ns  # less than alone, if it went with others
        self._access_point.to_server(frame.packet)

    def _access_point_hears(self) -> None:
        """With a data frame the access point has received the PM bit or a trigger."""
        if not self.is_open:
            self._retriever.data_reached_access_point(opens=self._open_on_send)

    def sent(self, delivered: bool) -> None:
        """Note that a frame of this client has left its queue."""
        self.lost += not delivered
        self._rest(self._medium.free_ns)

    def send_down(self, packet: Packet) -> None:
        """Carry a packet from the server towards this client."""
        self._access_point.from_server(packet, self._at_access_point)

    def _at_access_point(self, event: Occurrence) -> None:
        now = self._env.now
        if not self.never_sleeps:
            self.advance(now)
        if self.is_open:
            self.forward(event._value, now)
            return
        if not self._agreed and self._wake_ns // self._interval_ns < self._beacons.next_n:
            self._listen()  # the beacon is on the air, and its TIM does not tell of this frame
        self._buffer.put(event._value, now)
        self._await_beacon()

    def forward(self, packet: Packet | None, reached_ns: int) -> None:
        """Let the access point send a packet, or a null frame, to this client, which is awake."""
        self._plan, self._close_ns = None, NEVER_NS
        self._due_down += 1
        self._access_point.forward(self, packet, reached_ns)

    def receive(self, frame: Transmission) -> None:
        """Take in a frame from the access point."""
        self._plan = None
        if (packet := frame.packet) is not None:
            self.air_down_ns += frame.air_ns
            self._adviser.received(packet, self._env.now, frame.reached_ns)
            packet.to.receive(packet)

    def served(self, delivered: bool) -> None:
        """Note that the access point is done with a frame for this client."""
        self._due_down -= 1
        self.sent(delivered)

    def open_gate(self) -> bool:
        """Let the access point send what waits, and all that comes from now on; return whether anything waits."""
        self.is_open = True
        return self.release()

    def release(self) -> bool:
        """Let the access point send what waits now; return whether that is anything."""
        self._woke_to_send = False
        found = bool(self._buffer.frames)
        while self._buffer.frames:
            self.forward(*self._buffer.take())
        return found

    def _is_quiet(self) -> bool:
        """Return whether nothing is on its way either way."""
        busy = self._due_down or self._retriever.is_busy or self._closing is not None
        return not busy and self._transmitter.is_idle

    def _rest(self, at_ns: int) -> None:
        """Ask the policy what to do once nothing is left to send or to receive."""
        if self.account.dozing or self.never_sleeps or not self._is_quiet():
            return
        if self._woke_to_send and not self.is_open:
            self._woke_to_send = False
            self._doze(at_ns)
            return
        self._woke_to_send = False
        if self._plan is None:
            self._plan = self._adviser.ask("idle", at_ns, outstanding=self.outstanding, deadline_ns=self.deadline_ns)
        self._stay_until(max(self._plan.awake_until_ns, at_ns), at_ns)

    def _stay_until(self, until_ns: int, now_ns: int) -> None:
        """Be awake until an instant, with the gate open if that is in the future, and sleep then."""
        plan = self._plan
        assert plan is not None
        if until_ns <= now_ns and (plan.agreed or not self.is_open):
            self.is_open = False
            self._follow(plan)
            self._doze(now_ns)
        elif not self.is_open and not plan.agreed:
            self._retriever.fetch()
        elif until_ns < FOREVER_NS:
            self._close_ns = until_ns
            if until_ns < self._timer_ns:  # a deadline that moves: an event that comes too early looks again
                self._timer_ns = max(until_ns, self._env.now)
                Occurrence(self._env, self._timer_ns, self._on_timer)

    def _on_timer(self, _: Occurrence) -> None:
        now = self._env.now
        if now < self._timer_ns:
            return
        self._timer_ns = NEVER_NS
        if now < self._close_ns < NEVER_NS:
            self._timer_ns = self._close_ns
            Occurrence(self._env, self._close_ns, self._on_timer)
        elif self._close_ns <= now and self._plan is not None and self._is_quiet():
            self._close_ns = NEVER_NS
            if self._agreed:
                self._stay_until(now, now)
            else:
                self._closing = Transmission(self._medium.control(self.null_bytes), self._gate_closes, self._closed)
                self.contender.send(self._closing)

    def _gate_closes(self, _: Transmission) -> None:
        """The access point has heard that the client goes to sleep, and holds back what it has for it."""
        self.is_open = False
        for frame in self._access_point.withdraw(self):
            self._due_down -= 1
            if frame.outcome:  # the client waits no longer for one before it
                self.receive(frame)
            elif frame.packet is not None:
                self._buffer.put(frame.packet, frame.reached_ns)

    def _closed(self, delivered: bool) -> None:
        self._closing = None
        if delivered and self._plan is not None and self._is_quiet():
            self._follow(self._plan)
            self._doze(self._medium.free_ns)
        else:
            self._rest(self._medium.free_ns)

    def _follow(self, plan: Plan) -> None:
        self._wake_ns, self._repeat_ns = plan.wake_ns, plan.repeat_ns
        self._open_on_send, self._agreed = plan.open_on_send, plan.agreed

    def _doze(self, at_ns: int) -> None:
        """Doze from `at_ns` on, or stay awake with the gate closed if the next beacon is too near."""
        if self._wake_ns <= at_ns and not self._agreed:  # it took longer to fall asleep than was planned
            self._wake_ns = (at_ns // self._interval_ns + 1) * self._interval_ns
        self._plan = None
        self._close_ns = NEVER_NS
        passages = self.account.passages
        begin = self._wake_ns - passages.advance_ns(self._wake_ns - at_ns) - passages.wakeup_ns - passages.settle_ns
        if begin >= at_ns:
            self.account.doze(at_ns)
        self._await_beacon()

    def _wake_up(self, begin_ns: int) -> None:
        """Wake up from `begin_ns` on, for more than a beacon."""
        passages, wake, now = self.account.passages, self._wake_ns, self._env.now
        if passages.wakeup_ns and not self._agreed:  # it may be waking up for a beacon already
            for_beacon = wake - passages.advance_ns(wake - self.account.slept_from_ns) - passages.wakeup_ns
            begin_ns = min(begin_ns, max(for_beacon, self.account.slept_from_ns))
        self._transmitter.ready_ns = max(now, self.account.wake(begin_ns))

    def advance(self, now_ns: int) -> None:
        """Bring the state up to `now_ns`: the beacons that have ended by then, and what was agreed for it."""
        self._medium.advance(now_ns)
        while True:
            if self.is_open:
                if not self._agreed or self._plan is None or self._close_ns > now_ns or not self._is_quiet():
                    return
                self._stay_until(self._close_ns, self._close_ns)
            elif self._agreed:
                if self._wake_ns > now_ns:
                    return
                self._begin_service()
            else:
                heard = self._beacons.heard_up_to(now_ns)
                number, step = self._wake_ns // self._interval_ns, self._repeat_ns // self._interval_ns
                if heard < number:
                    return
                if step and self.account.dozing and not self._buffer.frames:
                    heard = self._reception.next_lost(number, step, heard) - 1
                    if heard >= number:
                        self._skip_beacons(heard)
                        continue
                self._listen()

    def _skip_beacons(self, heard: int) -> None:
        """Listen to all the beacons up to number `heard` that bring nothing and that the policy need not hear of."""
        first, period, interval, beacons = self._wake_ns, self._repeat_ns, self._interval_ns, self._beacons
        number, step = first // interval, period // interval
        more = (heard - number) // step
        late = beacons.late_ns
        late_ns = sum(late.get(one, 0) for one in range(number, heard + 1, step)) if late else 0
        account = self.account
        self.polls.extend((first, first - account.slept_from_ns, 0, period, more, period))
        account.hear(more + 1, period if more else first - account.slept_from_ns, late_ns, beacons.air_ns)
        account.slept_from_ns = beacons.start_ns(number + more * step) + beacons.air_ns
        self._wake_ns = first + (more + 1) * period

    def _await_beacon(self) -> None:
        """Have the next instant of listening happen if it matters: frames wait, or the policy may wish to be awake."""
        silent = self._repeat_ns or (self._agreed and not self._announces)
        wake, matters = self._wake_ns, self._buffer.frames or not silent
        if not matters or wake == self._expected_ns or wake >= FOREVER_NS:
            return
        self._expected_ns = wake
        if self._agreed:
            Occurrence(self._env, max(wake, self._env.now), lambda _: self.advance(self._env.now))
        elif wake // self._interval_ns >= self._beacons.next_n:
            self._beacons.listen(wake // self._interval_ns, lambda _, end: self.advance(end))

    def _ask_at_beacon(self, target_ns: int) -> Plan:
        buffer, slept = self._buffer, target_ns - self.account.slept_from_ns
        plan = self._adviser.ask(
            "beacon", target_ns, slept_ns=slept, waiting_bytes=buffer.n_bytes,
            arrivals_ns=[reached for _, reached in buffer.frames], outstanding=self.outstanding,
            deadline_ns=self.deadline_ns,
        )  # fmt: skip
        self.polls.extend((target_ns, slept, buffer.n_bytes, max(0, plan.wake_ns - target_ns), 0, 0))
        return plan

    def _listen(self) -> None:
        """Hear the beacon wanted, and do what its TIM and the policy say."""
        target, beacons, account = self._wake_ns, self._beacons, self.account
        number, slept = target // self._interval_ns, target - account.slept_from_ns
        start = beacons.start_ns(number)
        end = start + beacons.air_ns
        if lost := self._reception.next_lost(number, 1, number) == number:  # it listens to the next
            plan = Plan(0, target + self._interval_ns, self._open_on_send)
            self.beacons_lost, self.missed_ns = self.beacons_lost + 1, end
        else:
            plan = self._ask_at_beacon(target)
        stays = not lost and (bool(self._buffer.frames) or plan.awake_until_ns > end)
        if account.dozing:
            if stays:
                account.beacons += 1
                self._wake_up(target - account.passages.advance_ns(slept) - account.passages.wakeup_ns)
            else:
                account.hear(1, slept, start - target, beacons.air_ns)
                account.slept_from_ns = end
        self._follow(plan)
        if not stays:
            if not account.dozing and self._is_quiet():
                self._doze(end)
            self._await_beacon()
            return
        self._woke_to_send = False
        self._plan = None
        if self._buffer.frames:
            self._retriever.fetch()
        else:
            self._plan = plan
            self._rest(end)

    def _begin_service(self) -> None:
        """Open the gate at an instant agreed on."""
        at = self._wake_ns
        plan = self._ask_at_beacon(at)
        if self.account.dozing:
            self._wake_up(at - self.account.passages.wakeup_ns)
        self._follow(plan)
        if self._announces:
            self._woke_to_send, self._plan = False, None
            self._retriever.fetch()
        elif not self.open_gate():
            self._plan, self._close_ns = plan, max(plan.awake_until_ns, at)
