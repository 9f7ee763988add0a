"""The messages of the wire protocol as types: what JSON Schemas are generated from and every line is decoded with.

Params are read loosely by adapters (a later suite may send more). Results are read strictly: a field that the
protocol does not have would be a misspelt one, and to overlook it would turn an adapter's slip into a verdict.
"""

import dataclasses
import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args, get_origin, get_type_hints

import msgspec

from anchorhold.compactor import Advance, Audit, Description, Ratios, Reply, Settings
from anchorhold_spec.vocabulary import Answer, Entry, Item, Outcome, Pointer, Tombstone, Turn

PROTOCOL: Final = 1
REQUIRED: Final = ("open", "append", "compact", "live", "close")
"""Operations that every adapter has."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
UNKNOWN_OPERATION: Final = -32601
INVALID_PARAMS: Final = -32602
DEFINITE: Final = -32001
INDEFINITE: Final = -32002
SUMMARISER_FAILED: Final = -32003
ADAPTER_ERROR: Final = -32004


class Params(msgspec.Struct, frozen=True, kw_only=True):
    """Named parameters of a request."""


class SuiteInfo(Params, frozen=True, kw_only=True):
    """Which suite asks."""

    name: str
    version: str


class InitializeParams(Params, frozen=True, kw_only=True):
    """First request of a session."""

    protocol: Literal[1]
    suite: SuiteInfo


class NoParams(Params, frozen=True, kw_only=True):
    """Nothing."""


class OpenParams(Params, frozen=True, kw_only=True):
    """Start an empty session on a fresh store."""

    settings: Settings


class ResumeParams(Params, frozen=True, kw_only=True):
    """Go on with the session that a process before this one, which was killed, had open in the same `TMPDIR`."""

    settings: Settings


class AppendParams(Params, frozen=True, kw_only=True):
    """Add a turn."""

    turn: Turn


class TokenParams(Params, frozen=True, kw_only=True):
    """A pointer's token, exactly as the adapter gave it."""

    token: str


class SearchParams(Params, frozen=True, kw_only=True):
    """The words to look for."""

    literal: str


class ReconstituteParams(Params, frozen=True, kw_only=True):
    """Which slot, and whether a summary's words are not enough."""

    subject: str
    attribute: str
    evidence: bool


class ManifestParams(Params, frozen=True, kw_only=True):
    """Id of a live item."""

    carrier: str


class TombstoneParams(Params, frozen=True, kw_only=True):
    """The assertion that may go: the literal that turn `source` asserts, and why."""

    literal: str
    source: str
    reason: str


class SupersedeParams(Params, frozen=True, kw_only=True):
    """The assertion that may go, the turn that took its place, and why."""

    literal: str
    source: str
    superseder: str
    reason: str


class ExpireParams(Params, frozen=True, kw_only=True):
    """How far the store's clock moves forward."""

    seconds: float


class CrashParams(Params, frozen=True, kw_only=True):
    """One of the `crash_points` of the description."""

    point: str


class SwitchParams(Params, frozen=True, kw_only=True):
    """Which session to go over to."""

    session: str
    user: str
    branch: str = "main"


class TurnParams(Params, frozen=True, kw_only=True):
    """Id of a turn, as `append` was given it."""

    turn: str


class BranchParams(Params, frozen=True, kw_only=True):
    """Name of the branch to begin."""

    branch: str


class HeldParams(Params, frozen=True, kw_only=True):
    """Whether background copies are held back from now on."""

    held: bool


class ClockParams(Params, frozen=True, kw_only=True):
    """By how many seconds the wall clock jumps; negative: back."""

    shift: float


class StoreFaultParams(Params, frozen=True, kw_only=True):
    """One of the `crash_points` of the description, and how the write there fails."""

    point: str
    fault: Literal["error", "silent", "short", "full"]


class ReasonParams(Params, frozen=True, kw_only=True):
    """Why the caller decides so."""

    reason: str


class BeginParams(Params, frozen=True, kw_only=True):
    """A worker's name, the operation that it carries out, and the params of that operation."""

    worker: str
    op: str
    arguments: dict[str, Any]


class WorkerParams(Params, frozen=True, kw_only=True):
    """Name of a worker that was begun."""

    worker: str


class SummariseParams(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """From the adapter: what the compactor shows its model, the text of each message in order."""

    messages: tuple[str, ...]
    request: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Id of the suite's request in whose course it is asked; needed only where several are outstanding."""


_Int: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
_Float: TypeAlias = Annotated[float, msgspec.Meta(ge=-1.7e308, le=1.7e308)]


def _narrow(annotation: Any) -> Any:
    # Numbers that a history could not carry are no numbers here.
    if annotation is int:
        return _Int
    if annotation is float:
        return _Float
    if get_origin(annotation) is not None and type(None) in get_args(annotation):
        inner = [a for a in get_args(annotation) if a is not type(None)]
        return _narrow(inner[0]) | None if len(inner) == 1 else annotation
    return annotation


def _strict(cls: Any, *, name: str | None = None, **narrowed: Any) -> Any:
    """The dataclass as a message type that takes its fields and no others."""
    hints = get_type_hints(cls)
    members: list[Any] = []
    for f in dataclasses.fields(cls):
        annotation = narrowed.get(f.name, _narrow(hints[f.name]))
        if f.default is not dataclasses.MISSING:
            members.append((f.name, annotation, f.default))
        elif f.default_factory is not dataclasses.MISSING:
            members.append((f.name, annotation, msgspec.field(default_factory=f.default_factory)))
        else:
            members.append((f.name, annotation))
    return msgspec.defstruct(
        name or cls.__name__,
        members,
        namespace={"__doc__": cls.__doc__},
        module=__name__,
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )


_OPTIONAL_PARAMS: Final[Mapping[str, type[Params]]] = {
    "pointers": NoParams,
    "get": TokenParams,
    "search": SearchParams,
    "reconstitute": ReconstituteParams,
    "manifest": ManifestParams,
    "tombstones": NoParams,
    "tombstone": TombstoneParams,
    "supersede": SupersedeParams,
    "evict": TokenParams,
    "expire": ExpireParams,
    "reopen": NoParams,
    "resume": ResumeParams,
    "crash": CrashParams,
    "corrupt": TokenParams,
    "switch": SwitchParams,
    "status": NoParams,
    "degraded_since": NoParams,
    "clear": NoParams,
    "rewind": TurnParams,
    "fork": BranchParams,
    "forget": TurnParams,
    "files": NoParams,
    "hold_copies": HeldParams,
    "settle": NoParams,
    "ratios": NoParams,
    "clock": ClockParams,
    "lose_power": NoParams,
    "fail_store": StoreFaultParams,
    "audits": NoParams,
    "override": ReasonParams,
    "begin": BeginParams,
    "advance": WorkerParams,
}
OPERATIONS: Final = (*REQUIRED, *_OPTIONAL_PARAMS)

_PATH: Final = Annotated[str, msgspec.Meta(pattern="^(/|[A-Za-z]:).*$")]
_STATUS: Final = Annotated[str, msgspec.Meta(pattern="^(lossless|degraded: .+)$")]
_INITIALIZED: Final = msgspec.defstruct(
    "Initialized",
    [
        ("protocol", Literal[1]),
        ("description", _strict(Description, operations=frozenset[Literal[OPERATIONS]])),  # type: ignore[valid-type]
    ],
    namespace={"__doc__": "Who the compactor is, and which operations the adapter offers."},
    module=__name__,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """A request of the suite: the types of its params and of its result."""

    params: type[Params]
    result: Any
    value: Any = None
    """The vocabulary's own type of the result, where `result` is the strict form of one."""


def _list_of(cls: Any) -> Any:
    member = _strict(cls)
    return tuple[member, ...]  # type: ignore[valid-type]


_ANSWER: Final = Method(params=NoParams, result=_strict(Answer), value=Answer)
_OUTCOME: Final = Method(params=NoParams, result=_strict(Outcome), value=Outcome)


def _optional(name: str) -> Method:
    params = _OPTIONAL_PARAMS[name]
    match name:
        case "pointers":
            return Method(params=params, result=_list_of(Pointer), value=tuple[Pointer, ...])
        case "manifest":
            return Method(params=params, result=_list_of(Entry), value=tuple[Entry, ...])
        case "tombstones":
            return Method(params=params, result=_list_of(Tombstone), value=tuple[Tombstone, ...])
        case "get" | "search" | "reconstitute":
            return dataclasses.replace(_ANSWER, params=params)
        case "tombstone" | "supersede" | "evict" | "forget" | "override":
            return dataclasses.replace(_OUTCOME, params=params)
        case "corrupt":
            return Method(params=params, result=bool)
        case "status":
            return Method(params=params, result=_STATUS)
        case "degraded_since":
            return Method(params=params, result=_Float | None)
        case "files":
            return Method(params=params, result=tuple[_PATH, ...])  # type: ignore[valid-type]
        case "ratios":
            return Method(params=params, result=_strict(Ratios), value=Ratios)
        case "audits":
            return Method(params=params, result=_list_of(Audit), value=tuple[Audit, ...])
        case "advance":
            # The strict forms once each: msgspec names a schema's definitions by the types.
            strict = _strict(Advance, outcome=_OUTCOME.result | None, answer=_ANSWER.result | None)
            return Method(params=params, result=strict, value=Advance)
        case _:
            return Method(params=params, result=None)


METHODS: Final[Mapping[str, Method]] = {
    "initialize": Method(params=InitializeParams, result=_INITIALIZED),
    "open": Method(params=OpenParams, result=_strict(Settings, name="SettingsTaken"), value=Settings),
    "append": Method(params=AppendParams, result=str | None),
    "compact": _OUTCOME,
    "live": Method(params=NoParams, result=_list_of(Item), value=tuple[Item, ...]),
    "close": Method(params=NoParams, result=None),
    **{name: _optional(name) for name in _OPTIONAL_PARAMS},
    "shutdown": Method(params=NoParams, result=None),
}
"""Every request that the suite makes, in the order of PROTOCOL.md."""


class ErrorObject(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Why a request was not answered with a result."""

    code: _Int
    message: str
    data: Any = None


class Message(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Any line that an adapter writes, before it is known what it answers."""

    jsonrpc: Literal["2.0"]
    id: _Int | str | msgspec.UnsetType | None = msgspec.UNSET
    method: str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: ErrorObject | msgspec.UnsetType = msgspec.UNSET


_SURROGATE: Final = re.compile(rb"\\u[dD][89a-fA-F]")


class MessageError(ValueError):
    """A line, or a result, that is not what the protocol says; the text says where."""


def read_message(line: bytes) -> Message:
    """Decode one line of an adapter. Raises MessageError."""
    return _decode(line, Message)  # type: ignore[no-any-return]


def read_result(method: str, raw: bytes | msgspec.Raw) -> Any:
    """Decode the result of a method into the vocabulary's values. Raises MessageError."""
    specification = METHODS[method]
    decoded = _decode(raw, specification.result)
    if specification.value is not None:
        # Decoded twice: a dataclass takes fields that it does not know, and to convert the strict form is far slower.
        return _decode(raw, specification.value)
    if method == "initialize":
        return Description(**msgspec.structs.asdict(decoded.description))
    return decoded


def read_shown(raw: bytes | msgspec.Raw) -> SummariseParams:
    """Decode the params of `summarise`. Raises MessageError."""
    return _decode(raw, SummariseParams)  # type: ignore[no-any-return]


def _decode(raw: bytes | msgspec.Raw, target: Any) -> Any:
    try:
        return msgspec.json.decode(raw, type=target)
    except (msgspec.DecodeError, UnicodeError) as error:
        text = str(error)
        if _SURROGATE.search(raw):
            text += "; text with lone surrogates is no text here, and travels in `data`"
        raise MessageError(text) from None
    except RecursionError:
        raise MessageError("JSON nested too deep") from None


def write_request(identity: int, method: str, params: Params) -> bytes:
    """One request of the suite as a line, without its end."""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": identity, "method": method, "params": params})


def write_reply(identity: int | str, reply: Reply) -> bytes:
    """The suite's answer to `summarise`, as a line without its end."""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": identity, "result": reply})


def write_error(identity: int | str, code: int, message: str) -> bytes:
    """The suite's refusal of a request, as a line without its end."""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}})
