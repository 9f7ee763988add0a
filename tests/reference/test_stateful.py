"""Any sequence of operations, against the simplest model: a list of what was said, and of what was dropped."""

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from transcripts import in_memory

from anchorhold_reference import Reply, Settings, Transcript
from anchorhold_reference.pointer import unseal
from anchorhold_spec.vocabulary import AnswerKind, CarrierKind, OutcomeKind, Turn

MODES = ("faithful", "half", "drop", "flip", "invent", "empty", "fail", "cut", "same")


class Session(RuleBasedStateMachine):
    """Appends, compacts, evicts, drops and reopens at will."""

    def __init__(self):
        super().__init__()
        self.directory = tempfile.TemporaryDirectory(dir=in_memory())
        self.said = {}  # turn id -> its one sentence
        self.dropped = set()
        self.evicted = set()
        self.tokens = {}  # every token ever seen -> the turn that it names
        self.epochs = {}  # every (slot, epoch) ever seen -> the turn
        self.mode = "faithful"
        self.calls = 0
        self.transcript = None

    @initialize()
    def begin(self):
        self.transcript = Transcript.open(
            Path(self.directory.name) / "ledger.db",
            summarise=self.summarise,
            settings=Settings(horizon=0, budget=120, watermark=0.5, keep=2),
        )

    def summarise(self, request):
        self.calls += 1
        whole = "\n".join(request.messages[1:])
        seen = [text for text in self.said.values() if text in whole]
        match self.mode:
            case "fail":
                raise RuntimeError("rate limit")
            case "empty":
                return Reply(text="")
            case "cut":
                return Reply(text="The work was", finish="length")
            case "same":
                return Reply(text="Always the same words.")
            case "drop":
                lines = []
            case "half":
                lines = seen[::2]
            case "flip":
                lines = [text.replace(" is not ", " is ") for text in seen]
            case "invent":
                lines = [*seen[:1], "The port of ghost is 1."]
            case _:
                lines = seen
        return Reply(text="\n".join([f"Part {self.calls}.", *lines]))

    @rule(subject=st.sampled_from("abc"), value=st.integers(1, 3), negated=st.booleans(), talk=st.booleans())
    def append(self, subject, value, negated, talk):
        turn = f"t{len(self.said)}"
        text = f"The port of db-{subject} is {'not ' if negated else ''}{value}."
        if talk:
            text = f"We talked about the weather, number {len(self.said)}x."
        self.said[turn] = text
        self.transcript.append(Turn(id=turn, speaker="user" if value % 2 else "assistant", text=text))

    @rule(mode=st.sampled_from(MODES))
    def compact(self, mode):
        self.mode = mode
        before = self.transcript.live()
        outcome = self.transcript.compact()
        if outcome.kind is not OutcomeKind.COMMITTED:
            assert self.transcript.live() == before
        if mode in {"fail", "empty", "cut"}:
            assert outcome.kind is not OutcomeKind.COMMITTED

    @precondition(lambda self: self.tokens)
    @rule(data=st.data())
    def evict(self, data):
        token = data.draw(st.sampled_from(sorted(self.tokens)))
        if self.transcript.evict(token).kind is OutcomeKind.COMMITTED:
            self.evicted.add(self.tokens[token])

    @rule()
    def evict_everything(self):
        for pointer in self.transcript.pointers():
            if self.transcript.evict(pointer.token).kind is OutcomeKind.COMMITTED:
                self.evicted.add(pointer.covers[0])

    @precondition(lambda self: self.said)
    @rule(data=st.data())
    def tombstone(self, data):
        turn = data.draw(st.sampled_from(sorted(self.said)))
        if "The port" not in self.said[turn]:
            return
        literal = self.said[turn].split(" is ")[1].rstrip(".")
        kind = self.transcript.tombstone(literal, turn, "the machine says so").kind
        assert kind is (OutcomeKind.NOTHING if turn in self.dropped else OutcomeKind.COMMITTED)
        self.dropped.add(turn)

    @rule()
    def reopen(self):
        self.transcript.reopen()

    @invariant()
    def holds(self):
        if self.transcript is None:
            return
        live = self.transcript.live()
        pointers = self.transcript.pointers()
        self.ptr_1(live, pointers)
        self.anc_1(live, pointers)
        self.epo_1(pointers)
        self.man_2(live)
        assert {x.source for x in self.transcript.tombstones()} == self.dropped

    def ptr_1(self, live, pointers):
        under = [turn for item in live for turn in item.covers or ()]
        assert [p.covers[0] for p in pointers] == [turn for turn in under if turn not in self.evicted]
        for pointer in pointers:
            answer = self.transcript.get(pointer.token)
            assert (answer.kind, answer.text) == (AnswerKind.FOUND, self.said[pointer.covers[0]])

    def anc_1(self, live, pointers):
        in_window = {item.turn: item.text for item in live if item.turn}
        originals = {p.covers[0] for p in pointers}
        for turn, text in self.said.items():
            if turn in in_window:
                assert in_window[turn] == text
                continue
            if turn in originals or turn in self.dropped or "The port" not in text:
                continue
            carriers = [i for i in live if i.kind is CarrierKind.SUMMARY and turn in i.covers and text in i.text]
            assert carriers, f"{turn} came loose: {text}"
            assert any(e.source == turn for e in self.transcript.manifest(carriers[0].id))

    def epo_1(self, pointers):
        for pointer in pointers:
            self.tokens[pointer.token] = pointer.covers[0]
            address = unseal(pointer.token)
            owner = self.epochs.setdefault((address.slot, address.epoch), pointer.covers[0])
            assert owner == pointer.covers[0]
        for token, turn in self.tokens.items():
            answer = self.transcript.get(token)
            if answer.kind is AnswerKind.FOUND:
                assert answer.source == turn
            else:
                assert turn in self.evicted

    def man_2(self, live):
        for item in live:
            for entry in self.transcript.manifest(item.id):
                assert entry.literal in item.text
                assert entry.literal in self.said[entry.source]
                if item.covers is not None:
                    assert entry.source in item.covers
                    assert self.said[entry.source] in item.text

    def teardown(self):
        if self.transcript is not None:
            self.transcript.close()
        self.directory.cleanup()


Session.TestCase.settings = settings(
    max_examples=40, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
)
TestAnc1Ptr1Epo1UnderAnySequence = Session.TestCase
