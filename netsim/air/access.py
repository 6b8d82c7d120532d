"""Who may send, and when: the distributed coordination function (DCF) of IEEE 802.11 on one channel.

What is modelled: a half-duplex channel on which everybody hears everybody.  A station that has a frame and finds the
channel idle for DIFS, with no backoff pending, sends at once; otherwise it draws a backoff, counts it down
slot by slot while the channel is idle and keeps it while it is busy.  After every transmission a new backoff is drawn.
Those whose backoff ends in the same slot collide, and all of their frames are lost.  Without an answer the sender
doubles its contention window and tries again, seven times in all.  RTS and CTS go before long frames if asked for,
and data frames go together if asked for (`netsim.air.aggregation`).

Slots are counted once for everybody, and a backoff is the count at which it ends.  The next to send is
therefore the least of these numbers, and a transmission costs a few events however many stations there are.

What is left out: hidden stations, capture, propagation delay (below a microsecond), and rate adaptation.  Frames that
collide do so from their first symbol, so that no receiver finds a preamble: those who only listen wait for DIFS
afterwards, as in ns-3, unless `eifs_after_collision` asks for EIFS.

Source: IEEE 802.11-2020, 10.3.4 (DCF access procedure), 10.3.2.3 (interframe spaces).
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

import numpy as np

from netsim.air.aggregation import Aggregate, Aggregator
from netsim.air.air_times import Phy
from netsim.air.contender import Contender
from netsim.air.exchanges import Exchange, Transmission, aggregated, control, data, group, polled
from netsim.clock import Clock, Occurrence

if TYPE_CHECKING:
    from netsim.air.beacons import Beacons

__all__ = ["NEVER_NS", "Contender", "Medium"]

NEVER_NS = 2**62


class Medium:
    """The channel: who is on it, until when, and whose turn it is next.

    Parameters
    ----------
    env : Clock
        Tells and keeps the time.
    phy : Phy
        Air times, slots and windows.
    loss : numpy.random.Generator, optional
        Draws one uniform an attempt if the loss rate is positive.
    loss_rate : float
        Probability that the first frame of an exchange is not decoded though it was alone on the air.
    attempts : int
        After so many attempts a frame is dropped (dot11ShortRetryLimit, 7).
    rts_bytes : int, optional
        Frames of at least so many bytes are announced with RTS; None: none is.
    max_ampdu_bytes : int
        Size of data frames sent together, at most; 0: each goes alone.
    eifs_after_collision : bool
        Whether those who only listen wait for EIFS in place of DIFS after a collision.

    Attributes
    ----------
    free_ns : int
        When what is on the air, or was last, ends.
    busy_ns, collided_ns : int
        Time used by exchanges (beacons and frames lost alone among them), and by collisions.
    beacons : Beacons or None
        Sends beacons in between.
    observer : callable or None
        Is told of every exchange as it begins: the senders, and whether it succeeds.
    """

    def __init__(
        self,
        env: Clock,
        phy: Phy,
        *,
        loss: np.random.Generator | None = None,
        loss_rate: float = 0.0,
        attempts: int = 7,
        rts_bytes: int | None = None,
        max_ampdu_bytes: int = 0,
        eifs_after_collision: bool = False,
    ) -> None:
        self.env = env
        self.phy = phy
        self.beacons: Beacons | None = None
        self.observer: Callable[[list[Contender], bool], None] | None = None
        self.free_ns = 0
        self.busy_ns = self.collided_ns = 0
        self._loss = loss if loss_rate else None
        self._loss_rate = loss_rate
        self.attempts = attempts
        self._rts_bytes = rts_bytes
        self._aggregator = Aggregator(self, max_ampdu_bytes) if max_ampdu_bytes else None
        self._slot_ns, self._difs_ns, self._timeout_ns = phy.slot_ns, phy.difs_ns, phy.timeout_ns
        self._pifs_ns = phy.pifs_ns
        self._after_collision_ns = phy.eifs_ns if eifs_after_collision else phy.difs_ns
        self._count_from_ns = 0  # slots are counted from then on,
        self._slots = 0  # beginning with this number
        self._waiting: list[tuple[int, int, Contender]] = []  # a heap: (count at which the backoff ends, order, who)
        self._turn_ns = NEVER_NS  # when to look at whose turn it is
        self._beacon_turn_ns = NEVER_NS  # when that will be looked at for a beacon in any case
        self._exchanges: dict[tuple[Any, int], Exchange] = {}
        self._n_contenders = 0

    @property
    def aggregates(self) -> bool:
        """Whether data frames are sent together."""
        return self._aggregator is not None

    def enter(self) -> int:
        """Return the place of another station in the order of stations."""
        self._n_contenders += 1
        return self._n_contenders

    def data(self, mpdu_bytes: int) -> Exchange:
        """Return the times of a data frame of so many bytes that is acknowledged, after RTS and CTS if it is long."""
        return self._known(data, mpdu_bytes)

    def aggregated(self, ampdu_bytes: int) -> Exchange:
        """Return the times of frames sent together, of so many bytes, and their block ACK."""
        return self._known(aggregated, ampdu_bytes)

    def control(self, mpdu_bytes: int) -> Exchange:
        """Return the times of a null frame of so many bytes that is acknowledged."""
        return self._known(control, mpdu_bytes)

    def polled(self, mpdu_bytes: int) -> Exchange:
        """Return the times of a PS-Poll, the data frame of so many bytes that answers it, and its ACK."""
        return self._known(polled, mpdu_bytes)

    def group(self, mpdu_bytes: int) -> Exchange:
        """Return the times of a group frame of so many bytes, which nobody answers."""
        return self._known(group, mpdu_bytes)

    def _known(self, kind: Callable[[Phy, int, int | None], Exchange], mpdu_bytes: int) -> Exchange:
        exchange = self._exchanges.get((kind, mpdu_bytes))
        if exchange is None:
            exchange = self._exchanges[kind, mpdu_bytes] = kind(self.phy, mpdu_bytes, self._rts_bytes)
        return exchange

    # -- contention

    def contend(self, station: Contender) -> None:
        """Let a station with a frame contend: at once if the channel has been idle for DIFS, else with a backoff."""
        now = self.env.now
        if self.beacons is not None and self.beacons.next_ns <= now:
            self.advance(now)
        station.contending = True
        if now >= self._count_from_ns:
            if station.due <= self._slots + (now - self._count_from_ns) // self._slot_ns:
                self._transmit([station])
                if self._waiting:
                    self._plan_turn()
                return
        elif station.due <= self._slots:
            station.due = self._slots + station.backoff()
        self._wait(station)

    def _wait(self, station: Contender) -> None:
        """Wait for the end of the backoff of a station."""
        heappush(self._waiting, (station.due, station.order, station))
        if self._waiting[0][2] is station:
            self._plan_turn()

    def advance(self, now_ns: int) -> None:
        """Let the beacons pass whose time came while nobody contended."""
        beacons = self.beacons
        while beacons is not None and beacons.next_ns <= now_ns and self.free_ns <= now_ns:
            start = max(beacons.next_ns, self.free_ns + self._pifs_ns)
            if start > now_ns:
                return
            count = beacons.on_time(now_ns) if start == beacons.next_ns else 1
            last = start + (count - 1) * beacons.interval_ns
            self._occupy(last, last + beacons.air_ns)
            self.busy_ns += count * beacons.air_ns
            beacons.sent(count, start)

    def plan_turn(self) -> None:
        """Look anew at what comes next: somebody wants a beacon."""
        self._plan_turn()

    def _occupy(self, start_ns: int, free_ns: int) -> None:
        """Stop counting slots at `start_ns`, and go on DIFS after `free_ns`."""
        if start_ns > self._count_from_ns:
            self._slots += (start_ns - self._count_from_ns) // self._slot_ns
        self.free_ns = free_ns
        self._count_from_ns = free_ns + self._difs_ns

    def _plan_turn(self) -> None:
        """Look again when the least backoff ends, or when a beacon that matters may be sent."""
        turn = NEVER_NS
        if self._waiting:
            turn = self._count_from_ns + (self._waiting[0][0] - self._slots) * self._slot_ns
        beacon_turn = NEVER_NS
        if self.beacons is not None:
            target = self.beacons.next_ns if self._waiting else self.beacons.wanted_ns
            if target < NEVER_NS:
                beacon_turn = max(target, self.free_ns + self._pifs_ns)
                turn = min(turn, beacon_turn)
        if turn < NEVER_NS and turn != self._turn_ns:
            self._turn_ns = turn
            if turn != self._beacon_turn_ns:  # between exchanges the next beacon is planned for over and over
                Occurrence(self.env, turn, self._take_turn)
                if turn == beacon_turn:
                    self._beacon_turn_ns = turn

    def _take_turn(self, _: Occurrence) -> None:
        now = self.env.now
        if now == self._beacon_turn_ns:
            self._beacon_turn_ns = NEVER_NS
        if now != self._turn_ns:
            return  # another turn took its place
        self._turn_ns = NEVER_NS
        self.advance(now)
        waiting = self._waiting
        if waiting and now >= self.free_ns:
            due = waiting[0][0]
            if self._count_from_ns + (due - self._slots) * self._slot_ns == now:
                winners = []
                while waiting and waiting[0][0] == due:
                    station = heappop(waiting)[2]
                    station.contending = bool(station.queue)  # its frame may have been withdrawn
                    if station.queue:
                        winners.append(station)
                if winners:
                    self._transmit(winners)
        self._plan_turn()

    # -- transmission

    def _transmit(self, senders: list[Contender]) -> None:
        """Begin an exchange, or a collision."""
        now = self.env.now
        sender = senders[0]
        for one in senders:
            one.on_air = True
            if self._aggregator is not None:
                self._aggregator.gather(one)
        if len(senders) == 1:
            transmission = sender.queue[0]
            exchange = transmission.exchange
            sender.attempts += transmission.n_frames
            if self._loss is None or self._is_heard(transmission, self._loss):
                sender.sent_ns += exchange.sender_ns
                sender.received_ns += exchange.receiver_ns
                self._occupy(now, now + exchange.total_ns)
                self.busy_ns += exchange.total_ns
                if self.observer is not None:
                    self.observer(senders, True)
                Occurrence(self.env, now + exchange.delivered_ns, self._deliver, sender)
                return
            first = exchange.first_ns
            sender.sent_ns += first
            sender.lost += transmission.n_frames
            self.busy_ns += first
        else:
            first = 0
            for one in senders:
                own = one.queue[0].exchange.first_ns
                first = max(first, own)
                one.attempts += one.queue[0].n_frames
                one.collided += one.queue[0].n_frames
                one.sent_ns += own
            self.collided_ns += first
        if self.observer is not None:
            self.observer(senders, False)
        self._occupy(now, now + first)
        if len(senders) > 1:
            self._count_from_ns = self.free_ns + self._after_collision_ns
        for one in senders:
            Occurrence(self.env, now + one.queue[0].exchange.first_ns + self._timeout_ns, self._miss_answer, one)

    def _is_heard(self, transmission: Transmission, loss: np.random.Generator) -> bool:
        """Draw what is lost on the air; return whether anything is received."""
        if isinstance(transmission, Aggregate):
            return transmission.draw_losses(loss, self._loss_rate)
        return loss.random() >= self._loss_rate or not transmission.answered

    def _deliver(self, event: Occurrence) -> None:
        """Hand over what was received; the sender draws a new backoff, which counts from the end of the exchange."""
        sender: Contender = event._value
        transmission = sender.queue.popleft()
        sender.delivered += transmission.n_frames
        sender.tries = 0
        sender.cw = self.phy.cw_min
        sender.contending = sender.on_air = False
        sender.due = self._slots + sender.backoff()
        receiver = transmission.receiver
        if receiver is not None:
            receiver.received_ns += transmission.exchange.sender_ns
            receiver.sent_ns += transmission.exchange.receiver_ns
        transmission.delivered(transmission)
        if transmission.heard is not None:
            transmission.heard()
        if transmission.ended is not None:
            transmission.ended(True)
        self._go_on(sender)

    def _miss_answer(self, event: Occurrence) -> None:
        """Double the contention window and try again, or give the frame up."""
        sender: Contender = event._value
        now = self.env.now
        sender.contending = sender.on_air = False
        if not sender.queue:  # its frame was withdrawn
            return
        sender.tries += 1
        sender.cw = min(2 * sender.cw + 1, self.phy.cw_max)
        transmission = sender.queue[0]
        together = transmission if isinstance(transmission, Aggregate) else None
        if together is not None:
            given_up = together.missed()
        elif given_up := not transmission.answered or sender.tries >= self.attempts:
            sender.queue.popleft()
            sender.dropped += 1
        if given_up:
            sender.tries = 0
            sender.cw = self.phy.cw_min
        self.advance(now)
        idle_ns = now + self._difs_ns - self._count_from_ns
        ready = self._slots + (max(0, -(-idle_ns // self._slot_ns)) if now >= self.free_ns else 0)
        sender.due = ready + sender.backoff()
        if together is not None:
            together.hand_over()
        elif given_up and transmission.ended is not None:
            transmission.ended(False)
        self._go_on(sender)

    def _go_on(self, sender: Contender) -> None:
        """Let a sender contend with its next frame, whose backoff is drawn already."""
        if sender.queue and not sender.contending:
            sender.contending = True
            self._wait(sender)
