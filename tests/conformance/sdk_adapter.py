"""A small compactor of its own, served with the SDK: every operation, plain and `async`, for the tests of the wire.

It keeps turns in a list, replaces all but the last two by what the model says, and keeps originals by number.
"""

import asyncio
import dataclasses
import json
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "conformance" / "anchorhold" / "adapters"))

from anchorhold_sdk import (
    Advance,
    Answer,
    AnswerKind,
    Audit,
    CarrierKind,
    Description,
    Entry,
    Item,
    Mechanism,
    OperationError,
    Outcome,
    OutcomeKind,
    Pointer,
    Ratios,
    Shown,
    Tombstone,
    serve,
)


class Adapter:
    """See the module."""

    def describe(self):
        print("this goes to standard error")  # noqa: T201 - what a library would do
        return Description(
            name="tests' own",
            version="1.2",
            mechanisms=frozenset({Mechanism.SUMMARISER}),
            hidden={Mechanism.KEY_RECYCLING: "keys are inside"},
            crash_points=("staged", "committed"),
        )

    async def open(self, settings, summarise):
        await asyncio.sleep(0)
        self.summarise, self.window, self.store, self.armed = summarise, [], {}, None
        self.turns, self.tombs, self.passed, self.done = {}, [], 0.0, []
        self.settings = settings
        return dataclasses.replace(settings, horizon=None)

    async def resume(self, settings, summarise):
        await self.open(settings, summarise)
        self.window = [Item(id="resumed", kind=CarrierKind.OTHER, text=f"{settings.session} {settings.budget}")]

    def append(self, turn):
        if turn.id in self.turns:
            raise OperationError(f"turn {turn.id} is here already")
        self.turns[turn.id] = turn
        self.window.append(
            Item(id=turn.id, turn=turn.id, kind=CarrierKind.RAW, text=turn.text, data=turn.data, speaker=turn.speaker)
        )
        return f"k-{turn.id}" + (f"/{turn.declared}" if turn.declared else "")

    async def compact(self):
        old = [item for item in self.window[:-2] if item.kind is CarrierKind.RAW]
        if not old:
            return Outcome(kind=OutcomeKind.NOTHING)
        shown = Shown(messages=("Summarise.", *(item.text or "" for item in old)))
        if self.settings.branch == "thread":
            replies = []
            thread = threading.Thread(target=lambda: replies.append(self.summarise(shown)))
            thread.start()
            thread.join()
            reply = replies[0]
        elif self.settings.branch == "loop":
            reply = await asyncio.to_thread(asyncio.run, self.summarise.ask(shown))
        elif self.settings.branch == "many":
            replies = await asyncio.gather(*(self.summarise.ask(Shown(messages=(m,))) for m in shown.messages))
            reply = dataclasses.replace(replies[0], text=" ".join(sorted(r.text for r in replies)))
        else:
            reply = await self.summarise.ask(shown)
        if self.armed:
            self.armed = None
            raise OperationError("crashed", definite=False)
        summary = f"s{len(self.store)}"
        self.store[summary] = old
        covered = tuple(item.id for item in old)
        item = Item(id=summary, kind=CarrierKind.SUMMARY, text=reply.text, covers=covered, generation=1)
        self.window = [item, *self.window[-2:]]
        return Outcome(kind=OutcomeKind.COMMITTED, summary=summary, covered=covered, reason=reply.finish)

    def live(self):
        return self.window

    def close(self):
        self.window = []

    def pointers(self):
        return [
            Pointer(summary=s, token=f"{s}/{i.id}", covers=(i.id,), key=i.id, epoch=1)
            for s, items in self.store.items()
            for i in items
        ]

    def get(self, token):
        summary, _, turn = token.partition("/")
        for item in self.store.get(summary, ()):
            if item.id == turn:
                return Answer(kind=AnswerKind.FOUND, text=item.text, data=item.data, carrier=summary, evidence=True)
        return Answer(kind=AnswerKind.FOREIGN, reason=f"no {token}")

    def search(self, literal):
        for turn in self.turns.values():
            if literal in (turn.text or ""):
                return Answer(kind=AnswerKind.FOUND, text=turn.text, source=turn.id)
        return Answer(kind=AnswerKind.UNANCHORED)

    def reconstitute(self, subject, attribute, evidence):
        return Answer(kind=AnswerKind.INSUFFICIENT, reason=f"{subject}.{attribute} {evidence}", value="v")

    def manifest(self, carrier):
        return [Entry(literal="x", source=carrier, kind="path", subject="a", attribute="b")]

    def tombstones(self):
        return self.tombs

    def tombstone(self, literal, source, reason):
        self.tombs.append(Tombstone(literal=literal, source=source, reason=reason, decided_by="suite", time=1.5))
        return Outcome(kind=OutcomeKind.COMMITTED)

    def supersede(self, literal, source, superseder, reason):
        tomb = Tombstone(literal=literal, source=source, reason=reason, decided_by="suite", superseder=superseder)
        self.tombs.append(tomb)
        return Outcome(kind=OutcomeKind.COMMITTED)

    def evict(self, token):
        return Outcome(kind=OutcomeKind.REFUSED, reason="gate", facts=("a fact",))

    def expire(self, seconds):
        self.passed += seconds

    def reopen(self):
        self.window = list(self.window)

    def crash(self, point):
        self.armed = point

    def corrupt(self, token):
        return token.partition("/")[0] in self.store

    def switch(self, session, user, branch="main"):
        self.done = [("switch", branch)]
        if session == "bad":
            raise asyncio.CancelledError
        if session == "raises":
            raise KeyError(user)
        if session == "exits":
            sys.exit(4)

    def status(self):
        return "degraded: tests"

    def degraded_since(self):
        return 12.5

    def clear(self):
        self.done.append(("clear",))

    def rewind(self, turn):
        self.done.append(("rewind", turn))

    async def fork(self, branch):
        self.done.append(("fork", branch))

    def forget(self, turn):
        return Outcome(kind=OutcomeKind.REFUSED, reason=f"forget {turn}")

    def files(self):
        return ["/var/lib/tests/ledger.db"]

    def hold_copies(self, held):
        self.done.append(("hold_copies", held))

    def settle(self):
        self.done.append(("settle",))

    def ratios(self):
        return Ratios(committed=3, pending=1, unresolvable=0)

    def clock(self, shift):
        self.done.append(("clock", shift))

    def lose_power(self):
        self.done.append(("lose_power",))

    def fail_store(self, point, fault):
        self.done.append(("fail_store", point, fault))

    def audits(self):
        return [Audit(compaction=1, turn="t1", passed=True), Audit(compaction=2, passed=False)]

    def override(self, reason):
        return Outcome(kind=OutcomeKind.COMMITTED, reason=json.dumps([*self.done, reason], separators=(",", ":")))

    def begin(self, worker, op, arguments):
        self.begun = (worker, op, dict(arguments))

    def advance(self, worker):
        if worker == "w":
            return Advance(done=False, at=json.dumps(self.begun, separators=(",", ":")))
        if worker == "asks":
            return Advance(done=True, answer=Answer(kind=AnswerKind.FOUND, text="x"))
        return Advance(done=True, outcome=Outcome(kind=OutcomeKind.NOTHING))


if __name__ == "__main__":
    serve(Adapter)
