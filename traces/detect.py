"""Which format a file has, told by its content and never by its name.

The first bytes after unpacking decide.  Text is looked at line by line, binary
by magic numbers; a UCB Home IP record has none, so it is known by three
plausible microsecond fields.
"""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path

from traces import bu
from traces.errors import TraceError
from traces.files import open_trace
from traces.tape import is_tar

__all__ = ["FORMATS", "detect"]

FORMATS = {
    "bu": "Boston University client sessions: a file, a folder, a tar archive",
    "ucb": "UC Berkeley Home IP, binary",
    "showtrace": "UC Berkeley Home IP, as showtrace prints it",
    "har": "HTTP Archive (HAR) of a browser",
    "pcap": "pcap or pcapng capture of plain HTTP",
    "csv": "table of replies: time, bytes",
    "workload": "pages, one JSON object a line",
}

_HEAD_BYTES = 1 << 16
_PCAP_MAGIC = tuple(bytes.fromhex(magic) for magic in ("a1b2c3d4", "d4c3b2a1", "a1b23c4d", "4d3cb2a1", "0a0d0d0a"))
_SHOWTRACE = re.compile(rb"\d+:\d+ \d+:\d+ \d+:\d+ ")
_ROW = rb'[ \t]*"?-?[0-9.]+(e[+-]?\d+)?"?[ \t]*[,;\t]'
_NAMES = rb'([^\n]*[,;\t])?[ \t]*"?(time|start)(_s)?"?[ \t\r]*([,;\t\n]|$)'
_TABLE = re.compile(rb"(%s|%s)" % (_ROW, _NAMES), re.IGNORECASE)


def detect(path: str | PathLike[str]) -> str:
    """Return the name of a file's format, a key of `FORMATS`; a folder is taken for sessions.

    Raises
    ------
    TraceError
        If the content is of no known format, or there is none.
    OSError
        If the file cannot be opened.
    """
    source = Path(path)
    if source.is_dir():
        return "bu"
    if source.exists() and not source.is_file():
        raise TraceError(path, "", "a trace must be a file or a folder, because it is opened twice", "a pipe or device")
    damage: list[TraceError] = []  # of the packing: what comes before it still tells the format
    with open_trace(path, on_damage=damage.append) as stream:
        head = stream.read(_HEAD_BYTES)
    if not head:
        if damage:
            raise damage[0]
        raise TraceError(path, "", "a trace must not be empty", "0 bytes")
    if is_tar(head):
        return "bu"
    if head.startswith(_PCAP_MAGIC):
        return "pcap"
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(b"{"):
        return "har" if re.match(rb'\{\s*"log"\s*:', text) else "workload"
    if text.startswith(b"["):
        return "workload"
    line = head.split(b"\n", 1)[0]
    if _SHOWTRACE.match(line):
        return "showtrace"
    if bu.looks_like(line):
        return "bu"
    if b"\0" in head:
        if _is_ucb(head):
            return "ucb"
    elif _TABLE.match(_first_row(text)):
        return "csv"
    known = "; ".join(FORMATS.values())
    raise TraceError(path, "", f"the content must be of a known format ({known})", line[:60].decode("latin-1"))


def _is_ucb(head: bytes) -> bool:
    """Tell the first record: microseconds below a million (or unknown), the request seen after 1990."""
    times = [int.from_bytes(head[at : at + 4], "big") for at in range(0, 24, 4)]
    likely = all(micro < 1_000_000 or micro == 0xFFFF_FFFF for micro in times[1::2])
    return len(head) >= 24 and likely and times[0] > 631_152_000


def _first_row(text: bytes) -> bytes:
    """Return the beginning of the first line that is neither empty nor a comment."""
    rows = (line.strip() for line in text.split(b"\n"))
    return next((row[:1024] for row in rows if row and not row.startswith(b"#")), b"")
