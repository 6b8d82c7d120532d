"""Frames sent together: A-MPDUs, in which every frame is acknowledged, and sent again, by itself.

What is modelled: a station that wins the channel sends as many data frames for one receiver as wait and fit: at most
the size asked for with delimiters and padding, 5.484 ms of air time, and 64 frames from the first that is not
acknowledged, from 802.11ax on 256, as many as a block ACK tells of.  A frame that goes alone is sent and acknowledged
as ever.  Each frame may be lost by itself; if all are, or in a collision, nothing is answered (and of RTS, where it
goes before them, no CTS).  The sender goes on with those that were lost and those that have come to wait meanwhile, and
gives none of them up.  The receiver hands frames over in order: those behind a lost one wait for it.

The block ACK is never lost, so that both ends know the same, and one list tells what each has: the queue of the
sender, in which a frame stays until all before it are received.  With block-ACK requests a sender whose frames nobody
answered asks first what was received, until it is told: a short exchange after a backoff of its own, behind which the
window is the least one again.  So it is after eight failures in a row, of frames and of requests.

What is left out: how a block ACK is agreed on (it always is, for as many frames as it can tell of), lifetimes of
frames, a least distance of them, and A-MSDUs.

Source: IEEE 802.11-2020, 9.7 (A-MPDU), 10.12 (its limits), 10.25 (block acknowledgment), 9.3.1.8 (BlockAck frame),
10.23.2.2 (the window after failures), table 19-25 (longest PPDU).
"""

from __future__ import annotations

from netsim.model.codes import OPEN, RECEIVED
from netsim.model.entities import Contender, Frame, Run
from netsim.model.primitives import draw

DELIMITER_BYTES, MULTIPLE_BYTES = 4, 4
MAX_MPDU_BYTES = 4095  # the length in a delimiter of HT has 12 bits


def with_delimiter(before: int, mpdu: int) -> int:
    """Return the size of an A-MPDU of `before` bytes once a frame has joined it: padding, delimiter, frame."""
    return before + -before % MULTIPLE_BYTES + DELIMITER_BYTES + mpdu


def gather(run: Run, sender: Contender) -> None:
    """Choose what a station sends: the first frame of its queue, or the data frames that go together with it."""
    if sender.asks:
        sender.exchange, sender.together, sender.spanned = run.request_exchange, 0, 0
        return
    frame = sender.queue.head
    sender.exchange = frame.exchange
    sender.together, sender.spanned = 1, 0
    if run.most_bytes == 0:
        return
    size = n = place = 0
    while frame and place < run.at_once:
        place += 1
        frame.goes = 0
        if frame.outcome == OPEN:
            mpdu = frame.exchange.size
            grown = with_delimiter(size, mpdu)
            fits = grown <= run.most_bytes and mpdu <= MAX_MPDU_BYTES
            if mpdu == 0 or (n and not fits):
                break
            n += 1
            frame.goes, frame.lost = 1, 0
            size, sender.spanned = grown, place
            if not fits:
                break
            if n == 1:
                sender.exchange = frame.exchange
        frame = frame.link
    if n > 1:
        sender.exchange = run.together[size]
    if n:
        sender.together = n
        sender.queue.count -= sender.spanned - 1  # they have one place among them while they are on the air


def is_received(run: Run, sender: Contender) -> bool:
    """Draw what is lost on the air; return whether anything is received."""
    if run.loss_rate == 0.0:
        return True
    if sender.spanned == 0:
        return draw(run, run.losses) >= run.loss_rate or sender.exchange.answered == 0
    frame, received = sender.queue.head, False
    for _ in range(sender.spanned):
        if frame.goes:
            frame.lost = draw(run, run.losses) < run.loss_rate
            received = received or frame.lost == 0
        frame = frame.link
    return received


def settle_each(run: Run, sender: Contender) -> Frame:
    """Note which of the frames sent together the receiver has, each with its share of the air time.

    Returns
    -------
    Frame
        The first that was received.
    """
    air, in_all = sender.exchange.alone, size_in_all(sender)
    frame, first, size, begin = sender.queue.head, sender.queue.head, 0, 0
    found = False
    for _ in range(sender.spanned):
        if frame.goes:
            size = with_delimiter(size, frame.exchange.size)
            end = air * size // in_all
            if frame.lost:
                sender.delivered -= 1
                sender.lost += 1
                frame.tries += 1
            else:
                frame.outcome, frame.air = RECEIVED, end - begin
                if not found:
                    first, found = frame, True
            begin = end
        frame = frame.link
    take_places(sender)
    return first


def miss_each(sender: Contender) -> None:
    """Note that none of the frames sent together, if any were, was answered."""
    frame = sender.queue.head
    for _ in range(sender.spanned):
        frame.tries += frame.goes
        frame = frame.link
    if sender.spanned:
        take_places(sender)


def size_in_all(sender: Contender) -> int:
    """Return the size of the frames sent together, with delimiters and padding."""
    frame, size = sender.queue.head, 0
    for _ in range(sender.spanned):
        if frame.goes:
            size = with_delimiter(size, frame.exchange.size)
        frame = frame.link
    return size


def take_places(sender: Contender) -> None:
    """Let the frames that were on the air together have their places in the queue again."""
    sender.queue.count += sender.spanned - 1
    sender.spanned = 0
