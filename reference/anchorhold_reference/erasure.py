"""Erasure: what a turn says is removed from everywhere, and nothing that was under way brings it back (ERA-1).

In one transaction: compactions under way are undone; the turn leaves windows, index, manifests and cold store; every
summary that it is under, of whatever generation and branch, is written anew from statements that other turns make
word for word, since a paraphrase of what is forgotten could not be found by looking. Then the database is rewritten
and its log emptied. What remains is the turn's id, its key and epoch, the mark, and the time.
"""

from anchorhold_reference import cold, index, vectors
from anchorhold_reference.ages import advance
from anchorhold_reference.decide import Holding
from anchorhold_reference.extract import mentions
from anchorhold_reference.ledger import Ledger
from anchorhold_reference.planning import grouped
from anchorhold_reference.recovery import take_all_back
from anchorhold_reference.session import Session
from anchorhold_reference.steps import write_manifest
from anchorhold_reference.summaries import Claim, manifest, remnant_line
from anchorhold_reference.values import Clock, Uptime
from anchorhold_reference.withdrawal import take_out
from anchorhold_spec.vocabulary import Outcome, OutcomeKind


def forget(session: Session, turn: str, *, clock: Clock, uptime: Uptime) -> Outcome:
    """Erase what a turn says, in every branch that has it. The files are swept by `sweep`, which may be repeated."""
    ledger = session.ledger
    with ledger.transaction():
        spans = _spans(session, turn)
        if not spans:
            return Outcome(kind=OutcomeKind.REFUSED, reason=f"there is no turn {turn!r} in this session")
        left = [
            span for span in spans if ledger.one("SELECT state FROM carrier WHERE id = ?", (span,)) != ("erased",)
        ]
        if not left:
            return Outcome(kind=OutcomeKind.NOTHING, reason=f"turn {turn!r} was erased already")
        for (branch,) in ledger.all("SELECT id FROM session WHERE root = ?", (session.root,)):
            take_all_back(ledger, branch)
            ledger.run("UPDATE session SET version = version + 1 WHERE id = ?", (branch,))
        now, age = clock(), advance(ledger, uptime())
        for span in left:
            for branch in session.seen_by(span):
                _part_from(branch, span, now=now, age=age)
            _erase(session, span, now=now)
    session.forget_read(left)
    return Outcome(kind=OutcomeKind.COMMITTED)


def sweep(ledger: Ledger) -> bool:
    """Leave no trace of what was erased in the cold store outside, and in the database's pages and log; whether all
    is swept.

    Not while another connection still reads an older state: then it is to be called again.
    """
    tidied = cold.tidy(ledger)
    if ledger.first("SELECT 1 FROM erasure WHERE swept = 0 LIMIT 1") is None:
        return True
    if not tidied or not ledger.scrub():
        return False
    with ledger.transaction():
        ledger.run("UPDATE erasure SET swept = 1 WHERE swept = 0")
    return True


def _spans(session: Session, turn: str) -> list[int]:
    """The branch's span of a turn's id, and those of that id which it rewound and no other branch has: an id that
    came anew must not keep what it said before from being erased. Where it has none, all that it rewound."""
    seen = session.ledger.all(
        "SELECT t.carrier FROM lineage g JOIN turn t ON t.session = g.node AND t.id == ? "
        "AND t.carrier BETWEEN g.first AND g.last WHERE g.session = ?",
        (turn, session.id),
    )
    rewound = session.ledger.all(
        "SELECT t.carrier FROM turn t WHERE t.session = ? AND t.id == ? AND (? = 0 OR NOT EXISTS "
        "(SELECT 1 FROM visible v WHERE v.carrier = t.carrier))",
        (session.id, turn, len(seen)),
    )
    return list(dict.fromkeys(int(span) for (span,) in (*seen, *rewound)))


def _part_from(branch: Session, span: int, *, now: float, age: float) -> None:
    """Where a window shows the turn with calls or results that belong to it, these leave the window too, and can be
    asked for all the same: half a pair may not stay (STR-1). A late result of theirs brings them back."""
    live = branch.live()
    at = next((i for i, one in enumerate(live) if one.carrier == span), None)
    if at is None:
        return
    group, _ = grouped(live)
    mates = [one for i, one in enumerate(live) if group[i] == group[at] and i != at]
    take_out(branch, mates, now=now, age=age)


def _erase(session: Session, span: int, *, now: float) -> None:
    ledger = session.ledger
    over = _summaries_over(ledger, span)
    facts = [fact for (fact,) in ledger.all("SELECT fact FROM assertion WHERE span = ?", (span,))]
    ledger.run("DELETE FROM assertion WHERE span = ?", (span,))
    ledger.run("DELETE FROM reading WHERE span = ?", (span,))
    for table in ("live", "covers", "archived", "tool_call"):
        ledger.run(f"DELETE FROM {table} WHERE carrier = ?", (span,))  # noqa: S608 - names of our own tables
    ledger.run("DELETE FROM tombstone WHERE span = ?", (span,))
    ledger.run("UPDATE tombstone SET superseder = NULL WHERE superseder = ?", (span,))
    under = _Under(ledger)
    for summary in over:
        _rewrite(session, summary, under(summary))
    _drop_orphans(ledger, facts)
    _respell(ledger, facts)
    index.erase(ledger, span)
    vectors.erase(ledger, span)
    for slot, epoch, holding in ledger.all("SELECT slot, epoch, holding FROM pointer WHERE span = ?", (span,)):
        # The slot of an original that left before is free, or another's by now.
        if Holding(holding) in {Holding.STAGED, Holding.COMMITTED}:
            cold.remove(ledger, slot, epoch)
        ledger.run("DELETE FROM damage WHERE epoch = ?", (epoch,))
    ledger.run(
        "UPDATE pointer SET holding = 'erased', copy = 'landed', digest = ?, time = ? WHERE span = ?",
        (b"", now, span),
    )
    ledger.run("UPDATE audit SET message = '' WHERE span = ?", (span,))
    ledger.run(
        "UPDATE turn SET payload = NULL, digest = ?, speaker = '' WHERE carrier = ?",
        (b"", span),
    )
    ledger.run("UPDATE carrier SET state = 'erased' WHERE id = ?", (span,))
    ledger.run("INSERT INTO erasure (span, session, time, swept) VALUES (?, ?, ?, 0)", (span, session.id, now))


def _summaries_over(ledger: Ledger, span: int) -> list[int]:
    """Every summary that a span is under, in any branch, replaced or rewound ones too: its words may be in each."""
    return [
        int(summary)
        for (summary,) in ledger.all(
            "WITH RECURSIVE up (id) AS (SELECT summary FROM covers WHERE carrier = ? UNION "
            "SELECT k.summary FROM covers k JOIN up ON k.carrier = up.id) SELECT id FROM up ORDER BY id",
            (span,),
        )
    ]


def _spans_under(ledger: Ledger, summary: int) -> set[int]:
    return {
        int(span)
        for (span,) in ledger.all(
            "WITH RECURSIVE down (id) AS (SELECT carrier FROM covers WHERE summary = ? UNION "
            "SELECT k.carrier FROM covers k JOIN down ON k.summary = down.id) "
            "SELECT down.id FROM down JOIN carrier c ON c.id = down.id AND c.generation = 0",
            (summary,),
        )
    }


class _Under:
    """The raw spans under summaries that are asked for one after the other, where mostly each was made of the one
    before: so all of a session's generations together take as long as the spans under the last."""

    def __init__(self, ledger: Ledger) -> None:
        """Of summaries of that ledger, which has no writer but the caller."""
        self._ledger = ledger
        self._before: int | None = None
        self._spans: set[int] = set()

    def __call__(self, summary: int) -> set[int]:
        """The spans under it, until the next is asked for."""
        covered = self._ledger.all(
            "SELECT k.carrier, c.generation FROM covers k JOIN carrier c ON c.id = k.carrier WHERE k.summary = ?",
            (summary,),
        )
        older = [int(carrier) for carrier, generation in covered if generation]
        if older == [self._before]:
            self._spans.update(int(carrier) for carrier, generation in covered if not generation)
        else:
            self._spans = _spans_under(self._ledger, summary)
        self._before = summary
        return self._spans


def _rewrite(session: Session, summary: int, under: set[int]) -> None:
    """Write a summary anew, from those of its statements that a turn which is still under it makes word for word; and
    where it alone spoke for a turn whose original has left, in words of its own, from that turn's words (ANC-1)."""
    ledger = session.ledger
    (body,) = ledger.one("SELECT body FROM summary WHERE carrier = ?", (summary,))
    asserted: dict[bytes, list[Claim]] = {}
    said: dict[bytes, set[str]] = {}
    alone: dict[tuple[bytes, str], str] = {}
    for key, fact, speaker in ledger.all(
        "SELECT f.key, f.id, k.speaker FROM carries k JOIN fact f ON f.id = k.fact WHERE k.summary = ?", (summary,)
    ):
        for span, words, who, there in ledger.all(
            "SELECT a.span, a.said, t.speaker, "
            "EXISTS (SELECT 1 FROM pointer p WHERE p.span = a.span AND p.holding NOT IN ('gone', 'expired') "
            "AND NOT EXISTS (SELECT 1 FROM damage d WHERE d.epoch = p.epoch)) "
            "FROM assertion a JOIN turn t ON t.carrier = a.span WHERE a.fact = ?",
            (fact,),
        ):
            if span in under and speaker in {"", who}:
                asserted.setdefault(bytes(key), []).append(Claim(fact=fact, speaker=who))
                said.setdefault(bytes(key), set()).add(" ".join(words.split()))
                if not there:
                    alone.setdefault((bytes(key), speaker), words)
    kept = [mention for mention in mentions(body) if " ".join(mention.said.split()) in said.get(mention.key, ())]
    lines = [f"{mention.speaker}: {mention.said}" if mention.speaker else mention.said for mention in kept]
    carried = {(mention.key, mention.speaker or "") for mention in kept}
    lines += [
        f"{speaker}: {words}" if speaker else words
        for (key, speaker), words in alone.items()
        if not carried & {(key, speaker), (key, "")}
    ]
    text = "\n".join(dict.fromkeys(lines))
    line = remnant_line(len(under))
    ledger.run("DELETE FROM carries WHERE summary = ?", (summary,))
    ledger.run(
        "UPDATE summary SET text = ?, body = ?, reply = '' WHERE carrier = ?",
        (f"{text}\n{line}" if text else line, text, summary),
    )
    write_manifest(session, summary, manifest(text, asserted))


def _drop_orphans(ledger: Ledger, facts: list[int]) -> None:
    """Delete facts that nothing says any more."""
    for fact in facts:
        held = ledger.first(
            "SELECT 1 FROM assertion WHERE fact = ? UNION ALL SELECT 1 FROM carries WHERE fact = ? "
            "UNION ALL SELECT 1 FROM tombstone WHERE fact = ? LIMIT 1",
            (fact, fact, fact),
        )
        if held is None:
            ledger.run("DELETE FROM fact WHERE id = ?", (fact,))


def _respell(ledger: Ledger, facts: list[int]) -> None:
    """Spell what is left of a slot's name as another turn does: it was kept as the first one spelt it (ERA-1)."""
    for fact in facts:
        row = ledger.first(
            "SELECT key, subject_name, attribute_name FROM fact WHERE id = ? AND kind = 'slot'", (fact,)
        )
        if row is None:
            continue
        key, subject, attribute = row
        said = ledger.all(
            "SELECT said FROM (SELECT said FROM assertion WHERE fact = ? LIMIT 1) a UNION ALL "
            "SELECT said FROM (SELECT said FROM carries WHERE fact = ? LIMIT 1) k",
            (fact, fact),
        )
        for mention in (m for (words,) in said for m in mentions(words) if m.key == bytes(key)):
            subject, attribute = mention.subject, mention.attribute
            break
        ledger.run("UPDATE fact SET subject = ?, attribute = ? WHERE id = ?", (subject, attribute, fact))
