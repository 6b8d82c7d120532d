"""What was found in a trace, as figures and for a reader in a terminal: pages, messages, flows, times of servers."""

from collections import Counter
from collections.abc import Iterable, Iterator

from experiments.quantities import Row
from experiments.report.text import table
from traces import Captured, Datagram, Message, Page, Report

_MOST_FLOWS = 8


class Found:
    """Counts the records of a workload as they pass by; `report` is the one that the reader fills."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.counts: Counter[str] = Counter()  #: pages, exchanges, uploads, messages, datagrams, bytes of their payload
        self.think_s: float = 0  #: all pauses after pages
        self.captured_s: float | None = None  #: how long all of it was recorded, where not only requests have times

    def written(
        self, records: Iterable[Page | Message | Datagram | Captured]
    ) -> Iterator[Page | Message | Datagram | Captured]:
        """Yield the records of a workload, and count them."""
        counts = self.counts
        for record in records:
            if isinstance(record, Message | Datagram):
                kind = type(record).__name__.lower()
                counts[f"{kind}s"] += 1
                counts[f"{kind}_bytes"] += record.size_bytes
            elif isinstance(record, Captured):
                self.captured_s = record.captured_s
            else:
                exchanges = ((record.request_bytes, record.reply_bytes), *record.objects)
                self.think_s += record.think_s
                counts["pages"] += 1
                counts["exchanges"] += len(exchanges)
                counts["uploads"] += sum(not reply for _, reply in exchanges)
                counts["request_bytes"] += sum(request for request, _ in exchanges)
                counts["reply_bytes"] += sum(reply for _, reply in exchanges)
            yield record

    def as_dict(self) -> Row:
        """Return the figures as plain data; quantiles of what was not recorded are None."""
        report = self.report
        waits_us = {name: report.waits_us.quantile(level) for name, level in (("median", 0.5), ("p95", 0.95))}
        return {
            **{name: self.counts[name] for name in ("exchanges", "uploads", "messages", "datagrams")},
            "captured_s": self.captured_s,
            **{f"{name}_bytes": self.counts[f"{name}_bytes"] for name in ("request", "reply", "message", "datagram")},
            **{
                name: None if book is None else book.as_dict()
                for name, book in (("payload_bytes", report.payload), ("packets", report.packets))
            },
            "flows": {
                name: {part: getattr(group, part) for part in ("flows", "up_bytes", "down_bytes")}
                for name, group in report.flows.items()
            },
            "round_trips": len(report.round_trips_us),
            "round_trip_s": report.round_trip_s,
            "server_times": len(report.waits_us),
            "server_time_s": {name: None if us is None else round(us) / 1e6 for name, us in waits_us.items()},
        }


def found_text(found: Found) -> str:
    """Return a table of what was found, and of the flows of a capture."""
    figures = found.as_dict()
    trip, (median, late) = figures["round_trip_s"], figures["server_time_s"].values()
    rows = [
        ("pages", found.counts["pages"], ""),
        ("exchanges", figures["exchanges"], "{request_bytes:,} bytes up, {reply_bytes:,} down".format(**figures)),
        ("uploads without an answer", figures["uploads"], ""),
        ("messages pushed", figures["messages"], f"{figures['message_bytes']:,} bytes"),
        ("datagrams", figures["datagrams"], f"{figures['datagram_bytes']:,} bytes"),
        ("round trips", figures["round_trips"], "" if trip is None else f"median {1000 * trip:,.1f} ms"),
        ("server times", figures["server_times"],
         "" if median is None else f"median {1000 * median:,.1f} ms, 95 % within {1000 * late:,.0f} ms"),
    ]  # fmt: skip
    for name, unit in (("payload captured", "bytes"), ("packets captured", "packets")):
        if book := figures["payload_bytes" if unit == "bytes" else unit]:
            left = ", ".join(f"{size:,} {reason.replace('_', ' ')}" for reason, size in book["left_out"].items())
            rows.append((name, book["captured"], unit + (f", left out: {left}" if left else "")))
    lines = [f"{name:<26}{count:>12,}  {more}".rstrip() for name, count, more in rows]
    if found.captured_s is not None:
        lines.insert(0, f"{'captured':<26}{found.captured_s:>12,.1f}  seconds, from its beginning to its end")
    parts = ["\n".join(lines)]
    flows = sorted(figures["flows"].items(), key=lambda item: -item[1]["up_bytes"] - item[1]["down_bytes"])
    if flows:
        cells = [[name, *(f"{count:,}" for count in group.values())] for name, group in flows[:_MOST_FLOWS]]
        more = f"\n({len(flows) - _MOST_FLOWS} more)" if len(flows) > _MOST_FLOWS else ""
        parts.append(table(["flows to", "flows", "bytes up", "bytes down"], cells) + more)
    if found.report["exchanges_grouped_by_gaps"]:
        parts.append("Traffic without URLs: its pages were told apart by pauses (--page-gap).")
    if not figures["server_times"]:
        parts.append("The trace does not tell how long servers took.")
    if clients := found.report["clients_taken_as_one"]:
        parts.append(f"The {clients} clients of the capture are taken for one device; --client picks one.")
    return "\n\n".join(parts)
