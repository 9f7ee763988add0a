"""Reading 4, publish: machines as TLA+ for TLC, as Murphi for rumur, and as Markdown for reviewers.

`export_tla(machine)` and `export_murphi(machine)` give the texts of one finite instance; other people's checkers then
confirm what the readings of this project find.
"""

from anchorhold_spec.publish.murphi import export_murphi
from anchorhold_spec.publish.tla import TlaExport, export_tla

__all__ = ["TlaExport", "export_murphi", "export_tla"]
