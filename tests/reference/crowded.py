"""A session among very many facts and carriers that are not asked for: what it costs to find the few that are."""

from anchorhold_reference import Transcript
from anchorhold_spec.vocabulary import OutcomeKind, Turn

FIRST = 10_000
"""The first id of what only makes the store large."""


def fill(transcript: Transcript, turns: int) -> None:
    """Turns that were compacted: each says an identifier and a number of its own, and all say the identifier J-0x."""
    for n in range(turns):
        text = f"Job J-{n}x ran beside J-0x for {n} ms.\nThe port of db-{n} is {7000 + n}."
        transcript.append(Turn(id=f"t{n}", speaker="assistant", text=text))
    assert transcript.compact().kind is OutcomeKind.COMMITTED


def crowd(transcript: Transcript, *, facts: int, carriers: int = 0) -> None:
    """So many more facts in the store, ten to a turn, each turn with a pointer; and so many carriers, turns as well
    as summaries, of the fact J-0x, which `fill` has made."""
    ledger = transcript._ledger
    spans = range(FIRST, FIRST + max(facts // 10, carriers))
    with ledger.transaction():
        ledger.many(
            "INSERT INTO fact (id, session, key, kind, literal, negated, hedged) VALUES (?, 1, ?, 'number', ?, 0, 0)",
            [(FIRST + n, n.to_bytes(16, "big"), str(n)) for n in range(facts)],
        )
        ledger.many(
            "INSERT INTO carrier (id, session, generation, state) VALUES (?, 1, 0, 'raw')",
            [(span,) for span in spans],
        )
        ledger.many(
            "INSERT INTO turn (carrier, session, id, speaker, digest) VALUES (?, 1, ?, 'user', x'00')",
            [(span, f"other-{span}") for span in spans],
        )
        ledger.many(
            "INSERT INTO pointer (epoch, slot, issuer, digest, session, span, holding, copy, time, age, indexed) "
            "VALUES (?, ?, x'00', x'00', 1, ?, 'committed', 'landed', 0, 0, 1)",
            [(span, span, span) for span in spans],
        )
        ledger.many(
            "INSERT INTO assertion (span, fact, said) VALUES (?, ?, 'it ran')",
            [(FIRST + n // 10, FIRST + n) for n in range(facts)],
        )
        if carriers:
            (shared,) = ledger.one("SELECT id FROM fact WHERE literal = 'J-0x' AND kind = 'identifier'")
            ledger.many(
                "INSERT INTO assertion (span, fact, said) VALUES (?, ?, 'J-0x ran')",
                [(span, shared) for span in spans[:carriers]],
            )
            ledger.many(
                "INSERT INTO carries (summary, fact, speaker, said) VALUES (?, ?, '', 'J-0x ran')",
                [(span, shared) for span in spans[:carriers]],
            )
