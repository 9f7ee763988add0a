"""Statements whose value is not all of them: a bound, a denial, a doubt, a condition. Whoever keeps the value and
loses the rest says something that nobody said (MAN-5).

They have the forms of `anchorhold.planting`, so that what stands between "is" and the full stop is the value; but for
the plain sentences, which deny something of their subject and have no slot that could be asked for.
"""

import re
from collections.abc import Iterable

from anchorhold.planting import Planter, statement
from anchorhold_spec.vocabulary import Fact

BOUNDS = (
    "at most {}",
    "at least {}",
    "up to {}",
    "no more than {}",
    "no less than {}",
    "less than {}",
    "more than {}",
    "about {}",
    "roughly {}",
    "{} at most",
    "{} or less",
    "{} or more",
)
"""Of a number."""
DENIALS = ("never {}", "no longer {}", "not yet {}", "not {}")
DOUBTS = ("perhaps {}", "possibly {}", "apparently {}", "presumably {}", "probably {}", "likely {}")
CONDITIONS = (
    "{} unless the canary fails",
    "{} only if the lead agrees",
    "{} except during the sweep",
    "{} as long as the pool is blue",
    "{} until the probe is fixed",
    "{} only while on call",
)
PLAIN = (
    "{} can't reach {}.",
    "{} doesn't write to {}.",
    "{} won't be moved to {}.",
    "{} isn't allowed to read {}.",
    "{} never mounts {}.",
    "{} cannot see {}.",
    "{} no longer needs {}.",
    "{} must not be given {}.",
    "{} is not among the readers of {}.",
)
"""Of a name and a path: denied in the sentence, and in no slot."""
_SHAPES = tuple(
    re.compile("(.+)".join(map(re.escape, form.split("{}"))))
    for form in (*BOUNDS, *DENIALS[:3], *DOUBTS, *CONDITIONS)
)


def slots(planter: Planter, forms: Iterable[str], *, kind: str) -> tuple[Fact, ...]:
    """A statement about a slot of its own in each of these forms, around values of a kind (`anchorhold.planting`)."""
    return tuple(around(planter.fact(kind), form, number % 2) for number, form in enumerate(forms))


def around(fact: Fact, form: str, wording: int = 0) -> Fact:
    """The statement that a slot has a value of a form around the one of another statement of it."""
    return statement(
        "number" if form in BOUNDS else fact.kind,
        subject=fact.subject or "",
        attribute=fact.attribute or "",
        value=form.format(fact.literal),
        form=wording,
    )


def sentences(planter: Planter) -> tuple[Fact, ...]:
    """A plain sentence of each form."""
    return tuple(_sentence(form, planter.fact("path")) for form in PLAIN)


def _sentence(form: str, fact: Fact) -> Fact:
    text = form.format(fact.subject, fact.literal)
    return Fact(text=text, literal=fact.literal, kind="path", subject=fact.subject)


def bare(text: str, literal: str) -> str:
    """A statement with nothing but the value of its literal: without bound, doubt, condition or "never"."""
    for shape in _SHAPES:
        match = shape.fullmatch(literal)
        if match is not None:
            return text.replace(literal, match[1])
    return text
