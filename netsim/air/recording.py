"""What was on the air, frame by frame: who sent what, from when to when."""

from __future__ import annotations

from typing import NamedTuple

from netsim.air.access import Contender
from netsim.air.air_times import CTS_BYTES, RTS_BYTES
from netsim.air.cell import Cell

__all__ = ["AirFrame", "AirRecorder"]


class AirFrame(NamedTuple):
    """A frame on the air.

    Attributes
    ----------
    start_ns, end_ns : int
        When it began and ended.
    sender : str
        "access point", "client 0", "client 1", ..., "neighbour 0", ...
    kind : str
        "beacon", "data", "null", "poll", "group", "rts", "cts" or "ack".
    received : bool
        Whether it was neither lost nor part of a collision.
    """

    start_ns: int
    end_ns: int
    sender: str
    kind: str
    received: bool


class AirRecorder:
    """Keeps what is on the air during one run; handed to `netsim.simulate`.

    Examples
    --------
    >>> import netsim, traces
    >>> recorder = AirRecorder()
    >>> config = netsim.SimulationConfig(medium=netsim.AirConfig())
    >>> result = netsim.simulate([traces.Page("a", 300, 2000)], "psm", config=config, recorder=recorder)
    >>> [frame.kind for frame in recorder.frames[:5]]
    ['data', 'ack', 'beacon', 'poll', 'data']
    """

    def __init__(self) -> None:
        self._frames: list[AirFrame] = []
        self._cell: Cell

    def attach(self, cell: Cell) -> None:
        """Have a cell tell what is on its air; called once, by the run."""
        if hasattr(self, "_cell"):
            raise ValueError("a recorder is for one run, and this one has recorded a run")
        self._cell = cell
        cell.medium.observer = self._note

    @property
    def frames(self) -> list[AirFrame]:
        """Every frame in the order of time, beacons among them."""
        beacons = self._cell.beacons
        sent = [
            AirFrame(start, start + beacons.air_ns, "access point", "beacon", True)
            for start in map(beacons.start_ns, range(1, beacons.next_n))
        ]
        return sorted([*self._frames, *sent])

    def _note(self, senders: list[Contender], received: bool) -> None:
        now, phy = self._cell.medium.env.now, self._cell.medium.phy
        for sender in senders:
            transmission = sender.queue[0]
            exchange, name = transmission.exchange, self._name(sender)
            other = self._other(sender)
            rts = exchange.kind == "data" and exchange.first_ns < exchange.sender_ns
            at, end = now, now + exchange.first_ns
            self._frames.append(AirFrame(at, end, name, "rts" if rts else exchange.kind, received))
            if not received:
                continue
            if rts:
                at = end + phy.sifs_ns
                assert exchange.first_ns == phy.lowest_ns(RTS_BYTES)
                end = at + phy.lowest_ns(CTS_BYTES)
                self._frames.append(AirFrame(at, end, other, "cts", True))
                at, end = end + phy.sifs_ns, now + exchange.delivered_ns
                self._frames.append(AirFrame(at, end, name, "data", True))
            if exchange.kind == "poll":
                at, end = end + phy.sifs_ns, now + exchange.delivered_ns
                self._frames.append(AirFrame(at, end, other, "data", True))
            if exchange.total_ns > exchange.delivered_ns:
                answering = name if exchange.kind == "poll" else other
                start = now + exchange.delivered_ns + phy.sifs_ns
                self._frames.append(AirFrame(start, now + exchange.total_ns, answering, "ack", True))

    def _name(self, sender: Contender) -> str:
        cell = self._cell
        if sender is cell.access_point.contender:
            return "access point"
        for number, client in enumerate(cell.clients):
            if client.contender is sender:
                return f"client {number}"
        return f"neighbour {cell.neighbours.index(sender)}"

    def _other(self, sender: Contender) -> str:
        """Return who answers: the access point, or the client that it serves."""
        access_point = self._cell.access_point
        if sender is not access_point.contender:
            return "access point"
        served = access_point.serving
        return "client 0" if served is None else self._name(served.contender)
