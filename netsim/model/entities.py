"""Everything that there is in the model, and every field of it: instants and times in nanoseconds, sizes in bytes.

A field that is yes or no is 1 or 0.  What nothing says otherwise begins as 0.
"""

from __future__ import annotations

from typing import Annotated, Any

from lpsm.native.records import Ints, Part, Rows, record
from netsim.model.browsed import Datagram, Host, Message, Object, Objects, Page, Step


@record
class Queue:
    """Frames that wait for the same thing, linked one to the next."""

    head: Frame
    tail: Frame
    count: int


@record
class Stream:
    """Random numbers drawn ahead: where the next one is, and where they end."""

    next: Any
    stop: int


@record
class Line:
    """One direction of a link, first in and first out."""

    free: int  # since when nothing is on it, or until when something will be
    numerator: int  # a byte takes numerator / denominator ns
    denominator: int
    delay: int  # propagation
    full: int  # what a full packet takes
    bare: int  # what one without payload takes


@record
class Plan:
    """What a policy answered: `netsim.policies.protocol.Plan`."""

    until: int
    wake: int
    opens: int
    repeat: int
    agreed: int
    poll: int


@record
class States:
    """Time in each state of the radio; that of beacons heard from doze is part of listening and of receiving."""

    doze: int
    waking: int
    listening: int
    receiving: int
    transmitting: int
    beacon_listening: int
    beacon_receiving: int


@record
class PageRecord:
    """What loading a page took."""

    issued: int
    done: int
    awake: int
    beacons: int
    before: Part[States]  # the states of the radio up to its issue
    after: Part[States]  # and up to its last byte


@record
class Totals:
    """What a client's run leaves behind when it leaves."""

    end: int
    awake: int
    beacons: int
    air_up: int
    air_down: int
    lost: int
    groups_lost: int
    beacons_lost: int
    states: Part[States]


@record
class Exchange:
    """Frames that follow one another once the channel is won (`netsim.model.air.air_times`).

    Times are counted from its beginning.
    """

    first: int  # air time of the first frame, the one that may collide
    delivered: int  # when the payload has been received
    total: int
    sent: int  # air time of the frames of the winner
    received: int  # and of those that it receives
    alone: int  # air time of the data frame by itself; 0: there is none
    size: int  # bytes of the data frame that the winner sends, or of those that go together; 0: it sends none
    answered: int


@record
class Frame:
    """A packet of TCP and the frame that carries it; or a null frame, a PS-Poll, a group frame.

    The end of a connection keeps segments in such records too, from `seq` up to `ack`: those that came out of order,
    and with control those that it has sent (`netsim.model.sender`), whose fields mean what is said there.
    """

    link: Frame  # the next of its queue
    client: Client
    to: Endpoint  # NONE: it carries no packet
    flag: int  # DATA, SYN or SYN_ACK
    seq: int
    length: int
    ack: int
    bytes: int  # with the header
    reached: int  # when it reached the access point, or was handed to the transmitter of the client
    code: int  # what it is on the air, which says who is told of its end
    exchange: Exchange
    air: int  # air time of its data: alone, or its share where frames go together
    outcome: int  # of one that may go together with others: OPEN or RECEIVED
    tries: int  # how often it was sent in vain
    goes: int  # whether it is among those that are on the air together
    lost: int  # whether it is lost by itself
    batch: int  # of a group frame: number of the DTIM that it follows,
    more: int  # and whether others follow it (More Data)
    told: int  # with control, of a packet: when it told what had come out of order (SACK); 0: it did not,
    repeats: int  # whether it tells of something that has come twice (DSACK),
    pushes: int  # whether it is the end of what was handed down at once (PSH),
    stamp: int  # when it was sent,
    echo: int  # and the stamp of what its sender had heard last


@record
class Endpoint:
    """One end of a TCP connection: a sender of its own bytes, and a receiver of the other's."""

    client: Client
    is_client: int
    connection: Connection
    peer: Endpoint
    established: int
    closed: int
    unacked: int  # the sender: first byte not acknowledged,
    next: int  # first byte not sent,
    written: int  # and where what was written ends
    cwnd: float  # windows in segments
    ssthresh: float
    duplicates: int
    recovering: int
    recover: int  # where what was sent before the last loss ends (RFC 6582, section 3.2)
    peer_has_all: int
    deadline: int  # when to time out
    timer: int  # when that is looked at next
    rto: int
    srtt: int  # -1: no round trip was measured
    rttvar: int
    left: int  # of a request or a reply that is written in pieces: what is still to be written,
    piece: int  # how much at once,
    every: int  # and how often,
    pause: int  # of a reply with so long a pause
    after_pause: int  # before the last bytes of it
    timed_seq: int  # the byte whose acknowledgement is timed; -1: none is
    timed: int
    received: int  # the receiver: how many bytes have come in order,
    expected: int  # how many will in all,
    ack_sent: int  # and of how many the other end was told
    acknowledges: int  # whether a last, partial segment is acknowledged by a packet
    all_acked: int  # upload: whether to report that its last byte is acknowledged
    out_of_order: Frame
    # with control, the sender: `netsim.model.sender`
    sent: Part[Queue]  # what is not acknowledged, in order
    sacked: int  # how many of that have come out of order,
    lost: int  # are held lost,
    again: int  # and were sent again, on their way
    losses: int  # how many were ever held lost
    kind: int  # of the deadline
    last_sent: int
    min_rtt: int
    deviation: int  # of round trips, four times,
    most_deviation: int  # the largest of this one,
    deviation_until: int  # which ends with this byte
    prior_cwnd: float  # before the recovery,
    reduced_delivered: int  # and in it: how many have come,
    reduced_sent: int  # and were sent
    rack_sent: int  # of what has come, the last that was sent: when,
    rack_end: int  # where it ends,
    rack_rtt: int  # and its round trip
    rack_moved: int
    sacked_rtt: int  # a round trip of what has come out of order just now
    probed: int  # where what was sent ended at the last probe, if that is open,
    probe_again: int  # and whether that sent something again
    limited: int  # whether the congestion window was,
    most_out: int  # how much was on its way at most,
    limited_until: int  # and up to which byte that holds
    # its congestion control: `netsim.model.congestion`
    least_rtt: int  # but for that of the handshake
    epoch: int  # since when the window grows by CUBIC's function; 0: not yet
    origin: float
    k: float  # seconds
    last_max: float
    reno_cwnd: float  # what Reno would have
    round_begun: int  # HyStart
    round_end: int
    round_rtt: int
    round_samples: int
    train: int  # when the last acknowledgement came that followed the one before it closely
    # the receiver: `netsim.model.delayed_acks`
    shaken: int  # bytes of the flights of TLS,
    ack_by: int  # when to acknowledge at the latest,
    ato: int  # how long an acknowledgement may wait
    quick: int  # how many are sent at once
    interactive: int  # whether data goes both ways in turn ("pingpong")
    last_data: int
    full_seen: int  # the largest segment
    small: int  # how many ends of something have come since the last acknowledgement
    ack_now: int
    repeats: int  # whether the next packet tells of something that has come twice
    duplicates_sent: int  # acknowledgements that tell the same
    duplicates_of: int
    offered: int  # the window that is offered,
    clamp: int  # and its limit
    heard: int  # the stamp of what has come last,
    echoed: int  # the last of its own that came back, milliseconds,
    trip: int  # and a round trip measured by these
    space: int  # bytes that were read in a round trip,
    space_from: int  # from where on, and
    space_since: int  # since when
    flush: int  # what was written goes out at the end of this instant
    pushes: int  # whether the next packet is the end of what is handed down at once


@record
class Connection:
    """Two ends, and what is fetched over them."""

    client: Part[Endpoint]
    server: Part[Endpoint]
    number: int  # 0: pushed messages
    is_push: int
    is_open: int
    index: int  # of the object that is fetched; -1: the HTML
    step: Step  # the exchange that it carries, if that has a time of its own
    request: int
    reply: int
    delay: int
    asked_of: int
    following: Connection  # where pages are graphs: the next to the same host
    object: Object  # what it carries, one at a time, or what is complete just now
    is_stream: int  # it carries any number of them (HTTP/2):
    requests: Part[Objects]  # whose requests are to be written or on their way,
    replies: Part[Objects]  # whose replies the server writes in turns,
    ending: Part[Objects]  # and whose replies are written to the end
    references: int  # events and packets that will come back to it
    link: Connection  # the next that is free
    # with control: `netsim.model.flow_control`
    credit: int  # how much the server may write,
    read: int  # how much the client has read for which no credit was given back
    frames: Part[Queue]  # frames that are not read to the end: `netsim.model.flow_control`
    updates: Part[Queue]  # credit on its way
    written: int  # with TLS: what the server has written of its own,
    taken: int  # what the client has read of it,
    readable: int  # and can read of it,
    records: Part[Queue]  # and records that are not whole
    flights: int  # flights of TLS that were written,
    resumed: int  # of those that resume a session
    greeted: int  # whether the server, and then the client, has sent what begins a connection


@record
class Contender:
    """A station as the channel knows it."""

    place: int  # in the order of stations
    client: Client  # NONE: the access point or a neighbour
    cw: int  # contention window
    due: int  # the count of slots at which its backoff ends, and
    drawn: int  # after which of the channel's idle times it was drawn
    tries: int  # of the frame, and
    failures: int  # in a row, whatever was sent: IEEE 802.11's QSRC
    contends: int
    on_air: int
    queue: Part[Queue]
    backoffs: Part[Stream]
    gaps: Part[Stream]  # of a neighbour: between its packets,
    template: Frame  # template of a neighbour's frames
    sent: int  # air time of frames sent and received
    received: int
    attempts: int  # frames put on the air, and what became of them
    delivered: int
    lost: int
    collided: int
    dropped: int
    spanned: int  # frames of the A-MPDU window; 0: not aggregating
    together: int  # how many of them are sent; 0: none, in a block-ACK request
    asks: int  # whether it asks for a block ACK next
    exchange: Exchange  # the one that it is in: of the first frame, or
    shared: Part[Exchange]  # of those that go together


@record
class Client:
    """A client: its policy, its radio, its station on the medium, what the access point has for it, what it browses."""

    number: int
    # its policy
    policy: Any  # who is asked where the model is interpreted
    rule: int  # addresses of machine code, and its arrays, where it is compiled
    observer: int
    ints: int
    n_ints: int
    floats: int
    n_floats: int
    host_aware: int
    observes: int  # whether the policy is told of frames
    never_sleeps: int
    polls: int  # whether its policy may have it ask the access point at any instant
    planned: int  # whether `plan` holds
    plan: Part[Plan]
    asked: Part[Plan]  # the last answer
    outstanding: int  # requests whose replies are incomplete
    deadline: int  # when the page issued last must be complete
    last_sent: int
    last_received: int
    # of what waited before it was let out: when it knows that nothing did, for the last time, and when that was let out
    empty: int
    full: int
    # what it follows while its gate is closed
    wake: int
    repeat: int
    opens: int
    agreed: int
    poll: int  # whether it asks the access point then
    # its account
    is_open: int  # the gate: whether the access point sends at once what it has
    awake_since: int
    awake_until: int  # where the last interval awake ended, on wires with the gate closed: ends
    awake_before: int  # time awake in intervals before
    slept_from: int
    beacons: int
    lost: int
    air_up: int
    air_down: int
    # on wires
    busy: int  # until when something is queued or on its way
    sleep: int  # when the plan has it sleep
    transmitted: int  # until when its own transmitter is busy
    polling: int  # a poll is on its way: 1, or 2 if it is lost
    # on the air
    contender: Contender
    retrieval: int
    overhead: int  # bytes that a data frame adds to its packet
    null: int  # bytes of a null frame
    offset: int  # how much later than by the policy's own clock its service periods are
    announces: int
    expected: int  # the instant of listening that is scheduled (on wires of a client that polls: of looking at it)
    quiet: int  # since when nothing is on its way, if nothing is
    close: int  # when the gate is to be closed
    timer: int  # when that is looked at next
    closing: Frame  # the null frame that closes it
    woke_to_send: int
    due_down: int  # frames that the access point is about to send it
    fetches: int  # whether it polls, or asks for the gate to be opened or for a service period
    dozing: int
    ready: int  # when its radio has heard the channel for DIFS, so that it may contend
    pending: Part[Queue]  # frames that wait for that
    wakeups: int
    beacons_alone: int  # beacons heard from doze and followed by doze
    beacon_listening: int
    beacon_receiving: int
    groups_lost: int
    group_air: int  # of the group frames that it has received since the last DTIM
    reception: Part[Stream]  # of beacons: one draw each
    decided: int  # beacons up to this number are drawn,
    lost_beacon: int  # and this is the last of them that was lost
    beacons_lost: int
    missed: int  # when the last beacon ended that it wanted and could not decode
    batches: Ints  # whether it hears each batch of group frames
    # at the access point
    buffer: Part[Queue]  # held back
    waiting: int  # their bytes
    line: Part[Queue]  # about to be sent
    turn: Part[Frame]  # its entry in the access point's queue of clients
    # its browser
    pages: Rows[Page]
    n_pages: int
    page: int
    objects: Rows[Object]
    first_object: int
    hosts: Rows[Host]
    queues: Rows[Objects]  # what waits for a connection to each host
    n_hosts: int  # 0: its pages are no graphs
    loading: int  # how many pages are
    taken: int  # how many objects are asked for; of a graph, how many are not complete
    missing: int  # how many the page waits for
    next_number: int  # of a connection
    loaded: int  # time that pages took to load, less the instants at which those that are loading were issued
    loads: Rows[PageRecord]
    # what happens at its own time
    steps: Rows[Step]
    n_steps: int
    next_due: int  # the next that waits for an instant; -1: none does
    datagrams: Rows[Datagram]
    n_datagrams: int
    cast: int  # how many were sent, and how many arrived or were lost
    landed: int
    casts: Connection  # what carries them
    until: int  # the run lasts at least so long
    # what it is sent unasked
    messages: Rows[Message]
    n_messages: int
    written: int
    arrived: int
    pushes: Connection
    # its end
    left: int  # how many are not done with: pages, messages, datagrams, the time that was recorded
    is_done: int
    totals: Part[Totals]


@record
class Run:
    """The whole run: parameters, the medium, and what drives it."""

    machine: Annotated[Any, "Machine"]  # what the way of running keeps
    recorder: Any  # told of frames, decisions and gates, where the model is interpreted
    now: int
    status: int  # why it stops
    on_wires: int
    clients: Rows[Client]
    n_clients: int
    n_done: int
    # TCP and the browser
    mss: int
    header: int
    full: int  # bytes of a packet with a full segment
    first_window: int
    window: int
    min_rto: int
    first_rto: int
    nagle: int
    control: int  # codes.NS2, RENO or CUBIC
    max_ack_delay: int
    credit: int  # windows of HTTP/2, of a stream and of a connection; 0: none
    names_at: int  # how much of a reply must have come for what it names to be asked for; 0: all
    flights: Ints  # bytes of what TLS sends in turn, the client first
    n_flights: int
    resumed_flights: Ints
    n_resumed: int
    resumption: float
    resumptions: Part[Stream]
    quic: int  # TLS needs no handshake before it
    queue: int  # of the wire downwards: how many packets may wait; 0: any number
    queued: int  # how many have gone through it,
    starts: Ints  # and when the last of them began, by turns
    persistent: int
    max_connections: int
    # links
    wire_up: Part[Line]
    wire_down: Part[Line]
    air_up: Part[Line]
    air_down: Part[Line]
    loss_rate: float
    oracle_stamps: int  # whether policies are told when frames reached the access point
    losses: Part[Stream]
    # beacons
    interval: int
    beacon_air: int
    dtim: int
    next_beacon: int
    next_target: int
    wanted: int  # the earliest target time for which somebody waits
    late: Ints  # beacons that were late: number and by how much, in turn
    n_late: int
    late_room: int
    listeners: Ints  # who waits for which beacon: number and place of the client (-1: group frames), in turn
    n_listeners: int
    listeners_room: int
    told: Ints  # who is told of the beacon that ends next
    groups: Part[Queue]  # group frames that wait for a DTIM
    beacons_lossy: int  # whether clients lose beacons as they lose frames
    group_exchange: Part[Exchange]
    request_exchange: Part[Exchange]  # of a block ACK
    group_gaps: Part[Stream]
    group_queue: Part[Queue]  # and those that follow one
    n_batches: int
    batches_room: int
    # radios
    wakeup: int
    settle: int
    guard: int
    drift: float
    # the channel
    slot: int
    difs: int
    pifs: int
    timeout: int
    after_collision: int
    cw_min: int
    cw_max: int
    attempts: int
    exchanges: Rows[Exchange]  # by the size of a data frame, and of a null frame
    fetches: Rows[Exchange]  # by the size of the data frame that answers a PS-Poll
    together: Rows[Exchange]  # by the size of frames that go together
    most_bytes: int  # of those; 0: none do
    at_once: int  # how many frames a sender takes up at once
    contenders: Rows[Contender]  # the access point, neighbours, clients
    n_neighbours: int
    offered: int  # whether neighbours get packets at a rate, or always have one
    winners: Ints
    backoffs: Ints  # a heap of those who wait: count at which the backoff ends and place
    n_waiting: int
    count_from: int  # slots are counted from then on,
    slots: int  # beginning with this number
    idle_times: int  # of DIFS or more
    asks: int  # whether a missed block ACK is asked for
    edca: int  # whether a backoff counts one more at the end of each of them
    turn: int  # when to look at whose turn it is
    beacon_turn: int
    free: int  # when what is on the air, or was last, ends
    busy: int  # time that exchanges and beacons took,
    collided: int  # and collisions
    serving: Client
    turns: Part[Queue]  # of clients at the access point
    agreed: int  # where the service periods given out end
