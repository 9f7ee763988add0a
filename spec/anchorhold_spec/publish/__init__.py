"""Reading 4, publish: machines as TLA+ for TLC, as Murphi for rumur, and as Markdown for reviewers.

`export_tla(machine)` and `export_murphi(machine)` give the texts of one finite instance; other people's checkers then
confirm what the readings of this project find. `export_markdown(machines)` is for people. `matrix.sections` gives the
generated parts of spec/README.md, from the claims of the sources (`claims.toml`) down to what checks them.
"""

from anchorhold_spec.publish.claims import Claim, Claims, Departure, claims
from anchorhold_spec.publish.coverage import Checked, Stated, stated
from anchorhold_spec.publish.guards import guards_table
from anchorhold_spec.publish.markdown import export_markdown, machine_page
from anchorhold_spec.publish.matrix import fill, sections
from anchorhold_spec.publish.murphi import export_murphi
from anchorhold_spec.publish.tla import TlaExport, export_tla

__all__ = [
    "Checked",
    "Claim",
    "Claims",
    "Departure",
    "Stated",
    "TlaExport",
    "claims",
    "export_markdown",
    "export_murphi",
    "export_tla",
    "fill",
    "guards_table",
    "machine_page",
    "sections",
    "stated",
]
