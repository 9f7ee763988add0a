"""A compactor that keeps files, driven over the wire: right, or with one defect of durability (its first argument).

Its state is one file, replaced as a whole; originals that leave the window go into another before that. Everything is
synced, and read back, before it is acknowledged.
"""

import copy
import hashlib
import json
import os
import sys
import tempfile
import uuid
from pathlib import Path

from anchorhold_sdk import (
    Answer,
    AnswerKind,
    CarrierKind,
    Description,
    Item,
    Mechanism,
    Outcome,
    OutcomeKind,
    Pointer,
    Shown,
    SummariserError,
    serve,
)

DEFECT = sys.argv[1] if len(sys.argv) > 1 else ""
STATE, ARCHIVE = "state.json", "archive.jsonl"


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


class Files:
    def __init__(self, folder):
        self.folder = folder

    def sync(self, handle):
        if DEFECT != "never-syncs":
            os.fsync(handle)

    def save(self, state):
        written = json.dumps(state).encode()
        path = self.folder / STATE
        aside = path if DEFECT == "writes-in-place" else path.with_suffix(".new")
        with aside.open("wb", buffering=0) as file:
            for part in (written[: len(written) // 2], written[len(written) // 2 :]):
                file.write(part)
            if DEFECT != "renames-unsynced":
                self.sync(file.fileno())
        if aside != path:
            aside.replace(path)
        handle = os.open(self.folder, os.O_RDONLY)
        self.sync(handle)
        os.close(handle)
        if DEFECT != "never-reads-back" and path.read_bytes() != written:
            raise OSError("what was written is not there")

    def load(self):
        return json.loads((self.folder / STATE).read_bytes())

    def archive(self, entries):
        line = "".join(json.dumps(entry) + "\n" for entry in entries).encode()
        path = self.folder / ARCHIVE
        # What a process that died wrote of a line goes: the next line would go on where it ends.
        whole = path.read_bytes().rpartition(b"\n") if path.exists() else (b"", b"", b"")
        before = len(whole[0] + whole[1])
        if whole[2] and DEFECT != "leaves-torn-lines":
            os.truncate(path, before)
        with path.open("ab", buffering=0) as file:
            file.write(line)
            self.sync(file.fileno())
        with path.open("rb") as file:
            file.seek(before)
            if DEFECT not in ("never-reads-back", "leaves-torn-lines") and file.read() != line:
                os.truncate(path, before)
                raise OSError("what was written is not there")

    def archived(self):
        found = {}
        path = self.folder / ARCHIVE
        for line in path.read_bytes().split(b"\n") if path.exists() else ():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # a process died while it wrote this: nothing leads to it
            if isinstance(entry, dict) and (entry["digest"] == digest(entry["text"]) or DEFECT == "trusts-its-disk"):
                found[entry["id"]] = entry
        return found


class Keeper:
    def describe(self):
        return Description(name=f"keeper {DEFECT}".strip(), version="1", mechanisms=frozenset({Mechanism.SUMMARISER}))

    def open(self, settings, summarise):
        self.settings, self.summarise = settings, summarise
        self.files = Files(Path(tempfile.mkdtemp(prefix="session-")))
        self.state = {"store": uuid.uuid4().hex, "window": [], "summaries": 0}
        self.files.save(self.state)
        return settings

    def resume(self, settings, summarise):
        self.settings, self.summarise = settings, summarise
        (folder,) = Path(tempfile.gettempdir()).glob("session-*")
        self.files = Files(folder)
        self.state = self.files.load()

    def reopen(self):
        self.state = self.files.load()

    def close(self):
        for path in self.files.folder.iterdir():
            path.unlink()
        self.files.folder.rmdir()

    def change(self, state):
        if DEFECT == "ignores-errors":
            self.state = state
        try:
            self.files.save(state)
        except OSError:
            if DEFECT == "ignores-errors":
                return
            if self.files.load() != self.state:
                self.files.save(self.state)
            raise
        self.state = state

    def append(self, turn):
        if any(turn.id == item["id"] or turn.id in item.get("covers", ()) for item in self.state["window"]):
            return turn.id
        said = "\n".join(filter(None, (turn.text, *(call.arguments for call in turn.calls))))
        item = {"id": turn.id, "text": said, "speaker": turn.speaker, "protected": turn.protected}
        self.change({**self.state, "window": [*self.state["window"], item]})
        return turn.id

    def over(self):
        return sum(-(-len(item["text"]) // 4) for item in self.state["window"]) > self.settings.budget * 0.7

    def compact(self):
        if not self.over():
            return Outcome(kind=OutcomeKind.NOTHING)
        window = self.state["window"]
        old = [item for item in window[:-2] if not item["protected"]]
        if not old:
            return Outcome(kind=OutcomeKind.REFUSED, reason="all of it has to stay")
        try:
            reply = self.summarise(Shown(messages=tuple(item["text"] for item in old)))
        except SummariserError as error:
            return Outcome(kind=OutcomeKind.FAILED, reason=str(error))
        if reply.finish != "stop" or not reply.text.strip():
            return Outcome(kind=OutcomeKind.FAILED, reason="that is no summary")
        state = copy.deepcopy(self.state)
        covers = [turn for item in old for turn in item.get("covers", [item["id"]])]
        state["summaries"] += 1
        summary = {"id": f"s{state['summaries']}", "text": reply.text, "covers": covers, "protected": False}
        state["window"] = [summary, *(item for item in window if item not in old)]
        originals = [{**item, "digest": digest(item["text"])} for item in old if "covers" not in item]
        steps = [lambda: self.files.archive(originals), lambda: self.change(state)]
        try:
            for step in reversed(steps) if DEFECT == "archives-last" else steps:
                step()
        except OSError as error:
            return Outcome(kind=OutcomeKind.FAILED, reason=str(error))
        covered = tuple(item["id"] for item in old)
        return Outcome(kind=OutcomeKind.COMMITTED, summary=summary["id"], covered=covered)

    def live(self):
        return [
            Item(id=i["id"], kind=CarrierKind.SUMMARY, text=i["text"], covers=tuple(i["covers"]))
            if "covers" in i
            else Item(id=i["id"], turn=i["id"], kind=CarrierKind.RAW, text=i["text"], speaker=i["speaker"])
            for i in self.state["window"]
        ]

    def pointers(self):
        return [
            Pointer(summary=item["id"], token=f"{self.state['store']}/{turn}", covers=(turn,))
            for item in self.state["window"]
            for turn in item.get("covers", ())
        ]

    def get(self, token):
        store, _, turn = token.partition("/")
        if store != self.state["store"]:
            return Answer(kind=AnswerKind.FOREIGN)
        entry = self.files.archived().get(turn)
        if entry is None:
            return Answer(kind=AnswerKind.DEGRADED, reason=f"what is kept of {turn} is not what was kept")
        return Answer(kind=AnswerKind.FOUND, text=entry["text"], source=turn, evidence=True)


serve(Keeper)
