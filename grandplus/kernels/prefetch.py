"""Prefetching for kernels: the processor loads memory while it computes something else."""

from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LINE = 16  # 4-byte numbers in a cache line, the unit in which memory is loaded


@intrinsic  # type: ignore[untyped-decorator]
def prefetch(_context: Any, array: Any, index: Any) -> Any:
    """``prefetch(array, index)`` starts to load an entry into the cache; any index is harmless."""

    def instruction(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, values[0])
        entry = cgutils.get_item_pointer(context, builder, signature.args[0], view, [values[1]], wraparound=False)
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        arguments = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        llvm = cgutils.get_or_insert_function(builder.module, arguments, "llvm.prefetch.p0")
        builder.call(llvm, [builder.bitcast(entry, byte), number(0), number(3), number(1)])  # to read, keep, data
        return context.get_dummy_value()

    return types.void(array, types.uintp), instruction
