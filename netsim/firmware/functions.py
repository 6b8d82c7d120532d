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
from collections.abc import Iterator, Sequence
from math import prod
from textwrap import dedent, fill
from typing import TYPE_CHECKING, Any

from netsim.firmware.expressions import ANNOTATED, OPERATORS, Expressions, safe
from netsim.firmware.values import (
    BOOL,
    BYTE,
    INT,
    NONE,
    SHORT,
    Array,
    Memory,
    Struct,
    UnsupportedError,
    Value,
    converted,
    declared,
    joined,
    number,
    several,
)  # fmt: skip

if TYPE_CHECKING:
    from netsim.firmware.program import Program


def _named_in(node: ast.AST) -> Iterator[str]:
    """Yield the names of all variables and fields in a tree."""
    for one in ast.walk(node):
        if isinstance(one, ast.Name | ast.Attribute):
            yield one.id if isinstance(one, ast.Name) else one.attr


class Function(Expressions):
    """A function in C: what it `returns`, and which of its parameters it `writes`, once it has been translated."""

    def __init__(self, program: Program, function: Any, kinds: Sequence[Any], name: str, known: Sequence[Value] = ()):
        self.program, self.name, self.globals, self.real = program, name, function.__globals__, program.real
        source, self._first_line = inspect.getsourcelines(function)
        self._file = inspect.getsourcefile(function)
        (tree,) = ast.parse(dedent("".join(source))).body
        assert isinstance(tree, ast.FunctionDef)
        self._tree, self.arguments = tree, [one.arg for one in tree.args.args]
        self.kinds: dict[str, Any] = dict(zip(self.arguments, kinds, strict=True))
        stores = (one for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
        self._stored = Counter(one.id for one in stores)
        self.returns: Any = None
        self.writes: set[str] = set()
        self._pointed: dict[str, str] = {}  # from a variable that points to a part of an array to whose part it is
        self._known = dict(zip(self.arguments, known, strict=True)) if known else {}

    def translate(self) -> str:
        """Return the function in C."""
        before: object = None
        while before != (state := (dict(self.kinds), self.returns, set(self.writes))):
            before = state
            self._begin()
            self._body(self._tree.body)
        head, groups = [], dict[str, list[str]]()
        inner = {name for name in self.kinds if name not in self.arguments and self._declare(name)}
        lines = "\n".join("    " * (depth + 1) + text for depth, text in self._lines)
        for name, kind in self.kinds.items():
            word = "policy" if isinstance(kind, Memory) else safe(name)
            read = re.search(rf"\b{word}\b(?! = )|=.*\b{word}\b", lines)
            if name in self.arguments:
                if kind != NONE and not read:
                    head.append(f"    (void){word};")
            elif re.search(rf"\b{word}\b", lines) and name not in self._loops | inner:
                start = "NULL" if isinstance(kind, Array | Struct) else "false" if kind == BOOL else "0"
                key = declared(kind, "", const=name not in self.writes)
                groups.setdefault(key.rstrip("* "), []).append(f"{'*' * key.endswith('*')}{word} = {start}")
                head += [] if read else [f"    (void){word};"]
        variables = [fill(f"{kind} {', '.join(words)};", 110, initial_indent="    ", subsequent_indent=" " * 8)
            for kind, words in groups.items()]  # fmt: skip
        said = " ".join((ast.get_docstring(self._tree) or "").split("\n\n")[0].split()).replace("*/", "* /")
        note = fill(f"/* {said} */", 118, subsequent_indent="   ") + "\n" if said else ""
        return note + f"{self.prototype()}\n{{\n" + "\n".join([*variables, *dict.fromkeys(head), lines]) + "\n}\n"

    def _declare(self, name: str) -> bool:
        """Declare a variable where it is first set, if nothing outside of that block has it."""
        word, lines = rf"(?<![.>])\b{safe(name)}\b", self._lines
        at = [i for i, (_, text) in enumerate(lines) if re.search(word, text)]
        if len(at) < 2 or name in self._loops or not re.fullmatch(rf"{word} = ((?!{word}).)*", lines[at[0]][1]):
            return False
        depth, text = lines[at[0]]
        if any(below < depth for below, _ in lines[at[0] : at[-1]]):
            return False
        lines[at[0]] = depth, declared(self.kinds[name], text, const=name not in self.writes)
        return True

    def prototype(self) -> str:
        """Return its head."""
        kinds = [(self.kinds[name], name) for name in self.arguments if self.kinds[name] != NONE]
        taken = ["lpsm_policy *policy"] * any(isinstance(kind, Memory) for kind, _ in kinds) + [
            declared(kind, safe(name), const=name not in self.writes)
            for kind, name in kinds if not isinstance(kind, Memory)
        ]  # fmt: skip
        returned = declared(self.returns or "void", "").strip()
        return fill(f"static {returned} {self.name}({', '.join(taken) or 'void'})", 110, subsequent_indent=" " * 8)

    def inlined(self) -> Value:
        """Return what a function returns that does nothing but name parts of arrays."""
        self._begin()
        for node in self._tree.body[:-1]:
            self._statement(node)
        last: Any = self._tree.body[-1]
        return self._value(last.value)

    def _begin(self) -> None:
        self._lines: list[tuple[int, str]] = []
        self._depth = self._count = 0
        self._bound, self._loops = dict[str, Value](self._known), set[str]()

    # -- statements

    def _emit(self, text: str) -> None:
        self._lines.append((self._depth, text))

    def _body(self, nodes: Sequence[ast.stmt]) -> None:
        for node in nodes:
            try:
                self._statement(node)
            except (UnsupportedError, KeyError, AttributeError, TypeError, AssertionError, ValueError) as error:
                if str(error).startswith(str(self._file)) or "cannot be translated" in str(error):
                    raise
                at = f"{self._file}:{self._first_line + node.lineno - 1}"
                text = ast.unparse(node).partition("\n")[0][:70]
                why = f"; {error}" * isinstance(error, UnsupportedError)
                raise UnsupportedError(f"{at}: cannot be translated to C: {text}{why}") from error
            if isinstance(node, ast.Return | ast.Break | ast.Continue):
                return

    def _block(self, nodes: Sequence[ast.stmt], head: str, end: str = "}") -> None:
        self._emit(head)
        self._depth += 1
        self._body(nodes)
        self._depth -= 1
        if end:
            self._emit(end)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Expr):
            if not isinstance(node.value, ast.Constant):
                self._emit(f"{self._value(node.value).code};")
        elif isinstance(node, ast.Assign):
            self._assign_all(node.targets, node.value)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign_all([node.target], node.value)
        elif isinstance(node, ast.AugAssign):
            self._augment(node)
        elif isinstance(node, ast.If):
            self._if(node)
        elif isinstance(node, ast.While):
            self._block(node.body, f"while ({self._truth(node.test).code}) {{")
        elif isinstance(node, ast.For):
            self._for(node)
        elif isinstance(node, ast.Return):
            self._return(node)
        elif isinstance(node, ast.Break | ast.Continue):
            self._emit(f"{type(node).__name__.lower()};")
        else:
            raise UnsupportedError(type(node).__name__)

    def _if(self, node: ast.If) -> None:
        test = self._truth(node.test)
        if test.const is not None:
            self._body(node.body if test.const else node.orelse)
            return
        self._block(node.body, f"if ({test.code}) {{", "" if node.orelse else "}")
        if node.orelse:
            self._block(node.orelse, "} else {")

    def _for(self, node: ast.For) -> None:
        assert isinstance(node.target, ast.Name)
        name = node.target.id
        inside = [one for one in ast.walk(self._tree) if isinstance(one, ast.For) and ast.unparse(one.target) == name]
        uses = {id(one) for loop in inside for one in ast.walk(loop)}
        everywhere = (one for one in ast.walk(self._tree) if isinstance(one, ast.Name) and one.id == name)
        alone = name != "_" and self._stored[name] == len(inside) and all(id(one) in uses for one in everywhere)
        word = safe(name) if alone else self._temporary()
        if not isinstance(node.iter, ast.Call):
            table = self._value(node.iter)
            self.kinds[name] = table.kind.of
            at = self._temporary()
            self._emit(f"for (int64_t {at} = 0; {at} < {table.kind.shape[0]}; {at}++) {{")
            self._lines.append((self._depth + 1, f"{name} = {table.code}[{at}];"))
        else:
            bounds = [self._value(one) for one in node.iter.args]
            by = bounds.pop() if len(bounds) == 3 else number(1, self.real)
            step = 0 if by.const is None else by.const  # 0: upwards, by what is known later
            low, high = bounds if len(bounds) == 2 else (number(0, self.real), bounds[0])
            if low.const is not None and high.const is not None and low.const >= high.const and step >= 0:
                return
            stop, ends = (high.code, "") if high.const is not None else (f"{word}_end", f", {word}_end = {high.code}")
            move = {1: f"{word}++", -1: f"{word}--"}.get(step, f"{word} += {by.code}")
            compared = ">" if step < 0 else "<"
            self._emit(f"for (int64_t {word} = {low.code}{ends}; {word} {compared} {stop}; {move}) {{")
            if alone:
                self.kinds[name] = INT
                self._loops.add(name)
            elif name != "_":
                self.kinds[name] = joined(self.kinds.get(name), INT)
                self._lines.append((self._depth + 1, f"{safe(name)} = {word};"))
        self._depth += 1
        self._body(node.body)
        self._depth -= 1
        self._emit("}")

    def _temporary(self) -> str:
        self._count += 1
        return f"t{self._count}"

    def _return(self, node: ast.Return) -> None:
        if node.value is None:
            self._emit("return;")
            return
        value = self._value(node.value)
        if value.parts:
            self.returns = joined(self.returns, several([part.kind for part in value.parts]))
            fields = zip(value.parts, self.returns.fields, strict=True)
            code = ", ".join(converted(part, kind).code for part, (_, kind) in fields)
            value = Value(f"({self.program.results(self.returns)}){{{code}}}", self.returns)
        else:
            self.returns = joined(self.returns, ANNOTATED.get(ast.unparse(self._tree.returns), value.kind)
                if self._tree.returns is not None and isinstance(value.kind, str) else value.kind)  # fmt: skip
        code = converted(value, self.returns).code
        self._emit(f"return {code};")

    def _assign_all(self, targets: Sequence[ast.expr], given: ast.expr) -> None:
        value = self._value(given)
        if (
            len(targets) > 1
            and isinstance(value.kind, str)
            and value.const is None
            and not isinstance(given, ast.Constant)
        ):
            word = self._temporary()
            self._emit(f"const {value.kind} {word} = {value.code};")
            value = Value(word, value.kind)
        if len(targets) > 1 or not isinstance(targets[0], ast.Tuple):
            for target in reversed(targets):
                self._assign(target, value)
            return
        places, parts = targets[0].elts, value.parts
        if not parts:  # what a call returns
            assert isinstance(value.kind, Struct)
            word = self._temporary()
            self._emit(f"const {self.program.results(value.kind)} {word} = {value.code};")
            parts = tuple(Value(f"{word}.{name}", kind) for name, kind in value.kind.fields)
        else:
            parts = tuple(self._apart(places, given, parts))
        for place, part in zip(places, parts, strict=True):
            self._assign(place, part)

    def _apart(self, places: Sequence[ast.expr], given: ast.expr, parts: Sequence[Value]) -> Iterator[Value]:
        """Yield values as they are before any of them is assigned."""
        nodes = given.elts if isinstance(given, ast.Tuple) else []
        for i, part in enumerate(parts):
            before = {next(_named_in(place if isinstance(place, ast.Name) else _owner(place))) for place in places[:i]}
            names = set(_named_in(nodes[i])) if nodes else set()
            calls = nodes and any(isinstance(one, ast.Call) for one in ast.walk(nodes[i]))
            if isinstance(part.kind, str) and (before & names or (calls and len(before) < i)) and part.const is None:
                word = self._temporary()
                self._emit(f"const {part.kind} {word} = {part.code};")
                part = Value(word, part.kind)
            yield part

    def _assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            name = target.id
            if name == "_":
                return
            known = value.parts or (value.const is not None and value.kind == INT)
            if known and self._stored[name] == 1 and name not in self.arguments:
                self._bound[name] = value
                return
            self.kinds[name] = kind = joined(self.kinds.get(name), value.kind)
            if isinstance(kind, Array):
                self._pointed[name] = value.root
                self._mark(name if name in self.writes else "")
            self._emit(f"{safe(name)} = {value.pointer if isinstance(kind, Array) else converted(value, kind).code};")
            return
        place = self._place(target)
        self._mark(place.root)
        if not isinstance(place.kind, Array):
            self._emit(f"{place.code} = {converted(value, place.kind).code};")
        elif isinstance(value.kind, Array):
            size = prod(place.kind.shape)
            self._emit(f"memcpy({place.pointer}, {value.pointer}, {size} * sizeof({place.kind.of}));")
        else:
            self._each(place, f"= {converted(value, place.kind.of).code}")

    def _each(self, place: Value, what: str) -> None:
        at = self._temporary()
        item = f"{place.code}[{place.at} + {at}]" if place.at else f"{place.code}[{at}]"
        self._emit(f"for (int64_t {at} = 0; {at} < {prod(place.kind.shape)}; {at}++) {item} {what};")

    def _mark(self, name: str) -> None:
        """Note that what a variable points to is written."""
        while name and name not in self.writes:
            self.writes.add(name)
            name = self._pointed.get(name, "")
        if name:
            self.writes.add(self._pointed.get(name, "") or name)

    def _augment(self, node: ast.AugAssign) -> None:
        place, value = self._place(node.target), self._value(node.value)
        sign = OPERATORS.get(type(node.op), ("/", 0, None))[0]
        if isinstance(place.kind, Array):
            self._mark(place.root)
            self._each(place, f"{sign}= {converted(value, place.kind.of).code}")
            return
        kind = place.kind if place.kind in (SHORT, BYTE) else joined(place.kind, value.kind)
        if isinstance(node.target, ast.Name):
            self.kinds[node.target.id] = kind
        self._mark(place.root)
        if kind == place.kind and sign in ("+", "-", "*", "|", "&") and not (kind == BOOL and sign == "+"):
            self._emit(f"{place.code} {sign}= {converted(value, kind).code};")
        else:
            self._emit(f"{place.code} = {converted(self._binary(node.op, place, value), kind).code};")


def _owner(node: ast.expr) -> ast.expr:
    """Return the variable or the field of which an element is taken."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return ast.Name(node.attr) if isinstance(node, ast.Attribute) else node
