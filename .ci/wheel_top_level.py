"""Fail unless the wheel's top level holds the three packages, its metadata, and nothing else."""

import sys
from pathlib import Path
from zipfile import ZipFile

EXPECTED = {"anchorhold", "anchorhold_spec", "anchorhold_reference"}


def main(wheel: Path) -> int:
    """Compare, print what differs, and answer with the exit status."""
    top = {name.split("/", 1)[0] for name in ZipFile(wheel).namelist()}
    found = {name for name in top if not name.endswith(".dist-info")}
    if found != EXPECTED:
        sys.stderr.write(f"{wheel.name}: top level holds {sorted(found)}, expected {sorted(EXPECTED)}\n")
        return 1
    sys.stdout.write(f"{wheel.name}: {', '.join(sorted(found))}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
