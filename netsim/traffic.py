"""What a run is given to do, checked before it begins: pages and messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from numbers import Integral, Real

import numpy as np

from lpsm.checks import of_type, whole
from netsim.policies import Policy
from traces.columns import Workload
from traces.records import Datagram, Message

_LONGEST_WAIT_S = 1e6
_LARGEST_DATAGRAM = 1 << 16
_LATEST_S = 4e9  # well inside 63 bits of nanoseconds


def messages_of(push: object) -> list[Message]:
    """Return what is pushed as a list of messages, their numbers `float` and `int`; anything else is a TypeError."""
    wanted = "push must be messages, traces.traffic.Message(at_s, size_bytes)"
    if not isinstance(push, Iterable):
        raise TypeError(f"{wanted}, got {push!r}")
    messages = list(push)
    for number, message in enumerate(messages):
        if not isinstance(message, Message):
            raise TypeError(f"{wanted}, got {message!r} as message {number}")
        values: tuple[object, ...] = message
        if not isinstance(values[0], Real) or not isinstance(values[1], Integral):
            raise TypeError(f"message {number}: at_s must be a number and size_bytes a whole one, got {message}")
    return [Message(float(at_s), int(size_bytes)) for at_s, size_bytes in messages]


def tells(workload: Workload, policy: Policy) -> bool:
    """Whether packets tell a policy, as they come and go, what is outstanding."""
    return policy.host_aware and any(one.head for one in workload.datagrams)


def check(workload: Workload, messages: Sequence[Message]) -> None:
    """Check the pages that a client browses and the messages that it is sent, of which there must be some."""
    of_type(Workload, workload=workload)
    if workload or not (messages or workload.datagrams):
        _check_pages(workload)
    _check_times(workload)
    if (messages or workload) and any(one.head for one in workload.datagrams):
        raise ValueError("datagrams must have no heads beside pages or messages, which tell what is waited for")
    _check_instants("message", messages, 1, None)


def _check_pages(workload: Workload) -> None:
    if not workload:
        raise ValueError("a workload must have at least one page, got none")
    pages, wait, until = np.arange(len(workload)), f"in [0, {_LONGEST_WAIT_S:g}] s", f"in [0, {_LATEST_S:g}] s"
    (requests, replies), replied = workload.sizes.T, np.repeat(pages, 1 + workload.objects)
    for rule, values, page_of, least, most in (
        ("sizes must be at least 1 byte", requests, replied, 1, inf),
        ("a reply must have at least 0 bytes", replies, replied, 0, inf),
        (f"think_s must lie {until}", workload.think_s, pages, 0, _LATEST_S),
        (f"issue_s must lie {until}", workload.issue_s, pages, 0, _LATEST_S),
        (f"deadline_s must lie {until}", workload.deadline_s, pages, 0, _LATEST_S),
        (f"waits_s must lie {wait}", workload.waits_s, replied, 0, _LONGEST_WAIT_S),
    ):
        right = (values >= least) & (values <= most)
        if not right.all() and values is not workload.think_s:  # one that is not given is NaN
            right |= np.isnan(values)
        if not right.all():
            at = int(right.argmin())
            raise ValueError(f"page {workload.names[page_of[at]]!r}: {rule}, got {values[at]}")
    if (total := workload.think_s.sum()) > _LATEST_S:
        raise ValueError(f"think times must add up to at most {_LATEST_S:g} s, got {total:g}")


def _check_times(workload: Workload) -> None:
    """Check what has times of its own."""
    _check_causes(workload)
    timings, n = workload.timings, len(workload.timings)
    ends_s = workload.captured_s or 0.0
    if not 0.0 <= ends_s <= _LATEST_S:
        raise ValueError(f"captured_s must lie in [0, {_LATEST_S:g}] s, got {ends_s}")
    times = timings[:, :7]
    if not ((times >= 0.0) & (times <= _LATEST_S)).all():
        raise ValueError(f"timings must lie in [0, {_LATEST_S:g}], got {times.min()} to {times.max()}")
    reply_s, pause_s, before = timings[:, 5:].T
    if (wrong := (pause_s > reply_s) | ((pause_s > 0) & ~((before > 0) & (before < workload.sizes[:n, 1])))).any():
        rule = "a pause must be within its reply, between two of its bytes"
        raise ValueError(f"{rule}, got {pause_s[wrong][0]:g} s after {before[wrong][0]:g} bytes")
    if (timings[:, 1] > np.arange(n)).any():
        raise ValueError(
            "an exchange must wait for one before it, got one that waits for an earlier one than the first"
        )
    _check_instants("datagram", workload.datagrams, 0, _LARGEST_DATAGRAM)


def _check_causes(workload: Workload) -> None:
    """Check what exchanges of pages wait for."""
    if not len(workload.causes):
        return
    if len(workload.timings):
        raise ValueError("pages must have causes or timings, got both")
    (after, pauses_s, *yes_or_no), n = workload.causes.T, 1 + workload.objects
    page_of = np.repeat(np.arange(len(workload)), n)
    place = np.arange(len(after)) - np.repeat(np.cumsum(n) - n, n)
    for rule, values, right in (
        ("an exchange must wait for one before it on its page, the HTML for none", after,
         (after == np.floor(after)) & (after >= np.minimum(place, 1)) & (after <= place)),
        (f"pause_s must lie in [0, {_LONGEST_WAIT_S:g}] s", pauses_s, (pauses_s >= 0) & (pauses_s <= _LONGEST_WAIT_S)),
        ("is_awaited must be true or false, and true of the HTML", yes_or_no[0],
         (yes_or_no[0] == 1) | ((yes_or_no[0] == 0) & (place > 0))),
        ("is_stream must be true or false", yes_or_no[1], np.isin(yes_or_no[1], (0, 1))),
        ("a reply must have at least 1 byte where exchanges wait for each other", workload.sizes[:, 1],
         workload.sizes[:, 1] > 0),
    ):  # fmt: skip
        if not right.all():
            at = int(right.argmin())
            raise ValueError(f"page {workload.names[page_of[at]]!r}: {rule}, got {values[at]:g}")


def _check_instants(what: str, rows: Sequence[Message | Datagram], least: int, most: int | None) -> None:
    """Check what comes at instants: their order, and the sizes."""
    earlier = 0.0
    for number, row in enumerate(rows):
        whole(least, most, **{f"{what} {number}: size_bytes": row.size_bytes})
        if not earlier <= row.at_s <= _LATEST_S:
            raise ValueError(f"{what} {number}: at_s must lie in [{earlier:g}, {_LATEST_S:g}] s, got {row.at_s}")
        earlier = row.at_s
