"""A policy as C99: its rule with all that it calls, its state, and what fills in the state.

The state is one structure that the caller owns; nothing is allocated, and nothing called but `memset`, `memcpy` and
functions of `math.h`.  Instants and other whole numbers have 64 bits, real numbers those of `real`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import pairwise
from math import prod
from textwrap import fill
from typing import Any

import numpy as np

from lpsm.native.entries import named_fields
from lpsm.native.records import RECORDS, dtype_of
from netsim.firmware.functions import Function
from netsim.firmware.values import BOOL, BYTE, INT, SHORT, Array, Struct, UnsupportedError, Value, literal, number
from netsim.policies.compiled import CompiledForm, FlatFrame, FlatView
from netsim.policies.protocol import Plan

_SHORTEST_RUN = 12  # equal numbers from here on are filled in by a loop


class Program:
    """The rule of a compiled form in C, with `real` numbers of type double or float."""

    def __init__(self, form: CompiledForm, real: str = "double") -> None:
        self.real, self._form, self.plan = real, form, _flat("lpsm_plan", Plan)
        self._set = set[Any]()  # what the rules set: names of fields, and places of integers; None: any
        self._known: dict[object, Function] = {}
        ints, floats = Array(INT, form.ints.shape, "ints"), Array(real, form.floats.shape, "floats")
        view, frame = _flat("const lpsm_view", FlatView), _flat("const lpsm_frame", FlatFrame)
        takes: Any = (view, ints, floats), (frame, ints, floats), (ints,)
        before, self._codes = None, list[str]()
        while before != self._codes:  # what is found of kinds, and of what is set, changes what was translated before
            before = self._codes
            self._functions: list[Function] = []
            self._begun: dict[Function, str] = {}
            self._constants: dict[str, Any] = {}
            self._records: dict[str, tuple[str, dict[str, Any]]] = {}  # what is said of each, and its fields
            self._first = form.ints.size  # where they begin
            self._rules = [rule and self.function(rule, kinds)
                for rule, kinds in zip((*form.rules, form.prepare), takes, strict=True)]  # fmt: skip
            self._codes = [one.code for one in self._functions]

    # -- what functions ask

    def function(self, function: Any, kinds: Any) -> Function:
        """Return a function for arguments of these kinds, translated behind all that it calls."""
        function = inspect.unwrap(function)
        found = self._known.get((function, *kinds)) or Function(self, function, kinds)
        if found not in self._begun:
            self._known[function, *kinds] = found
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
            of = number(np.ravel(value)[0], self.real).kind
            return Value(self._word(name, value, module), Array(of, np.shape(value)))
        if not isinstance(value, bool | int | float | np.generic):
            raise ValueError(f"{name} is no number")
        word = self._word(name, value, module) if np.isfinite(value) else ""
        return number(value, self.real, word)

    def _word(self, name: str, value: Any, module: str = "") -> str:
        """Return a name in C for a constant, that nothing else has."""
        word = name.strip("_").upper()
        while not np.array_equal(self._constants.setdefault(word, value), value):
            word = f"{_stem(module).upper()}_{word}" if module else f"{word}_"
        return word

    def record(self, dtype: Any, begin: int) -> Value:
        """Return a record among the integers: 64 bits in C for instants and durations, 32 for other whole numbers."""
        name, fields = next(one for one in RECORDS if dtype_of(one) == dtype), dict[str, Any]()
        word = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.partition("@")[0]).lower()
        for field, (of, at) in dtype.fields.items():
            base, shape = of.subdtype or (of, ())
            kind = self.real if base.kind == "f" else INT if field.endswith("_ns") else SHORT
            fields[field] = Array(kind, shape) if shape else kind, self._form.ints[begin + at // 8 :][: prod(shape)]
        self._first = min(begin, self._first)
        self._records[f"lpsm_{word}"] = (RECORDS[name].__doc__ or "").partition("\n")[0], fields
        kinds = tuple((field, kind) for field, (kind, _) in fields.items())
        return Value(f"&policy->{word}", Struct(f"lpsm_{word}", kinds, pointer=True))

    def constant(self, record: str, field: str, is_set: bool) -> Value | None:
        """Return a field of a record in the state that no rule sets; None if it is none."""
        if is_set:
            self._set.add(field)
        _, fields = self._records.get(record, ("", {}))
        if field not in fields or self._varies(field, *fields[field]):
            return None
        kind, words = fields[field]
        return self.known(f"THE_{field}", 0.0 if kind == self.real else words[0])

    def _varies(self, name: str, kind: Any, words: Any) -> bool:
        """Whether a field is no constant: some, too, that cost more as numbers in the code than in the state."""
        return name in self._set or isinstance(kind, Array) or (kind == self.real and words.any())

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
        codes, members, records = "\n".join(self._codes), list[str](), ""
        places: list[tuple[str, Any, Any]] = []  # of what is no constant: its place, its kind, and its words at first
        for name, (said, fields) in self._records.items():
            word = name.removeprefix("lpsm_")
            kept = [(field, *one) for field, one in fields.items() if self._varies(field, *one)]
            lines = [_member(kind, field) for field, kind, _ in sorted(kept, key=lambda one: one[2].size)]
            records += "".join([f"/* {said} */\ntypedef struct {{\n", *lines, f"}} {name};\n\n"])
            members.append(f"    {name} {word};\n")
            places += [(f"policy->{word}.{field}", kind, words) for field, kind, words in kept]
        ints = self._form.ints[: self._first if "policy->ints[" in codes else 0]
        for name, of, numbers in ("ints", INT, ints), ("floats", self.real, self._form.floats.view(np.int64)):
            if numbers.size:
                members.append(_member(kind := Array(of, numbers.shape), name))
                places.append((f"policy->{name}", kind, numbers))
        plan, observe, prepare = (rule and rule.name for rule in self._rules)
        begin = "".join(line for place, kind, words in places if prepare is None or words.size < _SHORTEST_RUN
            for line in self._filled(place, kind, words))  # fmt: skip
        return {
            "records": records, "members": "".join(members) or "    char none;\n",
            "definitions": self._definitions(codes + begin), "functions": codes,
            "beginning": begin + f"    {prepare}(policy);\n" * bool(prepare), "plan": f"{plan}(policy, view)",
            "observe": f"{observe}(policy, frame)" if observe else "(void)policy;\n    (void)frame",
        }  # fmt: skip

    def _definitions(self, codes: str) -> str:
        """Return the constants, kinds of results, tables and small functions that are used."""
        if self.real == "float" and "from_bits(" in codes:
            raise UnsupportedError("its learner works on the bits of numbers of type double, got --real float")
        constants = [(name, value) for name, value in self._constants.items() if re.search(rf"\b{name}\b", codes)]
        defined = [self._defined(name, value) for name, value in sorted(constants) if not np.ndim(value)]
        tables = [self._defined(name, value) for name, value in constants if np.ndim(value)]
        kinds = dict.fromkeys(one.returns for one in self._functions if isinstance(one.returns, Struct))
        results = [f"typedef struct {{ {' '.join(f'{kind} {name};' for name, kind in one.fields)} }} {one.name};\n"
            for one in kinds if one is not self.plan]  # fmt: skip
        helpers = {re.findall(r"(\w+)\(", text.split("*/")[-1])[0]: text for kind in (BYTE, SHORT, INT, self.real)
            for text in template("helpers.c").replace("NUMBER", kind).split("\n\n")[1:]}  # fmt: skip
        used = [f"{text}\n" for name, text in helpers.items() if re.search(rf"\b{name}\(", codes)]
        return "\n".join(["".join(defined), "".join(results), *tables, *used])

    def _defined(self, name: str, value: Any) -> str:
        """Define a number, in brackets if it is negative, or a table."""
        kind = number(np.ravel(value)[0], self.real).kind
        if not np.ndim(value):
            return f"#define {name} " + re.sub("^-.*", r"(\g<0>)", literal(value, kind)) + "\n"
        words = ", ".join(literal(one, kind) for one in np.asarray(value).ravel().tolist())
        words = fill(words, 110, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        return f"static const {kind} {name}[{np.size(value)}] = {{\n{words}\n}};\n"

    def _filled(self, place: str, kind: Any, words: Any) -> Iterator[str]:
        """Write what sets a number, or an array in runs of equal ones and tables of others; all are 0 already."""
        of = kind.of if isinstance(kind, Array) else kind
        numbers = words.view(np.float64) if of == self.real else words
        if not isinstance(kind, Array):
            yield f"    {place} = {literal(numbers.item(), of)};\n" * bool(numbers.any())
            return
        at, size = 0, numbers.size
        changes = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), size]
        for first, end in [*(run for run in pairwise(changes) if run[1] - run[0] >= _SHORTEST_RUN), (size, size)]:
            if numbers[at:first].any():
                name = self._word("BEGINNING", numbers[at:first])
                yield f"    memcpy({place} + {at}, {name}, sizeof {name});\n"
            if numbers[first:end].any():
                yield f"    fill_{of}({place} + {first}, {end - first}, {literal(numbers[first], of)});\n"
            at = end


def template(name: str, /, **parts: str) -> str:
    """Return a text of the package's data with parts in place of their names between @."""
    text = (files("netsim") / "data" / "firmware" / name).read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda found: parts[found[1]], text)


def _flat(name: str, kind: Any) -> Struct:
    """Return the kind of a plan, or of a pointer to a view or a frame."""
    fields = tuple((field, {"int": INT, "bool": BOOL}[what]) for field, what in named_fields(kind).items())
    return Struct(name, fields, pointer=name.startswith("const "))


def _member(kind: Any, name: str) -> str:
    return f"    {kind.of} {name}[{prod(kind.shape)}];\n" if isinstance(kind, Array) else f"    {kind} {name};\n"


def _stem(module: str) -> str:
    return module.partition("@")[0].rpartition(".")[2].removesuffix("_rule")
