"""The power-saving client: when it is awake, when its gate is open, what it listens to.

The station is brought up to date only when something happens to it (a frame
reaches the access point, it sends, a page begins or ends): between two such
instants its behaviour follows from its policy alone, so falling asleep and
beacons that bring nothing need no events.  One event exists: a beacon that will
find frames waiting.  A SimPy process in its place would be interrupted by every
frame, at four times the cost of a callback (``python -m tests.bench.events``).

States: *gate open* (awake; what reaches the access point is delivered at once),
or *gate closed* (asleep, or awake for its own transmission only).  Left out:
time and energy to wake up, the poll frame itself.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial

from netsim.access_point import AccessPoint, deliver
from netsim.air.radio_states import StateTimes
from netsim.clock import Clock, Occurrence
from netsim.policies.compiled import NOT_YET_NS
from netsim.policies.protocol import Frame, HostFrame, Plan, Policy, View, asked, observer
from netsim.station_state import StationState
from netsim.tcp import Endpoint, Packet

__all__ = ["Station"]


class Station:
    """One client in power-save mode behind an access point.

    Parameters
    ----------
    env : Clock
        Tells and keeps the time.
    access_point : AccessPoint
        Carries the packets.
    policy : Policy
        Decides; asked in the order of time.
    beacon_interval_ns : int
        Time between beacons.

    Attributes
    ----------
    beacons : int
        Beacons listened to from sleep, up to the last `advance`.
    outstanding : int
        Requests sent whose replies are incomplete; kept by the browser.
    deadline_ns : int or None
        When the page issued last must be complete; kept by the browser.
    intervals : array of int64
        Closed intervals awake: start, end, start, end, ... nanoseconds.
    polls : array of int64
        Groups of six: first instant, time slept before it, bytes waiting, next sleep, how many more polls
        like it follow (none of which found anything), and their spacing.
    """

    def __init__(
        self,
        env: Clock,
        access_point: AccessPoint,
        policy: Policy,
        beacon_interval_ns: int = 100_000_000,
    ) -> None:
        self._env = env
        self._access_point = access_point
        self._policy = policy
        self._observe = observer(policy)
        self._interval_ns = beacon_interval_ns
        self._view = View("idle", 0, None, None, 0, 0, (), None)
        self._transmitted_ns = 0  # when its own transmitter is idle
        self.outstanding = self.groups_lost = 0
        self.deadline_ns: int | None = None
        self.beacons = 0
        self.intervals = array("q")
        self.polls = array("q")
        self._awake_before_ns = 0  # in closed intervals
        self._awake_since_ns = 0
        self._awake_until_ns = -1  # of the current or last interval awake, while the gate is closed
        self._slept_from_ns = 0
        self._buffer: list[Packet] = []
        self._arrivals: list[int] = []
        self._buffered_bytes = 0
        self._busy_until_ns = 0
        self._plan: Plan | None = None  # what holds from _busy_until_ns on, once asked for
        self._gate_open = True
        self._sleep_ns = 0
        self._wake_ns = 0
        self._repeat_ns = 0
        self._open_on_send = False
        self._agreed = False
        self.never_sleeps = not access_point.shared and getattr(policy, "never_sleeps", False)
        self._plan = plan = self._ask("idle", 0, 0)
        self._sleep_ns = plan.awake_until_ns
        if self._sleep_ns <= 0:
            self._fall_asleep(0, plan)

    @property
    def access_point(self) -> AccessPoint:
        """What carries its packets."""
        return self._access_point

    @property
    def lost(self) -> int:
        """Frames lost on the air, either way."""
        return self._access_point.lost

    @property
    def air_up_ns(self) -> int:
        """Time that its frames have spent on the air towards the access point."""
        return self._access_point.air_up.busy_ns

    @property
    def air_down_ns(self) -> int:
        """Time that frames for it have spent on the air."""
        return self._access_point.air_down.busy_ns

    # -- packets

    def send(self, packet: Packet) -> None:
        """Hand a packet to the transmitter, waking up for it if need be."""
        now = self._env.now
        if self.never_sleeps:
            self._access_point.uplink(packet)
            return
        self.advance(now)
        self._view.last_sent_ns = now
        if self._observe is not None:
            self._tell(packet, packet.to.peer, now, now, sent=True)
        self._wake(now)
        self._access_point.uplink(packet)
        self._transmitted_ns = transmitted = self._access_point.air_up.free_ns
        if self._gate_open:
            self._plan = None
            self._busy_until_ns = max(self._busy_until_ns, transmitted)
        elif self._open_on_send:
            self._open_gate(now)
        else:
            self._awake_until_ns = transmitted

    def send_down(self, packet: Packet) -> None:
        """Carry a packet from the server towards this client."""
        if self.never_sleeps:
            self._access_point.straight_down(packet, deliver)
        else:
            self._access_point.from_server(packet, self._at_access_point)

    def _at_access_point(self, event: Occurrence) -> None:
        now = self._env.now
        packet: Packet = event._value
        self.advance(now)
        if self._gate_open:
            self._plan = None
            left = self._access_point.downlink(now, packet, self._receiver(now))
            if left > self._busy_until_ns:
                self._busy_until_ns = left
            return
        if not self._buffer:
            Occurrence(self._env, self._wake_ns, self._at_beacon)
        self._buffer.append(packet)
        self._arrivals.append(now)
        self._buffered_bytes += packet.size_bytes

    def _at_beacon(self, _: Occurrence) -> None:
        self.advance(self._env.now)

    def _deliver(self, event: Occurrence) -> None:
        self._view.last_received_ns = self._env.now
        packet: Packet = event._value
        packet.to.receive(packet)

    def _receiver(self, reached_ns: int) -> Callable[[Occurrence], None]:
        """Return who meets a frame that reached the access point at `reached_ns`."""
        return self._deliver if self._observe is None else partial(self._deliver_stamped, reached_ns)

    def _deliver_stamped(self, reached_ns: int, event: Occurrence) -> None:
        packet: Packet = event._value
        self._tell(packet, packet.to, self._env.now, reached_ns, sent=False)
        self._deliver(event)

    def _tell(self, packet: Packet, endpoint: Endpoint, at_ns: int, reached_ns: int, *, sent: bool) -> None:
        """Let the policy observe a frame of the client's `endpoint`."""
        assert self._observe is not None
        host = None
        if self._policy.host_aware:
            wanted, completes = (True, False) if sent else endpoint.foresee(packet)
            host = HostFrame(endpoint.number, packet.flag != 0, packet.length, completes, wanted)
        self._observe(Frame(sent, at_ns, reached_ns, packet.size_bytes, host))

    # -- time

    def advance(self, now_ns: int) -> None:
        """Bring the state up to `now_ns`, beacons at that very instant included."""
        while True:
            if self._gate_open:
                if now_ns <= self._busy_until_ns:
                    return
                plan = self._plan
                if plan is None:
                    self._plan = plan = self._ask("idle", self._busy_until_ns, 0)
                    self._sleep_ns = max(plan.awake_until_ns, self._busy_until_ns)
                if now_ns <= self._sleep_ns:
                    return
                self._fall_asleep(self._sleep_ns, plan)
            if self._wake_ns > now_ns:
                return
            if self._repeat_ns and not self._buffer:
                self._skip_beacons(now_ns)
            else:
                self._listen(self._wake_ns)

    def awake_ns(self, now_ns: int) -> int:
        """Return the time spent awake in [0, now]; the station must have been advanced to `now_ns`."""
        until = now_ns if self._gate_open else min(now_ns, self._awake_until_ns)
        return self._awake_before_ns + max(0, until - self._awake_since_ns)

    def state_times(self, now_ns: int) -> StateTimes | None:
        """Return None: on wires the radio has no states beyond being awake and asleep."""
        return None

    def finish(self, now_ns: int) -> None:
        """End the run: advance, and close the current interval awake."""
        self.advance(now_ns)
        until = now_ns if self._gate_open else min(now_ns, self._awake_until_ns)
        if until > self._awake_since_ns:
            self.intervals.extend((self._awake_since_ns, until))
            self._awake_before_ns += until - self._awake_since_ns
        self._awake_since_ns = now_ns

    def state(self) -> StationState:
        """Return the state of a station that nothing waits for and nothing is on its way to."""
        plan = self._plan or Plan(0, 0)
        view = self._view
        return StationState(
            gate_open=int(self._gate_open),
            busy_until_ns=self._busy_until_ns,
            planned=int(self._plan is not None),
            sleep_ns=self._sleep_ns,
            plan_wake_ns=plan.wake_ns,
            plan_repeat_ns=plan.repeat_ns,
            plan_open_on_send=int(plan.open_on_send),
            plan_agreed=int(plan.agreed),
            wake_ns=self._wake_ns,
            repeat_ns=self._repeat_ns,
            open_on_send=int(self._open_on_send),
            agreed=int(self._agreed),
            awake_since_ns=self._awake_since_ns,
            awake_until_ns=self._awake_until_ns,
            awake_before_ns=self._awake_before_ns,
            slept_from_ns=self._slept_from_ns,
            beacons=self.beacons,
            last_sent_ns=NOT_YET_NS if view.last_sent_ns is None else view.last_sent_ns,
            last_received_ns=NOT_YET_NS if view.last_received_ns is None else view.last_received_ns,
        )

    def _wake(self, at_ns: int) -> None:
        """Be awake from `at_ns` on: either still, or anew."""
        if self._gate_open or at_ns <= self._awake_until_ns:
            return
        if self._awake_until_ns > self._awake_since_ns:
            self.intervals.extend((self._awake_since_ns, self._awake_until_ns))
            self._awake_before_ns += self._awake_until_ns - self._awake_since_ns
        self._awake_since_ns = self._awake_until_ns = at_ns

    def _fall_asleep(self, at_ns: int, plan: Plan) -> None:
        self._gate_open = False
        self._awake_until_ns = self._slept_from_ns = at_ns
        self._follow(plan)

    def _follow(self, plan: Plan) -> None:
        self._wake_ns, self._repeat_ns = plan.wake_ns, plan.repeat_ns
        self._open_on_send, self._agreed = plan.open_on_send, plan.agreed

    # -- beacons

    def _skip_beacons(self, now_ns: int) -> None:
        """Listen to all the beacons up to `now_ns` that bring nothing and that the policy need not hear of."""
        first, period = self._wake_ns, self._repeat_ns
        n = (now_ns - first) // period + 1
        last = first + (n - 1) * period
        self.beacons += n
        if self._awake_since_ns < last and first <= self._awake_until_ns:  # heard while awake to send
            heard = (min(last, self._awake_until_ns) - first) // period + 1
            before = (self._awake_since_ns - first) // period + 1 if first <= self._awake_since_ns else 0
            self.beacons -= heard - before
        self.polls.extend((first, first - self._slept_from_ns, 0, period, n - 1, period))
        self._slept_from_ns = last
        self._wake_ns = last + period

    def _listen(self, at_ns: int) -> None:
        """Listen to one beacon: ask the policy, and let out what waits."""
        if not self._agreed and not self._awake_since_ns < at_ns <= self._awake_until_ns:
            self.beacons += 1
        waiting = self._buffered_bytes
        plan = self._ask("beacon", at_ns, waiting)
        self.polls.extend((at_ns, at_ns - self._slept_from_ns, waiting, plan.wake_ns - at_ns, 0, 0))
        if waiting:
            self._wake(at_ns)
            self._open_gate(at_ns)
        elif plan.awake_until_ns > at_ns:
            self._wake(at_ns)
            self._gate_open = True
            self._busy_until_ns = busy = max(at_ns, self._transmitted_ns)
            self._plan = plan if busy < plan.wake_ns else None  # a frame of its own may take longer than it
            self._sleep_ns = max(plan.awake_until_ns, busy)
        else:
            self._slept_from_ns = at_ns
            self._follow(plan)

    def _open_gate(self, at_ns: int) -> None:
        self._gate_open = True
        self._plan = None
        busy = at_ns
        for packet, reached in zip(self._buffer, self._arrivals, strict=True):
            busy = self._access_point.downlink(at_ns, packet, self._receiver(reached))
        self._busy_until_ns = max(busy, self._transmitted_ns)
        self._buffer.clear()
        self._arrivals.clear()
        self._buffered_bytes = 0

    def _ask(self, event: str, now_ns: int, waiting: int) -> Plan:
        view = self._view
        view.event = event  # type: ignore[assignment]
        view.now_ns = now_ns
        view.slept_ns = now_ns - self._slept_from_ns if event == "beacon" else 0
        view.buffered_bytes = waiting
        view.arrivals_ns = tuple(self._arrivals) if waiting else ()
        if self._policy.host_aware:
            view.outstanding, view.deadline_ns = self.outstanding, self.deadline_ns
        return asked(self._policy, view, self._interval_ns)
