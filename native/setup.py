"""Builds the extension modules. Needs a C compiler and the headers of Python, PCRE2 and OpenSSL 3 (Debian:
libpcre2-dev, libssl-dev)."""

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

LIBRARIES = {"patterns": ["pcre2-8"], "pointers": ["crypto"]}

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"anchorhold_native.{module}",
                [f"anchorhold_native/{module}.pyx"],
                depends=[f"anchorhold_native/{header}.h" for header in ("blake2b", "mention", "recent")],
                libraries=LIBRARIES.get(module, []),
                extra_compile_args=["-O2"],
            )
            for module in MODULES
        ],
        compiler_directives={"language_level": 3, "boundscheck": False, "binding": False},
    )
)
