"""What happens in a ledger, in the events of the specification's shared alphabet: read from its tables, from outside.

A `Watch` looks at the rows after each step and says what has changed since it last looked, whatever code changed it.
So the events are of what is durable, and not of what the compactor says of itself; the machines of
`anchorhold_spec` are asked whether they allow them (`anchorhold_spec.run.oracle.judge_all`).

One session with one branch, in SQLite: turns that are appended, compacted, copied, evicted, tombstoned, forgotten. A
clear or a rewind is none of these, and is not told from them.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from anchorhold_reference.codec import decode
from anchorhold_reference.decide import classify
from anchorhold_reference.extract.facts import facts_of
from anchorhold_reference.summaries import names_omissions
from anchorhold_spec.machines.alphabet import Occurrence

LEFT = frozenset({"gone", "expired"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What a ledger holds at one moment. Spans and summaries are carriers, by their number in the ledger."""

    turns: Mapping[int, str] = field(default_factory=dict)
    """The turn's id of each raw span."""
    states: Mapping[int, str] = field(default_factory=dict)
    covers: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    texts: Mapping[int, str] = field(default_factory=dict)
    carries: Mapping[int, frozenset[tuple[bytes, str]]] = field(default_factory=dict)
    """Of each summary: keys of facts, and whom it attributes them to."""
    live: frozenset[int] = frozenset()
    pointers: Mapping[int, tuple[int, int, str, str]] = field(default_factory=dict)
    """By epoch: slot, span, holding, copy."""
    cold: frozenset[tuple[int, int, int]] = frozenset()
    """Slot, epoch, span."""
    tombstones: frozenset[tuple[int, bytes]] = frozenset()
    """Span, and key of the fact."""
    erased: frozenset[int] = frozenset()


class Watch:
    """Looks at a ledger, and tells what has changed."""

    def __init__(self, path: Path, *, before: "Watch | None" = None) -> None:
        """Of the file at `path`; with `before`, going on from what that one saw last, in another copy of the file."""
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.rows: Rows = Rows() if before is None else before.rows
        self.asserted: dict[int, dict[bytes, str]] = {} if before is None else dict(before.asserted)
        self.speakers: dict[int, str] = {} if before is None else dict(before.speakers)
        self.classes: dict[int, str] = {} if before is None else dict(before.classes)

    def close(self) -> None:
        """Let go of the file."""
        self._database.close()

    def look(self) -> list[Occurrence]:
        """The events since the last look."""
        before, self.rows = self.rows, self._read()
        return list(self._events(before, self.rows))

    def _all(self, query: str) -> list[tuple[int, ...]]:
        return self._database.execute(query).fetchall()

    def _read(self) -> Rows:
        database = self._database
        database.execute("BEGIN")
        try:
            turns: dict[int, str] = {}
            for span, turn, speaker, payload in database.execute(
                "SELECT carrier, id, speaker, payload FROM turn ORDER BY carrier"
            ):
                turns[span] = turn
                if span not in self.asserted and payload is not None:
                    said = decode(payload)
                    found = facts_of(said)
                    self.asserted[span] = {m.key: f"{turn}: {m.literal} ({m.kind} {m.key[:3].hex()})" for m in found}
                    self.speakers[span] = speaker
                    kind = classify(frozenset(m.kind for m in found), calls=bool(said.calls))
                    self.classes[span] = kind.value.replace("-", "_")
            covers: dict[int, tuple[int, ...]] = {}
            for summary, carrier in self._all("SELECT summary, carrier FROM covers ORDER BY summary, carrier"):
                covers[summary] = (*covers.get(summary, ()), carrier)
            carries: dict[int, set[tuple[bytes, str]]] = {}
            for summary, key, speaker in database.execute(
                "SELECT k.summary, f.key, k.speaker FROM carries k JOIN fact f ON f.id = k.fact"
            ):
                carries.setdefault(summary, set()).add((key, speaker))
            return Rows(
                turns=turns,
                states=dict(database.execute("SELECT id, state FROM carrier").fetchall()),
                covers=covers,
                texts=dict(database.execute("SELECT carrier, text FROM summary").fetchall()),
                carries={summary: frozenset(found) for summary, found in carries.items()},
                live=frozenset(carrier for (carrier,) in self._all("SELECT carrier FROM live")),
                pointers={
                    epoch: (slot, span, holding, copy)
                    for epoch, slot, span, holding, copy in database.execute(
                        "SELECT epoch, slot, span, holding, copy FROM pointer"
                    )
                },
                cold=frozenset(database.execute("SELECT slot, epoch, span FROM cold").fetchall()),
                tombstones=frozenset(
                    database.execute("SELECT x.span, f.key FROM tombstone x JOIN fact f ON f.id = x.fact").fetchall()
                ),
                erased=frozenset(span for (span,) in self._all("SELECT span FROM erasure")),
            )
        finally:
            database.execute("COMMIT")

    # Names, as the events have them

    def said(self, span: int) -> tuple[str, ...]:
        """The assertions of a span."""
        return tuple(self.asserted.get(span, {}).values())

    def name(self, carrier: int) -> str:
        """A turn's id, or a summary's."""
        return self.rows.turns.get(carrier, f"summary-{carrier}")

    def repeated(self, summary: int, rows: Rows) -> tuple[str, ...]:
        """The assertions, of any span under a summary, that its manifest carries."""
        carried = rows.carries.get(summary, frozenset())
        return tuple(
            words
            for span in self.under(summary, rows)
            for key, words in self.asserted.get(span, {}).items()
            if (key, "") in carried or (key, self.speakers[span]) in carried
        )

    def under(self, summary: int, rows: Rows) -> tuple[int, ...]:
        """Every raw span that a summary stands for."""
        found: dict[int, None] = {}
        for carrier in rows.covers.get(summary, ()):
            found.update(dict.fromkeys((carrier,) if carrier in rows.turns else self.under(carrier, rows)))
        return tuple(sorted(found))

    # What has changed

    def _events(self, old: Rows, new: Rows) -> Iterator[Occurrence]:
        for span in sorted(new.turns.keys() - old.turns.keys()):
            yield Occurrence(
                event="append", span=new.turns[span], asserts=self.said(span), kind=self.classes.get(span)
            )
        for span, key in sorted(new.tombstones - old.tombstones):
            yield Occurrence(event="tombstone", asserts=(self.asserted[span][key],))
        for span in sorted(new.erased - old.erased):
            yield Occurrence(event="forget", span=new.turns[span])
        staged = {carrier for carrier, state in new.states.items() if state == "staged"}
        ended = [carrier for carrier, state in old.states.items() if state == "staged" and carrier not in new.states]
        for carrier in ended:
            yield Occurrence(event="refuse", summary=f"summary-{carrier}")
        yield from self._left(old, new)
        for carrier in sorted(staged - old.states.keys()):
            yield self._stage(carrier, new)
        yield from self._copies(old, new)
        for epoch, (slot, span, _, copy) in sorted(new.pointers.items()):
            if copy == "landed" and (epoch not in old.pointers or old.pointers[epoch][3] != "landed"):
                over = next((c for c in sorted(staged) if span in new.covers.get(c, ())), None)
                yield Occurrence(
                    event="point",
                    summary=None if over is None else self.name(over),
                    span=new.turns[span],
                    key=f"slot-{slot}",
                    epoch=epoch,
                )
        for carrier, state in sorted(new.states.items()):
            if state == "committed" and old.states.get(carrier) != "committed":
                yield from self._commit(carrier, old, new)

    def _copies(self, old: Rows, new: Rows) -> Iterator[Occurrence]:
        """Copies that have landed. One that comes after its commit counts once it was read back and its pointer says
        so: until then the answer is `pending`, and the source is held."""

        def there(rows: Rows) -> frozenset[tuple[int, int, int]]:
            waiting = {epoch for epoch, (_, _, _, copy) in rows.pointers.items() if copy == "outstanding"}
            return frozenset(entry for entry in rows.cold if entry[1] not in waiting)

        for slot, epoch, span in sorted(there(new) - there(old)):
            said = self.said(span)
            yield Occurrence(event="copy", span=new.turns[span], key=f"slot-{slot}", epoch=epoch, asserts=said)

    def _left(self, old: Rows, new: Rows) -> Iterator[Occurrence]:
        """Originals that left the cold store: through the gate, or with an attempt that was undone, or erased."""
        for epoch, (_, span, holding, _) in sorted(new.pointers.items()):
            if holding in LEFT and epoch in old.pointers and old.pointers[epoch][2] not in LEFT:
                yield Occurrence(event="expire", span=new.turns[span])
                dropped = {self.asserted[span].get(key) for at, key in new.tombstones if at == span}
                for words in self.said(span):
                    if words not in dropped:
                        yield Occurrence(event="reconstitute", asserts=(words,))
        for slot, _, span in sorted(old.cold - new.cold):
            if span not in new.erased:  # `forget` says that
                yield Occurrence(event="reap", key=f"slot-{slot}")

    def _stage(self, carrier: int, new: Rows) -> Occurrence:
        covered = new.covers.get(carrier, ())
        spans = tuple(new.turns[c] for c in covered if c in new.turns)
        summaries = tuple(self.name(c) for c in covered if c not in new.turns)
        return Occurrence(
            event="stage",
            summary=self.name(carrier),
            spans=spans,
            summaries=summaries,
            shown=(*spans, *summaries),
            asserts=self.repeated(carrier, new),
            omissions_named=names_omissions(new.texts[carrier]),
        )

    def _commit(self, carrier: int, old: Rows, new: Rows) -> Iterator[Occurrence]:
        leaving = sorted(old.live - new.live)
        waiting = {span for _, span, _, copy in new.pointers.values() if copy == "outstanding"}
        for span in sorted(waiting & set(new.covers.get(carrier, ()))):
            # Its source is held until the copy has landed.
            yield Occurrence(event="copy", span=new.turns[span], asserts=self.said(span))
        waiting &= set(self.under(carrier, new))
        yield Occurrence(
            event="commit",
            summary=self.name(carrier),
            spans=tuple(new.turns[c] for c in leaving if c in new.turns),
            summaries=tuple(self.name(c) for c in leaving if c not in new.turns),
            pending=tuple(new.turns[span] for span in sorted(waiting)),
        )
