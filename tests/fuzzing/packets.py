"""Grammars of captures: pcap and pcapng of conversations, and frames of 802.11 with every header before them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.fuzzing.browsing import listed, read_requests
from tests.fuzzing.values import Chance, Grammar, binary, encoded, maybe, number, text, written
from traces import Report, TraceError
from traces.captures.audit import audit
from traces.captures.frames import WIRELESS
from traces.captures.packets import frames
from traces.files import open_trace

_DEVICE, _SERVER = b"\xc0\xa8\x01\x07", b"\x08\x08\x04\x04"
_AP, _STATION = b"\2\0\0\0\0\1", b"\2\0\0\0\0\2"


def read_capture(path: Path, chance: Chance) -> None:
    """Read a capture's requests, of whose bytes none may be lost, and follow its frames of 802.11."""
    report = Report()
    try:
        read_requests(path, chance, report)
        payload = report.payload
        if payload is not None:
            entered = payload.in_requests + payload.in_replies + payload.in_messages + payload.in_datagrams
            assert payload.captured == entered + sum(payload.left_out.values())
    finally:
        with suppress(TraceError), open_trace(path) as stream:
            audit(frames(stream, path, Report(), links=WIRELESS))


# -- conversations -----------------------------------------------------------------------------------


def _http(chance: Chance) -> list[tuple[bool, bytes]]:
    host = encoded(text(chance, "a.edu", "b.org:80"))
    asked = b"GET /%s HTTP/1.%d\r\nHost: %s\r\n" % (encoded(text(chance, "", "i.gif")), chance.randrange(2), host)
    if chance.random() < 0.2:
        asked = asked.replace(b"GET", b"POST") + b"Content-Length: %s\r\n" % encoded(number(chance, 0, 40))
    status = encoded(number(chance, 200, 204)) if chance.random() < 0.7 else b"304"
    body = b"x" * chance.randrange(1200)
    if chance.random() < 0.3:
        size = f"{len(body):x}".encode() if chance.random() < 0.9 else encoded(number(chance, 0, 9))
        head, body = b"Transfer-Encoding: chunked\r\n", size + b"\r\n" + body + b"\r\n0\r\n\r\n"
    else:
        head = b"Content-Length: %s\r\n" % encoded(number(chance, len(body), len(body)))
    kind = encoded(text(chance, "text/html", "image/png"))
    return [
        (True, asked + b"\r\n" + b"y" * 40 * asked.startswith(b"POST")),
        (False, b"HTTP/1.1 %s OK\r\nContent-Type: %s\r\n%s\r\n" % (status, kind, head) + body),
    ]


def _tls(chance: Chance) -> list[tuple[bool, bytes]]:
    def record(size: int) -> bytes:
        kind = encoded(text(chance, "\x17", "\x17", "\x17", "\x16", "\x15"))[:1]
        return kind + b"\x03\x03" + binary(">H", number(chance, size, size)) + b"z" * size

    return [(chance.random() < 0.4, record(chance.choice((30, 100, 300, 2000)))) for _ in range(chance.randint(1, 6))]


def _conversation(chance: Chance) -> list[Any]:
    """Draw a connection or some datagrams, as frames in the order of time."""
    at = 1000.0 + chance.random() * 30
    ports = [chance.randrange(40_000, 40_004), chance.choice((80, 443, 8080, 5222))]
    made: list[Any] = []

    def add(up: bool, data: bytes, **transport: Any) -> None:
        nonlocal at
        at += chance.choice((1e-5, 0.01, 0.3, 5.0))
        made.append({"at": at, "up": up, "ports": ports, "data": data, **transport})

    if chance.random() < 0.2:
        for _ in range(chance.randint(1, 4)):
            add(chance.random() < 0.5, encoded(text(chance, "\0" * 200, "q" * 900)), udp=True)
        return made
    sent = [number(chance, 0, 2**32 - 1), number(chance, 0, 2**32 - 1)]
    add(True, b"", seq=sent[0], ack=0, flags=2)
    add(False, b"", seq=sent[1], ack=sent[0], flags=18)
    sent = [one + 1 if isinstance(one, int) else 1 for one in sent]
    talk = [step for _ in range(chance.randint(1, 3)) for step in (_tls if ports[1] == 443 else _http)(chance)]
    for up, data in talk:
        mss = chance.choice((1400, 300, 100))
        for begin in range(0, len(data), mss):
            piece = data[begin : begin + mss]
            add(up, piece, seq=sent[not up], ack=sent[up], flags=24)
            sent[not up] += len(piece)
    add(True, b"", seq=sent[0], ack=sent[1], flags=number(chance, 16, 20))
    return made


def _internet(frame: dict[str, Any], link: int) -> bytes:
    """Render a packet of a conversation with the headers below it."""
    up, data = bool(frame.get("up")), encoded(frame.get("data"))
    ports = [*listed(frame.get("ports")), 0, 0][:2]
    ends = (_DEVICE, _SERVER) if up else (_SERVER, _DEVICE)
    port_bytes = b"".join(binary(">H", port) for port in (ports if up else ports[::-1]))
    if frame.get("udp"):
        protocol, segment = 17, port_bytes + binary(">H", frame.get("size", 8 + len(data))) + b"\0\0" + data
    else:
        head = binary(">I", frame.get("seq")) + binary(">I", frame.get("ack")) + binary(">B", frame.get("offset", 0x50))
        protocol, segment = 6, port_bytes + head + binary(">B", frame.get("flags")) + bytes(6) + data
    if frame.get("six"):
        size = binary(">H", frame.get("length", len(segment)))
        packet = b"\x60\0\0\0" + size + bytes([protocol, 64]) + b"".join(end * 4 for end in ends) + segment
        kind = 0x86DD
    else:
        size = binary(">H", frame.get("length", 20 + len(segment)))
        fixed = binary(">B", frame.get("version", 0x45)) + b"\0" + size
        packet = fixed + b"\0\1" + binary(">H", frame.get("fragment", 0)) + bytes([64, protocol, 0, 0])
        packet += ends[0] + ends[1] + segment
        kind = 0x0800
    before = {1: bytes(12) + binary(">H", frame.get("type", kind)), 101: b"", 0: b"\2\0\0\0", 113: bytes(14)}
    return before.get(link, bytes(16)) + (kind.to_bytes(2, "big") if link == 113 else b"") + packet


def _capture(chance: Chance) -> dict[str, Any]:
    made = [frame for _ in range(chance.randint(1, 3)) for frame in _conversation(chance)]
    if chance.random() < 0.9:
        made.sort(key=lambda frame: float(frame["at"]))
    for frame in made:
        if chance.random() < 0.1:
            frame["interface"] = chance.randrange(3)
        if chance.random() < 0.02:
            frame[chance.choice(("length", "version", "fragment", "offset", "size", "type", "cut", "six"))] = number(
                chance, 0, 2000
            )
    return {"magic": text(chance, "a1b2c3d4", "a1b23c4d", "0a0d0d0a", "0a0d0d0a"),
            "link": maybe(chance, 1, 0.8) or chance.choice((0, 101, 113, 12, 276)),
            "interfaces": [[number(chance, 101, 101), number(chance, 6, 9)] for _ in range(chance.randrange(3))],
            "snap": number(chance, 65_535, 65_535), "frames": made}  # fmt: skip


# -- 802.11 ------------------------------------------------------------------------------------------


def _air(chance: Chance) -> dict[str, Any]:
    made: list[Any] = []
    interval = encoded(text(chance, "\x64\0", "\x0a\0", "\0\0"))
    for beacon in range(chance.randint(1, 6)):
        elements = [["\0", "home"], ["\5", [beacon % 2, 2, 0, number(chance, 0, 255)]], ["\x30", "rsn"]]
        made.append({"at": 1 + 0.1024 * beacon, "control": "8000", "to": "\xff" * 6, "from": _AP, "third": _AP,
                     "body": [bytes(8) + interval + b"\1\0", *elements]})  # fmt: skip
    for _ in range(chance.randint(0, 12)):
        up = chance.random() < 0.5
        control = text(chance, *(("8841", "0811", "4811", "8851", "a410") if up else ("8842", "0842", "8862", "d000")))
        ends = {"to": _AP, "from": _STATION, "third": _AP} if up else {"to": _STATION, "from": _AP, "third": _AP}
        made.append({"at": 1 + chance.random(), "control": control, **ends, "sequence": number(chance, 0, 65_535),
                     "body": [bytes(4), "c" * chance.choice((0, 20, 90, 300, 1400))]})  # fmt: skip
    if chance.random() < 0.9:
        made.sort(key=lambda frame: float(frame["at"]))
    headers = ("00000800" + "0" * 8, "0000ffff", "00000c0000000000")  # radiotap without a rate, and damaged
    return {
        "magic": text(chance, "a1b2c3d4", "a1b23c4d", "0a0d0d0a"),
        "link": chance.choice((127, 127, 105, 119, 192)),
        "before": maybe(chance, "000009000400000016") or chance.choice(headers),
        "snap": 65_535,
        "frames": made,
    }


def _hexadecimal(value: Any) -> bytes:
    try:
        return bytes.fromhex(written(value))
    except ValueError:
        return encoded(value)


def _wireless(frame: dict[str, Any]) -> bytes:
    control = _hexadecimal(frame.get("control"))
    head = control + binary("<H", frame.get("duration", 0xC002)) + encoded(frame.get("to")) + encoded(frame.get("from"))
    if control[:1] == b"\xa4":
        return head
    head += encoded(frame.get("third")) + binary("<H", frame.get("sequence", 0))
    if control[:1] == b"\x88":
        head += b"\0\0"
    return head + b"".join(_element(part) for part in listed(frame.get("body")))


def _element(part: Any) -> bytes:
    """Render an information element: its kind, its length, what it says; anything else as it is."""
    if isinstance(part, list) and len(part) == 2:
        said = bytes(binary(">B", byte)[0] for byte in part[1]) if isinstance(part[1], list) else encoded(part[1])
        return encoded(part[0])[:1] + bytes([len(said) & 255]) + said
    return encoded(part)


# -- files -------------------------------------------------------------------------------------------


def _file(structure: Any) -> bytes:
    """Render a capture as pcap or pcapng, as its first bytes say."""
    found = structure if isinstance(structure, dict) else {"frames": structure}
    magic, link = _hexadecimal(found.get("magic", "a1b2c3d4")), found.get("link", 1)
    number_of_link = int.from_bytes(binary(">H", link), "big")
    snap = found.get("snap", 65_535)
    packets = []
    for frame in listed(found.get("frames")):
        fields = frame if isinstance(frame, dict) else {"data": frame}
        if number_of_link in WIRELESS:
            before = (
                _hexadecimal(found.get("before"))
                if number_of_link == 127
                else bytes({119: 144, 192: 8}.get(number_of_link, 0))
            )
            data = before + _wireless(fields)
        else:
            data = _internet(fields, number_of_link)
        packets.append(
            (fields.get("at", 0.0), data[: int.from_bytes(binary(">H", fields.get("cut", 65_535)), "big")], fields)
        )
    if magic == b"\x0a\x0d\x0d\x0a":
        return _pcapng(packets, number_of_link, snap, listed(found.get("interfaces")))
    nano = magic == b"\xa1\xb2\x3c\x4d"
    made = magic + b"\0\2\0\4" + bytes(8) + binary(">I", snap) + binary(">I", link)
    for at, data, fields in packets:
        second, part = _moment(at, 1_000_000_000 if nano else 1_000_000)
        sizes = binary(">I", fields.get("captured", len(data))) + binary(">I", fields.get("whole", len(data)))
        made += binary(">I", second) + binary(">I", part) + sizes + data
    return made


def _pcapng(packets: list[tuple[Any, bytes, dict[str, Any]]], link: int, snap: Any, interfaces: list[Any]) -> bytes:
    def block(kind: int, body: bytes, length: Any = None) -> bytes:
        body += bytes(-len(body) % 4)
        size = binary("<I", 12 + len(body) if length is None else length)
        return binary("<I", kind) + size + body + size

    made = block(0x0A0D0D0A, b"\x4d\x3c\x2b\x1a\1\0\0\0" + b"\xff" * 8)
    made += block(1, binary("<H", link) + b"\0\0" + binary("<I", snap))
    for interface in interfaces:
        other, resolution = [*listed(interface), 0, 0][:2]
        option = b"\x09\0\1\0" + binary(">B", resolution) + b"\0\0\0"
        made += block(1, binary("<H", other) + b"\0\0" + binary("<I", snap) + option)
    for at, data, fields in packets:
        second, part = _moment(at, 1_000_000)
        moment = (second * 1_000_000 + part) & (1 << 64) - 1
        head = binary("<I", fields.get("interface", 0)) + binary("<I", moment >> 32) + binary("<I", moment & 0xFFFFFFFF)
        head += binary("<I", fields.get("captured", len(data))) + binary("<I", fields.get("whole", len(data)))
        made += block(fields.get("block", 6), head + data, fields.get("total"))
    return made


def _moment(at: Any, unit: int) -> tuple[int, int]:
    try:
        return int(at), int(float(at) % 1 * unit)
    except (TypeError, ValueError, OverflowError):
        return -1, -1


GRAMMARS = {
    "capture": Grammar(make=_capture, render=_file, read=read_capture),
    "air": Grammar(make=_air, render=_file, read=read_capture),
}
