"""A compactor that takes other operations while its model writes, served with the SDK: `python … [sync|async]`."""

import asyncio
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "conformance" / "anchorhold" / "adapters"))

from anchorhold_sdk import (
    CarrierKind,
    Description,
    Item,
    Mechanism,
    Outcome,
    OutcomeKind,
    Shown,
    serve,
)


class Sync:
    """See the module. A second compaction that comes in while one is under way has nothing to do."""

    def describe(self):
        mechanisms = frozenset({Mechanism.SUMMARISER, Mechanism.CONCURRENCY})
        return Description(name="concurrent", version="1", mechanisms=mechanisms)

    def open(self, settings, summarise):
        self.summarise, self.items, self.made = summarise, [], 0
        self.guard = threading.Lock()
        return settings

    def append(self, turn):
        with self.guard:
            self.items.append(Item(id=turn.id, turn=turn.id, kind=CarrierKind.RAW, text=turn.text))

    def compact(self):
        old = self.begin_one()
        return self.end_one(old, self.summarise(self.shown(old))) if old else Outcome(kind=OutcomeKind.NOTHING)

    def shown(self, old):
        return Shown(messages=tuple(item.text or "" for item in old))

    def begin_one(self):
        with self.guard:
            return tuple(item for item in self.items[:-2] if item.kind is CarrierKind.RAW)

    def end_one(self, old, reply):
        with self.guard:
            if not set(old) <= set(self.items):
                return Outcome(kind=OutcomeKind.REFUSED, reason="another compaction came first")
            self.made += 1
            covers = tuple(item.id for item in old)
            summary = Item(id=f"s{self.made}", kind=CarrierKind.SUMMARY, text=reply.text, covers=covers)
            self.items = [summary, *(item for item in self.items if item not in old)]
        return Outcome(kind=OutcomeKind.COMMITTED, summary=summary.id, covered=covers)

    def live(self):
        with self.guard:
            return list(self.items)

    def clear(self):
        with self.guard:
            self.items = []

    def close(self):
        self.items = []


class Async(Sync):
    """The same on an event loop."""

    async def compact(self):
        old = self.begin_one()
        return (
            self.end_one(old, await self.summarise.ask(self.shown(old))) if old else Outcome(kind=OutcomeKind.NOTHING)
        )

    async def append(self, turn):
        await asyncio.sleep(0)
        super().append(turn)


class Locked(Sync):
    """Lets nobody in while it compacts."""

    def open(self, settings, summarise):
        self.whole = threading.RLock()
        return super().open(settings, summarise)

    def append(self, turn):
        with self.whole:
            super().append(turn)

    def compact(self):
        with self.whole:
            return super().compact()


if __name__ == "__main__":
    serve({"sync": Sync, "async": Async, "locked": Locked}[sys.argv[1]])
