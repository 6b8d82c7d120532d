"""Beacons: sent at their target times before anybody else, late after what is on the air, with a TIM and group frames.

What is modelled: a beacon every interval with priority (PIFS, no backoff), at its target time or after the frame
that is on the air then.  Every `dtim_period` beacons one is a DTIM: group frames that have waited follow it,
contending as the access point's other frames do.  Group frames wait for a DTIM because clients may sleep.  A background
of group traffic (ARP, mDNS, SSDP of other hosts) arrives memoryless.  Beacons that nobody needs and that nothing
delays take no event: they are counted when somebody next asks.  A client may be unable to decode some (`Reception`):
one that it wanted costs it as much as any, tells it nothing, and makes it listen to the next.  Left out: several
BSSIDs, beacon jitter.

Source: IEEE 802.11-2020, 11.1.3.2 (beacon generation), 11.2.3 (power management), 9.4.2.5 (TIM).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from netsim.air.access import NEVER_NS, Medium
from netsim.air.exchanges import Exchange, Transmission
from netsim.clock import Occurrence
from netsim.whole_numbers import keep_whole

__all__ = ["BeaconConfig", "Beacons", "Reception"]

Listener = Callable[[int, int], None]
_DRAWN_AT_ONCE = 256


class GroupHearer(Protocol):
    """A client as group frames concern it."""

    never_sleeps: bool
    groups_lost: int

    def hears_groups(self, start_ns: int, end_ns: int) -> bool:
        """Return whether the client hears the beacon that began and ended then, and what follows it."""
        ...

    def groups_done(self, end_ns: int, now_ns: int, air_ns: int) -> None:
        """Note that the last of the group frames after the beacon that ended at `end_ns` is through."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BeaconConfig:
    """Beacons and the group frames of the background.

    Attributes
    ----------
    size_bytes : int
        MPDU of a beacon: 24 of header, 12 of fixed fields, 4 of FCS, and 156 of elements (network name of 8 characters,
        rates, TIM, country, ERP, RSN, HT capabilities and operation, extended capabilities, WMM).
    dtim_period : int
        Beacons from one DTIM to the next; beacon 0 is one.
    broadcast_per_s : float
        Group frames of the background, a second on average.
    broadcast_bytes : int
        Their IP packets, bytes.
    """

    size_bytes: int = 196
    dtim_period: int = 1
    broadcast_per_s: float = 0.0
    broadcast_bytes: int = 200

    def __post_init__(self) -> None:
        keep_whole(self, "size_bytes", "dtim_period", "broadcast_bytes")
        for name, least in (("size_bytes", 40), ("dtim_period", 1), ("broadcast_bytes", 1)):
            value = getattr(self, name)
            if not least <= value <= 2304:
                raise ValueError(f"{name} must lie in [{least}, 2304], got {value}")
        if not 0.0 <= self.broadcast_per_s <= 1e4:
            raise ValueError(f"broadcast_per_s must lie in [0, 10000], got {self.broadcast_per_s}")


class Reception:
    """Which beacons a client cannot decode: each by itself with the same probability, however many it listens to.

    Parameters
    ----------
    loss_rate : float
        The probability.
    rng : numpy.random.Generator
        Of the client; draws once a beacon, in the order of their numbers.
    """

    __slots__ = ("_drawn", "_loss_rate", "_lost", "_rng")

    def __init__(self, loss_rate: float, rng: np.random.Generator) -> None:
        self._loss_rate, self._rng = loss_rate, rng
        self._drawn, self._lost = 0, list[int]()  # the first so many are drawn; of these, what was lost

    def next_lost(self, number: int, step: int, last: int) -> int:
        """Return the first of the beacons number, number + step, ... up to `last` that is lost, or what follows it."""
        if not self._loss_rate:
            return last + 1
        while self._drawn <= last:
            lost = np.flatnonzero(self._rng.random(_DRAWN_AT_ONCE) < self._loss_rate)
            self._lost.extend((lost + self._drawn).tolist())
            self._drawn += _DRAWN_AT_ONCE
        lost_numbers = self._lost
        for place in range(bisect_left(lost_numbers, number), bisect_right(lost_numbers, last)):
            if (lost_numbers[place] - number) % step == 0:
                return lost_numbers[place]
        return last + 1


class Beacons:
    """The beacons of one access point.

    Parameters
    ----------
    medium : Medium
        The channel; it asks for the next target time and says when beacons were sent.
    interval_ns : int
        Time between target times, which are at its multiples, 0 left out.
    config : BeaconConfig
        Size and DTIM period.
    air_ns : int, optional
        Air time of a beacon, if not that of its size at the lowest basic rate.

    Attributes
    ----------
    next_n, next_ns : int
        Number and target time of the next beacon that has not been sent.
    wanted_ns : int
        The earliest target time for which somebody waits; `NEVER_NS` if nobody does.
    groups_sent : int
        Group frames sent.
    late_ns : dict of int to int
        How much later than its target time a beacon was sent, of those that were late.
    """

    def __init__(self, medium: Medium, interval_ns: int, config: BeaconConfig, air_ns: int | None = None) -> None:
        self._medium = medium
        self.interval_ns = interval_ns
        self.config = config
        self.air_ns = medium.phy.lowest_ns(config.size_bytes) if air_ns is None else air_ns
        self.next_n, self.next_ns = 1, interval_ns
        self.wanted_ns = NEVER_NS
        self.late_ns: dict[int, int] = {}
        self.groups_sent = 0
        self._listeners: dict[int, list[Listener]] = {}
        self._groups: list[Exchange] = []
        self._hearers: list[GroupHearer] = []
        self._send_groups: Callable[[list[Transmission]], None] | None = None
        medium.beacons = self

    def deliver_groups(self, hearers: list[GroupHearer], send: Callable[[list[Transmission]], None]) -> None:
        """Say who is to hear group frames, and who sends them; further hearers may be appended to the list."""
        self._hearers, self._send_groups = hearers, send

    def add_group(self, exchange: Exchange) -> None:
        """Take a group frame from the network: sent at once if no client ever sleeps, else after the next DTIM."""
        self._groups.append(exchange)
        if all(hearer.never_sleeps for hearer in self._hearers):
            self._send_waiting(self._medium.env.now)
        elif len(self._groups) == 1:
            self._medium.advance(self._medium.env.now)
            period = self.config.dtim_period
            self.listen(-(-self.next_n // period) * period, self._follow_dtim)

    def _follow_dtim(self, start_ns: int, end_ns: int) -> None:
        self._send_waiting(end_ns, [hearer for hearer in self._hearers if hearer.hears_groups(start_ns, end_ns)])

    def _send_waiting(self, end_ns: int, heard: list[GroupHearer] | None = None) -> None:
        """Send the group frames that wait, from `end_ns` on; clients that did not hear the beacon lose them."""
        groups, self._groups = self._groups, []
        hearers = self._hearers if heard is None else heard
        air_ns = sum(exchange.first_ns for exchange in groups)
        self.groups_sent += len(groups)
        for hearer in self._hearers:
            if hearer not in hearers:
                hearer.groups_lost += len(groups)

        def done(_: bool) -> None:
            for hearer in hearers:
                hearer.groups_done(end_ns, self._medium.env.now, air_ns)

        assert self._send_groups is not None
        *others, last = [Transmission(exchange, _nothing, answered=False) for exchange in groups]
        last.ended = done
        self._send_groups([*others, last])

    def listen(self, n: int, listener: Listener) -> None:
        """Call `listener` with the instants at which beacon `n` begins and ends, when it has ended."""
        if n < self.next_n:
            raise ValueError(f"beacon {n} has been sent, the next is {self.next_n}")
        self._listeners.setdefault(n, []).append(listener)
        target = n * self.interval_ns
        if target < self.wanted_ns:
            self.wanted_ns = target
            self._medium.plan_turn()

    def start_ns(self, n: int) -> int:
        """Return when beacon `n`, which has been sent, began."""
        return n * self.interval_ns + self.late_ns.get(n, 0)

    def heard_up_to(self, now_ns: int) -> int:
        """Return the number of the last beacon that has ended by `now_ns`."""
        last = self.next_n - 1
        return last - 1 if last > 0 and self.start_ns(last) + self.air_ns > now_ns else last

    def on_time(self, now_ns: int) -> int:
        """Return how many beacons have their target times up to `now_ns`."""
        return (now_ns - self.next_ns) // self.interval_ns + 1

    def sent(self, count: int, start_ns: int) -> None:
        """Note that so many beacons were sent, the first at `start_ns`; all after it were on time."""
        n = self.next_n
        if start_ns > self.next_ns:
            self.late_ns[n] = start_ns - self.next_ns
        self.next_n += count
        self.next_ns = self.next_n * self.interval_ns
        if self.wanted_ns < self.next_ns:
            last = self.next_n - 1
            listeners = self._listeners.pop(last)
            self.wanted_ns = min(self._listeners, default=NEVER_NS)
            if self.wanted_ns < NEVER_NS:
                self.wanted_ns *= self.interval_ns
            start = self.start_ns(last)
            Occurrence(self._medium.env, start + self.air_ns, _tell, (listeners, start, start + self.air_ns))


def _nothing(_: Transmission) -> None:
    """Nobody answers a group frame."""


def _tell(event: Occurrence) -> None:
    listeners, start, end = event._value
    for listener in listeners:
        listener(start, end)
