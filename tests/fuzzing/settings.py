"""Grammars of what a user states: a radio in TOML, the name of a policy."""

from __future__ import annotations

from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any

import netsim
from netsim import policies
from netsim.radio import profiles
from tests.fuzzing.browsing import listed
from tests.fuzzing.values import Chance, Grammar, Raw, encoded, number, real, text, written
from traces import Page

KINDS = {kind: netsim.canonical(entry.example) for kind, entry in policies.registry().items()}  # imports what they need
_PAGES = [Page("a", 300, 5000), Page("b", 300, 900, ((200, 1500),), 1.5)]


@cache
def compile_rules() -> None:
    """Compile what is compiled of a policy when it first runs; that takes longer than any input may."""
    for spec in KINDS.values():
        if not spec.startswith("lpsm"):
            netsim.simulate(_PAGES, spec, engine="packet")


def read_radio(path: Path, chance: Chance) -> None:
    """Read a radio and ask it for an energy."""
    radio = netsim.Radio.load(path)
    assert isfinite(radio.energy(10**12, 10**12, 1000, wakeups=1000).total_j)


def read_policy(path: Path, chance: Chance) -> None:
    """Make the policy whose name stands in a file; its canonical name makes the same one, and a page gets through."""
    name = path.read_bytes().decode("utf-8", "surrogateescape")  # as a command line
    spec = netsim.canonical(name)
    assert netsim.canonical(spec) == spec
    if chance.random() < 0.1 and not spec.startswith("lpsm"):  # whose kernels would be compiled first
        assert len(netsim.simulate(_PAGES, spec, engine="packet").pages) == len(_PAGES)


def _radio(chance: Chance) -> dict[str, Any]:
    figures = dict(profiles()[chance.choice(list(profiles()))])
    for name, value in figures.items():
        figures[name] = text(chance, value) if isinstance(value, str) else real(chance, 0.1 * value, 2 * value)
        if chance.random() < 0.1:
            figures[name] = number(chance, 0, 900)
    return {key: value for key, value in figures.items() if chance.random() < 0.97}


def _toml(structure: Any) -> bytes:
    if not isinstance(structure, dict):
        return encoded(structure)
    return b"".join(encoded(name) + b" = " + _value(value) + b"\n" for name, value in structure.items())


def _value(value: Any) -> bytes:
    if isinstance(value, dict):
        return b"{" + b", ".join(b'"%s" = %s' % (encoded(name), _value(one)) for name, one in value.items()) + b"}"
    if isinstance(value, list):
        return b"[" + b", ".join(map(_value, value)) + b"]"
    if isinstance(value, str) and not isinstance(value, Raw):
        return b'"' + encoded(value.replace("\\", "\\\\").replace('"', '\\"')) + b'"'
    return encoded(str(value).lower() if isinstance(value, bool) else value)


def _policy(chance: Chance) -> list[Any]:
    kind = chance.choice([*KINDS])
    usual = KINDS[kind].split(":")[1:]
    settings: list[Any] = [text(chance, one) if chance.random() < 0.5 else real(chance, 0, 900) for one in usual]
    return [text(chance, kind), *settings[: chance.randint(0, len(settings))]]


def _joined(structure: Any) -> bytes:
    return ":".join(written(part) for part in listed(structure)).encode("utf-8", "surrogatepass")


GRAMMARS = {
    "radio": Grammar(make=_radio, render=_toml, read=read_radio, name="radio.toml", packed=False),
    "policy": Grammar(make=_policy, render=_joined, read=read_policy, packed=False),
}
