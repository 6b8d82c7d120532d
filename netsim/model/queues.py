"""Queues of frames: each frame links to the next."""

from __future__ import annotations

from lpsm.native.records import NONE
from netsim.model.entities import Frame, Queue


def append(queue: Queue, frame: Frame) -> None:
    """Put a frame at the end."""
    frame.link = NONE
    if queue.head:
        queue.tail.link = frame
    else:
        queue.head = frame
    queue.tail = frame
    queue.count += 1


def take_first(queue: Queue) -> Frame:
    """Take out the first frame."""
    frame = queue.head
    queue.head = frame.link
    queue.count -= 1
    return frame


def remove(queue: Queue, frame: Frame) -> bool:
    """Take out a frame, wherever it stands; return whether it was there."""
    before, at = NONE, queue.head
    for _ in range(queue.count):
        if at == frame:
            if before:
                before.link = at.link
            else:
                queue.head = at.link
            if queue.tail == at:
                queue.tail = before
            queue.count -= 1
            return True
        before, at = at, at.link
    return False
