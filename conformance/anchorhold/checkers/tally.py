"""How a checker keeps count while it reads."""

from dataclasses import dataclass, field

from anchorhold.verdict import Failure, Judgement


@dataclass(slots=True)
class Tally:
    """Triggers and failures of one rule in one history; of each fact or turn the first failure is kept."""

    rule: str
    triggered: int = 0
    failures: dict[str, Failure] = field(default_factory=dict)
    notes: set[str] = field(default_factory=set)

    def trigger(self, times: int = 1) -> None:
        """The situation that the rule speaks of occurred."""
        self.triggered += times

    def fail(self, sentence: str, *, fact: str, event: int) -> None:
        """The rule was broken for this fact or turn."""
        self.failures.setdefault(fact, Failure(rule=self.rule, sentence=sentence, fact=fact, event=event))

    def note(self, text: str) -> None:
        """Something could not be looked at."""
        self.notes.add(text)

    def judgement(self) -> Judgement:
        """What it comes to."""
        return Judgement(
            rule=self.rule,
            triggered=max(self.triggered, len(self.failures)),
            failures=tuple(sorted(self.failures.values(), key=lambda failure: failure.event)),
            note="; ".join(sorted(self.notes)) or None,
        )
