"""Where walks that failed are kept from one check to the next: where Hypothesis keeps its examples."""

import os
from pathlib import Path


def usual_place(root: Path = Path()) -> Path:
    """Hypothesis' own directory of examples: below `root`, unless `HYPOTHESIS_STORAGE_DIRECTORY` names another."""
    return root / os.environ.get("HYPOTHESIS_STORAGE_DIRECTORY", ".hypothesis") / "examples"
