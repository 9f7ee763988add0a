"""ISO: nothing of another session, nor of a branch outside one's own lineage."""

import math
from collections.abc import Iterable

from anchorhold.checkers.provenance import shown_to
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import CONTENT, Observation, Said
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content, holds, stands, words
from anchorhold.compactor import Mechanism


def _foreign(reading: Reading, session: str, text: str) -> str | None:
    """A turn of another session whose words stand in a text, unless a turn of this one says the same."""
    there = reading.contained(text)
    own = [reading.said[i] for i in there if reading.belongs(i, session)]
    same = {said.forms for said in own}
    foreign = (i for i in reading.said if i in there and not reading.belongs(i, session))
    for turn in (i for i in foreign if reading.said[i].forms not in same):
        # A turn of its own may say it as a part of what it says.
        if not any(turn in reading.contained(words(said.turn)) for said in own):
            return turn
    return None


def _said_elsewhere(reading: Reading, session: str, text: str) -> str | None:
    """A turn of another session whose fact a text states, unless this session asserts the same."""
    own = {a.fact.literal for a in reading.assertions if reading.belongs(a.turn, session)}
    for assertion in reading.assertions:
        if (
            not reading.belongs(assertion.turn, session)
            and assertion.fact.literal not in own
            and stands(assertion.fact.literal, text)
        ):
            return assertion.turn
    return None


def _root(reading: Reading, session: str) -> str:
    """The session of which a lane is a branch, or a branch of a branch."""
    while session in reading.forks:
        session = reading.forks[session].parent
    return session


def _first(said: Iterable[Said]) -> float:
    """The event at which the first of these turns was said; never, where there is none."""
    return min((one.at for one in said), default=math.inf)


def iso_1(reading: Reading, tally: Tally) -> None:
    """Whatever is shown, found, pointed at or summarised in one session, while another exists.

    To have seen branches alone says nothing of sessions: what is looked at counts where there is another session.
    """
    foreign: dict[str, tuple[float, float]] = {}
    for observation in reading.observations:
        session = observation.session
        if session not in foreign:
            outside = [s for i, s in reading.said.items() if not reading.belongs(i, session)]
            others = [s for s in outside if _root(reading, s.session) != _root(reading, session)]
            foreign[session] = _first(outside), _first(others)
        something, another = foreign[session]
        if observation.start <= something:
            continue
        for where, text in _seen(observation):
            tally.trigger(int(observation.start > another))
            turn = _foreign(reading, session, text) or _said_elsewhere(reading, session, text)
            if turn is not None:
                tally.fail(
                    f"In session {session}, {where} holds the words of {reading.quote(turn)}, which was said in "
                    f"session {reading.said[turn].session}.",
                    fact=turn,
                    event=observation.end,
                )
        _declared(reading, tally, observation)
    _summarised(reading, tally)


def _declared(reading: Reading, tally: Tally, observation: Observation) -> None:
    """What summaries and pointers say that they stand for. Only by the suite's own ids, of which no two turns have
    one: a compactor's own may begin anew in each session."""
    told = [(f"item {item.id} of the window", item.covers) for item in observation.items]
    told += [(f"pointer {pointer.token}", pointer.covers) for pointer in observation.pointers or ()]
    for where, covers in told:
        for turn in covers or ():
            if (
                turn in reading.said
                and reading.aliases.get(turn, turn) == turn
                and not reading.belongs(turn, observation.session)
            ):
                tally.fail(
                    f"In session {observation.session}, {where} stands for {reading.quote(turn)}, which was said in "
                    f"session {reading.said[turn].session}.",
                    fact=turn,
                    event=observation.end,
                )


def _seen(observation: Observation) -> list[tuple[str, str]]:
    """Every text that the compactor handed out, and where."""
    seen = [(f"item {item.id} of the window", content(item)) for item in observation.items]
    seen += [
        (f"what pointer {token} resolves to", content(answer))
        for token, answer in observation.answers.items()
        if answer.kind in CONTENT
    ]
    seen += [
        (f"the answer to a {q.operation.op}", f"{content(q.answer)}\n{q.answer.value or ''}")
        for q in observation.questions
        if q.answer.kind in CONTENT
    ]
    seen += [
        (f"the manifest of {carrier}", "\n".join(entry.literal for entry in entries))
        for carrier, entries in observation.manifests.items()
    ]
    return seen


def _summarised(reading: Reading, tally: Tally) -> None:
    for stretch in reading.stretches:
        session = stretch.after.session
        for call in stretch.calls:
            shown = shown_to(call)
            for turn, said in reading.said.items():
                if said.at < call.start and not reading.belongs(turn, session) and holds(shown, said.forms):
                    own = (s for i, s in reading.said.items() if reading.belongs(i, session))
                    if any(s.forms == said.forms for s in own):
                        continue
                    tally.fail(
                        f"In session {session} the summariser was shown {reading.quote(turn)}, which was said in "
                        f"session {said.session}.",
                        fact=turn,
                        event=call.end,
                    )


CHECKERS = (RuleChecker(rule="ISO-1", minimum=5, mechanisms=(Mechanism.SESSIONS,), examine=iso_1),)
