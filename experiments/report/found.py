"""What was found in a trace, for a reader in a terminal."""

from __future__ import annotations

from experiments.found import Found
from experiments.report.text import table

__all__ = ["found_text"]

_MOST_FLOWS = 8


def found_text(found: Found) -> str:
    """Return a table of what was found, and of the flows of a capture."""
    figures = found.as_dict()
    trip, median, late = figures["round_trip_s"], figures["server_time_s"]["median"], figures["server_time_s"]["p95"]
    rows = [
        ("pages", found.pages, ""),
        ("exchanges", figures["exchanges"], "{request_bytes:,} bytes up, {reply_bytes:,} down".format(**figures)),
        ("uploads without an answer", figures["uploads"], ""),
        ("messages pushed", figures["messages"], f"{figures['message_bytes']:,} bytes"),
        ("datagrams", figures["datagrams"], f"{figures['datagram_bytes']:,} bytes"),
        ("round trips", figures["round_trips"], "" if trip is None else f"median {1000 * trip:,.1f} ms"),
        ("server times", figures["server_times"],
         "" if median is None else f"median {1000 * median:,.1f} ms, 95 % within {1000 * late:,.0f} ms"),
    ]  # fmt: skip
    if payload := figures["payload_bytes"]:
        left = ", ".join(f"{size:,} {reason.replace('_', ' ')}" for reason, size in payload["left_out"].items())
        rows.append(("payload captured", payload["captured"], "bytes" + (f", left out: {left}" if left else "")))
    lines = [(name, f"{count:,}", more) for name, count, more in rows]
    if found.captured_s is not None:
        lines.insert(0, ("captured", f"{found.captured_s:,.1f}", "seconds, from the first packet to the last"))
    parts = ["\n".join(f"{name:<26}{number:>12}  {more}".rstrip() for name, number, more in lines)]
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
