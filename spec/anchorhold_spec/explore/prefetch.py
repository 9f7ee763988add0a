"""Asking for memory before it is needed, in compiled code."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic


@intrinsic
def prefetch(_typing: Any, array: Any, position: Any) -> Any:
    """Fetches the entry at a position of a contiguous array (counted in entries) to be written."""
    signature = types.void(array, position)

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        function = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            builder.module,
            ir.FunctionType(ir.VoidType(), [byte, number, number, number]),
            "llvm.prefetch.p0i8",
        )
        address = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        # To be written; to stay in all caches; data.
        builder.call(function, [address, *(ir.Constant(number, value) for value in (1, 3, 1))])
        return context.get_dummy_value()

    return signature, code
