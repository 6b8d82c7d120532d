"""What was on the air, frame by frame: who sent what, from when to when; and what `netsim.recorder` notes elsewhere."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from netsim.air.access import Contender
from netsim.air.adviser import Adviser
from netsim.air.air_times import CTS_BYTES, RTS_BYTES
from netsim.air.cell import Cell
from netsim.air.exchanges import Transmission
from netsim.air.station import AirStation
from netsim.policies.protocol import Plan
from netsim.recorder import Decision, Recorder, RecordingBrowser

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


class AirRecorder(Recorder):
    """Keeps what happens on the air during one run; handed to `netsim.simulate`.

    Beside the frames it has all that a `Recorder` has: every attempt at a data frame is one of its transmissions.

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
        super().__init__()
        self._frames: list[AirFrame] = []
        self._cell: Cell

    def air_parts(self) -> tuple[type[AirStation], type[RecordingBrowser]]:
        """Return the classes that a recorded run is built of; called once, by the run."""
        self.use()
        station = self.part(_RecordingAirStation)
        station._adviser_type = self.part(_RecordingAdviser)
        return station, self.part(RecordingBrowser)

    def attach(self, cell: Cell) -> None:
        """Have a cell tell what is on its air."""
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
            self._note_packet(transmission, name, rts=rts, received=received)
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

    def _note_packet(self, transmission: Transmission, sender: str, *, rts: bool, received: bool) -> None:
        """Note an attempt at a data frame, unless what goes before it was lost already."""
        packet, exchange, now = transmission.packet, transmission.exchange, self._cell.medium.env.now
        polled = exchange.kind == "poll"
        if packet is None or ((rts or polled) and not received):
            return
        air_ns = exchange.receiver_ns if polled else exchange.sender_ns - exchange.first_ns * rts
        down = polled or sender == "access point"
        client, end = packet.to if down else packet.to.peer, now + exchange.delivered_ns
        self.transmitted(packet, client, down, transmission.reached_ns, (end - air_ns, end), not received)

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


class _RecordingAdviser(Adviser):
    """Notes what the policy answers."""

    __slots__ = ()
    _recorder: Recorder

    def ask(self, event: Literal["idle", "beacon"], now_ns: int, **known: Any) -> Plan:
        plan = super().ask(event, now_ns, **known)
        self._recorder.decisions.append(Decision(now_ns, event, known.get("waiting_bytes", 0), plan))
        return plan


class _RecordingAirStation(AirStation):
    """A station that notes when its gate opens and closes."""

    _recorder: Recorder
    _gate = True
    _at_ns = -1  # what is done now holds from then on

    @property
    def is_open(self) -> bool:
        """Whether the gate is open."""
        return self._gate

    @is_open.setter
    def is_open(self, value: bool) -> None:
        if value != self._gate:
            self._recorder.gates.append((self._env.now if self._at_ns < 0 else self._at_ns, value))
        self._gate = value

    def _stay_until(self, until_ns: int, now_ns: int) -> None:
        self._at_ns = now_ns
        super()._stay_until(until_ns, now_ns)
        self._at_ns = -1

    def _begin_service(self) -> None:
        self._at_ns = self._wake_ns
        super()._begin_service()
        self._at_ns = -1
