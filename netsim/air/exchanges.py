"""Frame exchanges: what follows once a station has won the channel, and how long it takes.

A frame and its acknowledgement, RTS and CTS before it, frames sent together and their block ACK, a PS-Poll with the
data that answers it, a null frame, a group frame.  Times are in nanoseconds from the beginning of the exchange; frames
of one exchange are SIFS apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from netsim.air.air_times import BLOCK_ACK_BYTES, CTS_BYTES, POLL_BYTES, RTS_BYTES, Phy
from netsim.tcp import Packet

if TYPE_CHECKING:
    from netsim.air.contender import Contender

__all__ = ["Exchange", "Transmission", "aggregated", "control", "data", "group", "polled"]


class Exchange(NamedTuple):
    """The times of a frame exchange, nanoseconds from its beginning.

    Attributes
    ----------
    first_ns : int
        Air time of its first frame, the one that collides if another begins in the same slot.
    delivered_ns : int
        When its payload has been received.
    total_ns : int
        When its last frame, the acknowledgement if there is one, has been received.
    sender_ns, receiver_ns : int
        Air time of the frames that the winner of the channel sends, and of those that it receives.
    data_ns : int
        Air time of the data frame in it alone; 0 if there is none.
    kind : {"data", "null", "poll", "group"}
        What the winner sends.
    size_bytes : int
        Of the data frame that the winner sends, or of the A-MPDU; 0 if it sends none.
    """

    first_ns: int
    delivered_ns: int
    total_ns: int
    sender_ns: int
    receiver_ns: int
    data_ns: int = 0
    kind: str = "data"
    size_bytes: int = 0


class Transmission:
    """A frame in a queue: how long its exchange takes, and who is told of its end.

    Parameters
    ----------
    exchange : Exchange
        Its times.
    delivered : callable
        Called with this object when the payload has been received; the channel is in use to `Medium.free_ns`.
    ended : callable, optional
        Called afterwards with whether it was delivered; when it is dropped after the last attempt, with False.
    answered : bool
        Whether the receiver answers; group frames are neither acknowledged nor repeated.
    packet : Packet, optional
        What it carries, or, of a PS-Poll, what answers it.
    reached_ns : int
        When that was handed to the transmitter, or reached the access point.
    receiver : Contender, optional
        The client whose radio receives it, and answers.
    heard : callable, optional
        Called after `delivered` without arguments: the receiver has heard what the frame says beside its payload.
        Of frames sent together only the first that was received is asked for this.

    Attributes
    ----------
    n_frames : int
        How many frames it stands for.
    outcome : bool or None
        Of a frame that may be sent together with others: whether it was received (True) or given up (False), if it
        is known.
    tries : int
        How often such a frame was sent in vain.
    air_ns : int
        Air time of what it carries: of its data frame, or its part of that of frames sent together.
    """

    __slots__ = (
        "air_ns", "answered", "delivered", "ended", "exchange", "heard", "outcome", "packet", "reached_ns", "receiver",
        "tries",
    )  # fmt: skip
    n_frames = 1

    def __init__(
        self,
        exchange: Exchange,
        delivered: Callable[[Transmission], None],
        ended: Callable[[bool], None] | None = None,
        *,
        answered: bool = True,
        packet: Packet | None = None,
        reached_ns: int = 0,
        receiver: Contender | None = None,
        heard: Callable[[], None] | None = None,
    ) -> None:
        self.exchange = exchange
        self.delivered = delivered
        self.ended = ended
        self.answered = answered
        self.packet = packet
        self.reached_ns = reached_ns
        self.receiver = receiver
        self.heard = heard
        self.outcome: bool | None = None
        self.tries = 0
        self.air_ns = exchange.data_ns


def data(phy: Phy, mpdu_bytes: int, rts_bytes: int | None) -> Exchange:
    """Return the times of a data frame that is acknowledged, after RTS and CTS if it has at least `rts_bytes`."""
    return _answered(phy, mpdu_bytes, rts_bytes, phy.ack_ns)


def aggregated(phy: Phy, ampdu_bytes: int, rts_bytes: int | None) -> Exchange:
    """Return the times of an A-MPDU that is answered by a block ACK, after RTS and CTS like a frame of its size."""
    return _answered(phy, ampdu_bytes, rts_bytes, phy.control_ns(BLOCK_ACK_BYTES))


def _answered(phy: Phy, size_bytes: int, rts_bytes: int | None, ack: int) -> Exchange:
    frame, sifs = phy.data_ns(size_bytes), phy.sifs_ns
    if rts_bytes is None or size_bytes < rts_bytes:
        return Exchange(frame, frame, frame + sifs + ack, frame, ack, frame, size_bytes=size_bytes)
    rts, cts = phy.lowest_ns(RTS_BYTES), phy.lowest_ns(CTS_BYTES)
    before = rts + sifs + cts + sifs
    delivered, sent, received = before + frame, rts + frame, cts + ack
    return Exchange(rts, delivered, delivered + sifs + ack, sent, received, frame, size_bytes=size_bytes)


def control(phy: Phy, mpdu_bytes: int, _: int | None) -> Exchange:
    """Return the times of a null frame that is acknowledged."""
    frame = phy.control_ns(mpdu_bytes)
    return Exchange(frame, frame, frame + phy.sifs_ns + phy.ack_ns, frame, phy.ack_ns, kind="null")


def polled(phy: Phy, mpdu_bytes: int, _: int | None) -> Exchange:
    """Return the times of a PS-Poll, the data frame of so many bytes that answers it, and its ACK."""
    poll, sifs, ack, frame = phy.control_ns(POLL_BYTES), phy.sifs_ns, phy.ack_ns, phy.data_ns(mpdu_bytes)
    return Exchange(poll, poll + sifs + frame, poll + sifs + frame + sifs + ack, poll + ack, frame, frame, "poll")


def group(phy: Phy, mpdu_bytes: int, _: int | None) -> Exchange:
    """Return the times of a group frame, which nobody answers."""
    frame = phy.lowest_ns(mpdu_bytes)
    return Exchange(frame, frame, frame, frame, 0, kind="group")
