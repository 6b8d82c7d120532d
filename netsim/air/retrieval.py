"""How a client fetches what waits for it: PS-Poll, null frames, U-APSD triggers, target wake times.

A policy says when the client listens and sleeps; its retrieval says what it sends to carry that out.

* ``ps-poll``: after a beacon with its bit in the TIM it sends a PS-Poll, which the access point answers with one frame
  after SIFS; while that says More Data it polls again.  A policy that wants to be awake opens its gate with a null
  frame.
* ``null``: a null frame, or a data frame, with PM = 0 opens the gate, and a null frame with PM = 1 closes it; this is
  what drivers do.
* ``uapsd``: a data frame, or after a beacon a QoS null frame, triggers a service period, which lasts until the last
  frame that waited; if none did, the access point ends it with a QoS null frame.
* ``twt``: the gate is open in the service periods agreed on, without any frame, and closed between them; announced, it
  opens when a null frame that the client sends at the beginning of a period has reached the access point.
* ``auto``: `twt` for policies that agree on instants, `uapsd` for the policy of that name, `null` for those whose sends
  open the gate, `ps-poll` for the others.

Where frames go together (`netsim.air.aggregation`), so do those that a gate or a service period lets out, and several
of the client's own, which are one trigger; a PS-Poll is answered with one frame.

Source: IEEE 802.11-2020, 11.2.3.6 (PS-Poll, More Data), 11.2.3.5 (U-APSD); 802.11ax-2021, 26.8 (TWT).  Left out:
access classes, the longest service period of U-APSD, dropping frames that waited too long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from netsim.air.access import Medium
from netsim.air.access_point import Buffer
from netsim.air.air_times import DATA_OVERHEAD_BYTES, NULL_BYTES, QOS_BYTES
from netsim.air.exchanges import Transmission
from netsim.policies.protocol import Plan

if TYPE_CHECKING:
    from netsim.air.station import AirStation

__all__ = ["RETRIEVALS", "Retrieval", "Retriever", "frame_bytes", "retrieval_of"]

Retrieval = Literal["auto", "ps-poll", "null", "uapsd", "twt"]
RETRIEVALS: tuple[Retrieval, ...] = ("auto", "ps-poll", "null", "uapsd", "twt")


def retrieval_of(wanted: Retrieval, spec: str, plan: Plan) -> Retrieval:
    """Return the retrieval of a policy, by its name and its first plan; `wanted` where it does not say `auto`."""
    if plan.agreed:
        return "twt"
    if wanted != "auto":
        return "null" if wanted == "twt" else wanted
    if spec.startswith("uapsd"):
        return "uapsd"
    return "null" if plan.open_on_send else "ps-poll"


def frame_bytes(kind: Retrieval, aggregates: bool = False) -> tuple[int, int]:
    """Return what a data frame adds to its packet, either way, and the size of a null frame.

    Frames have QoS control under U-APSD, and data frames where they can go together.
    """
    uapsd = kind == "uapsd"
    return DATA_OVERHEAD_BYTES + QOS_BYTES * (uapsd or aggregates), NULL_BYTES + QOS_BYTES * uapsd


class Retriever:
    """Fetches what waits for a station.

    Parameters
    ----------
    station : AirStation
        Whose frames they are.
    medium : Medium
        The channel.
    kind : str
        One of `RETRIEVALS`, except ``auto``.

    Attributes
    ----------
    buffer : Buffer
        What the access point holds back for the station.
    is_busy : bool
        Whether it is polling, or asking for the gate to be opened or for a service period.
    """

    __slots__ = ("_kind", "_medium", "_station", "buffer", "is_busy")

    def __init__(self, station: AirStation, medium: Medium, kind: Retrieval) -> None:
        self._station = station
        self._medium = medium
        self._kind = kind
        self.buffer = Buffer()
        self.is_busy = False

    def fetch(self) -> None:
        """Have what waits sent, or the gate opened if nothing waits but the policy wants to be awake."""
        if self.is_busy:
            return
        self.is_busy = True
        if self._kind == "ps-poll" and self.buffer.frames:
            self._poll()
        else:
            reached = self._trigger if self._kind == "uapsd" else self._open
            self._station.transmit(Transmission(self._medium.control(self._station.null_bytes), reached, self._ended))

    def data_reached_access_point(self, *, opens: bool) -> None:
        """Carry out what a data frame of the station says beside its data; `opens`: it may open the gate."""
        if self._kind == "uapsd":
            self._trigger()
        elif opens and self._kind == "null":
            self._open()

    def _open(self, _: Transmission | None = None) -> None:
        self._station.open_gate()

    def _trigger(self, _: Transmission | None = None) -> None:
        """Send what waits now; a null frame ends the service period if nothing does."""
        if not self._station.release():
            self._station.forward(None, 0)

    def _poll(self) -> None:
        packet, reached_ns = self.buffer.frames[0]
        exchange = self._medium.polled(packet.size_bytes + self._station.overhead_bytes)
        poll = Transmission(exchange, self._polled, self._poll_ended, packet=packet, reached_ns=reached_ns)
        self._station.transmit(poll)

    def _polled(self, poll: Transmission) -> None:
        """Take in the frame that answers a PS-Poll, which carries what the PS-Poll was made for."""
        self.buffer.take()
        self._station.receive(poll)

    def _poll_ended(self, delivered: bool) -> None:
        if delivered and self.buffer.frames:  # More Data
            self._poll()
        else:
            self._ended(delivered)

    def _ended(self, delivered: bool) -> None:
        self.is_busy = False
        self._station.sent(delivered)
