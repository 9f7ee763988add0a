"""One of several processes that work on one session until they are killed or told to stop. A program of its own.

    python soak_worker.py WHERE NAME SECONDS LOG SEED

Appends a line of JSON to LOG for whatever it was told by the transcript: `intent` before an append, and what came of
each operation after it. A line is one write, so a process that is killed leaves whole lines.
"""

import json
import os
import random
import sys
import time
from contextlib import suppress
from typing import Any

from anchorhold_reference import MismatchError, Reply, Request, Settings, Transcript, UnknownCarrierError
from anchorhold_spec.vocabulary import CarrierKind, Turn

SETTINGS = Settings(budget=500, watermark=0.5, keep=4, horizon=0, audit_every=5)


def statement(turn: str) -> str:
    return f"The port of {turn} is {number(turn)}."


def number(turn: str) -> int:
    return 1000 + sum(ord(c) * 31**i for i, c in enumerate(turn)) % 60000


def summarise(request: Request) -> Reply:
    """Repeats some of what it was shown, word for word, so that some originals may be let go and others may not."""
    said = [line.partition(": ")[2] for m in request.messages[1:] for line in m.splitlines() if " is " in line]
    time.sleep(0.02)
    return Reply(text="\n".join([f"Part {random.random()} of the work went well.", *said[:6]]))


class Worker:
    def __init__(self, where: str, name: str, log: str, seed: int) -> None:
        self.chance = random.Random(seed)
        self.name = name
        self.count = 0
        self.log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.transcript = Transcript.open(where, summarise=summarise, settings=SETTINGS)

    def note(self, **what: Any) -> None:
        os.write(self.log, (json.dumps({"by": self.name, "at": time.monotonic(), **what}) + "\n").encode())

    def step(self) -> None:
        self.chance.choices([self.append, self.compact, self.evict, self.read], [10, 3, 3, 4])[0]()

    def append(self) -> None:
        turn = f"{self.name}-{self.count}"
        self.count += 1
        self.note(op="intent", turn=turn)
        span = self.transcript.append(Turn(id=turn, speaker="user", text=statement(turn)))
        self.note(op="append", turn=turn, span=span)

    def compact(self) -> None:
        outcome = self.transcript.compact()
        self.note(op="compact", kind=outcome.kind, covered=outcome.covered, reason=outcome.reason)

    def evict(self) -> None:
        pointers = self.transcript.pointers()
        if pointers:
            chosen = self.chance.choice(pointers)
            if self.chance.random() < 0.7:  # mostly one that may go, since a summary repeats it
                carried = self.carried()
                chosen = next((p for p in pointers if p.covers[0] in carried), chosen)
            outcome = self.transcript.evict(chosen.token)
            self.note(op="evict", kind=outcome.kind, turn=chosen.covers[0], reason=outcome.reason)

    def carried(self) -> set[str]:
        """Turns that the manifest of a live summary names; another process may replace that summary meanwhile."""
        found: set[str] = set()
        for item in self.transcript.live():
            if item.kind is CarrierKind.SUMMARY:
                with suppress(UnknownCarrierError):
                    found |= {entry.source for entry in self.transcript.manifest(item.id)}
        return found

    def read(self) -> None:
        for item in self.transcript.live():
            if item.turn is not None:
                assert item.text == statement(item.turn)
        pointers = self.transcript.pointers()
        for pointer in self.chance.sample(pointers, min(3, len(pointers))):
            try:
                answer = self.transcript.get(pointer.token)
            except MismatchError as error:
                self.note(op="get", token=pointer.token, turn=pointer.covers[0], kind="mismatch", text=str(error))
                continue
            self.note(
                op="get",
                token=pointer.token,
                epoch=pointer.epoch,
                turn=pointer.covers[0],
                kind=answer.kind,
                source=answer.source,
                text=answer.text,
            )
        if pointers:
            turn = self.chance.choice(pointers).covers[0]
            answer = self.transcript.reconstitute(turn, "port")
            self.note(op="ask", turn=turn, kind=answer.kind, value=answer.value)


def main(where: str, name: str, seconds: float, log: str, seed: int) -> None:
    worker = Worker(where, name, log, seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            worker.step()
        except Exception as error:
            worker.note(op="raised", error=f"{type(error).__name__}: {error}")
            raise
    worker.transcript.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
