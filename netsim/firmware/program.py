"""A policy as C99: its rule with all that it calls, its state, and what fills in the state.

The state is one structure that the caller owns; nothing is allocated, and nothing called but `memset`, `memcpy` and
functions of `math.h`.  Instants and other whole numbers have 64 bits, real numbers those of `real`.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import prod
from textwrap import dedent, fill
from typing import Any, NamedTuple

import numpy as np

from lpsm.native.entries import named_fields
from lpsm.native.records import RECORDS, dtype_of
from netsim.firmware import values
from netsim.firmware.functions import Function
from netsim.firmware.values import BOOL, BYTE, INT, SHORT, Array, Struct, UnsupportedError, Value, is_whole, literal
from netsim.policies.compiled import CompiledForm, FlatFrame, FlatView
from netsim.policies.protocol import Plan

_SHORTEST_RUN = 12  # equal numbers from here on are filled in by a loop


class _Field(NamedTuple):
    """A field of the state: its kind in memory, its place among the integers, and its value where no rule sets it."""

    kind: Any
    at: int
    const: Any


class Program:
    """The rule of a compiled form in C, with `real` numbers of type double or float."""

    def __init__(self, form: CompiledForm, real: str = "double") -> None:
        self.real, self._form, self.plan = real, form, _flat("lpsm_plan", Plan)
        self._set = set[Any]()  # what the rules set: names of fields, and places of integers; None: any
        self._known: dict[object, Function] = {}
        policy = Array(INT, form.ints.shape, "ints"), Array(real, form.floats.shape, "floats")
        flat = _flat("lpsm_view", FlatView, at=True), _flat("lpsm_frame", FlatFrame, at=True)
        before, self._codes = None, list[str]()
        while before != self._codes:  # what is found of kinds, and of what is set, changes what was translated before
            before = self._codes
            self._functions: list[Function] = []
            self._begun: dict[Function, str] = {}
            self._defined: dict[str, Any] = {}
            self._tables: dict[str, Any] = {}
            self._records: dict[str, dict[str, _Field]] = {}
            self._rules = [
                rule and self.function(rule, (kind, *policy)) for rule, kind in zip(form.rules, flat, strict=True)
            ]
            self._prepare = form.prepare and self.function(form.prepare, policy[:1])
            self._codes = [one.code for one in self._functions]

    # -- what functions ask

    def function(self, function: Any, kinds: Any) -> Function:
        """Return a function for arguments of these kinds, translated behind all that it calls."""
        function = inspect.unwrap(function)
        if (key := (function, *kinds)) not in self._known:
            self._known[key] = Function(self, function, kinds)
        found = self._known[key]
        if found not in self._begun:
            name = f"{_stem(function.__module__)}_{function.__name__.strip('_')}"
            alike = [*self._begun.values()].count(name)
            self._begun[found] = name
            found.translate(name + f"_of_{alike + 1}" * (alike > 0))
            self._functions.append(found)
        elif found not in self._functions:
            raise ValueError(f"{function.__name__} calls itself")
        return found

    def known(self, name: str, value: Any, module: str = "") -> Value:
        """Return what a module has under a name: a number or a table."""
        if isinstance(value, np.ndarray | tuple):
            return Value(self._word(name, self._tables, value, module), Array(_kind(value, self.real), np.shape(value)))
        value = value.item() if isinstance(value, np.generic) else value
        if not isinstance(value, bool | int | float):
            raise ValueError(f"{name} is no number")
        word = self._word(name, self._defined, value, module) if np.isfinite(value) else ""
        return values.number(value, self.real, word)

    @staticmethod
    def _word(name: str, words: dict[str, Any], value: Any, module: str = "") -> str:
        word = name.strip("_").upper()
        while word in words and not np.array_equal(words[word], value):
            word = f"{_stem(module).upper()}_{word}" if module else f"{word}_"
        words[word] = value
        return word

    def record(self, dtype: Any, begin: int) -> Value:
        """Return the record of a type that stands in the integers from a place on."""
        name = next(one for one in RECORDS if dtype_of(one) == dtype)
        fields = self._records[name] = {field: self._field(field, of, begin + at // 8)
            for field, (of, at) in dtype.fields.items()}  # fmt: skip
        kinds = tuple((field, one.kind) for field, one in fields.items())
        return Value(f"&policy->{_snake(name)}", Struct(f"lpsm_{_snake(name)}", kinds, pointer=True))

    def _field(self, name: str, dtype: Any, at: int) -> _Field:
        """Return a field: instants and durations have 64 bits in memory, other whole numbers 32."""
        base, shape = dtype.subdtype or (dtype, ())
        kind = self.real if base.kind == "f" else INT if name.endswith("_ns") else SHORT
        if shape or name in self._set:
            return _Field(Array(kind, shape) if shape else kind, at, None)
        value = self._form.ints[at : at + 1].view(base)[0]
        # others cost more as numbers in the code than in the state
        return _Field(kind, at, value if base.kind == "i" or value == 0.0 else None)

    def constant(self, record: str, field: str, is_set: bool) -> Value | None:
        """Return a field of a record in the state that no rule sets; None if it is none."""
        if is_set:
            self._set.add(field)
            return None
        fields = next((fields for name, fields in self._records.items() if record == f"lpsm_{_snake(name)}"), None)
        value = fields and fields[field].const
        return None if value is None else self.known(f"THE_{field}", value)

    def integer(self, place: Value, said: str, is_set: bool) -> Value:
        """Return one of the integers of a rule; `said` is how its place is called."""
        if is_set:
            self._set.add(place.const)
        if place.const is not None and not self._set & {place.const, None}:
            return self.known(f"THE_{said or f'INTEGER_{place.const}'}", int(self._form.ints[place.const]))
        return Value(f"policy->ints[{place.code}]", INT)

    # -- the text

    def parts(self) -> dict[str, str]:
        """Return what stands in the templates between @: the state, and the parts of the source."""
        codes, members, text = "\n".join(self._codes), list[str](), ""
        places: list[tuple[str, Any, Any]] = []  # of what is no constant: its place, its kind, and its words at first
        for name, fields in self._records.items():
            word, kept = _snake(name), {field: one for field, one in fields.items() if one.const is None}
            lines = [_member(kept[field].kind, field) for field in sorted(kept, key=lambda one: _size(kept[one].kind))]
            said = (RECORDS[name].__doc__ or "").partition("\n")[0]
            text += "".join([f"/* {said} */\ntypedef struct {{\n", *lines, f"}} lpsm_{word};\n\n"])
            members.append(f"    lpsm_{word} {word};\n")
            places += [(f"policy->{word}.{field}", one.kind, self._form.ints[one.at :][: _size(one.kind)])
                for field, one in kept.items()]  # fmt: skip
        first = min((one.at for fields in self._records.values() for one in fields.values()), default=None)
        for name, of, numbers in (
            ("ints", INT, self._form.ints[: first if "policy->ints[" in codes else 0]),
            ("floats", self.real, self._form.floats.view(np.int64)),
        ):
            if numbers.size:
                members.append(_member(kind := Array(of, numbers.shape), name))
                places.append((f"policy->{name}", kind, numbers))
        (plan, observe), prepare = self._rules, self._prepare
        begin = [line for place, kind, words in places if prepare is None or _size(kind) < _SHORTEST_RUN
            for line in self._filled(place, kind, words)]  # fmt: skip
        begin += [f"    {prepare.name}(policy);\n"] if prepare else []
        members = members or ["    char none;\n"]
        return {
            "state": f"{text}/* All that the policy knows. */\ntypedef struct {{\n{''.join(members)}}} lpsm_policy;\n",
            "definitions": self._definitions(codes + "".join(begin)), "functions": codes,
            "beginning": "".join(begin), "plan": f"{plan.name}(policy, view)",
            "observe": f"{observe.name}(policy, frame)" if observe else "(void)policy;\n    (void)frame",
        }  # fmt: skip

    def _definitions(self, codes: str) -> str:
        """Return the constants, kinds of results, tables and small functions that are used."""
        if self.real == "float" and "from_bits(" in codes:
            raise UnsupportedError("its learner works on the bits of numbers of type double, got --real float")
        defined = [f"#define {name} {self._literals(value)}\n" for name, value in sorted(self._defined.items())
            if re.search(rf"\b{name}\b", codes)]  # fmt: skip
        kinds = dict.fromkeys(one.returns for one in self._functions if isinstance(one.returns, Struct))
        results = [f"typedef struct {{ {' '.join(f'{kind} {name};' for name, kind in one.fields)} }} {one.name};\n"
            for one in kinds if one is not self.plan]  # fmt: skip
        tables = [
            f"static const {_kind(value, self.real)} {name}[{np.size(value)}] = {{\n{self._literals(value)}\n}};\n"
            for name, value in self._tables.items()
            if re.search(rf"\b{name}\b", codes)
        ]
        helpers = {name.replace("NUMBER", kind): text.replace("NUMBER", kind)
            for kind in (BYTE, SHORT, INT, self.real) for name, text in _helpers().items()}  # fmt: skip
        used = [text for name, text in helpers.items() if re.search(rf"\b{name}\(", codes)]
        return "\n".join(["".join(defined), "".join(results), *tables, *used])

    def _literals(self, value: Any) -> str:
        """Write a number, in brackets if it is negative, or those of a table."""
        kind = _kind(value, self.real)
        if isinstance(value, bool | int | float):
            return re.sub("^-.*", r"(\g<0>)", literal(value, kind))
        words = ", ".join(literal(one, kind) for one in np.asarray(value).ravel().tolist())
        return fill(words, 110, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)

    def _filled(self, place: str, kind: Any, words: Any) -> list[str]:
        """Write what sets a number, or an array in runs of equal ones and tables of others; all are 0 already."""
        of = kind.of if isinstance(kind, Array) else kind
        numbers = words.view(np.float64) if of == self.real else words
        if not isinstance(kind, Array):
            return [f"    {place} = {literal(numbers.item(), of)};\n"] if numbers.any() else []
        lines, at, size = list[str](), 0, numbers.size
        changes = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), size]
        for first, end in [*(run for run in pairwise(changes) if run[1] - run[0] >= _SHORTEST_RUN), (size, size)]:
            if numbers[at:first].any():
                name = self._word("BEGINNING", self._tables, numbers[at:first])
                lines.append(f"    memcpy({place} + {at}, {name}, sizeof {name});\n")
            if numbers[first:end].any():
                lines.append(f"    fill_{of}({place} + {first}, {end - first}, {literal(numbers[first], of)});\n")
            at = end
        return lines


def template(name: str, /, **parts: str) -> str:
    """Return a text of the package's data with parts in place of their names between @."""
    text = (files("netsim") / "data" / "firmware" / name).read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda found: parts[found[1]], text)


@cache
def _helpers() -> dict[str, str]:
    """Return the small functions by name, in which NUMBER stands for a type."""
    parts = template("helpers.c").split("\n\n")[1:]
    return {re.findall(r"(\w+)\(", part.split("*/")[-1])[0]: f"{part}\n" for part in parts}


def _flat(name: str, kind: Any, *, at: bool = False) -> Struct:
    """Return the kind of a plan, a view or a frame."""
    fields = tuple((field, {"int": INT, "bool": BOOL}[what]) for field, what in named_fields(kind).items())
    return Struct(name, fields, pointer=at, const=at)


def _kind(value: Any, real: str) -> str:
    return INT if np.asarray(value).dtype.kind == "i" else real


def _size(kind: Any) -> int:
    return prod(kind.shape) if isinstance(kind, Array) else 1


def _member(kind: Any, name: str) -> str:
    return f"    {kind.of} {name}[{max(1, _size(kind))}];\n" if isinstance(kind, Array) else f"    {kind} {name};\n"


def _stem(module: str) -> str:
    return module.partition("@")[0].rpartition(".")[2].removesuffix("_rule")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.partition("@")[0]).lower()
