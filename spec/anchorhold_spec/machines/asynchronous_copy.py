"""Asynchronous copy: the pointer is a number of the cold store, made durable at once; the copy itself lands later.

What the commit waits for is only the number, which is cheap. So a summary is committed while the original may be
nowhere but in its source: it is marked `pending` until a reconciler has seen that the copy landed, and the source is
held that long. Every span is in the window from the start. Copying goes on in memory, and a crash forgets what was
queued and what was being written; recovery queues it again. If the source is damaged before its copy has landed the
copy can no longer be made, and the summary is declared unresolvable: pending ends in any case.

What this machine leaves out: the horizon and deletions from the cold store (see `pointer-before-commit`), forgetting
(see `erasure`), and that a summary covers several spans (see `generations`). A copy is either there or not; whether
its bytes are right is checked when it is read (EPO-3). That the two ratios of PTR-5 can be read is stated as: every
committed summary has a mark, the mark is durable, and it is true.
"""

from anchorhold_spec.language import MachineBuilder, bound, exists, forall, realism, safety

m = MachineBuilder(
    "asynchronous-copy",
    "A summary commits with the number of a copy that is still to land; its source is held until it has.",
)

Span = m.sort("span", symmetric=True, doc="A contiguous run of raw turns.")
Number = m.sort("number", symmetric=True, doc="A place in the cold store, given out once and never again.")
Phase = m.enum("phase", "appended", "staged", "committed", doc="How far the span's summary is.")
Source = m.enum("source", "held", "released", "damaged", doc="What has become of the span's own bytes.")
Mark = m.enum("mark", "unmarked", "pending", "landed", "unresolvable", doc="What is declared of a committed summary.")
Answer = m.enum(
    "answer", "unasked", "own", "other", "pending", "unresolvable", "empty", doc="What resolving a summary gave."
)

releasing = m.switch(
    "release", "after-landing", "after-commit", default="after-landing", doc="What a source is held for."
)
resolving = m.switch(
    "resolving",
    "says-pending",
    "says-empty",
    default="says-pending",
    doc="What following a pointer answers while the copy is outstanding.",
)
recovery = m.switch("recovery", "present", "missing", default="present", doc="Whether anybody looks after a crash.")

phase = m.fun(
    "phase_of", Span, to=Phase, initial=Phase.appended, doc="Staged is in memory only, committed is durable."
)
source = m.fun("source_of", Span, to=Source, initial=Source.held, doc="Durable.")
mark = m.fun("mark_of", Span, to=Mark, initial=Mark.unmarked, doc="Durable, and written with the commit.")
number = m.pfun("pointer", Span, to=Number, doc="The pointer of the span's summary. Durable.")
issued = m.rel("issued", Number, doc="Has been given out. Durable.")
cold = m.pfun("cold", Number, to=Span, doc="Whose copy has landed under the number. Durable.")
queued = m.rel("queued", Span, doc="The copier has it still to do; in memory only.")
carried = m.pfun("carried", Number, to=Span, doc="What the copier has read and is about to write; in memory only.")
going = m.rel("going", Span, doc="The releaser has looked and is about to let the source go; in memory only.")
told = m.fun(
    "told", Span, to=Answer, initial=Answer.unasked, ghost=True, doc="The latest answer: its own source, another …"
)

compactor = m.worker("compactor", writes=[phase, mark, number, issued, queued])
copier = m.worker("copier", writes=[queued, carried, cold])
reconciler = m.worker("reconciler", writes=[mark, number, queued], doc="Says what has landed, and tidies up.")
releaser = m.worker("releaser", writes=[source, going])
reader = m.worker("reader", writes=[told])

s, t, i = Span("s"), Span("t"), Number("i")

committed = phase(s) == Phase.committed
left_behind = (phase(s) == Phase.appended) & number(s).defined
forgotten = (mark(s) == Mark.pending) & ~queued(s)

m.action(
    "stage",
    s,
    by=compactor,
    event="stage",
    doc="A summary is written, which nobody sees yet, and a copy of its source is asked for.",
    guards=[safety("appended", phase(s) == Phase.appended)],
    updates=[phase(s).becomes(Phase.staged), queued(s).becomes(True)],
)
m.action(
    "point",
    s,
    i,
    by=compactor,
    event="point",
    doc="A new number of the cold store is made durable as the pointer.",
    guards=[
        safety("staged", phase(s) == Phase.staged),
        safety("never given out", ~issued(i)),
    ],
    updates=[number(s).becomes(i), issued(i).becomes(True)],
)
m.action(
    "commit",
    s,
    by=compactor,
    event="commit",
    doc="The summary takes effect, and is declared pending in the same write.",
    guards=[
        safety("staged", phase(s) == Phase.staged),
        safety("pointer durable", number(s).defined),
    ],
    updates=[phase(s).becomes(Phase.committed), mark(s).becomes(Mark.pending)],
)
m.action(
    "read source",
    s,
    i,
    by=copier,
    doc="The copier takes the next one from its queue and reads the source.",
    guards=[
        bound("queued", queued(s), "a copy too many changes nothing"),
        safety("under its number", number(s) == i),
        safety("source readable", source(s) == Source.held),
    ],
    updates=[carried(i).becomes(s), queued(s).becomes(False)],
)
m.action(
    "land",
    s,
    i,
    by=copier,
    event="copy",
    doc="The copy lands in the cold store, whatever happened since it was read.",
    guards=[safety("what was read", carried(i) == s)],
    updates=[cold(i).becomes(s), carried(i).cleared()],
)
m.action(
    "reconcile",
    s,
    i,
    by=reconciler,
    doc="A pending summary whose copy is seen in the cold store is pending no more.",
    guards=[
        safety("pending", mark(s) == Mark.pending),
        safety("its number", number(s) == i),
        safety("landed", cold(i).defined),
    ],
    updates=[mark(s).becomes(Mark.landed)],
)
m.action(
    "give up",
    s,
    i,
    by=reconciler,
    doc="The source is damaged, nothing has landed and nothing is under way: the summary is declared unresolvable.",
    guards=[
        safety("its number", number(s) == i),
        safety("source damaged", source(s) == Source.damaged),
        safety("not landed", ~cold(i).defined),
        safety("nothing under way", ~carried(i).defined),
    ],
    updates=[mark(s).becomes(Mark.unresolvable)],
)
m.action(
    "look",
    s,
    by=releaser,
    event="propose",
    doc="The releaser finds that a source is no longer needed.",
    guards=[
        safety(
            "committed and landed",
            (mark(s) == Mark.landed) | ((releasing == "after-commit") & committed),
        ),
        bound("there", source(s) == Source.held, "what is gone cannot go again"),
        bound("once", ~going(s), "looking again changes nothing"),
    ],
    updates=[going(s).becomes(True)],
)
m.action(
    "release",
    s,
    by=releaser,
    event="release",
    doc="The source goes, whatever happened since the look.",
    guards=[safety("looked", going(s))],
    updates=[source(s).becomes(Source.released), going(s).becomes(False)],
)
m.action(
    "resolve a copy",
    s,
    i,
    t,
    by=reader,
    event="resolve",
    doc="The pointer of a summary is followed, and a copy is there.",
    guards=[
        safety("committed", committed),
        safety("its number", number(s) == i),
        safety("what lies there", cold(i) == t),
    ],
    updates=[told(s).becomes(Answer.own, when=t == s), told(s).becomes(Answer.other, when=~(t == s))],
)
m.action(
    "resolve nothing",
    s,
    i,
    by=reader,
    event="resolve",
    doc="The pointer of a summary is followed, and no copy is there: the answer is what the summary is marked as.",
    guards=[
        safety("committed", committed),
        safety("its number", number(s) == i),
        safety("nothing lies there", ~cold(i).defined),
    ],
    updates=[
        told(s).becomes(Answer.pending, when=(mark(s) == Mark.pending) & (resolving == "says-pending")),
        told(s).becomes(Answer.empty, when=(mark(s) == Mark.pending) & ~(resolving == "says-pending")),
        told(s).becomes(Answer.unresolvable, when=~(mark(s) == Mark.pending)),
    ],
)
m.action(
    "recover",
    by=reconciler,
    event="recover",
    doc="What is pending is queued again; a pointer that an interrupted attempt left behind is removed.",
    guards=[
        realism("somebody looks", recovery == "present", "in the design that has no recovery there is none"),
        bound("something to do", exists(s, left_behind | forgotten), "recovering again changes nothing"),
    ],
    updates=[
        queued(s).becomes(mark(s) == Mark.pending, when=left_behind | forgotten, each=s),
        number(s).cleared(when=left_behind, each=s),
    ],
)
m.action(
    "damage",
    s,
    event="expire",
    fault=True,
    doc="The source of a pending summary cannot be read any more. (Before the commit the span is in the window.)",
    guards=[
        safety("pending", mark(s) == Mark.pending),
        bound("there", source(s) == Source.held, "what is gone cannot be damaged"),
    ],
    updates=[source(s).becomes(Source.damaged)],
)
m.action(
    "crash",
    event="crash",
    fault=True,
    doc="What was only in memory is gone: staged summaries, the queue, copies under way, what was about to go.",
    updates=[
        phase(s).becomes(Phase.appended, when=phase(s) == Phase.staged, each=s),
        queued(s).becomes(False, each=s),
        carried(i).cleared(each=i),
        going(s).becomes(False, each=s),
    ],
)

# What the rules say.

landed = exists(i, (number(s) == i) & (cold(i) == s))

m.transition(
    "resolvable or pending at commit",
    forall(
        s,
        (~committed & (phase(s).next == Phase.committed))
        >> (number(s).defined & (landed | ((mark(s).next == Mark.pending) & (source(s).next == Source.held)))),
    ),
    rules=["PTR-1"],
    doc="At the moment a summary commits its pointer is durable, and its copy has landed or it is declared pending.",
)
m.invariant(
    "a pending summary's source is held",
    forall(s, (mark(s) == Mark.pending) >> (source(s).one_of(Source.held, Source.damaged) | landed)),
    rules=["PTR-1", "PTR-2"],
    doc="No worker lets it go while the copy is outstanding; only the world can damage it.",
)
m.invariant(
    "released means landed",
    forall(s, (source(s) == Source.released) >> (committed & landed)),
    rules=["PTR-2"],
    doc="A source is let go only when its summary is committed and the copy that its pointer names has landed.",
)
m.transition(
    "what has landed stays",
    forall(s, i, (cold(i) == s) >> (cold(i).next == s))
    & forall(s, (committed & landed) >> (number(s).next == number(s))),
    rules=["PTR-2"],
    doc="No step takes a copy away, puts another in its place, or turns a pointer away from it.",
)
m.invariant(
    "every mark is true",
    forall(s, committed == (mark(s) != Mark.unmarked))
    & forall(s, (mark(s) == Mark.landed) >> landed)
    & forall(s, (mark(s) == Mark.unresolvable) >> ((source(s) == Source.damaged) & ~landed)),
    rules=["PTR-5"],
    doc="Pending and unresolvable can be counted, and unresolvable is only what the world has damaged.",
)
m.transition(
    "outstanding is answered pending",
    forall(
        s,
        ((mark(s) == Mark.pending) & ~landed & (told(s).next != told(s))) >> (told(s).next == Answer.pending),
    ),
    rules=["PTR-5"],
    doc="While its copy is outstanding no summary is answered anything else.",
)
m.transition(
    "an answer without content is true",
    forall(
        s,
        ((told(s).next != told(s)) & (told(s).next == Answer.pending)) >> ((mark(s) == Mark.pending) & ~landed),
    )
    & forall(
        s,
        ((told(s).next != told(s)) & (told(s).next == Answer.unresolvable))
        >> ((mark(s) == Mark.unresolvable) & ~landed),
    ),
    rules=["REC-2"],
    doc="Pending and unresolvable are told apart, and neither is said of what is there.",
)
m.transition(
    "what has ended is not pending again",
    forall(s, mark(s).one_of(Mark.landed, Mark.unresolvable) >> (mark(s).next == mark(s))),
    rules=["PTR-5"],
    doc="Landed and unresolvable are for good.",
)
m.invariant(
    "never an empty answer",
    forall(s, told(s) != Answer.empty),
    rules=["REC-1"],
    doc="Either the original, or an answer that says what is the matter.",
)
m.invariant(
    "uncommitted resolves to nothing",
    forall(s, (told(s) != Answer.unasked) >> committed),
    rules=["PTR-6"],
    doc="Only a committed summary was ever resolved.",
)
m.invariant(
    "uncommitted replaces nothing",
    forall(s, ~committed >> ((source(s) == Source.held) & (mark(s) == Mark.unmarked))),
    rules=["PTR-6", "CRA-1"],
    doc="As long as the summary is not committed, an interrupted attempt included, everything is as before it.",
)
m.invariant(
    "never another span",
    forall(s, told(s) != Answer.other),
    rules=["EPO-1"],
    doc="Whatever is returned is the summary's own source.",
)
m.transition(
    "a number is given out once",
    forall(i, issued(i) >> issued(i).next)
    & forall(s, i, ((number(s).next == i) & (number(s) != i)) >> (~issued(i) & issued(i).next)),
    rules=["EPO-2"],
    doc="What becomes a pointer was never one before, and is known for ever after.",
)
m.transition(
    "a crash leaves old, new or pending",
    forall(s, (phase(s).next != Phase.staged) & (committed >> (phase(s).next == Phase.committed)))
    & forall(s, (mark(s).next == mark(s)) & (source(s).next == source(s))),
    on=["crash"],
    rules=["CRA-1"],
    doc="No attempt is half done afterwards; what was committed still is, under the same mark.",
)
m.transition(
    "recovery twice is recovery once",
    forall(s, ~((phase(s).next == Phase.appended) & number(s).next.defined))
    & forall(s, (mark(s).next == Mark.pending) >> queued(s).next)
    & forall(
        s,
        (~left_behind & ~forgotten)
        >> (
            (phase(s).next == phase(s))
            & (mark(s).next == mark(s))
            & ((number(s).next == number(s)) | (~number(s).defined & ~number(s).next.defined))
            & (queued(s).next == queued(s))
        ),
    ),
    on=["recover"],
    rules=["CRA-2"],
    doc="It puts everything in order, and leaves alone what is: a second one finds nothing to do.",
)
m.can_end(
    "pending ends",
    trigger=exists(s, mark(s) == Mark.pending),
    goal=forall(s, mark(s) != Mark.pending),
    rules=["PTR-5", "PRO-3"],
    doc="The copy lands, or the summary is declared unresolvable; after any crash too.",
)
m.can_end(
    "an interrupted attempt is undone or finished",
    trigger=exists(s, left_behind),
    goal=forall(s, number(s).defined >> committed),
    rules=["PRO-3", "CRA-2"],
    doc="A pointer that an attempt left behind does not stand in the way of later ones.",
)

# What the proofs need besides.

m.auxiliary(
    "a number in use is given out",
    forall(s, i, ((number(s) == i) | (carried(i) == s) | (cold(i) == s)) >> issued(i)),
)
m.auxiliary("a number is one summary's", forall(s, t, i, ((number(s) == i) & (number(t) == i)) >> (s == t)))
m.auxiliary(
    "what lies or is to lie under a summary's number is its own source",
    forall(s, t, i, ((number(s) == i) & ((carried(i) == t) | (cold(i) == t))) >> (s == t)),
)
m.auxiliary(
    "a number has one span's copy",
    forall(s, t, i, ((carried(i) == s) & (cold(i) == t)) >> (s == t)),
)
m.auxiliary("what is about to go has landed", forall(s, going(s) >> (mark(s) == Mark.landed)))
m.auxiliary(
    "nothing is under way for the unresolvable",
    forall(s, i, ((mark(s) == Mark.unresolvable) & (number(s) == i)) >> ~carried(i).defined),
)

m.sometimes("a pending summary was asked for", exists(s, told(s) == Answer.pending))
m.sometimes("a copy landed after the commit and its source went", exists(s, source(s) == Source.released))
m.sometimes("a summary was declared unresolvable", exists(s, told(s) == Answer.unresolvable))
m.sometimes("an interrupted attempt left a pointer", exists(s, left_behind))
m.sometimes("a pending summary was forgotten by its copier", exists(s, forgotten & ~landed))
m.may_rest(forall(s, mark(s).one_of(Mark.landed, Mark.unresolvable)) | forall(i, issued(i)))

m.instance("two attempts", spans=1, numbers=2)
m.instance("two spans", spans=2, numbers=1)
m.instance("medium", large=True, spans=2, numbers=2)

machine = m.build()
