"""Progress: compaction gets somewhere, and work that was interrupted does not stand in its way.

Several workers compact spans. A worker takes a span, and that is on record; it writes a summary, commits it, and then
removes the span from the window. It may crash between any two of these, or only be slow: whoever has not heard of a
worker for long takes its span over, undoes what was not committed, and finishes what was. The slow one may still come
back. Where a span has no manifest, it stays, and that is said.

Any watermark above what is said to stay can be reached, if every other span can leave the window: that is what is
shown, so that sizes need not be modelled. A machine that never commits anything holds every rule of safety, and fails
here.

What this machine leaves out: sizes, and summaries of summaries (`anchoring`); what is done about a copy that never
lands, which is declared instead of finished (`asynchronous-copy`).
"""

from anchorhold_spec.language import MachineBuilder, bound, exists, forall, realism, safety

m = MachineBuilder(
    "progress",
    "Workers take spans, summarise, commit and remove them; crash, are slow, and take over from each other.",
)

Span = m.sort("span", symmetric=True, doc="A contiguous run of raw turns.")
Worker = m.sort("worker", symmetric=True, doc="A process that compacts.")
Stage = m.enum(
    "stage", "absent", "raw", "committed", "done", doc="Committed: both span and summary are in the window."
)

gate = m.switch("gate", "judges", "refuses-everything", default="judges", doc="Whether anything is ever committed.")
recovery = m.switch(
    "recovery",
    "takes-over",
    "waits",
    default="takes-over",
    doc="What becomes of a span whose worker is not heard of.",
)
commits = m.switch(
    "commits",
    "by-holder",
    "by-anyone",
    default="by-holder",
    doc="Whether a worker that was taken over from may commit.",
)

readable = m.rigid_rel("readable", Span, doc="Its manifest can be computed.")
stage = m.fun("stage_of", Span, to=Stage, initial=Stage.absent)
window = m.rel("in_window", Span, doc="The raw span is in the live window.")
holder = m.pfun("holder", Span, to=Worker, doc="Who has taken the span: durable.")
draft = m.rel("draft", Worker, Span, doc="The worker has written a summary; in its memory only.")
down = m.rel("crashed", Worker)
broken = m.rel("store_down", doc="The store takes no commits.")
reported = m.rel("reported", Span, doc="The outcome says that this span cannot leave the window.")
author = m.rel("author", Worker, Span, ghost=True, doc="The worker has committed a summary of the span.")

worker = m.worker("worker", writes=[stage, window, holder, draft, reported, author])

s, w, v = Span("s"), Worker("w"), Worker("v")

m.action(
    "append",
    s,
    event="append",
    doc="A span enters the window.",
    guards=[safety("new", stage(s) == Stage.absent)],
    updates=[stage(s).becomes(Stage.raw), window(s).becomes(True)],
)
m.action(
    "take",
    w,
    s,
    by=worker,
    doc="A worker takes a span that nobody has.",
    guards=[
        realism("alive", ~down(w), "the dead do nothing"),
        safety("raw", stage(s) == Stage.raw),
        realism("nobody's", ~holder(s).defined, "from somebody a span is taken over, not taken"),
    ],
    updates=[holder(s).becomes(w)],
)
m.action(
    "write",
    w,
    s,
    by=worker,
    event="stage",
    doc="A summary of the span is written.",
    guards=[
        realism("alive", ~down(w), "the dead do nothing"),
        realism("its own", holder(s) == w, "a worker works on what it has taken"),
        realism("raw", stage(s) == Stage.raw, "what is committed needs no other summary"),
        safety("readable", readable(s)),
    ],
    updates=[draft(w, s).becomes(True)],
)
m.action(
    "commit",
    w,
    s,
    by=worker,
    event="commit",
    doc="The summary takes effect.",
    guards=[
        realism("store up", ~broken(), "a store that is down takes nothing"),
        safety("written", draft(w, s)),
        safety("still its own", (commits == "by-anyone") | (holder(s) == w)),
        safety("not yet committed", stage(s) == Stage.raw),
        bound("gate", gate == "judges", "of itself this machine lets pass what is safe"),
    ],
    updates=[stage(s).becomes(Stage.committed), draft(w, s).becomes(False), author(w, s).becomes(True)],
)
m.action(
    "leave",
    w,
    s,
    by=worker,
    event="evict",
    doc="The span leaves the window.",
    guards=[
        realism("alive", ~down(w), "the dead do nothing"),
        realism("its own", holder(s) == w, "a worker works on what it has taken"),
        safety("committed", stage(s) == Stage.committed),
    ],
    updates=[stage(s).becomes(Stage.done), window(s).becomes(False), holder(s).cleared()],
)
m.action(
    "report",
    w,
    s,
    by=worker,
    event="refuse",
    doc="A span that has no manifest is given back, and the outcome says that it stays.",
    guards=[
        realism("alive", ~down(w), "the dead do nothing"),
        safety("its own", holder(s) == w),
        safety("unreadable", ~readable(s)),
    ],
    updates=[reported(s).becomes(True), holder(s).cleared()],
)
m.action(
    "undo",
    v,
    w,
    s,
    by=worker,
    event="recover",
    doc="A worker that was not heard of loses a span not yet committed; it may be alive all the same, and may be the "
    "one that looks: it was started again and finds its own old work.",
    guards=[
        realism("alive", ~down(v), "the dead do nothing"),
        realism("taken", holder(s) == w, "what nobody holds is taken, not taken over"),
        safety("not committed", stage(s) == Stage.raw),
        bound("recovery", recovery == "takes-over", "of itself this machine takes over"),
    ],
    updates=[holder(s).cleared()],
)
m.action(
    "finish",
    v,
    w,
    s,
    by=worker,
    event="recover",
    doc="What a worker that was not heard of has committed is taken over, to be finished.",
    guards=[
        realism("alive", ~down(v), "the dead do nothing"),
        realism("taken", holder(s) == w, "what nobody holds is taken, not taken over"),
        realism("committed", stage(s) == Stage.committed, "what is not committed is undone instead"),
        bound("recovery", recovery == "takes-over", "of itself this machine takes over"),
    ],
    updates=[holder(s).becomes(v)],
)
m.action(
    "restart",
    w,
    event="recover",
    fault=True,
    doc="A worker is started again and knows what is on record; that it ever is cannot be counted on.",
    guards=[bound("crashed", down(w), "starting what runs changes nothing")],
    updates=[down(w).becomes(False)],
)
m.action(
    "mend",
    doc="The store is up again.",
    event="repair",
    guards=[bound("down", broken(), "mending what works changes nothing")],
    updates=[broken().becomes(False)],
)
m.action(
    "crash",
    w,
    event="crash",
    fault=True,
    doc="A worker loses what it has in memory; what it has taken stays on record as taken.",
    guards=[bound("alive", ~down(w), "the dead do not die")],
    updates=[down(w).becomes(True), draft(w, s).becomes(False, each=s)],
)
m.action(
    "store fails",
    fault=True,
    doc="The store takes no commits.",
    guards=[bound("up", ~broken(), "it is down already")],
    updates=[broken().becomes(True)],
)

# What the rules say.

somebody_is_alive = exists(v, ~down(v))
compacted = stage(s).one_of(Stage.committed, Stage.done)

m.can_end(
    "the window gets under its watermark",
    trigger=exists(s, window(s) & readable(s)) & ~broken() & somebody_is_alive,
    goal=forall(s, window(s) >> reported(s)),
    rules=["PRO-1"],
    doc="From wherever things stand, with one worker left: every span leaves the window or is said to stay.",
)
m.can_end(
    "what was interrupted ends",
    trigger=exists(w, s, (holder(s) == w) & down(w)) & somebody_is_alive,
    goal=forall(w, s, (holder(s) == w) >> ~down(w)),
    rules=["PRO-3"],
    doc="No span stays with a worker that is gone: it was finished or undone.",
)
m.invariant(
    "said to stay for a reason",
    forall(s, reported(s) >> (window(s) & ~readable(s))),
    rules=["PRO-1"],
    doc="A compactor excuses itself from nothing that it could do.",
)
m.invariant(
    "the old state or the new one",
    forall(s, (stage(s) != Stage.absent) >> (window(s) | compacted)),
    rules=["CRA-1", "PRO-3"],
    doc="Wherever a run was interrupted, the span is in the window or a committed summary is.",
)
m.invariant(
    "one commits",
    forall(s, w, v, (author(w, s) & author(v, s)) >> (w == v)),
    rules=["CON-2"],
    doc="A worker that is slow and one that took over from it do not both commit.",
)
m.transition(
    "a commit lasts",
    forall(s, compacted >> stage(s).next.one_of(Stage.committed, Stage.done)),
    rules=["CRA-1"],
    doc="Nothing that recovery does takes it back.",
)

m.auxiliary("what is taken is in the window", forall(s, holder(s).defined >> window(s)))
m.auxiliary("what is not done is in the window", forall(s, stage(s).one_of(Stage.raw, Stage.committed) >> window(s)))
m.auxiliary("only what can be read is summarised", forall(w, s, draft(w, s) >> readable(s)))
m.auxiliary("only what can be read is compacted", forall(s, compacted >> readable(s)))
m.auxiliary("only what is compacted has an author", forall(s, w, author(w, s) >> compacted))

m.sometimes("a slow worker comes back", exists(w, v, s, draft(w, s) & (holder(s) == v) & (w != v)))
m.sometimes(
    "interrupted between commit and removal", exists(w, s, (stage(s) == Stage.committed) & (holder(s) == w) & down(w))
)

m.may_rest(~somebody_is_alive | forall(s, (stage(s) == Stage.done) | reported(s)))
m.instance("two workers", spans=1, workers=2)
m.instance("two spans", spans=2, workers=1)

machine = m.build()
