"""What happened in a run, frame by frame: the record behind timelines and captures.

A `Recorder` is handed to `netsim.simulate`, which then builds the run of parts that tell it what they do: an access
point that notes every frame, a station that notes decisions and when its gate opens and closes, a browser that notes
what was asked for.  These parts add nothing but notes, so the run is the same to the nanosecond; a run without a
recorder is built of the ordinary parts and pays nothing.  Instants are integer nanoseconds since the start.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from netsim.access_point import AccessPoint
from netsim.browser import Browser, Connection
from netsim.clock import Occurrence
from netsim.policies.protocol import Plan
from netsim.station import Station
from netsim.tcp import Endpoint, Packet

__all__ = ["Decision", "Exchange", "Recorder", "RecordingBrowser", "Transmission"]

T = TypeVar("T")


class Transmission(NamedTuple):
    """A frame on the air between the client and the access point.

    Attributes
    ----------
    down : bool
        Towards the client.
    reached_ns : int
        When it was handed to the transmitter of the client, or reached the access point.
    start_ns, end_ns : int
        When its transmission began and ended, without the propagation.
    connection : int
        Number of its TCP connection, in the order of their first frames.
    flag : int
        0: data or a bare acknowledgement; 1: SYN; 2: SYN-ACK.
    seq, length, ack : int
        First payload byte (from 0), payload bytes, and how many bytes of the other end have come.
    size_bytes : int
        With its header.
    lost : bool
        Whether it was lost on the air.
    """

    down: bool
    reached_ns: int
    start_ns: int
    end_ns: int
    connection: int
    flag: int
    seq: int
    length: int
    ack: int
    size_bytes: int
    lost: bool


class Decision(NamedTuple):
    """What the policy answered: at which instant, to which event, with how many bytes waiting, and its plan."""

    at_ns: int
    event: str
    buffered_bytes: int
    plan: Plan


class Exchange(NamedTuple):
    """A request and its reply: page (from 0), object (-1: the HTML), sizes, and when they were sent and complete."""

    page: int
    object_index: int
    connection: int
    request_bytes: int
    reply_bytes: int
    asked_ns: int
    answered_ns: int


class Recorder:
    """Keeps what happens during one run.

    Attributes
    ----------
    transmissions : list of Transmission
        Every frame, in the order in which they were put on the air of their direction.
    decisions : list of Decision
        Every answer of the policy, in the order of time.
    exchanges : list of Exchange
        Every request whose reply is complete, in the order of completion.
    gates : list of (int, bool)
        When the gate opened (True: awake, what reaches the access point is delivered at once) or closed.

    Raises
    ------
    ValueError
        If it is given to a second run.

    Examples
    --------
    >>> import netsim, traces
    >>> recorder = Recorder()
    >>> result = netsim.simulate([traces.Page("a", 300, 2000)], "psm", recorder=recorder)
    >>> sum(frame.length for frame in recorder.transmissions if frame.down)
    2000
    """

    def __init__(self) -> None:
        self.transmissions: list[Transmission] = []
        self.decisions: list[Decision] = []
        self.exchanges: list[Exchange] = []
        self.gates: list[tuple[int, bool]] = []
        self.reached: dict[Packet, int] = {}  # when frames that wait reached the access point
        self._connections: dict[Endpoint, int] = {}
        self._sent_ns: dict[tuple[int, int], int] = {}  # connection and first byte of a request: when it was sent
        self._written: dict[int, int] = {}  # connection: bytes of the requests that were answered
        self._used = False

    def parts(self) -> tuple[type[AccessPoint], type[Station], type[Browser]]:
        """Return the classes that a recorded run on wires is built of; called once, by the run."""
        self.use()
        return self.part(_RecordingAccessPoint), self.part(_RecordingStation), self.part(RecordingBrowser)

    def use(self) -> None:
        """Begin to record a run."""
        if self._used:
            raise ValueError("a recorder is for one run, and this one has recorded a run")
        self._used = True

    def part(self, kind: type[T]) -> type[T]:
        """Return a class of parts that tell this recorder what they do."""
        return type(kind.__name__, (kind,), {"_recorder": self})

    def transmitted(
        self, packet: Packet, client: Endpoint, down: bool, reached_ns: int, span: tuple[int, int], lost: bool
    ) -> None:
        """Note a frame with the time `span` of its transmission; `client` is its end at the client."""
        number = self._connections.setdefault(client, len(self._connections))
        if not down and packet.length:
            self._sent_ns.setdefault((number, packet.seq), reached_ns)
        self.transmissions.append(
            Transmission(
                down, reached_ns, *span, number, packet.flag, packet.seq, packet.length, packet.ack,
                packet.size_bytes, lost,
            )
        )  # fmt: skip

    def answered(self, page: int, index: int, client: Endpoint, sizes: tuple[int, int], now_ns: int) -> None:
        """Note that the reply to the request for an object, of these sizes, is complete."""
        number = self._connections[client]
        first = self._written.get(number, 0)
        self._written[number] = first + sizes[0]
        self.exchanges.append(Exchange(page, index, number, *sizes, self._sent_ns[number, first], now_ns))


class _RecordingAccessPoint(AccessPoint):
    """An access point that notes every frame that it puts on the air or takes from it."""

    _recorder: Recorder

    def uplink(self, packet: Packet) -> None:
        """Note a packet from the client."""
        now, lost = self._env.now, self.lost
        super().uplink(packet)
        self._note(packet, packet.to.peer, False, now, now, self.lost > lost)

    def from_server(self, packet: Packet, arrive: Callable[[Occurrence], None]) -> None:
        """Note when a packet from the server reaches the access point."""

        def reach(event: Occurrence) -> None:
            self._recorder.reached[packet] = self._env.now
            arrive(event)

        super().from_server(packet, reach)

    def downlink(self, now_ns: int, packet: Packet, receive: Callable[[Occurrence], None]) -> int:
        """Note a packet to the client."""
        lost = self.lost
        arrival = super().downlink(now_ns, packet, receive)
        reached = self._recorder.reached.pop(packet, now_ns)
        self._note(packet, packet.to, True, reached, now_ns, self.lost > lost)
        return arrival

    def _note(self, packet: Packet, client: Endpoint, down: bool, reached_ns: int, put_ns: int, lost: bool) -> None:
        link = self.air_down if down else self.air_up
        numerator, denominator = link.ns_per_byte
        start = max(put_ns, link.free_ns - packet.size_bytes * numerator // denominator)
        self._recorder.transmitted(packet, client, down, reached_ns, (start, link.free_ns), lost)


class _RecordingStation(Station):
    """A station that notes what its policy answers, and when its gate opens and closes."""

    _recorder: Recorder

    def _ask(self, event: str, now_ns: int, waiting: int) -> Plan:
        plan = super()._ask(event, now_ns, waiting)
        self._recorder.decisions.append(Decision(now_ns, event, waiting, plan))
        return plan

    def _fall_asleep(self, at_ns: int, plan: Plan) -> None:
        super()._fall_asleep(at_ns, plan)
        self._recorder.gates.append((at_ns, False))

    def _open_gate(self, at_ns: int) -> None:
        super()._open_gate(at_ns)
        self._recorder.gates.append((at_ns, True))

    def _listen(self, at_ns: int) -> None:
        notes = self._recorder.gates
        before = len(notes)
        super()._listen(at_ns)
        if self._gate_open and len(notes) == before:  # opened by the plan alone, nothing waited
            notes.append((at_ns, True))


class RecordingBrowser(Browser):
    """A browser that notes what it asks for and when the reply is complete."""

    _recorder: Recorder

    def arrived(self, connection: Connection) -> None:
        """Note a complete reply, then go on."""
        page = self._page
        sizes = (page.request_bytes, page.reply_bytes) if connection.index < 0 else page.objects[connection.index]
        self._recorder.answered(len(self.loads) // 4, connection.index, connection._client, sizes, self.env.now)
        super().arrived(connection)
