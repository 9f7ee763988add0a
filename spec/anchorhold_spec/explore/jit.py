"""What stands in for the compiler where nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Code = Callable[..., Any]


def plain(function: Code) -> Code:
    """The function as it is."""
    return function


def no_prefetch(array: Any, position: int) -> None:
    """Does nothing: what is not compiled does not wait for memory."""


def compiling() -> Code:
    """The compiler: no interpreter lock, kept on disk beside the module. Raises ImportError without numba."""
    import numba

    compiler: Code = numba.njit(cache=True, nogil=True, error_model="numpy")
    return compiler


def inlining() -> Code:
    """The compiler for functions that only compiled code calls: without the wrappers that Python would need, which
    take longer to compile than what they wrap. Raises ImportError without numba."""
    import numba

    without: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "forceinline": True}
    compiler: Code = numba.njit(cache=True, nogil=True, error_model="numpy", **without)
    return compiler


def available() -> bool:
    """Whether there is a compiler here."""
    from importlib.util import find_spec

    return find_spec("numba") is not None and find_spec("numpy") is not None
