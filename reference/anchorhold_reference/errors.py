"""Errors. Each says what happened, to what, under which rule, and what to do."""


class AnchorholdError(Exception):
    """Base of every error that this package raises on purpose."""


class ClosedError(AnchorholdError):
    """The transcript was closed; open it again."""

    def __init__(self) -> None:
        super().__init__("this transcript is closed; open it again with Transcript.open or reopen()")


class ForkedError(AnchorholdError):
    """The transcript was opened by the process that this one was forked from."""

    def __init__(self, where: str) -> None:
        super().__init__(
            f"{where} was opened before this process was forked, and belongs to the parent (CRA-2); open it "
            "again here"
        )


class TurnConflictError(AnchorholdError):
    """A turn's id came a second time with other content (IDX-2, IDX-5)."""

    def __init__(self, turn: str) -> None:
        super().__init__(
            f"turn {turn!r} is already in this session with other content (IDX-5): an id names one turn for ever; "
            "append the new content under an id of its own"
        )


class NotUnicodeError(AnchorholdError):
    """An id, a name or a question is no text that the ledger can hold: not valid Unicode or, on PostgreSQL, with a
    null character. A turn's own text may be either (STR-3)."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"{found}: only a turn's text, arguments and data may be that (STR-3); name it by text that can be "
            "encoded as UTF-8, without null characters"
        )


class UnknownCarrierError(AnchorholdError):
    """No live carrier of this session has that id."""

    def __init__(self, carrier: str) -> None:
        super().__init__(f"{carrier!r} is no carrier of this session's live window; see live() for those that are")


class UnknownTurnError(AnchorholdError):
    """No turn of this branch has that id."""

    def __init__(self, turn: str) -> None:
        super().__init__(f"there is no turn {turn!r} in this branch; name one that was appended and not taken back")


class BranchExistsError(AnchorholdError):
    """The session has a branch of that name already."""

    def __init__(self, branch: str) -> None:
        super().__init__(f"this session has a branch {branch!r} already; open it, or fork under another name")


class MismatchError(AnchorholdError):
    """The bytes under a pointer are not those that it names (EPO-3)."""

    def __init__(self, *, key: str, epoch: int, named: str, found: str) -> None:
        super().__init__(
            f"pointer to {key} at epoch {epoch} names {named}, but the store holds {found} (EPO-3): "
            "nothing is answered from it; restore the cold store from a copy, or drop the span on the record"
        )
        self.key = key
        self.epoch = epoch
        self.named = named
        self.found = found


class StoreError(AnchorholdError):
    """The store does not hold what it acknowledged (OUT-3)."""


class ForeignStoreError(AnchorholdError):
    """The file is a database of something else, or of a layout that this version does not read."""

    def __init__(self, path: str, found: str) -> None:
        super().__init__(f"{path}: {found}; open another file, or one written by this version")


class LedgerError(AnchorholdError):
    """The database failed: full, locked for too long, gone, or damaged. What was not committed did not happen."""

    def __init__(self, found: str, *, where: str) -> None:
        super().__init__(
            f"{where}: {found}; what was acknowledged before is untouched: see to the database and try again"
        )


class VectorsUnavailableError(AnchorholdError):
    """An embedding function was passed where no vectors can be kept."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what} cannot compare vectors: they are kept in SQLite, opened by its path with the extra `vectors`; "
            "give such a path, or leave Settings.embed out"
        )


class EmbeddingMismatchError(AnchorholdError):
    """The session has vectors of another dimension than the embedding function makes."""

    def __init__(self, *, known: int, made: int) -> None:
        super().__init__(
            f"this session's vectors have {known} numbers, and the embedding function makes {made}: open it with the "
            "function that made them, or without one"
        )


class MissingExtraError(AnchorholdError):
    """What was asked for needs a package that is not installed."""

    def __init__(self, what: str, *, extra: str) -> None:
        super().__init__(f"{what} needs more than the core installs: pip install 'anchorhold[{extra}]'")
