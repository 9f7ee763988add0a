"""The vocabulary's values as msgspec structs: what is decoded most often takes half as long as into dataclasses.

They have the fields, types and defaults of the vocabulary's classes, and are made of these; whoever reads fields sees
no difference.
"""

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, TypeAlias, get_type_hints

import msgspec

from anchorhold_spec import vocabulary


def struct_of(kind: type, *, optional: bool = False, **other: Any) -> Any:
    """A struct like a dataclass. `other`: fields that have another type here, or are added; an added one may be left
    out. `optional`: none of its fields has to stand there, and one that is left out is none."""
    hints, made = get_type_hints(kind), list[Any]()
    for each in fields(kind):
        form = other.pop(each.name, hints[each.name])
        if each.default is not MISSING:
            made.append((each.name, form, each.default))
        else:
            made.append((each.name, form | None, None) if optional else (each.name, form))
    made += [(name, form, msgspec.UNSET) for name, form in other.items()]
    # None of them can be part of a circle.
    return msgspec.defstruct(kind.__name__, made, kw_only=True, frozen=True, gc=False, module=__name__)


if TYPE_CHECKING:
    Item: TypeAlias = Any
    Pointer: TypeAlias = Any
    Fact: TypeAlias = Any
    Turn: TypeAlias = Any
    Answer: TypeAlias = Any
    Outcome: TypeAlias = Any
else:
    Item = struct_of(vocabulary.Item)
    Pointer = struct_of(vocabulary.Pointer)
    Fact = struct_of(vocabulary.Fact)
    Turn = struct_of(vocabulary.Turn, calls=tuple[struct_of(vocabulary.ToolCall), ...])
    Answer = struct_of(vocabulary.Answer, optional=True, token=str | msgspec.UnsetType)
    """Or what a `get` is asked for."""
    Outcome = struct_of(vocabulary.Outcome, optional=True)
    """Or no arguments."""
