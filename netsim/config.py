"""The world: everything about a run that is neither policy nor pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from lpsm.checks import at_least, between, keep_whole, known, non_negative, positive
from netsim.model.air.air_times import Phy
from netsim.radio import Radio, RadioConfig
from netsim.server_delay import ServerDelay

Control = Literal["ns-2", "reno", "cubic"]
CONTROLS: tuple[Control, ...] = ("ns-2", "reno", "cubic")
"""What TCP's window follows, in the order of `netsim.model.codes`."""
Retrieval = Literal["auto", "ps-poll", "null", "uapsd", "twt"]
RETRIEVALS: tuple[Retrieval, ...] = ("auto", "ps-poll", "null", "uapsd", "twt")
"""How clients fetch what waits for them (`netsim.model.air.retrieval`)."""
MAX_AMPDU_BYTES = 65_535
Access = Literal["dcf", "background", "best-effort", "video", "voice"]
AIFSN: dict[Access, int] = {"dcf": 2, "background": 7, "best-effort": 3, "video": 2, "voice": 2}
"""Slots of the interframe space before contention: of DCF, and of classes of WMM (IEEE 802.11-2020, table 9-155)."""
_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkConfig:
    """Rates and delays of the air (client to access point) and the wire (access point to server).

    Attributes
    ----------
    wireless_mbps, wired_mbps : float
        Megabits a second, each way.
    wireless_delay_ms, wired_delay_ms : float
        Propagation each way, milliseconds; 20 ms of wire and 0.1 ms of air make a round trip of 40.2 ms.
    loss_rate : float
        Probability that a frame is lost on the air, either way, in [0, 1).
    queue_packets : int
        Packets that may wait for the wire to the client behind the one that is sent; 0: any number.
    """

    wireless_mbps: float = 5.0
    wired_mbps: float = 10.0
    wireless_delay_ms: float = 0.1
    wired_delay_ms: float = 20.0
    loss_rate: float = 0.0
    queue_packets: int = 0

    def __post_init__(self) -> None:
        at_least(1e-6, wireless_mbps=self.wireless_mbps, wired_mbps=self.wired_mbps)
        non_negative(wireless_delay_ms=self.wireless_delay_ms, wired_delay_ms=self.wired_delay_ms)
        keep_whole(self, 0, None, "queue_packets")
        if not 0.0 <= self.loss_rate < 1.0:
            raise ValueError(f"loss_rate must lie in [0, 1), got {self.loss_rate}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TcpConfig:
    """Parameters of TCP; the defaults are those of the ns-2 runs that the model is held against.

    Attributes
    ----------
    mss_bytes : int
        Payload of a full segment.
    header_bytes : int
        Header on every packet.
    initial_window : int
        Segments that may be in flight at first.
    window : int
        Segments that may be in flight at most.
    min_rto_s : float
        Least retransmission time-out, seconds (RFC 6298).
    initial_rto_s : float
        Retransmission time-out before any round trip was measured, seconds (RFC 6298).
    nagle : bool
        Hold a partial segment back while anything is unacknowledged.
    control : Control
        "ns-2": Reno as in those runs, with an acknowledgement of every full segment.  "reno" and "cubic" are Linux's,
        with delayed acknowledgements, recovery by SACK (RACK-TLP, PRR) and slow start after idle times; `window` is
        then that of the receiver.
    ack_delay_s : float
        How long an acknowledgement may wait, seconds (not with "ns-2").
    stream_window_bytes : int
        Flow-control window of HTTP/2, of each stream and of each connection; 0: HTTP/2 has no flow control, preface
        or SETTINGS.
    tls : str
        Bytes of the flights of the handshake of TLS in turn, the client's first, such as "517:3000:80"; "": no TLS.
    tls_resumed : str
        Those of a handshake that resumes a session.
    resumption : float
        Probability that a handshake does, in [0, 1].
    named_after_bytes : int
        How much of a reply must have come for what it names to be asked for, with `stream_window_bytes`; 0: all.
    http3 : bool
        Whether the handshake of TLS opens a connection by itself (QUIC), one round trip less.
    """

    mss_bytes: int = 1460
    header_bytes: int = 40
    initial_window: int = 2
    window: int = 20
    min_rto_s: float = 1.0
    initial_rto_s: float = 3.0
    nagle: bool = False
    control: Control = "ns-2"
    ack_delay_s: float = 0.04
    stream_window_bytes: int = 0
    tls: str = ""
    tls_resumed: str = "517:250:80"
    resumption: float = 0.0
    named_after_bytes: int = 0
    http3: bool = False

    def __post_init__(self) -> None:
        keep_whole(self, 1, None, "mss_bytes", "header_bytes", "initial_window", "window")
        known("control", self.control, CONTROLS)
        keep_whole(self, 0, 2**31 - 1, "stream_window_bytes", "named_after_bytes")
        between(0.0, 1.0, resumption=self.resumption)
        between(0.001, 0.5, ack_delay_s=self.ack_delay_s)
        for name in ("tls", "tls_resumed"):
            flights_of(name, getattr(self, name))
        if self.control == "ns-2" and (self.stream_window_bytes or self.tls):
            raise ValueError('control must be "reno" or "cubic" with stream_window_bytes or tls, got "ns-2"')
        if self.http3 and not self.tls:
            raise ValueError("http3 must be false without tls, got true")
        if self.initial_window > self.window:
            raise ValueError(f"initial_window must be at most window ({self.window}), got {self.initial_window}")
        positive(min_rto_s=self.min_rto_s, initial_rto_s=self.initial_rto_s)

    @classmethod
    def today(cls, **changed: Any) -> TcpConfig:
        """Return the transport of a browser and a server of today, as Linux has it, but for what is `changed`.

        CUBIC from 10 segments of 1448 bytes on with a receive window of 6 MB, time-outs of 200 ms at least; HTTP/2 with
        Chromium's windows of 6 MB; and TLS 1.3.

        Examples
        --------
        >>> TcpConfig.today(control="reno").initial_window
        10
        """
        given: dict[str, Any] = {
            "mss_bytes": 1448, "header_bytes": 52, "initial_window": 10, "window": 4345, "min_rto_s": 0.2,
            "initial_rto_s": 1.0, "control": "cubic", "stream_window_bytes": 6_291_456, "tls": "517:3000:80",
        }  # fmt: skip
        return cls(**{**given, **changed})


def flights_of(name: str, text: str) -> tuple[int, ...]:
    """Return the bytes of the flights of TLS; the client's are the first and the last."""
    parts = text.split(":") if text else []
    right = not parts or (len(parts) > 2 and len(parts) % 2 == 1)
    if not (right and all(part.isdecimal() and 0 < int(part) <= 1_000_000 for part in parts)):
        raise ValueError(f"{name} must be three sizes, or five and so on, such as 517:3000:80, got {text!r}")
    return tuple(map(int, parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class BeaconConfig:
    """Beacons and the group frames of the background.

    Attributes
    ----------
    beacon_mbps : float
        Rate of beacons and group frames, Mb/s, one of `Phy.beacon_rates_mbps`; 0: the lowest basic rate of the layer.
        Access points at 2.4 GHz send them at 1 Mb/s unless they are told otherwise (`AirConfig.shipped`).
    size_bytes : int
        MPDU of a beacon: 24 of header, 12 of fixed fields, 4 of FCS, and 156 of elements (network name of 8
        characters, rates, TIM, country, ERP, RSN, HT capabilities and operation, extended capabilities, WMM).
    dtim_period : int
        Beacons from one DTIM to the next; beacon 0 is one.
    broadcast_per_s : float
        Group frames of the background, a second on average.
    broadcast_bytes : int
        IP packet of a group frame of the background, bytes.
    """

    beacon_mbps: float = 0.0
    size_bytes: int = 196
    dtim_period: int = 1
    broadcast_per_s: float = 0.0
    broadcast_bytes: int = 200

    def __post_init__(self) -> None:
        between(0.0, 24.0, beacon_mbps=self.beacon_mbps)
        keep_whole(self, 40, 2304, "size_bytes")
        keep_whole(self, 1, 2304, "dtim_period", "broadcast_bytes")
        between(0.0, 1e4, broadcast_per_s=self.broadcast_per_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class AirConfig:
    """The shared air.

    Attributes
    ----------
    phy : Phy
        Physical layer and rate; a least window of 0 slots is for cells without neighbours.
    beacons : BeaconConfig
        DTIM period, and group frames of the background.
    retrieval : Retrieval
        How clients fetch what waits for them, one of `RETRIEVALS`.
    rts_bytes : int | None
        Frames of at least so many bytes are announced with RTS and CTS; None: none is.
    max_ampdu_bytes : int
        Data frames go together in A-MPDUs of at most so many bytes, up to 65,535 (from 802.11n on); 0: each goes alone.
    beacon_loss : bool
        Whether a client misses beacons with the probability with which frames are lost (`LinkConfig.loss_rate`).
    block_ack_requests : bool
        Whether a station whose A-MPDU nobody answered asks what was received before it sends that again.
    edca : bool
        Whether backoffs are counted down as those of QoS stations (IEEE 802.11-2020, 10.23.2.4): once more at the
        end of DIFS, each time that the channel has become idle; with an `access` class they always are.
    access : Access
        Contention of all stations, one of `AIFSN`: "dcf", or a class of WMM.  Its windows are those of `phy`; of video
        the least is half of it and the most the least of `phy`, of voice a quarter and half of it.
    twt_announced : bool
        Whether clients announce with a frame that they are awake in a service period agreed on; the access point
        sends nothing before.
    neighbours : int
        Stations that load the channel with packets of 1500 bytes.
    neighbour_mbps : float
        Load of each neighbour, Mb/s, of packets at random (Poisson) times, 1000 of which wait at most; 0: it always
        has one to send.
    """

    phy: Phy = field(default_factory=Phy)
    beacons: BeaconConfig = field(default_factory=BeaconConfig)
    retrieval: Retrieval = "auto"
    rts_bytes: int | None = None
    max_ampdu_bytes: int = 0
    beacon_loss: bool = False
    block_ack_requests: bool = False
    edca: bool = False
    access: Access = "dcf"
    twt_announced: bool = False
    neighbours: int = 0
    neighbour_mbps: float = 0.0

    def __post_init__(self) -> None:
        known("retrieval", self.retrieval, RETRIEVALS)
        known("access", self.access, AIFSN)
        if self.beacons.beacon_mbps and self.beacons.beacon_mbps not in (rates := self.phy.beacon_rates_mbps):
            allowed, given = ", ".join(f"{rate:g}" for rate in rates), self.beacons.beacon_mbps
            raise ValueError(f"beacon_mbps on {self.phy.kind} must be one of {allowed}, got {given:g}")
        keep_whole(self, 0, 1000, "neighbours")
        keep_whole(self, 0, MAX_AMPDU_BYTES, "max_ampdu_bytes")
        if self.rts_bytes is not None:
            keep_whole(self, 0, None, "rts_bytes")
        if self.max_ampdu_bytes and not self.phy.aggregates:
            raise ValueError(
                f"max_ampdu_bytes must be 0 on {self.phy.kind}, which cannot aggregate frames, got "
                f"{self.max_ampdu_bytes}"
            )
        least = {"video": (1, 3), "voice": (3, 7)}.get(self.access, (0, 1))[self.neighbours > 0]
        if self.phy.cw_min < least:
            beside = " beside neighbours" if self.neighbours else ""
            rule = f"cw_min must be at least {least} with access {self.access}{beside}, or collisions never end"
            raise ValueError(f"{rule}, got {self.phy.cw_min}")
        if not 0.0 <= self.neighbour_mbps < 1e4:
            raise ValueError(f"neighbour_mbps must lie in [0, 10000), got {self.neighbour_mbps}")

    @classmethod
    def shipped(cls, phy: Phy | str, beacons: Mapping[str, Any] | None = None, **more: Any) -> AirConfig:
        """Return the air as access points ship it: beacons of the layer's kind, and from 802.11n on WMM and A-MPDUs.

        Stations contend in the class best effort, and ask with block-ACK requests.  What is given, of `beacons` or
        `more`, wins.

        Examples
        --------
        >>> AirConfig.shipped("11n").beacons.beacon_mbps, AirConfig.shipped("11ax", {"dtim_period": 2}).access
        (1.0, 'best-effort')
        """
        phy = phy if isinstance(phy, Phy) else Phy.parse(phy)
        mbps, size = phy.shipped_beacon
        of_qos = {"access": "best-effort", "max_ampdu_bytes": MAX_AMPDU_BYTES, "block_ack_requests": True}
        told = BeaconConfig(**{"beacon_mbps": mbps, "size_bytes": size, **(beacons or {})})
        return cls(phy=phy, beacons=told, **{**(of_qos if phy.aggregates else {}), **more})

    @property
    def aifs_ns(self) -> int:
        """Interframe space before contention: DIFS, or that of the access class."""
        return self.phy.sifs_ns + AIFSN[self.access] * self.phy.slot_ns

    @property
    def windows(self) -> tuple[int, int]:
        """Least and largest contention window of the access class, slots."""
        least = self.phy.cw_min
        half, quarter = (least - 1) // 2, (least - 3) // 4
        given = {"video": (half, least), "voice": (quarter, half)}.get(self.access, (least, self.phy.cw_max))
        return max(0, given[0]), max(0, given[1])


_NAMED: dict[str, Callable[[Any], Any]] = {
    "radio": Radio.profile,
    "server_delay": lambda given: ServerDelay(given) if isinstance(given, float | int) else ServerDelay.parse(given),
    "medium": lambda given: AirConfig(phy=Phy.parse(given)),
}
_PARTS = {"link": LinkConfig, "tcp": TcpConfig, "radio": Radio, "server_delay": ServerDelay, "medium": AirConfig}


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationConfig:
    """Everything about the world that is not the policy or the pages.

    The radio, the server's delay and the shared air may be given as they are written in commands.

    Attributes
    ----------
    link : LinkConfig
        Rates, delays and losses.
    tcp : TcpConfig
        Transport parameters.
    radio : Radio
        Power and energy figures.
    server_delay : ServerDelay
        How long the server thinks; by default as long as the pages tell, and not at all where they do not.
    connections : str
        Whether a connection carries one object after another, or one only (HTTP/1.0).
    max_connections : int
        Connections at a time.
    beacon_interval_ns : int
        Time between beacons, which are at its exact multiples.
    medium : AirConfig | None
        The shared air, with contention; None: the pair of wires of the thesis, of `link`.
    oracle_stamps : bool
        Whether policies are told when each frame reached the access point, which no device knows; else between which
        instants.

    Examples
    --------
    >>> SimulationConfig(radio="esp32-c6", server_delay="exponential:0.2", medium="11n").medium.phy.spec
    '11n:65'
    """

    link: LinkConfig = field(default_factory=LinkConfig)
    tcp: TcpConfig = field(default_factory=TcpConfig)
    radio: Radio = field(default_factory=RadioConfig)
    server_delay: ServerDelay = field(default_factory=lambda: ServerDelay(kind="recorded"))
    connections: str = "persistent"
    max_connections: int = 4
    beacon_interval_ns: int = 100_000_000
    medium: AirConfig | None = None
    oracle_stamps: bool = False

    if TYPE_CHECKING:  # which types may be given; the fields above say what is kept

        def __init__(
            self, *, link: LinkConfig = ..., tcp: TcpConfig = ..., radio: Radio | str = ...,
            server_delay: ServerDelay | float | str = ..., connections: str = ..., max_connections: int = ...,
            beacon_interval_ns: int = ..., medium: AirConfig | str | None = ...,
            oracle_stamps: bool = ...,
        ) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        for name, kind in _PARTS.items():
            part = getattr(self, name)
            if name in _NAMED and isinstance(part, str if name != "server_delay" else str | float | int):
                object.__setattr__(self, name, part := _NAMED[name](part))
            if not isinstance(part, kind) and (name != "medium" or part is not None):
                raise TypeError(f"{name} must be of the type {kind.__name__}, got {part!r}")
        known("connections", self.connections, ("persistent", "per-object"))
        keep_whole(self, 1, None, "max_connections")
        keep_whole(self, _NS_PER_MS, None, "beacon_interval_ns")

    @property
    def setting(self) -> dict[str, Any]:
        """What of the world a policy is made for: arguments of `netsim.policies.make`."""
        dtim_period = 1 if self.medium is None else self.medium.beacons.dtim_period
        return {"beacon_interval_ns": self.beacon_interval_ns, "radio": self.radio, "dtim_period": dtim_period}
