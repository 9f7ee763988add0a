"""Of which spans nobody may ask any more: their horizon is over, or a caller has withdrawn them."""

from dataclasses import dataclass, field

from anchorhold_spec.machines.alphabet import Occurrence


@dataclass
class Withdrawn:
    """Spans that were forgotten, rewound or cleared. A rewind takes all later ones with it."""

    spans: list[str] = field(default_factory=list)
    """In the order in which they were appended."""
    gone: set[str] = field(default_factory=set)

    def note(self, seen: Occurrence) -> tuple[str, ...]:
        """Reads one event; the spans that it withdraws."""
        match seen:
            case Occurrence(event="append", span=str(span)) if span not in self.spans:
                self.spans.append(span)
                return ()
            case Occurrence(event="forget", span=str(span)):
                hit = [span]
            case Occurrence(event="rewind", span=str(span)) if span in self.spans:
                hit = self.spans[self.spans.index(span) :]
            case Occurrence(event="clear"):
                hit = list(self.spans)
            case _:
                return ()
        now = tuple(each for each in hit if each not in self.gone)
        self.gone.update(now)
        return now

    def __contains__(self, span: object) -> bool:
        return span in self.gone


@dataclass
class Over(Withdrawn):
    """Also those whose lifetime has ended."""

    def note(self, seen: Occurrence) -> tuple[str, ...]:
        """Reads one event; the spans that nobody may ask for from now on."""
        if seen.event == "expire" and seen.span is not None and seen.span not in self.gone:
            self.gone.add(seen.span)
            return (seen.span,)
        return super().note(seen)
