"""Which steps of each machine can be seen from outside a compactor, and which cannot. Published in spec/README.md.

An action that is named nowhere here is shown by an event. The others are of two kinds. Some have to have come before
something that is seen, so that the projection takes them first. Of the rest nothing outside shows anything, so that
no history is ever blamed for them, and what only they can break is left to `prove` and `explore`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, kw_only=True)
class Sight:
    """Of one machine. Both by action."""

    implied: Mapping[str, str]
    """Taken when this is seen."""
    unseen: Mapping[str, str]
    """Never taken: why not."""


_POLICY = "what a policy has in mind shows only when something goes"
_GONE = "who deleted an original, and why, is not seen; that it is gone is looked for instead"

SIGHT: Mapping[str, Sight] = MappingProxyType(
    {
        "anchored-release": Sight(
            implied={
                "begin copy": "the pointer to the copy",
                "land": "the pointer to the copy",
                "take a span": "the commit",
                "take a summary": "the commit",
                "carry": "the commit of a summary that repeats it",
                "propose a source": "that the source has gone",
                "propose a summary": "that the summary has gone",
                "mark": "that what lay under a key was deleted",
            },
            unseen={},
        ),
        "anchoring": Sight(
            implied={
                "say": "the span that says it",
                "read": "the span: that its manifest can be computed is taken for granted",
                "claim": "an assertion that is asked for in vain",
                "reap": "an assertion that is asked for in vain",
                "decide": "the tombstone, or the caller's demand to forget",
            },
            unseen={"supersede": "what a tombstone names instead is no part of its event"},
        ),
        "asynchronous-copy": Sight(
            implied={
                "read source": "the copy that has landed",
                "reconcile": "the copy that has landed",
                "recover": "a copy that lands although a crash has emptied the queue",
            },
            unseen={
                "give up": "no answer tells a copy that never comes from one that is late",
                "look": _POLICY,
                "release": "the source that is held for the copy lies where nobody outside can look",
                "damage": "the source that is held for the copy lies where nobody outside can look",
            },
        ),
        "concurrency": Sight(implied={}, unseen={}),
        "erasure": Sight(
            implied={
                "draft": "the commit",
                "carry": "the commit of a summary that repeats it",
                "sweep": "that the forget was acknowledged",
                "finish": "that the forget was acknowledged",
            },
            unseen={"abandon": "a draft is in the compactor's memory"},
        ),
        "evidence": Sight(
            implied={
                "keep": "the copy, until something shows that it does not last",
                "make durable": "the pointer",
                "name omissions": "the commit, unless it was seen that they are not named",
                "clear": "that a span is reclaimed",
            },
            unseen={
                "retain": "that a span stays shows; that it was turned down, and when, does not",
                "doom": _POLICY,
                "delete": _GONE,
                "lifetime ends": _GONE,
            },
        ),
        "generations": Sight(implied={"settle": "the commit"}, unseen={}),
        "index": Sight(
            implied={
                "audit": "a span that leaves after others have: audits are taken to be made in time",
                "damage": "a compactor that says itself that an entry is missing",
            },
            unseen={
                "re-key": "which key an entry has is the compactor's affair",
                "accept loss": "an override has no event",
                "expire": _GONE,
            },
        ),
        "pointer-before-commit": Sight(
            implied={
                "mark": "that what lay under a key was deleted",
                "clean up": "that what the pointer of an interrupted attempt led to was deleted",
            },
            unseen={},
        ),
        "progress": Sight(
            implied={
                "take": "the commit",
                "write": "the commit",
                "restart": "a crash, after which work has gone on",
            },
            unseen={
                "report": "whether a span can be read is known to the compactor alone",
                "undo": "who works on what is on no record outside",
                "finish": "who works on what is on no record outside",
                "store fails": "whether a store takes commits shows only in outcomes, which the checkers judge",
                "mend": "whether a store takes commits shows only in outcomes, which the checkers judge",
            },
        ),
        "reconstitution": Sight(
            implied={
                "ask": "an answer",
                "see": "an answer with content",
                "find nothing held": "an answer without content",
                "find nothing pending": "an answer that comes after `pending`",
                "find nothing tombstoned": "an answer that comes after `tombstoned`",
                "find nothing expired": "an answer that comes after `expired`",
                "put off": "an answer without content, where a copy was declared outstanding",
                "evict": "an answer without content about what was dropped",
                "expire": "the answer `expired`, about what nobody has seen since it left the window",
                "lose": "an answer without content, about what nobody has seen since it left the window",
            },
            unseen={},
        ),
        "release-race": Sight(implied={"release": "that the span leaves the window"}, unseen={}),
        "write-order": Sight(
            implied={"look": "that the span leaves the window", "reap": "that the span leaves the window"}, unseen={}
        ),
    }
)
"""By machine."""

UNREAD: Mapping[str, str] = MappingProxyType(
    {
        "`reconstitute` with `found` and neither `answer` nor `asserts`": (
            "what had to come back was not seen; that nothing comes back of what was to be forgotten is looked at"
        ),
        "`reconstitute` without `found`, `answer` and `asserts`": "nothing was seen of how it ended",
        "`resolve` without content: which `answer`, but for `pending`": (
            "these machines know of a pointer that it leads there, or not; the answers to questions are told apart"
        ),
        "`epoch`, to other machines than `pointer-before-commit`": "to them each copy lies under a key of its own",
        "`propose`, `release`, `recover`": "what they lead to shows",
    }
)
"""Of the events and of what they tell: what no machine reads, or only one, and why. No history is blamed for it."""
