"""What was found in a trace: exchanges over time, pages, messages, flows, round trips, times of servers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from traces import Captured, Datagram, Message, Page, Report, Session

__all__ = ["Found"]

_MOST_DRAWN = 1 << 20
_FIGURES = (
    "exchanges", "uploads", "messages", "datagrams", "captured_s", "request_bytes", "reply_bytes", "message_bytes",
    "datagram_bytes",
)  # fmt: skip


class Found:
    """Collects what passes by on its way from a trace to a workload; `report` is the one that the reader fills.

    Attributes
    ----------
    exchanges, uploads, messages, datagrams, pages : int
        How many there were.
    request_bytes, reply_bytes, message_bytes, datagram_bytes : int
        Their payload.
    think_s : float
        All pauses after pages.
    captured_s : float or None
        How long all of it was recorded; None where only requests have times.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.exchanges = self.uploads = self.messages = self.datagrams = self.pages = 0
        self.request_bytes = self.reply_bytes = self.message_bytes = self.datagram_bytes = 0
        self.think_s: float = 0
        self.captured_s: float | None = None
        self._drawn = array("q")

    def watch(self, sessions: Iterable[Session]) -> Iterator[Session]:
        """Yield the sessions, and note when what was sent."""
        for session in sessions:
            for request in session.requests:
                if len(self._drawn) < 4 * _MOST_DRAWN:
                    self._drawn.extend((request.start_us, request.end_us, request.request_bytes, request.reply_bytes))
            yield session

    def written(
        self, records: Iterable[Page | Message | Datagram | Captured]
    ) -> Iterator[Page | Message | Datagram | Captured]:
        """Yield the records of a workload, and count them."""
        for record in records:
            if isinstance(record, Message):
                self.messages += 1
                self.message_bytes += record.size_bytes
            elif isinstance(record, Datagram):
                self.datagrams += 1
                self.datagram_bytes += record.size_bytes
            elif isinstance(record, Captured):
                self.captured_s = record.captured_s
            else:
                exchanges = ((record.request_bytes, record.reply_bytes), *record.objects)
                self.pages += 1
                self.think_s += record.think_s
                self.exchanges += len(exchanges)
                self.uploads += sum(not reply for _, reply in exchanges)
                self.request_bytes += sum(request for request, _ in exchanges)
                self.reply_bytes += sum(reply for _, reply in exchanges)
            yield record

    def times(self) -> NDArray[np.int64]:
        """Return start, end (microseconds), bytes up and bytes down of exchanges and messages, at most 2^20."""
        return np.array(self._drawn, dtype=np.int64).reshape(-1, 4)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain data; quantiles of what was not recorded are None."""
        report = self.report
        waits_us = {name: report.waits_us.quantile(level) for name, level in (("median", 0.5), ("p95", 0.95))}
        return {
            **{name: getattr(self, name) for name in _FIGURES},
            "payload_bytes": None if report.payload is None else report.payload.as_dict(),
            "flows": {
                name: {part: getattr(group, part) for part in ("flows", "up_bytes", "down_bytes")}
                for name, group in report.flows.items()
            },
            "round_trips": len(report.round_trips_us),
            "round_trip_s": report.round_trip_s,
            "server_times": len(report.waits_us),
            "server_time_s": {name: None if us is None else round(us) / 1e6 for name, us in waits_us.items()},
        }
