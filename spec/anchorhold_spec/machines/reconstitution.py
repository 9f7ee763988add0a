"""Reconstitution: who asks for a value gets an assertion of it, or the one answer that says why not.

A lookup is no single step. It reads one place after another: the carriers, the copies that are outstanding, the
tombstones, the record of what has expired, the record of what was ever said. Between any two of these the world goes
on: values are asserted again, carriers leave, copies land, originals expire, the store loses something. Each reading
was true when it was made; put together they may say what was never true. So an answer is given only if nothing of the
slot has changed since the lookup began; otherwise it begins again.

The answers stand in the order of precedence. Not in this machine: `partial` (bytes), `foreign` (pointers),
`insufficient` and `degraded` (what evidence and a whole index are: `evidence`, and the machines of retention).
"""

from anchorhold_spec.language import Formula, MachineBuilder, bound, exists, forall, realism, safety

m = MachineBuilder(
    "reconstitution",
    "A slot is looked up, place by place, while what holds its values comes and goes.",
)

Slot = m.sort("slot", doc="What may be asked for: a subject and an attribute.")
Assertion = m.sort("assertion", doc="A value of a slot, as said by one span.")
State = m.enum(
    "state",
    "unsaid",
    "held",
    "pending",
    "expired",
    "gone",
    doc="Held: a carrier has it. Pending: its copy is outstanding. Expired: its original's lifetime is over.",
)
Stage = m.enum(
    "stage",
    "idle",
    "begun",
    "not_held",
    "not_pending",
    "not_tombstoned",
    "not_expired",
    doc="Of a lookup: the last thing that it has found not to be so.",
)
Answer = m.enum("answer", "none", "found", "pending", "tombstoned", "expired", "unanchored", "absent")

neighbours = m.switch(
    "neighbours", "refused", "returned", default="refused", doc="Whether a value of another slot may be returned."
)
tombstones = m.switch(
    "tombstones",
    "read",
    "taken-as-absent",
    default="read",
    doc="Whether what was dropped is told from what never was.",
)
lookup = m.switch(
    "lookup",
    "begins-again",
    "goes-on",
    default="begins-again",
    doc="What it does when the slot has changed meanwhile.",
)

slot = m.rigid_fun(
    "slot_of",
    Assertion,
    to=Slot,
    given=lambda _: 0,
    doc="What it is a value of: in finite instances all of one slot, while of the others nothing is ever said.",
)
state = m.fun("state_of", Assertion, to=State, initial=State.unsaid)
tombstoned = m.rel("tombstoned", Assertion, doc="Dropped on purpose; a carrier may have it a while longer.")
stage = m.fun("stage_of", Slot, to=Stage, initial=Stage.idle, doc="How far the lookup is.")
candidate = m.pfun("candidate", Slot, to=Assertion, doc="What the lookup has seen, and is about to fetch.")
changed = m.rel("changed", Slot, doc="Something of the slot has changed since the lookup began.")
answer = m.fun("answer_to", Slot, to=Answer, initial=Answer.none, doc="What the last lookup has answered.")
returned = m.pfun("returned", Slot, to=Assertion, doc="The content that came with `found`.")

world = m.worker("world", writes=[state, tombstoned, changed])
reader = m.worker("reader", writes=[stage, candidate, changed, answer, returned])

a, b, q = Assertion("a"), Assertion("b"), Slot("q")

noted = changed(q).becomes(True, when=slot(a) == q, each=q)

m.action(
    "assert",
    a,
    by=world,
    event="append",
    doc="A value is asserted, for the first time or again.",
    guards=[realism("unsaid", state(a) == State.unsaid, "said again it is another assertion")],
    updates=[state(a).becomes(State.held), noted],
)
m.action(
    "put off",
    a,
    by=world,
    event="commit",
    doc="A summary without the value commits; the copy of its source is outstanding.",
    guards=[realism("held", state(a) == State.held, "only what is there can be replaced")],
    updates=[state(a).becomes(State.pending), noted],
)
m.action(
    "land",
    a,
    by=world,
    event="copy",
    doc="The copy lands.",
    guards=[realism("outstanding", state(a) == State.pending, "only what is outstanding can land")],
    updates=[state(a).becomes(State.held), noted],
)
m.action(
    "bury",
    a,
    by=world,
    event="tombstone",
    doc="The value is dropped on purpose.",
    guards=[
        realism("said", state(a) != State.unsaid, "only what was said can be dropped"),
        bound("once", ~tombstoned(a), "a second tombstone says the same"),
    ],
    updates=[tombstoned(a).becomes(True), noted],
)
m.action(
    "evict",
    a,
    by=world,
    event="evict",
    doc="The last carrier of a value leaves.",
    guards=[
        realism("held", state(a) == State.held, "only what is there can leave"),
        realism("dropped", tombstoned(a), "the gate lets nothing else go: see the machine anchoring"),
    ],
    updates=[state(a).becomes(State.gone), noted],
)
m.action(
    "expire",
    a,
    event="expire",
    fault=True,
    doc="The lifetime of a value's original is over; that it was is on record.",
    guards=[realism("in store", state(a).one_of(State.held, State.pending), "what is gone has no lifetime")],
    updates=[state(a).becomes(State.expired), noted],
)
m.action(
    "lose",
    a,
    event="reap",
    fault=True,
    doc="The store loses what it should have kept.",
    guards=[realism("in store", state(a).one_of(State.held, State.pending), "what is gone cannot be lost")],
    updates=[state(a).becomes(State.gone), noted],
)

of_slot = slot(a) == q
some_held = exists(b, (slot(b) == q) & (state(b) == State.held))
some_pending = exists(b, (slot(b) == q) & (state(b) == State.pending))
some_tombstoned = exists(b, (slot(b) == q) & tombstoned(b))
some_expired = exists(b, (slot(b) == q) & (state(b) == State.expired))
some_said = exists(b, (slot(b) == q) & (state(b) != State.unsaid))
same_as_then = (lookup == "goes-on") | ~changed(q)

m.action(
    "ask",
    q,
    by=reader,
    doc="A lookup begins, or begins again.",
    guards=[
        bound(
            "nothing to go on", (stage(q) == Stage.idle) | changed(q), "a lookup that can go on need not begin again"
        ),
    ],
    updates=[
        stage(q).becomes(Stage.begun),
        candidate(q).cleared(),
        changed(q).becomes(False),
        answer(q).becomes(Answer.none),
        returned(q).cleared(),
    ],
)
m.action(
    "see",
    q,
    a,
    by=reader,
    doc="The index names something for the slot.",
    guards=[
        realism("just begun", stage(q) == Stage.begun, "the index is the first place that a lookup reads"),
        safety("of this slot", of_slot | ((neighbours == "returned") & ~some_held)),
        realism("held", state(a) == State.held, "the index names what there is; whether it still is, is seen later"),
    ],
    updates=[candidate(q).becomes(a)],
)
m.action(
    "fetch",
    q,
    a,
    by=reader,
    event="reconstitute",
    doc="What the index has named is fetched and returned.",
    guards=[
        safety("named", candidate(q) == a),
        safety("still there", state(a) == State.held),
    ],
    updates=[
        answer(q).becomes(Answer.found),
        returned(q).becomes(a),
        stage(q).becomes(Stage.idle),
        candidate(q).cleared(),
    ],
)
m.action(
    "find nothing held",
    q,
    by=reader,
    doc="No carrier has a value.",
    guards=[
        realism("just begun", stage(q) == Stage.begun, "a lookup begins with being asked for"),
        safety("nothing held", ~some_held),
    ],
    updates=[stage(q).becomes(Stage.not_held), candidate(q).cleared()],
)
m.action(
    "find nothing pending",
    q,
    by=reader,
    doc="No copy is outstanding.",
    guards=[
        safety("next in order", stage(q) == Stage.not_held),
        safety("nothing pending", ~some_pending),
    ],
    updates=[stage(q).becomes(Stage.not_pending)],
)
m.action(
    "find nothing tombstoned",
    q,
    by=reader,
    doc="Nothing was dropped.",
    guards=[
        safety("next in order", stage(q) == Stage.not_pending),
        safety("nothing tombstoned", ~some_tombstoned | (tombstones == "taken-as-absent")),
    ],
    updates=[stage(q).becomes(Stage.not_tombstoned)],
)
m.action(
    "find nothing expired",
    q,
    by=reader,
    doc="Nothing has expired.",
    guards=[
        safety("next in order", stage(q) == Stage.not_tombstoned),
        safety("nothing expired", ~some_expired),
    ],
    updates=[stage(q).becomes(Stage.not_expired)],
)
m.action(
    "answer pending",
    q,
    by=reader,
    event="reconstitute",
    doc="A copy is outstanding: ask later.",
    guards=[
        safety("nothing held", stage(q) == Stage.not_held),
        safety("something pending", some_pending),
        safety("nothing has changed", same_as_then),
    ],
    updates=[answer(q).becomes(Answer.pending), stage(q).becomes(Stage.idle)],
)
m.action(
    "answer tombstoned",
    q,
    by=reader,
    event="reconstitute",
    doc="It was dropped on purpose: unknown.",
    guards=[
        safety("nothing held or pending", stage(q) == Stage.not_pending),
        safety("something tombstoned", some_tombstoned),
        bound("tombstones are read", tombstones == "read", "of itself this machine reads them"),
        safety("nothing has changed", same_as_then),
    ],
    updates=[answer(q).becomes(Answer.tombstoned), stage(q).becomes(Stage.idle)],
)
m.action(
    "answer expired",
    q,
    by=reader,
    event="reconstitute",
    doc="Its lifetime is over.",
    guards=[
        safety("nothing held, pending or tombstoned", stage(q) == Stage.not_tombstoned),
        safety("something expired", some_expired),
        safety("nothing has changed", same_as_then),
    ],
    updates=[answer(q).becomes(Answer.expired), stage(q).becomes(Stage.idle)],
)

was_said = exists(b, (slot(b) == q) & (state(b) != State.unsaid) & ((tombstones == "read") | ~tombstoned(b)))

m.action(
    "answer unanchored",
    q,
    by=reader,
    event="reconstitute",
    doc="It was said, and nothing holds it.",
    guards=[
        safety("nothing else to say", stage(q) == Stage.not_expired),
        safety("it was said", was_said),
        safety("nothing has changed", same_as_then),
    ],
    updates=[answer(q).becomes(Answer.unanchored), stage(q).becomes(Stage.idle)],
)
m.action(
    "answer absent",
    q,
    by=reader,
    event="reconstitute",
    doc="It was never said.",
    guards=[
        bound(
            "nothing else to say", stage(q) == Stage.not_expired, "of what was never said nothing else can be said"
        ),
        safety("it was not said", ~was_said),
    ],
    updates=[answer(q).becomes(Answer.absent), stage(q).becomes(Stage.idle)],
)

# What the rules say. Each answer is held against the state at the moment that it is given.


def given(this: str) -> Formula:
    """The step gives this answer."""
    return (answer(q) != Answer[this]) & (answer(q).next == Answer[this])


m.transition(
    "found is what was asked for",
    forall(q, given("found") >> exists(a, (returned(q).next == a) & of_slot & (state(a) == State.held))),
    rules=["REC-1"],
    doc="A value of this slot, which a carrier holds: no neighbour.",
)
m.invariant(
    "content with found and only with found",
    forall(q, (answer(q) == Answer.found) == returned(q).defined),
    rules=["REC-1"],
    doc="No empty success, and no content beside an answer that says why there is none.",
)
m.transition(
    "pending means pending",
    forall(q, given("pending") >> (some_pending & ~some_held)),
    rules=["REC-2"],
)
m.transition(
    "tombstoned means tombstoned",
    forall(q, given("tombstoned") >> (some_tombstoned & ~some_pending & ~some_held)),
    rules=["REC-2"],
    doc="Dropped, and not said again since.",
)
m.transition(
    "expired means expired",
    forall(q, given("expired") >> (some_expired & ~some_tombstoned & ~some_pending & ~some_held)),
    rules=["REC-2"],
)
m.transition(
    "unanchored means unanchored",
    forall(q, given("unanchored") >> (some_said & ~some_expired & ~some_tombstoned & ~some_pending & ~some_held)),
    rules=["REC-2"],
)
m.transition(
    "absent means never said",
    forall(q, given("absent") >> ~some_said),
    rules=["REC-2"],
    doc="Unknown is not absent.",
)

# What the proofs need besides.

m.auxiliary("what is to be fetched is of this slot", forall(q, a, (candidate(q) == a) >> of_slot))
m.auxiliary("what was found was said", forall(q, (answer(q) == Answer.found) >> some_said))
m.auxiliary(
    "what was found is held, as long as nothing changes",
    forall(q, ((answer(q) == Answer.found) & ~changed(q)) >> some_held),
)
m.auxiliary(
    "nothing held, as long as nothing changes",
    forall(
        q,
        a,
        (
            stage(q).one_of(Stage.not_held, Stage.not_pending, Stage.not_tombstoned, Stage.not_expired)
            & ~changed(q)
            & of_slot
        )
        >> (state(a) != State.held),
    ),
)
m.auxiliary(
    "nothing pending, as long as nothing changes",
    forall(
        q,
        a,
        (stage(q).one_of(Stage.not_pending, Stage.not_tombstoned, Stage.not_expired) & ~changed(q) & of_slot)
        >> (state(a) != State.pending),
    ),
)
m.auxiliary(
    "nothing tombstoned, as long as nothing changes",
    forall(
        q,
        a,
        (stage(q).one_of(Stage.not_tombstoned, Stage.not_expired) & ~changed(q) & of_slot) >> ~tombstoned(a),
    ),
)
m.auxiliary(
    "nothing expired, as long as nothing changes",
    forall(q, a, ((stage(q) == Stage.not_expired) & ~changed(q) & of_slot) >> (state(a) != State.expired)),
)

m.sometimes("said again after it was dropped", exists(q, exists(a, of_slot & tombstoned(a)) & some_held))
m.sometimes("a lookup that was overtaken", exists(q, (stage(q) == Stage.not_expired) & changed(q)))
m.sometimes("each kind of nothing: unanchored", exists(q, answer(q) == Answer.unanchored))

m.instance("values", slots=1, assertions=2)
m.instance("neighbours", slots=2, assertions=1)

machine = m.build()
