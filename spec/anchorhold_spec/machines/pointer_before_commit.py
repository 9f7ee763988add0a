"""Pointer before commit: a summary takes effect only once a durable pointer leads to its source.

The store's keys are recycled and carry an epoch. A reaper, which is no part of the compactor, deletes what no pointer
leads to; between its look at the pointer table and the deletion anything may happen. After the horizon it may delete
any source, its key is taken by another span, and a pointer to it still exists: that is where an answer could come
from the wrong span, and where the epoch is what prevents it.
"""

from anchorhold_spec.language import (
    MachineBuilder,
    bound,
    exists,
    forall,
    realism,
    safety,
    succ,
)
from anchorhold_spec.machines._recycled_keys import RecycledKeys

m = MachineBuilder(
    "pointer-before-commit",
    "A span is copied to the store, a pointer is made durable, the summary commits, the span leaves the window.",
)

Span = m.sort("span", symmetric=True, doc="A contiguous run of raw turns; its id is never used again.")
Key = m.sort("key", symmetric=True, doc="A place in the store, taken again once it is free.")
Epoch = m.ordered("epoch", doc="How often a key has been taken.")
Phase = m.enum("phase", "absent", "appended", "pointed", "committed", doc="How far the span's summary is.")

epochs = m.switch(
    "epochs", "tagged", "untagged", default="tagged", doc="Whether resolving compares the pointer's epoch."
)
reaping = m.switch(
    "reaper", "reads-pointers", "ignores-pointers", default="reads-pointers", doc="What the reaper looks at."
)

phase = m.fun("phase_of", Span, to=Phase, initial=Phase.absent)
window = m.rel("in_window", Span, doc="The raw span is in the live window.")
over = m.rel("horizon_over", Span, doc="Nobody may ask for the original any more.")
slot = m.pfun("slot", Key, to=Span, doc="Whose original the key holds. Durable.")
epoch = m.fun("epoch_of", Key, to=Epoch, initial=Epoch.zero, doc="Durable, and never set back.")
copy_key = m.pfun("copy_key", Span, to=Key, doc="Where the compactor put its copy; in memory only.")
copy_epoch = m.pfun("copy_epoch", Span, to=Epoch)
ptr_key = m.pfun("pointer_key", Span, to=Key, doc="The pointer table: durable.")
ptr_epoch = m.pfun("pointer_epoch", Span, to=Epoch)
marked = m.rel("marked", Key, doc="The reaper has looked and is about to delete; in memory only.")
keys = RecycledKeys(
    slot=slot,
    epoch=epoch,
    copy_key=copy_key,
    copy_epoch=copy_epoch,
    ptr_key=ptr_key,
    ptr_epoch=ptr_epoch,
    marked=marked,
)
answered = m.rel("answered", Span, Span, ghost=True, doc="Resolving the first one's summary has returned the second.")

agent = m.worker("agent", writes=[phase, window])
compactor = m.worker("compactor", writes=[phase, window, slot, epoch, copy_key, copy_epoch, ptr_key, ptr_epoch])
reaper = m.worker("reaper", writes=[slot, marked], doc="Deletes from the store; knows nothing of compaction.")
reader = m.worker("reader", writes=[answered])

s, t, k, e, n = Span("s"), Span("t"), Key("k"), Epoch("e"), Epoch("n")

committed = phase(s) == Phase.committed

m.action(
    "append",
    s,
    by=agent,
    event="append",
    doc="A span enters the window.",
    guards=[safety("new", phase(s) == Phase.absent)],
    updates=[phase(s).becomes(Phase.appended), window(s).becomes(True)],
)
m.action(
    "copy",
    s,
    k,
    e,
    n,
    by=compactor,
    event="copy",
    doc="The original is written to a free key, whose epoch grows; the compactor remembers where.",
    guards=[
        safety("not committed", phase(s) == Phase.appended),
        bound("once", ~copy_key(s).defined, "a second copy in one attempt is only an orphan more"),
        *keys.taken(k, e, n),
    ],
    updates=[
        slot(k).becomes(s),
        epoch(k).becomes(n),
        copy_key(s).becomes(k),
        copy_epoch(s).becomes(n),
    ],
)
m.action(
    "point",
    s,
    k,
    e,
    by=compactor,
    event="point",
    doc="The pointer to the copy is made durable.",
    guards=keys.copied_to(s, k, e),
    updates=[ptr_key(s).becomes(k), ptr_epoch(s).becomes(e), phase(s).becomes(Phase.pointed)],
)
m.action(
    "commit",
    s,
    by=compactor,
    event="commit",
    doc="The summary takes effect.",
    guards=[safety("pointer durable", phase(s) == Phase.pointed)],
    updates=[phase(s).becomes(Phase.committed), copy_key(s).cleared(), copy_epoch(s).cleared()],
)
m.action(
    "leave",
    s,
    by=compactor,
    event="evict",
    doc="The raw span leaves the window.",
    guards=[
        safety("committed", committed),
        bound("there", window(s), "what has left cannot leave again"),
    ],
    updates=[window(s).becomes(False)],
)
m.action(
    "clean up",
    s,
    by=compactor,
    event="recover",
    doc="A pointer that an interrupted attempt left behind is removed.",
    guards=[
        safety("not in use", phase(s) == Phase.appended),
        bound("there", ptr_key(s).defined, "removing nothing changes nothing"),
    ],
    updates=[ptr_key(s).cleared(), ptr_epoch(s).cleared()],
)
m.action(
    "mark",
    k,
    by=reaper,
    event="propose",
    doc="The reaper finds that nothing needs what a key holds.",
    guards=[
        safety("occupied", slot(k).defined),
        bound("once", ~marked(k), "marking again changes nothing"),
        safety(
            "no pointer leads here",
            (reaping == "ignores-pointers") | forall(s, (ptr_key(s) == k) >> over(s)),
        ),
        safety("no attempt holds it", forall(s, ~(copy_key(s) == k))),
    ],
    updates=[marked(k).becomes(True)],
)
m.action(
    "reap",
    k,
    by=reaper,
    event="reap",
    doc="The reaper deletes what it has marked, whatever happened since; the key is free again.",
    guards=[safety("marked", marked(k))],
    updates=[slot(k).cleared(), marked(k).becomes(False)],
)
m.action(
    "resolve",
    s,
    k,
    e,
    t,
    by=reader,
    event="resolve",
    doc="The pointer of a summary is followed, and something is found there.",
    guards=[
        safety("committed", committed),
        *keys.led_to(s, k, e, t, compared=(epochs == "untagged") | (epoch(k) == e)),
    ],
    updates=[answered(s, t).becomes(True)],
)
m.action(
    "horizon ends",
    s,
    event="expire",
    fault=True,
    doc="The time is over in which the original may be asked for.",
    guards=[
        realism("committed", committed, "the original of what is not committed is in the window"),
        bound("once", ~over(s), "it ends once"),
    ],
    updates=[over(s).becomes(True)],
)
m.action(
    "crash",
    event="crash",
    fault=True,
    doc="What was only in memory is gone: where copies are, what was about to be committed or deleted.",
    updates=[
        phase(s).becomes(Phase.appended, when=phase(s) == Phase.pointed, each=s),
        copy_key(s).cleared(each=s),
        copy_epoch(s).cleared(each=s),
        marked(k).becomes(False, each=k),
    ],
)

# What the rules say.

resolvable = keys.resolvable(s, k, e)

m.transition(
    "resolvable at commit",
    forall(s, (~committed & (phase(s).next == Phase.committed)) >> resolvable),
    rules=["PTR-1"],
    doc="At the moment a summary commits, its pointer is durable and leads to its source.",
)
m.invariant(
    "resolvable to the horizon",
    forall(s, (committed & ~over(s)) >> resolvable),
    rules=["PTR-2"],
    doc="A committed summary's pointer stays resolvable until the horizon.",
)
m.invariant(
    "uncommitted resolves to nothing",
    forall(s, t, answered(s, t) >> committed),
    rules=["PTR-6"],
    doc="Only a committed summary was ever resolved.",
)
m.invariant(
    "uncommitted replaces nothing",
    forall(s, phase(s).one_of(Phase.appended, Phase.pointed) >> window(s)),
    rules=["PTR-6"],
    doc="As long as the summary is not committed, the span itself is in the window.",
)
m.invariant(
    "never another span",
    forall(s, t, answered(s, t) >> (s == t)),
    rules=["EPO-1"],
    doc="Whatever was resolved was the summary's own source.",
)
m.transition(
    "a key taken again has a later epoch",
    forall(k, s, ((slot(k).next == s) & (slot(k) != s)) >> (epoch(k) < epoch(k).next)),
    rules=["EPO-2"],
    doc="The epoch grows strictly each time a key is taken.",
)
m.transition(
    "an epoch is never set back",
    forall(k, epoch(k) <= epoch(k).next),
    rules=["EPO-2"],
    doc="Not by deletion and not by a restart.",
)
m.transition(
    "a commit lasts",
    forall(s, committed >> (phase(s).next == Phase.committed)),
    rules=["CRA-1"],
    doc="What was committed stays so, across a crash too.",
)
m.can_end(
    "an interrupted attempt is undone or finished",
    trigger=exists(s, (phase(s) == Phase.appended) & ptr_key(s).defined),
    goal=forall(s, (phase(s) == Phase.appended) >> ~ptr_key(s).defined),
    rules=["PRO-3"],
    doc="A pointer that an attempt left behind can always be removed or put to use.",
)

# What the proofs need besides.

m.auxiliary(
    "the compactor knows where its copy is",
    forall(s, k, e, ((copy_key(s) == k) & (copy_epoch(s) == e)) >> ((slot(k) == s) & (epoch(k) == e))),
)
m.auxiliary(
    "only what is not committed has a copy in hand",
    forall(s, copy_key(s).defined >> phase(s).one_of(Phase.appended, Phase.pointed)),
)
keys.lemmas(m, s, t, k, e)
m.auxiliary(
    "a marked key is needed by nobody",
    forall(s, k, (marked(k) & (ptr_key(s) == k) & phase(s).one_of(Phase.pointed, Phase.committed)) >> over(s)),
)
m.auxiliary(
    "what is pointed to is the copy in hand",
    forall(
        s,
        (phase(s) == Phase.pointed)
        >> exists(k, e, (copy_key(s) == k) & (ptr_key(s) == k) & (copy_epoch(s) == e) & (ptr_epoch(s) == e)),
    ),
)

m.sometimes(
    "a pointer leads to a recycled key",
    exists(s, t, k, committed & (ptr_key(s) == k) & (slot(k) == t) & (s != t)),
    doc="Without this, no answer could ever be wrong.",
)
m.sometimes("something was resolved", exists(s, answered(s, s)))
m.sometimes("an interrupted attempt left a pointer", exists(s, (phase(s) == Phase.appended) & ptr_key(s).defined))
exhausted = forall(k, slot(k).defined | ~exists(e, n, (epoch(k) == e) & succ(e, n)))
m.may_rest(exhausted | forall(s, committed))

m.instance("recycled key", spans=2, keys=1, epochs=2)
m.instance("two keys", spans=2, keys=2, epochs=1)
m.instance("medium", large=True, spans=2, keys=2, epochs=2)

machine = m.build()
