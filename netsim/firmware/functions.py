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
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from math import prod
from textwrap import dedent, fill
from typing import TYPE_CHECKING, Any

import numpy as np

from netsim.firmware.values import (  # isort: skip
    BIT_AND, BIT_OR, BOOL, BYTE, EQUAL, INT, LESS, NONE, OR, PLUS, SHIFT, TIMES, UNARY, WHOLE,
    Array, Struct, UnsupportedError, Value, built, converted, declared, is_whole, joined, literal, number, several,
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
    """A function in C: its `code`, what it `returns`, and which of its parameters it `writes`; `given` are known."""

    def __init__(self, program: Program, function: Any, kinds: Sequence[Any], name: str, given: Sequence[Value] = ()):
        self.program, self.name, self._function, self._scope = program, name, function, function.__globals__
        self._tree: Any = ast.parse(dedent(inspect.getsource(function))).body[0]
        self.arguments = [one.arg for one in self._tree.args.args]
        self.kinds = dict(zip(self.arguments, kinds, strict=True))
        self._bound = dict(zip(self.arguments, given, strict=False))
        self._bound |= {one: Value(f"policy->{kind.whole}", kind) for one, kind in self.kinds.items() if is_whole(kind)}
        names = (one for one in ast.walk(self._tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        self._stored = Counter(one.id for one in names)
        self.returns: Any = None
        self.writes: set[str] = set()
        self._pointed: dict[str, str] = {}  # from a variable that points to a part of an array to whose part it is
        self._lines: list[tuple[int, str]] = []
        self._depth = self._count = 0

    def translated(self) -> Function:
        """Write it in C, again until no kind changes."""
        before: object = None
        while before != (state := (dict(self.kinds), self.returns, set(self.writes))):
            before = state
            self._lines, self._count = [], 0
            try:
                self._body(self._tree.body)
            except UnsupportedError:
                raise
            except (KeyError, AttributeError, TypeError, ValueError) as error:
                line = inspect.getsourcelines(self._function)[1] + self._at.lineno - 1
                text = ast.unparse(self._at).partition("\n")[0][:70]
                said = f"{inspect.getsourcefile(self._function)}:{line}: cannot be translated to C: {text}; {error}"
                raise UnsupportedError(said) from error
        top = dict.fromkeys(line for name in self.kinds for line in self._declare(name))
        lines = ("    " * (depth + 1) + text for depth, text in self._lines)
        said = " ".join((ast.get_docstring(self._tree) or "").split("\n\n")[0].split()).replace("*/", "* /")
        note = [fill(f"/* {said} */", 118, subsequent_indent="   ")] * bool(said)
        words = ["lpsm_policy *policy"] * any(map(is_whole, self.kinds.values()))
        words += [self._declared(name) for name in self.taken]
        head = f"static {declared(self.returns or 'void', '').strip()} {self.name}({', '.join(words) or 'void'})"
        self.code = "\n".join([*note, fill(head, 110, subsequent_indent=" " * 8), "{", *top, *lines, "}\n"])
        return self

    def evaluated(self) -> Value:
        """Return what a function returns that does nothing but name parts of arrays, where all arguments are given."""
        self._body(self._tree.body[:-1])
        return self._value(self._tree.body[-1].value)

    @property
    def taken(self) -> list[str]:
        """The arguments that it takes in C, where the policy stands for all that a rule knows, and None for nothing."""
        return [name for name in self.arguments if self.kinds[name] != NONE and not is_whole(self.kinds[name])]

    def _declared(self, name: str) -> str:
        return declared(self.kinds[name], name, const=name not in self.writes)

    def _declare(self, name: str) -> Iterator[str]:
        """Declare a variable where it is first set, if nothing outside of that block has it; else return what does."""
        kind, lines = self.kinds[name], self._lines
        word = rf"(?<![.>])\b{'policy' if is_whole(kind) else name}\b"
        at = [i for i, (_, text) in enumerate(lines) if re.search(word, text)]
        if name not in self.arguments and at:
            (depth, text), within = lines[at[0]], lines[at[0] : at[-1]]
            first = re.fullmatch(rf"{word}( = ((?!{word}).)*)", text)
            if within and first and all(below >= depth for below, _ in within):
                lines[at[0]] = depth, self._declared(name) + first[1]
                return
            yield f"    {self._declared(name)} = {literal(0, kind) if isinstance(kind, str) else 'NULL'};"
        if kind != NONE and not any(re.search(rf"{word}(?! = )|=.*{word}", lines[i][1]) for i in at):
            yield f"    (void){'policy' if is_whole(kind) else name};"

    # -- statements

    def _emit(self, text: str) -> None:
        self._lines.append((self._depth, text))

    def _body(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            self._at = node
            getattr(self, f"_{type(node).__name__.lower()}", self._refuse)(node)
            if isinstance(node, ast.Return | ast.Break | ast.Continue):
                return

    def _block(self, head: str, nodes: Sequence[ast.stmt], end: str = "}") -> None:
        self._emit(head)
        self._depth += 1
        self._body(nodes)
        self._depth -= 1
        if end:
            self._emit(end)

    def _temporary(self) -> str:
        self._count += 1
        return f"t{self._count}"

    def _held(self, value: Value) -> Value:
        """Return a value as it is now, whatever is assigned later."""
        if value.const is not None or isinstance(value.kind, Array) or getattr(value.kind, "pointer", False):
            return value
        word = self._temporary()
        kind = joined(None, value.kind)
        self._emit(f"const {declared(kind, word)} = {value.code};")
        return Value(word, kind)

    def _expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self._emit(f"{self._value(node.value).code};")

    def _break(self, node: ast.stmt) -> None:
        self._emit(f"{type(node).__name__.lower()};")

    _continue = _break

    def _while(self, node: ast.While) -> None:
        self._block(f"while ({self._truth(node.test).code}) {{", node.body)

    def _if(self, node: ast.If) -> None:
        test = self._truth(node.test)
        if test.const is not None:
            self._body(node.body if test.const else node.orelse)
            return
        self._block(f"if ({test.code}) {{", node.body, "" if node.orelse else "}")
        if node.orelse:
            self._block("} else {", node.orelse)

    def _for(self, node: Any) -> None:
        name, table, bounds = node.target.id, None, list(self._each_of(getattr(node.iter, "args", ())))
        if not bounds:
            table = self._value(node.iter)
            bounds = [self._number(table.kind.shape[0])]
        low, high, by = ([self._number(0)] * (len(bounds) == 1) + bounds + [self._number(1)])[:3]
        step = 0 if by.const is None else by.const  # 0: upwards, by what is known later
        if None not in (low.const, high.const) and low.const >= high.const and step >= 0:
            return
        word = self._temporary() if table or name == "_" else name
        if table:
            self._bound[name] = Value(f"{table.code}[{word}]", table.kind.of)
        stop, ends = (high.code, "") if high.const is not None else (f"{word}_end", f", {word}_end = {high.code}")
        move = {1: f"{word}++", -1: f"{word}--"}.get(step, f"{word} += {by.code}")
        head = f"for (int64_t {word} = {low.code}{ends}; {word} {'>' if step < 0 else '<'} {stop}; {move}) {{"
        self.kinds[name] = INT
        self._block(head, node.body)
        del self.kinds[name]  # which is a variable of this loop only

    def _return(self, node: ast.Return) -> None:
        if node.value is None:
            self._emit("return;")
            return
        value = self._value(node.value)
        kind = several([part.kind for part in value.parts]) if value.parts else value.kind
        if isinstance(kind, str) and self._tree.returns:
            kind = {"int": INT, "bool": BOOL}.get(ast.unparse(self._tree.returns), kind)
        self.returns = joined(self.returns, kind)
        value = built(self.returns, value.parts) if value.parts else converted(value, self.returns)
        self._emit(f"return {value.code};")

    def _assign(self, node: Any) -> None:
        targets, value = getattr(node, "targets", None) or [node.target], self._value(node.value)
        if len(targets) > 1 and not isinstance(node.value, ast.Constant):
            value = self._held(value)
        for target in reversed(targets):
            if isinstance(target, ast.Tuple):
                self._unpack(target.elts, value, getattr(node.value, "elts", ()))
            else:
                self._set(target, value)

    _annassign = _assign

    def _unpack(self, places: Sequence[ast.expr], value: Value, given: Sequence[ast.expr]) -> None:
        """Assign several values as they are before any of them is assigned."""
        parts = list(value.parts)
        if not parts:  # what a call returns
            held = self._held(value)
            parts = [Value(f"{held.code}.{name}", kind) for name, kind in held.kind.fields]
        for i, text in enumerate(map(ast.unparse, given)):
            before = " ".join(ast.unparse(place).partition("[")[0] for place in places[:i])
            if {*re.findall(r"\w+(?= |$)", before)} & {*re.findall(r"\w+", text)} or ("(" in text and "." in before):
                parts[i] = self._held(parts[i])
        for place, part in zip(places, parts, strict=True):
            self._set(place, part)

    def _set(self, target: ast.expr, value: Value) -> None:
        if not isinstance(target, ast.Name):
            self._put(self._value(target), "=", value)
        elif target.id != "_":
            name, known = target.id, value.parts or (value.const is not None and value.kind == INT)
            if known and self._stored[name] == 1 and name not in self.arguments:
                self._bound[name] = value
                return
            self.kinds[name] = kind = joined(self.kinds.get(name), value.kind)
            if isinstance(kind, Array):
                self._pointed[name] = value.root
                self._mark(value.root if name in self.writes else "")
            self._emit(f"{name} = {value.pointer if isinstance(kind, Array) else converted(value, kind).code};")

    def _put(self, place: Value, sign: str, value: Value) -> None:
        """Set or change a field, an element, or each of an array."""
        self._mark(place.root)
        head, code, kind = "", place.code, place.kind
        if isinstance(kind, Array):
            at, kind = self._temporary(), kind.of
            head = f"for (int64_t {at} = 0; {at} < {prod(place.kind.shape)}; {at}++) "
            code = f"{code}[{' + '.join([*[place.at] * bool(place.at), at])}]"
        self._emit(f"{head}{code} {sign} {converted(value, kind).code};")

    def _augassign(self, node: ast.AugAssign) -> None:
        value, sign = self._value(node.value), OPERATORS[type(node.op)][0]
        result = self._binary(node.op, self._value(node.target), value)
        if isinstance(node.target, ast.Name):
            self.kinds[node.target.id] = result.kind
        in_place = sign in "+-*|&"
        self._put(self._value(node.target), f"{sign}=" if in_place else "=", value if in_place else result)

    def _mark(self, name: str) -> None:
        """Note that a variable, and the array that it is a part of, is written to."""
        if name and name not in self.writes:
            self.writes.add(name)
            self._mark(self._pointed.get(name, ""))

    # -- expressions

    def _number(self, value: Any) -> Value:
        return number(value, self.program.real)

    def _truth(self, node: ast.expr) -> Value:
        return converted(self._value(node), BOOL)

    def _value(self, node: ast.expr) -> Value:
        found: Value = getattr(self, f"_of_{type(node).__name__.lower()}", self._refuse)(node)
        return found

    def _refuse(self, node: ast.AST) -> Value:
        raise ValueError(ast.unparse(node)[:60])

    def _of_constant(self, node: ast.Constant) -> Value:
        return Value("", NONE, 0) if node.value is None else self._number(node.value)

    def _of_name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self._bound:
            return self._bound[name]
        if name in self.kinds:
            return Value(name, self.kinds[name], root=name)
        if name in self._stored:
            raise ValueError(f"{name} is not set yet")
        return self.program.known(name, self._scope[name], self._scope["__name__"])

    def _of_tuple(self, node: ast.Tuple) -> Value:
        return Value("", "", parts=self._each_of(node.elts))

    def _each_of(self, nodes: Sequence[ast.expr]) -> tuple[Value, ...]:
        parts: list[Value] = []
        for one in nodes:
            parts += self._value(one.value).parts if isinstance(one, ast.Starred) else [self._value(one)]
        return tuple(parts)

    def _of_attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and inspect.ismodule(module := self._scope.get(node.value.id)):
            return self.program.known(node.attr, getattr(module, node.attr), module.__name__)
        owner = self._value(node.value)
        if isinstance(owner.kind, Array):
            sizes = tuple(map(self._number, owner.kind.shape))
            return Value("", "", parts=sizes) if node.attr == "shape" else self._number(prod(owner.kind.shape))
        if (const := self.program.constant(owner.kind.name, node.attr)) is not None:
            return const
        arrow = "." if owner.code.startswith("&") or not owner.kind.pointer else "->"
        return Value(f"{owner.code.lstrip('&')}{arrow}{node.attr}", dict(owner.kind.fields)[node.attr])

    def _of_subscript(self, node: ast.Subscript) -> Value:
        owner = self._value(node.value)
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if owner.parts:
            return owner.parts[int(self._value(places[0]).const)]
        if isinstance(owner.kind, Struct):  # the only record of a view
            return owner
        if owner.kind.whole == "ints" and not isinstance(node.slice, ast.Slice):
            return self.program.integer(self._value(node.slice), getattr(node.slice, "id", ""))
        shape, terms, left = owner.kind.shape, [owner.at] * bool(owner.at), []
        for i, (place, size) in enumerate(zip(places, shape, strict=False)):
            first = place.lower if isinstance(place, ast.Slice) else place
            at = self._number(0) if first is None else self._value(first)
            if isinstance(place, ast.Slice):
                left.append(self._length(place, at, size))
            if at.const is not None and at.const < 0:
                at = self._number(at.const + size)
            if at.const != 0:
                stride = prod(shape[i + 1 :])
                terms.append(at.within(PLUS) if stride == 1 else f"{at.within(TIMES)} * {stride}")
        rest, begin = (*left, *shape[len(places) :]), " + ".join(terms)
        if rest:
            return Value(owner.code, Array(owner.kind.of, rest), at.const, begin, owner.root)
        return Value(f"{owner.code}[{begin or 0}]", owner.kind.of, root=owner.root)

    def _length(self, place: ast.Slice, low: Value, size: int) -> int:
        """Return how many numbers a part of an array has, which must be known."""
        high = self._number(size) if place.upper is None else self._value(place.upper)
        if None not in (low.const, high.const):
            return int(high.const + (size if high.const < 0 else 0) - low.const)
        match place.upper:
            case ast.BinOp(first, ast.Add(), more) if place.lower and ast.unparse(first) == ast.unparse(place.lower):
                return int(self._value(more).const)
        raise ValueError("the length of a part must be known")

    def _of_binop(self, node: ast.BinOp) -> Value:
        return self._binary(node.op, self._value(node.left), self._value(node.right))

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

    def _of_unaryop(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            value = self._truth(node.operand)
            return Value(f"!{value.within(UNARY)}", BOOL, None if value.const is None else not value.const)
        value = self._value(node.operand)
        return Value(f"-{value.within(UNARY + 1)}", value.kind, None if value.const is None else -value.const)

    def _of_boolop(self, node: ast.BoolOp) -> Value:
        return self._all(map(self._truth, node.values), isinstance(node.op, ast.And))

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

    def _of_compare(self, node: ast.Compare) -> Value:
        values, (first, *_) = [self._value(node.left)], node.ops
        if isinstance(first, ast.Is | ast.IsNot):
            return self._number((values[0].kind == NONE) == isinstance(first, ast.Is))
        if isinstance(first, ast.In):
            parts = self._value(node.comparators[0]).parts
            return self._all([self._binary(ast.Eq(), values[0], one) for one in parts], is_and=False)
        values += map(self._value, node.comparators)
        return self._all(map(self._binary, node.ops, values, values[1:]), is_and=True)

    def _of_ifexp(self, node: ast.IfExp) -> Value:
        test = self._truth(node.test)
        if test.const is not None:
            return self._value(node.body if test.const else node.orelse)
        a, b = self._value(node.body), self._value(node.orelse)
        kind = joined(a.kind, b.kind)
        if isinstance(kind, Array):
            return Value(f"({test.within(OR)} ? {a.pointer} : {b.pointer})", kind, root=a.root)
        one, other = (converted(value, kind).within(OR) for value in (a, b))
        return Value(f"{test.within(OR)} ? {one} : {other}", kind)

    # -- calls

    def _math(self, name: str, *given: Value) -> Value:
        real = self.program.real
        return Value(f"{name}{'f' * (real == 'float')}({', '.join(converted(one, real).code for one in given)})", real)

    def _of_call(self, node: ast.Call) -> Value:
        owner, name = getattr(node.func, "value", None), ast.unparse(node.func).rpartition(".")[2]
        module = owner and self._scope.get(ast.unparse(owner))
        if owner and not inspect.ismodule(module):
            return self._method(self._value(owner), name, node)
        given = self._each_of(node.args)
        found, *more = given or (Value("", NONE),)
        match name:
            case "max" | "min":
                kind = INT if all(one.kind in WHOLE for one in given) else self.program.real
                words = [converted(one, kind).code for one in given]
                return Value(reduce(lambda a, b: f"{name}_of_{kind}({a}, {b})", words), kind)
            case "int" | "int64":
                return converted(found, INT) if found.kind in WHOLE else Value(f"to_whole({found.code})", INT)
            case "float" | "float64" | "bool":
                return converted(found, BOOL if name == "bool" else self.program.real)
            case "len":
                return self._number(found.kind.shape[0])
            case "Plan":
                return built(self.program.plan, given)
            case "block":
                begin = " + ".join([found.at] * bool(found.at) + [more[0].code] * (more[0].const != 0))
                shape = tuple(part.const for part in more[1].parts)
                return Value(found.code, Array(found.kind.of, shape), at=begin, root=found.root)
        if module and name in _MATHS:
            return self._math(name, found)
        return self._call(getattr(module, name) if module else self._scope[name], given)

    def _method(self, owner: Value, name: str, node: ast.Call) -> Value:
        of = eval(ast.unparse(node.args[0]), self._scope) if name == "view" else None
        if isinstance(of, np.dtype):
            return self.program.record(of, owner.const)
        if name == "sum":
            return Value(f"sum_of_{owner.kind.of}({owner.pointer}, {prod(owner.kind.shape)})", owner.kind.of)
        if of is np.bool_:
            return Value(f"((uint8_t *){owner.pointer})", Array(BYTE, owner.kind.shape), root=owner.root)
        if of is np.int64:
            return Value(f"bits_of({owner.code})", INT)
        if of is np.float64:
            return Value(f"from_bits({owner.code})", self.program.real)
        raise ValueError(f"the method {name}")

    def _call(self, function: Any, given: Sequence[Value]) -> Value:
        signature = inspect.signature(function)
        annotated = {"int": INT, "bool": BOOL, "float": self.program.real}
        kinds = [annotated.get(str(one.annotation), value.kind) if isinstance(value.kind, str) else value.kind
            for one, value in zip(signature.parameters.values(), given, strict=True)]  # fmt: skip
        if "Floats, " in str(signature.return_annotation):
            return Function(self.program, inspect.unwrap(function), kinds, "", given).evaluated()
        called = self.program.function(function, kinds)
        words, values = ["policy"] * any(map(is_whole, kinds)), dict(zip(called.arguments, given, strict=True))
        for name in called.taken:
            kind, value = called.kinds[name], values[name]
            self._mark(value.root if name in called.writes else "")
            words.append(value.pointer if isinstance(kind, Array) else converted(value, kind).code)
        root = next((one.root for one in given if isinstance(one.kind, Array)), "")
        return Value(f"{called.name}({', '.join(words)})", called.returns or "void", root=root)
