"""Pointer tokens: opaque outside; inside, the slot of the cold store, its epoch, who issued it, and the digest.

Slots are recycled after an eviction, so a slot alone says nothing: the epoch grows with every use of any slot, and is
raised again whenever the store is opened (EPO-2). A store restored from an older copy would count through the same
epochs a second time; the issuer's mark, drawn anew at each opening, keeps such tokens apart as well.
"""

import base64
import binascii
import struct
from typing import Final, NamedTuple

_PREFIX = "ah1-"
_LAYOUT = struct.Struct(">QQ8s32s")
_LENGTH = 75
"""Characters that the 56 bytes take in base64, without what fills the last four up."""
_LAST = frozenset("AEIMQUYcgkosw048")
"""With which those end whose last two bits are 0."""
_TOO_GREAT = 0x80
"""Where a number has this bit in its first byte no database counts so far, or can be asked for it."""
_STANDARD = bytes.maketrans(b"-_+/", b"+/!!")
"""From the alphabet of tokens to that of base64; what is in neither becomes what is invalid."""


class Address(NamedTuple):
    """What a token says. A tuple, because one is made for each pointer that is followed."""

    slot: int
    epoch: int
    issuer: bytes
    """Eight random bytes, drawn when the store was opened that issued the token; where another opening had just made
    the copy, the bytes of that one, which took the epoch."""
    digest: bytes
    """SHA-256 of the original."""

    @property
    def key(self) -> str:
        """The store's key, which names another span after the slot was recycled."""
        return f"slot-{self.slot}"


ISSUER: Final = slice(16, 24)
"""Where the issuer stands in a packed address."""
DIGEST: Final = slice(24, 56)
"""Where the digest stands in it."""


def pack(address: Address) -> bytes:
    """An address as it stands in a token, and beside the original that it leads to."""
    return _LAYOUT.pack(*address)


def slot_of(packed: bytes) -> int:
    """The slot of a packed address."""
    return int.from_bytes(packed[:8], "big")


def seal(address: Address) -> str:
    """The token of an address."""
    return _PREFIX + base64.urlsafe_b64encode(pack(address)).decode("ascii").rstrip("=")


def unseal(token: str) -> Address | None:
    """The address in a token; none where it cannot have been made by `seal`."""
    packed = unsealed(token)
    return None if packed is None else Address._make(_LAYOUT.unpack(packed))


def unsealed(token: str) -> bytes | None:
    """The same, packed."""
    if not token.startswith(_PREFIX):
        return None
    body = token[len(_PREFIX) :]
    # The last character of base64 has bits that decoding ignores: one address must have one token.
    if len(body) != _LENGTH or body[-1] not in _LAST:
        return None
    try:
        packed = binascii.a2b_base64(body.encode("ascii").translate(_STANDARD) + b"=", strict_mode=True)
    except ValueError:
        return None
    return None if (packed[0] | packed[8]) & _TOO_GREAT else packed
