"""The fixed set of queries with known answers: drawn once, by a seed, from what was replaced before the first pass,
and asked in every pass from then on."""

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anchorhold_reference.extract import facts_of, stands_in
from anchorhold_reference.extract.facts import UnreadableError
from anchorhold_reference.index import words_of
from anchorhold_spec.vocabulary import Turn

CODES = frozenset({"identifier", "path"})
"""Facts that are asked for by their text: each is one thing, and there is one right answer."""
WORDS = 8
"""Of a query in words."""
SEED = 7
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A text to look up, and the turn that says it; None: nobody does."""

    text: str
    turn: str | None
    words: bool = False
    """Words of the turn, in another order: the turn that they fit best is asked for, not one that says them in a
    row."""


def said_in(turn: Turn) -> str:
    """What a turn says, with its calls as they are shown."""
    return "\n".join([*([] if turn.text is None else [turn.text]), *(f"{c.name}({c.arguments})" for c in turn.calls)])


def choose_queries(turns: Sequence[Turn], early: Sequence[str], *, count: int) -> list[Query]:
    """Texts that exactly one of the early turns says and no other turn at all; as many sets of words of which only
    one turn has all; and as many again as a tenth of them that nobody says, each made of one of the first by changing
    its last letter or digit. `early` are the ids of the turns to draw from; `count` is how many of each there may
    be."""
    texts = {turn.id: said_in(turn) for turn in turns}
    by_id = {turn.id: turn for turn in turns}
    drawn = random.Random(SEED)  # noqa: S311 - a fixed draw, not a secret
    order = sorted(early)
    drawn.shuffle(order)
    literal = _literals([by_id[one] for one in order], texts, drawn, count=count)
    drawn.shuffle(order)
    in_words = _in_words(order, texts, drawn, count=count)
    never: list[Query] = []
    for query in literal[: 2 * max(count // 10, 1)]:
        changed = query.text[:-1] + ("q" if query.text[-1] != "q" else "7")
        if len(never) < max(count // 10, 1) and not any(changed in text for text in texts.values()):
            never.append(Query(text=changed, turn=None))
    return [*literal, *in_words, *never]


def _literals(order: Sequence[Turn], texts: Mapping[str, str], drawn: random.Random, *, count: int) -> list[Query]:
    """Codes that one turn alone says."""
    wanted: list[tuple[str, str]] = []
    for turn in order:
        if len(wanted) >= 100 * count:
            break
        try:
            facts = [fact for fact in facts_of(turn) if fact.kind in CODES and 5 <= len(fact.literal) <= 120]
        except UnreadableError:
            continue
        drawn.shuffle(facts)
        wanted += [(turn.id, one.literal) for one in facts[:3] if stands_in(texts[turn.id], one.literal) >= 0]
    # Only turns that have a literal's longest word can say it: so the texts are gone through once.
    holders: dict[str, list[str]] = {max(words_of(text), key=len, default=""): [] for _, text in wanted}
    for turn_id, text in texts.items():
        for word in holders.keys() & words_of(text):
            holders[word].append(turn_id)
    found: dict[str, Query] = {}
    for turn_id, text in wanted:
        others = [one for one in holders[max(words_of(text), key=len, default="")] if one != turn_id]
        if turn_id not in found and not any(text in texts[one] for one in others):
            found[turn_id] = Query(text=text, turn=turn_id)
    return list(found.values())[:count]


def _in_words(order: Sequence[str], texts: Mapping[str, str], drawn: random.Random, *, count: int) -> list[Query]:
    """Words of a turn, shuffled, that no other turn has all of, so that its answer is known."""
    sets = {turn: frozenset(_WORD.findall(text.casefold())) for turn, text in texts.items()}
    common = Counter(word for words in sets.values() for word in words)
    holders: dict[str, set[str]] = {}
    wanted: list[tuple[str, list[str]]] = []
    for turn in order:
        # Words that are everywhere say nothing of a turn.
        known = sorted(word for word in sets[turn] if common[word] <= max(len(texts) // 20, 2))
        if len(known) >= WORDS:
            wanted.append((turn, drawn.sample(known, WORDS)))
        if len(wanted) >= 2 * count:
            break
    asked = {word for _, words in wanted for word in words}
    for turn, words in sets.items():
        for word in words & asked:
            holders.setdefault(word, set()).add(turn)
    return [
        Query(text=" ".join(words), turn=turn, words=True)
        for turn, words in wanted
        if set.intersection(*(holders[word] for word in words)) == {turn}
    ][:count]
