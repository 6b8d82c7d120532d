"""Functions of a rule as C99, statement by statement, from their own source.

What it takes is the part of Python in which rules are written: assignments, arithmetic, comparisons, `if`, `while`,
`for ... in range(...)`, calls of each other, fields of records, elements and parts of arrays, a few functions of
`math`.  Anything else is refused by file and line.  A function is translated for the kinds of its arguments; of a
condition that is known already one branch is left; whole numbers that are set once, to what is known, are constants.
A function that returns parts of arrays is evaluated where it is called.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import chain
from math import prod
from textwrap import dedent, fill
from typing import TYPE_CHECKING, Any

import numpy as np

from netsim.firmware.values import (  # isort: skip
    ATOM, BIT_AND, BIT_OR, BOOL, BYTE, EQUAL, INT, LESS, NONE, OR, PLUS, POLICY, SHIFT, TIMES, UNARY, WHOLE,
    Array, Struct, UnsupportedError, Value, converted, declared, joined, literal, number, several,
)  # fmt: skip

if TYPE_CHECKING:
    from netsim.firmware.program import Program

OPERATORS: dict[type, tuple[str, int]] = {
    ast.Add: ("+", PLUS), ast.Sub: ("-", PLUS), ast.Mult: ("*", TIMES), ast.Div: ("/", TIMES),
    ast.LShift: ("<<", SHIFT), ast.RShift: (">>", SHIFT), ast.BitAnd: ("&", BIT_AND), ast.BitOr: ("|", BIT_OR),
    ast.Lt: ("<", LESS), ast.LtE: ("<=", LESS), ast.Gt: (">", LESS), ast.GtE: (">=", LESS), ast.Eq: ("==", EQUAL),
    ast.NotEq: ("!=", EQUAL), ast.FloorDiv: ("//", 0), ast.Mod: ("%", 0),
}  # fmt: skip
_CALLED = {"//": "floor_div", "%": "floor_mod"}
_MATHS = {"exp", "log", "log2", "sqrt", "floor", "expm1", "log1p"}


class Function:
    """A function in C: its `code`, what it `returns`, and which of its parameters it `writes`, as far as is known."""

    def __init__(self, program: Program, function: Any, kinds: Sequence[Any]) -> None:
        self.program, self._function, self._scope = program, function, function.__globals__
        tree: Any = ast.parse(dedent(inspect.getsource(function))).body[0]
        self._tree, self.arguments = tree, [one.arg for one in tree.args.args]
        given = dict(zip(self.arguments, kinds, strict=True))
        # in C the policy stands for all that a rule knows, and None for nothing
        whole = {one: Value(f"policy->{kind.whole}", kind) for one, kind in given.items() if getattr(kind, "whole", "")}
        self.kinds: dict[str, Any] = {"policy": POLICY} if whole else {}
        self.kinds |= {name: kind for name, kind in given.items() if name not in whole}
        self.taken = [name for name, kind in self.kinds.items() if kind != NONE]
        self._stored = [n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        self.name = self.code = ""
        self.returns: Any = None
        self.writes: set[str] = set()
        self._roots: dict[str, frozenset[str]] = {}  # of variables that point to parts of arrays
        self._whole = self._bound = whole
        self._lines: list[tuple[int, str]] = []
        self._depth = self._count = 0

    def translate(self, name: str) -> None:
        """Write it in C; what is found of kinds holds from the next time on."""
        self.name, self._bound, self._lines, self._count = name, dict(self._whole), [], 0
        try:
            self._body(self._tree.body)
        except (ArithmeticError, LookupError, AttributeError, TypeError, ValueError) as error:
            line = inspect.getsourcelines(self._function)[1] + self._at.lineno - 1
            text = ast.unparse(self._at).partition("\n")[0][:70]
            said = f"{inspect.getsourcefile(self._function)}:{line}: cannot be translated to C: {text}; {error}"
            raise UnsupportedError(said) from error
        top = [line for name in self.kinds for line in self._declare(name)]
        lines = ("    " * (depth + 1) + text for depth, text in self._lines)
        said = " ".join((ast.get_docstring(self._tree) or "").split("\n\n")[0].split()).replace("*/", "* /")
        note = [fill(f"/* {said} */", 118, subsequent_indent="   ")] * bool(said)
        words = ", ".join(map(self._declared, self.taken)) or "void"
        head = f"static {declared(self.returns or 'void', '').strip()} {self.name}({words})"
        self.code = "\n".join([*note, fill(head, 110, subsequent_indent=" " * 8), "{", *top, *lines, "}\n"])

    def evaluated(self, given: Sequence[Value]) -> Value:
        """Return what a function returns that does nothing but name parts of arrays, of arguments that are known."""
        self._bound = dict(zip(self.arguments, given, strict=True))
        self._body(self._tree.body[:-1])
        return self._value(self._tree.body[-1].value)

    def _declared(self, name: str) -> str:
        return declared(self.kinds[name], name, const=name not in self.writes)

    def _declare(self, name: str) -> Iterator[str]:
        """Declare a variable where it is first set, if nothing outside of that block has it; else return what does."""
        kind, lines = self.kinds[name], self._lines
        word = rf"(?<![.>])\b{name}\b"
        at = [i for i, (_, text) in enumerate(lines) if re.search(word, text)]
        if name not in self.taken and at:
            (depth, text), within = lines[at[0]], lines[at[0] : at[-1]]
            first = re.fullmatch(rf"{word}( = ((?!{word}).)*)", text)
            if within and first and all(below >= depth for below, _ in within):
                lines[at[0]] = depth, self._declared(name) + first[1]
                return
            yield f"    {self._declared(name)} = {literal(0, kind) if isinstance(kind, str) else 'NULL'};"
        if kind != NONE and not any(re.search(rf"{word}(?! = )|=.*{word}", lines[i][1]) for i in at):
            yield f"    (void){name};"

    # -- statements

    def _emit(self, text: str) -> None:
        self._lines.append((self._depth, text))

    def _block(self, head: str, nodes: Sequence[ast.stmt]) -> None:
        self._emit(head)
        self._depth += 1
        self._body(nodes)
        self._depth -= 1
        self._emit("}")

    def _body(self, nodes: Sequence[ast.stmt]) -> None:
        for self._at in nodes:
            match self._at:
                case ast.Expr(ast.Constant()):
                    pass
                case ast.Expr(value):
                    self._emit(f"{self._value(value).code};")
                case ast.While(test, body, []):
                    self._block(f"while ({self._truth(test).code}) {{", body)
                case ast.If(test, body, orelse):
                    if (holds := self._truth(test)).const is not None:
                        self._body(body if holds.const else orelse)
                    else:
                        self._block(f"if ({holds.code}) {{", body)
                        if orelse:
                            self._lines.pop()
                            self._block("} else {", orelse)
                case ast.For(ast.Name(name), over, body, []):
                    self._for(name, over, body)
                case ast.Assign(targets, value):
                    self._assign(targets, value)
                case ast.AnnAssign(target=target, value=value):
                    self._assign([target], value)
                case ast.AugAssign(target, operator, value):
                    self._change(target, operator, self._value(value))
                case ast.Return(None) | ast.Break() | ast.Continue():
                    self._emit(f"{type(self._at).__name__.lower()};")
                    return
                case ast.Return(value):
                    result = self._value(value)
                    self.returns = joined(self.returns, result.kind)
                    self._emit(f"return {converted(result, self.returns).code};")
                    return
                case _:
                    raise ValueError("no such statement")

    def _temporary(self) -> str:
        self._count += 1
        return f"t{self._count}"

    def _held(self, value: Value) -> Value:
        """Return a value as it is now, whatever is assigned later."""
        if value.const is not None or isinstance(value.kind, Array) or getattr(value.kind, "pointer", False):
            return value
        word, kind = self._temporary(), joined(None, value.kind)
        self._emit(f"const {declared(kind, word)} = {value.code};")
        fields = kind.fields if isinstance(kind, Struct) else ()
        return Value(word, kind, parts=tuple(Value(f"{word}.{name}", of) for name, of in fields))

    def _for(self, name: str, over: ast.expr, body: Sequence[ast.stmt]) -> None:
        match over:
            case ast.Call(ast.Name("range"), given):
                word, bounds = name if name != "_" else self._temporary(), self._each_of(given)
            case _:
                word, table = self._temporary(), self._value(over)
                bounds = (self._number(table.kind.shape[0]),)
                self._bound[name] = Value(f"{table.code}[{word}]", table.kind.of)
        low, high, by = ((self._number(0),) * (len(bounds) == 1) + bounds + (self._number(1),))[:3]
        step = 0 if by.const is None else by.const  # 0: upwards, by what is known later
        if None not in (low.const, high.const) and low.const >= high.const and step >= 0:
            return
        stop, ends = (high.code, "") if high.const is not None else (f"{word}_end", f", {word}_end = {high.code}")
        move = {1: f"{word}++", -1: f"{word}--"}.get(step, f"{word} += {by.code}")
        self.kinds[name] = INT
        head = f"for (int64_t {word} = {low.code}{ends}; {word} {'>' if step < 0 else '<'} {stop}; {move}) {{"
        self._block(head, body)
        del self.kinds[name]  # which is a variable of this loop only

    def _assign(self, targets: Sequence[ast.expr], given: Any) -> None:
        value = self._value(given)
        if len(targets) > 1 and not isinstance(given, ast.Constant):
            value = self._held(value)
        for target in reversed(targets):
            self._set(target, value)

    def _set(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Tuple):
            parts = list(value.parts)
            for i, place in enumerate(target.elts):
                owner, _, name = ast.unparse(place).partition("[")[0].rpartition(".")
                changed = re.compile(rf"\b{name}\b" + r"|\w\(" * (owner != ""))  # in what is assigned behind it
                parts[i + 1 :] = [self._held(one) if changed.search(one.code) else one for one in parts[i + 1 :]]
                self._set(place, parts[i])
        elif not isinstance(target, ast.Name):
            self._put(self._value(target), "=", value)
        elif (name := target.id) != "_":
            known = value.parts or (value.const is not None and value.kind == INT)
            if known and self._stored.count(name) == 1 and name not in self.arguments:
                self._bound[name] = value
                return
            self.kinds[name] = kind = joined(self.kinds.get(name), value.kind)
            self._roots[name] = self._roots.get(name, value.roots) | value.roots
            self._emit(f"{name} = {converted(value, kind).code};")

    def _put(self, place: Value, sign: str, value: Value) -> None:
        """Set or change a field, an element, or each of an array."""
        self.writes |= place.roots
        head, code, kind = "", place.code, place.kind
        if isinstance(kind, Array):
            at, kind = self._temporary(), kind.of
            head = f"for (int64_t {at} = 0; {at} < {prod(place.kind.shape)}; {at}++) "
            code = f"{code}[{' + '.join(filter(None, (place.at, at)))}]"
        self._emit(f"{head}{code} {sign} {converted(value, kind).code};")

    def _change(self, target: ast.expr, operator: ast.operator, value: Value) -> None:
        result, sign = self._binary(operator, self._value(target), value), OPERATORS[type(operator)][0]
        if isinstance(target, ast.Name):
            self.kinds[target.id] = result.kind
        in_place = sign in "+-*|&"
        self._put(self._value(target), f"{sign}=" if in_place else "=", value if in_place else result)

    # -- expressions

    def _number(self, value: Any) -> Value:
        return number(value, self.program.real)

    def _truth(self, node: ast.expr) -> Value:
        return converted(self._value(node), BOOL)

    def _value(self, node: Any) -> Value:
        match node:
            case ast.Constant(value):
                return Value("", NONE, 0) if value is None else self._number(value)
            case ast.Name(name):
                return self._named(name)
            case ast.Tuple(parts):
                return several(self._each_of(parts))
            case ast.Attribute(ast.Name(name), field) if inspect.ismodule(module := self._scope.get(name)):
                return self.program.known(field, getattr(module, field), module.__name__)
            case ast.Attribute(owner, field, context):
                return self._field(self._value(owner), field, isinstance(context, ast.Store))
            case ast.Subscript(owner, place, context):
                places = place.elts if isinstance(place, ast.Tuple) else [place]
                return self._part(self._value(owner), places, isinstance(context, ast.Store))
            case ast.UnaryOp(ast.Not(), operand):
                found = self._truth(operand)
                return Value(f"!{found.within(UNARY)}", BOOL, None if found.const is None else not found.const)
            case ast.UnaryOp(ast.USub(), operand):
                found = self._value(operand)
                return Value(f"-{found.within(ATOM)}", found.kind, None if found.const is None else -found.const)
            case ast.BinOp(a, operator, b):
                return self._binary(operator, self._value(a), self._value(b))
            case ast.BoolOp(operator, parts):
                return self._all(map(self._truth, parts), isinstance(operator, ast.And))
            case ast.Compare(a, [ast.Is() | ast.IsNot() as operator], [_]):
                return self._number((self._value(a).kind == NONE) == isinstance(operator, ast.Is))
            case ast.Compare(a, [ast.In()], [ast.Tuple(parts)]):
                return self._value(ast.BoolOp(ast.Or(), [ast.Compare(a, [ast.Eq()], [one]) for one in parts]))
            case ast.Compare(a, operators, others):
                values = list(map(self._value, (a, *others)))
                return self._all(map(self._binary, operators, values, values[1:]), is_and=True)
            case ast.IfExp(test, a, b):
                holds = self._truth(test)
                if holds.const is not None:
                    return self._value(a if holds.const else b)
                x, y = self._value(a), self._value(b)
                kind = joined(x.kind, y.kind)
                code = f"{holds.within(OR)} ? {converted(x, kind).within(OR)} : {converted(y, kind).within(OR)}"
                return Value(f"({code})" if isinstance(kind, Array) else code, kind, roots=x.roots | y.roots)
            case ast.Call(ast.Attribute(owner, "view"), [dtype]):
                return self._view(self._value(owner), eval(ast.unparse(dtype), self._scope))
            case ast.Call(ast.Attribute(owner, "sum"), [], []):
                found, of = converted(array := self._value(owner), array.kind), array.kind.of
                return Value(f"sum_of_{of}({found.code}, {prod(found.kind.shape)})", of)
            case ast.Call(function, given, []):
                return self._call(eval(ast.unparse(function), self._scope), self._each_of(given))
        raise ValueError(ast.unparse(node)[:60])

    def _each_of(self, nodes: Sequence[ast.expr]) -> tuple[Value, ...]:
        each = (self._value(one.value).parts if isinstance(one, ast.Starred) else (self._value(one),) for one in nodes)
        return tuple(chain.from_iterable(each))

    def _named(self, name: str) -> Value:
        if name in self._bound:
            return self._bound[name]
        if name in self.kinds:
            return Value(name, self.kinds[name], roots=self._roots.get(name, frozenset()) | {name})
        if name in self._stored:
            raise ValueError(f"{name} is not set yet")
        return self.program.known(name, self._scope[name], self._scope["__name__"])

    def _field(self, owner: Value, name: str, is_set: bool) -> Value:
        """Return a field of a record, or the size or the shape of an array."""
        if isinstance(owner.kind, Array):
            shape = owner.kind.shape
            return several(tuple(map(self._number, shape))) if name == "shape" else self._number(prod(shape))
        if (const := self.program.constant(owner.kind.name, name, is_set)) is not None:
            return const
        arrow = "." if owner.code.startswith("&") or not owner.kind.pointer else "->"
        return Value(f"{owner.code.lstrip('&')}{arrow}{name}", dict(owner.kind.fields)[name])

    def _part(self, owner: Value, places: Sequence[ast.expr], is_set: bool) -> Value:
        """Return an element or a part of an array, or one of several results."""
        if owner.parts:
            return owner.parts[int(self._value(places[0]).const)]
        if isinstance(owner.kind, Struct):  # the only record of a view
            return owner
        if owner.kind.whole == "ints" and not isinstance(places[0], ast.Slice):
            return self.program.integer(self._value(places[0]), getattr(places[0], "id", ""), is_set)
        shape, terms, left = owner.kind.shape, [owner.at], []
        for i, (place, size) in enumerate(zip(places, shape, strict=False)):
            first = place.lower if isinstance(place, ast.Slice) else place
            at = self._value(first or ast.Constant(0))
            if isinstance(place, ast.Slice):
                left.append(self._length(place, size))
            if at.const is not None and at.const < 0:
                at = self._number(at.const + size)
            if at.const != 0:
                stride = prod(shape[i + 1 :])
                terms.append(at.within(PLUS) if stride == 1 else f"{at.within(TIMES)} * {stride}")
        rest, begin = (*left, *shape[len(places) :]), " + ".join(filter(None, terms))
        if rest:
            return Value(owner.code, Array(owner.kind.of, rest), at.const, begin, owner.roots)
        return Value(f"{owner.code}[{begin or 0}]", owner.kind.of, roots=owner.roots)

    def _length(self, place: ast.Slice, size: int) -> int:
        """Return how many numbers a part of an array has, which must be known."""
        low, high = place.lower or ast.Constant(0), place.upper or ast.Constant(size)
        found = self._binary(ast.Sub(), self._value(high), self._value(low)).const
        if found is None and (more := ast.unparse(high).removeprefix(f"{ast.unparse(low)} + ")):
            found = self._value(ast.parse(more, mode="eval").body).const
        if found is None:
            raise ValueError("the length of a part must be known")
        return int(found + size * (found < 0))

    def _binary(self, operator: ast.operator | ast.cmpop, a: Value, b: Value) -> Value:
        """Return what an operator between two numbers gives."""
        if isinstance(operator, ast.Pow):
            return self._math("pow", a, b)
        (sign, level), compares = OPERATORS[type(operator)], isinstance(operator, ast.cmpop)
        kind = INT if a.kind in WHOLE and b.kind in WHOLE and sign != "/" else self.program.real
        if compares or level in (BIT_AND, BIT_OR):
            kind = joined(a.kind, b.kind)
        const = None if None in (a.const, b.const) or sign == "/" else eval(f"({a.const}) {sign} ({b.const})")
        if const is not None and (compares or sign in _CALLED or (a.code + b.code).isdigit() or abs(const) >= 2**31):
            return self._number(const)
        a, b = converted(a, kind), converted(b, kind)
        if sign in _CALLED:
            return Value(f"{_CALLED[sign]}({a.code}, {b.code})", INT)
        loose = SHIFT if compares else UNARY if level <= SHIFT else 0
        code = f"{a.within(loose or level)} {sign} {b.within(loose or level + 1)}"
        return Value(code, BOOL if compares else kind, const)

    def _all(self, parts: Iterable[Value], is_and: bool) -> Value:
        """Return whether all of these hold, or any; what follows one that decides is not looked at."""
        left: list[Value] = []
        for one in parts:
            if one.const is None:
                left.append(one)
            elif bool(one.const) != is_and:
                left.append(self._number(not is_and))
                break
        if len(left) < 2 or left[0].const is not None:
            return left[0] if left else self._number(is_and)
        return Value((" && " if is_and else " || ").join(one.within(EQUAL) for one in left), BOOL)

    def _view(self, owner: Value, of: Any) -> Value:
        """Return integers as a record, an array as truth values, or the bits of a number as another."""
        if isinstance(of, np.dtype):
            return self.program.record(of, owner.const)
        if of is np.bool_:
            code = f"((uint8_t *){converted(owner, owner.kind).code})"
            return Value(code, Array(BYTE, owner.kind.shape), roots=owner.roots)
        name, kind = ("bits_of", INT) if of is np.int64 else ("from_bits", self.program.real)
        return Value(f"{name}({owner.code})", kind)

    # -- calls

    def _math(self, name: str, *given: Value) -> Value:
        real = self.program.real
        return Value(f"{name}{'f' * (real == 'float')}({', '.join(converted(one, real).code for one in given)})", real)

    def _call(self, function: Any, given: tuple[Value, ...]) -> Value:
        found, *more = given or (Value("", NONE),)
        match function.__name__:
            case "max" | "min" as name:
                kind = INT if all(one.kind in WHOLE for one in given) else self.program.real
                words = [converted(one, kind).code for one in given]
                return Value(reduce(lambda a, b: f"{name}_of_{kind}({a}, {b})", words), kind)
            case "int" | "int64" if found.kind not in WHOLE:
                return Value(f"to_whole({found.code})", INT)
            case "int" | "int64" | "float" | "float64" | "bool" as name:
                return converted(found, {"i": INT, "f": self.program.real, "b": BOOL}[name[0]])
            case "len":
                return self._number(found.kind.shape[0])
            case "Plan":
                return converted(several(given), self.program.plan)
            case "block":
                begin = " + ".join(filter(None, (found.at, more[0].code * (more[0].const != 0))))
                shape = tuple(part.const for part in more[1].parts)
                return Value(found.code, Array(found.kind.of, shape), at=begin, roots=found.roots)
            case name if name in _MATHS:
                return self._math(name, found)
        function, kinds = inspect.unwrap(function), [joined(None, value.kind) for value in given]
        if "Floats, " in function.__annotations__.get("return", ""):
            return Function(self.program, function, kinds).evaluated(given)
        called = self.program.function(function, kinds)
        words, values = [], dict(zip(called.arguments, given, strict=True)) | {"policy": Value("policy", POLICY)}
        for name in called.taken:
            self.writes |= values[name].roots if name in called.writes else set()
            words.append(converted(values[name], called.kinds[name]).code)
        roots = frozenset[str]().union(*(one.roots for one in given if isinstance(called.returns, Array)))
        result = Value(f"{called.name}({', '.join(words)})", called.returns or "void", roots=roots)
        return self._held(result) if isinstance(called.returns, Struct) and result.kind != self.program.plan else result
