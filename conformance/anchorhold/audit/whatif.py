"""What if another compactor had stood there: the replaced turns go through it, and its model answers with the
recorded summary. What the agent then needed is looked up in its window and by its own search."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from anchorhold.audit.cases import Case, in_vocabulary
from anchorhold.audit.facts import Lines, Table
from anchorhold.audit.model import Turn
from anchorhold.audit.result import Replay
from anchorhold.compactor import OperationError, Reply, Settings, Shown
from anchorhold.load import Loaded
from anchorhold_reference.extract import stands_in
from anchorhold_spec.vocabulary import AnswerKind, OutcomeKind

FEWEST_TOKENS = 2_000
MOST_ROUNDS = 8
MOST_ASKED = 200
"""Lost facts of one compaction that are asked for, besides all that were needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One compaction, as it went and as it would have gone."""

    session: str
    record: int
    outcome: str
    """How the compactor's last compaction ended."""
    needed: int
    needed_kept: int
    """Of what was needed: in the window, or found by the compactor's own search."""
    not_carried: int
    """Paths and identifiers that the recorded summary does not carry."""
    asked: int
    """Of these, as many as were asked for: at most `MOST_ASKED`."""
    asked_kept: int
    window_recorded: int
    """Tokens of the recorded summary, with the turns that stayed."""
    window: int
    """Tokens of the compactor's window afterwards."""


def replay(case: Case, loaded: Loaded) -> Replayed:
    """Replay one compaction. Raises `AdapterError` where the compactor cannot be driven."""
    turns = [turn for each in _seen(case) for turn in in_vocabulary(each)]
    summary = case.compaction.summary.strip()
    size = max(FEWEST_TOKENS, case.finding.replaced_tokens)
    compactor = loaded.make()
    try:
        compactor.open(
            Settings(session="replay", budget=size, watermark=0.7), lambda shown: _recorded(shown, summary)
        )
        seen: set[str] = set()
        for turn in turns:
            if turn.id not in seen:
                seen.add(turn.id)
                compactor.append(turn)
        outcome = "nothing-to-do"
        for _ in range(MOST_ROUNDS):
            try:
                ended = compactor.compact()
            except OperationError as error:
                outcome = f"failed: {error}"
                break
            if ended.kind is not OutcomeKind.COMMITTED:
                outcome = outcome if outcome == OutcomeKind.COMMITTED.value else ended.kind.value
                break
            outcome = ended.kind.value
        window = [item.text or "" for item in compactor.live()]
        sight = "\n".join(window)
        can_search = "search" in compactor.describe().operations

        def has(literal: str) -> bool:
            if stands_in(sight, literal) >= 0:
                return True
            if not can_search:
                return False
            try:
                return compactor.search(literal).kind is AnswerKind.FOUND
            except OperationError:
                return False

        needed = [e.literal for e in case.finding.examples if e.what == "needed"]
        gone = _dropped(case)
        # Evenly over the turns: each of them costs a search.
        asked = gone[:: max(1, -(-len(gone) // MOST_ASKED))]
        return Replayed(
            session=case.compaction.session,
            record=case.compaction.record,
            outcome=outcome,
            needed=len(needed),
            needed_kept=sum(map(has, needed)),
            not_carried=len(gone),
            asked=len(asked),
            asked_kept=sum(map(has, asked)),
            window_recorded=case.finding.summary_tokens,
            window=sum(-(-len(text) // 4) for text in window),
        )
    finally:
        compactor.close()


def _recorded(shown: Shown, summary: str) -> Reply:
    del shown
    return Reply(text=summary)


def _seen(case: Case) -> list[Turn]:
    """What the compaction replaced: the turns, and the summary that stood before them."""
    return [*([case.before] if case.before is not None else []), *case.replaced]


def _dropped(case: Case) -> list[str]:
    """Paths and identifiers that the summary does not carry, in the order of the turns."""
    table = Table(Lines())
    for index, turn in enumerate(_seen(case)):
        table.add(index, turn, files={})
    return [
        fact.literal
        for fact in table.facts.values()
        if fact.kind in {"path", "identifier"} and stands_in(case.compaction.summary, fact.literal) < 0
    ]


def totalled(done: Sequence[Replayed], compactor: str) -> Replay:
    """All replays together."""
    return Replay(
        compactor=compactor,
        compactions=len(done),
        needed=sum(each.needed for each in done),
        needed_kept=sum(each.needed_kept for each in done),
        not_carried=sum(each.not_carried for each in done),
        asked=sum(each.asked for each in done),
        asked_at_most=MOST_ASKED,
        asked_kept=sum(each.asked_kept for each in done),
        window_recorded=sum(each.window_recorded for each in done),
        window=sum(each.window for each in done),
        outcomes=dict(Counter(each.outcome for each in done).most_common()),
    )


def replay_all(cases: Iterable[Case], loaded: Loaded) -> list[Replayed]:
    """Replay each compaction on a store of its own."""
    return [replay(case, loaded) for case in cases]
