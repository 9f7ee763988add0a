"""Wrong decisions, each by one change of the text of `decide`."""

import inspect
import sys
from dataclasses import dataclass
from types import ModuleType

from anchorhold_reference import decide


@dataclass(frozen=True)
class Mutant:
    """One change, and the contract that it has to break."""

    contract: str
    before: str
    after: str


MUTANTS = {
    "ANC-1: a tombstone counts for nothing": Mutant(
        "eviction_agrees",
        "if anchors.tombstoned:\n        return True",
        "if anchors.tombstoned:\n        return False",
    ),
    "ANC-4: what is leaving counts as staying": Mutant(
        "eviction_agrees",
        "return anchors.carried and (anchors.carried_on if anchors.leaving else True)",
        "return anchors.carried",
    ),
    "ANC-1: nothing needs to be carried": Mutant(
        "eviction_agrees",
        "return anchors.carried and (anchors.carried_on if anchors.leaving else True)",
        "return anchors.carried_on if anchors.leaving else True",
    ),
    "MAN-1: an original is not enough": Mutant(
        "replacement_agrees",
        "return assertion.carried or assertion.original or assertion.tombstoned",
        "return assertion.carried or assertion.tombstoned",
    ),
    "MAN-1: nothing has to be kept": Mutant(
        "replacement_agrees",
        "return assertion.carried or assertion.original or assertion.tombstoned",
        "return True",
    ),
    "PTR-2: the commit alone releases": Mutant("release_agrees", "return committed and landed", "return committed"),
    "PTR-2: the copy alone releases": Mutant("release_agrees", "return committed and landed", "return landed"),
    "PTR-1: a pointer to nothing": Mutant(
        "provenance_agrees",
        "return source.removed or (source.pointed and (source.landed or source.held))",
        "return source.removed or source.pointed",
    ),
    "EVI-1: a copy that nothing leads to": Mutant(
        "provenance_agrees",
        "return source.removed or (source.pointed and (source.landed or source.held))",
        "return source.removed or source.landed or source.held",
    ),
    "PTR-1: nothing may be pending": Mutant(
        "provenance_agrees",
        "return source.removed or (source.pointed and (source.landed or source.held))",
        "return source.removed or (source.pointed and source.landed)",
    ),
    "EVI-1: a pointer is enough": Mutant(
        "reclamation_agrees",
        "return kind is EvidentialClass.NARRATIVE or (pointed and lasts and omissions_named)",
        "return kind is EvidentialClass.NARRATIVE or (pointed and omissions_named)",
    ),
    "EVI-1: what acts on the world counts as narrative": Mutant(
        "reclamation_agrees",
        "return kind is EvidentialClass.NARRATIVE or (pointed",
        "return kind is not EvidentialClass.STRUCTURED or (pointed",
    ),
    "EVI-2: omissions need no name": Mutant(
        "reclamation_agrees",
        "return kind is EvidentialClass.NARRATIVE or (pointed and lasts and omissions_named)",
        "return kind is EvidentialClass.NARRATIVE or (pointed and lasts)",
    ),
    "PTR-2: the session's end is no horizon": Mutant(
        "expiry_agrees",
        "return horizon is not None and age >= horizon",
        "return horizon is None or age >= horizon",
    ),
    "RET-3: nothing is stopped": Mutant(
        "stopping_agrees",
        "return tuple(cause for cause in causes if cause not in accepted)",
        "return ()",
    ),
    "RET-3: an override counts for nothing": Mutant(
        "stopping_agrees",
        "return tuple(cause for cause in causes if cause not in accepted)",
        "return causes",
    ),
    "PTR-5: an outstanding copy is returned": Mutant(
        "copies_agree",
        "if copy is Copy.OUTSTANDING:\n        return AnswerKind.PENDING",
        "if copy is Copy.OUTSTANDING:\n        return AnswerKind.FOUND",
    ),
    "PTR-6: what is staged is returned": Mutant(
        "resolution_agrees",
        "if holding is Holding.STAGED:\n        return AnswerKind.PENDING",
        "if holding is Holding.STAGED:\n        return AnswerKind.FOUND",
    ),
    "EPO-2: what was never issued is returned": Mutant(
        "resolution_agrees",
        "if holding is None:\n        return AnswerKind.FOREIGN",
        "if holding is None:\n        return AnswerKind.FOUND",
    ),
}


def mutated(name: str) -> str:
    """The text of `decide` with that change."""
    mutant = MUTANTS[name]
    text = inspect.getsource(decide)
    assert text.count(mutant.before) == 1, f"{name}: its text is not there exactly once"
    return text.replace(mutant.before, mutant.after)


def wrong(name: str) -> ModuleType:
    """`decide` with that change."""
    module = ModuleType(f"decide_mutant_{list(MUTANTS).index(name)}")
    # Dataclasses look their module up by name.
    sys.modules[module.__name__] = module
    exec(compile(mutated(name), module.__name__, "exec"), vars(module))
    return module
