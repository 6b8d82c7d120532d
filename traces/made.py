"""Workloads made to order: some hours of a subscriber of MQTT, a phone that is pushed to, a reader or a viewer.

Everything is drawn beforehand from one generator.  The figures are our own choice, to be set by whoever knows better:
a keep-alive of 60 s is the default of common MQTT clients, a PINGREQ and its PINGRESP are 2 bytes each (MQTT 3.1.1,
sections 3.12 and 3.13), a report is a PUBLISH that asks for no answer (quality of service 0).
Left out: replies to messages, what opening the connection takes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from traces.checks import between, checked, shown, typed_fields
from traces.columns import Workload
from traces.records import Message, Page
from traces.traffic import MESSAGE_BYTES, SECONDS_A_PAGE, check_sizes, push_messages, stream
from traces.web_model import generate

__all__ = ["KINDS", "Wishes", "make"]

_PING_BYTES = 2
_HOUR_S = 3600.0
_MOST_EVENTS = 1e7


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What traffic is wished for.

    Attributes
    ----------
    hours : float
        How long, above 0.
    pages : int or None
        How many pages of the Web model; None: as many as fill the hours on average.
    keep_alive_s : float
        Time between keep-alives, above 0.
    messages_per_hour, reports_per_hour : float
        How many messages are pushed and how many reports are sent, on average, at least 0; both are memoryless.
    message_bytes, report_bytes : (int, int)
        Their least and largest size, at least 1.
    bursty : bool
        Whether messages come in bursts (`traces.traffic.push_messages`).
    """

    hours: float = 1.0
    pages: int | None = None
    keep_alive_s: float = 60.0
    messages_per_hour: float = 180.0
    message_bytes: tuple[int, int] = MESSAGE_BYTES
    reports_per_hour: float = 60.0
    report_bytes: tuple[int, int] = (50, 200)
    bursty: bool = False

    def __post_init__(self) -> None:
        typed_fields(self)
        for name in ("hours", "keep_alive_s"):
            if not 0.0 < getattr(self, name) <= 1e5:
                raise ValueError(f"{name} must be above 0 and at most 100000, got {shown(getattr(self, name))}")
        for name in ("messages_per_hour", "reports_per_hour"):
            between(0.0, 1e6, **{name: getattr(self, name)})
        for name in ("message_bytes", "report_bytes"):
            check_sizes(name, getattr(self, name))
        events = self.hours * (self.messages_per_hour + self.reports_per_hour + _HOUR_S / self.keep_alive_s)
        if events > _MOST_EVENTS:
            raise ValueError(f"messages, reports and keep-alives must be at most {_MOST_EVENTS:g}, got {events:g}")
        if self.pages is not None and self.pages < 1:
            raise ValueError(f"pages must be at least 1, got {shown(self.pages)}")


@checked
def make(kind: str, wishes: Wishes, rng: np.random.Generator) -> Workload:
    """Make a workload of one of `KINDS`.

    Parameters
    ----------
    kind : str
        ``web``: pages of the Web model; ``push``: messages; ``mixed``: both; ``mqtt``: keep-alives, reports
        and messages; ``stream``: segments of a player with their deadlines.
    wishes : Wishes
        How much of it.
    rng : numpy.random.Generator
        The only source of chance.

    Raises
    ------
    TypeError, ValueError
        If the kind is unknown, or nothing is left to make.
    """
    if kind not in KINDS:
        raise ValueError(f"the kind of traffic must be one of {', '.join(KINDS)}, got {shown(kind)}")
    made = KINDS[kind](wishes, rng)
    if not made and not made.messages:
        raise ValueError(f"the traffic must have a page or a message, got none in {wishes.hours:g} hours of {kind}")
    return made


def _messages(wishes: Wishes, rng: np.random.Generator) -> list[Message]:
    if not wishes.messages_per_hour:
        return []
    return push_messages(
        wishes.hours * _HOUR_S,
        rng,
        bursty=wishes.bursty,
        mean_gap_s=_HOUR_S / wishes.messages_per_hour,
        message_bytes=wishes.message_bytes,
    )


def _web(wishes: Wishes, rng: np.random.Generator) -> Workload:
    filling = max(1, round(wishes.hours * _HOUR_S / SECONDS_A_PAGE))
    return Workload.of(generate(filling if wishes.pages is None else wishes.pages, rng))


def _push(wishes: Wishes, rng: np.random.Generator) -> Workload:
    return Workload.of([], _messages(wishes, rng))


def _mixed(wishes: Wishes, rng: np.random.Generator) -> Workload:
    pages = list(_web(wishes, rng))
    return Workload.of(pages, _messages(wishes, rng))


def _mqtt(wishes: Wishes, rng: np.random.Generator) -> Workload:
    end_s = wishes.hours * _HOUR_S
    pings = [
        (round(number * wishes.keep_alive_s, 6), _PING_BYTES, _PING_BYTES)
        for number in range(1, int(end_s / wishes.keep_alive_s) + 1)
    ]
    reports = []
    if wishes.reports_per_hour:
        drawn = push_messages(
            end_s, rng, mean_gap_s=_HOUR_S / wishes.reports_per_hour, message_bytes=wishes.report_bytes
        )
        reports = [(report.at_s, report.size_bytes, 0) for report in drawn]
    pages = [
        Page(f"{'report' if not reply else 'keep-alive'}{number}", size, reply, issue_s=at_s)
        for number, (at_s, size, reply) in enumerate(sorted(pings + reports))
    ]
    return Workload.of(pages, _messages(wishes, rng))


def _stream(wishes: Wishes, rng: np.random.Generator) -> Workload:
    drawn = stream(wishes.hours * _HOUR_S, rng)
    return Workload.of(
        page._replace(deadline_s=deadline)
        for page, deadline in zip(drawn.pages, drawn.deadlines_s.tolist(), strict=True)
    )


KINDS: dict[str, Callable[[Wishes, np.random.Generator], Workload]] = {
    "web": _web,
    "mqtt": _mqtt,
    "push": _push,
    "stream": _stream,
    "mixed": _mixed,
}
"""Every kind of traffic that can be made to order."""
