"""Changes of files: of their bytes, of the words and numbers in them, of their lines, and of the JSON that lines hold.

A change may know nothing of the format: what is made of a valid file is mostly valid, too, up to the place changed.
"""

import gzip
import json
import lzma
import re
from copy import deepcopy
from itertools import islice

Content = bytes | dict[str, bytes]
"""A file, or the files of a folder or an archive by their names."""

NUMBERS = (
    *(0, -1, 1, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64),
    *(-(2**31), -(2**63), 10**30, 10**400, 0.1, -0.0, 1e-320, 1e300, 1.7e308, float("nan"), float("inf")))  # fmt: skip
WORDS = ("", " ", "\n", "\r", "\r\n", "\t", "\0", '"', "'", "\\", ",", ";", ":", "#", "=cmd|' /C calc'!A0", "null",
    "[]", "{}", "nan", "-inf", "-1", "1e999", "1" * 5000, "0x10", "1_0", "07", "+5", "٣", "..", "../../etc/passwd",
    "</script><script>alert(1)</script>", "\x1b[2J\x1b]0;x\x07", "\u202etxt.exe", "\ud800", "\ufeff", "a" * 5000,
    "é" * 100, "http://", "http://[::1", "//", "://", "%00", "\x85", "HTTP/1.1 200 OK\r\n", "Content-Length: -1\r\n",
    "[" * 60, "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n")  # fmt: skip
PIECES = (b"\0", b"\xff", b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\xc3\x28", b"\x1f\x8b",
    b"PK\x03\x04")  # fmt: skip
_WORD = re.compile(rb'"[^"\n]*"|-?\d+(?:\.\d+)?(?:e-?\d+)?|[A-Za-z_]+|[^\s\w]')


def changed(content, chance):
    """Return a file, or a folder, with one to four changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if isinstance(content, bytes):
            content = chance.choice((damaged, _words, _words, _lines, _json))(content, chance)
        elif content:
            name = chance.choice([*content])
            data, other = content[name], name
            if chance.random() < 0.15:
                other = str(chance.choice((*WORDS, *content)))[:200].replace("\0", "").encode(errors="replace").decode()
                content = {one: part for one, part in content.items() if one != name or chance.random() < 0.5}
            else:
                data = changed(data, chance)
            content = {**content, other: data}
    return content


def packed(data, chance):
    """Return the file packed, now and then with damage to the packing."""
    found = gzip.compress(data, 1, mtime=0) if chance.random() < 0.5 else lzma.compress(data, preset=0)
    return damaged(found, chance) if chance.random() < 0.5 else found


def damaged(data, chance):
    """Replace, insert, repeat or leave out some bytes."""
    at = int(chance.random() * len(data))
    value = chance.choice(PIECES) if chance.random() < 0.6 else chance.randbytes(chance.randrange(1, 9))
    if chance.random() < 0.3 and isinstance(number := chance.choice(NUMBERS), int):
        value = (number & (1 << 32) - 1).to_bytes(4, chance.choice(("big", "little")))[: chance.choice((2, 4))]
    flipped = bytes(byte ^ (value[0] or 1) for byte in data[at : at + 1])
    put, taken = chance.choice(
        (
            (b"", len(data)), (flipped, 1), (value, len(value)), (value, 0), (b"", 1 + len(value)),
            (data[at : at + 200] * 3, 200),
        )
    )  # fmt: skip
    return data[:at] + put + data[at + taken :]


def _words(data, chance):
    """Replace a word, a number or a mark by another one, by something nasty, or by nothing."""
    found = [*islice(_WORD.finditer(data, int(chance.random() * len(data))), 500)]
    if not found:
        return damaged(data, chance)
    one, other = chance.choice(found), chance.choice(found)
    nasty = str(chance.choice(NUMBERS)) if chance.random() < 0.4 else chance.choice(WORDS)
    word = chance.choice((other[0], nasty.encode("utf-8", "surrogatepass"), b""))
    if one[0][:1] == b'"' != word[:1] and chance.random() < 0.7:
        word = b'"%s"' % word
    return data[: one.start()] + word + data[one.end() :]


def _lines(data, chance):
    """Repeat, leave out or exchange lines, or end them otherwise."""
    lines = data.splitlines(keepends=True) or [b""]
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one : one + chance.randrange(2)] = [lines[other]] * chance.choice((0, 1, 3, 30))
    if chance.random() < 0.25:
        end = chance.choice((b"\r\n", b"\r", b"\n\n", b""))
        lines = [line.rstrip(b"\r\n") + end for line in lines]
    return b"".join(lines)


def _json(data, chance):
    """Change the structure of the JSON in a line, where there is any."""
    lines = data.splitlines(keepends=True)
    at = chance.randrange(len(lines)) if lines else 0
    try:
        held = [json.loads(lines[at])]
    except (ValueError, IndexError, RecursionError):
        return _words(data, chance)
    places, waiting = [], [held]
    while waiting:
        holder = waiting.pop()
        for key in [*holder] if isinstance(holder, dict) else range(len(holder)):
            places.append((holder, key))
            waiting += [holder[key]] if isinstance(holder[key], dict | list) else []
    (holder, key), (other, there) = chance.choice(places), chance.choice(places)
    kind = chance.randrange(5)
    if kind == 0 and holder is not held:
        del holder[key]
    elif kind == 1 and isinstance(holder, list):
        holder[key:key] = [deepcopy(holder[key]) for _ in range(chance.choice((1, 3, 30)))]
    elif kind == 2:
        holder[key] = deepcopy(other[there])
    else:
        holder[key] = chance.choice((*NUMBERS, *WORDS, None, True, [], {}, [[]], [holder[key]], {"": holder[key]}))
    lines[at] = json.dumps(held[0], ensure_ascii=chance.random() < 0.5).encode("utf-8", "surrogatepass") + b"\n"
    return b"".join(lines)
