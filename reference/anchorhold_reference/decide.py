"""The decisions, as pure functions over small frozen values: may this be evicted, committed, released, answered.

Nothing here reads a store or a clock, so each can be held against the specification and against a symbolic executor.
Whoever calls them gathers the inputs inside the same transaction that acts on the result (ANC-3).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from anchorhold_reference.extract.slots import Spelling
from anchorhold_reference.extract.standing import stands_in
from anchorhold_spec.vocabulary import AnswerKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchors:
    """What still holds one assertion, apart from the original whose removal is asked for."""

    tombstoned: bool
    carried: bool
    """In the manifest of the live summary that stands for the asserting span."""
    leaving: bool
    """That summary is claimed by a compaction that is about to replace it (ANC-4)."""
    carried_on: bool
    """In the manifest of the summary that is about to replace it, too."""


def stays_anchored(anchors: Anchors) -> bool:
    """Whether the assertion is anchored or tombstoned without its original (ANC-1, ANC-4)."""
    if anchors.tombstoned:
        return True
    return anchors.carried and (anchors.carried_on if anchors.leaving else True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One span under a summary that asks to be committed."""

    pointed: bool
    """A durable pointer names it."""
    landed: bool
    """The bytes under the pointer were read back and have its digest."""
    removed: bool
    """Its original has left the cold store through the gate, earlier."""
    held: bool = False
    """The copy is outstanding, and the source itself is held until it has landed: the summary is `pending`."""


def provenance_holds(source: Source) -> bool:
    """Whether a summary over this span may commit (PTR-1; OUT-3: what the store says counts only if read back).

    An original that left through the gate is anchored by manifest, which `keeps` decides.
    """
    return source.removed or (source.pointed and (source.landed or source.held))


class EvidentialClass(StrEnum):
    """What kind of content a span has (S2)."""

    NARRATIVE = "narrative"
    STRUCTURED = "structured"
    """It says something verifiable: a path, a number, a negation, an identifier, …"""
    SIDE_EFFECTING = "side-effecting"
    """It calls a tool."""


def classify(kinds: frozenset[str], *, calls: bool) -> EvidentialClass:
    """The class of a span, from the kinds of facts found in it and whether it calls a tool; no label of whoever
    appended it is asked (EVI-4)."""
    if calls:
        return EvidentialClass.SIDE_EFFECTING
    return EvidentialClass.STRUCTURED if kinds else EvidentialClass.NARRATIVE


def may_reclaim(kind: EvidentialClass, *, pointed: bool, lasts: bool, omissions_named: bool) -> bool:
    """The evidence gate: whether a summary may take a span's place (EVI-1, EVI-2).

    `lasts`: the original can be retrieved until the horizon, with no lifetime that could end before (EVI-3). Age,
    size, recency and importance are not asked for, and so cannot matter (EVI-7).
    """
    return kind is EvidentialClass.NARRATIVE or (pointed and lasts and omissions_named)


def lasts_to_horizon(*, lifetime: float | None, horizon: float | None, gated: bool) -> bool:
    """Whether an original stays until the horizon (EVI-3); None: no lifetime, and a horizon at the session's end.

    A lifetime that only proposes, to a gate that knows the horizon (`gated`), cannot end anything before it.
    """
    if gated or lifetime is None:
        return True
    return horizon is not None and lifetime >= horizon


def may_expire(*, age: float, horizon: float | None) -> bool:
    """Whether a policy may propose an original of that age, in seconds, at all: only beyond the horizon (PTR-2)."""
    return horizon is not None and age >= horizon


def stopping(causes: tuple[str, ...], accepted: frozenset[str]) -> tuple[str, ...]:
    """Which causes of a degraded state stop lossy eviction: those that no caller has accepted on record (RET-3)."""
    return tuple(cause for cause in causes if cause not in accepted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One assertion of a carrier that is to be replaced."""

    carried: bool
    """In the manifest of the summary that asks to be committed."""
    original: bool
    """Its original is in the cold store under a pointer."""
    tombstoned: bool


def keeps(assertion: Assertion) -> bool:
    """Whether the assertion survives the replacement (MAN-1)."""
    return assertion.carried or assertion.original or assertion.tombstoned


def may_release(*, committed: bool, landed: bool) -> bool:
    """Whether a source may leave the place that it entered by (PTR-2)."""
    return committed and landed


def supports(*, attributed_to: str | None, speaker: str | None) -> bool:
    """Whether somebody's saying a fact supports a text that says the same fact (MAN-2).

    A text that puts words into somebody's mouth needs that speaker. A summary that names nobody (None) supplies none.
    """
    return attributed_to is None or attributed_to == speaker


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One assertion of a slot, for choosing among several."""

    order: int
    """Position in the transcript; later ones are greater."""
    value: str
    negated: bool


def current(statements: tuple[Statement, ...]) -> int | None:
    """Index of the statement that answers for a slot now; none where there is none.

    The newest wins. Where the newest only denies a value, the newest earlier statement that affirms another value
    still stands and says more; one that affirms the denied value has been taken back. So has one whose value stands
    among what is denied: "is not /srv/a any more" takes "is /srv/a" back.
    """
    if not statements:
        return None
    newest_first = sorted(range(len(statements)), key=lambda i: statements[i].order, reverse=True)
    denied: set[str] = set()
    for i in newest_first:
        statement = statements[i]
        if statement.negated:
            denied.add(statement.value)
        elif not any(stands_in(words, statement.value) >= 0 for words in denied):
            return i
    return newest_first[0]


def spelled_so(asked: str, found: Sequence[Spelling], known: Collection[Spelling]) -> tuple[int, ...]:
    """Which of the statements found under one name, case levelled, may answer for `asked`, by index (REC-1).

    Those of exactly that spelling, alone. Where there is none, all of them if they can be meant to have one spelling;
    else none, since what differs in case may be another thing. `known` are all the spellings in which anything was
    asserted under that name, `found` among them.
    """
    sure = {one.text for one in known if one.text == one.plain}
    exact = tuple(i for i, one in enumerate(found) if asked in _readings(one, sure))
    if exact:
        return exact
    one_and_the_same = frozenset.intersection(*(_readings(one, sure) for one in {*known, *found}))
    return tuple(range(len(found))) if one_and_the_same else ()


def _readings(one: Spelling, sure: Collection[str]) -> frozenset[str]:
    """What a spelling may be meant to be: with its capital or without, unless only one of the two is written where
    no capital is owed to the place."""
    both = frozenset(one)
    written = both.intersection(sure)
    return written if len(written) == 1 else both


class Holding(StrEnum):
    """Where the original of an issued pointer is."""

    STAGED = "staged"
    """A compaction under way has written it and not committed."""
    COMMITTED = "committed"
    GONE = "gone"
    """It left the cold store through the gate, on request."""
    EXPIRED = "expired"
    """It left the cold store through the gate, on a policy's proposal."""
    ERASED = "erased"
    """It was forgotten (ERA-1)."""


class Copy(StrEnum):
    """What has become of the copy that a pointer names (PTR-5)."""

    OUTSTANDING = "outstanding"
    LANDED = "landed"
    UNRESOLVABLE = "unresolvable"
    """It could not be made: the source was damaged before."""


def resolution(holding: Holding | None, copy: Copy = Copy.LANDED) -> AnswerKind | None:
    """What resolving a pointer answers; `holding` none: this session never issued it.

    The original is returned only where the compaction that pointed at it has committed (PTR-6), its copy has landed
    (PTR-5) and it is still there. None where it left on request: then what was dropped and what is carried decide.
    """
    if holding is None:
        return AnswerKind.FOREIGN
    if holding is Holding.STAGED:
        return AnswerKind.PENDING
    if holding is Holding.ERASED:
        return AnswerKind.TOMBSTONED
    if holding is Holding.EXPIRED:
        return AnswerKind.EXPIRED
    if holding is Holding.GONE:
        return None
    if copy is Copy.OUTSTANDING:
        return AnswerKind.PENDING
    return AnswerKind.FOUND if copy is Copy.LANDED else AnswerKind.DEGRADED


class Candidate(NamedTuple):
    """A live carrier, as selection sees it. A tuple, because one is made of each carrier in the window."""

    size: int
    summary: bool
    bound: bool
    """Must stay verbatim: protected, the latest unanswered request, or without a manifest (STR-4, MAN-3)."""
    group: int
    """Carriers of one group are replaced together or not at all: a call and its results (STR-1)."""


def select(candidates: tuple[Candidate, ...], *, keep: int, high_water: int | None, reserve: int) -> tuple[int, ...]:
    """Which carriers the next compaction replaces, by index, in order; empty where none may be.

    Everything but the newest `keep` goes, so that one pass reaches as far as it may. Fewer are kept, down to one,
    where they alone would fill the window next to a summary of `reserve` tokens. A group that a bound or kept
    carrier belongs to stays whole. A summary by itself is no progress.
    """
    for kept in range(min(keep, len(candidates)), 0, -1):
        cut = len(candidates) - kept
        stay = {c.group for i, c in enumerate(candidates) if c.bound or (i >= cut and not c.summary)}
        chosen = tuple(i for i, c in enumerate(candidates) if c.group not in stay)
        leaving = set(chosen)
        size = sum(candidates[i].size for i in range(len(candidates)) if i not in leaving)
        if high_water is None or size + reserve <= high_water or kept == 1:
            return chosen if any(not candidates[i].summary for i in chosen) else ()
    return ()


RANK_CONSTANT = 60
"""How much the first ranks of a list count over the later ones when lists are fused; the customary value."""


def fuse(rankings: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """One ranking out of several, by reciprocal ranks: what stands high in any list comes first, what stands in
    several still earlier. Of equals the later span, which is the newer one, comes first."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, span in enumerate(ranking):
            scores[span] = scores.get(span, 0.0) + 1 / (RANK_CONSTANT + rank + 1)
    return tuple(sorted(scores, key=lambda span: (scores[span], span), reverse=True))
