"""Records in compiled code: a reference is an address, and a field stands at a fixed distance behind it.

numba is told of two types.  A `Reference` to a kind of record is an int64 whose attributes are the fields of that
kind (`lpsm.native.records`): a number or a reference is loaded and stored, and a record that is part of another is a
reference to where it stands.  `Rows` of a kind is the address of the first of them.  `NONE`, the integer 0, is a
reference to nothing.  So functions on records compile as they stand, and a field that does not exist is a
typing error.
"""

from __future__ import annotations

import operator
import re
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.datamodel import models
from numba.core.imputils import lower_cast, lower_getattr_generic, lower_setattr_generic
from numba.core.typeconv import Conversion  # type: ignore[attr-defined]
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, overload, register_model

from lpsm.native.compiler import cast
from lpsm.native.records import RECORDS, Field, fields_of, words_of

_WORD = ir.IntType(64)
_WORD_BYTES = 8
_INTS = types.CPointer(types.int64)  # type: ignore[no-untyped-call]


class Reference(types.Type):
    """The type of a reference to a record of a kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(name=f"Reference({kind})")

    def unify(self, typingctx: Any, other: Any) -> Any:
        """Return what a variable is that is this or `NONE`."""
        return self if isinstance(other, types.Integer) else None

    def can_convert_from(self, typingctx: Any, other: Any) -> Any:
        """Take an integer for a reference: `NONE`, or what an event is about."""
        return Conversion.unsafe if isinstance(other, types.Integer) else None

    def can_convert_to(self, typingctx: Any, other: Any) -> Any:
        """Take a reference for an integer, where an event is about it."""
        return Conversion.unsafe if other == types.int64 else None


class Rows(types.Type):
    """The type of records of a kind in a row."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        super().__init__(name=f"Rows({kind})")


@register_model(Reference)
@register_model(Rows)
class _Address(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WORD)  # type: ignore[no-untyped-call]


def type_of(what: str) -> Any:
    """Return the type that an annotation stands for."""
    name = re.findall(r"\w+", what)[-1]
    if what.startswith("Rows["):
        return Rows(name)
    if name in RECORDS:
        return Reference(name)
    plain: dict[str, Any] = {
        "int": types.int64, "Any": types.int64, "float": types.float64, "bool": types.boolean, "Ints": _INTS,
        "None": types.none,
    }  # fmt: skip
    return plain[name]


# -- fields


@infer_getattr
class _FieldTypes(AttributeTemplate):
    key = Reference

    def generic_resolve(self, reference: Any, name: str) -> Any:  # type: ignore[override]
        field = fields_of(reference.kind).get(name)
        return None if field is None else type_of(field.what)


def _place(context: Any, builder: Any, address: Any, field: Field) -> Any:
    """Return the pointer to a field."""
    at = builder.add(address, _WORD(_WORD_BYTES * field.at))
    return builder.inttoptr(at, context.get_value_type(type_of(field.what)).as_pointer())


def _of_field(builder: Any, access: Any, name: str) -> Any:
    """Let LLVM know that what is read or written is no other field (type-based alias analysis); return the access."""
    module, zero = builder.module, _WORD(0)
    field = module.add_metadata([name, module.add_metadata(["records"]), zero])
    access.set_metadata("tbaa", module.add_metadata([field, field, zero]))
    return access


@lower_getattr_generic(Reference)  # type: ignore[no-untyped-call, untyped-decorator]
def _load(context: Any, builder: Any, reference: Any, address: Any, name: str) -> Any:
    field = fields_of(reference.kind)[name]
    if field.part:
        return builder.add(address, _WORD(_WORD_BYTES * field.at))
    return _of_field(builder, builder.load(_place(context, builder, address, field)), f"{reference.kind}.{name}")


@lower_setattr_generic(Reference)  # type: ignore[no-untyped-call, untyped-decorator]
def _store(context: Any, builder: Any, signature: Any, arguments: Any, name: str) -> None:
    field = fields_of(signature.args[0].kind)[name]
    if field.part:
        raise TypeError(f"{name} is part of its record, and cannot be set")
    stored = builder.store(arguments[1], _place(context, builder, arguments[0], field))
    _of_field(builder, stored, f"{signature.args[0].kind}.{name}")


# -- integers and references


@lower_cast(types.Integer, Reference)  # type: ignore[no-untyped-call, untyped-decorator]
def _refer(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return context.cast(builder, value, given, types.int64)


@lower_cast(Reference, types.Integer)  # type: ignore[no-untyped-call, untyped-decorator]
def _number(context: Any, builder: Any, given: Any, wanted: Any, value: Any) -> Any:
    return value


def _to_number(_: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return context.cast(builder, arguments[0], signature.args[0], types.int64)

    return types.int64(value), generate


_address: Any = intrinsic(_to_number)


@overload(bool, strict=False)
def _is_something(x: Any) -> Any:
    return (lambda x: _address(x) != 0) if isinstance(x, Reference) else None


@overload(operator.not_, strict=False)
def _is_nothing(x: Any) -> Any:
    return (lambda x: _address(x) == 0) if isinstance(x, Reference) else None


@overload(operator.eq, strict=False)
def _is_same(a: Any, b: Any) -> Any:
    both = isinstance(a, Reference) and isinstance(b, Reference)
    return (lambda a, b: _address(a) == _address(b)) if both else None


@overload(operator.ne, strict=False)
def _is_other(a: Any, b: Any) -> Any:
    both = isinstance(a, Reference) and isinstance(b, Reference)
    return (lambda a, b: _address(a) != _address(b)) if both else None


def _nth(_: Any, rows: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = context.cast(builder, arguments[1], signature.args[1], types.int64)
        return builder.add(arguments[0], builder.mul(place, _WORD(_WORD_BYTES * words_of(rows.kind))))

    return Reference(rows.kind)(rows, i), generate


_row: Any = intrinsic(_nth)


@overload(operator.getitem, strict=False)
def _take_row(rows: Any, i: Any) -> Any:
    return (lambda rows, i: _row(rows, i)) if isinstance(rows, Rows) else None


def reader(kind: str) -> Any:
    """Return what takes an integer for a reference to a record of a kind."""
    return cast(Reference(kind), lambda builder, value: value)
