"""One look: what was read between two operations, taken together."""

from collections.abc import Mapping
from typing import Any

from anchorhold.checkers.record import CONTENT, Observation, Operation, Question, Said, SinceRead, changed, convert
from anchorhold.compactor import Audit, Ratios
from anchorhold.history import Header
from anchorhold_spec.vocabulary import (
    Answer,
    AnswerKind,
    Entry,
    Item,
    Pointer,
    Tombstone,
)


def joined(first: Answer, answers: Mapping[str, Answer], errors: Mapping[str, str]) -> Answer:
    """A partial answer with the pieces that were fetched by following its continuations (REC-3).

    A continuation that leads to an error, to no content, or back to itself leads nowhere: the answer is then all that
    there is, and has no continuation any more. One that is answered `pending` makes the whole pending.
    """
    answer, seen = first, set[str]()
    while answer.kind is AnswerKind.PARTIAL and answer.continuation is not None:
        following = answer.continuation
        if following in seen or following in errors:
            return changed(answer, continuation=None)
        if following not in answers:
            break
        seen.add(following)
        rest = answers[following]
        if rest.kind is AnswerKind.PENDING:
            return rest
        if rest.kind not in CONTENT:
            return changed(answer, continuation=None)
        answer = changed(
            rest,
            text=(answer.text or "") + (rest.text or "") if answer.text or rest.text else None,
            data=(answer.data or b"") + (rest.data or b"") if answer.data or rest.data else None,
        )
    return answer


NONE = frozenset[str]()


class Look:
    """Gathers what is read until something changes."""

    live: tuple[Item, ...] | None = None
    pointers: tuple[Pointer, ...] | None = None
    tombstones: tuple[Tombstone, ...] | None = None
    status: str | None = None
    since: SinceRead | None = None
    ratios: Ratios | None = None
    audits: tuple[Audit, ...] | None = None
    start: int | None = None
    end = 0

    def __init__(self) -> None:
        self.earlier: list[tuple[Item, ...]] = []
        """What `live` showed before it was read again."""
        self.relisted: dict[str, Pointer] = {}
        """Pointers that were listed before they were listed again, by token."""
        self.answers: dict[str, Answer] = {}
        self.errors: dict[str, str] = {}
        self.ended: dict[str, int] = {}
        self.manifests: dict[str, tuple[Entry, ...]] = {}
        self.questions: list[Question] = []
        self.found: list[Answer] = []
        """Answers to other questions, of which no more is known here than that they have continuations."""
        self.more = False
        """Whether anything else was read than window, pointers and what they lead to."""
        self.handed: set[str] = set()
        """Continuations of answers of pointers; also of one that was followed again, and went on by another name."""

    @property
    def carried(self) -> frozenset[str]:
        """Tokens of the pointers that were listed last."""
        return frozenset(pointer.token for pointer in self.pointers or ())

    @property
    def every(self) -> tuple[Answer, ...]:
        """Every answer, in pieces."""
        return (*self.answers.values(), *(question.answer for question in self.questions), *self.found)

    def like(self, last: "Look") -> bool:
        """Whether it shows what another one showed. Parts that are equal become the same objects: whoever has gone
        through them need not again."""
        same = True
        if self.live is not last.live:
            if self.live == last.live:
                self.live = last.live
            else:
                same = False
        if self.pointers is not last.pointers:
            if self.pointers == last.pointers:
                self.pointers = last.pointers
            else:
                same = False
        if self.answers == last.answers and self.errors == last.errors:
            self.answers, self.errors = last.answers, last.errors
        else:
            same, answers = False, self.answers
            for token, before in last.answers.items():
                if token in answers and answers[token] == before:
                    answers[token] = before
        if not (self.more or last.more):
            return same
        return same and self.rest() == last.rest()

    def rest(self) -> tuple[Any, ...]:
        """What was read besides window, pointers and what they lead to."""
        since = None if self.since is None else (self.since.value,)
        return (
            self.earlier,
            self.relisted,
            since,
            self.status,
            self.ratios,
            self.audits,
            self.tombstones,
            self.manifests,
            self.found,
        )

    def take(self, operation: Operation) -> None:
        """Take the end of a read in."""
        arguments = operation.arguments
        if operation.op not in READ_AS:
            self.began(operation.start, operation.end)
            if operation.ok:
                self.questions.append(Question(operation=operation, answer=convert(operation.value, Answer)))
            return
        value = convert(operation.value, READ_AS[operation.op]) if operation.ok else None
        about = str(arguments.get(ABOUT[operation.op], "")) if operation.op in ABOUT else ""
        self.read(operation.op, about, value, operation.error, ok=operation.ok, at=(operation.start, operation.end))

    def show(self, live: tuple[Item, ...]) -> None:
        """Take in what the window shows."""
        if self.live is not None:
            self.earlier.append(self.live)
            self.more = True
        self.live = live

    def list_pointers(self, pointers: tuple[Pointer, ...]) -> None:
        """Take in which pointers are listed."""
        if self.pointers is not None and self.pointers != pointers:
            self.relisted.update((pointer.token, pointer) for pointer in self.pointers)
            self.more = True
        self.pointers = pointers

    def began(self, start: int, end: int) -> None:
        """Note that something was read in these events."""
        self.start = start if self.start is None else self.start
        self.end = end

    def read(self, op: str, about: str, value: Any, error: str | None, *, ok: bool, at: tuple[int, int]) -> None:
        """Take in what one of the reads of `READ_AS` came to; `value` has the type that stands there."""
        if self.start is None:
            self.start = at[0]
        self.end = at[1]
        if op == "get":
            self.ended.setdefault(about, at[1])
            if ok:
                self.answers[about] = value
                if value.continuation is not None:
                    self.handed.add(value.continuation)
                self.errors.pop(about, None)
            else:
                self.errors[about] = error or "an error"
                self.answers.pop(about, None)
            return
        if not ok:
            return
        if op == "live":
            self.show(value)
            return
        if op == "pointers":
            self.list_pointers(value)
            return
        self.more = True
        if op == "manifest":
            self.manifests[about] = value
        elif op == "tombstones":
            self.tombstones = value
        elif op == "status":
            self.status = str(value)
        elif op == "ratios":
            self.ratios = value
        elif op == "degraded_since":
            self.since = SinceRead(value=value, at=at[1])
        else:
            self.audits = value

    def _pending(self) -> frozenset[str]:
        found = NONE
        for shown in (*self.earlier, self.live or ()):
            for item in shown:
                if item.pending:
                    found |= {item.id}
        return found

    def seen(
        self,
        session: str,
        *,
        live: tuple[Item, ...] | None,
        raw: frozenset[str],
        away: frozenset[str],
        reach: "Reach",
        amid: bool,
    ) -> Observation:
        """All of it together. `live`: with the kinds that the items have; `away`: what the caller took away; `amid`:
        whether something that may change it was under way."""
        assert self.start is not None
        handed, carried = NONE, self.carried if self.relisted else NONE
        answers, errors, questions = self.answers, self.errors, tuple(self.questions)
        if self.handed or self.found or any(question.answer.continuation is not None for question in questions):
            last = (answer.continuation for answer in self.every if answer.continuation is not None)
            handed = frozenset(self.handed.union(last)) - self.carried
            pieces = {token: joined(answer, answers, errors) for token, answer in answers.items()}
            questions = tuple(
                Question(operation=q.operation, answer=joined(q.answer, answers, errors)) for q in questions
            )
            answers = {token: answer for token, answer in pieces.items() if token not in handed}
            errors = {token: error for token, error in errors.items() if token not in handed}
        # In the order of the fields: a struct finds them the more quickly.
        return Observation(
            start=self.start,
            end=self.end,
            session=session,
            live=live,
            pointers=self.pointers,
            relisted=tuple(each for token, each in self.relisted.items() if token not in carried),
            answers=answers,
            pending=self._pending(),
            continuations=handed,
            ended=self.ended,
            errors=errors,
            manifests=self.manifests,
            tombstones=self.tombstones,
            status=self.status,
            since=self.since,
            ratios=self.ratios,
            audits=self.audits,
            questions=questions,
            raw=raw,
            exempt=reach.exempt | away if away else reach.exempt,
            withdrawn=away,
            copies_held=reach.copies_held,
            settled=reach.settled,
            damaged=reach.damaged,
            amid=amid,
        )


READ_AS: Mapping[str, Any] = {
    "live": tuple[Item, ...],
    "pointers": tuple[Pointer, ...],
    "get": Answer,
    "manifest": tuple[Entry, ...],
    "tombstones": tuple[Tombstone, ...],
    "status": object,
    "degraded_since": object,
    "ratios": Ratios,
    "audits": tuple[Audit, ...],
}
"""What the reads answer with; those that are left out are questions."""


ABOUT: Mapping[str, str] = {"get": "token", "manifest": "carrier"}
"""Which argument says what a read is about."""


REACHING = frozenset({"corrupt", "hold_copies", "settle", "expire"})


class Reach:
    """What the suite itself put out of reach, as a history goes on."""

    def __init__(self, header: Header) -> None:
        self._horizon = header.settings.horizon
        self._waited = 0.0
        self.exempt = frozenset[str]()
        """Turns whose original is out of reach."""
        self.damaged = frozenset[str]()
        """Tokens under which stored bytes were damaged."""
        self.copies_held = False
        """Whether background copies are held back."""
        self.settled = -1
        """When outstanding background work last ran to its end."""
        self.changes = 0
        """Operations so far by which any of this may have changed."""

    def follow(self, operation: Operation, said: Mapping[str, Said], raw: frozenset[str]) -> None:
        """Note what an operation does; `raw`: the turns that stood in the window when it was looked at last."""
        if operation.op not in REACHING:
            return
        self.changes += 1
        if operation.op == "corrupt" and operation.ok and operation.value is True:
            # What else lies under the damaged bytes is not known, so whatever is no longer in the window is exempt.
            self.exempt |= frozenset(i for i, s in said.items() if s.at < operation.start) - raw
            self.damaged |= {str(operation.arguments.get("token", ""))}
        if operation.op == "hold_copies" and operation.ok:
            self.copies_held = bool(operation.arguments.get("held"))
        elif operation.op == "settle" and operation.ok:
            self.copies_held, self.settled = False, operation.end
        if operation.op == "expire":
            self._waited += float(operation.arguments.get("seconds", 0.0))
            if self._horizon is not None and self._waited >= self._horizon:
                self.exempt |= frozenset(i for i, s in said.items() if s.at < operation.start)
