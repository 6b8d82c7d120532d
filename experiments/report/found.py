"""What was found in a trace, for a reader in a terminal."""

from __future__ import annotations

from experiments.found import Found
from experiments.report.text import table

__all__ = ["found_text"]

_MOST_FLOWS = 8


def found_text(found: Found) -> str:
    """Return a table of what was found, and of the flows of a capture."""
    figures = found.as_dict()
    rows = [
        ["pages", f"{found.pages:,}", ""],
        ["exchanges", f"{found.exchanges:,}", f"{found.request_bytes:,} bytes up, {found.reply_bytes:,} down"],
        ["uploads without an answer", f"{found.uploads:,}", ""],
        ["messages pushed", f"{found.messages:,}", f"{found.message_bytes:,} bytes"],
        ["datagrams", f"{found.datagrams:,}", f"{found.datagram_bytes:,} bytes"],
        ["round trips", f"{figures['round_trips']:,}", _round_trip(figures["round_trip_s"])],
        ["server times", f"{figures['server_times']:,}", _server_time(figures["server_time_s"])],
    ]
    if found.captured_s is not None:
        rows.insert(0, ["captured", f"{found.captured_s:,.1f}", "seconds, from the first packet to the last"])
    payload = figures["payload_bytes"]
    if payload is not None:
        left = ", ".join(f"{size:,} {reason.replace('_', ' ')}" for reason, size in payload["left_out"].items())
        rows.append(["payload captured", f"{payload['captured']:,}", "bytes" + (f", left out: {left}" if left else "")])
    text = "\n".join(f"{name:<26}{number:>12}  {more}".rstrip() for name, number, more in rows)
    notes = []
    if found.report["exchanges_grouped_by_gaps"]:
        notes.append("Traffic without URLs: its pages were told apart by pauses (--page-gap).")
    if not figures["server_times"]:
        notes.append("The trace does not tell how long servers took.")
    if clients := found.report["clients_taken_as_one"]:
        notes.append(f"The {clients} clients of the capture are taken for one device; --client picks one.")
    groups = sorted(found.report.flows.items(), key=lambda item: -item[1].up_bytes - item[1].down_bytes)
    if groups:
        cells = [
            [name, f"{group.flows:,}", f"{group.up_bytes:,}", f"{group.down_bytes:,}"]
            for name, group in groups[:_MOST_FLOWS]
        ]
        text += "\n\n" + table(["flows to", "flows", "bytes up", "bytes down"], cells)
        if len(groups) > _MOST_FLOWS:
            text += f"\n({len(groups) - _MOST_FLOWS} more)"
    return "\n\n".join([text, *notes])


def _round_trip(round_trip_s: float | None) -> str:
    return "" if round_trip_s is None else f"median {1000 * round_trip_s:,.1f} ms"


def _server_time(seconds: dict[str, float | None]) -> str:
    median, late = seconds["median"], seconds["p95"]
    return (
        "" if median is None or late is None else f"median {1000 * median:,.1f} ms, 95 % within {1000 * late:,.0f} ms"
    )
