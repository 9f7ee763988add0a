"""The probes that go by the protocol: what the suite would ask too, each operation at least once."""

from typing import Any, Final

from msgspec import UNSET

from anchorhold.compactor import OPERATIONS_OF, Description, Mechanism, Reply
from anchorhold.errors import AdapterError, Fault
from anchorhold.smoke.adapter import SETTINGS, Adapter, ProbeEnded, Session, Talk, turns_of
from anchorhold.wire.messages import (
    INVALID_PARAMS,
    AppendParams,
    BeginParams,
    BranchParams,
    ClockParams,
    CrashParams,
    ExpireParams,
    HeldParams,
    ManifestParams,
    OpenParams,
    ReasonParams,
    ReconstituteParams,
    SearchParams,
    StoreFaultParams,
    SupersedeParams,
    SwitchParams,
    TokenParams,
    TombstoneParams,
    TurnParams,
    WorkerParams,
    write_reply,
)
from anchorhold_spec.vocabulary import CarrierKind, Outcome, OutcomeKind, Turn

NOWHERE: Final = "anchorhold:no-such-token ü/%00?"
MARK: Final = "smoke-mark-7f3a"
"""Words of one session that must not be seen in the next."""
ADVANCES: Final = 300
"""Accesses to a store after which a worker that is not done is given up."""
COMPACTIONS: Final = 5


def handshake(adapter: Adapter) -> None:
    """It starts, and says who the compactor is; another version of the protocol it does not take."""
    try:
        connection = adapter.connect()
    except AdapterError as error:
        if error.code is Fault.START:
            raise
        adapter.failed("initialize", error)
        return
    adapter.description = connection.description
    connection.kill()
    talk = adapter.talk()
    try:
        answer = talk.initialize(protocol=2)
        if answer.error is UNSET or answer.error.code != INVALID_PARAMS:
            said = "a result" if answer.error is UNSET else f"error {answer.error.code}"
            hint = f"answer {INVALID_PARAMS} where `protocol` is not 1, or a later suite would be misread"
            adapter.found("initialize", f"answered protocol 2 with {said}", hint=hint)
    except AdapterError as error:
        adapter.failed("initialize (protocol 2)", error)
    finally:
        talk.kill()


def described(adapter: Adapter) -> None:
    """What it says of the compactor goes together."""
    description = adapter.description
    assert description is not None
    offered = description.operations
    for name in ("name", "version"):
        if not getattr(description, name).strip():
            adapter.found("initialize", f"`{name}` is empty", hint="say which compactor, and which version")
    for mechanism, shown in OPERATIONS_OF.items():
        by = [operation for operation in shown if operation in offered]
        if mechanism in description.hidden and len(by) == len(shown):
            what = f"`{mechanism}` is in `hidden`, and {', '.join(by)} is offered"
            adapter.found("initialize", what, hint="hidden is what exists and cannot be driven through the adapter")
        if mechanism in description.mechanisms and not by and mechanism not in description.hidden:
            what = f"`{mechanism}` is in `mechanisms`, and none of {', '.join(shown)} is offered"
            adapter.found("initialize", what, hint="offer what shows it, or say in `hidden` why it cannot be driven")
    for operation in ("crash", "fail_store"):
        if operation in offered and not description.crash_points:
            hint = "name the durable steps in `crash_points`, or do not offer it"
            adapter.found("initialize", f"`{operation}` is offered without `crash_points`", hint=hint)
    if len(set(description.crash_points)) != len(description.crash_points):
        adapter.found("initialize", "`crash_points` names one twice", hint="each step has a name of its own")
    for one, other in (
        ("crash", "reopen"),
        ("lose_power", "reopen"),
        ("begin", "advance"),
        ("advance", "begin"),
        ("hold_copies", "settle"),
        ("forget", "files"),
    ):
        # A compactor with nothing on disk has no files to name, and may forget all the same.
        needed = other != "files" or _persists(description)
        if one in offered and other not in offered and needed:
            hint = f"after `{one}` the suite asks for `{other}`"
            adapter.found("initialize", f"`{one}` is offered without `{other}`", hint=hint)


def _persists(description: Description) -> bool:
    return "reopen" in description.operations and Mechanism.ERASURE not in description.hidden


def operations(adapter: Adapter) -> None:
    """Every operation that it offers is asked for, with params that mean something, and answered in form."""
    session = Session(adapter)
    try:
        _look(session)
        _compact(session)
        _look(session)
        _follow(session)
        _damage(session)
        _branch(session)
        _work(session)
        _reach(session)
    finally:
        session.kill()
    session = Session(adapter, turns=3)
    try:
        session.close()
    finally:
        session.kill()
    left = sorted(session.offered - adapter.asked - {"resume"})
    for operation in left:
        adapter.note(operation, f"offered, and not tried: {_untried(adapter, operation)}")


def _untried(adapter: Adapter, operation: str) -> str:
    """Why an operation could not be tried, in words."""
    description = adapter.description
    assert description is not None
    never = adapter.never_worked()
    if operation in ("crash", "fail_store"):
        return "no durable step is named in `crash_points`"
    needed = {"advance": "begin", "fork": "live"}.get(operation, "pointers")
    if needed not in description.operations:
        return f"it takes `{needed}`, which is not offered"
    if needed in never:
        return f"it takes `{needed}`, which ended with an error each time"
    if needed == "pointers" and not adapter.committed:
        how = f" ({adapter.uncommitted})" if adapter.uncommitted else ""
        return f"it takes a pointer of a summary, and no compaction was committed{how}"
    return "no summary carried a pointer to try it on" if needed == "pointers" else f"`{needed}` was of no use to it"


def _look(session: Session) -> None:
    for method in ("live", "pointers", "tombstones", "status", "degraded_since", "ratios", "audits", "files"):
        session.attempt(method)


def _compact(session: Session) -> None:
    """Compact until a summary is there, or nothing is to be done any more."""
    asked, committed = session.model.asked, False
    for _ in range(COMPACTIONS):
        outcome = _compacted(session)
        committed |= isinstance(outcome, Outcome) and outcome.kind is OutcomeKind.COMMITTED
        if not isinstance(outcome, Outcome) or outcome.kind is not OutcomeKind.COMMITTED:
            break
    description = session.adapter.description
    assert description is not None
    if committed and Mechanism.SUMMARISER in description.mechanisms and session.model.asked == asked:
        session.adapter.found(
            "compact",
            "committed a summary, and the suite's model was not asked, although `summariser` is declared",
            hint="route every model call of the compactor to `summarise`",
            fault=Fault.UNASKED,
        )


def _compacted(session: Session) -> Outcome | None:
    """Compact, with a faithful model and a healthy store, and remember whether that ever came to anything."""
    outcome: Outcome | None = session.attempt("compact")
    adapter = session.adapter
    if outcome is not None and outcome.kind is OutcomeKind.COMMITTED:
        adapter.committed = True
    elif not adapter.uncommitted:
        tries = adapter.tries.get("compact")
        error = tries.first if tries is not None else ""
        adapter.uncommitted = (
            f"`compact` ended with an error: {error}" if outcome is None else f"`compact` answered {_words(outcome)}"
        )
    return outcome


def _words(outcome: Outcome) -> str:
    return f"“{outcome.kind}”" + (f", because {outcome.reason}" if outcome.reason else "")


def _token(session: Session) -> str | None:
    pointers = session.attempt("pointers") or ()
    return pointers[0].token if pointers else None


def _follow(session: Session) -> None:
    """Questions, and what is decided about one carrier."""
    live = session.attempt("live") or ()
    summaries = [item.id for item in live if item.kind is CarrierKind.SUMMARY]
    carrier = (summaries or [item.id for item in live] or ["t0"])[0]
    token = _token(session)
    if token is not None:
        session.attempt("get", TokenParams(token=token))
    session.attempt("get", TokenParams(token=NOWHERE), counted=False)
    session.attempt("get", TokenParams(token=""), counted=False)
    session.attempt("search", SearchParams(literal="8001"))
    session.attempt("search", SearchParams(literal="nothing that was said ü"))
    for evidence in (False, True):
        params = ReconstituteParams(subject="relay-1", attribute="port", evidence=evidence)
        session.attempt("reconstitute", params)
    session.attempt("manifest", ManifestParams(carrier=carrier), counted=bool(summaries))
    session.attempt("tombstone", TombstoneParams(literal="8002", source="t2", reason="no longer needed"))
    session.attempt(
        "supersede", SupersedeParams(literal="8002", source="t2", superseder="t3", reason="it has changed")
    )
    session.attempt("tombstones")


def _damage(session: Session) -> None:
    """Time, background work, and failures of the store."""
    for held in (True, False):
        session.attempt("hold_copies", HeldParams(held=held))
    session.attempt("settle")
    for shift in (3600.0, -7200.5):
        session.attempt("clock", ClockParams(shift=shift))
    session.attempt("expire", ExpireParams(seconds=60.0))
    # It is not degraded, and there is nothing to accept.
    session.attempt("override", ReasonParams(reason="smoke"), counted=False)
    session.attempt("reopen")
    description = session.adapter.description
    assert description is not None
    if description.crash_points:
        first, last = description.crash_points[0], description.crash_points[-1]
        for point in dict.fromkeys((first, last)):
            _append(session, f"c-{point}")
            session.attempt("crash", CrashParams(point=point))
            session.attempt("compact", noted=False)
            session.attempt("reopen")
            session.attempt("live")
        for fault in ("error", "silent", "short", "full"):
            session.attempt("fail_store", StoreFaultParams(point=first, fault=fault))
            session.attempt("compact", noted=False)
            session.attempt("live")
    if "lose_power" in session.offered:
        session.attempt("lose_power")
        session.attempt("reopen")
        session.attempt("live")


def restarts(adapter: Adapter) -> None:
    """One that says it can go on after it was killed does so, as another process, with what was acknowledged."""
    description = adapter.description
    assert description is not None
    if "resume" not in description.operations:
        return
    if "reopen" not in description.operations:
        hint = "who can go on as another process can do so in the same one: offer `reopen` too"
        adapter.found("initialize", "`resume` is offered without `reopen`", hint=hint)
    session = Session(adapter, turns=6)
    try:
        before = session.attempt("live") or ()
        if not session.restart():
            return
        after = session.attempt("live") or ()
        if [item.id for item in before] != [item.id for item in after]:
            what = f"after it was killed and started again it shows {len(after)} items, and before {len(before)}"
            adapter.note("resume", f"{what}: either nothing was kept, or `resume` goes on with something else")
        session.close()
    finally:
        session.kill()


def _append(session: Session, name: str) -> None:
    for n in range(12):
        turn = Turn(id=f"{name}-{n}", speaker="user", text=f"The port of spare-{name}-{n} is {9000 + n}.")
        session.attempt("append", AppendParams(turn=turn))


def _branch(session: Session) -> None:
    """Other sessions and branches, and back; what the caller takes back."""
    session.attempt("switch", SwitchParams(session="s-2", user="u"))
    session.attempt("live")
    session.attempt("switch", SwitchParams(session=SETTINGS.session, user="u"))
    if session.attempt("live") is not None and "fork" in session.offered:
        session.attempt("fork", BranchParams(branch="twig"))
        session.attempt("live")
        session.attempt("switch", SwitchParams(session=SETTINGS.session, user="u"))
    _append(session, "late")
    session.attempt("rewind", TurnParams(turn="late-3"))
    session.attempt("live")


def _work(session: Session) -> None:
    """A worker that is stepped to its end."""
    if "begin" not in session.offered:
        return
    session.attempt("begin", BeginParams(worker="w", op="compact", arguments={}))
    if "begin" in session.adapter.never_worked():
        return  # there is no worker that could be led
    for _ in range(ADVANCES):
        step = session.attempt("advance", WorkerParams(worker="w"))
        if step is None or step.done:
            return
    session.adapter.note("advance", f"a worker that compacts is not done after {ADVANCES} accesses to a store")


def _reach(session: Session) -> None:
    """What takes things away comes last."""
    _compacted(session)
    for method in ("corrupt", "evict"):
        token = _token(session) if method in session.offered else None
        if token is not None:
            session.attempt(method, TokenParams(token=token))
            session.attempt("get", TokenParams(token=token), counted=False)
    session.attempt("forget", TurnParams(turn="t7"))
    session.attempt("files")
    session.attempt("clear")
    session.attempt("live")


def models(adapter: Adapter) -> None:
    """Whatever its model does, an operation is answered and the adapter stays."""
    replies: tuple[Reply | None, ...] = (
        Reply(text=""),
        Reply(text="I'm sorry, but I can't help with that.", finish="refusal"),
        Reply(text="Notes on the wo", finish="length"),
        Reply(text=" \n\u2028\u0085 ünïcode 漢字 \U0001f469\u200d\U0001f467 \x00 \t"),
        Reply(text="x " * 250_000),
        None,
    )
    session = Session(adapter)
    try:
        for reply in replies:
            session.model.reply, session.model.fails = reply, reply is None
            session.attempt("compact", counted=False)
            session.attempt("live")
    finally:
        session.kill()


def sessions(adapter: Adapter) -> None:
    """Nothing of one session is seen in the next, of the same program or of another."""
    session = Session(adapter, turns=0)
    try:
        # What a compactor makes up for an empty session is its own matter.
        empty = _named(session)
        for turn, _ in turns_of(6):
            session.attempt("append", AppendParams(turn=turn))
        turn = Turn(id=MARK, speaker="user", text=f"The port of {MARK} is 7777.")
        session.attempt("append", AppendParams(turn=turn))
        session.attempt("compact")
        session.attempt("tombstone", TombstoneParams(literal="8002", source="t2", reason="smoke"))
        own = {method: names - empty[method] for method, names in _named(session).items()}
        session.attempt("close")
        session.attempt("open", OpenParams(settings=SETTINGS))
        _empty(session, own, "in the next session of the same program")
        session.close()
    finally:
        session.kill()
    session = Session(adapter, turns=0)
    try:
        _empty(session, own, "in a program that was started anew")
        session.close()
    finally:
        session.kill()


def _named(session: Session) -> dict[str, set[str]]:
    """Names of what a session has."""
    pointers, tombstones = session.attempt("pointers") or (), session.attempt("tombstones") or ()
    return {
        "pointers": {pointer.token for pointer in pointers},
        "tombstones": {f"{tombstone.source} {tombstone.literal}" for tombstone in tombstones},
    }


def _empty(session: Session, own: dict[str, set[str]], when: str) -> None:
    """Hold what an empty session shows against what an earlier one had."""
    hint = "`open` starts an empty session on a fresh store: files, databases, and what the module remembers"

    def left(where: str) -> None:
        session.adapter.found(where, f"shows something of an earlier session {when}", hint=hint)

    for item in session.attempt("live") or ():
        if MARK in (item.text or "") or "relay-" in (item.text or "") or item.turn is not None:
            left("live")
    for method, names in _named(session).items():
        if names & own[method]:
            left(method)
    answer = session.attempt("search", SearchParams(literal=MARK))
    if answer is not None and MARK in (answer.text or ""):
        left("search")


def concurrency(adapter: Adapter) -> None:
    """One that lets others in while it compacts answers each request once, and says whose summary it asks for."""
    description = adapter.description
    assert description is not None
    if Mechanism.CONCURRENCY not in description.mechanisms:
        return
    talk = adapter.talk()
    try:
        _beside(adapter, talk)
    except AdapterError as error:
        adapter.failed("compact (with others beside it)", error)
    finally:
        talk.kill()


def _beside(adapter: Adapter, talk: Talk) -> None:
    from anchorhold.smoke.stream import opened, turn_params, wire_line

    opened(talk, adapter)
    for n in range(30):
        talk.request("append", turn_params(f"t{n}", f"The port of relay-{n} is {8000 + n}."))
    compact, live = talk.next_id(), talk.next_id()
    talk.send(wire_line(compact, "compact", {}), where="compact")
    first = talk.receive(where="compact")
    if first.method is UNSET:
        return  # it had nothing to ask its model
    _check_request(adapter, first.params, compact)
    talk.send(wire_line(live, "live", {}), where="live")
    due: dict[Any, str] = {compact: "compact", live: "live"}
    try:
        early = talk.receive(where="live", seconds=0.5)
    except AdapterError as error:
        if error.code is not Fault.HANG:
            raise
        early = None  # it lets nobody in
    identity = first.id if isinstance(first.id, int | str) else ""
    talk.send(write_reply(identity, Reply(text="Notes on the work so far.")), where="summarise")
    message = early
    while True:
        if message is not None:
            if message.method is not UNSET and isinstance(message.id, int | str):
                _check_request(adapter, message.params, compact)
                talk.send(write_reply(message.id, Reply(text="Notes on the work so far.")), where="summarise")
            elif message.id in due:
                del due[message.id]
            else:
                raise talk.error(Fault.WRONG_ID, f"answered id {message.id!r} while {', '.join(due.values())} is due")
        if not due:
            return
        message = talk.receive(where=" and ".join(due.values()))


def _check_request(adapter: Adapter, params: Any, compact: int) -> None:
    from anchorhold.wire.messages import MessageError, read_shown

    try:
        asked = read_shown(params).request
    except (MessageError, TypeError):
        return  # told by the operations probe
    if asked != compact:
        hint = "where several requests may be outstanding, `request` is the id of the one that the summary belongs to"
        adapter.found("summarise", f"`request` is {asked}, and request {compact} is what compacts", hint=hint)


def stopping(adapter: Adapter) -> None:
    """It ends after `shutdown`, and when its input ends without one, with nothing more on its standard output."""
    seconds = adapter.limits.stop
    for polite in (True, False):
        where = "shutdown" if polite else "the end of its input"
        talk = adapter.talk()
        try:
            talk.initialize()
            if polite:
                answer = talk.request("shutdown", {})
                if answer.error is not UNSET or bytes(answer.result or b"") != b"null":
                    adapter.found("shutdown", "was not answered with null", hint="answer null, and end")
            if not talk.ends(seconds=seconds):
                hint = "end when `shutdown` was answered, and when standard input ends"
                adapter.found(where, f"still runs {seconds:g} s later", hint=hint, fault=Fault.HANG)
        except AdapterError as error:
            adapter.failed(where, error)
        finally:
            talk.kill()


__all__ = [
    "ProbeEnded",
    "concurrency",
    "described",
    "handshake",
    "models",
    "operations",
    "restarts",
    "sessions",
    "stopping",
]
