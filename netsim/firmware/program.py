"""A policy as C99: its rule with all that it calls, its state, and what fills in the state.

The state is one structure that the caller owns; nothing is allocated, and nothing called but `memset`, `memcpy` and
functions of `math.h`.  Instants and other whole numbers have 64 bits, real numbers those of `real`.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import prod
from textwrap import fill
from typing import Any

import numpy as np

from lpsm.native.entries import INTS, Signature, entry_of, named_fields
from lpsm.native.records import RECORDS, dtype_of
from netsim.firmware import values
from netsim.firmware.functions import Function
from netsim.firmware.values import BOOL, INT, SHORT, Array, Struct, UnsupportedError, Value, converted, literal, number
from netsim.policies.compiled import CompiledForm, FlatFrame, FlatView
from netsim.policies.protocol import Plan

_SHORTEST_RUN = 12  # equal numbers from here on are filled in by a loop


class Program:
    """The rule of a compiled form in C, with `real` numbers of type double or float."""

    def __init__(self, form: CompiledForm, real: str = "double") -> None:
        self.real, self._ints, self._floats, self._prepare = real, form.ints, form.floats, form.prepare
        self._functions: dict[object, Function | None] = {}  # None: begun
        self._codes: dict[str, str] = {}
        self._defined: dict[str, Any] = {}
        self._tables: dict[str, Any] = {}
        self._results: dict[str, Struct] = {}
        self._records: dict[str, int] = {}
        self._constants: dict[tuple[str, str], Any] = {}
        self._keeps_ints = False
        self._helpers = {name: code.replace("NUMBER", real) for name, code in _helpers().items()}
        self.plan = _flat("lpsm_plan", Plan)
        rules = [rule for rule in form.rules if rule is not None]
        module = sys.modules[getattr(rules[0], "py_func", rules[0]).__module__]
        self._stored, self._assigned = _stored_places(module), _assigned_fields(module)
        flat = [_flat("lpsm_view", FlatView, at=True), _flat("lpsm_frame", FlatFrame, at=True)]
        self._rules = [self.function(rule, [kind, *values.MEMORY]) for rule, kind in zip(rules, flat, strict=False)]
        if form.prepare is not None:
            self._rules.append(self.function(form.prepare, [values.INTS]))

    # -- what functions ask

    def function(self, function: Any, kinds: Any) -> Function:
        """Return a function for arguments of these kinds, translated if it was not."""
        function = getattr(function, "py_func", function)
        key = function, tuple(kinds)
        if key not in self._functions:
            name = f"{_stem(function.__module__)}_{function.__name__.strip('_')}"
            known = sum(re.fullmatch(rf"{name}(_of_\d+)?", one) is not None for one in self._codes)
            made = Function(self, function, kinds, f"{name}_of_{known + 1}" if known else name)
            self._functions[key] = None
            code = made.translate()
            self._functions[key], self._codes[made.name] = made, code
        if (found := self._functions[key]) is None:
            raise UnsupportedError(f"{function.__name__} calls itself")
        return found

    def inlined(self, function: Any, kinds: Any, given: Any) -> Value:
        """Return the parts of arrays that a function returns."""
        return Function(self, function, kinds, "", given).inlined()

    def helper(self, name: str, kind: str) -> str:
        """Return the name of a small function for numbers of a kind."""
        called = f"{name}_{kind}"
        self._helpers[called] = _helpers()[f"{name}_NUMBER"].replace("NUMBER", kind)
        return called

    def struct(self, kind: Struct, given: Sequence[Value] = (), code: str = "") -> Value:
        """Return a plan, or several results: these values, or what some code gives."""
        if kind is not self.plan:
            self._results[kind.name] = kind
        parts = (converted(one, of).code for one, (_, of) in zip(given, kind.fields, strict=False))
        return Value(code or f"({kind.name}){{{', '.join(parts)}}}", kind)

    def known(self, name: str, value: Any, module: str = "") -> Value:
        """Return what a module has under a name: a number or a table."""
        if isinstance(value, np.ndarray | tuple):
            array, word = np.asarray(value), self._word(name, self._tables, value, module)
            return Value(word, Array(INT if array.dtype.kind == "i" else self.real, array.shape))
        value = value.item() if isinstance(value, np.generic) else value
        if not isinstance(value, bool | int | float):
            raise UnsupportedError(f"{name} is no number")
        return number(value, self.real, self._word(name, self._defined, value, module) if np.isfinite(value) else "")

    @staticmethod
    def _word(name: str, words: dict[str, Any], value: Any, module: str = "") -> str:
        word = name.strip("_").upper()
        while word in words and not np.array_equal(words[word], value):
            word = f"{_stem(module).upper()}_{word}" if module else f"{word}_"
        words[word] = value
        return word

    def record(self, dtype: Any, at: int) -> Value:
        """Return the record of a type that stands in the integers from a place on."""
        name = next(one for one in RECORDS if dtype_of(one) == dtype)
        self._records[name] = at
        fields = tuple((field, self._field(of, field)) for field, (of, _) in _fields_of(name).items())
        for field, (of, place) in _fields_of(name).items():
            if field not in self._assigned and not of.shape:
                value = self._ints[at + place // 8 :][:1].view(of)[0]
                if of.kind == "i" or value == 0.0:  # others cost more as numbers in the code than in the state
                    self._constants[f"lpsm_{_snake(name)}", field] = value
        return Value(f"&policy->{_snake(name)}", Struct(f"lpsm_{_snake(name)}", fields, pointer=True))

    def _field(self, dtype: Any, name: str) -> Any:
        """Return the kind of a field in memory: instants and durations have 64 bits, other whole numbers 32."""
        base, shape = dtype.subdtype or (dtype, ())
        kind = self.real if base.kind == "f" else INT if name.endswith("_ns") else SHORT
        return Array(kind, shape) if shape else kind

    def constant(self, record: str, field: str) -> Value | None:
        """Return a field of a record in the state that no rule sets; None if it is none."""
        value = self._constants.get((record, field))
        return None if value is None else self.known(f"THE_{field}", value)

    def integer(self, place: Value, said: str) -> Value:
        """Return one of the integers of a rule; `said` is how its place is called."""
        if place.const is not None and self._stored is not None and place.const not in self._stored:
            return self.known(f"THE_{said or f'INTEGER_{place.const}'}", int(self._ints[place.const]))
        self._keeps_ints = True
        return Value(f"policy->ints[{place.code}]", INT)

    def numbers(self) -> Value:
        """Return all numbers of a rule that stand in no record."""
        return Value("policy->floats", Array(self.real, self._floats.shape))

    # -- the text

    def state(self) -> str:
        """Return the declaration of the state."""
        text, members = "", []
        for name in self._records:
            word, said = _snake(name), (RECORDS[name].__doc__ or "").partition("\n")[0]
            kinds = [(self._field(dtype, one), one) for one, (dtype, _) in self._fields(name).items()]
            fields = [f"    {_member(*one)}" for one in sorted(kinds, key=lambda one: _size(one[0]))]  # near ones first
            text += "\n".join([f"/* {said} */\ntypedef struct {{", *fields, f"}} lpsm_{word};\n\n"])
            members.append(f"    lpsm_{word} {word};")
        members += [f"    int64_t ints[{self._n_ints}];"] * self._keeps_ints
        members += [f"    {self.real} floats[{self._floats.size}];"] * bool(self._floats.size)
        body = "\n".join(members or ["    char none;"])
        return text + f"/* All that the policy knows. */\ntypedef struct {{\n{body}\n}} lpsm_policy;\n"

    def _fields(self, name: str) -> dict[str, Any]:
        """Return the fields of a record that are no constants."""
        return {field: one for field, one in _fields_of(name).items()
            if (f"lpsm_{_snake(name)}", field) not in self._constants}  # fmt: skip

    @property
    def _n_ints(self) -> int:
        """How many integers stand in no record."""
        return min(self._records.values(), default=self._ints.size)

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
        defined = [f"#define {name} {self._definition(value)}\n"
            for name, value in sorted(self._defined.items()) if re.search(rf"\b{name}\b", codes)]  # fmt: skip
        return "\n".join(["".join(defined), "".join(types), *tables, *parts, codes, ends])

    def _definition(self, value: Any) -> str:
        text = literal(value, INT if isinstance(value, int) else self.real)
        return f"({text})" if text.startswith("-") else text

    def _table(self, name: str, value: Any) -> str:
        array = np.asarray(value)
        kind = INT if array.dtype.kind == "i" else self.real
        numbers = fill(", ".join(literal(one, kind) for one in array.ravel().tolist()), 110,
            initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)  # fmt: skip
        return f"static const {kind} {name}[{array.size}] = {{\n{numbers}\n}};\n"

    def _beginning(self) -> tuple[str, str]:
        """Write the function that fills in the state as it is at first, and those that firmware calls."""
        begun, lines = np.zeros_like(self._ints), ["    memset(policy, 0, sizeof *policy);"]
        fields = [(f"policy->{_snake(name)}.{field}", self._field(dtype, field), start + at // 8)
            for name, start in self._records.items() for field, (dtype, at) in self._fields(name).items()]  # fmt: skip
        for late in (False, True):
            if late and self._prepare is not None:
                entry_of(self._prepare, Signature(None, (INTS,)))(begun)
                lines.append(f"    {self._rules[-1].name}(policy);")
            for place, kind, at in fields:
                part = slice(at, at + _size(kind))
                if (late or _size(kind) < _SHORTEST_RUN) and not np.array_equal(begun[part], self._ints[part]):
                    begun[part] = self._ints[part]
                    lines += self._filled(place, kind, begun[part])
        if self._keeps_ints:
            lines += self._filled("policy->ints", Array(INT, (self._n_ints,)), self._ints[: self._n_ints])
        if self._floats.size:
            lines += self._filled("policy->floats", Array(self.real, self._floats.shape), self._floats.view(np.int64))
        calls = [f"{one.name}({'policy, ' * any(kind in values.MEMORY for kind in one.kinds.values())}{flat})"
            for one, flat in zip(self._rules, ("view", "frame"), strict=False)]  # fmt: skip
        observes = len(self._rules) - (self._prepare is not None) > 1
        told = f"    {calls[1]};" if observes else "    (void)policy;\n    (void)frame;"
        return "\n".join(["void lpsm_policy_init(lpsm_policy *policy)\n{", *lines, "}\n"]), (
            "lpsm_plan lpsm_policy_plan(lpsm_policy *policy, const lpsm_view *view)\n"
            f"{{\n    return {calls[0]};\n}}\n\n"
            f"void lpsm_policy_observe(lpsm_policy *policy, const lpsm_frame *frame)\n{{\n{told}\n}}\n"
        )

    def _filled(self, place: str, kind: Any, words: Any) -> list[str]:
        """Write what sets a number, or an array in runs of equal ones and tables of others; all are 0 already."""
        of = kind.of if isinstance(kind, Array) else kind
        numbers = words.view(np.float64) if of == self.real else words
        if not isinstance(kind, Array):
            return [f"    {place} = {literal(numbers.item(), of)};"] if numbers.any() else []
        lines, at, size = list[str](), 0, numbers.size
        changes = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), size]
        for first, end in [*(run for run in pairwise(changes) if run[1] - run[0] >= _SHORTEST_RUN), (size, size)]:
            if numbers[at:first].any():
                name = self._word("BEGINNING", self._tables, numbers[at:first])
                lines.append(f"    memcpy({place} + {at}, {name}, sizeof {name});")
            if numbers[first:end].any():
                value = literal(numbers[first], of)
                lines.append(f"    {self.helper('fill', of)}({place} + {first}, {end - first}, {value});")
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
    stores = (node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Subscript)
        and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "ints")  # fmt: skip
    places = {vars(module).get(ast.unparse(node.slice)) for node in stores}
    return None if any(not isinstance(place, int) for place in places) else places


def _assigned_fields(module: Any) -> set[str]:
    """Return the names of fields that the rules of a module set, or anything that it takes from others does."""
    found, seen, left = set[str](), set[str](), [module.__name__]
    while left:
        if (name := left.pop()) in seen or not name.startswith("netsim."):
            continue
        seen.add(name)
        left += [
            str(getattr(one, "__module__", getattr(one, "__name__", ""))) for one in vars(sys.modules[name]).values()
        ]
        found |= {node.attr for node in ast.walk(ast.parse(inspect.getsource(sys.modules[name])))
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}  # fmt: skip
    return found


def _fields_of(name: str) -> dict[str, Any]:
    """Return the type and the place of each field of a kind of record."""
    return dict(dtype_of(name).fields or {})


def _size(kind: Any) -> int:
    return prod(kind.shape) if isinstance(kind, Array) else 1


def _member(kind: Any, name: str) -> str:
    return f"{kind.of} {name}[{max(1, _size(kind))}];" if isinstance(kind, Array) else f"{kind} {name};"


def _stem(module: str) -> str:
    return module.partition("@")[0].rpartition(".")[2].removesuffix("_rule")


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.partition("@")[0]).lower()
