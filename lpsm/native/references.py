"""Records in compiled code: a reference is an address, and a field stands at a fixed distance behind it.

numba is told of two types.  A `Reference` to a kind of record is an int64 whose attributes are the fields of that kind
(`lpsm.native.records`): a number or a reference is loaded and stored, and a record that is part of another is a
reference to where it stands.  `Rows` of a kind is the address of the first of them.  `NONE`, the integer 0, is a
reference to nothing.  So functions on records compile as they stand, and a field that does not exist is a typing error.
"""

# numba and llvmlite are not typed.
# mypy: disable-error-code="no-untyped-call,call-arg,attr-defined,misc,override,untyped-decorator"

from __future__ import annotations

import operator
import re
from collections.abc import Callable

from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.datamodel import DataModelManager, models
from numba.core.imputils import lower_cast, lower_getattr_generic, lower_setattr_generic
from numba.core.typeconv import Conversion
from numba.core.typing import Signature
from numba.core.typing.context import BaseContext as Typing
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, overload, register_model

from lpsm.native.compiler import PLAIN, Lowered, Native, cast
from lpsm.native.records import RECORDS, Field, fields_of, words_of

_WORD = ir.IntType(64)
_WORD_BYTES = 8


class _OfKind(types.Type):
    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(name=f"{type(self).__name__}({kind})")


class Reference(_OfKind):
    """The type of a reference to a record of a kind."""

    def unify(self, typingctx: Typing, other: types.Type) -> types.Type | None:
        """Return what a variable is that is this or `NONE`."""
        return self if isinstance(other, types.Integer) else None

    def can_convert_from(self, typingctx: Typing, other: types.Type) -> Conversion | None:
        """Take an integer for a reference: `NONE`, or what an event is about."""
        return Conversion.unsafe if isinstance(other, types.Integer) else None

    def can_convert_to(self, typingctx: Typing, other: types.Type) -> Conversion | None:
        """Take a reference for an integer, where an event is about it."""
        return Conversion.unsafe if other == types.int64 else None


class Rows(_OfKind):
    """The type of records of a kind in a row."""


@register_model(Reference)
@register_model(Rows)
class _Address(models.PrimitiveModel):
    def __init__(self, manager: DataModelManager, kind: types.Type) -> None:
        super().__init__(manager, kind, _WORD)


_PLAIN = {**PLAIN, "Any": types.int64, "Ints": types.CPointer(types.int64)}


def type_of(what: str) -> types.Type:
    """Return the type that an annotation stands for."""
    name = re.findall(r"\w+", what)[-1]
    if what.startswith("Rows["):
        return Rows(name)
    return Reference(name) if name in RECORDS else _PLAIN[name]


# -- fields


@infer_getattr
class _FieldTypes(AttributeTemplate):
    key = Reference

    def generic_resolve(self, reference: Reference, name: str) -> types.Type | None:
        field = fields_of(reference.kind).get(name)
        return None if field is None else type_of(field.what)


def _begin(builder: ir.IRBuilder, address: ir.Value, field: Field) -> ir.Value:
    return builder.add(address, _WORD(_WORD_BYTES * field.at))


def _place(context: BaseContext, builder: ir.IRBuilder, address: ir.Value, field: Field) -> ir.Value:
    """Return the pointer to a field."""
    return builder.inttoptr(_begin(builder, address, field), context.get_value_type(type_of(field.what)).as_pointer())


def _of_field(builder: ir.IRBuilder, access: ir.Instruction, name: str) -> ir.Instruction:
    """Let LLVM know that what is read or written is no other field (type-based alias analysis); return the access."""
    module, zero = builder.module, _WORD(0)
    field = module.add_metadata([name, module.add_metadata(["records"]), zero])
    access.set_metadata("tbaa", module.add_metadata([field, field, zero]))
    return access


@lower_getattr_generic(Reference)
def _load(context: BaseContext, builder: ir.IRBuilder, reference: Reference, address: ir.Value, name: str) -> ir.Value:
    field = fields_of(reference.kind)[name]
    if field.part:
        return _begin(builder, address, field)
    return _of_field(builder, builder.load(_place(context, builder, address, field)), f"{reference.kind}.{name}")


@lower_setattr_generic(Reference)
def _store(
    context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: list[ir.Value], name: str
) -> None:
    kind = signature.args[0].kind
    field = fields_of(kind)[name]
    if field.part:
        raise TypeError(f"{name} is part of its record, and cannot be set")
    _of_field(builder, builder.store(arguments[1], _place(context, builder, arguments[0], field)), f"{kind}.{name}")


# -- integers and references


@lower_cast(types.Integer, Reference)
def _refer(context: BaseContext, builder: ir.IRBuilder, given: types.Type, _: Reference, value: ir.Value) -> ir.Value:
    return context.cast(builder, value, given, types.int64)


@lower_cast(Reference, types.Integer)
def _number(_: BaseContext, builder: ir.IRBuilder, given: Reference, wanted: types.Type, value: ir.Value) -> ir.Value:
    return value


_address = cast(types.int64, lambda builder, value: value)
_COMPARED: dict[Callable[..., bool], Callable[..., bool]] = {
    bool: lambda x: _address(x) != 0,
    operator.not_: lambda x: _address(x) == 0,
    operator.eq: lambda a, b: _address(a) == _address(b),
    operator.ne: lambda a, b: _address(a) != _address(b),
}


def _on_references(compared: Callable[..., bool]) -> Callable[..., Callable[..., bool] | None]:
    return lambda *given: compared if all(isinstance(one, Reference) for one in given) else None


for _operation, _compared in _COMPARED.items():
    overload(_operation, strict=False)(_on_references(_compared))


@intrinsic
def _row(_: Typing, rows: Rows, i: types.Type) -> Lowered:
    def generate(context: BaseContext, builder: ir.IRBuilder, taken: Signature, given: list[ir.Value]) -> ir.Value:
        place = context.cast(builder, given[1], taken.args[1], types.int64)
        return builder.add(given[0], builder.mul(place, _WORD(_WORD_BYTES * words_of(rows.kind))))

    return Reference(rows.kind)(rows, i), generate


@overload(operator.getitem, strict=False)
def _take_row(rows: types.Type, i: types.Type) -> Callable[..., object] | None:
    return (lambda rows, i: _row(rows, i)) if isinstance(rows, Rows) else None


def reader(kind: str) -> Native:
    """Return what takes an integer for a reference to a record of a kind."""
    return cast(Reference(kind), lambda builder, value: value)
