"""Builds the extension modules. Needs a C compiler, Python's headers and PCRE2's (Debian: libpcre2-dev)."""

from Cython.Build import cythonize
from setuptools import Extension, setup

MODULES = (
    "engine",
    "facts",
    "keys",
    "line",
    "lines",
    "literals",
    "memo",
    "patterns",
    "pointers",
    "sentences",
    "words",
)

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"anchorhold_native.{module}",
                [f"anchorhold_native/{module}.pyx"],
                depends=[f"anchorhold_native/{header}.h" for header in ("blake2b", "mention", "recent")],
                libraries=["pcre2-8"] if module == "patterns" else [],
                extra_compile_args=["-O2"],
            )
            for module in MODULES
        ],
        compiler_directives={"language_level": 3, "boundscheck": False, "binding": False},
    )
)
