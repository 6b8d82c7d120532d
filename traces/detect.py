"""Which format a file has, told by its content and never by its name.

The first bytes after unpacking decide: every format says whether they are its own (`traces.formats`).
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from traces.checks import checked
from traces.errors import TraceError
from traces.files import open_trace
from traces.formats import registry

__all__ = ["detect"]

_HEAD_BYTES = 1 << 16
# the first bytes of encrypted or binary files that are taken for captures or traces, and what to do about them
_HINTS = {
    b"<?xml": "save the capture itself, or the archive of the browser (HAR)",
    b"RTSS": "save as pcap or pcapng, with editcap or in Wireshark",
    b"GMBU": "save as pcap or pcapng, with netmon or Wireshark",
    b"XCP\0": "save as pcap or pcapng, with editcap or in Wireshark",
    b"snoop\0": "save as pcap or pcapng, with editcap -F pcap",
}


@checked
def detect(path: str | PathLike[str]) -> str:
    """Return the name of a file's format, a key of `traces.registry()`; a folder is taken for sessions.

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
    for entry in registry().values():
        if entry.recognises(head):
            return entry.name
    known = "; ".join(entry.meaning for entry in registry().values())
    hint = next((f"; {hint}" for magic, hint in _HINTS.items() if head.startswith(magic)), "")
    rule = f"the content must be of a known format ({known}){hint}"
    raise TraceError(path, "", rule, head.split(b"\n", 1)[0][:60].decode("latin-1"))
