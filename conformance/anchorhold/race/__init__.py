"""The simulated race, shown: as a table, as JSON, as one HTML page with its plots drawn in."""

from anchorhold.race.page import page
from anchorhold.race.show import as_json, finding, tables

__all__ = ["as_json", "finding", "page", "tables"]
