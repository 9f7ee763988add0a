"""What a summary is made of: the request for it, what must stand in it, its manifest, and the line that names what
it omits."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anchorhold_reference.codec import shown
from anchorhold_reference.decide import supports
from anchorhold_reference.extract import mentions
from anchorhold_reference.session import Live

INSTRUCTIONS = (
    "Summarise the part of a session that follows, for the agent that will continue it without seeing it. Repeat "
    "word for word each statement that has a value, identifier, path, number, name or time which may still matter. "
    'Keep every "not" and every doubt. Say who said what where it matters. Add nothing that is not there.'
)


def request(carriers: Sequence[Live]) -> tuple[str, ...]:
    """The messages that a summariser is shown: instructions, then each carrier whole (PTR-3)."""
    return (INSTRUCTIONS, *(as_shown(carrier) for carrier in carriers))


def as_shown(carrier: Live) -> str:
    """One carrier as the summariser sees it."""
    if carrier.turn is None:
        return carrier.text or ""
    turn = carrier.turn
    mark = f" ({turn.status})" if turn.status else ""
    return f"{turn.speaker}{mark}: {shown(turn) or ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A fact that a carrier under the summary says, with who said it."""

    fact: int
    speaker: str | None
    """None: an older summary repeats it and names nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """One entry of a manifest: a fact that stands in the body and is supported."""

    fact: int
    speaker: str | None
    """Whom the body attributes it to; None where to nobody: then every span under it that asserts it is covered."""
    said: str


def manifest(body: str, asserted: Mapping[bytes, list[Claim]]) -> list[Carried]:
    """The entries that a body earns, from its own words and from what the carriers under it say, by key (MAN-2).

    What the summariser says of itself plays no part: an invented statement, a changed number, a lost "not" or a lost
    hedge has the key of nothing that was said (MAN-5).
    """
    found: dict[tuple[int, str | None], Carried] = {}
    for mention in mentions(body):
        for claim in asserted.get(mention.key, ()):
            if supports(attributed_to=mention.speaker, speaker=claim.speaker):
                entry = Carried(fact=claim.fact, speaker=mention.speaker, said=mention.said)
                found.setdefault((entry.fact, entry.speaker), entry)
    return list(found.values())


_STANDS_FOR = "[stands for "


def names_omissions(text: str) -> bool:
    """Whether a summary ends in the line that says what it stands for and what it omits (EVI-2)."""
    return text.rpartition("\n")[2].startswith(_STANDS_FOR)


_PLURAL = {"entity": "entities"}


def omissions(turns: int, dropped: Sequence[str], left_out: int) -> str:
    """The line under a summary that says what it stands for and what it does not say (EVI-2): so many turns, and
    facts of these kinds, one for each fact."""
    counts = Counter(dropped)
    named = ", ".join(
        f"{n} {kind if n == 1 else _PLURAL.get(kind, kind + 's')}" for kind, n in sorted(counts.items())
    )
    parts = [f"{_STANDS_FOR[1:]}{turns} turn{'' if turns == 1 else 's'}, whose originals can be asked for"]
    parts.append(f"not repeated here: {named}" if named else "no fact of the turns just replaced is left out")
    if left_out:
        parts.append(f"shortened by {left_out} sentence{'' if left_out == 1 else 's'}")
    return f"[{'; '.join(parts)}]"


def remnant_line(turns: int) -> str:
    """The line under a summary that was written anew because what it had said was withdrawn or forgotten."""
    return (
        f"{_STANDS_FOR}{turns} turn{'' if turns == 1 else 's'}, whose originals can be asked for; of what was said "
        "here before, only statements that these turns make word for word are left]"
    )
