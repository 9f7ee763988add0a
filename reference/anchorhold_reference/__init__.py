"""A compactor that holds the rules of `anchorhold_spec`, small enough to be read as the model answer."""

from anchorhold_reference.compaction import STEPS
from anchorhold_reference.errors import (
    AnchorholdError,
    ClosedError,
    ForeignStoreError,
    MismatchError,
    StoreError,
    TurnConflictError,
    UnknownCarrierError,
)
from anchorhold_reference.transcript import Transcript
from anchorhold_reference.values import Candidate, Reply, Request, Settings, Status

__all__ = [
    "STEPS",
    "AnchorholdError",
    "Candidate",
    "ClosedError",
    "ForeignStoreError",
    "MismatchError",
    "Reply",
    "Request",
    "Settings",
    "Status",
    "StoreError",
    "Transcript",
    "TurnConflictError",
    "UnknownCarrierError",
]
