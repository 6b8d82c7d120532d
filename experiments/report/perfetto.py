"""Timelines as trace events, which Perfetto (ui.perfetto.dev) and chrome://tracing open.

A process a policy; its threads are the radio, beacons, frames up and down, and decisions; what waits at the access
point and the requests outstanding are counters.  A beacon that was heard says how many were slept through before it.
Format: "Trace Event Format", the JSON object form with phases M (names), X (complete events), i (instants) and C
(counters); times are in microseconds.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from experiments.figures.style import label
from experiments.quantities import Row
from experiments.timeline import Timeline

_THREADS = ("radio", "frames delivered at once", "beacons", "frames up", "frames down", "decisions", "pages")


def trace_events(runs: Sequence[Timeline]) -> Row:
    """Return the timelines as one JSON object."""
    events = [event for pid, run in enumerate(runs, 1) for event in _of(pid, run)]
    return {"displayTimeUnit": "ms", "traceEvents": events}


def _of(pid: int, run: Timeline) -> Iterator[Row]:
    def meta(tid: int, what: str, **args: Any) -> Row:
        return {"ph": "M", "pid": pid, "tid": tid, "name": what, "args": args}

    thread = {name: place for place, name in enumerate(_THREADS, 1)}
    yield meta(0, "process_name", name=f"{label(run.policy)} ({run.policy})")
    for name, tid in thread.items():
        yield meta(tid, "thread_name", name=name)
        yield meta(tid, "thread_sort_index", sort_index=tid)

    def event(name: str, row: str, start_s: float, end_s: float | None = None, **args: Any) -> Row:
        """Return what happened in a stretch of time, or at an instant."""
        where = {"pid": pid, "tid": thread[row], "name": name, "cat": row, "ts": _us(start_s)}
        if end_s is None:
            return {"ph": "i", "s": "t", **where, "args": args}
        return {"ph": "X", **where, "dur": round(_us(end_s) - _us(start_s), 3), "args": args}

    awake_from = {start for start, _ in run.awake}  # the ramps to mere beacons are told by the beacons
    for row, name, spans in (
        ("pages", "page", run.loads),
        ("radio", "awake", run.awake),
        ("frames delivered at once", "open", run.gate),
        ("radio", "waking up", [span for span in run.waking if span[1] in awake_from]),
    ):
        yield from (event(name, row, *span) for span in spans)
    slept = 0
    for time, heard in run.beacons:
        if heard != "slept":
            yield event(f"beacon {heard}", "beacons", time, slept_through=slept)
        slept = (slept + 1) * (heard == "slept")
    for frame in run.frames:
        name = ("data" if frame.length else "ACK", "SYN", "SYN-ACK", "datagram")[frame.flag]
        yield event(
            name, "frames down" if frame.down else "frames up", *run.frame_span(frame), connection=frame.connection,
            payload_bytes=frame.length, size_bytes=frame.size_bytes, lost=frame.lost,
            waited_ms=(frame.start_ns - frame.reached_ns) / 1e6,
        )  # fmt: skip
    yield from (event(words, "decisions", time) for time, words in run.decisions)
    for name, unit, steps in (
        ("waits at the access point", "bytes", run.waiting), ("requests outstanding", "requests", run.outstanding),
    ):  # fmt: skip
        for step in steps:
            yield {"ph": "C", "pid": pid, "tid": 0, "name": name, "ts": _us(step.start_s), "args": {unit: step.value}}


def _us(time_s: float) -> float:
    return round(max(time_s, 0.0) * 1e6, 3)
