"""How the runner looks around: at the window, through every pointer that it ever saw, and by asking.

It keeps what is known of the compactor's tokens, so that steps which name turns can be carried out with them.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from anchorhold.compactor import Capabilities, Compactor, Settings
from anchorhold.recorder import Recorder
from anchorhold.size import window_size
from anchorhold.summariser import escaped
from anchorhold_spec.vocabulary import Answer, AnswerKind, CarrierKind, Fact, Item, Turn

PIECES = 64
"""Pieces of one answer that are fetched in any case. Continuations that never end must not keep the check from
ending: further ones have to bring some text each, and together no more than twice what the longest turn has; where
they did not end by then, no further ones are fetched in this session."""
A_PIECE = 16
"""Characters that a further piece has to bring, on average."""

OBSERVATIONS = ("live", "pointers", "get", "manifest", "tombstones", "status", "degraded_since", "ratios", "audits")
"""What a `Probe` observes by, in this order."""

R = TypeVar("R")


class Looks:
    """Looking at one session of one compactor."""

    def __init__(self, compactor: Compactor, recorder: Recorder, *, offered: frozenset[str]) -> None:
        self.settings = Settings()
        """As the session was opened."""
        self.size = 0
        """Of the window, as last seen, and what was appended since."""
        self._compactor = compactor
        self._more = cast("Capabilities", compactor)
        self._recorder = recorder
        self._offered = offered
        self._tokens: dict[str, set[str]] = {}
        """Every token that was seen, in that order, with the turns that it is known to lead to."""
        self._texts: dict[str, tuple[str, ...]] = {}
        """The words of each turn, in the ways in which they may be written down."""
        self._longest = 0
        """Characters of the longest of them."""
        self._endless = False
        """Whether an answer went on and on."""

    def learn(self, turn: Turn) -> None:
        """A turn was appended."""
        # A call that is all that its turn says is known again by its arguments.
        said = turn.text or "\n".join(call.arguments for call in turn.calls)
        self._texts[turn.id] = escaped(said) if said else ()
        self._longest = max(self._longest, *map(len, self._texts[turn.id]), len(turn.data or b""))

    def probe(self, only: Sequence[str]) -> None:
        """Observe by these operations, as far as they are offered."""
        items: Sequence[Item] = ()
        if "live" in only or "manifest" in only:
            items = self.live() or ()
        if "pointers" in only and "pointers" in self._offered:
            for pointer in self._do("pointers", self._more.pointers) or ():
                self._tokens.setdefault(pointer.token, set()).update(pointer.covers or ())
        if "get" in only and "get" in self._offered:
            for token in list(self._tokens):
                self.get(token)
        if "manifest" in only and "manifest" in self._offered:
            for item in items:
                if item.kind is CarrierKind.SUMMARY:
                    self._do("manifest", partial(self._more.manifest, item.id), carrier=item.id)
        for op in ("tombstones", "status", "degraded_since", "ratios", "audits"):
            if op in only and op in self._offered:
                self._do(op, getattr(self._more, op))

    def live(self) -> Sequence[Item] | None:
        """The window."""
        items = self._do("live", self._compactor.live)
        if items is not None:
            self.size = window_size(items, self.settings.unit)
        return items

    def get(self, token: str) -> None:
        """Follow a token."""
        if "get" not in self._offered:
            return
        text = self.whole(self._do("get", lambda: self._more.get(token), token=token), token)
        leads = self._tokens.setdefault(token, set())
        if not text or leads:
            return
        # A compactor that does not say what its pointers cover shows it by what they resolve to.
        leads.update(turn for turn, forms in self._texts.items() if any(form in text for form in forms))

    def ask(self, fact: Fact, *, evidence: bool, only: Sequence[str] = ()) -> None:
        """Ask for a fact by every way that there is, or only by these operations."""
        ways = self._offered.intersection(only or ("search", "reconstitute"))
        if "search" in ways:
            self.whole(self._do("search", lambda: self._more.search(fact.literal), literal=fact.literal))
        if "reconstitute" in ways and fact.subject is not None and fact.attribute is not None:
            subject, attribute = fact.subject, fact.attribute
            self.whole(
                self._do(
                    "reconstitute",
                    lambda: self._more.reconstitute(subject, attribute, evidence),
                    subject=subject,
                    attribute=attribute,
                    evidence=evidence,
                )
            )

    def follow(self, token: str) -> None:
        """Follow a token that is none of this store's: it is not followed again at later looks."""
        self.whole(self._do("get", lambda: self._more.get(token), token=token), token)

    def whole(self, answer: Answer | None, token: str | None = None) -> str:
        """Follow the continuations of a partial answer, each by a `get` of its own; answers with the joined text.

        A continuation is no pointer: it is followed here and now, and not at every later look.
        """
        if answer is None:
            return ""
        pieces = [answer.text or ""]
        size = len(pieces[0])
        followed = {token}
        while answer.kind is AnswerKind.PARTIAL and "get" in self._offered and self._another(len(pieces), size):
            following = answer.continuation
            if following is None or following in followed:
                break
            followed.add(following)
            rest = self._do("get", partial(self._more.get, following), token=following)
            if rest is None or rest.kind not in (AnswerKind.FOUND, AnswerKind.PARTIAL):
                break
            answer = rest
            pieces.append(answer.text or "")
            size += len(pieces[-1])
        self._endless |= answer.kind is AnswerKind.PARTIAL and len(pieces) > PIECES
        return "".join(pieces)

    def _another(self, pieces: int, size: int) -> bool:
        """Whether another piece is fetched, after so many that have so many characters."""
        return pieces < PIECES or (not self._endless and pieces * A_PIECE <= size <= 2 * self._longest)

    def token_of(self, turn: str, step: str) -> str | None:
        """The newest token that is known to lead to a turn; where there is none, a note says so."""
        for token in reversed(self._tokens):
            if turn in self._tokens[token]:
                return token
        self._recorder.note({"step": step, "turn": turn, "why": f"no pointer is known to lead to turn {turn}"})
        return None

    def _do(self, op: str, call: Callable[[], R], **arguments: Any) -> R | None:
        return self._recorder.do(op, call, arguments)
