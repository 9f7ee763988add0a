"""What the gate costs, in instructions of SQLite's machine and not in time: the facts of the one carrier (ANC-1), and
never what else is stored."""

import sqlite3
from pathlib import Path

import pytest

from anchorhold_reference import Reply, Settings, Transcript
from anchorhold_spec.vocabulary import OutcomeKind, Turn

STORED = 20_000
"""Facts: a statement that goes through all of anything is then far off."""


def _filled(path: Path, *, facts: int, carriers: int) -> Transcript:
    """A session with originals in the store, among so many other facts, one of which has so many carriers."""
    transcript = Transcript.open(path, summarise=lambda _: Reply(text="Jobs ran."), settings=Settings(keep=1))
    for n in range(40):
        text = f"Job J-{n}x ran beside J-0x for {n} ms."
        transcript.append(Turn(id=f"t{n}", speaker="assistant", text=text))
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    ledger = transcript._ledger
    spans = max(facts // 10, carriers)
    with ledger.transaction():
        ledger.many(
            "INSERT INTO fact (id, session, key, kind, literal, negated, hedged) VALUES (?, 1, ?, 'number', ?, 0, 0)",
            [(10_000 + n, n.to_bytes(16, "big"), str(n)) for n in range(facts)],
        )
        ledger.many(
            "INSERT INTO carrier (id, session, generation, state) VALUES (?, 1, 0, 'raw')",
            [(10_000 + n,) for n in range(spans)],
        )
        ledger.many(
            "INSERT INTO turn (carrier, session, id, speaker, digest) VALUES (?, 1, ?, 'user', x'00')",
            [(10_000 + n, f"other-{n}") for n in range(spans)],
        )
        ledger.many(
            "INSERT INTO pointer (epoch, slot, issuer, digest, session, span, holding, copy, time, age, indexed) "
            "VALUES (?, ?, x'00', x'00', 1, ?, 'committed', 'landed', 0, 0, 1)",
            [(10_000 + n, 10_000 + n, 10_000 + n) for n in range(spans)],
        )
        ledger.many(
            "INSERT INTO assertion (span, fact, said) VALUES (?, ?, 'it ran')",
            [(10_000 + n // 10, 10_000 + n) for n in range(facts)],
        )
        if carriers:
            (shared,) = ledger.one("SELECT id FROM fact WHERE literal = 'J-0x' AND kind = 'identifier'")
            ledger.many(
                "INSERT INTO assertion (span, fact, said) VALUES (?, ?, 'J-0x ran')",
                [(10_000 + n, shared) for n in range(carriers)],
            )
            ledger.many(
                "INSERT INTO carries (summary, fact, speaker, said) VALUES (?, ?, '', 'J-0x ran')",
                [(10_000 + n, shared) for n in range(carriers)],
            )
    return transcript


def _instructions(transcript: Transcript, tokens: list[str]) -> int:
    """Instructions of SQLite's machine that the gate's decisions on these take."""
    connection = transcript._ledger._connection
    assert isinstance(connection, sqlite3.Connection)
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    connection.set_progress_handler(count, 10)
    try:
        for token in tokens:
            assert transcript.evict(token).kind is OutcomeKind.REFUSED
    finally:
        connection.set_progress_handler(None, 0)
    return taken


@pytest.mark.parametrize(("facts", "carriers"), [(STORED, 0), (STORED, STORED // 2)])
@pytest.mark.parametrize("analysed", [False, True])
def test_anc_1_an_eviction_costs_the_facts_of_its_one_carrier(
    tmp_path: Path, facts: int, carriers: int, analysed: bool
) -> None:
    taken = {}
    for name, few in (("small", True), ("large", False)):
        path = tmp_path / f"{name}.db"
        with _filled(path, facts=0 if few else facts, carriers=0 if few else carriers) as transcript:
            tokens = [pointer.token for pointer in transcript.pointers() if pointer.covers != ("t0",)][:20]
            if analysed:
                # With statistics SQLite may choose another way through the same tables.
                transcript._ledger.run("ANALYZE")
            taken[name] = _instructions(transcript, tokens)

    assert taken["small"] > 0
    assert taken["large"] <= 1.2 * taken["small"]
