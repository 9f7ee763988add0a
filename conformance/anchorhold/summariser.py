"""The scripted summariser: a model whose every answer the suite decides.

It knows the facts that the workload planted and the turns that were appended, looks for them in the text that it is
shown, and knows nothing else: a fact that the compactor did not show cannot come back by way of it.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from anchorhold.compactor import Reply, Shown, SummariserError
from anchorhold.qualified import bare
from anchorhold_spec.vocabulary import Fact

OPENINGS = (
    "Notes on the work so far.",
    "What has been established up to here.",
    "State of the work.",
    "The conversation in brief.",
    "Where things stand.",
    "A record of the session until now.",
    "In short.",
)
CLOSINGS = (
    "Work goes on from there.",
    "Nothing else is open.",
    "The rest was routine.",
    "The next steps follow from this.",
    "Everybody agreed to carry on.",
)
FLUENT = (
    "The team looked into the matter and made good progress.",
    "Several things were tried, discussed and settled.",
    "The investigation moved forward without surprises.",
    "Questions were raised and answered along the way.",
    "Configuration was reviewed and adjusted where it made sense.",
    "The agent configured the application and checked the outcome.",
    "Everything relevant was taken care of in good order.",
)
VAGUE = {
    "path": "the usual place",
    "number": "a suitable amount",
    "hedge": "a suitable amount",
    "identifier": "the item in question",
    "entity": "the upstream service",
    "negation": "as discussed",
    "quotation": "words to that effect",
    "timestamp": "some time earlier",
    "argument": "the usual options",
}
REFUSAL = "I'm sorry, but I can't help with summarising this conversation."
ERROR_TEXT = (
    "Error code: 429 - {'error': {'message': 'Rate limit reached for requests. Please try again later.', "
    "'type': 'requests', 'code': 'rate_limit_exceeded'}}"
)
_DIGITS = re.compile(r"[0-9]{1,15}")
OTHER = {"user": "assistant", "assistant": "user"}
"""Who else might have said it."""
BLANKS = " \n\t \n  "
PREAMBLE = "Let me look at the state of things first, and go on from there."


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What one call of the summariser has to go by."""

    call: int
    """How many calls there were before."""
    shown: Shown
    facts: tuple[Fact, ...]
    """Planted facts whose words stand in what was shown, in the order of planting. See `seen`."""
    last_turn: str | None
    """Text of the latest appended turn that stands in what was shown."""
    previous: str | None
    """The previous summary that this summariser wrote, where it stands in what was shown."""
    speakers: Mapping[str, str] = field(default_factory=dict)
    """Who said it, by a fact's words."""


APART = r"(?:(?<!\w)|(?<=\\[nrt])){}(?!\w)"
"""A literal that is not part of a longer word. In escaped text the letter of an escape may stand before it."""


def escaped(text: str) -> tuple[str, ...]:
    """A text as it stands, and as it may stand inside a JSON string, or inside a JSON string within another."""
    forms = {text: None}
    for _ in range(2):
        for form in tuple(forms):
            for ascii_only in (True, False):
                forms.setdefault(json.dumps(form, ensure_ascii=ascii_only)[1:-1])
    return tuple(forms)


def seen(fact: Fact, whole: str) -> Fact | None:
    """What of a fact stands in a text: all of it, in whatever escaping, or its literal alone, or nothing.

    A statement about a slot is nothing without its sentence. A fact without one (a tool's argument, a cell of a
    table) may be laid out anew, and is still there while its literal is.
    """
    if any(form in whole for form in escaped(fact.text)):
        return fact
    if fact.subject is None and re.search(APART.format(re.escape(fact.literal)), whole):
        return replace(fact, text=fact.literal)
    return None


def _page(call: int, lines: Iterable[str]) -> str:
    """Frame lines. The frame differs from call to call: an honest summary is never the one before, word for word."""
    opening = OPENINGS[call % len(OPENINGS)]
    closing = CLOSINGS[call % len(CLOSINGS)]
    return "\n".join([opening, *lines, closing])


def _faithful(sight: Sight) -> Reply:
    return Reply(text=_page(sight.call, (fact.text for fact in sight.facts)))


def _paraphrase(sight: Sight) -> Reply:
    return Reply(text=_page(sight.call, (vague(fact) for fact in sight.facts)))


def vague(fact: Fact) -> str:
    """A fact's sentence with nothing left in it that could be verified: fluent, true, and of no use."""
    text = fact.text.replace(fact.literal, VAGUE.get(fact.kind, "what was agreed"))
    if fact.subject is not None:
        text = text.replace(fact.subject, "the component")
    return text


def _drop(sight: Sight) -> Reply:
    first = FLUENT[sight.call % len(FLUENT)]
    second = FLUENT[(sight.call // len(FLUENT) + sight.call + 1) % len(FLUENT)]
    return Reply(text=_page(sight.call, (first, second)))


def _fail(_sight: Sight) -> Reply:
    raise SummariserError("rate limit reached (scripted)")


def _empty(_sight: Sight) -> Reply:
    return Reply(text="")


def _blank(_sight: Sight) -> Reply:
    return Reply(text=BLANKS)


def _truncated(sight: Sight) -> Reply:
    """Cut within a word or, every other time, where a line ends: what is left then looks whole, and is not."""
    whole = _faithful(sight).text
    cut = whole[: max(1, len(whole) * 3 // 5)]
    return Reply(text=(cut[: cut.rfind("\n")] if sight.call % 2 and "\n" in cut else cut), finish="length")


def _filtered(sight: Sight) -> Reply:
    """Stopped by a filter where a line ends: what came until then looks whole, and is not."""
    whole = _faithful(sight).text
    return Reply(text=whole[: whole.rfind("\n")], finish="content-filter")


def _tool_call(_sight: Sight) -> Reply:
    return Reply(text=PREAMBLE, finish="tool-call")


def _refusal(_sight: Sight) -> Reply:
    return Reply(text=REFUSAL, finish="refusal")


def _error_text(_sight: Sight) -> Reply:
    return Reply(text=ERROR_TEXT)


def _echo(sight: Sight) -> Reply:
    if sight.last_turn is not None:
        return Reply(text=sight.last_turn)
    return Reply(text=sight.shown.messages[-1] if sight.shown.messages else "")


def _invent(sight: Sight) -> Reply:
    lines = [fact.text for fact in sight.facts]
    return Reply(text=_page(sight.call, [*lines, invented(sight.call)]))


def invented(call: int) -> str:
    """A statement that no turn makes."""
    return f"The audit port of ghost-relay-{call + 1} is {61000 + call}."


def _flip(sight: Sight) -> Reply:
    return Reply(text=_page(sight.call, (fact.text.replace(" not ", " ") for fact in sight.facts)))


def _number(sight: Sight) -> Reply:
    return Reply(text=_page(sight.call, (renumbered(fact) for fact in sight.facts)))


def renumbered(fact: Fact) -> str:
    """A fact's sentence with another number in its literal; as it is where there is none."""
    literal = _DIGITS.sub(lambda digits: str(int(digits[0]) + 1).zfill(len(digits[0])), fact.literal)
    return fact.text.replace(fact.literal, literal)


def _harden(sight: Sight) -> Reply:
    return Reply(text=_page(sight.call, (bare(fact.text, fact.literal) for fact in sight.facts)))


def _swap(sight: Sight) -> Reply:
    return Reply(text=_page(sight.call, (fact.text for fact in swapped(sight.facts))))


def swapped(facts: Iterable[Fact]) -> list[Fact]:
    """Statements in which the attributes of one subject have each other's values; the others as they are."""
    told = list(facts)
    for subject in dict.fromkeys(fact.subject for fact in told if fact.subject is not None):
        mine = [n for n, fact in enumerate(told) if fact.subject == subject and fact.attribute is not None]
        values = [told[n].literal for n in mine]
        if len({told[n].attribute for n in mine}) > 1 and len(set(values)) == len(values):
            for n, value in zip(mine, [*values[1:], values[0]], strict=True):
                told[n] = replace(told[n], text=told[n].text.replace(told[n].literal, value), literal=value)
    return told


def _misattribute(sight: Sight) -> Reply:
    whom = {fact.text: OTHER.get(sight.speakers.get(fact.text, "")) for fact in sight.facts}
    lines = (f"{whom[fact.text]}: {fact.text}" if whom[fact.text] else fact.text for fact in sight.facts)
    return Reply(text=_page(sight.call, lines))


def _same(sight: Sight) -> Reply:
    return Reply(text=sight.previous) if sight.previous is not None else _faithful(sight)


MODES: dict[str, Callable[[Sight], Reply]] = {
    "faithful": _faithful,
    "paraphrase": _paraphrase,
    "drop": _drop,
    "fail": _fail,
    "empty": _empty,
    "blank": _blank,
    "truncated": _truncated,
    "refusal": _refusal,
    "filtered": _filtered,
    "tool-call": _tool_call,
    "echo": _echo,
    "error-text": _error_text,
    "invent": _invent,
    "flip": _flip,
    "number": _number,
    "harden": _harden,
    "swap": _swap,
    "misattribute": _misattribute,
    "same": _same,
}
"""What a summariser can be told to do.

`faithful` keeps every planted statement that it was shown, verbatim; `paraphrase` keeps none of their literals;
`drop` keeps no statement at all; `invent` adds one that no turn made; `flip` loses every "not", `harden` every
"probably", bound and condition; `number` changes the numbers of every literal; `swap` gives the values of one
subject's attributes to each other; `misattribute` has the assistant say what the user said, and the reverse. The
others are no summaries: OUT-1 says that none of them is to be committed. `same` is the previous summary unchanged,
and faithful as long as there is none.
"""

SUMMARIES = frozenset(
    {"faithful", "paraphrase", "drop", "invent", "flip", "number", "harden", "swap", "misattribute"}
)
"""The modes in which the reply is a summary, good or bad."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One call of the summariser: what it was shown, and how it answered."""

    mode: str
    shown: Shown
    reply: Reply | None
    """None where it raised."""


class ScriptedSummariser:
    """Answers as told, and keeps record of every call. Not safe for threads: the runner serialises its calls."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._mode = "faithful"
        self._left: int | None = None
        self._facts: dict[str, Fact] = {}
        self._speakers: dict[str, str] = {}
        self._turns: list[str] = []

    def tell(self, mode: str, times: int | None = None) -> None:
        """Behave so from now on, or for so many calls.

        Raises `ValueError` where there is no such mode.
        """
        if mode not in MODES:
            raise ValueError(f"no summariser mode {mode!r}; there are {', '.join(MODES)}")
        self._mode, self._left = mode, times

    def learn(self, text: str | None, facts: Iterable[Fact], *, speaker: str | None = None) -> None:
        """A turn with this text, asserting these facts, was handed to the compactor.

        `speaker`: whose it is. Of what two of them said nobody is named in another's place.
        """
        for fact in facts:
            self._facts.setdefault(fact.text, fact)
            if speaker is not None and self._speakers.setdefault(fact.text, speaker) != speaker:
                self._speakers[fact.text] = ""
        if text:
            self._turns.append(text)

    @property
    def mode(self) -> str:
        """How the next call will be answered."""
        return self._mode

    def __call__(self, shown: Shown) -> Reply:
        """Answer one call; raises `SummariserError` in mode `fail`."""
        mode = self._mode
        if self._left is not None:
            self._left -= 1
            if self._left <= 0:
                self._mode, self._left = "faithful", None
        sight = self._look(shown)
        try:
            reply = MODES[mode](sight)
        except SummariserError:
            self.calls.append(Call(mode=mode, shown=shown, reply=None))
            raise
        self.calls.append(Call(mode=mode, shown=shown, reply=reply))
        return reply

    def _look(self, shown: Shown) -> Sight:
        whole = "\n".join(shown.messages)
        previous = next(
            (
                call.reply.text
                for call in reversed(self.calls)
                if call.reply is not None and call.mode in SUMMARIES and call.reply.text in whole
            ),
            None,
        )
        return Sight(
            call=len(self.calls),
            shown=shown,
            facts=tuple(found for fact in self._facts.values() if (found := seen(fact, whole)) is not None),
            last_turn=next((text for text in reversed(self._turns) if text in whole), None),
            previous=previous,
            speakers=self._speakers,
        )
