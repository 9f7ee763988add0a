"""Release race: two-phase commit, epoch-tagged keys that are recycled, an asynchronous cold copy, a crash.

The yardstick of the explorer: its reachable states have a closed form, and other model checkers agree on it. It is
small enough to hold in the head and still has the race in it: a source may go once the commit is durable *and* the
copy has landed, not once either has happened.
"""

from anchorhold_spec.language import MachineBuilder, bound, forall, realism, safety, succ

m = MachineBuilder(
    "release-race",
    "A summary is staged, pointed and committed; the source is copied at any moment and released after both.",
)

Span = m.sort("span", symmetric=True, doc="A contiguous run of raw turns.")
Key = m.sort("key", symmetric=True, doc="A place in the store; used again once it is free.")
Epoch = m.ordered("epoch", doc="How often a key has been taken.")
Phase = m.enum("phase", "none", "appended", "staged", "pointed", "committed", "released", "evicted")

slot = m.pfun("slot", Key, to=Span, doc="What the key holds now.")
epoch = m.fun("epoch_of", Key, to=Epoch, initial=Epoch.zero)
phase = m.fun("phase_of", Span, to=Phase, initial=Phase.none)
home = m.pfun("home", Span, to=Key, doc="Where the span lies.")
ptr_key = m.pfun("pointer_key", Span, to=Key, doc="The pointer from the span's summary: its key …")
ptr_epoch = m.pfun("pointer_epoch", Span, to=Epoch, doc="… and its epoch.")
cold = m.rel("cold", Span, doc="The copy in the cold store has landed.")

s, k, e, n = Span("s"), Key("k"), Epoch("e"), Epoch("n")

m.action(
    "append",
    s,
    k,
    e,
    n,
    event="append",
    doc="A span enters the transcript and takes a free key, whose epoch grows.",
    guards=[
        safety("new", phase(s) == Phase.none),
        safety("key free", ~slot(k).defined),
        safety("this epoch", epoch(k) == e),
        safety("next epoch", succ(e, n)),
    ],
    updates=[
        slot(k).becomes(s),
        epoch(k).becomes(n),
        home(s).becomes(k),
        phase(s).becomes(Phase.appended),
    ],
)
m.action(
    "stage",
    s,
    event="stage",
    doc="A summary of the span is written; nobody sees it yet.",
    guards=[safety("appended", phase(s) == Phase.appended)],
    updates=[phase(s).becomes(Phase.staged)],
)
m.action(
    "point",
    s,
    k,
    e,
    event="point",
    doc="The pointer to the span's place at its epoch is made durable.",
    guards=[
        safety("staged", phase(s) == Phase.staged),
        safety("at home", home(s) == k),
        safety("at this epoch", epoch(k) == e),
    ],
    updates=[ptr_key(s).becomes(k), ptr_epoch(s).becomes(e), phase(s).becomes(Phase.pointed)],
)
m.action(
    "copy",
    s,
    event="copy",
    doc="The original lands in the cold store, at any moment before the source is released.",
    guards=[
        realism(
            "in hand",
            phase(s).one_of(Phase.appended, Phase.staged, Phase.pointed, Phase.committed),
            "only what is here and not yet released can be copied; a copy too many breaks nothing",
        ),
        bound("not yet", ~cold(s), "a second copy changes nothing"),
    ],
    updates=[cold(s).becomes(True)],
)
m.action(
    "commit",
    s,
    event="commit",
    doc="The summary takes effect.",
    guards=[safety("pointed", phase(s) == Phase.pointed)],
    updates=[phase(s).becomes(Phase.committed)],
)
m.action(
    "release",
    s,
    event="release",
    doc="The source may go: the commit is durable and the copy has landed.",
    guards=[
        safety("committed", phase(s) == Phase.committed),
        safety("copied", cold(s)),
    ],
    updates=[phase(s).becomes(Phase.released)],
)
m.action(
    "evict",
    s,
    k,
    event="evict",
    doc="The source goes, and its key is free again.",
    guards=[
        safety("released", phase(s) == Phase.released),
        safety("at home", home(s) == k),
    ],
    updates=[slot(k).cleared(), home(s).cleared(), phase(s).becomes(Phase.evicted)],
)
m.action(
    "crash",
    event="crash",
    fault=True,
    doc="What was staged and not committed is lost; the span is as it was appended.",
    updates=[
        phase(s).becomes(Phase.appended, when=phase(s).one_of(Phase.staged, Phase.pointed), each=s),
        ptr_key(s).cleared(when=phase(s).one_of(Phase.staged, Phase.pointed), each=s),
        ptr_epoch(s).cleared(when=phase(s).one_of(Phase.staged, Phase.pointed), each=s),
    ],
)

done = phase(s).one_of(Phase.committed, Phase.released, Phase.evicted)

m.invariant(
    "committed is resolvable",
    forall(s, done >> (ptr_key(s).defined & ptr_epoch(s).defined))
    & forall(
        s,
        k,
        e,
        (done & (ptr_key(s) == k) & (ptr_epoch(s) == e)) >> (cold(s) | ((slot(k) == s) & (epoch(k) == e))),
    ),
    rules=["PTR-1", "PTR-2"],
    doc="A committed summary has a pointer, to the copy or to the source in its place at its epoch.",
)
m.transition(
    "a commit lasts",
    forall(s, done >> phase(s).next.one_of(Phase.committed, Phase.released, Phase.evicted)),
    rules=["CRA-1"],
    doc="What was committed stays so, across a crash too.",
)
m.transition(
    "a key taken again has a later epoch",
    forall(k, s, ((slot(k).next == s) & (slot(k) != s)) >> (epoch(k) < epoch(k).next)),
    rules=["EPO-2"],
    doc="The epoch grows strictly each time a key is taken.",
)

m.auxiliary("a span at home is in its slot", forall(s, k, (home(s) == k) >> (slot(k) == s)))
m.auxiliary(
    "a pointer is whole",
    forall(
        s,
        phase(s).one_of(Phase.pointed, Phase.committed, Phase.released)
        >> (ptr_key(s).defined & ptr_epoch(s).defined),
    ),
)
m.auxiliary(
    "the source is in its place until it goes",
    forall(
        s,
        k,
        e,
        (phase(s).one_of(Phase.pointed, Phase.committed, Phase.released) & (ptr_key(s) == k) & (ptr_epoch(s) == e))
        >> ((slot(k) == s) & (epoch(k) == e)),
    ),
)
m.auxiliary("what may go was copied", forall(s, phase(s).one_of(Phase.released, Phase.evicted) >> cold(s)))

m.may_rest(forall(s, phase(s).one_of(Phase.none, Phase.evicted)))
m.instance("small", spans=2, keys=2, epochs=2)
m.instance("bench", large=True, spans=4, keys=3, epochs=3)

machine = m.build()
