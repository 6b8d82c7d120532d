"""Expressions of a rule as C: their code, their kinds, and what is known of them already."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from netsim.firmware.values import (
    BOOL,
    BYTE,
    INT,
    NONE,
    SHORT,
    WHOLE,
    Array,
    Level,
    Memory,
    UnsupportedError,
    Value,
    converted,
    joined,
    number,
)  # fmt: skip

if TYPE_CHECKING:
    from netsim.firmware.program import Program

OPERATORS: dict[type, tuple[str, int, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", Level.PLUS, lambda a, b: a + b), ast.Sub: ("-", Level.PLUS, lambda a, b: a - b),
    ast.Mult: ("*", Level.TIMES, lambda a, b: a * b), ast.LShift: ("<<", Level.SHIFT, lambda a, b: a << b),
    ast.RShift: (">>", Level.SHIFT, lambda a, b: a >> b), ast.BitAnd: ("&", Level.BIT_AND, lambda a, b: a & b),
    ast.BitOr: ("|", Level.BIT_OR, lambda a, b: a | b), ast.FloorDiv: ("//", Level.ATOM, lambda a, b: a // b),
    ast.Mod: ("%", Level.ATOM, lambda a, b: a % b), ast.Lt: ("<", Level.LESS, lambda a, b: a < b),
    ast.LtE: ("<=", Level.LESS, lambda a, b: a <= b), ast.Gt: (">", Level.LESS, lambda a, b: a > b),
    ast.GtE: (">=", Level.LESS, lambda a, b: a >= b), ast.Eq: ("==", Level.EQUAL, lambda a, b: a == b),
    ast.NotEq: ("!=", Level.EQUAL, lambda a, b: a != b),
}  # fmt: skip
_CALLED = {"//": "floor_div", "%": "floor_mod"}
_MATHS = {"exp", "log", "log2", "sqrt", "floor", "expm1", "log1p"}
ANNOTATED = {"int": INT, "bool": BOOL}
_TAKEN = {"auto", "case", "char", "const", "default", "do", "double", "enum", "extern", "goto", "inline", "int",
    "long", "policy", "register", "short", "signed", "static", "struct", "switch", "typedef", "union", "void",
    "whole"}  # fmt: skip


def safe(name: str) -> str:
    """Return a name that C leaves free."""
    return f"{name}_" if name in _TAKEN else name


class Expressions:
    """What translates the expressions of one function; `kinds` are those of its variables so far."""

    program: Program
    real: str
    globals: dict[str, Any]
    arguments: list[str]
    kinds: dict[str, Any]
    _bound: dict[str, Value]  # variables that are a constant, or parts of arrays
    _stored: Counter[str]  # how often each variable is set

    def _mark(self, name: str) -> None:
        """Note that what a variable points to is written."""
        raise NotImplementedError

    def _truth(self, node: ast.expr) -> Value:
        return converted(self._value(node), BOOL)

    def _value(self, node: ast.expr) -> Value:
        found = self._place(node)
        return replace(found, kind=INT) if found.kind in (SHORT, BYTE) else found

    def _place(self, node: ast.expr) -> Value:
        """Return an expression with the kind that it has in memory."""
        found: Value = getattr(self, f"_of_{type(node).__name__.lower()}", self._refuse)(node)
        return found

    def _refuse(self, node: ast.expr) -> Value:
        raise UnsupportedError(ast.unparse(node)[:60])

    def _of_constant(self, node: ast.Constant) -> Value:
        if node.value is None:
            return Value("", NONE, 0)
        assert isinstance(node.value, bool | int | float)
        return number(node.value, self.real)

    def _of_name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self._bound:
            return self._bound[name]
        if name in self.kinds:
            kind = self.kinds[name]
            return Value(safe(name), kind, root=name if isinstance(kind, Array) else "")
        if name in self._stored or name in self.arguments:
            raise UnsupportedError(f"{name} is not set yet")
        return self.program.known(name, self.globals[name], self.globals["__name__"])

    def _of_tuple(self, node: ast.Tuple) -> Value:
        parts: list[Value] = []
        for one in node.elts:
            if isinstance(one, ast.Starred):
                parts += self._value(one.value).parts
            else:
                parts.append(self._value(one))
        return Value("", "", parts=tuple(parts))

    def _of_attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and inspect.ismodule(module := self.globals.get(node.value.id)):
            return self.program.known(node.attr, getattr(module, node.attr), module.__name__)
        owner = self._value(node.value)
        if isinstance(owner.kind, Array):
            shape = owner.kind.shape
            if node.attr == "size":
                return number(prod(shape), self.real)
            assert node.attr == "shape"
            return Value("", "", parts=tuple(number(size, self.real) for size in shape))
        kind = dict(owner.kind.fields)[node.attr]
        arrow = "." if owner.code.startswith("&") or not owner.kind.pointer else "->"
        return Value(f"{owner.code.lstrip('&')}{arrow}{node.attr}", kind)

    def _of_subscript(self, node: ast.Subscript) -> Value:
        if (record := self._record(node)) is not None:
            return record
        owner = self._value(node.value)
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if owner.parts:
            part: Value = owner.parts[int(self._value(places[0]).const)]
            return part
        if isinstance(owner.kind, Memory):
            if owner.kind.ints and not isinstance(node.slice, ast.Slice):
                said = node.slice.id if isinstance(node.slice, ast.Name) else ""
                return self.program.integer(self._value(node.slice), said)
            owner = self.program.numbers()
        shape, terms = list(owner.kind.shape), [owner.at] if owner.at else []
        left: list[int] = []
        for place, size, stride in zip(places, shape, _strides(shape), strict=False):
            if isinstance(place, ast.Slice):
                low = number(0, self.real) if place.lower is None else self._value(place.lower)
                left.append(self._length(place, low, size))
                at = low
            else:
                at = self._value(place)
            if at.const is not None and at.const < 0:
                at = number(at.const + size, self.real)
            if at.const != 0:
                text = at.code if stride == 1 else f"{at.within(Level.TIMES)} * {stride}"
                terms.append(text if stride != 1 or at.level <= Level.PLUS else f"({text})")
        rest, place_text = (*left, *shape[len(places) :]), " + ".join(terms)
        if rest:
            return Value(owner.code, Array(owner.kind.of, rest), at=place_text, root=owner.root)
        return Value(f"{owner.code}[{place_text or 0}]", owner.kind.of, root=owner.root)

    def _length(self, place: ast.Slice, low: Value, size: int) -> int:
        """Return how many numbers a part of an array has, which must be known."""
        if place.upper is None:
            if low.const is None:
                raise UnsupportedError("the length of a part must be known")
            return int(size - low.const)
        high, length = self._value(place.upper), None
        if low.const is not None and high.const is not None:
            return int((high.const if high.const >= 0 else size + high.const) - low.const)
        upper, lower = place.upper, place.lower
        if isinstance(upper, ast.BinOp) and lower is not None and ast.unparse(upper.left) == ast.unparse(lower):
            length = self._value(upper.right).const
        if length is None:
            raise UnsupportedError("the length of a part must be known")
        return int(length)

    def _record(self, node: ast.Subscript) -> Value | None:
        """Return the record that stands in the integers, where it is taken: ints[a:b].view(DTYPE)[0]."""
        call = node.value
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "view"):
            return None
        part = call.func.value
        if not (isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Slice)):
            return None
        owner, low = self._value(part.value), part.slice.lower
        if not (isinstance(owner.kind, Memory) and owner.kind.ints):
            return None
        dtype = eval(compile(ast.Expression(call.args[0]), "", "eval"), self.globals)  # a name of the rule's module
        return self.program.record(dtype, 0 if low is None else self._value(low).const)

    def _of_binop(self, node: ast.BinOp) -> Value:
        return self._binary(node.op, self._value(node.left), self._value(node.right))

    def _binary(self, operator: ast.operator, a: Value, b: Value) -> Value:
        if isinstance(operator, ast.Div):
            a, b = (converted(one, self.real) for one in (a, b))
            return Value(f"{a.within(Level.TIMES)} / {b.within(Level.UNARY)}", self.real, None, Level.TIMES)
        if isinstance(operator, ast.Pow):
            code = ", ".join(converted(one, self.real).code for one in (a, b))
            return Value(f"{self._math('pow')}({code})", self.real)
        sign, level, exact = OPERATORS[type(operator)]
        kind = INT if a.kind in WHOLE and b.kind in WHOLE else self.real
        if level >= Level.BIT_AND and a.kind == b.kind == BOOL:
            kind = BOOL
        const = None if a.const is None or b.const is None else exact(a.const, b.const)
        if const is not None and (sign in _CALLED or (a.code + b.code).isdigit() or abs(const) >= 2**31):
            return number(const, self.real)
        a, b = converted(a, kind), converted(b, kind)
        if sign in _CALLED:
            return Value(f"{_CALLED[sign]}({a.code}, {b.code})", INT)
        inner = Level.UNARY if level >= Level.SHIFT else level
        return Value(f"{a.within(inner)} {sign} {b.within(min(inner, level - 1))}", kind, const, level)

    def _of_unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            value = self._truth(node.operand)
            const = None if value.const is None else not value.const
            return Value(f"!{value.within(Level.UNARY)}", BOOL, const, Level.UNARY)
        value = self._value(node.operand)
        assert isinstance(node.op, ast.USub)
        code = value.code if value.level == Level.ATOM and value.code[0] != "-" else f"({value.code})"
        return Value(f"-{code}", value.kind, None if value.const is None else -value.const, Level.UNARY)

    def _of_boolop(self, node: ast.BoolOp) -> Value:
        is_and, parts = isinstance(node.op, ast.And), list[Value]()
        for one in node.values:
            value = self._truth(one)
            if value.const is None:
                parts.append(value)
            elif bool(value.const) != is_and:
                end = number(not is_and, self.real)
                return self._all([*parts, Value(end.code, BOOL)], is_and) if parts else end
        return self._all(parts, is_and) if parts else number(is_and, self.real)

    def _all(self, parts: Sequence[Value], is_and: bool) -> Value:
        sign, level = ("&&", Level.AND) if is_and else ("||", Level.OR)
        if len(parts) == 1:
            return parts[0]
        return Value(f" {sign} ".join(one.within(Level.EQUAL) for one in parts), BOOL, None, level)

    def _of_compare(self, node: ast.Compare) -> Value:
        left, parts = self._value(node.left), list[Value]()
        for operator, one in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.In):
                assert isinstance(one, ast.Tuple)
                equal = [self._compared(ast.Eq(), left, self._value(part)) for part in one.elts]
                return self._all(equal, is_and=False)
            right = self._value(one)
            parts.append(self._compared(operator, left, right))
            left = right
        return self._all(parts, is_and=True)

    def _compared(self, operator: ast.cmpop, a: Value, b: Value) -> Value:
        if isinstance(operator, ast.Is | ast.IsNot):
            return number((a.kind == NONE) == isinstance(operator, ast.Is), self.real)
        sign, level, exact = OPERATORS[type(operator)]
        if a.const is not None and b.const is not None:
            return number(bool(exact(a.const, b.const)), self.real)
        kind = joined(a.kind, b.kind)
        a, b = converted(a, kind), converted(b, kind)
        return Value(f"{a.within(Level.SHIFT)} {sign} {b.within(Level.SHIFT)}", BOOL, None, level)

    def _of_ifexp(self, node: ast.IfExp) -> Value:
        test = self._truth(node.test)
        if test.const is not None:
            return self._value(node.body if test.const else node.orelse)
        a, b = self._value(node.body), self._value(node.orelse)
        kind = joined(a.kind, b.kind)
        one, other = (
            Value(value.pointer, kind, None, Level.UNARY) if isinstance(kind, Array) else converted(value, kind)
            for value in (a, b)
        )
        code = f"{test.within(Level.OR)} ? {one.within(Level.OR)} : {other.within(Level.OR)}"
        return Value(f"({code})" if isinstance(kind, Array) else code, kind, None,
            Level.ATOM if isinstance(kind, Array) else Level.CHOICE, root=a.root)  # fmt: skip

    # -- calls

    def _math(self, name: str) -> str:
        return name + "f" * (self.real == "float")

    def _of_call(self, node: ast.Call) -> Value:
        func, name = node.func, ast.unparse(node.func)
        if isinstance(func, ast.Attribute) and not inspect.ismodule(self.globals.get(ast.unparse(func.value))):
            return self._method(self._value(func.value), func.attr, node)
        short = name.rpartition(".")[2]
        given = self._of_tuple(ast.Tuple(node.args, ast.Load())).parts
        if name in ("max", "min"):
            found = given[0]
            for one in given[1:]:
                kind = joined(joined(found.kind, one.kind), INT)
                code = ", ".join(converted(part, kind).code for part in (found, one))
                const = None if None in (found.const, one.const) else (max if name == "max" else min)(
                    found.const, one.const)  # fmt: skip
                found = number(const, self.real) if const is not None else Value(
                    f"{self.program.helper(f'{name}_of', kind)}({code})", kind)  # fmt: skip
            return found
        if name in ("int", "np.int64"):
            if given[0].kind in WHOLE:
                return converted(given[0], INT)
            return Value(f"whole({given[0].code})", INT)
        if name in ("float", "np.float64"):
            return converted(given[0], self.real)
        if name in ("bool", "len"):
            return converted(given[0], BOOL) if name == "bool" else number(given[0].kind.shape[0], self.real)
        if name.startswith(("math.", "np.")) and short in _MATHS:
            return Value(f"{self._math(short)}({converted(given[0], self.real).code})", self.real)
        function = self.globals[name] if isinstance(func, ast.Name) else getattr(
            self.globals[ast.unparse(func.value)], func.attr)  # type: ignore[attr-defined]  # fmt: skip
        if short == "Plan":
            kinds = [kind for _, kind in self.program.plan.fields]
            code = ", ".join(converted(one, kind).code for one, kind in zip(given, kinds, strict=True))
            return Value(f"(lpsm_plan){{{code}}}", self.program.plan)
        if short == "block":
            array, at, shape = given[0], given[1], given[2]
            array = self.program.numbers() if isinstance(array.kind, Memory) else array
            sizes = tuple(part.const for part in shape.parts)
            text = " + ".join(one for one in (array.at, at.code if at.const != 0 else "") if one)
            return Value(array.code, Array(array.kind.of, sizes), at=text, root=array.root)
        return self._call(getattr(function, "py_func", function), given)

    def _method(self, owner: Value, name: str, node: ast.Call) -> Value:
        if name == "view":
            kind = ast.unparse(node.args[0])
            if isinstance(owner.kind, Array):
                return Value(f"((uint8_t *){owner.pointer})", Array(BYTE, owner.kind.shape), root=owner.root)
            to = "bits_of" if kind == "np.int64" else "from_bits"
            return Value(f"{to}({owner.code})", INT if to == "bits_of" else self.real)
        if name != "sum":
            raise UnsupportedError(f"the method {name}")
        size = prod(owner.kind.shape)
        return Value(f"{self.program.helper('sum_of', owner.kind.of)}({owner.pointer}, {size})", owner.kind.of)

    def _call(self, function: Any, given: Sequence[Value]) -> Value:
        parameters = inspect.signature(function).parameters.values()
        annotated = [str(one.annotation) for one in parameters]
        kinds = [{**ANNOTATED, "float": self.real}.get(said, value.kind) if isinstance(value.kind, str) else value.kind
            for said, value in zip(annotated, given, strict=True)]  # fmt: skip
        if "Floats, " in str(inspect.signature(function).return_annotation):
            return self.program.inlined(function, kinds, given)
        called = self.program.function(function, kinds)
        words = ["policy"] * any(isinstance(kind, Memory) for kind in kinds)
        for name, kind, value in zip(called.arguments, kinds, given, strict=True):
            if isinstance(kind, Array):
                words.append(value.pointer)
                if name in called.writes:
                    self._mark(value.root)
            elif kind != NONE and not isinstance(kind, Memory):
                words.append(converted(value, kind).code)
        returned = called.returns or "void"
        root = next((one.root for one in given if isinstance(returned, Array) and one.root), "")
        return Value(f"{called.name}({', '.join(words)})", returned, root=root)


def _strides(shape: Sequence[int]) -> list[int]:
    return [prod(shape[i + 1 :]) for i in range(len(shape))]
