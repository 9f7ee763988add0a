"""One session's part of the ledger: its window, its spans, its facts. Reads and single writes, no decisions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anchorhold_reference.codec import decode, digest, encode
from anchorhold_reference.errors import TurnConflictError
from anchorhold_reference.extract import Mention, facts_of
from anchorhold_reference.extract.slots import name
from anchorhold_reference.ledger import Ledger, marks
from anchorhold_spec.vocabulary import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A carrier in the live window."""

    carrier: int
    generation: int
    claimed: bool
    turn: Turn | None
    """None: a summary."""
    text: str | None = None
    """A summary's text."""
    body: str | None = None

    @property
    def id(self) -> str:
        """Its id outside."""
        return carrier_id(self.carrier, self.generation)


def carrier_id(carrier: int, generation: int) -> str:
    """A carrier's id outside; never used again."""
    return f"summary-{carrier}" if generation else f"span-{carrier}"


class Session:
    """Access to one session's rows. Nothing here can reach another session's (ISO-1)."""

    def __init__(self, ledger: Ledger, *, user: str, name: str, branch: str) -> None:
        """Find the session, or begin it."""
        self.ledger = ledger
        with ledger.transaction():
            ledger.run(
                'INSERT INTO session ("user", name, branch) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
                (user, name, branch),
            )
            (self.id,) = ledger.one(
                'SELECT id FROM session WHERE "user" = ? AND name = ? AND branch = ?', (user, name, branch)
            )
        self._facts: dict[int, list[Mention]] = {}

    # -- spans --

    def append(self, turn: Turn) -> int:
        """Add a turn at the end of the window; durable on return. The same turn again adds nothing (IDX-5).

        Raises `TurnConflictError` where its id stands for other content.
        """
        payload = encode(turn)
        mark = digest(payload)
        ledger = self.ledger
        with ledger.transaction():
            known = ledger.first("SELECT carrier, digest FROM turn WHERE session = ? AND id = ?", (self.id, turn.id))
            if known is not None:
                if known[1] != mark:
                    raise TurnConflictError(turn.id)
                return int(known[0])
            carrier = ledger.insert(
                # Above every position there is, and never above its own id.
                "INSERT INTO carrier (session, position, generation, state) "
                "VALUES (?, coalesce((SELECT max(id) FROM carrier), 0) + 1, 0, 'live')",
                (self.id,),
            )
            ledger.run(
                "INSERT INTO turn (carrier, session, id, speaker, digest, payload) VALUES (?, ?, ?, ?, ?, ?)",
                (carrier, self.id, turn.id, turn.speaker, mark, payload),
            )
        return carrier

    def live(self) -> list[Live]:
        """The live window, in order."""
        rows = self.ledger.all(
            "SELECT c.id, c.generation, c.claimed IS NOT NULL, t.payload, s.text, s.body FROM carrier c "
            "LEFT JOIN turn t ON t.carrier = c.id LEFT JOIN summary s ON s.carrier = c.id "
            "WHERE c.session = ? AND c.state = 'live' ORDER BY c.position",
            (self.id,),
        )
        return [
            Live(
                carrier=carrier,
                generation=generation,
                claimed=bool(claimed),
                turn=None if generation else decode(payload),
                text=text,
                body=body,
            )
            for carrier, generation, claimed, payload, text, body in rows
        ]

    def compactions(self) -> int:
        """How many compactions have committed."""
        (n,) = self.ledger.one("SELECT compactions FROM session WHERE id = ?", (self.id,))
        return int(n)

    def span_of(self, turn: str) -> int | None:
        """The span of a turn's id."""
        row = self.ledger.first("SELECT carrier FROM turn WHERE session = ? AND id = ?", (self.id, turn))
        return None if row is None else int(row[0])

    def under(self, summaries: Sequence[int]) -> list[tuple[int, str, str]]:
        """Span, turn id and speaker of everything that these live summaries stand for, in order."""
        return self.ledger.all(
            "SELECT t.carrier, t.id, t.speaker FROM carrier l "  # noqa: S608 - question marks
            "JOIN carrier c ON c.leaf = l.id JOIN turn t ON t.carrier = c.id "
            f"WHERE l.top IN ({marks(summaries)}) ORDER BY c.position",
            summaries,
        )

    def summary_over(self, span: int) -> tuple[int, int | None] | None:
        """The live summary that stands for a span, and the staged one that has claimed it; none while the span is
        live."""
        row = self.ledger.first(
            "SELECT s.id, s.claimed FROM carrier c JOIN carrier l ON l.id = c.leaf JOIN carrier s ON s.id = l.top "
            "WHERE c.id = ?",
            (span,),
        )
        return None if row is None else (int(row[0]), row[1])

    # -- facts --

    def read(self, live: Live) -> list[Mention]:
        """The assertions of a live raw span; raises `UnreadableError` (MAN-3). Spans never change, so each is read
        once."""
        assert live.turn is not None, "summaries are read through their manifest"
        known = self._facts.get(live.carrier)
        if known is None:
            known = self._facts[live.carrier] = facts_of(live.turn)
        return known

    def forget_read(self, spans: Iterable[int]) -> None:
        """Drop what `read` remembers of spans that have left the window."""
        for span in spans:
            self._facts.pop(span, None)

    def intern(self, mentions: Sequence[Mention]) -> list[int]:
        """Ids of these facts, made where they are new. Inside a transaction."""
        self.ledger.many(
            "INSERT INTO fact (session, key, kind, literal, value, negated, hedged, subject, attribute, "
            "subject_name, attribute_name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [
                (
                    self.id,
                    m.key,
                    m.kind,
                    m.literal,
                    m.value,
                    m.negated,
                    m.hedged,
                    m.subject,
                    m.attribute,
                    None if m.subject is None else name(m.subject),
                    None if m.attribute is None else name(m.attribute),
                )
                for m in mentions
            ],
        )
        return [self.fact(m.key) or 0 for m in mentions]

    def fact(self, key: bytes) -> int | None:
        """Id of the fact with this key."""
        row = self.ledger.first("SELECT id FROM fact WHERE session = ? AND key = ?", (self.id, key))
        return None if row is None else int(row[0])

    def record(self, span: int, mentions: Sequence[Mention]) -> None:
        """Write down what a span asserts, once. Inside a transaction."""
        (done,) = self.ledger.one("SELECT read FROM turn WHERE carrier = ?", (span,))
        if done:
            return
        facts = self.intern(mentions)
        self.ledger.many(
            "INSERT INTO assertion (span, fact, said) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            [(span, fact, m.said) for fact, m in zip(facts, mentions, strict=True)],
        )
        self.ledger.run("UPDATE turn SET read = 1 WHERE carrier = ?", (span,))
