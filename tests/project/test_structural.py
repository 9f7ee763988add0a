"""What the compiled structural rules are made of."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]


def watching(module: Path) -> bool:
    """Whether it defines what is told of each event and look."""
    classes = (node for node in ast.walk(ast.parse(module.read_text("utf-8"))) if isinstance(node, ast.ClassDef))
    return any(isinstance(base, ast.Name) and base.id == "Watch" for one in classes for base in one.bases)


def test_every_watch_is_compiled_since_none_that_is_not_can_be_made_from_a_compiled_one() -> None:
    built = ast.parse((ROOT / "native" / "structural.py").read_text("utf-8"))
    (names,) = [
        ast.literal_eval(node.value)
        for node in built.body
        if isinstance(node, ast.AnnAssign) and node.value and getattr(node.target, "id", "") == "CHECKERS"
    ]
    modules = (ROOT / "conformance" / "anchorhold" / "checkers").glob("*.py")
    watches = {module.stem for module in modules if watching(module)}
    assert watches
    assert watches <= set(names)
