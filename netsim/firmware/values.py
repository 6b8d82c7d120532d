"""Values of expressions while rules are translated to C: their code, their kinds, and what is known of them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cache
from typing import Any

BOOL, BYTE, SHORT, INT, NONE = "bool", "uint8_t", "int32_t", "int64_t", "none"
WHOLE = BOOL, BYTE, SHORT, INT
_BINDS = (r" \? ", r" \|\| ", " && ", r" \| ", " & ", " [=!]= ", " [<>]=? ", " (<<|>>) ", " [-+] ", " [*/] ",
    "^[-!&]|^@.")  # fmt: skip
CHOICE, OR, AND, BIT_OR, BIT_AND, EQUAL, LESS, SHIFT, PLUS, TIMES, UNARY, ATOM = range(12)


class UnsupportedError(Exception):
    """Something that is not translated, by file and line."""


@dataclass(frozen=True, slots=True)
class Array:
    """The kind of an array, or of a part of one, whose numbers follow one another: of what, and its shape."""

    of: str
    shape: tuple[int, ...]
    whole: str = ""  #: `ints` or `floats`, all of a rule: a function in C takes the policy in its place


@dataclass(frozen=True, slots=True)
class Struct:
    """The kind of a record in the state or of a view, of which there are pointers, or of a plan or several results."""

    name: str
    fields: tuple[tuple[str, Any], ...]  #: their names and kinds
    pointer: bool = False


POLICY = Struct("lpsm_policy", (), pointer=True)


@dataclass(frozen=True, slots=True)
class Value:
    """An expression in C."""

    code: str
    kind: Any
    const: Any = None  #: its value where that is known: a whole number, a truth value; of an array where it begins
    at: str = ""  #: of a part of an array: where it begins in `code`
    roots: frozenset[str] = frozenset()  #: of an array, or of an element: the variables that point to it
    parts: tuple[Value, ...] = ()  #: of several results that are not computed: each of them

    def within(self, binds: int) -> str:
        """Return the code of an operand, in brackets where it binds less closely."""
        return self.code if _binds(self.code) >= binds else f"({self.code})"


@cache
def _binds(code: str) -> int:
    """Return how closely the loosest operator of an expression binds that stands in no brackets."""
    outer = re.sub(r"\([^()]*\)|\[[^][]*\]", "@", code)
    return _binds(outer) if outer != code else next((i for i, one in enumerate(_BINDS) if re.search(one, code)), ATOM)


def joined(a: Any, b: Any) -> Any:
    """Return the kind of a variable that has two; None is no kind yet."""
    if a is None or a == b:
        return INT if b in (BYTE, SHORT) else b  # a variable has 64 bits
    if NONE in (a, b) or not isinstance(a, str) or not isinstance(b, str):
        raise ValueError(f"a variable keeps one kind, got {a} and {b}")
    return next((kind for kind in (a, b) if kind not in WHOLE), INT)


def several(parts: tuple[Value, ...]) -> Value:
    """Return several results, which are not computed yet."""
    kinds = [joined(None, part.kind) for part in parts]
    name = "results_" + "".join({BOOL: "b", INT: "i"}.get(kind, "r") for kind in kinds)
    return Value("", Struct(name, tuple((f"f{i}", kind) for i, kind in enumerate(kinds))), parts=parts)


def literal(value: Any, kind: str) -> str:
    """Write a number."""
    if kind == BOOL:
        return "true" if value else "false"
    if kind in WHOLE:
        return str(int(value)) if abs(value) < 2**15 else f"INT64_C({int(value)})"
    if not math.isfinite(value) or (kind == "float" and abs(value) > 3.4e38):
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "(-INFINITY)"
    least = 1.2e-38 if kind == "float" else 0.0
    return repr(float(value) if abs(value) >= least else 0.0) + "f" * (kind == "float")


def number(value: Any, real: str, code: str = "") -> Value:
    """Return the value of a number that Python has, written as `code` if it has a name."""
    kind = BOOL if isinstance(value, bool) else INT if hasattr(value, "__index__") else real
    return Value(code or literal(value, kind), kind, None if kind == real else int(value))


def converted(value: Value, kind: Any) -> Value:
    """Return a number as one of another kind, an array as what points to it, several results or a plan as one."""
    have = value.kind
    if isinstance(kind, Array):
        return Value(f"&{value.code}[{value.at}]" if value.at else value.code, kind, roots=value.roots)
    if isinstance(kind, Struct) and value.parts:
        words = (converted(one, of).code for one, (_, of) in zip(value.parts, kind.fields, strict=True))
        return Value(f"({kind.name}){{{', '.join(words)}}}", kind)
    if have == kind or (have in WHOLE and kind == INT) or not isinstance(kind, str):
        return value
    if kind == BOOL:
        return Value(f"{value.within(SHIFT)} != 0", BOOL, value.const and 1)
    if have not in WHOLE:
        raise ValueError(f"{kind} must not be set to {have}")
    if kind in WHOLE and (value.const is not None or have == BOOL):
        return value
    if value.const is not None and value.code.lstrip("-").isdigit():
        return number(float(value.const), kind)
    return Value(f"({kind}){value.within(UNARY)}", kind)


def declared(kind: Any, name: str, *, const: bool = False) -> str:
    """Write the declaration of a variable or a parameter."""
    if isinstance(kind, Array):
        return f"{'const ' * const}{kind.of} *{name}"
    return f"{kind.name} {'*' * kind.pointer}{name}" if isinstance(kind, Struct) else f"{kind} {name}"
