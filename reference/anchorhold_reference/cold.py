"""The cold store: byte-exact originals in slots that are used again, each use at an epoch of its own."""

from dataclasses import dataclass

from anchorhold_reference.codec import decode, digest, encode_text
from anchorhold_reference.decide import Holding
from anchorhold_reference.errors import MismatchError, StoreError
from anchorhold_reference.ledger import Ledger
from anchorhold_reference.pointer import Address, seal
from anchorhold_spec.vocabulary import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A pointer that this store issued."""

    address: Address
    session: int
    span: int
    holding: Holding

    @property
    def token(self) -> str:
        """The pointer outside."""
        return seal(self.address)


def put(ledger: Ledger, span: int, payload: bytes) -> tuple[int, int]:
    """Store an original; answers with its slot and epoch. Inside a transaction.

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
    ledger.run("INSERT INTO cold (slot, epoch, span, payload) VALUES (?, ?, ?, ?)", (slot, epoch, span, payload))
    return int(slot), int(epoch)


def remove(ledger: Ledger, slot: int) -> None:
    """Empty a slot and let it be used again. Inside a transaction; whether it may be emptied was decided before."""
    ledger.run("DELETE FROM cold WHERE slot = ?", (slot,))
    ledger.run("INSERT INTO free_slot (slot) VALUES (?)", (slot,))


def issue(ledger: Ledger, *, session: int, span: int, slot: int, epoch: int, mark: bytes, now: float) -> None:
    """Write the pointer to what was put. Inside a transaction."""
    ledger.run(
        "INSERT INTO pointer (epoch, slot, issuer, digest, session, span, holding, time) "
        "VALUES (?, ?, ?, ?, ?, ?, 'staged', ?)",
        (epoch, slot, ledger.issuer, mark, session, span, now),
    )


def look_up(ledger: Ledger, session: int, address: Address) -> Issued | None:
    """The record of a pointer; none where this session was never issued it (EPO-2, ISO-1).

    Every part has to agree, so neither a recycled slot nor a guessed token finds anything.
    """
    row = ledger.first(
        "SELECT span, holding FROM pointer "
        "WHERE epoch = ? AND slot = ? AND issuer = ? AND digest = ? AND session = ?",
        (address.epoch, address.slot, address.issuer, address.digest, session),
    )
    if row is None:
        return None
    return Issued(address=address, session=session, span=int(row[0]), holding=Holding(row[1]))


def pointer_to(ledger: Ledger, span: int) -> Issued | None:
    """The pointer that was issued to a span."""
    row = ledger.first("SELECT slot, epoch, issuer, digest, session, holding FROM pointer WHERE span = ?", (span,))
    if row is None:
        return None
    slot, epoch, issuer, mark, session, holding = row
    address = Address(slot=slot, epoch=epoch, issuer=issuer, digest=mark)
    return Issued(address=address, session=session, span=span, holding=Holding(holding))


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


def pointers(ledger: Ledger, session: int) -> list[tuple[int, str, Issued]]:
    """Every pointer to an original in the store, with the live summary over it and the turn, in order of the
    turns."""
    return [
        (
            int(summary),
            str(turn),
            Issued(
                address=Address(slot=slot, epoch=epoch, issuer=issuer, digest=mark),
                session=session,
                span=int(span),
                holding=Holding.COMMITTED,
            ),
        )
        for summary, turn, span, slot, epoch, issuer, mark in ledger.all(
            "SELECT l.top, t.id, p.span, p.slot, p.epoch, p.issuer, p.digest FROM pointer p "
            "JOIN carrier c ON c.id = p.span JOIN carrier l ON l.id = c.leaf JOIN turn t ON t.carrier = p.span "
            "WHERE p.session = ? AND p.holding = 'committed' ORDER BY c.position",
            (session,),
        )
    ]
