"""What was on the air, frame by frame: who sent what, from when to when; and what `netsim.recorder` notes elsewhere."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from netsim.air.access import Contender
from netsim.air.access_point import Buffer
from netsim.air.adviser import Adviser
from netsim.air.aggregation import Aggregate
from netsim.air.air_times import CTS_BYTES, RTS_BYTES
from netsim.air.cell import Cell
from netsim.air.exchanges import Transmission
from netsim.air.station import AirStation
from netsim.clock import Clock
from netsim.policies.protocol import Plan
from netsim.recorder import Decision, Recorder, RecordingBrowser
from netsim.tcp import Packet

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
        "beacon", "data", "null", "poll", "group", "rts", "cts", "ack" or "block-ack".
    received : bool
        Whether it was neither lost nor part of a collision.
    receiver : str
        As the sender, or "everybody".
    number : int
        Of the one of `Recorder.transmissions` that a data frame is, or of a beacon; -1 for other frames.
    sleeps, more_data, retry : bool
        Whether its sender says that it dozes from then on (PM = 1), that more waits for the receiver, and that it
        has sent this frame before.
    announces : bool
        Of a beacon: whether its TIM has the bit of client 0.
    identity : int
        Where frames go together: which data frame it is, the same however often it is sent; -1 for other frames.
    aggregate : int
        Which of the run's A-MPDUs it was sent in, or answers; -1: it went alone.  The time of an A-MPDU is shared out.
    """

    start_ns: int
    end_ns: int
    sender: str
    kind: str
    received: bool
    receiver: str = "everybody"
    number: int = -1
    sleeps: bool = False
    more_data: bool = False
    retry: bool = False
    announces: bool = False
    identity: int = -1
    aggregate: int = -1


class AirRecorder(Recorder):
    """Keeps what happens on the air during one run; handed to `netsim.simulate`.

    Beside the frames it has all that a `Recorder` has: every attempt at a data frame is one of its transmissions.

    Attributes
    ----------
    cell : Cell
        What the run was simulated in.

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
        self._identities: dict[Transmission, int] = {}
        self._n_aggregates = 0
        self.waiting: list[
            tuple[int, bool]
        ] = []  # from when on the access point holds frames back for client 0, or not
        self.cell: Cell

    def air_parts(self) -> tuple[type[AirStation], type[RecordingBrowser]]:
        """Return the classes that a recorded run is built of; called once, by the run."""
        self.use()
        station = self.part(_RecordingAirStation)
        station._adviser_type = self.part(_RecordingAdviser)
        return station, self.part(RecordingBrowser)

    def attach(self, cell: Cell) -> None:
        """Have a cell tell what is on its air."""
        self.cell = cell
        cell.medium.observer = self._note

    @property
    def frames(self) -> list[AirFrame]:
        """Every frame in the order of time, beacons among them."""
        beacons, found, place = self.cell.beacons, list(self._frames), 0
        for number in range(1, beacons.next_n):
            start = beacons.start_ns(number)
            while place < len(self.waiting) and self.waiting[place][0] < start:
                place += 1
            announces = place > 0 and self.waiting[place - 1][1]
            end = start + beacons.air_ns
            found.append(AirFrame(start, end, "access point", "beacon", True, number=number, announces=announces))
        return sorted(found)

    def _note(self, senders: list[Contender], received: bool) -> None:
        now, phy = self.cell.medium.env.now, self.cell.medium.phy
        for sender in senders:
            transmission = sender.queue[0]
            exchange, name, other = transmission.exchange, self._name(sender), self._other(sender)
            rts = exchange.kind == "data" and exchange.first_ns < exchange.sender_ns
            polled = exchange.kind == "poll"
            together = transmission.n_frames > 1
            more = name == "access point" and self.cell.access_point.has_more
            says = (self._sleeps(sender, transmission), more, sender.tries > 0)
            end = now + exchange.first_ns
            if rts or exchange.kind != "data":
                first = "rts" if rts else exchange.kind
                self._frames.append(AirFrame(now, end, name, first, received, other, -1, *says))
            if rts and received:
                assert exchange.first_ns == phy.lowest_ns(RTS_BYTES)
                at = end + phy.sifs_ns
                self._frames.append(AirFrame(at, at + phy.lowest_ns(CTS_BYTES), other, "cts", True, name))
            if exchange.kind == "data" and (received or not rts):
                self._note_data(transmission, name, other, says, received=received)
            if polled and received:
                at, end = end + phy.sifs_ns, now + exchange.delivered_ns
                number = self._note_packet(transmission, True, (at, end), received=True)
                more = (client := self._client(sender)) is not None and client.has_more
                identity = self._identity(transmission)
                self._frames.append(
                    AirFrame(at, end, other, "data", True, name, number, more_data=more, identity=identity)
                )
            if received and exchange.total_ns > exchange.delivered_ns:
                answering, answered = (name, other) if polled else (other, name)
                start = now + exchange.delivered_ns + phy.sifs_ns
                kind, place = ("block-ack", self._n_aggregates) if together else ("ack", -1)
                answer = AirFrame(start, now + exchange.total_ns, answering, kind, True, answered, aggregate=place)
                self._frames.append(answer)
            self._n_aggregates += together

    def _note_data(
        self, transmission: Transmission, sender: str, receiver: str, says: tuple[bool, bool, bool], *, received: bool
    ) -> None:
        """Note the data frames of an exchange: one, or those that go together, of which some may be lost."""
        exchange, (sleeps, more, again) = transmission.exchange, says
        frames, ends_ns, lost, place = [transmission], [exchange.data_ns], [False], -1
        if isinstance(transmission, Aggregate):
            frames, ends_ns, lost = transmission.frames, transmission.ends_ns(), transmission.lost.tolist()
            place = self._n_aggregates if len(frames) > 1 else -1
        start = self.cell.medium.env.now + exchange.delivered_ns - exchange.data_ns
        at, down = start, sender == "access point"
        for frame, end_ns, is_lost in zip(frames, ends_ns, lost, strict=True):
            span, arrives = (at, start + end_ns), received and not is_lost
            number = self._note_packet(frame, down, span, received=arrives)
            told = (sleeps, more or (down and frame is not frames[-1]), again or frame.tries > 0)
            identity = self._identity(frame)
            self._frames.append(
                AirFrame(*span, sender, "data", arrives, receiver, number, *told, identity=identity, aggregate=place)
            )
            at = span[1]

    def _identity(self, frame: Transmission) -> int:
        if not self.cell.medium.aggregates:
            return -1
        return self._identities.setdefault(frame, len(self._identities))

    def _sleeps(self, sender: Contender, transmission: Transmission) -> bool:
        """Return the power-management bit of a frame: whether its client dozes as far as the access point knows."""
        client = self._client(sender)
        return client is not None and client.says_asleep(transmission)

    def _client(self, sender: Contender) -> _RecordingAirStation | None:
        of_cell = (client for client in self.cell.clients if client.contender is sender)
        return next((client for client in of_cell if isinstance(client, _RecordingAirStation)), None)

    def _note_packet(self, transmission: Transmission, down: bool, span: tuple[int, int], *, received: bool) -> int:
        """Note an attempt at a data frame; return its number, or -1 for one of a neighbour."""
        packet = transmission.packet
        if packet is None:
            return -1
        client = packet.to if down else packet.to.peer
        self.transmitted(packet, client, down, transmission.reached_ns, span, not received)
        return len(self.transmissions) - 1

    def _name(self, sender: Contender) -> str:
        cell = self.cell
        if sender is cell.access_point.contender:
            return "access point"
        for number, client in enumerate(cell.clients):
            if client.contender is sender:
                return f"client {number}"
        return f"neighbour {cell.neighbours.index(sender)}"

    def _other(self, sender: Contender) -> str:
        """Return who answers: the access point, or the client that it serves; everybody receives a group frame."""
        access_point = self.cell.access_point
        if sender is not access_point.contender:
            return "access point"
        served = access_point.serving
        return "everybody" if served is None else self._name(served.contender)


class _RecordingAdviser(Adviser):
    """Notes what the policy answers."""

    __slots__ = ()
    _recorder: Recorder

    def ask(self, event: Literal["idle", "beacon"], now_ns: int, **known: Any) -> Plan:
        plan = super().ask(event, now_ns, **known)
        self._recorder.decisions.append(Decision(now_ns, event, known.get("waiting_bytes", 0), plan))
        return plan


class _NotedBuffer(Buffer):
    """A buffer that tells from when on something waits in it, and from when on nothing."""

    __slots__ = ("_env", "_recorder")

    def __init__(self, recorder: AirRecorder, env: Clock) -> None:
        super().__init__()
        self._recorder, self._env = recorder, env

    def put(self, packet: Packet, reached_ns: int) -> None:
        super().put(packet, reached_ns)
        self._recorder.waiting.append((self._env.now, True))

    def take(self) -> tuple[Packet, int]:
        taken = super().take()
        self._recorder.waiting.append((self._env.now, bool(self.frames)))
        return taken


class _RecordingAirStation(AirStation):
    """A station that notes when its gate opens and closes."""

    _recorder: AirRecorder
    _gate = True
    _at_ns = -1  # what is done now holds from then on

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._buffer = self._retriever.buffer = _NotedBuffer(self._recorder, self._env)

    @property
    def has_more(self) -> bool:
        """Whether the access point holds back more than the frame that a PS-Poll is about to fetch."""
        return len(self._buffer.frames) > 1

    def says_asleep(self, transmission: Transmission) -> bool:
        """Return the power-management bit of a frame that is about to be sent."""
        if self.never_sleeps:
            return False
        if self.retrieval in ("uapsd", "twt") or transmission.exchange.kind == "poll":
            return True
        if transmission.exchange.kind == "null":
            return transmission is self._closing
        return not self.is_open and not (self.retrieval == "null" and self._open_on_send)

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
