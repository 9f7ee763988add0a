"""Words that hedge: those that doubt a claim, restrict it, or deny it by what they mean. What denies by its form ("not",
"never") is in `text`.

A word is here where the claim may be true without it and false with it, or the other way round: "I doubt that it runs",
"it rarely runs", "avoid it", "it failed to run". Each makes the whole sentence an assertion of its own, so that a summary
carries it only by repeating it (MAN-5). Opposites of one word ("unsafe") are claims of their own, and not here.
"""

import re
from typing import Final

_MAYBE = """
maybe perhaps possibly probably presumably likely unlikely might may could should would seem seems seemed seeming
seemingly appear appears appeared apparently allegedly supposedly purportedly reputedly reportedly ostensibly conceivably plausibly
potentially arguably theoretically hypothetically hypothetical hopefully tentatively tentative provisionally provisional
preliminary unsure unclear uncertain uncertainty unconfirmed unverified untested unproven unsubstantiated unfounded
undecided unknown doubtful doubtfully dubious dubiously questionable debatable disputed controversial contested
improbable implausible inconclusive speculative rumoured rumored rumour rumor suspected supposed alleged assuming
roughly approximately about around if unless whether
think thinks thought guess guesses guessed guessing believe believes believed suspect suspects assume assumes assumed
suppose supposes presume presumes presumed reckon reckons wonder wonders wondered wondering speculate speculates
speculated imagine imagines imagined estimate estimates estimated doubt doubts doubted doubting claim claims claimed
allege alleges pretend pretends pretended hope hopes hoped hoping wish wishes wished
skeptical sceptical hesitant
"""
"""What leaves it open whether something is so, or says that somebody only holds it to be so."""
_SELDOM = """
hardly scarcely barely rarely seldom infrequently occasionally sometimes intermittently usually mostly generally
typically normally often partly partially almost nearly only solely except excepting excluding formerly
"""
"""What says that something is so less often, in fewer cases, in part, or at another time."""
_AGAINST = """
untrue untruly wrong wrongly incorrect incorrectly mistaken mistakenly erroneous erroneously inaccurate falsely
myth hoax impossible unable incapable fictitious bogus
avoid avoids avoided avoiding prevent prevents prevented preventing forbid forbids forbade forbidden forbidding prohibit
prohibits prohibited disallow disallows disallowed ban bans banned refuse refuses refused refusing refusal decline
declines declined reject rejects rejected rejecting deny denies denied denying denial dispute disputes refute refutes
refuted contradict contradicts contradicted disprove disproves disproved disproven debunked disagree disagrees disagreed
disbelieve disbelieves distrust refrain refrains refrained abstain abstains cease ceases ceased lack lacks lacked lacking
devoid neglect neglects neglected omit omits omitted forgot forget forgets forgotten
discontinue discontinued abandon abandoned
"""
"""What denies by what it means: that something is so, is done, or may be."""
_TOGETHER: Final = (
    (r"not sure", "sure"),
    (r"in (?:case|theory)", "case theory"),
    (
        r"(?:fail|fails|failed|failing|used|plan|plans|planned|planning|intend|intends|intended|try|tries|tried|trying"
        r"|attempt|attempts|attempted|expect|expects|expected|meant|yet|ought) to",
        "fail fails failed failing used plan plans planned planning intend intends intended try tries tried trying "
        "attempt attempts attempted expect expects expected meant yet ought",
    ),
    (r"(?:stop|stops|stopped|quit|quits) [a-z]+ing", "stop stops stopped quit quits"),
    (r"(?:is|was|are|were|be|been|as|proved|proven) false|false that", "false"),
    (r"provided that", "provided"),
    (r"(?:instead|short) of", "instead short"),
    (r"(?:rather|other) than", "rather other"),
    (r"far from", "far"),
    (r"anything but", "anything"),
    (r"as though", "though"),
    (r"so called", "called"),
    (r"(?<!\ba )(?:few|little)", "few little"),
    (
        r"(?:advise|advises|advised|advice|decide|decides|decided|recommend|recommends|recommended|argue|argues|argued"
        r"|vote|voted|warn|warns|warned) against",
        "against",
    ),
)
"""What hedges as two words together, or with a look at the word before; and the words by which a line is known to need
that look."""

_ALONE = frozenset(f"{_MAYBE} {_SELDOM} {_AGAINST}".split())
WIDE_WORDS: Final = frozenset(word for _, words in _TOGETHER for word in words.split())
"""Those that hedge together with another word only: "fail to", "in case"."""
HEDGING_WORDS: Final = _ALONE | WIDE_WORDS
"""Where none of these is a word of a text, and no `~`, `HEDGE` finds nothing."""
HEDGE: Final = re.compile(
    # The longest first: a pattern takes the first that fits.
    rf"\b(?:{'|'.join(form for form, _ in _TOGETHER)}|{'|'.join(sorted(_ALONE, key=lambda one: (-len(one), one)))})\b"
    r"|~(?=\d)",
    re.IGNORECASE,
)
