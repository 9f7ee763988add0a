"""Builds `anchorhold` with the structural rules compiled: `HATCH_BUILD_HOOK_ENABLE_CUSTOM=1 pip install .`

mypyc translates the modules as they stand: the same source is the definition of the rules either way, and a wheel
holds both. Without the variable this is not run, and the wheel is pure Python. Needs a C compiler and Python's
headers.
"""

from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

CHECKERS: Final = (
    "calls",
    "course",
    "crashes",
    "difference",
    "entries",
    "epochs",
    "finding",
    "ids",
    "keys",
    "lanes",
    "looking",
    "lossless",
    "outcomes",
    "packed",
    "resolving",
    "structure",
    "tally",
    "turns",
    "watch",
)
"""What `anchorhold.checkers` does for each event and each look. Values that msgspec makes or decodes (`record`) stay
as they are: mypyc has no classes of another metaclass."""
GROUP: Final = "anchorhold.structural"
"""The library that holds them all."""


class CustomBuildHook(BuildHookInterface):
    """Adds the compiled modules to the wheel, each beside its source."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile. Raises where the compiler does; mypyc ends the process where types are wrong."""
        if self.target_name != "wheel" or version != "standard":
            return
        from mypyc.build import mypycify
        from setuptools import Distribution
        from setuptools.command.build_ext import build_ext

        made = Path(mkdtemp(prefix="anchorhold-"))
        modules = [*(f"checkers/{name}.py" for name in CHECKERS), "verify/lines.py"]
        extensions = mypycify(
            [
                # Paths of mypy's in pyproject.toml are those from the project's root, where a build runs.
                "--config-file=pyproject.toml",
                "--follow-imports=silent",
                f"--cache-dir={made / 'cache'}",
                *(str(Path("conformance", "anchorhold", module)) for module in modules),
            ],
            opt_level="2",
            debug_level="0",
            group_name=GROUP,
            target_dir=str(made / "c"),
        )
        build = build_ext(Distribution({"name": "anchorhold", "ext_modules": extensions}))
        build.build_lib, build.build_temp = str(made / "lib"), str(made / "o")
        build.ensure_finalized()
        build.run()
        build_data["pure_python"], build_data["infer_tag"] = False, True
        for library in (made / "lib").rglob("*.*"):
            build_data["force_include"][str(library)] = str(library.relative_to(made / "lib"))
