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


class Found:
    """Collects what passes by on its way from a trace to a workload.

    Parameters
    ----------
    report : Report
        The one that the reader of the trace fills.

    Attributes
    ----------
    pages : int
        How many there were.
    captured_s : float or None
        How long all of it was recorded; None where only requests have times.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        self.pages = 0
        self.captured_s: float | None = None
        self._counts = dict.fromkeys(("exchanges", "uploads", "messages", "datagrams"), 0)
        self._bytes = dict.fromkeys(("request_bytes", "reply_bytes", "message_bytes", "datagram_bytes"), 0)
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
            if isinstance(record, (Message, Datagram)):
                name = "message" if isinstance(record, Message) else "datagram"
                self._counts[f"{name}s"] += 1
                self._bytes[f"{name}_bytes"] += record.size_bytes
            elif isinstance(record, Captured):
                self.captured_s = record.captured_s
            else:
                exchanges = ((record.request_bytes, record.reply_bytes), *record.objects)
                self.pages += 1
                self._counts["exchanges"] += len(exchanges)
                for request, reply in exchanges:
                    self._counts["uploads"] += not reply
                    self._bytes["request_bytes"] += request
                    self._bytes["reply_bytes"] += reply
            yield record

    def times(self) -> NDArray[np.int64]:
        """Return start, end (microseconds), bytes up and bytes down of exchanges and messages, at most 2^20."""
        return np.array(self._drawn, dtype=np.int64).reshape(-1, 4)

    def as_dict(self) -> dict[str, Any]:
        """Return the figures as plain data; quantiles of what was not recorded are None."""
        report = self.report
        late_us = {name: report.waits_us.quantile(level) for name, level in (("median", 0.5), ("p95", 0.95))}
        return {
            **self._counts,
            "captured_s": self.captured_s,
            **self._bytes,
            "payload_bytes": None if report.payload is None else report.payload.as_dict(),
            "flows": {
                name: {"flows": group.flows, "up_bytes": group.up_bytes, "down_bytes": group.down_bytes}
                for name, group in report.flows.items()
            },
            "round_trips": len(report.round_trips_us),
            "round_trip_s": report.round_trip_s,
            "server_times": len(report.waits_us),
            "server_time_s": {name: None if us is None else round(us) / 1e6 for name, us in late_us.items()},
        }
