"""A policy as C99: its rule with all that it calls, its state, and what fills in the state.

The state is one structure that the caller owns; nothing is allocated, and nothing called but `memset`, `memcpy` and
functions of `math.h`.  Instants and other whole numbers have 64 bits, real numbers those of `real`.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import prod
from textwrap import fill
from typing import Any

import numpy as np

from lpsm.native.entries import INTS, Signature, entry_of, named_fields
from lpsm.native.records import RECORDS, dtype_of
from netsim.firmware.functions import Function
from netsim.firmware.values import BOOL, INT, SHORT, Array, Memory, Struct, UnsupportedError, Value, literal, number
from netsim.policies.compiled import CompiledForm, FlatFrame, FlatView
from netsim.policies.protocol import Plan

_SHORTEST_RUN = 12  # equal numbers from here on are filled in by a loop


class Program:
    """The rule of a compiled form in C, with `real` numbers of type double or float."""

    def __init__(self, form: CompiledForm, real: str = "double") -> None:
        self.real, self._ints, self._floats = real, form.ints.copy(), form.floats.copy()
        self._functions: dict[object, Function] = {}
        self._begun: set[object] = set()
        self._codes: dict[str, str] = {}
        self._defined: dict[str, Any] = {}
        self._tables: dict[str, Any] = {}
        self._results: dict[str, Struct] = {}
        self._records: dict[str, int] = {}
        self._kept: int | None = None
        self._helpers = {name: code.replace("NUMBER", real) for name, code in _helpers().items()}
        self.plan = _flat("lpsm_plan", Plan)
        rules = [rule for rule in form.rules if rule is not None]
        self._stored = _stored_places(sys.modules[getattr(rules[0], "py_func", rules[0]).__module__])
        memory = Memory(ints=True), Memory(ints=False)
        flat = [_flat("lpsm_view", FlatView, at=True), _flat("lpsm_frame", FlatFrame, at=True)]
        self._rules = [self.function(rule, [kind, *memory]) for rule, kind in zip(rules, flat, strict=False)]
        self._prepare = form.prepare
        if form.prepare is not None:
            self._rules.append(self.function(form.prepare, memory[:1]))

    # -- what functions ask

    def function(self, function: Any, kinds: Any) -> Function:
        """Return a function for arguments of these kinds, translated if it was not."""
        function = getattr(function, "py_func", function)
        key = function, tuple(kinds)
        if key not in self._functions:
            if key in self._begun:
                raise UnsupportedError(f"{function.__name__} calls itself")
            name = f"{function.__module__.rpartition('.')[2].removesuffix('_rule')}_{function.__name__.strip('_')}"
            known = sum(one.name == name or one.name.startswith(f"{name}_of_") for one in self._functions.values())
            found = Function(self, function, kinds, f"{name}_of_{known + 1}" if known else name)
            self._begun.add(key)
            code = found.translate()
            self._functions[key], self._codes[found.name] = found, code
        return self._functions[key]

    def inlined(self, function: Any, kinds: Any, given: Any) -> Value:
        """Return the parts of arrays that a function returns."""
        return Function(self, function, kinds, "", given).inlined()

    def helper(self, name: str, kind: str) -> str:
        """Return the name of a small function for numbers of a kind."""
        called = f"{name}_{kind}"
        self._helpers[called] = _helpers()[f"{name}_NUMBER"].replace("NUMBER", kind)
        return called

    def results(self, kind: Struct) -> str:
        """Return the name of the type of several results."""
        self._results[kind.name] = kind
        return kind.name

    def known(self, name: str, value: Any, module: str = "") -> Value:
        """Return what a module has under a name: a number or a table."""
        if isinstance(value, np.ndarray | tuple):
            array, word = np.asarray(value), self._word(name, self._tables, value, module)
            return Value(word, Array(INT if array.dtype.kind == "i" else self.real, array.shape))
        value = value.item() if isinstance(value, np.generic) else value
        if not isinstance(value, bool | int | float):
            raise UnsupportedError(f"{name} is no number")
        if not np.isfinite(value):
            return number(value, self.real)
        return number(value, self.real, self._word(name, self._defined, value, module))

    @staticmethod
    def _word(name: str, words: dict[str, Any], value: Any, module: str = "") -> str:
        word = name.strip("_").upper()
        while word in words and not np.array_equal(words[word], value):
            word = f"{module.rpartition('.')[2].upper()}_{word}" if module else f"{word}_"
        words[word] = value
        return word

    def record(self, dtype: Any, at: int) -> Value:
        """Return the record of a type that stands in the integers from a place on."""
        (name,) = (one for one in RECORDS if dtype_of(one) == dtype)
        self._records[name] = at
        fields = tuple((field, self._field(dtype[field], field)) for field in dtype.names)
        return Value(f"&policy->{_snake(name)}", Struct(_type(name), fields, pointer=True))

    def _field(self, dtype: Any, name: str) -> Any:
        """Return the kind of a field in memory: instants and durations have 64 bits, other whole numbers 32."""
        base, shape = dtype.subdtype or (dtype, ())
        kind = self.real if base.kind == "f" else INT if name.endswith("_ns") else SHORT
        return Array(kind, shape) if shape else kind

    def integer(self, place: Value, said: str) -> Value:
        """Return one of the integers of a rule; `said` is how its place is called."""
        if place.const is not None and self._stored is not None and place.const not in self._stored:
            return self.known(f"THE_{said or f'INTEGER_{place.const}'}", int(self._ints[place.const]))
        self._kept = 0
        return Value(f"policy->ints[{place.code}]", INT)

    def numbers(self) -> Value:
        """Return all numbers of a rule that stand in no record."""
        return Value("policy->floats", Array(self.real, self._floats.shape))

    # -- the text

    def state(self) -> str:
        """Return the declaration of the state."""
        text, members = "", []
        for name in self._records:
            fields = [f"    {self._declared(dtype_of(name)[one], one)};" for one in dtype_of(name).names or ()]
            text += (
                f"/* {_said(RECORDS[name])} */\ntypedef struct {{\n" + "\n".join(fields) + f"\n}} {_type(name)};\n\n"
            )
            members.append(f"    {_type(name)} {_snake(name)};")
        size = min(self._records.values(), default=self._ints.size)
        members += [f"    int64_t ints[{size}];"] * (self._kept is not None)
        members += [f"    {self.real} floats[{self._floats.size}];"] * bool(self._floats.size)
        body = "\n".join(members or ["    char none;"])
        return text + f"/* All that the policy knows. */\ntypedef struct {{\n{body}\n}} lpsm_policy;\n"

    def _declared(self, dtype: Any, name: str) -> str:
        kind = self._field(dtype, name)
        return f"{kind.of} {name}[{max(1, prod(kind.shape))}]" if isinstance(kind, Array) else f"{kind} {name}"

    def source(self) -> str:
        """Return the functions, and before them the constants and tables that they use."""
        begin, ends = self._beginning()
        if self.real == "float" and "from_bits(" in "".join(self._codes.values()):
            raise UnsupportedError("its learner works on the bits of numbers of type double, got --real float")
        codes = "\n".join([*self._codes.values(), begin])
        types = [f"typedef struct {{ {' '.join(f'{kind} {name};' for name, kind in one.fields)} }} {one.name};\n"
            for one in self._results.values()]  # fmt: skip
        parts = [code for name, code in self._helpers.items() if re.search(rf"\b{name}\(", codes)]
        tables = [self._table(name, value) for name, value in self._tables.items() if re.search(rf"\b{name}\b", codes)]
        defined = [f"#define {name} {_bracketed(literal(value, _kind_of(value, self.real)))}\n"
            for name, value in sorted(self._defined.items()) if re.search(rf"\b{name}\b", codes)]  # fmt: skip
        return "\n".join(["".join(defined), "".join(types), *tables, *parts, codes, ends])

    def _table(self, name: str, value: Any) -> str:
        array = np.asarray(value)
        kind = INT if array.dtype.kind == "i" else self.real
        numbers = fill(", ".join(literal(one, kind) for one in array.ravel().tolist()), 110,
            initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)  # fmt: skip
        return f"static const {kind} {name}[{array.size}] = {{\n{numbers}\n}};\n"

    def _beginning(self) -> tuple[str, str]:
        """Write the function that fills in the state as it is at first, and those that firmware calls."""
        begun, early, late = np.zeros_like(self._ints), list[str](), list[str]()
        fields = [(name, field, start + dtype_of(name).fields[field][1] // 8, dtype_of(name)[field])  # type: ignore[index]
            for name, start in self._records.items() for field in dtype_of(name).names or ()]  # fmt: skip
        for name, field, at, dtype in fields:
            kind = self._field(dtype, field)
            size = prod(kind.shape) if isinstance(kind, Array) else 1
            if size < _SHORTEST_RUN:
                begun[at : at + size] = self._ints[at : at + size]
                early += self._filled(f"policy->{_snake(name)}.{field}", kind, self._ints[at : at + size])
        if self._prepare is not None:
            entry_of(self._prepare, Signature(None, (INTS,)))(begun)
            early.append(f"    {self._rules[-1].name}(policy);")
        for name, field, at, dtype in fields:
            kind = self._field(dtype, field)
            size = prod(kind.shape) if isinstance(kind, Array) else 1
            if not np.array_equal(begun[at : at + size], self._ints[at : at + size]):
                late += self._filled(f"policy->{_snake(name)}.{field}", kind, self._ints[at : at + size])
        if self._kept is not None:
            size = min(self._records.values(), default=self._ints.size)
            late += self._filled("policy->ints", Array(INT, (size,)), self._ints[:size])
        if self._floats.size:
            late += self._filled("policy->floats", Array(self.real, self._floats.shape), self._floats.view(np.int64))
        lines = "\n".join(["    memset(policy, 0, sizeof *policy);", *early, *late])
        ask, tell = self._rules[0].name, self._rules[1].name if len(self._rules) > 1 else ""
        takes = ["policy, " * any(isinstance(kind, Memory) for kind in one.kinds.values()) for one in self._rules]
        told = f"    {tell}({takes[1]}frame);" if tell else "    (void)policy;\n    (void)frame;"
        return f"void lpsm_policy_init(lpsm_policy *policy)\n{{\n{lines}\n}}\n", (
            "lpsm_plan lpsm_policy_plan(lpsm_policy *policy, const lpsm_view *view)\n"
            f"{{\n    return {ask}({takes[0]}view);\n}}\n\n"
            f"void lpsm_policy_observe(lpsm_policy *policy, const lpsm_frame *frame)\n{{\n{told}\n}}\n"
        )

    def _filled(self, place: str, kind: Any, words: Any) -> list[str]:
        """Write what sets a number, or an array in runs of equal ones and tables of others; all are 0 already."""
        of = kind.of if isinstance(kind, Array) else kind
        values = words.view(np.float64) if of == self.real else words
        if not isinstance(kind, Array):
            return [f"    {place} = {literal(values.item(), of)};"] if values.any() else []
        lines, at = list[str](), 0
        changes = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), values.size]
        runs = [(a, b) for a, b in pairwise(changes) if b - a >= _SHORTEST_RUN]
        for first, end in [*runs, (values.size, values.size)]:
            if first > at and values[at:first].any():
                name = self._word("BEGINNING", self._tables, values[at:first])
                lines.append(f"    memcpy({place} + {at}, {name}, sizeof {name});")
            if end > first and values[first]:
                lines.append(f"    {self.helper('fill', of)}({place} + {first}, {end - first}, "
                    f"{literal(values[first], of)});")  # fmt: skip
            at = end
        return lines


def template(name: str) -> str:
    """Return a part of what is written that is no policy's own."""
    return (files("netsim") / "data" / "firmware" / name).read_text(encoding="utf-8")


@cache
def _helpers() -> dict[str, str]:
    """Return the small functions by name, in which NUMBER stands for a type."""
    parts = template("helpers.c").split("\n\n")[1:]
    return {re.findall(r"(\w+)\(", part.split("*/")[-1])[0]: f"{part}\n" for part in parts}


def _flat(name: str, kind: Any, *, at: bool = False) -> Struct:
    """Return the kind of a plan, a view or a frame."""
    fields = tuple((field, {"int": INT, "bool": BOOL}[what]) for field, what in named_fields(kind).items())
    return Struct(name, fields, pointer=at, const=at)


def _stored_places(module: Any) -> set[int] | None:
    """Return which integers the rules of a module set; None if that is not known."""
    places: set[int] = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "ints":
            place = vars(module).get(ast.unparse(node.slice))
            if not isinstance(place, int):
                return None
            places.add(place)
    return places


def _kind_of(value: Any, real: str) -> str:
    return INT if isinstance(value, int) else real


def _bracketed(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _type(name: str) -> str:
    return f"lpsm_{_snake(name)}"


def _said(kind: Any) -> str:
    return str(kind.__doc__ or "").partition("\n")[0]
