"""Write order: which of the designs for summary, pointer and eviction is safe, each as a setting of switches.

A span lies in the store under a key. Its compaction begins while the source is there, a pointer to that place is
written, the summary commits; a reaper that is no part of the compactor empties keys, and between its look and the
deletion anything may happen. Designs differ in the order of these steps, in what the reaper waits for and looks at,
in whether keys are taken again and pointers say at which epoch, in where a pointer leads, and in what a crash takes.

Why this is no extension of `pointer-before-commit`: that machine states one sound design in full (attempts that are
held, orphans that are cleaned up), and its proof leans on them. Here every step has to make sense in the unsound
designs as well, so that a pointer is only whether it was written: it leads to the key and epoch where the span was
put. What the designs have to answer for: what is resolved is never another span (EPO-1), that something is missing
shows (REC-1), and what is committed is resolvable to the horizon (PTR-2).

Settings, as the source names them: `unordered`; epoch tags only: `unordered` with tags, monotonic keys: `unordered`
with such keys; `ordered`: the pointer is durable before the summary commits and before the reaper may look; `two-
phase`: the reaper waits for the commit; `asynchronous`: two-phase, and a cold copy follows that frees the key.

What this machine leaves out: declaring a summary pending and how pending ends (see `asynchronous-copy`); a copy that
is outstanding while its source is in place counts as resolvable here. A crash loses all pointers of telemetry
durability rather than some. In a separate store the copy is made when the pointer is written, if the source is
there, and is out of the reaper's reach.
"""

from anchorhold_spec.language import Invariant, MachineBuilder, bound, exists, forall, realism, safety, succ

m = MachineBuilder(
    "write-order",
    "Summaries, pointers and evictions in every order that was ever proposed; one machine, many designs.",
)

Span = m.sort("span", symmetric=True, doc="A contiguous run of raw turns.")
Key = m.sort("key", symmetric=True, doc="A place in the store.")
Epoch = m.ordered("epoch", doc="How often a key has been taken.")
Phase = m.enum("phase", "absent", "appended", "begun", "committed", doc="How far the span's summary is.")

order = m.switch(
    "order", "asynchronous", "two-phase", "ordered", "unordered", default="asynchronous", doc="What waits for what."
)
tags = m.switch("tags", "epochs", "none", default="epochs", doc="Whether resolving compares the epoch.")
keys = m.switch("keys", "recycled", "monotonic", default="recycled", doc="Whether a freed key is taken again.")
store = m.switch(
    "store",
    "shared",
    "separate",
    default="shared",
    doc="Whether pointers lead into the store that the reaper empties.",
)
reaping = m.switch("reaper", "reads-pointers", "ignores-pointers", default="reads-pointers")
durability = m.switch(
    "pointers", "durable", "telemetry", default="durable", doc="Whether a pointer that was written outlives a crash."
)
transactions = m.switch(
    "transactions", "pointer-first", "summary-first", default="pointer-first", doc="Which is written first."
)
check = m.switch(
    "check", "held", "at-start", default="held", doc="Whether the source is held from the check at the start on."
)
horizon = m.switch("horizon", "ends", "session", default="ends", doc="Whether pointers outlive the duty to resolve.")

phase = m.fun("phase_of", Span, to=Phase, initial=Phase.absent, doc="Begun is in memory only.")
slot = m.pfun("slot", Key, to=Span, doc="What lies under the key. Durable.")
epoch = m.fun("epoch_of", Key, to=Epoch, initial=Epoch.zero, doc="Durable, and never set back.")
home = m.pfun("home", Span, to=Key, doc="Where the span was put …")
born = m.pfun("home_epoch", Span, to=Epoch, doc="… and at which epoch of the key.")
pointed = m.rel("pointed", Span, doc="The pointer is written; it leads to the span's home at its epoch.")
cold = m.rel("cold", Span, doc="A copy is where no reaper comes. Durable.")
over = m.rel("horizon_over", Span, doc="Nobody may ask for the original any more.")
marked = m.rel("marked", Key, doc="The reaper has looked and is about to delete; in memory only.")
answered = m.rel("answered", Span, Span, ghost=True, doc="Resolving the first one's summary has returned the second.")

agent = m.worker("agent", writes=[phase, slot, epoch, home, born])
compactor = m.worker("compactor", writes=[phase, pointed, cold])
reaper = m.worker("reaper", writes=[slot, marked])
reader = m.worker("reader", writes=[answered])

s, t, k, e, n = Span("s"), Span("t"), Key("k"), Epoch("e"), Epoch("n")

committed = phase(s) == Phase.committed
summary_first = (order == "unordered") | (transactions == "summary-first")
reaper_waits = ~((order == "unordered") | (check == "at-start"))

m.action(
    "append",
    s,
    k,
    e,
    n,
    by=agent,
    event="append",
    doc="A span enters the transcript and takes a free key, whose epoch grows.",
    guards=[
        safety("new", phase(s) == Phase.absent),
        safety("key free", ~slot(k).defined),
        safety("this epoch", epoch(k) == e),
        safety("next epoch", succ(e, n)),
        realism("a key that is given out", (keys == "recycled") | (epoch(k) == Epoch.zero), "as the design has it"),
    ],
    updates=[
        phase(s).becomes(Phase.appended),
        slot(k).becomes(s),
        epoch(k).becomes(n),
        home(s).becomes(k),
        born(s).becomes(n),
    ],
)
m.action(
    "begin",
    s,
    k,
    by=compactor,
    event="stage",
    doc="A compaction begins: the source is looked for, and is there.",
    guards=[
        safety("appended", phase(s) == Phase.appended),
        realism("at home", home(s) == k, "nobody looks elsewhere"),
        realism("source there", slot(k) == s, "every design looks at the start; the sound ones would find it anyway"),
    ],
    updates=[phase(s).becomes(Phase.begun)],
)
m.action(
    "point",
    s,
    k,
    by=compactor,
    event="point",
    doc="The pointer is written. Where pointers lead to a separate store the source is copied there first.",
    guards=[
        bound(
            "begun",
            (phase(s) == Phase.begun) | (summary_first & committed),
            "a pointer that comes earlier does no harm, for nothing uncommitted is resolved",
        ),
        realism("to its home", home(s) == k, "the compactor knows where it found the source"),
        bound("once", ~pointed(s), "the same pointer again changes nothing"),
    ],
    updates=[
        pointed(s).becomes(True),
        cold(s).becomes(True, when=(store == "separate") & (slot(k) == s)),
    ],
)
m.action(
    "commit",
    s,
    by=compactor,
    event="commit",
    doc="The summary takes effect.",
    guards=[
        realism("begun", phase(s) == Phase.begun, "there is no summary before"),
        safety("pointer written", summary_first | pointed(s)),
    ],
    updates=[phase(s).becomes(Phase.committed)],
)
m.action(
    "copy",
    s,
    k,
    by=compactor,
    event="copy",
    doc="The cold copy lands, some time after the pointer was written.",
    guards=[
        realism("a design that copies", order == "asynchronous", "the others copy at once or not at all"),
        realism("pointed", pointed(s), "the copy is made under the number that the pointer has"),
        realism("source there", slot(k) == s, "what is gone cannot be copied"),
        bound("once", ~cold(s), "a second copy changes nothing"),
    ],
    updates=[cold(s).becomes(True)],
)
m.action(
    "look",
    s,
    k,
    by=reaper,
    event="propose",
    doc="The reaper decides to empty a key.",
    guards=[
        safety("what lies there", slot(k) == s),
        safety("a candidate", committed | ~reaper_waits | ((order == "ordered") & pointed(s))),
        safety(
            "no pointer needs it",
            (reaping == "ignores-pointers") | ~pointed(s) | cold(s) | over(s),
        ),
        bound("once", ~marked(k), "looking again changes nothing"),
    ],
    updates=[marked(k).becomes(True)],
)
m.action(
    "reap",
    k,
    by=reaper,
    event="reap",
    doc="The reaper empties the key, whatever happened since; the key is free again.",
    guards=[safety("looked", marked(k))],
    updates=[slot(k).cleared(), marked(k).becomes(False)],
)
m.action(
    "resolve",
    s,
    k,
    t,
    by=reader,
    event="resolve",
    doc="The pointer of a summary is followed, and something is found: the copy, or what lies under the key.",
    guards=[
        safety("committed", committed),
        realism("pointed", pointed(s), "without a pointer there is nothing to follow"),
        safety("to its home", home(s) == k),
        safety("still that epoch", cold(s) | (tags == "none") | (born(s) == epoch(k))),
        safety("what is found", (cold(s) & (t == s)) | (~cold(s) & (store == "shared") & (slot(k) == t))),
    ],
    updates=[answered(s, t).becomes(True)],
)
m.action(
    "horizon ends",
    s,
    event="expire",
    fault=True,
    doc="The time is over in which the original may be asked for; the pointer is still there.",
    guards=[
        realism("it ends", horizon == "ends", "in some settings only the session ends it"),
        realism("committed", committed, "the original of what is not committed is in its place"),
        bound("once", ~over(s), "it ends once"),
    ],
    updates=[over(s).becomes(True)],
)
m.action(
    "crash",
    event="crash",
    fault=True,
    doc="What was only in memory is gone: compactions that had begun, what was about to be deleted, weak pointers.",
    updates=[
        phase(s).becomes(Phase.appended, when=phase(s) == Phase.begun, each=s),
        marked(k).becomes(False, each=k),
        pointed(s).becomes(False, when=durability == "telemetry", each=s),
    ],
)

# What the rules say.

in_place = exists(k, (home(s) == k) & (slot(k) == s))
resolvable = pointed(s) & (cold(s) | (((store == "shared") | (order == "asynchronous")) & in_place))

m.invariant(
    "never silently wrong",
    forall(s, t, answered(s, t) >> (s == t)),
    rules=["EPO-1"],
    doc="Whatever was resolved was the summary's own source.",
)
m.invariant(
    "absence is detectable",
    forall(
        s,
        t,
        k,
        (
            committed
            & pointed(s)
            & ~cold(s)
            & (store == "shared")
            & (home(s) == k)
            & (slot(k) == t)
            & ((tags == "none") | (born(s) == epoch(k)))
        )
        >> (s == t),
    ),
    rules=["REC-1"],
    doc="At no moment would a pointer whose source is gone be answered with something else.",
)
m.invariant(
    "committed is resolvable",
    forall(s, (committed & ~over(s)) >> resolvable),
    rules=["PTR-2"],
    doc="From the commit to the horizon.",
)
m.transition(
    "resolvable at commit",
    forall(s, (~committed & (phase(s).next == Phase.committed)) >> resolvable),
    rules=["PTR-1"],
    doc="At the moment a summary commits its pointer is written and leads to its source.",
)
m.invariant(
    "uncommitted resolves to nothing",
    forall(s, t, answered(s, t) >> committed),
    rules=["PTR-6"],
    doc="Only a committed summary was ever resolved.",
)
m.invariant(
    "uncommitted replaces nothing",
    forall(s, phase(s).one_of(Phase.appended, Phase.begun) >> in_place),
    rules=["PTR-6"],
    doc="As long as the summary is not committed the source is in its place.",
)
m.transition(
    "a key is new, or its epoch is",
    forall(
        k,
        s,
        ((slot(k).next == s) & (slot(k) != s))
        >> (forall(t, home(t) != k) | ((tags == "epochs") & (epoch(k) < epoch(k).next))),
    ),
    rules=["EPO-2"],
    doc="A key that is taken again has a later epoch, and resolving looks at it.",
)

# What the proofs need besides.

m.auxiliary(
    "no span was put ahead of its key",
    forall(s, k, e, ((home(s) == k) & (born(s) == e)) >> ((e <= epoch(k)) & (Epoch.zero < e))),
)
m.auxiliary("a key about to be emptied holds something", forall(k, marked(k) >> slot(k).defined))
m.auxiliary(
    "what is about to go is needed by nobody",
    forall(s, k, (marked(k) & (slot(k) == s)) >> (committed & (cold(s) | over(s)))),
)
m.auxiliary(
    "what was never appended is nowhere",
    forall(s, (phase(s) == Phase.absent) >> (~home(s).defined & ~born(s).defined & ~pointed(s) & ~cold(s))),
)
m.auxiliary("a committed summary has a pointer", forall(s, committed >> pointed(s)))

m.sometimes(
    "a pointer leads to a key that another has taken",
    exists(s, t, k, committed & pointed(s) & ~cold(s) & (home(s) == k) & (slot(k) == t) & (s != t)),
    doc="Without this no answer could ever be wrong.",
)
m.sometimes("a source went after its copy had landed", exists(s, cold(s) & ~over(s) & ~in_place))
m.may_rest(forall(k, slot(k).defined | ~exists(e, n, (epoch(k) == e) & succ(e, n))) | forall(s, committed))

m.instance("recycled key", spans=2, keys=1, epochs=2)
m.instance("two keys", spans=2, keys=2, epochs=1)
m.instance("medium", large=True, spans=2, keys=2, epochs=2)

machine = m.build()

# What the proofs of other designs need besides: candidates, each of which holds in some designs and not in others. In
# the default design no proof needs them, so that they are no invariants of the machine.

lemmas = tuple(
    Invariant(name, formula, (), "")
    for name, formula in (
        ("what lies under a key was put there last", forall(s, k, (slot(k) == s) >> (home(s) == k))),
        ("its epoch is the key's", forall(s, k, (slot(k) == s) >> (born(s) == epoch(k)))),
        (
            "one place at one epoch had one span",
            forall(
                s,
                t,
                k,
                ((home(s) == k) & (home(t) == k) & ((keys == "monotonic") | (born(s) == born(t)))) >> (s == t),
            ),
        ),
        (
            "what was appended has a home",
            forall(s, (phase(s) != Phase.absent) >> (home(s).defined & born(s).defined)),
        ),
        ("a horizon is that of a committed summary", forall(s, over(s) >> committed)),
        ("the session does not end", (horizon == "ends") | forall(s, ~over(s))),
        (
            "only an asynchronous design or a separate store has copies",
            (order == "asynchronous") | (store == "separate") | forall(s, ~cold(s)),
        ),
        ("what is pointed to in a separate store is there", (store == "shared") | forall(s, pointed(s) >> cold(s))),
        ("what is about to go is committed", forall(s, k, (marked(k) & (slot(k) == s)) >> committed)),
        ("what is about to go is pointed to", forall(s, k, (marked(k) & (slot(k) == s)) >> pointed(s))),
        ("what is about to go is spared", forall(s, k, (marked(k) & (slot(k) == s)) >> (cold(s) | over(s)))),
        (
            "what is about to go is spared or has lost its pointer",
            forall(s, k, (marked(k) & (slot(k) == s)) >> (committed & (cold(s) | over(s) | ~pointed(s)))),
        ),
        (
            "what has gone was spared or had lost its pointer",
            forall(s, home(s).defined >> (in_place | cold(s) | over(s) | (committed & ~pointed(s)))),
        ),
        ("no key is ever freed", forall(k, (epoch(k) == Epoch.zero) | slot(k).defined)),
        ("what has gone was spared", forall(s, home(s).defined >> (in_place | cold(s) | over(s)))),
        (
            "what is in its place is what is found",
            forall(s, t, k, ((home(s) == k) & (slot(k) == t) & ~cold(s) & ~over(s)) >> (s == t)),
        ),
    )
)
