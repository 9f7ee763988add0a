"""A compactor that holds the rules of `anchorhold_spec`, small enough to be read as the model answer."""

import logging

from anchorhold_reference.compaction import STEPS
from anchorhold_reference.errors import (
    AnchorholdError,
    BranchExistsError,
    ClosedError,
    ForeignStoreError,
    MismatchError,
    StoreError,
    TurnConflictError,
    UnknownCarrierError,
    UnknownTurnError,
)
from anchorhold_reference.transcript import Transcript
from anchorhold_reference.values import Audit, Candidate, Copies, Ratios, Reply, Request, Settings, Status

__all__ = [
    "STEPS",
    "AnchorholdError",
    "Audit",
    "BranchExistsError",
    "Candidate",
    "ClosedError",
    "Copies",
    "ForeignStoreError",
    "MismatchError",
    "Ratios",
    "Reply",
    "Request",
    "Settings",
    "Status",
    "StoreError",
    "Transcript",
    "TurnConflictError",
    "UnknownCarrierError",
    "UnknownTurnError",
]

# Whoever uses a library decides where its records go; without this Python would print them to stderr.
logging.getLogger("anchorhold").addHandler(logging.NullHandler())
