"""PRO-4: what stands for a session does not grow with the number of times that it was compacted."""

from anchorhold.checkers.provenance import reply_of
from anchorhold.checkers.reading import Reading
from anchorhold.checkers.record import Observation, Stretch
from anchorhold.checkers.rule import RuleChecker
from anchorhold.checkers.tally import Tally
from anchorhold.checkers.words import content
from anchorhold.size import high_water
from anchorhold_spec.vocabulary import Item

EARLY = 3
"""Generations in which a summary may find its size."""
RUN = 3
"""Generations in a row that have to grow for it to be growth."""
FRAME = 600
"""Characters beside what the model wrote and what has to be carried that every summary may have."""
COPIES = 2
"""How often one entry may stand in a manifest."""


def _owed(reading: Reading, observation: Observation) -> int:
    """Characters of what was said and is not in the window: what a summary may have to carry word for word."""
    out = [said for said in reading.present(observation) if said.turn.id not in observation.raw]
    facts = sum(len(fact.text) for said in out for fact in said.facts)
    return facts + sum(len(call.arguments) + len(call.name) for said in out for call in said.turn.calls)


def _measured(reading: Reading, stretch: Stretch) -> tuple[Item, ...]:
    """The summaries that a generation is held to."""
    return stretch.new_summaries if high_water(reading.header.settings) is not None else stretch.after.summaries


def _excess(reading: Reading, stretch: Stretch) -> int:
    """Characters of the summaries beyond what the model wrote just now, and beyond twice what has to be carried.

    Of those that were just written, where the window has a watermark: earlier ones that stand beside them as they
    were are no generation's growth, and how many there may be is said by the watermark (PRO-1). Else of all.
    """
    size = sum(len(content(item)) for item in _measured(reading, stretch))
    written = sum(len(reply_of(call)) for call in stretch.calls if call.ok)
    return size - written - 2 * _owed(reading, stretch.after)


def pro_4(reading: Reading, tally: Tally) -> None:
    """Each generation from the third on: its summary, and the manifest of it."""
    for lane in reading.lanes:
        sizes: list[int] = []
        for stretch in lane:
            if not stretch.new_summaries:
                continue
            sizes.append(_excess(reading, stretch))
            if len(sizes) < EARLY:
                continue
            tally.trigger()
            last = sizes[-RUN - 1 :]
            if len(last) > RUN and sorted(set(last)) == last and last[-1] > FRAME:
                many = len(_measured(reading, stretch))
                what = f"{many} summaries have" if many > 1 else "the summary has"
                tally.fail(
                    f"In {len(sizes)} generations {what} come to hold {last[-1]} characters beyond what the model "
                    f"wrote and what has to be carried, {last[-1] - last[-2]} more than in the one before.",
                    fact="the summary",
                    event=stretch.after.end,
                )
    _manifests(reading, tally)


def _manifests(reading: Reading, tally: Tally) -> None:
    for observation in reading.observations:
        for carrier, entries in observation.manifests.items():
            distinct = {(e.literal, e.source, e.subject, e.attribute, e.kind) for e in entries}
            if distinct and len(entries) > COPIES * len(distinct):
                tally.trigger()
                tally.fail(
                    f"The manifest of {carrier} has {len(entries)} entries, of which {len(distinct)} are not "
                    "repetitions of others.",
                    fact=carrier,
                    event=observation.end,
                )


CHECKERS = (RuleChecker(rule="PRO-4", minimum=3, mechanisms=(), examine=pro_4),)
