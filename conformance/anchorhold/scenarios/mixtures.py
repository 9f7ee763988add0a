"""Seeded mixtures of every step: what nobody thought of writing a scenario for."""

import random

from anchorhold.planting import ARGUMENT
from anchorhold.scenarios.plan import Plan, Scenario
from anchorhold.summariser import MODES
from anchorhold.workload import (
    AnyStep,
    Append,
    Ask,
    Compact,
    CrashAt,
    DropFact,
    Evict,
    Expire,
    Fill,
    Reopen,
    Summariser,
)

CHOICES: tuple[tuple[str, int], ...] = (
    ("fill", 10),
    ("say", 6),
    ("compact", 10),
    ("summariser", 6),
    ("evict", 7),
    ("drop", 2),
    ("ask", 4),
    ("never", 2),
    ("reopen", 2),
    ("crash", 2),
    ("expire", 1),
)
"""What a mixture is made of, and how often."""
ANSWERS = tuple(mode for mode in MODES if mode not in ("misattribute", "filtered", "tool-call"))
"""How a summariser may answer in one. The others have scenarios of their own, and a seed stands for what it stood
for."""
LENGTH = 28


def mixture(number: int, seed: int | str) -> Scenario:
    """The mixture with this number."""

    def build(plan: Plan) -> tuple[AnyStep, ...]:
        return tuple(_steps(plan, random.Random(f"anchorhold:mixture:{seed}:{number}")))  # noqa: S311 - replayable

    return Scenario(name=f"mixture-{number}", aims=(), build=build)


def _steps(plan: Plan, rng: random.Random) -> list[AnyStep]:
    steps: list[AnyStep] = []
    said: list[Append] = []
    names, weights = zip(*CHOICES, strict=True)
    for _ in range(LENGTH):
        choice = rng.choices(names, weights)[0]
        telling = [append for append in said if append.facts]
        match choice:
            case "fill":
                fill: Fill = plan.fill(*plan.facts(rng.randrange(3)))
                said.extend(fill.turns[: plan.expected])
                steps.append(fill)
            case "say":
                known = [fact for append in telling for fact in append.facts if fact.kind != ARGUMENT]
                fact = rng.choice(known) if known and rng.random() < 0.5 else plan.planter.fact()
                anew = rng.random() < 0.3 and fact.subject is not None
                append = plan.planter.say(plan.planter.again(fact) if anew else fact)
                said.append(append)
                steps.append(append)
            case "compact":
                steps.append(Compact(until_idle=rng.randint(1, 3)))
            case "summariser":
                mode = rng.choice(("faithful", "drop", "paraphrase", rng.choice(ANSWERS)))
                steps.append(Summariser(mode=mode, times=rng.choice((None, 1, 2))))
            case "evict" if said:
                steps.append(Evict(turn=rng.choice(said).turn.id))
            case "drop" if telling:
                append = rng.choice(telling)
                reason = "no longer needed"
                steps.append(DropFact(fact=rng.choice(append.facts), turn=append.turn.id, reason=reason))
            case "ask" if telling:
                fact = rng.choice(rng.choice(telling).facts)
                steps.append(Ask(fact=fact, evidence=rng.random() < 0.5))
            case "never":
                slots = [fact for append in telling for fact in append.facts if fact.subject is not None]
                near = rng.choice(slots) if slots else plan.planter.fact()
                steps.append(Ask(fact=plan.planter.sibling(near)))
            case "reopen":
                steps.append(Reopen())
            case "crash":
                steps.append(CrashAt(point=rng.randrange(16)))
            case "expire":
                steps.append(Expire(seconds=rng.choice((60.0, 86_400.0, 3.2e7))))
            case _:
                pass
    return steps
