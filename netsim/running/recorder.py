"""What happened in a run, frame by frame: the record behind timelines and captures.

A `Recorder`, on the air an `AirRecorder`, is handed to `netsim.simulate`.  The model, interpreted then, tells it of
every frame, decision, gate and request.  It adds nothing but notes, so the run is the same to the nanosecond; a run
without a recorder pays nothing.  Instants are integer nanoseconds since the start.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import NamedTuple

from netsim.config import AirConfig, SimulationConfig
from netsim.model.air.aggregation import with_delimiter
from netsim.model.air.air_times import CTS_BYTES
from netsim.model.air.beacons import beacon_end, beacon_start
from netsim.model.codes import GROUP, NEVER, NULL, POLL, TRIGGER, TWT
from netsim.model.entities import Client, Connection, Contender, Endpoint, Frame, Run
from netsim.policies.protocol import Plan


class Transmission(NamedTuple):
    """A frame on the air between the client and the access point."""

    down: bool  #: towards the client
    reached_ns: int  #: when it was handed to the transmitter of the client, or reached the access point
    #: when its transmission began and ended, without the propagation
    start_ns: int
    end_ns: int
    connection: int  #: number of its TCP connection, in the order of their first frames
    flag: int  #: 0: data or a bare acknowledgement; 1: SYN; 2: SYN-ACK
    #: first payload byte (from 0), payload bytes, and how many bytes of the other end have come
    seq: int
    length: int
    ack: int
    size_bytes: int  #: with its header
    lost: bool  #: whether it was lost on the air


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


class AirFrame(NamedTuple):
    """A frame on the air."""

    #: when it began and ended
    start_ns: int
    end_ns: int
    sender: str  #: "access point", "client 0", "client 1", ..., "neighbour 0", ...
    kind: str  #: "beacon", "data", "null", "poll", "group", "rts", "cts", "ack", "block-ack" or its "request"
    received: bool  #: whether it was neither lost nor part of a collision
    receiver: str = "everybody"  #: as the sender, or "everybody"
    #: of the one of `Recorder.transmissions` that a data frame is, or of a beacon; -1 for other frames
    number: int = -1
    #: whether its sender says that it dozes from then on (PM = 1), that more waits for the receiver, and that it has
    #: sent this frame before
    sleeps: bool = False
    more_data: bool = False
    retry: bool = False
    announces: bool = False  #: of a beacon: whether its TIM has the bit of client 0
    #: where frames go together: which data frame it is, the same however often it is sent; -1 for other frames
    identity: int = -1
    #: which of the run's A-MPDUs it was sent in, or answers; -1: it went alone.  The time of an A-MPDU is shared out.
    aggregate: int = -1


class Recorder:
    """Keeps what happens during one run on wires.

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

    on_air = False

    def __init__(self) -> None:
        #: every frame, in the order in which they were put on the air of their direction
        self.transmissions: list[Transmission] = []
        self.decisions: list[Decision] = []  #: every answer of the policy, in the order of time
        #: polls on wires, and the answers that nothing waits: from when to when, whether lost, whether down
        self.polled_ns: list[tuple[int, int, bool, bool]] = []
        self.exchanges: list[Exchange] = []  #: every request whose reply is complete, in the order of completion
        #: when the gate opened (True: awake, what reaches the access point is delivered at once) or closed
        self.gates: list[tuple[int, bool]] = []
        self.config: SimulationConfig  #: the world of the run
        self._run: Run | None = None
        self._connections: dict[Endpoint, int] = {}
        self._sent: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)  # connection: ends of packets, and when
        self._written: dict[int, int] = {}  # connection: bytes of the requests that were answered

    def begin(self, run: Run, config: SimulationConfig) -> None:
        """Begin to record a run."""
        if self._run is not None:
            raise ValueError("a recorder is for one run, and this one has recorded a run")
        self._run, self.config = run, config

    @property
    def run(self) -> Run:
        """The run that was recorded."""
        assert self._run is not None
        return self._run

    # -- what the model tells

    def put_up(self, run: Run, frame: Frame, begin: int, end: int, lost: int) -> None:
        """Note a packet from the client, and the time of its transmission."""
        self._transmitted(frame, frame.to.peer, False, (begin, end), bool(lost))

    def put_down(self, run: Run, frame: Frame, begin: int, end: int, lost: int) -> None:
        """Note a packet to the client, and the time of its transmission."""
        self._transmitted(frame, frame.to, True, (begin, end), bool(lost))

    def gate(self, at: int, is_open: int) -> None:
        """Note that the gate opens or closes."""
        self.gates.append((at, bool(is_open)))

    def decided(self, at: int, event: str, waiting: int, plan: Plan) -> None:
        """Note what the policy answers."""
        self.decisions.append(Decision(at, event, waiting, plan))

    def answered(self, run: Run, connection: Connection) -> None:
        """Note that the reply to a request is complete."""
        number, sizes = self._connections[connection.client], (connection.request, connection.reply)
        first = connection.object.asked if connection.object else self._written.get(number, 0)
        self._written[number] = first + sizes[0]
        page = connection.client.client.page
        sent = self._sent[number]  # by packets that may hold several requests, and be cut anew when sent again
        asked = sent[bisect_right(sent, (first, NEVER))][1]
        self.exchanges.append(Exchange(page, connection.index, number, *sizes, asked, run.now))

    def _transmitted(self, frame: Frame, client: Endpoint, down: bool, span: tuple[int, int], lost: bool) -> None:
        """Note a packet; `client` is its end at the client."""
        number = self._connections.setdefault(client, len(self._connections))
        if not down and frame.length:
            sent = self._sent[number]
            if not sent or frame.seq + frame.length > sent[-1][0]:
                sent.append((frame.seq + frame.length, frame.reached))
        self.transmissions.append(
            Transmission(
                down, frame.reached, *span, number, frame.flag, frame.seq, frame.length, frame.ack, frame.bytes, lost
            )
        )


class AirRecorder(Recorder):
    """Keeps what happens on the air during one run.

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

    on_air = True

    def __init__(self) -> None:
        super().__init__()
        self._frames: list[AirFrame] = []
        self._identities: dict[Frame, int] = {}
        self._n_aggregates = 0
        self._unanswered: dict[int, int] = {}  # which A-MPDU a station asks about
        self._answer: tuple[Client | None, int, int] = None, 0, 0  # to a PS-Poll: to whom, its place, its instant
        self._waiting: list[tuple[int, bool]] = []  # from when on the access point holds frames back, or does not

    @property
    def frames(self) -> list[AirFrame]:
        """Every frame in the order of time, beacons among them."""
        run, found, place = self.run, list(self._frames), 0
        for number in range(1, run.next_beacon):
            start = beacon_start(run, number)
            while place < len(self._waiting) and self._waiting[place][0] < start:
                place += 1
            announces = place > 0 and self._waiting[place - 1][1]
            end = beacon_end(run, number)
            found.append(AirFrame(start, end, "access point", "beacon", True, number=number, announces=announces))
        return sorted(found)

    def held(self, run: Run, client: Client) -> None:
        """Note whether the access point holds frames back for a client, which the next header to it says."""
        self._waiting.append((run.now, client.buffer.count > 0))
        polling, place, at = self._answer
        if client is polling and run.now <= at and client.buffer.count > 1:
            self._frames[place] = self._frames[place]._replace(more_data=True)

    def on_channel(self, run: Run, n: int, received: int) -> None:
        """Note the exchange that begins, or the collision of `n`."""
        for place in run.winners[:n]:
            self._exchange(run, run.contenders[place], bool(received))

    def _exchange(self, run: Run, sender: Contender, received: bool) -> None:
        frame, exchange, now, phy = sender.queue.head, sender.exchange, run.now, self.air.phy
        name, other, polled, together = self._name(run, sender), self._other(run, sender), False, sender.together > 1
        kind = "data" if exchange.size else "null"
        if sender.asks:
            kind, together = "request", True
        elif frame.code == POLL:
            kind, polled = "poll", True
        elif frame.code == GROUP:
            kind = "group"
        rts = kind == "data" and exchange.first < exchange.sent
        says = (_says_asleep(sender.client, frame), sender.place == 0 and _has_more(run), sender.tries > 0)
        end = now + exchange.first
        told = self._unanswered[sender.place] if sender.asks else self._n_aggregates
        if rts or kind != "data":
            what, about = "rts" if rts else kind, told if sender.asks else -1
            self._frames.append(AirFrame(now, end, name, what, received, other, -1, *says, aggregate=about))
        if rts and received:
            at = end + phy.sifs_ns
            self._frames.append(AirFrame(at, at + phy.lowest_ns(CTS_BYTES), other, "cts", True, name))
        if kind == "data" and (received or not rts):
            self._data(run, sender, name, other, says, received=received)
        if polled and received:
            client = sender.client
            at, end = end + phy.sifs_ns, now + exchange.delivered
            packet = client.buffer.head
            self._transmitted(packet, packet.to, True, (at, end), False)
            number, identity = len(self.transmissions) - 1, self._identity(run, frame)
            more, self._answer = client.buffer.count > 1, (client, len(self._frames), at)
            self._frames.append(AirFrame(at, end, other, "data", True, name, number, more_data=more, identity=identity))
        if received and exchange.total > exchange.delivered:
            answering, to = (name, other) if polled else (other, name)
            start = now + exchange.delivered + phy.sifs_ns
            kind, place = ("block-ack", told) if together else ("ack", -1)
            self._frames.append(AirFrame(start, now + exchange.total, answering, kind, True, to, aggregate=place))
        if not sender.asks:
            self._unanswered[sender.place] = self._n_aggregates
            self._n_aggregates += together

    def _data(
        self, run: Run, sender: Contender, name: str, other: str, says: tuple[bool, bool, bool], *, received: bool
    ) -> None:
        """Note the data frames of an exchange: one, or those that go together, of which some may be lost."""
        exchange, (sleeps, more, again), down = sender.exchange, says, sender.place == 0
        frames, frame = [], sender.queue.head
        for _ in range(max(1, sender.spanned)):
            if frame.goes or not sender.spanned:
                frames.append(frame)
            frame = frame.link
        sizes = [0]
        for frame in frames:
            sizes.append(with_delimiter(sizes[-1], frame.exchange.size))
        place = self._n_aggregates if len(frames) > 1 else -1
        at = start = run.now + exchange.delivered - exchange.alone
        for frame, size in zip(frames, sizes[1:], strict=True):
            span, arrives = (at, start + exchange.alone * size // sizes[-1]), received and not frame.lost
            number = -1
            if frame.to:
                self._transmitted(frame, frame.to if down else frame.to.peer, down, span, not arrives)
                number = len(self.transmissions) - 1
            told = (sleeps, more or (down and frame is not frames[-1]), again or frame.tries > 0)
            identity = self._identity(run, frame)
            self._frames.append(
                AirFrame(*span, name, "data", arrives, other, number, *told, identity=identity, aggregate=place)
            )
            at = span[1]

    @property
    def air(self) -> AirConfig:
        """The air of the run."""
        assert self.config.medium is not None
        return self.config.medium

    def _identity(self, run: Run, frame: Frame) -> int:
        return self._identities.setdefault(frame, len(self._identities)) if run.most_bytes else -1

    def _name(self, run: Run, sender: Contender) -> str:
        if sender.place == 0:
            return "access point"
        return f"client {sender.client.number}" if sender.client else f"neighbour {sender.place - 1}"

    def _other(self, run: Run, sender: Contender) -> str:
        """Return who answers: the access point, or the client that it serves; everybody receives a group frame."""
        if sender.place:
            return "access point"
        return f"client {run.serving.number}" if run.serving else "everybody"


def _has_more(run: Run) -> bool:
    """Return whether more waits for the client that is served, or for everybody."""
    queue = run.serving.line if run.serving else run.group_queue
    return queue.count > 0 or run.contenders[0].queue.count > 1


def _says_asleep(client: Client, frame: Frame) -> bool:
    """Return the power-management bit of a frame: whether its client dozes as far as the access point knows."""
    if not client or client.never_sleeps:
        return False
    if client.retrieval == TWT or frame.code in (POLL, TRIGGER):
        return True
    if not frame.exchange.size:
        return frame is client.closing
    return not client.is_open and not (client.retrieval == NULL and client.opens)
