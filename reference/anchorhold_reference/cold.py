"""The cold store: byte-exact originals in slots that are used again, each use at an epoch of its own."""

from dataclasses import dataclass

from anchorhold_reference.codec import decode, digest, encode_text
from anchorhold_reference.decide import Copy, Holding
from anchorhold_reference.errors import MismatchError, StoreError
from anchorhold_reference.ledger import Ledger
from anchorhold_reference.pointer import Address, seal
from anchorhold_spec.vocabulary import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A pointer that this store issued."""

    address: Address
    span: int
    holding: Holding
    copy: Copy

    @property
    def token(self) -> str:
        """The pointer outside."""
        return seal(self.address)


def allocate(ledger: Ledger) -> tuple[int, int]:
    """A slot with a new epoch: all that a pointer needs to be written. Inside a transaction.

    The lowest emptied slot is taken first: keys are recycled on purpose, and it is the epoch that keeps them apart.
    """
    ledger.run("UPDATE counter SET value = value + 1 WHERE name = 'epoch'")
    (epoch,) = ledger.one("SELECT value FROM counter WHERE name = 'epoch'")
    free = ledger.first("SELECT slot FROM free_slot ORDER BY slot LIMIT 1")
    if free is not None:
        slot = int(free[0])
        ledger.run("DELETE FROM free_slot WHERE slot = ?", (slot,))
    else:
        ledger.run("UPDATE counter SET value = value + 1 WHERE name = 'slot'")
        (slot,) = ledger.one("SELECT value FROM counter WHERE name = 'slot'")
    return int(slot), int(epoch)


def put(ledger: Ledger, span: int, payload: bytes) -> tuple[int, int]:
    """Store an original; answers with its slot and epoch. Inside a transaction."""
    slot, epoch = allocate(ledger)
    land(ledger, slot=slot, epoch=epoch, span=span, payload=payload)
    return slot, epoch


def land(ledger: Ledger, *, slot: int, epoch: int, span: int, payload: bytes) -> None:
    """Store an original where it was to go. Inside a transaction."""
    ledger.run("INSERT INTO cold (slot, epoch, span, payload) VALUES (?, ?, ?, ?)", (slot, epoch, span, payload))


def remove(ledger: Ledger, slot: int) -> None:
    """Empty a slot and let it be used again. Inside a transaction; whether it may be emptied was decided before."""
    ledger.run("DELETE FROM cold WHERE slot = ?", (slot,))
    ledger.run("INSERT INTO free_slot (slot) VALUES (?) ON CONFLICT DO NOTHING", (slot,))


def issue(
    ledger: Ledger,
    *,
    span: int,
    slot: int,
    epoch: int,
    mark: bytes,
    now: float,
    age: float,
    holding: Holding = Holding.STAGED,
    copy: Copy = Copy.LANDED,
) -> None:
    """Write the pointer to what was put, or is to be (PTR-5). Inside a transaction."""
    ledger.run(
        "INSERT INTO pointer (epoch, slot, issuer, digest, session, span, holding, copy, time, age) "
        "SELECT ?, ?, ?, ?, c.session, c.id, ?, ?, ?, ? FROM carrier c WHERE c.id = ?",
        (epoch, slot, ledger.issuer, mark, holding.value, copy.value, now, age, span),
    )


COLUMNS = "p.slot, p.epoch, p.issuer, p.digest, p.span, p.holding, p.copy"
"""What makes a pointer, of the table `pointer p`."""


UNRESOLVABLE = (
    "p.copy = 'unresolvable' OR EXISTS (SELECT 1 FROM damage d WHERE d.epoch = p.epoch) OR (p.copy = 'landed' "
    "AND NOT EXISTS (SELECT 1 FROM cold o WHERE o.slot = p.slot AND o.epoch = p.epoch))"
)
"""That a committed pointer cannot be followed: its copy could not be made, is lost, or was found damaged."""


def issued_of(slot: int, epoch: int, issuer: bytes, mark: bytes, span: int, holding: str, copy: str) -> Issued:
    """A pointer, from `COLUMNS`."""
    return Issued(
        address=Address(slot=slot, epoch=epoch, issuer=issuer, digest=mark),
        span=int(span),
        holding=Holding(holding),
        copy=Copy(copy),
    )


def look_up(ledger: Ledger, session: int, address: Address) -> Issued | None:
    """The record of a pointer; none where this branch was never issued it (EPO-2, ISO-1).

    Every part has to agree, so neither a recycled slot nor a guessed token finds anything. The digest of what was
    erased is not kept, and so cannot be compared (ERA-1).
    """
    row = ledger.first(
        f"SELECT {COLUMNS} FROM pointer p JOIN visible v ON v.carrier = p.span AND v.session = ? "  # noqa: S608
        "WHERE p.epoch = ? AND p.slot = ? AND p.issuer = ? AND (p.digest = ? OR p.holding = 'erased')",
        (session, address.epoch, address.slot, address.issuer, address.digest),
    )
    return None if row is None else issued_of(*row)


def pointer_to(ledger: Ledger, span: int) -> Issued | None:
    """The pointer that was issued to a span."""
    row = ledger.first(f"SELECT {COLUMNS} FROM pointer p WHERE p.span = ?", (span,))  # noqa: S608
    return None if row is None else issued_of(*row)


def fetch(ledger: Ledger, issued: Issued) -> Turn:
    """The original under a pointer, its bytes checked against it.

    Raises `MismatchError` (EPO-3) where they are others, and `StoreError` where the store lost them: both are
    breaches, never answers.
    """
    address = issued.address
    row = ledger.first("SELECT epoch, payload FROM cold WHERE slot = ?", (address.slot,))
    if row is None or row[0] != address.epoch:
        held = "nothing" if row is None else f"epoch {row[0]}"
        raise StoreError(
            f"pointer to {address.key} at epoch {address.epoch} was committed, but the store holds {held} there "
            "(PTR-2): restore the cold store from a copy"
        )
    payload = as_bytes(row[1])
    found = digest(payload)
    if found != address.digest:
        raise MismatchError(
            key=address.key,
            epoch=address.epoch,
            named=f"sha256:{address.digest.hex()}",
            found=f"sha256:{found.hex()}",
        )
    return decode(payload)


def as_bytes(stored: object) -> bytes:
    """What a column holds, as bytes: damage may have left a value of any type, and it is compared all the same."""
    if isinstance(stored, bytes):
        return stored
    return encode_text("" if stored is None else str(stored))
