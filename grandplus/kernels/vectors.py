"""Sixteen float32 at a time for kernels, with a multiplication and an addition that are rounded once.

Numba alone rounds twice, since it may not join them. PyTorch's own kernels round once, and so give the same bytes.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

LANES = 16
_VECTOR = ir.VectorType(ir.FloatType(), LANES)


class Vector(types.Type):  # type: ignore[misc]
    """Sixteen float32, as a type of variables in kernels."""

    def __init__(self) -> None:
        super().__init__("float32x16")


@register_model(Vector)
class _Model(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _VECTOR)


_KIND = Vector()


@intrinsic  # type: ignore[untyped-decorator]
def load(_context: Any, table: Any, row: Any, column: Any) -> Any:
    """``load(table, row, column)``: sixteen columns of a row, the first of which is given. Nothing is checked."""

    def instruction(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load(_pointer(context, builder, signature, values), align=4)

    return _KIND(table, types.uintp, types.uintp), instruction


@intrinsic  # type: ignore[untyped-decorator]
def store(_context: Any, table: Any, row: Any, column: Any, vector: Any) -> Any:
    """``store(table, row, column, vector)``: the same the other way round."""

    def instruction(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        builder.store(values[3], _pointer(context, builder, signature, values), align=4)
        return context.get_dummy_value()

    return types.void(table, types.uintp, types.uintp, _KIND), instruction


@intrinsic  # type: ignore[untyped-decorator]
def load_some(_context: Any, table: Any, row: Any, column: Any, count: Any) -> Any:
    """``load_some(table, row, column, count)``: as ``load``, but only the first columns are read; the rest is 0."""

    def instruction(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        mask, number = _mask(builder, values[3]), ir.IntType(32)
        pointer, nothing = _pointer(context, builder, signature, values), ir.Constant(_VECTOR, None)
        kind = ir.FunctionType(_VECTOR, [pointer.type, number, mask.type, _VECTOR])
        llvm = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.load.v16f32.p0")
        return builder.call(llvm, [pointer, number(4), mask, nothing])

    return _KIND(table, types.uintp, types.uintp, types.uintp), instruction


@intrinsic  # type: ignore[untyped-decorator]
def store_some(_context: Any, table: Any, row: Any, column: Any, vector: Any, count: Any) -> Any:
    """``store_some(table, row, column, vector, count)``: as ``store``, but only the first columns are written."""

    def instruction(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        mask, number = _mask(builder, values[4]), ir.IntType(32)
        pointer = _pointer(context, builder, signature, values)
        kind = ir.FunctionType(ir.VoidType(), [_VECTOR, pointer.type, number, mask.type])
        llvm = cgutils.get_or_insert_function(builder.module, kind, "llvm.masked.store.v16f32.p0")
        builder.call(llvm, [values[3], pointer, number(4), mask])
        return context.get_dummy_value()

    return types.void(table, types.uintp, types.uintp, _KIND, types.uintp), instruction


@intrinsic  # type: ignore[untyped-decorator]
def splat(_context: Any, number: Any) -> Any:
    """``splat(number)``: sixteen times the same float32."""

    def instruction(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        return _splat(builder, values[0])

    return _KIND(types.float32), instruction


@intrinsic  # type: ignore[untyped-decorator]
def fma(_context: Any, a: Any, b: Any, c: Any) -> Any:
    """``fma(a, b, c)``: a · b + c, rounded once; of three vectors or of three float32."""
    kind, name = (_KIND, "llvm.fma.v16f32") if isinstance(a, Vector) else (types.float32, "llvm.fma.f32")

    def instruction(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        number = values[0].type
        llvm = cgutils.get_or_insert_function(builder.module, ir.FunctionType(number, [number] * 3), name)
        return builder.call(llvm, values)

    return kind(kind, kind, kind), instruction


def _pointer(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Of the entry (row, column) of a table whose columns are side by side."""
    view = context.make_array(signature.args[0])(context, builder, values[0])
    start = cgutils.get_item_pointer(
        context, builder, signature.args[0], view, [values[1], ir.Constant(ir.IntType(64), 0)], wraparound=False
    )
    return builder.bitcast(builder.gep(start, [values[2]]), _VECTOR.as_pointer())


def _splat(builder: Any, value: Any) -> Any:
    kind, number = ir.VectorType(value.type, LANES), ir.IntType(32)
    nothing, zeros = ir.Constant(kind, ir.Undefined), ir.Constant(ir.VectorType(number, LANES), None)
    return builder.shuffle_vector(builder.insert_element(nothing, value, number(0)), nothing, zeros)


def _mask(builder: Any, count: Any) -> Any:
    """Of the first lanes."""
    lanes = ir.Constant(ir.VectorType(count.type, LANES), list(range(LANES)))
    return builder.icmp_unsigned("<", lanes, _splat(builder, count))
