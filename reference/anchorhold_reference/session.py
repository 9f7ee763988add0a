"""One session's part of the ledger: its window, its spans, its facts. Reads and single writes, no decisions."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from anchorhold_reference.codec import digest, encode
from anchorhold_reference.decide import classify
from anchorhold_reference.decoded import Decoded, damage_of, stand_in
from anchorhold_reference.errors import StoreError, TurnConflictError
from anchorhold_reference.extract import Mention, facts_of
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.extract.slots import name
from anchorhold_reference.ledger import Ledger, batched, marks
from anchorhold_reference.pairs import bring_back
from anchorhold_reference.under import UNDER
from anchorhold_reference.window import Window, Windows
from anchorhold_spec.vocabulary import Turn

END = 2**62
"""Greater than any carrier's id: the end of a range that is still growing."""


class Live(NamedTuple):
    """A carrier in the live window. A tuple, because a window has many of them and is asked for often."""

    carrier: int
    generation: int
    claimed: bool
    turn: Turn | None
    """None: a summary."""
    text: str | None = None
    """A summary's text."""
    body: str | None = None
    damage: str | None = None
    """Why a turn whose bytes are not those that were appended cannot be read; `turn` stands in for it then."""

    @property
    def id(self) -> str:
        """Its id outside."""
        return carrier_id(self.carrier, self.generation)


def carrier_id(carrier: int, generation: int) -> str:
    """A carrier's id outside; never used again."""
    return f"summary-{carrier}" if generation else f"span-{carrier}"


class Session:
    """Access to one session's rows. Nothing here can reach another session's (ISO-1)."""

    def __init__(
        self, ledger: Ledger, *, user: str, name: str, branch: str, known: tuple[int, int] | None = None
    ) -> None:
        """Find the branch of the session, or begin it; `known` gives its id and its root where they are."""
        self.ledger = ledger
        self.user = user
        self.name = name
        self.branch = branch
        self.id, self.root = self._found() if known is None else known
        """`root` is the first branch of the session: facts are kept under its id."""
        self._facts: dict[int, list[Mention]] = {}
        self._turns = Decoded()
        self._windows = Windows()
        self.damaged: dict[int, str] = {}
        """What is damaged in the window, as it was last read: the reason by the span."""

    def _found(self) -> tuple[int, int]:
        with self.ledger.transaction():
            found = self._find()
            if found is None:
                made = self._make()
                self.ledger.run("UPDATE session SET root = ? WHERE id = ?", (made, made))
                self.see(made, made, first=0)
                found = made, made
        return found

    def _find(self) -> tuple[int, int] | None:
        row = self.ledger.first(
            'SELECT id, root FROM session WHERE "user" == ? AND name == ? AND branch == ?',
            (self.user, self.name, self.branch),
        )
        return None if row is None else (int(row[0]), int(row[1]))

    def _make(self) -> int:
        return self.ledger.insert(
            'INSERT INTO session ("user", name, branch) VALUES (?, ?, ?)', (self.user, self.name, self.branch)
        )

    def see(self, session: int, node: int, *, first: int, last: int = END) -> None:
        """Let a branch see the carriers of a node in a range. Inside a transaction."""
        self.ledger.run(
            "INSERT INTO lineage (session, node, first, last) VALUES (?, ?, ?, ?)", (session, node, first, last)
        )

    # -- spans --

    def append(self, turn: Turn) -> int:
        """Add a turn at the end of the window; durable on return. The same turn again adds nothing, nor does one that
        was erased (IDX-5, ERA-1).

        Raises `TurnConflictError` where its id stands for other content.
        """
        payload = encode(turn)
        mark = digest(payload)
        ledger = self.ledger
        with ledger.transaction():
            known = ledger.first(
                "SELECT t.carrier, t.digest, c.state FROM lineage g JOIN turn t ON t.session = g.node AND t.id == ? "
                "AND t.carrier BETWEEN g.first AND g.last JOIN carrier c ON c.id = t.carrier WHERE g.session = ?",
                (turn.id, self.id),
            )
            if known is not None:
                if known[2] != "erased" and known[1] != mark:
                    raise TurnConflictError(turn.id)
                return int(known[0])
            carrier = ledger.insert(
                "INSERT INTO carrier (session, generation, state) VALUES (?, 0, 'raw')", (self.id,)
            )
            ledger.run(
                "INSERT INTO turn (carrier, session, id, speaker, digest, payload) VALUES (?, ?, ?, ?, ?, ?)",
                (carrier, self.id, turn.id, turn.speaker, mark, payload),
            )
            ledger.run("INSERT INTO live (session, position, carrier) VALUES (?, ?, ?)", (self.id, carrier, carrier))
            if turn.calls:
                ledger.many(
                    "INSERT INTO tool_call (session, id, carrier) VALUES (?, ?, ?)",
                    [(self.id, call, carrier) for call in dict.fromkeys(call.id for call in turn.calls)],
                )
            if turn.result_of is not None:
                # A late result finds its call (STR-1); where that is damaged, it must not be lost for it.
                bring_back(self, [(turn.result_of, carrier)], strict=False)
        self._turns.appended(carrier, payload, turn)
        return carrier

    def live(self) -> list[Live]:
        """The live window, in order. A turn whose bytes are damaged stays in it as one that cannot be read."""
        rows = self.ledger.all(
            "SELECT c.id, c.generation, w.claimed, t.payload, t.digest, t.id, t.speaker, s.text, s.body FROM live w "
            "JOIN carrier c ON c.id = w.carrier LEFT JOIN turn t ON t.carrier = c.id "
            "LEFT JOIN summary s ON s.carrier = c.id WHERE w.session = ? ORDER BY w.position",
            (self.id,),
        )
        self._turns.keep({row[0] for row in rows})
        found: list[Live] = []
        damaged: dict[int, str] = {}
        for carrier, generation, claimed, payload, mark, name_, speaker, text, body in rows:
            turn = None if generation else self._turns.turn(carrier, payload, mark)
            if turn is None and not generation:
                turn = stand_in(name_, speaker, self._calls_of(carrier))
                damaged[carrier] = damage_of(name_)
            found.append(
                Live(carrier, generation, claimed is not None, turn, text, body, damage=damaged.get(carrier))
            )
        self.damaged = damaged
        return found

    def _calls_of(self, span: int) -> list[str]:
        return [
            str(call)
            for (call,) in self.ledger.all("SELECT id FROM tool_call WHERE carrier = ? ORDER BY id", (span,))
        ]

    def look_again(self) -> None:
        """Read the window anew with the next question: the store was seen to, and no version tells."""
        self._windows = Windows()

    def compactions(self) -> int:
        """How many compactions have committed."""
        (n,) = self.ledger.one("SELECT compactions FROM session WHERE id = ?", (self.id,))
        return int(n)

    def window(self) -> Window:
        """The window, for questions: what was known of it when it was last asked for is kept (see `window`)."""
        mark = self.ledger.one(
            # What leaves the window makes a new version; whatever comes into it comes with a turn at its end.
            "SELECT s.version, (SELECT max(w.position) FROM live w WHERE w.session = s.id) FROM session s "
            "WHERE s.id = ?",
            (self.id,),
        )
        return self._windows.now(mark, self.live, self.read)

    def version(self) -> int:
        """Which version the window has: it grows with all that takes something out of it (CON-2, CON-3)."""
        (n,) = self.ledger.one("SELECT version FROM session WHERE id = ?", (self.id,))
        return int(n)

    def new_version(self) -> None:
        """Let compactions that were planned before know that the window is another. Inside a transaction."""
        self.ledger.run("UPDATE session SET version = version + 1 WHERE id = ?", (self.id,))

    def span_of(self, turn: str) -> int | None:
        """The span of a turn's id; none where the branch has none, or where it was erased."""
        row = self.ledger.first(
            "SELECT t.carrier FROM lineage g JOIN turn t ON t.session = g.node AND t.id == ? "
            "AND t.carrier BETWEEN g.first AND g.last JOIN carrier c ON c.id = t.carrier AND c.state = 'raw' "
            "WHERE g.session = ?",
            (turn, self.id),
        )
        return None if row is None else int(row[0])

    def under(self, summary: int) -> list[tuple[int, str, str]]:
        """Span, turn id and speaker of everything that a committed summary of this branch stands for, in order."""
        return self.ledger.all(
            f"SELECT DISTINCT t.carrier, t.id, t.speaker FROM {UNDER} JOIN turn t ON t.carrier = k.carrier "  # noqa: S608
            "WHERE x.carrier = ? ORDER BY t.carrier",
            (self.id, summary),
        )

    def count_under(self, summary: int) -> int:
        """How many raw spans a committed summary of this branch stands for."""
        (n,) = self.ledger.one(
            f"SELECT count(DISTINCT k.carrier) FROM {UNDER} "  # noqa: S608
            "JOIN carrier r ON r.id = k.carrier AND r.generation = 0 WHERE x.carrier = ?",
            (self.id, summary),
        )
        return int(n)

    def leaf_over(self, span: int) -> int | None:
        """The summary that took a raw span's place in this branch; none while it is live, or was archived."""
        row = self.ledger.first(
            "SELECT k.summary FROM covers k JOIN visible v ON v.carrier = k.summary AND v.session = ? "
            "AND v.state = 'committed' WHERE k.carrier = ? "
            "AND NOT EXISTS (SELECT 1 FROM live w WHERE w.session = v.session AND w.carrier = k.carrier) "
            "ORDER BY k.summary DESC LIMIT 1",
            (self.id, span),
        )
        return None if row is None else int(row[0])

    def summary_over(self, span: int) -> tuple[int, int | None] | None:
        """The summary that stands for a span, and the staged one that has claimed it; none while the span is
        live."""
        leaf = self.leaf_over(span)
        if leaf is None:
            return None
        (top,) = self.ledger.one(
            "SELECT s.carrier FROM summary l JOIN summary s ON s.chain = l.chain "
            "JOIN visible v ON v.carrier = s.carrier AND v.session = ? AND v.state = 'committed' "
            "WHERE l.carrier = ? ORDER BY s.carrier DESC LIMIT 1",
            (self.id, leaf),
        )
        row = self.ledger.first("SELECT claimed FROM live WHERE session = ? AND carrier = ?", (self.id, top))
        return int(top), None if row is None else row[0]

    def seen_by(self, span: int) -> "list[Session]":
        """Every branch that has the span in its lineage, this one included."""
        return [
            self if found == self.id else self._other(found, branch)
            for found, branch in self.ledger.all(
                "SELECT s.id, s.branch FROM visible v JOIN session s ON s.id = v.session WHERE v.carrier = ?", (span,)
            )
        ]

    def _other(self, session: int, branch: str) -> "Session":
        return Session(self.ledger, user=self.user, name=self.name, branch=branch, known=(session, self.root))

    # -- facts --

    def read(self, live: Live) -> list[Mention]:
        """The assertions of a live raw span; raises `UnreadableError` (MAN-3). Spans never change, so each is read
        once."""
        assert live.turn is not None, "summaries are read through their manifest"
        if live.damage is not None:
            raise UnreadableError(live.damage)
        known = self._facts.get(live.carrier)
        if known is None:
            known = self._facts[live.carrier] = facts_of(live.turn)
        return known

    def forget_read(self, spans: Iterable[int]) -> None:
        """Drop what `read` remembers of spans that have left the window."""
        for span in spans:
            self._facts.pop(span, None)
            self._turns.forget(span)

    def _intern(self, found: Iterable[Mention]) -> dict[bytes, int]:
        """Make the facts that are new; the ids of all of them, by key. Inside a transaction."""
        rows: dict[bytes, tuple[object, ...]] = {}
        for m in found:
            if m.key not in rows:
                rows[m.key] = (
                    self.root,
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
        (last,) = self.ledger.one("SELECT coalesce(max(id), 0) FROM fact")
        self.ledger.many(
            "INSERT INTO fact (session, key, kind, literal, value, negated, hedged, subject, attribute, "
            "subject_name, attribute_name) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            list(rows.values()),
        )
        # Ids grow, so those of the new ones are read in a row; mostly there are no others.
        # The plus keeps SQLite from going through all facts of the session by the index over their keys.
        made = self.ledger.all("SELECT key, id FROM fact WHERE id > ? AND +session = ?", (last, self.root))
        ids = {bytes(key): int(fact) for key, fact in made}
        older = [key for key in rows if key not in ids]
        return {**ids, **self.facts(older)} if older else ids

    def facts(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """Ids of the facts with these keys, as far as there are any."""
        found: dict[bytes, int] = {}
        for some in batched(list(dict.fromkeys(keys))):
            for fact, key in self.ledger.all(
                f"SELECT id, key FROM fact WHERE session = ? AND key IN ({marks(some)})",  # noqa: S608
                (self.root, *some),
            ):
                found[bytes(key)] = int(fact)
        return found

    def fact(self, key: bytes) -> int | None:
        """Id of the fact with this key."""
        row = self.ledger.first("SELECT id FROM fact WHERE session = ? AND key = ?", (self.root, key))
        return None if row is None else int(row[0])

    def record(self, read: Mapping[int, Sequence[Mention]], *, calling: Collection[int]) -> None:
        """Write down what each span asserts, once, and its evidential class (EVI-4); `calling` are those that call a
        tool. Inside a transaction."""
        ledger = self.ledger
        known: set[int] = set()
        for some in batched(list(read)):
            known.update(
                span
                for (span,) in ledger.all(f"SELECT span FROM reading WHERE span IN ({marks(some)})", some)  # noqa: S608
            )
        new = sorted(span for span in read if span not in known)
        ids = self._intern(m for span in new for m in read[span])
        try:
            asserted = [(span, ids[m.key], m.said) for span in new for m in read[span]]
        except KeyError:
            raise StoreError("the store does not hold the facts of a turn as they were written (OUT-3)") from None
        ledger.many("INSERT INTO assertion (span, fact, said) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", asserted)
        classes: dict[str, list[int]] = {}
        for span in new:
            kind = classify(frozenset([m.kind for m in read[span]]), calls=span in calling)
            classes.setdefault(kind.value, []).append(span)
        for named, spans in classes.items():
            for some in batched(spans):
                ledger.run(
                    f"INSERT INTO reading (span, class) SELECT id, ? FROM carrier WHERE id IN ({marks(some)})",  # noqa: S608
                    (named, *some),
                )
