"""Words that hedge: those that doubt a claim, restrict it, or deny it by what they mean. What denies by its form
("not", "never") is in `text`.

A word is here where the claim may be true without it and false with it, or the other way round: "I doubt that it
runs", "it rarely runs", "avoid it", "it failed to run". Each makes the whole sentence an assertion of its own, so
that a summary carries it only by repeating it (MAN-5). Opposites of one word ("unsafe") are claims of their own, and
not here.
"""

import re
from typing import Final

_MAYBE = """
maybe perhaps possibly probably presumably likely unlikely might may could should would seem seems seemed
seeming seemingly appear appears appeared apparently allegedly supposedly purportedly reputedly reportedly
ostensibly conceivably plausibly potentially arguably theoretically hypothetically hypothetical hopefully
tentatively tentative provisionally provisional preliminary unsure unclear uncertain uncertainty unconfirmed
unverified untested unproven unsubstantiated unfounded undecided unknown doubtful doubtfully dubious dubiously
questionable debatable disputed controversial contested improbable implausible inconclusive speculative
rumoured rumored rumour rumor suspected supposed alleged assuming roughly approximately about around if unless
whether think thinks thought guess guesses guessed guessing believe believes believed suspect suspects assume
assumes assumed suppose supposes presume presumes presumed reckon reckons wonder wonders wondered wondering
speculate speculates speculated imagine imagines imagined estimate estimates estimated doubt doubts doubted
doubting claim claims claimed allege alleges pretend pretends pretended hope hopes hoped hoping wish wishes
wished skeptical sceptical hesitant
"""
"""What leaves it open whether something is so, or says that somebody only holds it to be so."""
_SELDOM = """
hardly scarcely barely rarely seldom infrequently occasionally sometimes intermittently usually mostly
generally typically normally often partly partially almost nearly only solely except excepting excluding
formerly
"""
"""What says that something is so less often, in fewer cases, in part, or at another time."""
_AGAINST = """
untrue untruly wrong wrongly incorrect incorrectly mistaken mistakenly erroneous erroneously inaccurate
falsely myth hoax impossible unable incapable fictitious bogus avoid avoids avoided avoiding prevent prevents
prevented preventing forbid forbids forbade forbidden forbidding prohibit prohibits prohibited disallow
disallows disallowed ban bans banned refuse refuses refused refusing refusal decline declines declined reject
rejects rejected rejecting deny denies denied denying denial dispute disputes refute refutes refuted
contradict contradicts contradicted disprove disproves disproved disproven debunked disagree disagrees
disagreed disbelieve disbelieves distrust refrain refrains refrained abstain abstains cease ceases ceased lack
lacks lacked lacking devoid neglect neglects neglected omit omits omitted forgot forget forgets forgotten
discontinue discontinued abandon abandoned
"""
"""What denies by what it means: that something is so, is done, or may be."""
_WITH_NEXT: Final = {
    "to": """
        fail fails failed failing used plan plans planned planning intend intends intended try tries tried trying
        attempt attempts attempted expect expects expected meant yet ought
    """,
    "[a-z]+ing": "stop stops stopped quit quits",
    "that": "provided false",
    "of": "instead short",
    "than": "rather other",
    "from": "far",
    "but": "anything",
}
"""What hedges where this word stands behind it."""
_WITH_LAST: Final = {
    "against": """
        advise advises advised advice decide decides decided recommend recommends recommended argue argues argued vote
        voted warn warns warned
    """,
    "false": "is was are were be been as proved proven",
    "sure": "not",
    "case": "in",
    "theory": "in",
    "though": "as",
    "called": "so",
}
"""What hedges where one of these words stands before it."""
_FEWER: Final = ("few", "little")
"""What hedges, but not behind "a": "few hosts" are fewer than somebody thought, "a few" are some."""

_ALONE = frozenset(f"{_MAYBE} {_SELDOM} {_AGAINST}".split())
WIDE_WORDS: Final = frozenset([*" ".join(_WITH_NEXT.values()).split(), *_WITH_LAST, *_FEWER])
"""Those that hedge by another word beside them: "fail to", "in case"."""
HEDGING_WORDS: Final = _ALONE | WIDE_WORDS
"""Where none of these is a word of a text, and no `~`, `HEDGE` finds nothing."""


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


HEDGE: Final = re.compile(
    r"\b(?:"
    + "|".join(
        [
            *(f"{_any(words)} {after}" for after, words in _WITH_NEXT.items()),
            *(f"{_any(words)} {last}" for last, words in _WITH_LAST.items()),
            rf"(?<!\ba )(?:{'|'.join(_FEWER)})",
            *sorted(_ALONE, key=lambda word: (-len(word), word)),
        ]
    )
    + r")\b|~(?=\d)",
    re.IGNORECASE,
)
