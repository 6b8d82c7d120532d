"""A cell on the shared air: its configuration, its access point, its clients, and neighbours that load it.

Clients and neighbours are stations of one cell.  A neighbour always has a frame to send to the access point, or
gets them memoryless at a rate; it never sleeps, and the access point sends it nothing but acknowledgements.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import numpy as np
from simpy import Event, Timeout

from lpsm import randomness
from netsim.access_point import LinkConfig
from netsim.air.access import Contender, Medium
from netsim.air.access_point import AirAccessPoint
from netsim.air.aggregation import BLOCK_ACK_FRAMES, MAX_AMPDU_BYTES
from netsim.air.air_times import Phy
from netsim.air.beacons import BeaconConfig, Beacons, Reception
from netsim.air.exchanges import Exchange, Transmission
from netsim.air.radio_states import Passages
from netsim.air.retrieval import RETRIEVALS, Retrieval, frame_bytes
from netsim.air.station import AirStation
from netsim.clock import Clock
from netsim.policies.protocol import Policy
from netsim.radio import Radio
from netsim.whole_numbers import keep_whole

__all__ = ["NEIGHBOUR_BYTES", "AirConfig", "Cell", "saturate"]

_NS_PER_S = 1_000_000_000
NEIGHBOUR_BYTES = 1500
"""Size of a neighbour's packets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AirConfig:
    """The shared air.

    Attributes
    ----------
    phy : Phy
        Physical layer and rate; a least window of 0 slots is for cells without neighbours.
    beacons : BeaconConfig
        DTIM period, and group frames of the background.
    retrieval : str
        How clients fetch what waits for them, one of `netsim.air.retrieval.RETRIEVALS`.
    rts_bytes : int or None
        Frames of at least so many bytes are announced with RTS and CTS; None: none is.
    max_ampdu_bytes : int
        Data frames go together in A-MPDUs of at most so many bytes, up to 65,535 (on 802.11n); 0: each goes alone.
    beacon_loss : bool
        Whether clients cannot decode beacons as often as frames are lost on the air (`LinkConfig.loss_rate`).
    twt_announced : bool
        Whether clients announce with a frame that they are awake in a service period agreed on; the access point
        sends nothing before.
    neighbours : int
        Stations that load the channel with packets of 1500 bytes.
    neighbour_mbps : float
        What each of them is given to send, Mb/s, memoryless; 0: it always has a frame.
    """

    phy: Phy = field(default_factory=Phy)
    beacons: BeaconConfig = field(default_factory=BeaconConfig)
    retrieval: Retrieval = "auto"
    rts_bytes: int | None = None
    max_ampdu_bytes: int = 0
    beacon_loss: bool = False
    twt_announced: bool = False
    neighbours: int = 0
    neighbour_mbps: float = 0.0

    def __post_init__(self) -> None:
        if self.retrieval not in RETRIEVALS:
            raise ValueError(f"retrieval must be one of {', '.join(RETRIEVALS)}, got {self.retrieval!r}")
        keep_whole(self, "neighbours", "max_ampdu_bytes", *(() if self.rts_bytes is None else ("rts_bytes",)))
        if self.rts_bytes is not None and self.rts_bytes < 0:
            raise ValueError(f"rts_bytes must be at least 0, got {self.rts_bytes}")
        if not 0 <= self.max_ampdu_bytes <= MAX_AMPDU_BYTES:
            raise ValueError(f"max_ampdu_bytes must lie in [0, {MAX_AMPDU_BYTES}], got {self.max_ampdu_bytes}")
        if self.max_ampdu_bytes and not self.phy.aggregates:
            raise ValueError(
                f"max_ampdu_bytes must be 0 on {self.phy.kind}, only 11n can aggregate frames, got "
                f"{self.max_ampdu_bytes}"
            )
        if not 0 <= self.neighbours <= 1000:
            raise ValueError(f"neighbours must lie in [0, 1000], got {self.neighbours}")
        if self.neighbours and not self.phy.cw_min:
            raise ValueError("cw_min must be at least 1 beside neighbours, who would never let others send, got 0")
        if not 0.0 <= self.neighbour_mbps < 1e4:
            raise ValueError(f"neighbour_mbps must lie in [0, 10000), got {self.neighbour_mbps}")


class Cell:
    """One access point and everything on its channel.

    Parameters
    ----------
    env : Clock
        Tells and keeps the time.
    config : AirConfig
        The air.
    link : LinkConfig
        The wire to the server, and the loss rate of an attempt on the air.
    beacon_interval_ns : int
        Time between the target times of beacons.
    seed : int
        Of the losses, the backoffs (one stream a station) and the background.
    station : type
        What clients are made of: `AirStation` or a class of its methods.
    """

    def __init__(
        self,
        env: Clock,
        config: AirConfig,
        link: LinkConfig,
        beacon_interval_ns: int,
        seed: int,
        station: type[AirStation] = AirStation,
    ) -> None:
        self._env = env
        self._station = station
        self._config = config
        self._seed = seed
        self._stations = self._agreed_ns = 0
        self._loss_rate = link.loss_rate
        loss = randomness.generator(seed, randomness.LOSS)
        self.medium = Medium(
            env, config.phy, loss=loss, loss_rate=link.loss_rate, rts_bytes=config.rts_bytes,
            max_ampdu_bytes=config.max_ampdu_bytes,
        )  # fmt: skip
        self.beacons = Beacons(self.medium, beacon_interval_ns, config.beacons)
        self.access_point = AirAccessPoint(env, self.medium, link, self._rng())
        self.neighbours = [Contender(self.medium, self._rng()) for _ in range(config.neighbours)]
        for neighbour in self.neighbours:
            self._load(neighbour)
        self.clients: list[AirStation] = []
        if config.beacons.broadcast_per_s:
            env.process(self._broadcast())

    def client(self, policy: Policy, radio: Radio) -> AirStation:
        """Add a client with this policy and radio."""
        of_client = randomness.generator(self._seed, randomness.LOSS, 1 + len(self.clients))
        reception = Reception(self._loss_rate if self._config.beacon_loss else 0.0, of_client)
        station = self._station(
            self._env, self.medium, self.beacons, self.access_point, policy, Passages.of(radio), self._rng(),
            reception, self._config.retrieval, self._agree, self._config.twt_announced,
        )  # fmt: skip
        self.clients.append(station)
        self.beacons.deliver_groups([*self.clients], self.access_point.send_group)
        return station

    def _agree(self, interval_ns: int, service_ns: int) -> int:
        """Give a client service periods that begin where those of the client before end, as far as there is room."""
        begin, self._agreed_ns = self._agreed_ns % interval_ns, self._agreed_ns + service_ns
        return begin

    def _rng(self) -> np.random.Generator:
        self._stations += 1
        return randomness.generator(self._seed, randomness.AIR, self._stations - 1)

    def _load(self, neighbour: Contender) -> None:
        overhead_bytes, _ = frame_bytes("auto", self.medium.aggregates)
        exchange = self.medium.data(NEIGHBOUR_BYTES + overhead_bytes)
        if not self._config.neighbour_mbps:
            saturate(neighbour, exchange)
            return
        self._env.process(self._offer(neighbour, exchange))

    def _offer(self, neighbour: Contender, exchange: Exchange) -> Generator[Event, None, None]:
        mean_ns = NEIGHBOUR_BYTES * 8_000 / self._config.neighbour_mbps
        rng = self._rng()
        while True:
            yield Timeout(self._env, round(rng.exponential(mean_ns)))
            neighbour.send(Transmission(exchange, _nothing))

    def _broadcast(self) -> Generator[Event, None, None]:
        config, rng = self._config.beacons, self._rng()
        exchange = self.medium.group(config.broadcast_bytes + frame_bytes("auto")[0])
        while True:
            yield Timeout(self._env, round(rng.exponential(_NS_PER_S / config.broadcast_per_s)))
            self.beacons.add_group(exchange)


def saturate(station: Contender, exchange: Exchange) -> None:
    """Have a station always have a frame to send, or as many as can go together."""

    def another(_: bool) -> None:
        station.queue.append(Transmission(exchange, _nothing, another))

    n = BLOCK_ACK_FRAMES if station.medium.aggregates else 1
    station.send(*(Transmission(exchange, _nothing, another) for _ in range(n)))


def _nothing(_: Transmission) -> None:
    """A neighbour's packets are of no interest beyond the air."""
