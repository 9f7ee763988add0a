"""The cold store: byte-exact originals in slots that are used again, each use at an epoch of its own.

Every entry is a row of the ledger. Its bytes lie in that row, or in a cold store outside, under a key that carries
the epoch: then they are placed first, read back, and only then made an entry, so that an entry is never without
bytes; and what was placed and became no entry is known by a `stray` row, written before.
"""

import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from anchorhold_reference.codec import decode, digest, encode_text
from anchorhold_reference.decide import Copy, Holding
from anchorhold_reference.errors import ForeignStoreError, MismatchError, StoreError
from anchorhold_reference.ledger import Ledger
from anchorhold_reference.pointer import ISSUER, Address, pack, seal
from anchorhold_reference.stores.outer import MARK
from anchorhold_spec.vocabulary import Turn

log = logging.getLogger("anchorhold.cold")


class Issued(NamedTuple):
    """A pointer that this store issued."""

    address: Address
    span: int
    holding: Holding
    copy: Copy

    @property
    def token(self) -> str:
        """The pointer outside."""
        return seal(self.address)


def allocate(ledger: Ledger, count: int) -> list[tuple[int, int]]:
    """So many slots, each with a new epoch: all that a pointer needs to be written. Inside a transaction.

    The lowest emptied slots are taken first: keys are recycled on purpose, and it is the epoch that keeps them apart.
    """
    if not count:
        return []
    # The counter first: where several sessions write at once, its row is the lock under which they take from the
    # same emptied slots.
    epochs = _counted(ledger, "epoch", count)
    slots = [int(slot) for (slot,) in ledger.all("SELECT slot FROM free_slot ORDER BY slot LIMIT ?", (count,))]
    ledger.many("DELETE FROM free_slot WHERE slot = ?", [(slot,) for slot in slots])
    slots += _counted(ledger, "slot", count - len(slots))
    return list(zip(slots, epochs, strict=True))


def _counted(ledger: Ledger, counter: str, count: int) -> range:
    """The next values of a counter."""
    if not count:
        return range(0)
    ledger.run("UPDATE counter SET value = value + ? WHERE name = ?", (count, counter))
    (last,) = ledger.one("SELECT value FROM counter WHERE name = ?", (counter,))
    return range(int(last) - count + 1, int(last) + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An original, and where it is to go."""

    slot: int
    epoch: int
    span: int
    session: int
    """The span's branch."""
    address: bytes | None
    """Which pointer leads to it, packed; none until the copy was read back, where copies come after the commit."""
    payload: bytes

    @property
    def key(self) -> str:
        """Its key in the cold store outside: never used again, since its epoch is not."""
        return object_key(self.slot, self.epoch)


def object_key(slot: int, epoch: int) -> str:
    """The key of an entry in the cold store outside. A thousand entries share a folder, for stores that have such."""
    return f"{epoch >> 10:06x}/{slot}-{epoch}"


def land(ledger: Ledger, place: Place) -> None:
    """`land_all`, of one."""
    land_all(ledger, [place])


def land_all(ledger: Ledger, places: Sequence[Place]) -> None:
    """Make entries of originals: of their bytes, or of those that were placed outside. Inside a transaction."""
    inside = ledger.outer is None
    ledger.many(
        "INSERT INTO cold (slot, epoch, span, session, address, size, payload) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                place.slot,
                place.epoch,
                place.span,
                place.session,
                place.address,
                len(place.payload),
                place.payload if inside else None,
            )
            for place in places
        ],
    )
    if not inside:
        ledger.many(
            "DELETE FROM stray WHERE epoch = ? AND owner = ?", [(place.epoch, ledger.issuer) for place in places]
        )


def land_sources(ledger: Ledger, places: Sequence[tuple[int, Address]]) -> None:
    """Make entries of the sources of spans, in the ledger itself, which nobody has to read for it; `places` gives
    the span and the address of each. Inside a transaction."""
    ledger.many(
        "INSERT INTO cold (slot, epoch, span, session, address, size, payload) "
        "SELECT ?, ?, t.carrier, t.session, ?, length(coalesce(t.payload, ?)), coalesce(t.payload, ?) FROM turn t "
        "WHERE t.carrier = ?",
        # Where a source was lost the entry is empty, and does not have the digest that the commit looks for.
        [(address.slot, address.epoch, pack(address), b"", b"", span) for span, address in places],
    )


def read_back(ledger: Ledger, address: Address) -> None:
    """Say of an entry, whose bytes were just read back, which pointer leads to it (PTR-5). Inside a transaction."""
    ledger.run(
        "UPDATE cold SET address = ? WHERE slot = ? AND epoch = ? AND address IS NULL",
        (pack(address), address.slot, address.epoch),
    )


def reserve(ledger: Ledger, places: Sequence[Place]) -> None:
    """Write down that bytes are about to be placed outside, so that they are found if nothing comes of it. Inside a
    transaction."""
    ledger.many(
        "INSERT INTO stray (slot, epoch, owner) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        [(place.slot, place.epoch, ledger.issuer) for place in places],
    )


def place_all(ledger: Ledger, places: Sequence[Place]) -> None:
    """Put bytes into the cold store outside and read each back. Outside any transaction: a store far away keeps
    nobody from appending (CON-1).

    Raises `StoreError` where the store fails, or does not hold what it said that it had (OUT-3).
    """
    outer = ledger.outer
    assert outer is not None  # the ledger itself needs no placing
    for one in places:
        if not outer.create(one.key, one.payload):
            if outer.read(one.key) == one.payload:
                continue  # a copier that died had come so far, or another one is at the same copy
            # Torn, or damaged. No entry was made of it, or one that is being mended.
            outer.remove(one.key)
            outer.create(one.key, one.payload)
        if outer.read(one.key) != one.payload:
            raise StoreError(
                f"{outer.where} does not hold the original at epoch {one.epoch} as it was put there (OUT-3); see to "
                "the store and try again"
            )


def give_up(ledger: Ledger, places: Sequence[Place]) -> None:
    """Nothing comes of what was placed: leave it to `tidy`."""
    with ledger.transaction():
        for one in places:
            ledger.run("DELETE FROM stray WHERE epoch = ? AND owner = ?", (one.epoch, ledger.issuer))
            _orphan(ledger, one.slot, one.epoch)
    tidy(ledger)


def _orphan(ledger: Ledger, slot: int, epoch: int) -> None:
    ledger.run(
        "INSERT INTO stray (slot, epoch, owner) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (slot, epoch, _NOBODY)
    )


_NOBODY = b""


def tidy(ledger: Ledger) -> bool:
    """Remove outside what is no entry and will be none; whether nothing is left. Outside any transaction.

    What another opening is just placing stays until that has finished with it or died. What the store will not
    remove now is tried again by the next call.
    """
    outer = ledger.outer
    if outer is None:
        return True
    clean = True
    for slot, epoch, owner in ledger.all("SELECT slot, epoch, owner FROM stray ORDER BY epoch"):
        if owner != _NOBODY and ledger.alive(bytes(owner)):
            clean = False
            continue
        # What is wanted is made by the next copier, or was made already; what is not will never be.
        wanted = ledger.first(
            "SELECT 1 FROM cold WHERE epoch = ? UNION ALL "
            "SELECT 1 FROM pointer WHERE epoch = ? AND holding IN ('staged', 'committed')",
            (epoch, epoch),
        )
        try:
            if wanted is None:
                outer.remove(object_key(slot, epoch))
            ledger.run("DELETE FROM stray WHERE epoch = ? AND owner = ?", (epoch, bytes(owner)))
        except StoreError as error:
            log.warning("not removed", extra={"epoch": epoch, "error": str(error)})
            clean = False
    return clean


def attach(ledger: Ledger) -> None:
    """Make sure that the cold store outside is this ledger's, and no other's: two ledgers would give the same keys.

    Raises `ForeignStoreError` where it is another's, or where none was given and there is one. The mark stands in the
    ledger before it stands in the store, so whoever dies in between leaves a store that can be taken up again.
    """
    outer = ledger.outer
    with ledger.transaction():
        row = ledger.first("SELECT mark, made FROM outer_store")
        if row is None and outer is not None:
            row = (secrets.token_hex(16), 0)
            ledger.run("INSERT INTO outer_store (mark, made) VALUES (?, ?)", row)
    if row is None:
        return
    mark, made = str(row[0]), bool(row[1])
    if outer is None:
        raise ForeignStoreError(
            "this ledger",
            f"its originals lie in a cold store of their own, with the mark {mark}; give it as cold_store",
        )
    if not made:
        outer.create(MARK, mark.encode("ascii"))
    held = outer.read(MARK)
    if held != mark.encode("ascii"):
        found = "it has no mark" if held is None else "it has the mark of another ledger"
        raise ForeignStoreError(outer.where, f"{found}, and the originals of this one lie where the mark is {mark}")
    if not made:
        ledger.run("UPDATE outer_store SET made = 1")


def stored(ledger: Ledger, slot: int, epoch: int) -> bytes | None:
    """The bytes of an entry as the store has them now, unchecked; none where it has none."""
    row = ledger.first("SELECT payload FROM cold WHERE slot = ? AND epoch = ?", (slot, epoch))
    if row is None:
        return None
    return bytes_of(ledger, slot, epoch, row[0])


def bytes_of(ledger: Ledger, slot: int, epoch: int, payload: object) -> bytes | None:
    """The bytes of an entry, from its column `payload` or from outside, unchecked; none where the store has none."""
    if payload is None and ledger.outer is not None:
        return ledger.outer.read(object_key(slot, epoch))
    return as_bytes(payload)


def mend(ledger: Ledger, place: Place) -> None:
    """Put back the bytes of an entry that was lost or damaged. Inside a transaction."""
    ledger.run("DELETE FROM cold WHERE slot = ? AND epoch = ?", (place.slot, place.epoch))
    if ledger.outer is not None:
        place_all(ledger, [place])
    land(ledger, place)


def remove(ledger: Ledger, slot: int, epoch: int) -> None:
    """Empty a slot and let it be used again; what lies outside goes with the next `tidy`. Inside a transaction;
    whether it may be emptied was decided before."""
    ledger.run("DELETE FROM cold WHERE slot = ? AND epoch = ?", (slot, epoch))
    ledger.run("INSERT INTO free_slot (slot) VALUES (?) ON CONFLICT DO NOTHING", (slot,))
    if ledger.outer is not None:
        _orphan(ledger, slot, epoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """An original that a pointer is to be written to, and where it was put or is going to be."""

    span: int
    slot: int
    epoch: int
    mark: bytes
    """The digest of its bytes."""


def issue(
    ledger: Ledger, originals: Sequence[Named], *, now: float, age: float, holding: Holding, copy: Copy
) -> None:
    """Write the pointers to what was put, or is to be (PTR-5). Inside a transaction."""
    ledger.many(
        "INSERT INTO pointer (epoch, slot, issuer, digest, session, span, holding, copy, time, age) "
        "SELECT ?, ?, ?, ?, c.session, c.id, ?, ?, ?, ? FROM carrier c WHERE c.id = ?",
        [
            (one.epoch, one.slot, ledger.issuer, one.mark, holding.value, copy.value, now, age, one.span)
            for one in originals
        ],
    )


def issue_staged(ledger: Ledger, summary: int, *, now: float, age: float) -> None:
    """Write the pointers to the copies of what a staged summary covers, where there is none yet. Inside a
    transaction.

    Mostly this opening has made the copies. Where another branch's compaction has, the pointer is the one that the
    copy speaks of.
    """
    ledger.run(
        "INSERT INTO pointer (epoch, slot, issuer, digest, session, span, holding, copy, time, age) "
        "SELECT o.epoch, o.slot, substr(o.address, ?, ?), t.digest, t.session, t.carrier, 'staged', 'landed', ?, ? "
        "FROM covers k JOIN turn t ON t.carrier = k.carrier "
        "JOIN cold o ON o.span = t.carrier AND o.address IS NOT NULL WHERE k.summary = ? "
        "AND NOT EXISTS (SELECT 1 FROM pointer p WHERE p.span = t.carrier) ORDER BY t.carrier",
        (ISSUER.start + 1, ISSUER.stop - ISSUER.start, now, age, summary),
    )


COLUMNS = "p.slot, p.epoch, p.issuer, p.digest, p.span, p.holding, p.copy"
"""What makes a pointer, of the table `pointer p`."""
ORIGINAL = f"{COLUMNS}, o.payload, t.payload, t.digest"
"""A pointer with its original: the bytes of the copy; those of the source, with their digest, while it is held."""
TO_ORIGINAL = (
    "LEFT JOIN turn t ON t.carrier = p.span AND p.copy = 'outstanding' "
    "LEFT JOIN cold o ON o.slot = p.slot AND o.epoch = p.epoch"
)
"""From the table `pointer p` to what `ORIGINAL` reads."""


_HOLDINGS = {one.value: one for one in Holding}
_COPIES = {one.value: one for one in Copy}


def issued_of(slot: int, epoch: int, issuer: bytes, mark: bytes, span: int, holding: str, copy: str) -> Issued:
    """A pointer, from `COLUMNS`."""
    return Issued(Address(slot, epoch, issuer, mark), span, _HOLDINGS[holding], _COPIES[copy])


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
    """The original under a pointer; raises as `checked` does."""
    return decode(checked(ledger, issued))


def checked(ledger: Ledger, issued: Issued, payload: bytes | None = None) -> bytes:
    """The bytes of the original under a pointer, checked against it; `payload` are these bytes where they were read
    already.

    Raises `MismatchError` (EPO-3) where they are others, and `StoreError` where the store lost them: both are
    breaches, never answers.
    """
    address = issued.address
    if payload is None:
        payload = stored(ledger, address.slot, address.epoch)
    if payload is None:
        row = ledger.first("SELECT epoch FROM cold WHERE slot = ?", (address.slot,))
        held = "nothing" if row is None or row[0] == address.epoch else f"epoch {row[0]}"
        raise StoreError(
            f"pointer to {address.key} at epoch {address.epoch} was committed, but the store holds {held} there "
            "(PTR-2): restore the cold store from a copy"
        )
    found = digest(payload)
    if found != address.digest:
        raise MismatchError(
            key=address.key,
            epoch=address.epoch,
            named=f"sha256:{address.digest.hex()}",
            found=f"sha256:{found.hex()}",
        )
    return payload


def as_bytes(stored: object) -> bytes:
    """What a column holds, as bytes: damage may have left a value of any type, and it is compared all the same."""
    if isinstance(stored, bytes):
        return stored
    return encode_text("" if stored is None else str(stored))
